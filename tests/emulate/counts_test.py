#!/usr/bin/env python3
"""roofline_count: FLOPs, bytes and modelled cache lines of loops whose numbers are known."""
import collections
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

TOOL = LIBEXEC = ""
N, REPEATS, SIDE, BODIES, POINTS, BIG, SMALL = 65536, 5, 128, 256, 4096, 1 << 19, 1 << 15
LINE = 64
CACHES = ["--l1=32768,8,64", "--l2=524288,8,64", "--l3=1048576,16,64"]


def unescaped(text):
    return re.sub("%([0-9a-f]{2})", lambda match: chr(int(match[1], 16)), text)


class Counts:
    """One file, read as its description says."""

    def __init__(self, path):
        self.text = path.read_text()
        self.modules, self.instructions, self.edges, self.vias = {}, [], [], []
        self.end = None
        lines = self.text.splitlines()
        assert lines[0] == "roofline-counts\t1", lines[0]
        for line in lines[1:]:
            kind, *fields = line.split("\t")
            if kind == "module":
                self.modules[int(fields[0])] = unescaped(fields[2])
            elif kind == "i":
                self.instructions.append((int(fields[0]), int(fields[1], 16), int(fields[2]), self.keys(fields[3:])))
            elif kind == "e":
                self.edges.append((int(fields[0]), int(fields[1], 16), int(fields[2], 16), int(fields[3])))
            elif kind == "via":
                self.vias.append((int(fields[2]), int(fields[3], 16), self.keys(fields[4:])))
            elif kind == "end":
                self.end = fields
            elif kind == "command":
                self.command = unescaped(fields[0])

    @staticmethod
    def keys(fields):
        return {key: int(value) for key, value in (field.split("=") for field in fields)}

    def module(self, program):
        return next((id for id, path in self.modules.items() if path == str(program)), None)

    def total(self, program, symbol):
        first, size = symbol
        sums = collections.Counter()
        for module, offset, executions, keys in self.instructions:
            if module == self.module(program) and first <= offset < first + size:
                sums.update({key: value for key, value in keys.items() if key != "stride.bytes"})
        return sums


def flops(total, kind="fp"):
    return sum(value for key, value in total.items() if key.startswith("flops." + kind))


class Programs(unittest.TestCase):
    """Compiles once for each set of options and runs once for each set of arguments."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.built, cls.runs = {}, {}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def program(self, *options, name="programs.c"):
        if (name, options) not in self.built:
            path = self.folder / f"program{len(self.built)}"
            source = pathlib.Path(__file__).with_name(name)
            subprocess.run(["cc", *options, source, "-o", path, "-lm", "-lpthread"], check=True)
            self.built[name, options] = path
        return self.built[name, options]

    def symbols(self, program):
        listed = subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True).stdout
        found = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [tT] (\w+)$", listed, re.M)
        return {name: (int(first, 16), int(size, 16)) for first, size, name in found}

    def start(self, program, *arguments, options=()):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        environment = dict(os.environ, VALGRIND_LIB=LIBEXEC)
        done = subprocess.run([TOOL, "--tool=roofline_count", "--trace-children=yes", "-q", "--vgdb=no", "--log-file=/dev/null",
                               f"--counts-file={folder}/counts.%p", *CACHES, *options, program, *arguments],
                              env=environment, capture_output=True, text=True, timeout=600)
        return done, [Counts(path) for path in sorted(folder.iterdir())]

    def kernels(self, *options):
        """The function that gives the totals of a kernel, and the counts."""
        program = self.program(*options)
        if options not in self.runs:
            done, files = self.start(program, "kernels")
            self.assertEqual((done.returncode, done.stdout), (7, "the end\n"))
            self.assertEqual(len(files), 1)
            self.runs[options] = files[0]
        symbols = self.symbols(program)
        return lambda name: self.runs[options].total(program, symbols[name]), self.runs[options]

    def assert_close(self, value, expected, tolerance=0.001):
        self.assertLessEqual(abs(value - expected), tolerance * expected + 1e-9, f"{value} instead of {expected}")


class KnownAnswers(Programs):
    def test_scalar_and_vector_loops(self):
        x86 = platform.machine() == "x86_64"
        sets = [("-O1",), ("-O2",), ("-O3",)] + ([("-O3", "-mavx2"), ("-O3", "-mavx2", "-mfma"), ("-O1", "-mfma")] if x86 else [])
        for options in sets:
            with self.subTest(options=options):
                total, _ = self.kernels(*options)
                saxpy, triad = total("saxpy"), total("triad")
                self.assert_close(flops(saxpy, "fp32"), 2 * N * REPEATS)
                self.assert_close(saxpy["load.bytes"], 8 * N * REPEATS)
                self.assert_close(saxpy["store.bytes"], 4 * N * REPEATS)
                self.assert_close(flops(triad, "fp64"), 2 * N * REPEATS)
                self.assert_close(triad["load.bytes"], 16 * N * REPEATS)
                self.assert_close(triad["store.bytes"], 8 * N * REPEATS)
                self.assertEqual(flops(saxpy, "fp64") + flops(triad, "fp32"), 0)

    def test_widths_of_vectors(self):
        if platform.machine() != "x86_64":
            self.skipTest("vector widths of x86")
        for options, width in [(("-O1",), "scalar"), (("-O3",), "128"), (("-O3", "-mavx2"), "256"),
                               (("-O3", "-mavx2", "-mfma"), "256"), (("-O1", "-mfma"), "scalar")]:
            with self.subTest(options=options):
                total, _ = self.kernels(*options)
                self.assert_close(total("saxpy")["flops.fp32." + width], 2 * N * REPEATS)
                self.assert_close(total("triad")["flops.fp64." + width], 2 * N * REPEATS)

    def test_number_of_loads_of_vectors(self):
        if platform.machine() != "x86_64":
            self.skipTest("vector widths of x86")
        total, _ = self.kernels("-O3", "-mavx2", "-mfma")
        self.assert_close(total("saxpy")["loads"], 2 * N * REPEATS / 8)
        self.assert_close(total("triad")["stores"], N * REPEATS / 4)

    def test_stencil(self):
        total, _ = self.kernels("-O1")
        points = (SIDE - 2) ** 2 * REPEATS
        self.assert_close(flops(total("stencil")), 5 * points)
        self.assert_close(total("stencil")["load.bytes"], 40 * points, 0.003)  # and what is saved on the stack
        self.assert_close(total("stencil")["store.bytes"], 8 * points, 0.01)

    def test_sparse_matrix(self):
        total, _ = self.kernels("-O1")
        elements = SIDE * 100 * REPEATS
        self.assert_close(flops(total("spmv")), 2 * elements)
        self.assert_close(total("spmv")["load.bytes"], 20 * elements + 8 * SIDE * REPEATS)
        self.assert_close(total("spmv")["store.bytes"], 8 * SIDE * REPEATS, 0.02)

    def test_divides_and_roots(self):
        total, _ = self.kernels("-O1")
        pairs = BODIES ** 2
        self.assert_close(total("bodies")["divides"], pairs)
        self.assert_close(total("bodies")["roots"], pairs)
        self.assert_close(flops(total("bodies")), 18 * pairs)
        self.assert_close(total("divide")["divides"], N)
        self.assertEqual(flops(total("divide")), 0)

    def test_chains_from_iteration_to_iteration(self):
        sets = [(("-O1",), 5), (("-O2", "-fno-tree-vectorize"), 5)]
        if platform.machine() == "x86_64":
            sets.append((("-O2", "-fno-tree-vectorize", "-mfma"), 4))
        for options, horner in sets:
            with self.subTest(options=options):
                total, _ = self.kernels(*options)
                self.assert_close(total("plain_sum")["chain.cycles"], 2 * N * REPEATS, 0.01)
                self.assert_close(total("four_sums")["chain.cycles"], 2 * N / 4 * REPEATS, 0.01)
                self.assert_close(total("horner")["chain.cycles"], horner * N * REPEATS, 0.01)
                self.assertEqual(total("triad")["chain.cycles"], 0)

    def test_loads_that_take_their_addresses_from_the_one_before(self):
        for options in (("-O1",), ("-O2", "-fno-tree-vectorize")):
            with self.subTest(options=options):
                total, _ = self.kernels(*options)
                self.assert_close(total("follow")["chain.loads"], N * REPEATS, 0.01)
                for other in ("sum_at", "plain_sum", "spmv"):
                    self.assertEqual(total(other)["chain.loads"], 0)

    def test_transform(self):
        total, _ = self.kernels("-O1")
        butterflies = POINTS // 2 * (POINTS.bit_length() - 1)
        self.assert_close(flops(total("transform"), "fp64"), 10 * butterflies)
        self.assert_close(total("transform")["load.bytes"], 48 * butterflies, 0.01)
        self.assert_close(total("transform")["store.bytes"], 32 * butterflies, 0.01)

    def test_extended_precision(self):
        if platform.machine() != "x86_64":
            self.skipTest("x87")
        total, _ = self.kernels("-O1")
        self.assert_close(total("wide_sum")["flops.fp64.scalar"], N)
        self.assert_close(total("wide_sum")["load.bytes"], 10 * N)

    def test_non_temporal_stores_and_gathers(self):
        if platform.machine() != "x86_64":
            self.skipTest("instructions of x86")
        total, _ = self.kernels("-O3", "-mavx2")
        self.assert_close(total("non_temporal")["nt.bytes"], 4 * N)
        self.assertLessEqual(total("non_temporal")["l1.fills"], 2)  # of the stack
        self.assert_close(total("gathered")["gathers"], N / 4)
        self.assert_close(total("gathered")["load.bytes"], 12 * N)

    def test_fused_multiply_adds(self):
        if " fma " not in pathlib.Path("/proc/cpuinfo").read_text():
            self.skipTest("no FMA")
        program = self.program("-O2", "-mavx2", "-mfma", name="fused.c")
        native = subprocess.run([program], capture_output=True, text=True)
        done, files = self.start(program)
        self.assertEqual((done.returncode, done.stdout), (native.returncode, native.stdout))
        symbols = self.symbols(program)
        for name, key, flops_per_call in [("doubles", "fp64.256", 64), ("floats", "fp32.256", 128), ("halves", "fp64.128", 16)]:
            self.assertEqual(files[0].total(program, symbols[name])["flops." + key], 100 * flops_per_call)

    def test_edges_of_loops(self):
        _, counts = self.kernels("-O1")
        program = self.program("-O1")
        first, size = self.symbols(program)["saxpy"]
        taken = [times for module, start, to, times in counts.edges
                 if module == counts.module(program) and first <= start < first + size]
        self.assertEqual(taken, [(N - 1) * REPEATS])

    def test_atomic_operations_and_conversions(self):
        for options in (("-O1",), ("-O3",)):
            total, _ = self.kernels(*options)
            self.assert_close(total("atomic_sums")["atomics"], N)
            self.assert_close(total("mixed_precision")["conversions"], 2 * N)
            self.assertEqual(total("saxpy")["atomics"] + total("saxpy")["conversions"], 0)

    def test_mispredicted_branches(self):
        for options in (("-O1",), ("-O2",)):
            program = self.program(*options)
            _, files = self.start(program, "branches")
            symbols = self.symbols(program)
            of = lambda name: files[0].total(program, symbols[name])  # noqa: E731
            self.assert_close(of("branches_at_random")["branches"], 2 * N, 0.01)
            self.assert_close(of("branches_at_random")["mispredicted"], N / 2, 0.05)
            self.assertLess(of("branches_in_turn")["mispredicted"], N / 100)
            self.assert_close(of("jumps_at_random")["mispredicted"], N / 2, 0.05)
            self.assertLess(of("jumps_in_turn")["mispredicted"], N / 100)

    def test_subnormal_results(self):
        x86 = platform.machine() == "x86_64"
        sets = [("-O1",), ("-O3",)] + ([("-O3", "-mavx2"), ("-O1", "-mfma"), ("-O3", "-mavx2", "-mfma")] if x86 else [])
        for options in sets:
            program = self.program(*options)
            _, files = self.start(program, "subnormals")
            symbols = self.symbols(program)
            of = lambda name: files[0].total(program, symbols[name])["subnormals"]  # noqa: E731
            lanes = 1 if "-O1" in options else 8 if "-mavx2" in options else 4
            self.assert_close(of("tiny_floats"), N / lanes)
            self.assert_close(of("tiny_doubles"), N / max(1, lanes // 2))
            self.assert_close(of("tiny_sums"), N / lanes)
            self.assertEqual(of("normal_floats"), 0)
            products = files[0].total(program, symbols["normal_floats"])["products"]
            self.assert_close(products, 2 * N / lanes)

    def test_numbers_that_the_cpu_flushes_to_zero_are_not_subnormal(self):
        if platform.machine() != "x86_64":
            self.skipTest("the compiler's start code sets MXCSR on x86 only")
        program = self.program("-O2", "-ffast-math")
        _, files = self.start(program, "subnormals")
        self.assertEqual(files[0].total(program, self.symbols(program)["tiny_floats"])["subnormals"], 0)

    def test_calls(self):
        total, counts = self.kernels("-O1")
        self.assert_close(total("small_copies")["calls"], 100, 0.05)
        self.assertEqual(total("saxpy")["calls"], 0)
        program = self.program("-O1")
        first, size = self.symbols(program)["saxpy"]
        executed = sum(times for module, at, times, _ in counts.instructions
                       if module == counts.module(program) and first <= at < first + size)
        self.assertGreater(executed, 4 * N * REPEATS)  # a load, a product, a sum, a store and the loop itself

    def test_callers_of_libraries(self):
        _, counts = self.kernels("-O1")
        symbols = self.symbols(self.program("-O1"))
        moved = {}
        for name in ("small_copies", "large_copies"):
            first, size = symbols[name]
            moved[name] = sum(keys.get("load.bytes", 0) for module, site, keys in counts.vias if first <= site < first + size)
        self.assert_close(moved["small_copies"], 100 * (1 << 14), 0.02)
        self.assert_close(moved["large_copies"], 300 * (1 << 14), 0.02)


class Caches(Programs):
    LOOPS = {"read_all": (1, 0), "read_lines": (1, 0), "write_all": (1, 1), "write_lines": (1, 1), "scale_in_place": (1, 1),
             "copy_all": (2, 1)}  # arrays that are read into the caches, and written back

    def totals(self, what):
        program = self.program("-O1")
        done, files = self.start(program, what)
        self.assertEqual(done.returncode, 7)
        symbols = self.symbols(program)
        return {name: files[0].total(program, symbols[name]) for name in self.LOOPS}

    def test_streams_move_every_line_through_every_level(self):
        for name, total in self.totals("streams").items():
            lines = BIG * 8 // LINE * 2
            filled, written = (count * lines for count in self.LOOPS[name])
            with self.subTest(name=name):
                for level in (1, 2, 3):
                    self.assert_close(total[f"l{level}.fills"], filled, 0.1)
                    self.assert_close(total[f"l{level}.writebacks"], written, 0.25 if written else 0)

    def test_cached_loops_stay_in_the_second_level(self):
        for name, total in self.totals("cached").items():
            lines = SMALL * 8 // LINE * 20
            filled, written = (count * lines for count in self.LOOPS[name])
            with self.subTest(name=name):
                self.assert_close(total["l1.fills"], filled, 0.1)
                self.assert_close(total["l1.writebacks"], written, 0.1)
                self.assertLess(total["l2.fills"], 0.1 * filled)
                self.assertLess(total["l3.fills"], 0.1 * filled)

    def test_bytes_that_are_used_of_each_line(self):
        total = self.totals("streams")
        self.assert_close(total["read_all"]["l1.used"], LINE * total["read_all"]["l1.fills"], 0.01)
        self.assert_close(total["read_lines"]["l1.used"], 8 * total["read_lines"]["l1.fills"], 0.01)

    def test_page_walks(self):
        pages, passes = 4096, 4
        program = self.program("-O1")
        done, files = self.start(program, "pages")
        self.assertEqual(done.returncode, 7)
        of = {name: files[0].total(program, self.symbols(program)[name]) for name in ("touch_few_pages", "touch_pages")}
        self.assert_close(of["touch_pages"]["page.walks"], pages * passes, 0.05)
        self.assert_close(of["touch_few_pages"]["page.walks"], pages / 4, 0.05)
        self.assert_close(of["touch_few_pages"]["loads"], pages * passes, 0.05)

    def test_strides(self):
        total = self.totals("streams")
        self.assert_close(total["read_lines"]["stride.next"], BIG // 8 * 2)
        self.assert_close(total["read_all"]["stride.line"], 7 * BIG // 8 * 2)


class Processes(Programs):
    def saxpy_flops(self, counts):
        program = self.program("-O1")
        return flops(counts.total(program, self.symbols(program)["saxpy"]))

    def test_threads(self):
        done, files = self.start(self.program("-O1"), "threads")
        self.assertEqual(done.returncode, 7)
        self.assert_close(self.saxpy_flops(files[0]), 2 * N * REPEATS)
        self.assertEqual(files[0].end, ["complete"])

    def test_lines_that_threads_share_falsely(self):
        program = self.program("-O1")
        _, files = self.start(program, "sums", options=("--fair-sched=try",))
        beside, apart, read = (files[0].total(program, self.symbols(program)[name])
                               for name in ("add_beside", "add_apart", "read_shared"))
        self.assertGreaterEqual(beside["falsely.shared"], 8)
        self.assertLessEqual(apart["falsely.shared"], 1)
        self.assertEqual(read["falsely.shared"], 0)  # one thread writes it, while the other one waits

    def test_fork(self):
        done, files = self.start(self.program("-O1"), "fork")
        self.assertEqual(done.returncode, 7)
        self.assertEqual(sorted(self.saxpy_flops(counts) for counts in files), [2 * N, 6 * N])

    def test_exec(self):
        done, files = self.start(self.program("-O1"), "exec")
        self.assertEqual(done.returncode, 7)
        self.assertEqual(sorted(self.saxpy_flops(counts) for counts in files), [2 * N * REPEATS, 40 * N])
        self.assertEqual([counts.end for counts in files], [["complete"]] * 2)

    def test_crash(self):
        done, files = self.start(self.program("-O1"), "crash")
        self.assertEqual(done.returncode, -signal.SIGSEGV)
        self.assertEqual(files[0].end, ["signal 11"])
        self.assertEqual(self.saxpy_flops(files[0]), 2 * N)

    def test_killed(self):
        done, files = self.start(self.program("-O1"), "killed")
        self.assertEqual(done.returncode, -signal.SIGTERM)
        self.assertEqual(files[0].end, ["signal 15"])
        self.assertEqual(self.saxpy_flops(files[0]), 2 * N)

    def test_time_limit(self):
        for seconds in (1, 10, 60):  # a busy machine takes longer to start
            _, files = self.start(self.program("-O1"), "endless", options=[f"--stop-after={seconds}"])
            self.assertEqual(files[0].end, ["limit"])
            if self.saxpy_flops(files[0]) > 0:
                return
        self.fail("nothing was counted before the limit")

    def test_unknown_instruction(self):
        if platform.machine() != "x86_64":
            self.skipTest("AVX-512")
        program = self.program("-O1")
        done, files = self.start(program, "avx512")
        self.assertEqual(done.returncode, -signal.SIGILL)
        reason, code, module, offset = files[0].end
        first, size = self.symbols(program)["main"]
        self.assertEqual(reason, "illegal-instruction")
        self.assertTrue(code.startswith("62f17448"), code)
        self.assertEqual(files[0].modules[int(module)], str(program))
        self.assertTrue(first <= int(offset, 16) < first + size)

    def test_hostile_names(self):
        hostile = self.folder / "a\tb\nend\tcomplete\n%41"
        shutil.copy(self.program("-O1"), hostile)
        done, files = self.start(hostile, "a\nb")
        self.assertEqual(done.returncode, 7)
        self.assertIn(str(hostile), files[0].modules.values())
        self.assertEqual(files[0].command, f"{hostile} a\nb")
        self.assertEqual(files[0].text.count("\nend\t"), 1)


if __name__ == "__main__":
    TOOL, LIBEXEC = sys.argv[1], sys.argv[2]
    missing = [path for path in (TOOL, f"{LIBEXEC}/default.supp") if not pathlib.Path(path).exists()]
    missing += [command for command in ("cc", "nm") if not shutil.which(command)]
    if missing:
        print("skipped: not found:", *missing)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
