"""The enrichment of drawn points: neighbouring rows, section path and a picture of the page.

Neighbouring rows have the values of the point's period, as the statement prints them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import polars as pl

from construction.statements.enrichment.contracts import Enriched, EnrichmentConfig, Page, Row
from construction.statements.enrichment.picture import draw, render_png
from construction.statements.model import SEPARATOR, Statements
from construction.statements.questions.amounts import (
    currency_words,
    number_of,
    reporting_exponents,
    trimmed,
)
from data.atomic import write_bytes
from data.text.dates import write_date

_LENGTHS = {3: "3 months to ", 6: "6 months to ", 9: "9 months to ", 12: "12 months to "}


def enrich(
    point_ids: Iterable[str], statements: Statements, config: EnrichmentConfig
) -> dict[str, Enriched]:
    """The surroundings of each point, in the order of their ids; unknown ids are left out.

    A value that a later filing replaced is shown in the filing that gave it.
    """
    ids = sorted(set(point_ids))
    filed = pl.concat([statements.points, statements.history.drop("replaced_by")])
    wanted = filed.filter(pl.col("point_id").is_in(ids)).sort("point_id")
    reports = collect_reports(wanted, statements)
    exponents = reporting_exponents(statements, config.round_share)
    series = _by_id(statements.series, "series_id", wanted["series_id"])
    companies = _by_id(statements.companies, "company_id", wanted["company_id"])
    enriched: dict[str, Enriched] = {}
    for point in wanted.iter_rows(named=True):
        series_row = series[point["series_id"]]
        exponent = exponents.get((point["document"], point["report"], series_row["unit"]), 0)
        company = companies[point["company_id"]]
        enriched[point["point_id"]] = _enriched(
            point, series_row, company, reports, exponent, config
        )
    return enriched


def _by_id(frame: pl.DataFrame, key: str, ids: pl.Series) -> dict[str, dict[str, Any]]:
    rows = frame.filter(pl.col(key).is_in(ids.unique().to_list())).iter_rows(named=True)
    return {row[key]: row for row in rows}


def _enriched(
    point: Mapping[str, Any],
    series: Mapping[str, Any],
    company: Mapping[str, Any],
    reports: Reports,
    exponent: int,
    config: EnrichmentConfig,
) -> Enriched:
    before = comparative(reports, point)
    rows, position = rows_around(reports, point, before, exponent)
    if position is None:
        rows, before = (_alone(point, series, exponent),), None
    section = tuple((series["name"] or "").split(SEPARATOR)[:-1])
    page = Page(
        company=company["name_local"] or company["name"] or "",
        statement=series["statement"] or "",
        section=" > ".join(section),
        unit=unit_line(series["unit"] or "", exponent),
        period=_head((point["period_end"], point["months"])),
        before=_head(before) if before else "",
        source=f"Filing {point['document']}",
        rows=_window(rows, position or 0, config.page_rows // 2),
    )
    neighbours = _window(rows, position or 0, config.neighbours)
    return Enriched(point["point_id"], position is not None, neighbours, section, page, draw(page))


def _alone(point: Mapping[str, Any], series: Mapping[str, Any], exponent: int) -> Row:
    printed = shown(point["value"], series["unit"] or "", exponent, negated=False)
    label = series["label"] or ""
    return Row(0, point["line"] or 0, label, point["value"] or "", printed, "", False)


def _window(rows: tuple[Row, ...], position: int, reach: int) -> tuple[Row, ...]:
    return rows[max(0, position - reach) : position + reach + 1]


def _head(period: Period) -> str:
    end, months = period
    return _LENGTHS.get(months, "") + write_date(end)


def write_pictures(
    out: Path, enriched: Mapping[str, Enriched], numbers: Mapping[str, int], *, png: bool = False
) -> None:
    """One SVG per point of `numbers`, named by its number; with `png` also a PNG.

    The SVGs are the same bytes on every machine and belong to the digest; the PNGs do not.
    """
    out.mkdir(exist_ok=True)
    for point_id, number in sorted(numbers.items()):
        svg = enriched[point_id].svg
        write_bytes(out / f"{number:05}.svg", svg.encode())
        if png:
            write_bytes(out / f"{number:05}.png", render_png(svg))


_SCALES = {0: "", 3: "thousand", 6: "million"}
_DASH = "—"
MAX_PLACES = 4
_OPENING = re.compile(r"\bbeginning\b|期首", re.I)
_KEY = ("document", "report")
Period = tuple[date, int]


def shown(value: str | None, unit: str, exponent: int, *, negated: bool) -> str:
    """Scaled, in groups of three, negatives in brackets, zero as a dash; "" without a value."""
    number = number_of(value) if value is not None else None
    if number is None:
        return ""
    if not number:
        return _DASH
    with localcontext(prec=100):
        scaled = trimmed(number.scaleb(-exponent if is_scaled(unit) else 0))
        scaled = -scaled if negated else scaled
        text = _grouped(abs(scaled), unit)
    return f"({text})" if scaled < 0 else text


def is_scaled(unit: str) -> bool:
    """Whether amounts of the unit are printed in thousands or millions."""
    return not unit.endswith("/share") and unit not in ("ratio", "count")


def unit_line(unit: str, exponent: int) -> str:
    """The line under a title: "in millions of US dollars"."""
    if not is_scaled(unit):
        code = unit.removesuffix("/share")
        return unit if code == unit else f"in {currency_words(code) or code} per share"
    words = "shares" if unit == "shares" else currency_words(unit) or unit
    scale = _SCALES[exponent]
    return f"in {scale}s of {words}" if scale else f"in {words}"


def _grouped(number: Decimal, unit: str) -> str:
    exponent = number.as_tuple().exponent
    places = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    least = 2 if unit.endswith("/share") else 0
    return f"{number:,.{min(max(places, least), MAX_PLACES)}f}"


@dataclass(frozen=True, slots=True)
class Reports:
    """The statements that contain some points: rows in order, values by series and period.

    `filed` has the values as a document reported them, `standing` the current ones.
    """

    rows: Mapping[tuple[str, int], Sequence[Mapping[str, Any]]]
    filed: Mapping[tuple[str, str, date, int], str]
    standing: Mapping[tuple[str, date, int], str]
    periods: Mapping[str, Sequence[Period]]
    units: Mapping[str, str]


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
    return Reports(by_report, filed, standing, _periods(now, old), _units(series, statements))


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
    reports: Reports, point: Mapping[str, Any], before: Period | None, exponent: int
) -> tuple[tuple[Row, ...], int | None]:
    """All rows of the point's statement, and the position of its own row; None without one."""
    key = (point["document"], point["report"])
    listed = reports.rows.get(key, ())
    position = _position(listed, point)
    period = (point["period_end"], point["months"])
    rows = []
    for at, row in enumerate(listed):
        opening = _opening(row, point)
        value = (
            point["value"] if at == position else _value(reports, row, key[0], opening or period)
        )
        earlier = _value(reports, row, key[0], before) if before and not opening else None
        unit = reports.units.get(row["series_id"] or "", "")
        negated = bool(row["negated"])
        rows.append(
            Row(
                offset=at - (position or 0),
                line=row["line"],
                label=row["label"] or "",
                value=value or "",
                shown=shown(value, unit, exponent, negated=negated),
                before=shown(earlier, unit, exponent, negated=negated),
                heading=row["series_id"] is None,
            )
        )
    return tuple(rows), position


def _position(rows: Sequence[Mapping[str, Any]], point: Mapping[str, Any]) -> int | None:
    """The row of the point's series; if there are several, the one of its line."""
    places = [at for at, row in enumerate(rows) if row["series_id"] == point["series_id"]]
    exact = [at for at in places if rows[at]["line"] == point["line"]]
    return next(iter(exact or places), None)


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
