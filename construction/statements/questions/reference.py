"""The reference path of a question: gold answer, executable steps, milestones."""

from __future__ import annotations

import re
from typing import Any

from construction.statements.questions.contracts import Company, Point, Question, Series, Sharpening
from construction.statements.questions.operations import PRESENT, TOOLS
from construction.statements.questions.periods import period_words
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
    """Find the company, its series and the value, and present it: each step names its tool.

    For two values the second series and value follow, and the last step combines them.
    """
    company, combined = question.company, question.combined
    steps = [
        _step(
            1,
            f"Find the company {company.name} with {TOOLS[0]}: {company.company_id}.",
            TOOLS[0],
            {"query": _company_query(question)[:_QUERY_CHARS]},
            "companies",
        ),
        _find_series(2, question.series),
        _read_value(3, company, question.series, question.point),
    ]
    if combined is not None:
        if combined.series.series_id != question.series.series_id:
            steps.append(_find_series(len(steps) + 1, combined.series))
        steps.append(_read_value(len(steps) + 1, company, combined.series, combined.point))
    return (*steps, _present(len(steps) + 1, question))


def _step(index: int, text: str, tool: str, arguments: dict[str, Any], table: str) -> Step:
    return Step(index=index, text=text, operation=tool, arguments=arguments, reads=(table,))


def _find_series(index: int, series: Series) -> Step:
    text = f"Find its series “{series.label}” with {TOOLS[1]}: {series.series_id}."
    query = series.label[:_QUERY_CHARS]
    arguments = {"company_id": series.company_id, "query": query, "limit": _MOST_SERIES}
    return _step(index, text, TOOLS[1], arguments, "series")


def _read_value(index: int, company: Company, series: Series, point: Point) -> Step:
    period = re.sub(r"^for ", "", period_words(point, company, dated=True))
    when = period if point.months == 0 else f"for {period}"
    arguments = {
        "company_id": series.company_id,
        "series_id": series.series_id,
        "period": _tool_period(point),
    }
    return _step(index, f"Read its value {when} with {TOOLS[2]}.", TOOLS[2], arguments, "points")


def _present(index: int, question: Question) -> Step:
    gold, combined = question.gold, question.combined
    arguments: dict[str, Any] = {"values": "$3.values", **_days(question.point)}
    if question.point.replaced_by:
        arguments["document"] = question.point.document
    text = "Give it in the unit and scale asked for."
    if combined is not None:
        text = f"Take the {combined.operation} of both values, and give it as asked for."
        days = {f"second_{name}": day for name, day in _days(combined.point).items()}
        values = {"combine": combined.operation.value, "second_values": f"${index - 1}.values"}
        arguments |= values | days
    arguments |= {"unit": gold.unit, "scale": int(gold.scale), "decimals": gold.decimals}
    return Step(index=index, text=text, operation=PRESENT, arguments=arguments, reads=())


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
    """Company, series, period and the value as filed, which the data tools return.

    For two values series, period and value of the second one follow.
    """
    company, combined = question.company, question.combined
    reached = [
        Milestone(name="company", value=company.company_id, step=1),
        *_of_value("", question.series, question.point, 2),
    ]
    if combined is not None:
        is_same = combined.series.series_id == question.series.series_id
        second = _of_value("second_", combined.series, combined.point, 4)
        reached += second[1:] if is_same else second
    return tuple(reached)


def _of_value(prefix: str, series: Series, point: Point, step: int) -> list[Milestone]:
    """Series, period and value; the series is found in `step`, the value read in the next one.

    A second value of the same series is read in `step` itself.
    """
    line = (series.series_id, series.label, phrase_of(series.label).text)
    names = {name: f"{prefix}{name}" for name in ("series", "period", "value")}
    return [
        Milestone(name=names["series"], value=series.series_id, step=step, implies=("company",)),
        Milestone(
            name=names["period"],
            value=_tool_period(point),
            step=step + 1,
            context=line,
            implies=("company", names["series"]),
        ),
        Milestone(
            name=names["value"],
            value=point.value,
            type="number",
            unit=series.unit,
            step=step + 1,
            context=line,
            implies=("company", names["series"], names["period"]),
        ),
    ]
