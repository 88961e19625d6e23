#!/usr/bin/env python3
"""The links of a node file beside what PyTorch reaches over them in the same hour: its copies from GPU to GPU, one way
and both ways, and NCCL's send and receive between two processes. Run by hand on a host with two GPUs or more.

usage: links_against_torch.py node.json
"""
import json
import os
import statistics
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

BYTES = 256 << 20
ROUNDS = 30


def timed(enqueue, devices, rounds=ROUNDS):
    """The median of the seconds that one call takes, all devices waited for, 8 calls a sample."""
    def sync():
        for device in devices:
            torch.cuda.synchronize(device)
    for _ in range(8):
        enqueue()
    seconds = []
    for _ in range(rounds):
        sync()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with torch.cuda.device(devices[0]):
            start.record()
            for _ in range(8):
                enqueue()
            end.record()
        sync()
        seconds.append(start.elapsed_time(end) * 1e-3 / 8)
    return statistics.median(seconds)


def copies(a, b):
    here = torch.rand(BYTES // 4, device=f"cuda:{a}")
    there = torch.rand(BYTES // 4, device=f"cuda:{b}")
    pull = torch.empty_like(here)
    push = torch.empty_like(there)
    back = torch.cuda.Stream(device=b)

    def both():
        back.wait_stream(torch.cuda.current_stream(a))
        with torch.cuda.device(a):
            push.copy_(here, non_blocking=True)
        with torch.cuda.stream(back):
            pull.copy_(there, non_blocking=True)
        torch.cuda.current_stream(a).wait_stream(back)

    with torch.cuda.device(a):
        return {"link.read": BYTES / timed(lambda: pull.copy_(there, non_blocking=True), [a, b]),
                "link.write": BYTES / timed(lambda: push.copy_(here, non_blocking=True), [a, b]),
                "link.both": 2 * BYTES / timed(both, [a, b])}


def send_and_receive(rank, pair, port, queue):
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    torch.cuda.set_device(pair[rank])
    dist.init_process_group("nccl", rank=rank, world_size=2)
    data = torch.rand(BYTES // 4, device=f"cuda:{pair[rank]}")
    one = timed(lambda: dist.send(data, 1) if rank == 0 else dist.recv(data, 0), [pair[rank]])
    other = torch.empty_like(data)

    def both():
        for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, data, 1 - rank),
                                            dist.P2POp(dist.irecv, other, 1 - rank)]):
            work.wait()
    two = timed(both, [pair[rank]])
    if rank == 0:
        queue.put((BYTES / one, 2 * BYTES / two))
    dist.destroy_process_group()


def main(path):
    node = json.load(open(path))
    links = {(link["from"], link["to"]): {c["name"]: c["value"] for c in link["ceilings"]} for link in node["links"]}
    for (a, b), known in sorted(links.items()):
        theirs = copies(a, b)
        queue = mp.get_context("spawn").SimpleQueue()
        mp.spawn(send_and_receive, ((a, b), 29600 + 16 * a + b, queue), nprocs=2)
        one, two = queue.get()
        for name, rate in (*theirs.items(), ("link.write", one), ("link.both", two)):
            how = "NCCL" if rate in (one, two) else "copy_"
            own = known.get(name)
            beside = f"{own * 1e-9:7.1f} GB/s, {100 * (own / rate - 1):+5.1f} %" if own else "not measured"
            print(f"{a} to {b}  {name:<10} PyTorch {how:<6} {rate * 1e-9:7.1f} GB/s   roofline {beside}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
