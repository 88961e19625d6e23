#!/usr/bin/env python3
"""How often the regression gate is wrong on this machine (docs/method.md).

    tests/benchmark/gate_rates.py ROOFLINE [--comparisons 100] [--slower 100] [--single-runs 100] [--slowdown 3]
        [--kind compute|memory] [--max-time 3] [--threads all|1]

Compares a kernel with itself (`--comparisons` times), and with a version that does `--slowdown` per cent more work
(`--slower` times): by `roofline ab`, and `--single-runs` times by `roofline compare` of one run per side with the same
sampling time. Prints the rate of false alarms and the rate of found slowdowns of both. A comparison takes about one to
three seconds per second of `--max-time`. Leaves nothing behind.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

# `STEPS` dependent multiply-adds per element: time in proportion to it.
COMPUTE = """\
#include <stdint.h>
void work(const float* x, float* y, int64_t n, int32_t thread, int32_t threads) {
  for (int64_t i = n * thread / threads; i < n * (thread + 1) / threads; ++i) {
    float v = x[i];
    for (int k = 0; k < STEPS; ++k) v = v * 0.999f + 0.001f;
    y[i] = v;
  }
}
"""
# Copies STEPS / 2000 of the elements: time in proportion to bytes.
MEMORY = """\
#include <stdint.h>
void work(const float* x, float* y, int64_t n, int32_t thread, int32_t threads) {
  const int64_t begin = n * thread / threads, all = n * (thread + 1) / threads;
  const int64_t end = begin + (all - begin) * STEPS / 2000;
  for (int64_t i = begin; i < end; ++i) y[i] = x[i];
}
"""
SUITE = """\
name: gate
kernels:
  work:
    source: work.c
    entry: work
    define: {{ STEPS: {steps} }}
    arguments:
      - {{ input: x, dtype: fp32, size: n }}
      - {{ output: y, dtype: fp32, size: n }}
      - {{ scalar: n, dtype: int64 }}
      - {{ scalar: thread, dtype: int32 }}
      - {{ scalar: threads, dtype: int32 }}
    launch: {{ threads: {threads} }}
    work: {{ flops: {{ fp32: 2*1000*n }} }}
    unverified: true
workloads:
  - {{ kernel: work, label: work, shape: {{ n: {n} }} }}
"""
REGRESSION = 3


def run(words, folder, codes):
    environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, "cache"), NO_COLOR="1")
    done = subprocess.run(words, env=environment, cwd=folder, text=True, capture_output=True)
    if done.returncode not in codes:
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    return done


def by_ab(tool, folder, now, options):
    done = run([tool, "ab", "old/suite.yaml", f"{now}/suite.yaml", "--device", "cpu", "--json", "--max-time",
                options.max_time], folder, (0, REGRESSION))
    return json.loads(done.stdout)["data"]["rows"][0]["change"]


def by_single_runs(tool, folder, now, options):
    for side in ("old", now):
        run([tool, "analyze", f"{side}/suite.yaml", "--device", "cpu", "--machine", "machine.json", "--max-time",
             options.max_time, "--no-experiments", "-o", f"{side}.json"], folder, (0,))
    done = run([tool, "compare", "old.json", f"{now}.json", "--json"], folder, (0, REGRESSION))
    row = json.loads(done.stdout)["data"]["rows"][0]
    return "slower" if row["regression"] else "same" if row["change"] == "slower" else row["change"]


def write_version(folder, name, source, steps, options):
    os.makedirs(os.path.join(folder, name))
    with open(os.path.join(folder, name, "work.c"), "w") as file:
        file.write(source)
    n = "2^12" if options.kind == "compute" else "2^24"
    with open(os.path.join(folder, name, "suite.yaml"), "w") as file:
        file.write(SUITE.format(steps=steps, threads=options.threads, n=n))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roofline")
    parser.add_argument("--comparisons", type=int, default=100)
    parser.add_argument("--slower", type=int, help="default: as --comparisons")
    parser.add_argument("--single-runs", type=int, help="default: as --comparisons")
    parser.add_argument("--slowdown", type=float, default=3, help="per cent")
    parser.add_argument("--kind", choices=("compute", "memory"), default="compute")
    parser.add_argument("--max-time", default="3")
    parser.add_argument("--threads", default="all")
    options = parser.parse_args()
    tool = os.path.abspath(options.roofline)
    source = COMPUTE if options.kind == "compute" else MEMORY
    with tempfile.TemporaryDirectory() as folder:
        write_version(folder, "old", source, 1000, options)
        write_version(folder, "same", source, 1000, options)
        write_version(folder, "slow", source, round(1000 * (1 + options.slowdown / 100)), options)
        run([tool, "calibrate", "--device", "cpu", "--quick", "--only", "dram*", "-o", "machine.json"], folder, (0,))
        same = options.comparisons
        slower = same if options.slower is None else options.slower
        single = same if options.single_runs is None else options.single_runs
        sides = (("same", "false alarms", same), ("slow", f"{options.slowdown:g} % slowdowns found", slower))
        for name, compare, most in (("ab", by_ab, max(same, slower)), ("compare, one run per side", by_single_runs, single)):
            for now, what, count in sides:
                changes = [compare(tool, folder, now, options) for _ in range(min(count, most))]
                counts = {change: changes.count(change) for change in sorted(set(changes))}
                print(f"{name}: {what}: {changes.count('slower')} of {len(changes)} ({counts})", flush=True)


if __name__ == "__main__":
    main()
