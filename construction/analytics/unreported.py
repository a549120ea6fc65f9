"""Does what is asked about report its figures, or so little of it that the answer is another?

Guidelines leave out whoever does not report. What is left answers a question about the whole only
if little of its size is left out, and if that little would not turn the answer around: missing
figures are filled in by size, to see what the answer would be if everything were reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from construction.analytics import steps as s
from construction.analytics.environment.declaration import Declaration, Table
from construction.analytics.execute_polars import Result, State, StepFailedError, run
from construction.analytics.origins import behind, leaves_of
from data.figures import percent

SIZE = "size"  # the family of metrics that say how large a thing is
Tables = Mapping[str, pl.DataFrame]


def _sizes_of(declaration: Declaration, table: str) -> list[str]:
    """The columns that say how large the things in a table are, the best first.

    They are those of its metrics of the family `size`, then that of prominence.
    """
    prominent = declaration.prominence.values()
    own = [metric for metric in declaration.metrics if metric.table == table]
    sized = [metric.column for metric in own if SIZE in metric.families]
    return list(dict.fromkeys([*sized, *(m.column for m in own if m.name in prominent)]))


def estimated_tables(declaration: Declaration, tables: Tables) -> dict[str, pl.DataFrame]:
    """The tables with an estimate for each missing number, where it is known what size is.

    The estimate is the size of the row times what the column usually is per unit of size. A row
    without any size has the median one of the same thing in other years, else that of all.
    """
    made = dict(tables)
    for table in declaration.core:
        if sizes := _sizes_of(declaration, table.name):
            made[table.name] = _estimated(table, tables[table.name], sizes)
    return made


def _estimated(table: Table, rows: pl.DataFrame, sizes: Sequence[str]) -> pl.DataFrame:
    size = _size(table, rows, sizes)
    numbers = [column.name for column in table.columns if column.type == "number"]
    return rows.with_columns(
        rows[name].fill_null(size * _usual(rows[name], size)) for name in numbers
    )


def _size(table: Table, rows: pl.DataFrame, sizes: Sequence[str]) -> pl.Series:
    """The size of each row, in units of the first size.

    Where that is missing, the smallest that the others suggest: what a bank owes makes it no giant.
    """
    first = rows[sizes[0]]
    others = [rows[name] / (_usual(rows[name], first) or 1.0) for name in sizes[1:]]
    if others:
        first = first.fill_null(pl.select(pl.min_horizontal(others)).to_series())
    years = [column.name for column in table.columns if column.type == "year"]
    entity = [name for name in table.key if name not in years]
    if entity and len(entity) < len(table.key):
        typical = rows.with_columns(first.alias("(size)"))
        first = first.fill_null(typical.select(pl.col("(size)").median().over(entity)).to_series())
    median = first.median()
    return first if median is None else first.fill_null(median)


def _usual(column: pl.Series, size: pl.Series) -> float:
    """The median of a column per unit of size; 0 where there is none."""
    per_size = (column / size).filter(size > 0).drop_nulls().median()
    return float(per_size) if isinstance(per_size, int | float) else 0.0


_SUMS = ("sum", "mean")  # what large things decide
_COUNTS = ("count", "distinct")
_LIMITS = ("<", "<=", ">", ">=")
LEAST_PAIRS = 5  # behind a coefficient, and below a share of things
LEAST_VALUES = 3  # different ones on each side of a coefficient
LEAST_GROUPS = 2  # with anything to count, where a figure is of several
LEAST_IN_GROUP = 3  # behind the figure of a ranked group
_SILENT, _SIZE = "(silent)", "(size)"


@dataclass(frozen=True)
class Run:
    """A programme with its results on the tables, and the tables with estimates for the missing."""

    program: s.Program
    results: Sequence[Result]
    tables: Tables
    estimated: Tables
    declaration: Declaration

    @cached_property
    def guessed(self) -> list[Result]:
        """The results if everything were reported, up to the first step that then has none."""
        results: list[Result] = []
        for upto in range(1, len(self.program) + 1):
            try:
                results = run(self.program[:upto], self.estimated, results)
            except StepFailedError:
                break
        return results

    def scope(self, number: int, columns: Sequence[str]) -> pl.DataFrame | None:
        """The rows that a step is about, reported or not, with `(silent)` and `(size)` of each.

        None for rows that are made of many, such as sums by region.
        """
        step = self.program[number - 1]
        if isinstance(step, s.Compare):
            return None
        limits = [c for c in _conditions_before(self.program, number) if c[1].test in _LIMITS]
        read = [(step.source, column) for column in columns]
        read += [(source, condition.column) for source, condition in limits]
        leaves = set[tuple[str, str]]().union(*(leaves_of(self.program, *each) for each in read))
        state = State(self.estimated)
        state.results = self.guessed[: number - 1]
        where = tuple(c for c in step.where if not self._depends(step.source, c, leaves))
        rows = state.selected(step.model_copy(update={"where": where}))
        table = next((t for t, _ in sorted(leaves) if self._has_key(t, rows)), None)
        return None if table is None else self._weighed(rows, table, leaves)

    def _depends(self, source: str, condition: s.Condition, leaves: set[tuple[str, str]]) -> bool:
        """Is it a condition on a figure that may be unreported?"""
        if condition.test not in (*_LIMITS, "known"):
            return False
        return any(
            self.tables[table][column].null_count() and (table, column) in leaves
            for table, column in leaves_of(self.program, source, condition.column)
        )

    def _has_key(self, table: str, rows: pl.DataFrame) -> bool:
        return set(self.declaration.table(table).key) <= set(rows.columns)

    def _weighed(
        self, rows: pl.DataFrame, table: str, leaves: set[tuple[str, str]]
    ) -> pl.DataFrame:
        key = list(self.declaration.table(table).key)
        own = [column for name, column in sorted(leaves) if name == table]
        silent = pl.any_horizontal(pl.col(name).is_null() for name in own)
        sizes = _sizes_of(self.declaration, table)
        size = pl.col(sizes[0]).cast(pl.Float64).clip(0.0) if sizes else pl.lit(1.0)
        said = self.tables[table].select(*key, silent.alias(_SILENT))
        large = self.estimated[table].select(*key, size.alias(_SIZE))
        return rows.join(said, on=key).join(large, on=key)


def gaps(made: Run) -> Iterator[str]:
    """What is missing of that which is asked about, in words."""
    for number, step in enumerate(made.program[: len(made.guessed)], 1):
        if isinstance(step, s.Compare):
            yield from _of_few(made, number, step)
            yield from _turned(made, number, step)
        elif isinstance(step, s.Rank):
            yield from _displaced(made, number, step)
        else:
            yield from _left_out(made, number, step)


def _left_out(made: Run, number: int, step: s.StepOf) -> Iterator[str]:
    """Too much of what a step measures reports nothing: by size for sums, else by number."""
    limits = made.declaration.limits
    if isinstance(step, s.Join):
        yield from _unmatched(made, number, step)
    if isinstance(step, s.Correlate | s.Regress):
        yield from _scattered(made, number, step)
    if isinstance(step, s.Statistic) and step.function not in _COUNTS:
        yield from _of_one_group(made, number, step)
    for function, columns in _measured(step):
        rows = made.scope(number, columns)
        if rows is None or rows.is_empty():
            continue
        if function in _SUMS and (share := _share(rows)) > limits.max_unreported:
            missing = f"{percent(share, 0)} of the size of what is summed up"
            yield f"step {number}: {missing} is not reported"
        if (share := rows.filter(_SILENT).height / rows.height) > limits.max_missing:
            yield f"step {number}: {percent(share, 0)} of what is measured is not reported"


def _unmatched(made: Run, number: int, step: s.Join) -> Iterator[str]:
    """A join with a whole table that lacks much of what is to be joined to it."""
    if s.step_number(step.other) is not None:
        return
    state = State(made.tables)
    state.results = list(made.results[: number - 1])
    keys = state.selected(step).select(list(step.on)).drop_nulls()
    there = made.tables[step.other].select(list(step.on.values()))
    lost = keys.join(there, left_on=list(step.on), right_on=list(step.on.values()), how="anti")
    if lost.height > made.declaration.limits.max_missing * keys.height:
        yield f"step {number}: {lost.height} of {keys.height} rows are not in {step.other}"


def _of_one_group(made: Run, number: int, step: s.Statistic) -> Iterator[str]:
    """A figure of a group of places or the like, of which only one has anything to count."""
    joined = next(_joins_before(made.program, number), None)
    if joined is None:
        return
    chosen = s.step_number(joined.other)
    group = made.results[chosen - 1] if chosen else None
    limits = (c for _, c in _conditions_before(made.program, number) if c.test in _LIMITS)
    is_group = any(limit.column in joined.take for limit in limits) or (
        isinstance(group, pl.DataFrame) and group.height > 1
    )
    state = State(made.tables)
    state.results = list(made.results[: number - 1])
    rows = state.selected(step).drop_nulls(step.column)
    key = next(iter(joined.on))
    if is_group and key in rows.columns and rows[key].n_unique() < LEAST_GROUPS:
        yield f"step {number}: of a group of {key} only one has anything to count"


def _joins_before(program: s.Program, number: int) -> Iterator[s.Join]:
    """The joins that made the rows of a step, the last one first."""
    at = s.step_number(getattr(program[number - 1], "source", ""))
    while at is not None and 1 <= at <= len(program):
        step = program[at - 1]
        if isinstance(step, s.Join):
            yield step
        at = s.step_number(getattr(step, "source", ""))


def _measured(step: s.StepOf) -> Iterator[tuple[str, list[str]]]:
    """The functions of a step, and the columns that each is made of."""
    if isinstance(step, s.Statistic):
        yield step.function, [step.column]
    elif isinstance(step, s.Aggregate):
        yield from ((function, [column]) for function, column in step.measures.values())
    elif isinstance(step, s.Correlate | s.Regress):
        yield "pairs", [step.x, step.y]
    elif isinstance(step, s.Score):
        yield "score", [criterion.column for criterion in step.criteria]
    elif isinstance(step, s.PolicyCount) and step.terms:
        yield "count", [step.column]


def _scattered(made: Run, number: int, step: s.Correlate | s.Regress) -> Iterator[str]:
    """A coefficient of few pairs, or of hardly different values."""
    state = State(made.tables)
    state.results = list(made.results[: number - 1])
    pairs = state.selected(step).select(list(dict.fromkeys((step.x, step.y)))).drop_nulls()
    if pairs.height < LEAST_PAIRS:
        yield f"step {number}: {pairs.height} pairs"
    for column in (step.x, step.y):
        if pairs[column].n_unique() < LEAST_VALUES:
            yield f"step {number}: {pairs[column].n_unique()} different values of {column}"


def _share(rows: pl.DataFrame) -> float:
    """The share of the silent rows by size."""
    whole, silent = float(rows[_SIZE].sum()), float(rows.filter(_SILENT)[_SIZE].sum())
    return silent / whole if whole else 0.0


def _of_few(made: Run, number: int, step: s.Compare) -> Iterator[str]:
    """A share of a number of things that is itself small."""
    whole = s.step_number(step.second)
    counted = made.program[whole - 1] if whole else None
    is_count = isinstance(counted, s.Statistic) and counted.function in _COUNTS
    if step.result not in ("percent", "ratio") or not is_count or not whole:
        return
    if made.results[whole - 1] < LEAST_PAIRS:  # type: ignore[operator]
        yield f"step {number}: a share of {made.results[whole - 1]}"


def _turned(made: Run, number: int, step: s.Compare) -> Iterator[str]:
    """A comparison of measured figures that estimates for the unreported would turn around, or a
    growth that comes of who reports rather than of what is reported."""
    steps = behind(made.program, number)
    if any(isinstance(other, s.Aggregate | s.Correlate | s.Regress) for other in steps):
        return
    mine, other = (float(each[number - 1]) for each in (made.results, made.guessed))  # type: ignore[arg-type]
    if step.result == "greater" and mine != other:
        yield f"step {number}: what is not reported may turn the comparison around"
    if step.result not in ("growth", "difference") or not _are_sums(made.program, step):
        return
    if abs(other - mine) > made.declaration.limits.max_unreported * max(abs(mine), abs(other)):
        yield f"step {number}: {mine:.3g}, or about {other:.3g} if everything were reported"


def _are_sums(program: s.Program, step: s.Compare) -> bool:
    numbers = [s.step_number(operand) for operand in (step.first, step.second)]
    pair = [program[number - 1] for number in numbers if number]
    return len(pair) == 2 and all(
        isinstance(other, s.Statistic) and other.function in _SUMS for other in pair
    )


def _displaced(made: Run, number: int, step: s.Rank) -> Iterator[str]:
    """Ranked names whose figures are largely unreported, or would be among them if reported."""
    mine, other = made.results[number - 1], made.guessed[number - 1]
    if not isinstance(mine, pl.DataFrame) or not isinstance(other, pl.DataFrame):
        return
    ranked = set(mine[step.label].to_list())
    names = ranked.union(other[step.label].to_list())
    for at, earlier in enumerate(made.program[: number - 1], 1):
        if isinstance(earlier, s.Aggregate) and earlier.by == (step.label,):
            yield from _thin_groups(made, at, earlier, ranked, names)
    conditions = (condition for _, condition in _conditions_before(made.program, number))
    if any(condition.test == "known" for condition in conditions):
        return
    rows = made.scope(number, [step.column])
    silent: set[str] = set() if rows is None else set(rows.filter(_SILENT)[step.label].to_list())
    for name in sorted(silent & names, key=str):
        yield f"step {number}: {name} might be among the first, but reports nothing"


def _thin_groups(
    made: Run, number: int, step: s.Aggregate, ranked: set[str], names: set[str]
) -> Iterator[str]:
    """Ranked groups of few that report, and groups of which a large part does not."""
    limits = made.declaration.limits
    for function, columns in _measured(step):
        rows = None if function in _COUNTS else made.scope(number, columns)
        for group in [] if rows is None else rows.partition_by(step.by):
            name, share = group[step.by[0]][0], _share(group)
            if name in names and function in _SUMS and share > limits.max_unreported:
                yield f"step {number}: {percent(share, 0)} of {name} is not reported"
            reporting = group.filter(~pl.col(_SILENT)).height
            if name in ranked and reporting < min(limits.least_rows, LEAST_IN_GROUP):
                yield f"step {number}: {name} is made of {reporting} values"


def _conditions_before(program: s.Program, number: int) -> Iterator[tuple[str, s.Condition]]:
    """The conditions of a step and of those whose rows it takes, with the source of each."""
    at: int | None = number
    while at is not None and 1 <= at <= len(program):
        step = program[at - 1]
        if isinstance(step, s.Compare):
            return
        yield from ((step.source, condition) for condition in step.where)
        at = s.step_number(step.source)
