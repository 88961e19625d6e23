#!/usr/bin/env python3
"""The binary itself, as a user meets it: commands, messages, exit codes, files, Ctrl-C.

usage: cli_test.py PATH_OF_ROOFLINE [unittest arguments]
"""
import atexit
import fcntl
import functools
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

ROOFLINE = os.path.abspath(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[2]

try:
    import jsonschema
except ImportError:
    jsonschema = None
    print("cli_test: without python3-jsonschema nothing is held against its schema", file=sys.stderr)


def schema_of(name):
    return json.loads((ROOT / f"docs/schema/{name}.schema.json").read_text())


def check_by(name, document):
    if jsonschema:
        jsonschema.Draft202012Validator(schema_of(name)).validate(document)


def check_answer(answer):
    """The envelope, and what is in it: a document whose rows have an id besides."""
    check_by("answer", answer)
    data = json.loads(json.dumps(answer.get("data", {})))
    name, _, _ = data.get("schema", "").removeprefix("roofline.").partition("/")
    if name in ("bound", "project"):
        check_by(name, data)
    if name not in ("report", "machine", "node", "comparison", "fleet"):
        return
    lists = [data.get(key, []) for key in ("results", "ceilings", "rows", "changes", "left_out", "together", "links")]
    lists += [group["outliers"] for group in data.get("groups", [])]
    for row in (row for rows in lists for row in rows):
        del row["id"]
    check_by(name, data)


SMALL_SUITE = """\
name: small
workloads:
  - op: relu
    dtype: [fp32, fp8]
    shape: { n: 100000 }
  - op: gemm
    dtype: fp32
    shape: { m: 64, n: 48, k: 32 }
"""


class Workspace(unittest.TestCase):
    """A folder and a cache of their own, in which there is one quick calibration, the same for all."""
    shared = None

    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls._folder.name)
        cls.environment = dict(os.environ, XDG_CACHE_HOME=str(cls.folder / "cache"), NO_COLOR="1")
        cls.machine = cls.folder / "machine.json"
        if Workspace.shared is None:
            done = cls.run_tool("calibrate", "--device", "cpu", "--quick", "-o", cls.machine)
            assert done.returncode == 0, done.stderr
            keeper = tempfile.TemporaryDirectory()
            atexit.register(keeper.cleanup)
            Workspace.shared = pathlib.Path(keeper.name)
            shutil.copytree(cls.folder, Workspace.shared / "calibrated")
        shutil.copytree(Workspace.shared / "calibrated", cls.folder, dirs_exist_ok=True)

    @classmethod
    def tearDownClass(cls):
        cls._folder.cleanup()

    @classmethod
    def run_tool(cls, *arguments, **options):
        return subprocess.run([ROOFLINE, *map(str, arguments)], env=cls.environment, cwd=cls.folder, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, **options)

    def suite(self, text=SMALL_SUITE, name="suite.yaml"):
        path = self.folder / name
        path.write_text(text)
        return path

    def analyze(self, suite, *arguments):
        return self.run_tool("analyze", suite, "--device", "cpu", "--machine", self.machine, "--max-time", "0.1",
                             *arguments)

    def finished_run(self):
        """The folder of an analysis, the same for all tests that are about what comes after it."""
        folder = Workspace.shared / "finished"
        if not folder.exists():
            self.check(self.analyze(self.suite(), "-o", folder), 0)
        return folder

    def data(self, done, schema=None):
        """What is answered to --json, held against its schema where there is a validator."""
        answer = json.loads(done.stdout)
        check_answer(answer)
        self.assertEqual(answer["exit_code"], done.returncode)
        if schema:
            self.assertEqual(answer["data"]["schema"], schema)
        return answer["data"]

    def check(self, done, code, *texts):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)


class Usage(Workspace):
    def test_help_and_version_go_to_stdout(self):
        for flag, text in (("--help", "calibrate"), ("--version", "roofline ")):
            done = self.run_tool(flag)
            self.check(done, 0)
            self.assertIn(text, done.stdout)
            self.assertEqual(done.stderr, "")

    def test_mistakes_are_named_with_the_nearest_right_word(self):
        self.check(self.run_tool("analyse"), 2, "'analyse'", "'analyze'")
        self.check(self.run_tool("calibrate", "--quik"), 2, "--quik", "'--quick'")
        self.check(self.run_tool("calibrate", "--device", "gpu"), 2, "--device gpu", "cpu", "cuda:N")
        self.check(self.run_tool("calibrate", "--device", "cuda:x"), 2, "cuda:x")
        self.check(self.run_tool("calibrate", "--threads", "0"), 2, "--threads")
        self.check(self.run_tool("calibrate", "--cpus", "0-x"), 2, "--cpus 0-x", "--cpus 0-3,8")
        self.check(self.run_tool("calibrate", "--cpus", "8000"), 2, "CPU 8000", "--cpus ")
        self.check(self.run_tool(), 2, "roofline --help")
        self.check(self.run_tool("report", "x.json", "--format", "pngg"), 2, "pngg", "'png'")
        self.check(self.run_tool("analyze", "x.yaml", "-o", "-"), 2, "--format")
        self.check(self.run_tool("calibrate", "--device", "cpu", "--only", "nothing*"), 2, "nothing*", "dram.copy")

    def test_a_device_that_is_not_there(self):
        done = self.run_tool("calibrate", "--device", "cuda:7")
        self.check(done, 4, "roofline: ")
        self.assertEqual(done.stdout, "")

    def test_devices_and_ops_list_what_there_is(self):
        devices = self.data(self.run_tool("devices", "--json"), "roofline.devices/1")["devices"]
        self.assertEqual(devices[-1]["device"]["kind"], "cpu")
        self.assertTrue(devices[-1]["usable"])
        for device in devices:
            self.assertTrue(device["usable"] or device["reason"])
        self.assertIn("cpu", self.run_tool("devices").stdout)
        ops = {op["id"] for op in self.data(self.run_tool("ops", "--json"), "roofline.ops/1")["ops"]}
        self.assertLessEqual({"relu", "reduction", "layernorm", "softmax", "attention", "gemm"}, ops)
        schema = json.loads(self.run_tool("ops", "--schema").stdout)
        self.assertEqual(ops, set(schema["$defs"]["workload"]["properties"]["op"]["anyOf"][0]["enum"]))
        self.assertEqual(schema["$defs"], self.data(self.run_tool("ops", "--schema", "--json"))["$defs"])

    def test_lines_fit_the_columns_of_the_environment(self):
        def lines(columns, *arguments):
            done = subprocess.run([ROOFLINE, *arguments], env=dict(self.environment, COLUMNS=columns), text=True,
                                  cwd=self.folder, capture_output=True, stdin=subprocess.DEVNULL)
            return (done.stdout + done.stderr).splitlines()
        mistake = ("calibrate", "--device", "gpu " * 40)
        for arguments in (("ops",), mistake):
            with self.subTest(arguments):
                self.assertLessEqual(max(map(len, lines("80", *arguments))), 80)
                wide = lines("1000", *arguments)
                self.assertGreater(max(map(len, wide)), 80)
                self.assertEqual(" ".join(" ".join(wide).split()), " ".join(" ".join(lines("80", *arguments)).split()))

    def test_every_command_answers_programs(self):
        run = ROOT / "reports/reference/h200-ops/report.json"
        for arguments, code in ((("devices",), 0), (("ops", "--top", 1), 0), (("doctor",), 0), (("help",), 0),
                                (("help", "json"), 0), (("completion", "bash"), 0), (("report", run), 0),
                                (("report", run, run), 0), (("compare", run, run), 0), (("machine", run), 0),
                                (("machine", run, "--against", run), 0),
                                (("import", ROOT / "tests/import/recorded/trace.json.gz"), 0),
                                (("calibrate", "--device", "cpu", "--only", "launch.*", "--quick"), None),
                                (("calibrate", "--device", "cpu", "--only", "launch.*", "--once"), 0),
                                (("report", "nowhere.json"), 2), (("analyse",), 2), (("analyze", "--bogus"), 2),
                                (("profile", "--machine", run), 2), (("calibrate", "--device", "cuda:7"), 4)):
            with self.subTest(arguments):
                done = self.run_tool(*arguments, "--json")
                answer = json.loads(done.stdout)
                check_answer(answer)
                self.assertEqual(answer["exit_code"], done.returncode)
                if code is None:  # a busy machine may leave nothing that was measured
                    continue
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual("data" in answer, code == 0)

    def test_rows_as_many_and_as_much_as_asked_for(self):
        run = ROOT / "reports/reference/h200-ops/report.json"
        done = self.run_tool("report", run, "--json", "--top", 3, "--fields", "label,time_s.median,time_s.ci95")
        answer = json.loads(done.stdout)
        check_by("answer", answer)
        data = answer["data"]
        self.assertEqual(list(data), ["schema", "results"])
        self.assertEqual(len(data["results"]), 3)
        for row in data["results"]:
            self.assertLessEqual(set(row), {"id", "label", "time_s.median", "time_s.ci95", "absent"})
        # A slip is refused before anything is measured.
        for command in (("analyze", "ops", "--device", "cpu"), ("calibrate", "--device", "cpu"), ("report", run)):
            done = self.run_tool(*command, "--json", "--fields", "label,tyme_s.median")
            self.check(done, 2)
            self.assertNotIn("device:", done.stderr)  # which is printed before anything is measured
        self.check(self.run_tool("report", run, "--fields", "label"), 2, "--json")

    def test_options_of_answers_need_an_answer(self):
        run = ROOT / "reports/reference/h200-ops/report.json"
        for option in (("--top", 1), ("--fields", "label")):
            self.check(self.run_tool("report", run, *option), 2, option[0], "--json")
            self.check(self.run_tool("report", run, *option, "--json"), 0)

    def test_a_folder_stands_for_its_report(self):
        folder = ROOT / "reports/reference/h200-ops"
        for arguments in (("report", "{}"), ("report", "{}", "{}"), ("compare", "{}", "{}"),
                          ("project", "{}", "--onto", "H100")):
            def outcome(path):
                done = self.run_tool(*(str(word).format(path) for word in arguments), "--json")
                return done.returncode, json.loads(done.stdout)["data"]
            self.assertEqual(outcome(folder), outcome(folder / "report.json"), arguments)
        empty = self.folder / "empty"
        empty.mkdir()
        self.check(self.run_tool("report", empty), 2, str(empty), "report.json")

    def test_files_and_an_answer_in_one_run(self):
        done = self.analyze(self.suite(), "--json", "-o", "both")
        self.check(done, 0, "wrote ")
        self.assertEqual(len(self.data(done, "roofline.report/1")["results"]), 3)
        self.assertTrue((self.folder / "both/report.html").exists())

    def test_the_manual(self):
        pages = self.folder / "man"
        self.check(self.run_tool("help", "--man-pages", pages), 0)
        names = {path.name for path in pages.iterdir()}
        self.assertLessEqual({"roofline.1", "roofline-analyze.1", "roofline-json.7"}, names)
        if shutil.which("groff"):
            for page in sorted(pages.iterdir()):
                done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z", page], text=True, capture_output=True)
                self.assertEqual(done.stderr, "", page.name)
        self.check(self.run_tool("help", "analyse"), 2, "'analyze'")
        self.assertIn("--counters", self.run_tool("help", "analyze").stdout)

    def test_shells_complete(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.run_tool("completion", shell)
            self.check(script, 0)
            if shutil.which(shell):
                done = subprocess.run([shell, "-n"], input=script.stdout, text=True, capture_output=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""), shell)
        script = self.folder / "completion.bash"
        script.write_text(self.run_tool("completion", "bash").stdout)
        for line, expected in (("roofline ana", "analyze"), ("roofline analyze --device cu", "cuda"),
                               ("roofline analyze --device=cu", "cuda"), ("roofline analyze ops --only gem", "gemm"),
                               ("roofline analyze opts.ya", "opts.yaml")):
            (self.folder / "opts.yaml").touch()
            shown = subprocess.run(
                ["bash", "-c", f"source {script}; COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; compopt() {{ :; }}; "
                 "_roofline; printf '%s\\n' \"${COMPREPLY[@]}\""],
                env=dict(self.environment, PATH=f"{os.path.dirname(ROOFLINE)}:{os.environ['PATH']}"), cwd=self.folder,
                text=True, capture_output=True)
            self.assertIn(expected, shown.stdout.split(), f"{line}: {shown.stderr}")

    def test_an_unknown_file_extension_is_refused_and_a_folder_may_have_one(self):
        report = self.finished_run() / "report.json"
        self.check(self.run_tool("report", report, "-o", "out.pptx"), 2, "'.pptx'")
        self.check(self.run_tool("compare", report, report, "-o", "out.xlsx"), 2, "'.xlsx'")
        self.check(self.run_tool("calibrate", "--device", "cpu", "-o", "out.jpg"), 2, "'.jpg'", "json")
        self.check(self.run_tool("report", report, "-o", "out.tar.gz"), 2, "'.gz'", "-o out.tar.gz/")
        for name in ("out.pptx", "out.xlsx", "out.jpg", "out.tar.gz"):
            self.assertFalse((self.folder / name).exists(), name)
        for name in ("run-1.5", "out.v2/"):
            self.check(self.run_tool("report", report, "-o", name, "--format", "md"), 0)
            self.assertTrue((self.folder / name / "report.md").exists(), name)

    def test_a_program_without_its_separator_is_named(self):
        self.check(self.run_tool("profile", "-o", "run", "python3", "train.py"), 2, "'python3'",
                   "profile -o run -- python3 train.py")

    def test_what_a_command_needs_is_shown_as_it_is_typed(self):
        self.check(self.run_tool("ab", "ops"), 2, "SUITE", "roofline ab [options] SUITE SUITE")
        self.check(self.run_tool("new"), 2, "roofline new kernel [options] FILE")
        self.check(self.run_tool("new", "kernel"), 2, "roofline new kernel [options] FILE")
        self.check(self.run_tool("analyze", "ops", "--format", "pmg"), 2, "--format pmg", "'png'")

    def test_a_program_that_cannot_start(self):
        script = self.folder / "script.py"
        script.write_text("print(1)\n")
        for program, *texts in (["./script.py", "python3 ./script.py"], ["script.py", "-- ./script.py"],
                                ["no-such-program", "$PATH"], ["./no/such", "path"]):
            self.check(self.run_tool("profile", "--device", "cpu", "--", program), 2, program, *texts)

    def test_the_manual_fits_80_columns(self):
        for page in ("", "analyze", "calibrate", "compare", "profile", "bound", "suites", "json"):
            done = self.run_tool("help", *([page] if page else []))
            self.check(done, 0)
            wide = [line for line in done.stdout.splitlines() if len(line) > 80]
            self.assertEqual(wide, [], page)

    def test_suites_by_name(self):
        done = self.run_tool("analyze", "opss", "--device", "cpu", "--machine", self.machine)
        self.check(done, 2, "'ops'")


class Suites(Workspace):
    def refused(self, text, *messages):
        suite = self.suite(text, "bad.yaml")
        folder = self.folder / "refused"
        self.check(self.analyze(suite, "-o", folder), 2, *messages)
        self.assertFalse(folder.exists(), "a refused suite must leave nothing behind")

    def test_mistakes_name_file_line_and_column(self):
        self.refused("name: x\nworkloads:\n  - op: gem\n", "bad.yaml:3:9: ", "'gem'", "'gemm'")
        self.refused("name: x\nworkloads:\n  - op: gemm\n    shap: {m: 1}\n", "bad.yaml:4:5:", "'shape'")
        self.refused("name: x\nworkloads:\n  - op: gemm\n    shape: {m: many}\n", "bad.yaml:4:16:")
        self.refused("name: x\nworkloads:\n  - op: gemm\n    shape: {m: 0}\n", "bad.yaml:4:16:")
        self.refused("name: x\nworkloads: [\n", "bad.yaml:")
        self.refused("name: x\nworkloads: []\n", "bad.yaml:")

    def test_sizes_that_do_not_fit_are_refused_before_anything_runs(self):
        self.refused("name: x\nworkloads:\n  - op: relu\n    shape: {n: 2^38}\n", "bad.yaml:3")

    def test_missing_file(self):
        self.check(self.analyze("nowhere.yaml"), 2, "nowhere.yaml", "No such file")


class Analysis(Workspace):
    def test_writes_every_format_and_only_results_to_stdout(self):
        folder = self.folder / "out"
        done = self.analyze(self.suite(), "-o", folder)
        self.check(done, 0, "device: cpu", "wrote ")
        self.assertEqual({path.name for path in folder.iterdir()},
                         {"report.json", "results.csv", "report.md", "roofline.svg", "roofline.png", "report.html"})
        self.assertIn("relu", done.stdout)
        self.assertTrue((folder / "roofline.png").read_bytes().startswith(b"\x89PNG\r\n"))
        report = json.loads((folder / "report.json").read_text())
        self.assertEqual([row["status"] for row in report["results"]], ["ok", "skipped", "ok"])
        self.assertIn("fp8", report["results"][1]["reason"])
        self.assertEqual(report["results"][0]["verification"]["status"], "pass")
        self.assertEqual(report["results"][0]["bound"] in ("memory", "latency", "balanced"), True)
        self.assertFalse(report["cancelled"])

    def test_a_cpu_row_is_paired_with_the_probe_of_its_roof(self):
        report = json.loads((self.finished_run() / "report.json").read_text())
        rows = [row for row in report["results"] if row["status"] == "ok" and "disturbed" not in row]
        if not rows:
            self.skipTest("other programs used the CPUs, and their pairs are dropped")
        for row in rows:
            paired = row["paired"]
            self.assertEqual(paired["ceiling"], row["limiting_ceiling"])
            self.assertEqual(paired["fraction"], row["fraction_of_roof"])
            self.assertLessEqual(paired["ci95"][0], paired["fraction"])
            self.assertLessEqual(paired["fraction"], paired["ci95"][1])
            self.assertGreaterEqual(paired["pairs"], 6)
            self.assertGreater(paired["probe_value"], 0)

    def test_an_outside_program_recomputes_the_same_values(self):
        done = subprocess.run([sys.executable, ROOT / "tests/cli/recompute.py", self.finished_run() / "report.json"],
                              text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_json_on_stdout_is_nothing_but_json(self):
        done = self.analyze(self.suite(), "--json")
        self.check(done, 0)
        self.data(done, "roofline.report/1")
        bare = self.analyze(self.suite(), "--format", "json", "-o", "-")
        self.assertEqual(json.loads(bare.stdout)["schema"], "roofline.report/1")

    def test_counters_leave_the_run_whole(self):
        """With hardware events there are values, without one line says why; the exit code and the times don't care."""
        out = self.folder / "counted"
        self.check(self.analyze(self.suite(), "--counters", "-o", out), 0)
        report = json.loads((out / "report.json").read_text())
        counted = [result for result in report["results"] if "counters" in result]
        refused = [note for note in report["notes"] if note.startswith("No hardware counters: ")]
        self.assertEqual(len(refused), 0 if counted else 1)
        for result in counted:
            self.assertGreater(result["counters"]["values"]["instructions"], 0)
            self.assertEqual(result["counters"]["source"], "perf_event_open")
        self.assertEqual([result["status"] for result in report["results"]], ["ok", "skipped", "ok"])
        self.assertGreater(report["invocation"]["counting_s"], 0)
        self.check(self.analyze(self.suite(), "--counters", "all"), 2)

    def test_every_workload_once_for_a_profiler(self):
        done = self.analyze(self.suite(), "--once")
        self.check(done, 0)
        runs = json.loads(done.stdout)
        self.assertEqual([(run["skipped"], run["failure"] == "") for run in runs],
                         [(False, True), (True, False), (False, True)])

    def test_a_saved_run_is_drawn_again_the_same(self):
        first, second = self.finished_run(), self.folder / "second"
        self.check(self.run_tool("report", first / "report.json", "-o", second), 0)
        for path in first.iterdir():
            self.assertEqual(path.read_bytes(), (second / path.name).read_bytes(), path.name)

    def test_one_file_by_its_name(self):
        picture = self.folder / "one" / "chart.svg"
        done = self.analyze(self.suite(), "-o", picture, "--size", "640x480", "--theme", "dark", "--title", "Mine & more",
                            "--plot")
        self.check(done, 0, f"wrote {picture}")
        self.assertEqual(list(picture.parent.iterdir()), [picture])
        self.assertIn('width="640"', picture.read_text())
        self.assertIn("Mine &amp; more", picture.read_text())
        self.assertIn("FLOP/byte", done.stdout)

    def test_a_lower_instruction_set_runs_in_the_same_binary(self):
        environment = dict(self.environment, ROOFLINE_ISA="sse2")
        done = subprocess.run([ROOFLINE, "analyze", self.suite(), "--device", "cpu", "--machine", self.machine,
                               "--max-time", "0.05", "--json"], env=environment, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("sse2", done.stderr)

    def test_interrupt_leaves_a_complete_report(self):
        folder = self.folder / "interrupted"
        rows = "".join(f"  - op: relu\n    dtype: fp32\n    shape: {{ n: {100000 + i} }}\n" for i in range(40))
        suite = self.suite("name: long\nworkloads:\n" + rows, "long.yaml")
        process = subprocess.Popen([ROOFLINE, "analyze", suite, "--device", "cpu", "--machine", self.machine, "-o",
                                    folder], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(6000):
            if (folder / "report.json").exists():
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        report = json.loads((folder / "report.json").read_text())
        self.assertTrue(report["cancelled"])
        self.assertEqual(len(report["results"]), 40)
        self.assertEqual(report["results"][0]["status"], "ok")
        self.assertEqual(report["results"][-1]["status"], "skipped")
        self.assertTrue((folder / "report.html").exists())
        self.assertEqual([path for path in folder.iterdir() if path.suffix == ".tmp"], [])

    def test_a_killed_run_leaves_the_rows_that_it_had(self):
        folder = self.folder / "killed"
        path = folder / "report.json"
        rows = "".join(f"  - op: relu\n    dtype: fp32\n    shape: {{ n: {1000 + i} }}\n" for i in range(1000))
        suite = self.suite("name: long\nworkloads:\n" + rows, "long.yaml")
        process = subprocess.Popen([ROOFLINE, "analyze", suite, "--device", "cpu", "--machine", self.machine, "-o",
                                    folder, "--max-time", "0.01"], env=self.environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        seen = 0
        for _ in range(30000):
            if path.exists():
                seen = len(json.loads(path.read_text())["results"])
            if seen >= 3:
                break
            time.sleep(0.01)
        process.kill()
        process.communicate(timeout=60)
        report = json.loads(path.read_text())
        self.assertGreaterEqual(len(report["results"]), max(seen, 3))
        self.assertEqual({row["status"] for row in report["results"]}, {"ok"})
        self.assertGreater(report["invocation"]["duration_s"], 0)
        self.assertEqual((report["complete"], report["rows_planned"]), (False, 1000))
        drawn = self.run_tool("report", path, "--format", "csv", "-o", folder / "again", "--plot")
        self.check(drawn, 0)
        missing = f"{len(report['results'])} of 1000 rows"
        self.assertEqual(" ".join(drawn.stdout.split()).count(missing), 2, "the table and the plot")
        self.assertIn(missing, self.run_tool("report", path, "--format", "md", "-o", "-").stdout)
        gate = self.run_tool("compare", path, path)
        self.check(gate, 1, "earlier run", "later run", missing)
        self.assertIn("No verdict", gate.stdout)
        # A file of a version that did not tell is read as before.
        del report["complete"], report["rows_planned"]
        path.write_text(json.dumps(report))
        old = self.run_tool("report", path, "--format", "md", "-o", "-")
        self.check(old, 0)
        self.assertNotIn("of 1000", old.stdout)
        self.check(self.run_tool("compare", path, path), 0)

    def test_a_folder_that_can_not_be_written_is_found_before_measuring(self):
        blocker = self.folder / "file"
        blocker.write_text("")
        self.check(self.analyze(self.suite(), "-o", blocker / "below"), 2, "file")


class Reports(Workspace):
    def test_what_is_no_report_is_refused(self):
        path = self.folder / "odd.json"
        for text, message in (("{", "odd.json"), ("[]", "odd.json"), ('{"schema": "roofline.report/9"}', "roofline.report/9"),
                              ('{"schema": "roofline.report/1"}', "missing")):
            path.write_text(text)
            self.check(self.run_tool("report", path, "-o", self.folder / "never"), 2, message)
        self.assertFalse((self.folder / "never").exists())

    def test_files_of_every_version_are_read_for_ever(self):
        """tests/corpus: at least one of the version that this program writes, or it was forgotten."""
        corpus, read = ROOT / "tests/corpus", set()
        for path in sorted(corpus.glob("*.json")):
            with self.subTest(path.name):
                document = json.loads(path.read_text())
                read.add((document["schema"], document.get("tool_version") or document["invocation"]["tool_version"]))
                if document["schema"].startswith("roofline.report/"):
                    again = self.folder / "corpus" / path.name
                    self.check(self.run_tool("report", path, "-o", again.parent), 0)
                    self.check(self.run_tool("report", path, "-o", again), 0)
                    self.assertEqual([row["label"] for row in json.loads(again.read_text())["results"]],
                                     [row["label"] for row in document["results"]])
                shown = json.loads(self.run_tool("machine", path, "--format", "json").stdout)
                if document["schema"].startswith("roofline.node/"):
                    self.assertEqual([(link["from"], link["to"], len(link["ceilings"])) for link in shown["links"]],
                                     [(link["from"], link["to"], len(link["ceilings"])) for link in document["links"]])
                    shown, document = shown["machines"][1], document["machines"][1]
                machine = document.get("machine", document)
                self.assertEqual([(c["name"], c["value"]) for c in shown["ceilings"]],
                                 [(c["name"], c["value"]) for c in machine["ceilings"]])
        version = self.run_tool("--version").stdout.split()[1]
        for name in ("report", "machine", "node"):
            current = schema_of(name)["properties"]["schema"]["const"]
            self.assertIn((current, version), read, f"tests/corpus has no {name} of {version}")

    def reference(self):
        return ROOT / "reports/reference/h200-ops/report.json"

    def reference_rows(self):
        """All rows of the reference run, and those with an interval: a limiter that swings slowly leaves one without."""
        rows = json.loads(self.reference().read_text())["results"]
        return rows, [row for row in rows if "ci95" in row["time_s"]]

    def scaled(self, factor, name="", edit=lambda row: None):
        """The reference run with the times of some rows scaled."""
        report = json.loads(self.reference().read_text())
        for row in report["results"]:
            if name in row["label"] and "time_s" in row:
                row["time_s"]["median"] *= factor
                if "ci95" in row["time_s"]:
                    row["time_s"]["ci95"] = [factor * end for end in row["time_s"]["ci95"]]
                edit(row)
        path = self.folder / f"scaled-{factor}-{name}.json"
        path.write_text(json.dumps(report))
        return path

    def test_every_report_in_the_repository_is_drawn(self):
        found = sorted((ROOT / "reports").rglob("report.json"))
        self.assertTrue(found)
        for path in found:
            folder = self.folder / "drawn" / path.parent.name
            self.check(self.run_tool("report", path, "-o", folder, "--format", "json,csv,md,svg,png,pdf,html"), 0)
            self.assertEqual(len(list(folder.iterdir())), 7)
            self.assertEqual(json.loads((folder / "report.json").read_text())["results"],
                             json.loads(path.read_text())["results"])
            self.assertTrue((folder / "roofline.pdf").read_bytes().startswith(b"%PDF-"))

    def test_chart_options(self):
        picture = self.folder / "chart.png"
        self.check(self.run_tool("report", self.reference(), "-o", picture, "--size", "800x600", "--scale", "1.5"), 0)
        header = picture.read_bytes()[16:24]
        self.assertEqual((int.from_bytes(header[:4], "big"), int.from_bytes(header[4:], "big")), (1200, 900))
        self.check(self.run_tool("report", self.reference(), "-o", picture, "--size", "1600"), 2, "--size 1600",
                   "320x240", "--size 1600x900")
        self.check(self.run_tool("report", self.reference(), "-o", picture, "--format", "svg"), 2, "--format")

    def test_several_runs_are_laid_over_each_other(self):
        slower = self.scaled(1.05)
        folder = self.folder / "both"
        done = self.run_tool("report", self.reference(), slower, "-o", folder, "--plot")
        self.check(done, 0)
        self.assertEqual({path.name for path in folder.iterdir()},
                         {"results.csv", "report.md", "roofline.svg", "roofline.png", "report.html"})
        self.assertIn("1.050", done.stdout)
        self.assertIn("| 1.050 |", (folder / "report.md").read_text())
        self.assertIn("time_ratio", (folder / "results.csv").read_text())
        self.check(self.run_tool("report", self.reference(), slower, "--format", "json", "-o", folder), 2, "json")
        without = self.run_tool("report", self.reference(), slower, "--format", "md")
        self.check(without, 0, "reports/comparison/report.md")

    def test_runs_on_other_kinds_of_devices_are_not_compared(self):
        cpu = self.finished_run()
        for command in ("report", "compare"):
            self.check(self.run_tool(command, self.reference(), cpu / "report.json"), 2, "cuda", "cpu")
        self.check(self.run_tool("compare", self.reference(), "nowhere.json"), 2, "nowhere.json")

    def test_runs_without_a_common_kernel_are_no_success(self):
        training = ROOT / "reports/reference/h200-train/report.json"
        done = self.run_tool("compare", self.reference(), training)
        self.check(done, 1)
        self.assertIn("relu fp32 2^28", done.stdout)
        renamed = self.scaled(1.0, "", lambda row: row.update(label="other " + row["label"], op="other"))
        self.check(self.run_tool("compare", self.reference(), renamed), 1)

    def test_compare_is_a_gate(self):
        same = self.run_tool("compare", self.reference(), self.reference())
        self.check(same, 0)
        kernels = len(self.reference_rows()[0])
        self.assertIn(f" {kernels} kernels", same.stdout)
        self.assertNotIn("slower", same.stdout)
        slow = self.run_tool("compare", self.reference(), self.scaled(1.05, "softmax"))
        self.check(slow, 3)
        for text in (f"3 of {kernels} kernels", "3 %", "softmax fp32", "1.050x"):
            self.assertIn(text, slow.stdout)
        self.assertEqual(slow.stderr, "", "the table has the verdict")
        self.assertEqual(slow.stdout.count(f"{kernels} kernels"), 1)
        document = self.run_tool("compare", self.reference(), self.scaled(1.05, "softmax"), "--format", "csv")
        self.check(document, 3, f"3 of {kernels} kernels", "3 %", "softmax fp32", "1.050x")
        answer = self.run_tool("compare", self.reference(), self.scaled(1.05, "softmax"), "--json")
        self.assertEqual([error["code"] for error in json.loads(answer.stdout)["errors"]], ["regression"])
        self.assertEqual(slow.stdout.count("slower > 3 %"), 3)
        self.check(self.run_tool("compare", self.reference(), self.scaled(1.05, "softmax"), "--max-slowdown", "6%"), 0)
        self.check(self.run_tool("compare", self.reference(), self.scaled(1.02), "--max-slowdown", "3 %"), 0)
        self.check(self.run_tool("compare", self.reference(), self.scaled(1.02), "--max-slowdown", "1.5"), 3)
        self.check(self.run_tool("compare", self.scaled(1.05), self.reference()), 0)
        self.check(self.run_tool("compare", self.reference(), self.reference(), "--max-slowdown", "some"), 2,
                   "--max-slowdown some", "3%")

    def test_two_machines_are_judged_only_with_a_limit(self):
        slow = self.scaled(1.05, "softmax")
        report = json.loads(slow.read_text())
        report["machine"]["device"]["name"] = "NVIDIA H100"
        slow.write_text(json.dumps(report))
        done = self.run_tool("compare", self.reference(), slow)
        self.check(done, 0)
        self.assertIn("H200 → H100: 3 of", done.stdout)
        self.assertNotIn("slower >", done.stdout)
        limited = self.run_tool("compare", self.reference(), slow, "--max-slowdown", "3%")
        self.check(limited, 3)
        self.assertIn("softmax fp32", limited.stdout.split("\nkernel ")[0])

    def test_several_runs_per_side_are_compared_by_their_scatter(self):
        names = []
        for i, factor in enumerate((1.0, 1.06, 0.97, 1.05, 1.01, 1.08)):
            names.append(self.folder / f"run{i}.json")
            shutil.copy(self.scaled(factor), names[-1])
        before, now = names[:3], names[3:]
        self.check(self.run_tool("compare", before[0], now[0]), 3)
        done = self.run_tool("compare", "--format", "json", *before, "--", *now)
        self.check(done, 0)
        comparison = json.loads(done.stdout)
        check_by("comparison", comparison)
        self.assertEqual((comparison["base"]["runs"], comparison["now"]["runs"]), (3, 3))
        timed = [row for row in comparison["rows"] if "time_ratio" in row]
        self.assertTrue(timed)
        for row in timed:
            self.assertEqual((row["change"], row["interval_covers"]), ("undecided", "runs"))
            low, high = row["time_ratio_ci95"]
            self.assertTrue(low < 1 < high)
        slower = [self.scaled(factor) for factor in (4.0, 4.2, 3.8)]
        self.check(self.run_tool("compare", *before, "--", *slower), 3)
        self.check(self.run_tool("compare", *before), 2, "--")
        self.check(self.run_tool("compare", before[0]), 2, "--")
        self.check(self.run_tool("compare", *before, "--", *now, "--json"), 2, "--json")

    def test_ab_compares_two_suites_in_rounds(self):
        suite = "name: s\nworkloads:\n  - { op: relu, shape: { n: [100000, 200000] } }\n"
        old, new = self.folder / "old.yaml", self.folder / "new.yaml"
        old.write_text(suite)
        new.write_text(suite.replace("200000", "300000"))
        written = self.folder / "ab.json"
        done = self.run_tool("ab", old, new, "--device", "cpu", "--max-time", "0.1", "--threshold", "900%", "--json",
                             "-o", written)
        self.check(done, 0)
        answer = json.loads(done.stdout)
        check_answer(answer)
        check_by("comparison", json.loads(written.read_text()))
        rows = {row["shape"]["n"]: row for row in answer["data"]["rows"]}
        self.assertEqual(rows[100000]["interval_covers"], "rounds")
        self.assertGreaterEqual(rows[100000]["repetitions"]["now"], 5)
        self.assertEqual({rows[200000]["change"], rows[300000]["change"]}, {"only before", "only now"})
        self.check(self.run_tool("ab", old, "nowhere.yaml", "--device", "cpu"), 2, "nowhere.yaml")

    def test_what_fails_now_is_a_regression(self):
        def fail(row):
            row.update(status="failed", reason="element 3 is NaN")
            del row["time_s"]
        done = self.run_tool("compare", self.reference(), self.scaled(1.0, "relu fp32", fail))
        self.check(done, 3)
        for text in ("1 kernel ", "failed now", "relu fp32"):
            self.assertIn(text, done.stdout)

    def test_a_comparison_for_programs(self):
        done = self.run_tool("compare", self.reference(), self.scaled(1.05), "--format", "json")
        self.check(done, 3)
        comparison = json.loads(done.stdout)
        self.assertEqual(comparison["schema"], "roofline.comparison/1")
        rows, with_interval = self.reference_rows()
        self.assertGreaterEqual(len(with_interval), len(rows) - 1)
        self.assertEqual(comparison["regressions"], len(with_interval))
        for row in comparison["rows"]:
            self.assertAlmostEqual(row["time_ratio"], 1.05, 9)
            low, high = row["time_ratio_ci95"]
            self.assertTrue(low < 1.05 < high)
            self.assertEqual(low > 1, any(row["label"] == known["label"] for known in with_interval))
        self.assertEqual(len(self.run_tool("compare", self.reference(), self.reference(), "--format", "csv")
                             .stdout.splitlines()), len(rows) + 1)
        self.assertIn("| Kernel |", self.run_tool("compare", self.reference(), self.reference(), "--format", "md").stdout)

    def test_a_comparison_is_written_where_o_says(self):
        def compare(*options, code=0):
            done = self.run_tool("compare", self.reference(), self.reference(), *options)
            self.check(done, code)
            return done
        folder = self.folder / "comparison"
        table = compare().stdout
        self.assertEqual(compare("-o", folder).stdout, table)
        self.assertEqual({path.name for path in folder.iterdir()},
                         {"comparison.md", "comparison.json", "comparison.csv", "comparison.xml", "comparison.sarif",
                          "comparison.html", "roofline.svg", "roofline.png"})
        self.assertNotRegex((folder / "comparison.html").read_text(), "(Pass|Fail):")
        compare("-o", "gate.html", "--max-slowdown", "3%")
        self.assertIn("Pass: no kernel got slower", (self.folder / "gate.html").read_text())
        compare("-o", "two.pdf")
        check_by("comparison", json.loads((folder / "comparison.json").read_text()))
        one = self.folder / "changes.md"
        self.assertEqual(compare("-o", one).stdout, table)
        self.assertEqual(one.read_text(), compare("--format", "md").stdout)
        self.assertEqual(compare("-o", "-", "--format", "md").stdout, one.read_text())
        only = self.folder / "only"
        compare("-o", only, "--format", "csv")
        self.assertEqual([path.name for path in only.iterdir()], ["comparison.csv"])
        compare("-o", one, "--format", "csv", code=2)
        compare("-o", only, "--format", "table", code=2)
        compare("-o", self.reference(), code=2)

    def test_hostile_input_is_refused_with_its_name(self):
        folder = self.folder / "a-folder"
        folder.mkdir(exist_ok=True)
        self.check(self.run_tool("report", folder), 2, "a-folder: ")
        whole = self.reference().read_bytes()
        path = self.folder / "hostile.json"
        for content in (b"", whole[:len(whole) // 2], b"\xff\xfe\x00", b"[" * 200000, b"null", whole[:-2] + b"\x00}"):
            path.write_bytes(content)
            self.check(self.run_tool("report", path, "-o", self.folder / "never"), 2, "hostile.json")
        self.assertFalse((self.folder / "never").exists())


    def test_what_has_no_end_is_refused_at_once(self):
        """A device, a pipe that nobody writes to, a folder, a file beyond its limit: by every reader."""
        pipe, large, link = self.folder / "pipe", self.folder / "large.json", self.folder / "link.json"
        os.mkfifo(pipe)
        link.symlink_to("/dev/zero")
        with open(large, "wb") as file:
            file.truncate(1 << 40)  # a hole: it takes no room
        ours = self.suite()
        for path, words in ((pipe, "pipe"), (large, "larger than "), (link, "is a device"), ("/dev/zero", "is a device"),
                            (self.folder, "is a folder")):
            for command in (("analyze", path, "--device", "cpu"), ("report", path), ("compare", path, self.reference()),
                            ("machine", path), ("import", path), ("new", "kernel", path),
                            ("analyze", ours, "--device", "cpu", "--machine", path, "-o", self.folder / "never")):
                self.check(self.run_tool(*command, timeout=60), 2, words, str(path))
            if path != self.folder:  # a fleet is a folder
                self.check(self.run_tool("fleet", path, timeout=60), 2)
        self.assertFalse((self.folder / "never").exists())
        with_npy = self.suite("name: x\nkernels:\n  - name: k\n    source: pipe\n", "pipe.yaml")
        self.check(self.run_tool("analyze", with_npy, "--device", "cpu", "--machine", self.machine, timeout=60), 2)

    def test_a_pipe_that_somebody_writes_to_is_read(self):
        read, write = os.pipe()
        with open(write, "wb") as writer:
            pid = os.fork()
            if pid == 0:
                os.close(read)
                writer.write(self.reference().read_bytes())
                writer.flush()
                os._exit(0)
        done = self.run_tool("report", f"/dev/fd/{read}", "--format", "csv", "-o", "-", pass_fds=[read])
        os.close(read)
        os.waitpid(pid, 0)
        self.check(done, 0)
        self.assertTrue(done.stdout.startswith("workload,"))


class Profiles(Workspace):
    """Without a GPU: the machine is a file, and what was recorded of real programs is in the tree."""
    ROOFS = ROOT / "reports/reference/h200-ops/report.json"
    SPOOLS = ROOT / "tests/inject/spools"

    def profile(self, *arguments):
        return self.run_tool("profile", "--machine", self.ROOFS, *arguments)

    def recorded(self, *names):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        for name in names:
            (folder / name).write_bytes((self.SPOOLS / name).read_bytes())
        return folder

    def test_what_is_asked_for_is_checked_first(self):
        self.check(self.run_tool("profile"), 2, "no program given")
        self.check(self.profile("--window", "5x", "--", "true"), 2, "--window 5s")
        self.check(self.profile("--device", "cpu", "--", "true"), 2, "remove --machine")
        self.check(self.run_tool("profile", "--device", "cpu", "--no-host", "--", "true"), 2, "--device", "--no-host")
        self.check(self.profile("--from", "nowhere"), 2, "nowhere")
        self.check(self.profile("--windw", "5s", "--", "true"), 2, "--window")

    def test_the_roofs_of_a_cpu_for_a_program_on_it(self):
        self.check(self.run_tool("profile", "--device", "cpu", "--machine", self.machine, "-o", "here.json", "--", "true"), 0)
        refused = self.run_tool("show", "here.json")
        self.check(refused, 2, "here.json")
        self.check(self.run_tool(*refused.stderr.split(": roofline ")[1].split()), 0)
        report = json.loads((self.folder / "here.json").read_text())
        self.assertEqual(report["machine"]["ceilings"], json.loads(self.machine.read_text())["ceilings"])

    def next_commands(self, options, hint):
        """The options after each of the alternatives of a hint: "remove --a, or use --b c"."""
        for verb, option, value in re.findall(r"(remove|add|use) (--[a-z-]+)(?: (cpu))?", hint):
            others = tuple(given for given in options if given[0] != option)
            yield others if verb == "remove" else (*others, (option, value) if value else (option,))

    def follow_hints(self, options, program, seen):
        """Runs the command; where it is refused with a hint that names options, does what the hint says."""
        words = [word for option in options for word in option]
        done = self.run_tool("profile", *words, *(["--", *program] if program else []))
        if done.returncode not in (2, 4):
            return
        hint = " ".join(line for line in done.stderr.splitlines() if line.startswith("  "))
        commands = [tuple(sorted(command)) for command in self.next_commands(options, hint)]
        self.assertTrue(commands or "no-such-program" in done.stderr, done.stderr)
        for command in commands:
            self.assertNotIn(command, seen, f"{seen}: {done.stderr}")
            self.assertLess(len(seen), 4, seen)
            self.follow_hints(command, program, [*seen, command])

    def test_hints_lead_to_commands_that_are_accepted(self):
        """Pairs of options of which one is refused; the program does not exist, so that an accepted command is short."""
        remarks = self.folder / "remarks.txt"
        remarks.write_text("t.c:3:5: missed: couldn't vectorize loop\n")
        options = [("--device", "cpu"), ("--device", "cuda"), ("--cpus", "0"), ("--machine", str(self.machine)),
                   ("--machine", str(self.ROOFS)), ("--warmup", "1s"), ("--window", "1s"), ("--no-counters",),
                   ("--count-time", "1s"), ("--emulate",), ("--remarks", str(remarks)), ("--runs", "2"), ("--baseline",),
                   ("--step", "x"), ("--no-python",), ("--no-host",), ("--keep", "kept"), ("--json",),
                   ("--format", "md"), ("--top", "1"), ("--fields", "label"), ("--plot",), ("-o", "one.md")]
        pairs = [(), *((one,) for one in options)]
        pairs += [(a, b) for a, b in itertools.combinations(options, 2) if a[0] != b[0]]
        for pair in (tuple(sorted(pair)) for pair in pairs):
            with self.subTest(pair):
                self.follow_hints(pair, ["./no-such-program"], [pair])
        for option in (option for option in options if option[0] != "--window"):
            with self.subTest(option), subprocess.Popen(["sleep", "60"]) as process:
                given = tuple(sorted((("--pid", str(process.pid)), ("--window", "50ms"), option)))
                try:
                    self.follow_hints(given, [], [given])
                finally:
                    process.kill()

    def test_no_two_recordings_in_one_folder(self):
        """Both would be reported as one. It is refused before the program runs."""
        spools = self.recorded("graph_replay.spool")
        before = (spools / "graph_replay.spool").read_bytes()
        self.check(self.profile("--keep", spools, "--", "touch", "ran"), 2, "graph_replay.spool", "another folder")
        self.assertFalse((self.folder / "ran").exists())
        self.assertEqual({path.name: path.read_bytes() for path in spools.iterdir()}, {"graph_replay.spool": before})
        self.check(self.profile("--keep", "new", "--from", spools), 2, "--keep")
        self.check(self.profile("--keep", "new", "--", "touch", "ran"), 0)
        self.assertTrue((self.folder / "ran").exists())

    def test_a_program_without_a_gpu_is_said_and_runs_as_it_would(self):
        done = self.profile("-o", "none", "--", "sh", "-c", "echo out; echo err >&2; pwd; exit 3")
        self.check(done, 3)
        self.assertEqual(done.stdout, f"out\n{self.folder}\n")
        profile = json.loads((self.folder / "none/report.json").read_text())["profile"]
        self.assertEqual(profile["exit_status"], 3)
        self.assertIn("host", profile)
        self.check(self.profile("--", "/no/such/program"), 2, "No such file")
        done = self.profile("--no-host", "--", "true")
        if "built without CUDA" in done.stderr:
            self.skipTest("this roofline was built without CUDA")
        self.check(done, 4, "GPU")
        taken = dict(self.environment, CUDA_INJECTION64_PATH="/other/tool.so")
        done = subprocess.run([ROOFLINE, "profile", "--machine", self.ROOFS, "--", "true"], env=taken, cwd=self.folder,
                              text=True, capture_output=True)
        self.check(done, 2, "/other/tool.so")

    def test_a_recording_makes_every_format_and_its_figures_can_be_recomputed(self):
        spools = self.recorded("graph_replay.spool")
        done = self.profile("--from", spools, "-o", "graph")
        self.check(done, 0)
        for name in ["report.json", "results.csv", "report.md", "roofline.svg", "roofline.png", "report.html"]:
            self.assertGreater((self.folder / "graph" / name).stat().st_size, 500, name)
        done = subprocess.run([sys.executable, ROOT / "tests/cli/recompute.py", self.folder / "graph/report.json"],
                              text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_json_alone_is_on_stdout(self):
        done = self.profile("--from", self.recorded("two_processes_1.spool", "two_processes_2.spool"), "--json")
        self.check(done, 0)
        self.assertEqual(len(self.data(done)["profile"]["processes"]), 2)

    def test_profiles_compare(self):
        for name in ["a", "b"]:
            self.check(self.profile("--from", self.recorded("graph_replay.spool"), "-o", f"{name}.json"), 0)
        self.check(self.run_tool("compare", "a.json", "b.json"), 0)

    def slowed(self, name, factor):
        """The profile in a.json with steps that take longer: the GPU is idle, and one kernel is slower."""
        report = json.loads((self.folder / "a.json").read_text())
        steps = report["profile"]["steps"]
        for key in ("median_s", "low_s", "high_s"):
            steps[key] *= factor
        longer = steps["total_s"] * (factor - 1)
        steps["total_s"] += longer
        for device in steps["devices"]:
            device["wall_s"] += longer
            device["idle_elsewhere_s"] += longer
        for key, value in (("ci95", steps["median_s"]), ("mean_ci95", steps["total_s"] / steps["count"])):
            steps[key] = [0.998 * value, 1.002 * value]
        (self.folder / name).write_text(json.dumps(report))
        return name

    def test_steps_of_profiles_are_a_gate(self):
        self.check(self.profile("--from", self.recorded("training_step.spool"), "-o", "a.json"), 0)
        same, slow = self.slowed("same.json", 1), self.slowed("slow.json", 1.05)
        done = self.run_tool("compare", same, same, "--format", "json")
        self.check(done, 0)
        comparison = json.loads(done.stdout)
        check_by("comparison", comparison)
        program = comparison["program"]
        self.assertEqual((program["unit"], program["typical"]["change"], program["mean"]["change"]),
                         ("step", "same", "same"))
        self.check(self.run_tool("compare", slow, same), 0)
        self.check(self.run_tool("compare", same, slow, "--max-slowdown", "6%"), 0)
        done = self.run_tool("compare", same, slow, "--format", "json")
        self.check(done, 3, "3 %")
        comparison = json.loads(done.stdout)
        check_by("comparison", comparison)
        self.assertEqual((comparison["regressions"], comparison["program"]["regression"]), (1, True))
        self.assertAlmostEqual(comparison["program"]["typical"]["ratio"], 1.05)
        parts = comparison["program"]["parts"]
        mean = comparison["program"]["mean"]
        self.assertAlmostEqual(sum(part["now_s"] - part["before_s"] for part in parts),
                               mean["now"]["seconds"] - mean["before"]["seconds"], places=12)
        self.check(self.run_tool("compare", same, slow, "-o", "both"), 3)
        for name in ("comparison.md", "comparison.csv", "comparison.json"):
            self.assertGreater((self.folder / "both" / name).stat().st_size, 100, name)

    def test_a_step_and_a_whole_run_are_not_compared(self):
        self.check(self.profile("--from", self.recorded("training_step.spool"), "-o", "a.json"), 0)
        self.check(self.profile("--from", self.recorded("graph_replay.spool"), "-o", "b.json"), 0)
        done = self.run_tool("compare", "a.json", "b.json", "--format", "json")
        program = json.loads(done.stdout)["program"]
        self.assertEqual(program["unit"], "run")
        self.assertNotIn("causes", program)


class Machines(Workspace):
    def test_a_calibration_is_kept_and_found_again(self):
        done = self.run_tool("analyze", self.suite(), "--device", "cpu", "--max-time", "0.05", "--json")
        self.check(done, 0, "roofs: ", "old)", "--quick")
        self.assertTrue(any("--quick" in note for note in self.data(done)["notes"]))
        shown = self.run_tool("machine", "--device", "cpu", "--format", "json")
        self.check(shown, 0)
        kept = json.loads(shown.stdout)["ceilings"]
        self.assertEqual(kept, json.loads(self.machine.read_text())["ceilings"])

    def other_cache(self, name):
        """A cache with the calibration in it, and where that is."""
        cache = self.folder / name
        shutil.copytree(self.folder / "cache", cache)
        return dict(self.environment, XDG_CACHE_HOME=str(cache)), next(cache.glob("roofline/cpu-*.json"))

    def test_a_broken_calibration_is_moved_aside_and_measured_again(self):
        environment, kept = self.other_cache("broken-cache")
        whole = kept.read_bytes()
        kept.write_bytes(whole[:len(whole) // 2])
        told = subprocess.run([ROOFLINE, "doctor"], env=environment, text=True, capture_output=True)
        self.check(told, 0)
        self.assertIn(kept.name, told.stdout)
        self.assertTrue(kept.exists())  # to be told is not to be changed
        shown = subprocess.run([ROOFLINE, "machine", "--device", "cpu"], env=environment, text=True, capture_output=True)
        self.check(shown, 2, kept.name, f"{kept}.broken", "roofline calibrate")
        self.assertFalse(kept.exists())
        kept.write_bytes(b'{"schema": "somebody.else/1"}')
        process = subprocess.Popen([ROOFLINE, "analyze", self.suite(), "--device", "cpu"], env=environment, text=True,
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = ""
        for line in process.stderr:
            said += line
            if "calibrating now" in line:
                process.send_signal(signal.SIGINT)  # that it begins is enough here
        self.assertEqual(process.wait(timeout=120), 130)
        self.assertIn(f"{kept}.broken", said)
        self.assertEqual(pathlib.Path(f"{kept}.broken").read_bytes(), b'{"schema": "somebody.else/1"}')

    def test_two_calibrations_at_once_leave_a_whole_one(self):
        environment, kept = self.other_cache("shared-cache")
        both = [subprocess.Popen([ROOFLINE, "calibrate", "--device", "cpu", "--quick", "--no-wait"],
                                 env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)]
        for process in both:
            self.assertEqual(process.wait(timeout=600), 0)
        self.assertEqual(json.loads(kept.read_text())["schema"], "roofline.machine/1")
        self.assertEqual([path for path in kept.parent.iterdir() if path.is_file()], [kept])

    def test_a_second_calibration_waits_and_an_analysis_says_what_ran_beside_it(self):
        environment, kept = self.other_cache("lock-cache")
        short = [ROOFLINE, "calibrate", "--device", "cpu", "--threads", "1", "--quick", "--only", "launch.*"]
        beside = "another process is calibrating cpu (pid 4711)"
        run = functools.partial(subprocess.run, env=environment, text=True, capture_output=True, cwd=self.folder)

        def until_it_waits():
            waiting = subprocess.Popen(short, env=environment, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            said = ""
            while beside not in said and waiting.poll() is None:
                said += waiting.stderr.readline()
            self.assertIn(f"{beside}: waiting", said)
            return waiting

        self.check(run(short), 0)
        with next((kept.parent / "measuring").iterdir()).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # as a calibration does
            lock.write("4711\n")
            lock.flush()
            self.check(run([*short, "--no-wait"]), 0, "note: ", beside)
            self.check(run([ROOFLINE, "analyze", self.suite(), "--device", "cpu", "-o", "beside"]), 0,
                       "(pid 4711)")
            with until_it_waits() as waiting:
                waiting.send_signal(signal.SIGINT)
                self.assertEqual(waiting.wait(timeout=60), 130)
            with until_it_waits() as waiting:
                fcntl.flock(lock, fcntl.LOCK_UN)
                self.assertEqual(waiting.wait(timeout=120), 0)
        notes = json.loads((self.folder / "beside/report.json").read_text())["notes"]
        self.assertTrue(any("(pid 4711)" in note for note in notes))

    def test_a_cache_that_can_not_be_written_costs_no_measurement(self):
        (self.folder / "no-cache").mkdir()
        (self.folder / "no-cache/roofline").write_text("a file where a folder has to be")
        done = subprocess.run([ROOFLINE, "calibrate", "--device", "cpu", "--threads", "1", "--quick",
                               "-o", self.folder / "kept-here.json"],
                              env=dict(self.environment, XDG_CACHE_HOME=str(self.folder / "no-cache")), text=True,
                              capture_output=True)
        self.check(done, 0, "not stored: ", "no-cache/roofline", "wrote ")
        self.assertTrue(json.loads((self.folder / "kept-here.json").read_text())["ceilings"])

    def test_first_set_of_cpu_ceilings(self):
        machine = json.loads(self.machine.read_text())
        ceilings = {ceiling["name"]: ceiling for ceiling in machine["ceilings"]}
        self.assertLessEqual({"fp32", "fp64", "launch.pool"}, set(ceilings))
        # A machine may tell nothing of its caches, or have too little memory to tell it from them.
        told = set(ceilings) | {missing["name"] for missing in machine["unmeasured"]}
        self.assertLessEqual({"dram.read", "dram.write", "dram.copy", "dram.triad", "l1.read", "l2.read"}, told)
        for ceiling in ceilings.values():
            self.assertGreater(ceiling["value"], 0)
            self.assertTrue(ceiling["audit"]["checks"], ceiling["name"])

    def test_the_time_of_a_calibration_is_kept(self):
        done = self.run_tool("calibrate", "--device", "cpu", "--time", "3", "--sustain", "0", "-o", "short.json")
        machine = json.loads((self.folder / "short.json").read_text())
        self.assertEqual(machine["time_s"], 3)
        self.assertTrue(any("--time" in missing["reason"] for missing in machine["unmeasured"]), done.stdout)
        for ceiling in machine["ceilings"]:
            self.assertGreater(ceiling["rounds"], 0)
            self.assertGreater(ceiling["typical"], 0)
            checks = {check["name"]: check["status"] for check in ceiling["audit"]["checks"]}
            self.assertIn("fast plateau reached", checks)
            if ceiling["rounds"] < 3:
                # At its limit a roof needs no more; beside other programs it is suspect.
                expected = ("provisional", "fail") + (("pass",) if "limit" in ceiling else ())
                self.assertIn(checks["fast plateau reached"], expected, ceiling["name"])
        self.check(self.run_tool("calibrate", "--time", "0"), 2, "--time")

    def test_a_short_calibration_keeps_what_it_has_no_time_for(self):
        environment, kept = self.other_cache("short-cache")
        full = json.loads(kept.read_text())
        full["quick"] = False
        full["measured_at"] = "2026-01-01T04:00:00Z"
        kept.write_text(json.dumps(full))
        done = subprocess.run([ROOFLINE, "calibrate", "--device", "cpu", "--time", "0.3", "--sustain", "0", "--json"],
                              env=environment, text=True, cwd=self.folder, capture_output=True)
        machine = self.data(done)
        self.assertEqual(machine, json.loads(kept.read_text()) | {"ceilings": machine["ceilings"]})
        before = {ceiling["name"]: ceiling["value"] for ceiling in full["ceilings"]}
        earlier = {ceiling["name"]: ceiling for ceiling in machine["ceilings"] if "measured_at" in ceiling}
        self.assertTrue(earlier, done.stderr)
        self.assertEqual({ceiling["measured_at"] for ceiling in earlier.values()}, {full["measured_at"]})
        self.assertEqual({name: ceiling["value"] for name, ceiling in earlier.items()}, {name: before[name] for name in earlier})
        self.assertLessEqual(set(before), {ceiling["name"] for ceiling in machine["ceilings"]}, "none is lost")
        shown = subprocess.run([ROOFLINE, "machine", "--device", "cpu"], env=environment, text=True, capture_output=True)
        self.check(shown, 0)
        self.assertIn(f"{len(earlier)} of {len(machine['ceilings'])} ", shown.stdout)
        self.assertIn(full["measured_at"], shown.stdout)

    def test_a_row_without_its_roof_says_which(self):
        """One roof alone does not say what limits a kernel, be it the memory's or that of launches."""
        machine = json.loads(self.machine.read_text())
        machine["ceilings"] = [ceiling for ceiling in machine["ceilings"] if ceiling["kind"] != "compute"]
        path = self.folder / "no-pipes.json"
        path.write_text(json.dumps(machine))
        done = self.run_tool("analyze", self.suite(), "--device", "cpu", "--machine", path, "--max-time", "0.1", "--json",
                             "--only", "gemm*")
        self.check(done, 0)
        row, = self.data(done)["results"]
        self.assertNotIn("bound", row)
        self.assertIn("fp32", row["absent"]["bound"])
        self.assertNotIn("fraction_of_roof", row)

    def test_a_part_is_not_kept(self):
        done = self.run_tool("calibrate", "--device", "cpu", "--quick", "--only", "launch.*", "-o", "part.json")
        self.check(done, 0, "not stored")
        names = [ceiling["name"] for ceiling in json.loads((self.folder / "part.json").read_text())["ceilings"]]
        self.assertEqual(names, ["launch.pool"])

    def test_a_machine_that_was_faster_before_says_so(self):
        machine = json.loads(self.machine.read_text())
        if not any(ceiling["name"] == "dram.read" for ceiling in machine["ceilings"]):
            self.skipTest("this machine's memory can't be told from its caches")
        machine.update(quick=False, measured_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        for ceiling in machine["ceilings"]:
            if ceiling["name"].startswith("dram."):
                ceiling["value"] *= 100 if ceiling["name"] == "dram.read" else 0.01
                ceiling.pop("ci95", None)
                ceiling["audit"] = {"status": "pass", "checks": [{"name": "result verified", "status": "pass"}]}
        cache = self.folder / "faster-before"
        (cache / "roofline").mkdir(parents=True)
        (cache / "roofline" / (machine["device"]["identity"] + ".json")).write_text(json.dumps(machine))
        done = subprocess.run([ROOFLINE, "calibrate", "--device", "cpu", "--quick", "--only", "dram.*", "-o", "now.json"],
                              env=dict(self.environment, XDG_CACHE_HOME=str(cache)), text=True, cwd=self.folder,
                              capture_output=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        now = {ceiling["name"]: ceiling for ceiling in json.loads((self.folder / "now.json").read_text())["ceilings"]}
        self.assertEqual(now["dram.read"]["earlier"]["measured_at"], machine["measured_at"])
        checks = {name: {check["name"]: check["status"] for check in ceiling["audit"]["checks"]}
                  for name, ceiling in now.items()}
        self.assertIn(checks["dram.read"]["as fast as before"], ("provisional", "fail"))
        self.assertNotIn("as fast as before", checks["dram.write"])
        self.assertIn(machine["measured_at"], done.stderr)
        self.assertRegex(done.stderr, "dram[.](write|copy|triad|update|accumulate) is now [0-9.]+ times")

    def changed_copy(self, name, factor, role="roof"):
        """The calibration with one ceiling scaled, as if from another machine of the same kind."""
        machine = json.loads(self.machine.read_text())
        for ceiling in machine["ceilings"]:
            if ceiling["name"] == name:
                ceiling["value"] *= factor
                ceiling["role"] = role
                ceiling["ci95"] = [ceiling["value"] * 0.9995, ceiling["value"] * 1.0005]
                ceiling.pop("absent", None)
        path = self.folder / f"{name}-{factor}-{role}.json"
        path.write_text(json.dumps(machine))
        return path

    def fleet_folder(self, name, slow=None):
        """Eight machines of the reference's H200, one of them 10 % slower in one roof."""
        folder = self.folder / name
        folder.mkdir()
        machine = json.loads((ROOT / "reports/reference/h200-ops/report.json").read_text())["machine"]
        machine["device"]["attributes"] = [a for a in machine["device"]["attributes"] if a["name"] != "UUID"]
        attributes = machine["device"]["attributes"]
        for number in range(8):
            copy = json.loads(json.dumps(machine))
            copy["device"]["attributes"] = attributes + [{"name": "UUID", "value": f"GPU-{number:08x}"},
                                                         {"name": "host name", "value": f"node{number}"}]
            if number == slow:
                copy["ceilings"][0]["value"] *= 0.9
            (folder / f"{number}.json").write_text(json.dumps(copy))
        return folder

    LLAMA = {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
             "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "torch_dtype": "bfloat16"}

    def test_a_model_is_bounded_before_it_runs(self):
        config = self.folder / "config.json"
        config.write_text(json.dumps(self.LLAMA))
        data = self.data(self.run_tool("bound", config, "--machine", "H100", "--json"), "roofline.bound/1")
        prefill, decode = data["phases"]
        self.assertEqual((prefill["bound"], decode["bound"]), ("compute", "memory"))
        # Weights once, and the keys and values of 2048 tokens; a data sheet's 3.35 TB/s.
        read = 2 * (8030261248 - 128256 * 4096 - 65 * 4096) + 4096 * 2 + 2048 * 131072
        self.assertAlmostEqual(decode["least_s"], (read + 131072) / 3.35e12, delta=1e-6)
        for phase in data["phases"]:
            self.assertGreater(phase["by_op_s"], phase["least_s"])
            self.assertAlmostEqual(phase["by_op_s"], sum(part["time_s"] for part in phase["parts"]), delta=1e-9)
        self.check(self.run_tool("bound", config, "--machine", "H100", "-o", "bounds"), 0)
        names = {path.name: path.stat().st_size for path in (self.folder / "bounds").iterdir()}
        self.assertEqual(set(names), {"bound.json", "bound.md", "bound.html", "roofline.svg", "roofline.png"})
        self.assertTrue(all(names.values()))
        self.check(self.run_tool("bound", config, "--machine", "H100", "-o", "model.html"), 0)
        self.assertIn("tokens/s", (self.folder / "model.html").read_text())
        fast = ("bound", config, "--machine", "H100", "--phase", "decode", "--against")
        self.check(self.run_tool(*fast, "10ms"), 0)
        self.check(self.run_tool(*fast, "1ms"), 3, "1 ms")
        training = ROOT / "reports/reference/h200-train/report.json"
        for machine, noted in (("H100", True), ("H200", False)):
            done = self.run_tool("bound", config, "--machine", machine, "--phase", "decode", "--against", training)
            self.assertEqual("measured on NVIDIA H200" in " ".join(done.stdout.split()), noted, done.stdout)
        self.check(self.run_tool("bound", config, "--machine", "H100", "--against", "10ms"), 2, "--phase")
        self.check(self.run_tool("bound", config, "--machine", "Voodoo 2"), 2, "--machine")
        self.assertIn("Memory of a GPU", self.run_tool("bound", config, "--machine", "H100").stdout)
        self.assertNotIn("Memory of a GPU", self.run_tool("bound", config, "--machine", self.machine).stdout)
        self.check(self.run_tool("bound", config, "--machine", "H100", "--tensor-parallel", 3), 2, "--tensor-parallel")
        broken = self.folder / "broken.json"
        broken.write_text(json.dumps({**self.LLAMA, "hidden_size": "many"}))
        self.check(self.run_tool("bound", broken, "--machine", "H100"), 2, "broken.json", "hidden_size")

    PROBLEM = """
import torch

class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.product = torch.nn.Linear(width, 2 * width, bias=False)
        self.steps = torch.nn.LSTM(2 * width, 16, batch_first=True)
        self.rates = [rate.item() for rate in torch.linspace(0, 1, 3)]

    def forward(self, x):
        print("forward")
        return self.steps(torch.relu(self.product(x)))[0]

def get_inputs():
    return [torch.rand(4, 32, 64)]

def get_init_inputs():
    return [64]
"""

    @staticmethod
    def python_with_torch():
        for python in ("/usr/bin/python3", sys.executable):
            if subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode == 0:
                return python
        return None

    def test_a_problem_in_python_is_bounded_by_its_operators(self):
        python = self.python_with_torch()
        if python is None:
            self.skipTest("no Python with PyTorch")
        problem = self.folder / "problem.py"
        problem.write_text(self.PROBLEM)
        data = self.data(self.run_tool("bound", problem, "--python", python, "--machine", "H100", "--json"), "roofline.bound/1")
        phase = data["phases"][0]
        products = sum(part["launches"] * sum(part["flops"].values()) for part in phase["parts"]
                       if part["name"].startswith(("mm(", "addmm(", "bmm(")))
        # Of 128 rows: 64 to 128, the inputs of four gates from 128, and of each step their state of 16.
        self.assertEqual(products, 2 * 128 * (64 * 128 + 128 * 64 + 16 * 64))
        self.assertLess(phase["least_s"], phase["by_op_s"])
        # On the FP32 pipe, longer than its 111 kB take from memory; the gates are a few operations more.
        rate = products / phase["least_s"]
        self.assertLess(rate, 67e12)
        self.assertGreater(rate, 0.9 * 66e12)
        (self.folder / "none.py").write_text("x = 1\n")
        self.check(self.run_tool("bound", "none.py", "--python", python, "--machine", "H100"), 2, "none.py", "Model")

    def fake_python(self, lines):
        """A Python that prints a line for each file, by its name, and then ends."""
        program = self.folder / "fake-python"
        program.write_text(f"#!{sys.executable}\nimport sys, json, pathlib\nlines = json.loads({json.dumps(json.dumps(lines))})\n"
                           "for path in sys.argv[3:]:\n    name = pathlib.Path(path).name\n"
                           "    if name not in lines: sys.exit(7)\n    print(json.dumps({'file': path, **lines[name]}))\n")
        program.chmod(0o755)
        return program

    def test_a_folder_of_problems_is_scored_against_timings(self):
        def copy_of(size):
            return {"storages": [["input", size], ["intermediate", size]], "outputs": [[1, size]],
                    "calls": [{"name": "aten::relu", "dims": [[size // 4]], "types": ["float"], "concrete": [""],
                               "reads": [[0, size]], "writes": [[1, size]], "tf32": False, "times": 1}]}
        lines = {"10_b.py": copy_of(2 << 30), "2_a.py": copy_of(1 << 30), "3_bad.py": {"error": "ValueError: no"}}
        python = self.fake_python(lines)
        for level in ("level1", "level2"):
            (self.folder / "problems" / level).mkdir(parents=True)
            for name in lines:
                (self.folder / "problems" / level / name).write_text("")
        data = self.data(self.run_tool("bound", "problems", "--python", python, "--machine", "H100", "--json"), "roofline.bound/1")
        times = {part["name"]: part["time_s"] for part in data["phases"][0]["parts"]}
        self.assertEqual(list(times), [f"{level}/{name}" for level in ("level1", "level2") for name in ("2_a.py", "10_b.py")])
        self.assertAlmostEqual(times["level1/2_a.py"], 2 * (1 << 30) / 3.35e12, delta=1e-6)
        self.assertTrue(any("3_bad.py" in note for note in data["notes"]))
        timings = {"level1": {"2_a.py": {"mean": 1.0, "std": 0.1}}, "level2": {"2_a.py": {"mean": 0.8}, "none.py": {"mean": 1}}}
        against = self.folder / "timings.json"
        against.write_text(json.dumps(timings))
        command = ("bound", "problems", "--python", python, "--machine", "H100", "--against", against)
        data = self.data(self.run_tool(*command, "--json"), "roofline.bound/1")
        shares = {part["name"]: part["share"] for part in data["phases"][0]["parts"] if "share" in part}
        self.assertEqual(set(shares), {"level1/2_a.py", "level2/2_a.py"})
        self.assertAlmostEqual(shares["level2/2_a.py"], times["level2/2_a.py"] / 0.8e-3, delta=1e-3)
        timings["level1"]["2_a.py"]["mean"] = 0.3  # less than memory allows
        against.write_text(json.dumps(timings))
        self.check(self.run_tool(*command), 3, "level1/2_a.py")
        against.write_text("{}")
        self.check(self.run_tool(*command), 2, "timings.json")

    def test_a_python_that_fails_is_named(self):
        (self.folder / "problem.py").write_text("")
        bound = ("bound", "problem.py", "--machine", "H100", "--python")
        self.check(self.run_tool(*bound, self.fake_python({})), 1, "--python", "7")
        self.check(self.run_tool(*bound, "no-such-python"), 1, "no-such-python")
        self.check(self.run_tool("bound", self.folder / "absent.py", "--machine", "H100"), 2, "absent.py")
        self.check(self.run_tool(*bound, self.fake_python({"problem.py": {"error": "ValueError: \x1b[31mred"}})), 2, "red")

    def test_a_suite_is_bounded_without_running(self):
        data = self.data(self.run_tool("bound", "ops", "--machine", "H200", "--json"), "roofline.bound/1")
        parts = data["phases"][0]["parts"]
        self.assertGreater(len(parts), 5)
        self.assertTrue(all(part["time_s"] > 0 for part in parts))
        report = ROOT / "reports/reference/h200-ops/report.json"
        data = self.data(self.run_tool("bound", "ops", "--machine", report, "--against", report, "--json"), "roofline.bound/1")
        shares = {part["name"]: part["share"] for part in data["phases"][0]["parts"] if "share" in part}
        self.assertGreater(len(shares), 5)
        self.assertTrue(all(0 < share <= 1.02 for share in shares.values()), shares)
        faster = json.loads(report.read_text())
        row = faster["results"][0]
        row["time_s"]["median"] /= 3
        (self.folder / "faster.json").write_text(json.dumps(faster))
        self.check(self.run_tool("bound", "ops", "--machine", report, "--against", "faster.json"), 3, row["label"])
        self.check(self.run_tool("bound", "ops", "--machine", report, "--against", "3ms"), 2, "--against")

    def test_a_report_is_projected_onto_other_machines(self):
        report = ROOT / "reports/reference/h200-ops/report.json"
        data = self.data(self.run_tool("project", report, "--onto", f"{report},h100,B200", "--json"), "roofline.project/1")
        same, h100, b200 = data["onto"]
        self.assertEqual([of["measured_roofs"] for of in data["onto"]], [True, False, False])
        for row in same["rows"]:
            if "why_range" not in row:
                self.assertAlmostEqual(row["there"]["seconds"] / row["here_s"], 1, delta=1e-6)
        rows = {row["label"]: row for row in h100["rows"]}
        relu = rows["relu fp32 2^28"]
        self.assertAlmostEqual(relu["there"]["seconds"] / relu["here_s"], 4.8 / 3.35, delta=0.05)
        for of in data["onto"]:
            for row in of["rows"]:
                low, high = row["there"]["range"]
                self.assertLessEqual(low, row["there"]["seconds"])
                self.assertLessEqual(row["there"]["seconds"], high)
        self.assertLess(b200["there"]["seconds"], h100["there"]["seconds"])
        wide = self.data(self.run_tool("project", report, "--scale", "hbm.*=2", "--json"), "roofline.project/1")
        for before, after in zip(same["rows"], wide["onto"][0]["rows"]):
            self.assertLessEqual(after["there"]["seconds"], before["there"]["seconds"] * 1.0001, after["label"])
        priced = self.run_tool("project", report, "--onto", "H100,B200", "--price", "H100=2,B200=6")
        self.check(priced, 0)
        self.assertLess(priced.stdout.index("\nH100"), priced.stdout.index("\nB200"), "the cheapest first")
        by_time = self.run_tool("project", report, "--onto", "H100,B200", "--price", "H100=2,B200=6", "--rank", "time").stdout
        self.assertLess(by_time.index("\nB200"), by_time.index("\nH100"))
        self.check(self.run_tool("project", report, "--onto", "H100", "--rank", "price"), 2, "--price")
        self.check(self.run_tool("project", report, "--onto", "H100", "--format", "md"), 0)
        for name, start in (("x.html", b"<!DOCTYPE html>"), ("x.svg", b"<svg"), ("x.png", b"\x89PNG"), ("x.pdf", b"%PDF")):
            self.check(self.run_tool("project", report, "--onto", "H100", "-o", name), 0, name)
            self.assertTrue((self.folder / name).read_bytes().startswith(start), name)
        self.assertIn("H100, projected", (self.folder / "x.svg").read_text())
        self.check(self.run_tool("project", report, "--onto", "H100", "-o", "projected"), 0)
        self.assertEqual({path.name for path in (self.folder / "projected").iterdir()},
                         {"projection.html", "projection.json", "projection.md", "roofline.svg", "roofline.png"})
        self.assertIn("With these changes", self.run_tool("project", report, "--scale", "hbm.*=2").stdout)
        self.check(self.run_tool("project", report, "--onto", "H100", "-o", "x.pptx"), 2, "pptx")
        self.check(self.run_tool("project", report), 2, "--onto")
        self.check(self.run_tool("project", report, "--onto", "Voodoo 2"), 2, "Voodoo 2")
        self.check(self.run_tool("project", report, "--scale", "warp.*=2"), 2, "warp.*")
        self.check(self.run_tool("project", report, "--scale", "hbm.*=fast"), 2, "--scale")
        self.check(self.run_tool("project", report, "--onto", self.machine), 2, "--onto")
        self.check(self.run_tool("project", self.machine, "--onto", "H100"), 2)

    def test_what_a_chip_lacks_is_refused_in_projections(self):
        report = ROOT / "reports/reference/h200-ops/report.json"
        data = self.data(self.run_tool("project", report, "--onto", "A100,H100", "--json"), "roofline.project/1")
        a100, h100 = data["onto"]
        refused = [row["label"] for row in a100["rows"] if "why_not" in row]
        self.assertEqual(refused, [row["label"] for row in a100["rows"] if "fp8" in row["label"]])
        self.assertTrue(refused)
        self.assertTrue(all(row["there"] is None and "tensor.fp8" in row["why_not"]
                            for row in a100["rows"] if row["label"] in refused))
        self.assertGreater(a100["refused_s"], 0)
        self.assertEqual(h100["refused_s"], 0)
        self.assertIn("A100 has no tensor.fp8 pipe", self.run_tool("project", report, "--onto", "A100", "--format", "md").stdout)

    def test_what_ifs_of_projections(self):
        report, suite = (ROOT / f"reports/reference/{name}/report.json" for name in ("h200-train", "h200-ops"))

        def step(*options, of=report):
            data = self.data(self.run_tool("project", of, *options, "--json"), "roofline.project/1")
            return data["onto"][0]

        here = step("--clock", 1980)["here_s"]
        self.assertAlmostEqual(step("--clock", 1980)["there"]["seconds"], here, delta=0.01 * here)
        for options in (("--clock", 1000), ("--power-limit", 200), ("--sms", 40), ("--host", 0.5), ("--batch", 2)):
            self.assertGreater(step(*options)["there"]["seconds"], 1.001 * here, options)
        for options in (("--host", 2), ("--no-gaps",), ("--at-roofs",), ("--perfect", "*")):
            self.assertLess(step(*options)["there"]["seconds"], 0.999 * here, options)
        fp8 = step("--type", "bf16=fp8", of=suite)
        self.assertLess(fp8["there"]["seconds"], fp8["here_s"])
        for options, names in ((("--type", "bf16"), "FROM=TO"), (("--type", "fp32=fp8"), "FROM=TO"),
                               (("--perfect", "nothing"), "nothing"), (("--clock", "fast"), "--clock")):
            self.check(self.run_tool("project", report, *options), 2, names)
        for options in (("--batch", 2), ("--host", 2), ("--no-gaps",)):
            self.check(self.run_tool("project", suite, *options), 2, "--batch")
        self.check(self.run_tool("project", report, "--onto", "H100", "--power-limit", 300), 2, "--power-limit")

    def test_a_fleet_names_who_falls_behind(self):
        good = self.fleet_folder("good-fleet")
        done = self.run_tool("fleet", good, "-o", "fleet-out")
        self.check(done, 0, "fleet.html", "fleet.json")
        self.assertIn("8 machines in 1 group", done.stdout)
        bad = self.fleet_folder("bad-fleet", slow=3)
        (bad / "half.json").write_text((bad / "1.json").read_text()[:5000])
        done = self.run_tool("fleet", bad, "-o", "fleet-out")
        self.check(done, 3)
        for text in ("1 outlier", "node3 GPU 0 (00000003)", "hbm.read", "10.0 % below", "half.json"):
            self.assertIn(text, done.stdout)
        fleet = json.loads((self.folder / "fleet-out/fleet.json").read_text())
        self.assertEqual(fleet["schema"], "roofline.fleet/1")
        self.assertEqual([o["host"] for g in fleet["groups"] for o in g["outliers"]], ["node3"])
        self.assertIn("node3", (self.folder / "fleet-out/fleet.html").read_text())
        data = self.data(self.run_tool("fleet", bad, "--json", "--top", 1), "roofline.fleet/1")
        self.assertRegex(data["groups"][0]["outliers"][0]["id"], "^node3/GPU 0")
        rows = self.run_tool("fleet", bad, "--format", "csv", "-o", "-").stdout.splitlines()
        self.assertEqual([row.split(",")[0] for row in rows if ",true," in row], ["node3"])

    def node_file(self, name, devices=4, slow=None):
        """The reference's H200 several times over, linked by NVLink; one pair is slow where `slow` says so."""
        machine = json.loads((ROOT / "reports/reference/h200-ops/report.json").read_text())["machine"]
        attributes = [a for a in machine["device"]["attributes"] if a["name"] != "UUID"]
        read = next(c for c in machine["ceilings"] if c["name"] == "hbm.read")

        def copy(index):
            own = json.loads(json.dumps(machine))
            own["device"] |= {"index": index, "identity": f"cuda-nvidia-h200-{index:08x}"}
            own["device"]["attributes"] = attributes + [{"name": "UUID", "value": f"GPU-{index:08x}"},
                                                        {"name": "host name", "value": "node0"}]
            return own

        def link(a, b):
            value = 200e9 if {a, b} == slow else 390e9
            ceiling = read | {"name": "link.read", "level": "nvlink", "value": value, "ci95": [value, value]}
            return {"from": a, "to": b, "kind": "nvlink", "nvlinks": 18, "ceilings": [ceiling], "unmeasured": []}

        rate = {"value": 4.7e12, "ci95": [4.69e12, 4.71e12]}
        node = {"schema": "roofline.node/1", "tool_version": "0.2.0", "measured_at": "2026-01-15T09:32:10Z",
                "host_name": "node0", "host": "Linux", "quick": False, "cancelled": False,
                "machines": [copy(i) for i in range(devices)],
                "topology": {"places": [{"device": i} for i in range(devices)], "numa_nodes": [], "numa_distances": []},
                "together": [{"device": i, "name": "hbm.read", "kind": "bandwidth", "regime": "burst", "unit": "byte/s",
                              "alone": rate, "together": rate, "ratio": 1.0} for i in range(devices)],
                "links": [link(a, b) for a in range(devices) for b in range(devices) if a != b], "unmeasured": []}
        path = self.folder / name
        path.write_text(json.dumps(node))
        return path

    def test_a_node_is_shown_drawn_and_read_by_a_fleet(self):
        node = self.node_file("node.json", slow={1, 2})
        shown = self.run_tool("machine", node)
        self.check(shown, 0)
        for text in ("4 × NVIDIA H200", "Link 1–2 is slow", "hbm.read", "GPU 3", "NV18"):
            self.assertIn(text, shown.stdout)
        data = self.data(self.run_tool("machine", node, "--json"), "roofline.node/1")
        self.assertEqual([row["id"] for row in data["together"][:2]], ["cuda:0/hbm.read@burst", "cuda:1/hbm.read@burst"])
        self.assertEqual(data["links"][0]["id"], "cuda:0>cuda:1")
        self.check(self.run_tool("report", node, "-o", "drawn"), 0, "node.html", "node.csv", "node.md", "node.svg",
                   "node.png")
        self.assertIn("Link 1–2", (self.folder / "drawn/node.html").read_text())
        again = json.loads(self.run_tool("report", node, "--format", "json", "-o", "-").stdout)
        check_by("node", again)
        self.check(self.run_tool("report", node, "--format", "pdf", "-o", "drawn"), 2, "cannot be written as pdf")
        self.check(self.run_tool("machine", node, "--against", self.machine), 2, "is not a node")
        self.check(self.run_tool("machine", node, "--against", node), 0)
        healthy = self.node_file("healthy.json")
        slower = self.run_tool("machine", node, "--against", healthy)
        self.check(slower, 3, "slower")
        slow = [line.split()[0] for line in slower.stdout.splitlines() if line.endswith("slower")]
        self.assertTrue(slow)
        self.assertTrue(all(name.startswith(("cuda:1>2/", "cuda:2>1/")) for name in slow), slow)
        self.assertIn("faster", self.run_tool("machine", healthy, "--against", node).stdout)
        self.check(self.run_tool("machine", self.machine, "--against", node), 2, "cuda device")
        fleet = self.run_tool("fleet", node, "-o", "fleet-out")
        self.assertIn("4 machines in 1 group", fleet.stdout)
        names = {c["name"] for c in json.loads((self.folder / "fleet-out/fleet.json").read_text())["groups"][0]["ceilings"]}
        self.assertLess({"link.read", "link.read (slowest)", "hbm.read (together)"}, names)

    def test_a_node_needs_gpus(self):
        with mock.patch.dict(self.environment, {"CUDA_VISIBLE_DEVICES": ""}):
            self.check(self.run_tool("calibrate", "--device", "all"), 4, "no usable GPU")
            self.check(self.run_tool("calibrate", "--device", "cuda:0,1"), 4, "cuda:0 is not usable")
            self.check(self.run_tool("machine", "--device", "all"), 2, "roofline calibrate --device all")

    def test_a_fleet_says_what_is_wrong_with_the_command(self):
        self.check(self.run_tool("fleet"), 2, "PATH")
        self.check(self.run_tool("fleet", "nowhere"), 2, "nowhere")
        self.check(self.run_tool("fleet", self.folder, "--format", "pdf"), 2, "html", "json", "csv")
        (self.folder / "nothing").mkdir()
        self.check(self.run_tool("fleet", "nothing"), 2, "no calibration found")

    def test_calibrations_go_to_a_folder_by_host_and_device(self):
        done = self.run_tool("calibrate", "--device", "cpu", "--quick", "--only", "dram.read", "-o", "shared/fleet/")
        self.assertIn("wrote shared/fleet/", done.stderr)  # also where there was no time for the one roof
        names = [path.name for path in (self.folder / "shared/fleet").iterdir()]
        self.assertEqual(len(names), 1)
        self.assertRegex(names[0], r"^[A-Za-z0-9._-]+-cpu\.json$")
        again = self.run_tool("calibrate", "--device", "cpu", "--quick", "--only", "dram.read", "-o", "shared/fleet")
        self.assertIn("wrote shared/fleet/", again.stderr)
        self.assertEqual([path.name for path in (self.folder / "shared/fleet").iterdir()], names)
        machine = json.loads((self.folder / "shared/fleet" / names[0]).read_text())
        host = [a["value"] for a in machine["device"]["attributes"] if a["name"] == "host name"]
        self.assertEqual(host, [os.uname().nodename])

    def test_machines_are_compared(self):
        same = self.run_tool("machine", self.machine, "--against", self.machine)
        self.check(same, 0)
        self.assertNotIn("slower", same.stdout)
        fast = self.changed_copy("fp64", 1.0)
        slow = self.changed_copy("fp64", 0.97)
        found = self.run_tool("machine", slow, "--against", fast)
        self.check(found, 3, "1 of ")
        line = next(line for line in found.stdout.splitlines() if line.startswith("fp64 "))
        self.assertIn("0.970", line)
        self.assertIn("slower", line)
        self.check(self.run_tool("machine", slow, "--against", fast, "--threshold", "5"), 0)
        self.assertIn("faster", self.run_tool("machine", fast, "--against", slow).stdout)
        reference = self.run_tool("machine", self.changed_copy("fp64", 0.97, "reference"), "--against", fast)
        self.check(reference, 0)  # shown, but no roof got slower
        self.assertIn("slower", reference.stdout)
        markdown = self.run_tool("machine", slow, "--against", fast, "--format", "md")
        self.check(markdown, 3)
        self.assertIn("**slower**", markdown.stdout)
        self.check(self.run_tool("machine", slow, "--against", self.folder / "nowhere.json"), 2, "nowhere.json")
        changes = self.data(self.run_tool("machine", slow, "--against", fast, "--json"), "roofline.changes/1")["changes"]
        self.assertIn("slower", {change["change"] for change in changes})

    def test_the_roof_of_a_mix(self):
        report = ROOT / "reports/reference/h200-ops/report.json"
        machine = json.loads(report.read_text())["machine"]
        value = {c["name"]: c["value"] for c in machine["ceilings"] if c["regime"] == "burst"}
        shown = self.run_tool("machine", report, "--mix", "2:1,5:2,0:7,1:1:in-place", "--json")
        triad, between, write, in_place = self.data(shown, "roofline.mixes/1")["mixes"]
        self.assertEqual((triad["id"], triad["ceiling"], triad["value"]), ("2:1", "hbm.triad", value["hbm.triad"]))
        self.assertNotIn("mixed_with", triad)
        self.assertEqual((between["ceiling"], between["mixed_with"]), ("hbm.triad", "hbm.read"))
        self.assertAlmostEqual(between["value"] / (7 / (6 / value["hbm.triad"] + 1 / value["hbm.read"])), 1, 9)
        self.assertEqual(write["value"], value["hbm.write"])
        self.assertTrue(in_place["in_place"])  # without a roof in place, that of a copy
        self.assertEqual(in_place["value"], value["hbm.copy"])
        self.assertIn("hbm.read", self.run_tool("machine", report, "--mix", "5:2").stdout)
        for wrong in ("2", "0:0", "a:1", "1:1:inplace", "-1:2"):
            self.check(self.run_tool("machine", report, "--mix", wrong), 2, "--mix")
        self.check(self.run_tool("machine", report, "--mix", "1:1", "--against", report), 2, "--mix")

    def test_a_machine_as_markdown(self):
        shown = self.run_tool("machine", self.machine, "--format", "md")
        self.check(shown, 0)
        for ceiling in json.loads(self.machine.read_text())["ceilings"]:
            self.assertIn(f"| {ceiling['name'].replace('_', chr(92) + '_')} |", shown.stdout)

    def test_sustained_ceilings(self):
        done = self.run_tool("calibrate", "--device", "cpu", "--only", "fp64", "--sustain", "0.1", "-o", "both.json")
        self.check(done, 0)
        ceilings = json.loads((self.folder / "both.json").read_text())["ceilings"]
        self.assertEqual([(c["name"], c["regime"]) for c in ceilings], [("fp64", "burst"), ("fp64", "sustained")])
        checks = {check["name"]: check["status"] for check in ceilings[1]["audit"]["checks"]}
        self.assertEqual(checks["long enough to be sustained"], "pass")
        none = self.run_tool("calibrate", "--device", "cpu", "--only", "fp64", "--sustain", "0", "-o", "burst.json")
        self.check(none, 0)
        self.assertEqual(len(json.loads((self.folder / "burst.json").read_text())["ceilings"]), 1)
        self.check(self.run_tool("calibrate", "--sustain", "-1"), 2, "--sustain")


class Imports(Workspace):
    """The files of other tools are in the tree, and so are the roofs."""
    ROOFS = ROOT / "reports/reference/h200-ops/report.json"
    RECORDED = ROOT / "tests/import/recorded"

    def test_files_are_joined_and_drawn(self):
        done = self.run_tool("import", self.RECORDED / "trace.json.gz", self.RECORDED / "kernels.ncu-rep",
                             "--machine", self.ROOFS, "-o", "out")
        self.check(done, 0, "kernels.ncu-rep")
        report = json.loads((self.folder / "out/report.json").read_text())
        self.assertIn("ncu", report["results"][0]["impl_summary"])
        self.check(self.run_tool("report", "out/report.json", "--format", "trace,prometheus,jsonl"), 0, "wrote")
        events = json.loads((self.folder / "out/timeline.trace").read_text())["traceEvents"]
        self.assertTrue(any(event["ph"] == "X" for event in events))
        for line in (self.folder / "out/results.jsonl").read_text().splitlines():
            self.assertIn("workload", json.loads(line))

    def trace(self, name, slowdown=1.0):
        """A trace of two kernels on an H200; `slowdown` is of the second. Times differ by 0.2 % between launches."""
        events, now = [], 1000.0
        for i in range(80):
            kernel, factor = (("steady_kernel", 1.0), ("gelu_kernel", slowdown))[i % 2]
            length = 100 * factor * (1 + 0.002 * ((i * 7) % 5 - 2) / 2)
            events.append({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": now, "dur": length,
                           "args": {"device": 0, "stream": 7, "correlation": i + 1, "grid": [132, 1, 1],
                                    "block": [256, 1, 1]}})
            now += length + 1
        document = {"deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132, "computeMajor": 9,
                                          "computeMinor": 0}], "traceEvents": events}
        path = self.folder / name
        path.write_text(json.dumps(document))
        return path

    def test_profiles_are_compared_without_a_report(self):
        before, slow = self.trace("before.json"), self.trace("slow.json", 1.1)

        def changes(*files, code):
            done = self.run_tool("compare", "--format", "json", *files)
            self.check(done, code)
            check_by("comparison", json.loads(done.stdout))
            return json.loads(done.stdout), done

        same, done = changes(before, before, code=0)
        self.assertEqual([(row["change"], row["time_ratio"]) for row in same["rows"]], [("same", 1.0)] * 2)
        self.assertRegex(done.stderr, "before.json.*torch.profiler")
        slower = {row["label"]: row for row in changes(before, slow, code=3)[0]["rows"]}
        self.assertEqual(slower["steady_kernel"]["change"], "same")
        self.assertEqual(slower["gelu_kernel"]["change"], "slower")
        self.assertAlmostEqual(slower["gelu_kernel"]["time_ratio"], 1.1, 6)
        # A report of an import and the file itself are the same run; several runs per side, too.
        self.check(self.run_tool("import", before, "-o", "imported"), 0)
        mixed, _ = changes("imported/report.json", slow, code=3)
        self.assertEqual([row["change"] for row in mixed["rows"] if row["label"] == "gelu_kernel"], ["slower"])
        several, _ = changes(before, "imported", "--", slow, slow, code=3)
        self.assertEqual([row["change"] for row in several["rows"] if row["label"] == "gelu_kernel"], ["slower"])
        # What cannot be imported is refused as by import.
        (self.folder / "no-kernels.json").write_text('{"traceEvents": []}')
        self.check(self.run_tool("compare", before, "no-kernels.json"), 2, "no-kernels.json")
        (self.folder / "step.nsys-rep").write_text("binary")
        self.check(self.run_tool("compare", before, "step.nsys-rep"), 2, "nsys export --type sqlite")
        self.check(self.run_tool("compare", self.RECORDED / "kernels.ncu-rep", self.RECORDED / "wide.csv.gz"), 0)

    def test_files_of_the_other_command_name_it(self):
        """`report` of a profile, and `import` of a report: each answer is a command that works."""
        for profile, stem in (("kernels.ncu-rep", "kernels"), ("trace.json.gz", "trace"), ("step.sqlite", "step"),
                              ("wide.csv.gz", "wide"), ("proton.hatchet.gz", "proton")):
            file = self.RECORDED / profile
            for command in ("report", "show", "project"):
                options = ("--onto", "H100") if command == "project" else ()
                done = self.run_tool(command, file, *options)
                self.check(done, 2, f"roofline import {file} -o reports/{stem}")
                self.assertIn(f"reports/{stem}/report.json", done.stderr)
        self.check(self.run_tool("import", self.RECORDED / "kernels.ncu-rep", "-o", "reports/kernels"), 0)
        self.check(self.run_tool("report", "reports/kernels/report.json", "--format", "csv"), 0)
        done = self.run_tool("import", "reports/kernels/report.json")
        self.check(done, 2, "roofline report reports/kernels/report.json")
        machine = json.loads(self.ROOFS.read_text())["machine"]
        (self.folder / "machine.json").write_text(json.dumps({"schema": "roofline.machine/1", **machine}))
        self.check(self.run_tool("import", "machine.json"), 2, "roofline machine machine.json")
        self.check(self.run_tool("import", "machine.json"), 2, "--machine machine.json")
        (self.folder / "step.nsys-rep").write_text("binary")
        self.check(self.run_tool("report", "step.nsys-rep"), 2, "nsys export --type sqlite")

    def test_mistakes_of_the_command_line_have_a_next_step(self):
        """F24, F25 and F26: each refusal leads to a command that is accepted."""
        self.check(self.run_tool("profile", "python", "train.py"), 2, "roofline profile -- python train.py")
        self.check(self.run_tool("profile", "--", "no-such-program"), 2, "no-such-program")
        self.assertNotIn("--device", self.run_tool("profile", "--", "no-such-program").stderr.splitlines()[-1])
        self.check(self.run_tool("profile", "--device", "cpu", "--", "true"), 0)
        trace = self.trace("trace.json")
        for name in ("out.pptx", "out.jpg"):
            self.check(self.run_tool("import", trace, "-o", name), 2, f"'{name[3:]}'", "html")
            self.assertFalse((self.folder / name).exists())
        self.check(self.run_tool("import", trace, "-o", "out.pptx/"), 0)
        (self.folder / "tab.yaml").write_text("name: own\nworkloads:\n  - op: relu\n\tshape: { n: 64 }\n")
        self.check(self.run_tool("analyze", "tab.yaml", "--device", "cpu"), 2, "tab.yaml:4:1")

    def test_what_is_no_profile_is_refused(self):
        (self.folder / "text").write_text("hello")
        self.check(self.run_tool("import", "text"), 2, "text")
        self.check(self.run_tool("import", "missing"), 2, "missing")
        self.check(self.run_tool("import", "step.nsys-rep"), 2, "nsys export --type sqlite")


if __name__ == "__main__":
    unittest.main()
