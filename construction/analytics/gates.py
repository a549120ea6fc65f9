"""What makes a task fair: gates over one candidate, in order; the first that fails decides."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from polars.exceptions import PolarsError

from construction.analytics import steps as s
from construction.analytics.ablation import needed_files, outcome, reduced, unneeded_steps
from construction.analytics.agreement import first_disagreement
from construction.analytics.answers import gold_answers, written_parts
from construction.analytics.candidates import Bench, Draft, Judged
from construction.analytics.contracts import STEPS_RANGE, AnalyticsReason, Language
from construction.analytics.drawing import words_table
from construction.analytics.edges import knife_edges
from construction.analytics.environment.declaration import Declaration, Limits, Noise
from construction.analytics.execute_duckdb import SqlFailedError
from construction.analytics.execute_polars import run
from construction.analytics.idle import idle_conditions, idle_criteria
from construction.analytics.origins import tables_behind
from construction.analytics.polars_state import State, StepFailedError
from construction.analytics.prompt_gates import (
    in_prompt,
    leak,
    mismatch,
    other_words,
    unsaid_words,
)
from construction.analytics.unreported import LEAST_PAIRS, Run, gaps
from data.figures import percent

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
    if bench.said(draft).has(words_table()["levels"][draft.language]):
        yield "the question names a level that no table has"
    for number, step in enumerate(draft.program, 1):
        result = judged.results[number - 1]
        if isinstance(result, int | float) and not isinstance(result, bool) and result == 0:
            yield f"step {number}: the result is 0"
        if isinstance(step, s.Compare | s.PolicyCount | s.PolicyLookup | s.Filter | s.Lookup):
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
    for number in unneeded_steps(
        draft.program, draft.parts, bench.tables, judged.written, judged.results
    ):
        yield f"step {number}"
    measured = (draft.program, draft.parts, bench.tables, judged.written, judged.results)
    yield from idle_conditions(*measured)
    yield from idle_criteria(*measured)
    yield from _hardly_divided(judged, bench.declaration.limits.widest_share)


def _hardly_divided(judged: Judged, widest: float) -> Iterator[str]:
    """A share of a whole that is nearly the whole, or nearly nothing: the threshold says little."""
    program = judged.draft.program
    for number, step in enumerate(program, 1):
        if not (isinstance(step, s.Compare) and step.result == "percent"):
            continue
        pair = [program[n - 1] for n in map(s.step_number, (step.first, step.second)) if n]
        measured = [(p.function, p.column) for p in pair if isinstance(p, s.Statistic)]
        share = judged.results[number - 1]
        if len(measured) != 2 or len(set(measured)) != 1 or not isinstance(share, int | float):
            continue
        if not 1 - widest <= share / 100 <= widest:
            yield f"step {number}: {share:.1f} % of the whole"


def _single_source(judged: Judged, bench: Bench) -> Iterator[str]:
    draft = judged.draft
    program = reduced(draft.program, draft.parts, bench.tables, judged.written)
    read, needed = needed_files(program, draft.parts, bench.tables, bench.file_of, judged.written)
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
    yield from knife_edges(
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
        if pair[at] == words and slot != "sector"
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
        if part.decimals is not None and mine == other:
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
