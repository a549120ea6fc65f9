"""How a build meets Prefect: its lanes are flows, its stages tasks, its figures artifacts.

Inside `without_prefect` they are the plain functions that they wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from prefect import flow, task
from prefect.artifacts import create_table_artifact

from data.errors import guarded

P = ParamSpec("P")
R = TypeVar("R")
_PLAIN: ContextVar[bool] = ContextVar("plain", default=False)


@contextmanager
def without_prefect() -> Iterator[None]:
    """Lanes and stages are called as plain functions, artifacts are not kept: no server."""
    token = _PLAIN.set(True)
    try:
        yield
    finally:
        _PLAIN.reset(token)


def lane(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A flow of the build; what it is given is validated already."""

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        return _either(function, flow(name=name, validate_parameters=False)(function))

    return wrap


def stage(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A task of the build; what nobody foresaw becomes a StageError that names it."""

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        safe = guarded(name)(function)
        return _either(safe, task(name=name)(safe))

    return wrap


def keep_table(key: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """A table on Prefect's pages of the run, if it has rows."""
    if rows and not _PLAIN.get():
        create_table_artifact([dict(row) for row in rows], key=key)


def _either(plain: Callable[P, R], tracked: Callable[P, R]) -> Callable[P, R]:
    @wraps(plain)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return plain(*args, **kwargs) if _PLAIN.get() else tracked(*args, **kwargs)

    return call
