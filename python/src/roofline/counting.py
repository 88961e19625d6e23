"""Counts the work of a call in a process of its own: under emulation on a CPU, by the counters of a GPU."""

import os
import pickle
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from . import _binary
from ._binary import RooflineError
from ._counted import RANGE
from .work import Work

_COUNTING = "ROOFLINE_PYTHON_COUNTS"  #: set in the process that counts


def refuse_while_imported() -> None:
    """Raises RooflineError in the process that counts: a script that measures when it is imported would never end."""
    if os.environ.get(_COUNTING):
        raise RooflineError("the script measures while it is imported", "put that under if __name__ == \"__main__\":")


def count_work(
    function: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Optional[Mapping[str, Any]] = None,
    *,
    device: str = "cpu",
    calls: int = 2,
) -> Work:
    """The work of one call of `function(*args, **kwargs)`, counted in another process that gets them pickled.

    On "cpu" it is called once and `calls` times more under emulation (`roofline profile --emulate`, which needs
    Valgrind); the work is the difference over `calls`. FLOPs are exact, bytes of main memory those of modelled caches.
    On "cuda" it is called for some seconds under `roofline profile`, which counts its kernels. Raises RooflineError with
    the reason where it cannot be counted."""
    refuse_while_imported()
    if os.environ.get("ROOFLINE_SPOOL"):
        raise RooflineError("roofline profile records this program, which cannot count another one", "run it without")
    if device not in ("cpu", "cuda"):
        raise ValueError("device: expected \"cpu\" or \"cuda\"")
    if calls < 1:
        raise ValueError("calls: expected 1 or more")
    with tempfile.TemporaryDirectory(prefix="roofline-") as folder:
        path = Path(folder) / "call"
        path.write_bytes(_pickled(function, tuple(args), dict(kwargs or {})))
        if device == "cuda":
            return _work_of_step(_profiled(path, 0, ["--device", "cuda", "--step", RANGE]))
        once, more = (_profiled(path, count, ["--emulate"]) for count in (1, 1 + calls))
        return _difference(once, more, calls)


def _pickled(function: Callable[..., Any], args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> bytes:
    """The script to import first, or "", and the call."""
    try:
        from cloudpickle import dumps  # also takes lambdas, and functions of notebooks
    except ImportError:
        dumps = pickle.dumps
    try:
        call: bytes = dumps((function, args, kwargs))
    except Exception as error:  # whatever an object's own methods raise
        raise RooflineError(f"the call cannot be sent to another process: {error}",
                            "use a function of a module, or pip install cloudpickle") from error
    script = ""
    if dumps is pickle.dumps and b"__main__" in call:
        script = getattr(sys.modules["__main__"], "__file__", None) or ""
        if not script:
            raise RooflineError("a function of a notebook cannot be sent to another process", "pip install cloudpickle")
    return pickle.dumps(os.path.abspath(script) if script else "") + call


def _profiled(path: Path, calls: int, options: List[str]) -> Dict[str, Any]:
    """The report of the process that makes so many calls."""
    environment = {
        _COUNTING: "1",
        "PYTHONHASHSEED": "0",  # the same order of sets in each process
        "PYTHONPATH": os.pathsep.join(place or os.getcwd() for place in sys.path),
    }
    command = ["profile", *options, "--", sys.executable, "-m", "roofline._counted", str(path), str(calls)]
    report: Dict[str, Any] = _binary.run_json(command, environment)["data"]
    failed = path.with_name(path.name + ".error")
    if failed.exists():
        raise RooflineError(f"the call failed in the process that counts: {failed.read_text(encoding='utf-8')}")
    if report["profile"].get("exit_status") != 0:
        raise RooflineError("the process that counts ended early")
    return report


def _difference(once: Dict[str, Any], more: Dict[str, Any], calls: int) -> Work:
    totals = []
    for report in (once, more):
        run = report["profile"].get("emulated", {})
        if "totals" not in run:
            raise RooflineError(f"the emulated run was not counted to its end: {run.get('ended', 'no counts')}")
        totals.append(run["totals"])
    before, after = totals

    def per_call(first: float, last: float) -> float:
        return max(0.0, last - first) / calls

    flops = {pipe: per_call(before["flops"].get(pipe, 0.0), count) for pipe, count in after["flops"].items()}
    return _work(flops, per_call(before["read_bytes"], after["read_bytes"]),
                 per_call(before["write_bytes"], after["write_bytes"]), "emulated")


def _work_of_step(report: Dict[str, Any]) -> Work:
    """Of the kernels in the step of a profile, each as often as a step launches it. A CUDA graph is counted as a whole."""
    flops: Dict[str, float] = {}
    read = written = 0.0
    rows = [row for row in report["results"] if row.get("profiled", {}).get("step", {}).get("launches", 0) > 0
            and not row["profiled"].get("in_graph")]
    if not rows:
        raise RooflineError("the call launched no kernel that was recorded", "count_work(…, device=\"cpu\")")
    for row in rows:
        launches = row["profiled"]["step"]["launches"]
        work = row.get("work", {})
        if not work.get("traffic", {}).get("hbm"):
            why = report["profile"].get("why_no_counters") or row["profiled"].get("not_counted") or "no counters"
            raise RooflineError(f"{row['label']} was not counted: {why}", "roofline doctor says how to enable counters")
        for pipe, count in work.get("flops", {}).items():
            flops[pipe] = flops.get(pipe, 0.0) + launches * count
        read += launches * work["traffic"]["hbm"].get("read", 0.0)
        written += launches * work["traffic"]["hbm"].get("write", 0.0)
    return _work(flops, read, written, "counted")


def _work(flops: Dict[str, float], read: float, written: float, source: str) -> Work:
    done = {pipe: count for pipe, count in flops.items() if count > 0}
    pipe = max(done, key=lambda name: done[name], default="fp32")
    most = done.pop(pipe, 0.0)
    return Work(most, read, written, pipe, done, source)
