#!/usr/bin/env python3
"""The plugin of qemu-aarch64: FLOPs, bytes and jumps of AArch64 programs whose numbers are known."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import counts_test
from counts_test import BODIES, N, POINTS, REPEATS, SIDE, flops

PLUGIN = ROOFLINE = ""
COMPILER, QEMU = "aarch64-linux-gnu-gcc", "qemu-aarch64"
NEON = r"""
#include <arm_neon.h>
#include <stdio.h>
#define KERNEL __attribute__((noipa))
enum { N = 1000 };
static float32_t s[4 * N];
static float64_t d[4 * N];
#define TIMES(work) for (int i = 0; i < N; i++) { work; __asm__ volatile("" ::: "memory"); }
KERNEL void fused(void) { TIMES(vst1q_f32(s, vfmaq_f32(vld1q_f32(s), vld1q_f32(s + 4), vld1q_f32(s + 8)))) }
KERNEL void element(void) { TIMES(vst1q_f64(d, vfmaq_laneq_f64(vld1q_f64(d), vld1q_f64(d + 2), vld1q_f64(d + 4), 1))) }
KERNEL void halves(void) { TIMES(vst1_f32(s, vadd_f32(vld1_f32(s), vld1_f32(s + 2)))) }
KERNEL void quotients(void) { TIMES(vst1q_f32(s, vsqrtq_f32(vdivq_f32(vld1q_f32(s), vld1q_f32(s + 4))))) }
KERNEL void sums(void) { TIMES(d[0] = vaddvq_f64(vld1q_f64(d))) }
KERNEL void largest(void) { TIMES(s[0] = vmaxvq_f32(vld1q_f32(s))) }
KERNEL void integers(void) {
  int* const k = (int*)s;
  TIMES(vst1q_s32(k, vmlaq_s32(vld1q_s32(k), vld1q_s32(k + 4), vld1q_s32(k + 8))))
}
KERNEL void compared(void) { TIMES(vst1q_u32((unsigned*)s, vcgtq_f32(vabsq_f32(vld1q_f32(s)), vnegq_f32(vld1q_f32(s + 4))))) }
KERNEL void pairs(void) { TIMES(float64x2x2_t p = vld2q_f64(d); vst2q_f64(d, p)) }
int main(void) {
  fused(), element(), halves(), quotients(), sums(), largest(), integers(), compared(), pairs();
  return 7;
}
"""
# FLOPs, key of them, loaded and stored bytes of an iteration
EXPECTED = {"fused": (8, "fp32.128", 48, 16), "element": (4, "fp64.128", 48, 16), "halves": (2, "fp32.128", 16, 8),
            "quotients": (8, "fp32.128", 32, 16), "sums": (1, "fp64.scalar", 16, 8), "largest": (3, "fp32.128", 16, 4),
            "integers": (0, "fp32.128", 48, 16), "compared": (0, "fp32.128", 32, 16), "pairs": (0, "fp64.128", 32, 32)}


class Aarch64(counts_test.Programs):
    def program(self, *options, name="programs.c"):
        if (name, options) not in self.built:
            path = self.folder / f"program{len(self.built)}"
            source = self.folder / name if name == "neon.c" else pathlib.Path(__file__).with_name(name)
            subprocess.run([COMPILER, "-static", *options, source, "-o", path, "-lm", "-lpthread"], check=True)
            self.built[name, options] = path
        return self.built[name, options]

    def start(self, program, *arguments, options=(), cpu="cortex-a76"):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        done = subprocess.run([QEMU, "-cpu", cpu, "-plugin", f"{PLUGIN},counts={folder}/counts.%p", program, *arguments],
                              capture_output=True, text=True, timeout=600)
        return done, [counts_test.Counts(path) for path in sorted(folder.iterdir())]

    def test_kernels(self):
        elements, butterflies = SIDE * 100 * REPEATS, POINTS // 2 * (POINTS.bit_length() - 1)
        expected = {"triad": 2 * N * REPEATS, "stencil": 5 * (SIDE - 2) ** 2 * REPEATS, "spmv": 2 * elements,
                    "transform": 10 * butterflies, "bodies": 18 * BODIES ** 2}
        for options in (("-O1",), ("-O1", "-ffp-contract=off"), ("-O3",)):
            total, counts = self.kernels(*options)
            self.assertEqual(counts.end, ["complete"])
            for name, operations in expected.items():
                with self.subTest(options=options, kernel=name):
                    self.assert_close(flops(total(name), "fp64"), operations)
            width = "128" if "-O3" in options else "scalar"
            self.assertEqual(total("triad")["flops.fp64." + width], 2 * N * REPEATS)
            self.assertEqual(total("saxpy")["flops.fp32." + width], 2 * N * REPEATS)
            self.assertEqual(total("triad")["load.bytes"], 16 * N * REPEATS)
            self.assertEqual(total("triad")["store.bytes"], 8 * N * REPEATS)
            self.assert_close(total("spmv")["load.bytes"], 20 * elements + 8 * SIDE * REPEATS, 0.002)
            self.assert_close(total("bodies")["divides"], BODIES ** 2)
            self.assert_close(total("bodies")["roots"], BODIES ** 2)

    def test_neon(self):
        (self.folder / "neon.c").write_text(NEON, encoding="ascii")
        program = self.program("-O2", name="neon.c")
        done, files = self.start(program)
        self.assertEqual(done.returncode, 7, done.stderr)
        symbols = self.symbols(program)
        for name, (operations, key, loaded, stored) in EXPECTED.items():
            total = files[0].total(program, symbols[name])
            with self.subTest(kernel=name):
                self.assertEqual(flops(total), 1000 * operations)
                self.assertEqual(total["flops." + key], 1000 * operations)
                self.assertEqual(total["load.bytes"], 1000 * loaded)
                self.assertEqual(total["store.bytes"], 1000 * stored)
        self.assertEqual(files[0].total(program, symbols["quotients"])["divides"], 4000)

    def test_edges_of_loops(self):
        _, counts = self.kernels("-O1")
        program = self.program("-O1")
        first, size = self.symbols(program)["saxpy"]
        taken = [times for module, start, _, times in counts.edges
                 if module == counts.module(program) and first <= start < first + size]
        self.assertEqual(taken, [(N - 1) * REPEATS])

    def test_threads_and_forks(self):
        program = self.program("-O1")
        saxpy = self.symbols(program)["saxpy"]
        _, files = self.start(program, "threads")
        self.assert_close(flops(files[0].total(program, saxpy)), 2 * N * REPEATS)
        _, files = self.start(program, "fork")
        self.assertEqual(sorted(flops(counts.total(program, saxpy)) for counts in files), [2 * N, 6 * N])

    def test_scalable_vectors_are_refused_with_the_reason(self):
        source = self.folder / "neon.c"
        source.write_text("int main(void) { __asm__ volatile(\".arch armv8-a+sve\\n fadd z0.d, z0.d, z0.d\"); return 7; }")
        program = self.program("-O1", name="neon.c")
        done, files = self.start(program, cpu="max")
        self.assertEqual((done.returncode, files[0].end[:2]), (7, ["illegal-instruction", "SVE"]))

    def test_profile(self):
        program = self.program("-O1", "-g")
        tool = pathlib.Path(ROOFLINE).with_name("roofline_count")
        if not tool.exists() or not shutil.which("valgrind"):
            self.skipTest("roofline was built without roofline_count, or Valgrind is not installed")
        ran = subprocess.run([ROOFLINE, "profile", "--emulate", "-o", self.folder / "out", "--", QEMU, program, "kernels"],
                             capture_output=True, text=True, env=dict(os.environ, XDG_CACHE_HOME=str(self.folder)))
        self.assertEqual(ran.returncode, 7, ran.stderr)
        emulated = json.loads((self.folder / "out/report.json").read_text(encoding="utf8"))["profile"]["emulated"]
        if emulated.get("why_no_times"):
            self.skipTest(emulated["why_no_times"])
        self.assertEqual((emulated["complete"], emulated["isa"]), (True, "neon"))
        _, counts = self.kernels("-O1", "-g")
        everything = sum(value for _, _, _, keys in counts.instructions for key, value in keys.items()
                         if key.startswith("flops.fp64"))
        self.assert_close(emulated["totals"]["flops"]["fp64"], everything)


if __name__ == "__main__":
    PLUGIN, ROOFLINE = sys.argv[1], sys.argv[2]
    missing = [command for command in (COMPILER, "aarch64-linux-gnu-nm", QEMU, "nm") if not shutil.which(command)]
    if missing:
        print("skipped: not installed:", *missing)
        sys.exit(77)
    if "-plugin" not in subprocess.run([QEMU, "--help"], capture_output=True, text=True).stdout:
        print("skipped: this QEMU was built without plugins")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
