"""The reader on real data sets: a whole quarter, and one filing of a later year."""

from __future__ import annotations

from collections import Counter
from datetime import date
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from construction.statements.model import TABLES, Statements
from construction.statements.readers.sec.contracts import SecReason
from construction.statements.readers.sec.read import read_sec


@pytest.fixture(scope="module")
def quarter(material: Path) -> Statements:
    folder = material / "tables" / "sec"
    return read_sec([folder / "2010q2.zip"], tickers=folder / "company_tickers.parquet")


def test_every_unit_of_the_quarter_is_in_the_books(quarter: Statements) -> None:
    result = {tally.unit: tally.n_in for tally in quarter.tallies}
    assert result == {"file": 5, "line": 202_639, "filing": 522, "row": 57_596, "fact": 136_044}
    facts: Counter[str | None] = Counter()
    for row in quarter.ledger:
        facts[row.reason] += row.n if row.unit == "fact" else 0
    assert +facts == {
        None: quarter.points.height,
        SecReason.COREG: 5_939,
        SecReason.SUPERSEDED: 3_231,
        SecReason.FILED_AGAIN: 2_200,
        SecReason.NO_VALUE: 590,
        SecReason.RESTATED: quarter.history.height,
        SecReason.UNIT_MISMATCH: 88,
        SecReason.UNIT_UNKNOWN: 10,
    }


def test_the_tables_of_the_quarter_hang_together(quarter: Statements) -> None:
    series, points = quarter.series, quarter.points
    for table in TABLES:
        assert getattr(quarter, table.name).schema == pl.Schema(table.schema)
    assert series["series_id"].is_unique().all()
    assert points["point_id"].is_unique().all()
    assert points["series_id"].is_sorted()
    assert points.join(series, on="series_id", how="anti").is_empty()
    assert series.join(points, on="series_id", how="anti").is_empty()
    assert series.join(quarter.companies, on="company_id", how="anti").is_empty()
    shown = quarter.rows.drop_nulls("series_id")
    assert shown.join(series, on="series_id", how="anti").is_empty()
    stands = quarter.history.join(points, left_on="replaced_by", right_on="point_id", how="anti")
    assert stands.is_empty()
    assert points["restatements"].sum() == quarter.history.height
    assert not points["auto_generated"].any()


def test_known_figures_of_the_quarter(quarter: Statements) -> None:
    """Ford, first quarter of 2010: revenues of 31,566 and net income of 2,085 million dollars."""
    ford = quarter.points.filter(
        pl.col("series_id").is_in(
            [
                "sec:37996/Revenues/Income statement/USD",
                "sec:37996/NetIncomeLoss/Income statement/USD",
            ]
        ),
        pl.col("period_end") == pl.date(2010, 3, 31),
        pl.col("months") == 3,
    )
    assert ford["value"].to_list() == ["2085000000", "31566000000"]
    yen = quarter.series.filter(pl.col("currency") == "JPY")
    assert set(yen["unit"]) == {"JPY", "JPY/share"}
    assert quarter.companies["us"].all()
    assert quarter.companies.filter(pl.col("company_id") == "sec:37996")["ticker"].to_list() == [
        "F"
    ]


def test_a_filing_of_2024_with_segments_and_without_tags(material: Path) -> None:
    result = read_sec([material / "tables" / "sec" / "apple_10k_2024"])
    points = result.points.join(result.series, on="series_id")
    sales = points.filter(
        pl.col("concept") == "RevenueFromContractWithCustomerExcludingAssessedTax",
        pl.col("period_end") == pl.date(2024, 9, 30),
        pl.col("months") == 12,
    )
    whole = sales.filter(pl.col("dimensions").is_null())
    assert whole.select("value", "statement", "label").rows() == [
        ("391035000000", "Income statement", "Net sales")
    ]
    regions = sales.filter(pl.col("dimensions").str.contains(r"^BusinessSegments=[^;]*Segment$"))
    assert set(regions["statement"]) == {"Segments"}
    assert sum(map(Decimal, regions["value"])) == Decimal("391035000000")
    per_share = result.series.filter(pl.col("concept") == "EarningsPerShareBasic")
    assert per_share["unit"].to_list() == ["USD/share"]


def test_conventions_of_the_quarter_are_the_filers_own_words(quarter: Statements) -> None:
    """Its `fy` follows one rule for all filers, against what four of them write."""
    known = quarter.conventions.drop_nulls("named_by")
    assert set(known["evidence"]) == {"words"}
    assert known.height == 4
    assert set(known["named_by"]) == {"end"}
    (walmart,) = known.filter(company_id="sec:104169")["example"]
    assert walmart.endswith("fiscal 2011, of the year that ends in 2011-01")
    assert (quarter.conventions["evidence"] == "calendar").sum() > 350


def test_true_closing_days_of_the_quarter(quarter: Statements) -> None:
    """Target's quarter is in the name of its report, the year before in the words of a label."""
    closed = quarter.closings.filter(company_id="sec:27419").select("closed", "evidence")
    assert closed.rows() == [
        (date(2009, 5, 2), "words"),
        (date(2010, 1, 30), "words"),
        (date(2010, 5, 1), "document_name"),
    ]
    days: dict[str, str | None] = dict(quarter.conventions.select("company_id", "days").iter_rows())
    assert (days["sec:27419"], days["sec:1288776"], days["sec:104169"]) == (
        "rounded",
        "stated",
        None,
    )
