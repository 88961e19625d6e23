#!/usr/bin/env python3
"""scripts/check-links: finds planted dead links, accepts good ones, and finds none in this repository's Markdown."""
import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
loader = importlib.machinery.SourceFileLoader("check_links", str(ROOT / "scripts/check-links"))
check = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_links", loader))
loader.exec_module(check)

GOOD = """\
# A title, `code` & more

[there](sub/b.md) [its part](sub/b.md#twice-1) [here](#a-title-code--more) [folder](sub/) ![picture](sub/p.png)
[site](https://example.invalid/none.md) `[code](none.md)` [with (brackets)](sub/b%20c.md "title")

```md
[in a block](none.md)
```

[by name][name] <a id="own"></a> [own](#own)

[name]: sub/b.md
"""
DEAD = """\
[file](none.md)
[anchor](sub/b.md#none)
[outside](../../secret.md)
![picture](none.png)
[by name][name]
<img src="gone.svg">

[name]: gone.md
"""


class Markdown(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "sub").mkdir()
        (self.root / "sub/p.png").touch()
        (self.root / "sub/b c.md").touch()
        (self.root / "sub/b.md").write_text("# Twice\n\n## Twice\n\n```sh\n# none\n```\n")

    def dead(self, text):
        page = self.root / "a.md"
        page.write_text(text)
        return check.dead_in_markdown([page], self.root)

    def test_good_links(self):
        self.assertEqual(self.dead(GOOD), [])

    def test_dead_links_are_named_with_their_lines(self):
        dead = self.dead(DEAD)
        self.assertEqual([sentence.split(": ")[:2] for sentence in dead],
                         [["a.md:1", "none.md"], ["a.md:2", "sub/b.md#none"], ["a.md:3", "../../secret.md"],
                          ["a.md:4", "none.png"], ["a.md:6", "gone.svg"], ["a.md:8", "gone.md"]])

    def test_this_repository(self):
        files = check.markdown_files(ROOT)
        self.assertGreater(len(files), 40)
        self.assertIn(ROOT / "CONTRIBUTING.md", files)
        self.assertEqual(check.dead_in_markdown(files), [])


class Site(unittest.TestCase):
    def dead(self, page, other='<h1 id="there">b</h1>'):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "b").mkdir()
            (folder / "b/index.html").write_text(other)
            (folder / "index.html").write_text(page)
            return check.dead_in_site(folder)

    def test_good_pages(self):
        self.assertEqual(self.dead('<a href="b/#there">x</a><a href="b">x</a><a href="https://example.invalid">x</a>'
                                   '<img src="data:image/png;base64,AA=="><link rel="canonical" href="https://e.invalid">'), [])

    def test_dead_links(self):
        for page in ('<a href="c/">x</a>', '<a href="b/#none">x</a>', '<a href="../x">x</a>', '<img src="none.png">'):
            self.assertEqual(len(self.dead(page)), 1, page)

    def test_nothing_is_loaded_from_other_sites(self):
        for page in ('<script src="https://cdn.invalid/x.js"></script>', '<script src="//cdn.invalid/x.js"></script>',
                     '<link rel="stylesheet" href="https://fonts.invalid/css">'):
            self.assertEqual(len(self.dead(page)), 1, page)

    def test_an_empty_folder_is_no_site(self):
        with tempfile.TemporaryDirectory() as name:
            self.assertEqual(len(check.dead_in_site(pathlib.Path(name))), 1)


if __name__ == "__main__":
    unittest.main()
