"""The category of each series, by rules on its name from an editable table."""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl

from construction.statements.model import SEPARATOR
from data.contracts import LedgerRow, Outcome, StageKind, StageTally
from data.errors import InputError
from data.figures import percent
from data.ledger import close
from data.tables import LEDGER

# What was asked by category and region, and the commonest reason why not more.

_NO_SOURCE = "no_filed_value"  # the sources hold nothing of this category for this region
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
        return _NO_SOURCE
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


_STAGE = "categories"
_NONE = "none"
_KEYS = frozenset({"category", "first", "label", "unit"})


class Category(StrEnum):
    """The six categories (FinRetrieval, categories of metrics), and figures per share and ratios
    that a filing gives apart from its statements, which are no operating figures."""

    INCOME_STATEMENT = "income_statement"
    BALANCE_SHEET = "balance_sheet"
    CASH_FLOW = "cash_flow"
    OPERATIONAL_KPIS = "operational_kpis"
    GUIDANCE = "guidance"
    SEGMENTS_GEOGRAPHY = "segments_geography"
    PER_SHARE_RATIOS = "per_share_ratios"


class CategoryReason(StrEnum):
    NONE = "category.none"


@dataclass(frozen=True, slots=True)
class _Rule:
    """`category` for names with one of these first components and, if given, one of these words in
    the label and one of these endings of the unit.

    A rule with category None excludes series on purpose.
    """

    category: Category | None
    first: tuple[str, ...]
    label: tuple[str, ...] = ()
    unit: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Assigned:
    """`series` in their order, `category` null if no rule matches; `ledger` (schema LEDGER) has a
    row per series without one."""

    series: pl.DataFrame
    ledger: pl.DataFrame
    tallies: tuple[StageTally, ...]


def assign(series: pl.DataFrame, rules: tuple[_Rule, ...] | None = None) -> _Assigned:
    """Fill the category of each series by its name; without one, the ledger has `category.none`.

    A series without a category stays in the frame; the filters reject its points.
    """
    parts = pl.col("name").str.to_lowercase().str.split(SEPARATOR)
    tests = [_fits(rule, parts) for rule in (_default_rules() if rules is None else rules)]
    named = pl.coalesce(
        *(pl.when(test).then(pl.lit(value)) for test, value in tests), pl.lit(_NONE)
    )
    assigned = series.with_columns(category=named).with_columns(
        category=pl.when(pl.col("category") != _NONE).then("category")
    )
    unassigned = assigned.filter(pl.col("category").is_null())
    counts = {
        Outcome.KEPT: assigned.height - unassigned.height,
        Outcome.REJECTED: unassigned.height,
    }
    tally = close(_STAGE, StageKind.FILTER, "series", assigned.height, counts)
    return _Assigned(assigned, _ledger(unassigned), (tally,))


def _ledger(unassigned: pl.DataFrame) -> pl.DataFrame:
    values = {
        "stage": pl.lit(_STAGE),
        "unit": pl.lit("series"),
        "item_id": pl.col("series_id"),
        "outcome": pl.lit(str(Outcome.REJECTED)),
        "reason": pl.lit(str(CategoryReason.NONE)),
        "evidence": pl.struct(
            first=pl.col("name").str.split(SEPARATOR).list.first()
        ).struct.json_encode(),
        "n": pl.lit(1),
    }
    columns = (
        values.get(name, pl.lit(None)).cast(kind).alias(name) for name, kind in LEDGER.items()
    )
    return unassigned.sort("series_id").select(columns)


def _fits(rule: _Rule, parts: pl.Expr) -> tuple[pl.Expr, str]:
    """Whether a rule matches a name, given as its components in lower case, and its category."""
    test = parts.list.first().is_in([word.lower() for word in rule.first])
    if rule.label:
        words = [word.lower() for word in rule.label]
        test &= parts.list.last().str.contains_any(words)
    if rule.unit:
        test &= pl.any_horizontal(pl.col("unit").str.ends_with(unit) for unit in rule.unit)
    return test, str(rule.category) if rule.category else _NONE


def _parse_rules(text: str, path: str) -> tuple[_Rule, ...]:
    """Rules from TOML, in their order. Errors: `InputError` if the text is not a table of rules."""
    try:
        entries = tomllib.loads(text).get("rule", [])
        return tuple(_rule(entry) for entry in entries)
    except (tomllib.TOMLDecodeError, TypeError, ValueError) as error:
        raise InputError(
            path,
            f"a {type(error).__name__}",
            f"[[rule]] entries with the keys {', '.join(sorted(_KEYS))}",
            f"Correct the category table: {error}",
        ) from None


def _rule(entry: Any) -> _Rule:
    if not isinstance(entry, dict):
        raise TypeError("a rule is a table")
    strange = entry.keys() - _KEYS
    if strange or not entry.get("first") or "category" not in entry:
        raise ValueError(f"a rule has the keys {', '.join(sorted(entry))}")
    lists = {key: entry.get(key, []) for key in ("first", "label", "unit")}
    if any(not isinstance(w, str) for words in lists.values() for w in words):
        raise TypeError("first, label and unit are lists of words")
    named = entry["category"]
    return _Rule(
        None if named == _NONE else Category(named), **{k: tuple(v) for k, v in lists.items()}
    )


def load_rules(path: Path) -> tuple[_Rule, ...]:
    """A user's own table of categories."""
    return _parse_rules(path.read_text(encoding="utf-8"), str(path))


@lru_cache(maxsize=1)
def _default_rules() -> tuple[_Rule, ...]:
    """The table that ships with the project."""
    source = files(__package__).joinpath("categories.toml")
    return _parse_rules(source.read_text(encoding="utf-8"), "categories.toml")
