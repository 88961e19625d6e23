#!/usr/bin/env python3
"""Imports a synthesised trace of torch.profiler, and prints its size, the time and the memory that it took.

    tests/benchmark/import_trace.py ROOFLINE [megabytes, default 500]
"""
import os
import resource
import subprocess
import sys
import tempfile
import time

STEP = 40  # operators of a step


def write_trace(path, megabytes):
    with open(path, "w") as file:
        file.write('{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}],\n'
                   '"traceEvents": [\n')
        number = 0
        while file.tell() < megabytes * 1e6:
            lines = []
            for _ in range(1000):
                number += 1
                ts, op = number * 30.0, number % STEP
                args = f'"External id": {number}, "Record function id": 0'
                lines.append(f'{{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": {ts:.3f}, '
                             f'"dur": 20.5, "args": {{{args}, "Sequence number": {number}, "Concrete Inputs": ["", ""], '
                             f'"Input type": ["c10::BFloat16", "c10::BFloat16"], "Input Strides": [[1024, 1], [4096, 1]], '
                             f'"Input Dims": [[8192, 1024], [1024, {64 * (op + 1)}]], "Ev Idx": {number}}}}}')
                lines.append(f'{{"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_{op}", "pid": 9, "tid": 9, '
                             f'"ts": {ts - 1:.3f}, "dur": 25.5, "args": {{"Python parent id": null, "Python id": {number}}}}}')
                lines.append(f'{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, '
                             f'"ts": {ts + 5:.3f}, "dur": 4.2, "args": {{"External id": {number}, "cbid": 211, '
                             f'"correlation": {number}}}}}')
                lines.append(f'{{"ph": "X", "cat": "kernel", "name": "nvjet_sm90_tst_192x192_{op}", "pid": 0, "tid": 7, '
                             f'"ts": {ts + 12:.3f}, "dur": {10 + op * 0.25:.3f}, "args": {{"External id": {number}, '
                             f'"queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": {number}, '
                             f'"registers per thread": 168, "shared memory": 213204, "blocks per SM": 1.0, '
                             f'"warps per SM": 12.0, "grid": [2, 66, 1], "block": [384, 1, 1], '
                             f'"est. achieved occupancy %": 19}}}}')
            file.write(",\n".join(lines) + ",\n")
        file.write('{"ph": "i", "s": "g", "name": "end", "pid": 9, "tid": 9, "ts": 0}]}\n')
    return number


def main(roofline, megabytes):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        kernels = write_trace(path, megabytes)
        begin = time.time()
        subprocess.run([roofline, "import", path, "-o", os.path.join(folder, "report.json")], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{os.path.getsize(path) / 1e6:.0f} MB, {kernels:,} kernels: {time.time() - begin:.1f} s "
              f"({usage.ru_utime + usage.ru_stime:.1f} s of one core), {usage.ru_maxrss / 1e3:.0f} MB at most")


main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 500)
