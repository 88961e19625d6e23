#!/usr/bin/env python3
"""roofline_count: work of STREAM, hand-written kernels with AVX2, OpenBLAS and NumPy against closed forms."""
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import unittest

import counts_test
from counts_test import BIG, BODIES, LINE, N, POINTS, REPEATS, SIDE, SMALL, flops

STREAM_N, STREAM_REPEATS = 1 << 17, 4
AVX2 = ("-O3", "-mavx2", "-mfma")
# FLOPs, elements that are loaded, elements that are stored, for each element of the result
STREAM = {"stream_copy": (0, 1, 1), "stream_scale": (1, 1, 1), "stream_add": (1, 2, 1), "stream_triad": (2, 2, 1)}
NUMPY = """
import sys
import numpy
n, passes, size = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
x, y, p = numpy.ones(n), numpy.ones(n), numpy.ones((size, 192))
for _ in range(passes):
    numpy.add(numpy.multiply(x, y), y)
for _ in range(passes):
    p @ p.T.copy()
"""


def sets_of_options():
    if platform.machine() != "x86_64":
        return [("-O1",), ("-O3",)]
    return [("-O1",), ("-O3",), ("-O3", "-mavx2"), AVX2]


class KnownWork(counts_test.Programs):
    def total_of_all(self, done, files):
        self.assertEqual(done.returncode, 7, done.stderr)
        return sum(flops(keys) for counts in files for _, _, _, keys in counts.instructions)


class HandWritten(KnownWork):
    def test_stream(self):
        for options in sets_of_options():
            program = self.program(*options, name="known_work.c")
            done, files = self.start(program, "stream", str(STREAM_REPEATS))
            self.assertEqual(done.returncode, 7)
            symbols, elements = self.symbols(program), STREAM_N * STREAM_REPEATS
            for name, (operations, loads, stores) in STREAM.items():
                total = files[0].total(program, symbols[name])
                with self.subTest(options=options, loop=name):
                    if name == "stream_copy" and not total["load.bytes"]:
                        continue  # the compiler made it a call of memcpy
                    self.assert_close(flops(total), operations * elements)
                    self.assert_close(total["load.bytes"], 8 * loads * elements)
                    self.assert_close(total["store.bytes"], 8 * stores * elements)

    def test_kernels(self):
        elements, pairs, butterflies = SIDE * 100 * REPEATS, BODIES ** 2, POINTS // 2 * (POINTS.bit_length() - 1)
        expected = {"triad": 2 * N * REPEATS, "stencil": 5 * (SIDE - 2) ** 2 * REPEATS, "spmv": 2 * elements,
                    "transform": 10 * butterflies}
        for options in sets_of_options():
            total, _ = self.kernels(*options)
            for name, operations in expected.items():
                with self.subTest(options=options, kernel=name):
                    self.assert_close(flops(total(name), "fp64"), operations)
            of = total("bodies")  # a quotient, or its estimate and Newton's iterations, is the compiler's choice
            with self.subTest(options=options, kernel="bodies"):
                self.assert_close(flops(of), 18 * pairs)
                self.assert_close(of["divides"], pairs)
                self.assert_close(of["roots"], pairs)


class MemoryTraffic(KnownWork):
    LOOPS = {"read_all": (1, 0), "read_lines": (1, 0), "write_all": (1, 1), "write_lines": (1, 1), "scale_in_place": (1, 1),
             "copy_all": (2, 1)}  # arrays that are read, and written back

    def traffic(self, what, caches):
        program = self.program("-O1")
        done, files = self.start(program, what, options=caches)
        self.assertEqual(done.returncode, 7)
        symbols = self.symbols(program)
        return {name: files[0].total(program, symbols[name]) for name in self.LOOPS}

    def test_streams_move_their_arrays_to_and_from_memory(self):
        small = ["--l1=4096,8,64", "--l2=16384,8,64", "--l3=65536,16,64"]
        for name, total in self.traffic("streams", small).items():
            with self.subTest(loop=name):
                known = sum(self.LOOPS[name]) * BIG * 8 * 2
                self.assert_close(LINE * (total["l3.fills"] + total["l3.writebacks"]), known, 0.1)

    def test_cached_loops_move_their_arrays_between_caches_only(self):
        caches = ["--l1=32768,8,64", "--l2=65536,8,64", "--l3=1048576,16,64"]
        for name, total in self.traffic("cached", caches).items():
            with self.subTest(loop=name):
                known = sum(self.LOOPS[name]) * SMALL * 8 * 20
                self.assert_close(LINE * (total["l2.fills"] + total["l2.writebacks"]), known, 0.1)
                # Memory has each array once: what was in the caches before is a part of it.
                self.assertLessEqual(LINE * total["l3.fills"], 2 * SMALL * 8 * 1.1)


class ModelledInPart(KnownWork):
    """Caches are modelled in a fifth of the time: counts are exact all the same, and modelled traffic is scaled."""
    LINES = {"stream_scale": (2, 1), "stream_add": (3, 1), "stream_triad": (3, 1)}  # arrays read and written back

    def test_stream(self):
        program, repeats = self.program("-O1", name="known_work.c"), 400
        small = ["--l1=4096,8,64", "--l2=16384,8,64", "--l3=65536,16,64"]
        done, files = self.start(program, "stream", str(repeats), options=[*small, "--model-share=20"])
        self.assertEqual(done.returncode, 7)
        symbols, elements = self.symbols(program), STREAM_N * repeats
        for name, (filled, written) in self.LINES.items():
            total = files[0].total(program, symbols[name])
            with self.subTest(loop=name):
                self.assertEqual(flops(total), STREAM[name][0] * elements)
                self.assert_close(total["load.bytes"], 8 * STREAM[name][1] * elements)
                self.assert_close(total["l3.fills"] * LINE, 8 * filled * elements, 0.1)
                self.assert_close(total["l3.writebacks"] * LINE, 8 * written * elements, 0.1)


class Libraries(KnownWork):
    M, ROWS = 384, 256

    def openblas(self):
        """Where the linker or $LD_LIBRARY_PATH has it."""
        for name in ("libopenblas.so.0", "libcblas.so.3", "libblas.so.3"):
            program = self.program("-O1", name="known_work.c")
            ran = subprocess.run([program, "product", name, "8", "8", "8", "1"], env=self.one_thread())
            if ran.returncode == 7:
                return name
        self.skipTest("no library has cblas_dgemm (install libopenblas0-pthread)")

    @staticmethod
    def one_thread():
        return dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

    def start(self, program, *arguments, options=()):
        os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
        return super().start(program, *arguments, options=options)

    def test_products_of_matrices(self):
        library, of = self.openblas(), {}
        program = self.program("-O1", name="known_work.c")
        for columns in (64, 128):
            for calls in (1, 2):
                of[columns, calls] = self.total_of_all(
                    *self.start(program, "product", library, str(self.M), str(self.ROWS), str(columns), str(calls)))
        # Start-up cancels in a second call, and small terms of M N in a product with as many blocks.
        one = {columns: of[columns, 2] - of[columns, 1] for columns in (64, 128)}
        scaled = 0 if "openblas" in library else 64 * (self.M + self.ROWS)  # the reference scales one matrix by alpha
        self.assertLessEqual(abs(one[128] - one[64] - 2 * self.M * self.ROWS * 64), 0.001 * 2 * self.M * self.ROWS * 64 + scaled)
        for columns, counted in one.items():
            small = counted - 2 * self.M * self.ROWS * columns
            self.assertGreaterEqual(small, 0)
            self.assertLessEqual(small, 4 * self.M * self.ROWS + columns * (self.M + self.ROWS))

    def python_with_numpy(self):
        for python in (sys.executable, "/usr/bin/python3"):
            if not shutil.which(python):
                continue
            if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
                return os.path.realpath(python)
        self.skipTest("NumPy is not installed (python3-numpy)")

    def test_numpy(self):
        python, script = self.python_with_numpy(), self.folder / "numpy_work.py"
        script.write_text(NUMPY + "sys.exit(7)\n", encoding="ascii")
        n, size = 1 << 16, 128
        of = {passes: self.total_of_all(*self.start(python, "-B", str(script), str(n), str(passes), str(size)))
              for passes in (2, 6)}
        known = 2 * n + 2 * size * size * 192
        small = 4 * size * size  # alpha, and the start of each sum
        per_pass = (of[6] - of[2]) / 4
        self.assertGreaterEqual(per_pass, known * (1 - 0.001))
        self.assertLessEqual(per_pass, (known + small) * (1 + 0.001))


if __name__ == "__main__":
    counts_test.TOOL, counts_test.LIBEXEC = sys.argv[1], sys.argv[2]
    missing = [path for path in sys.argv[1:3] if not pathlib.Path(path).exists()]
    missing += [command for command in ("cc", "nm") if not shutil.which(command)]
    if missing:
        print("skipped: not found:", *missing)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
