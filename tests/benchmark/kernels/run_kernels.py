#!/usr/bin/env python3
"""Profiles kernels with one planted fault at a known line, and their mended twins: does the verdict name cause and line?

    tests/benchmark/kernels/run_kernels.py ROOFLINE --planted PROGRAM ... [--output DIR] [--seconds 4] [--only NAME,...]
        [--machine FILE]
    tests/benchmark/kernels/run_kernels.py --score DIR
    tests/benchmark/kernels/run_kernels.py --savings DIR   the saving that was promised, and what mending brought

A PROGRAM is planted.cu, planted_more.cu, planted_third.cu or planted_fourth.cu, compiled: nvcc -O3 -std=c++17 -arch=sm_90a -lineinfo -o planted planted.cu; or
"python3 tests/benchmark/kernels/planted_triton.py" (and planted_third_triton.py, planted_fourth_triton.py).
Prints a Markdown table: cause and line of each fault, and what was said of the mended kernel. A cause is right if the
verdict's rule is one of those below; a line, if it is one that ends with "FAULT" in the kernel.
"""
import argparse
import json
import pathlib
import re
import shlex
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = ("planted.cu", "planted_more.cu", "planted_triton.py", "planted_third.cu", "planted_third_triton.py",
           "planted_fourth.cu", "planted_fourth_triton.py")
LATENCY = {"dependency-stalls", "result-waits", "immediate-constant-waits", "small-grid", "too-few-blocks"}
LOADS = {"uncoalesced-loads", "scattered-loads", "memory-stalls", "narrow-loads", "global-load-waits", "poor-memory", "latency"}
CAUSES = {
    "load_by_column": {"uncoalesced-loads", "scattered-loads"},
    "store_by_column": {"uncoalesced-stores", "scattered-stores"},
    "structs": {"uncoalesced-loads", "scattered-loads"},
    "gather": {"uncoalesced-loads", "scattered-loads"},
    "chase": LOADS | {"too-few-blocks", "small-grid"},
    "bytes": LOADS,
    "few_in_flight": LOADS | {"small-grid"},
    "local_array": {"local-memory-waits", "spills"},
    "spills": {"local-memory-waits", "spills"},
    "bank_conflicts": {"bank-conflicts", "shared-memory-waits"},
    "store_conflicts": {"bank-conflicts", "shared-memory-waits"},
    "late_warp": {"barrier-waits", "serial-section", "barrier-stalls"},
    "one_address": {"global-atomic-waits"},
    "shared_bins": {"shared-atomic-waits"},
    "fences": {"fence-waits"},
    "long_chain": {"dependency-stalls", "result-waits", "small-grid", "too-few-blocks"},
    "doubles": {"fp64-waits", "conversion-waits"},
    "division": {"division-waits"},
    "division64": {"division-waits"},
    "special": {"special-waits"},
    "divergence": {"divergence", "idle-lanes"},
    "constants": {"constant-waits"},
    "few_blocks": {"too-few-blocks", "small-grid"},
    "one_block_long": {"occupancy-uneven", "tail", "idle-sms"},
    "low_occupancy": {"occupancy-shared-memory"},
    "no_overlap": LOADS | {"barrier-waits", "serial-section", "barrier-stalls"},
    # planted_more.cu
    "colsum": {"uncoalesced-loads", "scattered-loads"},
    "flip": {"bank-conflicts", "shared-memory-waits"},
    "energy": {"uncoalesced-stores", "scattered-stores"},
    "bins": {"global-atomic-waits"},
    "buckets": {"local-memory-waits", "spills"},
    "outer": {"local-memory-waits", "spills"},
    "vignette": {"division-waits"},
    "relax": {"conversion-waits", "fp64-waits", "double-precision"},
    "returns": {"division-waits", "special-waits", "issue-limited"},
    "series": LATENCY,
    "rmsrow": {"barrier-waits", "serial-section", "barrier-stalls"},
    "segments": {"idle-sms", "tail", "occupancy-uneven"},
    "twokinds": {"divergence"},
    "fir": {"repeated-stores", "l2-reuse", "extra-l2-traffic"},
    # planted_triton.py
    "colmean": {"uncoalesced-loads", "scattered-loads"},
    "turn": {"uncoalesced-stores", "scattered-stores"},
    "sqnorm": {"global-atomic-waits"},
    "leaky": {"double-precision", "fp64-waits"},
    "axpb": {"short-blocks", "occupancy-uneven"},
    "softclip": {"too-few-blocks", "small-grid"},
    "falloff": {"division-waits"},
    "lookup": {"uncoalesced-loads", "scattered-loads"},
    "survive": {"special-waits", "issue-limited"},
    "project": {"fp32-products"},
    # planted_third.cu
    "csr_product": {"uncoalesced-loads", "scattered-loads"},
    "patches": {"uncoalesced-stores", "scattered-stores"},
    "cosine_tile": {"bank-conflicts", "shared-memory-waits"},
    "correlation": {"local-memory-waits", "spills"},
    "tariffs": {"divergence"},
    "compensated": LATENCY,
    "centroid_sums": {"global-atomic-waits", "atomic-queues"},
    "nearest15": {"local-memory-waits"},
    "rabin_karp": {"division-waits"},
    "qmatvec": {"narrow-loads"},
    "gravity": {"double-among-single", "double-precision", "fp64-waits", "conversion-waits"},
    "running_total": {"barrier-waits", "serial-section", "barrier-stalls"},
    "equalize": {"barrier-waits", "serial-section", "barrier-stalls"},
    "codebook": {"constant-waits"},
    # planted_third_triton.py; layernorm_rows and position_bias cost nothing on an H200
    "gram": {"fp32-products"},
    "half_product": LOADS | {"barrier-waits", "serial-section", "barrier-stalls"},
    "rowpeak": {"too-few-blocks", "small-grid"},
    "gamma_curve": {"division-waits", "special-waits", "issue-limited"},
    "recurrence": LOADS | {"small-grid", "too-few-blocks"},
    "wide_softmax": {"local-memory-waits", "spills"},
    # planted_fourth.cu
    "tone_map": {"constant-waits"},
    "spmv_csr": {"idle-sms"},
    "radial_profile": {"shared-atomic-waits"},
    "nbody_far": LATENCY,
    "heat3d": {"occupancy-shared-memory"},
    "sort16": {"local-memory-waits", "spills"},
    "hash_probe": LOADS | {"uncoalesced-loads", "scattered-loads"},
    "case_fold": {"narrow-loads"},
    "dequant_w8": {"division-waits"},
    "center_rows": {"barrier-waits", "serial-section", "barrier-stalls"},
    "mc_paths": {"fetch-waits", "fetch-stalls"},
    "frontier_push": {"global-atomic-waits"},
    "quant_rows": LOADS | {"small-grid"},
    "ray_strips": {"uneven-blocks", "tail"},
    # planted_fourth_triton.py
    "col_sums": {"uncoalesced-loads", "scattered-loads"},
    "softmax_rows": {"local-memory-waits", "spills"},
    "qk_scores": {"widened-products", "fp32-products"},
    "row_rms": {"barrier-waits", "serial-section", "barrier-stalls"},
    "embed_rows": {"short-blocks", "narrow-loads"},
    "fir16": {"several-passes"},
}
# Causes of the launch, which no line has.
WITHOUT_LINE = {"too-few-blocks", "small-grid", "occupancy-uneven", "tail", "idle-sms", "occupancy-shared-memory", "short-blocks",
                "uneven-blocks"}


def fault_lines():
    """Lines that end with "FAULT ...", by the kernel that they are in or name."""
    found = {}
    for source in SOURCES:
        kernel = None
        for number, line in enumerate((HERE / source).read_text().splitlines(), 1):
            begins = re.search(r"\b(\w+?)_(?:faulty|mended)\(", line) or re.match(r"__device__ float (many_values)\(", line)
            if begins:
                kernel = begins.group(1)
            fault = re.search(r"(?://|#) FAULT(?:: (\w+))?", line)
            if fault and fault.group(1):
                found.setdefault(fault.group(1), set()).add(number)
            elif fault and kernel:
                found.setdefault("spills" if kernel == "many_values" else kernel, set()).add(number)
    return found


NOTES = {"throttled", "from-cache", "ready-warps"}


def hottest(path):
    """The report, and its row with the most time."""
    report = json.loads(path.read_text())
    rows = [row for row in report["results"] if row.get("profiled")]
    return report, max(rows, key=lambda row: row["profiled"]["total_s"], default=None)


def verdict_of(path):
    """The rule, line and finding of the kernel with the most time."""
    row = hottest(path)[1]
    causes = [one for one in (row.get("diagnosis") or [] if row else []) if one["rule"] not in NOTES]
    return (causes[0]["rule"], causes[0].get("line"), causes[0]["finding"]) if causes else (None, None, "no verdict")


def score(folder):
    lines, right, clean, total = fault_lines(), 0, 0, 0
    print("| kernel | cause | line | faulty: verdict | mended: verdict |\n|---|---|---|---|---|")
    for name, causes in CAUSES.items():
        faulty, mended = folder / f"{name}.faulty.json", folder / f"{name}.mended.json"
        if not faulty.exists():
            continue
        total += 1
        rule, line, text = verdict_of(faulty)
        cause_right = rule in causes
        number = int(line.rsplit(":", 1)[1]) if line else None
        line_right = number in lines.get(name, set()) or (rule in WITHOUT_LINE and cause_right)
        right += cause_right and line_right
        said = "–"
        if mended.exists():
            mended_rule, _, _ = verdict_of(mended)
            said = mended_rule or "–"
            clean += mended_rule not in causes
        print(f"| {name} | {'right' if cause_right else 'wrong'} | {'right' if line_right else f'wrong ({line})'} "
              f"| {rule}: {text[:150]} | {said} |")
    print(f"\n{right} of {total} causes and lines right; {clean} mended kernels without the fault's cause.")


def savings(folder):
    print("| kernel | launch, us | mended, us | saving promised, % | achieved, % |\n|---|--:|--:|--:|--:|")
    errors = []
    for name in CAUSES:
        paths = [folder / f"{name}.{kind}.json" for kind in ("faulty", "mended")]
        if not all(path.exists() for path in paths):
            continue
        (report, faulty), (_, mended) = (hottest(path) for path in paths)
        if faulty is None or mended is None:
            continue
        durations = [row["profiled"]["total_s"] / row["profiled"]["launches"] for row in (faulty, mended)]
        promised = next((win for win in report["profile"]["wins"] if win["cause"] == "kernel"), None)
        steady = faulty["profiled"].get("step", {}).get("seconds", 0) * report["profile"]["steps"]["count"]
        if promised is None or not steady:
            continue
        predicted, achieved = min(promised["seconds"] / steady, 1), 1 - durations[1] / durations[0]
        errors.append(abs(predicted - achieved))
        print(f"| {name} | {1e6 * durations[0]:.1f} | {1e6 * durations[1]:.1f} | {100 * predicted:.0f} | {100 * achieved:.0f} |")
    if errors:
        print(f"\nMedian difference of {len(errors)} pairs: {100 * statistics.median(errors):.0f} points.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roofline", nargs="?")
    parser.add_argument("--planted", action="append", default=[])
    parser.add_argument("--output", default="planted-kernels")
    parser.add_argument("--seconds", default="4")
    parser.add_argument("--only", default="")
    parser.add_argument("--machine")
    parser.add_argument("--score")
    parser.add_argument("--savings")
    options = parser.parse_args()
    if options.savings:
        savings(pathlib.Path(options.savings))
        return
    if options.score:
        score(pathlib.Path(options.score))
        return
    folder = pathlib.Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    programs = {}
    for program in map(shlex.split, options.planted):
        listed = subprocess.run([*program, "--list"], capture_output=True, text=True, check=True).stdout.split()
        programs.update({name: program for name in listed})
    names = options.only.split(",") if options.only else list(programs)
    for kind in ("faulty", "mended"):
        for name in names:
            command = [options.roofline, "profile", "--keep", str(folder / f"{name}.{kind}"), "-o", str(folder / f"{name}.{kind}.json")]
            if options.machine:
                command += ["--machine", options.machine]
            done = subprocess.run(command + ["--", *programs[name], name, kind, options.seconds], capture_output=True, text=True)
            (folder / f"{name}.{kind}.txt").write_text(done.stdout + done.stderr)
            print(f"{name} {kind}: exit {done.returncode}", file=sys.stderr)
    score(folder)


if __name__ == "__main__":
    main()
