"""What a declaration says of archived papers: where each is filed, and what no clause quotes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from construction.analytics.steps import Quote
from data.contracts import StageConfig


class Filing(StageConfig):
    """The folder of an archive in which a document is, the day that it bears, if any, and its
    heading there: without one, its first line."""

    folder: Annotated[str, Field(min_length=1, max_length=100)]
    day: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")] | None = None
    heading: Annotated[str, Field(max_length=200)] = ""


class Background(StageConfig):
    """Words of documents that no clause quotes, and that a reader needs in these periods (in all if
    none is named): under which name papers are filed, or that a paper was laid aside."""

    quotes: Annotated[tuple[Quote, ...], Field(min_length=1)]
    periods: tuple[int, ...] = ()
