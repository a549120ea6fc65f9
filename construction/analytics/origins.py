"""Where the columns that a step uses come from: the tables and columns of the environment."""

from __future__ import annotations

from collections.abc import Iterator

from construction.analytics import steps as s


def columns_read(program: s.Program) -> set[tuple[str, str]]:
    """The tables and columns that a programme computes with, selects by or answers with."""
    origins = (
        origin(program, step.source, column)
        for step in program
        if not isinstance(step, s.Compare)
        for column in _used(step)
    )
    return {item for item in origins if item is not None}


def placed_by(program: s.Program) -> set[tuple[str, str]]:
    """The tables and columns by which rows are chosen, grouped or joined."""
    placed = set[tuple[str, str] | None]()
    for step in program:
        if isinstance(step, s.Compare):
            continue
        names = [condition.column for condition in step.where]
        names += [*step.by] if isinstance(step, s.Aggregate) else []
        names += [*step.on] if isinstance(step, s.Join) else []
        placed |= {origin(program, step.source, name) for name in names}
    return {item for item in placed if item is not None}


def origin(program: s.Program, source: str, column: str) -> tuple[str, str] | None:
    """The table and column behind a column of `source`; None for one that a step makes."""
    number = s.step_number(source)
    if number is None:
        return source, column
    if not 1 <= number <= len(program):
        return None
    step = program[number - 1]
    if isinstance(step, s.Compare) or column in _made(step):
        return None
    if isinstance(step, s.Join) and column in step.take:
        return origin(program[: number - 1], step.other, column)
    return origin(program[: number - 1], step.source, column)


def leaves_of(program: s.Program, source: str, column: str) -> set[tuple[str, str]]:
    """The columns of tables of which a cell of `column` is made, row by row.

    None for what is made of many rows, such as sums, scores and ranks.
    """
    number = s.step_number(source)
    if number is None:
        return {(source, column)}
    if not 1 <= number <= len(program):
        return set()
    step, earlier = program[number - 1], program[: number - 1]
    if isinstance(step, s.Compare):
        return set()
    if isinstance(step, s.Convert) and step.column == column:
        columns = (step.of,) if step.by_value else (step.of, str(step.by))
        return set[tuple[str, str]]().union(*(leaves_of(earlier, step.source, c) for c in columns))
    if isinstance(step, s.Aggregate):
        return leaves_of(earlier, step.source, column) if column in step.by else set()
    if column in _made(step):
        return set()
    if isinstance(step, s.Join) and column in step.take:
        return leaves_of(earlier, step.other, column)
    return leaves_of(earlier, step.source, column)


def tables_behind(program: s.Program, number: int) -> set[str]:
    """The tables that step `number` and the steps before it that it uses read."""
    return {name for step in behind(program, number) for name in s.reads_tables(step)}


def behind(program: s.Program, number: int) -> s.Program:
    """Step `number` and the steps before it that it uses."""
    if not 1 <= number <= len(program):
        return ()
    numbers, waiting = set[int](), [number]
    while waiting:
        at = waiting.pop()
        numbers.add(at)
        waiting += [n for n in s.reads_steps(program[at - 1]) if n < at and n not in numbers]
    return tuple(program[at - 1] for at in sorted(numbers))


def _used(step: s.StepOf) -> Iterator[str]:
    """The columns that a step itself uses."""
    yield from (condition.column for condition in getattr(step, "where", ()))
    if isinstance(step, s.Lookup | s.Statistic | s.Rank | s.WhatIf):
        yield step.column
    elif isinstance(step, s.Convert):
        yield step.of
        if not step.by_value:
            yield str(step.by)
    elif isinstance(step, s.Aggregate):
        yield from (column for _, column in step.measures.values())
    elif isinstance(step, s.Score):
        yield from (criterion.column for criterion in step.criteria)
    elif isinstance(step, s.Correlate | s.Regress):
        yield from (step.x, step.y)


def _made(step: s.StepOf) -> set[str]:
    """The columns that a step makes anew."""
    if isinstance(step, s.Convert):
        return {step.column}
    if isinstance(step, s.Aggregate):
        return set(step.measures)
    if isinstance(step, s.Rank):
        return {"rank"}
    if isinstance(step, s.Score):
        return {"score"}
    if isinstance(step, s.Policy):
        return {"rate"}
    return {"n"} if isinstance(step, s.PolicyCount) else set()
