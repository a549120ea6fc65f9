"""The tables, indexed: companies by id and folded name, series and points by company.

Also how the lookups compare texts: names in a comparable form, and scores by RapidFuzz.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field
from rapidfuzz import fuzz, process

from construction.statements.asked_periods import Basis, PeriodQuery
from construction.statements.model import COMPANIES, HISTORY, POINTS, SERIES, read_tables
from construction.statements.sections import spaced
from data.text.folding import fold_width, fold_words

# What the lookups return; the field descriptions become the tools' output schemas.

# Limits of every query and answer.
QUERY_CHARS = 200
MOST_COMPANIES, MOST_SERIES, MOST_VALUES = 50, 200, 500
SUGGESTIONS = 5
_WHOLE_YEAR = "FY"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a lookup has no answer, and which inputs would have one."""

    error: str
    suggestions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """One paragraph for the caller."""
        if not self.suggestions:
            return self.error
        return f"{self.error} Nearest: {'; '.join(self.suggestions)}."


@dataclass(frozen=True, slots=True)
class CompanyHit:
    """One matching company."""

    company_id: Annotated[str, Field(description="use it in the other two tools")]
    name: str
    name_local: Annotated[str | None, Field(description="name in the filing's language")]
    ticker: str | None
    country: Annotated[str | None, Field(description="headquarters, ISO 3166 alpha-2")]
    exchange: str | None
    us: Annotated[bool | None, Field(description="traded on a US exchange")]
    industry: str | None
    fiscal_year_end: Annotated[str | None, Field(description="MM-DD")]
    language: Annotated[str | None, Field(description="language of its filings")]
    score: Annotated[float, Field(description="0 to 100; 100 is exact")]


@dataclass(frozen=True, slots=True)
class Companies:
    """Companies, best first."""

    companies: tuple[CompanyHit, ...]
    matched: Annotated[int, Field(description="how many fit; more than shown if limited")]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class SeriesHit:
    """One line item of the company."""

    series_id: Annotated[str, Field(description="use it in get_company_fundamentals")]
    name: Annotated[str, Field(description="statement | section … | label")]
    name_local: Annotated[str | None, Field(description="the same as filed; null if English")]
    statement: str
    category: str | None
    unit: Annotated[str, Field(description="currency code, CODE/share, shares, ratio or count")]
    dimensions: Annotated[str | None, Field(description="axis=member; null if consolidated")]
    values: Annotated[int, Field(description="how many values there are")]
    period_types: Annotated[tuple[str, ...], Field(description="lengths filed: annual, half …")]
    first_period: Annotated[str | None, Field(description="oldest fiscal period")]
    last_period: Annotated[str | None, Field(description="newest fiscal period")]
    score: Annotated[float | None, Field(description="0 to 100; null without a query")]


@dataclass(frozen=True, slots=True)
class SeriesList:
    """Series of one company, best first; without a query in order of the statements."""

    company_id: str
    series: tuple[SeriesHit, ...]
    matched: Annotated[int, Field(description="how many fit; more than shown if limited")]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier filing gave for the same line and period, before it was restated."""

    value: str
    document: str
    filed: str | None


@dataclass(frozen=True, slots=True)
class Value:
    """One reported value."""

    value: Annotated[str, Field(description="decimal as reported, unscaled, in the unit")]
    unit: str
    fiscal_period: Annotated[str | None, Field(description="FY2024, FY2024-H1, FY2024-Q1 …")]
    calendar_period: Annotated[str | None, Field(description="2024, 2024-H1 or 2024-Q1")]
    period_start: Annotated[str | None, Field(description="ISO date; null for an instant")]
    period_end: Annotated[str, Field(description="ISO date; the day itself for an instant")]
    months: Annotated[int | None, Field(description="length as filed; 0 is an instant")]
    period_type: str | None
    document: Annotated[str, Field(description="filing that reports it")]
    filed: str | None
    computed: Annotated[bool | None, Field(description="derived, never filed")]
    restatements: Annotated[int | None, Field(description="earlier filings that differ")]
    earlier: Annotated[tuple[Earlier, ...], Field(description="what those filings gave")] = ()


@dataclass(frozen=True, slots=True)
class Fundamentals:
    """Values of one series, newest first."""

    company_id: str
    company: str
    series_id: str
    name: str
    fiscal_year_end: Annotated[str | None, Field(description="MM-DD")]
    period_asked: Annotated[str | None, Field(description="how the period was understood")]
    values: tuple[Value, ...]
    matched: Annotated[int, Field(description="how many fit; more than shown if limited")]
    note: str | None = None


def fiscal_text(period: Mapping[str, Any] | None) -> str | None:
    """FY2024, FY2024-H1, FY2024-Q1 or FY2024-9M from `fiscal_year` and `fiscal_period`."""
    if period is None or period["fiscal_year"] is None:
        return None
    part = period["fiscal_period"]
    tail = "" if part in (None, _WHOLE_YEAR) else f"-{part}"
    return f"FY{period['fiscal_year']}{tail}"


def understood(query: PeriodQuery, default: Basis) -> str:
    """How a period was read: its basis, year and part, and the day or month of its end."""
    parts = []
    part = None if query.part == _WHOLE_YEAR else query.part
    if query.year is not None:
        words = (str(query.basis or default), "year", str(query.year), part)
        parts.append(" ".join(word for word in words if word))
    elif part is not None:
        parts.append(f"{part} of every {query.basis or default} year")
    if query.end is not None:
        parts.append(f"ending {query.end.isoformat()}")
    if query.end_month is not None:
        parts.append(f"ending in {query.end_month}")
    return ", ".join(parts)


_LEGAL_WORDS = frozenset(
    (
        *("co", "company", "corp", "corporation", "inc", "incorporated", "the"),
        *("limited", "llc", "llp", "lp", "ltd", "plc", "pte", "pty", "bhd", "tbk"),
        *("ab", "adr", "ag", "as", "asa", "bv", "cv", "gmbh", "kg", "kgaa", "nv", "oy", "oyj"),
        *("sa", "sab", "se", "spa", "srl", "kabushiki", "kaisha", "kk"),
    )
)
# Written without blanks, before or after the name: joint-stock company, limited companies,
# general and limited partnership, and the abbreviations of the first two.
_LEGAL_PARTS = (
    *("株式会社", "有限会社", "合同会社", "合資会社", "合名会社", "股份有限公司", "有限公司"),
    *("주식회사", "カブシキガイシャ", "カブシキカイシャ", "ユウゲンガイシャ", "ゴウドウガイシャ"),
    *("(株)", "(有)"),
)
_KATAKANA = {code: code + 0x60 for code in range(0x3041, 0x3097)}
Scores = NDArray[np.float64]
# Weights, relative to equality, of a text that contains the query as a phrase, its words in
# any order, or something similar anywhere. Equality breaks the ties.
_PHRASE, _WORDS, _PART = 0.88, 0.8, 0.72
_CLOSENESS = 0.1
_SHORTEST_PART = 4
_SHORTEST_WIDE_PART = 2  # two Japanese characters mean as much as a word


def core(text: str) -> str:
    """As `fold_words`, without legal-form words; the whole name if nothing else is in it."""
    plain = fold_width(text)
    for part in _LEGAL_PARTS:
        plain = plain.replace(part, " ")
    words = [word for word in fold_words(plain).split() if word not in _LEGAL_WORDS]
    return " ".join(words) or fold_words(text)


def in_katakana(text: str) -> str:
    """The text with hiragana as katakana, as registers write how a name is read."""
    return text.translate(_KATAKANA)


def fold_concept(concept: str) -> str:
    """A tag in words: `SalesRevenueNet` is `sales revenue net`; other text as `fold_words`."""
    return fold_words(spaced(concept))


def similarity(query: str, texts: Sequence[str]) -> Scores:
    """0 to 100 for each folded text: equal, the same words, or containing the query."""
    if not query or not texts:
        return np.zeros(len(texts))
    equal = closeness(query, texts)
    whole = np.maximum(equal, _score(query, texts, fuzz.token_sort_ratio))
    loose = np.maximum(
        _PHRASE * _phrases(query, texts), _WORDS * _score(query, texts, fuzz.token_set_ratio)
    )
    if len(query) >= (_SHORTEST_PART if query.isascii() else _SHORTEST_WIDE_PART):
        # Only the query within the text: a short name within a long query is coincidence.
        longer = np.array([len(text) >= len(query) for text in texts])
        part = np.where(longer, _score(query, texts, fuzz.partial_ratio), 0.0)
        loose = np.maximum(loose, _PART * part)
    loose_score = loose + np.where(loose > 0, _CLOSENESS * equal, 0.0)
    best: Scores = np.maximum(whole, loose_score).round(1)
    return best


def closeness(query: str, texts: Sequence[str]) -> Scores:
    """0 to 100 for each folded text: how similar it is, character by character."""
    return _score(query, texts, fuzz.ratio) if texts else np.zeros(0)


def _phrases(query: str, texts: Sequence[str]) -> Scores:
    """100 if the text contains the query between blanks, or anywhere if it is not ASCII."""
    edge = " " if query.isascii() else ""
    phrase = f"{edge}{query}{edge}"
    return np.array(
        [100.0 if phrase in f"{edge}{text}{edge}" else 0.0 for text in texts], np.float64
    )


def _score(query: str, texts: Sequence[str], scorer: Any) -> Scores:
    scores: Scores = process.cdist([query], texts, scorer=scorer, dtype=np.float64)[0]
    return scores


Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _NameKey:
    """One name that a company can be found by."""

    owner: int
    folded: str
    core: str


@dataclass(frozen=True, slots=True)
class Database:
    """Companies sorted by id; `series` and `points` sorted by company, with their slices.

    `exact` maps folded tickers, ids and source ids to positions in `companies`, `replaced` a point
    to the values of earlier filings, oldest first.
    """

    companies: Sequence[Record]
    by_id: Mapping[str, int]
    exact: Mapping[str, Sequence[int]]
    names: Sequence[_NameKey]
    series: pl.DataFrame
    points: pl.DataFrame
    series_slices: Mapping[str, tuple[int, int]]
    point_slices: Mapping[str, tuple[int, int]]
    owners: Mapping[str, str]
    replaced: Mapping[str, Sequence[Record]]

    def company(self, company_id: str) -> Record | None:
        position = self.by_id.get(company_id)
        return None if position is None else self.companies[position]

    def series_of(self, company_id: str) -> pl.DataFrame:
        """Series of a company in order of statement and row."""
        return self.series.slice(*self.series_slices.get(company_id, (0, 0)))

    def points_of(self, company_id: str) -> pl.DataFrame:
        """Points of a company, newest first."""
        return self.points.slice(*self.point_slices.get(company_id, (0, 0)))


def open_database(folder: Path) -> Database:
    """The companies, series, points and, where there are any, replaced values of `folder`, indexed.

    Raises InputError.
    """
    replaced = (HISTORY,) if (folder / f"{HISTORY.name}.parquet").is_file() else ()
    tables = read_tables(folder, (COMPANIES, SERIES, POINTS, *replaced))
    return index_database(
        tables["companies"], tables["series"], tables["points"], tables.get("history")
    )


def database_of(folder: Path) -> Database | None:
    """The same where `folder` has a table of companies, such as a release with questions."""
    return open_database(folder) if (folder / f"{COMPANIES.name}.parquet").is_file() else None


def index_database(
    companies: pl.DataFrame,
    series: pl.DataFrame,
    points: pl.DataFrame,
    history: pl.DataFrame | None = None,
) -> Database:
    """Index the tables; the order of their rows does not matter."""
    records = companies.sort("company_id").to_dicts()
    ordered = series.sort(
        ["company_id", "statement", "row_order", "name", "series_id"], nulls_last=True
    )
    newest = points.sort(
        ["company_id", "period_end", "months", "filed", "point_id"],
        descending=[False, True, True, True, False],
        nulls_last=True,
    )
    return Database(
        companies=records,
        by_id={record["company_id"]: position for position, record in enumerate(records)},
        exact=_exact(records),
        names=_names(records),
        series=ordered,
        points=newest,
        series_slices=_slices(ordered),
        point_slices=_slices(newest),
        owners=dict(zip(ordered["series_id"], ordered["company_id"], strict=True)),
        replaced={} if history is None else _replaced(history),
    )


def _replaced(history: pl.DataFrame) -> dict[str, list[Record]]:
    replaced: dict[str, list[Record]] = {}
    columns = ("replaced_by", "value", "document", "filed", "point_id")
    for record in (
        history.select(columns).sort("filed", "document", "point_id").iter_rows(named=True)
    ):
        replaced.setdefault(record["replaced_by"], []).append(record)
    return replaced


def _slices(frame: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """Offset and length of each company in a frame sorted by company."""
    lengths = frame.group_by("company_id", maintain_order=True).len()
    slices, start = {}, 0
    for company_id, length in lengths.iter_rows():
        slices[company_id] = (start, length)
        start += length
    return slices


def _exact(records: Sequence[Record]) -> dict[str, list[int]]:
    exact: dict[str, list[int]] = {}
    for position, record in enumerate(records):
        company_id: str = record["company_id"]
        keys = {company_id, company_id.partition(":")[2], record["ticker"] or ""}
        for key in sorted({fold_words(key) for key in keys} - {""}):
            exact.setdefault(key, []).append(position)
    return exact


def _names(records: Sequence[Record]) -> list[_NameKey]:
    return [
        _NameKey(position, fold_words(name), core(name))
        for position, record in enumerate(records)
        for name in (record["name"], record["name_local"], record["name_kana"])
        if name
    ]
