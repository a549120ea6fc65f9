"""What an answer needs: programmes run with one step passed over, with one file empty, or by a
careless reading of planted policies, each of which has to matter.

`idle_conditions`, `idle_criteria` and `idle_clauses` find what a programme states without effect.
`untouched_readings` asks of the policies alone whom a reading would treat otherwise, and remembers
it, since many candidates apply the same policies to the same figures; `idle_readings` asks of the
answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from itertools import chain, combinations
from typing import Any

import polars as pl

from construction.analytics import steps as s
from construction.analytics.answers import written_parts
from construction.analytics.contracts import Part, split_of
from construction.analytics.environment.declaration import Declaration, PolicyText
from construction.analytics.execute_polars import Result, State, StepFailedError, run
from construction.analytics.origins import origin
from data.canonical import digest

_PASSED_OVER = (s.Filter, s.Join, s.Convert, s.Rank, s.Score, s.WhatIf, s.Policy)
_UNDOING = (s.Convert, s.Compare, s.WhatIf)
Tables = Mapping[str, pl.DataFrame]
_Parts = Sequence[Part]


def outcome(
    program: s.Program, parts: _Parts, tables: Tables, known: Sequence[Result] = ()
) -> tuple[str, ...] | None:
    """The written answer; None if a step has no result, or one of another kind than the answer.

    `known`: the results of the first steps.
    """
    try:
        return written_parts(parts, run(program, tables, known))
    except (StepFailedError, pl.exceptions.PolarsError, KeyError, ValueError, TypeError):
        return None


def _unused_steps(program: s.Program, parts: _Parts) -> list[int]:
    """Steps whose result neither a later step nor the answer uses."""
    used = {number for step in program for number in s.reads_steps(step)}
    used |= {part.step for part in parts} | {part.undecided or 0 for part in parts}
    return [number for number in range(1, len(program) + 1) if number not in used]


def unneeded_steps(
    program: s.Program,
    parts: _Parts,
    tables: Tables,
    gold: tuple[str, ...],
    results: Sequence[Result],
) -> list[int]:
    """Steps without which the answer is the same: unused ones, and those that change nothing.

    A step whose result rows are compared with is unneeded if the comparison lets all rows pass.
    """
    unneeded = _unused_steps(program, parts)
    for number, step in enumerate(program, 1):
        for used, looser in _looser(step):
            shorter = _with(program, number, looser)
            known = results[: number - 1]
            if used not in unneeded and outcome(shorter, parts, tables, known) == gold:
                unneeded.append(used)
        if number in unneeded:
            continue
        if _is_idle(program, number) or any(
            outcome(shorter, own, tables, results[: _same_until(program, shorter)]) == gold
            for shorter, own in _unchanged(program, parts, number)
        ):
            unneeded.append(number)
    if not unneeded:
        unneeded = _cancelled(program, parts, tables, gold)
    return sorted(unneeded)


def _same_until(program: s.Program, other: s.Program) -> int:
    """How many of the first steps are the same, so that their results are."""
    pairs = enumerate(zip(program, other, strict=False))
    return next((at for at, (mine, its) in pairs if mine != its), min(len(program), len(other)))


def _cancelled(
    program: s.Program, parts: _Parts, tables: Tables, gold: tuple[str, ...]
) -> list[int]:
    """Steps that do the same to different values and change nothing together."""
    alike: dict[tuple[object, ...], list[int]] = {}
    for number, step in enumerate(program, 1):
        if isinstance(step, s.Compare) and len(s.reads_steps(step)) == 1:
            alike.setdefault((step.result, step.second), []).append(number)
    for numbers in alike.values():
        shorter: s.Program = program
        own: _Parts = parts
        for number in numbers if len(numbers) > 1 else ():
            other = s.reads_steps(program[number - 1])[0]
            shorter, own = _instead(shorter, own, number, other)
        if shorter != program and outcome(shorter, own, tables) == gold:
            return numbers
    return next(_pairs_undone(program, parts, tables, gold), [])


def _pairs_undone(
    program: s.Program, parts: _Parts, tables: Tables, gold: tuple[str, ...]
) -> Iterator[list[int]]:
    """Pairs of steps of which the second undoes what the first does."""
    undoing = [n for n, step in enumerate(program, 1) if isinstance(step, _UNDOING)]
    for first, second in combinations(undoing, 2):
        if any(
            outcome(both, others, tables) == gold
            for shorter, own in _unchanged(program, parts, first)
            for both, others in _unchanged(shorter, own, second)
        ):
            yield [first, second]


def _unchanged(
    program: s.Program, parts: _Parts, number: int
) -> Iterator[tuple[s.Program, _Parts]]:
    """The programme with step `number` passed over; a new column has the cells of the old one."""
    yield from _without(program, parts, number)
    step = program[number - 1]
    if isinstance(step, s.Convert):
        same = step.model_copy(update={"how": "times", "by": 1, "by_value": True})
        yield (*program[: number - 1], same, *program[number:]), parts


def _without(program: s.Program, parts: _Parts, number: int) -> Iterator[tuple[s.Program, _Parts]]:
    """The programme and its answer with step `number` passed over, in each way there is."""
    step = program[number - 1]
    before, after = program[: number - 1], program[number:]
    if isinstance(step, _PASSED_OVER):
        yield (*before, s.Filter(source=step.source), *after), parts
    if isinstance(step, s.Filter) and (shorter := _ranked_less(program, number)):
        yield shorter, parts
    if isinstance(step, s.Aggregate) and len(step.measures) == 1:
        ((name, (_, column)),) = step.measures.items()
        rows: dict[str, Any] = {"source": step.source, "where": step.where}
        renamed = s.Convert(**rows, column=name, of=column, how="times", by=1, by_value=True)
        yield (*before, renamed, *after), parts
    elif isinstance(step, s.Compare):
        for other in s.reads_steps(step):
            yield _instead(program, parts, number, other)


def _ranked_less(program: s.Program, number: int) -> s.Program | None:
    """Where a filter keeps the first ranks of a ranking: the programme that takes them at once."""
    step = program[number - 1]
    ranked = s.step_number(getattr(step, "source", ""))
    conditions: tuple[s.Condition, ...] = getattr(step, "where", ())
    if ranked is None or len(conditions) != 1:
        return None
    rank, condition = program[ranked - 1], conditions[0]
    is_top = condition.column == "rank" and condition.test in ("<", "<=")
    if not (isinstance(rank, s.Rank) and is_top and isinstance(condition.value, int)):
        return None
    take = condition.value - (condition.test == "<")
    if not 1 <= take <= rank.take:
        return None
    first = rank.model_copy(update={"take": take})
    passed = s.Filter(source=f"${ranked}")
    return (*program[: ranked - 1], first, *program[ranked : number - 1], passed, *program[number:])


def _is_idle(program: s.Program, number: int) -> bool:
    """Is a step made of what is known: an earlier step again, or a cell that it selects by?"""
    step = program[number - 1].model_copy(update={"text": ""})
    if any(step == other.model_copy(update={"text": ""}) for other in program[: number - 1]):
        return True
    return isinstance(step, s.Lookup) and any(
        condition.column == step.column and condition.test == "=" for condition in step.where
    )


def _instead(
    program: s.Program, parts: _Parts, number: int, other: int
) -> tuple[s.Program, list[Part]]:
    """The programme that uses the result of step `other` wherever it used that of `number`."""
    old, new = f"${number}", f"${other}"
    replaced = [step.model_dump(mode="json") for step in program]
    later = [_put(step, old, new) for step in replaced[number:]]
    steps = s.program_of([*replaced[:number], *later])
    own = [p.model_copy(update={"step": other}) if p.step == number else p for p in parts]
    return steps, own


def _put(data: Any, old: str, new: str) -> Any:
    if isinstance(data, Mapping):
        return {name: _put(value, old, new) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_put(item, old, new) for item in data]
    return new if data == old else data


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
    parts: _Parts,
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
        emptied = {
            name: frame.clear() if file_of[name] == file else frame
            for name, frame in tables.items()
            if name in s.tables_of(program)
        }
        if outcome(program, parts, emptied) != gold:
            needed.append(file)
    return read, needed


def reduced(program: s.Program, parts: _Parts, tables: Tables, gold: tuple[str, ...]) -> s.Program:
    """The programme with every row step passed over that the answer does not need."""
    for number in range(len(program), 0, -1):
        for shorter, own in _without(program, parts, number):
            if own == parts and outcome(shorter, parts, tables) == gold:
                program = shorter
    return program


_LIMITS = ("<", "<=", ">", ">=", "!=", "in")
_LEAST_BITING = 4  # clauses of a policy


def idle_conditions(
    program: s.Program,
    parts: _Parts,
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
                changed = _with(program, number, looser)
                is_idle = outcome(changed, parts, tables, known) == gold
            else:
                is_idle = _rows(step, tables, known) == _rows(looser, tables, known)
            if is_idle:
                yield f"step {number}: {condition.column} {condition.test} changes nothing"


def _with(program: s.Program, number: int, step: s.StepOf) -> s.Program:
    """The program with another step in the place of the one of this number."""
    return (*program[: number - 1], step, *program[number:])


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
    parts: _Parts,
    tables: Tables,
    gold: tuple[str, ...],
    results: Sequence[Result],
) -> Iterator[str]:
    """The criteria of scores without which the answer is the same, in words."""
    for number, step in enumerate(program, 1):
        if not isinstance(step, s.Score) or len(step.criteria) < 2:
            continue
        for at, criterion in enumerate(step.criteria):
            fewer = {"criteria": (*step.criteria[:at], *step.criteria[at + 1 :])}
            changed = _with(program, number, step.model_copy(update=fewer))
            if outcome(changed, parts, tables, results[: number - 1]) == gold:
                yield f"step {number}: the criterion {criterion.column} changes nothing"


def idle_clauses(
    program: s.Program,
    parts: _Parts,
    tables: Tables,
    gold: tuple[str, ...],
    results: Sequence[Result],
) -> Iterator[str]:
    """The clauses of policies, and their conditions, without which the answer is the same.

    What is in force may happen to meet nobody; but `_LEAST_BITING` clauses have to matter, or all.
    """
    for number, step in enumerate(program, 1):
        if not isinstance(step, s.Policy):
            continue
        idle = []
        for at, clause in enumerate(step.clauses):
            fewer = [(*step.clauses[:at], *step.clauses[at + 1 :])]
            for condition in clause.where if len(clause.where) > 1 else ():
                others = tuple(other for other in clause.where if other is not condition)
                looser = clause.model_copy(update={"where": others})
                fewer.append((*step.clauses[:at], looser, *step.clauses[at + 1 :]))
            changed = (
                _with(program, number, step.model_copy(update={"clauses": c})) for c in fewer
            )
            known = results[: number - 1]
            if any(outcome(other, parts, tables, known) == gold for other in changed):
                idle.append(f"step {number}: clause {at + 1} changes nothing")
        if len(step.clauses) - len(idle) < _LEAST_BITING:
            yield from idle


_LEAST_READINGS, _LEAST_OF_SMOKE = 6, 3  # careless ones that change the answer, if there are any
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
        known = results[: _same_until(program, changed)]
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
    split, readings = split_of(len(parts), is_ruled=True), len(_readings(applied))
    least = min(_LEAST_READINGS if split == "full" else _LEAST_OF_SMOKE, readings)
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
