#!/usr/bin/env python3
"""What the binary loads and starts, and what it never does (SECURITY.md): libraries and compilers that leave a mark.

usage: trust_test.py PATH_OF_ROOFLINE [unittest arguments]
"""
import contextlib
import functools
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest

ROOFLINE = os.path.abspath(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[2]
REPORT = ROOT / "reports" / "reference" / "h200-ops" / "report.json"
PROFILE = ROOT / "reports" / "reference" / "h200-train" / "report.json"
CC = shutil.which(os.environ.get("CC", "cc"))

LIBRARY = """\
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void mark(void) {
  FILE* file = fopen(getenv("MARK"), "a");
  if (file != NULL) fclose(file);
}
"""
LIBRARIES = ["libzstd.so.1", "libcuda.so.1", "libnvidia-ml.so.1", "libnvrtc.so.13", "libnvrtc.so.12",
             "libcublas.so.13", "libcublas.so.12"]

SUITE = """\
name: hostile
kernels:
  hostile:
    source: hostile.c
    entry: hostile
    arguments: [ { output: y, dtype: fp32, size: "n +" } ]
    work: { flops: { fp32: n } }
    expect: { y: 1 }
workloads: [ { kernel: hostile, shape: { n: 16 } } ]
"""


@functools.cache
def profiles():
    """Whether this roofline can profile programs: one that was built without CUDA refuses to."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([ROOFLINE, "profile", "--machine", REPORT, "--no-host", "-o", folder + "/o", "--",
                               "/bin/true"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return "built without CUDA" not in done.stderr


class Marked(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.mark = self.folder / "mark"
        self.environment = dict(os.environ, MARK=str(self.mark), XDG_CACHE_HOME=str(self.folder / "cache"))
        self.environment.pop("LD_LIBRARY_PATH", None)

    def run_tool(self, *arguments, **variables):
        environment = dict(self.environment, **variables)
        return subprocess.run([ROOFLINE, *map(str, arguments)], env=environment, cwd=self.folder, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL)

    def marked(self):
        found = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return found


@unittest.skipUnless(CC, "there is no C compiler to make libraries with")
class Libraries(Marked):
    """The working folder, and one below it, hold a library of every name that is ever loaded."""

    def setUp(self):
        super().setUp()
        (self.folder / "mark.c").write_text(LIBRARY)
        first = self.folder / LIBRARIES[0]
        subprocess.run([CC, "-shared", "-fPIC", "-o", first, "mark.c"], cwd=self.folder, check=True)
        below = self.folder / "lib64"
        below.mkdir()
        for name in LIBRARIES:
            if name != LIBRARIES[0]:
                shutil.copy(first, self.folder / name)
            shutil.copy(first, below / name)
        (self.folder / "hostile.c").write_text("")
        (self.folder / "suite.yaml").write_text(SUITE)
        (self.folder / "packed.ncu-repz").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(64))

    def commands(self):
        yield "devices",
        yield "import", "packed.ncu-repz"
        yield "analyze", "suite.yaml", "--device", "cpu"

    def test_the_working_folder_is_never_searched(self):
        for path in [None, "", ":", ".", "lib64", ":/nowhere", "/nowhere:", "/nowhere::/nowhere", "/nowhere;./lib64"]:
            for command in self.commands():
                with self.subTest(path=path, command=command):
                    variables = {"CUDA_HOME": ".", "CUDA_PATH": "."}
                    if path is not None:
                        variables["LD_LIBRARY_PATH"] = path
                    self.run_tool(*command, **variables)
                    self.assertFalse(self.marked())

    def test_a_folder_that_the_user_names_is(self):
        """Without this, the test above could not fail."""
        self.run_tool("import", "packed.ncu-repz", LD_LIBRARY_PATH=str(self.folder))
        self.assertTrue(self.marked())

    def test_an_absolute_folder_is_kept_beside_a_relative_one(self):
        self.run_tool("import", "packed.ncu-repz", LD_LIBRARY_PATH=f":{self.folder}")
        self.assertTrue(self.marked())

    def test_arguments_and_exit_code_survive_the_new_start(self):
        plain = self.run_tool("report", "no such file")
        again = self.run_tool("report", "no such file", LD_LIBRARY_PATH=":")
        self.assertEqual((again.returncode, again.stdout, again.stderr), (plain.returncode, plain.stdout, plain.stderr))
        self.assertEqual(plain.returncode, 2)
        self.assertIn("no such file", plain.stderr)


class Reports(Marked):
    """Reports whose texts would do something, where they were started."""

    def setUp(self):
        super().setUp()
        compilers = self.folder / "bin"
        compilers.mkdir()
        for name in ["cc", "c++", "gcc", "g++", "nvcc", "sh", "python", "touch"]:
            (compilers / name).write_text(f"#!/bin/sh\n: > '{self.mark}'\n")
            (compilers / name).chmod(0o755)
        self.environment.update(PATH=str(compilers), CC="cc", CXX="c++", CUDACXX=str(compilers / "nvcc"),
                                SHELL=str(compilers / "sh"))
        self.assertFalse(self.marked())
        subprocess.run([compilers / "cc"], check=True)
        self.assertTrue(self.marked(), "the compilers leave a mark")
        (self.folder / "hostile.c").write_text("")
        for name, source in [("run.json", REPORT), ("profile.json", PROFILE)]:
            report = json.loads(source.read_text())
            report["invocation"]["suite_text"] = SUITE.replace("n +", "n")
            report["invocation"]["suite_path"] = str(self.folder / "hostile.yaml")
            report["invocation"]["command"] = ["touch", str(self.mark)]
            report["notes"] = [f"$(touch {self.mark})", f"`touch {self.mark}`"]
            if "profile" in report:
                report["profile"]["program"] = ["touch", str(self.mark)]
            (self.folder / name).write_text(json.dumps(report))
        (self.folder / "hostile.yaml").write_text(SUITE.replace("n +", "n"))

    def test_nothing_in_them_is_run(self):
        for name in ["run.json", "profile.json"]:
            for command in [("report", name, "-o", "drawn"), ("compare", name, name), ("fleet", name),
                            ("machine", "--against", name)]:
                with self.subTest(command=command):
                    done = self.run_tool(*command)
                    self.assertNotIn("this is a bug", done.stderr)
                    self.assertFalse(self.marked())
        self.assertTrue((self.folder / "drawn").is_dir(), "the reports were read")


ME, OTHER = 5001, 5002

KERNEL = """\
#ifndef X
#define X 1
#endif
void k(float* y, int n) { for (int i = 0; i < n; i++) y[i] = X; }
"""

KERNEL_SUITE = """\
name: k
kernels:
  k:
    source: %s
    entry: k
    arguments: [ { output: y, dtype: fp32, size: n }, { scalar: n, dtype: int32 } ]
    work: { flops: { fp32: n } }
    expect: { y: 1 }
workloads: [ { kernel: k, shape: { n: 4096 } } ]
"""


@unittest.skipUnless(CC, "there is no C compiler")
class CompiledKernels(Marked):
    """What is kept is loaded only where nobody else can have put it there, and only as it was written."""

    def setUp(self):
        super().setUp()
        self.tool = ROOFLINE
        self.kernels = self.folder / "cache" / "roofline" / "kernels"
        (self.folder / "k.c").write_text(KERNEL)
        self.count = self.folder / "count"
        compiler = self.folder / "compiler"
        compiler.write_text(f"#!/bin/sh\ncase \"$*\" in *-shared*) echo >> '{self.count}';; esac\nexec {CC} \"$@\"\n")
        compiler.chmod(0o755)
        self.environment["CC"] = str(compiler)
        (self.folder / "evil.c").write_text(LIBRARY + "void roofline_call_0(void) {}\n")
        subprocess.run([CC, "-shared", "-fPIC", "-o", "evil.so", "evil.c"], cwd=self.folder, check=True)

    def analyze(self, source="k.c", user=None, **variables):
        """Without a calibration: --once loads and runs each kernel."""
        (self.folder / "k.yaml").write_text(KERNEL_SUITE % json.dumps(source))
        become = {"user": user, "group": user, "extra_groups": []} if user is not None else {}
        return subprocess.run([self.tool, "analyze", "k.yaml", "--device", "cpu", "--once"], cwd=self.folder, text=True,
                              env=dict(self.environment, **variables), capture_output=True, stdin=subprocess.DEVNULL,
                              **become)

    def compiled(self):
        """How often since the last time."""
        count = len(self.count.read_text().splitlines()) if self.count.exists() else 0
        self.count.unlink(missing_ok=True)
        return count

    def test_a_healthy_one_is_used_again(self):
        self.assertEqual(self.analyze().returncode, 0)
        self.assertEqual(self.compiled(), 1)
        self.assertEqual(self.analyze().returncode, 0)
        self.assertEqual(self.compiled(), 0)

    def test_a_damaged_one_is_compiled_anew_once(self):
        self.analyze()
        for size in (0, 4000):
            with self.subTest(size):
                self.compiled()
                [kept] = self.kernels.glob("*.so")
                os.truncate(kept, size)
                for expected in (1, 0):
                    self.assertEqual(self.analyze().returncode, 0)
                    self.assertEqual(self.compiled(), expected)

    def test_the_whole_command_and_what_it_includes_is_part_of_the_key(self):
        compiler = self.environment["CC"]
        (self.folder / "more").mkdir()
        header = self.folder / "more" / "x.h"
        header.write_text("#define X 1\n")
        (self.folder / "k.c").write_text("#include <x.h>\n" + KERNEL)
        include = f"{compiler} -I{self.folder / 'more'}"
        self.assertEqual(self.analyze(CC=include).returncode, 0)
        self.assertEqual(self.analyze(CC=include + " -DOTHER=2").returncode, 0)
        self.assertEqual(self.compiled(), 2)
        header.write_text("#define X 2\n")
        self.analyze(CC=include)
        self.assertEqual(self.compiled(), 1)

    def test_one_that_others_may_write_is_compiled_anew(self):
        self.analyze()
        self.compiled()
        [kept] = self.kernels.glob("*.so")
        kept.chmod(0o722)
        self.assertEqual(self.analyze().returncode, 0)
        self.assertEqual(self.compiled(), 1)

    def test_an_open_folder_is_not_used_and_said(self):
        self.analyze()
        for folder in (self.kernels, self.kernels.parent, self.folder / "cache"):
            with self.subTest(folder.name):
                mode = folder.stat().st_mode & 0o7777
                folder.chmod(0o777)
                self.compiled()
                done = self.analyze()
                self.assertEqual((done.returncode, self.compiled()), (0, 1))
                self.assertIn(str(folder), done.stderr)
                self.assertEqual(folder.stat().st_mode & 0o7777, 0o777, "it is the user's to close")
                folder.chmod(mode)
        self.assertEqual((self.analyze().returncode, self.compiled()), (0, 0))

    def plant(self, key, folder):
        planted = folder / key
        shutil.copy(self.folder / "evil.so", planted)
        return planted

    @unittest.skipUnless(os.geteuid() == 0, "only root can be several users")
    def test_what_somebody_else_planted_is_not_loaded(self):
        self.folder.chmod(0o1777)
        self.tool = shutil.copy(ROOFLINE, self.folder / "roofline")  # where any user can start it
        self.environment["HOME"] = str(self.folder)
        first = self.folder / "first"
        first.mkdir()
        os.chown(first, ME, ME)
        self.assertEqual(self.analyze(user=ME, XDG_CACHE_HOME=str(first)).returncode, 0)
        [kept] = (first / "roofline" / "kernels").glob("*.so")
        # Into a folder that was open to all.
        second = self.folder / "second"
        (second / "roofline" / "kernels").mkdir(parents=True)
        planted = self.plant(kept.name, second / "roofline" / "kernels")
        for path, owner in [(second, ME), (second / "roofline", ME), (planted.parent, ME), (planted, OTHER)]:
            os.chown(path, owner, owner)
        planted.parent.chmod(0o777)
        self.analyze(user=ME, XDG_CACHE_HOME=str(second))
        self.assertFalse(self.marked())
        # Through somebody else's link to a folder of the user.
        own = self.folder / "own"
        own.mkdir(mode=0o755)
        os.chown(own, ME, ME)
        os.chown(self.plant(kept.name, own), ME, ME)
        third = self.folder / "third"
        (third / "roofline").mkdir(parents=True)
        (third / "roofline" / "kernels").symlink_to(own)
        for path in (third, third / "roofline"):
            os.chown(path, OTHER, OTHER)
        os.chown(third / "roofline" / "kernels", OTHER, OTHER, follow_symlinks=False)
        mode = own.stat().st_mode
        self.analyze(user=ME, XDG_CACHE_HOME=str(third))
        self.assertFalse(self.marked())
        self.assertEqual(own.stat().st_mode, mode)

    def test_sources_with_quotes_in_their_names_compile(self):
        (self.folder / "beside.h").write_text("")
        for name in ("a\"b.c", "a'b.c", "a b.c", "a\"'  b\".c"):
            with self.subTest(name):
                (self.folder / name).write_text("#include \"beside.h\"\n" + KERNEL)
                done = self.analyze(source=name)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_compiler_that_prints_without_end_takes_no_memory(self):
        (self.folder / "loud").write_text("#!/bin/sh\necho first\nyes error | head -c 40000000\necho last\nexit 1\n")
        (self.folder / "loud").chmod(0o755)
        done = self.analyze(CC=str(self.folder / "loud"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("first", done.stderr + done.stdout)
        self.assertLess(len(done.stderr) + len(done.stdout), 1 << 20)


class TemporaryFolder(Marked):
    def setUp(self):
        super().setUp()
        if not profiles():
            self.skipTest("this roofline was built without CUDA")

    def profile(self, place):
        return self.run_tool("profile", "--machine", REPORT, "-o", "o", "--", "/bin/true", TMPDIR=str(place))

    def test_a_missing_one_is_named(self):
        done = self.profile("/nonexistent")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("/nonexistent", done.stderr)
        self.assertIn("TMPDIR", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a folder away")
    def test_one_below_a_strangers_folder_is_refused(self):
        mine = self.folder / "stranger" / "between" / "mine"
        mine.mkdir(parents=True)
        os.chown(self.folder / "stranger", OTHER, OTHER)
        done = self.profile(mine)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(str(self.folder / "stranger"), done.stderr)
        self.assertEqual(list(mine.iterdir()), [])


ESCAPE = "\x1b]52;c;cHduZWQ=\x07"  # would fill the clipboard


class HostileTexts(Marked):
    """Texts of files that would name another place to write to, or control a terminal."""

    def machine(self, **device):
        machine = json.loads(REPORT.read_text())["machine"]
        machine["device"].update(device)
        (self.folder / "machine.json").write_text(json.dumps(machine))
        return "machine.json"

    def test_an_identity_names_no_other_folder(self):
        if not profiles():
            self.skipTest("this roofline was built without CUDA")
        notes = self.folder / "notes" / "report.md"
        notes.parent.mkdir()
        notes.write_text("mine")
        for identity in ["x/" + "../" * 40 + str(notes.parent)[1:], "../../../notes", "/../../notes", ".."]:
            with self.subTest(identity=identity):
                folder = self.folder / "work" / "inside"
                folder.mkdir(parents=True)
                machine = self.machine(identity=identity)
                subprocess.run([ROOFLINE, "profile", "--machine", self.folder / machine, "--", "/bin/true"],
                               env=self.environment, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL)
                self.assertEqual(notes.read_text(), "mine")
                self.assertEqual([path.name for path in notes.parent.iterdir()], ["report.md"])
                self.assertEqual([path.name for path in folder.iterdir()], ["reports"])
                self.assertEqual([path.parent.name for path in folder.rglob("report.json")],
                                 [path.name for path in (folder / "reports").iterdir()])
                self.assertEqual([path.name for path in folder.parent.iterdir()], ["inside"])
                shutil.rmtree(folder.parent)

    def trace(self, **kernel):
        event = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2,
                 "args": {"device": 0, "stream": 7, "grid": [1, 1, 1], "block": [1, 1, 1]}}
        event.update(kernel)
        (self.folder / "trace.json").write_text(json.dumps({"traceEvents": [event]}))
        return "trace.json"

    def test_no_escape_reaches_a_terminal(self):
        machine = self.machine(name=ESCAPE)
        (self.folder / (ESCAPE + ".json")).write_text("{}")
        (self.folder / "suite.yaml").write_text('name: a\nworkloads: [ { op: "\\e]52;c;cHduZWQ=\\a" } ]\n')
        report = json.loads(REPORT.read_text())
        report["machine"]["device"]["name"] = ESCAPE
        for row in report["results"]:
            row["label"] = row["op"] = ESCAPE
        (self.folder / "report.json").write_text(json.dumps(report))
        commands = [("analyze", "suite.yaml", "--device", "cpu", "--machine", machine),
                    ("import", self.trace(name=ESCAPE), "--machine", machine, "-o", "o"),
                    ("import", self.trace(name=ESCAPE, dur=-1e300), "-o", "o"),
                    ("report", ESCAPE + ".json"), ("report", "report.json"),
                    ("report", "report.json", "--format", "prometheus", "-o", "-"),
                    ("compare", "report.json", "report.json"), ("fleet", "report.json", "-o", "f"),
                    ("machine", "--machine", machine), (ESCAPE,)]
        for command in commands:
            with self.subTest(command=command):
                done = self.run_tool(*command)
                self.assertNotIn("\x1b", done.stdout + done.stderr)
                self.assertNotIn("\x07", done.stdout + done.stderr)


class SuddenEnds(Marked):
    """Signals and limits: an exit code, a reason, and no unfinished file."""

    def test_a_signal_ends_an_import(self):
        event = '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2,"args":{"device":0,"stream":7}},'
        with open(self.folder / "trace.json", "w") as file:  # large enough to be announced
            file.write('{"traceEvents":[')
            for _ in range(70):
                file.write(event * 10000)
            file.write('{}]}')
        for number, options in [(signal.SIGINT, []), (signal.SIGTERM, []), (signal.SIGINT, ["--json"])]:
            with self.subTest(signal=number, options=options):
                started = subprocess.Popen([ROOFLINE, "import", "trace.json", "-o", "o", *options],
                                           env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertIn(b"trace.json", started.stderr.readline())
                started.send_signal(number)
                printed, _ = started.communicate()
                self.assertEqual(started.returncode, 130)
                if options:
                    answer = json.loads(printed)
                    self.assertEqual((answer["command"], answer["exit_code"], answer["errors"][0]["code"]),
                                     ("import", 130, "interrupted"))
                else:
                    self.assertEqual(printed, b"")
                self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["trace.json"])

    def test_a_limit_of_file_sizes_is_a_reason(self):
        done = subprocess.run([ROOFLINE, "report", REPORT, "-o", "o"], env=self.environment, cwd=self.folder,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("can't be written", done.stderr)
        self.assertEqual(list((self.folder / "o").iterdir()), [])


class LittleMemory(Marked):
    """Too little memory is a reason and an exit code, at whatever allocation it ends."""

    ENOUGH = 4096  # MB, for what these commands read
    GROWTH = 1.12  # from one limit to the next

    def setUp(self):
        super().setUp()
        if self.limited(self.ENOUGH, "--version").returncode != 0:
            self.skipTest("this build does not start with a limited address space (a sanitizer)")
        (self.folder / "suite.yaml").write_text("name: s\nworkloads: [ { op: relu, shape: { n: 65536 } } ]\n")

    def limited(self, megabytes, *arguments):
        size = int(megabytes * (1 << 20))
        return subprocess.run([ROOFLINE, *map(str, arguments)], env=self.environment, cwd=self.folder, text=True,
                              errors="replace", capture_output=True, stdin=subprocess.DEVNULL,
                              preexec_fn=lambda: (resource.setrlimit(resource.RLIMIT_AS, (size, size)),
                                                  resource.setrlimit(resource.RLIMIT_CORE, (0, 0))))

    def sweep(self, *arguments):
        """From what the program needs to start, to what the command needs."""
        megabytes = 8
        while self.limited(megabytes, "--version").returncode != 0:
            megabytes *= self.GROWTH
        while True:
            done = self.limited(megabytes, *arguments)
            with self.subTest(megabytes=megabytes):
                self.assertIn(done.returncode, (0, 1, 2, 4), done.stderr)  # 4: no memory for the device's threads
                self.assertTrue(done.returncode == 0 or done.stderr.strip())
                self.assertNotIn("this is a bug", done.stderr)
            if done.returncode == 0:
                return
            self.assertLess(megabytes, self.ENOUGH, done.stderr)
            megabytes *= self.GROWTH

    def test_png(self):
        self.sweep("report", PROFILE, "-o", "chart.png")

    def test_pdf(self):
        self.sweep("report", PROFILE, "-o", "chart.pdf")

    def test_html(self):
        self.sweep("report", PROFILE, "-o", "page.html")

    def test_compare(self):
        self.sweep("compare", REPORT, REPORT)

    def test_fleet(self):
        self.sweep("fleet", REPORT, PROFILE, "-o", "fleet")

    def test_imports(self):
        for name in ["step.sqlite", "trace.json.gz", "kernels.ncu-rep"]:
            self.sweep("import", ROOT / "tests" / "import" / "recorded" / name, "-o", "imported")

    def test_analyze(self):
        self.sweep("analyze", "suite.yaml", "--device", "cpu", "--once")


class Databases(Marked):
    """SQLite keeps the last changes beside the file: it is not imported without them, and nothing is written there."""

    def setUp(self):
        super().setUp()
        self.place = self.folder / "theirs"
        self.place.mkdir()
        self.file = self.place / "step.sqlite"
        shutil.copyfile(ROOT / "tests" / "import" / "recorded" / "step.sqlite", self.file)

    def contents(self):
        return {path.name: path.read_bytes() for path in self.place.iterdir()}

    def refused(self, suffix, file=None):
        before = self.contents()
        done = self.run_tool("import", file or self.file, "-o", "o")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(self.file.name + suffix, done.stderr)
        self.assertIn("wal_checkpoint", done.stderr)
        self.assertEqual(self.contents(), before)

    def imported(self):
        before = self.contents()
        done = self.run_tool("import", self.file, "-o", "o")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.contents(), before)

    def test_one_that_is_being_written(self):
        with contextlib.closing(sqlite3.connect(self.file)) as writer:
            writer.execute("PRAGMA journal_mode = WAL")
            writer.execute("CREATE TABLE more (number INTEGER)")
            writer.commit()
            self.refused("-wal")
            link = self.folder / "link.sqlite"
            link.symlink_to(self.file)
            self.refused("-wal", link)
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self.imported()

    def test_one_whose_writer_died(self):
        journal = pathlib.Path(f"{self.file}-journal")
        journal.write_bytes(bytes.fromhex("d9d505f920a163d7") + bytes(504))
        self.refused("-journal")
        journal.write_bytes(b"")
        self.imported()


def trace_of(kernels):
    """As torch.profiler writes it: (name, launches, µs of each)."""
    events, time = [], 0
    for name, launches, length in kernels:
        for _ in range(launches):
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": time, "dur": length,
                           "args": {"device": 0, "stream": 7, "grid": [1, 1, 1], "block": [128, 1, 1]}})
            time += length
    return json.dumps({"schemaVersion": 1, "traceEvents": events,
                       "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "numSms": 108}]})


class Folding(Marked):
    """An import has no more rows than a report can have, and all of the time."""

    ROWS = 16384
    MORE = 1000

    def test_kernels_with_the_least_time_share_a_row(self):
        large = [(f"large_{i}", 1, 2) for i in range(self.ROWS)]
        small = [(f"small_{i}", 1, 1) for i in range(self.MORE)]
        (self.folder / "trace.json").write_text(trace_of(small + large))
        done = self.run_tool("import", "trace.json", "-o", "o", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads((self.folder / "o" / "report.json").read_text())
        rows = {row["label"]: row["profiled"] for row in report["results"]}
        self.assertEqual(len(rows), self.ROWS + 1)
        [others] = [label for label in rows if not label.startswith("large_")]
        self.assertIn(str(self.MORE), others)
        self.assertEqual(rows[others]["launches"], self.MORE)
        self.assertAlmostEqual(rows[others]["total_s"], self.MORE * 1e-6)
        total = (self.MORE + 2 * self.ROWS) * 1e-6
        self.assertAlmostEqual(sum(row["total_s"] for row in rows.values()), total)
        self.assertAlmostEqual(report["profile"]["kernel_s"], total)
        [note] = [note for note in report["notes"] if "other kernels" in note]
        self.assertIn("1,000", note)
        self.assertIn("3.0 %", note)
        self.assertEqual(self.run_tool("report", "o/report.json", "-o", "again.csv").returncode, 0)

    def test_as_many_as_fit_have_rows_of_their_own(self):
        (self.folder / "trace.json").write_text(trace_of([(f"kernel_{i}", 1, 2) for i in range(self.ROWS)]))
        done = self.run_tool("import", "trace.json", "-o", "o", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads((self.folder / "o" / "report.json").read_text())
        self.assertEqual(len(report["results"]), self.ROWS)
        self.assertFalse([note for note in report["notes"] if "other kernels" in note])


EVENT = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2,
         "args": {"device": 0, "stream": 7, "grid": [1, 1, 1], "block": [1, 1, 1]}}
ACCESS_LIST, DEFAULT_LIST = "system.posix_acl_access", "system.posix_acl_default"


def list_for_one_more_user():
    """The owner reads and writes, user 1234 reads, nobody else does anything (linux/posix_acl_xattr.h)."""
    nobody = 0xffffffff
    entries = [(1, 6, nobody), (2, 4, 1234), (4, 0, nobody), (0x10, 4, nobody), (0x20, 0, nobody)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


class Outputs(Marked):
    """An output is no input and nothing but a regular file, and is read by nobody who could not read the old one."""

    def setUp(self):
        super().setUp()
        self.input = self.folder / "run" / "report.json"
        self.input.parent.mkdir()
        shutil.copy(REPORT, self.input)
        self.input.chmod(0o644)
        (self.folder / "trace.json").write_text(json.dumps({"traceEvents": [EVENT]}))

    def files(self):
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in sorted(self.folder.rglob("*"))
                if path.is_file() and "cache" not in path.parts}

    def refused(self, name, *command, fix="-o"):
        before = self.files()
        with self.subTest(command=command):
            done = self.run_tool(*command)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(str(name), done.stderr)
            self.assertIn(fix, done.stderr)
            self.assertEqual(self.files(), before)

    def test_no_output_is_an_input(self):
        os.link(self.input, self.folder / "hard.json")
        (self.folder / "soft.json").symlink_to("run/report.json")
        (self.folder / "through").symlink_to("run")
        (self.folder / "drawn").mkdir()
        os.link(self.input, self.folder / "drawn" / "report.html")
        (self.folder / "machines").mkdir()
        os.link(self.input, self.folder / "machines" / "fleet.csv")
        for other in ["run/report.json", "./run/../run/report.json", self.input, "hard.json", "soft.json",
                      "through/report.json"]:
            self.refused(other, "report", "run/report.json", "-o", other)
            self.refused(other, "import", "trace.json", "--machine", "run/report.json", "-o", other)
            self.refused(other, "fleet", "run/report.json", "-o", other)
            self.refused(other, "fleet", "run", "-o", other)
        self.refused("trace.json", "import", "trace.json", "-o", "trace.json")
        self.refused("run/report.json", "report", "soft.json", "-o", "run")
        shutil.copy(ROOT / "tests" / "corpus" / "node-0.2.0.json", self.folder / "node.json")
        self.refused("node.json", "report", "node.json", "-o", "node.json")
        self.refused("node.json", "report", "node.json", "-o", ".")
        self.refused("drawn/report.html", "report", "run/report.json", "-o", "drawn")
        self.refused("drawn/report.html", "report", "run/report.json", "run/report.json", "-o", "drawn")
        self.refused("machines/fleet.csv", "fleet", "run", "-o", "machines", "--format", "json,csv")
        self.refused("run/report.json", "profile", "--machine", "run/report.json", "-o", "run", "--", "/bin/true")
        self.refused("drawn/report.html", "profile", "--machine", "run/report.json", "-o", "drawn", "--", "/bin/true")

    def test_analyze_replaces_no_input(self):
        (self.folder / "suite.yaml").write_text("name: s\nworkloads: [ { op: relu, shape: { n: 16 } } ]\n")
        listed = json.loads(self.run_tool("devices", "--json").stdout)["data"]["devices"]
        [device] = [each["device"] for each in listed if each["id"] == "cpu"]
        calibration = json.loads(REPORT.read_text())["machine"]
        calibration["device"].update(kind="cpu", identity=device["identity"], name=device["name"])
        (self.input.parent / "report.json").write_text(json.dumps(calibration))
        os.link(self.folder / "suite.yaml", self.folder / "run" / "report.html")
        command = ("analyze", "suite.yaml", "--device", "cpu", "--max-time", "0.01", "--machine", "run/report.json")
        self.refused("run/report.json", *command, "-o", "run")
        self.refused("run/report.html", *command, "-o", "run/report.html")
        saved = self.folder / "reports" / f"s-{device['identity']}" / "saved" / "x.json"
        saved.parent.mkdir(parents=True)
        shutil.copy(REPORT, saved)
        self.refused(saved.name, *command, "-o", "new", "--against", "x", "--save", "x", fix="--save")

    def test_files_beside_inputs_and_earlier_outputs_are_replaced(self):
        for _ in range(2):
            self.assertEqual(self.run_tool("report", "run/report.json", "--format", "html").returncode, 0)
            self.assertEqual(self.run_tool("report", "run/report.json", "-o", "drawn").returncode, 0)
            self.assertEqual(self.run_tool("import", "trace.json", "-o", "drawn").returncode, 0)
            # The second time, fleet.json is in a folder that is read.
            self.assertEqual(self.run_tool("fleet", "run", "-o", "run").returncode, 0)
        self.assertEqual(self.input.read_bytes(), REPORT.read_bytes())

    def special_files(self):
        os.mkfifo(self.folder / "pipe.json")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self.folder / "socket.json"))
        (self.folder / "link.json").symlink_to("pipe.json")
        (self.folder / "null.json").symlink_to("/dev/null")
        return ["pipe.json", "socket.json", "link.json", "null.json"]

    def test_only_regular_files_are_replaced(self):
        for name in self.special_files():
            kind = os.stat(self.folder / name).st_mode
            self.refused(name, "report", "run/report.json", "-o", name)
            self.refused(name, "import", "trace.json", "-o", name)
            self.refused(name, "fleet", "run", "-o", name)
            self.refused(name, "calibrate", "--device", "cpu", "-o", name)
            self.assertEqual(os.stat(self.folder / name).st_mode, kind)
        for make in (os.mkfifo, os.mkdir):
            folder = self.folder / make.__name__
            folder.mkdir()
            make(folder / "report.json")
            make(folder / "fleet.json")
            self.refused("report.json", "report", "run/report.json", "-o", folder)
            self.refused("report.json", "import", "trace.json", "-o", folder)
            self.refused("fleet.json", "fleet", "run", "-o", folder)
            self.refused("report.json", "profile", "--machine", "run/report.json", "-o", folder, "--", "/bin/true")
            self.assertEqual(sorted(path.name for path in folder.iterdir()), ["fleet.json", "report.json"])

    def replace(self, **become):
        return subprocess.run([self.tool, "report", "run/report.json", "-o", "page.html"], cwd=self.folder, text=True,
                              env=self.environment, capture_output=True, stdin=subprocess.DEVNULL, **become)

    tool = ROOFLINE

    def test_a_mode_is_kept(self):
        page = self.folder / "page.html"
        for mode in (0o600, 0o640, 0o666, 0o755, 0o444):
            with self.subTest(oct(mode)):
                page.write_text("old")
                page.chmod(mode)
                done = self.replace(umask=0o022)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotEqual(page.read_text(), "old")
                self.assertEqual(page.stat().st_mode & 0o7777, mode)
                page.unlink()
        self.assertEqual(self.replace(umask=0o027).returncode, 0)
        self.assertEqual(page.stat().st_mode & 0o7777, 0o640, "a new file has the user's umask")

    def test_an_access_list_is_kept_and_none_is_added(self):
        page = self.folder / "page.html"
        page.write_text("old")
        page.chmod(0o640)
        try:
            os.setxattr(page, ACCESS_LIST, list_for_one_more_user())
        except OSError:
            self.skipTest("the file system has no access lists")
        self.assertEqual(self.replace().returncode, 0)
        self.assertNotEqual(page.read_text(), "old")
        self.assertEqual(os.getxattr(page, ACCESS_LIST), list_for_one_more_user())
        page.unlink()
        page.write_text("old")
        page.chmod(0o640)
        os.setxattr(self.folder, DEFAULT_LIST, list_for_one_more_user())
        self.assertEqual(self.replace().returncode, 0)
        self.assertNotEqual(page.read_text(), "old")
        self.assertNotIn(ACCESS_LIST, os.listxattr(page))
        self.assertEqual(page.stat().st_mode & 0o7777, 0o640)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be several users")
    def test_owners_are_kept_where_possible(self):
        page = self.folder / "page.html"
        page.write_text("old")
        os.chown(page, ME, OTHER)
        page.chmod(0o640)
        self.assertEqual(self.replace().returncode, 0)
        status = page.stat()
        self.assertEqual((status.st_uid, status.st_gid, status.st_mode & 0o7777), (ME, OTHER, 0o640))
        # A user who is not in that group: his own group reads no more than all did.
        self.folder.chmod(0o755)
        os.chown(self.folder, ME, ME)
        self.tool = shutil.copy(ROOFLINE, self.folder / "roofline")
        self.assertEqual(self.replace(user=ME, group=ME, extra_groups=[]).returncode, 0)
        status = page.stat()
        self.assertEqual((status.st_uid, status.st_gid, status.st_mode & 0o7777), (ME, ME, 0o600))

    def test_a_link_is_followed_and_said(self):
        (self.folder / "far").mkdir()
        target = self.folder / "far" / "target.html"
        page = self.folder / "page.html"
        page.symlink_to("far/between.html")
        (self.folder / "far" / "between.html").symlink_to("target.html")
        for before in (None, "old"):
            with self.subTest(before):
                if before is not None:
                    target.write_text(before)
                    target.chmod(0o600)
                done = self.replace()
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("far/between.html", done.stderr)
                self.assertEqual(os.readlink(page), "far/between.html")
                self.assertIn("<html", target.read_text())
        self.assertEqual(target.stat().st_mode & 0o7777, 0o600)
        target.unlink()
        target.symlink_to("between.html")
        self.refused("page.html", "report", "run/report.json", "-o", "page.html")

    @unittest.skipUnless(os.geteuid() == 0, "only root can be several users")
    def test_a_strangers_link_in_an_open_folder_is_refused(self):
        (self.folder / "mine").write_text("mine")
        place = self.folder / "open"
        place.mkdir()
        (place / "page.html").symlink_to(self.folder / "mine")
        os.chown(place / "page.html", OTHER, OTHER, follow_symlinks=False)
        place.chmod(0o1777)
        self.refused("open/page.html", "report", "run/report.json", "-o", "open/page.html")


class SmallStack(Marked):
    """ulimit -s 64: a command works, or ends with a reason."""

    def test_no_command_dies(self):
        (self.folder / "trace.json").write_text(json.dumps({"traceEvents": [EVENT]}))
        (self.folder / "suite.yaml").write_text("name: s\nworkloads: [ { op: relu, shape: { n: 16 } } ]\n")
        limit = 64 << 10
        commands = [("--help",), ("help", "profile"), ("ops",), ("doctor",), ("devices",),
                    ("machine", "--machine", REPORT), ("report", REPORT, "-o", "drawn", "--plot"),
                    ("report", PROFILE, "-o", "profile"), ("report", REPORT, REPORT, "-o", "two"),
                    ("import", "trace.json", "-o", "imported"), ("compare", REPORT, REPORT),
                    ("fleet", REPORT, "-o", "fleet"), ("analyze", "suite.yaml", "--device", "cpu", "--once"),
                    ("profile", "--machine", REPORT, "-o", "o", "--", "/bin/true")]
        for command in commands:
            with self.subTest(command=command):
                done = subprocess.run([ROOFLINE, *command], env=self.environment, cwd=self.folder, text=True,
                                      stdin=subprocess.DEVNULL, capture_output=True,
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (limit, limit)))
                self.assertIn(done.returncode, [0, 1, 2, 3, 4], done.stderr)
                if done.returncode != 0:
                    self.assertTrue(done.stderr)
        for folder in ("drawn", "profile", "two", "imported", "fleet"):
            self.assertTrue(list((self.folder / folder).glob("*.html")), folder)


if __name__ == "__main__":
    unittest.main()
