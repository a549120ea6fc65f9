"""The model of financial statements: companies, series and data points, as typed tables.

Readers write these tables; hierarchy, categories, periods and filters fill their columns; sampling,
enrichment, questions and the data tools read them. Values are decimals as text, exactly as
reported: they never pass through a float between filing and answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import polars as pl

from data.contracts import LedgerRow, StageTally
from data.schemas_statements import (
    COMPANIES,
    HISTORY,
    POINTS,
    ROWS,
    SERIES,
    STATEMENT_TABLES,
)

__all__ = [
    "COMPANIES",
    "HISTORY",
    "POINTS",
    "ROWS",
    "SEPARATOR",
    "SERIES",
    "TABLES",
    "HierarchyMethod",
    "LabelMethod",
    "Statement",
    "Statements",
]

SEPARATOR = " | "


class Statement(StrEnum):
    """The part of a filing that a series belongs to; also the first component of its name."""

    INCOME = "Income statement"
    BALANCE = "Balance sheet"
    CASH_FLOW = "Cash flow statement"
    EQUITY = "Statement of equity"
    COMPREHENSIVE = "Comprehensive income"
    KPI = "Operating indicators"
    GUIDANCE = "Guidance"
    SEGMENTS = "Segments"
    OTHER = "Other"


class HierarchyMethod(StrEnum):
    """How the name of a series was rebuilt."""

    TOTALS = "totals"  # by row order and closing totals
    TREE = "tree"  # by the standard tree of the statement
    FLAT = "flat"  # statement and label only


class LabelMethod(StrEnum):
    """Where the English label of a series comes from."""

    REPORTED = "reported"  # the filing is in English
    TABLE = "table"  # from the project's label table
    UNTRANSLATED = "untranslated"


TABLES = STATEMENT_TABLES


@dataclass(frozen=True, slots=True)
class Statements:
    """What a reader returns: frames with exactly the schemas above, ledger rows and tallies.

    `ledger` and `tallies` account for every file, line and point (law 2). The frames are sorted by
    their id columns, so that the order of the input does not matter.
    """

    companies: pl.DataFrame
    series: pl.DataFrame
    points: pl.DataFrame
    history: pl.DataFrame
    rows: pl.DataFrame
    ledger: Sequence[LedgerRow] = field(default=())
    tallies: Sequence[StageTally] = field(default=())


# Applied in this order; none of these has a legitimate use in a filing's labels.
_RULES = (
    (r"\x1b\[[0-9;?]*[ -/]*[@-~]", ""),  # terminal commands
    (r"<[^<>]{0,300}>", " "),  # tags
    (r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,500}\)", "$1"),  # Markdown links and pictures
    (r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]", " "),
    (r" {2,}", " "),
)
_COMPANY = ("name", "name_local", "ticker", "exchange", "industry")
_SERIES = ("name", "name_local", "label")


def plain_texts(statements: Statements) -> Statements:
    """The same statements with names and labels as plain text (law 10).

    They reach questions, tasks and pictures: markup, terminal commands and invisible characters are
    removed.
    """
    return replace(
        statements,
        companies=_plain(statements.companies, _COMPANY),
        series=_plain(statements.series, _SERIES),
        rows=_plain(statements.rows, ("label",)),
    )


def _plain(frame: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    texts = pl.col(names)
    for pattern, instead in _RULES:
        texts = texts.str.replace_all(pattern, instead)
    return frame.with_columns(texts.str.strip_chars())
