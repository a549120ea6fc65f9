"""What pilot runs say of a candidate: its difficulty, and whether it tells agents apart.

Measured difficulty stands beside what a rule declares of a task, and comes from real agents alone.
The informative gate: do the pilots disagree about a candidate, or do all pass or all fail it? A
task that every pilot passes, or that none passes, tells no two agents apart. The threshold of the
pilots is below the one of the release, so that a task which is almost solved counts as solved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from data.contracts import (
    Bound,
    Candidate,
    Gate,
    GateReason,
    Limit,
    Measured,
    StageKind,
    Status,
    Verdict,
)
from data.contracts.gate import breaks
from data.ledger import deciding, gated_row
from selection.config import SelectionRecipe

if TYPE_CHECKING:
    from selection.scores import Floats, ScoreMatrix


_STAGE, UNIT = "informative", "candidate"
_PILOTS = "benchmint agents pilot"  # runs what is not measured yet
_LEAST_PILOTS = 2


class InformativeReason(GateReason):
    ALL_FAIL = "informative.all_fail", "No pilot passes it."
    ALL_PASS = "informative.all_pass", "All pilots pass it."


@dataclass(frozen=True, slots=True)
class _Piloted:
    """How many pilots reached the pilots' threshold on a candidate, and how many did not."""

    passed: int
    failed: int


def measure(scores: Iterable[float], threshold: float) -> _Piloted:
    """Count the pilots by the threshold; `scores` are from 0 to 1, NaN where there is none."""

    known = [float(score) for score in scores if not isnan(score)]
    failed = sum(breaks(Bound.MIN, score, threshold) for score in known)
    return _Piloted(len(known) - failed, failed)


def _at_least_one(what: str, meaning: str, reason: InformativeReason) -> Limit:
    return Limit(
        f"{what} pilots",
        Bound.MIN,
        "pilots",
        meaning,
        reason,
        value=lambda seen: seen[what],
        at=1,
        movable=False,
    )


GATE: Gate[_Piloted, SelectionRecipe] = Gate(
    name=_STAGE,
    stage=_STAGE,
    section="selection",
    meaning="Do some pilots pass it and others fail it?",
    config=SelectionRecipe,
    reasons=InformativeReason,
    measure=measure,
    limits=(
        _at_least_one("passed", "At least one pilot passes it.", InformativeReason.ALL_FAIL),
        _at_least_one("failed", "At least one pilot fails it.", InformativeReason.ALL_PASS),
    ),
)


def _verdicts(
    candidates: Sequence[Candidate], pilots: ScoreMatrix | None, recipe: SelectionRecipe
) -> dict[str, Verdict]:
    """The verdict on each candidate; not measured where fewer than two pilots have a score."""

    rows = _rows(pilots, recipe)
    seen = {
        task.task_id: measure(rows.get(task.task_id, ()), recipe.pilot_threshold)
        for task in candidates
    }
    return {
        name: GATE.judge(piloted, recipe)
        if piloted.passed + piloted.failed >= _LEAST_PILOTS
        else Verdict.blocked(GATE.name, _PILOTS)
        for name, piloted in seen.items()
    }


def _rows(pilots: ScoreMatrix | None, recipe: SelectionRecipe) -> Mapping[str, Floats]:
    if pilots is None:
        return {}
    named = pilots.of_models(recipe.pilots or pilots.models)
    return dict(zip(named.items, named.scores, strict=True))


def write_informative(
    candidates: Sequence[Candidate],
    pilots: ScoreMatrix | None,
    recipe: SelectionRecipe,
    out: Path,
) -> None:
    """Write the pool without what no two pilots differ on, and what became of each candidate."""

    from data.pool import write_pool
    from data.stage_tables import write_stage_tables

    judged = _verdicts(candidates, pilots, recipe)
    rows = [
        gated_row(_STAGE, UNIT, name, deciding([verdict]), {}) for name, verdict in judged.items()
    ]
    write_stage_tables(
        out, StageKind.FILTER, judged, rows, verdicts=[*judged.items()], stage=_STAGE, unit=UNIT
    )
    write_pool(
        out,
        [task for task in candidates if judged[task.task_id].status is not Status.FAILED],
        {},
    )


_Level = Literal["easy", "medium", "hard"]
_PASS_MARK = 0.8  # of a score whose table does not say whether the attempt passed


def read_passes(path: Path) -> dict[str, list[float]]:
    """Per item the share of passed attempts of each real agent.

    A table of `agents pilot` has the column `pass_rate`, which is empty for scripted agents. In
    one without it, whoever declares the scores vouches for the agents, and a score of `_PASS_MARK`
    passes. Raises InputError as `read_scores` does.
    """
    import polars as pl

    from selection.scores import read_scores

    read_scores(path)
    frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)
    passed = (pl.col("score").cast(pl.Float64) >= _PASS_MARK).cast(pl.Float64)
    rate = pl.col("pass_rate").cast(pl.Float64) if "pass_rate" in frame.columns else passed
    rows = frame.select(pl.col("item").cast(pl.String), rate=rate).drop_nulls("rate")
    rates: dict[str, list[float]] = {}
    for item, share in sorted(rows.rows()):
        rates.setdefault(item, []).append(share)
    return rates


def with_measured_difficulty(
    candidates: Sequence[Candidate], passes: Mapping[str, Sequence[float]]
) -> list[Candidate]:
    """The candidates, those that at least two real agents tried by the rate at which they passed.

    Easy from 2/3, medium from 1/3, else hard; what the lane's rule declares stays beside it.
    """
    measured = []
    for candidate in candidates:
        rates = passes.get(candidate.task_id, ())
        if len(rates) >= _LEAST_PILOTS:
            rate = round(fmean(rates), 9)
            shown = Measured(difficulty=_level(rate), pass_rate=rate)
            candidate = candidate.model_copy(update={"measured": shown})
        measured.append(candidate)
    return measured


def _level(rate: float) -> _Level:
    if rate >= 2 / 3:
        return "easy"
    return "medium" if rate >= 1 / 3 else "hard"


def band_of(rate: float | None) -> str | None:
    """The band of a pass rate: nobody passes, up to a third, up to two thirds, above, everybody."""
    if rate is None:
        return None
    if rate in (0, 1):
        return "none" if rate == 0 else "all"
    return {"hard": "low", "medium": "middle", "easy": "high"}[_level(rate)]


def saturation(candidates: Iterable[Candidate]) -> dict[str, float | int] | None:
    """Of the tasks that agents tried, the shares that all pass, all fail, and that separate.

    None where no agent tried any.
    """
    rates = [task.pass_rate for task in candidates if task.pass_rate is not None]
    if not rates:
        return None
    shares = {
        "all_pass": sum(rate == 1 for rate in rates),
        "all_fail": sum(rate == 0 for rate in rates),
        "separate": sum(0 < rate < 1 for rate in rates),
    }
    return {"tasks": len(rates)} | {
        name: round(count / len(rates), 9) for name, count in shares.items()
    }
