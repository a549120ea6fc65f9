"""The enrichment of drawn points: neighbouring rows, section path and a picture of the page.

Neighbouring rows have the values of the point's period, as the statement prints them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from construction.statements.enrichment.contracts import Enriched, EnrichmentConfig, Page, Row
from construction.statements.enrichment.picture import draw, render_png
from construction.statements.enrichment.printing import shown, unit_line
from construction.statements.enrichment.rows import (
    Exponents,
    Period,
    Reports,
    collect_reports,
    comparative,
    rows_around,
)
from construction.statements.model import SEPARATOR, Statements
from construction.statements.questions.amounts import reporting_exponents
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
        company = companies[point["company_id"]]
        enriched[point["point_id"]] = _enriched(
            point, series_row, company, reports, exponents, config
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
    exponents: Exponents,
    config: EnrichmentConfig,
) -> Enriched:
    before = comparative(reports, point)
    rows, position = rows_around(reports, point, before, exponents)
    if position is None:
        rows, before = (_alone(point, series, exponents),), None
    section = tuple((series["name"] or "").split(SEPARATOR)[:-1])
    window = _window(rows, position or 0, config.page_rows // 2)
    key = (point["document"], point["report"])
    units = [row.unit for row in window if row.shown and row.unit]
    scales = {unit: exponents.get((*key, unit), 0) for unit in units}
    page = Page(
        company=company["name_local"] or company["name"] or "",
        statement=series["statement"] or "",
        section=" > ".join(section),
        unit=unit_line(units, scales),
        period=_head((point["period_end"], point["months"])),
        before=_head(before) if before else "",
        source=f"Filing {point['document']}",
        rows=window,
    )
    neighbours = _window(rows, position or 0, config.neighbours)
    return Enriched(point["point_id"], position is not None, neighbours, section, page, draw(page))


def _alone(point: Mapping[str, Any], series: Mapping[str, Any], exponents: Exponents) -> Row:
    unit, label = series["unit"] or "", series["label"] or ""
    exponent = exponents.get((point["document"], point["report"], unit), 0)
    printed = shown(point["value"], unit, exponent, negated=False, label=label)
    return Row(0, point["line"] or 0, label, point["value"] or "", printed, "", False, unit)


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
