#!/usr/bin/env python3
"""Shares of CPU time by function: roofline's samples beside those of `perf record`, in turn, on one program.

usage: shares_beside_perf.py PATH_OF_ROOFLINE PROGRAM [ARGUMENTS]

Both sample user code by the software clock, 997 times per second. Prints each function with 2 % of the time or more, and
the largest difference in points. The counted run of roofline is cut short: only its native samples matter here.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

LEAST = 2.0  # percent


def plain(name):
    """Without parameters, hashes of Rust and clones of GCC."""
    name = re.sub(r"^(void|int|bool|double|float) ", "", name)
    name = re.sub(r"::h[0-9a-f]{16}$|\.(constprop|isra|part|lto_priv|_omp_fn|cold)\b.*$| \[clone.*$", "", name)
    return re.sub(r"\(.*$|\s+-\s+-\s*$", "", name).strip()


def of_roofline(roofline, program, folder):
    command = [roofline, "profile", "--emulate", "--count-time", "2s", "--device", "cpu", "-o", folder / "out", "--", *program]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    report = json.loads((folder / "out/report.json").read_text(encoding="utf8"))
    shares = collections.Counter()
    for row in report["results"]:
        shares[plain(row["profiled"].get("full_name") or row["label"])] += 100 * row["profiled"]["loop"]["share"]
    return shares


def of_perf(program, folder):
    data = folder / "perf.data"
    subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "997", "-o", data, "--", *program],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    text = subprocess.run(["perf", "report", "-i", data, "--stdio", "--sort", "symbol", "--demangle", "-g", "none"],
                          capture_output=True, text=True, check=True).stdout
    shares = collections.Counter()
    for share, name in re.findall(r"^\s*([\d.]+)%\s+\[\.\] (.+?)\s*$", text, re.M):
        shares[plain(name)] += float(share)
    return shares


def main():
    roofline, program = pathlib.Path(sys.argv[1]).absolute(), sys.argv[2:]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        ours, theirs = of_roofline(roofline, program, folder), of_perf(program, folder)
    names = sorted((name for name in ours | theirs if max(ours[name], theirs[name]) >= LEAST), key=lambda n: -theirs[n])
    for name in names:
        print(f"{name[:60]:60} {ours[name]:6.1f} {theirs[name]:6.1f}")
    print(f"largest difference: {max((abs(ours[name] - theirs[name]) for name in names), default=0):.1f} points")


if __name__ == "__main__":
    main()
