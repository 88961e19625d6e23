"""What `roofline import` must report of a trace, computed slowly and simply: the definition of right.

Times are integers, nanoseconds. Nothing here is shared with the importer, which works on sorted records; this file
searches all records for every answer.

- Records whose time is flawed (zero, missing, negative, not a number) are left out of every time and counted; kernels
  among them are launches nevertheless.
- A GPU record belongs to the innermost operator that encloses the call that launched it: correlation -> call -> thread
  -> operator. External id names an operator only where there is no call.
- Of several calls with one correlation, the last that began before the record launched it.
- A record that overlaps with the next one on its stream by more than a microsecond ends where that begins; those that
  begin together take turns.
- Time of a device is a union of intervals, so that the parts of its bar add up to the wall time.
"""
import collections
import dataclasses
import math

LAUNCHES = {"cudaLaunchKernel": "kernel launch", "cudaGraphLaunch": "graph launch"}
HANDS_OVER = {*LAUNCHES, "cudaMemcpyAsync", "cudaMemsetAsync"}
SIZES = {"float": 4, "c10::Half": 2, "c10::BFloat16": 2}


@dataclasses.dataclass
class Record:
    """What has a start and an end; `flaw` names what is wrong with them."""
    name: str
    start: int
    end: int
    flaw: str = ""

    @property
    def span(self):
        return self.start, self.end


@dataclasses.dataclass
class HostRecord(Record):
    process: int = 0
    thread: int = 0

    def encloses(self, other_thread, time):
        return (self.process, self.thread) == other_thread and self.start <= time <= self.end

    @property
    def of_thread(self):
        return self.process, self.thread


@dataclasses.dataclass
class Operator(HostRecord):
    external: int = None
    dims: list = None  # None: not recorded
    types: list = None
    concrete: list = None


@dataclasses.dataclass
class Call(HostRecord):
    correlation: int = None


@dataclasses.dataclass
class Range(HostRecord):
    """An annotation of the user, or an NVTX range."""


@dataclasses.dataclass
class GpuRecord(Record):
    """A kernel, or a copy or memset with `direction` and `size`."""
    device: int = 0
    stream: int = 0
    correlation: int = None
    external: int = None
    direction: str = ""
    size: int = 0
    process: int = 0  # that launched it: known in nsys, else 0
    uncut: int = None  # its length in the file, where it was cut


@dataclasses.dataclass
class Trace:
    """The content of a file."""
    operators: list = dataclasses.field(default_factory=list)
    calls: list = dataclasses.field(default_factory=list)
    ranges: list = dataclasses.field(default_factory=list)
    gpu: list = dataclasses.field(default_factory=list)
    untimed: list = dataclasses.field(default_factory=list)  # flawed kernels: launches without a time

    def lists(self):
        return self.operators, self.calls, self.ranges, self.gpu

    def timed(self):
        """Without flawed records, and from 0 on: files have clocks of their own. Operators are no part of the wall
        time before the first record of another kind."""
        timed = [[record for record in records if not record.flaw] for records in self.lists()]
        first = min(record.start for records in timed[1:] for record in records)
        shifted = ([dataclasses.replace(record, start=record.start - first, end=record.end - first)
                    for record in records] for records in timed)
        late = 2**62  # after all calls
        untimed = [dataclasses.replace(record, start=late, end=late) for record in self.gpu
                   if record.flaw and not record.direction]
        return Trace(*shifted, untimed)


def cut(trace):
    """A stream runs one record at a time: each ends at the latest where the next one begins. Those with one start take
    turns, by their ends; those with one end, too, share that time evenly."""
    streams = collections.defaultdict(list)
    for record in trace.gpu:
        if not record.flaw:
            streams[record.device, record.stream, record.process].append(record)
    kept = [record for record in trace.gpu if record.flaw]
    for records in streams.values():
        rounding = 1000  # of files in microseconds
        starts = sorted({record.start for record in records})
        for start, following in zip(starts, [*starts[1:], float("inf")]):
            ends = {id(record): following if record.end > following + rounding else record.end
                    for record in records if record.start == start}
            group = sorted((record for record in records if record.start == start), key=lambda record: record.end)
            turns = [record for record in group if ends[id(record)] > start + rounding]
            at = {id(record): start for record in group}
            if len(turns) > 1:
                begin = start
                for end in sorted({ends[id(record)] for record in turns}):
                    sharing = [record for record in turns if ends[id(record)] == end]
                    each = (end - begin) // len(sharing)
                    for number, record in enumerate(sharing):
                        at[id(record)] = begin + each * number
                        ends[id(record)] = end if number + 1 == len(sharing) else begin + each * (number + 1)
                    begin = end
            for record in group:
                span = at[id(record)], ends[id(record)]
                flaw = "cut" if span[0] == span[1] and record.start != record.end and not record.direction else ""
                kept.append(dataclasses.replace(record, start=span[0], end=span[1], flaw=flaw,
                                                uncut=record.end - record.start))
    return dataclasses.replace(trace, gpu=kept)


# Sets of times


def union(spans):
    """Sorted and disjoint."""
    joined = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def minus(spans, others):
    """What of `spans` none of `others` covers."""
    left = union(spans)
    for start, end in others:
        left = [part for a, b in left for part in ((a, min(b, start)), (max(a, end), b)) if part[0] < part[1]]
    return left


def common(spans, others):
    return minus(spans, minus(spans, others))


def length(spans):
    return sum(end - start for start, end in union(spans))


# What launched a record


def launching_call(trace, record):
    """None where the trace has none."""
    calls = [call for call in trace.calls
             if call.correlation == record.correlation and record.process in (0, call.process)]
    earlier = [call for call in calls if call.start <= record.start]
    return max(earlier or calls, key=lambda call: call.start, default=None)


def innermost(records, of_thread, time):
    """Of those of a thread that enclose a time; None where none does."""
    around = [record for record in records if record.encloses(of_thread, time)]
    return max(around, key=lambda record: (record.start, -record.end), default=None)


def operator_of(trace, record):
    call = launching_call(trace, record)
    if call is not None:
        return innermost(trace.operators, call.of_thread, call.start)
    named = [operator for operator in trace.operators if operator.external == record.external]
    return named[0] if record.external is not None and named else None


def path_of(trace, of_thread, time):
    """The ranges around a time, "outer/inner"."""
    around = [part for part in trace.ranges if part.encloses(of_thread, time)]
    return "/".join(part.name for part in sorted(around, key=lambda part: (part.start, -part.end)))


def place_of(trace, record):
    """Thread and time that a record was launched at; None where unknown."""
    by = launching_call(trace, record) or operator_of(trace, record)
    return None if by is None else (by.of_thread, by.start)


# Work of operators, from their shapes


def count(shape):
    return math.prod(shape)


def product(a, b):
    """FLOPs and elements of the result."""
    rows = count(a[:-1])
    return 2 * rows * a[-1] * b[-1], rows * b[-1]


def convolution(operator):
    image, weight = operator.dims[:2]
    padding, stride, dilation = ([int(number) for number in operator.concrete[i].strip("[]").split(",")]
                                 for i in (2, 3, 4))
    extents = [(size + 2 * padding[i] - dilation[i] * (weight[2 + i] - 1) - 1) // stride[i] + 1
               for i, size in enumerate(image[2:])]
    outputs = image[0] * weight[0] * count(extents)
    return 2 * outputs * count(weight[1:]), outputs


def work_of(operator):
    """FLOPs and bytes of an operator call: each input and each output once. (0, 0) where unknown."""
    models = {
        "aten::mm": (2, lambda: product(*operator.dims[:2])),
        "aten::bmm": (2, lambda: product(*operator.dims[:2])),
        "aten::addmm": (3, lambda: product(*operator.dims[1:3])),
        "aten::cudnn_convolution": (2, lambda: convolution(operator)),
        "aten::relu": (1, lambda: (count(operator.dims[0]), count(operator.dims[0]))),
    }
    if operator is None or operator.dims is None or operator.name not in models:
        return 0, 0
    inputs, model = models[operator.name]
    flops, outputs = model()
    return flops, (sum(count(shape) for shape in operator.dims[:inputs]) + outputs) * SIZES[operator.types[0]]


# The report


def add_rows(facts, trace):
    """Kernels by name, operator and range. The work of a call of an operator belongs to its longest kernel."""
    calls = collections.defaultdict(list)  # kernels of a call of an operator
    for kernel in trace.gpu + trace.untimed:
        if kernel.direction:
            continue
        operator, place = operator_of(trace, kernel), place_of(trace, kernel)
        path = path_of(trace, *place) if place else ""
        row = facts["rows"][kernel.name, operator.name if operator else "", path]
        row["launches"] += 1
        row["ns"] += kernel.end - kernel.start
        if operator is not None:
            calls[id(operator)].append((kernel, operator, row))
    for kernels in calls.values():
        _, operator, row = max(kernels, key=lambda entry: entry[0].uncut or 0)
        flops, size = work_of(operator)
        row["flops"] += flops
        row["bytes"] += size


def add_copies(facts, trace):
    for copy in trace.gpu:
        if copy.direction:
            of = facts["copies"][copy.direction]
            of["count"] += 1
            of["bytes"] += copy.size
            of["ns"] += copy.end - copy.start


def add_calls(facts, trace):
    for call in trace.calls:
        of = facts["calls"][LAUNCHES.get(call.name, call.name)]
        of["count"] += 1
        of["ns"] += call.end - call.start


def add_ranges(facts, trace):
    """Wall time of a range is a union: threads that are in it at once count once."""
    spans = collections.defaultdict(list)
    for part in trace.ranges:
        spans[path_of(trace, part.of_thread, part.start)].append(part.span)
    for path, times in spans.items():
        facts["ranges"][path]["wall_ns"] += length(times)
    for kernel in trace.gpu:
        place = place_of(trace, kernel)
        names = path_of(trace, *place).split("/") if place and not kernel.direction else []
        for depth in range(len(names) if names != [""] else 0):
            of = facts["ranges"]["/".join(names[:depth + 1])]
            of["launches"] += 1
            of["ns"] += kernel.end - kernel.start


def host_of(trace, records):
    """The calls of the processes that launched these records; all calls where no process is known."""
    calls = [launching_call(trace, record) for record in records]
    processes = {record.process for record in records} | {call.process for call in calls if call} - {0}
    own = [call for call in trace.calls if call.process in processes]
    return own or trace.calls


def bar(trace, records, wall):
    """The parts of a device's time; they add up to the wall time."""
    kernels = union(record.span for record in records if not record.direction)
    copies = minus([record.span for record in records if record.direction], kernels)
    busy = union(kernels + copies)
    first, last = busy[0][0], busy[-1][1]
    calls = host_of(trace, records)
    launching = union(call.span for call in calls if call.name in HANDS_OVER)
    waiting = union(call.span for call in calls if call.name not in HANDS_OVER)
    idle = minus([(first, last)], busy)
    not_launching = minus(idle, launching)
    # Without a launching call, a trace does not show what the host did.
    elsewhere = "idle_elsewhere" if launching else "idle_unknown"
    return {"wall": wall, "before": first, "kernels": length(kernels),
            "copies": length(copies), "idle_launching": length(common(idle, launching)),
            "idle_waiting": length(common(not_launching, waiting)),
            elsewhere: length(minus(not_launching, waiting)), "after": wall - last}


def by_device(records):
    devices = collections.defaultdict(list)
    for record in records:
        devices[record.device].append(record)
    return devices


def expected(traces):
    """The facts of a report of these files, which are taken to begin together."""
    traces = [cut(trace) for trace in traces]
    facts = {name: collections.defaultdict(collections.Counter) for name in ("rows", "copies", "calls", "ranges")}
    facts["left_out"] = sum(bool(record.flaw) for trace in traces for record in trace.gpu)
    facts["left_out_kernels"] = sum(bool(record.flaw) for trace in traces for record in trace.gpu
                                    if not record.direction)
    timed = [trace.timed() for trace in traces]
    facts["wall"] = max(record.end for trace in timed for records in trace.lists()[1:] for record in records)
    facts["devices"], facts["streams"] = [], []
    for trace in timed:
        for add in (add_rows, add_copies, add_calls, add_ranges):
            add(facts, trace)
        for device, records in sorted(by_device(trace.gpu).items()):
            facts["devices"].append(bar(trace, records, facts["wall"]))
            for stream in sorted({record.stream for record in records}):
                facts["streams"].append((device, stream, [record.span for record in records
                                                          if record.stream == stream]))
    return facts
