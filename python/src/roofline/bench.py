"""Times a callable: warm-up, repetitions, the median with its interval, and GPUs awaited."""

import gc
import sys
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _statistics, counting, regions
from ._binary import RooflineError
from ._notebook import duration
from .regions import RegionTime, RegionTimes
from .report import Interval, Machine
from .work import Work

_LEAST_SAMPLES = 10
_MOST_SAMPLES = 10_000
_LEAST_SAMPLE_S = 200e-6  #: of a batch of calls: a reading of the clock is far shorter
_ENOUGH = 0.005  #: half of the interval over the median


@dataclass(frozen=True)
class Bench:
    """The time of one call, in seconds."""

    name: str
    median_s: float
    ci95: Optional[Interval]  #: of the median; None: fewer than six independent samples
    min_s: float
    q05_s: float
    q95_s: float
    samples_s: Tuple[float, ...] = field(repr=False)
    calls_per_sample: int
    warm_up_s: float
    converged: bool  #: the interval is within 0.5 % of the median
    drifting: bool  #: the last third of the samples differs from the first beyond their intervals
    synchronized: str  #: what was awaited after each sample: "torch", "cupy", "jax", "given" or ""
    work: Optional[Work]
    regions: Mapping[str, RegionTime] = field(repr=False)
    not_counted: str = ""  #: why there is no work although it was to be counted

    @property
    def flops_per_s(self) -> Optional[float]:
        return self.work.flops / self.median_s if self.work and self.work.flops else None

    @property
    def bytes_per_s(self) -> Optional[float]:
        return self.work.bytes / self.median_s if self.work and self.work.bytes else None

    def fraction_of_roof(self, machine: Machine) -> float:
        """Attainable over measured time: above 1, the work or the roof is wrong. Raises RooflineError without work."""
        if self.work is None:
            reason = self.not_counted or "no work was given"
            raise RooflineError(reason, "bench(…, work=Work(flops=…, read_bytes=…)), or work=\"count\"")
        return self.work.attainable_s(machine)[0] / self.median_s

    def __str__(self) -> str:
        text = f"{self.name}: {duration(self.median_s)}"
        if self.ci95:
            text += f" [{duration(self.ci95[0])}, {duration(self.ci95[1])}]"
        else:
            text += ", no interval"
        text += f", {len(self.samples_s)} samples"
        if self.calls_per_sample > 1:
            text += f" of {self.calls_per_sample} calls"
        if self.flops_per_s:
            text += f", {self.flops_per_s / 1e9:.4g} GFLOP/s"
        if self.bytes_per_s:
            text += f", {self.bytes_per_s / 1e9:.4g} GB/s"
        if self.work and self.work.source != "stated":
            text += f", work {self.work.source}"
        doubts = [word for word, holds in (("drifting", self.drifting), ("not converged", not self.converged)) if holds]
        text += "".join(f", {word}" for word in doubts)
        return text + (f"; work not counted: {self.not_counted}" if self.not_counted else "")


class _Timer:
    """Calls the function in batches, and waits for the GPU that it uses."""

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any],
                 synchronize: Union[None, str, Callable[[], Any]]) -> None:
        if isinstance(synchronize, str) and synchronize != "auto":
            raise ValueError("synchronize: expected \"auto\", None or a function")
        self._function, self._args, self._kwargs = function, tuple(args), dict(kwargs)
        self._synchronize = synchronize
        self.synchronized = ""

    def batch_s(self, calls: int) -> float:
        """Seconds of one call, of so many."""
        function, args, kwargs = self._function, self._args, self._kwargs
        self._wait(None)
        begin = time.perf_counter_ns()
        result = None
        for _ in range(calls):
            result = function(*args, **kwargs)
        self._wait(result)
        return (time.perf_counter_ns() - begin) * 1e-9 / calls

    def _wait(self, result: Any) -> None:
        if self._synchronize is None:
            return
        if callable(self._synchronize):
            self.synchronized = "given"
            self._synchronize()
            return
        torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
        if torch is not None and torch.cuda.is_initialized():
            self.synchronized = "torch"
            torch.cuda.synchronize()
        elif cupy is not None:
            self.synchronized = "cupy"
            cupy.cuda.get_current_stream().synchronize()
        if "jax" in sys.modules and result is not None:
            self.synchronized = "jax"
            sys.modules["jax"].block_until_ready(result)


def _warm_up(timer: _Timer, least_s: float) -> Tuple[float, float]:
    """Calls until that time is over, three times at least; the time of the last call, and that of all."""
    begin = time.perf_counter()
    calls = 0
    while True:
        last = timer.batch_s(1)
        calls += 1
        spent = time.perf_counter() - begin
        if (spent >= least_s and calls >= 3) or spent >= 100 * least_s + 10:
            return last, spent


def _is_drifting(samples: Sequence[float]) -> bool:
    third = len(samples) // 3
    early, late = samples[:third], samples[len(samples) - third :]
    if third < 2:
        return False
    first, last = _statistics.steady_interval(early), _statistics.steady_interval(late)
    apart = abs(_statistics.median(late) - _statistics.median(early)) > 0.01 * _statistics.median(samples)
    return apart and (first[1] < last[0] or last[1] < first[0])


def _has_converged(samples: Sequence[float]) -> bool:
    interval = _statistics.interval_of_median(samples)
    if interval is None or _statistics.effective_samples(samples) < 32:
        return False
    middle = _statistics.median(samples)
    return max(interval[1] - middle, middle - interval[0]) <= _ENOUGH * middle


def bench(
    function: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Optional[Mapping[str, Any]] = None,
    *,
    name: Optional[str] = None,
    work: Union[None, Work, str] = None,
    warm_up_s: float = 0.1,
    max_time_s: float = 3.0,
    synchronize: Union[None, str, Callable[[], Any]] = "auto",
) -> Bench:
    """The time of `function(*args, **kwargs)`.

    Short calls are timed in batches of at least 200 µs. Samples are taken until the 95 % interval of the median is within
    0.5 % of it, or `max_time_s` is over; ten at least. The garbage collector is off meanwhile. A GPU is awaited before and
    after each sample: PyTorch's current device, CuPy's stream, or a JAX result; `synchronize` may be another function, or
    None. A time is that of calls one after another, with their launches; inputs stay in caches.

    `work` is that of a call as you know it, or "count": count_work() counts it in another process, on the device that
    was awaited. Where it cannot be counted, `not_counted` says why."""
    if isinstance(work, str) and work != "count":
        raise ValueError("work: expected Work(…), \"count\" or None")
    counting.refuse_while_imported()
    timer = _Timer(function, args, kwargs or {}, synchronize)
    once, warmed_s = _warm_up(timer, warm_up_s)
    calls = max(1, min(1_000_000, round(_LEAST_SAMPLE_S / max(once, 1e-9)))) if once < _LEAST_SAMPLE_S else 1
    samples: List[float] = []
    times = RegionTimes()
    collects = gc.isenabled()
    gc.collect()
    gc.disable()
    regions.listeners.append(times)
    converged = False
    look = 32
    try:
        begin = time.perf_counter()
        while len(samples) < _MOST_SAMPLES:
            samples.append(timer.batch_s(calls))
            if len(samples) >= look:  # each look costs time and, with luck, ends too soon
                look = max(look + 1, round(look * 1.15))
                converged = _has_converged(samples)
            spent = time.perf_counter() - begin
            late = spent >= max_time_s and len(samples) >= _LEAST_SAMPLES
            if converged or late or spent >= 3 * max_time_s:
                break
    finally:
        regions.listeners.remove(times)
        if collects:
            gc.enable()
    not_counted = ""
    if isinstance(work, str):
        device = "cuda" if timer.synchronized in ("torch", "cupy") else "cpu"
        try:
            work = counting.count_work(function, args, kwargs, device=device)
        except RooflineError as error:
            work, not_counted = None, str(error)
    ascending = sorted(samples)
    by_name: Dict[str, RegionTime] = times.by_name
    return Bench(
        name=name or str(getattr(function, "__qualname__", function)),
        median_s=_statistics.median(samples),
        ci95=_statistics.interval_of_median(samples),
        min_s=ascending[0],
        q05_s=_statistics.quantile(ascending, 0.05),
        q95_s=_statistics.quantile(ascending, 0.95),
        samples_s=tuple(samples),
        calls_per_sample=calls,
        warm_up_s=warmed_s,
        converged=converged or _has_converged(samples),
        drifting=_is_drifting(samples),
        synchronized=timer.synchronized,
        work=work,
        regions=by_name,
        not_counted=not_counted,
    )
