#!/usr/bin/env python3
"""roofline profile --emulate: native times and counts of a second run, joined by loop."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOFLINE = PLANTED = ""
TOLERANCE = 0.15  # a neighbour may be busy
PROGRAM = r"""
#include <stdio.h>
#include <time.h>
static double a[4096], b[4096];
__attribute__((noinline)) void scale(double f) {
  for (int i = 0; i < 4096; ++i)
    a[i] = f * a[i];
}
__attribute__((noinline)) double sum(void) {
  double s = 0;
  for (int i = 0; i < 4096; ++i)
    s += b[i];
  return s;
}
int main(void) {
  double s = 0;
  struct timespec now, start;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    for (int i = 0; i < 200; ++i) scale(0.5);
    for (int i = 0; i < 100; ++i) {
      b[i] = i;
      s += sum();
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec - start.tv_sec < 3);
  printf("%g\n", s);
  return 5;
}
"""


# As many steps as its argument says: too many for the tool's time limit.
STEPS = PROGRAM[:PROGRAM.index("int main")] + r"""
#include <stdlib.h>
int main(int count, char** arguments) {
  double s = 0;
  for (int k = 0; k < atoi(arguments[1]); ++k) {
    for (int i = 0; i < 200; ++i) scale(0.999);
    for (int i = 0; i < 100; ++i) {
      b[i] = i;
      s += sum();
    }
  }
  printf("%g\n", s);
  return 5;
}
"""


class Emulated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for needed in ("cc", "objdump"):
            if shutil.which(needed) is None:
                raise unittest.SkipTest(f"{needed} is not installed")
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        (cls.folder / "loops.c").write_text(PROGRAM, encoding="ascii")
        subprocess.run(["cc", "-O1", "-g", "-o", "loops", "loops.c"], cwd=cls.folder, check=True)
        (cls.folder / "steps.c").write_text(STEPS, encoding="ascii")
        subprocess.run(["cc", "-O1", "-g", "-o", "steps", "steps.c"], cwd=cls.folder, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def profile(self, *options, tool=PLANTED, end="complete", program=("./loops",)):
        environment = dict(os.environ, PLANTED_END=end, XDG_CACHE_HOME=str(self.folder / "cache"))
        counts = {"scale": ["flops.fp64.scalar=4096000", "loads=4096000", "load.bytes=32768000", "store.bytes=32768000"],
                  "sum": ["flops.fp64.scalar=2048000", "load.bytes=16384000"]}
        environment["PLANTED_COUNTS"] = json.dumps(counts)
        environment.pop("ROOFLINE_COUNT_TOOL", None)
        if tool:
            environment["ROOFLINE_COUNT_TOOL"] = tool
        return subprocess.run([ROOFLINE, "profile", "--emulate", *options, "--", *program], cwd=self.folder,
                              env=environment, capture_output=True, text=True)

    def report(self, *options, **arguments):
        ran = self.profile("-o", "out", *options, **arguments)
        self.assertEqual(ran.returncode, 5, ran.stderr)
        return json.loads((self.folder / "out/report.json").read_text(encoding="utf8")), ran

    def test_each_loop_has_its_time_and_its_work(self):
        report, ran = self.report("--keep", "kept")
        self.assertNotIn("not to be seen", ran.stdout + ran.stderr)
        rows = {row["label"].split(",")[0]: row for row in report["results"] if row["profiled"]["loop"]["loop"]}
        self.assertIn("loops.c:6 scale", rows)
        self.assertIn("loops.c:11 sum", rows)
        scale, total = rows["loops.c:6 scale"], rows["loops.c:11 sum"]
        self.assertEqual(scale["work"]["flops"], {"fp64": 4096000})
        self.assertEqual(scale["profiled"]["loop"]["iterations"], 999)
        self.assertEqual(scale["profiled"]["sources"], {"time_s": "sampled", "work": "emulated"})
        self.assertEqual(scale["profiled"]["line"], "loops.c:6 scale")
        if not report["profile"]["emulated"].get("why_no_times"):
            both = sum(row["profiled"]["loop"]["share"] for row in (scale, total))
            self.assertGreater(both, 1 - TOLERANCE)
        again = subprocess.run([ROOFLINE, "profile", "--from", "kept", "-o", "again"], cwd=self.folder,
                               capture_output=True, text=True)
        self.assertEqual(again.returncode, 0, again.stderr)
        kept = json.loads((self.folder / "again/report.json").read_text(encoding="utf8"))
        self.assertEqual([row["label"] for row in kept["results"]], [row["label"] for row in report["results"]])
        for command in ("report", "compare"):
            files = ["out/report.json"] * (2 if command == "compare" else 1)
            ran = subprocess.run([ROOFLINE, command, *files], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_partial_counts_are_no_work(self):
        report, _ = self.report(end="illegal-instruction 62f1fe486f06 /lib/x.so 0x10")
        self.assertFalse(report["profile"]["emulated"]["complete"])
        self.assertIn("x86-64-v3", report["profile"]["emulated"]["ended"])
        self.assertIn("AVX-512", report["profile"]["emulated"]["ended"])
        self.assertTrue(all("bound" not in row for row in report["results"]))

    def test_what_does_not_apply_is_refused_before_anything_runs(self):
        for options in (["--device", "cuda"], ["--no-host"], ["--window", "1s"], ["--runs", "2"]):
            self.assertEqual(self.profile(*options).returncode, 2, options)
        for tool in ("/nonexistent/tool",):
            ran = self.profile(tool=tool)
            self.assertEqual((ran.returncode, ran.stdout), (2, ""))
            self.assertIn("ROOFLINE_COUNT_TOOL", ran.stderr)

    def test_remarks_of_a_compiler(self):
        (self.folder / "remarks.txt").write_text("loops.c:6:3: missed: couldn't vectorize loop\n"
                                                 "loops.c:7:5: missed: not vectorized: no vectype for stmt\n")
        (self.folder / "none.txt").write_text("nothing\n")
        report, _ = self.report("--remarks", "remarks.txt")
        rows = {row["label"].split(",")[0]: row for row in report["results"]}
        self.assertEqual(rows["loops.c:6 scale"]["profiled"]["loop"]["compiler_remark"], "no vectype for stmt")
        self.assertNotIn("compiler_remark", rows["loops.c:11 sum"]["profiled"]["loop"])
        for name in ("none.txt", "missing.txt"):
            self.assertEqual(self.profile("--remarks", name).returncode, 2, name)
        alone = subprocess.run([ROOFLINE, "profile", "--device", "cpu", "--remarks", "remarks.txt", "--", "./loops"],
                               cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(alone.returncode, 2)
        self.assertIn("--emulate", alone.stderr)

    def require_tool(self):
        doctor = subprocess.run([ROOFLINE, "doctor", "--json"], capture_output=True, text=True)
        check = [row for row in json.loads(doctor.stdout)["data"]["checks"] if row["name"] == "counts under emulation"]
        if not check or check[0]["health"] != "works":
            self.skipTest("roofline_count or Valgrind is not installed")

    def test_the_tool_itself_counts(self):
        self.require_tool()
        report, _ = self.report(tool=None)
        self.assertTrue(report["profile"]["emulated"]["complete"], report["profile"]["emulated"])
        rows = {row["label"].split(",")[0]: row for row in report["results"]}
        scale = rows["loops.c:6 scale"]
        loop = scale["profiled"]["loop"]
        # One product, one load and one store of 8 bytes in each iteration; unoptimised counters would be in memory, too.
        iterations = loop["iterations"] + loop["entries"]
        self.assertAlmostEqual(scale["work"]["flops"]["fp64"] / iterations, 1, delta=0.01)
        self.assertAlmostEqual(scale["work"]["bytes"]["l1"] / iterations, 16, delta=0.2)

    def test_code_for_avx512_ends_counting_with_the_reason(self):
        self.require_tool()
        if " avx512f " not in pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii"):
            self.skipTest("this CPU has no AVX-512")
        subprocess.run(["cc", "-O3", "-g", "-mavx512f", "-mprefer-vector-width=512", "-ffast-math", "-o", "wide", "loops.c"],
                       cwd=self.folder, check=True)
        report, _ = self.report(tool=None, program=("./wide",))
        self.assertFalse(report["profile"]["emulated"]["complete"])
        self.assertIn("AVX-512", report["profile"]["emulated"]["ended"])
        self.assertTrue(all(not row["work"].get("flops") for row in report["results"]))

    def test_a_part_is_counted_and_scaled(self):
        self.require_tool()
        steps = 10000
        report, _ = self.report("--count-time", "6s", tool=None, program=("./steps", str(steps)))
        emulated = report["profile"]["emulated"]
        if not emulated["complete"] and "not permitted" in emulated["ended"]:
            self.skipTest(emulated["ended"])
        if emulated.get("why_no_times"):
            self.skipTest(emulated["why_no_times"])
        self.assertTrue(emulated["complete"], emulated)
        self.assertLess(emulated["counted_s"], emulated["cpu_s"])
        for function, bytes_each, calls in (("scale", 16, 200), ("sum", 8, 100)):
            row = next(row for row in report["results"] if f" {function}, loop" in row["label"])
            iterations = row["profiled"]["loop"]["iterations"] + row["profiled"]["loop"]["entries"]
            self.assertAlmostEqual(row["work"]["flops"]["fp64"] / iterations, 1, delta=0.001)
            self.assertAlmostEqual(row["work"]["bytes"]["l1"] / iterations, bytes_each, delta=0.01)
            # Samples of a busy machine divide the native time.
            self.assertAlmostEqual(row["work"]["flops"]["fp64"] / (4096.0 * calls * steps), 1, delta=0.3)


if __name__ == "__main__":
    ROOFLINE, PLANTED = sys.argv[1:3]
    Emulated.profile.__kwdefaults__["tool"] = PLANTED
    unittest.main(argv=sys.argv[:1])
