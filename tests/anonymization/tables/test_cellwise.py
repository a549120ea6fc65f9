"""Noise on single cells: which digits may move, and what must stay."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymization.tables.config import PerturbMethod
from anonymization.tables.perturb_table import perturb_table
from tests.anonymization.tables.build import KEY, company_config, company_table, one_column, step

_WHOLE = st.lists(
    st.tuples(st.integers(-(10**9), 10**9), st.integers(0, 6)).map(lambda p: p[0] * 10 ** p[1]),
    min_size=1,
    max_size=40,
)


def _zeros(value: int) -> int:
    text = str(abs(value))
    return len(text) - len(text.rstrip("0"))


@settings(max_examples=60)
@given(_WHOLE, st.integers(1, 5))
def test_lsd_moves_only_digits_after_the_kept_ones(values: list[int], kept: int) -> None:
    frame, config = one_column(values, step(PerturbMethod.LSD, kept))
    moved = perturb_table(frame, config, KEY).frame["x"].to_list()
    for old, new in zip(values, moved, strict=True):
        assert (new == 0) == (old == 0)
        assert (new > 0) == (old > 0)
        if old:
            reported = len(str(abs(old))) - _zeros(old)
            assert len(str(new)) == len(str(old))
            assert str(abs(new))[: min(kept, reported)] == str(abs(old))[: min(kept, reported)]
            assert _zeros(new) == _zeros(old)


@settings(max_examples=40)
@given(_WHOLE)
def test_log_noise_keeps_sign_zero_and_last_reported_digit(values: list[int]) -> None:
    frame, config = one_column(values, step(PerturbMethod.LOG_NOISE, 0.4))
    moved = perturb_table(frame, config, KEY).frame["x"].to_list()
    for old, new in zip(values, moved, strict=True):
        assert (new > 0, new < 0) == (old > 0, old < 0)
        assert not old or _zeros(new) == _zeros(old)


def test_formats_of_text_stay() -> None:
    values = ["1,234,567.50", "△12,300", "¥ 4500円", "－", None, "(987)", "０１２３", "0", "12.00%"]
    frame, config = one_column(values, step(PerturbMethod.LOG_NOISE, 0.2), dtype=pl.String)
    moved = perturb_table(frame, config, KEY).frame["x"].to_list()
    shape = ["".join("9" if c.isdigit() else c for c in v or "") for v in moved]
    assert shape[0] in ("9,999,999.99", "999,999.99")
    assert shape[1][0] == "△" and moved[1].endswith("00") and "," in moved[1]
    assert shape[2] == "¥ 9999円" and moved[2].endswith("00円")
    assert moved[3:5] == ["－", None]
    assert shape[5] in ("(999)", "(9999)")
    assert moved[6][0] == "０" and moved[6] != values[6] and len(moved[6]) == 4
    assert moved[7] == "0"
    assert shape[8] in ("99.99%", "9.99%")


def test_floats_keep_their_decimals_and_missing_cells() -> None:
    frame, config = one_column(
        [1.25, None, -0.5, 3.0, 1234.567], step(PerturbMethod.LOG_NOISE, 0.3)
    )
    moved = perturb_table(frame, config, KEY).frame["x"].to_list()
    assert moved[1] is None
    for old, new in zip((1.25, -0.5, 1234.567), (moved[0], moved[2], moved[4]), strict=True):
        assert len(repr(new).split(".")[1]) == len(repr(old).split(".")[1])
    assert moved[3] == int(moved[3])


def test_order_and_other_rows_change_nothing() -> None:
    config = company_config(step(PerturbMethod.LSD, 2), step(PerturbMethod.LOG_NOISE, 0.05))
    frame = company_table()
    whole = perturb_table(frame, config, KEY).frame
    mixed = frame.sample(fraction=1, shuffle=True, seed=2)
    assert perturb_table(mixed, config, KEY).frame.sort("id", "year").equals(whole)
    some = frame.filter(pl.col("id") < "C0010")
    assert perturb_table(some, config, KEY).frame.equals(whole.filter(pl.col("id") < "C0010"))


def test_another_key_gives_other_noise() -> None:
    config, frame = company_config(step(PerturbMethod.LOG_NOISE, 0.1)), company_table()
    item, two = (perturb_table(frame, config, key).frame for key in (KEY, bytes(32)))
    assert int((item["people"] == two["people"]).sum()) < 0.05 * frame.height
