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
import subprocess
import sys
import tempfile
import time

import scoring
import tables
from tables import Result

HERE = scoring.HERE
FIXED_TURNS = 3  # of a program with and without its fault


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
    if options.fixed:
        programs = [program for program in programs if program.faulty]
    if options.shard:
        index, count = (int(part) for part in options.shard.split("/"))
        programs = programs[index - 1::count]
    if not programs:
        sys.exit("No program has this name, group or shard; --list prints all of them.")
    return programs


def visible_gpus():
    """Entries of CUDA_VISIBLE_DEVICES with one GPU each."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given:
        return given.split(",")
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [str(number) for number in range(listed.count("GPU "))]


def gpus_of_jobs(jobs, gpus, each):
    """The value of CUDA_VISIBLE_DEVICES of each job, in turns where there are too few GPUs; None: leave it alone."""
    sets = [",".join(gpus[first:first + each]) for first in range(0, len(gpus) - each + 1, each)]
    if jobs == 1 or not sets:
        return [None] * jobs
    return [sets[job % len(sets)] for job in range(jobs)]


class Runner:
    def __init__(self, roofline, profile_options, options, folder, gpus_each=1):
        self.roofline, self.profile_options, self.options, self.folder = roofline, profile_options, options, folder
        self.free_gpus = queue.Queue()
        for gpus in gpus_of_jobs(options.jobs, visible_gpus(), gpus_each):
            self.free_gpus.put(gpus)

    def command(self, program):
        if program.ranks:
            return [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
                    str(program.ranks), str(program.path)]
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
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "SECONDS_OF_WORK": str(seconds),
                       "FIXED": "0"}
        if gpu is not None:
            environment["CUDA_VISIBLE_DEVICES"] = gpu
        return environment

    def execute(self, command, environment, log, fails=False):
        """The output; raises DidNotRun with its last line, unless the program `fails` as it should."""
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
        if status == 0 or (fails and status is not None):
            return text
        last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no output")
        what = f"no end within {self.options.timeout:g} s" if status is None else f"exit status {status}"
        raise DidNotRun(f"{what}: {last} ({log})")

    def execute_afresh(self, command, environment, log, fails=False):
        """Nothing that an earlier run of torch.compile left behind makes this one faster."""
        with tempfile.TemporaryDirectory(prefix="roofline-caches-") as caches:
            return self.execute(command, {**environment, "TORCHINDUCTOR_CACHE_DIR": caches}, log, fails)

    def rate(self, program, command, environment, fixed=False):
        log = self.folder / f"{program.name}.{'fixed' if fixed else 'plain'}.log"
        return rate_of(self.execute_afresh(command, {**environment, "FIXED": "1" if fixed else "0"}, log))

    def profile(self, program, command, environment):
        report = self.folder / program.name
        output = self.execute_afresh([self.roofline, "profile", *self.profile_options, "-o", str(report), "--",
                                      *command], environment, self.folder / f"{program.name}.log", program.fails)
        return output, read_profile(report)

    def measure(self, result):
        options, program = self.options, result.program
        command, environment = self.command(program), self.environment(program, result.gpu)
        for _ in range(max(FIXED_TURNS if options.fixed else 1, options.overhead)):
            if options.plain or options.fixed or options.overhead:
                result.plain.append(self.rate(program, command, environment))
            if options.fixed:
                result.fixed.append(self.rate(program, command, environment, fixed=True))
            if not options.plain and (options.overhead or result.profile is None):
                output, result.profile = self.profile(program, command, environment)
                result.profiled.append(rate_of(output))

    def run(self, program):
        result = Result(program, gpu=self.free_gpus.get())
        begin = time.monotonic()
        try:
            self.measure(result)
            if result.profile is not None:
                result.score = scoring.score(program, result.profile)
        except DidNotRun as failure:
            result.profile, result.message = None, str(failure)
            result.score = scoring.Score(scoring.DID_NOT_RUN, (result.message,))
        finally:
            self.free_gpus.put(result.gpu)
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


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roofline", nargs="?", help="the program; not needed with --plain, --list and --score")
    parser.add_argument("--only", metavar="PATTERNS", help="programs by name, such as 'data_*,gil_thread'")
    parser.add_argument("--groups", default="faults,healthy",
                        help="of faults, more, healthy, foreign, ranks, ranks_healthy (%(default)s)")
    parser.add_argument("--shard", metavar="I/N", help="every Nth program, from the Ith on")
    parser.add_argument("--seconds", type=float, default=3, help="of work per program (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1,
                        help="programs at a time, on different GPUs if there are several")
    parser.add_argument("--timeout", type=float, default=180, help="seconds for one run (%(default)s)")
    parser.add_argument("--overhead", type=int, default=0, metavar="N",
                        help="N turns without and with the profiler; prints the slow-down")
    parser.add_argument("--fixed", action="store_true",
                        help="run the faulty programs without their faults, too; prints measured and claimed savings")
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
    runner = Runner(options.roofline and os.path.abspath(options.roofline), profile_options, options, folder.resolve(),
                    max([1, *(program.ranks for program in programs)]))
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
        print("\n".join(tables.table_of_rates(results, options.fixed)))
        return 1 if any(result.message for result in results) else 0
    tables.print_results(results, options)
    foreign_ran = all(result.profile is not None for result in results if result.program.group == "foreign")
    scores = [(result.program, result.score) for result in results if result.program.group != "foreign"]
    return 0 if foreign_ran and scoring.passed(scores) else 1


if __name__ == "__main__":
    sys.exit(main())
