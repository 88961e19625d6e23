"""Reports of roofline, profiles of running code, and honest timing of callables.

    report = roofline.load("reports/train")       # what a run has found
    with roofline.profile() as profile: ...       # where this process spends its time
    result = roofline.bench(function, 1, 2)       # how long a call takes
"""

from ._binary import CommandFailed, NoSuchFile, NoSuchRow, NotFound, RooflineError, run, run_json
from ._version import VERSION as __version__
from .bench import Bench, bench
from .comparison import Change, Comparison, compare
from .counting import count_work
from .profiling import Profiled, Profiling, profile, profile_program
from .regions import region
from .report import Ceiling, Diagnosis, HostLine, Machine, Program, Report, Row, Saving, Steps, load
from .work import Work

__all__ = [
    "Bench",
    "Ceiling",
    "Change",
    "CommandFailed",
    "Comparison",
    "Diagnosis",
    "HostLine",
    "Machine",
    "NoSuchFile",
    "NoSuchRow",
    "NotFound",
    "Profiled",
    "Profiling",
    "Program",
    "Report",
    "RooflineError",
    "Row",
    "Saving",
    "Steps",
    "Work",
    "__version__",
    "bench",
    "compare",
    "count_work",
    "load",
    "profile",
    "profile_program",
    "region",
    "run",
    "run_json",
]
