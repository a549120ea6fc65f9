"""What a crontab does: when each of its commands is started, whatever way the times are written.

`*/15`, `0-59/15` and `0,15,30,45` are the same, 7 is Sunday as 0 is, and where both days are
restricted either one suffices, as in Vixie cron. Imports the standard library alone.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from dataclasses import dataclass

_MONTHS = [name.lower() for name in calendar.month_abbr[1:]]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_FIRST, _LAST = dt.date(2024, 1, 1), dt.date(2028, 1, 1)  # every day of a leap year and of others
_SETTING = re.compile(r"[A-Za-z_]\w*\s*=")
_FIELDS = 5


@dataclass(frozen=True, slots=True)
class Job:
    """A line of a crontab. `days` are the days of four years on which it is started."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[dt.date]
    command: str

    @property
    def times(self) -> tuple[frozenset[int], frozenset[int], frozenset[dt.date]]:
        return self.minutes, self.hours, self.days


def jobs_of(text: str) -> list[Job]:
    """The jobs of a user's crontab. Raises ValueError at a line that cron would refuse."""
    jobs = []
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped or stripped.startswith("#") or _SETTING.match(stripped):
            continue
        times, command = _split(stripped)
        jobs.append(job(times, command))
    return jobs


def job(times: str, command: str = "") -> Job:
    """A job from its five fields or its macro."""
    minute, hour, day, month, weekday = _MACROS.get(times.lower(), times).split()
    months = _field(month, 1, 12, _MONTHS)
    days = _field(day, 1, 31)
    weekdays = frozenset(number % 7 for number in _field(weekday, 0, 7, _DAYS, first_name=0))
    either = not day.startswith("*") and not weekday.startswith("*")
    started = set()
    current = _FIRST
    while current < _LAST:
        of_month, of_week = current.day in days, (current.weekday() + 1) % 7 in weekdays
        fits = of_month or of_week if either else of_month and of_week
        if current.month in months and fits:
            started.add(current)
        current += dt.timedelta(days=1)
    minutes, hours = _field(minute, 0, 59), _field(hour, 0, 23)
    return Job(minutes, hours, frozenset(started), " ".join(command.split()))


def _split(line: str) -> tuple[str, str]:
    parts = line.split(None, 1 if line.startswith("@") else _FIELDS)
    if len(parts) < (2 if line.startswith("@") else _FIELDS + 1):
        raise ValueError("a line without a command")
    times = " ".join(parts[:-1])
    if line.startswith("@") and times.lower() not in _MACROS:
        raise ValueError("no such macro")
    return times, parts[-1]


def _field(
    text: str, low: int, high: int, names: list[str] | None = None, first_name: int = 1
) -> frozenset[int]:
    numbers: set[int] = set()
    for part in text.lower().split(","):
        span, slash, step_text = part.partition("/")
        step = int(step_text) if slash else 1
        if span == "*":
            first, last = low, high
        else:
            begin, dash, end = span.partition("-")
            first = _number(begin, names, first_name)
            last = _number(end, names, first_name) if dash else (high if slash else first)
        if step < 1 or not low <= first <= last <= high:
            raise ValueError(f"{part} is out of range")
        numbers.update(range(first, last + 1, step))
    return frozenset(numbers)


def _number(text: str, names: list[str] | None, first_name: int) -> int:
    return names.index(text) + first_name if names and text in names else int(text)
