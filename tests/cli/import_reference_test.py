#!/usr/bin/env python3
"""Differential test of `roofline import`: random traces, and what import_reference.py says of them.

usage: import_reference_test.py PATH_OF_ROOFLINE [unittest arguments]

ROOFLINE_SEED=N draws another trace per test instead of the fixed ones. ROOFLINE_SHRINK=FOLDER reduces the file of each
failure to the records that it needs, and keeps it there.
"""
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from import_reference import Trace, expected, length
from import_traces import FLAWS, SECOND, Draw, write_kineto, write_nsys

ROOFLINE = os.path.abspath(sys.argv.pop(1))
SEEDS = [int(os.environ["ROOFLINE_SEED"])] if "ROOFLINE_SEED" in os.environ else [1, 2, 3, 4]


# Reports


def nanoseconds(seconds):
    return round(seconds * 1e9)


def row_facts(report):
    rows = {}
    for result in report["results"]:
        kind, work = result["profiled"], result["work"]
        key = kind["full_name"], kind.get("operation", "").split("(")[0], kind.get("range", "")
        row = rows.setdefault(key, dict.fromkeys(["launches", "ns", "flops", "bytes"], 0))
        row["launches"] += kind["launches"]
        row["ns"] += nanoseconds(kind["total_s"])
        row["flops"] += kind["launches"] * sum(work["flops"].values())
        row["bytes"] += kind["launches"] * sum(work["bytes"].values())
    return rows


def range_facts(nodes):
    paths, facts = [], {}
    for node in nodes:
        paths.append((paths[node["parent"]] + "/" if "parent" in node else "") + node["name"])
        facts[paths[-1]] = {"launches": node["launches"], "ns": nanoseconds(node["total_s"]),
                            "wall_ns": nanoseconds(node["wall_s"])}
    return facts


def sum_facts(sums, name, counted):
    return {of[name]: {"count": of[counted], "ns": nanoseconds(of["total_s"]),
                       **({"bytes": of["bytes"]} if "bytes" in of else {})} for of in sums}


IDLE = ("idle_launching", "idle_waiting", "idle_elsewhere", "idle_unknown")


def bar_facts(device):
    parts = ["wall", "before", "kernels", "copies", *IDLE, "after"]
    return {part: nanoseconds(device.get(part + "_s", 0)) for part in parts}


def with_one_idle_part(bar):
    return {**{part: time for part, time in bar.items() if part not in IDLE},
            "idle": sum(bar.get(part, 0) for part in IDLE)}


def differences(facts, report, output="", exact=True):
    """Where a report and the reference differ. Inexact where a file does not tell which process a record is of: no
    rows, and idle time without its parts."""
    found = []

    def compare(what, wanted, got):
        if wanted != got:
            found.append(f"{what}: {got}, not {wanted}")

    def compare_all(what, wanted, got):
        for key in sorted({*wanted, *got}, key=str):
            left, right = wanted.get(key), got.get(key)
            for member in sorted({*(left or {}), *(right or {})}):
                compare(f"{what} {key} {member}", (left or {}).get(member, 0), (right or {}).get(member, 0))

    profile = report["profile"]
    bars = [bar_facts(device) for device in profile["devices"]]
    compare("wall time", facts["wall"], nanoseconds(profile["wall_s"]))
    compare("number of devices", len(facts["devices"]), len(bars))
    for i, (wanted, got) in enumerate(zip(facts["devices"], bars)):
        if not exact:
            wanted, got = with_one_idle_part(wanted), with_one_idle_part(got)
        compare_all("bar of device", {i: wanted}, {i: got})
        compare(f"sum of the bar of device {i}", got["wall"], sum(got.values()) - got["wall"])
    compare_all("calls", facts["calls"], sum_facts(profile["calls"], "name", "calls"))
    left_out = sum(process["without_time"] for process in profile["processes"])
    if not facts["left_out_kernels"] <= left_out <= facts["left_out"]:
        compare("records left out", facts["left_out"], left_out)
    rows, ranges = row_facts(report), range_facts(profile["ranges"])
    copies = sum_facts(profile["copies"], "direction", "copies")
    if facts["left_out"]:  # how a launch without a time is attributed is not a matter of this reference
        rows, of_reference = ({key: {"ns": row["ns"]} for key, row in table.items()} for table in (rows, facts["rows"]))
    else:
        of_reference = facts["rows"]
    if exact:
        compare_all("row", of_reference, rows)
        compare_all("range", facts["ranges"], ranges)
        compare_all("copies", facts["copies"], copies)
    busy = sum(length(spans) for _, _, spans in facts["streams"])
    total = sum(row["ns"] for row in (*rows.values(), *copies.values()))
    if total > busy + 1000 * sum(row.get("launches", 1) for row in rows.values()):
        found.append(f"rows and copies take {total} ns on streams that are busy for {busy} ns")
    compare_streams(facts, profile.get("timeline"), compare, exact)
    walls = sum(bar["wall"] for bar in bars)
    for saving in profile["wins"]:
        if nanoseconds(saving["seconds"]) > walls:
            found.append(f"saving {saving['cause']} of {saving['seconds']} s in {walls} ns")
    if sum(nanoseconds(saving["seconds"]) for saving in profile["wins"]) > walls:
        found.append(f"savings of more than {walls} ns")
    shares = shares_of_roofs(report)
    for line in output.splitlines():
        if any(float(share) > 100 and float(share) not in shares for share in re.findall(r"([\d.]+) %", line)):
            found.append("above 100 %: " + line.strip())
    return found


def shares_of_roofs(report):
    """In per cent: up to 105 need no reason; above that, those of rows and copies that have one."""
    shares = lambda of: [one.get("fraction_of_roof") or 0 for one in of]
    rows, copies = shares(report["results"]), shares(report["profile"]["copies"])
    rows_explained = any(" 0 of unknown cause" in note for note in report["notes"])
    copies_explained = any("above its roof" in saving.get("evidence", "") for saving in report["profile"]["wins"])
    rows = [share for share in rows if rows_explained or share < 1.05]
    copies = [share for share in copies if copies_explained or share < 1.05]
    return {105.0, *(round(100 * share, 1) for share in rows + copies)}


def compare_streams(facts, timeline, compare, exact):
    """The lanes of streams in the timeline, which shows a part of the recording."""
    if timeline is None:
        return compare("streams", facts["streams"], [])
    start = nanoseconds(timeline["start_s"])
    end = start + nanoseconds(timeline["length_s"])
    wanted = []
    for device, stream, spans in facts["streams"]:
        within = length((max(a, start), min(b, end)) for a, b in spans)
        if within:
            wanted.append((f"GPU {device}, stream {stream}", within))
    got = [(lane["name"].split(", process")[0],
            length((nanoseconds(part["start_s"]), nanoseconds(part["end_s"])) for part in lane["slices"]))
           for lane in timeline["lanes"] if lane["kind"] == "stream"]
    compare("streams", sorted(wanted), sorted(got))


# Tests


class ImportCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def report(self, files):
        done = subprocess.run([ROOFLINE, "import", *files, "--format", "json", "-o", self.folder / "out.json"],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            return None, f"exit {done.returncode}: {done.stderr}"
        return json.loads((self.folder / "out.json").read_text()), done.stdout

    def found(self, traces, files, write, exact=True):
        for trace, file in zip(traces, files):
            file.parent.mkdir(exist_ok=True)
            write(file, trace)
        report, output = self.report(files)
        if report is None and not any(not of.direction or not of.flaw for trace in traces for of in trace.gpu):
            left_out = any(trace.gpu for trace in traces)
            return [] if "no GPU activity" in output and ("left out" in output) == left_out else [output]
        return [output] if report is None else differences(expected(traces), report, output, exact)

    def check(self, seed, traces, names, write, exact=True):
        files = [self.folder / name for name in names]
        with self.subTest(seed=seed):
            found = self.found(traces, files, write, exact)
            if found and "ROOFLINE_SHRINK" in os.environ:
                found = self.shrunk(traces, files, write, exact)
            self.assertEqual(found, [], f"seed {seed}\n" + "\n".join(found))

    def shrunk(self, traces, files, write, exact):
        """Leaves out records while there is a difference, but not the last kernel; keeps the files."""
        smaller = True
        while smaller:
            smaller = False
            for records in (records for trace in traces for records in trace.lists()):
                for i in reversed(range(len(records))):
                    record = records.pop(i)
                    kernels = all(any(not of.direction and not of.flaw for of in trace.gpu) for trace in traces)
                    if kernels and self.found(traces, files, write, exact):
                        smaller = True
                    else:
                        records.insert(i, record)
        found = self.found(traces, files, write, exact)
        kept = pathlib.Path(os.environ["ROOFLINE_SHRINK"]) / self.id().split(".")[-1]
        shutil.copytree(self.folder, kept, dirs_exist_ok=True)
        return found

    def kineto(self, name="trace.json", *, old=False, exact=True, **options):
        for seed in SEEDS:
            self.check(seed, [Draw(seed, **options).trace], [name],
                       lambda path, trace, seed=seed: write_kineto(path, trace, seed, old), exact)

    def nsys(self, exact=True, **options):
        for seed in SEEDS:
            trace = without_operators(Draw(seed, operators=False, ids="none", **options).trace)
            self.check(seed, [trace], ["step.sqlite"], lambda path, trace, seed=seed: write_nsys(path, trace, seed),
                       exact)


def without_operators(trace):
    trace.operators.clear()
    return trace


def merged(*traces):
    return Trace(*(sum(lists, []) for lists in zip(*(trace.lists() for trace in traces))))


class Kineto(ImportCase):
    def test_operators_threads_gpus_and_graphs(self):
        self.kineto()

    def test_gzip(self):
        self.kineto("trace.json.gz")

    def test_one_kernel_name_for_several_types_and_strides(self):
        self.kineto(one_name=True)

    def test_no_external_ids(self):
        self.kineto(ids="none")

    def test_external_ids_are_correlations(self):
        self.kineto(ids="correlation")

    def test_old_categories(self):
        self.kineto(old=True)

    def test_whole_microseconds_since_1970(self):
        self.kineto(unit=1000, begin=1_600_000_000_000_000_000)

    def test_large_times(self):
        self.kineto(unit=1000, begin=5_909_826_474_836_000)

    def test_records_without_times(self):
        self.kineto(flaws=FLAWS)

    def test_times_that_are_no_numbers(self):
        self.kineto(flaws=["nan"])

    def test_overlap_on_a_stream(self):
        self.kineto(overlap=True)

    def test_copies_within_a_device(self):
        self.kineto(within_device=True)

    def test_one_range_on_several_threads(self):
        self.kineto(steps=["step"] * 3)

    def test_repeated_steps_on_two_gpus(self):
        self.kineto(repeats=8, gpus=[0, 1])

    def ranks(self, names):
        for seed in SEEDS:
            traces = [Draw(seed, process=50, gpus=[0]).trace, Draw(seed + 1, gpus=[0], **SECOND).trace]
            self.check(seed, traces, names, lambda path, trace, seed=seed: write_kineto(path, trace, seed))

    def test_files_of_two_ranks(self):
        self.ranks(["rank0.json", "rank1.json"])

    def test_files_of_two_ranks_with_one_name(self):
        self.ranks(["rank0/trace.json", "rank1/trace.json"])

    def test_one_file_of_two_ranks(self):
        """Ids are equal, times are not: the second one ran later."""
        for seed in SEEDS:
            first = Draw(seed, process=50, gpus=[0]).trace
            begin = max(record.end for records in first.lists() for record in records) + 1000
            second = Draw(seed + 1, gpus=[1], begin=begin, **SECOND).trace
            self.check(seed, [merged(first, second)], ["trace.json"],
                       lambda path, trace, seed=seed: write_kineto(path, trace, seed), exact=False)


class Nsys(ImportCase):
    def test_ranges_threads_gpus_and_graphs(self):
        self.nsys()

    def test_records_without_times(self):
        self.nsys(flaws=FLAWS)

    def test_overlap_on_a_stream(self):
        self.nsys(overlap=True)

    def test_copies_within_a_device(self):
        self.nsys(within_device=True)

    def test_one_range_on_several_threads(self):
        self.nsys(steps=["step"] * 3)

    def test_two_processes_with_equal_correlations(self):
        for seed in SEEDS:
            options = {"operators": False, "ids": "none"}
            traces = [Draw(seed, process=50, gpus=[0], **options).trace,
                      Draw(seed + 1, gpus=[1], **SECOND, **options).trace]
            self.check(seed, [merged(*traces)], ["step.sqlite"],
                       lambda path, trace, seed=seed: write_nsys(path, trace, seed), exact=False)


class TheTestItself(ImportCase):
    """A wrong figure is found, whichever it is."""

    def setUp(self):
        super().setUp()
        self.trace = Draw(1).trace
        self.file = self.folder / "trace.json"
        write_kineto(self.file, self.trace, 1)
        self.imported, _ = self.report([self.file])
        self.facts = expected([self.trace])

    def test_each_wrong_reference_is_found(self):
        self.assertEqual(differences(copy.deepcopy(self.facts), self.imported), [])
        for table in ("rows", "copies", "calls", "ranges"):
            for key, row in self.facts[table].items():
                for member in row:
                    wrong = copy.deepcopy(self.facts)
                    wrong[table][key][member] += 1
                    self.assertTrue(differences(wrong, self.imported), (table, key, member))
        for i, bar in enumerate(self.facts["devices"]):
            for part in bar:
                wrong = copy.deepcopy(self.facts)
                wrong["devices"][i][part] += 1
                self.assertTrue(differences(wrong, self.imported), (i, part))

    def test_a_lost_record_is_found(self):
        for records in self.trace.lists():
            record = records.pop(0)
            write_kineto(self.file, self.trace, 1)
            report, _ = self.report([self.file])
            self.assertTrue(differences(copy.deepcopy(self.facts), report), record)
            records.insert(0, record)

    def test_a_share_above_one_hundred_per_cent_is_found(self):
        self.assertEqual(len(differences(copy.deepcopy(self.facts), self.imported, "idle 161.2 % of it")), 1)


if __name__ == "__main__":
    unittest.main()
