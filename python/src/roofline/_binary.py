"""The roofline binary: found, run, and its errors as exceptions."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Sequence, Union

Arguments = Sequence[Union[str, "os.PathLike[str]"]]


class RooflineError(Exception):
    """An error message; `hint` says what to do next."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message} ({hint})" if hint else message)
        self.message = message
        self.hint = hint


class NotFound(RooflineError):
    """The binary is not installed."""


class NoSuchRow(RooflineError, KeyError):
    """No row, or more than one, has that name; no ceiling has it."""

    __str__ = Exception.__str__  # KeyError shows the message in quotes


class NoSuchFile(RooflineError, FileNotFoundError):
    """There is no report at that path."""

    __str__ = Exception.__str__


class CommandFailed(RooflineError):
    """A command of roofline failed. `answer` is its document, `exit_code` its exit status."""

    def __init__(self, message: str, hint: str, exit_code: int, answer: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(message, hint)
        self.exit_code = exit_code
        self.answer = answer


def binary() -> str:
    """Path of the roofline binary: $ROOFLINE, else from $PATH."""
    found = os.environ.get("ROOFLINE") or shutil.which("roofline")
    if not found or not Path(found).is_file():
        raise NotFound("the roofline binary was not found", "install it, or set ROOFLINE to its path")
    return found


def run(arguments: Arguments, *, check: bool = True,
        environment: Optional[Mapping[str, str]] = None) -> "subprocess.CompletedProcess[bytes]":
    """Runs `roofline ARGUMENTS...` without input, with further variables in its environment. With `check` an exit status
    other than 0 raises CommandFailed."""
    done = subprocess.run([binary(), *(os.fspath(word) for word in arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                          env={**os.environ, **(environment or {})})
    if check and done.returncode != 0:
        raise CommandFailed(_last_error(done.stderr), "", done.returncode)
    return done


def run_json(arguments: Arguments, environment: Optional[Mapping[str, str]] = None) -> Dict[str, Any]:
    """Runs a command with --json and returns its answer (docs/report-schema.md). Raises CommandFailed if it has no data."""
    words = list(arguments)
    done = run([words[0], "--json", *words[1:]], check=False, environment=environment)
    return read_answer(done.stdout, done.stderr, done.returncode)


def read_answer(output: bytes, messages: bytes, exit_code: int) -> Dict[str, Any]:
    """The answer in the output of a command with --json. Raises CommandFailed if there is no result."""
    try:
        answer = json.loads(output)
    except ValueError:
        raise CommandFailed(_last_error(messages), "", exit_code) from None
    if "data" in answer:
        return dict(answer)
    errors = answer.get("errors") or [{"message": f"exit status {exit_code}"}]
    raise CommandFailed(str(errors[0].get("message")), str(errors[0].get("hint", "")), exit_code, answer)


def _last_error(messages: bytes) -> str:
    lines = [line.strip() for line in messages.decode(errors="replace").splitlines() if line.strip()]
    named = [line[len("roofline: "):] for line in lines if line.startswith("roofline: ")]
    return (named or lines or ["roofline failed without a message"])[-1]
