#!/usr/bin/env python3
"""The server for coding agents, spoken to by a client of the standard library: what an agent's host does, offline.

usage: mcp_test.py PATH_OF_ROOFLINE [unittest arguments]
"""
import json
import os
import pathlib
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOFLINE = os.path.abspath(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[2]
REPORTS = ROOT / "reports" / "reference"
DEADLINE_S = 120  # of one answer: a defect, not a speed
ANSWER_BYTES = 8000  # about 2,000 tokens, with the names of files

try:
    import jsonschema
except ImportError:
    jsonschema = None


class Server:
    """roofline mcp in a folder, and the messages that it has sent."""

    def __init__(self, folder, *options):
        environment = dict(os.environ, XDG_CACHE_HOME=str(folder / "cache"))
        self.process = subprocess.Popen([ROOFLINE, "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        cwd=folder, env=environment)
        self.messages = queue.Queue()
        self.others = []  # notifications and answers that nobody has waited for
        self.last_id = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.messages.put(json.loads(line))
        self.messages.put(None)

    def send_line(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, **message):
        self.send_line(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def next_message(self):
        message = self.messages.get(timeout=DEADLINE_S)
        if message is None:
            raise AssertionError("the server has ended")
        return message

    def answer(self, wanted):
        while True:
            message = self.next_message()
            if "method" not in message and message["id"] == wanted:
                return message
            self.others.append(message)

    def ask(self, method, params=None):
        self.last_id += 1
        self.send(id=self.last_id, method=method, params=params or {})
        return self.answer(self.last_id)

    def initialize(self, version="2025-06-18"):
        answer = self.ask("initialize", {"protocolVersion": version, "capabilities": {},
                                         "clientInfo": {"name": "test", "version": "1"}})
        self.send(method="notifications/initialized")
        return answer["result"]

    def start(self, tool, arguments, token=None):
        self.last_id += 1
        params = {"name": tool, "arguments": arguments}
        if token is not None:
            params["_meta"] = {"progressToken": token}
        self.send(id=self.last_id, method="tools/call", params=params)
        return self.last_id

    def call(self, tool, **arguments):
        """The text of the answer, and whether it is an error."""
        result = self.answer(self.start(tool, arguments))["result"]
        (content,) = result["content"]
        assert content["type"] == "text"
        assert len(content["text"].encode()) < ANSWER_BYTES, content["text"]
        return content["text"], result["isError"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        return self.process.returncode


def exists(pid):
    """Whether it runs; one that has ended and waits for its parent does not."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


class Mcp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.server = Server(self.folder, "--allow", str(REPORTS))
        self.addCleanup(self.end)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    @property
    def process(self):
        return self.server.process

    def wait_for(self, path):
        deadline = time.monotonic() + DEADLINE_S
        while not path.exists() or not path.read_text():
            self.assertLess(time.monotonic(), deadline, f"{path} did not appear")
            time.sleep(0.02)
        return path.read_text()

    def wait_until_gone(self, pid):
        deadline = time.monotonic() + DEADLINE_S
        while exists(pid):
            self.assertLess(time.monotonic(), deadline, f"process {pid} still runs")
            time.sleep(0.02)

    def endless_program(self):
        """A program that says its PID and runs until it is ended."""
        script = self.folder / "endless.py"
        script.write_text("import os, time\nopen('pid.tmp', 'w').write(str(os.getpid()))\n"
                          "os.rename('pid.tmp', 'pid')\nwhile True:\n    time.sleep(0.01)\n")
        return [sys.executable, str(script)]

    def test_handshake_and_tools(self):
        result = self.server.initialize("2025-11-25")
        self.assertEqual(result["protocolVersion"], "2025-11-25")
        self.assertEqual(self.server.ask("ping")["result"], {})
        tools = self.server.ask("tools/list")["result"]["tools"]
        self.assertEqual({tool["name"] for tool in tools}, {"calibrate", "analyze", "profile", "import", "compare",
                                                            "bound", "project", "report"})
        for tool in tools:
            if jsonschema:
                jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        self.assertEqual(self.server.close(), 0)

    def test_bad_input_does_not_end_it(self):
        self.server.initialize()
        for line, code in ((b"{", -32700), (b"\x00\xff", -32700), (b"[]", -32600), (b"[" * 100_000, -32700),
                           (b'{"jsonrpc":"2.0","id":5}', -32600), (b"x" * 3_000_000, -32600),
                           (b'{"jsonrpc":"2.0","id":5,"method":"no"}', -32601),
                           (b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"no"}}', -32602)):
            self.server.send_line(line)
            self.assertEqual(self.server.next_message()["error"]["code"], code, line[:80])
        text, is_error = self.server.call("report")
        self.assertTrue(is_error)
        self.assertIn("report", text)
        self.assertEqual(self.server.ask("ping")["result"], {})

    def test_a_report_and_one_of_its_rows(self):
        self.server.initialize()
        report = json.loads((REPORTS / "h200-train/report.json").read_text())
        text, is_error = self.server.call("report", report=str(REPORTS / "h200-train"))
        self.assertFalse(is_error)
        self.assertIn(report["profile"]["wins"][0]["action"], text)
        row = max(range(len(report["results"])), key=lambda i: report["results"][i]["profiled"]["total_s"])
        text, is_error = self.server.call("report", report=str(REPORTS / "h200-train/report.json"), row=f"#{row + 1}")
        self.assertFalse(is_error)
        self.assertIn(report["results"][row]["label"], text)
        self.assertIn(report["results"][row]["limiting_ceiling"], text)
        self.assertIn(report["results"][row]["diagnosis"][0]["rule"], text)
        text, is_error = self.server.call("report", report=str(REPORTS / "h200-train"), row="no such row")
        self.assertTrue(is_error)

    def test_what_nothing_is_run_for(self):
        self.server.initialize()
        suite = self.folder / "suite.yaml"
        suite.write_text("name: one\nworkloads:\n  - {op: relu, dtype: fp32, shape: {n: 1000000}}\n")
        text, is_error = self.server.call("bound", problem="suite.yaml", machine="H200")
        self.assertFalse(is_error, text)
        self.assertIn("relu", text)
        run = str(REPORTS / "h200-ops")
        text, is_error = self.server.call("compare", before=[run], after=[run])
        self.assertFalse(is_error, text)
        self.assertNotIn("REGRESSION", text)
        text, is_error = self.server.call("project", report=run, onto=["B200"])
        self.assertFalse(is_error, text)
        self.assertIn("B200", text)

    def test_a_profile_and_its_report(self):
        self.server.initialize()
        (self.folder / "busy.py").write_text(
            "import time\ndef spin():\n    end = time.process_time() + 0.5\n    while time.process_time() < end:\n"
            "        pass\nspin()\nopen('ran', 'a').write('x')\n")
        call = self.server.start("profile", {"program": [sys.executable, "busy.py"], "device": "cpu"}, "mine")
        text = self.server.answer(call)["result"]["content"][0]["text"]
        self.assertIn("reports/busy-1/report.json", text)
        self.assertEqual((self.folder / "ran").read_text(), "x", "it ran once")
        self.assertTrue((self.folder / "reports/busy-1/report.json").exists())
        progress = [message["params"] for message in self.server.others]
        self.assertTrue(progress)
        self.assertEqual({params["progressToken"] for params in progress}, {"mine"})
        times = [params["progress"] for params in progress]
        self.assertEqual(times, sorted(set(times)))
        text, is_error = self.server.call("report", report="reports/busy-1", section="host")
        self.assertFalse(is_error)
        self.assertIn("busy.py", text)

    def test_a_failing_program_is_quoted(self):
        self.server.initialize()
        text, is_error = self.server.call("profile", program=[sys.executable, "-c", "raise KeyError('lost')"],
                                          device="cpu")
        self.assertFalse(is_error)
        self.assertIn("KeyError: 'lost'", text)
        self.assertIn("exit status 1", text)
        text, is_error = self.server.call("profile", program=["no-such-program"], device="cpu")
        self.assertTrue(is_error)
        self.assertIn("no-such-program", text)
        suite = self.folder / "broken.yaml"
        suite.write_text("name: broken\n")
        self.assertTrue(self.server.call("analyze", suite="broken.yaml", device="cpu")[1])
        left = [path.name for path in (self.folder / "reports").iterdir() if not (path / "report.json").exists()]
        self.assertEqual(left, [], "a call without a report leaves no folder")

    def test_programs_do_not_read_the_protocol(self):
        self.server.initialize()
        call = self.server.start("profile", {"program": [sys.executable, "-c", "import sys; print(len(sys.stdin.read()))"],
                                             "device": "cpu"})
        self.server.send(id="during", method="ping")
        self.assertEqual(self.server.answer("during")["result"], {})
        self.assertFalse(self.server.answer(call)["result"]["isError"])

    def test_cancelling_ends_the_program(self):
        self.server.initialize()
        call = self.server.start("profile", {"program": self.endless_program(), "device": "cpu"})
        waiting = self.server.start("report", {"report": str(REPORTS / "h200-ops")})
        pid = int(self.wait_for(self.folder / "pid"))
        self.assertEqual(self.server.ask("ping")["result"], {})
        self.server.send(method="notifications/cancelled", params={"requestId": call})
        self.wait_until_gone(pid)
        self.assertFalse(self.server.answer(waiting)["result"]["isError"])
        answered = [message["id"] for message in self.server.others if "method" not in message]
        self.assertNotIn(call, answered, "a cancelled call gets no answer")

    def test_the_program_ends_with_the_client(self):
        for end in ("closed", "terminated", "killed"):
            with self.subTest(end):
                server = Server(self.folder)
                server.initialize()
                (self.folder / "pid").unlink(missing_ok=True)
                server.start("profile", {"program": self.endless_program(), "device": "cpu"})
                pid = int(self.wait_for(self.folder / "pid"))
                if end == "terminated":
                    server.process.send_signal(signal.SIGTERM)
                if end == "killed":
                    server.process.kill()
                server.close()
                self.wait_until_gone(pid)

    def test_files_outside_are_refused(self):
        outside = tempfile.TemporaryDirectory()
        self.addCleanup(outside.cleanup)
        secret = pathlib.Path(outside.name) / "report.json"
        secret.write_text('{"secret": 4711}')
        (self.folder / "link.json").symlink_to(secret)
        (self.folder / "folder").symlink_to(outside.name)
        self.server.initialize()
        for path in (secret, "link.json", "folder", "folder/report.json", f"../{pathlib.Path(outside.name).name}"):
            text, is_error = self.server.call("report", report=str(path))
            self.assertTrue(is_error, path)
            self.assertNotIn("4711", text)
        for output in (outside.name, "folder/new"):
            text, is_error = self.server.call("profile", program=["touch", "ran"], device="cpu", output=str(output))
            self.assertTrue(is_error)
        self.assertFalse((self.folder / "ran").exists(), "nothing runs for a call that is refused")
        self.assertEqual(os.listdir(outside.name), ["report.json"])

    def test_its_own_mistakes(self):
        def run(*options):
            done = subprocess.run([ROOFLINE, "mcp", *options], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  cwd=self.folder)
            return done.returncode
        self.assertEqual(run("--allow", "not-there"), 2)
        self.assertEqual(run("--json"), 2)
        self.assertEqual(run(), 0)


if __name__ == "__main__":
    unittest.main()
