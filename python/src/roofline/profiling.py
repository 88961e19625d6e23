"""Profiles of the running process, of one function, or of a program."""

import contextlib
import ctypes
import functools
import inspect
import os
import signal
import subprocess
import warnings
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Generic, Iterator, List, Mapping, Optional, Sequence, Type, TypeVar, Union, overload

from . import _binary, regions
from ._binary import RooflineError
from .regions import RegionTime, RegionTimes, region
from .report import Report

if TYPE_CHECKING:  # typing has ParamSpec since Python 3.10; type checkers know typing_extensions
    from typing_extensions import ParamSpec

    Parameters = ParamSpec("Parameters")
else:
    Parameters = TypeVar("Parameters")
Result = TypeVar("Result")

_SPOOL = "ROOFLINE_SPOOL"  # set in programs that `roofline profile` records with their GPUs
_active: List["Profiling"] = []


class Profiling:
    """One recording; `roofline.profile()` makes it. It may be entered again, which replaces the report."""

    def __init__(self, name: str = "profile", output: "Optional[Union[str, os.PathLike[str]]]" = None) -> None:
        self.name = name
        self.output = output
        self.is_region = False  #: an outer `roofline profile` makes the report
        self._depth = 0
        self._report: Optional[Report] = None
        self._recorder: "Optional[subprocess.Popen[bytes]]" = None
        self._region: Optional[region] = None
        self._times = RegionTimes()

    @property
    def report(self) -> Report:
        """What was found. Raises RooflineError before the end, and under `roofline profile`, whose report it is in."""
        if self.is_region:
            raise RooflineError(
                "an outer roofline profile records this program, and writes the report",
                f"its kernels of this part are in the range {self.name!r}; --step {self.name} makes it the step",
            )
        if self._report is None:
            raise RooflineError("nothing was recorded yet", "leave the block or return from the function first")
        return self._report

    @property
    def regions(self) -> Mapping[str, RegionTime]:
        """Wall time of the regions that ended while this recorded, by name."""
        return self._times.by_name

    def start(self) -> None:
        """Begins. Raises RooflineError where the system does not permit it."""
        self._depth += 1
        if self._depth > 1:
            return  # a decorated function that calls itself
        self._times = RegionTimes()
        try:
            if os.environ.get(_SPOOL):
                self.is_region = True
                self._region = region(self.name)
                self._region.__enter__()
            else:
                self._record()
        except BaseException:
            self._depth = 0
            raise
        regions.listeners.append(self._times)

    def stop(self) -> None:
        """Ends, and makes the report."""
        self._depth -= 1
        if self._depth > 0:
            return
        regions.listeners.remove(self._times)
        if self._region is not None:
            self._region.__exit__(None, None, None)
            self._region = None
        if self._recorder is not None:
            recorder, self._recorder = self._recorder, None
            _active.remove(self)
            self._report = _finished(recorder, self.output)

    def __enter__(self) -> "Profiling":
        self.start()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        try:
            self.stop()
        except RooflineError:
            if error is None:  # the program's own error is more important
                raise

    def __call__(self, function: "Callable[Parameters, Result]") -> "Profiled[Parameters, Result]":
        """A function that is recorded whenever it is called; its `profiling` is this object."""
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError("a generator runs in parts: use `with roofline.profile():` around the loop over it")
        if inspect.iscoroutinefunction(function):
            coroutine: Any = function

            @functools.wraps(function)
            async def awaited(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return await coroutine(*args, **kwargs)

            measured: Any = awaited
        else:

            @functools.wraps(function)
            def called(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return function(*args, **kwargs)

            measured = called
        measured.profiling = self
        return measured  # type: ignore[no-any-return]

    def _repr_html_(self) -> str:
        return self.report._repr_html_()

    def _record(self) -> None:
        if _active:
            raise RooflineError("this process is being recorded already", "end that recording, or use roofline.region()")
        if _has_cuda():
            warnings.warn(
                "CUDA has started in this process, so its kernels cannot be recorded any more: the report has the host "
                "only. To record kernels: roofline profile -- python SCRIPT",
                RuntimeWarning,
                stacklevel=4,
            )
        with _traceable() as permit:
            self._recorder = _started(self.output)
            permit(self._recorder.pid)
        _active.append(self)


class Profiled(Generic[Parameters, Result]):
    """The type of a decorated function, which is called as before: `profiling` has its recordings. At run time it is a
    function with that attribute."""

    if TYPE_CHECKING:
        profiling: Profiling
        __name__: str
        __wrapped__: Callable[Parameters, Result]

        def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result: ...

        @overload
        def __get__(self, instance: None, owner: Any) -> "Profiled[Parameters, Result]": ...

        @overload
        def __get__(self, instance: object, owner: Any) -> "Profiled[..., Result]": ...

        def __get__(self, instance: Any, owner: Any) -> Any: ...


@overload
def profile(function: "Callable[Parameters, Result]") -> "Profiled[Parameters, Result]": ...


@overload
def profile(
    function: None = None, *, name: str = ..., output: "Optional[Union[str, os.PathLike[str]]]" = ...
) -> Profiling: ...


def profile(
    function: "Optional[Callable[Parameters, Result]]" = None,
    *,
    name: str = "profile",
    output: "Optional[Union[str, os.PathLike[str]]]" = None,
) -> "Union[Profiled[Parameters, Result], Profiling]":
    """Records where this process spends its time: its threads and its child processes, sampled from outside.

        with roofline.profile() as profiling:
            work()
        profiling.report

        @roofline.profile
        def work(): ...
        work(); work.profiling.report

    `output` is a folder for report.json, page and chart. Kernels of a GPU are recorded only in programs that `roofline
    profile` starts, because CUDA takes a recorder only when it starts; there this is a named region (`name`)."""
    profiling = Profiling(name, output)
    return profiling if function is None else profiling(function)


def profile_program(
    command: Sequence[Union[str, "os.PathLike[str]"]],
    *,
    output: "Optional[Union[str, os.PathLike[str]]]" = None,
    options: Sequence[str] = (),
) -> Report:
    """Runs a program under `roofline profile` and returns its report, also of one that fails. `options` are those of the
    command, such as ["--window", "5s"] or ["--emulate"]."""
    words: List[Union[str, "os.PathLike[str]"]] = ["profile", *options]
    if output is not None:
        words += ["--output", output]
    answer = _binary.run_json([*words, "--", *command])
    return Report.read(answer["data"], _report_path(output))


def _report_path(output: "Optional[Union[str, os.PathLike[str]]]") -> Optional[Path]:
    return Path(output) / "report.json" if output is not None else None


def _has_cuda() -> bool:
    """Whether the CUDA driver is loaded."""
    try:
        return "/libcuda.so" in Path("/proc/self/maps").read_text(errors="replace")
    except OSError:
        return False


@contextlib.contextmanager
def _traceable() -> Iterator[Callable[[int], None]]:
    """Where only descendants may be traced (Yama), lets the recorder read this process: any process until its PID is
    known, then that one until it ends."""
    try:
        restricted = Path("/proc/sys/kernel/yama/ptrace_scope").read_text().strip() == "1"
    except OSError:
        restricted = False
    set_ptracer = 0x59616D61  # PR_SET_PTRACER

    def permit(pid: int) -> None:
        if restricted:
            ctypes.CDLL(None, use_errno=True).prctl(set_ptracer, ctypes.c_ulong(pid), 0, 0, 0)

    permit(ctypes.c_ulong(-1).value)
    permitted = False

    def permit_one(pid: int) -> None:
        nonlocal permitted
        permit(pid)
        permitted = True

    try:
        yield permit_one
    finally:
        if not permitted:
            permit(0)


def _started(output: "Optional[Union[str, os.PathLike[str]]]") -> "subprocess.Popen[bytes]":
    """The recorder, once it records."""
    command = [_binary.binary(), "profile", "--json", "--pid", str(os.getpid())]
    if output is not None:
        command += ["--output", os.fspath(output), "--format", "json,html,svg"]
    recorder = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "ROOFLINE_PROGRESS": "lines"},
        start_new_session=True,  # Ctrl-C is for this program
    )
    assert recorder.stderr is not None
    messages = []
    for line in recorder.stderr:
        if line.startswith(b'{"progress":'):
            return recorder
        messages.append(line)
    document, more = recorder.communicate()
    _binary.read_answer(document, b"".join(messages) + more, recorder.returncode)
    raise RooflineError("the recording ended before it began")


def _finished(recorder: "subprocess.Popen[bytes]", output: "Optional[Union[str, os.PathLike[str]]]") -> Report:
    with contextlib.suppress(ProcessLookupError):
        recorder.send_signal(signal.SIGINT)
    document, messages = recorder.communicate()
    answer = _binary.read_answer(document, messages, recorder.returncode)
    return Report.read(answer["data"], _report_path(output))
