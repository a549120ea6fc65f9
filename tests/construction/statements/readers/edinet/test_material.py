"""The reader and the label table on the real collection: 302 companies, 7,125 filings."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from construction.statements.model import Statements
from construction.statements.readers.edinet.read import read_edinet
from construction.statements.readers.edinet.source import EdinetConfig
from data.contracts import Outcome
from tests.construction.statements.readers.edinet.made import reasons


@pytest.fixture(scope="module")
def real(material: Path) -> Statements:
    return read_edinet([material / "tables" / "edinet"], EdinetConfig())


def _points(real: Statements, company: str, concept: str, statement: str) -> pl.DataFrame:
    series_id = f"edinet:{company}/{concept}/{statement}/JPY"
    return real.points.filter(series_id=series_id).with_columns(
        pl.col("period_start", "period_end").cast(pl.String)
    )


def test_the_books_close_over_all_filings(real: Statements) -> None:
    result = {tally.unit: (tally.n_in, tally.counts[Outcome.KEPT]) for tally in real.tallies}
    assert result == {
        "file": (2, 2),
        "line": (302, 302),
        "filing": (7125, 7095),
        "value": (627_688, 547_918),
        "point": (547_918, 547_918),
    }
    assert (real.points.height, real.companies.height) == (547_918, 302)


def test_a_share_of_the_summaries_is_parent_only(real: Statements) -> None:
    result = reasons(real)
    both = result["value.summary_same"] + result["value.summary_differs"]
    assert result["value.summary_differs"] / both == pytest.approx(0.067, abs=0.002)


@pytest.mark.parametrize(
    ("company", "concept", "document", "expected"),
    [
        ("E00012", "売上高", "S1007V9A", ("226626000000", "2015-04-01", "2016-03-31", 12)),
        ("E00012", "売上高", "S100H86K", ("126884000000", "2019-04-01", "2019-09-30", 6)),
        ("E00012", "売上高", "S100UMRV", ("140565000000", "2024-04-01", "2024-09-30", 6)),
        ("E00590", "売上収益(IFRS)", "S100PMQ9", ("48479000000", "2022-07-01", "2022-09-30", 3)),
        ("E00590", "売上収益(IFRS)", "S100USAX", ("90167000000", "2024-04-01", "2024-09-30", 6)),
        ("E01741", "売上収益(IFRS)", "S100UHX1", ("129164000000", "2024-06-01", "2024-08-31", 3)),
    ],
)
def test_sales(
    real: Statements, company: str, concept: str, document: str, expected: tuple[object, ...]
) -> None:
    result = _points(real, company, concept, "Income statement").filter(document=document)
    assert result.select("value", "period_start", "period_end", "months").rows() == [expected]


def test_a_half_year_balance_sheet_is_dated_at_the_half(real: Statements) -> None:
    result = _points(real, "E00012", "総資産", "Balance sheet").filter(document="S100UMRV")
    assert result.select("value", "period_end").rows() == [("173772000000", "2024-09-30")]


def test_sales_and_costs_grow_over_the_year(real: Statements) -> None:
    """Year to date: what 6 months gave is no less than what 3 gave, and so on.

    A quarter alone taken for the year to date, or the other way round, would show here.
    """
    concepts = ("売上高", "売上収益(IFRS)", "販売費及び一般管理費")
    ids = real.series.filter(pl.col("concept").is_in(concepts))["series_id"]
    known = real.points.filter(pl.col("series_id").is_in(ids.implode()), pl.col("months") > 0)
    wide = known.with_columns(pl.col("value").cast(pl.Float64)).pivot(
        on="months", index=["series_id", "period_start"], values="value"
    )
    compared = 0
    for shorter, longer in (("3", "6"), ("6", "9"), ("9", "12"), ("6", "12")):
        both = wide.drop_nulls([shorter, longer])
        compared += both.height
        assert both.filter(pl.col(shorter) > pl.col(longer)).height == 0
    assert compared > 9_000


def test_both_sides_of_a_balance_sheet_agree(real: Statements) -> None:
    """Assets equal liabilities and net assets, in every filing: values stay with their items."""
    result = real.points.join(real.series.select("series_id", "concept"), on="series_id")
    wide = result.filter(pl.col("concept").is_in(["総資産", "負債及び純資産"])).pivot(
        on="concept", index="document", values="value"
    )
    both = wide.drop_nulls()
    assert both.height > 7_000
    assert both.filter(pl.col("総資産") != pl.col("負債及び純資産")).height == 0


def test_the_label_table_covers_the_points(real: Statements) -> None:
    """At least 97 % of the points, and 92 % of the series with equal weight per company."""
    result = real.series.with_columns(known=pl.col("label_method") == "table")
    points = real.points.join(result.select("series_id", "known"), on="series_id")
    per_company = result.group_by("company_id").agg(pl.col("known").mean())
    assert points["known"].sum() / points.height >= 0.97
    assert per_company["known"].sum() / per_company.height >= 0.92
    assert result.filter("known")["label"].str.contains(r"^[\x20-\x7e]+$").all()


def test_no_two_series_of_a_statement_share_a_name(real: Statements) -> None:
    keys = real.series.select("company_id", "name")
    assert keys.is_unique().all()
