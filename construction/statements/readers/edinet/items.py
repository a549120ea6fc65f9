"""What an item of a statement is by its name: its unit, and whether it is of a day or a period."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from construction.statements.labels.lookup import fold
from construction.statements.model import Statement
from construction.statements.readers.edinet.filings import TABLES

YEN = "JPY"
PER_SHARE = f"{YEN}/share"
_EACH_SHARE = "1株当たり"
LONGEST = 200  # characters of a name
# Statement and name in the filing's language, in the order of TABLES.
STATEMENTS = (Statement.BALANCE, Statement.INCOME, Statement.CASH_FLOW, Statement.KPI)
LOCAL_NAMES = ("貸借対照表", "損益計算書", "キャッシュ・フロー計算書", "主要な経営指標等の推移")
SUMMARY = TABLES.index("summary") + 1  # its report number
INCOME = TABLES.index("pl") + 1
CASH_FLOW = TABLES.index("cf") + 1
BALANCE = TABLES.index("bs") + 1


@dataclass(frozen=True, slots=True)
class Item:
    """An item: `twin` = report number and folded name of the statement item that a summary item
    repeats; `taken_over` = the income statement's item that a cash flow item repeats."""

    concept: str
    unit: str
    instant: bool
    twin: tuple[int, str] | None = None
    taken_over: str | None = None

    @property
    def currency(self) -> str | None:
        return YEN if self.unit in (YEN, PER_SHARE) else None


@cache
def _words() -> dict[str, Any]:
    with Path(__file__).with_name("items.toml").open("rb") as handle:
        return tomllib.load(handle)


def item_of(report: int, label: str) -> Item:
    """The item named `label` in the statement with the number `report`."""
    words, concept = _words(), fold(label)
    instant = report == BALANCE or concept in words["instants"]
    twin = words["counterparts"].get(concept) if report == SUMMARY else None
    taken = words["taken_over"].get(concept) if report == CASH_FLOW else None
    known = (TABLES.index(twin[0]) + 1, twin[1]) if twin else None
    return Item(concept, unit_of(concept), instant, known, taken)


def unit_of(concept: str) -> str:
    """JPY, JPY/share, shares, ratio or count, by the name before any section (`、`)."""
    words, head = _words(), concept.partition("、")[0]
    head = head.partition("(")[0] or head
    if _EACH_SHARE in head:
        return PER_SHARE
    for unit, key in (("ratio", "ratios"), ("shares", "shares"), ("count", "counts")):
        if head.endswith(tuple(words[key])):
            return unit
    return YEN


def item_frame(pairs: pl.DataFrame) -> pl.DataFrame:
    """The items of (report, label) pairs as columns beside them, for joining to values."""
    items = [item_of(report, label) for report, label in pairs.iter_rows()]
    return pairs.with_columns(
        pl.Series("concept", [item.concept for item in items], pl.String),
        pl.Series("statement", [str(STATEMENTS[r - 1]) for r in pairs["report"]], pl.String),
        pl.Series("unit", [item.unit for item in items], pl.String),
        pl.Series("currency", [item.currency for item in items], pl.String),
        pl.Series("instant", [item.instant for item in items], pl.Boolean),
        pl.Series("twin_report", [i.twin[0] if i.twin else None for i in items], pl.Int64),
        pl.Series("twin", [i.twin[1] if i.twin else None for i in items], pl.String),
        pl.Series("taken_over", [item.taken_over for item in items], pl.String),
    )
