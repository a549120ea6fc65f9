"""What was asked by category and region, and the commonest reason why not more."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from data.contracts import LedgerRow, Outcome
from data.figures import percent

NO_SOURCE = "no_filed_value"  # the sources hold nothing of this category for this region
HEADINGS = ("category", "region", "available", "askable", "drawn", "asked", "commonest reason not")
LEAST = 0.05  # of the questions; a category with fewer is scarce
# Public files that hold what a scarce category lacks.
_FILLED_BY = {
    "segments_geography": "few filings from 2010 tag segments on the face of their statements; "
    "SEC's Financial Statement and Notes data sets (2010q2_notes.zip and later) have them for "
    "most companies, as do the plain data sets for recent quarters (2024q4.zip)",
    "guidance": "SEC's data sets contain no forecasts; the XBRL summaries of earnings releases "
    "(決算短信) that Japan's exchange publishes through TDnet do, and `benchmint lane "
    "convert-xbrl` converts them for --xbrl",
    "operational_kpis": "SEC's data sets contain few of them; EDINET's summaries have them",
}
# The same where EDINET was read already.
_FILLED_BESIDE_EDINET = _FILLED_BY | {
    "guidance": "neither SEC's data sets nor EDINET contain forecasts; the XBRL summaries of "
    "earnings releases (決算短信) that Japan's exchange publishes through TDnet do, and `benchmint "
    "lane convert-xbrl` converts them for --xbrl",
    "operational_kpis": "EDINET has them in its summary, which counts only if its filing or a "
    "second one confirms it; its XBRL packages (type 1 in its API) distinguish the group's "
    "figures from the parent's by context",
}
_REGION = {True: "US", False: "non-US"}


def coverage(
    fill: Sequence[Mapping[str, Any]],
    frame: pl.DataFrame,
    tried: Sequence[LedgerRow],
    in_questions: Sequence[str],
    has_edinet: bool,
) -> list[dict[str, Any]]:
    """A row per category and region.

    `fill` as in `FilterReport`; `frame` holds category and is_us of all askable points; `tried` are
    the drawn points with their outcome, replacements included; `in_questions` are the points
    of the questions. `why_not` counts what the filters and the questions stage rejected alike.
    `filled_by` is the public file that would fill a scarce category; null for others. `has_edinet`:
    EDINET was read, so that it is no advice to read it.
    """
    drawn, kept = Counter[tuple[str, bool]](), Counter[tuple[str, bool]]()
    refused: dict[tuple[str, bool], Counter[str]] = defaultdict(Counter)
    cells = _categories(frame, [row.item_id for row in tried])
    for row in tried:
        drawn[cells[row.item_id]] += 1
        if row.outcome is not Outcome.KEPT:
            refused[cells[row.item_id]][str(row.reason)] += 1
    kept.update(cells[point] for point in in_questions)
    rows = []
    for each in fill:
        cell = (each["category"], each["is_us"])
        reasons = Counter(each["rejected"]) + refused[cell]
        rows.append(
            {
                "category": cell[0],
                "region": _REGION[cell[1]],
                "available": each["available"],
                "askable": each["askable"],
                "drawn": drawn[cell],
                "asked": kept[cell],
                "why_not": _commonest(reasons, each["available"]),
            }
        )
    scarce = _scarce(rows, _FILLED_BESIDE_EDINET if has_edinet else _FILLED_BY)
    return [row | {"filled_by": scarce.get(row["category"])} for row in rows]


def _categories(frame: pl.DataFrame, points: Sequence[str]) -> dict[str, tuple[str, bool]]:
    """Category of each point, and whether its company is one of the US."""
    known = frame.filter(pl.col("point_id").is_in(points)).select("point_id", "category", "is_us")
    return {point: (category, is_us) for point, category, is_us in known.iter_rows()}


def _scarce(rows: Sequence[Mapping[str, Any]], filled_by: Mapping[str, str]) -> dict[str, str]:
    """The categories with less than `LEAST` of the questions, and what would fill them."""
    total = sum(row["asked"] for row in rows)
    questions: Counter[str] = Counter()
    for row in rows:
        questions[row["category"]] += row["asked"]
    return {name: text for name, text in filled_by.items() if questions[name] < LEAST * total}


def _commonest(reasons: Counter[str], available: int) -> str | None:
    if not available:
        return NO_SOURCE
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return ordered[0][0] if ordered else None


def coverage_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The table in columns for a terminal, and what would fill the scarce categories."""
    texts = [HEADINGS, *(cells(row) for row in rows)]
    widths = [max(len(text[at]) for text in texts) for at in range(len(HEADINGS))]
    for text in texts:
        padded = (
            word.rjust(width) if heading in _NUMBERS else word.ljust(width)
            for word, width, heading in zip(text, widths, HEADINGS, strict=True)
        )
        yield "  ".join(padded).rstrip()
    for category, source in filling(rows).items():
        yield f"{category}, under {percent(LEAST, 0)} of the questions: {source}"


def filling(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The scarce categories of a table, each with the public file that would fill it."""
    return {row["category"]: row["filled_by"] for row in rows if row["filled_by"]}


_NUMBERS = frozenset({"available", "askable", "drawn", "asked"})


def cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The cells of a row as text, in the order of `HEADINGS`."""
    numbers = (f"{row[name]:,}" for name in ("available", "askable", "drawn", "asked"))
    return (row["category"], row["region"], *numbers, row["why_not"] or "")


def regions_without_questions(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The regions that have filed values and no question, with the commonest reason of each."""
    without = {}
    for region in _REGION.values():
        own = [row for row in rows if row["region"] == region]
        if sum(row["available"] for row in own) and not sum(row["asked"] for row in own):
            largest = max(own, key=lambda row: row["available"])
            without[region] = str(largest["why_not"])
    return without
