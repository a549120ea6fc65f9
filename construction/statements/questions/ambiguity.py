"""The ambiguity check: which other data points fit the words of a question.

What counts as fitting:

- A company fits if its name begins with the same words, ignoring legal forms ("Ford Motor Co."
  and "Ford Motor Credit Co. LLC"). If the question gives a ticker, only companies with that ticker
  fit; if it gives the register's number, only the company itself.
- A series of a fitting company fits if it has the unit asked for and its label has the same words
  or begins with the words used ("Inventory" and "Inventory, net"), also if the sign convention
  changes one of them ("net loss" and "net income (loss)"). A fuller name, statement, section and
  path narrow this as far as the question has them. A question without a dimension is about the
  consolidated figure, as filings are read; one with a dimension names its path, and then figures
  without dimensions do not fit.
- A point fits if it has the length and fiscal period asked for, and the year in the question can
  name it under either convention (the year in which a fiscal year begins or ends); if the question
  has dates, they must be the same.
- A value that a later filing replaced fits until the question names the filing; and so does the
  later one, if the question is about the value that it replaced.

Points with equal values are rivals too, since an answer would not show which row it comes from,
unless they are one fact shown twice: same company, concept, dimensions, unit, period and value
(or label instead of the concept, of the income and the cash flow statement).

The statements are indexed once for all questions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TypeVar

import polars as pl

from construction.statements.conventions import UNKNOWN, read_conventions
from construction.statements.model import SEPARATOR, LabelMethod, Statement, Statements
from construction.statements.questions.contracts import (
    Cause,
    Company,
    Point,
    Rival,
    Series,
    Sharpening,
)
from construction.statements.questions.rows import Rows, printed_rows
from construction.statements.questions.templates import core_name, natural_name
from construction.statements.questions.terms import (
    document_ends,
    last_days,
    number_of,
    phrases_of,
    readings_of,
    reporting_exponents,
    without_wrong_parts,
    years_named,
)
from construction.statements.questions.wording import (
    FULLER,
    OF_PARENT,
    WITH_OTHERS,
    comparable,
    phrase_of,
    same_words,
    synonym_of,
)

_POINT_COLUMNS = tuple(Point.__dataclass_fields__)


class _PointTable:
    """The points of a frame; `Point` objects are made only when they are read."""

    __slots__ = ("_columns", "_of_series", "_rows")

    def __init__(self, points: pl.DataFrame) -> None:
        frame = points.sort("series_id", "point_id")
        self._columns = [frame[name].to_list() for name in _POINT_COLUMNS[:-1]]
        self._rows = {point_id: row for row, point_id in enumerate(self._columns[0])}
        runs = frame.group_by("series_id", maintain_order=True).len()
        ends = runs["len"].cum_sum().to_list()
        lengths = runs["len"].to_list()
        self._of_series = {
            series_id: range(end - length, end)
            for series_id, end, length in zip(runs["series_id"], ends, lengths, strict=True)
        }

    def get(self, point_id: str) -> Point | None:
        """The point with an id; None if there is none."""
        row = self._rows.get(point_id)
        return None if row is None else self._at(row)

    def of_series(self, series_id: str) -> Iterable[Point]:
        """The points of a series in the order of their ids."""
        return (self._at(row) for row in self._of_series.get(series_id, ()))

    def _at(self, row: int) -> Point:
        return Point(*(column[row] for column in self._columns))


V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Database:
    """Companies, series and points, by id and by the words with which questions name them.

    `by_first_word` lists companies under the first word of their name, `of_company` the series of a
    company, `points` the points of a series, `replaced` the restated values of a point. `exponents`
    is the power of ten (0, 3, 6) in which a statement reports its amounts, `negated` the rows
    (document, report, line) that print their values with the sign reversed, `printed` the rows
    of a document with their labels as filed, in English, `ends` the last day of the period that it
    is about.
    """

    companies: Mapping[str, Company]
    by_first_word: Mapping[str, tuple[str, ...]]
    series: Mapping[str, Series]
    of_company: Mapping[str, tuple[Series, ...]]
    points: _PointTable
    replaced: Mapping[str, tuple[Point, ...]]
    exponents: Mapping[tuple[str, int | None, str], int]
    negated: frozenset[tuple[str, int, int]]
    printed: Mapping[str, Rows]
    ends: Mapping[str, date]


def index_database(statements: Statements, round_share: float) -> Database:
    """Index the tables once; the order of their rows does not matter."""
    companies = {company.company_id: company for company in _read_companies(statements)}
    series = {one.series_id: one for one in _series(statements.series)}
    years = last_days(statements.points)
    return Database(
        companies=companies,
        by_first_word=_grouped((c.core[0], c.company_id) for c in companies.values() if c.core),
        series=series,
        of_company=_grouped((one.company_id, one) for one in series.values()),
        points=_PointTable(without_wrong_parts(statements.points, years)),
        replaced=_restated_points(without_wrong_parts(statements.history, years)),
        exponents=reporting_exponents(statements, round_share),
        negated=_negated(statements.rows),
        printed=printed_rows(statements),
        ends=document_ends(statements),
    )


def _grouped(pairs: Iterable[tuple[str, V]]) -> dict[str, tuple[V, ...]]:
    groups: dict[str, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return {key: tuple(values) for key, values in groups.items()}


def _read_companies(statements: Statements) -> Iterable[Company]:
    conventions = read_conventions(statements.conventions, statements.closings)
    for row in statements.companies.sort("company_id").iter_rows(named=True):
        name = natural_name(row["name"] or "")
        yield Company(
            company_id=row["company_id"],
            source=row["source"],
            disclosure=row["disclosure"],
            ticker=row["ticker"] or None,
            name=name,
            core=core_name(name),
            convention=conventions.get(row["company_id"], UNKNOWN),
        )


def _series(frame: pl.DataFrame) -> Iterable[Series]:
    for row in frame.sort("series_id").iter_rows(named=True):
        own = phrase_of(row["label"] or "").key
        names = tuple((row["name"] or "").split(SEPARATOR)[1:-1])
        if row["dimensions"] is None:
            names = tuple(name for name in names if comparable(name) != own)
        yield Series(
            series_id=row["series_id"],
            company_id=row["company_id"],
            label=row["label"] or "",
            untranslated=row["label_method"] == LabelMethod.UNTRANSLATED,
            concept=row["concept"] or "",
            statement=row["statement"] or "",
            category=row["category"] or "",
            unit=row["unit"] or "",
            dimensions=row["dimensions"],
            path=names,
            sections=tuple(comparable(part) for part in names),
            depth=row["depth"] or 1,
            balance=row["balance"] or "",
        )


def _negated(rows: pl.DataFrame) -> frozenset[tuple[str, int, int]]:
    negated = rows.filter("negated").select("document", "report", "line")
    return frozenset((row[0], row[1], row[2]) for row in negated.iter_rows())


def _restated_points(history: pl.DataFrame) -> dict[str, tuple[Point, ...]]:
    rows = history.sort("replaced_by", "point_id").select(_POINT_COLUMNS).iter_rows()
    points = (Point(*row) for row in rows)
    return _grouped((point.replaced_by or "", point) for point in points)


@dataclass(frozen=True, slots=True)
class Slots:
    """What a question names: the point it asks for, and the words that identify it.

    `worded` is what it calls the series if not by its label.
    """

    company: Company
    series: Series
    point: Point
    sharpened: Collection[Sharpening]
    worded: str = ""


def rivals(slots: Slots, database: Database) -> list[Rival]:
    """All other points that fit the words: companies first, then series, periods and filings."""
    matches: list[Rival] = []
    own_ids = (slots.point.point_id, slots.point.replaced_by)
    for company in _companies(slots, database):
        for series in database.of_company.get(company.company_id, ()):
            if not _series_fits(slots, series):
                continue
            for point in database.points.of_series(series.series_id):
                if point.point_id not in own_ids and _period_fits(slots, point):
                    cause = _cause(slots, company, series)
                    if not _one_fact(slots, series, point):
                        matches.append(Rival(point.point_id, cause))
    for point in other_values(slots.point, database):
        if Sharpening.FILING not in slots.sharpened or point.filed == slots.point.filed:
            matches.append(Rival(point.point_id, Cause.FILING))
    return matches


def other_values(own: Point, database: Database) -> list[Point]:
    """What other filings give for the same series and period, if it is another value.

    The same digits with another scale or sign are a slip of tagging: both filings print one value.
    """
    standing = database.points.get(own.replaced_by) if own.replaced_by else own
    if standing is None:
        return []
    filed = (standing, *database.replaced.get(standing.point_id, ()))
    return [point for point in filed if not _print_alike(point.value, own.value)]


def _print_alike(first: str, second: str) -> bool:
    values = sorted(abs(number_of(value) or Decimal(0)) for value in (first, second))
    return any(values[0] * 1000**power == values[1] for power in range(4))


def _companies(slots: Slots, database: Database) -> Iterator[Company]:
    own = slots.company
    yield own
    if Sharpening.REGISTER in slots.sharpened or not own.core:
        return
    for company_id in database.by_first_word.get(own.core[0], ()):
        other = database.companies[company_id]
        if company_id == own.company_id or other.core[: len(own.core)] != own.core:
            continue
        if Sharpening.TICKER not in slots.sharpened or other.ticker == own.ticker:
            yield other


def _series_fits(slots: Slots, other: Series) -> bool:
    own, sharpened = slots.series, slots.sharpened
    if other.series_id == own.series_id:
        return True
    if other.unit != own.unit or (own.dimensions is None) != (other.dimensions is None):
        return False
    if Sharpening.STATEMENT in sharpened and other.statement != own.statement:
        return False
    if Sharpening.PATH in sharpened and other.sections != own.sections:
        return False
    mine = phrases_of(own.label)
    if slots.worded:
        if slots.worded == synonym_of(other.label):
            return True
        mine = (phrase_of(slots.worded),)
    theirs = readings_of(other.label)
    if Sharpening.WHOLE in sharpened and not slots.worded:
        if any(used.bag == one.bag for used in mine for one in theirs):
            return True
        mine = tuple(phrase_of(FULLER.get(one.text, one.text)) for one in mine)
    return any(same_words(used, one) for used in mine for one in theirs)


def _period_fits(slots: Slots, other: Point) -> bool:
    own = slots.point
    if other.months != own.months:
        return False
    if not own.months or Sharpening.DATES in slots.sharpened:
        return other.period_end == own.period_end
    if other.fiscal_period != own.fiscal_period:
        return False
    return own.fiscal_year in years_named(other) or other.period_end == own.period_end


def _cause(slots: Slots, company: Company, series: Series) -> Cause:
    if company.company_id != slots.company.company_id:
        return Cause.COMPANY
    return Cause.SERIES if series.series_id != slots.series.series_id else Cause.PERIOD


def twins(slots: Slots, database: Database) -> frozenset[str]:
    """The company's series that give the value of the point for its period too: "net income" of
    the parent and of all owners, if nothing goes to others."""
    own, point = slots.series, slots.point
    if not phrase_of(own.label).text.endswith((OF_PARENT, WITH_OTHERS)):
        return frozenset()
    return frozenset(
        other.series_id
        for other in database.of_company[own.company_id]
        for one in database.points.of_series(other.series_id)
        if (other.unit, other.dimensions) == (own.unit, own.dimensions)
        and (one.period_end, one.months) == (point.period_end, point.months)
        and number_of(one.value) == number_of(point.value)
    )


def _one_fact(slots: Slots, series: Series, point: Point) -> bool:
    own = slots.series
    same = (own.company_id, own.dimensions, own.unit, slots.point.period_end)
    if same != (series.company_id, series.dimensions, series.unit, point.period_end):
        return False
    label = phrase_of(own.label).text
    # of whose owners nothing goes to others, if both are equal
    is_part = label in FULLER or label.endswith((OF_PARENT, WITH_OTHERS))
    is_one = own.concept == series.concept != "" or (
        # the result of the year, with which a cash flow statement begins
        own.label == series.label
        and {own.statement, series.statement} == {Statement.INCOME, Statement.CASH_FLOW}
    )
    return (is_one or is_part) and number_of(point.value) == number_of(slots.point.value)
