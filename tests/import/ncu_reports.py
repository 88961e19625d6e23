"""Sums of reports of Nsight Compute (.ncu-rep), decoded by the fields of NVIDIA's extras/FileFormat.

For public_files.py, without anything of the project's readers.
"""
import struct


def value_of(fields):
    """A metric's value: 32 or 64 bits of a float, or a whole number; None for a text."""
    for number, layout in ((2, "<f"), (3, "<d")):
        if fields[number]:
            return struct.unpack(layout, fields[number][0])[0]
    return next((float(fields[number][0]) for number in (4, 5) if fields[number]), None)


def launches_in(data, wire):
    """The metrics of each result, and its kernel."""
    names, launches, at = [], [], 4

    def part():
        nonlocal at
        size = struct.unpack_from("<I", data, at)[0]
        at += 4 + size
        return data[at - size:at]

    if data[:4] != b"NVR\0":
        raise ValueError("not a report of ncu")
    part()
    while at < len(data):
        header = wire(part())
        names += [name.decode() for table in header[4] for name in wire(table)[1]]
        end = at + (header[5][0] if header[5] else 0)
        for _ in range(header[1][0] if header[1] else 0):
            part()
        for _ in range(header[2][0] if header[2] else 0):
            result = wire(part())
            kernel = next((result[number][0].decode() for number in (5, 7, 6) if result[number]), "")
            metrics = {}
            for metric in map(wire, result[13]):
                value = value_of(wire(metric[2][0])) if metric[2] else None
                if value is not None:
                    metrics[names[metric[1][0] if metric[1] else 0]] = value
            launches.append((kernel, metrics))
        at = end
    return launches


def sums_of(launches):
    """Times and DRAM bytes; None where a launch lacks the bytes."""
    times = [metrics.get("gpu__time_duration.sum", 0) for _, metrics in launches]
    moved = [metrics.get("dram__bytes_read.sum", float("nan")) + metrics.get("dram__bytes_write.sum", float("nan"))
             for _, metrics in launches]
    work_bytes = sum(moved)
    return {"names": len({kernel for kernel, _ in launches}), "kernels": len(launches), "kernel_s": sum(times) * 1e-9,
            # A row has the median of its launches.
            "work_bytes": None if work_bytes != work_bytes else work_bytes, "tolerance": 5e-3,
            "rounding": 1e-9 * len(launches)}
