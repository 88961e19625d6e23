#!/usr/bin/env python3
"""Kernels as users write them, on one thread of a CPU: the roof that limits each, and that its verdict is true. What
verification says of wrong twins is in verification_test.py, planted faults are in planted_cpu_test.py.

usage: nine_kernels_cpu_test.py PATH_OF_ROOFLINE [unittest arguments]
"""
import json
import platform
import unittest

import planted_cpu_test
from planted_cpu_test import AT_ROOF, FAULTS, LOAD, N, X, Y, Kernel, c

# Rules that say that nothing explains the row: true only where no experiment ran.
UNEXPLAINED = {"uncounted-memory", "uncounted-cache", "uncounted", "unknown", "integer-uncounted"}
MEMORY = {"memory-limited", "access-pattern", "page-walks", "grows-with-size", "access-order", "partial-lines",
          "uncounted-memory", "numa", "small-pages", "ordinary-stores", "poor-memory"}
INOUT = "{ inout: y, dtype: fp32, size: n }"
XY = "const float* restrict x, float* restrict y, int64_t n"


def with_head(head, kernel):
    kernel.source = head + kernel.source
    return kernel


KERNELS = {
    "histogram": Kernel(
        c("f", "const uint8_t* x, uint32_t* y, int64_t n",
          "memset(y, 0, 256 * sizeof *y); for (int64_t i = 0; i < n; ++i) ++y[x[i]];"),
        ["{ input: x, dtype: uint8, size: n }", "{ output: y, dtype: uint32, size: 256 }", N],
        ["work: {}", 'expect: { y: "sum[j < n](x[j] == i)" }'], "{ n: 2^18 }"),
    "stencil": Kernel(
        c("f", "const float* restrict x, float* restrict y, int64_t m",
          "for (int64_t r = 1; r < m - 1; ++r) for (int64_t c = 1; c < m - 1; ++c) { int64_t i = r * m + c; "
          "y[i] = 0.25f * (x[i - 1] + x[i + 1] + x[i - m] + x[i + m]); }"),
        [X.replace("size: n", "size: m*m"), INOUT.replace("size: n", "size: m*m"), "{ scalar: m, dtype: int64 }"],
        ['work: { flops: { fp32: "4*(m - 2)^2" }, read: 4*m*m, write: "4*(m - 2)^2" }',
         'expect: { y: "i % m > 0 && i % m < m - 1 && i >= m && i < m*(m - 1) ? '
         '0.25*(x[i - 1] + x[i + 1] + x[i - m] + x[i + m]) : y" }'], "{ m: 2048 }", "cold"),
    "dot": Kernel(
        c("f", "const float* x, const float* z, float* y, int64_t n",
          "float s = 0; for (int64_t i = 0; i < n; ++i) s += x[i] * z[i]; *y = s;"),
        [X, X.replace("input: x", "input: z"), "{ output: y, dtype: fp32, size: 1 }", N],
        ["options: [-ffast-math]", "work: { flops: { fp32: 2*n } }", 'expect: { y: "sum(x*z)" }'], "{ n: 2^22 }", "cold"),
    "spmv": Kernel(
        c("f", "const int32_t* row, const int32_t* col, const float* v, const float* x, float* y, int64_t rows",
          "for (int64_t r = 0; r < rows; ++r) { float s = 0; "
          "for (int32_t k = row[r]; k < row[r + 1]; ++k) s += v[k] * x[col[k]]; y[r] = s; }"),
        ["{ input: row, dtype: int32, size: rows + 1, values: { csr_rows: [nnz, cols] } }",
         "{ input: col, dtype: int32, size: nnz, values: { csr_columns: row } }",
         "{ input: v, dtype: fp32, size: nnz }", "{ input: x, dtype: fp32, size: cols }",
         "{ output: y, dtype: fp32, size: rows }", "{ scalar: rows, dtype: int64 }"],
        ["work: { flops: { fp32: 2*nnz } }", 'expect: { y: "sum[row[i] <= k < row[i + 1]](v[k] * x[col[k]])" }'],
        "{ rows: 2^17, cols: 2^17, nnz: 2^21 }", "cold"),
    "transposed_copy": Kernel(
        c("f", "const float* restrict x, float* restrict y, int64_t m",
          "for (int64_t r = 0; r < m; ++r) for (int64_t c = 0; c < m; ++c) y[c * m + r] = x[r * m + c];"),
        [X.replace("size: n", "size: m*m"), Y.replace("size: n", "size: m*m"), "{ scalar: m, dtype: int64 }"],
        ["work: {}", 'expect: { y: "x[i % m * m + floor(i / m)]" }'], "{ m: 2048 }", "cold"),
    "hot_rows": Kernel(
        c("f", XY, "for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];"), [X, Y, N],
        ["work: { flops: { fp32: n } }", "expect: { y: 2*x }"], "{ n: 2^14 }", "hot"),
    "saxpy": Kernel(
        c("f", XY, "for (int64_t i = 0; i < n; ++i) y[i] += 2 * x[i];"), [X, INOUT, N],
        ["work: { flops: { fp32: 2*n } }", "expect: { y: 2*x + y }"], "{ n: 2^23 }", "cold"),
    "plain_copy": Kernel(
        c("f", XY, "for (int64_t i = 0; i < n; ++i) y[i] = x[i];"), [X, Y, N],
        ["options: [-fno-tree-loop-distribute-patterns]", "work: {}", "expect: { y: x }"], "{ n: 2^23 }", "cold"),
}
if platform.machine() == "x86_64":
    KERNELS["streamed_copy"] = with_head("#include <immintrin.h>\n", Kernel(
        c("f", XY, "for (int64_t i = 0; i < n; i += 4) _mm_stream_ps(y + i, _mm_loadu_ps(x + i)); _mm_sfence();"),
        [X, Y, N], ["work: {}", "expect: { y: x }"], "{ n: 2^23 }", "cold"))


class NineKernels(planted_cpu_test.OnACpu):
    """Rows of all kernels, in one run."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.found = None

    def setUp(self):
        if NineKernels.found is None:
            NineKernels.found = self.analyze(KERNELS, 1)
        self.all_rows, self.all_rules = NineKernels.found

    def check(self, name, ceiling, never=frozenset()):
        """The deciding rule, or nothing where the machine's state decides."""
        row, rules = self.all_rows[name], self.all_rules[name]
        self.assertEqual(row["status"], "ok", row.get("reason"))
        self.assertEqual(row["verification"]["status"], "pass", row["verification"])
        self.assertRegex(row["limiting_ceiling"], ceiling)
        self.assertTrue(rules, "a row has a verdict")
        self.assertFalse(set(never) & set(rules), (rules, row.get("experiments")))
        if row.get("experiments"):
            certain = [one for one in row["experiments"] if one["kind"] in ("in_cache", "in_l1") and one["ratio"] < 1.25]
            if certain and "ci95" in certain[0] and certain[0]["ci95"][1] - certain[0]["ci95"][0] < 0.2:
                self.assertNotIn(rules[0], UNEXPLAINED - {"integer-uncounted"}, (rules, row["experiments"]))
        return None if rules[0] in LOAD else rules[0]

    def test_a_histogram_computes_with_integers(self):
        rule = self.check("histogram", "^(l[123]|dram)[.]", FAULTS - {"aliasing"})
        self.assertIn(rule, (None, "aliasing", "integer-operations", "integer-uncounted"))
        self.assertGreater(self.all_rows["histogram"]["verification"]["work"]["integer_operations"], 2 ** 18)

    def test_a_stencil_leaves_its_border_alone(self):
        self.check("stencil", "^dram[.]", {"integer-operations", "dependent-sum", "access-order", "ordinary-stores"})
        self.assertEqual(self.all_rows["stencil"]["work"]["write_only"], 0)

    def test_a_dot_product_by_fast_math_has_independent_sums(self):
        self.check("dot", "^dram[.]read", {"dependent-sum", "ordinary-stores", "integer-operations", "access-order"})

    def test_a_sparse_product_is_no_integer_work(self):
        self.check("spmv", "^dram[.]", {"integer-operations", "integer-uncounted", "ordinary-stores"})

    def test_a_transposed_copy_is_no_matter_of_arithmetic(self):
        rule = self.check("transposed_copy", "^dram[.]copy", {"dependent-sum", "divisions", "subnormals", "scalar-code",
                                                              "integer-operations"})
        self.assertNotEqual(rule, "no-vectors")

    def test_hot_rows_are_no_matter_of_main_memory(self):
        self.check("hot_rows", "^l[123][.]", MEMORY)
        self.assertIn(self.all_rows["hot_rows"]["work"]["cache"], ("l1", "l2", "l3"))

    def test_stores_in_place_need_no_bypass(self):
        self.check("saxpy", "^dram[.](accumulate|triad)", {"ordinary-stores", "integer-operations", "dependent-sum"})
        self.assertTrue(self.all_rows["saxpy"]["work"]["traffic"]["dram"]["in_place"])

    def test_ordinary_stores_are_named_where_they_matter(self):
        rule = self.check("plain_copy", "^dram[.]copy", {"dependent-sum", "access-order", "integer-operations"})
        ceilings = {one["name"]: one["value"] for one in json.loads(self.machine(1).read_text())["ceilings"]
                    if one["regime"] == "burst"}
        regular = ceilings.get("dram.copy.regular", 0) / ceilings["dram.copy"]
        if rule == "ordinary-stores":
            self.assertLess(regular, 0.85, "the machine has no use for other stores")

    def test_non_temporal_stores_are_not_advised_where_they_are_used(self):
        if "streamed_copy" not in KERNELS:
            self.skipTest("no such instructions")
        rule = self.check("streamed_copy", "^dram[.]copy", {"dependent-sum", "access-order", "integer-operations"})
        row = self.all_rows["streamed_copy"]
        if rule in AT_ROOF:
            self.assertGreater(row["fraction_of_roof"], 0.89)


if __name__ == "__main__":
    unittest.main()
