"""What is not reported counts by its size, by its number, and by what it would change."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from construction.analytics.execute_polars import run
from construction.analytics.steps import program_of
from construction.analytics.unreported import Run, _sizes_of, estimated_tables, gaps
from tests.construction.analytics.world import bench, declaration

AMOUNTS = ("operating_income", "net_income", "total_assets", "net_assets", "cash", "employees")
SIZES = {"A": 400.0, "B": 240.0, "C": 160.0, "D": 100.0, "E": 60.0, "F": 40.0}
YEAR = {"column": "fiscal_year", "value": 2022}
EARLIER = {"column": "fiscal_year", "value": 2021}


def accounts(**changes: float | str | None) -> pl.DataFrame:
    """Six companies in two years, three in each of two regions; every figure is a tenth of revenue.

    `changes`: other cells, by company, year and column, such as `A_2022_cash`.
    """
    rows = []
    for at, (company, size) in enumerate(SIZES.items()):
        for year in (2021, 2022):
            revenue = size if year == 2022 else size * 0.8
            row: dict[str, Any] = {"company_id": company, "company": company, "fiscal_year": year}
            row |= {"industry": "trade", "sector": "trade", "region": "RS"[at % 2]}
            row |= {"revenue": revenue} | dict.fromkeys(AMOUNTS, revenue / 10)
            own = f"{company}_{year}_"
            row |= {k.removeprefix(own): v for k, v in changes.items() if k.startswith(own)}
            rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def faults_of(*steps: dict[str, Any], **changes: float | str | None) -> list[str]:
    """What the gate says of a programme on such accounts."""
    tables = {**bench().tables, "accounts": accounts(**changes)}
    program = program_of(list(steps))
    estimated = estimated_tables(declaration(), tables)
    return list(gaps(Run(program, run(program, tables), tables, estimated, declaration())))


def statistic(column: str, *where: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "op": "statistic",
        "source": "accounts",
        "function": "sum",
        "column": column,
        "where": [YEAR, *where],
        **changes,
    }


def test_estimates_follow_the_size_and_leave_what_is_reported() -> None:
    assert _sizes_of(declaration(), "accounts") == ["revenue", "total_assets", "employees"]
    tables = {**bench().tables, "accounts": accounts(A_2022_cash=None, B_2022_revenue=None)}
    made = estimated_tables(declaration(), tables)["accounts"]
    cells = {(r["company_id"], r["fiscal_year"]): r for r in made.iter_rows(named=True)}
    assert cells["A", 2022]["cash"] == pytest.approx(40)
    assert cells["B", 2022]["revenue"] == pytest.approx(240)
    kept = made.filter(~pl.col("company_id").is_in(["A", "B"]))
    assert kept.equals(accounts().filter(~pl.col("company_id").is_in(["A", "B"])))


def test_a_row_without_any_size_has_that_of_its_other_years() -> None:
    nothing = {f"A_2022_{name}": None for name in ("revenue", *AMOUNTS)}
    tables = {**bench().tables, "accounts": accounts(**nothing)}
    made = estimated_tables(declaration(), tables)["accounts"]
    assert made.filter(company_id="A", fiscal_year=2022)["revenue"].item() == pytest.approx(320)


def test_a_sum_may_lack_little_of_its_size_whatever_the_number() -> None:
    assert faults_of(statistic("cash")) == []
    # A tenth of the size, a sixth of the number; then 40 % of the size, the same number.
    assert faults_of(statistic("cash"), D_2022_cash=None) == []
    assert "40 % of the size" in faults_of(statistic("cash"), A_2022_cash=None)[0]
    # Of a median each decides as much as the others.
    assert faults_of(statistic("cash", function="median"), A_2022_cash=None) == []
    three = {f"{company}_2022_cash": None for company in "DEF"}
    assert "50 % of what is measured" in faults_of(statistic("cash", function="median"), **three)[0]


def test_a_condition_does_not_hide_what_it_drops() -> None:
    known = {"column": "cash", "test": "known"}
    assert "40 % of the size" in faults_of(statistic("cash", known), A_2022_cash=None)[0]
    above = {"column": "cash", "test": ">", "value": 5}
    assert "40 % of the size" in faults_of(statistic("revenue", above), A_2022_cash=None)[0]
    margin = {"op": "convert", "source": "accounts", "column": "margin", "where": [YEAR]}
    margin |= {"of": "operating_income", "how": "percent_of", "by": "revenue"}
    limit = {"column": "margin", "test": ">", "value": 5}
    counted = statistic("margin", limit, function="count", source="$1")
    lost = {f"{company}_2022_operating_income": None for company in "DEF"}
    assert faults_of(margin, counted) == []
    assert "50 % of what is measured" in faults_of(margin, counted, **lost)[-1]


def test_a_growth_must_not_come_of_who_reports() -> None:
    steps = (
        statistic("revenue"),
        statistic("revenue", where=[EARLIER]),
        {"op": "compare", "first": "$1", "second": "$2", "result": "growth"},
    )
    assert faults_of(*steps) == []
    # 16 % of the size of one year, within the limit of a sum, is most of a growth of a quarter.
    (fault,) = faults_of(*steps, C_2021_revenue=None)
    assert fault.startswith("step 3: 48.8, or about 25")


def test_a_comparison_must_not_turn_around() -> None:
    steps = (
        statistic("cash", {"column": "region", "value": "R"}, function="max"),
        statistic("cash", {"column": "region", "value": "S"}, function="max"),
        {"op": "compare", "first": "$1", "second": "$2", "result": "greater"},
    )
    assert faults_of(*steps) == []
    assert faults_of(*steps, A_2022_cash=None) == [
        "step 3: what is not reported may turn the comparison around"
    ]


def test_ranked_groups_report_most_of_their_size_and_have_three_values() -> None:
    total: dict[str, Any] = {
        "op": "aggregate",
        "source": "accounts",
        "by": ["region"],
        "where": [YEAR],
    }
    total |= {"measures": {"total": ["sum", "cash"]}}
    first = {"op": "rank", "source": "$1", "column": "total", "label": "region", "take": 1}
    assert faults_of(total, first) == []
    faults = faults_of(total, first, C_2022_cash=None)
    assert faults == [
        "step 1: 26 % of R is not reported",
        "step 1: R is made of 2 values",
    ]


def test_what_reports_nothing_must_not_belong_among_the_first() -> None:
    first = {"op": "rank", "source": "accounts", "column": "cash", "label": "company", "take": 2}
    assert faults_of({**first, "where": [YEAR]}, F_2022_cash=None) == []
    (fault,) = faults_of({**first, "where": [YEAR]}, B_2022_cash=None)
    assert "B might be among the first" in fault
    # The question is then about those that report.
    known = {"column": "cash", "test": "known"}
    assert faults_of({**first, "where": [YEAR, known]}, B_2022_cash=None) == []


def test_shares_and_coefficients_are_not_made_of_a_few() -> None:
    few = {"column": "company", "test": "in", "value": ["A", "B", "C"]}
    steps = (
        statistic("cash", few, {"column": "cash", "test": ">", "value": 20}, function="count"),
        statistic("cash", few, function="count"),
        {"op": "compare", "first": "$1", "second": "$2", "result": "percent"},
    )
    assert faults_of(*steps) == ["step 3: a share of 3"]
    correlated = {"op": "correlate", "source": "accounts", "x": "cash", "y": "revenue"}
    assert faults_of({**correlated, "where": [YEAR]}) == []
    # Five figures on each side, but four companies that report both.
    lost: dict[str, float | None] = {"A_2022_cash": None, "B_2022_revenue": None}
    assert "step 1: 4 pairs" in faults_of({**correlated, "where": [YEAR]}, **lost)
    same = {f"{company}_2022_cash": 1.0 for company in SIZES}
    same["F_2022_cash"] = 2.0
    assert faults_of({**correlated, "where": [YEAR]}, **same) == [
        "step 1: 2 different values of cash"
    ]


def test_a_join_must_find_most_rows_in_a_whole_table() -> None:
    joined: dict[str, Any] = {
        "op": "join",
        "source": "accounts",
        "other": "companies",
        "where": [YEAR],
    }
    joined |= {"on": {"company_id": "company_id"}, "take": ["capital"]}
    assert faults_of(joined) == ["step 1: 6 of 6 rows are not in companies"]


def test_a_figure_of_several_places_is_not_that_of_one() -> None:
    places: dict[str, Any] = {
        "op": "join",
        "source": "accounts",
        "other": "regions",
        "where": [YEAR],
    }
    places |= {"on": {"region": "region"}, "take": ["population"]}
    large = {"column": "population", "test": ">", "value": 1}
    summed = statistic("cash", large, source="$1")
    regions = bench().tables["regions"]["region"].to_list()
    both = {f"{company}_2022_region": regions[at % 2] for at, company in enumerate(SIZES)}
    alone = {f"{company}_2022_region": regions[0] for company in SIZES}
    assert faults_of(places, summed, **both) == []
    assert faults_of(places, summed, **alone) == [
        "step 2: of a group of region only one has anything to count"
    ]
    # Without a limit that makes a group, the figure is of whatever is there.
    assert faults_of(places, statistic("cash", source="$1"), **alone) == []
