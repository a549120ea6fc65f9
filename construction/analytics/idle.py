"""What a programme states without effect: conditions and criteria that the answer does not need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from construction.analytics import steps as s
from construction.analytics.ablation import Parts, Tables, outcome
from construction.analytics.origins import origin
from construction.analytics.polars_state import Result, State

_LIMITS = ("<", "<=", ">", ">=", "!=", "in")


def idle_conditions(
    program: s.Program,
    parts: Parts,
    tables: Tables,
    gold: tuple[str, ...],
    results: Sequence[Result],
) -> Iterator[str]:
    """The conditions without which the answer is the same, in words.

    Of those that demand one value only such as another condition implies: a year or a place says
    what is asked even where the answer would be the same without it. Names and verdicts may be the
    same by chance: of such answers, limits count that let every row pass. That a figure is known is
    idle where it always is; that the rows asked about all have it is no fault of the question.
    """
    is_number = all(part.decimals is not None for part in parts)
    for number, step in enumerate(program, 1):
        conditions: tuple[s.Condition, ...] = getattr(step, "where", ())
        for condition in conditions:
            if s.step_number(condition.value) is not None:
                continue
            others = tuple(other for other in conditions if other is not condition)
            looser = step.model_copy(update={"where": others})
            known = results[: number - 1]
            if condition.test == "=":
                is_idle = any(_implies(o, condition, step, tables, known) for o in others)
            elif condition.test == "known":
                is_idle = _is_always_known(program, step, condition.column, tables)
            elif condition.test not in _LIMITS:
                is_idle = False
            elif is_number:
                shorter = (*program[: number - 1], looser, *program[number:])
                is_idle = outcome(shorter, parts, tables, known) == gold
            else:
                is_idle = _rows(step, tables, known) == _rows(looser, tables, known)
            if is_idle:
                yield f"step {number}: {condition.column} {condition.test} changes nothing"


def _is_always_known(program: s.Program, step: s.StepOf, column: str, tables: Tables) -> bool:
    """Has the column of a table that is behind this one no missing cell at all?"""
    behind = origin(program, step.source, column) if not isinstance(step, s.Compare) else None
    if behind is None or behind[0] not in tables or behind[1] not in tables[behind[0]].columns:
        return False
    return tables[behind[0]][behind[1]].null_count() == 0


def _rows(step: s.StepOf, tables: Tables, results: Sequence[Result]) -> int:
    """How many rows a step looks at; -1 for a step without rows."""
    if isinstance(step, s.Compare):
        return -1
    state = State(tables)
    state.results = list(results)
    return state.selected(step).height


def _implies(
    other: s.Condition,
    condition: s.Condition,
    step: s.StepOf,
    tables: Tables,
    results: Sequence[Result],
) -> bool:
    """Does each value of the one column go with a single value of the other, as an industry with
    its sector? That all companies of some place are of one sector is chance."""
    if other.test != "=" or other.column == condition.column or isinstance(step, s.Compare):
        return False
    state = State(tables)
    state.results = list(results)
    rows = state.rows(step.source).select(other.column, condition.column).drop_nulls().unique()
    return rows[other.column].is_unique().all() and rows[condition.column].n_unique() > 1


def idle_criteria(
    program: s.Program,
    parts: Parts,
    tables: Tables,
    gold: tuple[str, ...],
    results: Sequence[Result],
) -> Iterator[str]:
    """The criteria of scores without which the answer is the same, in words."""
    for number, step in enumerate(program, 1):
        if not isinstance(step, s.Score) or len(step.criteria) < 2:
            continue
        for at, criterion in enumerate(step.criteria):
            fewer = (*step.criteria[:at], *step.criteria[at + 1 :])
            shorter = (*program[: number - 1], step.model_copy(update={"criteria": fewer}))
            changed = (*shorter, *program[number:])
            if outcome(changed, parts, tables, results[: number - 1]) == gold:
                yield f"step {number}: the criterion {criterion.column} changes nothing"
