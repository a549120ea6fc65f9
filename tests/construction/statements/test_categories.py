"""Categories of series, by an editable table."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from construction.statements.categories import (
    Category,
    _parse_rules,
    _Rule,
    assign,
    coverage,
    coverage_lines,
    filling,
    load_rules,
    regions_without_questions,
)
from data.contracts import LedgerRow, Outcome
from data.errors import InputError
from tests.construction.statements.frames import series

# The table of what was asked by category and region.

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


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("Operating indicators | Basic earnings per share [JPY/share]", "per_share_ratios"),
        ("Operating indicators | Equity ratio [ratio]", "per_share_ratios"),
        ("Operating indicators | Total number of issued shares [shares]", "balance_sheet"),
        ("Operating indicators | Net sales [JPY]", "income_statement"),
        ("Operating indicators | Number of stores with net sales [count]", "operational_kpis"),
        ("Operating indicators | Coal production [tonne]", "operational_kpis"),
        ("Other | Number of employees [ratio]", None),
        ("Income statement | Revenue | Goods", "income_statement"),
        ("Comprehensive income | Total", "income_statement"),
        ("Balance sheet | Total assets", "balance_sheet"),
        ("Cash flow statement | Financing activities | Dividends", "cash_flow"),
        ("Operating indicators | Workforce | Employees", "operational_kpis"),
        ("Guidance | Net sales", "guidance"),
        ("Segments | Geographical | Europe | Revenues", "segments_geography"),
        ("Other | Number of employees [count]", "operational_kpis"),
        ("Other | 店舗数 [count]", "operational_kpis"),
        ("Other | Legal fees", None),
        ("Statement of equity | Dividends", None),
        ("BALANCE SHEET | Total assets", "balance_sheet"),
        ("Balance sheets | Total assets", None),
    ],
)
def test_default_rules(name: str, category: str | None) -> None:
    named, _, unit = name.removesuffix("]").partition(" [")
    made = series({"series_id": "s", "name": named, "unit": unit or "USD"})
    assert assign(made).series["category"][0] == category


def test_every_category_can_be_given() -> None:
    assert [str(category) for category in Category] == [
        "income_statement",
        "balance_sheet",
        "cash_flow",
        "operational_kpis",
        "guidance",
        "segments_geography",
        "per_share_ratios",
    ]


def test_what_matches_nothing_is_in_the_ledger() -> None:
    actual = assign(
        series(
            {"series_id": "b", "name": "Other | Legal fees"},
            {"series_id": "a", "name": "Statement of equity | Dividends"},
            {"series_id": "c", "name": "Balance sheet | Total assets"},
        )
    )
    result = actual.ledger.select("item_id", "unit", "outcome", "reason", "evidence", "n").rows()
    assert result == [
        ("a", "series", "rejected", "category.none", '{"first":"Statement of equity"}', 1),
        ("b", "series", "rejected", "category.none", '{"first":"Other"}', 1),
    ]
    assert actual.series["series_id"].to_list() == ["b", "a", "c"]
    assert actual.tallies[0].counts == {Outcome.KEPT: 1, Outcome.REJECTED: 2, Outcome.ERRORED: 0}


def test_the_first_rule_that_fits_decides() -> None:
    rules = (
        _Rule(None, ("Other",), ("secret",)),
        _Rule(Category.GUIDANCE, ("Other",)),
    )
    result = series(
        {"series_id": "a", "name": "Other | Secret plan"},
        {"series_id": "b", "name": "Other | Plan"},
    )
    assert assign(result, rules).series["category"].to_list() == [None, "guidance"]


def test_a_users_table(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('[[rule]]\ncategory = "guidance"\nfirst = ["Forecast"]\n', encoding="utf-8")
    assert load_rules(path) == (_Rule(Category.GUIDANCE, ("Forecast",)),)


@pytest.mark.parametrize(
    "text",
    [
        "[[rule",
        '[[rule]]\ncategory = "cash"\nfirst = ["A"]\n',
        '[[rule]]\ncategory = "guidance"\n',
        '[[rule]]\ncategory = "guidance"\nfirst = [1]\n',
        '[[rule]]\ncategory = "guidance"\nfirst = ["A"]\nregex = "x"\n',
        'rule = ["x"]\n',
    ],
)
def test_a_broken_table_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"own\.toml"):
        _parse_rules(text, "own.toml")
