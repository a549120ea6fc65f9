"""The first executor of step programmes: Polars expressions over clean tables, never `eval`.

`State` is what it knows while it runs: tables, results so far, and conditions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Any

import polars as pl

from construction.analytics import steps as s

Value = float | int | str | bool
Result = pl.DataFrame | Value


class StepFailedError(Exception):
    """A step without a result: its number and why (`no row`, `several rows`, `missing cell`, …)."""

    def __init__(self, why: str, step: int = 0) -> None:
        super().__init__(f"step {step}: {why}")
        self.why, self.step = why, step


class State:
    """The tables, and the results of the steps so far."""

    def __init__(self, tables: Mapping[str, pl.DataFrame]) -> None:
        self.tables = tables
        self.results: list[Result] = []

    def rows(self, source: str) -> pl.DataFrame:
        number = s.step_number(source)
        if number is None:
            if source not in self.tables:
                raise StepFailedError(f"no table {source}")
            return self.tables[source]
        result = self._result(number)
        if not isinstance(result, pl.DataFrame):
            raise StepFailedError(f"step {number} made no rows")
        return result

    def value(self, operand: Any) -> Any:
        number = s.step_number(operand)
        if number is None:
            return operand
        result = self._result(number)
        if isinstance(result, pl.DataFrame):
            raise StepFailedError(f"step {number} made rows, no value")
        return result

    def number(self, operand: s.Operand) -> float:
        value = self.value(operand)
        if isinstance(value, str) or value is None:
            raise StepFailedError("no number")
        return float(value)

    def _result(self, number: int) -> Result:
        if not 1 <= number <= len(self.results):
            raise StepFailedError(f"step {number} is no earlier step")
        return self.results[number - 1]

    def selected(self, step: Any) -> pl.DataFrame:
        """The rows of the source that pass all conditions."""
        rows = self.rows(step.source)
        for condition in step.where:
            rows = rows.filter(self.test(rows, condition))
        return rows

    def test(self, rows: pl.DataFrame, condition: s.Condition) -> pl.Expr:
        column, value = _column_of(rows, condition.column), self.value(condition.value)
        if condition.test == "known":
            return column.is_not_null()
        if condition.test == "in":
            return column.is_in(list(value))
        if condition.test == "contains":
            return column.str.contains(str(value), literal=True)
        if isinstance(value, str) != (rows[condition.column].dtype == pl.String):
            raise StepFailedError(f"{condition.column} is of another type than its value")
        tests = {
            "=": column.eq,
            "!=": column.ne,
            "<": column.lt,
            "<=": column.le,
            ">": column.gt,
            ">=": column.ge,
        }
        return tests[condition.test](pl.lit(value))


def _column_of(rows: pl.DataFrame, name: str) -> pl.Expr:
    if name not in rows.columns:
        raise StepFailedError(f"no column {name}")
    return pl.col(name)


LARGEST_JOIN = 2_000_000  # rows


def run(
    program: s.Program, tables: Mapping[str, pl.DataFrame], known: Sequence[Result] = ()
) -> list[Result]:
    """The result of every step; `known`: those of the first ones. Raises StepFailedError."""
    state = State(tables)
    state.results = list(known)
    for number, step in enumerate(program[len(known) :], len(known) + 1):
        try:
            state.results.append(_apply(step, state))
        except StepFailedError as error:
            raise StepFailedError(error.why, number) from None
        except pl.exceptions.PolarsError as error:
            raise StepFailedError(type(error).__name__, number) from None
    return state.results


def _finite(value: Any) -> Value:
    if value is None:
        raise StepFailedError("missing cell")
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        raise StepFailedError("no finite number")
    return value  # type: ignore[no-any-return]


@singledispatch
def _apply(step: Any, state: State) -> Result:
    raise TypeError(type(step).__name__)


@_apply.register
def _(step: s.Lookup, state: State) -> Result:
    rows = state.selected(step)
    _column_of(rows, step.column)
    cells = rows[step.column]
    if len(cells) != 1:
        raise StepFailedError("several rows" if len(cells) else "no row")
    return _finite(cells[0])


@_apply.register
def _(step: s.Filter, state: State) -> Result:
    return state.selected(step)


@_apply.register
def _(step: s.Join, state: State) -> Result:
    rows, other = state.selected(step), state.rows(step.other)
    for name in (*step.on.values(), *step.take):
        _column_of(other, name)
    if clash := set(step.take) & set(rows.columns):
        raise StepFailedError(f"column {min(clash)} twice")
    keys, others = list(step.on), list(step.on.values())
    taken = other.select([*others, *(name for name in step.take if name not in others)])
    # A programme may come from anybody: what would not fit into memory is not tried.
    pairs = (
        rows.group_by(keys)
        .len("n")
        .join(taken.group_by(others).len("m"), left_on=keys, right_on=others)
    )
    if (pairs["n"].cast(pl.Int64) * pairs["m"].cast(pl.Int64)).sum() > LARGEST_JOIN:
        raise StepFailedError("more rows than a join may have")
    return rows.join(taken, left_on=keys, right_on=others, how="inner", maintain_order="left")


@_apply.register
def _(step: s.Convert, state: State) -> Result:
    rows = state.selected(step)
    first = _column_of(rows, step.of).cast(pl.Float64)
    if step.by_value:
        second = pl.lit(state.number(step.by))
    else:
        second = _column_of(rows, str(step.by)).cast(pl.Float64)
    nonzero = pl.when(second != 0).then(second)
    values = {
        "times": first * second,
        "over": first / nonzero,
        "minus": first - second,
        "plus": first + second,
        "percent_of": first / nonzero * 100,
        "per_cent": first * second / 100,
        "growth": (first - second) / nonzero * 100,
    }
    return rows.with_columns(values[step.how].alias(step.column))


def _measured(function: str, column: pl.Expr) -> pl.Expr:
    number = column.cast(pl.Float64) if function not in ("count", "distinct") else column
    return {
        "sum": pl.when(number.count() > 0).then(number.sum()),
        "mean": number.mean(),
        "median": number.median(),
        "min": number.min(),
        "max": number.max(),
        "std": number.std(ddof=1),
        "count": number.count().cast(pl.Int64),
        "distinct": number.drop_nulls().n_unique().cast(pl.Int64),
    }[function]


@_apply.register
def _(step: s.Aggregate, state: State) -> Result:
    rows = state.selected(step)
    for name in step.by:
        rows = rows.filter(_column_of(rows, name).is_not_null())
    measures = [
        _measured(function, _column_of(rows, column)).alias(name)
        for name, (function, column) in step.measures.items()
    ]
    return rows.group_by(step.by, maintain_order=True).agg(measures).sort(step.by)


@_apply.register
def _(step: s.Statistic, state: State) -> Result:
    rows = state.selected(step)
    return _finite(rows.select(_measured(step.function, _column_of(rows, step.column))).item())


@_apply.register
def _(step: s.Policy, state: State) -> Result:
    texts = state.rows(step.texts)
    documents: dict[Any, list[str]] = {}
    for name, text in texts.select(*(_column_of(texts, c) for c in (step.key, step.column))).rows():
        documents.setdefault(name, []).append(text or "")
    for quote in (quote for clause in step.clauses for quote in clause.quotes):
        if [text.count(quote.says) for text in documents.get(quote.document, ())] != [1]:
            raise StepFailedError("the words of a clause do not stand in its document")
    rows = state.selected(step)
    rate = pl.lit(None, dtype=pl.Float64)
    for clause in step.clauses:
        fits = pl.all_horizontal(
            pl.lit(value=True), *(state.test(rows, condition) for condition in clause.where)
        )
        rate = pl.when(fits).then(pl.lit(clause.rate, dtype=pl.Float64)).otherwise(rate)
    return rows.with_columns(rate.alias("rate")).filter(pl.col("rate").is_not_null())


@_apply.register
def _(step: s.PolicyCount, state: State) -> Result:
    rows = state.selected(step)
    if step.terms:
        column = _column_of(rows, step.column)
        rows = rows.filter(
            pl.any_horizontal(*(column.str.contains(term, literal=True) for term in step.terms))
        )
    if step.by is None:
        return rows.height
    rows = rows.filter(_column_of(rows, step.by).is_not_null())
    return rows.group_by(step.by).agg(pl.len().cast(pl.Int64).alias("n")).sort(step.by)


@_apply.register
def _(step: s.Compare, state: State) -> Result:
    first, second = state.number(step.first), state.number(step.second)
    if step.result == "greater":
        return first > second
    if step.result in ("ratio", "percent", "growth") and second == 0:
        raise StepFailedError("no finite number")
    if step.result == "difference":
        return first - second
    if step.result == "product":
        return first * second
    if step.result == "growth":
        return (first - second) / second * 100
    return first / second * (100 if step.result == "percent" else 1)


@_apply.register
def _(step: s.Rank, state: State) -> Result:
    rows = state.selected(step)
    rows = rows.filter(_column_of(rows, step.column).is_not_null())
    ordered = rows.sort(
        [_column_of(rows, step.column), _column_of(rows, step.label)],
        descending=[step.descending, False],
    )
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("rank")
    return ordered.drop("rank", strict=False).with_columns(rank).head(step.take)


@_apply.register
def _(step: s.Score, state: State) -> Result:
    rows = state.selected(step)
    parts = []
    for criterion in step.criteria:
        column = _column_of(rows, criterion.column).cast(pl.Float64)
        if criterion.how == "points":
            part = (column >= state.number(criterion.at)).cast(pl.Float64)
        else:
            span = column.max() - column.min()
            part = (column - column.min()) / pl.when(span != 0).then(span)
        parts.append(criterion.weight * ((1 - part) if criterion.reverse else part))
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return rows.with_columns(total.alias("score"))


@_apply.register
def _(step: s.Correlate, state: State) -> Result:
    correlation = pl.corr("x", "y", method=step.method)
    return _finite(_pairs(step, state).select(correlation).item())


@_apply.register
def _(step: s.Regress, state: State) -> Result:
    slope = pl.cov("x", "y", ddof=1) / pl.col("x").var(ddof=1)
    return _finite(_pairs(step, state).select(slope).item())


def _pairs(step: s.Correlate | s.Regress, state: State) -> pl.DataFrame:
    rows = state.selected(step)
    x, y = _column_of(rows, step.x).cast(pl.Float64), _column_of(rows, step.y).cast(pl.Float64)
    pairs = rows.select(x.alias("x"), y.alias("y")).drop_nulls()
    if pairs.height < 3:
        raise StepFailedError("fewer than three pairs")
    return pairs


@_apply.register
def _(step: s.WhatIf, state: State) -> Result:
    rows = state.rows(step.source)
    column = _column_of(rows, step.column).cast(pl.Float64)
    changed = column * (1 + state.number(step.percent) / 100)
    applies = pl.lit(True)
    for condition in step.where:
        applies = applies & state.test(rows, condition)
    return rows.with_columns(pl.when(applies).then(changed).otherwise(column).alias(step.column))
