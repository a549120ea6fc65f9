"""Sections of statements and their words: row order, totals, sums and the standard trees."""

from __future__ import annotations

import polars as pl
import pytest

from construction.statements.hierarchy_rebuilt import rebuild
from construction.statements.sections import (
    Role,
    _parse_trees,
    _section_title,
    default_trees,
    spaced,
)
from data.errors import InputError
from tests.construction.statements.sheets import (
    SHEET,
    Line,
    as_filed,
    methods,
    names,
)

PLANT = ("Assets", "Non-current assets", "Property, plant and equipment")


@pytest.mark.parametrize(
    ("label", "title"),
    [
        ("Total current assets", "Current assets"),
        ("TOTAL OTHER ASSETS", "Other assets"),
        ("Total Investments And Advances", "Investments and advances"),
        ("Total cash and marketable securities (Note 3)", "Cash and marketable securities"),
        ("Plant (less accumulated depreciation of $9,570)", "Plant"),
        ("Real estate, net", "Real estate"),
        ("Receivables, less allowance of $12", "Receivables"),
        ("Inventories, total", "Inventories"),
        ("Subtotal", ""),
        ("Total", ""),
        ("合計", ""),
        ("Total IBM and LIFO layers", "IBM and LIFO layers"),
        ("Total " + "very " * 30 + "long", ""),
    ],
)  # fmt: skip
def test_section_title(label: str, title: str) -> None:
    assert _section_title(label) == title


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("RestOfAsiaPacificSegment", "Rest of Asia Pacific Segment"),
        ("IPhone", "IPhone"),
        ("USGovernment", "US Government"),
        ("FairValueInputsLevel2", "Fair Value Inputs Level 2"),
        ("Mac", "Mac"),
        ("北米", "北米"),
        ("", ""),
    ],
)
def test_spaced(name: str, words: str) -> None:
    assert spaced(name) == words


@pytest.mark.parametrize(
    ("statement", "concept", "label", "role", "path"),
    [
        ("Balance sheet", "AssetsCurrent", "", Role.CLOSER, ("Assets", "Current assets")),
        ("Balance sheet", "X", "TOTAL CURRENT ASSETS", Role.CLOSER, ("Assets", "Current assets")),
        ("Balance sheet", "その他、流動資産", "", Role.LEAF, ("Assets", "Current assets")),
        ("Balance sheet", "TaxesCurrent", "", Role.LEAF, ("Assets", "Current assets")),
        ("Balance sheet", "Land", "", Role.LEAF, PLANT),
        ("Income statement", "GrossProfit", "", Role.RESULT, None),
        ("Income statement", "X", "Book value per share", Role.LEAF, ("Per share",)),
        ("Income statement", "AssetsCurrent", "Assets", Role.UNKNOWN, None),
        ("Guidance", "AssetsCurrent", "Total assets", Role.UNKNOWN, None),
    ],
)  # fmt: skip
def test_place(
    statement: str, concept: str, label: str, role: Role, path: tuple[str, ...] | None
) -> None:
    position = default_trees().placement(statement, concept, label)
    assert (position.role, position.node and position.node.path) == (role, path)


@pytest.mark.parametrize(
    "text",
    [
        "not toml",
        '[["Balance sheet"]]\nsection = "A"\nparent = "missing"\n',
        '[["Balance sheet"]]\nclosers = []\n',
        '[["Balance sheet"]]\nsection = "A"\ncolour = "red"\n',
    ],
)
def test_a_broken_table_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"own\.toml"):
        _parse_trees(text, "own.toml")


def test_a_balance_sheet() -> None:
    assert names(SHEET) == [
        "Assets | Current assets | Cash",
        "Assets | Current assets | Spare parts",
        "Assets | Total current assets",
        "Assets | Non-current assets | Goodwill",
        "Assets | Non-current assets | Timber rights",
        "Total assets",
        "Liabilities | Current liabilities | Accounts payable",
        "Liabilities | Total current liabilities",
        "Liabilities | Non-current liabilities | Long-term debt",
        "Equity | Common stock",
        "Equity | Reserve for a rainy day",
        "Total stockholders' equity",
        "Total liabilities and equity",
    ]
    # No total closes long-term debt: its place comes from the tree.
    assert methods(SHEET) == ["totals"] * 7 + ["totals", "tree"] + ["totals"] * 4


def test_values_are_not_needed() -> None:
    bare = [(concept, label, None) for concept, label, _ in SHEET]
    assert names(bare) == names(SHEET)


def test_arithmetic_decides_where_a_section_starts() -> None:
    """An item of the company's own, before equity: only the sum tells that it is no equity."""
    lines = [
        ("LiabilitiesCurrent", "Total current liabilities", "40000"),
        ("X1", "Deposits from members", "60000"),
        ("CommonStockValue", "Common stock", "10000"),
        ("RetainedEarningsAccumulatedDeficit", "Retained earnings", "90000"),
        ("StockholdersEquity", "Total equity", "100000"),
    ]
    assert names(lines)[1] == "Deposits from members"
    bare = [(concept, label, None) for concept, label, _ in lines]
    assert names(bare)[1] == "Equity | Deposits from members"


def test_rounded_sums_still_count() -> None:
    lines = [
        ("X0", "Elsewhere", "777000"),
        ("X1", "Ships", "100000"),
        ("X2", "Planes", "200000"),
        ("X3", "Trains", "255000"),
        ("X4", "Total vehicles", "556000"),
        ("Assets", "Total assets", "1333000"),
    ]
    assert names(lines) == [
        "Assets | Elsewhere",
        "Assets | Vehicles | Ships",
        "Assets | Vehicles | Planes",
        "Assets | Vehicles | Trains",
        "Assets | Total vehicles",
        "Total assets",
    ]


def test_a_sum_without_the_word_total_heads_a_section() -> None:
    lines = [
        ("X1", "Finished goods", "123400"),
        ("X2", "Raw materials", "200100"),
        ("InventoryNet", "Inventories", "323500"),
        ("AssetsCurrent", "Total current assets", "323500"),
    ]
    assert names(lines)[:3] == [
        "Assets | Current assets | Inventories | Finished goods",
        "Assets | Current assets | Inventories | Raw materials",
        "Assets | Current assets | Inventories",
    ]


def test_small_numbers_that_happen_to_add_up_do_not() -> None:
    lines = [("X1", "Left", "1"), ("X2", "Right", "2"), ("X3", "Both", "3")]
    assert names(lines) == ["Left", "Right", "Both"]


def test_the_sign_shown_is_the_sign_added() -> None:
    sheet = as_filed(
        [
            ("X0", "Elsewhere", "500000"),
            ("PropertyPlantAndEquipmentGross", "At cost", "900000"),
            ("X1", "Wear", "200000"),
            ("PropertyPlantAndEquipmentNet", "Property, net", "700000"),
        ]
    )
    shown = sheet[1].with_columns(negated=pl.col("label") == "Wear")
    actual = rebuild(sheet[0], shown, sheet[2])["name"].to_list()
    section = "Balance sheet | Assets | Non-current assets | Property, plant and equipment"
    assert actual[1:3] == [f"{section} | At cost", f"{section} | Wear"]


def test_a_bank_has_no_current_and_non_current_assets() -> None:
    lines: list[Line] = [
        ("CashAndDueFromBanks", "Cash and due from banks", None),
        ("Goodwill", "Goodwill", None),
        ("PropertyPlantAndEquipmentNet", "Premises and equipment", None),
        ("Assets", "Total assets", None),
    ]
    assert names(lines) == [
        "Assets | Cash and due from banks",
        "Assets | Goodwill",
        "Assets | Premises and equipment",
        "Total assets",
    ]


def test_two_totals_of_equity_make_one_section() -> None:
    lines: list[Line] = [
        ("CommonStockValue", "Common stock", None),
        ("StockholdersEquity", "Total shareholders' equity", None),
        ("MinorityInterest", "Minorities", None),
        (
            "StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest",
            "Total equity",
            None,
        ),
    ]
    assert names(lines)[0] == "Equity | Common stock"
    assert names(lines)[2:] == ["Equity | Minorities", "Total equity"]


def test_a_cash_flow_statement() -> None:
    lines: list[Line] = [
        ("NetIncomeLoss", "Net income", None),
        ("DepreciationAndAmortization", "Depreciation", None),
        ("IncreaseDecreaseInInventories", "Inventories", None),
        ("X1", "Pension contributions", None),
        ("NetCashProvidedByUsedInOperatingActivities", "Net cash from operations", None),
        ("PaymentsToAcquirePropertyPlantAndEquipment", "Capital expenditure", None),
        ("NetCashProvidedByUsedInInvestingActivities", "Net cash for investing", None),
        ("PaymentsOfDividends", "Dividends", None),
        ("NetCashProvidedByUsedInFinancingActivities", "Net cash for financing", None),
        ("EffectOfExchangeRateOnCashAndCashEquivalents", "Exchange rates", None),
        ("InterestPaid", "Interest paid", None),
    ]
    assert names(lines, "Cash flow statement") == [
        "Operating activities | Net income",
        "Operating activities | Adjustments | Depreciation",
        "Operating activities | Changes in operating assets and liabilities | Inventories",
        "Operating activities | Pension contributions",
        "Net cash from operations",
        "Investing activities | Capital expenditure",
        "Net cash for investing",
        "Financing activities | Dividends",
        "Net cash for financing",
        "Change in cash | Exchange rates",
        "Supplemental information | Interest paid",
    ]


def test_results_end_a_section_and_head_none() -> None:
    lines: list[Line] = [
        ("SalesRevenueGoodsNet", "Goods", "600000"),
        ("SalesRevenueServicesNet", "Services", "400000"),
        ("Revenues", "Total revenues", "1000000"),
        ("CostOfRevenue", "Cost of revenue", "-300000"),
        ("GrossProfit", "Gross profit", "700000"),
        ("SellingGeneralAndAdministrativeExpense", "SG&A", "200000"),
        ("ResearchAndDevelopmentExpense", "R&D", "100000"),
        ("OperatingExpenses", "Total operating expenses", "300000"),
        ("OperatingIncomeLoss", "Operating income", "400000"),
        ("EarningsPerShareBasic", "Basic", "1.50"),
    ]
    assert names(lines, "Income statement") == [
        "Revenue | Goods",
        "Revenue | Services",
        "Total revenues",
        "Costs and expenses | Cost of revenue",
        "Gross profit",
        "Costs and expenses | Operating expenses | SG&A",
        "Costs and expenses | Operating expenses | R&D",
        "Costs and expenses | Total operating expenses",
        "Operating income",
        "Per share | Basic",
    ]


def test_a_japanese_balance_sheet_keeps_both_names() -> None:
    result = [
        ("現金及び預金", "Cash and deposits"),
        ("流動資産", "Total current assets"),
        ("土地", "Land"),
        ("有形固定資産", "Property, plant and equipment"),
        ("その他、投資その他の資産", "Other"),
        ("投資その他の資産", "Investments and other assets"),
        ("固定資産", "Total non-current assets"),
        ("総資産", "Total assets"),
        ("資本金", "Share capital"),
        ("株主資本", "Total shareholders' equity"),
        ("純資産", "Total net assets"),
    ]
    sheet = as_filed([(japanese, english, None) for japanese, english in result])
    local = [f"貸借対照表 | {japanese}" for japanese, _ in result]
    filed = sheet[0].with_columns(pl.Series("name_local", local))
    shown = sheet[1].with_columns(pl.Series("label", [japanese for japanese, _ in result]))
    actual = rebuild(filed, shown, sheet[2])
    plant = "Balance sheet | Assets | Non-current assets | Property, plant and equipment"
    other = "Balance sheet | Assets | Non-current assets | Investments and other assets"
    assert actual["name"].to_list() == [
        "Balance sheet | Assets | Current assets | Cash and deposits",
        "Balance sheet | Assets | Total current assets",
        f"{plant} | Land",
        plant,
        f"{other} | Other",
        other,
        "Balance sheet | Assets | Total non-current assets",
        "Balance sheet | Total assets",
        "Balance sheet | Net assets | Shareholders' equity | Share capital",
        "Balance sheet | Net assets | Total shareholders' equity",
        "Balance sheet | Total net assets",
    ]
    assert actual["name_local"][2] == "貸借対照表 | 資産 | 固定資産 | 有形固定資産 | 土地"
