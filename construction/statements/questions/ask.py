"""From drawn points to questions: each is asked about, and replaced where it cannot be asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import polars as pl

from construction.statements.model import Statements
from construction.statements.questions.contracts import STAGE, Question, QuestionConfig
from construction.statements.questions.index import index_database
from construction.statements.questions.make import make_questions
from data.contracts import LedgerRow, StageKind, StageTally
from data.ledger import tally

# The drawn points without the rejected ones, replaced from the reserve where it has any left: a
# row per point, with `point_id` and `replacement`.
Fill = Callable[[Collection[str]], pl.DataFrame]


@dataclass(frozen=True, slots=True)
class Answered:
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


def ask_for(statements: Statements, fill: Fill, config: QuestionConfig, seed: int) -> Answered:
    """Ask about every drawn point, and replace those that cannot be asked.

    Every point that was tried has a ledger row; a replacement is flagged.
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
    counts = tally(STAGE, StageKind.FILTER, "point", [row.item_id for row in ledger], ledger)
    return Answered(final, ledger, counts, frozenset(rejected))


def sampling_frame(statements: Statements, askable: pl.Series) -> pl.DataFrame:
    """What can be drawn: a row per askable point, with the columns that the sampler needs."""
    series = statements.series.select("series_id", "category", series_name="name")
    companies = statements.companies.select("company_id", is_us="us")
    points = statements.points.filter(pl.col("point_id").is_in(askable.to_list()))
    return (
        points.select("point_id", "series_id", "company_id")
        .join(series, on="series_id")
        .join(companies, on="company_id")
        .select("category", "is_us", "series_name", "point_id", company="company_id")
    )
