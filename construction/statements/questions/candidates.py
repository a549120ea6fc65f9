"""Questions as candidates of the pool."""

from __future__ import annotations

import re
from typing import Any, Literal

from construction.signals.crosswalk import default_crosswalk
from construction.statements.questions.contracts import Point, Question, Sharpening
from construction.statements.questions.naming import period_words
from construction.statements.questions.wording import phrase_of
from construction.statements.tools.results import fiscal_text
from data.contracts import (
    Answer,
    Budget,
    Candidate,
    Disclosure,
    Evidence,
    Label,
    Lane,
    Milestone,
    NetworkPolicy,
    Provenance,
    Step,
)
from data.text.lexicon import load_table

TOOLS = ("discover_companies", "discover_company_series", "get_company_fundamentals")
PRESENT = "present"  # the last step: the value in the unit, scale and rounding asked for
SURFACE = "api"
DIFFICULTY_RULE = (
    "points for: a part of a year (1), a line under a subsection (1), a dimension (2), "
    "words that had to tell the line or company from others (1 each, 2 at most), "
    "a fiscal year that is no calendar year (1); easy 0, medium 1 or 2, hard from 3"
)
_QUERY_CHARS = 200  # the most that the tools read of a query
_MOST_SERIES = 200  # of a company in one answer of the tool, its upper limit
_SECTIONS_OF_A_PLAIN_LINE = 3  # statement, section, label
_FAMILIES = load_table(__package__, "families.toml")


def candidate_of(question: Question, task_id: str, licence: str | None = None) -> Candidate:
    """The candidate of a question; `task_id` is its opaque released id.

    The prompt holds the question and the answer format; value, row and steps are in the private
    fields (`PRIVATE_FIELDS`).
    """
    family = _FAMILIES.get(question.category, _FAMILIES["*"])
    return Candidate(
        task_id=task_id,
        lane=Lane.QUESTIONS,
        prompt=f"{question.text}\n\n{question.guideline}",
        language="en",
        task_family=Label(
            value=family, confidence=1.0, reason=f"category {question.category}", judge="rules"
        ),
        display_group=default_crosswalk().display_group(family),
        business_task=f"Look up one figure: {question.category.replace('_', ' ')}",
        execution_surface=SURFACE,
        difficulty=difficulty(question),
        difficulty_rule=DIFFICULTY_RULE,
        tools=TOOLS,
        budget=Budget(turns=30, seconds=600),
        network=NetworkPolicy(),
        answers=(_answer(question),),
        steps=_steps(question),
        milestones=_milestones(question),
        evidence=Evidence(retrieval=True, accuracy=True),
        provenance=Provenance(
            source=question.company.source,
            source_format="statements",
            item_id=question.point_id,
            disclosure=Disclosure(question.company.disclosure),
            licence=licence,
            detail={"document": question.point.document, "is_replacement": question.is_replacement},
        ),
    )


def difficulty(question: Question) -> Literal["easy", "medium", "hard"]:
    """The points of `DIFFICULTY_RULE`; all of them can be seen without the value."""
    series, point = question.series, question.point
    extra_words = [step for step in question.sharpened if step is not Sharpening.DATES]
    points = min(len(extra_words), 2)
    points += point.period_type not in (None, "annual")
    points += series.depth > _SECTIONS_OF_A_PLAIN_LINE
    points += 2 * (series.dimensions is not None)
    points += point.months > 0 and point.calendar_period != _as_calendar(point)
    if points == 0:
        return "easy"
    return "medium" if points < 3 else "hard"


def _as_calendar(point: Point) -> str | None:
    """The calendar period of the same name as the fiscal one; None if that is unknown."""
    part = point.fiscal_period
    if part is None:
        return None
    return str(point.fiscal_year) if part == "FY" else f"{point.fiscal_year}-{part}"


def _answer(question: Question) -> Answer:
    """The gold value in the unit and scale asked for; no deviation is tolerated."""
    gold = question.gold
    return Answer(
        part="value",
        type="number",
        value=f"{gold.value:f}",
        unit=gold.unit,
        scale=int(gold.scale),
        decimals=gold.decimals,
        tolerance=0.0,
    )


def _steps(question: Question) -> tuple[Step, ...]:
    company, series, gold = question.company, question.series, question.gold
    period = re.sub(r"^for ", "", period_words(question.point, dated=True))
    when = period if question.point.months == 0 else f"for {period}"
    texts = (
        f"Find the company {company.name} with {TOOLS[0]}: {company.company_id}.",
        f"Find its series “{series.label}” with {TOOLS[1]}: {series.series_id}.",
        f"Read its value {when} with {TOOLS[2]}.",
        "Give it in the unit and scale asked for.",
    )
    rounding = {"unit": gold.unit, "scale": int(gold.scale), "decimals": gold.decimals}
    arguments: tuple[dict[str, Any], ...] = (
        {"query": _company_query(question)[:_QUERY_CHARS]},
        {
            "company_id": company.company_id,
            "query": series.label[:_QUERY_CHARS],
            "limit": _MOST_SERIES,
        },
        {
            "company_id": company.company_id,
            "series_id": series.series_id,
            "period": _tool_period(question.point),
        },
        {"values": "$3.values", **_days(question.point), **rounding},
    )
    reads = (("companies",), ("series",), ("points",), ())
    return tuple(
        Step(index=number, text=text, operation=operation, arguments=given, reads=tables)
        for number, (text, operation, given, tables) in enumerate(
            zip(texts, (*TOOLS, PRESENT), arguments, reads, strict=True), 1
        )
    )


def _company_query(question: Question) -> str:
    """What identifies the company in the question: its register number, its ticker or its name."""
    company = question.company
    if Sharpening.REGISTER in question.sharpened:
        return company.company_id.partition(":")[2] or company.company_id
    if Sharpening.TICKER in question.sharpened and company.ticker:
        return company.ticker
    return company.name


def _tool_period(point: Point) -> str:
    """The fiscal period as the data tools write it, or the last day of one without a name."""
    row = {"fiscal_year": point.fiscal_year, "fiscal_period": point.fiscal_period}
    return fiscal_text(row) or point.period_end.isoformat()


def _days(point: Point) -> dict[str, str | int | None]:
    """The days and months that tell a value from others of the same fiscal period."""
    start = point.period_start
    return {
        "period_start": None if start is None else start.isoformat(),
        "period_end": point.period_end.isoformat(),
        "months": point.months,
    }


def _milestones(question: Question) -> tuple[Milestone, ...]:
    """Company, series, period and the value as filed, which the data tools return."""
    company, series, point = question.company, question.series, question.point
    line = (series.series_id, series.label, phrase_of(series.label).text)
    return (
        Milestone(name="company", value=company.company_id, step=1),
        Milestone(name="series", value=series.series_id, step=2, implies=("company",)),
        Milestone(
            name="period",
            value=_tool_period(point),
            step=3,
            context=line,
            implies=("company", "series"),
        ),
        Milestone(
            name="value",
            value=point.value,
            type="number",
            unit=series.unit,
            step=3,
            context=line,
            implies=("company", "series", "period"),
        ),
    )
