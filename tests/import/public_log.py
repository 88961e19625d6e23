#!/usr/bin/env python3
"""Fills docs/evidence/public-files.tsv: each public file with what a script expects of it, and what is imported.

    public_log.py ROOFLINE LOG.tsv FOLDER [--list FILES]

The first column of LOG.tsv names each file as owner/repository@commit:path. FOLDER has clones, as owner+repository/repo,
owner+repository or owner/repository; files whose repository is not there are left as they are. --list adds files, one
a line, in the same spelling. Nothing is downloaded. Expected figures are those of public_files.py, which has readers of
its own. Exits with 1 if a figure differs.
"""
import argparse
import collections
import gzip
import pathlib
import subprocess
import sys
import tempfile

import public_files

HEADER = ("file", "format", "expected", "got", "verdict")
FIGURES = {"names": "kernels", "kernels": "launches", "kernel_s": "time_s", "copies": "copies", "bytes": "copied_bytes",
           "flops": "product_flops", "work_flops": "flops", "work_bytes": "bytes"}


def repository_in(folder, name):
    owner, project = name.split("/")
    for place in (f"{owner}+{project}/repo", f"{owner}+{project}", f"{owner}/{project}"):
        for git in (folder / place / ".git", folder / place):
            if (git / "HEAD").exists():
                return git
    return None


def git(repository, *arguments):
    return subprocess.run(["git", f"--git-dir={repository}", *arguments], capture_output=True, check=True).stdout


def extracted(repository, commit, path, folder):
    """The file, with those beside it where a folder is one profile."""
    parent = str(pathlib.PurePosixPath(path).parent)
    names = [path]
    if path.endswith("pmc_perf.csv"):
        beside = git(repository, "ls-tree", "--name-only", commit, parent + "/").decode().split("\n")
        names += [name for name in beside if name.endswith(("sysinfo.csv", "roofline.csv"))]
    for name in names:
        out = folder / pathlib.PurePosixPath(name).name
        out.write_bytes(git(repository, "cat-file", "blob", f"{commit}:{name}"))
    return folder / pathlib.PurePosixPath(path).name


def format_of(path):
    """By its name and its beginning, for the log."""
    beginning = path.read_bytes()[:1 << 16]
    if beginning[:2] == b"\x1f\x8b":
        with gzip.open(path) as unpacked:
            beginning = unpacked.read(1 << 16)
    by_name = {".ncu-rep": "ncu report", ".sqlite": "nsys SQLite", ".pb": "xplane.pb", ".hatchet": "Proton tree",
               ".db": "rocpd database"}
    if path.suffix in by_name:
        return by_name[path.suffix]
    marks = ((b"STRUCT,Info,", "likwid-perfctr"), (b"Total Time (ns)", "nsys stats"), (b'"nvbench"', "nvbench JSON"),
             (b'"empirical"', "ERT"), (b'"averageMs"', "trtexec layers"), (b'"real_time"', "Google Benchmark JSON"),
             (b"rocprofiler-sdk-tool", "rocprofv3 JSON"), (b"traceEvents", "PyTorch trace"))
    if path.name == "pmc_perf.csv":
        return "rocprof-compute"
    if path.suffix == ".csv" and (b"Start_Timestamp" in beginning or b"BeginNs" in beginning):
        return "rocprof CSV"
    return next((name for mark, name in marks if mark in beginning), "ncu CSV" if path.suffix == ".csv" else "other")


def figures(found):
    roofs = [f"roofs={','.join(f'{roof:.6g}' for roof in found['roofs'])}"] if found.get("roofs") else []
    return " ".join([f"{name}={found[key]:.9g}" for key, name in FIGURES.items() if found.get(key) is not None] + roofs)


def logged(roofline, name, folder):
    """The row of one file; None without its repository."""
    repository, place = name.split("@", 1)
    commit, path = place.split(":", 1)
    clone = repository_in(folder, repository)
    if clone is None:
        return None
    with tempfile.TemporaryDirectory() as temporary:
        file = extracted(clone, commit, path, pathlib.Path(temporary))
        got = public_files.imported(roofline, file)
        kind = format_of(file)
        try:
            expected = public_files.READERS[file.suffix](file)
        except public_files.NOT_READ as error:
            expected = {}
            if not isinstance(got, list):
                return (name, kind, f"not read by the script: {type(error).__name__}", figures(got), "unchecked")
    if isinstance(got, list):
        reason = got[0].split(": ", 2)[-1] if got else "no report"
        return (name, kind, figures(expected) if expected.get("kernels") else "no kernels", reason,
                "WRONG" if expected.get("kernels") else "refused")
    wrong = public_files.wrong_figures(expected, got)
    shown = {key: value for key, value in got.items() if expected.get(key) is not None}
    cut = expected["overlaps"] and not wrong and got["kernel_s"] < expected["kernel_s"] * (1 - 1e-6)
    return (name, kind, figures(expected), figures(shown), "WRONG" if wrong else "cut" if cut else "same")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("roofline")
    parser.add_argument("log", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--list", type=pathlib.Path)
    given = parser.parse_args()
    lines = given.log.read_text().splitlines()[1:] if given.log.exists() else []
    rows = {row[0]: row for row in (tuple(line.split("\t")) for line in lines)}
    names = list(rows) + ([name for name in given.list.read_text().split("\n") if name] if given.list else [])
    for name in names:
        row = logged(given.roofline, name, given.folder)
        if row:
            rows[name] = row
            print(*row, sep="\t", flush=True)
    ordered = sorted(rows.values(), key=lambda row: (row[1], row[0].lower()))
    given.log.write_text("".join("\t".join(row) + "\n" for row in (HEADER, *ordered)))
    counts = collections.Counter(row[4] for row in ordered)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()), file=sys.stderr)
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
