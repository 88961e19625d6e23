#!/usr/bin/env python3
"""README's first answer: its three commands, as they stand there, from the archive to the line that costs most.

usage: first_answer_test.py PATH_OF_ROOFLINE [unittest arguments]
"""
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

ROOFLINE = pathlib.Path(os.path.abspath(sys.argv.pop(1)))
ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
VERSION = re.search(r"project\(roofline VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
LIMIT_S = 300  # what the README's reader has
SCRIPT = """
def slow(count):
    return sum(i * i % 7 for i in range(count))

for _ in range(20):
    slow(200_000)
"""


def commands():
    return re.search(r"^## Your first answer\n.*?^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)[1]


class FirstAnswer(unittest.TestCase):
    def test_three_commands_lead_to_it(self):
        lines = commands().splitlines()
        self.assertEqual(len(lines), 3, lines)
        name = f"roofline-{VERSION}-linux-x86_64"
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            with tarfile.open(folder / f"{name}.tar.gz", "w:gz", compresslevel=1) as archive:
                archive.add(ROOFLINE, f"{name}/bin/roofline")
                archive.add(ROOT / "configs", f"{name}/share/roofline/configs")
            (folder / "train.py").write_text(SCRIPT)
            begin = time.monotonic()
            # Nothing of this machine's settings: a new user's shell.
            done = subprocess.run(["bash", "-euc", commands()], cwd=folder, text=True, capture_output=True,
                                  env={"HOME": place, "PATH": "/usr/bin:/bin"}, stdin=subprocess.DEVNULL)
            self.assertLess(time.monotonic() - begin, LIMIT_S)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("train.py:3", done.stderr)  # stdout is the script's
            self.assertTrue(list(folder.glob("reports/*/report.html")))


if __name__ == "__main__":
    unittest.main()
