#!/usr/bin/env python3
"""What a suite's own kernels cost, on the CPU.

    tests/benchmark/own_kernels.py ROOFLINE same [rounds, default 5]
        the plain loop of the op `add`, built in and as a C source: the ratio of their times at several sizes
    tests/benchmark/own_kernels.py ROOFLINE sweep [configurations, default 200]
        how long a sweep takes whose sources all have to be compiled, and once more when they are

On a machine with nothing else to do; both leave nothing behind.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

# Compiled as the rung is: for any x86-64 CPU, by the host compiler's -O3.
ADD = "void add(const float* x, const float* y, float* z, long n) { for (long i = 0; i < n; ++i) z[i] = x[i] + y[i]; }\n"
SAME = """\
name: same
kernels:
  own:
    source: add.c
    like: add
    entry: add
    options: [-march=x86-64, -mtune=generic]
    arguments: [{ input: x }, { input: y }, { output: z }, { scalar: n, dtype: int64 }]
workloads:
"""
SWEPT = """\
#include <stdint.h>
void scale(const float* x, float* y, int64_t n, int32_t thread, int32_t threads) {
  const int64_t begin = n / STEP * thread / threads * STEP, end = n / STEP * (thread + 1) / threads * STEP;
  for (int64_t i = begin; i < end; i += STEP) for (int j = 0; j < STEP; ++j) y[i + j] = (float)FACTOR / FACTOR * 2 * x[i + j];
}
"""
SWEEP = """\
name: sweep
kernels:
  swept:
    source: swept.c
    entry: scale
    define: { STEP: [1, 2, 4, 8, 16], FACTOR: %s }
    arguments:
      - { input: x, dtype: fp32, size: n }
      - { output: y, dtype: fp32, size: n }
      - { scalar: n, dtype: int64 }
      - { scalar: thread, dtype: int32 }
      - { scalar: threads, dtype: int32 }
    launch: { threads: [1, all] }
    work: { flops: { fp32: n } }
    expect: { y: 2*x }
    choose: fastest
workloads:
  - { kernel: swept, shape: { n: 2^20 } }
"""


def analyze(roofline, folder, suite, *more):
    machine = os.path.join(folder, "machine.json")
    environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, "cache"), NO_COLOR="1")
    run = lambda *words: subprocess.run([roofline, *words], env=environment, cwd=folder, text=True, check=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if not os.path.exists(machine):
        run("calibrate", "--device", "cpu", "--quick", "--only", "dram*", "-o", machine)
    with open(os.path.join(folder, "suite.yaml"), "w") as file:
        file.write(suite)
    begin = time.time()
    done = run("analyze", "suite.yaml", "--device", "cpu", "--machine", machine, "--json", *more)
    return json.loads(done.stdout), time.time() - begin


def same(roofline, folder, rounds):
    with open(os.path.join(folder, "add.c"), "w") as file:
        file.write(ADD)
    sizes = {"2^8": "hot", "2^12": "hot", "2^16": "hot", "2^22": "cold"}
    suite = SAME + "".join(f"  - {{ kernel: own, shape: {{ n: {n} }}, cache: {cache}, impl: [own, scalar] }}\n"
                           for n, cache in sizes.items())
    ratios = {}
    for _ in range(rounds):
        report, _ = analyze(roofline, folder, suite, "--max-time", "0.7")
        times = {(row["shape"]["n"], row["impl"]): row["time_s"]["median"] for row in report["results"]}
        for n in sorted({n for n, _ in times}):
            ratios.setdefault(n, []).append((times[n, "own"] / times[n, "scalar"], times[n, "scalar"]))
    for n, found in ratios.items():
        each = sorted(ratio for ratio, _ in found)
        print(f"n = {n:8}: own / built in {statistics.median(each):.4f} ({each[0]:.4f} to {each[-1]:.4f}), built in "
              f"{min(time for _, time in found) * 1e9:.1f} ns")


def sweep(roofline, folder, configurations):
    with open(os.path.join(folder, "swept.c"), "w") as file:
        file.write(SWEPT)
    suite = SWEEP % list(range(1, configurations // 10 + 1))
    for name in ("first", "again"):
        report, seconds = analyze(roofline, folder, suite, "--max-time", "0.05")
        note = next(note for note in report["notes"] if "is the fastest of" in note)
        print(f"{name}: {seconds:.1f} s; {note}")


if __name__ == "__main__":
    tool, what = os.path.abspath(sys.argv[1]), {"same": same, "sweep": sweep}[sys.argv[2]]
    with tempfile.TemporaryDirectory() as folder:
        what(tool, folder, int(sys.argv[3]) if len(sys.argv) > 3 else {"same": 5, "sweep": 200}[sys.argv[2]])
