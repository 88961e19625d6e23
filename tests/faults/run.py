#!/usr/bin/env python3
"""The binary under faults of the system, and killed at any moment: afterwards there are the old files or the new ones,
whole, a message, a documented exit code, and no process.

usage: run.py ROOFLINE INJECT_LIBRARY [--short] [--table FILE] [--jobs N] [--only TEXT]

--short runs a part of it (for every test run), --table writes what happened as Markdown (docs/evidence/faults.md).
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import errno
import json
import os
import pathlib
import platform
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

CALLS = ("open read write close rename link unlink mkdir fork pipe poll wait mmap malloc perf clock thread "
         "moment").split()  # as in inject.cpp
DOCUMENTED = {0, 1, 2, 4}
NEVER = 10**15

# A row that is timed and many that are not: these cost no time, and each is written as any other.
SUITE = """\
name: faults
workloads:
  - { op: relu, dtype: fp32, shape: { n: 2000 } }
  - { op: relu, dtype: fp8, shape: { n: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] } }
"""
ROWS = 12


@dataclasses.dataclass
class Fault:
    """One run: what is to happen in which process, and how the table calls it."""
    scenario: str
    name: str
    who: str = "parent"
    call: str = "moment"
    what: object = "kill"
    first: int = 1
    count: int = 1
    arguments: tuple = ()
    counters: bool = False

    def words(self):
        return f"{self.who} {self.call} {self.what} {self.first} {self.count}"


@dataclasses.dataclass
class Outcome:
    fault: Fault
    code: int = 0
    struck: int = 0
    files: str = ""
    message: str = ""
    problems: tuple = ()


class Harness:
    def __init__(self, roofline, inject, folder):
        self.roofline, self.inject, self.folder = roofline, inject, folder
        self.environment = dict(os.environ, NO_COLOR="1", XDG_CACHE_HOME=str(folder / "cache"))
        (folder / "suite.yaml").write_text(SUITE)
        self.calibrate(folder)
        self.machine = folder / "machine.json"
        # The old files: of another suite, so that they can't be taken for new ones.
        (folder / "old.yaml").write_text(SUITE.replace("faults", "old").replace("2000", "2001"))
        for command in (self.analyze("old.yaml", "old"), self.analyze("suite.yaml", "trial")):
            done = subprocess.run(command, env=self.environment, cwd=folder, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr

    def calibrate(self, folder):
        done = subprocess.run([self.roofline, "calibrate", "--device", "cpu", "--threads", "1", "--quick", "--time", "1",
                               "-o", "machine.json"], env=self.environment, cwd=folder, capture_output=True, text=True)
        assert (folder / "machine.json").exists(), done.stdout + done.stderr
        # Also where a busy machine had no time for any ceiling.
        kept = folder / "cache/roofline" / (json.loads((folder / "machine.json").read_text())["device"]["identity"] + ".json")
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "machine.json", kept)

    def analyze(self, suite, output, *more):
        return [self.roofline, "analyze", suite, "--device", "cpu", "--threads", "1", "--machine", "machine.json",
                "--max-time", "0.01", "-o", output, *more]

    def command(self, fault):
        if fault.scenario == "analyze":
            return self.analyze("suite.yaml", "out", *fault.arguments, *(["--counters"] if fault.counters else []))
        if fault.scenario == "report":
            return [self.roofline, "report", "out/report.json", "--format", "csv,md,svg", "-o", "out"]
        if fault.scenario == "picture":
            return [self.roofline, "report", "out/report.json", "--format", "png,pdf", "-o", "out"]
        return [self.roofline, "calibrate", "--device", "cpu", "--threads", "1", "--quick", "--time", "2",
                *fault.arguments]

    def counts(self, scenario, mode="parent moment 0"):
        """How often each call is made by the parent and by its children when nothing goes wrong."""
        outcome_log = {}
        self.run(Fault(scenario, "none", *mode.split(), NEVER), log=outcome_log)
        return outcome_log["calls"]

    def run(self, fault, log=None):
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="run-") as name:
            folder = pathlib.Path(name)
            for file in ("suite.yaml", "machine.json"):
                shutil.copy(self.folder / file, folder / file)
            shutil.copytree(self.folder / "old", folder / "out")
            shutil.copytree(self.folder / "cache", folder / "cache")
            return self.run_in(folder, fault, log)

    def run_in(self, folder, fault, log):
        marker = f"ROOFLINE_FAULT_RUN={folder.name}"
        environment = dict(self.environment, XDG_CACHE_HOME=str(folder / "cache"), LD_PRELOAD=self.inject,
                           ROOFLINE_FAULT=fault.words(), ROOFLINE_FAULT_LOG=str(folder / "log"),
                           ROOFLINE_FAULT_RUN=folder.name)
        before = contents(folder)
        process = subprocess.Popen(self.command(fault), env=environment, cwd=folder, text=True, errors="replace",
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        problems = []
        try:
            stdout, stderr = process.communicate(timeout=600)
        except subprocess.TimeoutExpired:
            problems.append("it never ended")
            process.kill()
            stdout, stderr = process.communicate()
        calls, struck = read_log(folder / "log")
        if log is not None:
            log["calls"] = calls
        killed = fault.what == "kill" and fault.who == "parent" and struck > 0
        if killed and process.returncode != -signal.SIGKILL:
            problems.append(f"it outlived SIGKILL: {process.returncode}")
        if not killed and process.returncode not in DOCUMENTED:
            problems.append(f"ended with {process.returncode}, which is not documented")
        message = next((line for line in stderr.splitlines() if line.startswith("roofline: ")), "")
        if not killed and process.returncode == 2 and not message and "not stored: " not in stderr:
            problems.append("no message")
        if process.returncode == 1 and not message and "failed" not in stdout and "not stored: " not in stderr:
            problems.append("no message")
        files, broken = self.look_at(folder, before, fault, killed)
        problems += broken
        left = processes_of(marker)
        if left:
            problems.append(f"processes stay: {left}")
        if problems and "--verbose" in sys.argv:
            print(fault, process.returncode, stdout, stderr, file=sys.stderr)
        reason = message.removeprefix("roofline: ") or failed_row(stdout)
        return Outcome(fault, process.returncode, struck, files, reason.replace(str(folder) + "/", ""), tuple(problems))

    def look_at(self, folder, before, fault, killed):
        """In a word what the files are now, and what is wrong with them."""
        problems, changed, same = [], 0, 0
        after = contents(folder)
        for name, old in before.items():
            if name not in after:
                problems.append(f"{name} is gone")
            elif after[name] == old:
                same += 1
            else:
                changed += 1
                problems += [f"{name} is broken: {why}" for why in broken(name, after[name])]
        for name in after.keys() - before.keys():
            if ".tmp" in name:
                if not killed and fault.call != "unlink":
                    problems.append(f"{name} stays behind")
            elif name != "log":
                problems += [f"{name} is broken: {why}" for why in broken(name, after[name])]
        report = json.loads(after["out/report.json"])
        words = "old" if changed == 0 else "new" if same == 0 else "old and new"
        if fault.scenario == "analyze" and report["invocation"]["suite"] == "faults":
            problems += self.unfinished_is_told(folder, report)
            words += "" if report["complete"] else ", unfinished"
        return words, problems

    def unfinished_is_told(self, folder, report):
        rows = len(report["results"])
        if report["complete"]:
            return [] if rows == ROWS else [f"complete, with {rows} rows of {ROWS}"]
        problems = [] if report["rows_planned"] == ROWS else ["rows planned are wrong"]
        done = subprocess.run([self.roofline, "report", folder / "out/report.json", "--format", "md", "-o", "-"],
                              env=self.environment, capture_output=True, text=True)
        if done.returncode != 0 or "run is incomplete" not in done.stdout:
            problems.append("the report does not say that it is unfinished: " + done.stderr)
        return problems


def read_log(path):
    """Calls of the parent and of its children, and how often the fault struck."""
    size = 2 * len(CALLS) + 1
    data = path.read_bytes() if path.exists() else b""
    numbers = struct.unpack(f"{size}Q", data) if len(data) == 8 * size else (0,) * size
    of = [dict(zip(CALLS, numbers[role * len(CALLS):])) for role in (0, 1)]
    return {"parent": of[0], "child": of[1]}, numbers[-1]


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*")
            if path.is_file() and path.name not in ("suite.yaml", "log")}


def broken(name, data):
    """Why the file is not whole."""
    ends = {".html": b"</html>\n", ".svg": b"</svg>\n", ".png": b"IEND\xaeB`\x82", ".md": b"\n", ".csv": b"\n"}
    ending = pathlib.Path(name).suffix
    if ending == ".json":
        try:
            document = json.loads(data)
            return [] if document.get("schema", "").startswith("roofline.") else ["no schema"]
        except ValueError as error:
            return [str(error)]
    if ending == ".csv":
        lines = data.decode().split("\n")
        return [] if lines[-1] == "" and len(lines) == ROWS + 2 else [f"{len(lines) - 2} rows"]
    return [] if data.endswith(ends.get(ending, b"")) else ["it has no end"]


def processes_of(marker):
    """Those that the run has left; the system may take a moment to end them."""
    deadline = time.monotonic() + 10
    while True:
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                ended = (path / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
                if not ended and marker.encode() in (path / "environ").read_bytes().split(b"\0"):
                    found.append(path.name)
            except OSError:
                pass
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def failed_row(stdout):
    lines = stdout.splitlines()
    for i, line in enumerate(lines):
        if line.startswith("  failed  ") and i + 1 < len(lines):
            return "a row: " + lines[i + 1].strip()
    return ""


def spread(total, most):
    """Up to `most` of 1 to `total`, the first and the last among them."""
    if most == 1:
        return [max(1, total // 2)]
    if total <= most:
        return list(range(1, total + 1))
    return sorted({1 + round(i * (total - 1) / (most - 1)) for i in range(most)})


def name_of(code):
    return errno.errorcode.get(code, str(code))


def plan(harness, short):
    """All the faults, as many as the program makes calls that can fail."""
    faults = []
    most = 1 if short else 4
    usual = harness.counts("analyze")

    def add(scenario, who, call, what, name, count=1, places=most, calls=None, **more):
        places_of = [1] if count >= NEVER else spread((calls or usual)[who][call], places)
        for first in places_of:
            faults.append(Fault(scenario, name, who, call, what, first, count, **more))

    refusals = {"open": (errno.ENOSPC, errno.EACCES, errno.EMFILE), "write": (errno.ENOSPC, errno.EIO),
                "close": (errno.EIO,), "rename": (errno.EIO, errno.ENOSPC), "unlink": (errno.EIO,),
                "fork": (errno.EAGAIN, errno.ENOMEM), "pipe": (errno.EMFILE,), "read": (errno.EIO,),
                "thread": (errno.EAGAIN,), "malloc": (errno.ENOMEM,), "link": (errno.EPERM,)}
    for call, errors in refusals.items():
        for code in errors[:1] if short else errors:
            add("analyze", "parent", call, code, f"{call}: {name_of(code)}", places=4 * most if call == "malloc" else most)
    add("analyze", "parent", "write", errno.ENOSPC, "write: ENOSPC, from then on", count=NEVER)
    add("analyze", "parent", "link", errno.EPERM, "link: EPERM always (a file system without links)", count=NEVER)
    add("analyze", "any", "write", "short", "write: always half of it", count=NEVER)
    for call in ("read", "write", "poll", "wait"):
        add("analyze", "parent", call, errno.EINTR, f"{call}: EINTR three times", count=3)
    for jump in (86400 * 400, -86400 * 400):
        add("analyze", "parent", "clock", jump, f"clock: jumps by {jump} s", count=10**6, places=1)
    add("analyze", "child", "mmap", errno.ENOMEM, "child, mmap: ENOMEM")
    add("analyze", "child", "malloc", errno.ENOMEM, "child, malloc: ENOMEM", places=4 * most)
    add("analyze", "child", "write", errno.EPIPE, "child, write: EPIPE")
    add("analyze", "child", "write", errno.EINTR, "child, write: EINTR three times", count=3)
    add("analyze", "child", "thread", errno.EAGAIN, "child, thread: EAGAIN")
    add("analyze", "child", "write", "kill", "child, SIGKILL at a write")
    limit = dict(arguments=("--row-limit", "3"))
    # Of the child that times rows, which is the last: the one that looks for devices has a limit of minutes.
    for first in [usual["child"]["mmap"] * 3 // 4] if short else [usual["child"]["mmap"] * n // 8 for n in (5, 6, 7)]:
        faults.append(Fault("analyze", "child, a call that never returns", "child", "mmap", "hang", first, **limit))
        faults.append(Fault("analyze", "child, SIGSTOP", "child", "mmap", "stop", first, **limit))
    for code in (errno.EACCES,) if short else (errno.EACCES, errno.ENOSYS, errno.EMFILE):
        faults.append(Fault("analyze", f"perf_event_open: {name_of(code)}", "any", "perf", code, 1, NEVER, counters=True))

    calibration = harness.counts("calibrate")
    for call in ("write",) if short else ("open", "write", "rename"):
        add("calibrate", "parent", call, errno.ENOSPC, f"{call}: ENOSPC", calls=calibration, places=min(most, 3))
    report = harness.counts("report")
    for call in ("open", "write", "rename"):
        add("report", "parent", call, errno.ENOSPC, f"{call}: ENOSPC", calls=report)
    # Libraries that draw may crash in their process, and only there.
    picture = harness.counts("picture")
    for who in ("parent", "child"):
        add("picture", who, "malloc", errno.ENOMEM, f"{who}, malloc: ENOMEM", calls=picture, places=8 * most)

    # The kills: some in each scenario, 200 of analyze's moments.
    moments = harness.counts("analyze")["parent"]["moment"]
    for first in spread(moments, 10 if short else 200):
        faults.append(Fault("analyze", "SIGKILL", first=first))
    for scenario, calls in (("calibrate", calibration), ("report", report)):
        for first in spread(calls["parent"]["moment"], 1 if short else 12):
            faults.append(Fault(scenario, "SIGKILL", first=first))
    return faults


def table(outcomes):
    rows = collections.defaultdict(list)
    for outcome in sorted(outcomes, key=lambda o: (o.fault.scenario, o.fault.name, o.fault.first)):
        rows[(outcome.fault.scenario, outcome.fault.name)].append(outcome)
    text = f"""\
# System faults and kills

- **Result:** {len(outcomes)} runs, the fault occurred in {sum(o.struck > 0 for o in outcomes)}, {sum(bool(o.problems) for o in outcomes)} failures
- **Command:** `tests/faults/run.py build/local/roofline build/local/tests/libroofline_faults.so --table docs/evidence/faults.md`
- **Machine:** {os.cpu_count()} CPUs, {platform.system()} {platform.release()} {platform.machine()}
- **Date:** {time.strftime("%-d %B %Y", time.gmtime())}

`tests/faults/run.py` runs the binary with a library that makes system calls fail, and kills it.
Requirements: every file is complete, old or new; incomplete reports say so; the exit code is a documented one; every error has a
message; no process is left.

Build first: `cmake --build build/local --target roofline roofline_faults`. A short version is part of the tests
(`ctest -R faults`).

"Runs" is the number of injection points, spread over the run; "occurred" counts those that were reached, because the number of calls
varies between runs. In "files afterwards", "old and new" means that some outputs had been replaced, each completely.

| command | fault | runs | occurred | exit codes | files afterwards | last message |
|:--|:--|--:|--:|:--|:--|:--|
"""
    for (scenario, name), some in rows.items():
        codes = collections.Counter("killed" if o.code == -9 else str(o.code) for o in some)
        files = collections.Counter(o.files for o in some)
        said = [o.message for o in some if o.message]
        listed = lambda counter: ", ".join(f"{what} ({n})" if len(counter) > 1 else what for what, n in counter.most_common())
        message = re.sub(r"[0-9]+-[0-9a-f]{8}\.tmp", "….tmp", said[-1]).replace("|", "\\|") if said else ""
        text += (f"| {scenario} | {name} | {len(some)} | {sum(o.struck > 0 for o in some)} | {listed(codes)} | "
                 f"{listed(files)} | {message} |\n")
    problems = [f"- {o.fault.scenario}, {o.fault.name} (`{o.fault.words()}`): {problem}\n" for o in outcomes
                for problem in o.problems]
    return text + ("\n## Problems\n\n" + "".join(problems) if problems else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roofline")
    parser.add_argument("inject")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--table")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="roofline-faults-") as folder:
        harness = Harness(os.path.abspath(options.roofline), os.path.abspath(options.inject), pathlib.Path(folder))
        faults = [fault for fault in plan(harness, options.short) if options.only in f"{fault.scenario} {fault.name}"]
        random.Random(1).shuffle(faults)  # so that what is written after a part of them speaks of all
        outcomes = []
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for outcome in pool.map(harness.run, faults):
                outcomes.append(outcome)
                if options.table:
                    pathlib.Path(options.table).write_text(table(outcomes))
    seconds = time.monotonic() - begin
    for outcome in outcomes:
        for problem in outcome.problems:
            print(f"{outcome.fault.scenario}: {outcome.fault.name} ({outcome.fault.words()}): {problem}")
    broken_runs = sum(bool(outcome.problems) for outcome in outcomes)
    print(f"{len(outcomes)} runs, {sum(o.struck > 0 for o in outcomes)} faults struck, {broken_runs} with a problem, "
          f"{seconds:.0f} s")
    return 1 if broken_runs else 0


if __name__ == "__main__":
    sys.exit(main())
