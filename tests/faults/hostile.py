#!/usr/bin/env python3
"""All commands on hostile files, under faults of files, memory and signals. Afterwards no file outside of the output has
changed, no control character has reached the terminal, and nothing has ended without a reason.

usage: hostile.py ROOFLINE INJECT_LIBRARY [--short] [--seed N] [--fuzzer FILE] [--sanitized] [--table FILE] [--jobs N]

--short runs a part of it (for every test run). --fuzzer runs that driver of the readers under the same faults. --sanitized
leaves out limits of memory and stack. --table writes what happened as Markdown (docs/evidence/hostile.md).
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import errno
import gzip
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
REFERENCE = ROOT / "reports" / "reference"
DOCUMENTED = {0, 1, 2, 3, 4, 130}
LONGEST_S = 300  # of a run; only a hang reaches it

SUITE = "name: hostile\nworkloads:\n  - { op: relu, dtype: fp32, shape: { n: 2000 } }\n"
SOURCE = b"void scale(float* y, const float* x, float a, int n) { for (int i = 0; i < n; ++i) y[i] = a * x[i]; }\n"


def hostile_texts(bait):
    """What no name of a kernel, device, host or file should be; `bait` is a folder of the user."""
    return ["\x1b]52;c;cHduZWQ=\x07", "\x9b2J", "\x1b[2J\x1b[H", "a\nroofline: b\r", "\x00", "\u202eabc", "\ud800",
            str(bait / "kept.json"), "../" * 40 + str(bait)[1:] + "/kept.json", "../bait", "..", ".", "/", "", "~",
            "-o", "--help", "$(id)", "`id`", "%s%n%99999d", "{0}{}", "</script><script>alert(1)</script>", "=1+1", "|",
            "x" * 100000, "NaN", "CON", "a" * 300 + ".json"]


HOSTILE_NUMBERS = [0, -1, 1, -0.0, 1e308, -1e308, 5e-324, 2**31, 2**53, 2**63, 2**64, -(2**63), 1e-300, 10**40, 0.1]


class Mutator:
    """Makes hostile files of right ones; the same ones for the same seed."""

    def __init__(self, random_, bait):
        self.random, self.texts = random_, hostile_texts(bait)

    def of(self, name, data):
        kinds = [lambda: data, lambda: self.bytes(data), lambda: data[:self.random.randrange(len(data) + 1)]]
        text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        try:
            document = json.loads(text)
            kinds += 5 * [lambda: json.dumps(self.value(document, 30 / max(30, text.count(b":")))).encode()]
        except ValueError:
            if data[:6] == b"SQLite":
                kinds += 5 * [lambda: self.database(data)]
            elif b"\0" not in text:
                kinds += 5 * [lambda: self.words(text)]
        kinds += [lambda: self.nested(), lambda: self.random.randbytes(1000), lambda: b""]
        return self.random.choice(kinds)()

    def bytes(self, data):
        data = bytearray(data)
        for _ in range(self.random.randint(1, 8)):
            at = self.random.randrange(len(data) or 1)
            data[at:at + self.random.randint(0, 3)] = self.random.randbytes(self.random.randint(0, 4))
        return bytes(data)

    def scalar(self):
        return self.random.choice([self.random.choice(self.texts), self.random.choice(HOSTILE_NUMBERS), None, True, [], {}])

    def value(self, value, share):
        """A copy of a document in which about `share` of the values are hostile."""
        if self.random.random() < share:
            if isinstance(value, str):
                return self.random.choice(self.texts)
            if isinstance(value, (int, float)) and self.random.random() < 0.8:
                return self.random.choice(HOSTILE_NUMBERS)
            if not isinstance(value, (dict, list)) or self.random.random() < 0.1:
                return self.scalar()
        if isinstance(value, dict):
            return {key if self.random.random() > share / 10 else self.random.choice(self.texts): self.value(member, share)
                    for key, member in value.items() if self.random.random() > share / 10}
        if isinstance(value, list):
            members = [self.value(member, share) for member in value]
            return members * 2 if self.random.random() < share / 10 else members
        return value

    def words(self, text):
        """Of suites, tables and sources: some words are others."""
        parts = re.split(rb"([\w.]+)", text)
        for _ in range(self.random.randint(1, 6)):
            word = self.random.randrange(len(parts) // 2 or 1) * 2 + 1
            if word < len(parts):
                other = self.random.choice([self.random.choice(self.texts), str(self.random.choice(HOSTILE_NUMBERS))])
                parts[word] = other.encode("utf-8", "surrogatepass")
        return b"".join(parts)

    def database(self, data):
        connection = sqlite3.connect(":memory:")
        connection.deserialize(data)
        connection.execute("PRAGMA writable_schema = ON")
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for _ in range(self.random.randint(1, 6)):
            table = self.random.choice(names)
            column = self.random.choice([row[1] for row in connection.execute(f"PRAGMA table_info('{table}')")])
            value = self.random.choice([self.random.choice(self.texts).encode("utf-8", "replace").decode(),
                                        float(self.random.choice(HOSTILE_NUMBERS)), self.random.randbytes(9)])
            try:
                connection.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid % 3 = 0', (value,))
            except sqlite3.Error:
                pass
        connection.commit()
        return connection.serialize()

    def nested(self):
        depth = self.random.choice([100, 10000, 1000000])
        return self.random.choice([b"[" * depth, b'{"a":' * depth, b"a: " + b"[" * depth, b"(" * depth, b"- " * depth])


def seeds():
    """(kind, file name, bytes) of right files."""
    for name, path in [("report", REFERENCE / "h200-ops/report.json"), ("report", REFERENCE / "h200-train/report.json"),
                       ("machine", CORPUS / "machine/h200.json"), ("node", CORPUS / "node/two.json")]:
        yield name, "in.json", path.read_bytes()
    recorded = ROOT / "tests" / "import" / "recorded"
    for path in sorted(recorded.iterdir()):
        yield "trace", "in" + "".join(path.suffixes[-2:]), path.read_bytes()
    for path in sorted((CORPUS / "suite").iterdir()):
        yield "suite", "in.yaml", path.read_bytes()
    yield "suite", "in.yaml", SUITE.encode()
    yield "source", "in.c", SOURCE


CPU = ("--device", "cpu", "--threads", "1")
# Of each kind of file, what commands read it; "@" is the file.
COMMANDS = {
    "report": [("report", "@", "-o", "out"), ("report", "@", "--format", "csv,md,svg,pdf,jsonl,trace,prometheus", "-o", "out"),
               ("report", "@", "--format", "prometheus", "-o", "-"), ("report", "@", "@", "-o", "out"),
               ("compare", "@", "@"), ("compare", "@", "right/report.json", "--json"), ("fleet", "@", "right", "-o", "out"),
               ("machine", "--against", "@", "--machine", "right/machine.json")],
    "machine": [("machine", "--machine", "@"), ("machine", "--machine", "@", "--json"), ("fleet", "@", "right", "-o", "out"),
                ("import", "right/trace.json.gz", "--machine", "@", "-o", "out"), ("report", "@", "-o", "out"),
                ("analyze", "right/suite.yaml", *CPU, "--max-time", "0.01", "--machine", "@", "-o", "out"),
                ("profile", "--machine", "@", "-o", "out", "--", "/bin/true")],
    "node": [("machine", "--machine", "@"), ("report", "@", "-o", "out"), ("fleet", "@", "right", "-o", "out")],
    "trace": [("import", "@", "-o", "out"), ("import", "@", "--machine", "right/machine.json", "-o", "out"),
              ("import", "@", "right/trace.json.gz", "-o", "out", "--json")],
    "suite": [("analyze", "@", *CPU, "--once"), ("analyze", "@", *CPU, "--machine", "right/machine.json", "--max-time",
              "0.01", "-o", "out")],
    "source": [("new", "kernel", "@", "-o", "out/suite.yaml"), ("new", "kernel", "@", "-o", "-")],
}
# What reads no file of a stranger, but has to end as well.
ALONE = [("devices",), ("doctor",), ("ops",), ("help", "reports"), ("completion", "bash"), ("machine",), ("monitor", "--once"),
         ("calibrate", *CPU, "--quick", "--only", "launch.*", "-o", "out/machine.json")]


@dataclasses.dataclass
class Fault:
    """What the system refuses: a limit of resource.*, or the words of inject.cpp."""
    name: str
    limit: tuple = ()
    inject: str = ""

    def silences(self):
        """Whether it may hit the message itself."""
        return " write " in self.inject or "malloc" in self.inject


@dataclasses.dataclass
class Run:
    kind: str
    file: str
    data: bytes
    command: tuple
    fault: Fault
    color: bool


@dataclasses.dataclass
class Outcome:
    run: Run
    code: int
    problems: list


class Harness:
    def __init__(self, options, folder):
        self.roofline, self.inject = os.path.abspath(options.roofline), os.path.abspath(options.inject)
        self.sanitized, self.folder = options.sanitized, folder
        self.least_memory = 0 if self.sanitized else self.memory_to_start()

    def memory_to_start(self):
        """The address space with which the binary starts; below it the loader ends it."""
        low, high = 0, 1 << 31
        while high - low > 1 << 20:
            middle = (low + high) // 2
            done = subprocess.run([self.roofline, "--version"], capture_output=True,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (middle, middle)))
            low, high = (low, middle) if done.returncode == 0 else (middle, high)
        return high

    def fault(self, random_):
        errors = {"open": "ENOSPC EACCES EMFILE EIO", "read": "EIO EINTR", "write": "ENOSPC EIO EINTR", "close": "EIO",
                  "rename": "EIO ENOSPC", "unlink": "EIO", "mkdir": "ENOSPC EACCES", "fork": "EAGAIN", "pipe": "EMFILE",
                  "malloc": "ENOMEM", "mmap": "ENOMEM", "thread": "EAGAIN", "link": "EPERM"}
        kinds = ["none", "none", "call", "call", "call", "signal", "signal", "files", "size"]
        kinds += [] if self.sanitized else ["memory", "memory", "stack"]
        kind = random_.choice(kinds)
        if kind == "call":
            call = random_.choice(sorted(errors))
            error = random_.choice(errors[call].split())
            first = int(2 ** random_.uniform(0, 12 if call == "malloc" else 5))
            count = random_.choice([1, 1, 3, 10**9])
            return Fault(f"{call}: {error}", inject=f"any {call} {getattr(errno, error)} {first} {count}")
        if kind == "signal":
            which = random_.choice(["int", "term", "hup"])
            return Fault(f"SIG{which.upper()}", inject=f"parent moment {which} {int(2 ** random_.uniform(0, 6))} 1")
        if kind == "files":
            return Fault("few descriptors", (resource.RLIMIT_NOFILE, random_.randint(4, 16)))
        if kind == "size":
            return Fault("size of files", (resource.RLIMIT_FSIZE, random_.choice([0, 512, 20000, 200000])))
        if kind == "memory":
            return Fault("little memory", (resource.RLIMIT_AS, self.least_memory + (1 << random_.randint(18, 28))))
        if kind == "stack":
            return Fault("stack of 64 KiB", (resource.RLIMIT_STACK, 1 << 16))
        return Fault("none")

    def plan(self, count, seed):
        random_ = random.Random(seed)
        mutator = Mutator(random_, self.folder / "bait")
        right = list(seeds())
        runs = []
        for number in range(count):
            if number % 10 == 0:
                kind, file, data, command = "alone", "in", b"", random_.choice(ALONE)
            else:
                kind = sorted(COMMANDS)[number % len(COMMANDS)]
                _, file, data = random_.choice([seed for seed in right if seed[0] == kind])
                data, command = mutator.of(file, data), random_.choice(COMMANDS[kind])
            runs.append(Run(kind, file, data, command, self.fault(random_), random_.random() < 0.3))
        return runs

    def run(self, run):
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="run-") as name:
            world = pathlib.Path(name)
            make_world(world, run)
            before = contents(world)
            code, stdout, stderr = self.start(run, world)
            problems = self.problems(run, code, stdout, stderr)
            problems += changes(before, contents(world))
            problems += [f"{path} is unfinished" for path in world.rglob("*.tmp*") if "unlink" not in run.fault.inject]
            if problems:
                kept = self.folder.parent / "hostile-findings" / hashlib.sha1(run.data).hexdigest()[:12]
                kept.parent.mkdir(exist_ok=True)
                kept.with_suffix("".join(pathlib.Path(run.file).suffixes) or ".in").write_bytes(run.data)
                kept.with_suffix(".txt").write_bytes(f"{run.command} {run.fault} {code} {problems}\n".encode() + stdout + stderr)
                problems.append(f"see {kept}.txt")
            return Outcome(run, code, problems)

    def start(self, run, world):
        work = world / "work"
        environment = {"PATH": os.environ["PATH"], "HOME": str(world / "home"), "XDG_CACHE_HOME": str(world / "cache"),
                       "TMPDIR": str(world / "tmp"), "LANG": "C.UTF-8"}
        if run.fault.inject:
            environment.update(LD_PRELOAD=self.inject, ROOFLINE_FAULT=run.fault.inject)
        color = ["--color", "always" if run.color else "never"]
        command = [self.roofline, run.command[0], *color, *(run.file if word == "@" else word for word in run.command[1:])]

        def limits():
            if run.fault.limit:
                which, most = run.fault.limit
                resource.setrlimit(which, (most, resource.getrlimit(which)[1]))

        process = subprocess.Popen(command, cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, preexec_fn=limits, start_new_session=True)
        try:
            stdout, stderr = process.communicate(timeout=LONGEST_S)
            return process.returncode, stdout, stderr
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, *process.communicate()

    def problems(self, run, code, stdout, stderr):
        if code is None:
            return ["it never ended"]
        problems = []
        if code not in DOCUMENTED:
            problems.append(f"ended with {code}")
        asked_to_end = code == 130 and run.fault.name.startswith("SIG")
        if code != 0 and not asked_to_end and not run.fault.silences() and b"roofline: " not in stderr and not explained(stdout):
            problems.append(f"ended with {code} without a reason")
        if b"this is a bug" in stderr:
            problems.append("called itself a bug")
        for name, printed in ("stdout", stdout), ("stderr", stderr):
            problems += [f"{problem} on {name}" for problem in control_characters(printed, run.color)]
        return problems


def explained(stdout):
    """Where the answer is on stdout: a failed row, an outlier, a slower kernel, JSON with errors."""
    return re.search(rb"failed|\"failure\": \"|outlier|slower|never used a GPU|\"errors\": \[\s*\{|gone|not stored", stdout) is not None


def control_characters(printed, color):
    if color:
        printed = re.sub(rb"\x1b\[[0-9;]*m", b"", printed)
    try:
        text = printed.decode()
    except UnicodeDecodeError as error:
        return [f"no UTF-8 ({error.reason})"]
    found = sorted({character for character in text if character not in "\n\t" and
                    (ord(character) < 32 or 127 <= ord(character) < 160 or character in "\u202a\u202b\u202d\u202e\u2066\u2067")})
    return [f"control characters {found}"] if found else []


def make_world(world, run):
    for name in ("work/right", "work/out", "home", "cache", "tmp", "bait"):
        (world / name).mkdir(parents=True)
    (world / "cache").chmod(0o700)
    (world / "tmp").chmod(0o700)
    right = world / "work/right"
    (world / "bait/kept.json").write_text("kept")
    (right / "suite.yaml").write_text(SUITE)
    shutil.copy(REFERENCE / "h200-ops/report.json", right / "report.json")
    shutil.copy(CORPUS / "machine/h200.json", right / "machine.json")
    shutil.copy(ROOT / "tests/import/recorded/trace.json.gz", right / "trace.json.gz")
    (world / "work" / run.file).write_bytes(run.data)
    (world / "work/out/report.json").write_text("old")


def contents(world):
    """Of all that is not output: output folder, the tool's own cache."""
    kept = {}
    for path in [*world.rglob("*"), world.parent / "bait/kept.json"]:
        if (world / "work/out") in path.parents or (world / "cache") in path.parents or path.name in ("out", "cache"):
            continue
        status = path.lstat()
        kept[str(path)] = (status.st_mode, path.read_bytes() if path.is_file() else b"")
    return kept


def changes(before, after):
    return [f"{path} has changed" if path in after and path in before else f"{path} is new" if path in after else
            f"{path} is gone" for path in sorted(before.keys() | after.keys()) if before.get(path) != after.get(path)]


def run_fuzzer(harness, fuzzer, seed, seconds):
    """The readers themselves under faults of their files, each with its own mutants, once and for some seconds more."""
    problems = []
    faults = ("any open 24 200 50", "", "any write 28 50 1000000000", "any read 5 400 50")
    for inject in faults if seconds > 0 else faults[:1]:
        with tempfile.TemporaryDirectory(dir=harness.folder, prefix="fuzz-") as name:
            world = pathlib.Path(name)
            make_world(world, Run("fuzz", "in", b"", (), Fault("none"), False))
            before = contents(world)
            environment = {"PATH": os.environ["PATH"], "HOME": str(world / "home"), "TMPDIR": str(world / "tmp"),
                           "XDG_CACHE_HOME": str(world / "cache")}
            if inject:
                environment.update(LD_PRELOAD=harness.inject, ROOFLINE_FAULT=inject)
            done = subprocess.run([os.path.abspath(fuzzer), CORPUS, str(seed), str(seconds)], cwd=world / "work",
                                  env=environment, stdin=subprocess.DEVNULL, capture_output=True)
            found = changes(before, contents(world)) + control_characters(done.stdout + done.stderr, False)
            if done.returncode != 0:
                found.append(f"ended with {done.returncode}: {done.stderr[-300:]!r}")
            problems += [f"fuzzer under '{inject or 'no fault'}': {problem}" for problem in found]
    return problems


def table(outcomes, options):
    text = f"""\
# Hostile files under faults

`tests/faults/hostile.py` runs all commands on files that are damaged or were made to do harm, while the system refuses calls,
memory, stack or descriptors, or sends a signal: {len(outcomes)} runs, {sum(bool(o.problems) for o in outcomes)} problems.
Requirements: no file outside of the output has changed or stays unfinished, no control character is printed, the exit code is a
documented one, and one other than 0 has a reason.

Command: `cmake --build build/local --target roofline roofline_faults`, then `tests/faults/hostile.py build/local/roofline
build/local/tests/libroofline_faults.so --runs {len(outcomes)} --seed {options.seed} --table docs/evidence/hostile.md`. A short version is part of the tests
(`ctest -R hostile`). Machine: not recorded; date: {time.strftime("%Y-%m-%d")}.

| command | runs | exit codes |
|:--|--:|:--|
"""
    def rows(key):
        lines = ""
        grouped = collections.defaultdict(list)
        for outcome in outcomes:
            grouped[key(outcome)].append(outcome.code)
        for name in sorted(grouped):
            codes = collections.Counter(grouped[name])
            lines += f"| {name} | {len(grouped[name])} | {', '.join(f'{code} ({n})' for code, n in sorted(codes.items()))} |\n"
        return lines
    text += rows(lambda outcome: outcome.run.command[0])
    return text + "\n| fault | runs | exit codes |\n|:--|--:|:--|\n" + rows(lambda outcome: outcome.run.fault.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roofline")
    parser.add_argument("inject")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--fuzzer")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--table")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="roofline-hostile-") as name:
        folder = pathlib.Path(name)
        (folder / "bait").mkdir()
        (folder / "bait/kept.json").write_text("kept")
        harness = Harness(options, folder)
        runs = harness.plan(options.runs or (250 if options.short else 5000), options.seed)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            outcomes = list(pool.map(harness.run, runs))
        problems = [f"{' '.join(o.run.command)} ({o.run.fault.name}; {o.run.fault.inject or o.run.fault.limit}): {problem}"
                    for o in outcomes for problem in o.problems]
        if options.fuzzer:
            problems += run_fuzzer(harness, options.fuzzer, options.seed, 0 if options.short else 30)
    if options.table:
        pathlib.Path(options.table).write_text(table(outcomes, options))
    print("\n".join(problems))
    print(f"{len(outcomes)} runs, {sum(bool(o.problems) for o in outcomes)} with a problem, {time.monotonic() - begin:.0f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
