"""The second executor of step programmes, one DuckDB statement per step, and whether both executors
give the same results, step by step."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from construction.analytics import steps as s
from construction.analytics.execute_polars import Result
from data.staging.database import in_memory

_Cell = float | int | str | bool | None
_SIGNS = {"=": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_AGGREGATES = {
    "sum": "sum({})",
    "mean": "avg({})",
    "median": "median({})",
    "min": "min({})",
    "max": "max({})",
    "std": "stddev_samp({})",
    "count": "count({})",
    "distinct": "count(DISTINCT {})",
}
_CONVERSIONS = {
    "times": "{a} * {b}",
    "over": "{a} / nullif({b}, 0)",
    "minus": "{a} - {b}",
    "plus": "{a} + {b}",
    "percent_of": "{a} / nullif({b}, 0) * 100",
    "per_cent": "{a} * {b} / 100",
    "growth": "({a} - {b}) / nullif({b}, 0) * 100",
}
_COMPARISONS = {
    "greater": "{a} > {b}",
    "difference": "{a} - {b}",
    "ratio": "{a} / nullif({b}, 0)",
    "product": "{a} * {b}",
    "percent": "{a} / nullif({b}, 0) * 100",
    "growth": "({a} - {b}) / nullif({b}, 0) * 100",
}


class SqlFailedError(Exception):
    """A statement failed, or gave no single finite value."""


class Rows:
    """The rows of a step: the cells of each column by its name, masked where they are missing."""

    def __init__(self, columns: Mapping[str, NDArray[Any]]) -> None:
        self.columns = columns


class Engine:
    """An in-memory database with the tables of an environment, loaded once from Parquet."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self.connection = in_memory({"threads": "1"})
        for name, path in sorted(files.items()):
            rows = f"SELECT * FROM read_parquet({_text(str(path))})"  # noqa: S608 (quoted)
            self.connection.execute(f"CREATE TABLE {_name(name)} AS {rows}")
        self.connection.execute("SET enable_external_access = false")

    def run(self, program: s.Program) -> list[Rows | _Cell]:
        """The result of every step. Raises SqlFailedError."""
        results: list[Rows | _Cell] = []
        try:
            for number, step in enumerate(program, 1):
                results.append(self._step(number, step, results))
        except duckdb.Error as error:
            raise SqlFailedError(type(error).__name__) from None
        finally:
            for number in range(1, len(program) + 1):
                self.connection.execute(f"DROP TABLE IF EXISTS step_{number}")
        return results

    def _step(self, number: int, step: s.StepOf, results: list[Rows | _Cell]) -> Rows | _Cell:
        sql = _STATEMENTS[step.op](step, results)
        if step.op in _ONE_VALUE or (step.op == "policy_count" and step.by is None):
            cells = self.connection.execute(sql).fetchall()
            if len(cells) != 1:
                raise SqlFailedError(f"{len(cells)} rows for one value")
            return _checked(cells[0][0])
        self.connection.execute(f"CREATE TEMP TABLE step_{number} AS {sql}")
        return Rows(self.connection.table(f"step_{number}").fetchnumpy())


_ONE_VALUE = {"lookup", "statistic", "compare", "correlate", "regress"}


def _checked(value: _Cell) -> _Cell:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        raise SqlFailedError("no value")
    return value


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _double(name: str) -> str:
    return f"CAST({_name(name)} AS DOUBLE)"


def _table(source: str) -> str:
    return f"step_{int(source[1:])}" if source.startswith("$") else _name(source)


def _literal(operand: Any, results: list[Rows | _Cell]) -> str:
    if isinstance(operand, str) and operand.startswith("$"):
        operand = results[int(operand[1:]) - 1]
    if isinstance(operand, Rows):
        raise SqlFailedError("rows where a value is expected")
    if isinstance(operand, str):
        return _text(operand)
    return f"CAST({float(operand)!r} AS DOUBLE)" if isinstance(operand, float) else str(operand)


def _condition(condition: s.Condition, results: list[Rows | _Cell]) -> str:
    column = _name(condition.column)
    if condition.test == "known":
        return f"{column} IS NOT NULL"
    if condition.test == "in":
        members = ", ".join(_text(str(member)) for member in condition.value)  # type: ignore[union-attr]
        return f"{column} IN ({members})"
    value = _literal(condition.value, results)
    if condition.test == "contains":
        return f"contains({column}, {value})"
    return f"{column} {_SIGNS[condition.test]} {value}"


def _where(step: Any, results: list[Rows | _Cell], *more: str) -> str:
    conditions = [*(_condition(condition, results) for condition in step.where), *more]
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _from(step: Any, results: list[Rows | _Cell], *more: str) -> str:
    return f" FROM {_table(step.source)}{_where(step, results, *more)}"


def _lookup(step: s.Lookup, results: list[Rows | _Cell]) -> str:
    return f"SELECT {_name(step.column)}{_from(step, results)}"


def _filter(step: s.Filter, results: list[Rows | _Cell]) -> str:
    return f"SELECT *{_from(step, results)}"


def _join(step: s.Join, results: list[Rows | _Cell]) -> str:
    on = " AND ".join(f"a.{_name(mine)} = b.{_name(other)}" for mine, other in step.on.items())
    taken = "".join(f", b.{_name(name)}" for name in step.take)
    rows = f"(SELECT *{_from(step, results)}) a"
    other = _table(step.other)
    return f"SELECT a.*{taken} FROM {rows} JOIN {other} b ON {on}"  # noqa: S608 (quoted)


def _convert(step: s.Convert, results: list[Rows | _Cell]) -> str:
    second = f"({_literal(step.by, results)})" if step.by_value else _double(str(step.by))
    value = _CONVERSIONS[step.how].format(a=_double(step.of), b=second)
    return f"SELECT *, {value} AS {_name(step.column)}{_from(step, results)}"


def _aggregate(step: s.Aggregate, results: list[Rows | _Cell]) -> str:
    by = ", ".join(map(_name, step.by))
    measures = "".join(
        f", {_AGGREGATES[function].format(_cell(function, column))} AS {_name(name)}"
        for name, (function, column) in step.measures.items()
    )
    known = [f"{_name(name)} IS NOT NULL" for name in step.by]
    return f"SELECT {by}{measures}{_from(step, results, *known)} GROUP BY {by} ORDER BY {by}"


def _cell(function: str, column: str) -> str:
    return _name(column) if function in ("count", "distinct") else _double(column)


def _statistic(step: s.Statistic, results: list[Rows | _Cell]) -> str:
    value = _AGGREGATES[step.function].format(_cell(step.function, step.column))
    return f"SELECT {value}{_from(step, results)}"


def _policy(step: s.Policy, results: list[Rows | _Cell]) -> str:
    """Of the clauses the last that fits decides; no row at all unless each is in its document."""
    rates = []
    for clause in reversed(step.clauses):
        tests = [_condition(item, results) for item in clause.where] or ["true"]
        rate = "NULL" if clause.rate is None else f"CAST({clause.rate!r} AS DOUBLE)"
        rates.append(f"WHEN {' AND '.join(tests)} THEN {rate}")
    quotes = [(_text(q.document), _text(q.says)) for c in step.clauses for q in c.quotes]
    said = ", ".join(f"({document}, {says})" for document, says in quotes)
    text = f"t.{_name(step.column)}"
    once = f"length({text}) - length(replace({text}, q.says, '')) = length(q.says)"
    quoted = (
        f"SELECT CASE WHEN count(*) = {len(quotes)} THEN true ELSE error('not said') END "  # noqa: S608
        f"FROM (VALUES {said}) q(document, says) JOIN {_table(step.texts)} t "
        f"ON t.{_name(step.key)} = q.document WHERE {once}"
    )
    kept = "COLUMNS(lambda c: c <> 'rate')"
    rated = f"SELECT {kept}, CASE {' '.join(rates)} END AS rate{_from(step, results)}"
    return f"SELECT * FROM ({rated}) WHERE rate IS NOT NULL AND ({quoted})"  # noqa: S608 (quoted)


def _policy_count(step: s.PolicyCount, results: list[Rows | _Cell]) -> str:
    terms = " OR ".join(f"contains({_name(step.column)}, {_text(term)})" for term in step.terms)
    more = [f"({terms})"] if terms else []
    if step.by is None:
        return f"SELECT count(*){_from(step, results, *more)}"
    by = _name(step.by)
    body = _from(step, results, *more, f"{by} IS NOT NULL")
    return f"SELECT {by}, count(*) AS n{body} GROUP BY {by} ORDER BY {by}"


def _compare(step: s.Compare, results: list[Rows | _Cell]) -> str:
    first, second = (
        f"CAST({_literal(operand, results)} AS DOUBLE)" for operand in (step.first, step.second)
    )
    return f"SELECT {_COMPARISONS[step.result].format(a=first, b=second)}"


def _rank(step: s.Rank, results: list[Rows | _Cell]) -> str:
    column, direction = _name(step.column), "DESC" if step.descending else "ASC"
    order = f"ORDER BY {column} {direction}, {_name(step.label)} ASC"
    body = _from(step, results, f"{column} IS NOT NULL")
    kept = "COLUMNS(lambda c: c <> 'rank')"
    return f"SELECT {kept}, row_number() OVER ({order}) AS rank{body} {order} LIMIT {step.take}"


def _score(step: s.Score, results: list[Rows | _Cell]) -> str:
    parts = []
    for criterion in step.criteria:
        column = _double(criterion.column)
        if criterion.how == "points":
            at = _literal(criterion.at, results)
            part = f"CAST({column} >= {at} AS INTEGER)"
        else:
            low, high = f"min({column}) OVER ()", f"max({column}) OVER ()"
            part = f"({column} - {low}) / nullif({high} - {low}, 0)"
        turned = f"(1 - {part})" if criterion.reverse else f"({part})"
        parts.append(f"{criterion.weight!r} * {turned}")
    return f"SELECT *, CAST({' + '.join(parts)} AS DOUBLE) AS score{_from(step, results)}"


def _correlate(step: s.Correlate, results: list[Rows | _Cell]) -> str:
    x, y = _double(step.x), _double(step.y)
    known = (f"{_name(step.x)} IS NOT NULL", f"{_name(step.y)} IS NOT NULL")
    pairs = f"SELECT {x} AS x, {y} AS y{_from(step, results, *known)}"
    if step.method == "spearman":
        ranks = ", ".join(
            f"rank() OVER (ORDER BY {n}) + (count(*) OVER (PARTITION BY {n}) - 1) / 2.0 AS {n}"
            for n in ("x", "y")
        )
        pairs = f"SELECT {ranks} FROM ({pairs})"  # noqa: S608 (quoted)
    return f"SELECT CASE WHEN count(*) > 2 THEN corr(x, y) END FROM ({pairs})"  # noqa: S608


def _regress(step: s.Regress, results: list[Rows | _Cell]) -> str:
    slope = f"regr_slope({_double(step.y)}, {_double(step.x)})"
    return f"SELECT CASE WHEN regr_count({_name(step.y)}, {_name(step.x)}) > 2 THEN {slope} END" + (
        _from(step, results)
    )


def _what_if(step: s.WhatIf, results: list[Rows | _Cell]) -> str:
    column = _double(step.column)
    applies = " AND ".join(_condition(item, results) for item in step.where) or "true"
    factor = f"(1 + ({_literal(step.percent, results)}) / 100.0)"
    changed = f"CASE WHEN {applies} THEN {column} * {factor} ELSE {column} END"
    replaced = f"{changed} AS {_name(step.column)}"
    return f"SELECT * REPLACE ({replaced}) FROM {_table(step.source)}"  # noqa: S608 (quoted)


_STATEMENTS: Mapping[str, Callable[[Any, list[Rows | _Cell]], str]] = {
    "lookup": _lookup,
    "filter": _filter,
    "join": _join,
    "convert": _convert,
    "aggregate": _aggregate,
    "statistic": _statistic,
    "policy": _policy,
    "policy_count": _policy_count,
    "compare": _compare,
    "rank": _rank,
    "score": _score,
    "correlate": _correlate,
    "regress": _regress,
    "what_if": _what_if,
}


_RELATIVE, _NEAR_ZERO = 1e-9, 1e-9
_DIGITS = 6  # of a fraction, by which rows are put into order


def first_disagreement(first: Sequence[Result], second: Sequence[Rows | _Cell]) -> int | None:
    """The first step (from 1) on which the executors differ; None if they agree throughout."""
    if len(first) != len(second):
        return min(len(first), len(second)) + 1
    for number, (mine, other) in enumerate(zip(first, second, strict=True), 1):
        if not _same(mine, other):
            return number
    return None


def _same(mine: Result, other: Rows | _Cell) -> bool:
    if isinstance(mine, pl.DataFrame) != isinstance(other, Rows):
        return False
    if isinstance(mine, pl.DataFrame) and isinstance(other, Rows):
        return _same_rows(mine, other)
    return _same_value(mine, other)  # type: ignore[arg-type]


def _same_rows(mine: pl.DataFrame, other: Rows) -> bool:
    """The same columns and rows; their order counts for ranked rows, which hold it in `rank`."""
    names = sorted(mine.columns)
    if names != sorted(other.columns):
        return False
    theirs = pl.DataFrame([_series(name, other.columns[name]) for name in names])
    if mine.height != theirs.height:
        return False
    is_number = [mine.schema[name].is_numeric() for name in names]
    if is_number != [theirs.schema[name].is_numeric() for name in names]:
        return mine.height == 0
    ours, theirs = _ordered(mine.select(names)), _ordered(theirs)
    return all(_same_cells(ours[name], theirs[name]) for name in names)


def _series(name: str, cells: NDArray[Any]) -> pl.Series:
    """Cells with null where they are masked; objects are texts."""
    if cells.dtype == object:
        return pl.Series(name, cells.tolist(), dtype=pl.String, strict=False)
    values = pl.Series(name, np.ma.getdata(cells))
    if not np.ma.isMaskedArray(cells):
        return values
    return values.set(pl.Series(np.ma.getmaskarray(cells)), None)


def _ordered(rows: pl.DataFrame) -> pl.DataFrame:
    """Sorted by texts and whole numbers first: fractions may differ in their last digits."""
    whole = [name for name in rows.columns if not rows.schema[name].is_float()]
    fractions = [
        pl.col(name).round_sig_figs(_DIGITS)
        for name in rows.columns
        if rows.schema[name].is_float()
    ]
    return rows.sort([*whole, *fractions], nulls_last=True, maintain_order=True)


def _same_cells(mine: pl.Series, other: pl.Series) -> bool:
    """Equal, numbers within the last digits of a double."""
    if not mine.dtype.is_numeric():
        return bool(mine.eq_missing(other).all())
    first, second = mine.cast(pl.Float64), other.cast(pl.Float64)
    if not (first.is_null() == second.is_null()).all():
        return False
    size = pl.max_horizontal(pl.col("a").abs(), pl.col("b").abs())
    both = pl.DataFrame({"a": first, "b": second}).drop_nulls()
    near = (pl.col("a") - pl.col("b")).abs() <= pl.max_horizontal(size * _RELATIVE, _NEAR_ZERO)
    return bool(both.select(near.all()).item())


def _same_value(mine: _Cell, other: _Cell) -> bool:
    """Equal, numbers within the last digits of a double."""
    if isinstance(mine, bool) or isinstance(other, bool) or isinstance(mine, str):
        return mine == other
    if mine is None or other is None or isinstance(other, str):
        return mine is other
    return math.isclose(float(mine), float(other), rel_tol=_RELATIVE, abs_tol=_NEAR_ZERO)
