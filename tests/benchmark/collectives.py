#!/usr/bin/env python3
"""Collectives as roofline and as PyTorch time them, in one run on the same GPUs.

Runs `roofline analyze` over sizes from 8 bytes to 1 GiB (in one process, or in as many as ranks with --processes), and then a
loop of PyTorch's NCCL, a process for each GPU, between two events, which below some MiB is bound by its host. Both use the same
buffers over and over, in place where PyTorch's call is. Prints the bus bandwidth of both and their ratio.
Usage: collectives.py ROOFLINE [--ranks 2] [--processes] [--op all_reduce] [--within 0.03]
Exits 1 where roofline's time of a size of 1 MiB or more is longer by more than `within`.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

IN_PLACE = ("all_reduce", "broadcast")
FACTORS = {
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n,
    "broadcast": lambda n: 1,
}


def median_time(torch, dist, call, repeats):
    times = []
    for _ in range(5):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        dist.barrier()
        torch.cuda.synchronize()
        begin.record()
        for _ in range(repeats):
            call()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e-3 / repeats)
    return sorted(times)[2]


def torch_loop(rank, ranks, op, sizes, result):
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29533", rank=rank, world_size=ranks)
    seconds = {}
    for size in sizes:
        n = size // 4
        whole = torch.randn(n, device="cuda")
        part = torch.randn(n // ranks, device="cuda")
        other = torch.empty_like(whole)
        call = {
            "all_reduce": lambda: dist.all_reduce(whole),
            "all_gather": lambda: dist.all_gather_into_tensor(whole, part),
            "reduce_scatter": lambda: dist.reduce_scatter_tensor(part, whole),
            "all_to_all": lambda: dist.all_to_all_single(other, whole),
            "broadcast": lambda: dist.broadcast(whole, 0),
        }[op]
        for _ in range(5):
            call()
        repeats = max(5, min(200, (1 << 32) // size))
        seconds[size] = median_time(torch, dist, call, repeats)
    if rank == 0:
        with open(result, "w", encoding="utf-8") as file:
            json.dump(seconds, file)
    dist.destroy_process_group()


def roofline_rows(arguments, folder):
    sizes = [f"2^{i}" for i in (1, 8, 13, 18, 20, 22, 24, 26, 28)]
    suite = os.path.join(folder, "sizes.yaml")
    with open(suite, "w", encoding="utf-8") as file:
        in_place = arguments.op in IN_PLACE
        sizes = sizes if in_place else sizes[1:]
        file.write(f"name: sizes\nworkloads:\n  - {{ op: {arguments.op}, dtype: fp32, cache: hot, "
                   f"shape: {{ n: [{', '.join(sizes)}], ranks: {arguments.ranks}"
                   f"{', in_place: 1' if in_place else ''} }} }}\n")
    command = [arguments.roofline, "analyze", suite, "--device", "cuda", "-o", folder]
    if arguments.machine:
        command += ["--machine", arguments.machine]
    if not arguments.processes:
        subprocess.run(command, check=False)
    else:
        command.remove("--device")
        command.remove("cuda")
        common = dict(os.environ, ROOFLINE_RENDEZVOUS=folder, WORLD_SIZE=str(arguments.ranks), MASTER_PORT="29544")
        started = [subprocess.Popen(command, env=dict(common, RANK=str(rank), LOCAL_RANK=str(rank)))
                   for rank in range(arguments.ranks)]
        for process in started:
            process.wait()
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
        return [row for row in json.load(file)["results"] if row["status"] == "ok"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roofline")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--processes", action="store_true", help="one process a GPU, as launchers start them")
    parser.add_argument("--op", default="all_reduce", choices=FACTORS)
    parser.add_argument("--within", type=float, default=0.03)
    parser.add_argument("--machine", help="machine.json; else the one in the cache, or a new calibration")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        rows = {row["shape"]["n"] * 4: row for row in roofline_rows(arguments, folder)
                if row["shape"]["n"] * 4 <= 1 << 30}
        result = os.path.join(folder, "torch.json")
        import torch.multiprocessing as mp
        mp.spawn(torch_loop, args=(arguments.ranks, arguments.op, sorted(rows), result), nprocs=arguments.ranks)
        with open(result, encoding="utf-8") as file:
            torch_seconds = {int(size): seconds for size, seconds in json.load(file).items()}

    worst = 0.0
    print(f"{'bytes':>12} {'roofline us':>12} {'torch us':>12} {'bus GB/s':>10} {'torch':>10} {'ratio':>7}")
    for size, row in sorted(rows.items()):
        bus = size * FACTORS[arguments.op](arguments.ranks)
        ours, theirs = row["time_s"]["median"], torch_seconds[size]
        print(f"{size:12} {ours * 1e6:12.2f} {theirs * 1e6:12.2f} {bus / ours * 1e-9:10.2f} {bus / theirs * 1e-9:10.2f}"
              f" {theirs / ours:7.3f}")
        if size >= 1 << 20:
            worst = max(worst, 1 - theirs / ours)
    print(f"slower than PyTorch from 1 MiB on by at most {worst:.1%}")
    sys.exit(1 if not rows or worst > arguments.within else 0)


if __name__ == "__main__":
    main()
