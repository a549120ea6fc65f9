"""Progress of a build for the user: one bar per long stage, on standard error, and its log.

A bar shows how many items are done, the rate, and the remaining time. Without a terminal there is
a line at the start, one every 15 s and one at the end; what has no bar is told every 15 s too.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import orjson
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from data.atomic import PRIVATE_FILE, private_dir
from data.errors import InputError, error_location
from data.neutralise import one_line

T = TypeVar("T")
console = Console(stderr=True)
log = logging.getLogger("benchmint.progress")
_LINE_EVERY = 15.0  # seconds


@dataclass(slots=True)
class _Running:
    """Something that is being done; `units` of which `total` are to do, if it is counted."""

    title: str
    units: str = ""
    total: int = 0
    done: int = 0
    has_bar: bool = False
    began: float = field(default_factory=lambda: time.monotonic())

    @property
    def line(self) -> str:
        """How far it is."""
        seconds = time.monotonic() - self.began
        if not self.units:
            return f"{self.title}: {_duration(seconds)} so far"
        counted = f"{self.title}: {self.done} of {self.total} {self.units}"
        if self.done in (0, self.total):
            return f"{counted}, {_duration(seconds)} so far"
        remaining = seconds / self.done * (self.total - self.done)
        return f"{counted}, {_rate(self.done, seconds)}, about {_duration(remaining)} left"


_running: list[_Running] = []  # what is innermost comes last
_said_at = 0.0  # when the last line was printed, by the monotonic clock


class _RateColumn(ProgressColumn):
    """Items per second, or per minute if it is slow."""

    def render(self, task: Task) -> Text:
        """Empty until something is done."""
        return Text(_rate(task.completed, task.elapsed or 0.0))


def track(
    items: Iterable[T], title: str, total: int, unit: str = "part", *, quiet: bool = False
) -> Iterator[T]:
    """Yield `items` while a bar counts them; plain lines, which name the unit, without terminal."""
    running = _Running(title, unit if total == 1 else f"{unit}s", total)
    running.has_bar = quiet or sys.stderr.isatty()
    _running.append(running)
    try:
        if quiet:
            yield from items
        elif running.has_bar:
            yield from _bar(items, title, total)
        else:
            yield from _lines(items, running)
    finally:
        _running.remove(running)
    seconds = time.monotonic() - running.began
    log.info("all done", extra={"what": title, "items": total, "seconds": round(seconds, 3)})


@contextmanager
def counting(title: str, total: int, unit: str) -> Iterator[Callable[[], object]]:
    """As `track`, for items that are done elsewhere: call what it yields after each of them."""
    steps = track(range(total), title, total, unit) if total else iter(())
    next(steps, None)  # it begins
    try:
        yield lambda: next(steps, None)
    finally:
        if isinstance(steps, Generator):
            steps.close()


@contextmanager
def underway(title: str) -> Iterator[None]:
    """Name what is being done, for the line that comes every 15 s where nothing else is said."""
    running = _Running(title)
    _running.append(running)
    try:
        yield
    finally:
        _running.remove(running)


def keep_telling() -> None:
    """From now on say every 15 s what is being done, unless a bar shows it."""
    if not any(thread.name == _TELLER for thread in threading.enumerate()):
        threading.Thread(target=_tell_on, name=_TELLER, daemon=True).start()


_TELLER = "progress"


def _tell_on() -> None:
    while True:
        time.sleep(1.0)
        _tell_if_due()


def _tell_if_due() -> None:
    """Print a line about what is being done, if there was none for 15 s."""
    now = list(_running)
    if now and not now[-1].has_bar:
        silent_since = max(_said_at, now[0].began)
        if time.monotonic() - silent_since >= _LINE_EVERY:
            _say(now[-1].line)


def _is_tracking() -> bool:
    """Whether a stage is counted item by item now."""
    return any(running.units for running in _running)


def hush() -> None:
    """Print nothing to standard error from now on (`--quiet`)."""
    console.quiet = True


def _rate(done: float, seconds: float) -> str:
    """`3.2/s`, or `12/min` below one a second; empty while nothing is done."""
    if not done or seconds <= 0:
        return ""
    each_second = done / seconds
    return f"{each_second:,.1f}/s" if each_second >= 1 else f"{60 * each_second:.1f}/min"


def _duration(seconds: float) -> str:
    """`under 1 s`, `8 s`, `3 min`, `2 h 5 min`."""
    if seconds < 1:
        return "under 1 s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _bar(items: Iterable[T], title: str, total: int) -> Iterator[T]:
    columns = (
        TextColumn("{task.description:<24}"),
        BarColumn(24),
        MofNCompleteColumn(),
        _RateColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, speed_estimate_period=120) as progress:
        yield from progress.track(items, total=total, description=title)


def _lines(items: Iterable[T], running: _Running) -> Iterator[T]:
    what = f"{running.total} {running.units}"
    _say(f"{running.title}: {what} …")
    for running.done, item in enumerate(items):  # done is what was before this one
        yield item
        running.done += 1
        if running.done < running.total and time.monotonic() - _said_at >= _LINE_EVERY:
            _say(running.line)
    _say(f"{running.title}: {what} in {_duration(time.monotonic() - running.began)}")


def _say(line: str) -> None:
    """Print a line to standard error."""
    global _said_at
    _said_at = time.monotonic()
    console.print(line, highlight=False, markup=False, soft_wrap=True)


LOGGER = "benchmint"
_log_of_builds = logging.getLogger(f"{LOGGER}.build")
FLOW_RUN = "PREFECT__FLOW_RUN_ID"  # set by Prefect's worker for the runs it starts
_FOLDER = "logs"
_KEPT = 100  # log files
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
def _logging_to(out: Path, run_id: str, level: int = logging.INFO) -> Iterator[Path]:
    """Append the records of `benchmint` loggers to `<out>/private/logs/<run id>.jsonl` (0600).

    Raises InputError for an id that is not a plain file name.
    """
    from data.snapshot.layout import is_id  # loads the contracts, which commands do without

    if not is_id(run_id):
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
    with _logging_to(out, log_id):
        _log_of_builds.info("began", extra={"flow_run": os.environ.get(FLOW_RUN)})
        try:
            yield
        except BaseException:
            _log_of_builds.exception(
                "ended early", extra={"seconds": round(time.perf_counter() - began, 3)}
            )
            raise
        _log_of_builds.info("ended well", extra={"seconds": round(time.perf_counter() - began, 3)})


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


class _Stages(logging.Handler):
    """Prints the name of each stage as it begins, except stages with their own progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print what is being done now, if the record marks a beginning."""
        if record.getMessage() == "computing" and not _is_tracking():
            _say(f"{one_line(str(record.__dict__['stage']))} …")
        elif record.getMessage() == "staged":
            _say("writing and verifying the release …")


def tell_all() -> None:
    """From now on print all log records to standard error (`--verbose`)."""
    _tell(_TerminalLines(logging.INFO))


def tell_stages() -> None:
    """Print each stage that begins to standard error, unless all records are printed."""
    _tell(_Stages(logging.INFO))
    keep_telling()


def _tell(handler: logging.Handler) -> None:
    logger = logging.getLogger(LOGGER)
    if any(isinstance(known, _TerminalLines | _Stages) for known in logger.handlers):
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
