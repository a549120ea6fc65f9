"""The statements indexed for the ambiguity check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import polars as pl

from construction.statements.model import SEPARATOR, LabelMethod, Statements
from construction.statements.questions.amounts import reporting_exponents
from construction.statements.questions.contracts import Company, Point, Series
from construction.statements.questions.naming import core_name, natural_name
from construction.statements.questions.wording import comparable, phrase_of

_POINT = tuple(name for name in Point.__dataclass_fields__)
_NOTHING: tuple[Any, ...] = ()
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Database:
    """Companies, series and points, by id and by the words with which questions name them.

    `by_first_word` lists companies under the first word of their name, `of_company` the series of a
    company, `points` the points of a series, `replaced` the restated values of a point. `exponents`
    is the power of ten (0, 3, 6) in which a statement reports its amounts, `negated` the rows
    (document, report, line) that print their values with the sign reversed.
    """

    companies: Mapping[str, Company]
    by_first_word: Mapping[str, tuple[str, ...]]
    series: Mapping[str, Series]
    of_company: Mapping[str, tuple[Series, ...]]
    points: PointTable
    replaced: Mapping[str, tuple[Point, ...]]
    exponents: Mapping[tuple[str, int | None, str], int]
    negated: frozenset[tuple[str, int, int]]


class PointTable:
    """The points of a frame; `Point` objects are made only when they are read."""

    __slots__ = ("_columns", "_of_series", "_rows")

    def __init__(self, points: pl.DataFrame) -> None:
        frame = points.sort("series_id", "point_id")
        self._columns = [frame[name].to_list() for name in _POINT[:-1]]
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
        return (self._at(row) for row in self._of_series.get(series_id, _NOTHING))

    def _at(self, row: int) -> Point:
        return Point(*(column[row] for column in self._columns))


def index_database(statements: Statements, round_share: float) -> Database:
    """Index the tables once; the order of their rows does not matter."""
    companies = {company.company_id: company for company in _companies(statements.companies)}
    series = {one.series_id: one for one in _series(statements.series)}
    return Database(
        companies=companies,
        by_first_word=_grouped((c.core[0], c.company_id) for c in companies.values() if c.core),
        series=series,
        of_company=_grouped((one.company_id, one) for one in series.values()),
        points=PointTable(statements.points),
        replaced=_replaced(statements.history),
        exponents=reporting_exponents(statements, round_share),
        negated=_negated(statements.rows),
    )


def _grouped(pairs: Iterable[tuple[str, V]]) -> dict[str, tuple[V, ...]]:
    groups: dict[str, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return {key: tuple(values) for key, values in groups.items()}


def _companies(frame: pl.DataFrame) -> Iterable[Company]:
    for row in frame.sort("company_id").iter_rows(named=True):
        name = natural_name(row["name"] or "")
        yield Company(
            company_id=row["company_id"],
            source=row["source"],
            disclosure=row["disclosure"],
            ticker=row["ticker"] or None,
            name=name,
            core=core_name(name),
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
        )


def _negated(rows: pl.DataFrame) -> frozenset[tuple[str, int, int]]:
    negated = rows.filter("negated").select("document", "report", "line")
    return frozenset((row[0], row[1], row[2]) for row in negated.iter_rows())


def _replaced(history: pl.DataFrame) -> dict[str, tuple[Point, ...]]:
    rows = history.sort("replaced_by", "point_id").select(_POINT).iter_rows()
    points = (Point(*row) for row in rows)
    return _grouped((point.replaced_by or "", point) for point in points)
