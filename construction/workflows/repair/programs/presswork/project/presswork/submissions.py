"""What newsrooms hand in, and when channels were down."""

import csv
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from presswork.moments import moment


@dataclass(frozen=True)
class Revision:
    article: str
    number: int
    received: datetime
    section: str
    kind: str  # major, minor, retraction
    publish: datetime  # as clocks of the section show it
    embargo: datetime | None
    title: str

    @property
    def retracts(self):
        return self.kind == "retraction"


def _rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def read_revisions(path):
    """All revisions in the order in which they are received."""
    revisions = [
        Revision(
            row["article"],
            int(row["revision"]),
            moment(row["received"]),
            row["section"],
            row["kind"],
            datetime.fromisoformat(row["publish"]),
            moment(row["embargo"]) if row["embargo"] else None,
            row["title"],
        )
        for row in _rows(path)
    ]
    return sorted(revisions, key=lambda each: (each.received, each.article, each.number))


def newest(revisions, until):
    """The newest revision of each article that had been received at a moment."""
    return {each.article: each for each in revisions if each.received <= until}


def read_outages(path):
    """Spans in which channels are down, by channel."""
    outages = defaultdict(list)
    for row in _rows(path):
        outages[row["channel"]].append((moment(row["from"]), moment(row["until"])))
    return outages
