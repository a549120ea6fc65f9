"""Names of series: the newest filing, dimensions, uniqueness, the report, real statements."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.statements.hierarchy_rebuilt import rebuild
from construction.statements.model import SERIES, Statements
from construction.statements.readers.edinet.read import read_edinet
from construction.statements.readers.edinet.source import EdinetConfig
from construction.statements.readers.sec.read import read_sec
from tests.construction.statements.frames import points, rows, series
from tests.construction.statements.sheets import (
    SHEET,
    Line,
    as_filed,
    names,
)


def test_the_newest_filing_decides() -> None:
    old = as_filed([("X1", "Ships", None), ("Assets", "Total assets", None)], document="D1")
    new = as_filed([("X1", "Ships", "1"), ("Liabilities", "Total liabilities", "1")], document="D2")
    result = pl.concat([old[0], new[0]]).unique("series_id", maintain_order=True)
    valued = new[2].with_columns(filed=date(2012, 1, 1))
    earlier = new[2].with_columns(filed=date(2011, 1, 1), document=pl.lit("D1"))
    shown = pl.concat([old[1], new[1]])
    actual = rebuild(result, shown, pl.concat([valued, earlier]))
    assert actual["name"][0] == "Balance sheet | Liabilities | Ships"


def test_parenthetical_rows_do_not_stand_in_the_way() -> None:
    sheet = as_filed(SHEET)
    beside = sheet[1].with_columns(parenthetical=pl.col("label") == "Spare parts")
    actual = rebuild(sheet[0], beside, sheet[2])["name"].to_list()
    assert actual[0] == "Balance sheet | Assets | Current assets | Cash"
    assert actual[1] == "Balance sheet | Spare parts"


def test_dimensions_become_axis_and_member() -> None:
    result = series(
        {
            "series_id": "a",
            "concept": "Revenues",
            "label": "Revenues",
            "statement": "Segments",
            "dimensions": "ProductOrService=IPhone;srt:GeographicalAxis=us-gaap:EuropeMember;",
        },
        {
            "series_id": "b",
            "concept": "Revenues",
            "label": "Revenues",
            "statement": "Segments",
            "dimensions": "A=B;C=D;E=F;G=H;",
        },
    )
    actual = rebuild(result, rows(), points())["name"].to_list()
    assert actual == [
        "Segments | Product or service | IPhone | Geographical | Europe | Revenues",
        "Segments | A | B | C | D; E: F; G: H | Revenues",
    ]


def test_a_separator_in_a_label_is_no_separator() -> None:
    assert names([("X1", "This | that  here", None)]) == ["This / that here"]


def test_deep_sections_keep_the_outer_ones_and_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = as_filed([("土地", "Land", None)])
    monkeypatch.setattr("construction.statements.hierarchy_rebuilt._MOST_SECTIONS", 2)
    actual = rebuild(*sheet)
    assert actual["name"][0] == "Balance sheet | Assets | Property, plant and equipment | Land"


def test_a_deeper_name_of_the_reader_stays() -> None:
    result = series(
        {
            "series_id": "a",
            "concept": "X9",
            "label": "Stores",
            "statement": "Operating indicators",
            "name": "Operating indicators | Retail | Stores",
        }
    )
    actual = rebuild(result, rows(), points()).row(0, named=True)
    assert (actual["name"], actual["depth"]) == ("Operating indicators | Retail | Stores", 3)


@pytest.mark.parametrize(
    ("item", "other", "expected"),
    [
        ({"unit": "USD"}, {"unit": "JPY"}, ["Other | Sum (USD)", "Other | Sum (JPY)"]),
        ({"concept": "A"}, {"concept": "B"}, ["Other | Sum [A]", "Other | Sum [B]"]),
        ({}, {}, ["Other | Sum [1]", "Other | Sum [2]"]),
    ],
)
def test_no_two_series_share_a_name(
    item: dict[str, str], other: dict[str, str], expected: list[str]
) -> None:
    base = {"concept": "X", "label": "Sum", "statement": "Other"}
    result = series({**base, "series_id": "1", **item}, {**base, "series_id": "2", **other})
    assert rebuild(result, rows(), points())["name"].to_list() == expected


def test_two_companies_may_share_a_name() -> None:
    base = {"concept": "X", "label": "Sum", "statement": "Other"}
    result = series(
        {**base, "series_id": "1", "company_id": "a"}, {**base, "series_id": "2", "company_id": "b"}
    )
    assert rebuild(result, rows(), points())["name"].to_list() == ["Other | Sum"] * 2


_WORDS = st.sampled_from(
    ["Cash", "Total assets", "Total", "合計", "Total x", "a | b", "x, total", ""]
)
_CONCEPTS = st.sampled_from(
    [line[0] for line in SHEET] + ["X1", "X2", "流動資産", "PropertyPlantAndEquipmentNet"]
)


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(_CONCEPTS, _WORDS, st.none() | st.integers(-999, 999).map(str)),
        max_size=12,
        unique_by=lambda line: line[0],
    ),
    st.randoms(use_true_random=False),
)
def test_any_statement_is_named_once_and_in_any_order(lines: list[Line], shuffler: Any) -> None:
    result, shown, valued = as_filed(lines)
    actual = rebuild(result, shown, valued)
    assert actual.schema == pl.Schema(SERIES.schema)
    assert actual["series_id"].to_list() == result["series_id"].to_list()
    assert actual["name"].n_unique() == actual.height
    assert all(2 <= depth <= 6 for depth in actual["depth"])
    order = list(range(shown.height))
    shuffler.shuffle(order)
    assert rebuild(result, shown[order], valued).equals(actual)


def _real(name: str, material: Path) -> Statements:
    if name == "sec":
        return read_sec([material / "tables/sec/2010q2.zip"])
    return read_edinet([material / "tables/edinet"], EdinetConfig())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "flat"), [("sec", 0.05), ("edinet", 0.02)])
def test_real_statements(name: str, flat: float, material: Path) -> None:
    result = _real(name, material)
    actual = rebuild(result.series, result.rows, result.points)
    assert actual.select("company_id", "name").is_duplicated().sum() == 0
    assert actual.select(pl.col("depth").max()).item() <= 6
    shares: dict[str, float] = dict(actual["method"].value_counts(normalize=True).iter_rows())
    assert shares["totals"] > 0.5
    assert shares["flat"] < flat
    deep = actual.filter(pl.col("depth") > 2)
    assert result.points.join(deep, on="series_id", how="semi").height > 0.75 * result.points.height
