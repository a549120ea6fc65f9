"""Numbers that programs write and attackers send: computed, tiny, huge, near the end of a type."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

from anonymization.tables.config import DerivedKind, Formula, PerturbMethod
from anonymization.tables.perturb_table import perturb_table
from data.errors import InputError
from tests.anonymization.tables.build import KEY, one_column, step

_FIRST_TWO = (0.3333333333333333, 0.2857142857142857, 12.345678901234567, 0.30000000000000004)
_NOISE, _LARGE_NOISE = (step(PerturbMethod.LOG_NOISE, sd) for sd in (0.3, 10))


def perturbed(values: list[Any], of: Any, dtype: Any = None) -> pl.Series:
    frame, config = one_column(values, of, dtype=dtype)
    return perturb_table(frame, config, KEY).frame["x"]


@pytest.mark.parametrize("write", [float, repr])
def test_computed_numbers_keep_their_leading_digits(write: type[float] | type[str]) -> None:
    moved = perturbed([write(value) for value in _FIRST_TWO], step(PerturbMethod.LSD, 2))
    for old, new in zip(_FIRST_TWO, map(float, moved), strict=True):
        assert new != old
        assert abs(new - old) < abs(old) / 10
        assert f"{new:.9e}"[:3] == f"{old:.9e}"[:3]


def test_numbers_with_an_exponent_are_read_and_leave_as_decimals() -> None:
    moved = perturbed(["1.5e-05", "-2.5E+06", "3", "4", "5", "6"], _NOISE, pl.String)
    assert moved[0].startswith("0.0000") and len(moved[0]) == len("0.000015")
    assert moved[1].startswith("-") and moved[1].endswith("00000")
    assert moved[0] != "0.000015" and moved[1] != "-2500000"


@pytest.mark.parametrize("zeros", [18, 19, 20, 63, 64, 400])
def test_numbers_below_all_reported_decimals_are_refused(zeros: int) -> None:
    with pytest.raises(InputError, match="at most 18 decimals"):
        perturbed([f"0.{'0' * zeros}4", "2", "3", "4", "5"], _NOISE, pl.String)


@pytest.mark.parametrize("decimals", [17, 19, 64, 400])
def test_decimals_without_value_are_cut(decimals: int) -> None:
    moved = perturbed([f"1.{'0' * decimals}", f"0.{'0' * decimals}", "4", "5"], _NOISE, pl.String)
    assert 0.2 < float(moved[0]) < 5 and float(moved[0]) != 1
    assert float(moved[1]) == 0


@pytest.mark.parametrize("number", ["1e308", "9" * 400, "inf 1"])
def test_numbers_that_no_table_reports_are_refused_or_emptied(number: str) -> None:
    try:
        moved = perturbed([number, "2", "3", "4", "5", "6"], _NOISE, pl.String)
    except InputError as error:
        assert number not in str(error)
    else:
        assert moved[0] is None


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        (pl.Int8, [-120, 120, 3]),
        (pl.UInt8, [250, 251, 3]),
        (pl.Int16, [32_000, -32_000, 3]),
        (pl.Int32, [2_147_483_000, -2_147_483_000, 3]),
    ],
)
def test_integers_at_the_end_of_their_type_are_perturbed(dtype: Any, values: list[int]) -> None:
    moved = perturbed(values * 4, _NOISE, dtype)
    assert moved.dtype in (dtype, pl.Int64)
    assert [new > 0 for new in moved] == [old > 0 for old in values * 4]
    assert sum(old == new for old, new in zip(values * 4, moved, strict=True)) <= 4  # the threes


def test_noise_never_takes_a_number_beyond_what_floats_count() -> None:
    values = [0, *(9_000_000_000_000_000 - number for number in range(40))]
    moved = perturbed([*values, *(-value for value in values)], _LARGE_NOISE)
    assert moved.abs().max() == 2**53 - 1
    assert (moved[0], moved[41]) == (0, 0)
    assert (moved[1:41] > 0).all() and (moved[42:] < 0).all()


def test_short_floats_keep_their_decimals_and_decimals_become_floats() -> None:
    short = perturbed([1.1, 2.2, 3.3, 44.4], _NOISE, pl.Float32)
    assert short.dtype == pl.Float32
    assert all(len(f"{text}".partition(".")[2]) == 1 for text in short.cast(pl.String))
    exact = perturbed([Decimal(f"{n}.25") for n in range(1, 9)], _NOISE, pl.Decimal(10, 2))
    assert exact.dtype == pl.Float64
    assert exact.to_list() == [round(value, 2) for value in exact]


def test_settings_that_would_leave_no_numbers_are_refused() -> None:
    with pytest.raises(ValidationError, match="at most 10"):
        step(PerturbMethod.LOG_NOISE, 10.5)
    for scale in (1e308, -1e308, 1e-308, 0.0, float("inf"), float("nan")):
        with pytest.raises(ValidationError, match="scale"):
            Formula(kind=DerivedKind.RATIO, of=("a", "b"), scale=scale)
