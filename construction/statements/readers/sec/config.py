"""What reading SEC data sets depends on. Part of the recipe."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from data.contracts import Disclosure, StageConfig

Positive = Annotated[int, Field(ge=1)]


class SecConfig(StageConfig):
    """Settings of the SEC reader.

    A table may inflate to `max_table_bytes`, and past `free_inflated_bytes` only to
    `max_inflation_ratio` times its compressed size. Of the broken lines of a file
    `max_listed_lines` get a ledger row each, the others one row together.

    `segment_axes` and `equity_axes` are parts of axis names, in lower case: a fact with such an
    axis belongs to the segments, or to the statement of equity.
    """

    source: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,30}$")] = "sec"
    disclosure: Disclosure = Disclosure.PUBLIC
    max_table_bytes: Positive = 2 << 30
    max_table_rows: Positive = 50_000_000
    free_inflated_bytes: Positive = 64 << 20
    max_inflation_ratio: Positive = 100
    max_members: Positive = 1_000
    max_listed_lines: Positive = 1_000
    segment_axes: tuple[str, ...] = (
        "segment",
        "sector",
        "geograph",
        "country",
        "region",
        "product",
        "customer",
    )
    equity_axes: tuple[str, ...] = ("equitycomponents", "partnercapital", "partnertype")
