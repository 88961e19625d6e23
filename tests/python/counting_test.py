#!/usr/bin/env python3
"""Counted work of a callable: known operations under emulation, the step of a recorded profile, and what is refused.

usage: counting_test.py PATH_OF_ROOFLINE [unittest arguments]
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    os.environ["ROOFLINE"] = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "python/src"))

import roofline  # noqa: E402
from roofline import _binary, counting  # noqa: E402

SCRIPT = """
import roofline

def dot(xs, ys):
    total = 0.0  # sum() compensates for rounding since Python 3.12, which is more operations
    for x, y in zip(xs, ys):
        total += x * y
    return total

def broken():
    raise ValueError("no input file")

if __name__ == "__main__":
    numbers = [1.5] * 20_000
    result = roofline.bench(dot, (numbers, numbers), work="count", max_time_s=0.1)
    print(result.work.flops, result.work.pipe, result.work.source, dict(result.work.other_flops))
    print(result)
    print(roofline.count_work(len, ((),), calls=1).flops)
    try:
        roofline.count_work(broken)
    except roofline.RooflineError as error:
        print(error)
"""
UNGUARDED = """
import roofline

def one():
    return 1.0

print(roofline.bench(one, work="count", max_time_s=0.01).not_counted)
"""


class Emulated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([_binary.binary(), "doctor", "--json"], capture_output=True)
        checks = {check["name"]: check for check in json.loads(done.stdout)["data"]["checks"]}
        if checks["counts under emulation"]["health"] != "works":
            raise unittest.SkipTest("no counts under emulation: " + checks["counts under emulation"]["found"])

    def run_script(self, text):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "measure.py"
            script.write_text("import sys\nsys.modules['cloudpickle'] = None  # also where it is installed\n" + text)
            environment = dict(os.environ, PYTHONPATH=str(ROOT / "python/src"), XDG_CACHE_HOME=folder)
            done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_operations_of_a_call_are_exact(self):
        first, timed, nothing, failed = self.run_script(SCRIPT)
        self.assertEqual(first, "40000.0 fp64 emulated {}")  # a product and a sum per element
        self.assertIn("GFLOP/s", timed)
        self.assertIn("work emulated", timed)
        self.assertEqual(nothing, "0.0")
        self.assertIn("ValueError: no input file", failed)

    def test_a_lambda_with_cloudpickle(self):
        try:
            import cloudpickle  # noqa: F401
        except ImportError:
            self.skipTest("cloudpickle is not installed")
        self.assertEqual(roofline.count_work(lambda x: x * x + 1.0, (3.0,), calls=1).flops, 2)

    def test_a_script_that_measures_while_it_is_imported_is_named(self):
        self.assertIn("__main__", self.run_script(UNGUARDED)[-1])


def emulated(flops, read, write):
    return {"profile": {"emulated": {"totals": {"flops": flops, "read_bytes": read, "write_bytes": write}}}}


class Reports(unittest.TestCase):
    def test_the_work_of_a_call_is_a_difference(self):
        once = emulated({"fp32": 10}, 100, 30)
        more = emulated({"fp32": 30, "fp64": 1000}, 300, 20)
        work = counting._difference(once, more, 2)
        self.assertEqual((work.flops, work.pipe, work.other_flops), (500, "fp64", {"fp32": 10}))
        self.assertEqual((work.read_bytes, work.written_bytes), (100, 0))
        once["profile"]["emulated"] = {"ended": "illegal instruction"}
        with self.assertRaisesRegex(roofline.RooflineError, "illegal instruction"):
            counting._difference(once, more, 2)

    def test_a_step_of_a_gpu_is_the_sum_of_its_kernels(self):
        report = json.loads((ROOT / "reports/reference/h200-train/report.json").read_text())
        work = counting._work_of_step(report)
        rows = [row for row in report["results"] if row["profiled"].get("step", {}).get("launches", 0) > 0]
        self.assertEqual(work.source, "counted")
        self.assertTrue(work.pipe.startswith("tensor."))
        self.assertAlmostEqual(work.bytes, sum(row["profiled"]["step"]["launches"] * row["work"]["bytes"]["hbm"]
                                               for row in rows), delta=1)
        machine = roofline.Report.read(report).machine
        self.assertLess(work.attainable_s(machine)[0], report["profile"]["steps"]["median_s"])
        del rows[0]["work"]
        rows[0]["profiled"]["in_graph"] = True
        self.assertLess(counting._work_of_step(report).bytes, work.bytes)
        rows[0]["profiled"]["in_graph"] = False
        report["profile"]["why_no_counters"] = "no permission"
        with self.assertRaisesRegex(roofline.RooflineError, "no permission"):
            counting._work_of_step(report)
        with self.assertRaisesRegex(roofline.RooflineError, "no kernel"):
            counting._work_of_step({"results": [], "profile": {}})

    def test_every_pipe_has_its_roof(self):
        machine = roofline.load(ROOT / "reports/reference/h200-ops").machine
        both = roofline.Work(flops=1e9, pipe="tensor.bf16", other_flops={"fp32": 1e9})
        self.assertEqual(both.attainable_s(machine)[1], "fp32")


class Refusals(unittest.TestCase):
    def test_what_cannot_be_counted_is_timed_all_the_same(self):
        with mock.patch.dict(sys.modules, {"cloudpickle": None}):
            result = roofline.bench(lambda: None, work="count", max_time_s=0.01)
        self.assertIsNone(result.work)
        self.assertIn("cloudpickle", result.not_counted)
        self.assertIn("not counted", str(result))
        with self.assertRaisesRegex(roofline.RooflineError, "cloudpickle"):
            result.fraction_of_roof(roofline.load(ROOT / "reports/reference/h200-ops").machine)

    def test_without_the_tool_its_reason_is_given(self):
        with mock.patch.dict(os.environ, {"ROOFLINE_COUNT_TOOL": "/no/such/tool"}):
            with self.assertRaisesRegex(roofline.RooflineError, "ROOFLINE_COUNT_TOOL"):
                roofline.count_work(len, ((),))

    def test_without_a_gpu_its_reason_is_given(self):
        with mock.patch.dict(os.environ, {"CUDA_VISIBLE_DEVICES": ""}):
            with self.assertRaises(roofline.CommandFailed) as failed:
                roofline.count_work(len, ((),), device="cuda")
        self.assertEqual(failed.exception.exit_code, 4)

    def test_mistakes(self):
        for options in ({"device": "tpu"}, {"calls": 0}):
            self.assertRaises(ValueError, roofline.count_work, len, ((),), **options)
        self.assertRaises(ValueError, roofline.bench, len, ((),), work="counted")
        with mock.patch.dict(os.environ, {"ROOFLINE_SPOOL": "/tmp"}):
            self.assertRaises(roofline.RooflineError, roofline.count_work, len, ((),))


if __name__ == "__main__":
    unittest.main()
