"""Sums of files of rocprofv3, rocprof and rocprof-compute.

For public_files.py, without anything of the project's readers.
"""
import collections
import csv
import fractions
import sqlite3


def of_rocprof_json(document, overlaps_of):
    kernels, copies, streams = [], [], collections.defaultdict(list)
    processes = document["rocprofiler-sdk-tool"]
    for process in processes if isinstance(processes, list) else [processes]:
        if process["callback_records"]["counter_collection"]:
            raise ValueError("counters are not summed here")
        kernels += process["buffer_records"]["kernel_dispatch"]
        copies += process["buffer_records"]["memory_copy"]
    for one in kernels + copies:
        info = one.get("dispatch_info", {})
        stream = one.get("stream_id", {}).get("handle", 0) or info.get("queue_id", {}).get("handle", 0)
        streams[str(info.get("agent_id")), stream].append((one["start_timestamp"], one["end_timestamp"]))
    return {"kernels": len(kernels), "copies": len(copies), "bytes": sum(copy["bytes"] for copy in copies),
            "kernel_s": sum(one["end_timestamp"] - one["start_timestamp"] for one in kernels) * 1e-9,
            "overlaps": overlaps_of(streams.values())}


def of_counters(rows):
    """A table of rocprof-compute: FLOPs and bytes as its own roofline_calc.py takes them, over all dispatches."""
    def value(row, name):
        return float(row[name])

    def exact(text):
        return text.replace(".", "", 1).isdigit()

    time = flops = moved = 0
    rests = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        begin, end = row["Start_Timestamp"], row["End_Timestamp"]
        time += fractions.Fraction(end) - fractions.Fraction(begin) if exact(begin) and exact(end) else 0
        new = "TCC_EA0_RDREQ_sum" in row
        names = [f"TCC_EA{'0' if new else ''}_{name}_sum" for name in ("RDREQ", "RDREQ_32B", "WRREQ", "WRREQ_64B")]
        reads, reads32, writes, writes64 = names
        has_bytes = all(name in row for name in names + (["TCC_BUBBLE_sum"] if new else []))
        if has_bytes and (value(row, writes64) > 1.05 * value(row, writes) or
                          value(row, reads32) > 1.05 * value(row, reads)):
            continue  # parts of more than the whole
        for kind in ("F16", "F32", "F64"):
            if all(f"SQ_INSTS_VALU_{op}_{kind}" in row for op in ("ADD", "MUL", "FMA", "TRANS")):
                flops += 64 * sum(weight * value(row, f"SQ_INSTS_VALU_{op}_{kind}")
                                  for op, weight in (("ADD", 1), ("MUL", 1), ("FMA", 2), ("TRANS", 1)))
        flops += sum(512 * value(row, f"SQ_INSTS_VALU_MFMA_MOPS_{kind}") for kind in ("F16", "BF16", "F32", "F64", "I8")
                     if f"SQ_INSTS_VALU_MFMA_MOPS_{kind}" in row)
        if has_bytes:
            large = value(row, "TCC_BUBBLE_sum") if new else 0
            moved += 128 * large + 32 * value(row, reads32) + 64 * value(row, writes64)
            rest = rests[row["Kernel_Name"], row["Grid_Size"], row["Workgroup_Size"]]
            rest[0] += value(row, reads) - large - value(row, reads32)
            rest[1] += value(row, writes) - value(row, writes64)
    # Counters of different runs differ a little: what is left of a kernel's requests may be below zero.
    moved += sum(64 * max(0, reads) + 32 * max(0, writes) for reads, writes in rests.values())
    return {"kernels": len(rows), "kernel_s": float(time) * 1e-9, "rounding": 2e-9, "work_flops": flops, "work_bytes": moved}


def of_table(path):
    """kernel_trace.csv, counter_collection.csv (a line per counter of a dispatch), and results.csv of rocprof (v1)."""
    launches, values = {}, collections.defaultdict(lambda: collections.defaultdict(list))
    with open(path, newline="", encoding="utf-8-sig") as file:
        for number, row in enumerate(csv.DictReader(file)):
            begin, end = (row.get(names[0]) or row[names[1]] for names in (("Start_Timestamp", "BeginNs"),
                                                                           ("End_Timestamp", "EndNs")))
            launch = (row["Process_Id"], row["Dispatch_Id"]) if "Counter_Name" in row else number
            launches[launch] = int(end) - int(begin)
            if "Counter_Name" in row:
                signature = row["Kernel_Name"], row["Grid_Size"], row["Workgroup_Size"]
                values[signature][row["Counter_Name"]].append(float(row["Counter_Value"]))
    counted = [counters for counters in values.values() if "FETCH_SIZE" in counters and "WRITE_SIZE" in counters]
    return {"kernels": len(launches), "kernel_s": sum(launches.values()) * 1e-9,
            "work_bytes": sum(1024 * sum(counters[name]) for counters in counted for name in ("FETCH_SIZE", "WRITE_SIZE"))}


def of_rocpd(path):
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    kernels = base.execute('select count(*), coalesce(sum("end" - start), 0) from rocpd_kernel_dispatch').fetchone()
    copies = base.execute("select count(*), coalesce(sum(size), 0) from rocpd_memory_copy").fetchone()
    return {"kernels": kernels[0], "kernel_s": kernels[1] * 1e-9, "copies": copies[0], "bytes": copies[1]}
