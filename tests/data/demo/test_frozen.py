"""The frozen statements and tables of the demo: they are read as their truth says."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import cache
from typing import Any

import polars as pl
import pytest

from anonymization.tables.config import TablesConfig
from anonymization.tables.files import read_table
from anonymization.tables.release_tables import anonymize_tables
from construction.statements.model import Statements
from construction.statements.readers.edinet.read import read_edinet
from construction.statements.readers.edinet.source import EdinetConfig
from construction.statements.readers.sec.contracts import SecConfig
from construction.statements.readers.sec.read import read_sec
from data.contracts import Outcome
from data.demo.generate import FROZEN, STATEMENTS, TABLES

FOLDER = FROZEN / STATEMENTS
_KEY = bytes(range(32))


@pytest.fixture(scope="module")
def truth() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((FOLDER / "truth.json").read_bytes())
    return read


@pytest.fixture(scope="module")
def read() -> Callable[[str], Statements]:
    """The demo files of a source, read once."""

    @cache
    def by_source(source: str) -> Statements:
        if source == "sec":
            return read_sec([FOLDER / "sec/demo.zip"], SecConfig())
        return read_edinet([FOLDER / "edinet"], EdinetConfig())

    return by_source


@pytest.mark.parametrize("source", ["sec", "edinet"])
def test_only_the_planted_lines_are_broken(
    read: Callable[[str], Statements], truth: dict[str, Any], source: str
) -> None:
    made, planted = read(source), truth[source]["broken_lines"]
    errored = [row for row in made.ledger if row.outcome is Outcome.ERRORED]
    tallied = sum(tally.counts.get(Outcome.ERRORED, 0) for tally in made.tallies)
    assert len(errored) == tallied == len(planted)


def _kinds(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(name.split(".")[0], name.split(".")[1]) for name in names]


@pytest.mark.parametrize(
    ("source", "kind"),
    _kinds(
        [
            *("sec.restated", "sec.amended", "sec.year_to_date", "sec.parenthetical"),
            *("sec.negated", "sec.coregistrant", "sec.quotation_mark", "sec.lossy_bytes"),
            *("sec.rounding", "sec.fiscal_year_end", "sec.weeks", "sec.foreign"),
            *("sec.auto_generated", "sec.indicator", "sec.guidance", "sec.segments"),
            *("edinet.quarter_dates", "edinet.half_year_dates", "edinet.parent_only_summary"),
            *("edinet.restated", "edinet.rounding", "edinet.indicator", "edinet.guidance"),
        ]
    ),
)
def test_the_reader_gives_the_right_value_and_period(
    read: Callable[[str], Statements], truth: dict[str, Any], source: str, kind: str
) -> None:
    made = read(source)
    named = made.series.select("series_id", "concept", "unit", "dimensions")
    points = made.points.join(named, on="series_id").with_columns(
        pl.col("period_start", "period_end").cast(pl.String)
    )
    same = ("company_id", "concept", "unit", "dimensions", "period_start", "period_end", "months")
    for plant in truth[source]["plants"][kind]:
        result = points.filter(pl.col(name).eq_missing(pl.lit(plant[name])) for name in same)
        assert result.height == 1, plant
        (point,) = result.to_dicts()
        assert Decimal(point["value"]) == Decimal(plant["value"]), plant
        if "document" in plant:
            assert point["document"] == plant["document"]
        assert point["auto_generated"] == plant.get("auto_generated", False)
        if plant.get("earlier") and kind == "restated":
            history = made.history.filter(pl.col("replaced_by") == point["point_id"])
            before = {(Decimal(p["value"]), p["document"]) for p in history.to_dicts()}
            earlier = {(Decimal(item["value"]), item["document"]) for item in plant["earlier"]}
            assert earlier <= before and point["restatements"] >= 1


def test_what_is_no_value_is_no_point(
    read: Callable[[str], Statements], truth: dict[str, Any]
) -> None:
    made = read("edinet")
    points = made.points.join(made.series.select("series_id", "concept"), on="series_id")
    for kind in ("missing_value", "no_number"):
        for plant in truth["edinet"]["plants"][kind]:
            assert points.filter(
                pl.col("company_id") == plant["company_id"], pl.col("concept") == plant["concept"]
            ).is_empty()


def test_written_tables_are_anonymized_with_all_their_noise() -> None:
    config = TablesConfig.model_validate(
        tomllib.loads((FROZEN / TABLES / "tables.toml").read_text("utf-8"))
    )
    names = ("enterprise", "narrative", "industry_totals")
    tables = {name: read_table(FROZEN / TABLES / f"{name}.csv") for name in names}
    made = anonymize_tables(tables, config, _KEY)
    report = made.report["tables"]["enterprise"]
    assert [
        n for n in report["native_noise"] if not n["same_places"] or n["before"] != n["after"]
    ] == []
    relations = report["perturbation"]["relations"]
    assert all(told["held_before"] == told["hold_after"] for told in relations)
    assert report["undeclared_derived"] == []
    old = set(tables["enterprise"]["name"]) | set(tables["enterprise"]["code"])
    said = "".join(made.frames["narrative"]["text"])
    assert [name for name in old if name in said] == []
    new = set(made.frames["enterprise"]["name_en"])
    assert sum(name in said for name in new) == len(new)
    (aligned,) = made.report["aggregates"]["industry_totals"]
    assert abs(aligned["offset_after"] - aligned["offset_before"]) < 1e-3
