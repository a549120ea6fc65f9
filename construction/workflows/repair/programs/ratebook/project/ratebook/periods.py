"""Billing periods of an account, in its local days."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta


@dataclass(frozen=True)
class Period:
    """From `start` to the day before `end`."""

    start: date
    end: date

    @property
    def days(self):
        return (self.end - self.start).days

    def __contains__(self, day):
        return self.start <= day < self.end


def _clamped(year, month, day):
    return date(year, month, min(day, monthrange(year, month)[1]))


def _following(start, cycle_day):
    """The start of the period after the one that starts on `start`."""
    year, month = divmod(start.year * 12 + start.month, 12)
    return _clamped(year, month + 1, cycle_day)


def first_period(opened, cycle_day):
    """The period in which an account was opened; it starts on that day."""
    this_month = _clamped(opened.year, opened.month, cycle_day)
    end = this_month if opened < this_month else _following(this_month, cycle_day)
    return Period(opened, end)


def periods(opened, cycle_day, until):
    """The periods of an account that are over on the day `until`, in order."""
    current = first_period(opened, cycle_day)
    while current.end <= until:
        yield current
        current = Period(current.end, _following(current.end, cycle_day))


def days_between(first, last):
    """Each day from `first` to the day before `last`."""
    for number in range((last - first).days):
        yield first + timedelta(days=number)
