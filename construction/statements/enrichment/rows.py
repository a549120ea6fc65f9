"""The rows of the statement that a point stands in, with the values of its period."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import polars as pl

from construction.statements.enrichment.contracts import Row
from construction.statements.enrichment.printing import shown
from construction.statements.model import Statements

_OPENING = re.compile(r"\bbeginning\b|期首", re.I)
_KEY = ("document", "report")
Period = tuple[date, int]
Exponents = Mapping[tuple[str, int | None, str], int]


@dataclass(frozen=True, slots=True)
class Reports:
    """The statements that contain some points: rows in order, values by series and period.

    `filed` has the values as a document reported them, `standing` the current ones. `parts` are the
    dimensions of series, and `by_line` the values (and units) of dimensioned series by document,
    report, line, dimensions and period, since several of them may share a row.
    """

    rows: Mapping[tuple[str, int], Sequence[Mapping[str, Any]]]
    filed: Mapping[tuple[str, str, date, int], str]
    standing: Mapping[tuple[str, date, int], str]
    periods: Mapping[str, Sequence[Period]]
    units: Mapping[str, str]
    parts: Mapping[str, str]
    by_line: Mapping[tuple[Any, ...], tuple[str, str]]


def collect_reports(wanted: pl.DataFrame, statements: Statements) -> Reports:
    """The reports of the points `wanted` (rows of POINTS), parenthetical rows left out."""
    keys = wanted.select(_KEY).drop_nulls().unique()
    rows = statements.rows.filter(~pl.col("parenthetical").fill_null(False))
    rows = rows.join(keys, on=_KEY, how="semi").sort(*_KEY, "line", "label", "series_id")
    series = rows.select("series_id").drop_nulls().unique()
    columns = ("series_id", "document", "period_end", "months", "value")
    now = statements.points.join(series, on="series_id", how="semi").select(columns)
    old = statements.history.join(series, on="series_id", how="semi").select(columns)
    by_report: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for row in rows.iter_rows(named=True):
        by_report.setdefault((row["document"], row["report"]), []).append(row)
    filed = {
        (document, series_id, end, months): value
        for series_id, document, end, months, value in pl.concat([old, now])
        .sort(columns)
        .iter_rows()
    }
    standing = {
        (series_id, end, months): value
        for series_id, _, end, months, value in now.sort(columns).iter_rows()
    }
    parts, by_line = _dimensioned(wanted, keys, statements)
    units = _units(series, statements)
    return Reports(by_report, filed, standing, _periods(now, old), units, parts, by_line)


def _dimensioned(
    wanted: pl.DataFrame, keys: pl.DataFrame, statements: Statements
) -> tuple[dict[str, str], dict[tuple[Any, ...], tuple[str, str]]]:
    """The dimensions of the wanted series, and the values of their reports by line."""
    series = statements.series.filter(pl.col("dimensions").is_not_null())
    own = series.join(wanted, on="series_id", how="semi").select("series_id", "dimensions")
    columns = ("series_id", "document", "report", "line", "period_end", "months", "value")
    frames = (statements.history.select(columns), statements.points.select(columns))
    values = (
        pl.concat(frames)
        .join(keys, on=_KEY, how="semi")
        .join(series.select("series_id", "dimensions", "unit"), on="series_id")
        .select(*_KEY, "line", "dimensions", "period_end", "months", "value", "unit")
        .sort(pl.all())
    )
    return dict(own.iter_rows()), {row[:6]: row[6:] for row in values.iter_rows()}


def _periods(now: pl.DataFrame, old: pl.DataFrame) -> dict[str, list[Period]]:
    spans = pl.concat([now, old]).select("document", "period_end", "months").unique()
    periods: dict[str, list[Period]] = {}
    for document, end, months in spans.sort("document", "period_end", "months").iter_rows():
        periods.setdefault(document, []).append((end, months))
    return periods


def _units(series: pl.DataFrame, statements: Statements) -> dict[str, str]:
    shown = statements.series.join(series, on="series_id", how="semi")
    return dict(shown.select("series_id", "unit").iter_rows())


def comparative(reports: Reports, point: Mapping[str, Any]) -> Period | None:
    """The latest earlier period of the same length that the document reports the statement for."""
    rows = reports.rows.get((point["document"], point["report"]), ())
    series = {row["series_id"] for row in rows}
    counts: Counter[Period] = Counter()
    for end, months in reports.periods.get(point["document"], ()):
        if months == point["months"] and end < point["period_end"]:
            counts[(end, months)] = sum(
                (point["document"], one, end, months) in reports.filed for one in series
            )
    best = [period for period, count in counts.items() if 2 * count >= max(counts.values()) > 0]
    return max(best, default=None)


def rows_around(
    reports: Reports, point: Mapping[str, Any], before: Period | None, exponents: Exponents
) -> tuple[tuple[Row, ...], int | None]:
    """All rows of the point's statement, and the position of its own row; None without one.

    For a dimensioned point the rows have the values of the same dimensions.
    """
    key = (point["document"], point["report"])
    listed = reports.rows.get(key, ())
    position = _position(listed, point)
    period = (point["period_end"], point["months"])
    rows = []
    for at, row in enumerate(listed):
        opening = _opening(row, point)
        value, unit = _printed(reports, row, point, opening or period)
        if at == position:
            value = point["value"]
        earlier = _printed(reports, row, point, before)[0] if before and not opening else None
        exponent, negated = exponents.get((*key, unit), 0), bool(row["negated"])
        label = row["label"] or ""
        rows.append(
            Row(
                offset=at - (position or 0),
                line=row["line"],
                label=label,
                value=value or "",
                shown=shown(value, unit, exponent, negated=negated, label=label),
                before=shown(earlier, unit, exponent, negated=negated, label=label),
                heading=row["series_id"] is None and not value,
                unit=unit,
            )
        )
    return tuple(rows), position


def _position(rows: Sequence[Mapping[str, Any]], point: Mapping[str, Any]) -> int | None:
    """The row of the point's series; if there are several, or none, the one of its line."""
    places = [at for at, row in enumerate(rows) if row["series_id"] == point["series_id"]]
    on_line = [at for at, row in enumerate(rows) if row["line"] == point["line"]]
    exact = [at for at in places if at in on_line]
    return next(iter(exact or places or on_line), None)


def _printed(
    reports: Reports, row: Mapping[str, Any], point: Mapping[str, Any], period: Period
) -> tuple[str | None, str]:
    """The value of a row for a period, for the point's dimensions if it has any, and its unit."""
    dimensions = reports.parts.get(point["series_id"])
    if dimensions is not None:
        key = (point["document"], point["report"], row["line"], dimensions, *period)
        return reports.by_line.get(key, (None, ""))
    unit = reports.units.get(row["series_id"] or "", "")
    return _value(reports, row, point["document"], period), unit


def _opening(row: Mapping[str, Any], point: Mapping[str, Any]) -> Period | None:
    """For a balance that opens a flow statement, the day before the period."""
    opens = point["months"] and _OPENING.search(row["label"] or "")
    if not opens or point["period_start"] is None:
        return None
    return point["period_start"] - timedelta(days=1), 0


def _value(reports: Reports, row: Mapping[str, Any], document: str, period: Period) -> str | None:
    """The value of a row for a period; for balances in a flow statement, that of its last day."""
    series_id, (end, months) = row["series_id"], period
    if series_id is None:
        return None
    for length in dict.fromkeys((months, 0)):
        value = reports.filed.get((document, series_id, end, length))
        value = value if value is not None else reports.standing.get((series_id, end, length))
        if value is not None:
            return value
    return None
