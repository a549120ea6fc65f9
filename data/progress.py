"""Progress of a build for the user: one bar per long stage, on standard error.

A bar shows how many items are done, the rate, and the remaining time. Without a terminal there is
a line at the start, one every 15 s and one at the end; what has no bar is told every 15 s too.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

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

T = TypeVar("T")
console = Console(stderr=True)
log = logging.getLogger("benchmint.progress")
LINE_EVERY = 15.0  # seconds


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
            return f"{self.title}: {duration(seconds)} so far"
        counted = f"{self.title}: {self.done} of {self.total} {self.units}"
        if self.done in (0, self.total):
            return f"{counted}, {duration(seconds)} so far"
        remaining = seconds / self.done * (self.total - self.done)
        return f"{counted}, {rate(self.done, seconds)}, about {duration(remaining)} left"


_running: list[_Running] = []  # what is innermost comes last
_said_at = 0.0  # when the last line was printed, by the monotonic clock


class _RateColumn(ProgressColumn):
    """Items per second, or per minute if it is slow."""

    def render(self, task: Task) -> Text:
        """Empty until something is done."""
        return Text(rate(task.completed, task.elapsed or 0.0))


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
        tell_if_due()


def tell_if_due() -> None:
    """Print a line about what is being done, if there was none for 15 s."""
    now = list(_running)
    if now and not now[-1].has_bar:
        silent_since = max(_said_at, now[0].began)
        if time.monotonic() - silent_since >= LINE_EVERY:
            say(now[-1].line)


def is_tracking() -> bool:
    """Whether a stage is counted item by item now."""
    return any(running.units for running in _running)


def hush() -> None:
    """Print nothing to standard error from now on (`--quiet`)."""
    console.quiet = True


def rate(done: float, seconds: float) -> str:
    """`3.2/s`, or `12/min` below one a second; empty while nothing is done."""
    if not done or seconds <= 0:
        return ""
    each_second = done / seconds
    return f"{each_second:,.1f}/s" if each_second >= 1 else f"{60 * each_second:.1f}/min"


def duration(seconds: float) -> str:
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
    say(f"{running.title}: {what} …")
    for running.done, item in enumerate(items):  # done is what was before this one
        yield item
        running.done += 1
        if running.done < running.total and time.monotonic() - _said_at >= LINE_EVERY:
            say(running.line)
    say(f"{running.title}: {what} in {duration(time.monotonic() - running.began)}")


def say(line: str) -> None:
    """Print a line to standard error."""
    global _said_at
    _said_at = time.monotonic()
    console.print(line, highlight=False, markup=False, soft_wrap=True)
