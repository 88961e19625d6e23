#!/usr/bin/env python3
"""Recomputes every derived value of a report.json from its work and its machine's ceilings alone.

It shares no code with roofline: it is the outside reader that docs/report-schema.md is written for.
Usage: recompute.py report.json...   Exits 1 on the first report with a difference, and says how many
values were compared.
"""
import json
import math
import sys

WRITE_SHARE = {"read": 0.0, "read4_write1": 1 / 5, "triad": 1 / 3, "copy": 1 / 2, "read1_write2": 2 / 3,
               "read1_write4": 4 / 5, "write": 1.0}
IN_PLACE_SHARE = {"read": 0.0, "accumulate": 1 / 3, "update": 1 / 2, "write": 1.0}
LINK_SHARE = {"h2d": 0.0, "duplex": 1 / 2, "d2h": 1.0}
MAIN_MEMORY = {"cpu": "dram", "cuda": "hbm"}
LAUNCH_CEILINGS = ("launch.graph", "launch.pool", "launch.stream")
LABELS = {"bandwidth": "memory", "compute": "compute", "overhead": "latency", "latency": "latency"}
BUS_FACTORS = {
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n,
    "broadcast": lambda n: 1,
    "send_recv": lambda n: 1,
}


class Comparison:
    """Counts what was compared, and keeps what differed."""

    def __init__(self):
        self.count = 0
        self.differences = []

    def check(self, place, found, expected):
        """`expected` is None where the key must be absent."""
        self.count += 1
        if isinstance(expected, float) and isinstance(found, (int, float)) and not isinstance(found, bool):
            same = math.isclose(found, expected, rel_tol=1e-12)
        else:
            same = found == expected
        if not same:
            self.differences.append(f"{place}: {found!r} in the file, {expected!r} recomputed")


def interval_of(ceiling):
    low, high = ceiling.get("ci95", [0, 0])
    return [low, high] if low > 0 and high > 0 else [ceiling["value"]] * 2


def is_roof(ceiling):
    return ceiling.get("role", "roof") == "roof"


def is_of_one_core(ceiling):
    return not is_roof(ceiling) and ceiling["name"].endswith(".one_core")


def total_bytes(traffic):
    """Of both directions; where they are not known, all of them."""
    return traffic["unsplit"] if "unsplit" in traffic else traffic["read"] + traffic["write"]


def bandwidth_ceiling(ceilings, level, traffic, one_core=False):
    """The ceiling at a level for a mix of reads and writes. Between two measured mixes: a copy of the nearer (the higher
    on a tie) with the interpolated time per byte, and the name of the other as `mixed_with`. Of one core, among its
    references if there are any."""
    one_core = one_core and any(is_of_one_core(c) and c.get("level") == level for c in ceilings)
    total = total_bytes(traffic)
    share = traffic.get("write", 0.0) / total if total > 0 else 0.0
    roofs = [c for c in ceilings if c["kind"] == "bandwidth" and c["level"] == level and c["regime"] == "burst"
             and (is_of_one_core if one_core else is_roof)(c)]
    in_place = traffic.get("in_place") and any(c["pattern"] in ("update", "accumulate") for c in roofs)
    shares = (IN_PLACE_SHARE if in_place else WRITE_SHARE) | LINK_SHARE
    sides = []
    for sign in (-1, 1):  # the nearest with fewer writes, and with more
        side = [(sign * (shares[c["pattern"]] - share), c) for c in roofs if c["pattern"] in shares]
        side = [(distance, c) for distance, c in side if distance >= -1e-9]
        nearest = min((distance for distance, _ in side), default=None)
        sides.append(max((c for distance, c in side if distance <= nearest + 1e-9), key=lambda c: c["value"],
                         default=None))
    below, above = sides
    if below is None or above is None:
        return below or above
    width = shares[above["pattern"]] - shares[below["pattern"]]
    part = (share - shares[below["pattern"]]) / width if width > 1e-9 else 0.0
    if part < 0.01:
        return below
    if part > 0.99:
        return above
    nearer_first = sorted((below, above), key=lambda c: c["value"], reverse=True)
    if abs(part - 0.5) > 1e-9:
        nearer_first = [below, above] if part < 0.5 else [above, below]
    if below["pattern"] in LINK_SHARE or above["pattern"] in LINK_SHARE:
        return nearer_first[0]
    rate = lambda one, other: 1 / ((1 - part) / one + part / other)
    ends = [rate(*pair) for pair in zip(interval_of(below), interval_of(above))]
    return {**nearer_first[0], "value": rate(below["value"], above["value"]), "ci95": ends,
            "mixed_with": nearer_first[1]["name"]}


def network_ceiling(ceilings, collective):
    """A collective's own roof, else the highest of the network."""
    named = [c for c in ceilings if c["name"] == f"nccl.{collective['name']}" and c["regime"] == "burst"]
    others = [c for c in ceilings if c.get("level") == "network" and c.get("role", "roof") == "roof"]
    return named[0] if named else max(others, key=lambda c: c["value"], default=None)


def latency_line(machine, collective):
    """The fitted line of a collective among just so many ranks."""
    for sweep in machine.get("sweeps", []):
        if sweep["name"] == f"sweep.nccl.{collective['name']}":
            return next((line for line in sweep["lines"] if line["ranks"] == collective["ranks"]), None)
    return None


def compute_ceiling(ceilings, pipe, clock=None, one_core=False):
    """The roof of a pipe: burst within 1 % of its clock, where one is missing or where those of both regimes are within
    2 %, else the nearer regime. Of one core, its reference if there is one."""
    for ceiling in ceilings:
        if one_core and ceiling["name"] == f"{pipe}.one_core" and ceiling["regime"] == "burst":
            return ceiling
    regimes = {}
    for ceiling in ceilings:
        if ceiling["kind"] == "compute" and ceiling["pipe"] == pipe and ceiling.get("role", "roof") == "roof":
            regimes.setdefault(ceiling["regime"], ceiling)
    burst, sustained = regimes.get("burst"), regimes.get("sustained")
    if burst is None or sustained is None:
        return burst or sustained
    clocks = [c["clocks"].get("core_hz") for c in (burst, sustained)]
    if clock is None or None in clocks:
        return burst
    if abs(math.log(clocks[0] / clocks[1])) < 0.02:
        return burst
    to_burst, to_sustained = (abs(math.log(clock / own)) for own in clocks)
    return sustained if to_burst > 0.01 and to_sustained < to_burst else burst


def slowdown(ceiling, clock):
    """How much slower a pipe is at the kernel's own clock than at its ceiling's; 1 within 1 %."""
    own = ceiling["clocks"].get("core_hz")
    if clock is None or own is None or abs(own / clock - 1) <= 0.01:
        return 1.0
    return own / clock


def launch_ceiling(ceilings):
    named = {}
    for ceiling in ceilings:
        named.setdefault(ceiling["name"], ceiling)
    return next((named[name] for name in LAUNCH_CEILINGS if name in named), None)


def resource_times(work, machine, clock):
    """{name: (kind, amount, seconds, [low, high], regime, mixed_with)} of the resources; no seconds without a ceiling."""
    ceilings = machine["ceilings"]
    collective = work.get("collective")
    one_core = work.get("threads") == 1 and machine["device"]["units"] > 1
    memory = MAIN_MEMORY[machine["device"]["kind"]]
    uses = []
    operations = dict(work["flops"])
    for pipe, count in work["uncounted"].items():
        operations[pipe] = operations.get(pipe, 0.0) + count
    for pipe, count in operations.items():
        uses.append((pipe, "compute", count, compute_ceiling(ceilings, pipe, clock, one_core)))
    for level, traffic in work["traffic"].items():
        own = level == "network" and collective
        if level == memory:
            level = work.get("cache", level)
        ceiling = (network_ceiling(ceilings, collective) if own
                   else bandwidth_ceiling(ceilings, level, traffic, one_core))
        uses.append((level, "bandwidth", total_bytes(traffic), ceiling))
    uses.append(("launch", "overhead", work["launches"], launch_ceiling(ceilings)))
    times = {}
    for name, kind, amount, ceiling in uses:
        if amount <= 0:
            continue
        if ceiling is None or ceiling["value"] <= 0:
            times[name] = (kind, amount, None, None, "burst", None)
            continue
        slower = slowdown(ceiling, clock) if kind == "compute" else 1.0
        seconds = amount / ceiling["value"] * slower
        low, high = interval_of(ceiling)
        interval = [amount / high * slower, amount / low * slower]
        times[ceiling["name"]] = (kind, amount, seconds, interval, ceiling["regime"], ceiling.get("mixed_with"))
    line = latency_line(machine, collective) if collective else None
    if line and line["latency_s"] > 0:
        interval = line.get("latency_ci95", [line["latency_s"]] * 2)
        times[f"nccl.{collective['name']}.latency"] = ("latency", 1, line["latency_s"], interval, "burst", None)
    return times


def label_of(name, kind):
    return "communication" if kind == "bandwidth" and (name == "network" or name.startswith("nccl.")) else LABELS[kind]


def bound(times):
    """(label, limiting ceiling, attainable seconds); all None without any ceiling."""
    timed = sorted(((t[2], name) for name, t in times.items() if t[2] is not None), reverse=True)
    if not timed:
        return None, None, None
    seconds, limiting = timed[0]
    label = label_of(limiting, times[limiting][0])
    if len(timed) > 1:
        second = times[timed[1][1]]
        if label_of(timed[1][1], second[0]) != label and second[3][1] >= times[limiting][3][0]:
            label = "balanced"
    return label, limiting, seconds


def ridge(work, ceilings, memory):
    """The ceiling of the pipe with most of the counted FLOPs over the memory ceiling."""
    if not work["flops"] or memory not in work["traffic"]:
        return None
    # Pipes come in the file in their declared order; the first of equals counts.
    pipe = compute_ceiling(ceilings, max(work["flops"], key=work["flops"].get))
    slope = bandwidth_ceiling(ceilings, memory, work["traffic"][memory])
    return pipe["value"] / slope["value"] if pipe and slope else None


def compare_resources(comparison, place, row, times):
    found = {resource["ceiling"]: resource for resource in row["resources"]}
    comparison.check(f"{place}.resources", sorted(found), sorted(times))
    for name, (kind, amount, seconds, interval, regime, mixed_with) in times.items():
        resource = found.get(name, {})
        where = f"{place}.resources[{name}]"
        comparison.check(f"{where}.regime", resource.get("regime", "burst"), regime)
        comparison.check(f"{where}.kind", resource.get("kind"), kind)
        comparison.check(f"{where}.mixed_with", resource.get("mixed_with"), mixed_with)
        comparison.check(f"{where}.amount", resource.get("amount"), float(amount))
        comparison.check(f"{where}.time_s", resource.get("time_s"), seconds)
        for i in range(2 if interval else 0):
            comparison.check(f"{where}.ci95[{i}]", resource.get("ci95", [None, None])[i], interval[i])


def compare_row(comparison, place, row, machine):
    work, ceilings = row["work"], machine["ceilings"]
    memory = MAIN_MEMORY[machine["device"]["kind"]]
    flops = float(sum(work["flops"].values()))
    for level, traffic in work["traffic"].items():
        comparison.check(f"{place}.work.bytes.{level}", work["bytes"].get(level), float(total_bytes(traffic)))
    moved = work["bytes"].get(memory, 0)
    comparison.check(f"{place}.arithmetic_intensity", row.get("arithmetic_intensity"), flops / moved if moved else None)
    comparison.check(f"{place}.ridge", row.get("ridge"), ridge(work, ceilings, memory))

    times = resource_times(work, machine, row.get("time_s", {}).get("clock_hz"))
    compare_resources(comparison, place, row, times)
    label, limiting, attainable = bound(times)
    comparison.check(f"{place}.bound", row.get("bound"), label)
    comparison.check(f"{place}.limiting_ceiling", row.get("limiting_ceiling"), limiting)
    comparison.check(f"{place}.attainable_time_s", row.get("attainable_time_s"), attainable)
    if limiting:
        named = (limiting, times[limiting][5])
        held = [c for c in ceilings if c["name"] in named and c["regime"] == times[limiting][4]]
        failed = any(c["audit"]["status"] == "fail" for c in held)  # a line has no audit
        comparison.check(f"{place}.suspect", row.get("suspect"), failed)
        if "provisional" in row:  # absent in files of earlier versions, too
            # One of two ceilings is enough.
            comparison.check(f"{place}.provisional", any(c["audit"]["status"] == "provisional" for c in held), True)

    median = row["time_s"]["median"] if "time_s" in row else None
    comparison.check(f"{place}.time_s is there", median is not None, row["status"] == "ok")
    if median:
        comparison.check(f"{place}.performance_flops_per_s", row.get("performance_flops_per_s"), flops / median)
        comparison.check(f"{place}.bandwidth_bytes_per_s", row.get("bandwidth_bytes_per_s"), moved / median)
        if "collective" in work:
            bus = work["bytes"]["network"] / median
            factor = BUS_FACTORS[work["collective"]["name"]](work["collective"]["ranks"])
            comparison.check(f"{place}.bus_bandwidth_bytes_per_s", row.get("bus_bandwidth_bytes_per_s"), bus)
            comparison.check(
                f"{place}.algorithm_bandwidth_bytes_per_s", row.get("algorithm_bandwidth_bytes_per_s"), bus / factor
            )
        paired = row.get("paired")
        if paired and paired["ceiling"] != limiting:
            paired = None
        fraction = paired["fraction"] if paired else attainable / median if attainable else None
        comparison.check(f"{place}.fraction_of_roof", row.get("fraction_of_roof"), fraction)
        if paired:
            comparison.check(f"{place}.above_roof", row.get("above_roof"), paired["ci95"][0] > 1)
        elif attainable:
            slowest = row["time_s"].get("ci95", [median, median])[1]
            above = attainable > median and slowest < times[limiting][3][0]
            comparison.check(f"{place}.above_roof", row.get("above_roof"), above)


def compare_report(path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    if report["schema"] != "roofline.report/1":
        sys.exit(f"{path}: schema {report['schema']!r} is not 'roofline.report/1'")
    comparison = Comparison()
    for i, row in enumerate(report["results"]):
        compare_row(comparison, f"results[{i}]", row, report["machine"])
    for difference in comparison.differences:
        print(f"{path}: {difference}")
    print(f"{path}: {len(report['results'])} results, {comparison.count} values compared, "
          f"{len(comparison.differences)} different")
    return comparison.count > 0 and not comparison.differences


def main(paths):
    if not paths:
        sys.exit(__doc__)
    sys.exit(0 if all([compare_report(path) for path in paths]) else 1)


if __name__ == "__main__":
    main(sys.argv[1:])
