"""The reference path of a question: gold answer, executable steps, milestones."""

from __future__ import annotations

import re
from typing import Any

from construction.statements.questions.contracts import Point, Question, Sharpening
from construction.statements.questions.naming import period_words
from construction.statements.questions.operations import PRESENT, TOOLS
from construction.statements.questions.wording import phrase_of
from construction.statements.tools.results import fiscal_text
from data.contracts import Answer, Milestone, Step

_QUERY_CHARS = 200  # the most that the tools read of a query
_MOST_SERIES = 200  # of a company in one answer of the tool, its upper limit


def gold_answer(question: Question) -> Answer:
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


def reference_steps(question: Question) -> tuple[Step, ...]:
    """Find the company, its series and the value, and present it: each step names its tool."""
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


def milestones(question: Question) -> tuple[Milestone, ...]:
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
