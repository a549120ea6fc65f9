"""Every gold of a release run anew, by both executors, on the files that were released."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import polars as pl

from construction.analytics import steps as s
from construction.analytics.agreement import first_disagreement
from construction.analytics.answers import guideline_faults, written_parts
from construction.analytics.contracts import AnalyticTask, Part
from construction.analytics.environment.declaration import read_declaration
from construction.analytics.environment.variants import read_clean
from construction.analytics.execute_duckdb import Engine, SqlFailedError
from construction.analytics.execute_polars import run
from construction.analytics.milestones import milestones_of
from construction.analytics.output import TASKS, prompt_of, public_line, read_gold
from construction.analytics.polars_state import StepFailedError
from construction.analytics.released import (
    ReleasedEnvironment,
    ReleasedTask,
    read_analytics,
    read_released,
)
from data.contracts import Answer, Milestone
from data.errors import InputError
from data.releases.tasks import ReleasedTasks
from data.tables import write_frame

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
        declaration, task.guidelines, task.parts, task.answers, task.program, task.language
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
