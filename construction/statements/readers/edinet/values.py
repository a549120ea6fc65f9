"""The values of many filings as one frame: the item of each label, the number, or a reason."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from construction.statements.model import Statement
from construction.statements.readers.edinet.contracts import Reason
from construction.statements.readers.edinet.filings import TABLES, Filing
from construction.statements.readers.edinet.source import Repeated
from data.text.folding import without_spaces

YEN = "JPY"
PER_SHARE = f"{YEN}/share"
_EACH_SHARE = "1株当たり"
LONGEST = 200  # characters of a name
# Statements, and their names in the filing's language, in the order of TABLES.
STATEMENTS = (Statement.BALANCE, Statement.INCOME, Statement.CASH_FLOW, Statement.KPI)
LOCAL_NAMES = ("貸借対照表", "損益計算書", "キャッシュ・フロー計算書", "主要な経営指標等の推移")
SUMMARY = TABLES.index("summary") + 1  # report number of the summary
INCOME = TABLES.index("pl") + 1
CASH_FLOW = TABLES.index("cf") + 1
BALANCE = TABLES.index("bs") + 1
# Stand-ins for values that are not text; no number looks like them.
_NOT_TEXT, _REPEATED = "(no text)", "(repeated)"
_LONGEST_VALUE = 40  # characters
_PLAIN = r"^-?[0-9]{1,30}(\.[0-9]{1,15})?$"
_NUMBER = re.compile(_PLAIN)
_GROUPED = re.compile(r"-?[0-9]{1,3}(,[0-9]{3}){1,9}(\.[0-9]{1,15})?")
_BRACKETED = re.compile(r"\(([0-9.,]+)\)")
_MISSING = frozenset(("", "-", "―", "—", "–", "ー", "‐"))
_MINUS = re.compile("^[△▲−]")


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
    """The item with this label in the statement with the number `report`."""
    words, concept = _words(), without_spaces(label)
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
    """(report, label) pairs with the columns of their items, for joining to values."""
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


def value_frame(filings: Sequence[Filing]) -> pl.DataFrame:
    """One row per value: filing (position), report, line, label, the item's columns of
    `item_frame`, value (decimal as text, else null) and reason (null if there is a value)."""
    frame = _flat(filings)
    numbers = _numbers(frame["raw"].unique())
    items = item_frame(frame.select("report", "label").unique())
    frame = frame.join(numbers, on="raw", how="left", maintain_order="left").drop("raw")
    frame = frame.join(items, on=["report", "label"], how="left", maintain_order="left")
    again = pl.struct("filing", "report", "concept").is_first_distinct().not_()
    odd = (pl.col("label").str.len_chars() > LONGEST) | (pl.col("concept") == "")
    reason = (
        pl.when(odd)
        .then(pl.lit(str(Reason.VALUE_LABEL)))
        .when(again)
        .then(pl.lit(str(Reason.VALUE_REPEATED_LABEL)))
        .otherwise(pl.col("reason"))
    )
    return frame.with_columns(reason=reason)


def _flat(filings: Sequence[Filing]) -> pl.DataFrame:
    """The tables of the filings, item by item, in filing order."""
    labels: list[str] = []
    values: list[Any] = []
    sizes: list[int] = []
    for filing in filings:
        for table in filing.tables:
            labels.extend(table.keys())
            values.extend(table.values())
            sizes.append(len(table))
    if not set(map(type, values)) <= {str}:
        values = [_as_text(value) for value in values]
    counts = np.asarray(sizes, dtype=np.int64)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    tables = np.repeat(np.arange(len(sizes), dtype=np.int64), counts)
    return pl.DataFrame(
        {
            "filing": tables // 4,
            "report": tables % 4 + 1,
            "line": np.arange(len(labels), dtype=np.int64) - starts,
            "label": pl.Series(labels, dtype=pl.String),
            "raw": pl.Series(values, dtype=pl.String),
        }
    )


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_VALUE else _NOT_TEXT
    if value is None:
        return ""
    if isinstance(value, Repeated):
        return _REPEATED
    # A JSON number with a fraction has been through a float: no longer as reported.
    whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if whole else _NOT_TEXT


def _numbers(raw: pl.Series) -> pl.DataFrame:
    """raw -> value, reason."""
    plain = raw.str.contains(_PLAIN)
    odd = [clean_number(text) for text in raw.filter(~plain)]
    cleaned = pl.DataFrame(
        {
            "raw": raw.filter(~plain),
            "value": pl.Series([value for value, _ in odd], dtype=pl.String),
            "reason": pl.Series([reason for _, reason in odd], dtype=pl.String),
        }
    )
    kept = raw.filter(plain)
    whole = pl.DataFrame({"raw": kept, "value": kept}).with_columns(reason=pl.lit(None, pl.String))
    return pl.concat([whole, cleaned])


def clean_number(text: str) -> tuple[str | None, str | None]:
    """The decimal that `text` writes, or the reason why there is none.

    Full-width digits, spaces, grouping commas, and △, ▲ or brackets for minus are resolved.
    """
    if text == _REPEATED:
        return None, str(Reason.VALUE_REPEATED_LABEL)
    if len(text) > _LONGEST_VALUE:
        return None, str(Reason.VALUE_NOT_A_NUMBER)
    plain = without_spaces(text)
    if plain in _MISSING:
        return None, str(Reason.VALUE_MISSING)
    bracketed = _BRACKETED.fullmatch(plain)
    plain = f"-{bracketed[1]}" if bracketed else _MINUS.sub("-", plain)
    if _GROUPED.fullmatch(plain):
        plain = plain.replace(",", "")
    if _NUMBER.fullmatch(plain):
        return plain, None
    return None, str(Reason.VALUE_NOT_A_NUMBER)
