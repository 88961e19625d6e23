#!/usr/bin/env python3
"""What the binary loads and starts, and what it never does (SECURITY.md): libraries and compilers that leave a mark.

usage: trust_test.py PATH_OF_ROOFLINE [unittest arguments]
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOFLINE = os.path.abspath(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[2]
REPORT = ROOT / "reports" / "reference" / "h200-ops" / "report.json"
PROFILE = ROOT / "reports" / "reference" / "h200-train" / "report.json"
CC = shutil.which(os.environ.get("CC", "cc"))

LIBRARY = """\
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void mark(void) {
  FILE* file = fopen(getenv("MARK"), "a");
  if (file != NULL) fclose(file);
}
"""
LIBRARIES = ["libzstd.so.1", "libcuda.so.1", "libnvidia-ml.so.1", "libnvrtc.so.13", "libnvrtc.so.12",
             "libcublas.so.13", "libcublas.so.12"]

SUITE = """\
name: hostile
kernels:
  hostile:
    source: hostile.c
    entry: hostile
    arguments: [ { output: y, dtype: fp32, size: "n +" } ]
    work: { flops: { fp32: n } }
    expect: { y: 1 }
workloads: [ { kernel: hostile, shape: { n: 16 } } ]
"""


class Marked(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.mark = self.folder / "mark"
        self.environment = dict(os.environ, MARK=str(self.mark), XDG_CACHE_HOME=str(self.folder / "cache"))
        self.environment.pop("LD_LIBRARY_PATH", None)

    def run_tool(self, *arguments, **variables):
        environment = dict(self.environment, **variables)
        return subprocess.run([ROOFLINE, *map(str, arguments)], env=environment, cwd=self.folder, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL)

    def marked(self):
        found = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return found


@unittest.skipUnless(CC, "there is no C compiler to make libraries with")
class Libraries(Marked):
    """The working folder, and one below it, hold a library of every name that is ever loaded."""

    def setUp(self):
        super().setUp()
        (self.folder / "mark.c").write_text(LIBRARY)
        first = self.folder / LIBRARIES[0]
        subprocess.run([CC, "-shared", "-fPIC", "-o", first, "mark.c"], cwd=self.folder, check=True)
        below = self.folder / "lib64"
        below.mkdir()
        for name in LIBRARIES:
            if name != LIBRARIES[0]:
                shutil.copy(first, self.folder / name)
            shutil.copy(first, below / name)
        (self.folder / "hostile.c").write_text("")
        (self.folder / "suite.yaml").write_text(SUITE)
        (self.folder / "packed.ncu-repz").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(64))

    def commands(self):
        yield "devices",
        yield "import", "packed.ncu-repz"
        yield "analyze", "suite.yaml", "--device", "cpu"

    def test_the_working_folder_is_never_searched(self):
        for path in [None, "", ":", ".", "lib64", ":/nowhere", "/nowhere:", "/nowhere::/nowhere", "/nowhere;./lib64"]:
            for command in self.commands():
                with self.subTest(path=path, command=command):
                    variables = {"CUDA_HOME": ".", "CUDA_PATH": "."}
                    if path is not None:
                        variables["LD_LIBRARY_PATH"] = path
                    self.run_tool(*command, **variables)
                    self.assertFalse(self.marked())

    def test_a_folder_that_the_user_names_is(self):
        """Without this, the test above could not fail."""
        self.run_tool("import", "packed.ncu-repz", LD_LIBRARY_PATH=str(self.folder))
        self.assertTrue(self.marked())

    def test_an_absolute_folder_is_kept_beside_a_relative_one(self):
        self.run_tool("import", "packed.ncu-repz", LD_LIBRARY_PATH=f":{self.folder}")
        self.assertTrue(self.marked())

    def test_arguments_and_exit_code_survive_the_new_start(self):
        plain = self.run_tool("report", "no such file")
        again = self.run_tool("report", "no such file", LD_LIBRARY_PATH=":")
        self.assertEqual((again.returncode, again.stdout, again.stderr), (plain.returncode, plain.stdout, plain.stderr))
        self.assertEqual(plain.returncode, 2)
        self.assertIn("no such file", plain.stderr)


class Reports(Marked):
    """Reports whose texts would do something, where they were started."""

    def setUp(self):
        super().setUp()
        compilers = self.folder / "bin"
        compilers.mkdir()
        for name in ["cc", "c++", "gcc", "g++", "nvcc", "sh", "python", "touch"]:
            (compilers / name).write_text(f"#!/bin/sh\n: > '{self.mark}'\n")
            (compilers / name).chmod(0o755)
        self.environment.update(PATH=str(compilers), CC="cc", CXX="c++", CUDACXX=str(compilers / "nvcc"),
                                SHELL=str(compilers / "sh"))
        self.assertFalse(self.marked())
        subprocess.run([compilers / "cc"], check=True)
        self.assertTrue(self.marked(), "the compilers leave a mark")
        (self.folder / "hostile.c").write_text("")
        for name, source in [("run.json", REPORT), ("profile.json", PROFILE)]:
            report = json.loads(source.read_text())
            report["invocation"]["suite_text"] = SUITE.replace("n +", "n")
            report["invocation"]["suite_path"] = str(self.folder / "hostile.yaml")
            report["invocation"]["command"] = ["touch", str(self.mark)]
            report["notes"] = [f"$(touch {self.mark})", f"`touch {self.mark}`"]
            if "profile" in report:
                report["profile"]["program"] = ["touch", str(self.mark)]
            (self.folder / name).write_text(json.dumps(report))
        (self.folder / "hostile.yaml").write_text(SUITE.replace("n +", "n"))

    def test_nothing_in_them_is_run(self):
        for name in ["run.json", "profile.json"]:
            for command in [("report", name, "-o", "drawn"), ("compare", name, name), ("fleet", name),
                            ("machine", "--against", name)]:
                with self.subTest(command=command):
                    done = self.run_tool(*command)
                    self.assertNotIn("this is a bug", done.stderr)
                    self.assertFalse(self.marked())
        self.assertTrue((self.folder / "drawn").is_dir(), "the reports were read")


if __name__ == "__main__":
    unittest.main()
