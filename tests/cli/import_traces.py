"""Random traces for import_reference_test.py, and their files: Kineto JSON and databases of nsys."""
import gzip
import json
import random
import sqlite3

from import_reference import Call, GpuRecord, Operator, Range, Trace

FLAWS = ["zero", "no start", "no end", "negative"]
SECOND = {"process": 150, "steps": ["step d", "step e", "step f"]}  # of two processes


class Draw:
    """Draws a trace. Records on one thread have distinct times, and operators nest as calls do."""

    def __init__(self, seed, *, ids="operator", unit=1, flaws=(), overlap=False, within_device=False, process=70,
                 gpus=None, begin=2_000_000, operators=True, one_name=False,
                 repeats=1,
                 steps=("step a", "step b", "step c")):
        self.random = random.Random(seed)
        self.trace, self.unit, self.process, self.begin = Trace(), unit, process, begin
        self.ids, self.flaws, self.overlap, self.within_device = ids, flaws, overlap, within_device
        self.gpus = gpus or self.random.sample(range(4), self.random.randint(1, 3))
        self.streams_free = {}  # when each stream has run all that was launched
        self.next_external = 1
        self.next_correlation = 1 if ids == "correlation" else 100
        self.operators, self.one_name = operators, one_name
        for thread in range(self.random.randint(1, 3)):
            self.thread = process + thread
            self.now = begin
            self.open = []
            for _ in range(repeats):
                self.random.seed(10 * seed + thread)  # the same step again
                self.span(Range, steps[thread], self.steps)
        self.random.shuffle(self.trace.gpu)

    def later(self, least=1, most=3000):
        self.now += self.unit * self.random.randint(least, most)
        return self.now

    def flaw(self):
        return self.random.choice(self.flaws) if self.flaws and self.random.random() < 0.2 else ""

    def span(self, kind, name, inner, **members):
        """A record around what `inner` draws."""
        record = kind(name, self.later(), 0, process=self.process, thread=self.thread, **members)
        self.open.append(record)
        inner()
        self.open.pop()
        record.end = self.later()
        (self.trace.ranges if kind is Range else self.trace.operators).append(record)

    def steps(self):
        for _ in range(self.random.randint(2, 5)):
            parts = [self.layer, self.layer, self.product, self.relu, self.move, self.graph, self.wait, self.plain]
            self.random.choice([self.product] if self.one_name else parts)()

    def layer(self):
        if len(self.open) > 4:
            return self.product()
        if self.random.random() < 0.4:
            return self.span(Range, self.random.choice(["forward", "loss"]), self.steps)
        return self.operator("LayerFunction", self.steps)

    def operator(self, name, inner, dims=None, dtype="float", concrete=None):
        if not self.operators:
            return inner()
        if dims is not None and self.random.random() < 0.2:
            dims = None  # recorded without shapes
        external = self.next_external
        self.next_external += 1
        return self.span(Operator, name, inner, external=external, dims=dims, concrete=concrete if dims else None,
                         types=None if dims is None else [dtype] * len(dims), flaw="")

    def product(self):
        size = lambda: self.random.choice([8] if self.one_name else [8, 24, 64, 96, 128])
        m, n, k, batch = size(), size(), size(), self.random.randint(1, 1 if self.one_name else 3)
        padding, stride = self.random.randint(0, 2), self.random.randint(1, 3)
        name, dims, concrete = self.random.choice([
            ("aten::mm", [[m, k], [k, n]], None),
            ("aten::addmm", [[n], [m, k], [k, n]], None),
            ("aten::bmm", [[batch, m, k], [batch, k, n]], None),
            ("aten::cudnn_convolution", [[batch, 8, 16, 12], [k, [8, 4, 2][batch - 1], 3, 2]],
             ["", "", f"[{padding}, 1]", f"[2, {stride}]", "[1, 2]"])])
        dtype = self.random.choice(["float", "c10::Half", "c10::BFloat16"])
        outer = name.replace("cudnn_", "")
        # Libraries name kernels after types and strides, but not all do.
        variant = "" if self.one_name else f"_{dtype.split('::')[-1]}" + (f"_{padding}_{stride}" if concrete else "")

        def kernels():
            self.launch(name[6:] + variant + "_main", 40_000)
            if self.random.random() < 0.4:
                self.launch(name[6:] + variant + "_reduce", 5_000)
        self.operator(outer + "_outer", lambda: self.operator(name, kernels, dims, dtype, concrete), dims, dtype)

    def relu(self):
        self.operator("aten::relu", lambda: self.launch("relu_kernel"), [[self.random.randint(1, 4096), 8]])

    def plain(self):
        self.launch("plain_kernel")

    def wait(self):
        self.call(self.random.choice(["cudaStreamSynchronize", "cudaMalloc"]))

    def graph(self):
        correlation = self.call("cudaGraphLaunch")
        stream = self.stream()
        for name in ["graph_a", "graph_b", "graph_c"]:
            self.gpu(name, correlation, stream)

    def move(self):
        directions = ["host to device, pageable", "host to device, pinned", "device to host, pinned",
                      "device to another device", "memset"]
        direction = self.random.choice(directions + ["device to device"] * 2 * self.within_device)
        correlation = self.call("cudaMemsetAsync" if direction == "memset" else "cudaMemcpyAsync")
        self.gpu(direction, correlation, self.stream(), direction=direction, size=self.random.randint(1, 1 << 20))

    def stream(self):
        return self.random.choice(self.gpus), self.random.choice([7, 20])

    def launch(self, name, least=1_000):
        self.gpu(name, self.call("cudaLaunchKernel"), self.stream(), least)

    def call(self, name):
        correlation = self.next_correlation
        self.next_correlation += 1
        # Some calls were not recorded: their kernels name the operator.
        unrecorded = self.ids == "operator" and name == "cudaLaunchKernel" and self.random.random() < 0.1
        record = Call(name, self.later(), self.later(), process=self.process, thread=self.thread,
                      correlation=correlation)
        if not unrecorded:
            self.trace.calls.append(record)
        self.launched = record.start
        return correlation

    def gpu(self, name, correlation, where, least=1_000, direction="", size=0):
        earliest = self.launched + self.unit * self.random.randint(1, 9000)
        free = self.streams_free.get(where, 0)
        start = earliest if self.overlap else max(earliest, free + self.unit)
        end = start + self.unit * self.random.randint(least, 2 * least)
        self.streams_free[where] = max(free, end)
        around = [record.external for record in self.open if isinstance(record, Operator)]
        external = {"operator": around[-1] if around else None, "correlation": correlation, "none": None}[self.ids]
        self.trace.gpu.append(GpuRecord(name, start, end, self.flaw(), where[0], where[1], correlation, external,
                                        direction, size, self.process))


# Writers


def microseconds(time):
    return time // 1000 if time % 1000 == 0 else time / 1000


OLD_CATEGORIES = {"cpu_op": "Operator", "cuda_runtime": "Runtime", "kernel": "Kernel", "gpu_memcpy": "Memcpy",
                  "gpu_memset": "Memset"}
NAMES = {"host to device, pageable": "Memcpy HtoD (Pageable -> Device)",
         "host to device, pinned": "Memcpy HtoD (Pinned -> Device)",
         "device to host, pinned": "Memcpy DtoH (Device -> Pinned)",
         "device to device": "Memcpy DtoD (Device -> Device)",
         "device to another device": "Memcpy PtoP (Device -> Device)", "memset": "Memset (Device)"}


def kineto_times(record):
    """Start and duration; None: not written."""
    start, duration = microseconds(record.start), microseconds(record.end - record.start)
    return {"": (start, duration), "zero": (0, 0), "no start": (None, duration), "no end": (start, None),
            "negative": (start, -duration), "nan": (float("nan"), duration)}[record.flaw]


def kineto_event(record, category, process, thread, old, **arguments):
    start, duration = kineto_times(record)
    event = {"ph": "X", "cat": OLD_CATEGORIES.get(category, category) if old else category,
             "name": NAMES.get(record.name, record.name), "pid": process, "tid": thread, "ts": start,
             "dur": duration, "args": {name: value for name, value in arguments.items() if value is not None}}
    return {name: value for name, value in event.items() if value is not None}


def kineto(trace, seed, old=False):
    """The events of a trace of torch.profiler, in random order."""
    events = []
    dims, external = ("Input dims", "external id") if old else ("Input Dims", "External id")
    for operator in trace.operators:
        events.append(kineto_event(operator, "cpu_op", operator.process, operator.thread, old, **{
            "External id": operator.external, dims: operator.dims, "Input type": operator.types,
            "Concrete Inputs": operator.concrete}))
    for call in trace.calls:
        events.append(kineto_event(call, "cuda_runtime", call.process, call.thread, old,
                                   correlation=call.correlation))
    for part in trace.ranges:
        events.append(kineto_event(part, "user_annotation", part.process, part.thread, old))
    for record in trace.gpu:
        category = {"": "kernel", "memset": "gpu_memset"}.get(record.direction, "gpu_memcpy")
        launch = {} if record.direction else {"grid": [4, 2, 1], "block": [128, 1, 1], "registers per thread": 32}
        events.append(kineto_event(record, category, record.device, f"stream {record.stream}" if old else record.stream,
                                   old, **{"device": record.device, "context": 1, "stream": record.stream,
                                           "correlation": record.correlation, external: record.external,
                                           "bytes": record.size if record.direction else None, **launch}))
    random.Random(seed).shuffle(events)
    return events


def write_kineto(path, trace, seed, old=False):
    devices = [{"id": i, "name": "NVIDIA H100 80GB HBM3", "computeMajor": 9, "computeMinor": 0, "numSms": 132,
                "maxThreadsPerMultiprocessor": 2048} for i in range(4)]
    text = json.dumps({"schemaVersion": 1, "deviceProperties": devices, "traceEvents": kineto(trace, seed, old)})
    opened = gzip.open(path, "wt") if path.suffix == ".gz" else open(path, "w")
    with opened as file:
        file.write(text)


NSYS_TABLES = """
CREATE TABLE StringIds (id INT, value TEXT);
CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, smCount INT, computeMajor INT, computeMinor INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT);
CREATE TABLE NVTX_EVENTS (start INT, end INT, globalTid INT, eventType INT, text TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT,
  correlationId INT, globalPid INT, demangledName INT, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT,
  blockZ INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, contextId INT, streamId INT,
  correlationId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT, dstKind INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT, end INT, deviceId INT, contextId INT, streamId INT,
  correlationId INT, globalPid INT, bytes INT);
"""
COPY_KINDS = {"host to device, pageable": (1, 0, 2), "host to device, pinned": (1, 1, 2),
              "device to host, pinned": (2, 2, 1), "device to device": (8, 2, 2),
              "device to another device": (10, 2, 2)}


def nsys_times(record):
    length = record.end - record.start
    return {"": (record.start, record.end), "zero": (0, 0), "no start": (None, record.end),
            "no end": (record.start, None), "negative": (record.start, record.start - length)}[record.flaw]


def write_nsys(path, trace, seed):
    """A database of nsys, with its rows in random order."""
    strings, rows = {}, []
    string = lambda text: strings.setdefault(text, len(strings) + 1)
    thread = lambda record: record.process << 24 | record.thread
    for call in trace.calls:
        rows.append(("CUPTI_ACTIVITY_KIND_RUNTIME", (*nsys_times(call), thread(call), call.correlation,
                                                     string(call.name + "_v7000"))))
    for part in trace.ranges:
        rows.append(("NVTX_EVENTS", (*nsys_times(part), thread(part), 59, part.name)))
    for record in trace.gpu:
        common = (*nsys_times(record), record.device, 1, record.stream, record.correlation, record.process << 24)
        if not record.direction:
            rows.append(("CUPTI_ACTIVITY_KIND_KERNEL", (*common, string(record.name), 4, 2, 1, 128, 1, 1)))
        elif record.direction == "memset":
            rows.append(("CUPTI_ACTIVITY_KIND_MEMSET", (*common, record.size)))
        else:
            rows.append(("CUPTI_ACTIVITY_KIND_MEMCPY", (*common, record.size, *COPY_KINDS[record.direction])))
    random.Random(seed).shuffle(rows)
    rows += [("TARGET_INFO_GPU", (i, "NVIDIA H100 80GB HBM3", 132, 9, 0))
             for i in sorted({record.device for record in trace.gpu})]
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.executescript("PRAGMA synchronous = OFF;" + NSYS_TABLES)
    for table, row in rows + [("StringIds", (number, text)) for text, number in strings.items()]:
        database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    database.commit()
    database.close()
