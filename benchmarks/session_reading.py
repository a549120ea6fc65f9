"""What blind readers make of the tasks that real requests became, and of the rejections.

    python -m benchmarks.session_reading

The releases were built from the blind half of `sessions-with-files` (120 labelled requests and the
recorded sessions, built as by `benchmarks.real_requests`), on whose texts no rule is written.
`benchmarks.reading_packets` drew by the release's digest, first draw, what no earlier reading had
before the rest; a release has fewer than 100 tasks, so all were read. Of the rejections 60 were
drawn. The readers are language models that had not seen the code, two for each set of packets. They
saw what an agent sees, and the rubric and the rules. Scores: 0 cannot be done, 1 partly, 2 doable
and gradable, 3 as good as a published benchmark's. Their sentences are not published, for they
quote the tasks; the column `reason` names the class into which each was put afterwards, by hand
below 2, and from 2 up `rubric_weak` where the sentence holds something against rubric or checks.
The classes of each reading have led to rules, written on other requests: the next reading knows
the classes, and most of its requests are those of the one before. Each is a reading of that
release, not of the code of today.

The readers of the tenth held ten and nine rejections wrong; rules for their classes were written on
other requests. Of the eleventh both gave 0 to one task: an order to do the last part of a job that
it quotes. A rule against that was written knowing this case, and the release was built and read
anew by two others: that is the twelfth. The case is the first of its 60 rejections, both hold it
right and its reason wrong, and it says nothing of the rule.

In the eighth two readers were given the sentence that a reason is right if it names a true and
decisive obstacle; a third read the rejections without it, as all other readers. Who wrote the
rules before it had by mistake seen sentences of an earlier reader about rejections of this half.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.agreement import Interval, agreement, weighted_kappa, wilson
from benchmarks.report import table, write_result

LABELS = Path(__file__).with_name("labels")
# Of each reading its name, the commit, and the sheets of its readers, the last reading first.
_READINGS = (
    ("twelfth", "35abb7ac", ("1s", "1t"), ("2r", "2s")),
    ("eleventh", "7688d460", ("1q", "1r"), ("2p", "2q")),
    ("tenth", "48011f56", ("1o", "1p"), ("2n", "2o")),
    ("ninth", "88c8946d", ("1m", "1n"), ("2l", "2m")),
    ("eighth", "1df7f507", ("1i", "1j"), ("2i", "2j", "2k")),
    ("seventh", "bc7db575", ("1g", "1h"), ("2g", "2h")),
    ("sixth", "7d7fc561", ("1e", "1f"), ("2e", "2f")),
    ("fifth", "1e6eac2", ("1c", "1d"), ("2c", "2d")),
    ("fourth", "9556792", ("1a", "1b"), ("2a", "2b")),
    ("third", "bb74b32", ("w", "x"), ("y", "z")),
    ("second", "a397702", ("s", "u"), ("t", "v")),
    ("first", "b9ecef3", ("a", "b"), ("c", "d")),
)
# Rejections of recorded sessions without files, of which no reading had been made.
_ELSEWHERE = (("3v", "3w"), ("3t", "3u"))
_ELSEWHERE_TEXT = (
    """
## Rejections of other material

The requests of the blind half are known by now. So the records of `sessions` (chats of teams,
records of agents; none of their files is at hand) were parted by keys. The first 90 were built at
be986f68 and read (below); on those and on half of the rest the gate `addressee` was written, which
asks who is addressed before anything is looked for. The other half, 121 records that nobody had
looked at, was built at 32f2f7b1, and 60 of the rejections were drawn by a key and read. 29 of them
are records in which no person says anything. Three rejections both readers hold wrong: a colleague
asks the person whom the agent helps, by name, for a letter, a briefing, a summary, and the agent
takes it on.

""",
    """
Before, 60 of the first 90: where colleagues talk among themselves and nobody asks the agent, a
missing file, an earlier talk or a system was named.

""",
)
_SCORES, _GOOD, _BAR = range(4), 2, 0.8
_PAIR = 2  # readers of the same packets, whose agreement is measured
_MOST_WRONG = 3  # of the rejections, and as many with a wrong reason


@dataclass(frozen=True, slots=True)
class Score:
    """One task in the eyes of one reader; `reason` is the class of what is held against it."""

    score: int
    reason: str
    is_new: bool = False  # no earlier reading had it


@dataclass(frozen=True, slots=True)
class Rejection:
    """One rejection: is it right, and is the reason that it gives? `reason`: what is wrong."""

    right: bool
    reason_right: bool
    reason: str = "ok"
    is_new: bool = False


def read_scores(path: Path) -> dict[int, Score]:
    """The scores of one reader by the number of the task. Raises ValueError on another score."""
    scores = {
        int(row["n"]): Score(int(row["score"]), row["reason"], row.get("new") == "true")
        for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    }
    if wrong := [number for number, row in scores.items() if row.score not in _SCORES]:
        raise ValueError(f"{path.name}: task {wrong[0]}: expected a score of 0 to 3")
    return scores


def read_rejections(path: Path) -> dict[int, Rejection]:
    """The judgements of one reader by the number of the rejection."""
    return {
        int(row["n"]): Rejection(
            row["rejection_right"] == "true",
            row["reason_right"] == "true",
            row["reason"],
            row.get("new") == "true",
        )
        for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    }


def released_text(readers: Mapping[str, Mapping[int, Score]], bar: float = _BAR) -> str:
    """The part of the page on released tasks; `bar`: the share that scores 2 or more."""
    head = ("reader", "tasks", "score 2 or more", "bar", "score 0", "bar", "0", "1", "2", "3")
    text = table(head, [_scores_row(name, rows, bar) for name, rows in readers.items()])
    if len(readers) < _PAIR:
        return text + "\nWhat is held against the tasks:\n\n" + _classes(readers)
    first, second = readers.values()
    pairs = [(first[number].score, second[number].score) for number in sorted(first)]
    good = [[str(score >= _GOOD) for score in side] for side in zip(*pairs, strict=True)]
    binary = agreement(good[0], good[1])
    exact = sum(one == two for one, two in pairs)
    both = sum(min(pair) >= _GOOD for pair in pairs)
    text += f"\nBoth give 2 or more to {_share(both, len(pairs))}. They give the same score to "
    text += f"{exact} of {len(pairs)}; quadratically weighted κ {_kappa(weighted_kappa(pairs))}; "
    text += f"κ of 2 or more {_kappa(binary.kappa)}.\n"
    return text + "\nWhat is held against the tasks:\n\n" + _classes(readers)


def _classes(
    readers: Mapping[str, Mapping[int, Score]] | Mapping[str, Mapping[int, Rejection]],
) -> str:
    """How often each reader's remarks are of each class, the commonest first."""
    counts = [Counter(row.reason for row in rows.values()) for rows in readers.values()]
    whole = sum(counts, Counter[str]())
    reasons = sorted(whole, key=lambda key: (-whole[key], key))
    rows = [[f"`{key}`", *(str(count[key]) for count in counts)] for key in reasons]
    return table(("class", *readers), rows)


def _scores_row(name: str, rows: Mapping[int, Score], bar: float) -> list[str]:
    counts = Counter(row.score for row in rows.values())
    good = sum(counts[score] for score in _SCORES if score >= _GOOD)
    is_held = good >= bar * len(rows)
    return [
        name,
        str(len(rows)),
        _share(good, len(rows)),
        "held" if is_held else "missed",
        str(counts[0]),
        "missed" if counts[0] else "held",
        *(str(counts[score]) for score in _SCORES),
    ]


def rejections_text(readers: Mapping[str, Mapping[int, Rejection]]) -> str:
    """The part of the page on rejections."""
    head = ("reader", "rejections", "wrong", "bar", "right, the reason wrong", "bar")
    text = table(head, list(_rejection_rows(readers)))
    pair = list(readers.values()) if len(readers) == _PAIR else []
    keys = (("rejection", "right"), ("reason", "reason_right")) if pair else ()
    for title, key in keys:
        sides = [[str(getattr(row[n], key)) for n in sorted(pair[0])] for row in pair]
        text += f"\nκ of the {title} being right: {_kappa(agreement(sides[0], sides[1]).kappa)}.\n"
    return text + "\nWhat is wrong with rejections or reasons:\n\n" + _classes(readers)


def _rejection_rows(readers: Mapping[str, Mapping[int, Rejection]]) -> Iterator[list[str]]:
    for name, rows in readers.items():
        wrong = sum(not row.right for row in rows.values())
        reason = sum(row.right and not row.reason_right for row in rows.values())
        counts = [
            part
            for count in (wrong, reason)
            for part in (_share(count, len(rows)), "held" if count <= _MOST_WRONG else "missed")
        ]
        yield [name, str(len(rows)), *counts]


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}: {_interval(wilson(part, whole))}"


def _kappa(interval: Interval | float | None) -> str:
    if isinstance(interval, Interval):
        return _interval(interval)
    return "–" if interval is None else f"{interval:.2f}"


def _interval(interval: Interval) -> str:
    return f"{interval.value:.2f} ({interval.low:.2f} to {interval.high:.2f})"


def new_text(
    scores: Mapping[str, Mapping[int, Score]], rejections: Mapping[str, Mapping[int, Rejection]]
) -> str:
    """What the readers make of that which no earlier reading had; empty without any."""
    lines = []
    for name, rows in scores.items():
        new = [row.score >= _GOOD for row in rows.values() if row.is_new]
        if new:
            lines.append(f"{name}: {_share(sum(new), len(new))} tasks score 2 or more.")
    for name, judged in rejections.items():
        fresh = [row for row in judged.values() if row.is_new]
        if fresh:
            wrong = sum(not row.right for row in fresh)
            reason = sum(row.right and not row.reason_right for row in fresh)
            lines.append(f"{name}: of {len(fresh)} rejections {wrong} wrong, {reason} by reason.")
    return "\n## Read for the first time\n\n" + "\n".join(lines) + "\n" if lines else ""


def readings_text(readings: Sequence[tuple[str, str, Sequence[str], Sequence[str]]]) -> str:
    """One line for each reading: what its readers found, the two beside each other."""
    rows = []
    for name, commit, letters, others in readings:
        scores = [list(sheet.values()) for sheet in _scores(letters).values()]
        judged = [list(sheet.values()) for sheet in _rejections(others).values()]
        good = [sum(row.score >= _GOOD for row in sheet) for sheet in scores]
        none = [sum(row.score == 0 for row in sheet) for sheet in scores]
        wrong = [sum(not row.right for row in sheet) for sheet in judged]
        reason = [sum(row.right and not row.reason_right for row in sheet) for sheet in judged]
        counts = [" and ".join(map(str, pair)) for pair in (good, none, wrong, reason)]
        rows.append([name, commit, str(len(scores[0])), *counts, str(len(judged[0]))])
    head = ("reading", "commit", "tasks", "score 2 or more", "score 0", "wrong", "wrong reason")
    return "\n## The readings\n\n" + table((*head, "of rejections"), rows)


def _scores(letters: Sequence[str]) -> dict[str, dict[int, Score]]:
    return {
        letter.upper(): read_scores(LABELS / f"session_reading_{letter}.csv") for letter in letters
    }


def _rejections(letters: Sequence[str]) -> dict[str, dict[int, Rejection]]:
    return {
        letter.upper(): read_rejections(LABELS / f"session_rejections_{letter}.csv")
        for letter in letters
    }


def main() -> None:
    """Read the sheets, write the page."""
    _, _, letters, others = _READINGS[0]
    scores, rejections = _scores(letters), _rejections(others)
    text = "## Released tasks\n\n" + released_text(scores)
    text += "\n## Rejections\n\n" + rejections_text(rejections)
    text += new_text(scores, rejections) + readings_text(_READINGS)
    for before, others in zip(_ELSEWHERE_TEXT, _ELSEWHERE, strict=True):
        text += before + rejections_text(_rejections(others))
    write_result(
        "session_reading",
        __doc__ or "",
        text,
        {name: {str(n): row.score for n, row in rows.items()} for name, rows in scores.items()},
    )


if __name__ == "__main__":
    main()
