#!/usr/bin/env python3
"""The tutorials of docs/tutorials, run as a reader would: their files are written, their commands run in order.

usage: tutorials_test.py PATH_OF_ROOFLINE [unittest arguments]

A block of code "file=NAME" is a file, a block "sh" is commands that succeed, "sh status=3" commands with that exit status.
A report.json that a page links to is a download.
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

ROOFLINE = pathlib.Path(os.path.abspath(sys.argv.pop(1)))
ROOT = pathlib.Path(__file__).resolve().parents[2]
TUTORIALS = ROOT / "docs/tutorials"
BLOCK = re.compile(r"^```(\w+)(?: (file|status)=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOWNLOAD = re.compile(r"\[report\.json\]\((\.\./\.\./reports/[^)]+)\)")


class Tutorials(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._cache = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._cache.cleanup)

    def follow(self, name):
        """Runs a tutorial; the text of all commands' stdout."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        page = (TUTORIALS / f"{name}.md").read_text()
        for target in DOWNLOAD.findall(page):
            shutil.copy((TUTORIALS / target).resolve(), self.folder)
        environment = dict(os.environ, PATH=f"{ROOFLINE.parent}:{os.environ['PATH']}", NO_COLOR="1", COLUMNS="120",
                           XDG_CACHE_HOME=self._cache.name)
        output, ran = "", 0
        for language, key, value, text in BLOCK.findall(page):
            if key == "file":
                (self.folder / value).parent.mkdir(exist_ok=True)
                (self.folder / value).write_text(text)
            elif language == "sh":
                ran += 1
                done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", text], cwd=self.folder, env=environment,
                                      text=True, capture_output=True)
                self.assertEqual(done.returncode, int(value or 0), f"{text}\n{done.stdout}\n{done.stderr}")
                output += done.stdout
        self.assertGreater(ran, 0)
        return output

    def document(self, name):
        return json.loads((self.folder / name).read_text())

    def test_every_tutorial_is_followed_here(self):
        followed = {"first-roofline", "slow-training", "my-kernel", "which-machine", "cluster"}
        self.assertEqual({path.stem for path in TUTORIALS.glob("*.md")}, followed)

    def test_first_roofline(self):
        self.follow("first-roofline")
        rows = self.document("first/report.json")["results"]
        self.assertGreaterEqual({row["workload"] for row in rows if row["status"] == "ok"}, {"relu", "softmax", "gemm"})
        self.assertTrue((self.folder / "first/report.html").exists())

    def test_slow_training(self):
        self.follow("slow-training")

        def shares(name):
            """The share of the CPU time of the script, by function."""
            seconds = {}
            for line in self.document(f"{name}/report.json")["profile"]["host"]["lines"]:
                inside = "load_batch" if line["function"] in ("load_batch", "raw_decode", "decode", "load", "loads") else (
                    line["function"].split(".")[0])
                seconds[inside] = seconds.get(inside, 0) + line["seconds"].get("running", 0)
            return {function: part / sum(seconds.values()) for function, part in seconds.items()}

        program = self.document("change/comparison.json")["program"]
        self.assertEqual(program["before"]["gpus"], 0)
        self.assertLess(program["mean"]["now"]["seconds"], program["mean"]["before"]["seconds"])
        self.assertIn(("json", "gone"), [(cause["cause"], cause["change"]) for cause in program["host_causes"]])
        before, after = shares("before"), shares("after")
        self.assertEqual(max(before, key=before.get), "load_batch")
        self.assertLess(after.get("load_batch", 0), before["load_batch"] / 2)

    def test_my_kernel(self):
        self.follow("my-kernel")
        row, = self.document("first/report.json")["results"]
        self.assertEqual((row["status"], row["verification"]["status"]), ("ok", "pass"))
        change, = self.document("change/comparison.json")["rows"]
        self.assertTrue("before" in change and "now" in change)  # both versions are one row

    def test_which_machine(self):
        output = self.follow("which-machine")
        for machine in ("H100", "A100", "B200"):
            self.assertIn(machine, output)
        self.assertTrue((self.folder / "bound/bound.json").exists())

    def test_a_cluster(self):
        self.follow("cluster")
        outlier, = self.document("found/fleet.json")["groups"][0]["outliers"]
        self.assertEqual(outlier["host"], "node5")


if __name__ == "__main__":
    unittest.main()
