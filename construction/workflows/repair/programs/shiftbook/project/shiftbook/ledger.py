"""var/ledger.csv: what was posted. Lines are added at the end, nothing else."""

import csv
from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta

from shiftbook.weeks import Week
from shiftbook.zones import ZERO

COLUMNS = ("posted_in", "week", "person", "kind", "minutes")


@dataclass(frozen=True)
class Row:
    posted_in: Week
    week: Week
    person: str
    kind: str  # work, night, holiday
    time: timedelta


def read(path):
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Row(
                Week.parsed(row["posted_in"]),
                Week.parsed(row["week"]),
                row["person"],
                row["kind"],
                timedelta(minutes=int(row["minutes"])),
            )
            for row in csv.DictReader(file)
        ]


def add(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    starts = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if starts:
            writer.writerow(COLUMNS)
        for row in rows:
            minutes = row.time // timedelta(minutes=1)
            writer.writerow([row.posted_in, row.week, row.person, row.kind, minutes])


def posted(rows):
    """The time that stands in the ledger by week, person and kind."""
    totals = defaultdict(lambda: ZERO)
    for row in rows:
        totals[row.week, row.person, row.kind] += row.time
    return totals
