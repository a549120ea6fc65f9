"""What an answer needs: programmes run with one step passed over, or with one file empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from construction.analytics import steps as s
from construction.analytics.answers import written_parts
from construction.analytics.contracts import Part
from construction.analytics.execute_polars import run
from construction.analytics.polars_state import StepFailedError

_PASSED_OVER = (s.Filter, s.Join, s.Convert, s.Rank, s.Score, s.WhatIf)
Tables = Mapping[str, pl.DataFrame]


def outcome(program: s.Program, parts: Sequence[Part], tables: Tables) -> tuple[str, ...] | None:
    """The written answer; None if a step has no result."""
    try:
        return written_parts(parts, run(program, tables))
    except StepFailedError:
        return None


def unused_steps(program: s.Program, parts: Sequence[Part]) -> list[int]:
    """Steps whose result neither a later step nor the answer uses."""
    used = {number for step in program for number in s.reads_steps(step)}
    used |= {part.step for part in parts}
    return [number for number in range(1, len(program) + 1) if number not in used]


def unneeded_steps(
    program: s.Program, parts: Sequence[Part], tables: Tables, gold: tuple[str, ...]
) -> list[int]:
    """Steps without which the answer is the same: unused ones, and those that change nothing.

    A step whose result rows are compared with is unneeded if the comparison lets all rows pass.
    """
    unneeded = unused_steps(program, parts)
    for number, step in enumerate(program, 1):
        for used, looser in _looser(step):
            shorter = (*program[: number - 1], looser, *program[number:])
            if used not in unneeded and outcome(shorter, parts, tables) == gold:
                unneeded.append(used)
        if number in unneeded or not isinstance(step, _PASSED_OVER):
            continue
        passed = s.Filter(source=step.source)
        shorter = (*program[: number - 1], passed, *program[number:])
        if outcome(shorter, parts, tables) == gold:
            unneeded.append(number)
    return sorted(unneeded)


def _looser(step: s.StepOf) -> Iterator[tuple[int, s.StepOf]]:
    """The step without one comparison with an earlier step's result, and that step's number."""
    conditions = getattr(step, "where", ())
    for condition in conditions:
        used = s.step_number(condition.value)
        if used is not None:
            others = tuple(other for other in conditions if other is not condition)
            yield used, step.model_copy(update={"where": others})


def needed_files(
    program: s.Program,
    parts: Sequence[Part],
    tables: Tables,
    file_of: Mapping[str, str],
    gold: tuple[str, ...],
) -> tuple[list[str], list[str]]:
    """The files that the programme reads, and those among them that the answer depends on.

    A file is needed if the answer changes, or cannot be computed, once its tables are empty.
    """
    read = sorted({file_of[name] for name in s.tables_of(program)})
    needed = []
    for file in read:
        without = {
            name: frame.clear() if file_of[name] == file else frame
            for name, frame in tables.items()
            if name in s.tables_of(program)
        }
        if outcome(program, parts, without) != gold:
            needed.append(file)
    return read, needed
