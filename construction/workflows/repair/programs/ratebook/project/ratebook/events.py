"""Usage events: read, checked, brought to their last revision."""

import csv
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path

_UNITS = {  # unit -> (meter, factor)
    "h": ("compute", Decimal(1)),
    "min": ("compute", Decimal(1) / 60),
    "gb": ("transfer", Decimal(1)),
    "mb": ("transfer", Decimal("0.001")),
}


@dataclass(frozen=True)
class Event:
    name: str
    revision: int
    account: str
    meter: str
    at: datetime  # UTC, as are all instants
    quantity: Decimal | None  # None: withdrawn
    received: datetime


class BadRow(Exception):
    """A row that cannot be billed; the message says why."""


def _instant(text):
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise BadRow(f"time without offset: {text}")
    return moment.astimezone(UTC)


def _event(row):
    if row["unit"] not in _UNITS:
        raise BadRow(f"unknown unit: {row['unit']}")
    meter, factor = _UNITS[row["unit"]]
    try:
        amount = Decimal(row["quantity"]) * factor if row["quantity"] else None
        moments = _instant(row["at"]), _instant(row["received"])
        revision = int(row["revision"])
    except (InvalidOperation, ValueError) as error:
        raise BadRow(f"not a number or time: {error}") from error
    if amount is not None and amount < 0:
        raise BadRow("negative quantity")
    at, received = moments
    return Event(row["event"], revision, row["account"], meter, at, amount, received)


def _supersedes(event, kept):
    return event.revision > kept.revision


def read_events(folder: Path, log):
    """Events by account, each in its last revision, in the order of their time.

    `received` is when the event first reached us, in whatever revision.
    """
    latest, first = {}, {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            for number, row in enumerate(csv.DictReader(file), 2):
                try:
                    event = _event(row)
                except BadRow as error:
                    log.warning(f"{path.name}:{number} left out, {error}")
                    continue
                reached = first.get(event.name, event.received)
                first[event.name] = min(reached, event.received)
                kept = latest.get(event.name)
                if kept is None or _supersedes(event, kept):
                    latest[event.name] = event
    by_account = {}
    for event in sorted(latest.values(), key=lambda event: (event.at, event.name)):
        if event.quantity is not None:
            event = replace(event, received=first[event.name])
            by_account.setdefault(event.account, []).append(event)
    return by_account
