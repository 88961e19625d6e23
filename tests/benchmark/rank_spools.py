#!/usr/bin/env python3
"""Writes the recording of a job of many GPU ranks, one of which is late, as `roofline profile --keep` leaves it; then
times `roofline profile --from` of it, with its memory.

With --mpi the ranks are CPU ranks under MPI, each with as many collectives as its recording keeps; the late one computes
1.3 times as long.

usage: rank_spools.py FOLDER [--mpi] [--ranks 1024] [--late 700] [--steps 40] [--kernels 120] [--collectives 10]
                      [--roofline build/local/roofline] [--seconds 60] [--gigabytes 4] [--keep]

In each step every rank launches its kernels and collectives in turns; the late rank's kernels take 1.3 times as long.
Kernels vary by 2 %. Nothing is written where the folder has a recording. Exits 1 where the late rank is not the first
finding, or where time or memory are above their limits.
"""
import argparse
import json
import os
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROCESS, NOTE, TEXT, DEVICE, LINE, PLACE, KIND, LAUNCH, KERNEL = 1, 2, 3, 4, 7, 8, 9, 10, 11
TALLY, RANK, COMMUNICATOR, COLLECTIVE = 20, 29, 30, 31
ALL_REDUCE = 1


def record(type_, layout, *values, tail=b""):
    body = struct.pack("<" + layout, *values) + tail
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", 8 + len(body), type_, 0) + body


class Rank:
    def __init__(self, number, ranks, kernels):
        self.texts = 0
        self.bytes = [struct.pack("<Q", 0x314c4f4f50534652),
                      record(PROCESS, "QQIIII", 0, 0, 10_000 + number, 1, 0, 0, tail=b"python\0train.py\0")]
        name, chip = self.text("NVIDIA H100 80GB HBM3"), self.text("GH100")
        uuid = struct.pack("<QQ", 7, number + 1)
        self.bytes.append(record(DEVICE, "IIII16s10IQ", 0, name, chip, 132, uuid, 9, 0, 2048, 32, 65536, 65536,
                                 233472, 233472, 64, 0, 80 << 30))
        self.bytes.append(record(RANK, "IIIIII", number, number % 8, ranks, self.text("Slurm"),
                                 self.text(f"node{number // 8:04}"), 0))
        self.bytes.append(record(COMMUNICATOR, "QIIII", 99, 1, number, ranks, 0))
        self.kinds = [self.kind(i + 1, f"layer_kernel_{i % 24}", 10 + i % 24) for i in range(kernels)]
        self.reduce = self.kind(kernels + 1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 60)
        self.update = self.kind(kernels + 2, "multi_tensor_apply_kernel", 70)
        self.launches = self.correlation = 0
        self.thread = 10_000 + number

    def text(self, text):
        self.texts += 1
        self.bytes.append(record(TEXT, "II", self.texts, len(text), tail=text.encode()))
        return self.texts

    def kind(self, id_, name, line):
        file, function = self.text("/home/user/train.py"), self.text("step")
        self.bytes.append(record(LINE, "IIII", id_, file, function, line))
        self.bytes.append(record(PLACE, "IIIIIIII", id_, 0, id_, 0, 0, 0, 0, 0))
        self.bytes.append(record(KIND, "II9IIQII", id_, self.text(name), 132, 1, 1, 256, 1, 1, 0, 0, 0, 0, 0, id_, 0))
        return id_

    def launch(self, kind, host, start, end, stream=7):
        self.correlation += 1
        self.launches += 1
        self.bytes.append(struct.pack("<IHHQQIIIIIHHQQIIIIIIQIIII", 40, LAUNCH, 0, host, host + 4000, self.correlation,
                                      kind, self.thread, 0, 72, KERNEL, 0, start, end, self.correlation, 0, 0, 0,
                                      stream, 0, 0, 32, 0, 0, 0))

    def collective(self, host, number, size):
        self.bytes.append(struct.pack("<IHHQQQQIIIIII", 64, COLLECTIVE, 0, host, host + 4000, number, size, 1,
                                      ALL_REDUCE, 1, self.correlation, self.thread, 0))

    def end(self, when):
        self.bytes.append(record(TALLY, "QQQQQQQ", when, self.launches, self.launches, 0, 0, 0, 1))
        return b"".join(self.bytes)


def plan(arguments):
    """The starts of all collectives, which depend on all ranks, and the seed of each rank's kernels."""
    per_part = max(1, arguments.kernels // arguments.collectives)
    lengths = []
    for number in range(arguments.ranks):
        random_ = random.Random(number)
        slow = 1.3 if number == arguments.late else 1
        lengths.append([[slow * sum(50_000 * (1 + random_.uniform(-0.02, 0.02)) + 1000 for _ in range(per_part))
                         for _ in range(arguments.collectives)] for _ in range(arguments.steps)])
    return per_part, lengths


def write(folder, arguments):
    per_part, lengths = plan(arguments)
    begin, transfer = 1_000_000, 100_000
    starts, now = [], begin
    for step in range(arguments.steps):
        for part in range(arguments.collectives):
            now += max(lengths[number][step][part] for number in range(arguments.ranks))
            starts.append(int(now))
            now += transfer
        now += 50_000
    for number in range(arguments.ranks):
        rank = Rank(number, arguments.ranks, arguments.kernels)
        gpu, i = begin, 0
        for step in range(arguments.steps):
            for part in range(arguments.collectives):
                length = lengths[number][step][part] / per_part
                for k in range(per_part):
                    rank.launch(rank.kinds[part * per_part + k], gpu - 20_000, int(gpu + k * length),
                                int(gpu + (k + 1) * length - 1000))
                own = int(gpu + per_part * length)
                rank.launch(rank.reduce, own - 20_000, own, starts[i] + transfer, 20)
                rank.collective(own - 20_000, i, 64 << 20)
                gpu = starts[i] + transfer
                i += 1
            rank.launch(rank.update, gpu - 20_000, gpu, gpu + 49_000)
            gpu += 50_000
        (folder / f"{10_000 + number}.{number}.spool").write_bytes(rank.end(gpu + 1_000_000))


def write_mpi(folder, arguments):
    """As src/mpi/calls.h has it."""
    collectives = 16384
    random_ = random.Random(1)
    noise = [[random_.uniform(0.98, 1.02) for _ in range(997)] for _ in range(16)]
    work = [[int(1.3 * 1_000_000 if number == arguments.late else 1_000_000 * noise[number % 16][i % 997])
             for i in range(997)] for number in range(arguments.ranks)]
    slowest = [max(of[i] for of in work) for i in range(997)]
    meets, now = [], 1_000_000_000
    for i in range(collectives):
        now += slowest[i % 997]
        meets.append(now)
        now += 10_000
    pack = struct.Struct("<4Q2I").pack
    for number in range(arguments.ranks):
        of, start, records, total = work[number], 1_000_000_000, [], 0
        for i in range(collectives):
            call = start + of[i % 997]
            start = meets[i] + 10_000
            records.append(pack(99, i, call, start - call, 0, arguments.ranks))
            total += start - call
        head = struct.pack("<8sQ4i64s16s5Q6I", b"roofmpi1", 0, 10_000 + number, number, arguments.ranks, 0,
                           f"node{number // 64}".encode(), b"Slurm", 1_000_000_000, start, total, collectives, 0, 1, 1, 1,
                           0, collectives, 0)
        site = struct.pack("<6Q2I40s", 0, collectives, collectives, collectives, 8 * collectives, total, 0, 1,
                           b"MPI_Allreduce")
        body = bytearray(head + bytes(64 * 512) + site + bytes(1023 * 96) + b"".join(records))
        struct.pack_into("<Q", body, 8, len(body))
        (folder / f"{10_000 + number}.mpi").write_bytes(body)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    for name, default in (("ranks", 1024), ("late", 700), ("steps", 40), ("kernels", 120), ("collectives", 10)):
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--mpi", action="store_true")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--gigabytes", type=float, default=4)
    parser.add_argument("--machine", default=ROOT / "reports/reference/h200-ops/report.json")
    parser.add_argument("--roofline", default=ROOT / "build/local/roofline")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    pattern = "*.mpi" if arguments.mpi else "*.spool"
    if not any(arguments.folder.glob(pattern)):
        (write_mpi if arguments.mpi else write)(arguments.folder, arguments)
    files = list(arguments.folder.glob(pattern))
    size = sum(file.stat().st_size for file in files)
    with tempfile.TemporaryDirectory() as output:
        began = time.monotonic()
        roofs = ["--device", "cpu"] if arguments.mpi else ["--machine", arguments.machine]
        done = subprocess.run([arguments.roofline, "profile", "--from", arguments.folder, *roofs, "-o", output],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        seconds = time.monotonic() - began
        if done.returncode != 0:
            sys.exit(done.stderr)
        report = json.loads((pathlib.Path(output) / "report.json").read_text())
    gigabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e9
    profile = report["profile"]
    first = profile["wins"][0] if profile.get("wins") else {"cause": "none", "what": ""}
    print(f"{len(files):,} recordings, {size / 1e9:.2f} GB, "
          f"{16384 if arguments.mpi else arguments.steps * (arguments.kernels + arguments.collectives + 1):,} calls each: "
          f"{seconds:.1f} s, {gigabytes:.2f} GB of memory")
    print(f"first finding: {first['cause']}: {first['what']}")
    ranks = profile.get("ranks")
    print(f"ranks: {len(ranks['ranks']) if ranks else 0}, matched {ranks['matched_share'] if ranks else 0:.3f}")
    cause, who = ("unequal_work", f"rank {arguments.late},") if arguments.mpi else ("slow_gpu", f"Rank {arguments.late} ")
    found = who in first["what"] and first["cause"] == cause
    return 0 if found and seconds <= arguments.seconds and gigabytes <= arguments.gigabytes else 1


if __name__ == "__main__":
    sys.exit(main())
