"""What makes a task fair: gates over one candidate, in order; the first that fails decides.

The cheap ones come first; what decides is recorded. `_knife_edges` says how near an answer is to
another one; `fairness` is the gate of the lane as the audit shows it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

import polars as pl
from polars.exceptions import PolarsError

from construction.analytics import steps as s
from construction.analytics.ablation import (
    idle_clauses,
    idle_conditions,
    idle_criteria,
    idle_readings,
    needed_files,
    outcome,
    reduced,
    unneeded_steps,
    untouched_readings,
)
from construction.analytics.answers import gold_answers, written_parts
from construction.analytics.candidates import Bench, Draft, Judged
from construction.analytics.contracts import (
    STEPS_RANGE,
    UNDECIDED,
    AnalyticsReason,
    Language,
    Part,
)
from construction.analytics.environment.declaration import Declaration, Limits, Noise
from construction.analytics.execute_duckdb import SqlFailedError, first_disagreement
from construction.analytics.execute_polars import Result, State, StepFailedError, run
from construction.analytics.origins import tables_behind
from construction.analytics.prompt_gates import (
    in_prompt,
    leak,
    mismatch,
    other_words,
    undeclared,
    unsaid_words,
)
from construction.analytics.templates import words_table
from construction.analytics.unreported import LEAST_PAIRS, Run, gaps
from data.figures import percent

# Relative distance of a row from a threshold; of many rows some are always near. Of as few as there
# are places it is that of comparisons and ranks.
THRESHOLD, THRESHOLD_OF_FEW, FEW, PLACES = 1e-4, 2e-3, 200, 60
ABSOLUTE = 0.01  # distance of coefficients and other small numbers
LEAST_SHARE, MOST_SHARE = 0.02, 2_000.0  # per cent that one figure may be of another
REMAINDER = 5e-5  # of the figures that it is a difference of: half a hundredth of a per cent
HALF = Decimal("0.005")  # distance from a rounding limit, in units of the last decimal


def _knife_edges(
    program: s.Program, state: State, parts: Sequence[Part], distance: float
) -> Iterator[str]:
    """Where the answer would flip within rounding, in words; nothing if it stands firm.

    `state` holds the tables and all results.
    """
    for number, step in enumerate(program, 1):
        if isinstance(step, s.Compare):
            yield from _comparison_edge(number, step, state, distance)
            continue
        if isinstance(step, s.Rank):
            yield from _rank_edge(number, step, state, distance, _ranks(number, step, program))
        for clause in step.clauses if isinstance(step, s.Policy) else ():
            within = step.model_copy(update={"where": clause.where})
            for condition in clause.where:
                if condition.test in ("<", "<=", ">", ">="):
                    yield from _threshold_edge(number, within, condition, state, distance)
        for condition in step.where:
            if condition.test in ("<", "<=", ">", ">="):
                if terms := _terms(program, step.source, condition.column):
                    yield from _remainder_edge(number, step, condition, state, terms)
                else:
                    yield from _threshold_edge(number, step, condition, state, distance)
            elif condition.test == "=" and s.step_number(condition.value) is not None:
                yield from _equality_edge(number, step, condition, state, distance)
    yield from _rounding_edges(state.results, parts)


def _comparison_edge(number: int, step: s.Compare, state: State, distance: float) -> Iterator[str]:
    first, second = state.number(step.first), state.number(step.second)
    if step.result == "greater" and _near(first, second, distance, ABSOLUTE):
        yield f"step {number}: {first:.6g} against {second:.6g}"


def _ranks(number: int, step: s.Rank, program: s.Program) -> set[int]:
    """The ranks whose rows decide: all if they are the answer, else the last and those used."""
    users = [other for other in program if number in s.reads_steps(other)]
    if not users:
        return set(range(1, step.take + 1))
    conditions = (c for other in users for c in getattr(other, "where", ()) if c.column == "rank")
    used = {int(c.value) for c in conditions if isinstance(c.value, int | float)}
    return used | {step.take}


def _rank_edge(
    number: int, step: s.Rank, state: State, distance: float, ranks: set[int]
) -> Iterator[str]:
    rows = state.selected(step).drop_nulls(step.column)
    values = rows[step.column].cast(pl.Float64).sort(descending=step.descending).to_list()
    for at in sorted({rank - 1 for rank in ranks} | {rank - 2 for rank in ranks}):
        if 0 <= at < len(values) - 1 and _near(values[at], values[at + 1], distance, 0.0):
            yield f"step {number}: ranks {at + 1} and {at + 2}"
    before = values[: max(ranks)]
    if len(set(before)) < len(before):
        # "The third-highest" is then the third in order to one reader, the third value to another.
        yield f"step {number}: a tie before rank {max(ranks)}"


def _threshold_edge(
    number: int, step: s.RowStep, condition: s.Condition, state: State, distance: float
) -> Iterator[str]:
    """Rows beside a threshold, among those that pass the other conditions."""
    value = state.value(condition.value)
    rows = state.rows(step.source)
    if isinstance(value, str) or rows[condition.column].dtype == pl.String:
        return
    for other in step.where:
        if other is not condition:
            rows = rows.filter(state.test(rows, other))
    cells = rows[condition.column].cast(pl.Float64).drop_nulls()
    # A median is a cell of the column itself, or lies between two, and counts are what they are:
    # a cell that is equal is then no edge.
    is_exact = _is_made(condition) or bool((cells == cells.round()).all())
    others = cells.filter(cells != float(value)) if is_exact else cells
    share = THRESHOLD if cells.len() > FEW else THRESHOLD_OF_FEW
    share = distance if rows.height <= PLACES else share
    scale = abs(float(value)) or float(cells.abs().median() or 0.0)  # type: ignore[arg-type]
    near = ((others - float(value)).abs() <= share * max(scale, 1e-9)).sum()
    if near:
        yield f"step {number}: {near} rows at the threshold"


def _remainder_edge(
    number: int, step: s.RowStep, condition: s.Condition, state: State, terms: Sequence[str]
) -> Iterator[str]:
    """Rows whose cell is a difference of two figures that is nothing beside them."""
    rows, value = state.selected(step.model_copy(update={"where": ()})), condition.value
    if isinstance(value, str) or not set(terms) <= set(rows.columns):
        return
    for other in step.where:
        if other is not condition:
            rows = rows.filter(state.test(rows, other))
    size = pl.max_horizontal(pl.col(name).cast(pl.Float64).abs() for name in terms)
    cell = pl.col(condition.column).cast(pl.Float64)
    near = rows.filter((cell - float(value)).abs() <= REMAINDER * size).height  # type: ignore[arg-type]
    if near:
        yield f"step {number}: {near} rows with next to nothing left"


def _terms(program: s.Program, source: str, column: str) -> tuple[str, ...]:
    """The columns whose difference or sum a column is; none for any other column."""
    at = s.step_number(source)
    while at is not None and at <= len(program):
        step = program[at - 1]
        if isinstance(step, s.Compare):
            return ()
        if isinstance(step, s.Convert) and step.column == column:
            is_sum = step.how in ("minus", "plus") and not step.by_value
            return (step.of, str(step.by)) if is_sum else ()
        at = s.step_number(step.source)
    return ()


def _is_made(condition: s.Condition) -> bool:
    return s.step_number(condition.value) is not None


def _equality_edge(
    number: int, step: s.RowStep, condition: s.Condition, state: State, distance: float
) -> Iterator[str]:
    """Another row next to the one whose figure is a result, such as a maximum."""
    value, column = state.value(condition.value), state.rows(step.source)[condition.column]
    if isinstance(value, str) or column.dtype == pl.String:
        return
    cells = column.cast(pl.Float64).drop_nulls()
    others = cells.filter(cells != float(value))
    if (len(cells) - len(others)) > 1 or any(
        _near(float(value), other, distance, 0.0) for other in others
    ):
        yield f"step {number}: another row is as near"


def _near(first: float, second: float, relative: float, absolute: float) -> bool:
    return abs(first - second) <= max(relative * max(abs(first), abs(second)), absolute)


def _rounding_edges(results: Sequence[Result], parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        result = results[part.step - 1]
        if part.decimals is None or isinstance(result, bool | str | pl.DataFrame):
            continue
        shifted = Decimal(f"{float(result):.12g}").scaleb(part.decimals)
        fraction = abs(shifted) % 1
        if abs(fraction - Decimal("0.5")) <= HALF:
            yield f"{part.part}: at the limit of rounding"


ALL_OR_NOTHING = {"percent": (0.0, 100.0), "ratio": (0.0, 1.0)}


def judge(draft: Draft, bench: Bench) -> Judged:
    """Run the programme and the gates, up to the first that fails."""
    judged = executed(draft, bench)
    reason, detail = next(faults(judged, bench), (None, ""))
    return judged if reason is None else replace(judged, reason=reason, detail=detail)


def executed(draft: Draft, bench: Bench) -> Judged:
    """A draft with the results of its programme, or the reason why it has none."""
    try:
        results = run(draft.program, bench.tables)
    except StepFailedError as error:
        return Judged(draft, AnalyticsReason.MISSING_DATA, str(error))
    try:
        written = written_parts(draft.parts, results)
        answers = gold_answers(bench.declaration, draft.parts, written)
    except (PolarsError, ArithmeticError, ValueError, TypeError):
        why = "an answer of another kind than the result of its step"
        return Judged(draft, AnalyticsReason.INVALID, why)
    return Judged(draft, None, "", tuple(results), written, answers)


def faults(judged: Judged, bench: Bench) -> Iterator[tuple[AnalyticsReason, str]]:
    """What each gate finds first, gate after gate; of a programme without results, what can be."""
    if judged.reason is not None:
        yield judged.reason, judged.detail
    for reason, gate in GATES if judged.reason is None else WORDS_ALONE:
        try:
            detail = next(iter(gate(judged, bench)), None)
        except (PolarsError, StepFailedError) as error:
            # Columns of another type than their name says, such as a code made anew as a number.
            reason, detail = AnalyticsReason.INVALID, type(error).__name__
        if detail is not None:
            yield reason, detail


def _steps_range(judged: Judged, bench: Bench) -> Iterator[str]:
    low, high = STEPS_RANGE[judged.draft.category]
    if not low <= len(judged.draft.program) <= high:
        yield f"{len(judged.draft.program)} steps, not {low} to {high}"


def _missing_data(judged: Judged, bench: Bench) -> Iterator[str]:
    limits, draft = bench.declaration.limits, judged.draft
    levels = undeclared(words_table()["levels"][draft.language], bench.declaration)
    if bench.said(draft).has(levels):
        yield "the question names a level that no table has"
    for number, step in enumerate(draft.program, 1):
        result = judged.results[number - 1]
        if any(part.undecided == number for part in draft.parts):
            continue  # nobody is left undecided, which is a result
        if isinstance(result, int | float) and not isinstance(result, bool) and result == 0:
            yield f"step {number}: the result is 0"
        if isinstance(step, s.Compare | s.PolicyCount | s.Policy | s.Filter | s.Lookup):
            continue
        rows = _state(judged, bench, number).selected(step)
        for column, least in _columns_counted(step, limits):
            known = len(rows) - rows[column].null_count()
            if known < least:
                yield f"step {number}: {known} values"
            if rows.height and 1 - known / rows.height > limits.max_missing:
                yield f"step {number}: {percent(1 - known / rows.height, 0)} of {column} is missing"
    made = Run(draft.program, judged.results, bench.tables, bench.estimated, bench.declaration)
    yield from gaps(made)


def _columns_counted(step: s.StepOf, limits: Limits) -> Iterator[tuple[str, int]]:
    """The columns whose cells a step needs, and how many of them at least."""
    least = limits.least_rows
    if isinstance(step, s.Statistic):
        yield step.column, 1 if step.function in ("count", "distinct") else least
    elif isinstance(step, s.Aggregate):
        yield from ((column, least) for _, column in step.measures.values())
    elif isinstance(step, s.Correlate | s.Regress):
        yield from ((column, LEAST_PAIRS) for column in (step.x, step.y))
    elif isinstance(step, s.Rank):
        yield step.column, max(step.take * limits.least_choice, step.take + 1)
    elif isinstance(step, s.Score):
        yield from ((criterion.column, 1) for criterion in step.criteria)
    elif isinstance(step, s.Join):
        yield from ((column, 1) for column in step.on)


def _state(judged: Judged, bench: Bench, upto: int | None = None) -> State:
    state = State(bench.tables)
    state.results = list(judged.results[: None if upto is None else upto - 1])
    return state


def _unneeded(judged: Judged, bench: Bench) -> Iterator[str]:
    draft = judged.draft
    parts = _with_counts(draft.parts)
    gold = written_parts(parts, judged.results)
    shown = (draft.program, parts, bench.tables, gold, judged.results)
    for number in unneeded_steps(*shown):
        yield f"step {number}"
    yield from idle_conditions(*shown)
    yield from idle_criteria(*shown)
    measured = (draft.program, draft.parts, bench.tables, judged.written, judged.results)
    if any(policy.careless for policy in bench.declaration.policies):
        yield from idle_readings(*measured, bench.declaration)
    else:
        yield from idle_clauses(*measured)
    yield from _hardly_divided(judged, bench.declaration.limits.widest_share)


def _with_counts(parts: Sequence[Part]) -> list[Part]:
    """The parts for a comparison in which what an answer of `UNDECIDED` hides shows as well."""
    shown = [part.model_copy(update={"undecided": None}) for part in parts]
    return shown + [
        Part(part=f"{part.part}?", step=part.undecided, kind="count", decimals=0)
        for part in parts
        if part.undecided is not None
    ]


def _untouched(judged: Judged, bench: Bench) -> Iterator[str]:
    """Careless readings of the policies that treat nobody otherwise."""
    if any(policy.careless for policy in bench.declaration.policies):
        program, parts = judged.draft.program, judged.draft.parts
        measured = (program, parts, bench.tables, judged.results)
        yield from untouched_readings(*measured, bench.declaration, bench.touched)


def _hardly_divided(judged: Judged, widest: float) -> Iterator[str]:
    """A share of a whole that is nearly the whole, or nearly nothing: the threshold says little."""
    program = judged.draft.program
    for number, step in enumerate(program, 1):
        if not (isinstance(step, s.Compare) and step.result == "percent"):
            continue
        pair = [program[n - 1] for n in map(s.step_number, (step.first, step.second)) if n]
        measured = [(p.function, p.column) for p in pair if isinstance(p, s.Statistic)]
        share = judged.results[number - 1]
        if isinstance(share, int | float) and not LEAST_SHARE <= abs(share) <= MOST_SHARE:
            yield f"step {number}: {share:.3g} %, which gives no sense of scale"
        if len(measured) != 2 or len(set(measured)) != 1 or not isinstance(share, int | float):
            continue
        if not 1 - widest <= share / 100 <= widest:
            yield f"step {number}: {share:.1f} % of the whole"


def _single_source(judged: Judged, bench: Bench) -> Iterator[str]:
    draft = judged.draft
    parts = _with_counts(draft.parts)
    gold = written_parts(parts, judged.results)
    program = reduced(draft.program, parts, bench.tables, gold)
    read, needed = needed_files(program, parts, bench.tables, bench.file_of, gold)
    if len(needed) < 2:
        yield f"{len(needed)} of {len(read)} files are needed"


def _disagree(judged: Judged, bench: Bench) -> Iterator[str]:
    try:
        other = bench.engine.run(judged.draft.program)
    except SqlFailedError as error:
        yield str(error)
        return
    number = first_disagreement(judged.results, other)
    if number is not None:
        yield f"step {number}"


def _knife_edge(judged: Judged, bench: Bench) -> Iterator[str]:
    distance = bench.declaration.limits.knife_edge
    yield from _knife_edges(
        judged.draft.program, _state(judged, bench), judged.draft.parts, distance
    )
    for name, written in _other_readings(judged, bench):
        flips = [
            part.part
            for part, mine, other in zip(judged.draft.parts, judged.written, written, strict=True)
            if part.decimals is None and mine != other
        ]
        if flips:
            yield f"{flips[0]} under the reading {name}"


def _other_readings(judged: Judged, bench: Bench) -> Iterator[tuple[str, Sequence[str]]]:
    draft = judged.draft
    for name, tables in bench.readings.items():
        written = outcome(draft.program, draft.parts, tables)
        yield name, written or [""] * len(draft.parts)


def _not_unique(judged: Judged, bench: Bench) -> Iterator[str]:
    """Unworded values, several things under one name, another release, another reading."""
    draft = judged.draft
    for name, words in draft.words.items():
        if words not in draft.question:
            yield f"{name} is not in the question"
    for name, words in draft.words.items():
        if len(_of_that_name(bench.declaration, words, draft.language)) > 1:
            yield f"{name}: several things have that name"
    for metric in draft.metrics:
        same = [m for m in bench.declaration.metrics if m.label == metric.label]
        if len(same) > 1:
            yield f"{metric.name}: {same[1].name} has the same words"
        rivals = [t for t in bench.declaration.tables if t.stands_for == metric.table]
        if rivals and (metric.year is None or str(metric.year) not in draft.question):
            scoped = bench.careless.get(Noise.SCOPE, bench.tables)
            if outcome(draft.program, draft.parts, scoped) != judged.written:
                yield f"{metric.name}: {rivals[0].name} fits the words"
    for name, written in _other_readings(judged, bench):
        if tuple(written) != judged.written:
            yield f"another answer under the reading {name}"


def _of_that_name(declaration: Declaration, words: str, language: Language) -> set[str]:
    at = 0 if language == "en" else 1
    return {
        value
        for slot, names in declaration.names.items()
        for value, pair in names.items()
        if pair[at] == words and slot != "branch"
    }


def _world_knowledge(judged: Judged, bench: Bench) -> Iterator[str]:
    """Numeric parts that the unperturbed public tables give too, and parts that read no others.

    Names and truth values are else checked over the set.
    """
    if bench.public is None:
        return
    draft = judged.draft
    yield from _trivial(judged, bench)
    written = outcome(draft.program, draft.parts, bench.public)
    for part, mine, other in zip(draft.parts, judged.written, written or (), strict=False):
        if part.decimals is not None and mine == other != UNDECIDED:
            yield part.part
    for part in draft.parts:
        if not bench.perturbed.intersection(tables_behind(draft.program, part.step)):
            yield f"{part.part}: made of public figures alone"


def _trivial(judged: Judged, bench: Bench) -> Iterator[str]:
    """Answers that need no figure: yes or no alone, all or nothing, names of the public ranking."""
    parts, written = judged.draft.parts, judged.written
    if all(part.kind == "boolean" for part in parts):
        yield "yes or no alone"
    for part, value in zip(parts, written, strict=True):
        if part.kind in ("percent", "ratio") and float(value) in ALL_OR_NOTHING[part.kind]:
            yield f"{part.part}: all or nothing"
    if not any(isinstance(step, s.Convert | s.Score) for step in judged.draft.program):
        yield from _ranked_in_public(judged, bench)


def _ranked_in_public(judged: Judged, bench: Bench) -> Iterator[str]:
    """Names alone, which are in the same places of the public ranking."""
    parts, written = judged.draft.parts, judged.written
    if len(parts) != 1 or parts[0].kind not in ("entity", "list"):
        return
    conditions = (c for step in judged.draft.program for c in getattr(step, "where", ()))
    ranks = [c.value for c in conditions if c.column == "rank" and isinstance(c.value, int)]
    is_list = parts[0].kind == "list"
    first = 0 if is_list or not ranks else ranks[-1] - 1
    names = json.loads(written[0]) if is_list else [written[0]]
    ranking = bench.ranking(parts[0].names or parts[0].column or "")
    if names and names == ranking[first : first + len(names)]:
        yield f"{parts[0].part}: as in the public ranking"


WORDS_ALONE = (
    (AnalyticsReason.LEAK, leak),
    (AnalyticsReason.NOT_UNIQUE, unsaid_words),
    (AnalyticsReason.OTHER_QUESTION, other_words),
)
# The cheap ones first; executors are compared for what would otherwise be a task.
GATES: tuple[tuple[AnalyticsReason, Callable[[Judged, Bench], Iterator[str]]], ...] = (
    (AnalyticsReason.STEPS_RANGE, _steps_range),
    (AnalyticsReason.UNNEEDED, _untouched),
    (AnalyticsReason.MISSING_DATA, _missing_data),
    (AnalyticsReason.LEAK, leak),
    (AnalyticsReason.MISMATCH, mismatch),
    (AnalyticsReason.IN_PROMPT, in_prompt),
    (AnalyticsReason.KNIFE_EDGE, _knife_edge),
    (AnalyticsReason.NOT_UNIQUE, _not_unique),
    (AnalyticsReason.WORLD_KNOWLEDGE, _world_knowledge),
    (AnalyticsReason.UNNEEDED, _unneeded),
    (AnalyticsReason.SINGLE_SOURCE, _single_source),
    (AnalyticsReason.NOT_UNIQUE, unsaid_words),
    (AnalyticsReason.OTHER_QUESTION, other_words),
    (AnalyticsReason.DISAGREE, _disagree),
)


def noise_that_bites(judged: Judged, bench: Bench) -> tuple[str, ...]:
    """The kinds of noise that change the answer, or leave none, if they are ignored."""
    draft = judged.draft
    return tuple(
        str(noise)
        for noise, tables in bench.careless.items()
        if outcome(draft.program, draft.parts, tables) != judged.written
    )
