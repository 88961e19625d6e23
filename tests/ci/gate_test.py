#!/usr/bin/env python3
"""The formats for CI services, and the files of ci/: their YAML is parsed, and their shell steps run on recorded reports.

usage: gate_test.py PATH_OF_ROOFLINE [unittest arguments]
"""
import copy
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import yaml

ROOFLINE = os.path.abspath(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[2]
REPORT = json.loads((ROOT / "reports/reference/h200-ops/report.json").read_text())
HOSTILE = "\x1b[1m]]>&\"'|`%\u202e\ufffe<script>\n::error::"


def timed(report):
    return [row for row in report["results"] if row.get("time_s")]


def slowed(factors, report=REPORT):
    """A run whose timed rows take so many times as long."""
    run = copy.deepcopy(report)
    for row, factor in zip(timed(run), factors):
        time = row["time_s"]
        time["median"] *= factor
        time["ci95"] = [factor * end for end in time["ci95"]]
    return run


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, report):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(report))
        return path


class Formats(InAFolder):
    def compare(self, now, code, *options, before=REPORT):
        """The JUnit and SARIF documents, and the comparison by the JSON."""
        files = [self.write("before.json", before), self.write("now.json", now)]
        done = subprocess.run([ROOFLINE, "compare", *files, "-o", self.folder / "out/", *options], text=True,
                              capture_output=True, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        junit = xml.etree.ElementTree.parse(self.folder / "out/comparison.xml").getroot()
        sarif = json.loads((self.folder / "out/comparison.sarif").read_text())
        self.check_junit(junit)
        self.check_sarif(sarif)
        return junit, sarif, json.loads((self.folder / "out/comparison.json").read_text())

    def check_junit(self, root):
        self.assertEqual([root.tag] + [child.tag for child in root], ["testsuites", "testsuite"])
        suite = root[0]
        cases = suite.findall("testcase")
        for element in (root, suite):
            self.assertEqual(int(element.get("tests")), len(cases))
            self.assertEqual(int(element.get("failures")), len(suite.findall("testcase/failure")))
            self.assertEqual(int(element.get("errors")), len(suite.findall("testcase/error")))
            self.assertEqual(int(element.get("skipped")), len(suite.findall("testcase/skipped")))
            self.assertRegex(element.get("time"), r"^\d+\.\d+$")
        datetime.datetime.fromisoformat(suite.get("timestamp").rstrip("Z"))
        names = [case.get("name") for case in cases]
        self.assertEqual(len(set(names)), len(names))
        for case in cases:
            self.assertTrue(case.get("name") and case.get("classname"))
            self.assertGreaterEqual(float(case.get("time")), 0)
            self.assertLessEqual({child.tag for child in case},
                                 {"properties", "failure", "error", "skipped", "system-out"})

    def check_sarif(self, log):
        """What SARIF 2.1.0 requires of the properties that are used here."""
        self.assertEqual((log["version"], len(log["runs"])), ("2.1.0", 1))
        run = log["runs"][0]
        rules = run["tool"]["driver"]["rules"]
        self.assertEqual(run["tool"]["driver"]["name"], "roofline")
        self.assertEqual(len({rule["id"] for rule in rules}), len(rules))
        for invocation in run["invocations"]:
            self.assertIsInstance(invocation["executionSuccessful"], bool)
        for result in run["results"]:
            self.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])
            self.assertIn(result["level"], ("none", "note", "warning", "error"))
            self.assertTrue(result["kind"] == "fail" or result["level"] == "none")
            self.assertTrue(result["message"]["text"])
            place = result["locations"][0]["physicalLocation"]
            self.assertRegex(place["artifactLocation"]["uri"], r"^(file:/)?[A-Za-z0-9._~/%-]+$")
            self.assertGreaterEqual(place["region"]["startLine"], 1)
            self.assertTrue(all(isinstance(value, str) for value in result["partialFingerprints"].values()))

    def test_a_regression_is_a_failure_and_an_error(self):
        junit, sarif, comparison = self.compare(slowed([1, 1.2, 0.5]), 3, "--max-slowdown", "3%")
        worse, = [row for row in comparison["rows"] if row["regression"]]
        self.assertEqual(len(junit[0].findall("testcase")), len(comparison["rows"]))
        failed, = [case for case in junit[0].findall("testcase") if case.find("failure") is not None]
        self.assertIn(worse["label"], failed.get("name"))
        facts = {one.get("name"): one.get("value") for one in failed.findall("properties/property")}
        self.assertEqual(float(facts["time_ratio"]), worse["time_ratio"])
        self.assertAlmostEqual(float(facts["now_s"]), float(failed.get("time")), 9)
        self.assertEqual(facts["regression"], "true")
        result, = sarif["runs"][0]["results"]
        self.assertEqual((result["ruleId"], result["level"], result["kind"]), ("regression", "error", "fail"))
        self.assertEqual(result["properties"]["time_ratio"], worse["time_ratio"])
        place = result["locations"][0]["physicalLocation"]
        self.assertEqual(place["artifactLocation"]["uri"], REPORT["invocation"]["suite_path"])
        line = REPORT["invocation"]["suite_text"].splitlines()[place["region"]["startLine"] - 1]
        self.assertIn(worse["workload"], line)

    def test_no_change_is_no_failure_and_no_result(self):
        junit, sarif, _ = self.compare(REPORT, 0)
        self.assertEqual((junit.get("failures"), junit.get("errors")), ("0", "0"))
        self.assertEqual(sarif["runs"][0]["results"], [])

    def test_what_failed_or_is_missing(self):
        now = copy.deepcopy(REPORT)
        failed, missing = timed(now)[:2]
        failed.update(status="failed", reason="wrong result")
        for key in ("time_s",):
            del failed[key]
        now["results"].remove(missing)
        junit, sarif, _ = self.compare(now, 3)
        self.assertEqual([case.find("failure").get("type") for case in junit[0].iter("testcase")
                          if case.find("failure") is not None], ["failed"])
        self.assertEqual(int(junit.get("skipped")),
                         1 + sum(not row.get("time_s") for row in REPORT["results"]))
        self.assertEqual([result["ruleId"] for result in sarif["runs"][0]["results"]], ["failed"])

    def test_an_incomplete_run_is_an_error(self):
        junit, sarif, _ = self.compare(dict(REPORT, complete=False, rows_planned=99), 1)
        self.assertEqual(junit.get("errors"), "1")
        self.assertFalse(sarif["runs"][0]["invocations"][0]["executionSuccessful"])

    def test_profiles(self):
        profile = json.loads((ROOT / "reports/reference/h200-train/report.json").read_text())
        junit, sarif, comparison = self.compare(profile, 0, before=profile)
        self.assertEqual(int(junit.get("tests")), 1, "the step")
        self.assertEqual(sarif["runs"][0]["results"], [])
        del profile["profile"]["steps"]
        junit, _, comparison = self.compare(profile, 0, before=profile)
        self.assertEqual(int(junit.get("tests")), len(comparison["rows"]))

    def cpu_profile(self):
        if not hasattr(Formats, "of_cpu"):
            done = subprocess.run([ROOFLINE, "profile", "--device", "cpu", "-o", self.folder / "cpu.json", "--", sys.executable,
                                   "-c", "print(sum(i * i for i in range(3_000_000)))"], text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            Formats.of_cpu = json.loads((self.folder / "cpu.json").read_text())
        return copy.deepcopy(Formats.of_cpu)

    def cpu_runs(self, name, factors):
        """Runs of a CPU program that take so many times as long."""
        files = []
        for i, factor in enumerate(factors):
            report = self.cpu_profile()
            report["profile"]["wall_s"] *= factor
            files.append(self.write(f"{name}{i}.json", report))
        return files

    def test_programs_without_a_gpu(self):
        def compare(before, now, code, *options):
            done = subprocess.run([ROOFLINE, "compare", "--max-slowdown", "3%", "-o", self.folder / "out/", *options, *before,
                                   "--", *now], text=True, capture_output=True, cwd=self.folder)
            self.assertEqual(done.returncode, code, done.stderr)
            junit = xml.etree.ElementTree.parse(self.folder / "out/comparison.xml").getroot()
            sarif = json.loads((self.folder / "out/comparison.sarif").read_text())
            self.check_junit(junit)
            self.check_sarif(sarif)
            case, = junit[0].findall("testcase")
            self.assertEqual(case.get("name"), "wall time")
            return junit, sarif, json.loads((self.folder / "out/comparison.json").read_text())

        steady = [1, 1.002, 0.998, 1.001, 0.999]
        before = self.cpu_runs("before", steady)
        junit, sarif, comparison = compare(before, self.cpu_runs("slow", [1.2 * factor for factor in steady]), 3)
        self.assertEqual((junit.get("failures"), comparison["regressions"]), ("1", 1))
        self.assertEqual([result["ruleId"] for result in sarif["runs"][0]["results"]], ["regression"])
        program = comparison["program"]
        self.assertEqual((program["regression"], program["mean"]["change"], program["mean"]["interval_covers"]),
                         (True, "slower", "runs"))
        self.assertAlmostEqual(program["mean"]["ratio"], 1.2)
        low, high = program["mean"]["ratio_ci95"]
        self.assertTrue(1.03 < low < 1.2 < high)
        self.assertTrue(program["functions"])
        self.assertEqual({function["change"] for function in program["functions"]}, {"same"})
        junit, sarif, comparison = compare(before, self.cpu_runs("same", steady), 0)
        self.assertEqual((junit.get("failures"), junit.get("errors"), comparison["program"]["mean"]["change"]),
                         ("0", "0", "same"))
        self.assertTrue(sarif["runs"][0]["invocations"][0]["executionSuccessful"])
        compare(self.cpu_runs("slow", [1.2 * factor for factor in steady]), before, 0)
        _, _, comparison = compare(before[:1], self.cpu_runs("slow", [1.2]), 0)
        self.assertEqual(comparison["program"]["mean"]["change"], "undecided", "one run per side has no interval")

    def test_nothing_compared_is_an_error(self):
        nothing = dict(REPORT, results=[])
        junit, sarif, _ = self.compare(nothing, 1, "--max-slowdown", "3%", before=nothing)
        self.assertEqual((junit.get("tests"), junit.get("errors")), ("1", "1"))
        self.assertFalse(sarif["runs"][0]["invocations"][0]["executionSuccessful"])
        other = copy.deepcopy(REPORT)
        for row in other["results"]:
            row.update(label="other " + row["label"], workload="other")
        junit, *_ = self.compare(other, 1, "--max-slowdown", "3%")
        self.assertEqual(junit.get("errors"), "1")
        unknown = self.cpu_profile()
        unknown["profile"]["wall_s"] = 0
        junit, *_ = self.compare(unknown, 1, before=unknown)
        self.assertEqual(junit.get("errors"), "1")

    def test_hostile_names_stay_text(self):
        before, now = copy.deepcopy(REPORT), slowed([1.5])
        for report in (before, now):
            timed(report)[0]["label"] = HOSTILE
            report["invocation"].update(suite_path="a b/\"<\u202e\n.yaml", suite=HOSTILE)
            report["machine"]["device"]["name"] = HOSTILE
        junit, sarif, _ = self.compare(now, 3, before=before)
        failed, = [case for case in junit[0].findall("testcase") if case.find("failure") is not None]
        self.assertIn("<script>", failed.get("name"))
        for name in ("comparison.xml", "comparison.sarif", "comparison.md"):
            text = (self.folder / "out" / name).read_text()
            self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ufffe]")
            self.assertFalse([line for line in text.splitlines() if line.startswith("::")])
        self.assertNotIn("<script", (self.folder / "out/comparison.xml").read_text())
        self.assertNotIn("<script", (self.folder / "out/comparison.md").read_text())
        self.assertIn("<script>", sarif["runs"][0]["results"][0]["message"]["text"])

    def test_one_file_by_its_extension(self):
        files = [self.write("a.json", REPORT), self.write("b.json", REPORT)]
        for name, parse in (("x.xml", xml.etree.ElementTree.fromstring), ("x.sarif", json.loads)):
            subprocess.run([ROOFLINE, "compare", *files, "-o", self.folder / name], check=True, capture_output=True)
            parse((self.folder / name).read_text())
        for name, parse in (("junit", xml.etree.ElementTree.fromstring), ("sarif", json.loads)):
            parse(subprocess.run([ROOFLINE, "compare", *files, "--format", name], check=True, capture_output=True,
                                 text=True).stdout)

    def test_markdown_is_short(self):
        self.compare(slowed([1, 1.2]), 3, "--max-slowdown", "3%")
        text = (self.folder / "out/comparison.md").read_text()
        self.assertTrue(text.startswith("**Fail: "))
        open_part = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
        self.assertEqual(open_part.count("\n| "), 2)  # the head, and what got slower
        self.assertEqual(text.count("<details>"), text.count("</details>"))
        rows = [dict(timed(REPORT)[0], label=f"row {i} " + 60 * "x") for i in range(2000)]
        many = dict(REPORT, results=rows)
        self.compare(slowed([1.2] * 1000, many), 3, before=many)
        self.assertLess(len((self.folder / "out/comparison.md").read_text()), 65536)  # GitHub's limit of a comment


class Steps(InAFolder):
    """The scripts of ci/, as the services run them."""

    def run_step(self, script, shell=("bash", "-e"), **variables):
        step = self.folder / "step"
        step.write_text(script)
        names = {name: str(self.folder / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        for path in names.values():
            pathlib.Path(path).touch()
        environment = dict(os.environ, ROOFLINE=ROOFLINE, MAX_SLOWDOWN="3%", OUTPUT="gate", DEVICE="", OLD_SUITE="",
                           NEW_SUITE="", BEFORE="", NOW="", RUNS="2", **names)
        environment.update(variables)
        return subprocess.run([*shell, step], cwd=self.folder, env=environment, text=True, capture_output=True)

    def action(self):
        action = yaml.safe_load((ROOT / "ci/github/action.yml").read_text())
        step, = action["runs"]["steps"]
        inputs = set(re.findall(r"inputs\.([\w-]+)", " ".join(step["env"].values())))
        self.assertEqual(inputs, set(action["inputs"]))
        self.assertNotIn("${{", step["run"])  # whatever is pasted into a script can end it
        return step["run"]

    def runs(self, folder, factor):
        for run in range(5):
            self.write(f"{folder}/{run}/report.json", slowed([1 + 0.001 * run, factor * (1 + 0.001 * run)]))

    def test_github_compares_several_runs(self):
        self.runs("base", 1)
        self.runs("same", 1)
        self.runs("slow", 1.2)
        for now, status in (("same", 0), ("slow", 3)):
            done = self.run_step(self.action(), BEFORE="base/*/report.json", NOW=f"{now}/*/report.json")
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(f"status={status}", (self.folder / "GITHUB_OUTPUT").read_text())
            self.assertTrue((self.folder / "GITHUB_STEP_SUMMARY").read_text().endswith(
                (self.folder / "gate/comparison.md").read_text()))
            comparison = json.loads((self.folder / "gate/comparison.json").read_text())
            self.assertEqual((comparison["base"]["runs"], comparison["now"]["runs"]), (5, 5))

    def test_github_without_a_baseline(self):
        done = self.run_step(self.action(), BEFORE="none/*/report.json", NOW="same/*/report.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("status=none", (self.folder / "GITHUB_OUTPUT").read_text())

    def suites(self):
        for name in ("old", "."):
            (self.folder / name).mkdir(exist_ok=True)
            (self.folder / name / "kernels.yaml").write_text(
                "name: small\nworkloads:\n  - { op: relu, dtype: fp32, shape: { n: 2^12 } }\n")

    def test_github_times_both_versions(self):
        self.suites()
        done = self.run_step(self.action(), OLD_SUITE="old/kernels.yaml", NEW_SUITE="kernels.yaml", DEVICE="cpu",
                             MAX_SLOWDOWN="90%")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / "gate/comparison.xml").exists())

    def test_the_example_workflow(self):
        text = (ROOT / "ci/github/example.yml").read_text()
        workflow = yaml.safe_load(text)
        inputs = yaml.safe_load((ROOT / "ci/github/action.yml").read_text())["inputs"]
        scripts = []
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                self.assertEqual(("uses" in step) + ("run" in step), 1)
                if step.get("uses", "").endswith("/actions/roofline"):
                    self.assertLessEqual(set(step["with"]), set(inputs))
                if "run" in step:
                    self.assertNotIn("${{", step["run"])
                    scripts.append(step)
        comment, five, baseline = scripts
        gh = self.folder / "gh"
        gh.write_text('#!/bin/sh\necho "$@" >posted\n')
        gh.chmod(0o755)
        path = f"{self.folder}:{os.environ['PATH']}"
        self.assertEqual(self.run_step(comment["run"], PATH=path, PULL_REQUEST="1").returncode, 0)
        self.assertFalse((self.folder / "posted").exists())
        self.write("roofline-gate/comparison.md", {})
        self.assertEqual(self.run_step(comment["run"], PATH=path, PULL_REQUEST="1").returncode, 0)
        self.assertIn("roofline-gate/comparison.md", (self.folder / "posted").read_text())
        done = self.run_step(five["run"], PROGRAM="sleep 0.2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(list(self.folder.glob("runs/*/report.json"))), 5)
        self.assertEqual(self.run_step(baseline["run"]).returncode, 0)
        self.assertEqual(len(list(self.folder.glob("baseline/*/report.json"))), 5)
        self.assertEqual(self.run_step(five["run"], PROGRAM="sleep 0.2").returncode, 0)
        compared = self.run_step(self.action(), BEFORE="baseline/*/report.json", NOW="runs/*/report.json", MAX_SLOWDOWN="90%")
        self.assertEqual(compared.returncode, 0, compared.stderr)
        self.assertEqual(json.loads((self.folder / "gate/comparison.json").read_text())["program"]["before"], {"gpus": 0})

    def gitlab(self, job):
        template = yaml.safe_load((ROOT / "ci/gitlab/roofline.gitlab-ci.yml").read_text())
        self.assertEqual(template[job]["extends"], ".roofline")
        self.assertIn("comparison.xml", template[".roofline"]["artifacts"]["reports"]["junit"])
        return template[job]["script"]

    def test_gitlab_keeps_a_baseline_and_compares_with_it(self):
        *_, decide = self.gitlab(".roofline-compare")
        shell = ("sh", "-e")
        done = self.run_step(decide, shell, CI_DEFAULT_BRANCH="main", CI_COMMIT_BRANCH="")
        self.assertEqual((done.returncode, (self.folder / "gate").exists()), (0, False), done.stderr)
        self.runs("runs", 1)
        done = self.run_step(decide, shell, CI_DEFAULT_BRANCH="main", CI_COMMIT_BRANCH="main")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.runs("runs", 1.2)
        done = self.run_step(decide, shell, CI_DEFAULT_BRANCH="main", CI_COMMIT_BRANCH="")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertTrue((self.folder / "gate/comparison.xml").exists())

    def test_gitlab_records_runs(self):
        record = self.gitlab(".roofline-compare")[0]
        done = self.run_step(record, ("sh", "-e"), PROGRAM="sleep 0.2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(list(self.folder.glob("runs/*/report.json"))), 2)

    def test_gitlab_times_both_versions(self):
        self.suites()
        subprocess.run(["git", "init", "-q", "."], cwd=self.folder, check=True)
        subprocess.run(["git", "add", "kernels.yaml"], cwd=self.folder, check=True)
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"], cwd=self.folder, check=True)
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=self.folder, check=True, text=True,
                                capture_output=True).stdout.strip()
        subprocess.run(["git", "remote", "add", "origin", "."], cwd=self.folder, check=True)
        subprocess.run(["rm", "-r", "old"], cwd=self.folder, check=True)
        done = self.run_step("\n".join(self.gitlab(".roofline-ab")), ("sh", "-e"), CI_MERGE_REQUEST_DIFF_BASE_SHA=commit,
                             SUITE="kernels.yaml", MAX_SLOWDOWN="90%")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / "gate/comparison.xml").exists())


if __name__ == "__main__":
    unittest.main()
