"""What careless readings of planted policies come to: a task needs each of them to matter.

`untouched_readings` asks of the policies alone whom a reading would treat otherwise, and remembers
it, since many candidates apply the same policies to the same figures; `idle_readings` asks of the
answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from itertools import chain

import polars as pl

from construction.analytics import steps as s
from construction.analytics.ablation import outcome, same_until
from construction.analytics.contracts import Part, split_of
from construction.analytics.environment.declaration import Declaration, PolicyText
from construction.analytics.execute_polars import Result, run
from data.canonical import digest

LEAST_READINGS, LEAST_OF_SMOKE = 8, 3  # careless ones that change the answer, if there are any
Touched = MutableMapping[tuple[str, str, int, str], bool]
_Policy = tuple[PolicyText, int, bool]  # in a period; for whom it leaves undecided?
_Applied = Sequence[_Policy | None]


def idle_readings(
    program: s.Program,
    parts: Sequence[Part],
    tables: Mapping[str, pl.DataFrame],
    gold: tuple[str, ...],
    results: Sequence[Result],
    declaration: Declaration,
) -> Iterator[str]:
    """The careless readings of policies that come to the same answer, in words.

    Some differ in no clause of the period, but most have to; of tasks of the split smoke, which
    ask for little, some change the answer.
    """
    applied = [_policy_of(program, step, declaration) for step in program]
    idle, others = [], _misread(program, applied)
    for reading, changed in others.items():
        known = results[: same_until(program, changed)]
        if outcome(changed, parts, tables, known) == gold:
            idle.append(_nothing(reading))
    yield from _too_few(idle, len(others), parts, applied)


def untouched_readings(
    program: s.Program,
    parts: Sequence[Part],
    tables: Mapping[str, pl.DataFrame],
    results: Sequence[Result],
    declaration: Declaration,
    touched: Touched,
) -> Iterator[str]:
    """The same of the readings under which each policy takes in the same rows at the same rates, so
    that no answer differs. `touched`: what was seen before."""
    applied = [_policy_of(program, step, declaration) for step in program]
    idle, others = [], _misread(program, applied)
    for reading, changed in others.items():
        if not any(
            each is not None
            and changed[at] != program[at]
            and _touches(program, at, changed[at], tables, results, (each, reading), touched)
            for at, each in enumerate(applied)
        ):
            idle.append(_nothing(reading))
    yield from _too_few(idle, len(others), parts, applied)


def _nothing(reading: str) -> str:
    return f"overlooking {reading} changes nothing"


def _too_few(
    idle: Sequence[str], differing: int, parts: Sequence[Part], applied: _Applied
) -> Iterator[str]:
    is_full, readings = split_of(len(parts)) == "full", len(_readings(applied))
    least = min(LEAST_READINGS if is_full else LEAST_OF_SMOKE, readings)
    if differing - len(idle) < least:
        yield from idle
    if differing < least:
        yield f"{differing} careless readings of the policies differ"


def _readings(applied: _Applied) -> list[str]:
    return list(dict.fromkeys(name for each in applied if each for name in each[0].careless))


def _misread(program: s.Program, applied: _Applied) -> dict[str, s.Program]:
    """The programme under each careless reading that has other rules than it.

    A rule that other sentences state as well is the same rule: nobody could be told apart by it.
    """
    others = {}
    for reading in _readings(applied):
        changed = tuple(
            step if each is None else _otherwise(step, each, reading)
            for step, each in zip(program, applied, strict=True)
        )
        if changed != program:
            others[reading] = changed
    return others


def _otherwise(step: s.StepOf, applied: _Policy, reading: str) -> s.StepOf:
    policy, period, is_open = applied
    clauses = policy.clauses_of(period, reading, is_open=is_open)
    other = step.model_copy(update={"clauses": clauses})
    return step if _rules(other) == _rules(step) else other


def _rules(step: s.StepOf) -> list[object]:
    clauses = step.clauses if isinstance(step, s.Policy) else ()
    return [(clause.where, clause.rate) for clause in clauses]


def _touches(
    program: s.Program,
    at: int,
    other: s.StepOf,
    tables: Mapping[str, pl.DataFrame],
    results: Sequence[Result],
    applied: tuple[_Policy, str],
    touched: Touched,
) -> bool:
    """Does another reading of the policy at this step change whom it takes in, or at which rate, of
    all rows to which the first policy is applied?"""
    root = at
    while isinstance(program[root], s.Policy):
        source = s.step_number(getattr(program[root], "source", ""))
        if source is None:
            return True
        root = source - 1
    before = [step.model_dump(mode="json", exclude={"take"}) for step in program[: root + 1]]
    (policy, period, is_open), reading = applied
    key = (digest(before), f"{policy.name}:{is_open}", period, reading)
    if key not in touched:
        rows = [
            run((*program[: root + 1], _over(step, root + 1)), tables, results[: root + 1])[-1]
            for step in (program[at], other)
        ]
        mine, its = (frame for frame in rows if isinstance(frame, pl.DataFrame))
        touched[key] = not mine.equals(its)
    return touched[key]


def _over(step: s.StepOf, number: int) -> s.StepOf:
    return step.model_copy(update={"source": f"${number}"})


def _policy_of(program: s.Program, step: s.StepOf, declaration: Declaration) -> _Policy | None:
    """The declared policy that a step applies, and a period of the programme in which it is so."""
    if not isinstance(step, s.Policy):
        return None
    conditions = chain.from_iterable(getattr(each, "where", ()) for each in program)
    column = declaration.column("entities", "period")
    periods = [c.value for c in conditions if c.column == column and isinstance(c.value, int)]
    clauses = [clause.model_dump(mode="json") for clause in step.clauses]
    for policy in declaration.policies:
        for period in periods:
            for is_open in (False, True):
                if policy.in_force(period, is_open=is_open) == clauses:
                    return policy, period, is_open
    return None
