"""Joint steps: what they preserve, and that the order of rows does not touch them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from anonymization.tables.config import PerturbMethod, Step
from anonymization.tables.perturb_methods import microaggregated, rank_swapped, rescaled
from anonymization.tables.perturb_table import perturb_table
from tests.anonymization.tables.build import KEY, company_config, company_table, step

M = PerturbMethod
SETTING = (step(M.LEVEL_SWAP, 0.12), step(M.LOG_NOISE, 0.01), step(M.RESCALE, 1))


def test_rank_swap_permutes_within_the_window_and_the_sign() -> None:
    value = np.array([-9.0, -4.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    cell = np.zeros(10, dtype=np.int64)
    swapped = rank_swapped(value, np.ones(10, dtype=bool), cell, np.full(10, 0.99), 0.3)
    assert sorted(swapped) == sorted(value)
    assert swapped[2] == 0
    assert list(np.sign(swapped)) == list(np.sign(value))
    assert np.abs(np.argsort(np.argsort(swapped[3:])) - np.arange(7)).max() == 2
    assert (swapped[3:] != value[3:]).sum() >= 4


def test_microaggregation_shares_means_and_keeps_sums() -> None:
    value = np.array([5.0, 1.0, 9.0, 2.0, 8.0, 3.0, -4.0, 0.0])
    cell = np.zeros(8, dtype=np.int64)
    made = microaggregated(value, np.ones(8, dtype=bool), cell, 3)
    assert made.tolist() == [22 / 3, 2, 22 / 3, 2, 22 / 3, 2, -4, 0]


def test_rescale_restores_sums_except_of_small_cells() -> None:
    original = np.array([1.0, 2, 3, 4, 100, 10, 20])
    cell = np.array([0, 0, 0, 0, 0, 1, 1])
    group = np.zeros(7, dtype=np.int64)
    moved = rescaled(original * 1.5 + 1, original, np.ones(7, dtype=bool), group, cell, 1.0)
    assert moved[:5].sum() == pytest.approx(110, rel=1e-6)
    assert moved[5:].sum() != pytest.approx(30, rel=1e-3)


def test_level_swap_moves_entities_and_keeps_growth_signs() -> None:
    frame = company_table()
    made = perturb_table(frame, company_config(step(M.LEVEL_SWAP, 0.3)), KEY).frame
    factor = (made["people"] / frame["people"]).to_numpy().reshape(60, 4)
    assert (np.abs(np.log(factor)).max(axis=1) > 0.01).mean() > 0.7
    assert np.allclose(factor, factor[:, :1], rtol=2e-2)
    old, new = (np.diff(f["liabilities"].to_numpy().reshape(60, 4)) for f in (frame, made))
    assert (np.sign(old) != np.sign(new)).mean() < 0.02
    levels = [
        np.sort(np.log(f["liabilities"].to_numpy()).reshape(60, 4).mean(1)) for f in (frame, made)
    ]
    assert np.allclose(levels[0], levels[1], atol=2e-3)


@pytest.mark.parametrize(
    "steps", [(step(M.RANK_SWAP, 0.1),), (step(M.MICROAGGREGATION, 3),), SETTING]
)
def test_order_of_rows_changes_nothing(steps: tuple[Step, ...]) -> None:
    frame, config = company_table(), company_config(*steps)
    whole = perturb_table(frame, config, KEY).frame
    mixed = frame.sample(fraction=1, shuffle=True, seed=9)
    assert perturb_table(mixed, config, KEY).frame.sort("id", "year").equals(whole)


def test_duplicates_stay_duplicates_under_cell_and_level_noise() -> None:
    frame = company_table()
    doubled = pl.concat([frame, frame.head(3)])
    config = company_config(step(M.LEVEL_SWAP, 0.12), step(M.LOG_NOISE, 0.05))
    made = perturb_table(doubled, config, KEY).frame
    assert made.tail(3).equals(made.head(3))


def test_sums_of_industries_are_restored() -> None:
    frame = company_table()
    made = perturb_table(frame, company_config(*SETTING), KEY).frame
    sums = [
        f.group_by("industry", "year").agg(pl.col("people", "liabilities").sum())
        for f in (frame, made)
    ]
    old, new = (s.sort("industry", "year").select("people", "liabilities").to_numpy() for s in sums)
    assert np.abs(new / old - 1).max() < 0.01


@pytest.mark.parametrize("method", [PerturbMethod.RANK_SWAP, PerturbMethod.MICROAGGREGATION])
def test_repeated_rows_stay_repeated(method: PerturbMethod) -> None:
    frame = company_table(30, 2)
    doubled = pl.concat([frame, frame.head(7), frame.head(2)])
    config = company_config(step(method, 3 if method is PerturbMethod.MICROAGGREGATION else 0.4))
    made = perturb_table(doubled, config, KEY)
    assert made.frame.tail(9).equals(pl.concat([made.frame.head(7), made.frame.head(2)]))
    assert made.frame.head(60).equals(perturb_table(frame, config, KEY).frame)
    assert (made.report.rows, made.report.numbers["people"]) == (69, 60)
