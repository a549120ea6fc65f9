"""The values of one series, by period in either convention."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

import polars as pl

from construction.statements.periods.query import Basis, PeriodQuery, parse_period
from construction.statements.tools.database import Database, Record
from construction.statements.tools.discovery import (
    local_label,
    named_company,
    series_scores,
    unknown_company,
)
from construction.statements.tools.results import (
    Earlier,
    Fundamentals,
    LookupLimits,
    Refusal,
    Value,
    fiscal_text,
    understood,
)
from data.errors import InputError
from data.text.folding import fold_words

_ASK_SERIES = "Call discover_company_series to find it."
_TOLD_PERIODS = 12
# The names of a series, the most exact first.
_FORMS: tuple[Callable[[Record], str | None], ...] = (
    lambda record: record["name"],
    lambda record: record["name_local"],
    lambda record: record["label"],
    local_label,
    lambda record: record["concept"],
)


def get_company_fundamentals(
    database: Database,
    company_id: str,
    series_id: str | None = None,
    series_name: str | None = None,
    period: str | None = None,
    convention: Basis = Basis.FISCAL,
    limit: int = 50,
    limits: LookupLimits | None = None,
) -> Fundamentals | Refusal:
    """Values of one series, newest first, each with its period in both conventions.

    The series is named by id, or by its full name, label or tag, in any of its languages, if only
    one series has that name. `period` is fiscal or calendar text; `convention` decides if the text
    does not say which. Refused: unknown company or series (with the nearest ones), several series
    of that name, an unreadable period, a limit out of range.
    """
    limits = limits or LookupLimits()
    if not 1 <= limit <= limits.values:
        return Refusal(f"limit must be 1 to {limits.values}.")
    if (series_id is None) == (series_name is None):
        return Refusal(f"Give either series_id or series_name. {_ASK_SERIES}")
    company_id, hint = named_company(database, company_id)
    refused = unknown_company(database, company_id, limits)
    if refused:
        return refused
    series = _series(database, company_id, series_id, series_name, limits)
    if isinstance(series, Refusal):
        return series
    try:
        query = None if period is None else parse_period(period)
    except InputError as error:
        return Refusal(f"No such period: found {error.actual}; expected {error.expected}.")
    points = database.points_of(company_id).filter(pl.col("series_id") == series["series_id"])
    values = _fundamentals(database, series, points, query, convention, limit)
    return replace(values, note=" ".join(note for note in (hint, values.note) if note) or None)


def _series(
    database: Database,
    company_id: str,
    series_id: str | None,
    series_name: str | None,
    limits: LookupLimits,
) -> Record | Refusal:
    known = database.series_of(company_id).to_dicts()
    requested = series_id if series_id is not None else series_name or ""
    if series_id is not None:
        for record in known:
            if record["series_id"] == series_id:
                return record
        owner = database.owners.get(series_id)
        if owner is not None:
            return Refusal(f"That series belongs to {owner}, not to this company.")
        return Refusal(f"No such series_id. {_ASK_SERIES}", _near(known, requested, limits))
    folded = fold_words(requested)
    for form in _FORMS:
        fitting = [
            record for record in known if folded and fold_words(form(record) or "") == folded
        ]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            suggestions = _named(fitting[: limits.suggestions])
            return Refusal(f"{len(fitting)} series have that name; give series_id.", suggestions)
    return Refusal(f"No such series_name. {_ASK_SERIES}", _near(known, requested, limits))


def _near(known: Sequence[Record], requested: str, limits: LookupLimits) -> tuple[str, ...]:
    if len(requested) > limits.query_chars or not fold_words(requested) or not known:
        return ()
    scores = series_scores(known, requested)
    order = sorted(range(len(known)), key=lambda position: (-scores[position], position))
    return _named([known[position] for position in order[: limits.suggestions]])


def _named(series: Sequence[Record]) -> tuple[str, ...]:
    return tuple(f"{record['series_id']} ({record['name']})" for record in series)


def _fundamentals(
    database: Database,
    series: Record,
    points: pl.DataFrame,
    query: PeriodQuery | None,
    convention: Basis,
    limit: int,
) -> Fundamentals:
    fitting = points if query is None else points.filter(query.expression(convention))
    note = None
    if fitting.is_empty():
        note = f"No value. Periods of this series: {_periods(points)}"
    company = database.companies[database.by_id[series["company_id"]]]
    return Fundamentals(
        company_id=series["company_id"],
        company=company["name"],
        series_id=series["series_id"],
        name=series["name"],
        fiscal_year_end=company["fiscal_year_end"],
        period_asked=None if query is None else understood(query, convention),
        values=tuple(
            _value(point, series["unit"], database.replaced.get(point["point_id"], ()))
            for point in fitting.head(limit).to_dicts()
        ),
        matched=fitting.height,
        note=note,
    )


def _periods(points: pl.DataFrame) -> str:
    """The newest available periods, in both conventions; the last day if a period has no name."""
    names: dict[str, None] = {}
    for point in points.iter_rows(named=True):
        fiscal, calendar = fiscal_text(point), point["calendar_period"]
        unnamed = f"to {_iso(point['period_end'])}"
        names[f"{fiscal or unnamed} (calendar {calendar})" if calendar else fiscal or unnamed] = (
            None
        )
    more = ", …" if len(names) > _TOLD_PERIODS else ""
    return ", ".join(list(names)[:_TOLD_PERIODS]) + more if names else "none"


def _value(point: Record, unit: str, replaced: Sequence[Record]) -> Value:
    return Value(
        value=point["value"],
        unit=unit,
        fiscal_period=fiscal_text(point),
        calendar_period=point["calendar_period"],
        period_start=_iso(point["period_start"]),
        period_end=point["period_end"].isoformat(),
        months=point["months"],
        period_type=point["period_type"],
        document=point["document"],
        filed=_iso(point["filed"]),
        computed=point["computed"],
        restatements=point["restatements"],
        earlier=tuple(
            Earlier(old["value"], old["document"], _iso(old["filed"])) for old in replaced
        ),
    )


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
