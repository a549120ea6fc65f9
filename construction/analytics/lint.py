"""Tasks judged anew: every gold of a release, and task records in the lane's own form.

The golds of a release are run by both executors on the files that were released. A record is a line
of `gold.jsonl`. It is hostile input: validated, run by both executors, and told what is wrong with
it, whoever wrote or changed it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import orjson
import polars as pl
from pydantic import ValidationError

from construction.analytics import steps as s
from construction.analytics.answers import guideline_faults, milestones_of, written_parts
from construction.analytics.candidates import Bench, Draft, Judged, condition_words, unfit
from construction.analytics.contracts import (
    RATED_BY_STEPS,
    RULE_BY_LABEL,
    RULE_BY_STEPS,
    AnalyticsReason,
    AnalyticTask,
    Part,
)
from construction.analytics.environment.declaration import read_declaration
from construction.analytics.environment.variants import read_clean
from construction.analytics.execute_duckdb import Engine, SqlFailedError, first_disagreement
from construction.analytics.execute_polars import StepFailedError, run
from construction.analytics.gates import executed, faults, noise_that_bites
from construction.analytics.task_files import (
    TASKS,
    ReleasedEnvironment,
    ReleasedTask,
    prompt_of,
    public_line,
    read_analytics,
    read_gold,
    read_released,
)
from data.contracts import Answer, Milestone
from data.errors import InputError
from data.releases.tasks import ReleasedTasks
from data.tables import write_frame

LARGEST_BYTES = 64 * 1024**2


@dataclass(frozen=True, slots=True)
class _RecordVerdict:
    """What is wrong with a record, in the order in which it was found; nothing if it is good."""

    record: str
    faults: tuple[tuple[AnalyticsReason, str], ...]


def judge_records(path: Path, bench: Bench) -> list[_RecordVerdict]:
    """A verdict per line. Raises InputError for a file that is too large."""
    if path.stat().st_size > LARGEST_BYTES:
        raise InputError(path.name, "a larger file", f"{LARGEST_BYTES:,} bytes", "Split it.")
    lines = [line for line in path.read_bytes().splitlines() if line.strip()]
    verdicts, seen = list[_RecordVerdict](), set[str]()
    for number, line in enumerate(lines, 1):
        verdict = _judge_record(line, f"line {number}", bench)
        if verdict.record in seen:
            again = (AnalyticsReason.INVALID, "the same ID as an earlier record")
            verdict = _RecordVerdict(verdict.record, (again, *verdict.faults))
        seen.add(verdict.record)
        verdicts.append(verdict)
    return verdicts


def _judge_record(line: bytes, name: str, bench: Bench) -> _RecordVerdict:
    """The verdict on one record; `name` says which, where it has no id."""
    try:
        task = AnalyticTask.model_validate(orjson.loads(line))
    except orjson.JSONDecodeError:
        return _RecordVerdict(name, ((AnalyticsReason.INVALID, "no JSON"),))
    except ValidationError as error:
        fields = sorted({".".join(map(str, item["loc"][:2])) for item in error.errors()})
        return _RecordVerdict(name, ((AnalyticsReason.INVALID, ", ".join(fields)[:200]),))
    why = unfit(task.program, task.parts)
    if why:
        return _RecordVerdict(task.task_id, ((AnalyticsReason.INVALID, why),))
    judged = executed(_draft(task, bench), bench)
    seen = tuple(faults(judged, bench))
    stated = _stated(task, judged, bench, is_fair=not seen)
    return _RecordVerdict(task.task_id, (*seen, *stated))


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


Faults = list[tuple[str, str]]  # task id, fault


class Gold(Protocol):
    """What is run anew and compared."""

    @property
    def program(self) -> s.Program: ...

    @property
    def parts(self) -> Sequence[Part]: ...

    @property
    def answers(self) -> Sequence[Answer]: ...

    @property
    def milestones(self) -> Sequence[Milestone]: ...


def lint_release(public: Path, private: Path) -> tuple[int, Faults]:
    """How many tasks `benchmint lane analytics` wrote, and what is wrong with them.

    `public` holds `environment/cleaned/tables`, `private` the gold and the declaration.
    """
    tasks = read_gold(private)
    unlisted = _unlisted(public / TASKS, tasks)
    declaration = read_declaration(private / "declaration.toml")
    tables = read_clean(declaration, public / "environment/cleaned")
    with TemporaryDirectory() as folder:
        engine = _engine(tables, Path(folder))
        faults = [(task.task_id, f) for task in tasks for f in _faults(task, tables, engine)]
    empty = [(task.task_id, "no question") for task in tasks if not prompt_of(task).strip()]
    return len(tasks), faults + empty + unlisted


def _unlisted(path: Path, tasks: Sequence[AnalyticTask]) -> Faults:
    """Where the public list and the gold differ, as those of two runs do. Raises InputError."""
    if not path.is_file():
        expected = "the public list beside the gold"
        raise InputError(
            str(path), "no such file", expected, "Run `benchmint lane analytics` again."
        )
    listed = path.read_bytes().splitlines()
    known = {public_line(task): task.task_id for task in tasks}
    faults = [
        (name, "the public list shows it otherwise or not")
        for line, name in known.items()
        if line not in listed
    ]
    foreign = sum(line not in known for line in listed)
    return [*faults, *([(path.name, f"{foreign} lines are of no gold")] if foreign else [])]


def lint_snapshot(release: ReleasedTasks) -> tuple[int, Faults]:
    """The same for the analytic tasks of a snapshot, whose tables are made of its files.

    Raises InputError without the private half.
    """
    tasks = read_analytics(release)
    faults: Faults = []
    for name in sorted({task.environment for task in tasks}):
        environment = read_released(release, name)
        own = [task for task in tasks if task.environment == name]
        with TemporaryDirectory() as folder:
            engine = _engine(environment.tables, Path(folder))
            faults += [(t.task_id, f) for t in own for f in _faults(t, environment.tables, engine)]
        faults += [(task.task_id, f) for task in own for f in _misfits(task, environment)]
    return len(tasks), sorted(faults)


def _engine(tables: Mapping[str, pl.DataFrame], folder: Path) -> Engine:
    paths = {name: folder / f"{name}.parquet" for name in tables}
    for name, frame in tables.items():
        write_frame(paths[name], frame)
    return Engine(paths)


def _misfits(task: ReleasedTask, environment: ReleasedEnvironment) -> Sequence[str]:
    declaration = environment.declaration
    return guideline_faults(
        declaration,
        task.guidelines,
        task.parts,
        task.answers,
        task.program,
        task.language,
        task.allowance,
    )


def _faults(task: Gold, tables: Mapping[str, pl.DataFrame], engine: Engine) -> Iterator[str]:
    try:
        results = run(task.program, tables)
        other = engine.run(task.program)
    except (StepFailedError, SqlFailedError) as error:
        yield f"gold cannot be computed: {error}"
        return
    number = first_disagreement(results, other)
    if number is not None:
        yield f"the executors disagree at step {number}"
    made = zip(task.parts, written_parts(task.parts, results), strict=True)
    written = {part.part: value for part, value in made}
    if list(written) != [answer.part for answer in task.answers]:
        yield "the parts of the answer are not those of the steps"
    for answer in task.answers:
        if not answer.value:
            yield f"{answer.part}: no value"
        elif answer.value != written.get(answer.part):
            yield f"{answer.part}: the gold is not what the steps give"
    values = {again.name: again.value for again in milestones_of(task.program, results, ())}
    for milestone in task.milestones:
        if values.get(milestone.name) != milestone.value:
            yield f"{milestone.name}: the milestone is not what its step gives"
