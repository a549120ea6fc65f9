"""Punches of the clocks and their corrections, as far as they had been received at a moment."""

import csv
from dataclasses import dataclass, replace
from datetime import UTC, datetime


@dataclass(frozen=True)
class Punch:
    id: str
    person: str
    kind: str  # in or out
    at: datetime
    received: datetime


@dataclass(frozen=True)
class Correction:
    punch: Punch
    number: int
    withdraws: bool


def _moment(text):
    return datetime.fromisoformat(text).astimezone(UTC)


def _rows(folder):
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            yield from csv.DictReader(file)


def _punch(row):
    at = _moment(row["at"]) if row["at"] else None
    return Punch(row["id"], row["person"], row["kind"], at, _moment(row["received"]))


def read_punches(data, log=None):
    """All punches by id, the copy that was received first."""
    punches = {}
    for row in _rows(data / "punches"):
        punch = _punch(row)
        kept = punches.get(punch.id)
        if kept is not None and log:
            log.warning(f"copy of {punch.id}")
        if kept is None or punch.received < kept.received:
            punches[punch.id] = punch
    return punches


def read_corrections(data):
    """All corrections, by their numbers."""
    made = [
        Correction(_punch(row), int(row["number"]), not row["at"])
        for row in _rows(data / "corrections")
    ]
    return sorted(made, key=lambda correction: (correction.punch.id, correction.number))


def received(punches, corrections, until):
    """The punches that stand at a moment."""
    standing = {name: punch for name, punch in punches.items() if punch.received <= until}
    for correction in corrections:
        punch = correction.punch
        if punch.received > until:
            continue
        if correction.withdraws:
            standing.pop(punch.id, None)
        elif punch.id in standing:
            standing[punch.id] = replace(standing[punch.id], at=punch.at)
        else:
            standing[punch.id] = punch
    return list(standing.values())
