"""Task records in the lane's own form, judged anew: every gate, and all that a record states.

A record is a line of `gold.jsonl`. It is hostile input: validated, run by both executors, and told
what is wrong with it, whoever wrote or changed it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson
from pydantic import ValidationError

from construction.analytics import steps as s
from construction.analytics.candidates import Bench, Draft, Judged
from construction.analytics.contracts import (
    RATED_BY_STEPS,
    RULE_BY_LABEL,
    RULE_BY_STEPS,
    AnalyticsReason,
    AnalyticTask,
)
from construction.analytics.gates import executed, faults, noise_that_bites
from construction.analytics.milestones import milestones_of
from construction.analytics.proposals import condition_words, unfit
from data.errors import InputError

LARGEST_BYTES = 64 * 1024**2


@dataclass(frozen=True, slots=True)
class RecordVerdict:
    """What is wrong with a record, in the order in which it was found; nothing if it is good."""

    record: str
    faults: tuple[tuple[AnalyticsReason, str], ...]


def judge_records(path: Path, bench: Bench) -> list[RecordVerdict]:
    """A verdict per line. Raises InputError for a file that is too large."""
    if path.stat().st_size > LARGEST_BYTES:
        raise InputError(path.name, "a larger file", f"{LARGEST_BYTES:,} bytes", "Split it.")
    lines = [line for line in path.read_bytes().splitlines() if line.strip()]
    verdicts, seen = list[RecordVerdict](), set[str]()
    for number, line in enumerate(lines, 1):
        verdict = judge_record(line, f"line {number}", bench)
        if verdict.record in seen:
            again = (AnalyticsReason.INVALID, "an id of an earlier record")
            verdict = RecordVerdict(verdict.record, (again, *verdict.faults))
        seen.add(verdict.record)
        verdicts.append(verdict)
    return verdicts


def judge_record(line: bytes, name: str, bench: Bench) -> RecordVerdict:
    """The verdict on one record; `name` says which, where it has no id."""
    try:
        task = AnalyticTask.model_validate(orjson.loads(line))
    except orjson.JSONDecodeError:
        return RecordVerdict(name, ((AnalyticsReason.INVALID, "no JSON"),))
    except ValidationError as error:
        fields = sorted({".".join(map(str, item["loc"][:2])) for item in error.errors()})
        return RecordVerdict(name, ((AnalyticsReason.INVALID, ", ".join(fields)[:200]),))
    why = unfit(task.program, task.parts)
    if why:
        return RecordVerdict(task.task_id, ((AnalyticsReason.INVALID, why),))
    judged = executed(_draft(task, bench), bench)
    seen = tuple(faults(judged, bench))
    stated = _stated(task, judged, bench, is_fair=not seen)
    return RecordVerdict(task.task_id, (*seen, *stated))


def _draft(task: AnalyticTask, bench: Bench) -> Draft:
    """The record as a candidate; values that its steps compare with have to be in the question."""
    declaration, language = bench.declaration, task.language
    return Draft(
        template=task.template,
        category=task.category,
        language=language,
        question=task.question,
        guidelines=task.guidelines,
        program=task.program,
        parts=task.parts,
        words=dict(condition_words(task.program, task.question, declaration, language)),
        metrics=tuple(m for m in declaration.metrics if m.label[language] in task.question),
        label=None if task.category in RATED_BY_STEPS else task.difficulty,
    )


def _stated(
    task: AnalyticTask, judged: Judged, bench: Bench, *, is_fair: bool
) -> Iterator[tuple[AnalyticsReason, str]]:
    """What a record says of itself and its steps do not bear out."""
    if not judged.results:
        return
    for answer in task.answers:
        if not answer.value.strip():
            yield AnalyticsReason.MISSING_DATA, f"{answer.part}: no value"
    if task.answers != judged.answers:
        yield AnalyticsReason.MISMATCH, "the answers are not what the steps give"
    made = milestones_of(task.program, judged.results, ())
    values = {milestone.name: (milestone.value, milestone.step) for milestone in made}
    for milestone in task.milestones:
        if values.get(milestone.name) != (milestone.value, milestone.step):
            yield AnalyticsReason.MISMATCH, f"{milestone.name}: no step gives that milestone"
    stated = {milestone.name for milestone in task.milestones}
    for name in sorted(values.keys() - stated):
        yield AnalyticsReason.MISMATCH, f"{name}: a step gives that milestone, and it is not stated"
    rated = task.category in RATED_BY_STEPS
    rule = RULE_BY_STEPS if rated else RULE_BY_LABEL
    if task.difficulty_rule != rule or judged.draft.difficulty != task.difficulty:
        yield AnalyticsReason.STEPS_RANGE, f"{task.difficulty} does not fit {len(task.program)}"
    files = {bench.file_of[name] for name in s.tables_of(task.program)}
    if files != set(task.files):
        yield AnalyticsReason.MISMATCH, "the files are not those that the steps read"
    if is_fair and set(noise_that_bites(judged, bench)) != set(task.noise):
        yield AnalyticsReason.MISMATCH, "the noise is not the noise that changes the answer"
