"""The log of calls: JSON lines that several processes may append to."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from data.atomic import PRIVATE_FILE
from data.errors import InputError
from data.neutralise import one_line, visible

_MAX_CHARS = 200
_MAX_ARGUMENTS = 20
_MAX_OUTPUT = 1 << 20  # characters; more than any answer within the limits of the tools


@dataclass(frozen=True, slots=True)
class Call:
    """One call as logged; `outcome` is ok, refused, invalid or error.

    `question` and `attempt` are what the client says that it is working on, `output` is the text of
    the answer: with them the log is the trace of an attempt.
    """

    tool: str
    arguments: Mapping[str, Any]
    outcome: str
    rows: int
    milliseconds: float
    question: str | None = None
    attempt: str | None = None
    output: str = ""


class CallLog:
    """Appends one line per call to a file, or to standard error without one."""

    def __init__(self, path: Path | None) -> None:
        """Raises InputError if the file cannot be opened for appending."""
        self._path = path
        if path is not None:
            try:
                os.close(self._open(path))
            except OSError as error:
                reason = error.strerror or type(error).__name__
                expected = "a file that the call log can be appended to"
                raise InputError(str(path), reason, expected, "Choose another file.") from error

    def record(self, call: Call) -> None:
        """Append `call` in one write, under a lock."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        body = asdict(call) | {
            "tool": _short(call.tool),
            "arguments": _shown(call.arguments),
            "question": _value(call.question),
            "attempt": _value(call.attempt),
            "output": visible(call.output[:_MAX_OUTPUT]),
        }
        line = orjson.dumps({"at": at, "process": os.getpid()} | body) + b"\n"
        if self._path is None:
            sys.stderr.buffer.write(line)
            sys.stderr.buffer.flush()
            return
        handle = self._open(self._path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            os.write(handle, line)
        finally:
            os.close(handle)

    def _open(self, path: Path) -> int:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)


def _shown(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments with long texts cut, control characters named, and no more than 20 of them."""
    names = list(arguments)[:_MAX_ARGUMENTS]
    shown = {_short(str(name)): _value(arguments[name]) for name in names}
    left_out = len(arguments) - len(names)
    return shown | ({"…": f"{left_out} more"} if left_out else {})


def _value(value: Any) -> Any:
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int) and abs(value) < 2**53:
        return value
    if isinstance(value, str | int):
        return _short(str(value))
    return f"{type(value).__name__} of {len(value)}" if hasattr(value, "__len__") else "?"


def _short(text: str) -> str:
    shown = one_line(text[: _MAX_CHARS + 1])
    return shown if len(text) <= _MAX_CHARS else f"{shown[:_MAX_CHARS]}… ({len(text)} characters)"
