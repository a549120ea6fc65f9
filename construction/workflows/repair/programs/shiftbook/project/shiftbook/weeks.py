"""Weeks of ISO 8601."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta


@dataclass(frozen=True, order=True)
class Week:
    year: int
    number: int

    @classmethod
    def parsed(cls, text):
        year, _, number = text.partition("-W")
        return cls(int(year), int(number))

    @classmethod
    def of(cls, day):
        year, number, _ = day.isocalendar()
        return cls(year, number)

    @property
    def monday(self):
        return date.fromisocalendar(self.year, self.number, 1)

    @property
    def following(self):
        return Week.of(self.monday + timedelta(days=7))

    def due(self, after):
        """The moment at which a week is posted."""
        monday = datetime.combine(self.monday, time(0), tzinfo=UTC)
        return monday + timedelta(days=7) + after

    def __str__(self):
        return f"{self.year}-W{self.number:02}"


def weeks(first, last):
    """All weeks from one to another."""
    week = first
    while week <= last:
        yield week
        week = week.following
