"""Relations and derived columns after perturbation."""

from __future__ import annotations

import polars as pl
import pytest
from pydantic import ValidationError

from anonymization.tables.config import (
    ColumnConfig,
    ColumnRole,
    DerivedKind,
    Formula,
    PerturbMethod,
    Step,
    TableConfig,
)
from anonymization.tables.perturb_table import perturb_table
from anonymization.tables.relations import find_undeclared
from data.errors import InputError
from tests.anonymization.tables.build import KEY, company_config, company_table, one_column, step

M = PerturbMethod


@pytest.mark.parametrize(
    "what", [step(M.LOG_NOISE, 0.5), step(M.RANK_SWAP, 0.2), step(M.LEVEL_SWAP, 0.4)]
)
def test_sums_and_bounds_hold(what: Step) -> None:
    frame = company_table()
    made = perturb_table(frame, company_config(what), KEY)
    table = made.frame
    assert (table["assets"] == table["liabilities"] + table["equity"]).all()
    assert (table["cash"] <= table["assets"]).all()
    assert ((table["equity"] < 0) == (frame["equity"] < 0)).all()
    assert [told.hold_after for told in made.report.relations] == [240, 240]


def test_rounding_remainder_of_a_sum_stays() -> None:
    frame = company_table().with_columns(pl.col("assets") + 1000)
    made = perturb_table(frame, company_config(step(M.LOG_NOISE, 0.1)), KEY).frame
    assert (made["assets"] - made["liabilities"] - made["equity"] == 1000).all()


def test_a_missing_part_leaves_no_new_excess() -> None:
    frame = company_table().with_columns(
        equity=pl.when(pl.col("id") > "C0030").then(pl.col("equity"))
    )
    made = perturb_table(frame, company_config(step(M.LOG_NOISE, 0.5)), KEY).frame
    before, after = (f["liabilities"] > f["assets"] for f in (frame, made))
    assert (before == after).all()
    assert made["equity"].null_count() == frame["equity"].null_count()


def _with_derived() -> tuple[pl.DataFrame, TableConfig]:
    frame = company_table().with_columns(
        per_head=(pl.col("assets") / pl.col("people")).round(2),
        growth=((pl.col("people") / pl.col("people").shift().over("id") - 1) * 100).round(2),
    )
    config = company_config(step(M.LOG_NOISE, 0.2))
    formulas = {
        "per_head": Formula(kind=DerivedKind.RATIO, of=("assets", "people")),
        "growth": Formula(kind=DerivedKind.GROWTH, of=("people",), scale=100),
    }
    more = {n: ColumnConfig(role=ColumnRole.DERIVED, formula=f) for n, f in formulas.items()}
    return frame, config.model_copy(update={"columns": {**config.columns, **more}})


def test_derived_columns_are_recomputed() -> None:
    frame, config = _with_derived()
    made = perturb_table(frame, config, KEY)
    table = made.frame
    assert ((table["per_head"] - table["assets"] / table["people"]).abs() <= 0.0051).all()
    expected = table.select((pl.col("people") / pl.col("people").shift().over("id") - 1) * 100)
    assert ((table["growth"] - expected.to_series()).abs().drop_nulls() <= 0.0051).all()
    assert (table["growth"].is_null() == frame["growth"].is_null()).all()
    held = {told.column: told.held for told in made.report.derived}
    assert held == {"growth": 180, "per_head": 240}


@pytest.mark.parametrize("role", [ColumnRole.DERIVED, ColumnRole.DROPPED, ColumnRole.CONSTANT])
def test_formulas_are_over_measures(role: ColumnRole) -> None:
    """A column computed from one that is not perturbed would leave as it came."""
    _, config = _with_derived()
    double = Formula(kind=DerivedKind.SUM, of=("per_head", "people"))
    formula = config.columns["per_head"].formula if role is ColumnRole.DERIVED else None
    columns = {
        **config.columns,
        "per_head": ColumnConfig(role=role, formula=formula),
        "a_double": ColumnConfig(role=ColumnRole.DERIVED, formula=double),
    }
    with pytest.raises(ValidationError, match="formulas use measures, not: per_head"):
        TableConfig(columns=columns, entity="id", period="year")


def test_undeclared_derived_columns_are_found_and_related_ones_are_not() -> None:
    frame, config = _with_derived()
    measure = ColumnConfig(role=ColumnRole.MEASURE)
    columns = {**config.columns, "per_head": measure, "growth": measure}
    actual = find_undeclared(frame, config.model_copy(update={"columns": columns}))
    assert {s.column: (s.formula.kind, s.formula.of) for s in actual} == {
        "growth": (DerivedKind.GROWTH, ("people",)),
        "per_head": (DerivedKind.RATIO, ("assets", "people")),
    }


def test_undeclared_columns_and_unreadable_cells_are_refused() -> None:
    frame, config = company_table(), company_config(step(M.LSD, 2))
    with pytest.raises(InputError, match="undeclared columns extra"):
        perturb_table(frame.with_columns(extra=1), config, KEY)
    odd, odd_config = one_column(["12", "12-15"], step(M.LSD, 2), dtype=pl.String)
    with pytest.raises(InputError, match="1 cells with other digits"):
        perturb_table(odd, odd_config, KEY)


@pytest.mark.parametrize(
    ("method", "strength"), [(M.LSD, 0), (M.MICROAGGREGATION, 1), (M.RANK_SWAP, 2)]
)
def test_strengths_out_of_range_are_refused(method: PerturbMethod, strength: float) -> None:
    with pytest.raises(ValidationError):
        Step(method=method, strength=strength)
