"""Accounts, their plans over time, and their credits."""

import csv
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path


@dataclass(frozen=True)
class Segment:
    """Days of a period on one plan, from `start` to the day before `end`."""

    plan: str
    start: date
    end: date

    @property
    def days(self):
        return (self.end - self.start).days


@dataclass(frozen=True)
class Credit:
    number: str
    granted: date
    expires: date  # the last day on which it is good
    amount: Decimal


@dataclass(frozen=True)
class Account:
    name: str
    zone: str
    currency: str
    cycle_day: int
    opened: date
    tax: Decimal
    changes: tuple  # (first day, plan), in order
    credits: tuple

    def plan_on(self, day):
        """The name of the plan on a day; empty while the account is paused or not opened."""
        name = ""
        for start, plan in self.changes:
            if start > day:
                break
            name = plan
        return "" if name == "paused" else name

    def segments(self, period):
        """The parts of a period in order, without those on no plan."""
        cuts = [start for start, _ in self.changes if period.start < start < period.end]
        edges = [period.start, *cuts, period.end]
        parts = [
            Segment(self.plan_on(first), first, last)
            for first, last in zip(edges, edges[1:], strict=False)
        ]
        return [part for part in parts if part.plan]


def _rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _credit(row):
    dates = date.fromisoformat(row["granted"]), date.fromisoformat(row["expires"])
    return Credit(row["credit"], *dates, Decimal(row["amount"]))


def read_accounts(folder: Path):
    """Accounts in the order of their names."""
    changes, credits = {}, {}
    for row in _rows(folder / "subscriptions.csv"):
        entry = (date.fromisoformat(row["from"]), row["plan"])
        changes.setdefault(row["account"], []).append(entry)
    for row in _rows(folder / "credits.csv"):
        credits.setdefault(row["account"], []).append(_credit(row))
    accounts = []
    for row in sorted(_rows(folder / "accounts.csv"), key=lambda row: row["account"]):
        name = row["account"]
        accounts.append(
            Account(
                name=name,
                zone=row["zone"],
                currency=row["currency"],
                cycle_day=int(row["cycle_day"]),
                opened=date.fromisoformat(row["opened"]),
                tax=Decimal(row["tax_percent"]) / 100,
                changes=tuple(sorted(changes.get(name, []))),
                credits=tuple(credits.get(name, [])),
            )
        )
    return accounts
