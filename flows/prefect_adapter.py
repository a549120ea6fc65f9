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

from prefect import flow, task
from prefect.artifacts import create_markdown_artifact, create_table_artifact

from data.staging.audit import funnel, funnel_markdown

R = TypeVar("R")
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

    flow(name=name, validate_parameters=False)(run)(**label)
    return results[0]


def as_task(name: str, body: Callable[[], None]) -> None:
    """Call `body` as a task without parameters or result."""
    if _IS_PLAIN.get():
        body()
        return

    def run() -> None:
        body()

    task(name=name)(run)()


def keep_table(key: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """A table on Prefect's pages of the run, if it has rows."""
    if rows and not _IS_PLAIN.get():
        create_table_artifact([dict(row) for row in rows], key=key)


def publish_funnel(staging: Path) -> None:
    """The funnel of a build as a table and as Markdown. Counts only, no item ids."""
    rows = funnel(staging)
    keep_table("funnel", [{k: v for k, v in row.items() if k != "step"} for row in rows])
    if not _IS_PLAIN.get():
        create_markdown_artifact(funnel_markdown(rows), key="funnel-summary")
