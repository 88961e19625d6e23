"""Named parts of a program: NVTX ranges for a recording of the GPU, wall time for roofline.profile()."""

import functools
import sys
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Callable, Dict, List, Optional, Tuple, Type, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass
class RegionTime:
    """Wall time of a region, in all threads."""

    calls: int = 0
    total_s: float = 0.0


class RegionTimes:
    """Wall times by name; threads add to them."""

    def __init__(self) -> None:
        self.by_name: Dict[str, RegionTime] = {}
        self._lock = threading.Lock()

    def add(self, name: str, seconds: float) -> None:
        with self._lock:
            entry = self.by_name.setdefault(name, RegionTime())
            entry.calls += 1
            entry.total_s += seconds


#: What regions are added to: the times of the recordings that are open.
listeners: List[RegionTimes] = []


def _nvtx() -> Optional[Tuple[Callable[[str], Any], Callable[[], Any]]]:
    """Push and pop of NVTX, of a library that the program has loaded; roofline loads none."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return torch.cuda.nvtx.range_push, torch.cuda.nvtx.range_pop
    nvtx = sys.modules.get("nvtx")
    if nvtx is not None:
        return nvtx.push_range, nvtx.pop_range
    cupy = sys.modules.get("cupy")
    if cupy is not None:
        return cupy.cuda.nvtx.RangePush, cupy.cuda.nvtx.RangePop
    return None


class region:
    """A named part of the program, as context manager or decorator.

    Under `roofline profile` it is an NVTX range if PyTorch, nvtx or CuPy is loaded: the report has its kernels in
    `ranges`, and `--step NAME` makes it the step. Within roofline.profile() its wall time is in `regions` of that."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._open: List[Tuple[float, Optional[Callable[[], Any]]]] = []

    def __enter__(self) -> "region":
        nvtx = _nvtx()
        if nvtx is not None:
            nvtx[0](self.name)
        self._open.append((time.perf_counter(), nvtx[1] if nvtx is not None else None))
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        begin, pop = self._open.pop()
        seconds = time.perf_counter() - begin
        if pop is not None:
            pop()
        for times in listeners:
            times.add(self.name, seconds)

    def __call__(self, function: Function) -> Function:
        @functools.wraps(function)
        def measured(*args: Any, **kwargs: Any) -> Any:
            with region(self.name):  # one per call: calls may overlap
                return function(*args, **kwargs)

        return measured  # type: ignore[return-value]
