"""Which points can be asked about, and which values a filer cannot have meant."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.statements.conventions import PeriodConfig
from construction.statements.database import SEED_DROPPED_SHARE, _filter_points, _implausible
from construction.statements.model import HISTORY, POINTS, ROWS, Statements
from construction.statements.periods import with_periods
from construction.statements.questions.contracts import FilterConfig
from construction.statements.readers.sec.read import read_sec
from data.contracts import Outcome
from data.tables import LEDGER
from tests.construction.statements.frames import companies, points, series
from tests.construction.statements.questions.small import Book

SERIES_OF = (
    {"series_id": "good", "category": "balance_sheet", "statement": "Balance sheet"},
    {
        "series_id": "local",
        "category": "balance_sheet",
        "statement": "Balance sheet",
        "label_method": "untranslated",
    },
    {"series_id": "loose", "statement": "Other"},
    {
        "series_id": "staff",
        "category": "operational_kpis",
        "statement": "Operating indicators",
        "unit": "count",
    },
)


def _point(name: str, **more: Any) -> dict[str, Any]:
    base = {"point_id": name, "series_id": "good", "period_end": date(2010, 12, 31), "months": 0}
    return {**base, **more}


def test_items_of_a_cash_flow_statement_that_the_filing_does_not_have_are_not_asked_about() -> None:
    for label, reason in {"Depreciation": "point.no_statement", "現金の増減額": None}.items():
        whole = _statements(
            _point("p", series_id="flow", document="doc", months=12, period_start=date(2010, 1, 1))
        )
        about = series({"series_id": "flow", "category": "balance_sheet",
                        "statement": "Cash flow statement"})  # fmt: skip
        row = {"document": "doc", "statement": "Cash flow statement", "label": label}
        rows = pl.DataFrame([row], schema_overrides=ROWS.schema)
        rows = pl.concat([pl.DataFrame(schema=ROWS.schema), rows], how="diagonal")
        judged = _filter_points(replace(whole, series=about, rows=rows), FilterConfig())
        assert judged.ledger["reason"].to_list() == ([reason] if reason else [])


@pytest.mark.parametrize(
    ("label", "reason"),
    [("Fixed assets acquired", ["point.wrong_length"]), ("Cash at end of period", [])],
)
def test_a_day_has_balances_of_cash_and_no_flows(label: str, reason: list[str]) -> None:
    about = series({"series_id": "flow", "category": "cash_flow", "label": label,
                    "statement": "Cash flow statement"})  # fmt: skip
    whole = replace(_statements(_point("p", series_id="flow")), series=about)
    assert _filter_points(whole, FilterConfig()).ledger["reason"].to_list() == reason


def _statements(*given: dict[str, Any]) -> Statements:
    firms = companies({"name": "Firm"})
    filled = with_periods(points(*given), firms, PeriodConfig())
    empty = pl.DataFrame(schema=HISTORY.schema), pl.DataFrame(schema=ROWS.schema)
    return Statements(firms, series(*SERIES_OF), filled, *empty)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "computed": ({"computed": True}, "point.computed"),
    "tags only": ({"auto_generated": True}, "point.auto_generated"),
    "both": ({"auto_generated": True, "computed": True, "value": "0"}, "point.computed"),
    "orphan": ({"series_id": "nobody"}, "point.no_series"),
    "untranslated": ({"series_id": "local"}, "label.untranslated"),
    "no category": ({"series_id": "loose"}, "category.none"),
    "null": ({"value": None}, "value.blank"),
    "blank": ({"value": "  "}, "value.blank"),
    "zero": ({"value": "0"}, "value.zero"),
    "long zero": ({"value": "-0.00"}, "value.zero"),
    "transition": ({"months": 5}, "period.odd_length"),
    "inside a quarter": ({"period_end": date(2010, 11, 15)}, "period.off_calendar"),
}


@pytest.mark.parametrize("name", BAD)
def test_rejected(name: str) -> None:
    more, reason = BAD[name]
    actual = _filter_points(_statements(_point(name, **more), _point("fine")), FilterConfig())
    assert actual.points["point_id"].to_list() == ["fine"]
    assert actual.ledger.select("item_id", "reason").rows() == [(name, reason)]


@pytest.mark.parametrize("value", ["0.01", "-5", "1000", "10", "0.0001"])
def test_kept(value: str) -> None:
    actual = _filter_points(_statements(_point("p", value=value)), FilterConfig())
    assert actual.points.height == 1


def test_unfilled_periods_are_told_apart() -> None:
    result = _statements(_point("p"))
    bare = result.points.with_columns(period_type=pl.lit(None, pl.String))
    unfilled = Statements(result.companies, result.series, bare, result.history, result.rows)
    assert _filter_points(unfilled, FilterConfig()).ledger["reason"].to_list() == [
        "period.not_filled"
    ]


def test_the_report_stands_beside_the_seed() -> None:
    listed = [_point(f"p{n}", computed=n == 0, auto_generated=n == 1) for n in range(20)]
    report = _filter_points(_statements(*listed), FilterConfig()).report
    assert (report.n_in, report.n_kept) == (20, 18)
    assert report.rejected == {"point.auto_generated": 1, "point.computed": 1}
    assert (report.dropped_share, report.seed_share) == (0.1, SEED_DROPPED_SHARE)


def test_the_fill_counts_filed_points_by_category_and_region() -> None:
    listed = [_point("a"), _point("b", value="0"), _point("c", value="0"), _point("d", value=" ")]
    fill = _filter_points(_statements(*listed, _point("e", computed=True)), FilterConfig()).report
    assert len(fill.fill) == 14
    filled = [row for row in fill.fill if row["available"]]
    assert [(row["category"], row["available"], row["askable"]) for row in filled] == [
        ("balance_sheet", 4, 1)
    ]
    assert filled[0]["rejected"] == {"value.blank": 1, "value.zero": 2}


def test_companies_without_an_english_name_are_left_out() -> None:
    result = _statements(_point("p"))
    local = result.companies.with_columns(name=pl.lit("株式会社 甲"))
    local_only = Statements(local, result.series, result.points, result.history, result.rows)
    reasons = _filter_points(local_only, FilterConfig()).ledger["reason"].to_list()
    assert reasons == ["company.no_english_name"]


def test_the_evidence_points_to_the_row() -> None:
    result = _statements(_point("p", value="0", report=2, line=7, document='D"1'))
    row = _filter_points(result, FilterConfig()).ledger.row(0, named=True)
    assert row["evidence"] == '{"document":"D\\"1","line":7,"report":2}'
    assert (row["stage"], row["unit"], row["stratum"]) == (
        "filter_points",
        "point",
        "balance_sheet",
    )


@settings(max_examples=20)
@given(st.lists(st.sampled_from([*BAD, "fine"]), max_size=12), st.randoms(use_true_random=False))
def test_the_ledger_closes_in_any_order(names: list[str], shuffler: Any) -> None:
    more = {name: fields for name, (fields, _) in BAD.items()}
    listed = [_point(f"{n} {name}", **more.get(name, {})) for n, name in enumerate(names)]
    actual = _filter_points(_statements(*listed), FilterConfig())
    counts = actual.tallies[0].counts
    assert counts[Outcome.KEPT] == names.count("fine") == actual.points.height
    assert counts[Outcome.REJECTED] == actual.ledger.height == sum(actual.report.rejected.values())
    assert actual.ledger.schema == pl.Schema(dict(LEDGER))
    assert actual.points.schema == pl.Schema(POINTS.schema)
    shuffler.shuffle(listed)
    assert _filter_points(_statements(*listed), FilterConfig()).ledger.equals(actual.ledger)


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


def _filed(*filed: Filed) -> Statements:
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
    return dict(_implausible(_filed(*filed)).iter_rows())


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
    result = _filed(*EARNED, (WEIGHTED, "980", {}))
    result = Statements(
        result.companies,
        result.series.with_columns(category=pl.lit("income_statement")),
        result.points.with_columns(period_type=pl.lit("annual")),
        result.history,
        result.rows,
    )
    kept = _filter_points(result, FilterConfig())
    assert kept.ledger.select("item_id", "reason").rows() == [(f"{WEIGHTED} 2010", SCALE)]
    assert _filter_points(result, FilterConfig(reject_implausible=False)).points.height == 3


def test_amounts_translated_for_convenience_are_not_asked() -> None:
    filed: list[Filed] = [(f"Item{n}", "5000000", {}) for n in range(3)]
    statements = _filed(*filed, ("Assets", "41", {}), ("SharesIssued", "7", {}))
    units = {"Assets": "USD", "SharesIssued": "shares"}
    unit = pl.col("series_id").replace_strict(units, default="KRW")
    translated = replace(
        statements,
        series=statements.series.with_columns(unit=unit, category=pl.lit("balance_sheet")),
    )
    rejected = _filter_points(translated, FilterConfig()).ledger
    reasons: dict[str, str] = dict(rejected.select("item_id", "reason").iter_rows())
    assert reasons["Assets 2010"] == "value.translated"
    assert "value.translated" not in {reasons.get(f"Item{n} 2010") for n in range(3)}
    assert reasons.get("SharesIssued 2010") != "value.translated"


def test_share_counts_of_real_filings(material: Path) -> None:
    read = read_sec([material / "tables/sec/2010q2.zip"])
    wrong = _implausible(read).join(read.points, on="point_id")
    named = read.companies.filter(pl.col("name").str.contains("^(ACE LTD|WALGREEN CO|VISA INC)"))
    counts = wrong.join(named, on="company_id").group_by("name").len().sort("name")
    assert counts.rows() == [("ACE LTD", 6), ("WALGREEN CO", 8)]
    assert wrong.height < 120


@pytest.mark.parametrize(("spans", "kept"), [((3,), 0), ((3, 6), 2)])
def test_a_second_quarter_without_its_half_is_none(spans: tuple[int, ...], kept: int) -> None:
    book = Book()
    line = book.line(book.company("sec:1", "Ardent Mills Inc."), "Income statement | Revenues")
    for months in spans:
        part = {3: "Q2", 6: "H1"}[months]
        book.value(line, "5", date(2010, 3, 31), months=months, fiscal_period=part)
    series = book.close().series.with_columns(category=pl.lit("income_statement"))
    companies = book.close().companies.with_columns(fiscal_year_end=pl.lit("09-30"))
    statements = replace(book.close(), series=series, companies=companies)
    filtered = _filter_points(statements, FilterConfig())
    assert filtered.report.n_kept == kept
    assert filtered.report.rejected == ({} if kept else {"period.part_contradicted": 1})
