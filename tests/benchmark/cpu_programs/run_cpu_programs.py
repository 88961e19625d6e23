#!/usr/bin/env python3
"""What `roofline profile` says about CPU programs with one known fault, and about healthy ones.

    run_cpu_programs.py ROOFLINE [--emulate] [--machine machine.json] [--only 'column_*,life_*'] [--output FOLDER]
    run_cpu_programs.py ROOFLINE --twins [--only ...]  profiles the programs without their faults, with more work
    run_cpu_programs.py --plain [--only ...]          times of the programs with and without their faults

Each program runs once under the profiler, and three times with and without its fault in alternation. A program prints its
findings: of native samples (profile.wins), and with --emulate the verdict of each loop. The achieved saving is that of
the shortest runs.
"""
import argparse
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import time

FOLDER = pathlib.Path(__file__).resolve().parent
WORK = json.loads((FOLDER / "programs.json").read_text(encoding="utf8"))


def binary(source, fixed, folder):
    """The command of a program; compiled ones are made first."""
    out = folder / (source.stem + (".fixed" if fixed else ""))
    threads = ["-pthread"] if source.suffix == ".cpp" else ["-fopenmp"] if "omp" in source.read_text() else []
    define = ["-DFIXED"] if fixed else []
    options = WORK.get(source.stem, {}).get("options", ["-O2", "-g"])
    ranks = WORK.get(source.stem, {}).get("ranks")
    compilers = {
        ".c": ["mpicc" if ranks else "cc", *options, *define, *threads, "-o", out, source, "-lm"],
        ".cpp": ["c++", "-std=c++20", *options, *define, *threads, "-o", out, source],
        ".F90": ["gfortran", *options, *define, "-o", out, source],
        ".f90": ["gfortran", *options, *define, "-J", folder, "-o", out, source],
        ".rs": ["rustc", "-O", "-g", *(["--cfg", "fixed"] if fixed else []), "-o", out, source],
    }
    interpreters = {".py": "/usr/bin/python3", ".sh": "bash"}
    if source.suffix in interpreters:
        return [interpreters[source.suffix], str(source)]
    subprocess.run(list(map(str, compilers[source.suffix])), check=True)
    return ["mpirun", "-n", str(ranks), "--allow-run-as-root", str(out)] if ranks else [str(out)]


def environment(fixed):
    return dict(os.environ, FIXED="1") if fixed else {k: v for k, v in os.environ.items() if k != "FIXED"}


def seconds(command, fixed, work):
    start = time.monotonic()
    subprocess.run([*command, *work], check=True, stdout=subprocess.DEVNULL, env=environment(fixed))
    return time.monotonic() - start


def best_times(source, folder, repeats):
    commands = {fixed: binary(source, fixed, folder) for fixed in (False, True)}
    times = {False: [], True: []}
    for _ in range(repeats):
        for fixed in (False, True):
            times[fixed].append(seconds(commands[fixed], fixed, []))
    return min(times[False]), min(times[True])


def words_of(work):
    """The arguments of a program: none, a number or several."""
    return [str(word) for word in (work if isinstance(work, list) else [work])] if work else []


def profile(arguments, source, folder):
    fixed = arguments.twins
    work = WORK.get(source.stem, {}).get("twin_work" if fixed else "emulated_work") if fixed or arguments.emulate else None
    out = folder / f"{source.stem}{'.twin' if fixed else ''}{'.emulated' if arguments.emulate else '.native'}"
    options = ["--emulate"] if arguments.emulate else ["--device", "cpu"]
    if arguments.machine:
        options += ["--machine", arguments.machine]
    done = subprocess.run([arguments.roofline, "profile", *options, *arguments.more, "-o", str(out), "--",
                           *binary(source, fixed, folder), *words_of(work)],
                          capture_output=True, text=True, env=environment(fixed))
    (folder / f"{out.name}.txt").write_text(done.stdout + done.stderr)
    if done.returncode != 0:
        print(f"  failed: {done.stderr[-300:]}")
        return None
    return out


def findings(folder):
    """The list of "Where to spend time", the largest saving first."""
    text = (folder / "report.md").read_text(encoding="utf8").replace("\\", "")
    part = text.partition("## Where to spend time")[2].partition("\n## ")[0]
    return [line.partition(". ")[2] for line in part.splitlines() if line[:1].isdigit()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("roofline", nargs="?")
    parser.add_argument("--emulate", action="store_true")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--twins", action="store_true")
    parser.add_argument("--machine")
    parser.add_argument("--only", default="*")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", default="/tmp/cpu_programs")
    parser.add_argument("more", nargs="*")
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    patterns = arguments.only.split(",")
    for kind in ("faults",) if arguments.twins else ("faults", "healthy"):
        for source in sorted((FOLDER / kind).iterdir()):
            if not any(fnmatch.fnmatch(source.stem, pattern) for pattern in patterns):
                continue
            if arguments.plain:
                if kind == "healthy":
                    print(f"{source.name}: {seconds(binary(source, False, folder), False, []):.2f} s", flush=True)
                    continue
                faulty, fixed = best_times(source, folder, arguments.repeats)
                print(f"{source.name}: {faulty:.2f} s, without the fault {fixed:.2f} s: {1 - fixed / faulty:.0%}", flush=True)
                continue
            print(source.name, flush=True)
            report = profile(arguments, source, folder)
            if report is None:
                continue
            print("  " + (report / "report.md").read_text(encoding="utf8").splitlines()[2], flush=True)
            for entry in findings(report)[:5]:
                print(f"  {entry}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
