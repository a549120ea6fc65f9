"""What blind people make of analytic tasks: reading, computing anew, and planted defects.

    python -m benchmarks.analytics_people

Reading: 100 tasks of a whole build of the Japan environment (`benchmarks/analytics_japan.toml`),
drawn by the release's digest, first draw (`benchmarks.analytics_reading`). Readers, language models
that had not seen the code, saw question, guidelines, gold and files; others computed the first 40
answers from the files without gold and steps. Their sentences are not published, since they quote
figures of sources whose terms are unread: `reason` names the class of each, put there afterwards.
After each draw the templates were mended for what was held against them, and another release was
built and drawn from: every draw is shown, and each is a reading of its own release by other
readers. Tasks of templates that were not mended come again in later draws.

Plants: somebody who had not read the gates planted 60 defects of ten kinds into copies of 60 good
tasks of the demo environment, with a programme that computed gold and milestones anew, so that no
defect shows by an inconsistency. `benchmint lint PLANTED --run RUN --files FILES` ran once over
each set before anything was changed for it: that run is the score. The second set has 60 new plants
in 60 other good tasks, the third, the fourth and the fifth 60 more each in tasks of other
environments.
Before each first run the gates were strengthened by plants of the author's own and by those that an
earlier set had shown to be missed, without a look at the new set; the good tasks of the second and
third sets, however, were at hand, and checks that rejected some of them at first were made milder
until none was. That none of them is rejected is therefore no blind figure. The good tasks of the
first, the fourth and the fifth set are what the gates of that day let through; none is rejected.
The bar is 60 of 60: the fifth set holds it. Gates that came after a set may reject good tasks of
that set: seven of the third, seven of the fourth and six of the fifth are now rejected, for groups
of one or two companies, groups a fifth of whose size is not reported, growth that comes of who
reports in which year, rankings that leave nobody out, and conditions that remove nothing. 16 of
these 20 had been doubted by the planters.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks.agreement import agreement, wilson
from benchmarks.report import table, write_result

LABELS = Path(__file__).with_name("labels")
JUDGED = ("natural", "complete", "unambiguous", "answer_fits")
GOOD = ("natural", "complete", "unambiguous")
_BAR = 0.9
_LATER_SETS = ("fifth", "fourth", "third", "second")
Row = Mapping[str, str]
# The reason that each kind of defect is looked for as.
REASONS = {
    "rival_fits": ("answer.not_unique",),
    "knife_edge": ("answer.knife_edge",),
    "missing_data": ("answer.missing_data",),
    "single_source": ("steps.single_source",),
    "unneeded_step": ("steps.unneeded",),
    "answer_in_prompt": ("answer.in_prompt",),
    "world_knowledge": ("answer.world_knowledge",),
    "guidelines_mismatch": ("guidelines.mismatch",),
    "priors_leak": ("priors.leak",),
    "wrong_gold": ("guidelines.mismatch", "steps.other_question"),
}


def main() -> None:
    """Read the sheets, write the page."""
    reading = {reader(path): rows(path) for path in sheets("analytics_reading_*.csv")}
    computing = {reader(path): rows(path) for path in sheets("analytics_computing_*.csv")}
    plants = rows(LABELS / "analytics_plants.csv")
    later = {name: rows(LABELS / f"analytics_plants_{name}.csv") for name in _LATER_SETS}
    figures: dict[str, Any] = {
        "reading": {name: counted(sheet) for name, sheet in reading.items()},
        "computing": {name: counts(sheet, "verdict") for name, sheet in computing.items()},
        "plants": {run: counts(outcomes(plants, run), "outcome") for run in ("first", "after")},
    } | {
        f"{name}_plants": counts(outcomes(planted, "first"), "outcome")
        for name, planted in later.items()
    }
    parts = [
        *reading_text(reading),
        *computing_text(computing),
        "## Planted defects",
        *(
            line
            for name, planted in later.items()
            for line in plants_text(planted, {"first": f"The {name} set, first run"})
        ),
        *plants_text(
            plants,
            {
                "first": "The first set, first run",
                "after": "The first set after the mending (no score)",
            },
        ),
    ]
    text = "\n\n".join(parts)
    write_result("analytics_people", __doc__ or "", text + "\n", figures)


def sheets(pattern: str) -> list[Path]:
    return sorted(LABELS.glob(pattern))


def reader(path: Path) -> str:
    """The sign of a reader: the end of the sheet's name."""
    return path.stem.rpartition("_")[2].upper()


def rows(path: Path) -> list[Row]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def is_good(row: Row) -> bool:
    return all(row[name] == "yes" for name in GOOD)


def counted(sheet: Sequence[Row]) -> dict[str, int]:
    """How many tasks pass each question, and all three that count."""
    made = {name: sum(row[name] == "yes" for row in sheet) for name in JUDGED}
    return {"tasks": len(sheet), **made, "good": sum(map(is_good, sheet))}


def counts(sheet: Sequence[Row], column: str) -> dict[str, int]:
    return dict(sorted(Counter(row[column] for row in sheet).items()))


def share(part: int, whole: int) -> str:
    interval = wilson(part, whole)
    return f"{part} of {whole} ({interval.low:.2f} to {interval.high:.2f})"


def reading_text(reading: Mapping[str, Sequence[Row]]) -> list[str]:
    """The verdicts by reader, how far readers agree, and the classes of what they named."""
    lines = []
    for name, sheet in sorted(reading.items(), key=lambda item: (item[1][0]["draw"], item[0])):
        good = sum(map(is_good, sheet))
        state = "held" if good >= _BAR * len(sheet) else "missed"
        shares = [share(counted(sheet)[k], len(sheet)) for k in (*JUDGED, "good")]
        lines.append([sheet[0]["draw"], name, *shares, state])
    head = ("draw", "reader", *JUDGED, "natural, complete and unambiguous", f"bar {_BAR:.0%}")
    text = ["## Reading", table(head, lines)]
    for (mine, first), (other, second) in combinations(reading.items(), 2):
        if first[0]["draw"] != second[0]["draw"]:
            continue
        sides = [[str(is_good(row)) for row in sheet] for sheet in (first, second)]
        kappa = agreement(sides[0], sides[1]).kappa
        shown = "undefined" if kappa is None else f"{kappa.value:.2f}"
        text.append(f"{mine} and {other}: κ of the last column {shown}.")
    classes = Counter(
        (reason, name)
        for name, sheet in reading.items()
        for row in sheet
        if not is_good(row)
        for reason in row["reason"].split("+")
    )
    reasons = sorted({reason for reason, _ in classes})
    body = [[f"`{r}`", *(str(classes[r, name]) for name in reading)] for r in reasons]
    return [*text, "What is held against them:", table(("class", *reading), body)]


def computing_text(computing: Mapping[str, Sequence[Row]]) -> list[str]:
    """How often people who computed the answers came to the gold."""
    lines = [
        [name, share(sum(row["verdict"] == "same" for row in sheet), len(sheet)), listed(sheet)]
        for name, sheet in computing.items()
    ]
    return ["## Computed anew", table(("by", "the same as the gold", "verdicts"), lines)]


def listed(sheet: Sequence[Row]) -> str:
    return ", ".join(f"{n} {verdict}" for verdict, n in counts(sheet, "verdict").items())


def outcomes(plants: Sequence[Row], run: str) -> list[Row]:
    """Per plant: found for what it is, found for another reason, or not."""
    made: list[Row] = []
    for plant in plants:
        named = plant[run].split()
        is_same = any(reason in REASONS[plant["kind"]] for reason in named)
        outcome = "as planted" if is_same else "otherwise" if named else "not found"
        made.append({"kind": plant["kind"], "outcome": outcome})
    return made


def plants_text(plants: Sequence[Row], runs: Mapping[str, str]) -> list[str]:
    """What runs over a set of plants find, by kind."""
    text = []
    for run, title in runs.items():
        seen = outcomes(plants, run)
        n_found = sum(row["outcome"] != "not found" for row in seen)
        kinds = []
        for kind in REASONS:
            own = [row["outcome"] for row in seen if row["kind"] == kind]
            columns = ("as planted", "otherwise", "not found")
            kinds.append([f"`{kind}`", str(len(own)), *(str(own.count(c)) for c in columns)])
        head = ("kind", "planted", "found as planted", "found for another reason", "not found")
        text += [f"{title}: {share(n_found, len(seen))} found, of the 60 good ones none rejected."]
        text.append(table(head, kinds))
    return text


if __name__ == "__main__":
    main()
