"""Functions that remember what they gave, and still say what they take."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def remembered(
    most: int | None = None,
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """`functools.lru_cache` that keeps the types of parameters, of which that knows none.

    A type checker sees there only that all must be hashable, and takes no model of pydantic for
    that, though those that are frozen are.
    """
    return cast(
        "Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]", lru_cache(most)
    )
