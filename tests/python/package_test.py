#!/usr/bin/env python3
"""The Python package: typed reports, tables, pages of notebooks, timing, and profiles of the running process.

usage: package_test.py PATH_OF_ROOFLINE [unittest arguments]
       python3 -m pytest tests/python   with the binary in $ROOFLINE, else the one in build/ or on PATH
"""
import asyncio
import base64
import contextlib
import importlib.util
import io
import json
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import types
import unittest
import zipfile
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]


def binary_under_test():
    """The first argument, or where another program imports this file, $ROOFLINE or what is found."""
    if __name__ == "__main__":
        return sys.argv.pop(1)
    built = (str(ROOT / f"build/{preset}/roofline") for preset in ("local", "dev", "release"))
    found = [os.environ.get("ROOFLINE"), *filter(os.path.exists, built), shutil.which("roofline")]
    return next(filter(None, found), "roofline")


ROOFLINE = os.path.abspath(binary_under_test())
sys.path.insert(0, str(ROOT / "python" / "src"))
os.environ["ROOFLINE"] = ROOFLINE

import roofline  # noqa: E402
from roofline import _statistics  # noqa: E402

SUITE = ROOT / "reports/reference/h200-ops"
TRAINING = ROOT / "reports/reference/h200-train"


class Reports(unittest.TestCase):
    def test_a_suite(self):
        document = json.loads((SUITE / "report.json").read_text())
        report = roofline.load(SUITE)
        self.assertEqual(len(report), len(document["results"]))
        self.assertIsNone(report.program)
        self.assertTrue(report.complete)
        for row, data in zip(report, document["results"]):
            self.assertEqual(row.label, data["label"])
            self.assertEqual(row.time_s, data["time_s"]["median"])
            self.assertEqual(row.fraction_of_roof, data["fraction_of_roof"])
            self.assertEqual(row.bytes, data["work"]["bytes"]["hbm"])
            self.assertIs(row.data["label"], row.label)
        self.assertEqual(report.machine.kind, "cuda")
        self.assertEqual(report.machine.ceiling("hbm.read").unit, "byte/s")
        self.assertRaises(KeyError, report.machine.ceiling, "hbm.nothing")

    def test_a_profile(self):
        document = json.loads((TRAINING / "report.json").read_text())
        report = roofline.load(TRAINING / "report.json")
        self.assertEqual(report.program.command[:2], ("python3", "scripts/train.py"))
        self.assertEqual([s.seconds for s in report.savings], [w["seconds"] for w in document["profile"]["wins"]])
        first = report.rows[0]
        self.assertEqual(first.launches, document["results"][0]["profiled"]["launches"])
        self.assertAlmostEqual(first.saving_s, first.total_s * (1 - first.fraction_of_roof))
        self.assertIs(report.row(first.label), first)
        self.assertRaises(KeyError, report.row, "nvjet")  # several

    def test_a_row_that_is_not_the_only_one(self):
        report = roofline.load(SUITE)
        for label, several in (("attention", True), ("no such kernel", False)):
            with self.assertRaises(roofline.NoSuchRow) as refused:
                report.row(label)
            self.assertIsInstance(refused.exception, roofline.RooflineError)
            self.assertIsInstance(refused.exception, KeyError)
            self.assertIn("attention fp32" if several else report.rows[0].label, refused.exception.hint)
            self.assertIn(refused.exception.hint, str(refused.exception))
            self.assertNotIn('"', str(refused.exception))
        with self.assertRaises(roofline.NoSuchRow) as refused:
            report.machine.ceiling("hbm.nothing")
        self.assertIn("hbm.", refused.exception.hint)

    def test_the_examples_of_the_documentation(self):
        text = (ROOT / "docs/python.md").read_text().split("## Reports")[1]
        example = re.search(r"```python\n(.*?)```", text, re.S)[1]
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "reports").mkdir()
            for name in ("train", "before"):
                (pathlib.Path(folder) / "reports" / name).symlink_to(SUITE)
            stubs = {} if importlib.util.find_spec("pandas") else {"pandas": None}
            lines = [line for line in example.splitlines() if not (stubs and "to_pandas" in line)]
            before = os.getcwd()
            os.chdir(folder)
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec("\n".join(lines), {"roofline": roofline})
            finally:
                os.chdir(before)

    def test_shown_in_a_line(self):
        for path in (SUITE, TRAINING):
            report = roofline.load(path)
            self.assertLess(len(repr(report)), 300)
            self.assertIn(str(len(report.rows)), repr(report))
            self.assertEqual(str(report), repr(report))
            for part in (report.machine, report.program):
                self.assertLess(len(repr(part)), 1000)
            self.assertEqual(report, roofline.load(path))

    def test_verdicts_in_words(self):
        data = json.loads((SUITE / "report.json").read_text())
        row = next(row for row in data["results"] if len(row["diagnosis"]) > 1)
        note, cause = row["diagnosis"][:2]
        row["verdict"] = cause["rule"]
        self.assertEqual(roofline.report.Row.read(row).verdict, cause["finding"])
        del row["verdict"]  # a file of an earlier version
        self.assertEqual(roofline.report.Row.read(row).verdict, note["finding"])
        row["diagnosis"] = []
        self.assertEqual(roofline.report.Row.read(row).verdict, "")

    def test_savings_of_a_cpu_program(self):
        data = json.loads((TRAINING / "report.json").read_text())
        data["profile"]["wins"] = []
        self.assertEqual(roofline.Report.read(data).savings, ())
        data["profile"]["host_causes"] = [
            {"cause": "interpreted", "seconds": 1.5, "what": "a loop", "action": "compile it", "line": "a.py:4"}]
        report = roofline.Report.read(data)
        (saving,) = report.savings
        self.assertEqual((saving.kind, saving.cause, saving.seconds, saving.line), ("host", "interpreted", 1.5, "a.py:4"))
        self.assertIn("compile it", report._repr_html_())

    def test_reports_of_all_versions(self):
        for path in sorted((ROOT / "tests/corpus").glob("report-*.json")):
            with self.subTest(path.name):
                report = roofline.load(path)
                self.assertEqual(len(report.to_dicts()), len(report.rows))

    def test_what_is_no_report(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.json"
            whole = json.loads((ROOT / "tests/fuzz/corpus/report/ops.json").read_text())
            del whole["machine"]["device"]
            for text in ("", "[]", "7", '{"schema": "roofline.machine/1"}', "[" * 100_000, json.dumps(whole),
                         '{"schema": "roofline.report/1", "results": 3, "machine": {}}'):
                path.write_text(text)
                with self.assertRaises(roofline.RooflineError, msg=text[:40]):
                    roofline.load(path)
            for missing in (path.with_name("none.json"), "/nosuch", folder):
                path.unlink(missing_ok=True)
                with self.assertRaises(roofline.NoSuchFile) as refused:
                    roofline.load(missing)
                self.assertIsInstance(refused.exception, roofline.RooflineError)
                self.assertIsInstance(refused.exception, FileNotFoundError)
                self.assertTrue(refused.exception.hint)
                self.assertIn(str(missing), str(refused.exception))

    def test_tables(self):
        report = roofline.load(SUITE)
        rows = report.to_dicts()
        self.assertEqual({"label", "time_s", "time_low_s", "fraction_of_roof", "saving_s", "rule"} - set(rows[0]), set())
        for values in rows:
            for value in values.values():
                self.assertIsInstance(value, (str, int, float, bool, type(None)))

    def test_pandas(self):
        with mock.patch.dict(sys.modules, {"pandas": None}):
            with self.assertRaises(roofline.RooflineError) as refused:
                roofline.load(SUITE).to_pandas()
        self.assertIn("pandas", str(refused.exception))
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        report = roofline.load(SUITE)
        frame = report.to_pandas()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(list(frame["label"]), [row.label for row in report])
        self.assertAlmostEqual(frame["time_s"].sum(), sum(row.time_s for row in report))

    def test_polars(self):
        with mock.patch.dict(sys.modules, {"polars": None}):
            with self.assertRaises(roofline.RooflineError) as refused:
                roofline.load(SUITE).to_polars()
        self.assertIn("polars", str(refused.exception))
        try:
            import polars
        except ImportError:
            self.skipTest("polars is not installed")
        report = roofline.load(SUITE)
        self.assertEqual(report.to_polars()["label"].to_list(), [row.label for row in report])
        self.assertIsInstance(report.to_polars(), polars.DataFrame)

    def test_nothing_is_imported_that_is_not_there(self):
        code = ("import sys; sys.path.insert(0, sys.argv[1]); before = set(sys.modules); import roofline; "
                "print(sorted({m.split('.')[0] for m in set(sys.modules) - before} - set(sys.stdlib_module_names)))")
        if sys.version_info < (3, 10):
            self.skipTest("stdlib_module_names is of Python 3.10")
        done = subprocess.run([sys.executable, "-c", code, str(ROOT / "python/src")], capture_output=True, text=True)
        self.assertEqual(done.stdout.strip(), "['roofline']", done.stderr)


class Notebooks(unittest.TestCase):
    def test_the_chart_is_an_image(self):
        page = roofline.load(SUITE)._repr_html_()
        source = re.search(r'<img src="data:image/svg\+xml;base64,([^"]+)"', page)[1]
        self.assertIn(b"<svg", base64.b64decode(source))
        self.assertIn("attention fp32", page)
        for row in roofline.load(SUITE):
            for rule in row.diagnosis:
                self.assertNotIn(f">{rule.rule}<", page)

    def test_a_profile_by_its_savings(self):
        report = roofline.load(TRAINING)
        self.assertIn(report.savings[0].what, report._repr_html_())

    def test_names_are_no_markup(self):
        data = json.loads((SUITE / "report.json").read_text())
        data["results"] = data["results"][:1]
        data["results"][0]["label"] = "<script>alert(1)</script>"
        data["invocation"]["suite"] = '"><b>'
        data["notes"] = ["<i>"]
        page = roofline.Report.read(data)._repr_html_()
        for markup in ("<script", '"><b>', "<i>"):
            self.assertNotIn(markup, page)
        self.assertIn("&lt;script&gt;", page)

    def test_without_the_binary(self):
        with mock.patch.dict(os.environ, {"ROOFLINE": "/no/such/file"}):
            self.assertIn("No chart", roofline.load(SUITE)._repr_html_())

    def test_other_formats(self):
        report = roofline.load(SUITE)
        self.assertTrue(report.render("svg", theme="dark", size="640x480").lstrip().startswith(b"<"))
        self.assertIn(b"attention", report.render("md"))
        with self.assertRaises(roofline.CommandFailed) as failed:
            report.render("docx")
        self.assertEqual(failed.exception.exit_code, 2)
        self.assertIn("docx", str(failed.exception))


class Comparisons(unittest.TestCase):
    def test_two_runs(self):
        data = json.loads((SUITE / "report.json").read_text())
        for row in data["results"][:1]:
            for key in ("median", "ci95"):
                value = row["time_s"][key]
                row["time_s"][key] = [2 * v for v in value] if isinstance(value, list) else 2 * value
        slower = roofline.Report.read(data)
        comparison = roofline.compare(SUITE, slower)
        self.assertEqual(comparison.regressions, 1)
        changed = [row for row in comparison.rows if row.regression]
        self.assertEqual([row.label for row in changed], [slower.rows[0].label])
        self.assertAlmostEqual(changed[0].time_ratio, 2)
        self.assertEqual(roofline.compare([SUITE], [SUITE / "report.json"]).regressions, 0)
        self.assertRaises(roofline.CommandFailed, roofline.compare, SUITE, "no-such-folder")


class Statistics(unittest.TestCase):
    def test_ranks_of_the_exact_interval(self):
        """Ranks of the binomial distribution, as tables of the sign test have them."""
        for count, rank in ((6, 1), (8, 1), (9, 2), (10, 2), (15, 4), (20, 6), (100, 40)):
            self.assertEqual(_statistics._lowest_rank(count), rank, count)
        self.assertEqual(_statistics._lowest_rank(5), 0)
        self.assertIsNone(_statistics.interval_of_median([1.0, 2, 3, 4, 5]))
        self.assertEqual(_statistics.interval_of_median([4.0, 1, 6, 2, 5, 3]), (1, 6))

    def test_the_interval_covers(self):
        source = random.Random(1)
        covered = 0
        for _ in range(400):
            low, high = _statistics.interval_of_median([source.expovariate(1) for _ in range(40)])
            covered += low <= math.log(2) <= high
        self.assertGreaterEqual(covered, 370)  # of 95 % or more, 380; 3.4 standard deviations less

    def test_correlated_samples_count_less(self):
        source = random.Random(2)
        value, walk = 0.0, []
        for _ in range(2000):
            value = 0.9 * value + source.gauss(0, 1)
            walk.append(value)
        self.assertAlmostEqual(_statistics.autocorrelation(walk), 0.9, delta=0.05)
        self.assertLess(_statistics.effective_samples(walk), 300)
        self.assertEqual(_statistics.autocorrelation([3.0] * 50), 0)


class Benches(unittest.TestCase):
    def test_a_callable(self):
        calls = []
        result = roofline.bench(lambda a, b: calls.append((a, b)), (1,), {"b": 2}, warm_up_s=0.001, max_time_s=0.05)
        self.assertEqual(set(calls), {(1, 2)})
        self.assertGreaterEqual(len(result.samples_s), 10)
        self.assertLessEqual(result.min_s, result.median_s)
        self.assertEqual(result.synchronized, "")
        self.assertIn("samples", str(result))

    def test_times_are_those_of_a_call(self):
        """With a clock that moves 3 ms in each call."""
        now = [0]

        def call():
            now[0] += 3_000_000

        with mock.patch("roofline.bench.time.perf_counter_ns", lambda: now[0]), \
                mock.patch("roofline.bench.time.perf_counter", lambda: now[0] * 1e-9):
            result = roofline.bench(call, work=roofline.Work(flops=6e6, read_bytes=9e3), max_time_s=1)
        self.assertAlmostEqual(result.median_s, 0.003)
        self.assertEqual([round(end, 9) for end in result.ci95], [0.003, 0.003])
        self.assertTrue(result.converged)
        self.assertFalse(result.drifting)
        self.assertAlmostEqual(result.flops_per_s, 2e9)
        self.assertAlmostEqual(result.bytes_per_s, 3e6)

    def test_drift_is_seen(self):
        now, step = [0], [3_000_000]

        def call():
            now[0] += step[0]
            step[0] += 10_000

        with mock.patch("roofline.bench.time.perf_counter_ns", lambda: now[0]), \
                mock.patch("roofline.bench.time.perf_counter", lambda: now[0] * 1e-9):
            result = roofline.bench(call, max_time_s=1)
        self.assertTrue(result.drifting)
        self.assertFalse(result.converged)

    def test_gpus_are_awaited(self):
        """PyTorch as far as it is used here: work is done only when it is awaited."""
        awaited = []
        cuda = types.SimpleNamespace(is_initialized=lambda: True, synchronize=lambda: awaited.append(1),
                                     is_available=lambda: False)
        with mock.patch.dict(sys.modules, {"torch": types.SimpleNamespace(cuda=cuda)}):
            result = roofline.bench(lambda: None, warm_up_s=0, max_time_s=0.01)
            self.assertEqual(result.synchronized, "torch")
            self.assertGreaterEqual(len(awaited), 2 * len(result.samples_s))
            awaited.clear()
            self.assertEqual(roofline.bench(lambda: None, max_time_s=0.01, synchronize=None).synchronized, "")
            self.assertEqual(awaited, [])
        given = []
        roofline.bench(lambda: None, max_time_s=0.01, synchronize=lambda: given.append(1))
        self.assertTrue(given)
        self.assertRaises(ValueError, roofline.bench, lambda: None, synchronize="cuda")

    def test_the_collector_is_as_before_also_after_errors(self):
        import gc
        self.assertRaises(ZeroDivisionError, roofline.bench, lambda: 1 / 0)
        self.assertTrue(gc.isenabled())

        def fails_later(count=[0]):
            count[0] += 1
            if count[0] > 5:
                raise KeyError
        self.assertRaises(KeyError, roofline.bench, fails_later, warm_up_s=0)
        self.assertTrue(gc.isenabled())

    def test_roofs_are_those_of_reports(self):
        """The attainable time of rows that main memory limits, as roofline has computed it."""
        report = roofline.load(SUITE)
        compared = 0
        for row in report:
            resource = row.data["resources"][0]
            traffic = row.data["work"]["traffic"].get("hbm")
            if row.bound != "memory" or traffic.get("in_place") or "at_clock_hz" in resource:
                continue
            work = roofline.Work(read_bytes=traffic["read"], written_bytes=traffic["write"])
            seconds, name = work.attainable_s(report.machine)
            self.assertAlmostEqual(seconds / row.attainable_time_s, 1, places=9, msg=row.label)
            self.assertEqual(name, row.limiting_ceiling)
            compared += 1
        self.assertGreater(compared, 5)
        result = roofline.bench(lambda: None, work=roofline.Work(flops=1e3), max_time_s=0.01)
        self.assertGreater(result.fraction_of_roof(report.machine), 0)
        with self.assertRaises(roofline.RooflineError):
            roofline.Work(flops=1, pipe="fp3").attainable_s(report.machine)
        with self.assertRaises(roofline.RooflineError):
            roofline.bench(lambda: None, max_time_s=0.01).fraction_of_roof(report.machine)

    def test_regions_by_name(self):
        def call():
            with roofline.region("inner"):
                pass

        result = roofline.bench(call, warm_up_s=0, max_time_s=0.01)
        self.assertEqual(result.regions["inner"].calls, len(result.samples_s) * result.calls_per_sample)


class Regions(unittest.TestCase):
    def test_ranges_of_nvtx_where_a_library_has_it(self):
        calls = []
        nvtx = types.SimpleNamespace(push_range=calls.append, pop_range=lambda: calls.append("pop"))
        with mock.patch.dict(sys.modules, {"nvtx": nvtx}):
            with roofline.region("outer"):
                @roofline.region("inner")
                def inner(depth):
                    return depth if depth == 0 else inner(depth - 1)
                self.assertEqual(inner(1), 0)
        self.assertEqual(calls, ["outer", "inner", "inner", "pop", "pop", "pop"])


def spin(seconds=0.6):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


class Profiles(unittest.TestCase):
    """Needs the system's permission to read this process, as its own child does."""

    def hottest(self, report):
        return max(report.program.host_lines, key=lambda line: line.seconds.get("running", 0))

    def test_a_block(self):
        with roofline.profile() as profiling:
            with roofline.region("spinning"):
                spin()
            self.assertRaises(roofline.RooflineError, lambda: profiling.report)
        report = profiling.report
        self.assertEqual(self.hottest(report).function, "spin")
        self.assertTrue(self.hottest(report).file.endswith("package_test.py"))
        self.assertEqual(profiling.regions["spinning"].calls, 1)
        self.assertIn("spin", profiling._repr_html_())
        self.assertIsNone(report.program.exit_status)
        self.assertEqual({process["pid"] for process in report.data["profile"]["host"]["processes"]}, {os.getpid()})

    def test_a_function(self):
        @roofline.profile
        def work(depth):
            spin(0.3)
            return work(depth - 1) if depth else "done"

        self.assertEqual(work(1), "done")
        self.assertEqual(self.hottest(work.profiling.report).function, "spin")

    def test_a_coroutine_and_no_generator(self):
        @roofline.profile()
        async def work():
            spin(0.3)
            return 7

        self.assertEqual(asyncio.run(work()), 7)
        self.assertTrue(work.profiling.report.program.host_lines)

        def generator():
            yield 1

        self.assertRaises(TypeError, roofline.profile, generator)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            with roofline.profile(output=folder) as profiling:
                spin(0.3)
            self.assertEqual(roofline.load(folder).data["profile"]["program"], list(profiling.report.program.command))
            self.assertIn("report.html", os.listdir(folder))

    def test_errors_of_the_block_come_first(self):
        with self.assertRaises(KeyError):
            with roofline.profile():
                raise KeyError("the program's")
        with roofline.profile():
            with self.assertRaises(roofline.RooflineError):
                with roofline.profile():
                    self.fail("one at a time")
        with mock.patch.dict(os.environ, {"ROOFLINE": "/no/such/file"}):
            self.assertRaises(roofline.NotFound, roofline.profile().start)
        with roofline.profile():  # after all of these
            spin(0.1)

    def test_under_an_outer_recording_it_is_a_region(self):
        calls = []
        nvtx = types.SimpleNamespace(push_range=calls.append, pop_range=lambda: calls.append("pop"))
        with mock.patch.dict(os.environ, {"ROOFLINE_SPOOL": "/tmp"}), mock.patch.dict(sys.modules, {"nvtx": nvtx}):
            with roofline.profile(name="training") as profiling:
                pass
        self.assertEqual(calls, ["training", "pop"])
        with self.assertRaises(roofline.RooflineError) as refused:
            profiling.report
        self.assertIn("training", str(refused.exception))

    def test_a_program(self):
        report = roofline.profile_program([sys.executable, "-c", "raise SystemExit(3)"], options=["--device", "cpu"])
        self.assertEqual(report.program.exit_status, 3)
        self.assertRaises(roofline.CommandFailed, roofline.profile_program, ["no-such-program"])


class Packaging(unittest.TestCase):
    def run_python(self, *arguments, **options):
        return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              **options)

    def test_types(self):
        mypy = shutil.which("mypy")
        if not mypy:
            self.skipTest("mypy is not installed")
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run([mypy, "--cache-dir", cache], cwd=ROOT / "python", capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_types_of_decorated_functions(self):
        mypy = shutil.which("mypy")
        if not mypy:
            self.skipTest("mypy is not installed")
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "uses.py"
            program.write_text(textwrap.dedent("""
                import roofline

                @roofline.profile
                def plain(batch: int) -> int:
                    return batch

                @roofline.profile(name="epoch")
                def named(batch: int) -> int:
                    return batch

                class Model:
                    @roofline.profile
                    def train(self, batch: int) -> int:
                        return batch

                a: roofline.Report = plain.profiling.report
                b: roofline.Report = named.profiling.report
                c: int = plain(1) + named(batch=2) + Model().train(3)
                plain("x")
                d: str = named(1)
            """))
            done = subprocess.run([mypy, "--strict", "--cache-dir", folder, str(program)], capture_output=True, text=True,
                                  env=dict(os.environ, MYPYPATH=str(ROOT / "python/src")), cwd=folder)
        lines = [int(line.split(":")[1]) for line in done.stdout.splitlines() if re.match(r"uses\.py:\d+: error:", line)]
        self.assertEqual(lines, [20, 21], done.stdout)

    def test_a_wheel(self):
        if not all(importlib.util.find_spec(name) for name in ("pip", "setuptools", "wheel")):
            self.skipTest("pip, setuptools or wheel is not installed")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "python", f"{folder}/sources")
            done = self.run_python("-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", folder,
                                   f"{folder}/sources")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            (wheel,) = pathlib.Path(folder).glob("*.whl")
            self.assertEqual(wheel.name, f"roofline-{roofline.__version__}-py3-none-any.whl")
            with zipfile.ZipFile(wheel) as archive:
                self.assertIn("roofline/py.typed", archive.namelist())
            used = self.run_python("-c", "import roofline; print(roofline.__file__, len(roofline.load(__import__('sys').argv[1])))",
                                   str(SUITE), env={**os.environ, "PYTHONPATH": str(wheel)})
            self.assertIn(wheel.name, used.stdout, used.stderr)


class Commands(unittest.TestCase):
    def run_tool(self, *arguments):
        return subprocess.run([ROOFLINE, "profile", "--json", *arguments], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)

    def require_permission(self):
        scope = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
        if os.geteuid() != 0 and scope.exists() and scope.read_text().strip() != "0":
            self.skipTest("only root may read other processes here (kernel.yama.ptrace_scope)")

    def test_a_window_of_a_running_process(self):
        self.require_permission()
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
            try:
                done = self.run_tool("--pid", str(busy.pid), "--window", "400ms")
                self.assertIsNone(busy.poll(), "it goes on")
            finally:
                busy.kill()
        self.assertEqual(done.returncode, 0, done.stderr)
        data = json.loads(done.stdout)["data"]
        self.assertEqual(data["profile"]["program"], [sys.executable, "-c", "while True: pass"])
        self.assertGreater(data["profile"]["host"]["seconds"]["running"], 0)

    def test_until_the_process_ends(self):
        self.require_permission()
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as sleeper:
            with subprocess.Popen([ROOFLINE, "profile", "--json", "--pid", str(sleeper.pid)], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env=dict(os.environ, ROOFLINE_PROGRESS="lines")) as recorder:
                while not recorder.stderr.readline().startswith(b'{"progress":'):
                    self.assertIsNone(recorder.poll())
                sleeper.communicate(b"\n")
                document, messages = recorder.communicate()
        self.assertEqual(recorder.returncode, 0, messages)
        self.assertFalse(json.loads(document)["data"]["cancelled"])

    def test_mistakes(self):
        for arguments in (["--pid", "999999999"], ["--pid", "0"], ["--pid", "x"], ["--pid", "1", "--emulate"],
                          ["--pid", "1", "--", "true"], ["--pid", "1", "--device", "cuda"], ["--pid", "1", "--runs", "2"]):
            self.assertEqual(self.run_tool(*arguments).returncode, 2, arguments)

    def test_the_version_is_the_tools(self):
        done = subprocess.run([ROOFLINE, "--version"], capture_output=True, text=True)
        self.assertEqual(done.stdout.split(), ["roofline", roofline.__version__])


if __name__ == "__main__":
    unittest.main()
