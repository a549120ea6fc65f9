"""The views over the staged tables: what analysts and auditors start from (`views.toml`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from data.text.lexicon import load_table


@dataclass(frozen=True, slots=True)
class View:
    """A view: what one row is, its columns with type and meaning, and the query behind it."""

    name: str
    row: str
    columns: Mapping[str, tuple[str, str]]
    query: str


VIEWS = tuple(
    View(
        name,
        declared["row"],
        {column: (kind, meaning) for column, (kind, meaning) in declared["columns"].items()},
        declared["query"],
    )
    for name, declared in load_table(__package__, "views.toml").items()
)
