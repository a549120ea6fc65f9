"""How a build meets Prefect: lanes are flows, stages are tasks, figures are artifacts.

Prefect sees names and short texts only: what a flow or task works on is bound to its body before
Prefect is called, and its results stay on disk. Inside `without_prefect` bodies are simply called,
and Prefect is not even imported, which would take longer than a dry run.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from uuid import UUID

from data.reasons import ReasonWords
from data.snapshot import layout
from data.snapshot.release import SnapshotRef
from data.stages import StageEnd
from data.staging.audit import Rows, funnel, rejection_counts, turned_away, undecided_lines
from flows.gates import GATES

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State

R = TypeVar("R")
Log: TypeAlias = "logging.Logger | logging.LoggerAdapter[Any]"
_REASONS = 5  # of each unit, that the page of a run shows
_IS_PLAIN: ContextVar[bool] = ContextVar("is_plain", default=False)
_LOG: ContextVar[Log | None] = ContextVar("log", default=None)  # of the run around the lane


@contextmanager
def without_prefect() -> Iterator[None]:
    """Bodies are called as plain functions and artifacts are not kept: no server is needed."""
    token = _IS_PLAIN.set(True)
    try:
        yield
    finally:
        _IS_PLAIN.reset(token)


def as_flow(name: str, label: Mapping[str, str], body: Callable[[], R]) -> R:
    """Call `body` as a flow; `label` (short texts) is all that Prefect shows of its parameters.

    What its tasks log stands on the page of the run around it, if there is one.
    """
    if _IS_PLAIN.get():
        return body()
    from prefect import flow, get_run_logger
    from prefect.context import FlowRunContext

    results: list[R] = []
    log = get_run_logger() if FlowRunContext.get() is not None else None

    def run(snapshot: str, out: str) -> None:
        token = _LOG.set(log)
        try:
            results.append(body())
        finally:
            _LOG.reset(token)

    title = f"{name.rpartition('-')[2]} of {label['snapshot']}"  # tasks, tables, subset of …
    flow(name=name, flow_run_name=title, validate_parameters=False)(run)(**label)
    return results[0]


def as_task(name: str, body: Callable[[], StageEnd]) -> None:
    """Run a stage as a task without parameters or result, whose state says what it counted.

    The log of the whole build gets the same line, so that it reads from stage to stage; the log
    of the lane has it as the task's end. A stage whose output was there already is `Cached`.
    """
    if _IS_PLAIN.get():
        body()
        return
    from prefect import task
    from prefect.states import Completed

    def run() -> State[None]:
        end = body()
        if (log := _LOG.get()) is not None:
            log.info(end.line)
        return Completed(name="Cached" if end.reused else "Completed", message=end.line)

    task(name=name, task_run_name=name)(run)()


def name_run(name: str) -> None:
    """Give the flow run in which this is called a name that says what it is about."""
    if _IS_PLAIN.get():
        return
    from prefect import get_client
    from prefect.runtime import flow_run

    run_id = flow_run.get_id()
    if run_id is not None:
        with get_client(sync_client=True) as client:
            client.update_flow_run(UUID(run_id), name=name)


def keep_table(key: str, rows: Sequence[Mapping[str, Any]], description: str) -> None:
    """A table on Prefect's pages of the run, if it has rows."""
    if rows and not _IS_PLAIN.get():
        from prefect.artifacts import create_table_artifact

        create_table_artifact([dict(row) for row in rows], key=key, description=description)


def publish_funnel(staging: Path) -> None:
    """The funnel of a build and its commonest reasons. Counts only, no item ids."""
    hidden = ("step", "run_id")
    rows = [{k: v for k, v in row.items() if k not in hidden} for row in funnel(staging)]
    notes = [f"{line}." for line in undecided_lines(staging, ReasonWords.of(GATES))]
    about = " ".join(["What entered each stage and what became of it.", *notes])
    keep_table("funnel", rows, about)
    about = f"{turned_away(staging)} rejected: the most common reasons for each unit."
    keep_table("commonest-reasons", _reasons(staging, rows), about)


def _reasons(staging: Path, stages: Rows) -> Rows:
    """The commonest reasons for each unit, in the order in which the stages count them."""
    order = {unit: n for n, unit in enumerate(dict.fromkeys(row["unit"] for row in stages))}
    shown = ("unit", "gate", "reason", "units", "entries")
    rows, counted = list[dict[str, Any]](), Counter[str]()
    ranked = sorted(
        rejection_counts(staging),
        key=lambda row: (order[row["unit"]], -row["units"], row["reason"]),
    )
    for row in ranked:
        counted[row["unit"]] += 1
        if counted[row["unit"]] <= _REASONS:
            rows.append({name: row[name] for name in shown})
    return rows


def publish_release(snapshot: SnapshotRef, tasks: int, out: Path) -> None:
    """What the build released, where its report is, and what to do with it.

    The folders are of this machine, so there are no links.
    """
    if _IS_PLAIN.get():
        return
    from prefect.artifacts import create_markdown_artifact

    path, public = snapshot.path, snapshot.path / layout.PUBLIC
    state = "written" if snapshot.written else "found unchanged"
    lines = (
        f"# {path.name}",
        f"{tasks} tasks, {state}, verified. Digest `{snapshot.digest}`.",
        f"Report: `{public / layout.REPORT}`",
        f"Changes since the previous release: `{public / layout.CHANGELOG}`",
        f"Verify it again: `benchmint verify {path}`",
        f"See why items were rejected: `benchmint audit --serve --out {out}`",
    )
    about = f"{tasks} tasks, {state}: {path.name}, its report and digest."
    create_markdown_artifact("\n\n".join(lines), key="release", description=about)
