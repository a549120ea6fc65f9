"""Every gold of a release run anew, by both executors, on the tables that were released."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from construction.analytics.agreement import first_disagreement
from construction.analytics.answers import written_parts
from construction.analytics.contracts import AnalyticTask
from construction.analytics.environment.variants import TABLES
from construction.analytics.execute_duckdb import Engine, SqlFailedError
from construction.analytics.execute_polars import run
from construction.analytics.output import prompt_of, read_gold
from construction.analytics.polars_state import StepFailedError


def lint_release(public: Path, private: Path) -> tuple[int, list[tuple[str, str]]]:
    """How many tasks there are, and what is wrong: pairs of task id and fault.

    `public` holds `environment/cleaned/tables`, `private` the gold.
    """
    tasks = read_gold(private)
    paths = {p.stem: p for p in sorted((public / "environment/cleaned" / TABLES).glob("*.parquet"))}
    tables = {name: pl.read_parquet(path) for name, path in paths.items()}
    engine = Engine(paths)
    return len(tasks), [
        (task.task_id, fault) for task in tasks for fault in _faults(task, tables, engine)
    ]


def _faults(task: AnalyticTask, tables: dict[str, pl.DataFrame], engine: Engine) -> Iterator[str]:
    try:
        results = run(task.program, tables)
        other = engine.run(task.program)
    except (StepFailedError, SqlFailedError) as error:
        yield f"gold cannot be computed: {error}"
        return
    number = first_disagreement(results, other)
    if number is not None:
        yield f"the executors disagree at step {number}"
    written = written_parts(task.parts, results)
    for answer, value in zip(task.answers, written, strict=True):
        if answer.value != value:
            yield f"{answer.part}: the gold is not what the steps give"
    yield from _unlike_prompt(task)


def _unlike_prompt(task: AnalyticTask) -> Sequence[str]:
    empty = [answer.part for answer in task.answers if not answer.value]
    return [f"{part}: no value" for part in empty] + (
        [] if prompt_of(task).strip() else ["no question"]
    )
