"""Reports as typed objects. The document itself is in `data` of each (docs/report-schema.md has its keys)."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

from . import _binary
from ._binary import NoSuchFile, NoSuchRow, RooflineError

if TYPE_CHECKING:
    import pandas
    import polars

Json = Mapping[str, Any]
Interval = Tuple[float, float]


def _interval(value: Any) -> Optional[Interval]:
    return (float(value[0]), float(value[1])) if isinstance(value, list) and len(value) == 2 else None


def _choices(names: Iterable[str]) -> str:
    """A hint with the first names to choose from, once each."""
    most = 5
    known = list(dict.fromkeys(names))
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return "choose one of: " + "; ".join(known[:most]) + more if known else "there is none"


def _number(value: Any) -> Optional[float]:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


@dataclass(frozen=True)
class Diagnosis:
    """A rule that applies to a row: the fact, and what to do."""

    rule: str
    finding: str
    action: str


@dataclass(frozen=True)
class Row:
    """A kernel of a suite, or a launch signature of a program. Times are seconds of one launch; what is unknown is None."""

    label: str
    status: str  #: "ok", "skipped" or "failed"
    reason: str  #: why it has no time
    time_s: Optional[float]  #: median
    time_ci95: Optional[Interval]
    fraction_of_roof: Optional[float]
    bound: Optional[str]  #: "memory", "compute", "latency", "communication" or "balanced"
    limiting_ceiling: Optional[str]
    attainable_time_s: Optional[float]
    flops: Optional[float]  #: counted FLOPs of a launch, all pipes together
    bytes: Optional[float]  #: of main memory
    arithmetic_intensity: Optional[float]  #: FLOP/byte
    implementation: Optional[str]
    dtype: str
    launches: int  #: of a program; of a suite 1
    total_s: Optional[float]  #: of all launches
    line: Optional[str]  #: that launches it
    module: Optional[str]
    suspect: bool  #: its limiting ceiling failed the audit
    diagnosis: Tuple[Diagnosis, ...]
    data: Json = field(repr=False, compare=False)

    @property
    def verdict(self) -> str:
        """What limits it, in words: the finding that decides. Empty if nothing was found."""
        decides = self.data.get("verdict")
        found = [rule for rule in self.diagnosis if decides in (None, rule.rule)]
        if not found:
            return ""
        return "At its roof: stop here." if found[0].rule == "good-enough" else found[0].finding

    @property
    def saving_s(self) -> Optional[float]:
        """Seconds above the roof, of all launches."""
        if self.total_s is None or self.fraction_of_roof is None:
            return None
        return self.total_s * max(0.0, 1.0 - self.fraction_of_roof)

    @staticmethod
    def read(data: Json) -> "Row":
        time = data.get("time_s") or {}
        work = data.get("work") or {}
        profiled = data.get("profiled") or {}
        median = _number(time.get("median"))
        main = [work["bytes"][level] for level in ("hbm", "dram") if level in work.get("bytes", {})]
        flops = work.get("flops")
        return Row(
            label=data["label"],
            status=data["status"],
            reason=data.get("reason", ""),
            time_s=median,
            time_ci95=_interval(time.get("ci95")),
            fraction_of_roof=_number(data.get("fraction_of_roof")),
            bound=data.get("bound"),
            limiting_ceiling=data.get("limiting_ceiling"),
            attainable_time_s=_number(data.get("attainable_time_s")),
            flops=sum(flops.values()) if flops else None,
            bytes=_number(main[0]) if main else None,
            arithmetic_intensity=_number(data.get("arithmetic_intensity")),
            implementation=data.get("impl"),
            dtype=data.get("dtype", ""),
            launches=int(profiled.get("launches", 1)),
            total_s=_number(profiled.get("total_s", median)),
            line=profiled.get("line"),
            module=profiled.get("module"),
            suspect=bool(data.get("suspect", False)),
            diagnosis=tuple(
                Diagnosis(rule["rule"], rule["finding"], rule.get("next", "")) for rule in data.get("diagnosis", [])
            ),
            data=data,
        )


@dataclass(frozen=True)
class Ceiling:
    """A measured roof; `value` in `unit`: byte/s, FLOP/s, launch/s or access/s."""

    name: str
    kind: str
    value: float
    unit: str
    ci95: Optional[Interval]
    regime: str  #: "burst" or "sustained"
    role: str  #: "roof" or "reference"
    audit: str  #: "pass", "provisional", "fail" or "not_run"
    data: Json = field(repr=False, compare=False)

    @staticmethod
    def read(data: Json) -> "Ceiling":
        return Ceiling(
            data["name"],
            data["kind"],
            float(data["value"]),
            data["unit"],
            _interval(data.get("ci95")),
            data.get("regime", "burst"),
            data.get("role", "roof"),
            (data.get("audit") or {}).get("status", "not_run"),
            data,
        )


@dataclass(frozen=True)
class Machine:
    """A calibrated device."""

    name: str
    kind: str  #: "cpu" or "cuda"
    identity: str
    ceilings: Tuple[Ceiling, ...] = field(repr=False)
    data: Json = field(repr=False, compare=False)

    def ceiling(self, name: str, regime: str = "burst") -> Ceiling:
        """Raises NoSuchRow where it has none of that name."""
        for ceiling in self.ceilings:
            if (ceiling.name, ceiling.regime) == (name, regime):
                return ceiling
        raise NoSuchRow(f"{name}: no such ceiling ({regime})", _choices(c.name for c in self.ceilings if c.regime == regime))

    @staticmethod
    def read(data: Json) -> "Machine":
        device = data["device"]
        ceilings = tuple(Ceiling.read(entry) for entry in data.get("ceilings", []))
        return Machine(device["name"], device["kind"], device["identity"], ceilings, data)


@dataclass(frozen=True)
class Saving:
    """A potential saving of a program: at most `seconds` in all steps, or in the run if it has none."""

    kind: str  #: "host" for what the threads of a CPU program lose time to
    cause: str
    seconds: float
    what: str
    evidence: str
    action: str
    line: Optional[str]
    row: Optional[int]  #: index of the row that it is of
    data: Json = field(repr=False, compare=False)

    @staticmethod
    def read(data: Json) -> "Saving":
        kind = data.get("kind", "host")
        return Saving(
            kind,
            data.get("cause", kind),
            float(data["seconds"]),
            data["what"],
            data.get("evidence", ""),
            data.get("action", ""),
            data.get("line"),
            data.get("result"),
            data,
        )


@dataclass(frozen=True)
class Steps:
    """The steady steps of a program."""

    count: int
    median_s: float
    ci95: Optional[Interval]
    at_roof_s: Optional[float]
    start_up_s: Optional[float]
    data: Json = field(repr=False, compare=False)


@dataclass(frozen=True)
class HostLine:
    """Sampled time of a line of the program: seconds by state ("running", "gil", "lock", …)."""

    file: str
    line: Optional[int]
    function: str
    seconds: Mapping[str, float]
    own: bool  #: of the program itself


@dataclass(frozen=True)
class Program:
    """What `roofline profile` adds: the program and the use of its time."""

    command: Tuple[str, ...]
    exit_status: Optional[int]
    wall_s: float
    kernel_s: float
    steps: Optional[Steps]
    savings: Tuple[Saving, ...] = field(repr=False)
    host_lines: Tuple[HostLine, ...] = field(repr=False)
    data: Json = field(repr=False, compare=False)

    @staticmethod
    def read(data: Json) -> "Program":
        found = data.get("steps")
        steps = None
        if found:
            steps = Steps(
                int(found["count"]),
                float(found["median_s"]),
                _interval(found.get("ci95")),
                _number(found.get("at_roof_s")),
                _number(found.get("start_up_s")),
                found,
            )
        lines = (data.get("host") or {}).get("lines", [])
        return Program(
            tuple(data["program"]),
            data.get("exit_status"),
            float(data["wall_s"]),
            float(data.get("kernel_s", 0)),
            steps,
            tuple(Saving.read(saving) for key in ("wins", "host_causes") for saving in data.get(key, [])),
            tuple(
                HostLine(entry.get("file", ""), entry.get("line"), entry.get("function", ""), entry["seconds"],
                         bool(entry.get("own", False)))
                for entry in lines
            ),
            data,
        )


@dataclass(frozen=True, repr=False)
class Report:
    """A run of `roofline analyze`, `profile` or `import`."""

    rows: Tuple[Row, ...]
    machine: Machine
    program: Optional[Program]  #: of a program that was profiled
    name: str  #: of the suite or the program
    notes: Tuple[str, ...]
    complete: bool
    path: Optional[Path]  #: the file that it was read from
    data: Json = field(repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @property
    def savings(self) -> Tuple[Saving, ...]:
        return self.program.savings if self.program else ()

    def row(self, label: str) -> Row:
        """The row of that label, or the only one whose label has that part. Raises NoSuchRow, a RooflineError and a
        KeyError."""
        exact = [row for row in self.rows if row.label == label]
        found = exact or [row for row in self.rows if label in row.label]
        if len(found) != 1:
            raise NoSuchRow(f"{label}: {len(found)} rows match", _choices(row.label for row in found or self.rows))
        return found[0]

    def __repr__(self) -> str:
        parts = [f"{len(self.rows)} rows on {self.machine.name!r}"]
        if self.program:
            steps = self.program.steps
            parts.append(f"{steps.count} steps of {steps.median_s:.4g} s" if steps else f"{self.program.wall_s:.4g} s")
            parts.append(f"{len(self.program.savings)} savings")
        if not self.complete:
            parts.append("incomplete")
        return f"<roofline.Report {self.name!r}: {', '.join(parts)}>"

    def to_dicts(self) -> List[Dict[str, Any]]:
        """A dictionary per row, with one key per column of the tables below."""
        columns = [name for name in Row.__dataclass_fields__ if name not in ("data", "diagnosis", "time_ci95")]
        table = []
        for row in self.rows:
            values: Dict[str, Any] = {name: getattr(row, name) for name in columns}
            low, high = row.time_ci95 or (None, None)
            values.update(time_low_s=low, time_high_s=high, saving_s=row.saving_s)
            values["rule"] = row.diagnosis[0].rule if row.diagnosis else None
            table.append(values)
        return table

    def to_pandas(self) -> "pandas.DataFrame":
        """The rows as a pandas table. Raises RooflineError where pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise RooflineError("pandas is not installed", "pip install pandas, or use to_dicts()") from None
        return pandas.DataFrame(self.to_dicts())

    def to_polars(self) -> "polars.DataFrame":
        """The rows as a Polars table. Raises RooflineError where Polars is not installed."""
        try:
            import polars
        except ImportError:
            raise RooflineError("polars is not installed", "pip install polars, or use to_dicts()") from None
        return polars.DataFrame(self.to_dicts(), infer_schema_length=None)

    def render(self, format: str, **options: Union[str, float]) -> bytes:
        """The report in a format of `roofline report` ("svg", "html", "md", "png", …); options are those of the command,
        such as theme="dark" or size="900x500". Needs the binary."""
        from . import _temporary

        words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        with _temporary.report_file(self) as path:
            return _binary.run(["report", path, "--format", format, "-o", "-", *words]).stdout

    def save(self, path: Union[str, "os.PathLike[str]"]) -> Path:
        """Writes the document to a file, for `roofline report` and `compare`."""
        target = Path(path)
        target.write_text(json.dumps(self.data, ensure_ascii=False), encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        from . import _notebook

        return _notebook.html_of_report(self)

    @staticmethod
    def read(data: Json, path: Optional[Path] = None) -> "Report":
        """From a document. Raises RooflineError where it is none of this version."""
        where = f"{path}: " if path else ""
        schema = data.get("schema") if isinstance(data, dict) else None
        if schema != "roofline.report/1":
            raise RooflineError(f"{where}not a report: its schema is {str(schema)[:60]!r}", "pass a report.json")
        try:
            invocation = data.get("invocation") or {}
            profile = data.get("profile")
            return Report(
                rows=tuple(Row.read(row) for row in data["results"]),
                machine=Machine.read(data["machine"]),
                program=Program.read(profile) if profile else None,
                name=str(invocation.get("suite", "")),
                notes=tuple(data.get("notes", [])),
                complete=bool(data.get("complete", True)),
                path=path,
                data=data,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RooflineError(f"{where}a broken report: {type(error).__name__}: {error}",
                                "roofline report names the place") from error


def load(path: Union[str, "os.PathLike[str]"]) -> Report:
    """Reads a report.json, or the one in a folder. Raises RooflineError for a file that is no report or cannot be read;
    for one that does not exist it is a FileNotFoundError too."""
    file = Path(path)
    if file.is_dir():
        file = file / "report.json"
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NoSuchFile(f"{file}: no such file", "pass a report.json, or the folder that holds it") from None
    except OSError as error:
        raise RooflineError(f"{file}: {error.strerror}", "pass a report.json that this user may read") from error
    except (ValueError, RecursionError) as error:
        raise RooflineError(f"{file}: not valid JSON: {error}") from None
    return Report.read(data, file)
