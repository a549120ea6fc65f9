"""Small tables of data points for the sampler's tests."""

from __future__ import annotations

import polars as pl
from hypothesis import strategies as st

from selection.config import Design
from selection.sampling.frame import (
    COLUMNS,
)

Row = tuple[str, bool, str, str, str]
WITH = Design.WITH_REPLACEMENT


def table(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def company(name: str, is_us: bool, cells: dict[str, dict[str, int]]) -> list[Row]:
    """Data points of one company: category → series → how many."""
    return [
        (name, is_us, category, series, f"{name}/{category}/{series}/{at}")
        for category, held in cells.items()
        for series, points in held.items()
        for at in range(points)
    ]


SMALL = table(
    company("Ash", True, {"cash": {"C | a": 2, "C | b": 1, "D": 3}, "income": {"R": 2}})
    + company("Birch", False, {"cash": {"C": 1}, "income": {"R": 1, "R | x": 1, "S": 4}})
    + company("Cedar", False, {"income": {"T": 2, "T | x | y": 1}})
)
SERIES = st.sampled_from(["A", "A | x", "A | y", "B | x | z", "B | x", "C"])
CELLS = st.dictionaries(
    st.sampled_from(["cash", "guidance", "income"]),
    st.dictionaries(SERIES, st.integers(1, 3), min_size=1),
    min_size=1,
)
COMPANIES = st.lists(st.tuples(st.booleans(), CELLS), min_size=2, max_size=7)


def frame_of(companies: list[tuple[bool, dict[str, dict[str, int]]]]) -> pl.DataFrame:
    rows = [row for at, (us, cells) in enumerate(companies) for row in company(f"c{at}", us, cells)]
    return table(rows)


# Companies, cells and series of unlike sizes: no two series are equally likely.
UNEVEN = table(
    company("big", True, {"cash": {f"S{at}": 2 for at in range(9)}, "income": {"T": 1}})
    + company("deep", True, {"cash": {"A": 1, "A | x": 1, "A | x | z": 1, "A | y": 2, "B": 1}})
    + company(
        "wide",
        True,
        {category: {"A": 1, "B | x": 1, "B | y": 3} for category in ("cash", "guidance", "income")},
    )
    + company("alone", False, {"cash": {"A": 1, "B | x": 1, "B | y": 1, "B | z": 1}})
)
CELLS_OF_NINE = {"cash": {f"S{at}": 2 for at in range(9)}, "income": {"T": 1, "T | x": 3}}
NINE = table([row for at in range(4) for row in company(f"c{at}", at < 2, CELLS_OF_NINE)])
