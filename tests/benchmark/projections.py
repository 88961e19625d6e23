#!/usr/bin/env python3
"""How far `roofline project` is from what was measured: reports of the same programs on two machines.

usage: projections.py ROOFLINE FOLDER_A FOLDER_B MACHINE_A MACHINE_B [--least 5e-6]

The folders are those of run_programs.py --output (PROGRAM/report.json). Each program's report is projected onto the other
machine, both ways, and compared with the report from there: each kernel with known work whose launches have the same geometry
and line on both, and each step. Prints a Markdown table: number, median error, error that 90 % are below, and the share whose
measured time is within the projected range.
"""
import argparse
import json
import pathlib
import statistics
import subprocess


def rows_of(report):
    """Rows by what they are; those that are not alone with it are left out."""
    rows = {}
    for row in report["results"]:
        if "profiled" not in row or row["status"] != "ok":
            continue
        kind = row["profiled"]
        key = (kind["full_name"], tuple(kind["grid"]), tuple(kind["block"]), kind.get("line"), kind.get("module"),
               kind.get("range"), kind["graph"])
        rows.setdefault(key, []).append(row)
    return {key: found[0] for key, found in rows.items() if len(found) == 1}


def projected(roofline, report, machine):
    done = subprocess.run([roofline, "project", str(report), "--onto", str(machine), "--format", "json"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["onto"][0]


def line(name, errors, within):
    if not errors:
        return f"| {name} | 0 | | | | |"
    errors = sorted(errors)
    return (f"| {name} | {len(errors)} | {statistics.median(errors):.1%} | {errors[int(0.9 * (len(errors) - 1))]:.1%} | "
            f"{errors[-1]:.1%} | {statistics.mean(within):.0%} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roofline")
    parser.add_argument("a", type=pathlib.Path)
    parser.add_argument("b", type=pathlib.Path)
    parser.add_argument("machine_a")
    parser.add_argument("machine_b")
    parser.add_argument("--least", type=float, default=5e-6, help="seconds; shorter kernels are left out (%(default)s)")
    parser.add_argument("--verbose", action="store_true", help="print each kernel")
    options = parser.parse_args()
    print("| | number | median error | 90 % below | largest | within range |\n|---|---|---|---|---|---|")
    for here, there, onto, way in ((options.a, options.b, options.machine_b, "there"),
                                   (options.b, options.a, options.machine_a, "back")):
        kernels, steps, whole = ([], []), ([], []), ([], [])
        for path in sorted(here.glob("*/report.json")):
            other = there / path.parent.name / "report.json"
            if not other.exists():
                continue
            report, measured = json.loads(path.read_text()), json.loads(other.read_text())
            projection = projected(options.roofline, path, onto)
            by_label = {}
            for row in projection["rows"]:
                by_label.setdefault(row["label"], []).append(row)
            mine, theirs = rows_of(report), rows_of(measured)
            for key in mine.keys() & theirs.keys():
                guess = by_label.get(mine[key]["label"], [])
                if len(guess) != 1 or "why_range" in guess[0] or guess[0]["here_s"] < options.least:
                    continue
                low, high = guess[0]["there"]["range"]
                time = theirs[key]["time_s"]["median"]
                kernels[0].append(abs(guess[0]["there"]["seconds"] / time - 1))
                kernels[1].append(low <= time <= high)
                if options.verbose:
                    print(f"  {path.parent.name:24} {mine[key]['label'][:60]:60} {guess[0]['here_s'] * 1e6:9.1f} "
                          f"{guess[0]['there']['seconds'] * 1e6:9.1f} {time * 1e6:9.1f} us "
                          f"{guess[0]['there']['seconds'] / time - 1:+.1%} {guess[0]['limit_here']}")
            if "steps" in report["profile"] and "steps" in measured["profile"] and "step" in projection:
                wanted = measured["profile"]["steps"]
                time = wanted["total_s"] / wanted["count"]
                low, high = projection["there"]["range"]
                to = whole if projection["projected_share"] > 0.9 else steps
                to[0].append(abs(projection["there"]["seconds"] / time - 1))
                to[1].append(low <= time <= high)
                if options.verbose:
                    print(f"  {path.parent.name:24} STEP {projection['here_s'] * 1e3:.3f} "
                          f"{projection['there']['seconds'] * 1e3:.3f} {time * 1e3:.3f} ms "
                          f"known {projection['projected_share']:.0%}")
        print(line(f"kernels, {way}", *kernels))
        print(line(f"steps of known work, {way}", *whole))
        print(line(f"other steps, {way}", *steps))


if __name__ == "__main__":
    main()
