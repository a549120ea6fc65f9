"""Reels and the list of edits."""

import csv
from dataclasses import dataclass

from subtitler.rates import RATES, Rate
from subtitler.timecodes import frame


@dataclass(frozen=True)
class Edit:
    """Part of a reel in the programme, in frames of the reel."""

    reel: str
    rate: Rate
    start: int
    end: int

    @property
    def seconds(self):
        return self.rate.seconds(self.end - self.start)

    def continues(self, other):
        """Does this edit go on where the other stops?"""
        return self.reel == other.reel and self.start == other.end


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def read_rates(data):
    return {row["reel"]: RATES[row["rate"]] for row in rows(data / "reels.csv")}


def read_edits(data, rates):
    """The edits in the order of the programme."""
    edits = []
    for row in rows(data / "edits.csv"):
        rate = rates[row["reel"]]
        edits.append(Edit(row["reel"], rate, frame(row["from"], rate), frame(row["to"], rate)))
    return edits
