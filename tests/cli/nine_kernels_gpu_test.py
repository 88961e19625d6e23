#!/usr/bin/env python3
"""Nine kernels on a GPU and one of Triton's, each beside a wrong twin: what verification and the report say of them.
Skips, with a message, where there is no GPU.

usage: nine_kernels_gpu_test.py PATH_OF_ROOFLINE [unittest arguments]
"""
import shutil
import unittest

from own_kernels_gpu_test import OnAGpu
from own_kernels_test import ROOT

SOURCES = ROOT / "tests" / "data" / "gpu_kernels"
EXAMPLES = ROOT / "configs" / "examples"

# label: (label of the bound, what the limiting ceiling's name begins with, least and most fraction of it)
EXPECTED = {
    "histogram_global": ("latency", "launch.", 0, 1.1),  # checked by its formula, too small to be anything else
    "histogram_checked": ("latency", "launch.", 0, 1.1),
    "histogram": ("memory", "hbm.read", 0, 1.1),
    "dot": ("memory", "hbm.read", 0.4, 1.1),
    "saxpy": ("memory", "hbm.", 0.5, 1.1),
    "spmv": ("memory", "hbm.", 0, 1.1),
    "stencil": ("memory", "hbm.", 0.3, 1.1),
    "hot_rows": ("memory", "l2.", 0.05, 1.1),
    "transposed_copy": ("memory", "hbm.copy", 0.2, 1.1),
    "tensor_tiles": ("memory", "hbm.copy", 0.1, 1.1),
    "strided_copy": ("memory", "hbm.copy", 0, 0.6),  # the bytes that it needs, not the sectors that it touches
    "triton_softmax": ("memory", "hbm.copy", 0.3, 1.1),
}
WITHOUT_FLOPS = {"histogram_global", "histogram_checked", "histogram", "transposed_copy", "strided_copy"}


class NineKernels(OnAGpu):
    roofs = "*"

    def run_suite(self, wrong):
        for path in (SOURCES / "nine_kernels.cu", EXAMPLES / "triton_softmax.cubin", EXAMPLES / "triton_softmax.json"):
            shutil.copy(path, self.folder)
        text = (SOURCES / "nine_kernels.yaml").read_text()
        if wrong:
            # The Triton kernel was compiled for multiples of 16.
            text = text.replace("WRONG: 0 }", "WRONG: 1 }").replace("scalar: cols - 0", "scalar: cols - 16")
        rows = {row["label"]: row for row in self.rows(text, code=1 if wrong else 0)}
        self.assertEqual(set(rows), set(EXPECTED))
        return rows

    def test_right_kernels_pass_and_have_their_limiting_roof(self):
        rows = self.run_suite(wrong=False)
        for name, (label, ceiling, least, most) in EXPECTED.items():
            with self.subTest(name):
                row = rows[name]
                self.assertEqual(row["status"], "ok", row.get("reason"))
                self.assertEqual(row["verification"]["status"], "pass", row["verification"])
                self.assertEqual(row["bound"], label, row["resources"])
                self.assertTrue(row["limiting_ceiling"].startswith(ceiling), row["limiting_ceiling"])
                self.assertGreaterEqual(row["fraction_of_roof"], least)
                self.assertLessEqual(row["fraction_of_roof"], most)
                self.assertEqual(sum(row["work"]["flops"].values()) == 0, name in WITHOUT_FLOPS)
        self.assertEqual(rows["hot_rows"]["work"]["cache"], "l2")
        self.assertNotIn("cache", rows["saxpy"]["work"])
        self.assertEqual(rows["stencil"]["work"]["traffic"]["hbm"]["write"], 4 * 8190 ** 2, "without its border")

    def test_wrong_kernels_fail_and_are_not_timed(self):
        for name, row in self.run_suite(wrong=True).items():
            with self.subTest(name):
                self.assertEqual(row["status"], "failed", row.get("verification"))
                self.assertEqual(row.get("verification", {}).get("status"), "fail", row.get("reason"))
                self.assertNotIn("time_s", row)


if __name__ == "__main__":
    unittest.main()
