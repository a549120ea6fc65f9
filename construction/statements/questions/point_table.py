"""The points of a database, by id and by series."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from construction.statements.questions.contracts import Point

POINT_COLUMNS = tuple(Point.__dataclass_fields__)


class PointTable:
    """The points of a frame; `Point` objects are made only when they are read."""

    __slots__ = ("_columns", "_of_series", "_rows")

    def __init__(self, points: pl.DataFrame) -> None:
        frame = points.sort("series_id", "point_id")
        self._columns = [frame[name].to_list() for name in POINT_COLUMNS[:-1]]
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
