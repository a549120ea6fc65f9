"""Records and settings (part of the recipe) of `enrichment`: a point's surroundings."""

from __future__ import annotations

from dataclasses import dataclass

from data.contracts import Count, Share, StageConfig


class EnrichmentConfig(StageConfig):
    """`neighbours`: rows before and after the point's row; `page_rows`: rows of its picture.
    `round_share` as for questions: when a statement counts as reported in millions or thousands."""

    neighbours: Count = 10
    page_rows: Count = 40
    round_share: Share = 0.6


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a statement as a reader sees it.

    `value` is the filed decimal for the point's period and `shown` its printed form; `before` is
    the printed form for the comparative period. All are empty if the row has no such value.
    `offset` counts rows from the point's own, which is 0.
    """

    offset: int
    line: int
    label: str
    value: str
    shown: str
    before: str
    heading: bool
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A statement as it is drawn: its title lines, column heads and rows."""

    company: str
    statement: str
    section: str
    unit: str
    period: str
    before: str
    source: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Enriched:
    """The surroundings of one point; `rows` are the ±n neighbours, `svg` the drawn page.

    If the point is in no row of a statement, `in_statement` is False and the page shows the point
    alone.
    """

    point_id: str
    in_statement: bool
    rows: tuple[Row, ...]
    section: tuple[str, ...]
    page: Page
    svg: str
