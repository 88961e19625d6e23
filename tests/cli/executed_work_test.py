#!/usr/bin/env python3
"""Stated FLOPs of own CPU kernels against what their machine code executes under emulation, right and wrong.

usage: executed_work_test.py PATH_OF_ROOFLINE [unittest arguments]
"""
import json
import pathlib
import shutil
import unittest

import own_kernels_test

SOURCE = """\
#include <math.h>
#include <stdint.h>
void product(const float* restrict a, const float* restrict b, float* restrict c, int64_t n) {
  for (int64_t i = 0; i < n * n; ++i) c[i] = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
}
void weights(const float* restrict x, float* restrict y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += y[r * cols + c] = expf(x[r * cols + c]);
    for (int64_t c = 0; c < cols; ++c) y[r * cols + c] /= sum;
  }
}
void fixed(const float* restrict x, float* restrict y, int64_t n) {  /* whatever n is */
  for (int64_t i = 0; i < 65536; ++i) y[i] = 3 * x[i] + 1;
}
"""
PRODUCT = """\
    source: kernels.c
    entry: product
    arguments:
      - { input: a, dtype: fp32, size: n*n }
      - { input: b, dtype: fp32, size: n*n }
      - { output: c, dtype: fp32, size: n*n }
      - { scalar: n, dtype: int64 }
    expect: { c: "sum[k < n](a[floor(i/n)*n + k] * b[k*n + i%n])" }
"""
WEIGHTS = """\
    source: kernels.c
    entry: weights
    arguments:
      - { input: x, dtype: fp32, size: rows*cols }
      - { output: y, dtype: fp32, size: rows*cols }
      - { scalar: rows, dtype: int64 }
      - { scalar: cols, dtype: int64 }
    expect: { y: "exp(x) / sum[c < cols](exp(x[floor(i/cols)*cols + c]))" }
"""
FIXED = """\
    source: kernels.c
    entry: fixed
    arguments:
      - { input: x, dtype: fp32, size: n }
      - { output: y, dtype: fp32, size: n }
      - { scalar: n, dtype: int64 }
    expect: { y: 3*x + 1 }
"""


class ExecutedWork(own_kernels_test.OwnKernels):
    @classmethod
    def setUpClass(cls):
        if not pathlib.Path(own_kernels_test.ROOFLINE).with_name("roofline_count").exists():
            raise unittest.SkipTest("roofline_count was not built")
        if shutil.which("valgrind") is None:
            raise unittest.SkipTest("Valgrind is not installed")
        super().setUpClass()

    def report(self, kernels):
        """The rows, and the names of those whose stated work is contradicted; by kernel: (text, work, shape)."""
        self.write("kernels.c", SOURCE)
        text = "name: own\nkernels:\n"
        for name, (kernel, work, _) in kernels.items():
            text += f"  {name}:\n{kernel}" + (f"    work: {work}\n" if work else "")
        text += "workloads:\n" + "".join(f"  - {{ kernel: {name}, label: {name}, shape: {shape} }}\n"
                                         for name, (_, _, shape) in kernels.items())
        done = self.run_tool("analyze", self.write("suite.yaml", text), "--device", "cpu", "--machine", self.machine,
                             "--max-time", "0.01", "--format", "json", "-o", "report.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row["label"]: row for row in json.loads((self.folder / "report.json").read_text())["results"]}
        return rows, {name for name, row in rows.items() if self.is_contradicted(row["verification"].get("executed"))}

    @staticmethod
    def is_contradicted(executed):
        return executed is not None and (2 * executed["stated"] < executed["least"] or
                                         executed["stated"] > 2 * executed["most"])

    def test_stated_flops_are_those_of_the_machine_code(self):
        rows, wrong = self.report({
            "right_product": (PRODUCT, '{ flops: { fp32: "2*n^3" } }', "{ n: 192 }"),
            "low_product": (PRODUCT, '{ flops: { fp32: "0.2*n^3" } }', "{ n: 192 }"),
            "right_weights": (WEIGHTS, '{ flops: { fp32: 5*rows*cols } }', "{ rows: 64, cols: 512 }"),
            "high_weights": (WEIGHTS, '{ flops: { fp32: 50*rows*cols } }', "{ rows: 64, cols: 512 }"),
        })
        self.assertEqual(wrong, {"low_product", "high_weights"})
        for name in ("right_product", "low_product"):
            executed = rows[name]["verification"]["executed"]
            self.assertLess(executed["shape"]["n"], 192)
            self.assertEqual(executed["executed"], 2 * executed["shape"]["n"] ** 3)

    def test_flops_that_are_not_stated_are_counted(self):
        rows, wrong = self.report({"product": (PRODUCT, "", "{ n: 96 }")})
        self.assertEqual(wrong, set())
        self.assertEqual(rows["product"]["work"]["flops"], {"fp32": 2 * 96 ** 3})

    def test_a_kernel_for_one_size_is_counted_at_that_size(self):
        rows, wrong = self.report({"fixed": (FIXED, "{ flops: { fp32: 2*n } }", "{ n: 65536 }")})
        self.assertEqual(wrong, set())
        executed = rows["fixed"]["verification"].get("executed")
        self.assertEqual((executed["shape"], executed["executed"]), ({"n": 65536}, 2 * 65536))


if __name__ == "__main__":
    unittest.main()
