"""What makes a task fair: gates over one candidate, in order; the first that fails decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from construction.analytics import steps as s
from construction.analytics.ablation import needed_files, outcome, unneeded_steps
from construction.analytics.agreement import first_disagreement
from construction.analytics.answers import gold_answers, guideline_faults, written_parts
from construction.analytics.candidates import Bench, Draft, Judged
from construction.analytics.contracts import (
    STEPS_RANGE,
    AnalyticsReason,
    Language,
)
from construction.analytics.drawing import words_table
from construction.analytics.edges import knife_edges
from construction.analytics.environment.declaration import Declaration, Noise
from construction.analytics.execute_duckdb import SqlFailedError
from construction.analytics.execute_polars import run
from construction.analytics.polars_state import State, StepFailedError

_CODE = re.compile(r"\b[A-Z]{1,2}\d{4,}\b|\b[a-z]+(?:_[a-z]+)+\b|\b\w+\.(?:csv|parquet|txt|gz)\b")


def judge(draft: Draft, bench: Bench) -> Judged:
    """Run the programme and all gates."""
    try:
        results = run(draft.program, bench.tables)
    except StepFailedError as error:
        return Judged(draft, AnalyticsReason.MISSING_DATA, str(error))
    written = written_parts(draft.parts, results)
    answers = gold_answers(bench.declaration, draft.parts, written)
    judged = Judged(draft, None, "", tuple(results), written, answers)
    for reason, gate in GATES:
        detail = next(iter(gate(judged, bench)), None)
        if detail is not None:
            return Judged(draft, reason, detail, judged.results, written, answers)
    return judged


def _steps_range(judged: Judged, bench: Bench) -> Iterator[str]:
    low, high = STEPS_RANGE[judged.draft.category]
    if not low <= len(judged.draft.program) <= high:
        yield f"{len(judged.draft.program)} steps, not {low} to {high}"


def _missing_data(judged: Judged, bench: Bench) -> Iterator[str]:
    limits = bench.declaration.limits
    for number, step in enumerate(judged.draft.program, 1):
        result = judged.results[number - 1]
        if isinstance(result, int | float) and not isinstance(result, bool) and result == 0:
            yield f"step {number}: the result is 0"
        if not isinstance(step, s.Statistic | s.Aggregate):
            continue
        rows = _state(judged, bench, number).selected(step)
        columns = (
            [step.column]
            if isinstance(step, s.Statistic)
            else [column for _, column in step.measures.values()]
        )
        for column in columns:
            known = len(rows) - rows[column].null_count()
            counts = isinstance(step, s.Statistic) and step.function in ("count", "distinct")
            if known < (1 if counts else limits.least_rows):
                yield f"step {number}: {known} values"
            if rows.height and 1 - known / rows.height > limits.max_missing:
                yield f"step {number}: {1 - known / rows.height:.0%} of {column} is missing"


def _state(judged: Judged, bench: Bench, upto: int | None = None) -> State:
    state = State(bench.tables)
    state.results = list(judged.results[: None if upto is None else upto - 1])
    return state


def _unneeded(judged: Judged, bench: Bench) -> Iterator[str]:
    draft = judged.draft
    for number in unneeded_steps(draft.program, draft.parts, bench.tables, judged.written):
        yield f"step {number}"


def _single_source(judged: Judged, bench: Bench) -> Iterator[str]:
    draft = judged.draft
    read, needed = needed_files(
        draft.program, draft.parts, bench.tables, bench.file_of, judged.written
    )
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


def _in_prompt(judged: Judged, bench: Bench) -> Iterator[str]:
    for answer in judged.answers:
        if answer.type == "boolean":
            continue
        for form in (answer.value, *answer.aliases):
            if _stands_in(form, judged.draft.question):
                yield answer.part


def _stands_in(form: str, text: str) -> bool:
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    if re.fullmatch(r"-?[\d.]+", form):
        shown = (re.escape(number) for number in {form, _without_zeros(form)})
        return re.search(rf"(?<![\d.])(?:{'|'.join(shown)})(?!\d|\.\d)", plain) is not None
    return form in text


def _without_zeros(form: str) -> str:
    return form.rstrip("0").rstrip(".") if "." in form else form


def _world_knowledge(judged: Judged, bench: Bench) -> Iterator[str]:
    """Numeric parts that the unperturbed public tables give too; sets are checked elsewhere."""
    if bench.public is None:
        return
    draft = judged.draft
    written = outcome(draft.program, draft.parts, bench.public)
    for part, mine, other in zip(draft.parts, judged.written, written or (), strict=False):
        if part.decimals is not None and mine == other:
            yield part.part


def _mismatch(judged: Judged, bench: Bench) -> Iterator[str]:
    draft = judged.draft
    yield from guideline_faults(
        bench.declaration, draft.guidelines, draft.parts, judged.answers, draft.language
    )


def _leak(judged: Judged, bench: Bench) -> Iterator[str]:
    """A question that names a file, a column or noise."""
    question = judged.draft.question
    code = _CODE.search(question)
    if code is not None:
        yield f"{len(code[0])} characters that look like a column or file"
    for name in _file_names(bench.declaration):
        if name in question.casefold():
            yield "a file"
    for word in words_table()["leaks"][judged.draft.language]:
        if re.search(
            rf"(?<!\w){re.escape(word)}s?(?!\w)" if word.isascii() else word, question, re.I
        ):
            yield f"the word {word}"


def _file_names(declaration: Declaration) -> set[str]:
    """Names of files that are no ordinary words: those with digits or joined words."""
    names = {file.path.rpartition("/")[2].casefold() for file in declaration.files.values()}
    stems = {name.partition(".")[0] for name in names}
    return {name for name in names | stems if re.search(r"[\d_.-]", name)}


# The cheap ones first; executors are compared for what would otherwise be a task.
GATES: tuple[tuple[AnalyticsReason, Callable[[Judged, Bench], Iterator[str]]], ...] = (
    (AnalyticsReason.STEPS_RANGE, _steps_range),
    (AnalyticsReason.MISSING_DATA, _missing_data),
    (AnalyticsReason.LEAK, _leak),
    (AnalyticsReason.MISMATCH, _mismatch),
    (AnalyticsReason.IN_PROMPT, _in_prompt),
    (AnalyticsReason.KNIFE_EDGE, _knife_edge),
    (AnalyticsReason.NOT_UNIQUE, _not_unique),
    (AnalyticsReason.WORLD_KNOWLEDGE, _world_knowledge),
    (AnalyticsReason.UNNEEDED, _unneeded),
    (AnalyticsReason.SINGLE_SOURCE, _single_source),
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
