"""A report as a file, for commands that read one."""

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Iterator

if TYPE_CHECKING:
    from .report import Report


@contextlib.contextmanager
def report_file(report: "Report") -> Iterator[Path]:
    """The report's own file if it has one, else a temporary file."""
    if report.path is not None and report.path.is_file():
        yield report.path
        return
    with tempfile.TemporaryDirectory(prefix="roofline-") as folder:
        yield report.save(Path(folder) / "report.json")
