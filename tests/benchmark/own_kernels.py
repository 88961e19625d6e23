#!/usr/bin/env python3
"""What a suite's own kernels cost.

    tests/benchmark/own_kernels.py ROOFLINE same [--device cpu|cuda] [rounds, default 5]
        a kernel of an op, built in and as a source of the suite, the plain loop of `add` on a CPU, both implementations of `relu` on
        a GPU: the ratio of their times at several sizes
    tests/benchmark/own_kernels.py ROOFLINE sweep [--device cpu|cuda] [configurations, default 200]
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

# Compiled as the implementation is: for any x86-64 CPU, by the host compiler's -O3.
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
# The implementations of relu, as kernels/blocks/cuda/elementwise.cuh has them.
RELU = """\
struct Inputs { const float* at[1]; };
__device__ uint4 load_streaming(const uint4* from) {
  unsigned long keep = 0;
  uint4 raw;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(keep));
  asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(raw.x), "=r"(raw.y), "=r"(raw.z), "=r"(raw.w) : "l"(from), "l"(keep));
  return raw;
}
__global__ void naive(Inputs x, float* __restrict__ y, long n) {
  const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x.at[0][i], 0.0f);
}
__global__ void vectorized(Inputs x, float* __restrict__ y, long n) {
  const long vector = (long)blockIdx.x * blockDim.x + threadIdx.x;
  const long first = vector * 4;
  if (first + 4 <= n) {
    const uint4 raw = load_streaming((const uint4*)x.at[0] + vector);
    float v[4] = {__uint_as_float(raw.x), __uint_as_float(raw.y), __uint_as_float(raw.z), __uint_as_float(raw.w)};
    for (int i = 0; i < 4; ++i) v[i] = fmaxf(v[i], 0.0f);
    __stcs((uint4*)y + vector,
           make_uint4(__float_as_uint(v[0]), __float_as_uint(v[1]), __float_as_uint(v[2]), __float_as_uint(v[3])));
    return;
  }
  for (long i = first; i < n; ++i) y[i] = fmaxf(x.at[0][i], 0.0f);
}
"""
SAME_CUDA = """\
name: same
kernels:
  own_naive:
    source: relu.cu
    like: relu
    entry: naive
    arguments: [{ input: x }, { output: y }, { scalar: n, dtype: int64 }]
    launch: { grid: ceil(n / 256), block: 256 }
  own_vectorized:
    source: relu.cu
    like: relu
    entry: vectorized
    arguments: [{ input: x }, { output: y }, { scalar: n, dtype: int64 }]
    launch: { grid: ceil(n / 1024), block: 256 }
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


SWEPT_CUDA = """\
__global__ void scale(const float* x, float* y, long long n) {
  const long long first = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * STEP;
#pragma unroll
  for (int j = 0; j < STEP; ++j) if (first + j < n) y[first + j] = (float)FACTOR / FACTOR * 2 * x[first + j];
}
"""
SWEEP_CUDA = """\
name: sweep
kernels:
  swept:
    source: swept.cu
    entry: scale
    define: { STEP: [1, 2, 4, 8, 16], FACTOR: %s }
    arguments:
      - { input: x, dtype: fp32, size: n }
      - { output: y, dtype: fp32, size: n }
      - { scalar: n, dtype: int64 }
    launch: { grid: ceil(n / (block * STEP)), block: [128, 256] }
    work: { flops: { fp32: n } }
    expect: { y: 2*x }
    choose: fastest
workloads:
  - { kernel: swept, shape: { n: 2^24 } }
"""


def analyze(roofline, folder, device, suite, *more):
    machine = os.path.join(folder, "machine.json")
    environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, "cache"), NO_COLOR="1")
    run = lambda *words: subprocess.run([roofline, *words], env=environment, cwd=folder, text=True, check=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if not os.path.exists(machine):
        run("calibrate", "--device", device, "--quick", "--only", "hbm*" if device == "cuda" else "dram*", "-o", machine)
    with open(os.path.join(folder, "suite.yaml"), "w") as file:
        file.write(suite)
    begin = time.time()
    done = run("analyze", "suite.yaml", "--device", device, "--machine", machine, "--json", *more)
    return json.loads(done.stdout)["data"], time.time() - begin


def same(roofline, folder, device, rounds):
    for name, text in (("add.c", ADD), ("relu.cu", RELU)):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    if device == "cuda":
        pairs = {"own_naive": "naive", "own_vectorized": "vectorized"}
        # Both implementations stand beside each of our kernels: in turns, so that neither has the warmer GPU.
        suite = SAME_CUDA + "".join(f"  - {{ kernel: {own}, shape: {{ n: {n} }}, impl: [{own}, {implementation}] }}\n"
                                    for n in ("2^12", "2^20", "2^24", "2^28") for own, implementation in pairs.items())
    else:
        pairs = {"own": "scalar"}
        sizes = {"2^8": "hot", "2^12": "hot", "2^16": "hot", "2^22": "cold"}
        suite = SAME + "".join(f"  - {{ kernel: own, shape: {{ n: {n} }}, cache: {cache}, impl: [own, scalar] }}\n"
                               for n, cache in sizes.items())
    ratios = {}
    for _ in range(rounds):
        report, _ = analyze(roofline, folder, device, suite, "--max-time", "0.7")
        times = {(row["shape"]["n"], row["impl"]): row["time_s"]["median"] for row in report["results"]}
        for n, impl in times:
            if impl in pairs:
                ratios.setdefault((n, impl), []).append((times[n, impl] / times[n, pairs[impl]], times[n, impl]))
    for (n, impl), found in sorted(ratios.items()):
        each = sorted(ratio for ratio, _ in found)
        print(f"n = {n:9}, {impl}: own / built in {statistics.median(each):.4f} ({each[0]:.4f} to {each[-1]:.4f}), own "
              f"{min(time for _, time in found) * 1e6:.3f} us")


def sweep(roofline, folder, device, configurations):
    cuda = device == "cuda"
    with open(os.path.join(folder, "swept.cu" if cuda else "swept.c"), "w") as file:
        file.write(SWEPT_CUDA if cuda else SWEPT)
    suite = (SWEEP_CUDA if cuda else SWEEP) % list(range(1, configurations // 10 + 1))
    for name in ("first", "again"):
        report, seconds = analyze(roofline, folder, device, suite, "--max-time", "0.05")
        note = next(note for note in report["notes"] if "is the fastest of" in note)
        print(f"{name}: {seconds:.1f} s; {note}")


if __name__ == "__main__":
    words = sys.argv[1:]
    device = "cpu"
    if "--device" in words:
        device = words.pop(words.index("--device") + 1)
        words.remove("--device")
    tool, what = os.path.abspath(words[0]), {"same": same, "sweep": sweep}[words[1]]
    with tempfile.TemporaryDirectory() as folder:
        what(tool, folder, device, int(words[2]) if len(words) > 2 else {"same": 5, "sweep": 200}[words[1]])
