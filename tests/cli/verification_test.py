#!/usr/bin/env python3
"""What verification catches: a table of wrong kernels, each beside a right one for the same expectation.

usage: verification_test.py PATH_OF_ROOFLINE [unittest arguments]
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOFLINE = os.path.abspath(sys.argv.pop(1))
C_TYPES = {"fp64": "double", "fp32": "float", "fp16": "_Float16", "bf16": "uint16_t", "int8": "int8_t",
           "uint8": "uint8_t", "int16": "int16_t", "int32": "int32_t", "uint32": "uint32_t", "int64": "int64_t",
           "uint64": "uint64_t"}

PRELUDE = """\
#include <math.h>
#include <stdint.h>
#include <string.h>
static inline float from_bf16(uint16_t b) { uint32_t u = (uint32_t)b << 16; float f; memcpy(&f, &u, 4); return f; }
static inline uint16_t nearest_bf16(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  return (uint16_t)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}
static inline uint16_t truncated_bf16(float f) { uint32_t u; memcpy(&u, &f, 4); return (uint16_t)(u >> 16); }
"""

X, Y = "input x fp32 n", "output y fp32 n"


def case(name, right, wrong, expect, buffers=(X, Y), n=1000):
    return {"name": name, "right": right, "wrong": wrong, "expect": expect, "buffers": buffers, "n": n}


def each(statement, first="0", last="n"):
    return f"for (int64_t i = {first}; i < {last}; ++i) {statement}"


TWICE = each("y[i] = 2 * x[i];")
TABLE = [
    # Elements that are missing, wrong, or not the kernel's own.
    case("last_element_missing", TWICE, each("y[i] = 2 * x[i];", last="n - 1"), {"y": "2*x"}),
    case("first_element_missing", TWICE, each("y[i] = 2 * x[i];", first="1"), {"y": "2*x"}),
    case("one_element_wrong", TWICE, TWICE + " y[n / 3] += 1e-4f;", {"y": "2*x"}),
    case("writes_past_the_end", TWICE, each("y[i] = 2 * x[i < n ? i : 0];", last="n + 1"), {"y": "2*x"}),
    case("writes_before_the_start", TWICE, each("y[i] = 2 * x[i < 0 ? 0 : i];", first="-1"), {"y": "2*x"}),
    case("remainder_missing", TWICE, each("y[i] = 2 * x[i];", last="n / 8 * 8"), {"y": "2*x"}, n=1003),
    case("half_of_each_tile_missing", TWICE, each("if (i % 64 < 32) y[i] = 2 * x[i];"), {"y": "2*x"}),
    case("half_of_the_last_tile_missing", TWICE, each("if (i < n - 32) y[i] = 2 * x[i];"), {"y": "2*x"}, n=1024),
    case("reads_the_next_element", TWICE, each("y[i] = 2 * x[(i + 1) % n];"), {"y": "2*x"}),
    case("modifies_its_input", TWICE, "for (int64_t i = 0; i < n; ++i) { y[i] = 2 * x[i]; ((float*)x)[i] = 0; }",
         {"y": "2*x"}),
    # Results of another launch, or of another input.
    case("adds_to_what_was_there", TWICE, each("y[i] += 2 * x[i];"), {"y": "2*x"}),
    case("wrong_in_some_runs_with_the_same_inputs", TWICE,
         "static float last; static int launched; int stale = launched++ && x[0] != last; last = x[0]; " + TWICE +
         " y[0] += stale;", {"y": "2*x"}),
    case("computes_in_its_first_launch_only", TWICE,
         "static int launched; if (launched++) return; " + TWICE, {"y": "2*x"}),
    case("returns_what_the_first_input_gave", TWICE,
         "static float kept[1000]; static int launched; if (!launched++) { " + each("kept[i] = 2 * x[i];") + " } "
         "memcpy(y, kept, n * sizeof *y);", {"y": "2*x"}),
    case("remembers_the_first_pointer", TWICE,
         "static const float* first; if (!first) first = x; " + each("y[i] = 2 * first[i];"), {"y": "2*x"}),
    case("wrong_from_the_fortieth_launch", TWICE,
         "static int launched; int late = launched++ >= 40; " +
         each("y[i] = late && i % 7 == 3 ? 0 : 2 * x[i];"), {"y": "2*x"}),
    # Arithmetic.
    case("factor_off_by_a_thousandth", TWICE, each("y[i] = 2.002f * x[i];"), {"y": "2*x"}),
    case("factor_off_by_ten_ulp", TWICE, each("y[i] = 2.00000238f * x[i];"), {"y": "2*x"}),
    case("tiny_results_are_zero", each("y[i] = 1e-9f * x[i];"), each("y[i] = 0;"), {"y": "1e-9*x"}),
    case("operands_swapped", each("y[i] = x[i] - z[i];"), each("y[i] = z[i] - x[i];"), {"y": "x - z"},
         (X, "input z fp32 n", Y)),
    case("product_of_the_sum", each("y[i] = x[i] * z[i] + z[i];"), each("y[i] = x[i] * (z[i] + z[i]);"),
         {"y": "x*z + z"}, (X, "input z fp32 n", Y)),
    case("a_nan", each("y[i] = fabsf(x[i]) < 0.5f ? 1 : x[i] / fabsf(x[i]);"),
         each("y[i] = fabsf(x[i]) < 0.5f ? sqrtf(-fabsf(x[i])) : x[i] / fabsf(x[i]);"),
         {"y": "abs(x) < 0.5 ? 1 : sign(x)"}),
    case("upper_bound_missing", each("y[i] = fminf(0.5f, fmaxf(-0.5f, x[i]));"), each("y[i] = fmaxf(-0.5f, x[i]);"),
         {"y": "min(0.5, max(-0.5, x))"}),
    case("series_cut_short", each("y[i] = expf(x[i]);"),
         each("y[i] = 1 + x[i] * (1 + x[i] / 2 * (1 + x[i] / 3 * (1 + x[i] / 4)));"), {"y": "exp(x)"}),
    case("inverse_root_without_its_last_step", each("y[i] = 1 / sqrtf(1 + x[i] * x[i]);"),
         "for (int64_t i = 0; i < n; ++i) { float a = 1 + x[i] * x[i]; int32_t b; memcpy(&b, &a, 4); "
         "b = 0x5f3759df - (b >> 1); float r; memcpy(&r, &b, 4); y[i] = r * (1.5f - a / 2 * r * r); }",
         {"y": "1/sqrt(1 + x*x)"}),
    # Processors and GPUs may flush subnormal results to zero; a subnormal result shows that this one does not.
    case("subnormal_results_off_by_a_tenth", each("y[i] = 1e-39f * x[i];"), each("y[i] = 1.1e-39f * x[i];"), {"y": "1e-39*x"}),
    case("subnormal_results_of_another_sign",
         each("y[i] = fabsf(1e-39f * x[i]) < 0x1p-126f ? 0 : 1e-39f * x[i];"), each("y[i] = -1e-39f * x[i];"),
         {"y": "1e-39*x"}),
    case("a_quotient_through_subnormal_numbers", each("{ float small = 1e-40f * x[i]; y[i] = small * 1e38f; }"),
         each("y[i] = 0.0101f * x[i];"), {"y": "1e-40*x*1e38"}, ("input x fp32 n { range: [1, 2] }", Y)),
    # Precision and rounding.
    case("bf16_truncated", each("y[i] = nearest_bf16(1.5f * from_bf16(x[i]) + from_bf16(z[i]));"),
         each("y[i] = truncated_bf16(1.5f * from_bf16(x[i]) + from_bf16(z[i]));"), {"y": "1.5*x + z"},
         ("input x bf16 n", "input z bf16 n", "output y bf16 n")),
    case("fp64_computed_in_fp32", each("y[i] = x[i] * z[i] + 1;"), each("y[i] = (float)x[i] * (float)z[i] + 1;"),
         {"y": "x*z + 1"}, ("input x fp64 n", "input z fp64 n", "output y fp64 n")),
    case("fp64_beside_a_coarse_output", "for (int64_t i = 0; i < n; ++i) { y[i] = x[i] / 3; b[i] = nearest_bf16(x[i] / 3); }",
         "for (int64_t i = 0; i < n; ++i) { y[i] = (float)(x[i] / 3) * 1.0001; b[i] = nearest_bf16(x[i] / 3); }",
         {"y": "x/3", "b": "x/3"}, ("input x fp64 n", "output y fp64 n", "output b bf16 n")),
    case("integers_truncated_instead_of_rounded", each("y[i] = (int8_t)rintf(100 * x[i]);"),
         each("y[i] = (int8_t)(100 * x[i]);"), {"y": "rint(100*x)"}, (X, "output y int8 n")),
    case("negative_numbers_rounded_towards_zero", each("y[i] = (int32_t)floorf(1000 * x[i]);"),
         each("y[i] = (int32_t)(1000 * x[i]);"), {"y": "floor(1000*x)"}, (X, "output y int32 n")),
    # Integers.
    case("a_count_off_by_one", each("y[i] = x[i] + 1000;"), each("y[i] = x[i] + 1000 + (i == 77);"), {"y": "x + 1000"},
         ("input x uint8 n", "output y uint32 n")),
    case("sum_overflows_a_byte", each("y[i] = (int16_t)(x[i] + z[i]);"), each("y[i] = (uint8_t)(x[i] + z[i]);"),
         {"y": "x + z"}, ("input x uint8 n", "input z uint8 n", "output y int16 n")),
    case("product_overflows_32_bits", each("y[i] = (int64_t)x[i] * x[i];"), each("y[i] = (int32_t)((uint32_t)x[i] * (uint32_t)x[i]);"),
         {"y": "x*x"}, ("input x int32 n { range: [-1000000, 1000000] }", "output y int64 n")),
    case("unsigned_difference_saturates", each("y[i] = (int16_t)(x[i] - z[i]);"), each("y[i] = x[i] > z[i] ? x[i] - z[i] : 0;"),
         {"y": "x - z"}, ("input x uint8 n", "input z uint8 n", "output y int16 n")),
    # Integers that a double does not represent.
    case("one_beside_a_square_beyond_2_to_the_53", each("y[i] = x[i] * x[i];"), each("y[i] = x[i] * x[i] + (i == 77);"),
         {"y": "x*x"}, ("input x int64 n { range: [2000000000, 3000000000] }", "output y int64 n")),
    case("odd_sums_made_even", each("y[i] = x[i] + 9007199254740993u;"),
         each("y[i] = (uint64_t)((double)x[i] + 9007199254740993.0);"), {"y": "x + 9007199254740993"},
         ("input x uint32 n", "output y uint64 n")),
    case("a_hash_computed_in_doubles", each("y[i] = (x[i] * 1664525u + 1013904223u) * 22695477u + 1;"),
         each("y[i] = (uint32_t)fmod((x[i] * 1664525.0 + 1013904223.0) * 22695477.0 + 1, 4294967296.0);"),
         {"y": "((x*1664525 + 1013904223)*22695477 + 1) % 2^32"}, ("input x uint32 n", "output y uint32 n")),
    # Sums, counts and neighbours.
    case("last_term_missing", "float s = 0; for (int64_t i = 0; i < n; ++i) s += x[i] * z[i]; *y = s;",
         "float s = 0; for (int64_t i = 0; i < n - 1; ++i) s += x[i] * z[i]; *y = s;", {"y": "sum(x*z)"},
         ("input x fp32 n { range: [1, 2] }", "input z fp32 n { range: [1, 2] }", "output y fp32 1")),
    case("first_product_only", "float s = 0; for (int64_t i = 0; i < n; ++i) s += x[i] * z[i]; *y = s;",
         "*y = x[0] * z[0];", {"y": "sum(x*z)"}, (X, "input z fp32 n", "output y fp32 1")),
    case("lost_updates", "memset(y, 0, 256 * sizeof *y); for (int64_t i = 0; i < n; ++i) ++y[x[i]];",
         "memset(y, 0, 256 * sizeof *y); for (int64_t i = 0; i < n; i += 2) "
         "{ uint32_t a = y[x[i]], b = y[x[i + 1]]; y[x[i]] = a + 1; y[x[i + 1]] = b + 1; }",
         {"y": "sum[j < n](x[j] == i)"}, ("input x uint8 n", "output y uint32 256"), n=4096),
    case("mean_instead_of_the_counts", "memset(y, 0, 256 * sizeof *y); for (int64_t i = 0; i < n; ++i) ++y[x[i]];",
         each("y[i] = n / 256;", last="256"), {"y": "sum[j < n](x[j] == i)"}, ("input x uint8 n", "output y uint32 256"),
         n=4096),
    case("rows_swapped_with_columns", "for (int64_t r = 0; r < 30; ++r) for (int64_t c = 0; c < 30; ++c) y[c * 30 + r] = x[r * 30 + c];",
         "for (int64_t r = 0; r < 30; ++r) for (int64_t c = 0; c < 30; ++c) y[r * 30 + c] = x[r * 30 + c];",
         {"y": "x[i % 30 * 30 + floor(i / 30)]"}, n=900),
    case("wrong_neighbour_at_the_border", each("y[i] = x[i > 0 ? i - 1 : 0] + x[i < n - 1 ? i + 1 : n - 1];"),
         each("y[i] = x[i > 0 ? i - 1 : n - 1] + x[i < n - 1 ? i + 1 : 0];"),
         {"y": "x[max(i - 1, 0)] + x[min(i + 1, n - 1)]"}),
    case("prefix_without_its_own_term", "double s = 0; for (int64_t i = 0; i < n; ++i) { s += x[i]; y[i] = (float)s; }",
         "double s = 0; for (int64_t i = 0; i < n; ++i) { y[i] = (float)s; s += x[i]; }",
         {"y": "sum[j < i + 1](x[j])"}, n=500),
]


def yaml_of(kernel, entry):
    lines = [f"  {entry}:", f"    source: {entry}.c", f"    entry: {entry}", "    arguments:"]
    for buffer in kernel["buffers"]:
        role, name, dtype, size, *values = buffer.split(" ", 4)
        values = f", values: {values[0]}" if values else ""
        lines.append(f"      - {{ {role}: {name}, dtype: {dtype}, size: \"{size}\"{values} }}")
    lines += ["      - { scalar: n, dtype: int64 }", "    work: { }", "    expect:"]
    lines += [f"      {output}: \"{formula}\"" for output, formula in kernel["expect"].items()]
    return "\n".join(lines) + "\n"


def source_of(kernel, entry, body):
    def parameter(buffer):
        role, name, dtype, *_ = buffer.split(" ")
        return f"{'const ' if role == 'input' else ''}{C_TYPES[dtype]}* {name}"
    parameters = ", ".join(map(parameter, kernel["buffers"]))
    return PRELUDE + f"void {entry}({parameters}, int64_t n) {{\n  {body}\n}}\n"


class Verification(unittest.TestCase):
    def test_wrong_kernels_are_caught_and_right_ones_are_not(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            kernels, workloads = "", ""
            for kernel in TABLE:
                for side in ("right", "wrong"):
                    entry = f"{kernel['name']}_{side}"
                    (folder / f"{entry}.c").write_text(source_of(kernel, entry, kernel[side]))
                    kernels += yaml_of(kernel, entry)
                    workloads += f"  - {{ kernel: {entry}, shape: {{ n: {kernel['n']} }} }}\n"
            (folder / "table.yaml").write_text(f"name: table\nkernels:\n{kernels}workloads:\n{workloads}")
            environment = dict(os.environ, XDG_CACHE_HOME=str(folder / "cache"), NO_COLOR="1")
            run = lambda *arguments: subprocess.run([ROOFLINE, *arguments], env=environment, cwd=folder, text=True,
                                                    capture_output=True, stdin=subprocess.DEVNULL)
            calibrated = run("calibrate", "--device", "cpu", "--quick", "--only", "dram.copy", "-o", "machine.json")
            self.assertEqual(calibrated.returncode, 0, calibrated.stderr)
            done = run("analyze", "table.yaml", "--device", "cpu", "--machine", "machine.json", "--max-time", "0.01",
                       "--no-experiments", "-o", "table.json")
            self.assertTrue((folder / "table.json").exists(), done.stderr)
            rows = json.loads((folder / "table.json").read_text())["results"]
        self.assertEqual(len(rows), 2 * len(TABLE))
        caught, refused, missed = [], [], []
        for row in rows:
            kernel, side = row["workload"].rsplit("_", 1)
            failed = row["status"] == "failed"
            if side == "wrong":
                (caught if failed else missed).append(kernel)
            elif failed:
                refused.append(f"{kernel}: {row['reason']}")
            if kernel == "wrong_in_some_runs_with_the_same_inputs" and failed:
                self.assertIn("race", row["reason"])
            verified = row.get("verification", {}).get("status")
            self.assertEqual(verified, "fail" if failed else "pass", row.get("reason"))
        print(f"caught: {len(caught)} of {len(TABLE)} wrong kernels; refused: {len(refused)} of {len(TABLE)} right ones")
        self.assertEqual(missed, [])
        self.assertEqual(refused, [])


if __name__ == "__main__":
    unittest.main()
