"""From askable points to questions: sampled, asked, and refilled from the reserve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from construction.statements.model import Statements
from construction.statements.questions.contracts import STAGE, Question
from construction.statements.questions.index import index_database
from construction.statements.questions.make import make_questions
from data.contracts import LedgerRow, Outcome, StageKind, StageTally
from data.ledger import close, tally
from flows.recipe import QuestionsRecipe
from selection.sampling.config import SamplingConfig
from selection.sampling.frame import build_frame
from selection.sampling.report import compare_in_frame
from selection.sampling.reserve import Filled, fill
from selection.sampling.stages import Sample, draw_sample

SAMPLE = "sample"
HEADLINE_DEPTH = 2  # components of a name without sections: statement | label
_REGION = {True: "US", False: "non-US"}


@dataclass(frozen=True, slots=True)
class Answered:
    """The questions that stand, sorted by point, with the books and the report of the stage."""

    questions: Sequence[Question]
    ledger: Sequence[LedgerRow]
    tallies: Sequence[StageTally]
    report: Mapping[str, Any]


def ask_for(
    statements: Statements, askable: pl.Series, recipe: QuestionsRecipe, seed: int
) -> Answered:
    """Draw `recipe.sampling.size` points, ask about each, and replace those that cannot be asked.

    Every point that was tried has a ledger row; a replacement comes from the reserve of the same
    stratum (region × category) and is flagged.
    """
    frame = sampling_frame(statements, askable)
    config = fitting(recipe.sampling, frame)
    sample = draw_sample(frame, config, seed)
    database = index_database(statements, recipe.wording.round_share)
    asked: dict[str, Question] = {}
    books: list[LedgerRow] = []
    rejected: set[str] = set()
    filled = fill(sample.drawn, sample.reserve, rejected)
    while new := sorted(set(filled.rows["point_id"]) - asked.keys()):
        drawn = filled.rows.filter(pl.col("point_id").is_in(new))
        drawn = drawn.rename({"replacement": "is_replacement"})
        told = make_questions(drawn, statements, recipe.wording, seed, database)
        asked |= {question.point_id: question for question in told.questions}
        books += told.ledger
        rejected |= {row.item_id for row in told.rejections}
        filled = fill(sample.drawn, sample.reserve, rejected)
    questions = [asked[point] for point in sorted(filled.rows["point_id"])]
    tried = tally(STAGE, StageKind.FILTER, "point", [row.item_id for row in books], books)
    chosen, drawn_tally = _sample_books(frame, {row.item_id for row in books})
    return Answered(
        questions,
        [*chosen, *books],
        [drawn_tally, tried],
        _report(questions, frame, sample, filled, config, recipe) | {"not_asked": _why(books)},
    )


def sampling_frame(statements: Statements, askable: pl.Series) -> pl.DataFrame:
    """What can be drawn: a row per askable point, with the columns that the sampler wants."""
    series = statements.series.select("series_id", "category", series_name="name")
    companies = statements.companies.select("company_id", is_us="us")
    points = statements.points.filter(pl.col("point_id").is_in(askable.to_list()))
    return (
        points.select("point_id", "series_id", "company_id")
        .join(series, on="series_id")
        .join(companies, on="company_id")
        .select("category", "is_us", "series_name", "point_id", company="company_id")
    )


def fitting(config: SamplingConfig, frame: pl.DataFrame) -> SamplingConfig:
    """The sampling as asked for; material of one region fills the sample alone."""
    regions = set(frame["is_us"].unique())
    if len(regions) == 1:
        return config.model_copy(update={"us_share": float(regions.pop())})
    return config


def _sample_books(frame: pl.DataFrame, tried: set[str]) -> tuple[list[LedgerRow], StageTally]:
    """Points tried and not, counted per stratum: most points of a database are never drawn."""
    counted = (
        frame.with_columns(tried=pl.col("point_id").is_in(list(tried)))
        .group_by("is_us", "category", "tried")
        .len()
        .sort("is_us", "category", "tried")
    )
    rows = []
    for is_us, category, was_tried, n in counted.iter_rows():
        stratum = f"{_REGION[is_us]}/{category}"
        outcome = Outcome.CHOSEN if was_tried else Outcome.NOT_CHOSEN
        rows.append(LedgerRow(SAMPLE, "point", f"({stratum})", outcome, stratum=stratum, n=n))
    counts = {Outcome.CHOSEN: len(tried), Outcome.NOT_CHOSEN: frame.height - len(tried)}
    return rows, close(SAMPLE, StageKind.CHOOSE, "point", frame.height, counts)


def _report(
    questions: Sequence[Question],
    frame: pl.DataFrame,
    sample: Sample,
    filled: Filled,
    config: SamplingConfig,
    recipe: QuestionsRecipe,
) -> dict[str, Any]:
    regions = dict(frame.select("company", "is_us").unique().iter_rows())
    by_region = Counter(_REGION[regions[question.company.company_id]] for question in questions)
    by_category = Counter(question.category for question in questions)
    return {
        "asked_for": recipe.sampling.size,
        "questions": len(questions),
        "us_share": config.us_share,
        "by_region": dict(sorted(by_region.items())),
        "by_category": dict(sorted(by_category.items())),
        "replacements": sum(question.is_replacement for question in questions),
        "reserve": sample.reserve.height,
        "response": _rounded(filled.response),
        "dampings": _rounded(compare_in_frame(build_frame(frame), config, HEADLINE_DEPTH).shares),
    }


def _why(books: Sequence[LedgerRow]) -> dict[str, int]:
    counted = Counter(str(row.reason) for row in books if row.reason is not None)
    return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def _rounded(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows with their floats to nine places (law 5)."""
    return table.with_columns(pl.col(pl.Float64).round(9)).to_dicts()
