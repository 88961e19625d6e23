#!/usr/bin/env python3
"""Holds the stall reasons of `roofline profile` against those that Nsight Compute samples in the same kernels.

    tests/benchmark/kernels/compare_ncu.py --planted PROGRAM --reports DIR [--ncu ncu] [--kind faulty] [--only NAME,...]

DIR is the output of run_kernels.py. Prints, for each kernel, the five largest reasons: the share of its samples here and in
ncu, and the largest difference in points. ncu changes neither clocks nor caches.
"""
import argparse
import csv
import io
import json
import pathlib
import re
import subprocess
import sys

LAUNCHES = 5  # of each kernel, their samples added up
LARGEST = 5
METRICS = "group:smsp__pcsamp_warp_stall_reasons"


def shares(counts):
    total = sum(counts.values())
    return {reason: count / total for reason, count in counts.items()} if total else {}


def ours(path):
    """Share of each reason in the kernel with the most samples."""
    kernels = json.loads(path.read_text())["profile"].get("instructions", {}).get("kernels", [])
    if not kernels:
        return {}
    kernel = max(kernels, key=lambda one: one["samples"])
    return shares({one["reason"]: one["samples"] for one in kernel["reasons"]})


def reason_of(column):
    found = re.fullmatch(r"smsp__pcsamp_warps_issue_(?:stalled_)?(\w+)", column)
    return found.group(1) if found and not found.group(1).endswith("_not_issued") else None


def theirs(options, name):
    command = [options.ncu, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--cache-control", "none",
               "--launch-skip", "3", "--launch-count", str(LAUNCHES), "--kernel-name", f"regex:{name}", "--metrics", METRICS,
               options.planted, name, options.kind, "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    counts = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines))):
        for column, value in row.items():
            reason = reason_of(column)
            try:
                counts[reason] = counts.get(reason, 0) + float(value.replace(",", ""))
            except (ValueError, AttributeError):
                pass  # the row of units
    counts.pop(None, None)
    if not counts:
        print(f"{name}: {done.stdout[-300:]}{done.stderr[-300:]}", file=sys.stderr)
    return shares(counts), sum(counts.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planted", required=True)
    parser.add_argument("--reports", type=pathlib.Path, required=True)
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--kind", default="faulty", choices=("faulty", "mended"))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else sorted(
        path.name.split(".")[0] for path in options.reports.glob(f"*.{options.kind}.json"))
    print("| kernel | samples of ncu | largest difference, points | reason: here / ncu, % |\n|---|--:|--:|---|")
    differences = []
    for name in names:
        here = ours(options.reports / f"{name}.{options.kind}.json")
        there, samples = theirs(options, name)
        if not here or not there:
            print(f"| {name} | – | – | not sampled by {'roofline' if not here else 'ncu'} |")
            continue
        largest = sorted(there, key=there.get, reverse=True)[:LARGEST]
        difference = max(abs(here.get(reason, 0) - there[reason]) for reason in largest)
        differences.append(difference)
        cells = ", ".join(f"{reason} {100 * here.get(reason, 0):.1f} / {100 * there[reason]:.1f}" for reason in largest)
        print(f"| {name} | {samples:.0f} | {100 * difference:.1f} | {cells} |", flush=True)
    within = sum(difference <= 0.02 for difference in differences)
    print(f"\n{within} of {len(differences)} kernels within 2 points.")


if __name__ == "__main__":
    main()
