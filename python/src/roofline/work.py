"""Work of a call, and the time that it needs at the roofs of a machine."""

from dataclasses import dataclass, field
from typing import Mapping, Optional, Tuple

from ._binary import RooflineError
from .report import Machine


@dataclass(frozen=True)
class Work:
    """Work of one call: FLOPs of a pipe, and bytes read from and written to main memory."""

    flops: float = 0.0
    read_bytes: float = 0.0
    written_bytes: float = 0.0
    pipe: str = "fp32"  #: name of a compute roof: "fp32", "tensor.bf16", …
    other_flops: Mapping[str, float] = field(default_factory=dict)  #: of further pipes, by name
    source: str = "stated"  #: by the caller; of count_work() "emulated" or "counted"

    @property
    def bytes(self) -> float:
        return self.read_bytes + self.written_bytes

    def attainable_s(self, machine: Machine) -> Tuple[float, str]:
        """Minimum time at a machine's burst roofs, and the limiting roof. Raises RooflineError."""
        times = []
        for pipe, flops in {self.pipe: self.flops, **self.other_flops}.items():
            rate = _rate(machine, pipe) if flops > 0 else 1.0
            if rate is None:
                raise RooflineError(f"{machine.name} has no roof {pipe!r}", "roofline machine lists the roofs")
            if flops > 0:
                times.append((flops / rate, pipe))
        if self.bytes > 0:
            level = "dram" if machine.kind == "cpu" else "hbm"
            rate, name = _memory_rate(machine, level, self.written_bytes / self.bytes)
            times.append((self.bytes / rate, name))
        if not times:
            raise RooflineError("the work has neither FLOPs nor bytes", "pass Work(flops=…, read_bytes=…)")
        return max(times)


#: Share of written bytes of the patterns that a level's roofs were measured with.
_WRITTEN = {"read": 0.0, "read4_write1": 1 / 5, "triad": 1 / 3, "copy": 1 / 2, "read1_write2": 2 / 3,
            "read1_write4": 4 / 5, "write": 1.0}


def _rate(machine: Machine, name: str) -> Optional[float]:
    for ceiling in machine.ceilings:
        if (ceiling.name, ceiling.regime, ceiling.role) == (name, "burst", "roof"):
            return ceiling.value
    return None


def _memory_rate(machine: Machine, level: str, written: float) -> Tuple[float, str]:
    """Interpolates between the two measured mixes with the nearest shares of writes (docs/report-schema.md)."""
    measured = sorted(
        (share, rate, f"{level}.{pattern}")
        for pattern, share in _WRITTEN.items()
        for rate in [_rate(machine, f"{level}.{pattern}")]
        if rate is not None
    )
    if not measured:
        raise RooflineError(f"{machine.name} has no roof of main memory", "roofline calibrate measures it")
    below = max((entry for entry in measured if entry[0] <= written + 1e-9), default=measured[0])
    above = min((entry for entry in measured if entry[0] >= written - 1e-9), default=measured[-1])
    part = (written - below[0]) / (above[0] - below[0]) if above[0] > below[0] else 0.0
    if part < 0.01:
        return below[1], below[2]
    if part > 0.99:
        return above[1], above[2]
    return 1 / ((1 - part) / below[1] + part / above[1]), (below if part < 0.5 else above)[2]
