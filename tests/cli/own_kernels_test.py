#!/usr/bin/env python3
"""Kernels that a suite brings with it, on the CPU, by the binary: what they compute, what goes wrong, what it costs.

usage: own_kernels_test.py PATH_OF_ROOFLINE [unittest arguments]
"""
import errno
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ROOFLINE = os.path.abspath(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[2]
CC = os.environ.get("CC", "cc")

SCALE = """\
#include <stdint.h>
void scale(const float* x, float* y, float factor, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = factor * x[i];
}
"""

KERNEL = """\
    source: {source}
    entry: {entry}
    arguments:
      - {{ input: x, dtype: fp32, size: n }}
      - {{ output: y, dtype: fp32, size: n }}
      - {{ scalar: 2.0, dtype: fp32 }}
      - {{ scalar: n, dtype: int64 }}
"""


def npy(*values, format="f", descr="'<f4'", order="False", shape=None):
    """A NumPy file, or what is nearly one."""
    shape = f"({len(values)},)" if shape is None else shape
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            struct.pack(f"<{len(values)}{format}", *values))


class OwnKernels(unittest.TestCase):
    device = "cpu"
    roofs = "[df]*"  # memory and the rates of fp32 and fp64
    calibrated = {}

    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls._folder.name)
        cls.environment = dict(os.environ, XDG_CACHE_HOME=str(cls.folder / "cache"), NO_COLOR="1")
        cls.machine = cls.folder / "machine.json"
        if cls.device not in OwnKernels.calibrated:
            done = cls.run_tool("calibrate", "--device", cls.device, "--quick", "--only", cls.roofs, "-o", cls.machine)
            assert done.returncode == 0, done.stderr
            OwnKernels.calibrated[cls.device] = cls.machine.read_bytes()
        cls.machine.write_bytes(OwnKernels.calibrated[cls.device])

    @classmethod
    def tearDownClass(cls):
        cls._folder.cleanup()

    @classmethod
    def run_tool(cls, *arguments):
        return subprocess.run([ROOFLINE, *map(str, arguments)], env=cls.environment, cwd=cls.folder, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def analyze(self, suite, *arguments):
        path = self.write("suite.yaml", suite)
        return self.run_tool("analyze", path, "--device", self.device, "--machine", self.machine, "--max-time", "0.01",
                             "--no-experiments", "--json", *arguments)

    def rows(self, suite, *arguments, code=0):
        done = self.analyze(suite, *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)["data"]["results"]

    def check_ok(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)

    def refused(self, suite, *messages):
        done = self.analyze(suite)
        self.assertEqual(done.returncode, 2, done.stderr)
        for message in messages:
            self.assertIn(message, done.stderr)

    def kernel(self, source=SCALE, entry="scale", name="scale.c", more="    expect: { y: 2*x }\n", shape="{ n: 10000 }"):
        self.write(name, source)
        return ("name: own\nkernels:\n  scale:\n" + KERNEL.format(source=name, entry=entry) + more +
                f"workloads:\n  - {{ kernel: scale, shape: {shape} }}\n")

    def row(self, *arguments, code=0, **options):
        rows = self.rows(self.kernel(*arguments, **options), code=code)
        self.assertEqual(len(rows), 1)
        return rows[0]


class FirstKernels(OwnKernels):
    """Three kernels as a newcomer writes them: a wrong expectation, a sum that waits for itself, one thread of many."""

    def test_a_histogram_of_random_values_is_not_n_over_256(self):
        self.write("hist.c", "#include <stdint.h>\n#include <string.h>\nvoid hist(const uint8_t* x, uint32_t* h, int64_t n) {\n"
                             "  memset(h, 0, 256 * sizeof *h);\n  for (int64_t i = 0; i < n; ++i) h[x[i]]++;\n}\n")
        suite = ("name: own\nkernels:\n  hist:\n    source: hist.c\n    entry: hist\n    arguments:\n"
                 "      - { input: x, dtype: uint8, size: n }\n      - { output: h, dtype: uint32, size: 256 }\n"
                 "      - { scalar: n, dtype: int64 }\n    work: { }\n    expect: { h: \"n/256\" }\n"
                 "workloads:\n  - { kernel: hist, shape: { n: 2^20 } }\n")
        row, = self.rows(suite, code=1)
        self.assertEqual(row["status"], "failed")
        self.assertEqual(row["verification"]["checked"], 256)
        got, expected = map(int, re.search(r"is (\d+), expected (\d+)", row["verification"]["failure"]).groups())
        self.assertEqual(expected, 4096)
        self.assertNotEqual(got, 4096)
        self.assertNotIn("time_s", row)
        row, = self.rows(suite.replace("n/256", "sum(x == i)").replace("2^20", "2^14"))
        self.assertEqual((row["status"], row["verification"]["outputs"]), ("ok", 256))

    def test_a_sum_that_waits_for_itself_is_named(self):
        self.write("dot.c", "#include <stdint.h>\nvoid dot(const float* x, const float* z, float* r, int64_t n) {\n"
                            "  float s = 0;\n  for (int64_t i = 0; i < n; ++i) s += x[i] * z[i];\n  *r = s;\n}\n")
        suite = ("name: own\nkernels:\n  dot:\n    source: dot.c\n    entry: dot\n    arguments:\n"
                 "      - { input: x, dtype: fp32, size: n }\n      - { input: z, dtype: fp32, size: n }\n"
                 "      - { output: r, dtype: fp32, size: 1 }\n      - { scalar: n, dtype: int64 }\n"
                 "    work: { flops: { fp32: 2*n } }\n    expect: { r: \"sum(x*z)\" }\n"
                 "workloads:\n  - { kernel: dot, shape: { n: 2^16 } }\n")
        for _ in range(3):  # other programs may hide it
            done = self.run_tool("analyze", self.write("suite.yaml", suite), "--device", "cpu", "--machine", self.machine, "--max-time", "1", "--json")
            self.check_ok(done)
            row, = json.loads(done.stdout)["data"]["results"]
            self.assertEqual(row["verification"]["status"], "pass")
            rules = [one["rule"] for one in row["diagnosis"]]
            if "dependent-sum" in rules:
                break
        if not {"disturbed", "slow-machine", "drifting"} & set(rules):
            self.assertIn("dependent-sum", rules)
        independent = suite.replace("dot.c", "dots.c")
        self.write("dots.c", "#include <stdint.h>\nvoid dot(const float* x, const float* z, float* r, int64_t n) {\n"
                             "  float s[64] = {0}, all = 0;\n  for (int64_t i = 0; i < n; i += 64)\n"
                             "    for (int k = 0; k < 64; ++k) s[k] += x[i + k] * z[i + k];\n"
                             "  for (int k = 0; k < 64; ++k) all += s[k];\n  *r = all;\n}\n")
        done = self.run_tool("analyze", self.write("suite.yaml", independent), "--device", "cpu", "--machine", self.machine, "--max-time", "1", "--json")
        self.check_ok(done)
        self.assertNotIn("dependent-sum", [one["rule"] for one in json.loads(done.stdout)["data"]["results"][0]["diagnosis"]])

    def test_an_update_on_one_thread_is_under_the_roof_of_one(self):
        self.write("saxpy.c", "#include <stdint.h>\nvoid saxpy(float a, const float* x, float* y, int64_t n) {\n"
                              "  for (int64_t i = 0; i < n; ++i) y[i] = a * x[i] + y[i];\n}\n")
        suite = ("name: own\nkernels:\n  saxpy:\n    source: saxpy.c\n    entry: saxpy\n    arguments:\n"
                 "      - { scalar: 2.5, dtype: fp32 }\n      - { input: x, dtype: fp32, size: n }\n"
                 "      - { inout: y, dtype: fp32, size: n }\n      - { scalar: n, dtype: int64 }\n"
                 "    work: { flops: { fp32: 2*n } }\n    expect: { y: 2.5*x + y }\n"
                 "workloads:\n  - { kernel: saxpy, shape: { n: [2^12, 2^18, 2^22] } }\n")
        rows = self.rows(suite)
        self.assertEqual([row["status"] for row in rows], ["ok"] * 3)
        for row in rows:
            with self.subTest(row["label"]):
                self.assertEqual(row["work"]["threads"], 1)
                self.assertIn(row["limiting_ceiling"], ("dram.accumulate", "dram.accumulate.one_core"))
                self.assertEqual(row["work"]["traffic"]["dram"]["in_place"], True)


class Works(OwnKernels):
    def test_a_c_function_is_verified_timed_and_under_the_roof(self):
        row = self.row()
        self.assertEqual((row["status"], row["workload"], row["impl"]), ("ok", "scale", "scale.c"))
        self.assertGreater(row["time_s"]["median"], 0)
        self.assertEqual(row["verification"]["status"], "pass")
        self.assertIn("formula", row["verification"]["reference"])
        self.assertEqual(row["work"]["bytes"]["dram"], 80000)
        self.assertIn(row["limiting_ceiling"], ("dram.copy", "dram.copy.one_core"))

    def test_templates_of_cpp(self):
        source = "template <class T> void scale(const T* x, T* y, T f, long n) { for (long i = 0; i < n; ++i) y[i] = f * x[i]; }\n"
        self.assertEqual(self.row(source, "scale<float>", "scale.cpp")["status"], "ok")

    def test_functions_of_a_shared_library(self):
        self.write("library.c", SCALE)
        subprocess.run([CC, "-shared", "-fPIC", "-O2", "-o", self.folder / "library.so", self.folder / "library.c"],
                       check=True)
        suite = ("name: own\nkernels:\n  scale:\n" + KERNEL.format(source="library.so", entry="scale") +
                 "    expect: { y: 2*x }\nworkloads:\n  - { kernel: scale, shape: { n: 1000 } }\n")
        self.assertEqual(self.rows(suite)[0]["status"], "ok")
        row = self.rows(suite.replace("entry: scale", "entry: scales"), code=1)[0]
        self.assertIn("'scales'", row["reason"])

    def test_what_is_read_and_written_starts_as_it_was(self):
        source = "#include <stdint.h>\nvoid saxpy(const float* x, float* y, float a, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] += a * x[i]; }\n"
        suite = self.kernel(source, "saxpy", "saxpy.c", "    expect: { y: 2*x + y }\n").replace("output: y", "inout: y")
        row = self.rows(suite)[0]
        self.assertEqual(row["status"], "ok", row.get("reason"))
        self.assertEqual(row["work"]["bytes"]["dram"], 120000)
        self.assertEqual(row["work"]["traffic"]["dram"], {"read": 80000, "write": 40000, "in_place": True})
        self.assertIn(row["limiting_ceiling"], ("dram.accumulate", "dram.accumulate.one_core"))

    def test_the_bounds_of_work_follow_from_formula_and_buffers(self):
        saxpy = """\
#include <stdint.h>
void saxpy(const float* x, float* y, float a, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] += a * x[i]; }
"""
        suite = self.kernel(saxpy, "saxpy", "saxpy.c", "    work: { flops: { fp32: 2*n } }\n    expect: { y: 2*x + y }\n")
        work = self.rows(suite.replace("output: y", "inout: y"))[0]["verification"]["work"]
        n = 10000
        self.assertEqual((work["flops_least"], work["flops_most"]), (2 * n, 2 * n))
        self.assertEqual((work["read_most"], work["write_most"]), (8 * n, 4 * n))
        self.assertGreaterEqual(work["read_least"], 7.9 * n)  # an element that is 0 changes nothing
        self.assertGreaterEqual(work["write_least"], 3.9 * n)

    def test_an_untouched_border_is_no_compulsory_traffic(self):
        source = """\
#include <stdint.h>
void inner(const float* x, float* y, float a, int64_t n) { for (int64_t i = 100; i < n - 100; ++i) y[i] = a * x[i]; }
"""
        suite = self.kernel(source, "inner", "inner.c", "    work: { }\n    expect: { y: \"i < 100 || i >= n - 100 ? y : 2*x\" }\n",
                            shape="{ n: 1000 }").replace("output: y", "inout: y")
        work = self.rows(suite)[0]["verification"]["work"]
        self.assertEqual((work["write_least"], work["write_most"]), (800 * 4, 1000 * 4))
        self.assertEqual((work["read_least"], work["read_most"]), (800 * 4, 2000 * 4))

    def test_a_dot_product_needs_all_elements_and_an_operation_for_each(self):
        source = """\
#include <stdint.h>
void dot(const float* x, const float* z, float* y, int64_t n) { float s = 0; for (int64_t i = 0; i < n; ++i) s += x[i] * z[i]; *y = s; }
"""
        self.write("dot.c", source)
        suite = ("name: own\nkernels:\n  dot:\n    source: dot.c\n    entry: dot\n    arguments:\n"
                 "      - { input: x, dtype: fp32, size: n }\n      - { input: z, dtype: fp32, size: n }\n"
                 "      - { output: y, dtype: fp32, size: 1 }\n      - { scalar: n, dtype: int64 }\n"
                 "    work: { flops: { fp32: 2*n } }\n    expect: { y: \"sum(x*z)\" }\n"
                 "workloads:\n  - { kernel: dot, shape: { n: 5000 } }\n")
        work = self.rows(suite)[0]["verification"]["work"]
        self.assertEqual((work["flops_least"], work["flops_most"]), (2 * 5000 - 1, 2 * 5000))
        self.assertEqual((work["read_least"], work["read_most"]), (8 * 5000, 8 * 5000))

    def test_each_output_has_the_bound_of_its_own_type(self):
        source = """\
#include <stdint.h>
void both(const float* x, double* y, float* z, int64_t n) { for (int64_t i = 0; i < n; ++i) { y[i] = (double)x[i] / 3; z[i] = x[i] / 3; } }
"""
        self.write("both.c", source)
        suite = ("name: own\nkernels:\n  both:\n    source: both.c\n    entry: both\n    arguments:\n"
                 "      - { input: x, dtype: fp32, size: n }\n      - { output: y, dtype: fp64, size: n }\n"
                 "      - { output: z, dtype: fp32, size: n }\n      - { scalar: n, dtype: int64 }\n"
                 "    work: { }\n    expect: { y: x/3, z: x/3 }\nworkloads:\n  - { kernel: both, shape: { n: 5000 } }\n")
        worst = {one["output"]: one for one in self.rows(suite)[0]["verification"]["worst"]}
        self.assertLess(worst["y"]["permitted"], 1e-14)
        self.assertGreater(worst["z"]["permitted"], 1e-9)

    def test_all_threads_know_which_they_are(self):
        source = """\
#include <stdint.h>
void scale(const float* x, float* y, float factor, int64_t n, int32_t thread, int32_t threads) {
  for (int64_t i = n * thread / threads; i < n * (thread + 1) / threads; ++i) y[i] = factor * x[i];
}
"""
        suite = self.kernel(source).replace("      - { scalar: n, dtype: int64 }\n",
                                            "      - { scalar: n, dtype: int64 }\n      - { scalar: thread, dtype: int32 }\n"
                                            "      - { scalar: threads, dtype: int32 }\n    launch: { threads: all }\n")
        row = self.rows(suite)[0]
        self.assertEqual(row["status"], "ok", row.get("reason"))

    def units(self):
        """Threads of the run."""
        return json.loads(self.machine.read_text())["device"]["units"]

    def test_only_the_thread_pool_has_a_launch_cost(self):
        source = SCALE.replace("int64_t n)", "int64_t n, int32_t thread, int32_t threads)").replace(
            "int64_t i = 0; i < n;", "int64_t i = n * thread / threads; i < n * (thread + 1) / threads;")
        index = "      - { scalar: thread, dtype: int32 }\n      - { scalar: threads, dtype: int32 }\n"
        several = self.units() > 1
        for launch, regions, threads in [("", 0, 1), ("    launch: { threads: 1 }\n", 0, 1),
                                         ("    launch: { threads: all }\n", 1 if several else 0, self.units())]:
            with self.subTest(launch):
                row = self.row(source, more=index + launch + "    expect: { y: 2*x }\n")
                self.assertEqual(row["status"], "ok", row.get("reason"))
                self.assertEqual(row["work"]["launches"], regions)
                self.assertEqual(row["work"].get("threads", self.units()), threads)
                overhead = [one for one in row["resources"] if one["kind"] == "overhead"]
                self.assertEqual(len(overhead), regions)

    def test_threads_that_do_the_same_work_are_refused(self):
        suite = self.kernel(more="    launch: { threads: THREADS }\n    expect: { y: 2*x }\n")
        for threads in ("all", "2", "[1, 2]"):
            with self.subTest(threads):
                self.refused(suite.replace("THREADS", threads), "suite.yaml:11:13: ", "threads: own")
        row = self.rows(suite.replace("THREADS", "1"))[0]
        self.assertEqual(row["status"], "ok", row.get("reason"))

    def test_verified_and_timed_calls_have_the_same_cpus(self):
        """The kernel ends its process where it may use another number of CPUs."""
        source = """\
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
static int cpus(void) { cpu_set_t set; CPU_ZERO(&set); sched_getaffinity(0, sizeof set, &set); return CPU_COUNT(&set); }
struct Half { const float* x; float* y; float factor; int64_t begin, end; };
static void* work(void* of) {
  struct Half* half = of;
  if (cpus() != CPUS) abort();
  for (int64_t i = half->begin; i < half->end; ++i) half->y[i] = half->factor * half->x[i];
  return 0;
}
void scale(const float* x, float* y, float factor, int64_t n) {
  struct Half first = {x, y, factor, 0, n / 2}, second = {x, y, factor, n / 2, n};
  pthread_t other;
  if (pthread_create(&other, 0, work, &second) != 0) abort();
  work(&first);
  pthread_join(other, 0);
}
"""
        for threads, cpus in [("own", self.units()), ("1", 1)]:
            with self.subTest(threads):
                suite = self.kernel(source, more="    options: [-pthread]\n    define: { CPUS: %d }\n"
                                    "    launch: { threads: %s }\n    expect: { y: 2*x }\n" % (cpus, threads))
                row = self.rows(suite)[0]
                self.assertEqual(row["status"], "ok", row.get("reason"))
                self.assertEqual(row["work"]["launches"], 0)
                self.assertEqual(row["work"].get("threads", self.units()), self.units() if threads == "own" else 1)

    def test_what_is_only_written_is_known(self):
        self.assertEqual(self.row()["work"]["write_only"], 40000)
        source = "#include <stdint.h>\nvoid saxpy(const float* x, float* y, float a, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] += a * x[i]; }\n"
        suite = self.kernel(source, "saxpy", "saxpy.c", "    expect: { y: 2*x + y }\n").replace("output: y", "inout: y")
        self.assertEqual(self.rows(suite)[0]["work"]["write_only"], 0)

    def test_structures_and_pointers_into_buffers(self):
        source = """\
#include <stdint.h>
struct Params { int8_t one; double factor; int32_t n; };
void scale(const float* second_half, float* y, struct Params p) {
  for (int32_t i = 0; i < p.n; ++i) y[i] = (float)(p.factor * p.one) * second_half[i];
}
"""
        self.write("struct.c", source)
        suite = """\
name: own
kernels:
  scale:
    source: struct.c
    entry: scale
    buffers:
      - { input: x, dtype: fp32, size: 2*n, values: normal }
      - { output: y, dtype: fp32, size: n }
    arguments:
      - { pointer: x, offset: n }
      - { pointer: y }
      - { struct: [{ scalar: 1, dtype: int8 }, { scalar: 3, dtype: fp64 }, { scalar: n, dtype: int32 }], type: struct Params }
    expect: { y: "3 * x[i + n]" }
workloads:
  - { kernel: scale, shape: { n: 777 } }
"""
        row = self.rows(suite)[0]
        self.assertEqual(row["status"], "ok", row.get("reason"))

    def test_an_expected_file_and_another_kernel(self):
        (self.folder / "x.npy").write_bytes(npy(1, 2, 3))
        (self.folder / "y.npy").write_bytes(npy(2, 4, 6))
        (self.folder / "wrong.npy").write_bytes(npy(2, 4, 7))
        suite = self.kernel(more="    expect: { y: { npy: y.npy } }\n", shape="{ n: 3 }").replace(
            "size: n }\n      - { output", "size: n, values: { npy: x.npy } }\n      - { output", 1)
        self.assertEqual(self.rows(suite)[0]["status"], "ok")
        self.assertIn("y[2] is 6, expected 7", self.rows(suite.replace("y.npy", "wrong.npy"), code=1)[0]["reason"])
        reason = self.rows(suite.replace("n: 3", "n: 4"), code=1)[0]["reason"]
        self.assertIn("shape (3,)", reason)
        self.assertIn("4 elements", reason)

        plain = self.kernel(more="    same_as: plain\n").replace(
            "kernels:\n", "kernels:\n  plain:\n" + KERNEL.format(source="scale.c", entry="scale") + "    expect: { y: 2*x }\n")
        row = self.rows(plain)[0]
        self.assertEqual(row["status"], "ok", row.get("reason"))
        self.assertIn("plain", row["verification"]["reference"])
        other = self.write("other.c", SCALE.replace("factor * x[i]", "factor * x[i] + 0.01f"))
        row = self.rows(plain.replace("source: scale.c\n", "source: other.c\n", 1), code=1)[0]
        self.assertIn("wrong result", row["reason"], other)

    def test_files_of_numpy_are_read_by_what_their_header_says(self):
        suite = self.kernel(shape="{ n: 6 }").replace("size: n }", "size: n, values: { npy: x.npy } }", 1)
        numbers = range(6)
        for good in [npy(*numbers, shape="(2, 3)"), npy(*numbers, format="d", descr="'<f8'"),
                     npy(*numbers, format="q", descr="'<i8'"), npy(*numbers, format="B", descr="'|u1'")]:
            (self.folder / "x.npy").write_bytes(good)
            self.assertEqual(self.rows(suite)[0]["status"], "ok")
        for wrong, words in [
            (npy(*numbers, shape="(2, 2)"), "(2, 2)"),
            (npy(*numbers, shape="()"), "shape ()"),
            (npy(*numbers, shape="(-6,)"), "(-6,)"),
            (npy(*numbers, shape="(" + "9" * 400 + ",)"), "(999"),
            (npy(*numbers, shape="(2, 3)", order="True"), "Fortran"),
            (npy(*numbers)[:-1], "23 bytes"),
            (npy(*numbers)[:40], "header"),
            (npy(*numbers, descr="'>f4'"), "big-endian"),
            (npy(*numbers, descr="'<c8'"), "<c8"),
            (npy(*numbers, descr="[('a', '<f4')]"), "type"),
            (npy(*numbers[:-1], float("nan")), "element 5 is nan"),
            (npy(*numbers[:-1], 1e300, format="d", descr="'<f8'"), "element 5 is 1e+300"),
            (b"", "x.npy"), (b"hello, this is a text", "x.npy"),
        ]:
            with self.subTest(words):
                (self.folder / "x.npy").write_bytes(wrong)
                self.assertIn(words, self.rows(suite, code=1)[0]["reason"])
        (self.folder / "x.npy").write_bytes(npy(*numbers))
        (self.folder / "y.npy").write_bytes(npy(*numbers[:-1], float("inf")))
        reason = self.rows(suite.replace("{ y: 2*x }", "{ y: { npy: y.npy } }"), code=1)[0]["reason"]
        self.assertIn("y.npy: element 5 is inf", reason)

    def test_expectations_may_have_rows_and_columns(self):
        self.write("transpose.c", """\
#include <stdint.h>
void transpose(const float* x, float* y, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) for (int64_t c = 0; c < columns; ++c) y[c * rows + r] = x[r * columns + c];
}
""")
        suite = """\
name: own
kernels:
  turned:
    source: transpose.c
    entry: transpose
    arguments:
      - { input: x, dtype: fp32, size: rows*columns }
      - { output: y, dtype: fp32, size: rows*columns }
      - { scalar: rows, dtype: int64 }
      - { scalar: columns, dtype: int64 }
    expect: { y: "x[i % rows * columns + floor(i / rows)]" }
workloads:
  - { kernel: turned, shape: { rows: 37, columns: 101 } }
"""
        self.assertEqual(self.rows(suite)[0]["status"], "ok")
        wrong = suite.replace("i % rows * columns", "i % columns * rows")
        self.assertIn(" x[", self.rows(wrong, code=1)[0]["reason"])

    def reduction(self, body, parameters, tensors, expect, shape):
        """A suite with the kernel `void reduce(PARAMETERS) { BODY }` and int64 scalars after its tensors."""
        self.write("reduce.c", f"#include <stdint.h>\nvoid reduce({parameters}) {{ {body} }}\n")
        return ("name: own\nkernels:\n  reduce:\n    source: reduce.c\n    entry: reduce\n    arguments:\n" +
                "".join(f"      - {{ {tensor} }}\n" for tensor in tensors) +
                "".join(f"      - {{ scalar: {name}, dtype: int64 }}\n" for name in shape) +
                f"    expect: {{ r: \"{expect}\" }}\n    tolerance: 1e-6\nworkloads:\n  - {{ kernel: reduce, shape: {json.dumps(shape)} }}\n")

    def dot(self, expect):
        return self.reduction("double s = 0; for (int64_t i = 0; i < n; ++i) s += x[i] * y[i]; *r = s;",
                              "const double* x, const double* y, double* r, int64_t n",
                              ["input: x, dtype: fp64, size: n", "input: y, dtype: fp64, size: n",
                               "output: r, dtype: fp64, size: 1"], expect, {"n": 1000})

    def test_expectations_may_be_reductions(self):
        for expect in ("sum(x*y)", "sum[j < n](x[j] * y[j])", "avg(x*y) * n"):
            row, = self.rows(self.dot(expect))
            self.assertEqual((row["status"], row["verification"]["checked"]), ("ok", 1), row.get("reason"))
        self.assertIn("r[0] is", self.rows(self.dot("max(x*y)"), code=1)[0]["reason"])
        rows = self.reduction("for (int64_t i = 0; i < rows; ++i) { r[i] = 0; for (int64_t j = 0; j < cols; ++j) r[i] += x[i * cols + j]; }",
                              "const double* x, double* r, int64_t rows, int64_t cols",
                              ["input: x, dtype: fp64, size: rows*cols", "output: r, dtype: fp64, size: rows"],
                              "sum[j < cols](x[i*cols + j])", {"rows": 37, "cols": 101})
        row, = self.rows(rows)
        self.assertEqual(row["status"], "ok", row.get("reason"))
        self.assertIn("r[0] is", self.rows(rows.replace("j < cols", "1 <= j < cols"), code=1)[0]["reason"])
        histogram = self.reduction("for (int i = 0; i < 256; ++i) r[i] = 0; for (int64_t i = 0; i < n; ++i) ++r[x[i]];",
                                   "const uint8_t* x, uint32_t* r, int64_t n",
                                   ["input: x, dtype: uint8, size: n", "output: r, dtype: uint32, size: 256"],
                                   "sum(x == i)", {"n": 10000})
        row, = self.rows(histogram)
        self.assertEqual(row["status"], "ok", row.get("reason"))

    def test_what_costs_too_much_is_sampled(self):
        suite = self.reduction("double s = 0; for (int64_t j = 0; j < 4096; ++j) s += x[j]; for (int64_t i = 0; i < n; ++i) r[i] = s;",
                               "const float* x, float* r, int64_t n",
                               ["input: x, dtype: fp32, size: 4096", "output: r, dtype: fp32, size: n"],
                               "sum[j < 4096](x[(i + j) % 4096])", {"n": 1 << 22})
        row, = self.rows(suite)
        self.assertEqual(row["status"], "ok", row.get("reason"))
        self.assertLess(row["verification"]["checked"], row["verification"]["outputs"])

    def test_elements_that_an_expectation_does_not_have_are_mistakes(self):
        self.refused(self.dot("x*y"), "suite.yaml:11:19: ", "x[0]", "sum(x)")
        self.refused(self.dot("sum(2)"), "suite.yaml:11:19: ", "sum(x)")
        self.refused(self.dot("2 * sum(x*y*z)"), "suite.yaml:11:31: ", "'z'")
        self.refused(self.dot("sum[n < 3](x[n])"), "suite.yaml:11:23: ", "'n'")
        self.refused(self.dot("sum(x*y)").replace("input: y, dtype: fp64, size: n", "input: y, dtype: fp64, size: n + 1"),
                     "suite.yaml:11:25: ", "1001")
        self.refused(self.kernel().replace("size: n }", "size: n - 1 }", 1), "suite.yaml:11:20: ", "9999")
        row, = self.rows(self.dot("sum[j < n + 1](x[j])"), code=1)
        self.assertIn("suite.yaml:11:34: ", row["reason"])
        self.assertIn("x[1000]", row["reason"])

    def test_generated_inputs_are_what_formulas_can_check(self):
        gather = self.reduction("for (int64_t j = 0; j < n; ++j) r[p[j]] = m[j] + f[j];",
                                "const int32_t* p, const uint8_t* m, const int64_t* f, int64_t* r, int64_t n",
                                ["input: p, dtype: int32, size: n, values: permutation",
                                 "input: m, dtype: uint8, size: n, values: { mask: 0.25 }",
                                 "input: f, dtype: int64, size: n, values: { formula: 'i % 7' }",
                                 "output: r, dtype: int64, size: n"],
                                "sum((p == i) * (m + f))", {"n": 3000})
        row, = self.rows(gather)
        self.assertEqual(row["status"], "ok", row.get("reason"))
        self.refused(gather.replace("dtype: int32, size: n, values", "dtype: uint8, size: n, values"),
                     "suite.yaml:7:52: ", "2999", "uint8")
        row, = self.rows(gather.replace("i % 7", "i / 7"), code=1)
        self.assertIn("suite.yaml:9:", row["reason"])
        self.refused(gather.replace("permutation", "permuted"), "suite.yaml:7:", "permutation")
        self.refused(gather.replace("{ mask: 0.25 }", "{ mask: 0.25, range: [0, 1] }"), "suite.yaml:8:", "one of")

    def test_buffers_of_every_type_of_c(self):
        types = {"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "uint16": "uint16_t", "int32": "int32_t",
                 "uint32": "uint32_t", "int64": "int64_t", "uint64": "uint64_t", "fp32": "float", "fp64": "double",
                 "fp16": "_Float16"}
        self.write("types.cpp", "#include <cstdint>\n" + "".join(
            f"void copy_{name}(const {type}* x, {type}* y, bool* odd, const int64_t* at, int64_t n) {{\n"
            f"  for (int64_t i = 0; i < n; ++i) {{ y[i] = x[at[i]]; odd[i] = i % 2; }}\n}}\n" for name, type in types.items()))
        (self.folder / "at.npy").write_bytes(npy(*range(99, -1, -1), format="q", descr="'<i8'"))
        suite = "name: own\nkernels:\n" + "".join(f"""\
  copy_{name}:
    source: types.cpp
    entry: copy_{name}
    arguments:
      - {{ input: x, dtype: {name}, size: n }}
      - {{ output: y, dtype: {name}, size: n }}
      - {{ output: odd, dtype: uint8, size: n }}
      - {{ input: at, dtype: int64, size: n, values: {{ npy: at.npy }} }}
      - {{ scalar: n, dtype: int64 }}
    tolerance: 0
    expect: {{ y: "x[at]", odd: i % 2 }}
""" for name in types) + "workloads:\n" + "".join(f"  - {{ kernel: copy_{name}, shape: {{ n: 100 }} }}\n" for name in types)
        for row in self.rows(suite):
            self.assertEqual((row["status"], row["dtype"]), ("ok", row["workload"].split("_")[1]), row.get("reason"))
        self.assertIn("y[0] is", self.rows(suite.replace("x[at]", "x[at] + 1"), code=1)[0]["reason"])

    def test_integers_beyond_2_to_the_53_are_exact_or_unverified(self):
        def row_of(formula, body, values="{ range: [2000000000, 3000000000] }", code=0):
            self.write("big.c", "#include <stdint.h>\nvoid big(const int64_t* x, int64_t* y, int64_t n) {\n"
                                f"  for (int64_t i = 0; i < n; ++i) y[i] = {body};\n}}\n")
            suite = ("name: own\nkernels:\n  big:\n    source: big.c\n    entry: big\n    arguments:\n"
                     f"      - {{ input: x, dtype: int64, size: n, values: {values} }}\n"
                     "      - { output: y, dtype: int64, size: n }\n      - { scalar: n, dtype: int64 }\n"
                     f"    work: {{ }}\n    expect: {formula}\nworkloads:\n  - {{ kernel: big, shape: {{ n: 100 }} }}\n")
            return self.rows(suite, code=code)[0]
        right = row_of("{ y: x*x }", "x[i] * x[i]")
        self.assertEqual((right["verification"]["status"], right["verification"]["checked"]), ("pass", 100))
        wrong = row_of("{ y: x*x }", "x[i] * x[i] + (i == 3)", code=1)
        self.assertEqual(wrong["status"], "failed")
        self.assertIn("y[3]", wrong["reason"])
        # More than 127 bits on the way, and a function that is not exact: unverified, whatever the kernel does.
        for formula in ("{ y: x*x*x*x*x % 1000 }", "{ y: rint(2^31*sqrt(x*x)) }"):
            for body in ("x[i]", "x[i] + 1"):
                row = row_of(formula, body)
                self.assertEqual((row["status"], row["verification"]["status"]), ("ok", "unverified"), formula)
                self.assertIn("100 of 100", row["verification"]["reference"])
        exact = [2 ** 53 + 1 + 2 * i for i in range(100)]
        (self.folder / "big.npy").write_bytes(npy(*exact, format="q", descr="'<i8'"))
        (self.folder / "next.npy").write_bytes(npy(*(value + 1 for value in exact), format="q", descr="'<i8'"))
        same = row_of("{ y: { npy: big.npy } }", "x[i]", "{ npy: big.npy }")
        self.assertEqual(same["verification"]["status"], "pass")
        self.assertEqual(row_of("{ y: { npy: next.npy } }", "x[i] + 1", "{ npy: big.npy }")["verification"]["status"], "pass")
        self.assertEqual(row_of("{ y: { npy: next.npy } }", "x[i]", "{ npy: big.npy }", code=1)["status"], "failed")

    def test_unverified_is_said_on_every_row(self):
        row = self.row(more="    unverified: true\n")
        self.assertEqual(row["status"], "ok")
        self.assertIn("unverified", row["label"])
        self.assertIn("unverified", row["verification"]["reference"])
        self.assertEqual((row["verification"]["status"], row["verification"]["checked"]), ("unverified", 0))

    def test_a_kernel_like_an_op_stands_beside_its_rungs(self):
        source = """\
void relu(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : 0; }
void relic(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = x[i]; }
"""
        self.write("relu.c", source)
        suite = """\
name: own
kernels:
  mine:
    source: relu.c
    like: relu
    entry: relu
    arguments: [{ input: x }, { output: y }, { scalar: n, dtype: int32 }]
workloads:
  - { kernel: mine, shape: { n: 100000 } }
"""
        rows = self.rows(suite)
        self.assertEqual([row["impl"] for row in rows][-1], "mine")
        self.assertIn("naive", [row["impl"] for row in rows])
        self.assertEqual({row["workload"] for row in rows}, {"relu"})
        self.assertEqual({row["status"] for row in rows}, {"ok"})
        self.assertEqual(len({json.dumps([row["work"]["flops"], row["work"]["bytes"]]) for row in rows}), 1)
        rows = self.rows(suite.replace("entry: relu", "entry: relic"), code=1)
        self.assertEqual([row["status"] for row in rows][-1], "failed")
        self.assertIn("wrong result", rows[-1]["reason"])
        self.assertNotIn("time_s", rows[-1])

    def test_lists_are_tried_and_the_fastest_is_kept(self):
        # Eight times the work each: other load on the machine changes no order.
        source = SCALE.replace("for", "for (int again = 0; again < AGAIN; ++again) for").replace(
            "y[i] =", "((volatile float*)y)[i] =")
        suite = self.kernel(source, more="    define: { AGAIN: [8, 1, 64] }\n    expect: { y: 2*x }\n", shape="{ n: 100000 }")
        self.assertEqual([row["impl"] for row in self.rows(suite)], ["AGAIN=8", "AGAIN=1", "AGAIN=64"])
        done = self.analyze(suite.replace("    expect", "    choose: fastest\n    expect"))
        report = json.loads(done.stdout)["data"]
        self.assertEqual([row["impl"] for row in report["results"]], ["AGAIN=1"])
        self.assertNotIn("AGAIN", report["results"][0]["label"])  # one label for other winners
        self.assertIn("AGAIN=1", " ".join(report["notes"]))
        tried = report["results"][0]["tried"]
        self.assertEqual([one["configuration"] for one in tried], ["AGAIN=1", "AGAIN=8", "AGAIN=64"])
        self.assertEqual(sorted(tried, key=lambda one: one["time_s"]), tried)
        failing = suite.replace("[8, 1, 64]", "[8, oops, 1]").replace("    expect", "    choose: fastest\n    expect")
        self.assertEqual([(row["impl"], row["status"]) for row in self.rows(failing, code=1)],
                         [("AGAIN=oops", "failed"), ("AGAIN=1", "ok")])

    def test_compiled_code_is_kept_by_content(self):
        kernels = self.folder / "cache" / "roofline" / "kernels"
        suite = self.kernel("#include \"factor.h\"\n" + SCALE, name="kept.c")
        self.write("factor.h", "// one\n")
        self.rows(suite)
        before = set(kernels.iterdir())
        self.rows(suite)
        self.assertEqual(set(kernels.iterdir()), before)
        self.write("factor.h", "// two\n")
        self.rows(suite)
        self.assertEqual(len(set(kernels.iterdir()) - before), 1, "an included file is content too")
        self.assertEqual(kernels.stat().st_mode & 0o777, 0o700)
        self.assertEqual({path.suffix for path in kernels.iterdir()}, {".so"}, "nothing else is left behind")


class GoesWrong(OwnKernels):
    def test_a_compilers_message_comes_as_it_is(self):
        row = self.row(SCALE.replace("factor *", "factr *"), code=1)
        self.assertRegex(row["reason"], r"(?m)^scale\.c:3:\d+: error: .*factr")
        self.assertRegex(row["reason"], r"(?m)^ .*\^")
        self.assertNotIn(str(self.folder.resolve()), row["reason"])
        (self.folder / "sources").mkdir()
        self.write("sources/part.h", "int part(void) { return wrong; }\n")
        done = self.run_tool("analyze", self.write("suite.yaml", self.kernel("#include \"part.h\"\n" + SCALE, name="sources/scale.c")),
                             "--device", self.device, "--machine", self.machine, "--max-time", "0.01", "-o", self.folder / "failed")
        self.assertEqual(done.returncode, 1, done.stderr)
        reason = json.loads((self.folder / "failed" / "report.json").read_text())["results"][0]["reason"]
        self.assertRegex(reason, r"(?m)^sources/part\.h:1:\d+: error: ")
        for line in reason.splitlines()[1:]:
            self.assertIn(line.rstrip() + "\n", done.stdout)

    def test_arguments_of_the_wrong_type_do_not_compile(self):
        row = self.row(SCALE.replace("const float* x", "const double* x"), code=1)
        self.assertEqual(row["status"], "failed")
        self.assertIn("double", row["reason"])
        self.assertIn("scal", self.row(entry="scal", code=1)["reason"])

    def test_each_fault_costs_its_own_row(self):
        faults = {
            "endless": "for (;;) ((volatile float*)y)[0] = 1;",
            "leaves": "exit(0);",
            "crashes": "((volatile float*)8)[0] = 1;",
            "overflows": "volatile char stack[1 << 30]; stack[0] = stack[sizeof stack - 1] = 1; y[0] = stack[0];",
            "throws": "throw std::runtime_error(\"no luck\");",
            "aborts": "abort();",
            "outside": "for (long i = 0; i < n + 8; ++i) y[i] = 2 * x[i < n ? i : 0];",
            "nothing": "",
            "changes": "for (long i = 0; i < n; ++i) { y[i] = 2 * x[i]; const_cast<float*>(x)[i] = 0; }",
        }
        self.write("faults.cpp", "#include <cstdlib>\n#include <stdexcept>\n" + "".join(
            f"void {name}(const float* x, float* y, float f, long n) {{ (void)x; (void)y; (void)f; (void)n; {body} }}\n"
            for name, body in faults.items()) +
            "void good(const float* x, float* y, float f, long n) { for (long i = 0; i < n; ++i) y[i] = f * x[i]; }\n")
        names = [*faults, "good"]
        suite = "name: own\nkernels:\n" + "".join(
            f"  {name}:\n" + KERNEL.format(source="faults.cpp", entry=name) + "    options: [-O0]\n" +
            ("    time_limit: 2\n" if name == "endless" else "") + "    expect: { y: 2*x }\n" for name in names) + "workloads:\n" + "".join(
            f"  - {{ kernel: {name}, shape: {{ n: 1000 }} }}\n" for name in names)
        rows = {row["workload"]: row for row in self.rows(suite, code=1)}
        self.assertEqual([name for name, row in rows.items() if row["status"] == "ok"], ["good"])
        for name, words in {"endless": "after 2 s, the time limit", "leaves": "ended", "crashes": "signal 11",
                            "overflows": "signal 11", "throws": "no luck", "aborts": "signal 6",
                            "outside": "past the end of 'y'", "nothing": "not written", "changes": "its input x"}.items():
            self.assertIn(words, rows[name]["reason"])
            self.assertNotIn("time_s", rows[name])

    def test_a_library_that_crashes_as_it_is_loaded(self):
        self.write("crash.c", SCALE + "__attribute__((constructor)) static void crash(void) { *(volatile int*)8 = 1; }\n")
        subprocess.run([CC, "-shared", "-fPIC", "-o", self.folder / "crash.so", self.folder / "crash.c"], check=True)
        suite = ("name: own\nkernels:\n  scale:\n" + KERNEL.format(source="crash.so", entry="scale") +
                 "    expect: { y: 2*x }\nworkloads:\n  - { kernel: scale, shape: { n: 1000 } }\n")
        self.assertIn("signal 11", self.rows(suite, code=1)[0]["reason"])

    def test_a_source_that_is_no_source(self):
        self.assertEqual(self.row("", name="empty.c", code=1)["status"], "failed")
        self.write("text.so", "no library")
        suite = ("name: own\nkernels:\n  scale:\n" + KERNEL.format(source="text.so", entry="scale") +
                 "    expect: { y: 2*x }\nworkloads:\n  - { kernel: scale, shape: { n: 1000 } }\n")
        self.assertIn("text.so", self.rows(suite, code=1)[0]["reason"])
        self.refused(suite.replace("text.so", "nothing.c"), "suite.yaml:4:13: ", "'nothing.c'")
        self.refused(suite.replace("text.so", "/dev/zero"), "suite.yaml:4:13: ", "/dev/zero")
        self.refused(suite.replace("text.so", "."), "suite.yaml:4:13: ", "file")
        self.refused(suite.replace("text.so", "suite.yaml"), "suite.yaml:4:13: ", "'suite.yaml'")

    def test_mistakes_in_the_file_have_their_place(self):
        good = self.kernel()
        for wrong, right, message in [
            ("size: m }", "size: n }", "'m'"),
            ("size: n/0 }", "size: n }", "by zero"),
            ("size: n/3 }", "size: n }", "whole number"),
            ("size: 0-n }", "size: n }", "at least 1"),
            ("size: 2^63 }", "size: n }", "2^53"),
            ("size: 2^53 }", "size: n }", "9007199254740992"),
            ("size: \"(n\" }", "size: n }", "')'"),
            ("dtype: fp33", "dtype: fp32", "'fp33'"),
            ("entry_: scale", "entry: scale", "'entry_'"),
            ("{ y: 2*z }", "{ y: 2*x }", "'z'"),
            ("{ z: 2*x }", "{ y: 2*x }", "'y'"),
            ("{ y: 2*x }\n    unverified: true", "{ y: 2*x }", "unverified"),
            ("{ kernel: scal,", "{ kernel: scale,", "'scale'"),
            ("shape: { }", "shape: { n: 10000 }", "'n'"),
            ("{ kernel: scale, dtype: fp16,", "{ kernel: scale,", "suite.yaml:13:22: "),
            ("{ scalar: 2^40, dtype: int32 }", "{ scalar: n, dtype: int64 }", "int32"),
        ]:
            with self.subTest(wrong):
                self.assertIn(right, good)
                self.refused(good.replace(right, wrong, 1), "suite.yaml:", message)

    def test_a_kernel_that_no_workload_names_is_a_note(self):
        def with_spare(**changes):
            spare = "  spare:\n" + KERNEL.format(source="scale.c", entry="scale") + "    expect: { y: 2*x }\n"
            for right, wrong in changes.items():
                spare = spare.replace(right, wrong)
            return self.kernel().replace("workloads:", spare + "workloads:")
        done = self.analyze(with_spare())
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)["data"]
        self.assertEqual([row["workload"] for row in report["results"]], ["scale"])
        self.assertEqual(len([note for note in report["notes"] if "'spare'" in note]), 1)
        self.assertEqual(len([note for note in report["notes"] if "'scale'" in note]), 0)
        for changes, message in [({"fp32": "fp33"}, "'fp33'"), ({"2*x": "2*x)"}, "suite.yaml:20:"), ({"2*x": "\"z[i]\""}, "'z'"),
                                 ({"entry": "entries"}, "'entries'"), ({"scale.c": "scala.c"}, "'scala.c'")]:
            with self.subTest(message):
                self.refused(with_spare(**changes), "suite.yaml:", message)

    def test_ops_keep_their_names(self):
        self.refused(self.kernel().replace("  scale:", "  relu:").replace("kernel: scale", "kernel: relu"),
                     "suite.yaml:3:3: ", "'relu'")

    def test_sources_that_cannot_be_read_have_their_place(self):
        good = self.kernel()
        os.mkfifo(self.folder / "pipe.c")
        (self.folder / "folder.c").mkdir()
        (self.folder / "zero.c").symlink_to("/dev/zero")
        (self.folder / "round.c").symlink_to("round.c")
        for name, fact in [("pipe.c", "pipe.c"), ("folder.c", "folder.c"), ("zero.c", "/dev/zero"),
                           ("round.c", os.strerror(errno.ELOOP)), ("../../../../etc/passwd", ""), ("/etc/passwd", "")]:
            with self.subTest(name):
                self.refused(good.replace("source: scale.c", f"source: {name}"), "suite.yaml:4:13: ", fact)
        for folder in ("nowhere", "scale.c"):
            self.refused(good.replace("    expect", f"    include: [{folder}]\n    expect"), "suite.yaml:11:15: ", folder)

    def test_a_compiler_that_never_ends_is_ended(self):
        os.mkfifo(self.folder / "pipe.h")
        suite = self.kernel("#include \"pipe.h\"\n" + SCALE, name="waits.c", more="    expect: { y: 2*x }\n    time_limit: 2\n")
        # By the limit of the compiler, or that of the row where the machine is busy.
        self.assertRegex(self.rows(suite, code=1)[0]["reason"], r"\b(10|2) s\b")
        self.assertEqual([path.name for path in (self.folder / "cache" / "roofline" / "kernels").iterdir()
                          if path.suffix != ".so"], [], "nothing is left behind")

    def test_formula_bombs_cost_nothing(self):
        good = self.kernel()
        for bomb, words in [("9^9^9^9^9", "2^53"), ("(" * 60 + "n" + ")" * 60, "nested too deeply"),
                            ("+".join(["n"] * 600), "1000 characters"), ("2^63", "2^53"), ("n*1.5/10000/7", "whole number")]:
            with self.subTest(words):
                self.refused(good.replace("size: n }", f"size: {bomb} }}", 1), "suite.yaml:7:", words)
        for setting, words in [("tolerance: nan", "finite"), ("time_limit: inf", "finite"), ("time_limit: 0", "at least 1"),
                               ("work: { flops: { fp32: n/0 } }", "by zero"), ("work: { read: 0-n }", "never negative"),
                               ("launch: { threads: 0 }", "at least 1"), ("define: { A: [] }", "empty list"),
                               ("define: { \"A=1 -o x\": 1 }", "letter")]:
            with self.subTest(setting):
                self.refused(good.replace("    expect", f"    {setting}\n    expect"), "suite.yaml:11:", words)

    def test_a_suite_that_says_nothing_of_what_is_right_is_refused(self):
        self.refused(self.kernel(more=""), "expect", "same_as", "like", "unverified")

    def test_only_analyze_runs_what_a_suite_names(self):
        mark = self.folder / "ran"
        self.write("mark.c", SCALE + "#include <stdio.h>\n__attribute__((constructor)) static void mark(void) "
                                     f"{{ fclose(fopen(\"{mark}\", \"w\")); }}\n")
        suite = self.write("mark.yaml", self.kernel().replace("scale.c", "mark.c"))
        done = self.run_tool("analyze", suite, "--device", "cpu", "--machine", self.machine, "--max-time", "0.05",
                             "--format", "json", "-o", self.folder / "marked")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(mark.exists())
        mark.unlink()
        report = self.folder / "marked" / "report.json"
        shutil.rmtree(self.folder / "cache" / "roofline" / "kernels")
        for command in (["report", report, "-o", self.folder / "again"], ["compare", report, report]):
            self.assertEqual(self.run_tool(*command).returncode, 0)
        self.assertFalse(mark.exists())
        self.assertFalse((self.folder / "cache" / "roofline" / "kernels").exists())


class Tutorial(OwnKernels):
    def test_its_steps_work(self):
        text = (ROOT / "docs" / "your-kernels.md").read_text()
        steps = 0
        for info, block in re.findall(r"^```(.*)\n((?:(?!```).*\n)*)```$", text, re.MULTILINE):
            if "file=" in info:
                self.write(info.split("file=")[1], block)
            elif info == "sh":
                for line in block.splitlines():
                    words = line.split()
                    self.assertEqual(words[0], "roofline")
                    more = ["--machine", self.machine, "--max-time", "0.01", "--format", "json"] if words[1] == "analyze" else []
                    done = self.run_tool(*words[1:], *more)
                    self.assertEqual(done.returncode, 0, line + done.stdout + done.stderr)
                    steps += 1
        self.assertGreaterEqual(steps, 6)

    def test_a_first_suite_needs_decisions_and_no_repairs(self):
        self.write("first.cpp", "// void not_this(float* x) {}\ntemplate <typename T>\nvoid twice(const T* x, T* y, long n)"
                                " { for (long i = 0; i < n; ++i) y[i] = 2 * x[i]; }\n")
        self.check_ok(self.run_tool("new", "kernel", "first.cpp"))
        text = (self.folder / "first.yaml").read_text()
        self.assertIn("decide", text)
        self.assertIn("twice<float>", text)
        row = self.rows(text.replace("unverified: true", "expect: { y: 2*x }"))[0]
        self.assertEqual(row["status"], "ok", row.get("reason"))
        again = self.run_tool("new", "kernel", "first.cpp")
        self.assertEqual(again.returncode, 2)
        self.assertIn("exists", again.stderr)

    def test_of_cuda_too(self):
        done = self.run_tool("new", "kernel", ROOT / "configs" / "examples" / "saxpy.cu", "-o", "-")
        self.check_ok(done)
        for text in ("saxpy<float>", "{ input: x, dtype: fp32, size: n }", "{ scalar: n, dtype: int64 }", "block: [128, 256, 512]"):
            self.assertIn(text, done.stdout)

    def test_the_examples_are_read(self):
        shutil.copytree(ROOT / "configs" / "examples", self.folder / "examples")
        for path in sorted((self.folder / "examples").glob("*.yaml")):
            with self.subTest(path.name):
                path.write_text(path.read_text().replace("n: 2^24", "n: 2^16"))  # on the CPU; sooner, and not less
                done = self.run_tool("analyze", path, "--device", "cpu", "--machine", self.machine, "--max-time", "0.01", "--json")
                self.assertEqual(done.returncode, 0, done.stderr)
                for row in json.loads(done.stdout)["data"]["results"]:
                    self.assertIn(row["status"], ("ok", "skipped"), row)
                    if row["status"] == "skipped":
                        self.assertIn("cuda", row["reason"])

    def test_a_slower_kernel_is_a_regression(self):
        suite = self.kernel(SCALE.replace("for", "for (int again = 0; again < AGAIN; ++again) for").replace(
            "y[i] =", "((volatile float*)y)[i] ="), more="    define: { AGAIN: 1 }\n    expect: { y: 2*x }\n", shape="{ n: 100000 }")
        self.assertEqual(self.analyze(suite, "--save", "before").returncode, 0)
        # Far more than what else a machine does can make of it, and far less than the loop.
        self.assertEqual(self.analyze(suite, "--against", "before", "--max-slowdown", "900%").returncode, 0)
        done = self.analyze(suite.replace("AGAIN: 1", "AGAIN: 200"), "--against", "before", "--max-slowdown", "900%")
        self.assertEqual(done.returncode, 3, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["comparison"]["schema"], "roofline.comparison/1")
        row, = answer["comparison"]["rows"]
        self.assertEqual(row["id"], answer["data"]["results"][0]["id"])
        self.assertGreater(row["time_ratio"], 10)
        self.assertTrue(row["regression"])
        done = self.analyze(suite, "--against", "never")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--save never", done.stderr)
        self.assertEqual(self.analyze(suite, "--save", "../x").returncode, 2)


if __name__ == "__main__":
    unittest.main()
