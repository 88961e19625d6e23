#!/usr/bin/env python3
"""CPU kernels with a planted fault, each beside a twin without it: the diagnosis by experiment names the fault.

A fault that this hardware doesn't show (the twin is as fast), or that other load hides, is skipped with a message.

usage: planted_cpu_test.py PATH_OF_ROOFLINE [unittest arguments]
"""
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOFLINE = os.path.abspath(sys.argv.pop(1))
X86_64 = platform.machine() == "x86_64"
SHOWS = 1.25  # times the twin's time: a smaller fault is none
FAR, WIDEST = 2, 0.2  # an experiment counts with all of its interval beyond this ratio, or that narrow
CORE = 0.6  # share of the time in a cache: from here on memory is not the cause
NOTES = {"throttled", "few-threads", "from-cache", "suspect-roof-below"}
LOAD = {"disturbed", "slow-machine", "at-the-pace", "drifting", "no-interval", "wide-interval", "suspect-roof",
        "above-suspect-roof", "above-provisional-roof"}
AT_ROOF = {"good-enough", "above-roof", "not-cold", "partly-cached"}
FAULTS = {"subnormals", "one-thread", "late-thread", "false-sharing", "many-streams", "aliasing", "split-lines",
          "dependent-sum", "access-order", "page-walks", "partial-lines", "grows-with-size", "divisions", "scalar-code",
          "store-forwarding"}

X = "{ input: x, dtype: fp32, size: n }"
Y = "{ output: y, dtype: fp32, size: n }"
N = "{ scalar: n, dtype: int64 }"
THREADS = ["{ scalar: thread, dtype: int32 }", "{ scalar: threads, dtype: int32 }"]
SUMS = '["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"]'
HIDE = '#ifdef __x86_64__\n#define HIDE(v) asm volatile("" : "+x"(v))\n#else\n#define HIDE(v) asm volatile("" : "+w"(v))\n#endif\n'
HEAD = "#include <stdint.h>\n#include <string.h>\n"
PASSES = 'for (int p = 0; p < 64; ++p) { asm volatile("" ::: "memory"); %s }'


def c(name, parameters, body, before=""):
    return f"{HEAD}{before}void {name}({parameters}) {{ {body} }}\n"


class Kernel:
    def __init__(self, source, arguments, more, shape, cache="hot"):
        self.source, self.arguments, self.more, self.shape, self.cache = source, arguments, more, shape, cache

    def section(self, name, file):
        lines = "".join(f"      - {argument}\n" for argument in self.arguments)
        return (f"  {name}:\n    source: {file}\n    entry: f\n    arguments:\n{lines}" +
                "".join(f"    {line}\n" for line in self.more))


XY = "const float* restrict x, float* restrict y, int64_t n"
LARGE = "{ n: 2^22 }"
POLYNOMIAL = "float v = x[i], s = v; " + "s = s * v + 0.5f; " * 24
OF_PASSES = ["work: { flops: { fp32: 128*n } }", "unverified: true"]
STREAMS = [f"{{ input: x{i}, dtype: fp32, size: n }}" for i in range(16)]


def strided(stride):
    """Columns of a matrix of m rows, one after the other."""
    body = (f"for (int64_t s = 0; s < {stride}; ++s) "
            f"for (int64_t i = 0; i < m; ++i) y[s * m + i] = 2 * x[i * {stride} + s];")
    size = f"size: {stride}*m"
    return Kernel(c("f", "const float* restrict x, float* restrict y, int64_t m", body),
                  [X.replace("size: n", size), Y.replace("size: n", size), "{ scalar: m, dtype: int64 }"],
                  [f"work: {{ flops: {{ fp32: {stride}*m }} }}",
                   f'expect: {{ y: "2*x[(i % m)*{stride} + floor(i / m)]" }}'],
                  f"{{ m: {2**22 // stride} }}", "cold")


def passes(body, arguments, before=""):
    return Kernel(c("f", XY, PASSES % body, before), arguments, OF_PASSES, "{ n: 2^11 }")


def summed(parts):
    """Over threads: each adds its part into its own element of y."""
    body = ("volatile float* sum = y + thread * %d; *sum = 0; "
            "for (int64_t i = n * thread / threads; i < n * (thread + 1) / threads; ++i) *sum += x[i];" % parts)
    return Kernel(c("f", "const float* x, float* y, int64_t n, int thread, int threads", body),
                  [X, "{ output: y, dtype: fp32, size: 4096 }", N, *THREADS],
                  ["launch: { threads: all }", "work: { flops: { fp32: n }, read: 4*n, write: 64 }",
                   "unverified: true"], LARGE, "cold")


def divided(first):
    """Thread 0 has `first` of 16 parts, the others share the rest."""
    body = (f"int64_t cut = threads > 1 ? n / 16 * {first} : n; "
            "int64_t begin = thread ? cut + (n - cut) * (thread - 1) / (threads - 1) : 0; "
            "int64_t end = thread ? cut + (n - cut) * thread / (threads - 1) : cut; "
            "for (int64_t i = begin; i < end; ++i) { " + POLYNOMIAL + " y[i] = s; }")
    return Kernel(c("f", XY + ", int thread, int threads", body), [X, Y, N, *THREADS],
                  ["launch: { threads: all }", "work: { flops: { fp32: 48*n } }", "unverified: true"], "{ n: 2^20 }")


def per_element(body, flops, more=(), before="", shape="{ n: 2^20 }"):
    return Kernel(c("f", XY, "for (int64_t i = 0; i < n; ++i) { " + body + " }", before), [X, Y, N],
                  [f"work: {{ flops: {{ fp32: {flops}*n }} }}", "unverified: true", *more], shape)


def of_values(values):
    kernel = per_element("float v = x[i]; " + "v = v * 0.999f; " * 8 + "y[i] = v;", 8, shape="{ n: 2^16 }")
    kernel.arguments = [X.replace("size: n", f"size: n, values: {{ constant: {values} }}"), Y, N]
    return kernel


def total(more):
    body = "float s = 0; for (int64_t i = 0; i < n; ++i) s += x[i]; y[0] = s;"
    return Kernel(c("f", XY, body), [X, "{ output: y, dtype: fp32, size: 1 }", N],
                  ["work: { flops: { fp32: n } }", "unverified: true", *more], LARGE, "cold")


def forwarded(wide):
    read = "uint64_t w; memcpy(&w, buffer, 8); k += w;" if wide else "uint32_t a; memcpy(&a, buffer, 4); k += a;"
    body = ("volatile uint32_t cell[2]; char* buffer = (char*)cell; uint64_t k = 1; for (int64_t i = 0; i < n; ++i) { "
            "cell[0] = (uint32_t)k; cell[1] = (uint32_t)i; asm volatile(\"\" ::: \"memory\"); " + read +
            " y[i] = x[i] * (float)(k & 7); }")
    return Kernel(c("f", XY, body), [X, Y, N], ["work: { flops: { fp32: n } }", "unverified: true"], "{ n: 2^22 }")


def streams(apart):
    """A sum of 16 arrays: at one offset within a page, or each `apart` floats further into its page."""
    names = ", ".join(f"const float* x{i}" for i in range(16))
    sums = " + ".join(f"x{i}[i]" for i in range(16))
    body = PASSES.replace("64", "8") % f"for (int64_t i = 0; i < n; ++i) y[i] = {sums};"
    buffers = [f"  - {{ input: x{i}, dtype: fp32, size: n + 1024 }}" for i in range(16)]
    return Kernel(c("f", f"{names}, float* restrict y, int64_t n", body),
                  [*(f"{{ pointer: x{i}, offset: {apart * i % 1024} }}" for i in range(16)), Y, N],
                  ["work: { flops: { fp32: 8*16*n } }", "unverified: true", "buffers:", *buffers], "{ n: 2^12 }")


def loaded(arguments, more=()):
    """Loads and little else: 8 independent sums of vectors of 8."""
    body = ("v8 s[8] = {0}; " + PASSES % "for (int64_t i = 0; i + 64 < n; i += 64) "
            "for (int k = 0; k < 8; ++k) s[k] += *(const v8*)(x + i + 8 * k);" +
            " for (int k = 0; k < 8; ++k) for (int j = 0; j < 8; ++j) y[8 * k + j] = s[k][j];")
    before = "typedef float v8 __attribute__((vector_size(32), aligned(4), may_alias));\n"
    return Kernel(c("f", XY, body, before), arguments,
                  ["work: { flops: { fp32: 64*n } }", "unverified: true", *more], "{ n: 2^12 }")


def gathered(indices):
    """Elements of x in the order of p."""
    return Kernel(c("f", "const int32_t* restrict p, const float* restrict x, float* restrict y, int64_t n",
                    "for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[p[i]];"),
                  [f"{{ input: p, dtype: int32, size: n, values: {indices} }}", X, Y, N],
                  ["work: { flops: { fp32: n } }", 'expect: { y: "2*x[p]" }'], LARGE, "cold")


SHIFTED = "for (int64_t i = 0; i < n - 16; ++i) y[i%s] = 2 * x[i] + (float)p;"
UNALIGNED = ["{ pointer: x, offset: 1 }", Y, N]
BUFFERS = ["buffers:", "  - " + X]
DIVIDES = "float v = x[i] + 3; y[i] = 1 / v + 2 / (v + 1) + 3 / (v + 2) + 4 / (v + 3) + 5 / (v + 4) + 6 / (v + 5);"
PRODUCTS = "float v = x[i] + 3; y[i] = 1 * v + 2 * (v + 1) + 3 * (v + 2) + 4 * (v + 3) + 5 * (v + 4) + 6 * (v + 5);"

# name: (rules that name the fault, the kernel, its twin, threads)
PLANTED = {
    "strided": ({"partial-lines"}, strided(16), strided(1), 1),
    "aliased": ({"aliasing"}, passes(SHIFTED % " + 16", [X, Y, N]), passes(SHIFTED % "", [X, Y, N]), 1),
    "false_sharing": ({"false-sharing"}, summed(1), summed(64), 8),
    "late_thread": ({"late-thread"}, divided(14), divided(8), 2),
    "scalar": ({"scalar-code", "no-vectors"}, per_element(POLYNOMIAL + "HIDE(s); y[i] = s;", 48, before=HIDE),
               per_element(POLYNOMIAL + "y[i] = s;", 48), 1),
    "divides": ({"divisions"}, per_element(DIVIDES, 17), per_element(PRODUCTS, 17), 1),
    "dependent_sum": ({"dependent-sum"}, total([]), total([f"options: {SUMS}"]), 1),
    "page_walks": ({"page-walks"}, strided(1040), strided(1), 1),
    "gathered": ({"access-order"}, gathered("permutation"), gathered("{ formula: i }"), 1),
    "subnormals": ({"subnormals"}, of_values("1e-40"), of_values("1"), 1),
    "split_lines": ({"split-lines"}, loaded(UNALIGNED, BUFFERS), loaded([X, Y, N]), 1),
    "store_forward": ({"store-forwarding"}, forwarded(True), forwarded(False), 1),
    "many_streams": ({"many-streams"}, streams(0), streams(272), 1),
}


class OnACpu(unittest.TestCase):
    """Calibrates once per number of threads."""

    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls._folder.name)
        cls.machines = {}
        cls.environment = dict(os.environ, XDG_CACHE_HOME=str(cls.folder / "cache"), NO_COLOR="1")
        if shutil.which(os.environ.get("CC", "cc").split()[0]) is None:
            raise unittest.SkipTest("no C compiler")

    @classmethod
    def tearDownClass(cls):
        cls._folder.cleanup()

    def run_tool(self, *arguments):
        return subprocess.run([ROOFLINE, *map(str, arguments)], env=self.environment, cwd=self.folder, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL)

    def machine(self, threads):
        if threads not in self.machines:
            path = self.folder / f"machine-{threads}.json"
            done = self.run_tool("calibrate", "--device", "cpu", "--threads", threads, "--quick", "--sustain", 0,
                                 "--no-wait", "-o", path)
            if done.returncode != 0:
                self.skipTest(f"no calibration on {threads} threads: {done.stderr.strip()}")
            self.machines[threads] = path
        return self.machines[threads]

    def analyze(self, kernels, threads, *options):
        """The rows by kernel, and the rules that speak of each, the deciding one first."""
        text = "name: planted\nkernels:\n"
        for name, kernel in kernels.items():
            (self.folder / f"{name}.c").write_text(kernel.source)
            text += kernel.section(name, f"{name}.c")
        text += "workloads:\n" + "".join(f"  - {{ kernel: {name}, shape: {kernel.shape}, cache: {kernel.cache} }}\n"
                                        for name, kernel in kernels.items())
        suite = self.folder / "suite.yaml"
        suite.write_text(text)
        done = self.run_tool("analyze", suite, "--device", "cpu", "--threads", threads, "--machine",
                             self.machine(threads), "--max-time", "0.6", "--json", *options)
        if done.returncode != 0 and done.stdout:
            reasons = [row.get("reason", "") for row in json.loads(done.stdout)["data"]["results"]]
            if any("time limit" in reason for reason in reasons):
                self.skipTest(f"other load: {reasons}")
            self.fail(done.stderr + str(reasons))
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row["workload"]: row for row in json.loads(done.stdout)["data"]["results"]}
        rules = {name: [one["rule"] for one in row.get("diagnosis", []) if one["rule"] not in NOTES]
                 for name, row in rows.items()}
        return rows, rules


class Planted(OnACpu):
    def fault_of(self, name):
        expected, kernel, twin, threads = PLANTED[name]
        threads = min(threads, len(os.sched_getaffinity(0)))
        if threads < PLANTED[name][3] and threads < 2:
            self.skipTest("needs several CPUs")
        for attempt in range(2):  # other load may come and go
            rows, rules = self.analyze({"planted": kernel, "twin": twin}, threads)
            found = rules["planted"]
            if os.environ.get("PLANTED_VERBOSE"):
                print(name, {kind: (round(rows[kind]["time_s"]["median"] * 1e3, 3), rows[kind].get("fraction_of_roof"),
                                    rules[kind], [(e["kind"], round(e["ratio"], 3), e.get("ci95"), e.get("count"))
                                                  for e in rows[kind].get("experiments", [])]) for kind in rows},
                      file=sys.stderr)
            if found and found[0] in expected:
                self.assertFalse(expected & set(rules["twin"]), rules)
                return
        if rows["planted"]["time_s"]["median"] < SHOWS * rows["twin"]["time_s"]["median"]:
            self.skipTest("this hardware doesn't show the fault")
        if found and found[0] in AT_ROOF:
            self.skipTest(f"at its roof: {found[0]}")
        experiments = rows["planted"].get("experiments", [])
        kinds = {one["kind"] for one in experiments}
        intervals = {one["kind"]: one.get("ci95", [one["ratio"]] * 2) for one in experiments}
        low, high = intervals.get("small_pages", [0, 0])
        if name == "page_walks" and (low < SHOWS or (low < FAR and high - low > WIDEST * high)):
            self.skipTest("it is not certain that huge pages are faster here: half-used lines are left")
        if name in ("page_walks", "strided", "gathered") and intervals.get("in_cache", [0, 0])[1] > CORE:
            self.skipTest("memory is too fast here, or instructions are too slow, for accesses to matter")
        # A busy machine has no time left for the later ones.
        decisive = {"strided": "line_visits", "page_walks": "page_jumps", "store_forward": "unforwarded",
                    "false_sharing": "all_threads", "late_thread": "slowest_thread"}
        busy = os.getloadavg()[0] > 1.5 * len(os.sched_getaffinity(0))
        if decisive.get(name, "in_cache") not in kinds and found and found[0] not in LOAD and (busy or not X86_64):
            self.skipTest("this experiment needs x86-64, and time")
        if (found and found[0] in LOAD) or any("disturbed" in row or row.get("pace", {}).get("copy", 1) < 0.8
                                               for row in rows.values()):
            self.skipTest(f"other load: {found[:1]}")
        self.assertIn(found[0] if found else "", expected, (rules, rows["planted"].get("experiments")))

    def test_a_healthy_kernel_has_no_fault(self):
        healthy = per_element(POLYNOMIAL + "y[i] = s;", 48)
        _, rules = self.analyze({"healthy": healthy}, 1)
        self.assertFalse(FAULTS & set(rules["healthy"]), rules)

    def test_of_scalar_code_the_compiler_is_quoted(self):
        _, kernel, twin, _ = PLANTED["scalar"]
        rows, rules = self.analyze({"planted": kernel, "twin": twin}, 1)
        of = lambda name: [one for one in rows[name].get("experiments", []) if one["kind"] == "unvectorized"]
        if not of("planted") or of("planted")[0]["ratio"] > 1.1:
            self.skipTest(f"other load: {rules['planted'][:1]}")
        self.assertRegex(of("planted")[0].get("compiler_remark", ""), r"^planted\.c:\d+: \w")
        for one in of("twin"):
            self.assertNotIn("compiler_remark", one)

    def test_experiments_can_be_switched_off(self):
        rows, rules = self.analyze({"planted": PLANTED["dependent_sum"][1]}, 1, "--no-experiments")
        self.assertNotIn("experiments", rows["planted"])
        self.assertNotIn("dependent-sum", rules["planted"])


for planted in PLANTED:
    setattr(Planted, f"test_{planted}", lambda self, name=planted: self.fault_of(name))


if __name__ == "__main__":
    unittest.main()
