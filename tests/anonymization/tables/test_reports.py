"""Fidelity, aggregates, native noise, the profile and sealing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import ks_2samp, wasserstein_distance

from anonymization.tables.cells import Floats
from anonymization.tables.config import (
    AggregateConfig,
    ColumnConfig,
    ColumnRole,
    DerivedKind,
    FidelityConfig,
    IdentifierKind,
    PerturbMethod,
    TableConfig,
)
from anonymization.tables.fidelity import (
    ALL,
    QUANTILES,
    _measured,
    assess,
    publishable,
)
from anonymization.tables.gates import FidelityReason
from anonymization.tables.perturb_table import perturb_table
from anonymization.tables.profile import propose_roles
from anonymization.tables.relations import _totals, align, native_noise
from anonymization.tables.seal import _destroy, seal
from data.contracts import Status
from data.errors import InputError
from tests.anonymization.tables.build import KEY, company_config, company_table, one_column, step

M = PerturbMethod


def test_figures_agree_with_scipy() -> None:
    draw = np.random.default_rng(1)
    old = np.exp(draw.normal(0, 1, 300))
    new = old * np.exp(draw.normal(0.1, 0.3, 300))
    got = _measured(old, new)
    assert got["d"] == pytest.approx(ks_2samp(old, new).statistic)
    assert got["p"] == pytest.approx(ks_2samp(old, new, method="asymp").pvalue, abs=0.03)
    iqr = np.subtract(*np.quantile(old, (0.75, 0.25)))
    assert got["wasserstein"] == pytest.approx(wasserstein_distance(old, new) / iqr)
    assert got["drift_mean"] == pytest.approx(new.mean() / old.mean() - 1)


def test_missing_numbers_are_left_out_and_constants_have_no_correlation() -> None:
    got = _measured(np.array([1.0, 1, np.nan]), np.array([1.0, 1, 5]))
    assert (got["n"], got["d"], got["spearman"], got["wasserstein"]) == (2, 0.0, None, None)


def test_gate_passes_small_noise_fails_large_and_says_what_is_too_small() -> None:
    frame, limits = company_table(), FidelityConfig()
    verdicts = {}
    for digits in (3, 1):
        config = company_config(step(M.LSD, digits))
        made = perturb_table(frame, config, KEY).frame
        verdicts[digits] = assess(frame, made, config, limits).verdict
    assert verdicts[3].status is Status.PASSED
    assert verdicts[1].reason == FidelityReason.DRIFTED
    config = company_config(step(M.LSD, 3))
    few = assess(frame.head(8), frame.head(8), config, limits)
    assert few.verdict.reason == FidelityReason.NOTHING_ASSESSABLE
    assert set(few.cells["group"]) == {ALL, "food", "steel"}


def test_aggregates_move_with_the_rows_and_keep_their_coverage() -> None:
    frame, config = company_table(), company_config(step(M.LOG_NOISE, 0.4))
    made = perturb_table(frame, config, KEY).frame
    sums = _totals(frame, config, ("industry", "year"))
    given = sums.select("industry", "year", people=(pl.col("people") * 1.3).round().cast(pl.Int64))
    given = pl.concat([given, _cell("none", "2020", 0), _cell("none", "2021", None)])
    aligned, (result,) = align(given, frame, made, config, PEOPLE)
    new = _totals(made, config, ("industry", "year"))
    ratio = aligned["people"][:-2] / new["people"]
    assert ratio.to_list() == pytest.approx([1.3] * len(ratio), rel=1e-3)
    assert aligned["people"][-2:].to_list() == [0, None]
    assert (result.cells, result.matched, result.moved) == (10, 8, 8)
    assert result.offset_after == pytest.approx(result.offset_before, abs=1e-3)


PEOPLE = AggregateConfig(by={"industry": "industry", "year": "year"}, values={"people": "people"})


def _cell(industry: str, year: str, people: int | None) -> pl.DataFrame:
    schema = {"industry": pl.String, "year": pl.String, "people": pl.Int64}
    return pl.DataFrame([(industry, year, people)], schema, orient="row")


@pytest.mark.parametrize("given_ends", [True, False])
@pytest.mark.parametrize("row_ends", [True, False])
def test_periods_of_aggregates_are_cut_as_those_of_rows(given_ends: bool, row_ends: bool) -> None:
    frame, config = company_table(), company_config(step(M.LOG_NOISE, 0.4))
    end = pl.col("year") + "-12-31"
    frame = frame.with_columns(end.alias("year") if row_ends else "year")
    made = perturb_table(frame, config, KEY).frame
    given = _totals(frame, config, ("industry", "year")).select("industry", "year", "people")
    given = given.with_columns(
        pl.col("people").cast(pl.Int64), end.alias("year") if given_ends else "year"
    )
    aligned, (result,) = align(given, frame, made, config, PEOPLE)
    assert (result.matched, result.moved) == (8, 8)
    new = _totals(made, config, ("industry", "year"))["people"]
    assert aligned["people"].to_list() == pytest.approx(new.to_list(), rel=1e-3)
    assert aligned["year"].to_list() == given["year"].to_list()


def test_a_given_sum_that_no_rows_move_is_refused() -> None:
    frame, config = company_table(), company_config(step(M.LOG_NOISE, 0.4))
    made = perturb_table(frame, config, KEY).frame
    with pytest.raises(InputError, match="1 cells with no rows by industry, year"):
        align(_cell("none", "2020", 7), frame, made, config, PEOPLE)
    unknown = frame.with_columns(
        people=pl.when(pl.col("industry") == "steel").then(None).otherwise("people")
    )
    with pytest.raises(InputError, match="people: found 1 cells"):
        align(_cell("steel", "2020", 7), unknown, made, config, PEOPLE)


def test_a_sum_that_changes_its_sign_moves_its_given_cell_all_the_same() -> None:
    frame = pl.DataFrame({"id": ["a", "b"], "x": [300, -200]})
    _, config = one_column([1], step(M.LOG_NOISE, 0.4))
    after = frame.with_columns(x=pl.Series([200, -250]))
    frame, after = (f.with_columns(half=pl.lit("one")) for f in (frame, after))
    spec = AggregateConfig(by={"half": "half"}, values={"sum": "x"})
    aligned, _ = align(pl.DataFrame({"half": ["one"], "sum": [800]}), frame, after, config, spec)
    assert aligned["sum"].to_list() == [400]  # 800 · 50 / 100, with the sign it was written with


@pytest.mark.parametrize(("label", "chars"), [("{}", 4), ("{}-12-31", 10), ("FY{}", 6)])
def test_gaps_are_seen_in_periods_of_any_shape(label: str, chars: int) -> None:
    frame = company_table().with_columns(year=pl.format(label, "year"))
    frame = frame.filter(pl.int_range(pl.len()) != 6)
    config = company_config(step(M.LSD, 2)).model_copy(update={"period_chars": chars})
    assert {n.kind: n.before for n in native_noise(frame, frame, config)}["gap"] == 1


def test_aggregates_that_are_all_alike_have_no_correlation() -> None:
    frame, config = company_table(), company_config(step(M.LOG_NOISE, 0.4))
    given = _totals(frame, config, ("industry", "year")).select("industry", "year", people=7)
    _, (result,) = align(given, frame, frame, config, PEOPLE)
    assert (result.shape_before, result.shape_after, result.kept) == (None, None, None)


def test_native_noise_is_counted_and_its_loss_is_seen() -> None:
    frame = company_table().with_columns(
        people=pl.when(pl.int_range(pl.len()) % 50 != 7).then(pl.col("people"))
    )
    frame = pl.concat([frame.filter(pl.int_range(pl.len()) != 6), frame.head(2)])
    config = company_config(step(M.LSD, 2))
    kinds = {(n.kind, n.column): n for n in native_noise(frame, frame, config)}
    assert kinds["missing cell", "people"].before == 5
    assert kinds["gap", "year"].before == 1
    assert kinds["duplicate row", ""].before == 2
    made = perturb_table(frame, config, KEY).frame
    assert all(n.same_places and n.before == n.after for n in native_noise(frame, made, config))
    broken = frame.with_columns(people=pl.col("people").fill_null(1), assets=pl.int_range(pl.len()))
    lost = {n.kind for n in native_noise(frame, broken, config) if not n.same_places}
    assert lost == {"missing cell", "duplicate row"}


def test_profile_proposes_roles_relations_and_formulas() -> None:
    frame = company_table().with_columns(
        per_head=(pl.col("assets") / pl.col("people")).round(2),
        company_name=pl.col("id") + " Trading Co., Ltd.",
        currency=pl.lit("JPY"),
        note=pl.lit("A sentence that is long enough to be free text, at any rate ") + pl.col("id"),
    )
    profile = propose_roles(frame)
    roles = {p.column: p.role for p in profile.proposals}
    assert roles["id"] is ColumnRole.IDENTIFIER
    assert roles["currency"] is ColumnRole.CONSTANT
    assert roles["note"] is ColumnRole.FREE_TEXT
    assert roles["per_head"] is ColumnRole.DERIVED
    assert roles["people"] is ColumnRole.MEASURE
    by_name = {p.column: p for p in profile.proposals}
    assert by_name["company_name"].kind is IdentifierKind.NAME
    formula = by_name["per_head"].formula
    assert formula is not None
    assert (formula.kind, formula.of) == (DerivedKind.RATIO, ("assets", "people"))
    assert (profile.entity, profile.group, profile.period) == ("id", "industry", "year")
    assert [(s.total, set(s.parts)) for s in profile.sums] == [
        ("assets", {"liabilities", "equity"})
    ]


def test_profile_takes_a_code_that_is_constant_per_company_for_an_identifier() -> None:
    rows = [
        {
            "company": f"Firm {firm:02d} Ltd",
            "registered": 1000 + 37 * firm,  # neither named nor shaped like a code
            "founded": 1900 + firm % 7,  # constant too, but shared by many
            "sales": 100 * firm + 3 * year,
            "staff": "not reported" if firm % 3 else str(firm + year),
        }
        for firm in range(30)
        for year in range(3)
    ]
    roles = {p.column: p for p in propose_roles(pl.DataFrame(rows)).proposals}
    assert roles["registered"].role is ColumnRole.IDENTIFIER
    assert "one value per company" in roles["registered"].why
    assert roles["founded"].role is not ColumnRole.IDENTIFIER
    assert roles["sales"].role is ColumnRole.MEASURE
    mostly = [
        row | {"staff": row["staff"] if str(row["company"]) < "Firm 20" else "7"} for row in rows
    ]
    (staff,) = [p for p in propose_roles(pl.DataFrame(mostly)).proposals if p.column == "staff"]
    assert staff.role is ColumnRole.MEASURE and "released empty" in staff.why


def test_seal_destroys_and_records(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "release.key").write_text("aa" * 32)
    (private / "pseudonyms.json").write_text("{}")
    twin = tmp_path / "twin"
    twin.hardlink_to(private / "release.key")
    assert seal(tmp_path).destroyed == ("release.key", "pseudonyms.json")
    assert list(private.iterdir()) == []
    assert twin.read_bytes() != b"aa" * 32  # overwritten, not only unlinked
    assert "release.key" in (tmp_path / "sealed.json").read_text()
    assert seal(tmp_path).destroyed == ()  # a second sealing finds the record
    with pytest.raises(InputError, match="neither key nor mapping"):
        seal(tmp_path / "private")


def test_destroy_never_follows_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("kept")
    link.symlink_to(target)
    _destroy(link)
    assert target.read_text() == "kept" and not link.exists()


@pytest.mark.parametrize("least", [2, 30])
def test_nothing_published_gives_the_values_of_a_small_group_away(least: int) -> None:
    big = pl.DataFrame({"id": [f"b{i:02d}" for i in range(40)], "industry": "food"})
    few = pl.DataFrame({"id": [f"s{i}" for i in range(5)], "industry": "steel"})
    draw = np.random.default_rng(8)
    frame = pl.concat([big, few]).with_columns(
        x=pl.Series(np.exp(draw.normal(9, 1, 45)).astype(np.int64))
    )
    config = TableConfig(
        columns={
            "id": ColumnConfig(role=ColumnRole.IDENTIFIER),
            "industry": ColumnConfig(role=ColumnRole.QUASI_IDENTIFIER),
            "x": ColumnConfig(role=ColumnRole.MEASURE),
        },
        entity="id",
        group="industry",
        steps=(step(M.LOG_NOISE, 0.4),),
    )
    moved = perturb_table(frame, config, KEY).frame
    cells = assess(frame, moved, config, FidelityConfig(min_rows=least)).cells
    original, released = (
        np.sort(table.filter(industry="steel")["x"].to_numpy()) for table in (frame, moved)
    )
    (measured_row,) = cells.filter(group="steel").to_dicts()
    assert quantiles_undone(released, measured_row) == pytest.approx(original, rel=1e-6)
    published = {row["group"]: publishable(row) for row in cells.to_dicts()}
    assert published["steel"] == dict.fromkeys(measured_row) | {
        "column": "x", "group": "steel", "n": 5, "rows": 5, "assessable": least == 2,
    }  # fmt: skip
    for group in ("food", ALL):
        drifts = [v for name, v in published[group].items() if name.startswith("drift_")]
        assert all(drift == round(drift, 3) for drift in drifts)
        assert published[group]["within"] is not None


def quantiles_undone(released: Floats, row: dict[str, Any]) -> Floats:
    """What an attacker computes from the released values of a group and the report about it."""
    shares = np.array(QUANTILES)
    drifts = np.array([row[f"drift_q{round(100 * share):02d}"] for share in shares])
    quantiles = np.quantile(released, shares) / (1 + drifts)
    position = shares * (len(released) - 1)
    weights = np.maximum(0, 1 - np.abs(position[:, None] - np.arange(len(released))))
    return np.asarray(np.linalg.solve(weights, quantiles))
