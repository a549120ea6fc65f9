"""Structured logs: one JSON object per line, with the id of the run, in one file per run.

Names and numbers only: messages come from this project's own code, and errors are reduced to their
class and location (law 10), since an error message may hold session text.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from data.atomic import PRIVATE_FILE, private_dir
from data.errors import InputError, error_location
from data.neutralise import one_line
from data.progress import console, is_tracking, keep_telling, say

LOGGER = "benchmint"
log = logging.getLogger(f"{LOGGER}.build")
FLOW_RUN = "PREFECT__FLOW_RUN_ID"  # set by Prefect's worker for the runs it starts
_FOLDER = "logs"
_KEPT = 100  # log files
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_PLAIN = (str, int, float, bool, type(None))


class _JsonLines(logging.Formatter):
    """A record as a line: time (UTC), level, run, logger, message, and the fields of `extra`."""

    def __init__(self, run_id: str) -> None:
        super().__init__()
        self._run_id = run_id

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "run_id": self._run_id,
            "logger": record.name,
            "message": _text(record.getMessage()),
        }
        line |= {name: _plain(record.__dict__[name]) for name in sorted(_fields(record))}
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            line["error"], line["error_at"] = type(error).__name__, error_location(error)
        return orjson.dumps(line).decode()


@contextmanager
def logging_to(out: Path, run_id: str, level: int = logging.INFO) -> Iterator[Path]:
    """Append the records of `benchmint` loggers to `<out>/private/logs/<run id>.jsonl` (0600).

    Raises InputError for an id that is not a plain file name.
    """
    if not _RUN_ID.fullmatch(run_id):
        raise InputError("log", f"a run id of {len(run_id)} characters", "letters, digits, ._-", "")
    private_dir(out / "private")
    path = private_dir(out / "private" / _FOLDER) / f"{run_id}.jsonl"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, PRIVATE_FILE)
    logger = logging.getLogger(LOGGER)
    with os.fdopen(descriptor, "a", encoding="utf-8") as stream:
        handler = logging.StreamHandler(stream)
        handler.setFormatter(_JsonLines(run_id))
        handler.setLevel(level)
        before = logger.level, logger.propagate
        logger.setLevel(min(level, before[0] or level))
        logger.propagate = False  # keep records off the terminal and out of Prefect's database
        logger.addHandler(handler)
        try:
            yield path
        finally:
            logger.removeHandler(handler)
            logger.setLevel(before[0])
            logger.propagate = before[1]


@contextmanager
def logged(out: Path) -> Iterator[None]:
    """Log what is done in `out`: when it began, and that it succeeded or which error ended it.

    A log is named by time and process id. It holds the id of the run that is staged, and the id of
    the flow run if a deployment started it.
    """
    began = time.perf_counter()
    _forget(out / "private" / _FOLDER)
    log_id = f"{datetime.now(UTC):%Y%m%dT%H%M%S}Z-{os.getpid()}"
    with logging_to(out, log_id):
        log.info("began", extra={"flow_run": os.environ.get(FLOW_RUN)})
        try:
            yield
        except BaseException:
            log.exception("ended early", extra={"seconds": round(time.perf_counter() - began, 3)})
            raise
        log.info("ended well", extra={"seconds": round(time.perf_counter() - began, 3)})


def _forget(folder: Path) -> None:
    """Remove all but the newest logs; their names begin with the time."""
    for old in sorted(folder.glob("*.jsonl"))[: -_KEPT + 1]:
        old.unlink(missing_ok=True)


class _TerminalLines(logging.Handler):
    """Log lines for the terminal: on standard error, around the progress bars."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print time, message, and the fields that have a value."""
        at = datetime.fromtimestamp(record.created).astimezone()
        fields = ((name, _plain(record.__dict__[name])) for name in _fields(record))
        shown = " ".join(f"{name}={value}" for name, value in fields if value is not None)
        line = one_line(f"{at:%H:%M:%S} {_text(record.getMessage())} {shown}".rstrip())
        console.print(line, markup=False, highlight=False, soft_wrap=True)


class Stages(logging.Handler):
    """Prints the name of each stage as it begins, except stages with their own progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print what is being done now, if the record marks a beginning."""
        if record.getMessage() == "computing" and not is_tracking():
            say(f"{one_line(str(record.__dict__['stage']))} …")
        elif record.getMessage() == "staged":
            say("writing and verifying the release …")


def tell_all() -> None:
    """From now on print all log records to standard error (`--verbose`)."""
    _tell(_TerminalLines(logging.INFO))


def tell_stages() -> None:
    """Print each stage that begins to standard error, unless all records are printed."""
    _tell(Stages(logging.INFO))
    keep_telling()


def _tell(handler: logging.Handler) -> None:
    logger = logging.getLogger(LOGGER)
    if any(isinstance(known, _TerminalLines | Stages) for known in logger.handlers):
        return
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.addHandler(handler)


_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
_OWN = frozenset({"at", "level", "run_id", "logger", "error", "error_at"})


def _fields(record: logging.LogRecord) -> list[str]:
    """The names given in `extra`, in order; the line's own names are reserved."""
    return [name for name in record.__dict__ if name not in _STANDARD | _OWN]


def _plain(value: object) -> Any:
    """A number or text as it is; of anything else only its type."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53:
        return str(value)
    return value if isinstance(value, _PLAIN) else f"({type(value).__name__})"


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
