"""People of data/people.csv."""

import csv
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from shiftbook.settings import Site


@dataclass(frozen=True)
class Person:
    name: str
    site: Site
    weekly: timedelta
    started: date

    def owes(self, week):
        """The hours of the contract in a week."""
        friday = week.monday + timedelta(days=4)
        days = min(5, max(0, (friday - self.started).days + 1))
        return self.weekly * days / 5


def read_people(settings):
    with (settings.data / "people.csv").open(newline="", encoding="utf-8") as file:
        return {
            row["person"]: Person(
                row["person"],
                settings.sites[row["site"]],
                timedelta(minutes=int(Decimal(row["weekly_hours"]) * 60)),
                date.fromisoformat(row["started"]),
            )
            for row in csv.DictReader(file)
        }
