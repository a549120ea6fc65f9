"""The whole attack report: complete, the same for any order of rows, and within bounds."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from anonymization.tables.attacks.linked import Knowledge, Risk
from anonymization.tables.attacks.report import _k_maps, _known_columns, attack
from anonymization.tables.config import (
    AttackConfig,
    ColumnConfig,
    ColumnRole,
    PerturbMethod,
    TableConfig,
)
from anonymization.tables.files import read_table
from anonymization.tables.perturb_table import perturb_table
from tests.anonymization.tables.attacks.world import COMPANIES, NOISE, YEARS, linked_world, world
from tests.anonymization.tables.build import KEY, company_config, step

SETTINGS = AttackConfig(known=("people", "assets", "cash"))


def test_every_attack_at_every_level_of_knowledge() -> None:
    report = attack(*world(NOISE), SETTINGS)
    assert (report.rows, report.companies) == (COMPANIES * YEARS, COMPANIES)
    assert report.assigned_year == "2024"
    output = {(r.name, len(r.columns)) for r in report.results}
    for columns in (1, 2, 3, 5):
        for name in (
            "prefix join, 2 digits",
            "nearest neighbour by log",
            "nearest neighbour by rank",
            "rerun and match",
            "assignment",
            "assignment, method-aware",
            "rank window",
            "history, rises and falls only",
            "history, levels and growth",
        ):
            assert (name, columns) in output
    assert {("2 ratios", 3), ("3 ratios", 4), ("largest company", 1)} <= output
    for r in report.results:
        assert 0 <= r.ci_low <= r.rate <= r.ci_high <= 1
        assert 0 < r.chance < 1


def test_order_of_rows_changes_nothing() -> None:
    frame, released, config = world(NOISE)
    turned = attack(frame.reverse(), released.reverse(), config, SETTINGS)
    assert turned == attack(frame, released, config, SETTINGS)


def test_without_assignment_nothing_slow_runs() -> None:
    report = attack(*world(NOISE), SETTINGS.model_copy(update={"assignment": False}))
    assert report.worst(Risk.WHOLE_INDUSTRY, 9) is None
    assert report.assigned_year is None
    assert {r.knows for r in report.results} >= {Knowledge.PUBLISHED, Knowledge.ONE_TARGET}


def test_one_year_has_no_history() -> None:
    frame, released, config = world(NOISE)
    at = pl.col("year") == "2022"
    report = attack(frame.filter(at), released.filter(at), config, SETTINGS)
    assert report.worst(Risk.HISTORY, 9) is None


def test_a_table_of_one_measure_without_groups() -> None:
    frame = pl.DataFrame({"id": ["a", "b", "c"], "x": [1, 20, 300]})
    config = TableConfig(
        columns={
            "id": ColumnConfig(role=ColumnRole.IDENTIFIER),
            "x": ColumnConfig(role=ColumnRole.MEASURE),
        },
        entity="id",
        steps=(NOISE,),
    )
    report = attack(frame, frame, config, AttackConfig())
    best = report.worst(Risk.ONE_COMPANY, 1)
    assert best is not None
    assert (best.rate, best.chance) == (1.0, 0.333333333)


def test_columns_named_first_are_known_first() -> None:
    linked = linked_world(NOISE)
    assert _known_columns(linked, SETTINGS)[:3] == SETTINGS.known
    assert sorted(_known_columns(linked, AttackConfig())) == sorted(linked.columns)


def test_k_map_counts_originals() -> None:
    frame = pl.DataFrame(
        {"id": list("abcd"), "industry": ["x", "x", "x", "y"], "year": ["1"] * 4}
        | {name: [1, 2, 9, 9] for name in ("assets", "liabilities", "equity", "cash", "people")}
    )
    released = frame.with_columns(people=pl.Series([1, 9, 9, 1]))
    kept, binned = _k_maps(frame, released, company_config(NOISE), ["people"], bins=2)
    assert (kept.columns, kept.k_min, kept.at_most[1], kept.unmatched) == (
        ("industry", "year"),
        1,
        0.25,
        0.0,
    )
    # classes at the median 5.5: released (x low), (x high), (x high), (y low: no such original)
    assert (binned.k_min, binned.at_most[1], binned.at_most[2], binned.unmatched) == (
        0,
        0.5,
        0.75,
        0.25,
    )


@pytest.mark.slow
def test_rank_swap_on_edinet_is_as_risky_as_measured(material: Path) -> None:
    """The reference: 10 % rank swap, three columns: .13 nearest, .23 assigned, .41 knowing it."""
    frame = read_table(material / "tables" / "edinet" / "edinet_enterprise_annual.csv.gz")
    names = ("revenue", "total_assets", "net_income")
    measure = ColumnConfig(role=ColumnRole.MEASURE)
    quasi = ColumnConfig(role=ColumnRole.QUASI_IDENTIFIER)
    kept = frame.select("edinet_code", "industry", "period_end", *names)
    config = TableConfig(
        columns=dict.fromkeys(names, measure)
        | dict.fromkeys(("industry", "period_end"), quasi)
        | {"edinet_code": ColumnConfig(role=ColumnRole.IDENTIFIER, prefix="E")},
        entity="edinet_code",
        group="industry",
        period="period_end",
        steps=(step(PerturbMethod.RANK_SWAP, 0.1),),
    )
    released = perturb_table(kept, config, KEY).frame
    report = attack(kept, released, config, AttackConfig(known=names))
    rates = {r.name: r.rate for r in report.results if len(r.columns) == 3}
    assert 0.10 < rates["nearest neighbour by rank"] < 0.30
    assert 0.20 < rates["assignment"] < 0.40
    assert 0.30 < rates["assignment, method-aware"] < 0.50
