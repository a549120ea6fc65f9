"""The questions stage: drawn data points become questions that fit exactly one data point.

A point that cannot be asked about is replaced from the reserve.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import polars as pl

from construction.statements.model import Statements
from construction.statements.questions.ambiguity import (
    Database,
    Slots,
    index_database,
    other_values,
)
from construction.statements.questions.contracts import (
    STAGE,
    Point,
    Question,
    QuestionBatch,
    QuestionConfig,
    QuestionReason,
    Rival,
)
from construction.statements.questions.levels import leveled
from construction.statements.questions.terms import number_of
from construction.statements.questions.write import (
    Written,
    first_sharpenings,
    sharpen,
    wordings_of,
    write_question,
)
from data.contracts import LedgerRow, Outcome, Scalar, StageKind, StageTally
from data.errors import InputError
from data.ledger import tally
from data.randomness import keyed_hash

_VERSION_STAGE = "question.version"

# The drawn points without the rejected ones, replaced from the reserve where it has any left: a
# row per point, with `point_id` and `replacement`.
_Fill = Callable[[Collection[str]], pl.DataFrame]


@dataclass(frozen=True, slots=True)
class _Answered:
    """The questions that can be asked, sorted by point, and what became of every point tried."""

    questions: Sequence[Question]
    ledger: Sequence[LedgerRow]
    tally: StageTally
    rejected: frozenset[str]

    @property
    def reasons(self) -> dict[str, int]:
        """How many points could not be asked about, by reason, the commonest first."""
        counts = Counter(str(row.reason) for row in self.ledger if row.reason is not None)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def ask_for(
    statements: Statements,
    fill: _Fill,
    config: QuestionConfig,
    seed: int,
    askable: Collection[str],
) -> _Answered:
    """Ask about every drawn point, and replace those that cannot be asked.

    Every point that was tried has a ledger row; a replacement is flagged. Then questions are made
    harder, as many as `config.levels` says; `askable` are the points that may be the second value
    of a question.
    """
    database = index_database(statements, config.round_share)
    questions: dict[str, Question] = {}
    ledger: list[LedgerRow] = []
    rejected: set[str] = set()
    points = fill(rejected)
    while untried := sorted(set(points["point_id"]) - questions.keys()):
        drawn = points.filter(pl.col("point_id").is_in(untried))
        made = make_questions(
            drawn.rename({"replacement": "is_replacement"}), statements, config, seed, database
        )
        questions |= {question.point_id: question for question in made.questions}
        ledger += made.ledger
        rejected |= {row.item_id for row in made.rejections}
        points = fill(rejected)
    final = [questions[point] for point in sorted(points["point_id"])]
    final = leveled(final, database, config, frozenset(askable), seed)
    counts = tally(STAGE, StageKind.FILTER, "point", [row.item_id for row in ledger], ledger)
    return _Answered(final, ledger, counts, frozenset(rejected))


def sampling_frame(statements: Statements, askable: pl.Series) -> pl.DataFrame:
    """What can be drawn: a row per askable point, with the columns that the sampler needs."""
    series = statements.series.select("series_id", "category", series_name="name")
    companies = statements.companies.select("company_id", is_us="us")
    points = statements.points.filter(pl.col("point_id").is_in(askable.to_list()))
    return (
        points.select("point_id", "series_id", "company_id", period="period_type")
        .join(series, on="series_id")
        .join(companies, on="company_id")
        .select("category", "is_us", "series_name", "point_id", "period", company="company_id")
    )


DRAWN = {
    "point_id": pl.String,
    "category": pl.String,
    "pi_design": pl.Float64,
    "is_replacement": pl.Boolean,
}


def make_questions(
    drawn: pl.DataFrame,
    statements: Statements,
    config: QuestionConfig,
    seed: int,
    database: Database | None = None,
) -> QuestionBatch:
    """A question per drawn point, or a ledger row that says why there is none.

    `drawn` has the columns of `DRAWN` (others are ignored), one row per point, in any order.
    Several calls can share an index of the same statements. `seed` chooses between wordings.
    Errors: `InputError` for missing columns, repeated or unknown points.
    """
    _check(drawn)
    database = database or index_database(statements, config.round_share)
    questions: list[Question] = []
    ledger: list[LedgerRow] = []
    for row in drawn.select(list(DRAWN)).sort("point_id").iter_rows(named=True):
        made = _question(row, database, config, seed)
        if isinstance(made, Question):
            questions.append(made)
            ledger.append(LedgerRow(STAGE, "point", row["point_id"], Outcome.KEPT))
        else:
            ledger.append(made)
    closed = tally(STAGE, StageKind.FILTER, "point", drawn["point_id"].to_list(), ledger)
    return QuestionBatch(questions, ledger, closed)


def _check(drawn: pl.DataFrame) -> None:
    missing = [name for name in DRAWN if name not in drawn.columns]
    if missing:
        actual = f"no column {', '.join(missing)}"
        raise InputError("drawn points", actual, ", ".join(DRAWN), "Draw them with the sampler.")
    if drawn["point_id"].is_duplicated().any():
        expected = "one row per data point"
        raise InputError("drawn points", "points that repeat", expected, "Merge the draws first.")


def _question(
    row: dict[str, Any], database: Database, config: QuestionConfig, seed: int
) -> Question | LedgerRow:
    point = database.points.get(row["point_id"])
    if point is None:
        actual, todo = "a point that is not in the tables", "Draw from the same tables."
        raise InputError("drawn points", actual, "ids of the table points", todo)
    series, point = database.series[point.series_id], _version(point, database, seed)
    company = database.companies[series.company_id]
    tried = []
    for worded in wordings_of(Slots(company, series, point, ()), database):
        first = first_sharpenings(series, point, database, worded)
        slots = Slots(company, series, point, first, worded)
        tried.append(_unique(slots, database, config, seed))
    if made := [each for each in tried if isinstance(each, tuple)]:
        slots, written = min(made, key=lambda pair: len(pair[0].sharpened))  # the first of equals
        return _to_question(row, slots, written)
    refused = tried[-1] if tried else QuestionReason.NOT_PRINTED
    if isinstance(refused, Rival):
        evidence = {"rival": refused.point_id, "cause": str(refused.cause)}
        return _rejected(row, QuestionReason.AMBIGUOUS, evidence)
    assert isinstance(refused, QuestionReason)
    return _rejected(row, refused)


def _unique(
    slots: Slots, database: Database, config: QuestionConfig, seed: int
) -> tuple[Slots, Written] | Rival | QuestionReason:
    """The slots with what makes their words fit one value, and the question; or why none."""
    written = write_question(slots, database, config, seed)
    if isinstance(written, QuestionReason):
        return written
    sharpened = sharpen(slots, database, config.max_sharpenings)
    if isinstance(sharpened, Rival):
        return sharpened
    written = write_question(sharpened, database, config, seed)
    return written if isinstance(written, QuestionReason) else (sharpened, written)


def _version(point: Point, database: Database, seed: int) -> Point:
    """The value to ask for: for a restated one, a keyed choice between it and the first one."""
    dated = [
        old
        for old in other_values(point, database)
        if old.filed not in (None, point.filed) and number_of(old.value)
    ]
    if not dated or keyed_hash(seed, _VERSION_STAGE, point.point_id)[0] % 2:
        return point
    return min(dated, key=lambda old: (old.filed or date.max, old.point_id))


def _rejected(
    row: dict[str, Any], reason: QuestionReason, evidence: Mapping[str, Scalar] | None = None
) -> LedgerRow:
    return LedgerRow(
        STAGE,
        "point",
        row["point_id"],
        Outcome.REJECTED,
        reason=reason,
        stratum=row["category"],
        evidence=evidence or {},
    )


def _to_question(row: dict[str, Any], slots: Slots, written: Written) -> Question:
    return Question(
        point_id=row["point_id"],
        text=written.text,
        guideline=written.guideline,
        answer=written.amount.answer,
        gold=written.amount.gold,
        company=slots.company,
        series=slots.series,
        point=slots.point,
        category=row["category"],
        sharpened=tuple(slots.sharpened),
        pi_design=row["pi_design"],
        is_replacement=row["is_replacement"],
        worded=slots.worded,
    )
