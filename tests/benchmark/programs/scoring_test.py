#!/usr/bin/env python3
"""The scores of example reports, and the consistency of expectations and programs. Needs no GPU and no roofline."""
import ast
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import run_programs
import scoring
import tables

HERE = scoring.HERE
PROFILE = json.loads((HERE.parents[2] / "docs/schema/report.schema.json").read_text())["$defs"]["profile"]
CAUSES = frozenset(PROFILE["properties"]["wins"]["items"]["properties"]["cause"]["enum"])
EXAMPLE = scoring.Program(HERE / "examples" / "slow_loader.py", "faults", ("data_loading", "host_python"),
                          ("num_workers",))
HEALTHY = scoring.Program(EXAMPLE.path, "healthy")


def example(name):
    return json.loads((HERE / "examples" / f"{name}.json").read_text())["profile"]


def changed_first(**members):
    profile = copy.deepcopy(example("right"))
    profile["wins"][0].update(members)
    return scoring.score(EXAMPLE, profile)


class Faults(unittest.TestCase):
    def test_the_first_finding_with_cause_line_and_action_is_right(self):
        self.assertEqual(scoring.score(EXAMPLE, example("right")), scoring.Score(scoring.RIGHT))

    def test_another_accepted_cause_is_right(self):
        self.assertEqual(changed_first(cause="host_python").verdict, scoring.RIGHT)

    def test_a_cause_that_is_not_first_is_in_part(self):
        score = scoring.score(EXAMPLE, example("in_part"))
        self.assertEqual(score, scoring.Score(scoring.IN_PART, ("cause", "line", "action")))

    def test_other_findings_miss_the_fault(self):
        self.assertEqual(scoring.score(EXAMPLE, example("missed")).verdict, scoring.MISSED)
        self.assertEqual(scoring.score(EXAMPLE, {"wall_s": 1, "wins": []}).verdict, scoring.MISSED)

    def test_the_line_of_another_cause_is_in_part(self):
        self.assertEqual(changed_first(cause="unknown_idle"), scoring.Score(scoring.IN_PART, ("cause",)))

    def test_lines(self):
        for line, accepted in (("slow_loader.py:4 load", True), ("/a/b/slow_loader.py:8", True),
                               ("slow_loader.py:16 main", True), ("slow_loader.py:17 main", False),
                               ("slow_loader.py:12 train", False), ("other.py:7 load", False), ("", False),
                               ("slow_loader.py", False)):
            self.assertEqual(changed_first(line=line).verdict, scoring.RIGHT if accepted else scoring.IN_PART, line)

    def test_the_action_has_one_of_the_words_in_any_case(self):
        self.assertEqual(changed_first(action="Set NUM_WORKERS.").verdict, scoring.RIGHT)
        self.assertEqual(changed_first(action="Prepare data earlier.").reasons, ("action",))

    def test_a_saving_is_at_most_the_part_of_the_bar_that_it_is_taken_from(self):
        self.assertEqual(changed_first(seconds=3.5).verdict, scoring.RIGHT)  # 0.3 + 0.2 + 3.0 idle
        self.assertEqual(changed_first(seconds=3.6).verdict, scoring.IN_PART)
        self.assertEqual(changed_first(kind="copies", seconds=0.1).verdict, scoring.RIGHT)
        self.assertEqual(changed_first(kind="copies", seconds=0.2).verdict, scoring.IN_PART)
        self.assertEqual(changed_first(kind="fusion", seconds=1.4).verdict, scoring.RIGHT)
        self.assertEqual(changed_first(kind="fusion", seconds=1.5).verdict, scoring.IN_PART)
        self.assertEqual(changed_first(one_off=True, seconds=9).verdict, scoring.RIGHT)


class Healthy(unittest.TestCase):
    def test_start_up_headroom_of_kernels_and_small_findings_are_no_invention(self):
        self.assertEqual(scoring.score(HEALTHY, example("clean")), scoring.Score(scoring.CLEAN))

    def test_a_cause_above_five_percent_of_the_steps_is_invented(self):
        score = scoring.score(HEALTHY, example("invented"))
        self.assertEqual(score, scoring.Score(scoring.INVENTED, ("data_loading",)))

    def test_without_steps_the_recording_counts(self):
        profile = example("invented")
        del profile["steps"]
        self.assertEqual(scoring.score(HEALTHY, profile).verdict, scoring.CLEAN)  # 0.26 of 9 s

    def test_an_accepted_cause_with_an_accepted_action_is_no_invention(self):
        profile = example("invented")
        for saving in profile["wins"]:
            saving["action"] = "No action: the load decides."
        for causes, actions, verdict in ((("data_loading",), ("no action",), scoring.CLEAN),
                                         (("data_loading",), ("num_workers",), scoring.INVENTED),
                                         (("wait_queue",), ("no action",), scoring.INVENTED)):
            program = scoring.Program(EXAMPLE.path, "healthy", causes, actions)
            self.assertEqual(scoring.score(program, profile).verdict, verdict, (causes, actions))


    def test_any_finding_about_memory_is_invented(self):
        profile = example("clean")
        profile["wins"].append({"kind": "memory", "cause": "memory_growth", "seconds": 0, "action": "Free it."})
        self.assertEqual(scoring.score(HEALTHY, profile), scoring.Score(scoring.INVENTED, ("memory_growth",)))


class Passing(unittest.TestCase):
    def passed(self, faults, healthy=(scoring.CLEAN,)):
        return scoring.passed([(EXAMPLE, scoring.Score(verdict)) for verdict in faults] +
                              [(HEALTHY, scoring.Score(verdict)) for verdict in healthy])

    def test_two_faults_may_be_wrong_and_no_healthy_program(self):
        self.assertTrue(self.passed([scoring.RIGHT] * 28 + [scoring.MISSED, scoring.IN_PART]))
        self.assertFalse(self.passed([scoring.RIGHT] * 27 + [scoring.DID_NOT_RUN] * 3))
        self.assertFalse(self.passed([scoring.RIGHT] * 30, [scoring.CLEAN] * 9 + [scoring.INVENTED]))
        self.assertFalse(self.passed([scoring.RIGHT] * 30, [scoring.DID_NOT_RUN]))


class Programs(unittest.TestCase):
    def test_every_program_has_one_entry(self):
        programs = scoring.read_programs()
        groups = [program.group for program in programs]
        self.assertEqual((groups.count("faults"), groups.count("more"), groups.count("healthy")), (30, 49, 17))
        files = [path for folder in ("faults", "healthy", "foreign", "ranks") for path in (HERE / folder).iterdir()
                 if path.suffix in (".py", ".cu")]
        self.assertEqual(sorted(program.path for program in programs), sorted(files))
        self.assertEqual(len({program.path.stem for program in programs}), len(programs))

    def test_python_programs_have_no_syntax_error(self):
        for program in scoring.read_programs():
            if program.path.suffix == ".py":
                ast.parse(program.path.read_text(), str(program.path))

    def test_faults_are_marked_and_expected(self):
        for program in scoring.read_programs():
            with self.subTest(program.name):
                self.assertEqual(bool(scoring.fault_lines(program.path)), program.faulty)
                self.assertEqual(bool(program.causes), bool(program.actions))
                if not program.healthy:
                    self.assertEqual(bool(program.causes), program.faulty)
                # A kernel below its roof is no fault in itself; its action says what is.
                self.assertLessEqual(set(program.causes), CAUSES - (scoring.NO_FAULT - {"kernel"}))

    def test_every_faulty_program_runs_without_its_fault_on_request(self):
        for program in scoring.read_programs():
            with self.subTest(program.name):
                uses = re.findall(r"\b(?:kFixed|FIXED)\b", program.path.read_text())
                if program.path.suffix == ".py" and uses:
                    uses.pop()  # the import
                self.assertEqual(bool(uses), program.faulty)

    def test_functions_of_cuda_programs(self):
        path = HERE / "faults" / "malloc_in_loop.cu"
        lines = path.read_text().splitlines()
        found = {name: (first, last) for name, first, last in scoring.functions(path)}
        self.assertEqual(set(found), {"blur_rows", "blur_columns", "blur", "main"})
        first, last = found["blur"]
        self.assertEqual((lines[first - 1][:9], lines[last - 1]), ("void blur", "}"))
        self.assertTrue(all(first < line < last for line in scoring.fault_lines(path)))


class Fixes(unittest.TestCase):
    def row(self, plain, fixed, seconds=None, cause="data_loading"):
        """Cells of one program whose steps take 10 s, and whose first finding claims `seconds`."""
        profile = {"wins": [] if seconds is None else [{"cause": cause, "seconds": seconds}], "wall_s": 10}
        result = tables.Result(EXAMPLE, profile, plain=plain, fixed=fixed)
        return [cell.strip() for cell in list(tables.table_of_fixes([result]))[-1].strip("|").split(" | ")][1:]

    def test_the_claimed_saving_agrees_within_a_range(self):
        for seconds, ratio, verdict in ((7.5, "1.00", "as measured"), (9.5, "1.27", "differs"),
                                        (3.7, "0.49", "differs"), (3.8, "0.51", "as measured")):
            self.assertEqual(self.row([9, 10, 30], [40, 39, 41], seconds)[2:],
                             ["75%", f"{seconds / 10:.0%}", ratio, verdict])

    def test_without_a_claim_or_a_measured_saving_there_is_no_ratio(self):
        self.assertEqual(self.row([10], [40])[2:], ["75%", "none", "", ""])
        self.assertEqual(self.row([10], [40], 5, "gil")[3:], ["none", "", ""])
        self.assertEqual(self.row([10], [10.1], 5)[2:], ["1%", "50%", "", ""])

    def test_a_program_that_did_not_run_has_no_row(self):
        self.assertEqual(len(list(tables.table_of_fixes([tables.Result(EXAMPLE, message="no device")]))), 2)


# Stands for roofline: writes the report that REPORT names, or ends with an error.
FAKE = """#!{python}
import os, pathlib, shutil, sys
folder = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
if "REPORT" not in os.environ:
    sys.exit("no device")
folder.mkdir()
shutil.copy(os.environ["REPORT"], folder / "report.json")
print("steps 120 in 3.000 s")
"""


class Running(unittest.TestCase):
    def run_programs(self, *arguments, report=None):
        """Exit status and rows of all tables, without their heads."""
        environment = {name: value for name, value in os.environ.items() if name != "REPORT"}
        if report:
            environment["REPORT"] = str(HERE / "examples" / f"{report}.json")
        with tempfile.TemporaryDirectory() as folder:
            fake = pathlib.Path(folder) / "roofline"
            fake.write_text(FAKE.format(python=sys.executable))
            fake.chmod(0o755)
            kept = pathlib.Path(folder) / "kept"
            run = subprocess.run([sys.executable, str(HERE / "run_programs.py"), str(fake), "--output", str(kept),
                                  *arguments], env=environment, capture_output=True, text=True, timeout=60)
            again = subprocess.run([sys.executable, str(HERE / "run_programs.py"), "--score", str(kept), *arguments],
                                   env=environment, capture_output=True, text=True, timeout=60)
        rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in run.stdout.splitlines()
                if line.startswith("| ") and not line.startswith(("| program", "| ---"))]
        self.assertEqual((run.returncode, run.stderr.count("Traceback")), (again.returncode, 0), run.stderr)
        return run.returncode, rows

    def test_a_healthy_program_without_findings_passes(self):
        status, rows = self.run_programs("--only", "elementwise", report="clean")
        self.assertEqual((status, [(row[0], row[5]) for row in rows]), (0, [("elementwise.py", scoring.CLEAN)]))

    def test_an_invented_finding_fails(self):
        status, rows = self.run_programs("--only", "elementwise", report="invented")
        self.assertEqual((status, rows[0][5]), (1, scoring.INVENTED))

    def test_a_program_that_does_not_run_is_reported(self):
        status, rows = self.run_programs("--only", "elementwise,big_products")
        self.assertEqual((status, [row[5] for row in rows]), (1, [scoring.DID_NOT_RUN] * 2))
        self.assertIn("no device", rows[0][6])

    def test_plain_runs_need_no_roofline(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "torch.py").write_text("raise SystemExit(3)\n")  # instead of PyTorch
            run = subprocess.run([sys.executable, str(HERE / "run_programs.py"), "--plain", "--only", "elementwise"],
                                 env={**os.environ, "PYTHONPATH": folder}, capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, "exit status 3" in run.stdout), (1, True), run.stderr)

    def run_with_fixes(self, *arguments):
        """The result of a program that has 30 steps a second, or 90 without its fault."""
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as output:
            path = pathlib.Path(folder) / "program.py"
            path.write_text("from workload import FIXED\nprint('steps', 90 if FIXED else 30, 'in 1.000 s')\n")
            fake = pathlib.Path(folder) / "roofline"
            fake.write_text(FAKE.format(python=sys.executable))
            fake.chmod(0o755)
            options = run_programs.parse_arguments([str(fake), *arguments])
            runner = run_programs.Runner(str(fake), [], options, pathlib.Path(output))
            with unittest.mock.patch.dict(os.environ, REPORT=str(HERE / "examples" / "right.json"), FIXED="1"):
                return runner.run(scoring.Program(path, "faults", EXAMPLE.causes, EXAMPLE.actions))

    def test_a_program_runs_with_and_without_its_fault(self):
        result = self.run_with_fixes("--fixed")
        self.assertEqual((result.plain, result.fixed, result.profiled), ([30] * 3, [90] * 3, [40]), result.message)
        self.assertIsNotNone(result.score)

    def test_a_measured_saving_needs_no_profile(self):
        result = self.run_with_fixes("--fixed", "--plain")
        self.assertEqual((result.plain, result.fixed, result.profile), ([30] * 3, [90] * 3, None), result.message)
        self.assertIn("67%", list(tables.table_of_rates([result], fixed=True))[-1])

    def test_jobs_have_gpus_of_their_own(self):
        of = run_programs.gpus_of_jobs
        self.assertEqual(of(4, ["0", "1", "2", "3"], 1), ["0", "1", "2", "3"])
        self.assertEqual(of(2, ["0", "1", "2", "3"], 2), ["0,1", "2,3"])
        self.assertEqual(of(3, ["4", "5"], 1), ["4", "5", "4"])
        self.assertEqual(of(2, ["0"], 2), [None, None])
        self.assertEqual(of(1, ["0", "1"], 1), [None])

    def test_shards_have_every_program_once(self):
        names = []
        for shard in ("1/3", "2/3", "3/3"):
            run = subprocess.run([sys.executable, str(HERE / "run_programs.py"), "--list", "--shard", shard],
                                 capture_output=True, text=True, check=True)
            names += [line.split()[1] for line in run.stdout.splitlines()]
        self.assertEqual((len(names), len(set(names))), (47, 47))


if __name__ == "__main__":
    unittest.main()
