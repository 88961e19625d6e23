#!/usr/bin/env python3
"""roofline profile on programs without a GPU: planted loops and waits whose shares are known."""
import json
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOFLINE = PROGRAM = ""
TOLERANCE = 0.10  # a neighbour may be busy; on an idle machine it is 0.02
SECONDS = 6

# Each loop is far longer than a time slice: a busy machine would preempt shorter ones always at the same place.
LOOPS = f"""
    import os, threading, time

    def heavy(n):
        x = 0
        for i in range(n):
            x += i * i

    def light(n):
        x = 0
        for i in range(n):
            x += i * i

    def sleeper():
        time.sleep(3600)

    def reader(end):
        os.read(end, 1)

    def locker(lock):
        lock.acquire()

    held = threading.Lock()
    held.acquire()
    ends = os.pipe()
    for function, arguments in ((sleeper, ()), (reader, (ends[0],)), (locker, (held,))):
        threading.Thread(target=function, args=arguments, daemon=True).start()
    end = time.monotonic() + {SECONDS}
    while time.monotonic() < end:
        heavy(700_000)
        light(300_000)
    os._exit(7)
"""

# A generator that yields all the time, as in ",".join(... for ...).
GENERATOR = f"""
    import time

    def describe(items):
        return max(item + 1 for item in items)

    def work(items):
        end = time.monotonic() + {SECONDS}
        while time.monotonic() < end:
            for i in range(100):
                describe(items)

    work(list(range(20)))
"""

CONTENTION = f"""
    import os, threading, time

    def spin(end):
        x = 0
        while time.monotonic() < end:
            for i in range(1000):
                x += i

    def first(end):
        spin(end)

    def second(end):
        spin(end)

    end = time.monotonic() + {SECONDS}
    other = threading.Thread(target=second, args=(end,))
    other.start()
    first(end)
    other.join()
"""

WORKERS = f"""
    import os, time

    def work():
        end = time.monotonic() + {SECONDS / 2}
        x = 0
        while time.monotonic() < end:
            x += 1

    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            work()
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
"""


class Host(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def profile(self, *program, code=0, options=()):
        out = self.folder / "report.json"
        done = subprocess.run([ROOFLINE, "profile", "--device", "cpu", *options, "-o", str(out), "--", *program],
                              cwd=self.folder, text=True, capture_output=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(out.read_text())["profile"]["host"]

    def test_a_step_range_that_is_not_used_is_named(self):
        quick = [sys.executable, "-c", "sum(range(10 ** 7))"]
        for options, named in ((["--step", "epoch"], True), (["--warmup", "10ms"], False)):
            done = subprocess.run([ROOFLINE, "profile", "--device", "cpu", *options, "-o", "out", "--", *quick],
                                  cwd=self.folder, text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("--step epoch" in done.stderr, named, done.stderr)
            self.assertNotIn("--warmup", done.stderr)

    def test_further_runs_count_gpu_kernels_only(self):
        script = self.folder / "count.py"
        script.write_text("open('runs', 'a').write('x')\nsum(range(10 ** 6))\n")
        done = subprocess.run([ROOFLINE, "profile", "--device", "cpu", "--runs", "3", "-o", "out", "--", sys.executable,
                               str(script)], cwd=self.folder, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--runs 3", done.stderr)
        self.assertEqual((self.folder / "runs").read_text(), "x")

    def python(self, source, **arguments):
        script = self.folder / "planted.py"
        script.write_text(textwrap.dedent(source))
        host = self.profile(sys.executable, str(script), **arguments)
        if not any(frame["python"] for frame in host["frames"]):
            self.skipTest(f"the frames of this Python can't be read: {sys.version}")
        return host

    @staticmethod
    def on_cpu(entry):
        return entry["seconds"].get("running", 0)

    def function(self, host, name):
        """Seconds on a CPU with what it calls."""
        return sum(entry["inclusive_cpu_s"] for entry in host["functions"] if entry["function"].startswith(name))

    def waiting(self, host, function, state):
        """The share of a state in the time off the CPU at the lines of a function."""
        lines = [line for line in host["lines"] if line["function"].startswith(function)]
        off = sum(sum(line["seconds"].values()) - self.on_cpu(line) for line in lines)
        self.assertGreater(off, 0, function)
        return sum(line["seconds"].get(state, 0) for line in lines) / off

    def test_loops_and_waits_of_a_python_program(self):
        host = self.python(LOOPS, code=7)
        heavy, light = self.function(host, "heavy"), self.function(host, "light")
        self.assertAlmostEqual(heavy / (heavy + light), 0.7, delta=TOLERANCE)
        self.assertGreater((heavy + light) / self.on_cpu(host), 0.8)
        states = (("sleeper", "sleep"), ("reader", "read"), ("locker", "lock"))
        shares = [self.waiting(host, *of) for of in states]
        self.assertGreater(min(shares), 0.9, dict(zip(states, shares)))
        lines = {line["line"] for line in host["lines"] if line["function"] == "heavy" and self.on_cpu(line) > 0.1}
        self.assertTrue(lines and lines <= {6, 7}, lines)
        self.assertTrue(all(line["own"] and line["python"] for line in host["lines"][:2]))

    def test_generators_have_their_callers(self):
        host = self.python(GENERATOR)
        if sys.version_info < (3, 11):
            self.skipTest("frames of this Python do not say that they are a generator's")
        frames, inside, called = host["frames"], 0, 0
        for stack in host["stacks"]:
            functions = [frames[index]["function"] for index in stack["frames"]]
            if not functions or "genexpr" not in functions[-1]:
                continue
            inside += stack["seconds"]
            called += stack["seconds"] if "work" in functions else 0
        self.assertGreater(inside, 0.2 * self.on_cpu(host))
        self.assertGreater(called, 0.9 * inside)

    def test_two_threads_that_want_the_interpreter(self):
        host = self.python(CONTENTION)
        threads = host["threads"]
        self.assertEqual(len(threads), 2)
        gil = sum(thread["seconds"].get("gil", 0) for thread in threads)
        ready = sum(thread["seconds"].get("running", 0) + thread["seconds"].get("runnable", 0) for thread in threads)
        # One of them waits at any time; where CPUs are few, a part of it for a CPU.
        self.assertGreater(gil, 0.1 * (gil + ready))

    def test_one_thread_does_not_wait_for_the_interpreter(self):
        host = self.python(LOOPS, code=7)
        self.assertLess(host["seconds"].get("gil", 0), 0.05 * sum(host["seconds"].values()))

    def test_a_wait_that_begins_as_soon_as_the_program_starts(self):
        """The interpreter is found while its thread already waits."""
        self.python("x = 0\nfor i in range(20_000_000):\n    x += i")  # skips where no Python is read
        for _ in range(3):
            host = self.profile(sys.executable, "-I", "-S", "-c", "import time; time.sleep(1.5)")
            self.assertGreater(self.waiting(host, "<module>", "sleep"), 0.8)

    def test_forked_workers(self):
        host = self.python(WORKERS)
        self.assertEqual(host["process_count"], 3)
        workers = [process for process in host["processes"] if process["parent"] in
                   {other["pid"] for other in host["processes"]}]
        self.assertEqual(len(workers), 2)
        self.assertGreater(self.function(host, "work"), 0.8 * sum(self.on_cpu(worker) for worker in workers))
        self.assertGreater(self.waiting(host, "<module>", "child"), 0.5)

    def test_emulation_is_suggested_for_native_code_that_can_be_counted(self):
        script = self.folder / "loop.py"
        script.write_text("sum(i * i for i in range(20_000_000))\n")
        run = lambda *program: subprocess.run([ROOFLINE, "profile", "--device", "cpu", "-o", "suggested", "--", *program],
                                              cwd=self.folder, text=True, capture_output=True).stderr
        checks = json.loads(subprocess.run([ROOFLINE, "doctor", "--json"], text=True, capture_output=True).stdout)
        counts = any(check["name"] == "counts under emulation" and check["health"] == "works"
                     for check in checks["data"]["checks"])
        self.assertEqual("--emulate" in run(PROGRAM, "1"), counts)
        self.assertNotIn("--emulate", run("sh", "-c", f"{PROGRAM} 1; exit 3"))
        self.assertNotIn("--emulate", run(sys.executable, str(script)))

    def test_a_program_that_ends_within_the_warm_up(self):
        host = self.profile(PROGRAM, "1", options=["--warmup", "1h"])
        self.assertNotIn("lines", {key for key, value in host.items() if value})
        self.assertIn("--warmup", host["why_none"])

    def test_functions_of_a_native_program(self):
        host = self.profile(PROGRAM, str(SECONDS))
        if "why_no_native" in host:
            self.skipTest(host["why_no_native"])
        heavy, light = self.function(host, "planted::heavy"), self.function(host, "planted::light")
        self.assertAlmostEqual(heavy / (heavy + light), 0.7, delta=TOLERANCE)
        self.assertGreater((heavy + light) / self.on_cpu(host), 0.8)
        # What is inlined into them has frames of its own, below theirs.
        self.assertGreater(self.function(host, "planted::iterate"), 0.9 * (heavy + light))
        waits = [thread for thread in host["threads"] if not thread["main"]]
        self.assertEqual(len(waits), 1)
        self.assertGreater(waits[0]["seconds"].get("sleep", 0), 0.9 * sum(waits[0]["seconds"].values()))

    def test_what_was_kept_is_reported_again(self):
        kept = self.folder / "kept"
        host = self.profile(PROGRAM, "1", options=("--keep", str(kept)))
        self.assertTrue((kept / "host.samples").exists())
        out = self.folder / "again.json"
        again = [ROOFLINE, "profile", "--device", "cpu", "--from", str(kept), "-o", str(out)]
        done = subprocess.run(again, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in host["lines"]:
            line.pop("source", None)  # files are read only for a program that has just run here
        self.assertEqual(json.loads(out.read_text())["profile"]["host"], host)
        damaged = (kept / "host.samples").read_bytes()
        (kept / "host.samples").write_bytes(damaged[: len(damaged) // 2])
        self.assertIn(subprocess.run(again, capture_output=True).returncode, (0, 2))
        (kept / "host.samples").write_bytes(b"no samples")
        self.assertEqual(subprocess.run(again, capture_output=True).returncode, 2)

    def test_stacks_for_flame_graphs(self):
        for name in ("host.stacks", "host.speedscope"):
            out = self.folder / name
            done = subprocess.run([ROOFLINE, "profile", "--device", "cpu", "-o", str(out), "--", PROGRAM, "1"],
                                  text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(out.stat().st_size, 100)
        speedscope = json.loads((self.folder / "host.speedscope").read_text())
        self.assertEqual(len(speedscope["profiles"]), 2)
        for line in (self.folder / "host.stacks").read_text().splitlines():
            self.assertRegex(line, r"^[^;]+;.* [0-9]+$")

    def test_every_usual_format_is_written(self):
        done = subprocess.run([ROOFLINE, "profile", "--device", "cpu", "-o", "all", "--", PROGRAM, "1"],
                              cwd=self.folder, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("report.json", "report.md", "report.html"):
            self.assertIn("idle" if name == "report.json" else "Host", (self.folder / "all" / name).read_text(), name)
        read = subprocess.run([ROOFLINE, "report", "all/report.json"], cwd=self.folder, text=True, capture_output=True)
        self.assertEqual(read.returncode, 0, read.stderr)


if __name__ == "__main__":
    ROOFLINE, PROGRAM = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
