#!/usr/bin/env python3
"""roofline profile on MPI programs with CPU ranks: one report for the job, the fault that was planted in a rank with its
line, and none where there is no fault. Skipped with a message where there is no mpirun and mpicc (Open MPI or MPICH).

Ranks compute for a given CPU time, so that other load on the machine hides no fault; ranks that lack a CPU are a finding
of their own, which is no failure here.

usage: ranks_cpu_test.py PATH_OF_ROOFLINE [unittest arguments]
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOFLINE = os.path.abspath(sys.argv.pop(1))
SOURCE = pathlib.Path(__file__).with_name("rank_programs.c")
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1",
                   PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe", OMPI_MCA_hwloc_base_binding_policy="none")
RANK_FAULTS = {"unequal_work", "serial_part", "late_rank", "small_messages"}


def line_of(mark):
    lines = SOURCE.read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if f"/* line: {mark} */" in line)


def native_frames():
    """Lines need samples of running threads' stacks, which a container may refuse."""
    file = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
    return file.exists() and (os.geteuid() == 0 or int(file.read_text()) <= 2)


@unittest.skipUnless(shutil.which("mpirun") and shutil.which("mpicc"), "no mpirun and mpicc: ranks are not profiled")
class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.at = pathlib.Path(cls.folder.name)
        cls.program = cls.at / "ranks"
        subprocess.run(["mpicc", "-O1", "-g", SOURCE, "-o", cls.program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def profile(self, command, output="report", options=()):
        """`command` with PROFILE where roofline profile stands in it."""
        parts = []
        for part in command:
            parts += [ROOFLINE, "profile", "--device", "cpu", *options, "-o", self.at / output, "--"] \
                if part == "PROFILE" else [part]
        done = subprocess.run(parts, cwd=self.at, env=ENVIRONMENT, capture_output=True, text=True, timeout=600,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.at / output / "report.json").read_text())["profile"], done.stderr

    def of_fault(self, fault, steps=60, ranks=2):
        return self.profile(["PROFILE", "mpirun", "-n", str(ranks), self.program, fault, str(steps)])[0]

    def found_of(self, measure, causes, mark):
        """Where other programs take so much of the CPUs that most of a rank's time is lost to them, that is the finding."""
        for _ in range(3):  # beside other programs, a rank may have too few samples, too
            profile = measure()
            if any(saving["cause"] in causes for saving in profile.get("wins", [])):
                break
        else:
            seconds = profile["host"]["seconds"]
            ready, running = seconds.get("runnable", 0), seconds.get("running", 0)
            if ready > 0.3 * (ready + running):
                self.skipTest(f"other programs take the CPUs: ranks wait for one {ready:.1f} s and run {running:.1f} s")
        return self.check_found(profile, causes, mark)

    def check_found(self, profile, causes, mark):
        found = [saving for saving in profile.get("wins", []) if saving["cause"] in RANK_FAULTS]
        self.assertTrue(found, profile.get("wins"))
        self.assertIn(found[0]["cause"], causes)
        if native_frames():
            function = {"compute": "compute"}.get(mark, mark)
            self.assertIn(function, found[0]["line"])
            self.assertRegex(found[0]["line"], r"rank_programs\.c:\d+ ")
        waiting = sum(rank["waiting_s"] + rank["transfer_s"] for rank in profile["ranks"]["ranks"])
        self.assertLessEqual(found[0]["seconds"], waiting / len(profile["ranks"]["ranks"]) + 1e-9)
        return found[0]

    def test_one_report_names_each_rank_and_the_parts_add_up(self):
        profile = self.of_fault("none", 20, ranks=4)
        ranks = profile["ranks"]
        self.assertEqual(ranks["size"], 4)
        self.assertEqual([rank["rank"] for rank in ranks["ranks"]], [0, 1, 2, 3])
        self.assertEqual(len({rank["pid"] for rank in ranks["ranks"]}), 4)
        self.assertIs(ranks["whole_run"], True)
        self.assertGreater(ranks["matched_share"], 0.99)
        self.assertTrue(ranks["launcher"])
        mean = sum(rank["compute_s"] + rank["waiting_s"] + rank["transfer_s"] for rank in ranks["ranks"]) / 4
        self.assertAlmostEqual(mean, ranks["step_s"], delta=1e-6)
        calls = {entry["name"]: entry for entry in ranks["collectives"]}
        self.assertEqual(calls["MPI_Allreduce"]["calls"], 20)
        self.assertEqual(calls["MPI_Allreduce"]["bytes"], 8)
        self.assertIn(f"rank_programs.c:{line_of('all_reduce')} all_reduce", calls["MPI_Allreduce"]["line"])

    def test_each_rank_under_a_roofline_of_its_own_makes_the_same_report(self):
        def measure():
            profile, stderr = self.profile(["mpirun", "-n", "2", "PROFILE", self.program, "unequal", "60"], "own")
            self.assertEqual([rank["rank"] for rank in profile["ranks"]["ranks"]], [0, 1])
            self.assertEqual(len(re.findall("wrote .*report.json", stderr)), 1)
            self.assertEqual([path.name for path in self.at.iterdir() if path.name.startswith(".roofline")], [])
            return profile

        self.assertIn("ank 1", self.found_of(measure, {"unequal_work"}, "compute")["what"])

    def test_a_kept_recording_of_a_job_is_reported_again(self):
        for name, command in (("outside", ["PROFILE", "mpirun", "-n", "2", self.program, "unequal", "30"]),
                              ("inside", ["mpirun", "-n", "2", "PROFILE", self.program, "unequal", "30"])):
            with self.subTest(name):
                kept = self.at / f"kept-{name}"
                first, _ = self.profile(command, f"{name}-1", ["--keep", kept])
                subprocess.run([ROOFLINE, "profile", "--device", "cpu", "--from", kept, "-o", self.at / f"{name}-2"],
                               check=True, capture_output=True)
                again = json.loads((self.at / f"{name}-2/report.json").read_text())["profile"]
                self.assertEqual(again["ranks"], first["ranks"])
                self.assertEqual([saving["what"] for saving in again["wins"] if saving["cause"] in RANK_FAULTS],
                                 [saving["what"] for saving in first["wins"] if saving["cause"] in RANK_FAULTS])

    def test_a_rank_with_more_work_is_named_with_its_line(self):
        self.assertIn("rank 1", self.found_of(lambda: self.of_fault("unequal"), {"unequal_work"}, "compute")["what"])

    def test_a_serial_part_of_rank_0_is_named_with_its_line(self):
        self.assertIn("rank 0", self.found_of(lambda: self.of_fault("serial"), {"serial_part"}, "write_output")["what"])

    def test_a_rank_that_waits_is_late_and_has_no_more_work(self):
        found = self.found_of(lambda: self.of_fault("wait"), {"late_rank"}, "wait_for_file")
        self.assertIn("rank 1", found["what"])
        self.assertIn("sleeps", found["what"])

    def test_many_small_messages_are_found_at_their_line(self):
        profile = self.of_fault("messages", 30)
        found = [saving for saving in profile["wins"] if saving["cause"] == "small_messages"]
        self.assertTrue(found, profile["wins"])
        self.assertIn(f"rank_programs.c:{line_of('exchange')} exchange", found[0]["line"])

    def test_ranks_that_take_turns_are_not_late(self):
        profile = self.of_fault("turns")
        causes = {saving["cause"] for saving in profile["wins"]}
        self.assertIn("uneven_ranks", causes)
        self.assertFalse(causes & {"unequal_work", "serial_part", "small_messages"})

    def test_equal_ranks_have_no_finding_of_their_own(self):
        causes = {saving["cause"] for saving in self.of_fault("none").get("wins", [])}
        self.assertFalse(causes & {"unequal_work", "serial_part", "small_messages"})

    def test_calibrations_of_ranks_are_a_fleet(self):
        done = subprocess.run(["mpirun", "-n", "2", ROOFLINE, "calibrate", "--device", "cpu", "--only", "fp64", "--time", "2s",
                               "--sustain", "0", "--threads", "1", "-o", f"{self.at}/fleet/"], cwd=self.at, env=ENVIRONMENT, capture_output=True, text=True,
                              timeout=600, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(list((self.at / "fleet").glob("*.json"))), 1)  # both ranks are on one machine
        fleet = subprocess.run([ROOFLINE, "fleet", self.at / "fleet", "-o", "-", "--format", "json"], env=ENVIRONMENT,
                               capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(fleet.returncode, 0, fleet.stderr)
        self.assertEqual(len(json.loads(fleet.stdout)["groups"]), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
