"""Sums of files that have one mean time per row: nvbench, Google Benchmark, TensorRT's layers, rocprofv3's kernel trace.

For public_files.py, without anything of the project's readers.
"""
import csv
import math

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}


def sums(times, moved=None, rounding=0.0):
    return {"copies": 0, "bytes": 0, "flops": None, "overlaps": 0, "kernels": len(times), "kernel_s": math.fsum(times),
            "work_bytes": moved, "rounding": rounding}


def of_nvbench(document):
    """A state is a launch with the mean of its cold GPU times; its bytes are its rate times that."""
    times, moved = [], 0
    for benchmark in document["benchmarks"]:
        for state in benchmark["states"]:
            values = {one["tag"]: float(one["data"][0]["value"]) for one in state.get("summaries") or []
                      if one.get("data") and one["data"][0]["name"] == "value" and one["data"][0]["type"] == "float64"}
            time = values.get("nv/cold/time/gpu/mean") or values.get("nv/batch/time/gpu/mean")
            if state.get("is_skipped") or not time:
                continue
            times.append(time)
            moved += values.get("nv/cold/bw/global/bytes_per_second", 0) * values.get("nv/cold/time/gpu/mean", 0)
    return sums(times, moved, 1e-9 * len(times))


def of_google_benchmark(document):
    """Repetitions, or aggregates where there are none; a time below a microsecond counts for a thousand iterations."""
    rows = [row for row in document["benchmarks"] if row.get("run_type", "iteration") == "iteration"
            and "real_time" in row and not row.get("error_occurred")]
    with_runs = {row.get("run_name", row["name"]) for row in rows}
    rows += [row for row in document["benchmarks"] if row.get("run_type") == "aggregate" and
             row.get("aggregate_name", "mean") == "mean"
             and row.get("run_name") not in with_runs]
    times = [row["real_time"] * SECONDS[row.get("time_unit", "ns")] for row in rows]
    return sums([time * 1000 if time < 1e-6 else time for time in times if time > 0], None, 1e-9 * len(times))


def of_layers(rows):
    """Layers of a TensorRT engine: one inference."""
    times = [row["averageMs"] * 1e-3 for row in rows if row.get("averageMs", 0) > 0]
    return sums(times, None, 1e-9 * len(times))


def of_kernel_trace(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return sums([1e-9 * (int(row["End_Timestamp"]) - int(row["Start_Timestamp"])) for row in rows])
