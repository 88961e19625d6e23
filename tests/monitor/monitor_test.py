"""roofline monitor itself: on the CPU, on fake GPUs, on a terminal, refused and ended."""
import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

TOOL = sys.argv.pop(1)
FAKE = sys.argv.pop(1) if len(sys.argv) > 1 else None  # a build without a CUDA half has no GPUs to fake
ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/schema/monitor.schema.json").read_text())


class MonitorTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.environment = dict(os.environ, XDG_CACHE_HOME=self.folder.name, CUDA_VISIBLE_DEVICES="", LC_ALL="C.UTF-8",
                                TERM="xterm")
        self.environment.pop("NO_COLOR", None)

    def fake(self, **figures):
        """GPUs that only NVML knows: CUDA shows none here."""
        if not FAKE:
            self.skipTest("this build has no CUDA support")
        self.environment["LD_LIBRARY_PATH"] = str(pathlib.Path(FAKE).resolve().parent)
        self.environment["FAKE_NVML"] = ",".join(f"{key}={value}" for key, value in figures.items()) or "1"

    def run_tool(self, *words):
        return subprocess.run([TOOL, "monitor", *map(str, words)], env=self.environment, capture_output=True, text=True,
                              timeout=300)

    def start(self, *words, **more):
        process = subprocess.Popen([TOOL, "monitor", *map(str, words)], env=self.environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **more)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def until_it_catches(self, process, number):
        """Until a process has a handler for that signal: before, it would just end."""
        while process.poll() is None:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            if int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16) >> number - 1 & 1:
                return
            time.sleep(0.01)

    def valid(self, line):
        sample = json.loads(line)
        if jsonschema:
            jsonschema.Draft202012Validator(SCHEMA).validate(sample)
        return sample

    def test_one_sample_of_the_cpu(self):
        done = self.run_tool("--device", "cpu", "--once", "--json", "--interval", "200ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("\n"), 1)
        sample = self.valid(done.stdout)
        (cpu,) = sample["devices"]
        self.assertEqual(cpu["device"], "cpu")
        self.assertGreater(cpu["seconds"], 0.1)
        self.assertIn("busy_fraction", cpu["values"])
        self.assertIn("roofline calibrate", cpu["absent"]["roofs"])
        self.assertEqual(sample["interval_s"], 0.2)
        text = self.run_tool("--device", "cpu", "--once", "--interval", "200ms").stdout
        self.assertIn("busy", text)
        self.assertNotIn("\x1b", text)

    def test_one_sample_does_not_wait_for_a_long_interval(self):
        done = self.run_tool("--device", "cpu", "--once", "--json", "--interval", "1h")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.valid(done.stdout)["interval_s"], 1)

    def test_lines_until_it_is_ended(self):
        for end in (signal.SIGINT, signal.SIGTERM):
            process = self.start("--device", "cpu", "--json", "--interval", "100ms")
            times = [self.valid(process.stdout.readline())["time"] for _ in range(3)]
            self.assertEqual(times, sorted(times))
            process.send_signal(end)
            self.assertEqual(process.wait(60), 0)

    def test_a_reader_that_leaves_ends_it(self):
        process = self.start("--device", "cpu", "--json", "--interval", "50ms")
        process.stdout.readline()
        process.stdout.close()
        self.assertNotEqual(process.wait(60), 0)

    def test_one_sample_that_is_interrupted_was_none(self):
        process = self.start("--device", "cpu", "--once", "--interval", "1min")
        self.until_it_catches(process, signal.SIGINT)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 130)
        self.assertEqual(process.stdout.read(), "")

    def test_prometheus(self):
        text = self.run_tool("--device", "cpu", "--once", "--format", "prometheus", "--interval", "100ms").stdout
        metric = re.compile(r'^roofline_monitor_[a-z_]+\{[a-z]+="[^\n]*"\} \S+$')
        for line in text.splitlines():
            self.assertTrue(line.startswith("#") or metric.match(line), line)
        self.assertIn("roofline_monitor_up{", text)

    def test_fake_gpus(self):
        self.fake()
        sample = self.valid(self.run_tool("--once", "--json", "--interval", "1500ms").stdout)
        self.assertEqual([device["device"] for device in sample["devices"]], ["cuda:0", "cuda:1", "cpu"])
        gpu = sample["devices"][1]
        self.assertEqual(gpu["values"]["power_watts"], 650)
        self.assertAlmostEqual(gpu["values"]["pcie_rx_bytes_per_second"] / 2e9, 1, delta=0.3)
        self.assertAlmostEqual(gpu["values"]["nvlink_tx_bytes_per_second"] / 50e9, 1, delta=0.3)
        self.assertAlmostEqual(gpu["values"]["power_capped_fraction"], 0.5, delta=0.15)
        self.assertEqual(gpu["limited_by"], ["power cap"])
        self.assertIn("tensor_active_fraction", gpu["absent"])
        chosen = self.valid(self.run_tool("--once", "--json", "--interval", "100ms", "--device", "cuda:1,cpu").stdout)
        self.assertEqual([device["device"] for device in chosen["devices"]], ["cuda:1", "cpu"])

    def test_a_lost_gpu_and_one_that_kills_its_reader_cost_their_own_lines(self):
        for fault, name, words in (("lost", "power_watts", "the GPU is lost"), ("die", "device", "signal 11")):
            self.fake(**{fault: 2})
            process = self.start("--device", "cuda:0,cpu", "--json", "--interval", "100ms")
            before = self.valid(process.stdout.readline())["devices"]
            self.assertEqual(before[0]["values"]["power_watts"], 650)
            for _ in range(100):
                gpu, cpu = self.valid(process.stdout.readline())["devices"]
                if name in gpu.get("absent", {}):
                    break
            self.assertIn(words, gpu["absent"][name])
            self.assertIn("busy_fraction", cpu["values"])
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(60), 0)

    def test_a_driver_that_hangs_is_said_to(self):
        self.fake(hang=1)
        process = self.start("--device", "cuda:0,cpu", "--json", "--interval", "100ms")
        gpu, cpu = self.valid(process.stdout.readline())["devices"]
        self.assertNotEqual(gpu["absent"]["device"], "")
        self.assertIn("busy_fraction", cpu["values"])
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 0)

    def test_no_permission(self):
        self.fake(status=4)
        (gpu,) = self.valid(self.run_tool("--once", "--json", "--interval", "100ms", "--device", "cuda:0").stdout)["devices"]
        self.assertEqual(gpu["absent"]["power_watts"], "no permission")
        self.assertEqual(gpu["absent"]["processes"], "no permission")

    def test_what_is_not_there(self):
        self.fake(start=9)
        done = self.run_tool("--device", "cuda", "--once")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.fake()
        done = self.run_tool("--device", "cuda:7", "--once", "--json")
        self.assertEqual(done.returncode, 4)
        self.assertEqual(json.loads(done.stdout)["errors"][0]["code"], "device")

    def test_mistakes(self):
        for words in (("--device", "gpu"), ("--device", "cuda:"), ("--device", "0"), ("--interval", "1ms"), ("--interval", "x"),
                      ("--format", "prometheus"), ("--format", "xml"), ("--json", "--top", "3"),
                      ("--json", "--once", "--format", "prometheus")):
            self.assertEqual(self.run_tool(*words).returncode, 2, words)

    def on_a_terminal(self, keys):
        """What is drawn on one until `keys` have ended it, and its settings before and after."""
        import termios
        leader, follower = pty.openpty()
        self.addCleanup(os.close, leader)
        before = termios.tcgetattr(follower)
        process = subprocess.Popen([TOOL, "monitor", "--device", "cpu", "--interval", "100ms"], env=self.environment,
                                   stdin=follower, stdout=follower, stderr=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=lambda: __import__("fcntl").ioctl(0, termios.TIOCSCTTY, 0))
        self.addCleanup(process.kill)
        drawn = b""
        sent = False
        until = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < until:
            if select.select([leader], [], [], 0.05)[0]:
                drawn += os.read(leader, 65536)
            if not sent and drawn.count(b"\x1b[H") >= 3:
                os.write(leader, keys)
                sent = True
        while select.select([leader], [], [], 0.05)[0]:
            drawn += os.read(leader, 65536)
        after = termios.tcgetattr(follower)
        os.close(follower)
        self.assertEqual(process.wait(60), 0)
        return drawn.decode(), before, after

    def test_a_terminal_is_drawn_over_and_given_back(self):
        for keys in (b"q", b"\x03"):
            drawn, before, after = self.on_a_terminal(keys)
            self.assertEqual(before, after)
            self.assertIn("\x1b[?1049h", drawn)
            self.assertTrue(drawn.rstrip().endswith("\x1b[?25h\x1b[?1049l"), drawn[-80:])
            self.assertIn("busy", drawn)


unittest.main()
