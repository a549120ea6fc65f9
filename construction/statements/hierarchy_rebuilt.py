"""Hierarchical names of all series, each based on its newest filing.

The sections of a statement become the path of each of its rows, and that becomes its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import polars as pl

from construction.statements.model import SEPARATOR, SERIES, HierarchyMethod
from construction.statements.sections import (
    Item,
    Names,
    Node,
    Role,
    Row,
    Stack,
    Trees,
    component,
    default_trees,
    dimensioned_name,
    distinct_names,
    join,
    plain_label,
)
from data.text.scripts import HAN_KANA

_MOST_SECTIONS = 4  # of a name, between statement and label


class _Located(NamedTuple):
    """The sections above a row, in English and as filed, and how they were determined."""

    path: Names
    local: Names
    method: HierarchyMethod


_NOWHERE = _Located((), (), HierarchyMethod.FLAT)


def _located(node: Node | None, method: HierarchyMethod) -> _Located:
    return _Located(node.path, node.local, method) if node else _Located((), (), method)


def _locate_rows(statement: str, rows: Sequence[Row], trees: Trees) -> list[_Located]:
    """The sections of each row of one statement of one filing, in the order of the rows."""
    locations = [_NOWHERE] * len(rows)
    top = Stack(statement, trees).build(rows)
    _Walk(statement, trees, locations).walk(top, _NOWHERE)
    return locations


def _locate_alone(statement: str, concept: str, label: str, trees: Trees) -> _Located:
    """The sections of a row that no statement shows, by the standard tree alone."""
    placement = trees.placement(statement, concept, label)
    if placement.role is Role.UNKNOWN:
        return _NOWHERE
    if placement.role in (Role.CLOSER, Role.NET) and placement.node is not None:
        return _above(placement.node, HierarchyMethod.TREE)
    return _located(placement.node, HierarchyMethod.TREE)


def _above(node: Node, method: HierarchyMethod) -> _Located:
    """A total belongs beside the section that it closes, not inside."""
    return _Located(node.path[:-1], node.local[:-1], method)


def _same_title(first: str, second: str) -> bool:
    """Whether two titles name one section: Property, plant, and equipment, gross too."""
    words = [{*plain_label(title).split()} - {"gross", "net"} for title in (first, second)]
    return words[0] == words[1]


@dataclass(frozen=True, slots=True)
class _Walk:
    statement: str
    trees: Trees
    locations: list[_Located]

    def walk(self, items: Sequence[Item], above: _Located) -> None:
        closed = {item.node.path for item in items if item.section and item.node}
        beside = self.trees.remainder(self.statement, above.path, closed)
        for position, item in enumerate(items):
            if item.section:
                self._section(item, above, beside)
            elif above.path:
                self.locations[item.row] = self._inside(item, above, beside)
            else:
                self.locations[item.row] = self._outside(items, position)

    def _section(self, item: Item, above: _Located, beside: Node | None) -> None:
        """A total and the rows under it. Standard sections keep their position in the tree, unless
        their path needs a section that this statement does not have."""
        node = item.node
        method = HierarchyMethod.TOTALS if item.children else HierarchyMethod.TREE
        if node is not None and self._reaches(node, above.path, beside):
            self.locations[item.row] = _above(node, method)
            self.walk(item.children, _located(node, method))
            return
        title, local = (node.path[-1], node.local[-1]) if node else (item.title, item.title)
        named = above.path and _same_title(title, above.path[-1])
        inner = ((*above.path, title), (*above.local, local)) if not named else above[:2]
        self.locations[item.row] = _Located(above.path, above.local, method)
        self.walk(item.children, _Located(*inner, method))

    def _reaches(self, node: Node, path: Names, beside: Node | None) -> bool:
        parent = self.trees.nodes[self.statement].get(node.path[:-1])
        is_root = not path or len(node.path) <= 1 or node.path[: len(path)] != path
        return (
            is_root or parent is None or node.path[:-1] == path or self._opens(parent, path, beside)
        )

    def _inside(self, item: Item, above: _Located, beside: Node | None) -> _Located:
        """A row of a closed section, moved into an open section below it if it belongs there."""
        home, method = item.node, HierarchyMethod.TOTALS
        if home is not None:
            if item.placement.role in (Role.CLOSER, Role.NET):
                return _above(home, method)
            if item.placement.explicit or self._opens(home, above.path, beside):
                return _located(home, method)
        return _located(beside, method) if beside else above

    def _opens(self, home: Node, path: Names, beside: Node | None) -> bool:
        """Whether every section between `path` and the home of a row is open."""
        nodes = self.trees.nodes[self.statement]
        steps = [home.path[:depth] for depth in range(len(path) + 1, len(home.path) + 1)]
        if not steps or home.path[: len(path)] != path:
            return False
        return all(nodes[step].open or nodes[step] is beside for step in steps)

    def _outside(self, items: Sequence[Item], position: int) -> _Located:
        """A row outside of closed sections: its home, else the sections its neighbours share."""
        item, tree = items[position], HierarchyMethod.TREE
        if item.node is not None:
            if item.placement.role in (Role.CLOSER, Role.NET):
                return _above(item.node, tree)
            return _located(item.node, tree)
        if item.placement.role is Role.RESULT:
            return _Located((), (), tree)
        before = next((i for i in reversed(items[:position]) if _speaks(i)), None)
        after = next((i for i in items[position + 1 :] if _speaks(i)), None)
        if before is None or after is None or before.node is None or after.node is None:
            return _NOWHERE
        shared = 0
        for name, other_name in zip(before.node.path, after.node.path, strict=False):
            if name != other_name:
                break
            shared += 1
        if not shared:
            return _NOWHERE
        return _Located(before.node.path[:shared], before.node.local[:shared], tree)


def _speaks(item: Item) -> bool:
    return item.node is not None or item.placement.role is Role.RESULT


def rebuild(
    series: pl.DataFrame,
    rows: pl.DataFrame,
    points: pl.DataFrame,
    trees: Trees | None = None,
) -> pl.DataFrame:
    """`series` with name, name_local, method, depth and row_order rebuilt; other columns unchanged.

    Each series is located once, by the statement rows of its newest filing: under the sections that
    totals close there (`totals`), else by the standard tree (`tree`), else directly under its
    statement (`flat`, unless the reader gave it a deeper name). A dimensioned series is named
    statement | axis | member | label, as in Segments | Geographical | Europe | Revenues. Within a
    company no two series share a name. `points` provides the filing days, and the values that check
    the sums of totals.
    """
    trees = trees or default_trees()
    newest = _newest_rows(series, rows, points)
    locations = _placed(series, rows, points, newest, trees)
    lines = newest.select("series_id", newest_line="line")
    joined = series.join(lines, on="series_id", how="left", maintain_order="left")
    named = joined.with_columns(
        *_names(joined, locations, trees),
        row_order=pl.coalesce("newest_line", "row_order"),
    )
    depth = pl.col("name").str.count_matches(SEPARATOR, literal=True).cast(pl.Int64) + 1
    return (
        named.with_columns(distinct_names(named)).with_columns(depth=depth).select(*SERIES.columns)
    )


def _names(
    series: pl.DataFrame, locations: Mapping[str, _Located], trees: Trees
) -> tuple[pl.Series, pl.Series, pl.Series]:
    """Columns name, name_local and method, in the order of `series`."""
    names: list[str] = []
    locals_: list[str | None] = []
    methods: list[str] = []
    inputs = series.select(
        "series_id", "statement", "concept", "label", "dimensions", "name", "name_local"
    )
    for series_id, statement, concept, label, dimensions, given, local in inputs.iter_rows():
        if dimensions is not None:
            name, method = dimensioned_name(statement, dimensions, label), HierarchyMethod.TREE
        else:
            location = locations.get(series_id) or _locate_alone(statement, concept, label, trees)
            name, method = _name(location, statement, label, given)
            local = _local_name(location, local)
        names.append(name)
        locals_.append(local)
        methods.append(str(method))
    kept = (("name", names), ("name_local", locals_), ("method", methods))
    name_column, local_column, method_column = (
        pl.Series(column, values, dtype=pl.String) for column, values in kept
    )
    return name_column, local_column, method_column


def _name(
    location: _Located, statement: str, label: str, given: str | None
) -> tuple[str, HierarchyMethod]:
    if location is _NOWHERE and given is not None and given.count(SEPARATOR) > 1:
        return given, HierarchyMethod.FLAT
    return join(statement, *_cut(location.path), component(label)), location.method


def _local_name(location: _Located, given: str | None) -> str | None:
    """The name as filed: the reader's statement and label with the sections between them."""
    if given is None or SEPARATOR not in given:
        return given
    first, *_, last = given.split(SEPARATOR)
    return join(first, *_cut(location.local), last)


def _cut(path: tuple[str, ...]) -> tuple[str, ...]:
    """The outer sections and the innermost one, if there are too many."""
    return path if len(path) <= _MOST_SECTIONS else (*path[: _MOST_SECTIONS - 1], path[-1])


def _newest_rows(series: pl.DataFrame, rows: pl.DataFrame, points: pl.DataFrame) -> pl.DataFrame:
    """One row of ROWS per series, from its newest filing; a parenthetical row only if alone."""
    filed = points.group_by("document").agg(pl.col("filed").max())
    return (
        rows.filter(pl.col("series_id").is_not_null())
        .join(series.select("series_id"), on="series_id", how="semi")
        .join(filed, on="document", how="left")
        .sort(
            "series_id",
            "filed",
            "document",
            "parenthetical",
            "report",
            "line",
            descending=[False, True, True, False, False, False],
            nulls_last=True,
        )
        .unique("series_id", keep="first", maintain_order=True)
    )


def _placed(
    series: pl.DataFrame,
    rows: pl.DataFrame,
    points: pl.DataFrame,
    newest: pl.DataFrame,
    trees: Trees,
) -> Mapping[str, _Located]:
    """The sections of each series' newest row. Only the statements needed for that are read."""
    report = ["document", "report"]
    needed = (
        rows.filter(pl.col("series_id").is_not_null(), ~pl.col("parenthetical"))
        .join(newest.select(report).unique(), on=report, how="semi")
        .join(series.select("series_id", "concept", english="label"), on="series_id", how="inner")
        .join(_values(rows, points), on=["document", "report", "series_id"], how="left")
        .with_columns(
            pl.when("negated").then(-pl.col("value")).otherwise("value").alias("value"),
            title=pl.when(~pl.col("label").str.contains(f"[{HAN_KANA}]"))
            .then("label")
            .otherwise("english"),
        )
        .sort("document", "report", "line", "series_id")
    )
    keys = newest.select("document", "report", "line", "series_id")
    wanted = dict.fromkeys(keys.iter_rows())
    lines = needed.select(*keys.columns, "statement", "concept", "title", "value").iter_rows()
    by_series: dict[str, _Located] = {}
    for _, part in groupby(lines, key=lambda line: line[:2]):
        shown = list(part)
        printed = [Row(*line[5:]) for line in shown]
        located = _locate_rows(shown[0][4], printed, trees)
        by_series |= {
            line[3]: location
            for line, location in zip(shown, located, strict=True)
            if line[:4] in wanted
        }
    return by_series


def _values(rows: pl.DataFrame, points: pl.DataFrame) -> pl.DataFrame:
    """The values of each statement in the period that most of its rows have; ties: the newest."""
    report = ["document", "report"]
    shown = (
        rows.filter(pl.col("series_id").is_not_null())
        .select("document", "report", "series_id")
        .unique()
        .join(
            points.select("document", "series_id", "period_end", "months", "value"),
            on=["document", "series_id"],
        )
    )
    main = (
        shown.group_by(*report, "period_end", "months")
        .len()
        .sort("len", "period_end", "months", descending=[True, True, False])
        .unique(report, keep="first", maintain_order=True)
    )
    return (
        shown.join(main, on=[*report, "period_end", "months"], how="semi")
        .select(*report, "series_id", pl.col("value").cast(pl.Float64, strict=False))
        .unique([*report, "series_id"], keep="first", maintain_order=True)
    )
