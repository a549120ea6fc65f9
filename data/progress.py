"""Progress of a build for the user: one bar per long stage, on standard error.

A bar shows how many items are done, the rate, and the remaining time. Without a terminal there is
a line every few seconds instead, and one at the end.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterable, Iterator
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
_LINE_EVERY = 15.0  # seconds
_running: list[str] = []  # titles


class RateColumn(ProgressColumn):
    """Items per second, or per minute if it is slow."""

    def render(self, task: Task) -> Text:
        """Empty until something is done."""
        return Text(rate(task.completed, task.elapsed or 0.0))


def track(
    items: Iterable[T], title: str, total: int, unit: str = "part", *, quiet: bool = False
) -> Iterator[T]:
    """Yield `items` while a bar counts them; plain lines, which name the unit, without terminal."""
    began = time.monotonic()
    _running.append(title)
    try:
        if quiet:
            yield from items
        elif sys.stderr.isatty():
            yield from _bar(items, title, total)
        else:
            yield from _lines(items, title, total, unit)
    finally:
        _running.remove(title)
    seconds = time.monotonic() - began
    log.info("all done", extra={"what": title, "items": total, "seconds": round(seconds, 3)})


def is_tracking() -> bool:
    """Whether a progress bar is shown now."""
    return bool(_running)


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
        RateColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, speed_estimate_period=120) as progress:
        yield from progress.track(items, total=total, description=title)


def _lines(items: Iterable[T], title: str, total: int, unit: str) -> Iterator[T]:
    now = time.monotonic
    units = unit if total == 1 else f"{unit}s"
    began = last_report = now()
    for done, item in enumerate(items, 1):
        yield item
        at = now()
        if done < total and at - last_report >= _LINE_EVERY:
            last_report, remaining = at, (at - began) / done * (total - done)
            speed = rate(done, at - began)
            _say(f"{title}: {done} of {total} {units}, {speed}, about {duration(remaining)} left")
    _say(f"{title}: {total} {units} in {duration(now() - began)}")


def _say(line: str) -> None:
    console.print(line, highlight=False, markup=False, soft_wrap=True)
