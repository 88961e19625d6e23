#!/usr/bin/env python3
"""Holds imports of profiles that others have published against sums which this script takes from the files itself.

    public_files.py ROOFLINE FOLDER-OR-FILE...

Prints one line per file (ok, WRONG with expected and imported figures, or - for what is no profile) and exits with 1 if
one is wrong. Reads chrome traces of PyTorch (.json, .json.gz), SQLite exports of nsys, CSV of ncu and of nsys stats,
reports of ncu, JSON, CSV and databases of rocprofv3 and rocprof, pmc_perf.csv and roofline.csv of rocprof-compute, likwid-perfctr -O,
roofline.json of ERT, xplane.pb, JSON of nvbench and Google Benchmark, layers of TensorRT, trees of Proton.
Compared are the kernels' number and time, the copies' number and bytes, the FLOPs of matrix products, which the
innermost operator around a kernel's launching call decides, FLOPs and bytes of counters, and roofs.
docs/evidence/public-files.md has the results.
"""
import bisect
import collections
import csv
import gzip
import json
import math
import os
import pathlib
import sqlite3
import struct
import subprocess
import sys
import tempfile

import amd_files
import mean_files
import ncu_reports

OPERANDS = {"aten::mm": (0, 1), "aten::bmm": (0, 1), "aten::addmm": (1, 2), "aten::baddbmm": (1, 2)}
CALLS = {"cuda_runtime", "cuda_driver", "runtime", "hip_runtime", "xpu_runtime"}
SECONDS = {"ns": 1e-9, "nsecond": 1e-9, "us": 1e-6, "usecond": 1e-6, "ms": 1e-3, "msecond": 1e-3, "s": 1, "second": 1}
NOTHING = {"copies": 0, "bytes": 0, "flops": None, "overlaps": 0}


def number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def events_of(path):
    data = path.read_bytes()
    document = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    return document["traceEvents"] if isinstance(document, dict) else document


def product_flops(op):
    dims = (op.get("args") or {}).get("Input Dims") or []
    a, b = (dims[i] if i < len(dims) else [] for i in OPERANDS[op["name"]])
    return 2.0 * math.prod(a) * b[-1] if len(a) > 1 and len(b) > 1 else 0


def overlaps_of(streams, rounding=0):
    """Records that begin before the one ahead of them on their stream has ended."""
    return sum(b[0] < a[1] - rounding for spans in map(sorted, streams) for a, b in zip(spans, spans[1:]))


class Operators:
    """Those of each thread, by their begin."""

    def __init__(self):
        self.of_thread = collections.defaultdict(list)

    def add(self, event):
        self.of_thread[event.get("pid"), event.get("tid")].append(event)

    def sort(self):
        for ops in self.of_thread.values():
            ops.sort(key=lambda op: (number(op["ts"]), -number(op.get("dur", 0))))

    def around(self, call):
        """The innermost one: operators nest, so it is the last that has begun and not ended."""
        ops = self.of_thread[call.get("pid"), call.get("tid")]
        time = number(call["ts"])
        for op in reversed(ops[:bisect.bisect_right(ops, time, key=lambda op: number(op["ts"]))]):
            if number(op["ts"]) + number(op.get("dur", 0)) >= time:
                return op
        return None


def of_trace(path):
    kernels, copies, sets, calls, ops = [], [], [], {}, Operators()
    kinds = {"kernel": kernels, "gpu_memcpy": copies, "memcpy": copies, "gpu_memset": sets, "memset": sets}
    for event in events_of(path):
        if not isinstance(event, dict) or event.get("ph") != "X" or not math.isfinite(number(event.get("ts"))):
            continue
        category, args = str(event.get("cat", "")).lower(), event.get("args") or {}
        times = number(event["ts"]), number(event.get("dur"))
        if category in kinds and min(times) >= 0 and max(times) > 0:
            kinds[category].append(event)
        if category in CALLS and "correlation" in args:
            calls[args["correlation"]] = event
        if category in ("cpu_op", "operator"):
            ops.add(event)
    ops.sort()
    streams = collections.defaultdict(list)
    for one in kernels + copies + sets:
        args = one.get("args") or {}
        start = number(one["ts"])
        streams[args.get("device"), args.get("stream")].append((start, start + number(one["dur"])))
    launching = (calls.get((kernel.get("args") or {}).get("correlation")) for kernel in kernels)
    products = {id(op): op for op in (ops.around(call) for call in launching if call) if op and op["name"] in OPERANDS}
    return {"names": len({kernel["name"] for kernel in kernels}), "kernels": len(kernels),
            "kernel_s": sum(number(kernel["dur"]) for kernel in kernels) * 1e-6,
            "copies": len(copies), "bytes": sum(number((copy.get("args") or {}).get("bytes", 0)) for copy in copies),
            "flops": sum(map(product_flops, products.values())), "overlaps": overlaps_of(streams.values(), 0.0015)}


def of_sqlite(path):
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    tables = {row[0] for row in base.execute("select name from sqlite_master")}

    def sums(table, column):
        if table not in tables:
            return 0, 0
        return base.execute(f"select count(*), coalesce(sum({column}), 0) from {table} where end > 0").fetchone()

    kernels, copies = (sums("CUPTI_ACTIVITY_KIND_KERNEL", "end - start"), sums("CUPTI_ACTIVITY_KIND_MEMCPY", "bytes"))
    streams = collections.defaultdict(list)
    for kind in ("KERNEL", "MEMCPY", "MEMSET"):
        if (table := "CUPTI_ACTIVITY_KIND_" + kind) in tables:
            for device, stream, *span in base.execute(
                    f"select deviceId, streamId, start, end from {table} where end > 0"):
                streams[device, stream].append(tuple(span))
    return {**NOTHING, "kernels": kernels[0], "kernel_s": kernels[1] * 1e-9, "copies": copies[0], "bytes": copies[1],
            "overlaps": overlaps_of(streams.values())}


def of_ert(document):
    # Of several rates of a type, such as those without FMA, the highest is the roof.
    highest = collections.defaultdict(float)
    for name, rate in document["empirical"]["gflops"]["data"]:
        highest[name.split()[0]] = max(highest[name.split()[0]], rate)
    rates = [rate for _, rate in document["empirical"]["gbytes"]["data"]] + list(highest.values())
    return {**NOTHING, "kernels": 0, "kernel_s": 0, "roofs": sorted(rate * 1e9 for rate in rates)}


def of_roofs(path):
    with open(path, newline="", encoding="utf-8") as file:
        row = next(csv.DictReader(file))
    names = [name for name in row if name.lower().endswith(("bw", "flops", "ops")) and name not in ("MALLBw", "FP8Flops", "I8Ops", "I32Ops", "I64Ops")]
    table = path.with_name("pmc_perf.csv")  # any file of a folder stands for all of it
    rest = of_csv(table) if table.exists() else {**NOTHING, "kernels": 0, "kernel_s": 0}
    return {**rest, "roofs": sorted(float(row[name]) * 1e9 for name in names if float(row[name]) > 0)}


def wire(message):
    """The fields of a protocol buffer's message, as lists by number."""
    at, fields = 0, collections.defaultdict(list)

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte, at, shift = message[at], at + 1, shift + 7
            value |= (byte & 127) << (shift - 7)
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            fields[key >> 3].append(varint())
        else:
            size = {1: 8, 5: 4}.get(key & 7) or varint()
            fields[key >> 3].append(message[at:at + size])
            at += size
    return fields


def of_xplane(path):
    kernels, copies, streams = 0, [], collections.defaultdict(list)
    time = 0
    for plane in map(wire, wire(path.read_bytes())[1]):
        name = plane[2][0].decode()
        if "/device:GPU:" not in name:
            continue
        texts = {}
        for entry in map(wire, plane[5]):
            texts[entry[1][0] if entry[1] else 0] = wire(entry[2][0])[2][0].decode() if wire(entry[2][0])[2] else ""
        for line in map(wire, plane[3]):
            if not line[2] or b"Stream #" not in line[2][0]:
                continue
            for event in map(wire, line[4]):
                details = {texts[value[1][0]]: texts.get(value[7][0], "") if value[7] else value[5][:1]
                           for value in map(wire, event[4])}
                start, duration = (event[i][0] if event[i] else 0 for i in (2, 3))
                streams[name, line[2][0]].append((start // 1000, (start + duration) // 1000))
                if "memcpy_details" in details:
                    copies.append(int(details["memcpy_details"].split("size:")[1].split()[0]))
                else:
                    kernels, time = kernels + 1, time + duration * 1e-12
    return {**NOTHING, "kernels": kernels, "kernel_s": time, "copies": len(copies), "bytes": sum(copies),
            "overlaps": overlaps_of(streams.values())}


def of_json(path):
    data = path.read_bytes()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    if b'"rocprofiler-sdk-tool"' in data[:4096]:
        return {**NOTHING, **amd_files.of_rocprof_json(json.loads(data), overlaps_of)}
    if b'"benchmarks"' in data:
        document = json.loads(data)
        return mean_files.of_nvbench(document) if "devices" in document else mean_files.of_google_benchmark(document)
    if b'"frame"' in data and b'"children"' in data and b'"traceEvents"' not in data:
        return mean_files.of_proton_tree(json.loads(data))
    if b'"averageMs"' in data:
        return mean_files.of_layers(json.loads(data))
    return of_ert(json.loads(data)) if b'"empirical"' in data[:4096] else of_trace(path)


def of_csv(path):
    if b"STRUCT,Info," in path.read_bytes():
        return mean_files.of_likwid(path)
    if path.name == "roofline.csv":
        return of_roofs(path)
    header = path.read_bytes()[:4096].split(b"\n")[0]
    if path.name == "pmc_perf.csv":
        with open(path, newline="", encoding="utf-8") as file:
            return {**NOTHING, **amd_files.of_counters(list(csv.DictReader(file)))}
    if b"Start_Timestamp" in header or b"BeginNs" in header:
        return {**NOTHING, **amd_files.of_table(path)}
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(line for line in file if not line.startswith("==")) if row]
    # What the program printed is before the table, where standard output was redirected.
    rows = rows[next((i for i, row in enumerate(rows) if {"ID", "Total Time (ns)"} & set(row)), 0):]
    head = rows[0]
    if "Total Time (ns)" in head:
        time, count = head.index("Total Time (ns)"), head.index("Instances")
        return {**NOTHING, "kernels": sum(int(row[count]) for row in rows[1:]),
                "kernel_s": sum(float(row[time]) for row in rows[1:]) * 1e-9}
    launches, times, first = set(), {}, head.index("ID")
    if "Metric Name" in head:
        name, unit, value = (head.index(column) for column in ("Metric Name", "Metric Unit", "Metric Value"))
        cells = [(row[first], row[unit], row[value], row[name]) for row in rows[1:]]
    else:
        at = head.index("gpu__time_duration.sum")
        cells = [(row[first], rows[1][at], row[at], head[at]) for row in rows[2:]]
    for launch, unit, value, name in cells:
        launches.add(launch)
        if name in ("Duration", "gpu__time_duration.sum"):
            times[launch] = float(value.replace(",", "")) * SECONDS[unit]
    return {**NOTHING, "kernels": len(launches), "kernel_s": sum(times.values())}


def moved_bytes(level):
    return level["read"] + level["write"] if isinstance(level, dict) else level


def imported(roofline, path):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "report.json"
        done = subprocess.run([roofline, "import", str(path), "--format", "json", "-o", str(out)], capture_output=True,
                              text=True, timeout=300, env=dict(os.environ, XDG_CACHE_HOME=folder))
        if not out.exists():
            return done.stderr.strip().splitlines()[:1]
        report = json.loads(out.read_text())
    rows, profile = report["results"], report["profile"]
    copies = [copy for copy in profile["copies"] if copy["direction"] != "memset"]
    work = [(row["profiled"]["launches"], row.get("work") or {}) for row in rows]
    products = [row for row in rows if (row["profiled"].get("operation") or "").split("(")[0] in OPERANDS]
    return {"names": len({row["profiled"]["full_name"] for row in rows}),
            "kernels": sum(row["profiled"]["launches"] for row in rows), "kernel_s": profile["kernel_s"],
            "copies": sum(copy["copies"] for copy in copies), "bytes": sum(copy.get("bytes", 0) for copy in copies),
            "flops": sum(sum(row["work"]["flops"].values()) * row["profiled"]["launches"] for row in products),
            "work_flops": sum(count * sum(one.get("flops", {}).values()) for count, one in work),
            "work_bytes": sum(count * sum(moved_bytes(level) for name, level in one.get("bytes", {}).items()
                                          if name in ("hbm", "dram")) for count, one in work),
            "roofs": sorted(roof["value"] for roof in report["machine"]["ceilings"]),
            "above": [row["label"] for row in rows if (row.get("fraction_of_roof") or 0) > 1.05]}


def wrong_figures(expected, got):
    wrong = []
    for key in ("names", "kernels", "copies", "bytes", "kernel_s", "flops", "work_flops", "work_bytes"):
        tolerance = expected.get("tolerance", 1e-6) if key.startswith("work_") else 1e-6
        if expected.get(key) is None or math.isclose(expected[key], got[key], rel_tol=tolerance, abs_tol=1e-15):
            continue
        if key == "kernel_s" and abs(expected[key] - got[key]) < expected.get("rounding", 0):
            continue
        # Records that overlap on a stream are cut at the next one's begin.
        if key == "kernel_s" and expected["overlaps"] and got[key] < expected[key]:
            continue
        wrong.append(f"{key}: {expected[key]} in the file, {got[key]} imported")
    roofs = expected.get("roofs")
    if roofs is not None and not (len(roofs) == len(got["roofs"]) and
                                  all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(roofs, got["roofs"]))):
        wrong.append(f"roofs: {roofs} in the file, {got['roofs']} imported")
    return wrong


def of_ncu_report(path):
    return {**NOTHING, **ncu_reports.sums_of(ncu_reports.launches_in(path.read_bytes(), wire))}


READERS = {".sqlite": of_sqlite, ".csv": of_csv, ".log": of_csv, ".json": of_json, ".gz": of_json, ".pb": of_xplane,
           ".profile": of_json, ".hatchet": of_json, ".ncu-rep": of_ncu_report,
           ".db": lambda path: {**NOTHING, **amd_files.of_rocpd(path)}}
NOT_READ = (ValueError, KeyError, IndexError, TypeError, AttributeError, sqlite3.Error, struct.error)


def main():
    roofline = sys.argv[1]
    files = [path for given in map(pathlib.Path, sys.argv[2:]) for path in (given.rglob("*") if given.is_dir() else [given])]
    count = collections.Counter()
    for path in sorted(path for path in files if path.suffix in READERS):
        got = imported(roofline, path)
        try:
            expected = READERS[path.suffix](path)
        except NOT_READ as error:
            expected = error
        if isinstance(got, list) or isinstance(expected, Exception):
            word, text = "-", got if isinstance(got, list) else f"not read by this script: {expected!r:.80}"
        else:
            text = wrong_figures(expected, got)
            word = "WRONG" if text else "ok"
            text = [*text, *(f"above its roof: {label}" for label in got["above"][:3])] or \
                f"{expected['kernels']} kernels, {expected['copies']} copies, {expected['overlaps']} overlaps"
        count[word] += 1
        print(word, path, text, flush=True)
    print(", ".join(f"{number} {word}" for word, number in count.items()))
    return 1 if count["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
