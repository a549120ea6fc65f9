"""The model of statements: labels become plain text, and the last filing takes precedence."""

from __future__ import annotations

from datetime import date
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.statements.model import (
    HISTORY,
    POINTS,
    SEPARATOR,
    TABLES,
    Statements,
    latest,
    plain_texts,
)


def statements(label: str, name: str) -> Statements:
    frames = {table.name: pl.DataFrame(schema=table.schema) for table in TABLES}
    frames["companies"] = pl.DataFrame(
        [{"company_id": "sec:1", "name": name}], schema=frames["companies"].schema
    )
    frames["series"] = pl.DataFrame(
        [{"series_id": "s", "name": f"Balance sheet{SEPARATOR}{label}", "label": label}],
        schema=frames["series"].schema,
    )
    frames["rows"] = pl.DataFrame([{"line": 1, "label": label}], schema=frames["rows"].schema)
    return Statements(
        companies=frames["companies"],
        series=frames["series"],
        points=frames["points"],
        history=frames["history"],
        rows=frames["rows"],
    )


@pytest.mark.parametrize(
    ("hostile", "plain"),
    [
        ("\x1b[31mCash\x1b[0m", "Cash"),
        ("Cash<script>alert(1)</script>", "Cash alert(1)"),
        ("[Cash](http://evil.example/x) held", "Cash held"),
        ("Ca\u202esh\x00 and\nmore", "Ca sh and more"),
        ("Net income (loss) < 5 % | 'A' & B", "Net income (loss) < 5 % | 'A' & B"),
        ("１株当たり純資産額", "１株当たり純資産額"),
    ],
)
def test_labels_and_names(hostile: str, plain: str) -> None:
    result = plain_texts(statements(hostile, hostile))
    assert result.companies["name"][0] == plain
    assert result.series["label"][0] == result.rows["label"][0] == plain
    assert result.series["name"][0] == f"Balance sheet{SEPARATOR}{plain}"


def point(document: str, value: str, filed: int | None, **more: Any) -> dict[str, Any]:
    day = None if filed is None else date(2020, 1, filed)
    point_id = f"{more.get('series_id', 'a')}/{document}"
    return {
        "point_id": point_id,
        "series_id": "a",
        "value": value,
        "period_end": date(2019, 12, 31),
        "months": 0,
        "document": document,
        "filed": day,
        **more,
    }


def frame(*points: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(points, schema=POINTS.schema)


def test_the_last_filing_wins_and_the_replaced_values_are_kept() -> None:
    stands, history = latest(
        frame(point("d2", "2", 2), point("d3", "1", 3), point("d1", "1", 1), point("d0", "9", None))
    )
    assert stands.schema == POINTS.schema
    assert stands.select("document", "value", "restatements").rows() == [("d3", "1", 2)]
    assert history.schema == HISTORY.schema
    assert history.select("document", "value", "replaced_by").rows() == [
        ("d0", "9", "a/d3"),
        ("d2", "2", "a/d3"),
    ]


def test_the_same_value_filed_again_is_no_restatement() -> None:
    stands, history = latest(frame(point("d1", "7", 1), point("d2", "7", 2)))
    assert stands.select("document", "restatements").rows() == [("d2", 0)]
    assert history.is_empty()


def test_of_two_filings_of_one_day_the_greater_reference_wins() -> None:
    stands, _ = latest(frame(point("d2", "2", 1), point("d1", "1", 1)))
    assert stands["value"].to_list() == ["2"]


def test_other_series_starts_ends_and_lengths_stand_beside_each_other() -> None:
    start = date(2019, 1, 1)
    points = frame(
        point("d1", "1", 1),
        point("d2", "2", 2, series_id="b"),
        point("d3", "3", 3, period_end=date(2018, 12, 31)),
        point("d4", "4", 4, months=12, period_start=start),
        point("d5", "5", 5, months=12, period_start=date(2019, 1, 2)),
    )
    stands, history = latest(points)
    assert sorted(stands["value"].to_list()) == ["1", "2", "3", "4", "5"]
    assert stands["restatements"].sum() == 0
    assert history.is_empty()


POINT = st.builds(
    point,
    st.sampled_from([f"d{n}" for n in range(6)]),
    st.sampled_from(["1", "2", "3"]),
    st.one_of(st.none(), st.integers(1, 3)),
    series_id=st.sampled_from(["a", "b"]),
)


@given(st.lists(POINT, max_size=12, unique_by=lambda p: p["point_id"]), st.randoms())
def test_every_point_stands_or_was_replaced_or_was_filed_again(points: Any, shuffler: Any) -> None:
    stands, history = latest(frame(*points))
    assert stands["series_id"].n_unique() == stands.height
    assert stands["restatements"].sum() == history.height
    result = set(stands["point_id"]) | set(history["point_id"])
    last = {row["series_id"]: row["value"] for row in stands.iter_rows(named=True)}
    for remaining in (p for p in points if p["point_id"] not in result):
        assert remaining["value"] == last[remaining["series_id"]]
    shuffler.shuffle(points)
    again = latest(frame(*points))
    assert again[0].equals(stands)
    assert again[1].equals(history)
