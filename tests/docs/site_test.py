#!/usr/bin/env python3
"""The documentation as a site: scripts/site builds it (with its own check of links), and a search finds the pages.

Exit status 77, skipped, where mkdocs is not installed.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = ROOT / "build/site"
# Where Debian 12 and later releases have it.
THEMES = [pathlib.Path("/usr/share/mkdocs/themes/material"),
          pathlib.Path("/usr/lib/python3/dist-packages/material/templates")]


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run([ROOT / "scripts/site"], check=True)

    def test_every_page_is_in_it_and_found_by_the_search(self):
        index = json.loads((SITE / "search/search_index.json").read_text())
        found = {entry["location"].partition("#")[0] for entry in index["docs"]}
        pages = sorted((ROOT / "docs").rglob("*.md"))
        self.assertGreater(len(pages), 40)
        for page in pages:
            place = f"{page.relative_to(ROOT).with_suffix('')}/"
            self.assertTrue((SITE / place / "index.html").exists(), place)
            self.assertIn(place, found)

    def test_every_page_is_in_the_navigation(self):
        home = (SITE / "index.html").read_text()
        for page in (ROOT / "docs").rglob("*.md"):
            self.assertIn(f'href="{page.relative_to(ROOT).with_suffix("")}/"', home)

    def test_reference_reports_are_in_it(self):
        for report in (ROOT / "reports/reference").glob("*/report.html"):
            self.assertEqual((SITE / report.relative_to(ROOT)).read_bytes(), report.read_bytes())

    def test_files_of_code_blocks_have_their_names(self):
        page = (SITE / "docs/tutorials/slow-training/index.html").read_text()
        self.assertIn("train.py", page)
        self.assertNotIn("file=", page)
        self.assertNotIn("```", page)


if __name__ == "__main__":
    if shutil.which("mkdocs") is None or not any(path.exists() for path in THEMES):
        print("site not tested: mkdocs-material is not installed")
        sys.exit(77)
    unittest.main()
