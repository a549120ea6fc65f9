"""Names and labels of filings as plain text: they reach questions, tasks and pictures (law 10)."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from construction.statements.model import Statements

# Applied in this order; a filing's text has none of them for a good reason.
_RULES = (
    (r"\x1b\[[0-9;?]*[ -/]*[@-~]", ""),  # commands to a terminal
    (r"<[^<>]{0,300}>", " "),  # tags
    (r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,500}\)", "$1"),  # Markdown links and pictures
    (r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]", " "),
    (r" {2,}", " "),
)
_COMPANY = ("name", "name_local", "ticker", "exchange", "industry")
_SERIES = ("name", "name_local", "label")


def plain_texts(statements: Statements) -> Statements:
    """The same statements; no name or label holds markup, terminal commands or hidden marks."""
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
