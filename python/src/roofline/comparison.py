"""What changed between two runs, by `roofline compare`."""

import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Sequence, Tuple, Union

from . import _binary, _temporary
from .report import Interval, Report, _interval, _number

Side = Union[Report, str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Change:
    """A row of both runs: a ratio above 1 is slower."""

    label: str
    change: str  #: "slower", "faster", "same", "undecided", "only before", "only now" or "not timed"
    time_ratio: Optional[float]
    time_ratio_ci95: Optional[Interval]
    regression: bool
    data: Mapping[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Comparison:
    rows: Tuple[Change, ...] = field(repr=False)
    regressions: int
    notes: Tuple[str, ...]
    step_ratio: Optional[float]  #: of two programs: the later median step over the earlier one
    step_ratio_ci95: Optional[Interval]
    data: Mapping[str, Any] = field(repr=False, compare=False)


def compare(before: Union[Side, Sequence[Side]], after: Union[Side, Sequence[Side]], *,
            max_slowdown: float = 0.03) -> Comparison:
    """Compares reports, files or folders; a list of several runs on a side makes the verdict reliable. `max_slowdown`
    is the fraction above which a kernel or a step is a regression."""
    with ExitStack() as stack:
        def paths(side: Union[Side, Sequence[Side]]) -> Sequence[str]:
            runs = [side] if isinstance(side, (Report, str, os.PathLike)) else list(side)
            return [_path(run, stack) for run in runs]

        words = ["compare", f"--max-slowdown={100 * max_slowdown}%", *paths(before), "--", *paths(after)]
        data = _binary.run_json(words)["data"]
    typical = (data.get("program") or {}).get("typical") or {}
    rows = tuple(
        Change(row["label"], row["change"], _number(row.get("time_ratio")), _interval(row.get("time_ratio_ci95")),
               bool(row.get("regression")), row)
        for row in data["rows"]
    )
    return Comparison(rows, int(data["regressions"]), tuple(data.get("notes", [])), _number(typical.get("ratio")),
                      _interval(typical.get("ratio_ci95")), data)


def _path(run: Side, stack: ExitStack) -> str:
    if isinstance(run, Report):
        return os.fspath(stack.enter_context(_temporary.report_file(run)))
    path = os.fspath(run)
    return os.path.join(path, "report.json") if os.path.isdir(path) else path
