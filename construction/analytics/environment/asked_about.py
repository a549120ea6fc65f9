"""What questions are made of: metrics, facts, conventions, and the values that they vary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from data.contracts import StageConfig
from data.text.lexicon import load_table


def _kind(kind: str) -> str:
    kinds = load_table("construction.analytics", "words.toml")["kinds"]
    if kind not in kinds:
        raise ValueError(f"expected one of {', '.join(kinds)}")
    return kind


# No line breaks or control characters, which a question would carry into terminals and prompts.
PlainText = Annotated[
    str,
    Field(
        min_length=1, max_length=4_000, pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]+$"
    ),
]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,60}$")]
Words = Mapping[Literal["en", "zh"], PlainText]
BothWords = Annotated[Words, Field(min_length=2)]  # in each language in which it is asked about


class Metric(StageConfig):
    """A figure that questions ask about: its column, its words, how an answer writes it.

    `kind` is a kind of answer of `words.toml`. `year`: the reference year of a figure that has only
    one. `study`: what somebody works on who compares by it. `families`: the groups from which
    templates draw.
    """

    name: Name
    table: Name
    column: Name
    label: BothWords
    kind: Annotated[str, AfterValidator(_kind)]
    decimals: Annotated[int, Field(ge=0, le=6)] = 0
    year: int | None = None
    study: BothWords | None = None
    families: tuple[str, ...] = ()


class Fact(StageConfig):
    """A number that stands only in a document, between two phrases of its text.

    `study`: what somebody works on who needs it.
    """

    name: Name
    table: Name
    where: Mapping[Name, str]
    before: Annotated[str, Field(min_length=4)]
    after: Annotated[str, Field(min_length=1)]
    label: BothWords
    roles: Annotated[tuple[str, ...], Field(min_length=1)]  # which templates may use it
    study: BothWords | None = None
    column: Name = "text"


class Slots(StageConfig):
    """Values that templates draw: written by hand, or taken from a column of a clean table.

    `beside`: for a value that was drawn before, such as a region, those that go with it; if none of
    the values drawn before is named there, nothing is drawn.
    """

    values: tuple[str | int | float, ...] = ()
    table: Name | None = None
    column: Name | None = None
    least_rows: Annotated[int, Field(ge=1)] = 1  # how many rows a value must have
    beside: Mapping[str, tuple[str | int, ...]] = Field(default_factory=dict)
    names: str = ""  # the table of `[names]` with the words; if empty, that of the slot

    @model_validator(mode="after")
    def _either(self) -> Self:
        if bool(self.values) == (self.table is not None and self.column is not None):
            raise ValueError("either values, or table and column")
        return self


class Convention(StageConfig):
    """Words for the guidelines of tasks that read one of these (`table` or `table.column`).

    `of`: only of tasks that select by one of these values.
    """

    reads: tuple[str, ...]
    of: tuple[str, ...] = ()
    words: BothWords
