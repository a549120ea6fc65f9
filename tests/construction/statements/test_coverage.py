"""The table of what was asked by category and region."""

from __future__ import annotations

import polars as pl

from construction.statements.coverage import (
    coverage,
    coverage_lines,
    filling,
    regions_without_questions,
)
from data.contracts import LedgerRow, Outcome

FRAME = pl.DataFrame(
    {
        "point_id": ["a", "b", "c"],
        "category": ["cash_flow"] * 3,
        "is_us": [True, True, False],
    }
)
FILL = [
    {"category": "cash_flow", "is_us": True, "available": 5, "askable": 2, "rejected": {"x": 3}},
    {"category": "cash_flow", "is_us": False, "available": 2, "askable": 1, "rejected": {"x": 1}},
    {"category": "guidance", "is_us": True, "available": 0, "askable": 0, "rejected": {}},
]


def _tried(point: str, reason: str | None = None) -> LedgerRow:
    outcome = Outcome.REJECTED if reason else Outcome.KEPT
    return LedgerRow("question", "point", point, outcome, reason=reason)


def test_filters_and_questions_count_together() -> None:
    tried = [_tried("a"), _tried("b", "y"), _tried("c", "y")]
    rows = coverage(FILL, FRAME, tried, ["a"], has_edinet=False)
    assert [(row["drawn"], row["asked"], row["why_not"]) for row in rows] == [
        (2, 1, "x"),
        (1, 0, "x"),
        (0, 0, "no_filed_value"),
    ]
    assert regions_without_questions(rows) == {"non-US": "x"}
    assert not regions_without_questions(coverage(FILL, FRAME, tried, ["a", "c"], has_edinet=False))


def test_columns_of_the_table_are_aligned() -> None:
    *lines, scarce = list(
        coverage_lines(coverage(FILL, FRAME, [_tried("a")], ["a"], has_edinet=False))
    )
    at = lines[0].index("available") + len("available")
    assert [line[at - 1] for line in lines[1:]] == ["5", "2", "0"]
    assert scarce.startswith("guidance, under 5 % of the questions: ")
    assert "TDnet" in scarce


def test_only_scarce_categories_name_the_file_that_would_fill_them() -> None:
    rows = coverage(FILL, FRAME, [_tried("a")], ["a"], has_edinet=False)
    assert [row["category"] for row in rows if row["filled_by"]] == ["guidance"]


def test_a_build_that_read_edinet_is_not_advised_to_read_it() -> None:
    fill = [*FILL, FILL[2] | {"category": "operational_kpis"}]
    tried = [_tried("c")]
    advice = {
        has_edinet: filling(coverage(fill, FRAME, tried, ["c"], has_edinet=has_edinet))
        for has_edinet in (False, True)
    }
    assert all("TDnet" in texts["guidance"] for texts in advice.values())
    assert "EDINET" not in advice[False]["guidance"]
    assert "EDINET's summaries have them" in advice[False]["operational_kpis"]
    assert "its XBRL packages" in advice[True]["operational_kpis"]
