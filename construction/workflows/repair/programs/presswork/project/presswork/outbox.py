"""var/outbox.csv: what was sent."""

import csv
from dataclasses import astuple, dataclass
from datetime import datetime

from presswork.moments import moment, written

COLUMNS = ("moment", "channel", "article", "revision", "kind", "slug")


@dataclass(frozen=True)
class Sending:
    moment: datetime
    channel: str
    article: str
    revision: int
    kind: str  # article, update, retraction
    slug: str


def read(path):
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Sending(moment(row["moment"]), row["channel"], row["article"], int(row["revision"]), row["kind"], row["slug"])
            for row in csv.DictReader(file)
        ]


def add(path, sendings):
    path.parent.mkdir(parents=True, exist_ok=True)
    starts = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if starts:
            writer.writerow(COLUMNS)
        writer.writerows(_cells(each) for each in sendings)


def _cells(sending):
    first, *rest = astuple(sending)
    return [written(first), *rest]


def listed(sendings):
    for each in sendings:
        yield ",".join(map(str, _cells(each)))
