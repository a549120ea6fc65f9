"""How a build meets Prefect: lanes are flows, stages are tasks, figures are artifacts.

Prefect sees names and short texts only: what a flow or task works on is bound to its body before
Prefect is called, and its results stay on disk. Inside `without_prefect` bodies are simply called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from prefect import flow, get_client, get_run_logger, task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed

from data.snapshot import layout
from data.stages import StageEnd
from data.staging.audit import commonest_reasons, funnel

R = TypeVar("R")
_REASONS = 10  # that the page of a run shows
_IS_PLAIN: ContextVar[bool] = ContextVar("is_plain", default=False)


@contextmanager
def without_prefect() -> Iterator[None]:
    """Bodies are called as plain functions and artifacts are not kept: no server is needed."""
    token = _IS_PLAIN.set(True)
    try:
        yield
    finally:
        _IS_PLAIN.reset(token)


def as_flow(name: str, label: Mapping[str, str], body: Callable[[], R]) -> R:
    """Call `body` as a flow; `label` (short texts) is all that Prefect shows of its parameters."""
    if _IS_PLAIN.get():
        return body()
    results: list[R] = []

    def run(snapshot: str, out: str) -> None:
        results.append(body())

    title = f"{label['snapshot']}: {name}"
    flow(name=name, flow_run_name=title, validate_parameters=False)(run)(**label)
    return results[0]


def as_task(name: str, body: Callable[[], StageEnd]) -> None:
    """Run a stage as a task without parameters or result.

    Its log has one line with the counts; a stage whose output was there already is `Cached`.
    """
    if _IS_PLAIN.get():
        body()
        return

    def run() -> State[None]:
        end = body()
        get_run_logger().info(end.line)
        return Completed(name="Cached" if end.reused else "Completed", message=end.line)

    task(name=name, task_run_name=name)(run)()


def name_run(name: str) -> None:
    """Give the flow run in which this is called a name that says what it is about."""
    run_id = flow_run.get_id()
    if run_id is not None:
        with get_client(sync_client=True) as client:
            client.update_flow_run(UUID(run_id), name=name)


def keep_table(key: str, rows: Sequence[Mapping[str, Any]], description: str) -> None:
    """A table on Prefect's pages of the run, if it has rows."""
    if rows and not _IS_PLAIN.get():
        create_table_artifact([dict(row) for row in rows], key=key, description=description)


def publish_funnel(staging: Path) -> None:
    """The funnel of a build and its commonest reasons. Counts only, no item ids."""
    rows = [{k: v for k, v in row.items() if k != "step"} for row in funnel(staging)]
    keep_table("funnel", rows, "What came into each stage, and what became of it.")
    reasons = commonest_reasons(staging, _REASONS)
    keep_table("commonest-reasons", reasons, "Why most units were rejected, with their number.")


def publish_release(snapshot: Path, digest: str, tasks: int) -> None:
    """What the build released, and where its report is. A folder of this machine, so no link."""
    if _IS_PLAIN.get():
        return
    lines = (
        f"# {snapshot.name}",
        f"{tasks} tasks, verified. Digest `{digest}`.",
        f"Report: `{snapshot / layout.PUBLIC / layout.REPORT}`",
        f"Check it again: `benchmint verify {snapshot}`",
    )
    description = "The snapshot that this run made or found unchanged."
    create_markdown_artifact("\n\n".join(lines), key="release", description=description)
