#!/usr/bin/env python3
"""Kernels that a suite brings with it, on a GPU, by the binary. Skips, with a message, where there is none.

usage: own_kernels_gpu_test.py PATH_OF_ROOFLINE [unittest arguments]
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import own_kernels_test
from own_kernels_test import ROOT

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")

# As tutorials write them: a block adds up 256 elements, in shared memory and by shuffles; and two that are wrong.
REDUCTIONS = """\
__global__ void shared_sum(const float* x, float* sums, int n) {
  __shared__ float s[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sums, s[0]);
}
__device__ float warp_sum(float v) {
  for (int lane = 16; lane > 0; lane /= 2) v += __shfl_down_sync(~0u, v, lane);
  return v;
}
__global__ void shuffled_sum(const float* x, float* sums, int n) {
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) atomicAdd(sums, v);
}
__global__ void zero(float* sums) { *sums = 0; }
__global__ void without_the_last_block(const float* x, float* sums, int n) {
  if (blockIdx.x + 1 < gridDim.x) atomicAdd(sums, x[blockIdx.x * 256 + threadIdx.x]);
}
__global__ void plain(const float* x, float* sums, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  *sums = sum;
}
"""

REDUCTION = """\
  {name}:
    source: reductions.cu
    buffers: [{{ input: x, dtype: fp32, size: n, values: {{ range: [0, 1] }} }}, {{ output: sums, dtype: fp32, size: 1 }}]
    steps:
      - {{ entry: zero, arguments: [{{ pointer: sums }}], launch: {{ grid: 1, block: 1 }} }}
      - entry: {name}
        arguments: [{{ pointer: x }}, {{ pointer: sums }}, {{ scalar: n, dtype: int32 }}]
        launch: {{ grid: {grid}, block: 256 }}
    work: {{ flops: {{ fp32: n }} }}
    same_as: plain
    tolerance: 1e-4
"""

SCALE = "__global__ void scale(const float* x, float* y, float f, long long n) {\n"
EACH = "  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"


def suite_of(kernels, shape="{ n: 10000 }"):
    return "name: own\nkernels:\n" + "".join(kernels.values()) + "workloads:\n" + "".join(
        f"  - {{ kernel: {name}, shape: {shape} }}\n" for name in kernels)


def kernel_of(name, source, entry, launch="{ grid: ceil(n / 256), block: 256 }", more="    expect: { y: 2*x }\n", dtype="fp32"):
    return (f"  {name}:\n" + own_kernels_test.KERNEL.format(source=source, entry=entry).replace("fp32, size", f"{dtype}, size") +
            f"    launch: {launch}\n    work: {{ flops: {{ fp32: n }} }}\n" + more)


class OnAGpu(own_kernels_test.OwnKernels):
    device = "cuda"
    roofs = "hbm*"

    @classmethod
    def setUpClass(cls):
        listed = subprocess.run([own_kernels_test.ROOFLINE, "devices", "--json"], text=True, capture_output=True)
        devices = json.loads(listed.stdout)["data"]["devices"]
        if not any(each["device"]["kind"] == "cuda" and each["usable"] for each in devices):
            raise unittest.SkipTest("there is no GPU that can be used")
        super().setUpClass()

    def statuses(self, suite, *arguments, code=0):
        done = self.analyze(suite, *arguments)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        rows = json.loads(done.stdout)["data"]["results"]
        self.assertEqual(done.returncode, code, [row.get("reason") for row in rows])
        return {row["workload"]: row for row in rows}

    def check_ok(self, rows):
        for name, row in rows.items():
            self.assertEqual(row["status"], "ok", f"{name}: {row.get('reason')}")
            self.assertGreater(row["time_s"]["median"], 0)


class Works(OnAGpu):
    def test_the_examples(self):
        with tempfile.TemporaryDirectory() as folder:
            examples = shutil.copytree(ROOT / "configs" / "examples", pathlib.Path(folder) / "examples")
            for path in sorted(examples.glob("*.yaml")):
                if re.search(r"source: \w+\.c$", path.read_text(), re.MULTILINE):
                    continue  # for CPUs
                with self.subTest(path.name):
                    done = self.run_tool("analyze", path, "--device", "cuda", "--machine", self.machine, "--max-time", "0.02",
                                         "--json", "-o", self.folder / path.stem)
                    rows = json.loads(done.stdout)["data"]["results"]
                    wrong = [row for row in rows if row["status"] == "failed"]
                    self.assertEqual((done.returncode, wrong), (0, []), done.stderr)
                    own = [row for row in rows if row.get("verification", {}).get("status") == "pass"]
                    self.assertGreater(len(own), 0)

    def test_a_tutorials_reductions_and_the_wrong_one_among_them(self):
        self.write("reductions.cu", REDUCTIONS)
        plain = REDUCTION.format(name="plain", grid="1").replace("block: 256", "block: 1")
        plain = plain.replace("    same_as: plain\n    tolerance: 1e-4\n", "    unverified: true\n")
        rows = self.statuses(suite_of({
            "plain": plain,
            "shared_sum": REDUCTION.format(name="shared_sum", grid="ceil(n / 256)"),
            "shuffled_sum": REDUCTION.format(name="shuffled_sum", grid="264"),
            "without_the_last_block": REDUCTION.format(name="without_the_last_block", grid="ceil(n / 256)"),
        }, "{ n: 2^16 }"), code=1)
        wrong = rows.pop("without_the_last_block")
        self.check_ok(rows)
        self.assertEqual(rows["shared_sum"]["verification"]["status"], "pass")
        self.assertEqual(wrong["status"], "failed", wrong)
        self.assertNotIn("time_s", wrong)

    @unittest.skipIf(NVCC is None, "there is no nvcc")
    def test_machine_code_of_every_kind(self):
        self.write("scale.cu", "extern \"C\" " + SCALE + EACH + "  if (i < n) y[i] = f * x[i];\n}\n")
        for kind in ("ptx", "cubin", "fatbin"):
            subprocess.run([NVCC, f"-{kind}", "-arch=sm_90", "-o", self.folder / f"scale.{kind}", self.folder / "scale.cu"],
                           check=True, capture_output=True)
        sources = ("scale.cu", "scale.ptx", "scale.cubin", "scale.fatbin")
        kernels = {name.replace(".", "_"): kernel_of(name.replace(".", "_"), name, "scale") for name in sources}
        kernels["host"] = kernel_of("host", "host.cu", "scale", more="    compiler: nvcc\n    expect: { y: 2*x }\n")
        self.write("host.cu", "#include <vector>\n" + SCALE + EACH +
                   "  if (i < n) y[i] = f * x[i];\n}\nint main() { std::vector<float> v(1); return v.empty(); }\n")
        self.check_ok(self.statuses(suite_of(kernels)))

    def test_types(self):
        headers = {"fp16": ("cuda_fp16.h", "__half"), "bf16": ("cuda_bf16.h", "__nv_bfloat16"),
                   "fp8": ("cuda_fp8.h", "__nv_fp8_e4m3"), "int8": (None, "signed char"), "fp64": (None, "double"),
                   "int32": (None, "int")}
        kernels = {}
        for dtype, (header, spelled) in headers.items():
            include = f"#include <{header}>\n" if header else ""
            value = "x[i]" if dtype == "fp64" else "float(x[i])"
            self.write(f"{dtype}.cu", include + SCALE.replace("const float*", f"const {spelled}*").replace("float* y", f"{spelled}* y") +
                       EACH + f"  if (i < n) y[i] = ({spelled})(f * {value} / 4);\n}}\n")
            more = "    expect: { y: x/2 }\n" if dtype not in ("int8", "int32") else "    expect: { y: floor(x/2) }\n"
            values = "" if dtype not in ("int8", "int32") else ", values: { range: [0, 100] }"
            kernels[dtype] = kernel_of(dtype, f"{dtype}.cu", "scale", more=more, dtype=dtype).replace(
                f"input: x, dtype: {dtype}, size: n", f"input: x, dtype: {dtype}, size: n{values}")
        self.check_ok(self.statuses(suite_of(kernels)))

    def test_ways_to_launch(self):
        self.write("ways.cu", """\
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void large(const float* x, float* y, float f, long long n) {
  extern __shared__ float s[];
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  s[threadIdx.x + 30000] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) y[i] = f * s[threadIdx.x + 30000];
}
__global__ void together(const float* x, float* y, float f, long long n) {
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) y[n - 1 - i] = f;
  cg::this_grid().sync();
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) y[i] *= x[i];
}
__global__ void clustered(const float* x, float* y, float f, long long n) {
  __shared__ float mine;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = f;
  cluster.sync();
  const float theirs = *cluster.map_shared_rank(&mine, cluster.block_rank() ^ 1);
  cluster.sync();
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) y[i] = theirs * x[i];
}
__global__ void scale(const float* x, float* y, float f, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = f * x[i];
}
""")
        right = {
            "large": "{ grid: ceil(n / 256), block: 256, shared: 4 * (30000 + 256) }",
            "together": "{ grid: 40, block: 256, cooperative: true }",
            "clustered": "{ grid: 2 * ceil(n / 512), block: 256, cluster: 2 }",
            "scale": "{ grid: { x: ceil(n / 256) }, block: { x: 256, y: 1 } }",
        }
        self.check_ok(self.statuses(suite_of({name: kernel_of(name, "ways.cu", name, launch) for name, launch in right.items()})))
        wrong = {
            "wide": ("{ grid: 1, block: 2048 }", "a block of 2048 threads"),
            "high": ("{ grid: { x: 1, y: 100000 }, block: 256 }", "a grid of 1 x 100000 x 1 blocks"),
            "greedy": ("{ grid: 1, block: 256, shared: 2^20 }", "bytes of shared memory"),
            "odd": ("{ grid: 3, block: 256, cluster: 2 }", "not a multiple"),
            "many": ("{ grid: 2^20, block: 256, cooperative: true }", "does not fit"),
        }
        rows = self.statuses(suite_of({name: kernel_of(name, "ways.cu", "together" if name == "many" else "scale", launch)
                                       for name, (launch, _) in wrong.items()}))
        for name, (_, message) in wrong.items():
            self.assertEqual(rows[name]["status"], "skipped", rows[name])
            self.assertIn(message, rows[name]["reason"])

    def test_tiles_by_tensor_maps(self):
        self.write("tiles.cu", """\
struct alignas(64) Map { char bytes[128]; };
__global__ void tiles(const __grid_constant__ Map map, float* y, int rows, int columns) {
  __shared__ alignas(128) float tile[32][32];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned at = (unsigned)__cvta_generic_to_shared(&barrier), to = (unsigned)__cvta_generic_to_shared(tile);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(at) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at), "r"(4096) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
                 "r"(to), "l"(&map), "r"(blockIdx.x * 32), "r"(blockIdx.y * 32), "r"(at) : "memory");
  }
  __syncthreads();
  asm volatile("{ .reg .pred done; wait: mbarrier.try_wait.parity.shared.b64 done, [%0], 0; @!done bra wait; }" ::"r"(at) : "memory");
  for (int i = threadIdx.x; i < 1024; i += 256) {
    y[(blockIdx.y * 32 + i / 32) * (long long)columns + blockIdx.x * 32 + i % 32] = 2 * tile[i / 32][i % 32];
  }
}
""")
        suite = """\
name: own
kernels:
  tiles:
    source: tiles.cu
    entry: tiles
    buffers: [{ input: x, dtype: fp32, size: rows*columns }]
    arguments:
      - { tensor_map: x, rows: rows, columns: columns, box_rows: 32, box_columns: 32 }
      - { output: y, dtype: fp32, size: rows*columns }
      - { scalar: rows, dtype: int32 }
      - { scalar: columns, dtype: int32 }
    launch: { grid: { x: columns / 32, y: rows / 32 }, block: 256 }
    work: { flops: { fp32: rows*columns } }
    expect: { y: 2*x }
workloads:
  - { kernel: tiles, shape: { rows: 256, columns: 512 } }
"""
        self.check_ok(self.statuses(suite))

    def test_what_a_suite_leaves_out_is_counted(self):
        self.write("scale.cu", SCALE + EACH + "  if (i < n) y[i] = f * x[i];\n}\n")
        suite = suite_of({"scale": kernel_of("scale", "scale.cu", "scale").replace("    work: { flops: { fp32: n } }\n", "")}, "{ n: 2^20 }")
        row = self.statuses(suite, "--counters")["scale"]
        self.assertEqual(row["status"], "ok", row.get("reason"))
        if not row.get("counters"):
            self.skipTest("this GPU's counters can't be read: " + str(row.get("counters_reason", row)))
        self.assertEqual(sum(row["work"]["flops"].values()), 2 ** 20)

    def test_a_sweep_keeps_the_fastest(self):
        self.write("swept.cu", "__global__ void scale(const float* x, float* y, float f, long long n) {\n" + EACH +
                   "  for (long long k = i * PER; k < (i + 1) * PER && k < n; ++k) y[k] = f * x[k];\n}\n")
        swept = kernel_of("scale", "swept.cu", "scale", "{ grid: ceil(n / (block * PER)), block: [64, 256] }",
                          "    define: { PER: [1, 2, 64] }\n    expect: { y: 2*x }\n    choose: fastest\n")
        done = self.analyze(suite_of({"scale": swept}, "{ n: 2^24 }"))
        self.assertEqual(done.returncode, 0, done.stderr)
        data = json.loads(done.stdout)["data"]
        notes = [note for note in data["notes"] if re.search(r"\b6\b", note)]
        self.assertEqual(len(notes), 1, data["notes"])
        self.assertNotIn("PER=64", re.search(r"PER=\d+", notes[0]).group())


class GoesWrong(OnAGpu):
    def test_compilers_and_entries(self):
        self.write("bad.cu", SCALE + "  y[0] = 0\n}\n")
        self.write("scale.cu", SCALE + EACH + "  if (i < n) y[i] = f * x[i];\n}\n")
        self.write("empty.cu", "")
        self.write("double.cu", SCALE.replace("float f", "double f") + EACH + "  if (i < n) y[i] = f * x[i];\n}\n")
        rows = self.statuses(suite_of({
            "bad": kernel_of("bad", "bad.cu", "scale"), "missing": kernel_of("missing", "scale.cu", "scales"),
            "empty": kernel_of("empty", "empty.cu", "scale"), "double": kernel_of("double", "double.cu", "scale"),
            "good": kernel_of("good", "scale.cu", "scale")}), code=1)
        self.assertEqual([name for name, row in rows.items() if row["status"] == "ok"], ["good"])
        self.assertIn("bad.cu(3): error", rows["bad"]["reason"])
        self.assertIn("scales", rows["missing"]["reason"])
        self.assertRegex(rows["double"]["reason"], r"8 bytes\b.*\b4\b")

    def test_each_fault_costs_its_own_row(self):
        faults = {
            "endless": "for (;;) ((volatile float*)y)[0] = 1;",
            "illegal": "if (i < n) ((volatile float*)8)[i] = 1;",
            "misaligned": "if (i < n / 2) *(float2*)(y + 1 + 2 * i) = float2{x[i], f};",
            "traps": "__trap();",
            "recurses": "if (i < n) y[i] = deep((int)n, x);",
            "outside": "if (i < n + 8) y[i] = f * x[i < n ? i : 0];",
            "nothing": "",
            "changes": "if (i < n) { y[i] = f * x[i]; const_cast<float*>(x)[i] = 0; }",
            "races": "if (i < n / 2) y[i] = f * x[i];",
        }
        self.write("faults.cu", "__device__ __noinline__ float deep(int n, const float* x) {\n"
                   "  volatile float frame[4096];\n  frame[n % 4096] = x[n];\n"
                   "  return n == 0 ? frame[0] : deep(n - 1, x) + frame[(n + 1) % 4096];\n}\n" + "".join(
                       SCALE.replace("void scale", f"void {name}") + EACH + "  " + body + "\n}\n" for name, body in
                       {**faults, "good": "if (i < n) y[i] = f * x[i];"}.items()))
        kernels = {name: kernel_of(name, "faults.cu", name, more=("    time_limit: 5\n" if name == "endless" else "") +
                                   "    expect: { y: 2*x }\n") for name in [*faults, "good"]}
        rows = self.statuses(suite_of(kernels), code=1)
        self.assertEqual([name for name, row in rows.items() if row["status"] == "ok"], ["good"])
        for name, words in {"endless": "after 5 s, the time limit", "illegal": "illegal", "misaligned": "misaligned",
                            "traps": "launch failure", "outside": "past the end of 'y'", "nothing": "not written",
                            "changes": "modified its input x", "races": "not written"}.items():
            with self.subTest(name):
                self.assertIn(words, rows[name]["reason"])
                self.assertNotIn("time_s", rows[name])

    def test_a_slower_kernel_is_a_regression(self):
        self.write("slow.cu", SCALE + EACH + "  if (i < n) for (int again = 0; again < AGAIN; ++again) ((volatile float*)y)[i] = f * x[i];\n}\n")
        suite = suite_of({"slow": kernel_of("slow", "slow.cu", "scale", more="    define: { AGAIN: 1 }\n    expect: { y: 2*x }\n")}, "{ n: 2^24 }")
        self.assertEqual(self.analyze(suite, "--save", "before").returncode, 0)
        self.assertEqual(self.analyze(suite, "--against", "before", "--max-slowdown", "10%").returncode, 0)
        done = self.analyze(suite.replace("AGAIN: 1", "AGAIN: 8"), "--against", "before", "--max-slowdown", "10%")
        self.assertEqual(done.returncode, 3, done.stderr)


if __name__ == "__main__":
    unittest.main()
