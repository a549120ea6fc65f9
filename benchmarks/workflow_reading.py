"""A blind reading of workflow tasks: are they natural, solvable as written, and rightly graded?

    python -m benchmarks.workflow_reading

In each round two readers without access to the code judged the same 60 of the 105 tasks of a
release, in the order of a digest over that of the release, first draw. They had request, files,
services and grading of each task. The sheets are `labels/workflow_reading_g.csv` and `_h.csv` for
the first round, `_j.csv` and `_k.csv` for the second, without any text of a task; `held_against`
names the kind of fault, sorted afterwards from the reader's own sentence.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.agreement import Agreement, Interval, agreement, wilson
from benchmarks.report import table, write_result

LABELS = Path(__file__).parent / "labels"
QUESTIONS = ("natural", "solvable", "graded_right")
WHOLE = "all three"
BAR = 0.9
MENDED_FIRST = {  # kind of fault -> what was changed in all generators, after the reading
    "red flag": "records that a professional stops without a rule occur only where the rule "
    "names them (nine generators)",
    "older rule": "the newer mail withdraws what its writer mailed before; 'everything else stays' "
    "is gone",
    "dangling hint": "the request names no account that no rule mentions",
    "past date": "delivery times and days of meetings are such that all new dates lie ahead",
    "currency": "letters in another currency, or of later validity, only where the rule names them",
    "offset": "contracts are looked at in summer time, into which all their deadlines fall",
    "unchecked demand": "a missing file on standard error is checked; so are all columns of a "
    "feed, and the earlier lines of a note",
    "log": "logs are of after the moves, of the night where a request says so, and have lines that "
    "the script can write",
    "false story": "the request says that the loader stops, as it does",
    "form of a title": "a recording's document is called by its name alone",
    "unclear count": "the request counts tasks that are not done",
}
MENDED_SECOND = {
    "contradictory dates": "a letter announces what is not yet valid, an order is changed after it "
    "was received; dates of all records were compared",
    "unchecked demand": "a list of 'any name' has blanks at the ends, a backslash and a pattern",
    "unclear count": "requests say 'not done' where tasks or tickets have more statuses than open "
    "that are not done",
}
Sheet = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Round:
    """Two readers of one release, and what was mended after they had read it."""

    name: str
    readers: tuple[str, str]
    mended: Mapping[str, str]


ROUNDS = (
    Round("second", ("j", "k"), MENDED_SECOND),
    Round("first", ("g", "h"), MENDED_FIRST),
)


def main() -> None:
    """Compare the sheets and write `results/workflow_reading`."""
    figures = {each.name: figures_of(each) for each in ROUNDS}
    write_result("workflow_reading", __doc__ or "", page(figures), figures)


def read_sheet(path: Path) -> Sheet:
    """The rows of a reader, with `all three` beside the questions; each is "1" or "0"."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [{**row, WHOLE: str(min(int(row[name]) for name in QUESTIONS))} for row in rows]


def figures_of(reading: Round) -> dict[str, Any]:
    """Shares with Wilson intervals and kappa by question, and how often each fault was held."""
    sheets = [read_sheet(LABELS / f"workflow_reading_{reader}.csv") for reader in reading.readers]
    first, second = ([row["n"] for row in sheet] for sheet in sheets)
    if first != second:
        raise ValueError("the readers did not judge the same tasks in the same order")
    return {
        "tasks": len(first),
        "questions": {
            name: _question(name, sheets, reading.readers) for name in (*QUESTIONS, WHOLE)
        },
        "held_against": {
            reader: dict(Counter(row["held_against"] for row in sheet if row["held_against"]))
            for reader, sheet in zip(reading.readers, sheets, strict=True)
        },
    }


def _question(name: str, sheets: Sequence[Sheet], readers: Sequence[str]) -> dict[str, Any]:
    verdicts = [[row[name] for row in sheet] for sheet in sheets]
    both = [str(min(map(int, pair))) for pair in zip(*verdicts, strict=True)]
    shares = dict(zip((*readers, "both"), [*verdicts, both], strict=True))
    return {
        "yes": {who: given.count("1") for who, given in shares.items()},
        "share": {
            who: _ends(wilson(given.count("1"), len(given))) for who, given in shares.items()
        },
        "agreement": _agreed(agreement(verdicts[0], verdicts[1])),
    }


def _ends(interval: Interval) -> list[float]:
    return [round(end, 4) for end in (interval.value, interval.low, interval.high)]


def _agreed(seen: Agreement) -> dict[str, Any]:
    kappa = None if seen.kappa is None else _ends(seen.kappa)
    return {"observed": round(seen.observed.value, 4), "kappa": kappa}


def page(figures: Mapping[str, Any]) -> str:
    """The page; what falls short stands first."""
    return "\n".join(
        [
            "Misses first. "
            + " ".join(_verdict(each, figures[each.name]) for each in ROUNDS)
            + " What readers held against tasks was mended after each round, in all generators; "
            "the figures are those of the tasks before. Nobody has read the tasks as they are now. "
            "All readers are language models, not people who do such work; those of a round judged "
            "after the same instructions. In the second round the intervals reach below the bar, "
            "reader J took less than half a minute a task, and both had what the first round had "
            "not: descriptions of the tools, and the checks in words. So the rounds do not measure "
            "the mending alone.\n",
            *(part for each in ROUNDS for part in _round(each, figures[each.name])),
            "Shares have 95 % Wilson intervals. Each change is a property of all drafts where it "
            "can be one (`tests/construction/workflows/test_demands.py`). Before the second round "
            "the author also read drafts that were in no release and mended what was silly. Red "
            "flags are a list of those that readers and author saw: a flag that neither saw is not "
            "on it. Outside calendars, times of records before a change of the clocks keep the "
            "offset of the world's clock.\n",
        ]
    )


def _verdict(reading: Round, figures: Mapping[str, Any]) -> str:
    whole, tasks = figures["questions"][WHOLE], figures["tasks"]
    verdict = "missed" if min(share[0] for share in whole["share"].values()) < BAR else "met"
    first, second = (whole["yes"][reader] for reader in reading.readers)
    return (
        f"In the {reading.name} round the bar (at least {BAR:.0%} natural, solvable and rightly "
        f"graded) is **{verdict}**: {first} and {second} of {tasks} by one reader, "
        f"{whole['yes']['both']} by both."
    )


def _round(reading: Round, figures: Mapping[str, Any]) -> list[str]:
    names = [reader.upper() for reader in reading.readers]
    held = figures["held_against"]
    rows = [
        (kind, *(str(held[reader].get(kind, 0)) for reader in reading.readers), change)
        for kind, change in reading.mended.items()
    ]
    head = ("question", *(f"reader {name}" for name in names), "both", "agreement", "κ (95 %)")
    return [
        f"**The {reading.name} round**\n",
        table(head, [_row(name, of) for name, of in figures["questions"].items()]),
        table(("held against tasks", *names, "mended after the reading"), rows),
    ]


def _row(name: str, of: Mapping[str, Any]) -> tuple[str, ...]:
    shares = [
        f"{of['yes'][who]} ({low:.1%} to {high:.1%})" for who, (_, low, high) in of["share"].items()
    ]
    kappa = of["agreement"]["kappa"]
    written = "none" if kappa is None else "{:.2f} ({:.2f} to {:.2f})".format(*kappa)
    return name.replace("_", " "), *shares, f"{of['agreement']['observed']:.1%}", written


if __name__ == "__main__":
    main()
