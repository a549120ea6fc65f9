"""Values that a filer cannot have meant."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from construction.statements.config import FilterConfig
from construction.statements.filters import filter_points
from construction.statements.filters_scale import implausible
from construction.statements.model import HISTORY, ROWS, Statements
from construction.statements.readers.sec.read import read_sec
from tests.construction.statements.frames import companies, points, series

WEIGHTED = "WeightedAverageNumberOfSharesOutstandingBasic"
Filed = tuple[str, str, dict[str, Any]]
UNITS = {
    "EarningsPerShareBasic": "USD/share",
    "NetIncomeLoss": "USD",
    WEIGHTED: "shares",
    "CommonStockSharesIssued": "shares",
    "CommonStockSharesAuthorized": "shares",
    "TreasuryStockShares": "shares",
    "Assets": "USD",
    "PaymentsForRepurchaseOfCommonStock": "USD",
}


def _statements(*filed: Filed) -> Statements:
    """Points of one filing by concept and value, all of the year 2010 unless told otherwise."""
    listed = [
        {
            "point_id": f"{concept} {at.get('period_end', date(2010, 12, 31)).year}",
            "series_id": concept,
            "value": value,
            "period_end": date(2010, 12, 31),
            "months": 12,
            "document": "D",
            **at,
        }
        for concept, value, at in filed
    ]
    known = dict.fromkeys(concept for concept, _, _ in filed)
    lines = [
        {"series_id": c, "concept": c, "unit": UNITS.get(c, "USD"), "statement": "Balance sheet"}
        for c in known
    ]
    empty = pl.DataFrame(schema=HISTORY.schema), pl.DataFrame(schema=ROWS.schema)
    return Statements(companies({"name": "Firm"}), series(*lines), points(*listed), *empty)


def doubted(*filed: Filed) -> dict[str, str]:
    return dict(implausible(_statements(*filed)).iter_rows())


SCALE, JUMP = "value.implausible_scale", "value.implausible_jump"
EARNED: tuple[Filed, Filed] = (
    ("EarningsPerShareBasic", "-2.05", {}),
    ("NetIncomeLoss", "-2000000000", {}),
)


@pytest.mark.parametrize(
    ("concept", "value", "reason"),
    [
        (WEIGHTED, "980000000", None),
        (WEIGHTED, "980000", SCALE),
        (WEIGHTED, "980", SCALE),
        (WEIGHTED, "980000000000", SCALE),
        ("CommonStockSharesIssued", "1400000000", None),
        ("CommonStockSharesIssued", "1400000", SCALE),
        ("TreasuryStockShares", "1000", None),
        ("TreasuryStockShares", "990000000000", SCALE),
        ("CommonStockSharesAuthorized", "2001622000000", None),
    ],
)
def test_share_counts_against_income_and_earnings_per_share(
    concept: str, value: str, reason: str | None
) -> None:
    expected = {f"{concept} 2010": reason} if reason else {}
    assert doubted(*EARNED, (concept, value, {})) == expected


def test_earnings_per_share_are_wrong_where_the_shares_agree_with_others() -> None:
    earlier = {"period_end": date(2009, 12, 31)}
    wrong: Filed = ("EarningsPerShareBasic", "2050", {})
    right: tuple[Filed, ...] = (
        ("EarningsPerShareBasic", "2.1", earlier),
        ("NetIncomeLoss", "2050000000", earlier),
        (WEIGHTED, "980000000", {}),
    )
    assert doubted(wrong, EARNED[1], *right) == {"EarningsPerShareBasic 2010": SCALE}


def test_without_earnings_only_a_trillion_shares_are_too_many() -> None:
    assert doubted(("CommonStockSharesIssued", "340158641000000", {})) == {
        "CommonStockSharesIssued 2010": SCALE
    }
    assert doubted(("CommonStockSharesIssued", "60000000000", {})) == {}


def _years(concept: str, *values: str) -> list[Filed]:
    return [
        (concept, value, {"period_end": date(2010 + n, 12, 31), "document": f"D{n}"})
        for n, value in enumerate(values)
    ]


def test_a_total_that_jumps_by_a_thousand_and_back() -> None:
    assert doubted(*_years("Assets", "5000000", "5100000000", "5200000")) == {"Assets 2011": JUMP}
    assert doubted(*_years("Assets", "5000000", "51000000", "5200000")) == {}


def test_a_single_line_may_jump() -> None:
    lone = _years("PaymentsForRepurchaseOfCommonStock", "19000000", "19000000000", "19000000")
    assert doubted(*lone) == {}


def test_a_filing_in_thousands_among_others_in_full() -> None:
    wrong = [f"Line{n}" for n in range(9)]
    filed = [row for line in wrong for row in _years(line, "7000000", "7100", "7300000")]
    assert doubted(*filed) == {f"{line} 2011": JUMP for line in wrong}
    assert doubted(*filed[:15]) == {}  # too few lines to judge a filing by


def test_the_filter_names_the_reason_and_can_be_told_to_keep() -> None:
    result = _statements(*EARNED, (WEIGHTED, "980", {}))
    result = Statements(
        result.companies,
        result.series.with_columns(category=pl.lit("income_statement")),
        result.points.with_columns(period_type=pl.lit("annual")),
        result.history,
        result.rows,
    )
    kept = filter_points(result, FilterConfig())
    assert kept.ledger.select("item_id", "reason").rows() == [(f"{WEIGHTED} 2010", SCALE)]
    assert filter_points(result, FilterConfig(reject_implausible=False)).points.height == 3


def test_share_counts_of_real_filings(material: Path) -> None:
    read = read_sec([material / "tables/sec/2010q2.zip"])
    wrong = implausible(read).join(read.points, on="point_id")
    named = read.companies.filter(pl.col("name").str.contains("^(ACE LTD|WALGREEN CO|VISA INC)"))
    counts = wrong.join(named, on="company_id").group_by("name").len().sort("name")
    assert counts.rows() == [("ACE LTD", 6), ("WALGREEN CO", 8)]
    assert wrong.height < 120
