"""Sums of files that have one mean time per row: nvbench, Google Benchmark, TensorRT's layers, Proton's trees, likwid.

For public_files.py, without anything of the project's readers.
"""
import collections
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
    # No code takes less than a picosecond: the compiler has removed what was to be timed.
    return sums([time * 1000 if time < 1e-6 else time for time in times if time > 1e-12], None, 1e-9 * len(times))


def of_layers(rows):
    """Layers of a TensorRT engine: one inference."""
    times = [row["averageMs"] * 1e-3 for row in rows if row.get("averageMs", 0) > 0]
    return sums(times, None, 1e-9 * len(times))


def of_proton_tree(document):
    """A kernel is a node with a time and no such child; a scope around one kernel states its work too. What computes an
    author's figures is not of the program."""
    kernels, flops, moved = [], 0, 0

    def metrics(node):
        return {name.lower(): value for name, value in node.get("metrics", {}).items()}

    def visit(node, around):
        nonlocal flops, moved
        if node.get("frame", {}).get("name", "").startswith("__proton_launch_metadata"):
            return
        own, children = metrics(node), node.get("children", [])
        timed = [child for child in children if metrics(child).get("time (ns)", 0) > 0]
        if own.get("time (ns)", 0) > 0 and not timed:
            kernels.append((own["time (ns)"], max(1, own.get("count", 1))))
            stated = own if any(key.startswith("flops") or key == "bytes" for key in own) else around
            flops += sum(value for key, value in stated.items() if key.startswith("flops"))
            moved += stated.get("bytes", 0)
        for child in children:
            visit(child, own if timed == [child] else {})

    for node in document:
        if "frame" in node:
            visit(node, {})
    return {**sums([time * 1e-9 for time, _ in kernels], moved), "kernels": sum(count for _, count in kernels),
            "work_flops": flops, "rounding": 1e-9 * len(kernels)}


def of_likwid(path):
    """FLOPs are the counted events, or each thread's rate times its run time; a region takes as long as its slowest
    thread. A rate and a time have a few digits only, which the tolerance is for."""
    regions, calls, at, run = {}, collections.defaultdict(lambda: 1), None, 0
    times, events = collections.defaultdict(dict), collections.defaultdict(float)
    wide = {"SCALAR": 1, "128B": 2, "256B": 4, "512B": 8}
    for fields in csv.reader(path.read_text().splitlines()):
        if fields[:1] == ["STRUCT"]:
            at, run = None, run + (fields[1] == "Info")
        elif fields[:1] == ["TABLE"]:
            marked = fields[1].startswith("Region ")
            at = (run, fields[1], fields[3]) if marked else (run, "program", fields[2])
            metric = "Metric" in fields[2 if marked else 1] and "STAT" not in fields[2 if marked else 1]
        elif at and fields[0] in ("RDTSC Runtime [s]", "Runtime (RDTSC) [s]") and fields[1:] and "STAT" not in fields[0]:
            digits = len(fields[1].split("e")[0].lstrip("0.").replace(".", ""))
            times[at].setdefault(digits, [float(field) for field in fields[1:] if field not in ("", "-", "nan")])
            if fields[0].startswith("Runtime") and metric:
                regions.setdefault(at, {})[fields[0]] = times[at][digits]
        elif at and not metric and fields[0].startswith("FP_ARITH_INST_RETIRED") and "DOUBLE" in fields[0]:
            lanes = next(lanes for name, lanes in wide.items() if name in fields[0])
            events[at] += lanes * sum(float(field) for field in fields[2:] if field not in ("", "-", "nan"))
        elif at and fields[:1] == ["call count"]:
            calls[at] = max(int(field) for field in fields[1:] if field)
        elif at and metric and len(fields) > 1 and fields[0] != "Metric":
            regions.setdefault(at, {})[fields[0]] = [float(field) for field in fields[1:] if field not in ("", "-", "nan")]

    def per_thread(region, names, scale):
        return sum(scale * rate * time for name in names
                   for rate, time in zip(region.get(name, []), region["Runtime (RDTSC) [s]"]))

    finest = [max(times[at][max(times[at])]) for at in regions]
    rates = ("DP MFLOP/s", "DP [MFLOP/s]", "SP MFLOP/s", "SP [MFLOP/s]")
    has_rates = [at for at, region in regions.items() if any(name in region for name in rates)]
    return {**sums(finest, sum(1e9 * sum(region.get("Memory data volume [GBytes]", [])) for region in regions.values())),
            "kernels": sum(calls[at] for at in regions), "rounding": 1e-9 * len(regions),
            "work_flops": sum(events[at] or per_thread(regions[at], rates, 1e6) for at in has_rates), "tolerance": 1e-3}
