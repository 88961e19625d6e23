#!/usr/bin/env python3
"""Runs `roofline profile` on programs with one planted fault each and on healthy ones, and scores the answers.

usage: run_programs.py ROOFLINE [options] [-- options of roofline profile]

Prints a table in Markdown. The exit status is 0 if at most two faults are not right, every healthy program is clean, and
all foreign programs ran. README.md defines the scores.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import queue
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

import scoring

HERE = scoring.HERE


@dataclass
class Result:
    program: scoring.Program
    profile: dict = None  # None: it did not run
    score: scoring.Score = None  # None for programs without expectation
    message: str = ""  # why it did not run
    plain: list = field(default_factory=list)  # steps a second without the profiler, one per turn
    profiled: list = field(default_factory=list)


class DidNotRun(Exception):
    pass


def chosen_programs(options):
    programs = scoring.read_programs()
    if options.only:
        patterns = options.only.split(",")
        programs = [program for program in programs
                    if any(fnmatch.fnmatch(name, pattern) for pattern in patterns
                           for name in (program.name, program.path.stem))]
    else:
        programs = [program for program in programs if program.group in options.groups.split(",")]
    if options.shard:
        index, count = (int(part) for part in options.shard.split("/"))
        programs = programs[index - 1::count]
    if not programs:
        sys.exit("No program has this name, group or shard; --list prints all of them.")
    return programs


def visible_gpus():
    """Values of CUDA_VISIBLE_DEVICES with one GPU each; None: leave the variable alone."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given:
        return given.split(",")
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return [None]
    return [str(number) for number in range(listed.count("GPU "))] or [None]


class Runner:
    def __init__(self, roofline, profile_options, options, folder):
        self.roofline, self.profile_options, self.options, self.folder = roofline, profile_options, options, folder
        gpus = visible_gpus() if options.jobs > 1 else [None]
        self.free_gpus = queue.Queue()
        for job in range(options.jobs):
            self.free_gpus.put(gpus[job % len(gpus)])

    def command(self, program):
        if program.path.suffix == ".py":
            return [sys.executable, str(program.path)]
        binary = self.folder / program.path.stem
        if not binary.exists() or binary.stat().st_mtime < program.path.stat().st_mtime:
            self.execute(["nvcc", "-O2", "-g", "-lineinfo", "-std=c++17", "-arch=native", "-o", str(binary),
                          str(program.path)], dict(os.environ), self.folder / f"{program.name}.build.log")
        return [str(binary)]

    def environment(self, program, gpu):
        paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
        seconds = max(self.options.seconds, program.least_seconds)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "SECONDS_OF_WORK": str(seconds)}
        if gpu is not None:
            environment["CUDA_VISIBLE_DEVICES"] = gpu
        return environment

    def execute(self, command, environment, log):
        """The output; raises DidNotRun with its last line."""
        with open(log, "w") as output:
            try:
                process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                           stderr=subprocess.STDOUT, start_new_session=True)
            except OSError as error:
                raise DidNotRun(str(error)) from error
            try:
                status = process.wait(timeout=self.options.timeout)
            except subprocess.TimeoutExpired:
                status = None
                stop(process)
            finally:
                end_session(process)
        text = log.read_text(errors="replace")
        if status == 0:
            return text
        last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no output")
        what = f"no end within {self.options.timeout:g} s" if status is None else f"exit status {status}"
        raise DidNotRun(f"{what}: {last} ({log})")

    def profile(self, program, command, environment):
        report = self.folder / program.name
        output = self.execute([self.roofline, "profile", *self.profile_options, "-o", str(report), "--", *command],
                              environment, self.folder / f"{program.name}.log")
        return output, read_profile(report)

    def run(self, program):
        result = Result(program)
        gpu = self.free_gpus.get()
        begin = time.monotonic()
        try:
            command, environment = self.command(program), self.environment(program, gpu)
            if self.options.plain:
                output = self.execute(command, environment, self.folder / f"{program.name}.plain.log")
                result.plain.append(rate_of(output))
                return result
            for _ in range(self.options.overhead or 1):
                if self.options.overhead:
                    plain = self.execute(command, environment, self.folder / f"{program.name}.plain.log")
                    result.plain.append(rate_of(plain))
                output, result.profile = self.profile(program, command, environment)
                result.profiled.append(rate_of(output))
            result.score = scoring.score(program, result.profile)
        except DidNotRun as failure:
            result.profile, result.message = None, str(failure)
            result.score = scoring.Score(scoring.DID_NOT_RUN, (result.message,))
        finally:
            self.free_gpus.put(gpu)
            verdict = result.score.verdict if result.score else "ran"
            print(f"{program.name}: {verdict} ({time.monotonic() - begin:.1f} s) {result.message}", file=sys.stderr,
                  flush=True)
        return result


def stop(process):
    """Gives the profiler time to end its program."""
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        pass


def end_session(process):
    """Ends what a program left running in its own session, as DataLoader workers of a killed one."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def read_profile(folder):
    try:
        profile = json.loads((folder / "report.json").read_text()).get("profile")
    except (OSError, ValueError) as error:
        raise DidNotRun(f"no report: {error}") from error
    if profile is None:
        raise DidNotRun(f"the report has no profile ({folder})")
    return profile


def rate_of(output):
    """Steps a second, as the program printed them; None if it prints none."""
    found = re.search(r"^steps (\d+) in ([0-9.]+) s$", output, re.MULTILINE)
    return int(found.group(1)) / float(found.group(2)) if found else None


def read_results(programs, folder):
    """Of reports that an earlier run left in `folder`."""
    for program in programs:
        try:
            profile = read_profile(folder / program.name)
        except DidNotRun as failure:
            yield Result(program, message=str(failure), score=scoring.Score(scoring.DID_NOT_RUN, (str(failure),)))
        else:
            yield Result(program, profile, scoring.score(program, profile))


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def row(cells):
    return "| " + " | ".join(map(cell, cells)) + " |"


def share(saving, profile):
    total = scoring.steps_time(profile)
    return f"{saving.get('seconds', 0) / total:.0%}" if total else "?"


def table_of_scores(results):
    yield row(["program", "wanted", "first finding", "line", "saving", "score", "reason"])
    yield row(["---"] * 7)
    for result in results:
        program, savings = result.program, (result.profile or {}).get("wins", [])
        first = savings[0] if savings else {}
        yield row([program.name, program.causes[0] if program.causes else "nothing", first.get("cause", ""),
                   first.get("line", ""), share(first, result.profile) if first else "", result.score.verdict,
                   ", ".join(result.score.reasons)])


def table_without_scores(results):
    yield row(["program", "first finding", "cause", "line", "saving", "action"])
    yield row(["---"] * 6)
    for result in results:
        if result.profile is None:
            yield row([result.program.name, result.message, "", "", "", ""])
            continue
        savings = result.profile.get("wins", [])
        first = savings[0] if savings else {}
        yield row([result.program.name, first.get("what", "none"), first.get("cause", ""), first.get("line", ""),
                   share(first, result.profile) if first else "", first.get("action", "")])


def table_of_overhead(results):
    yield row(["program", "steps/s without", "steps/s with", "slow-down"])
    yield row(["---"] * 4)
    for result in results:
        if result.profile is None or None in result.plain + result.profiled:
            continue
        plain, profiled = statistics.median(result.plain), statistics.median(result.profiled)
        yield row([result.program.name, f"{plain:.1f}", f"{profiled:.1f}", f"{plain / profiled - 1:+.1%}"])


def table_of_rates(results):
    yield row(["program", "steps/s"])
    yield row(["---"] * 2)
    for result in results:
        rate = result.plain[0] if result.plain else None
        yield row([result.program.name, result.message or (f"{rate:.1f}" if rate else "ran")])


def totals(results):
    faulty = [result for result in results if result.program.faulty]
    healthy = [result for result in results if result.program.group == "healthy"]
    if faulty:
        counts = [f"{sum(result.score.verdict == verdict for result in faulty)} {verdict}"
                  for verdict in (scoring.RIGHT, scoring.IN_PART, scoring.MISSED, scoring.DID_NOT_RUN)]
        yield f"Of {len(faulty)} faults: {', '.join(counts)}."
    if healthy:
        counts = [f"{sum(result.score.verdict == verdict for result in healthy)} {verdict}"
                  for verdict in (scoring.CLEAN, scoring.INVENTED, scoring.DID_NOT_RUN)]
        yield f"Of {len(healthy)} healthy programs: {', '.join(counts)}."


def print_results(results, overhead):
    scored = [result for result in results if result.program.group != "foreign"]
    foreign = [result for result in results if result.program.group == "foreign"]
    sections = []
    if scored:
        sections += [table_of_scores(scored), totals(scored)]
    if foreign:
        sections.append(table_without_scores(foreign))
    if overhead:
        sections.append(table_of_overhead(results))
    print("\n\n".join("\n".join(section) for section in sections))


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roofline", nargs="?", help="the program; not needed with --plain, --list and --score")
    parser.add_argument("--only", metavar="PATTERNS", help="programs by name, such as 'data_*,gil_thread'")
    parser.add_argument("--groups", default="faults,healthy", help="of faults, more, healthy, foreign (%(default)s)")
    parser.add_argument("--shard", metavar="I/N", help="every Nth program, from the Ith on")
    parser.add_argument("--seconds", type=float, default=3, help="of work per program (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1,
                        help="programs at a time, on different GPUs if there are several")
    parser.add_argument("--timeout", type=float, default=180, help="seconds for one run (%(default)s)")
    parser.add_argument("--overhead", type=int, default=0, metavar="N",
                        help="N turns without and with the profiler; prints the slow-down")
    parser.add_argument("--plain", action="store_true", help="only run the programs, without the profiler")
    parser.add_argument("--output", type=pathlib.Path, metavar="FOLDER",
                        help="keep reports and logs here (default: a temporary folder)")
    parser.add_argument("--score", type=pathlib.Path, metavar="FOLDER",
                        help="score the reports that --output has kept, of all shards; run nothing")
    parser.add_argument("--list", action="store_true", help="print the chosen programs")
    options = parser.parse_args(arguments)
    if not (options.roofline or options.plain or options.list or options.score):
        parser.error("the path of roofline is missing")
    if options.shard and not re.fullmatch(r"[1-9]\d*/[1-9]\d*", options.shard):
        parser.error("--shard takes two numbers, such as 1/4")
    return options


def run_all(programs, options, profile_options, folder):
    folder.mkdir(parents=True, exist_ok=True)
    runner = Runner(options.roofline and os.path.abspath(options.roofline), profile_options, options, folder.resolve())
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return list(pool.map(runner.run, programs))


def main():
    arguments = sys.argv[1:]
    separator = arguments.index("--") if "--" in arguments else len(arguments)
    options = parse_arguments(arguments[:separator])
    programs = chosen_programs(options)
    if options.list:
        print("\n".join(f"{program.group:<8} {program.name}" for program in programs))
        return 0
    if options.score:
        results = list(read_results(programs, options.score))
    elif options.output:
        results = run_all(programs, options, arguments[separator + 1:], options.output)
    else:
        with tempfile.TemporaryDirectory(prefix="roofline-programs-") as folder:
            results = run_all(programs, options, arguments[separator + 1:], pathlib.Path(folder))
    if options.plain:
        print("\n".join(table_of_rates(results)))
        return 1 if any(result.message for result in results) else 0
    print_results(results, options.overhead)
    foreign_ran = all(result.profile is not None for result in results if result.program.group == "foreign")
    scores = [(result.program, result.score) for result in results if result.program.group != "foreign"]
    return 0 if foreign_ran and scoring.passed(scores) else 1


if __name__ == "__main__":
    sys.exit(main())
