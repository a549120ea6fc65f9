"""Categories of series, by an editable table."""

from __future__ import annotations

from pathlib import Path

import pytest

from construction.statements.categories import (
    Category,
    Rule,
    assign,
    load_rules,
    parse_rules,
)
from data.contracts import Outcome
from data.errors import InputError
from tests.construction.statements.frames import series


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
        Rule(None, ("Other",), ("secret",)),
        Rule(Category.GUIDANCE, ("Other",)),
    )
    result = series(
        {"series_id": "a", "name": "Other | Secret plan"},
        {"series_id": "b", "name": "Other | Plan"},
    )
    assert assign(result, rules).series["category"].to_list() == [None, "guidance"]


def test_a_users_table(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('[[rule]]\ncategory = "guidance"\nfirst = ["Forecast"]\n', encoding="utf-8")
    assert load_rules(path) == (Rule(Category.GUIDANCE, ("Forecast",)),)


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
        parse_rules(text, "own.toml")
