from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.sampler_fit import fit_of_counts, fit_of_samples
from data.errors import InputError
from data.randomness import keyed_generator
from selection.sampling.systematic import (
    _inclusion_probabilities,
    draw_fixed,
    draw_with_replacement,
    expected_draws,
    leaf_probabilities,
    systematic,
    with_replacement_inclusion,
)

WEIGHTS = st.lists(st.floats(1e-4, 1e3), min_size=1, max_size=30)


def test_certain_units_are_taken_out_and_the_rest_scaled_anew() -> None:
    # c = 3/10 gives 1.8 for the first: certain. Then 2/4: 1.5 for the second: certain. Then 1/1.
    weights = np.array([6.0, 3.0, 0.5, 0.25, 0.25])
    assert _inclusion_probabilities(weights, 3) == pytest.approx([1, 1, 0.5, 0.25, 0.25])


def test_groups_and_caps() -> None:
    expected = expected_draws(
        weights=np.ones(5),
        groups=np.array([1, 0, 1, 1, 0]),
        totals=np.array([1.0, 7.0]),
        caps=np.array([1.0, 9.0, 9.0, 9.0, 9.0]),
    )
    assert expected == pytest.approx([1, 0.5, 3, 3, 0.5])


def test_too_few_units() -> None:
    with pytest.raises(InputError, match="found 2 units to draw 3 from"):
        _inclusion_probabilities(np.ones(2), 3)


def test_madow_by_hand() -> None:
    # Visited 2, 0, 1 the fractions end at .5, 1.2, 2: a start of .3 meets 2 at .3 and 1 at 1.3.
    expected = np.array([0.7, 0.8, 0.5])
    order = np.array([2, 0, 1])
    assert systematic(expected, order, 0.3).tolist() == [0, 1, 1]
    assert systematic(expected, order, 0.6).tolist() == [1, 1, 0]
    assert systematic(expected + 2, order, 0.6).tolist() == [3, 3, 2]
    halves = np.array([0.5, 0.5])  # a unit owns its beginning, not its end
    assert systematic(halves, np.array([0, 1]), 0.0).tolist() == [1, 0]
    assert systematic(halves, np.array([0, 1]), 0.5).tolist() == [0, 1]


@given(WEIGHTS, st.integers(0, 30), st.integers(0, 99))
def test_fixed_size_and_order_of_input(weights: list[float], size: int, seed: int) -> None:
    size = min(size, len(weights))
    names = [f"unit {at}" for at in range(len(weights))]
    sample = draw_fixed(names, np.array(weights), size, seed, "test")
    assert len(sample.drawn) == size
    assert sample.pi_design.sum() == pytest.approx(size, abs=1e-6)
    assert (sample.pi_design <= 1).all()
    assert size == 0 or (sample.pi_design > 0).all()
    assert set(np.flatnonzero(sample.pi_design == 1)) <= set(sample.drawn)
    order = np.random.default_rng(seed).permutation(len(names))
    again = draw_fixed([names[at] for at in order], np.array(weights)[order], size, seed, "test")
    assert sorted(order[again.drawn]) == sample.drawn.tolist()
    assert (again.pi_design == sample.pi_design[order]).all()


@given(WEIGHTS, st.integers(0, 30))
def test_free_units_are_proportional_to_their_weights(weights: list[float], size: int) -> None:
    held = np.array(weights)
    pi_design = _inclusion_probabilities(held, min(size, len(weights)))
    free = pi_design < 1
    scale = pi_design[free] / held[free]
    assert scale == pytest.approx(np.full(len(scale), scale.max(initial=0)), rel=1e-9)
    certain = scale.max(initial=0) * held[~free]
    assert (certain >= 1 - 1e-6).all() or not free.any()


def test_every_pair_can_meet_over_keys() -> None:
    names, met = list("abcdef"), set()
    for seed in range(200):
        drawn = draw_fixed(names, np.ones(6), 2, seed, "pairs").drawn
        met.add(tuple(drawn.tolist()))
    assert len(met) == 15


def test_with_replacement_is_the_inverse_of_the_distribution() -> None:
    chances = np.array([0.5, 0.0, 0.2, 0.3])
    drawn = draw_with_replacement(chances, 1_000, keyed_generator(3, "test", "with"))
    uniforms = np.sort(keyed_generator(3, "test", "with").random(1_000))
    assert drawn.tolist() == np.searchsorted(np.cumsum(chances), uniforms, side="right").tolist()
    assert 1 not in drawn


def test_with_replacement_inclusion() -> None:
    actual = with_replacement_inclusion(np.array([0.5, 1.0, 1e-12]), np.array([2, 3, 1_000]))
    assert actual == pytest.approx([0.75, 1.0, 1e-9])


def test_the_fit_sees_a_unit_drawn_too_often() -> None:
    inclusion = np.full(100, 0.5)
    counts = np.full(100, 50.0)
    assert fit_of_counts(counts, inclusion, 100, 50).largest_z == 0
    counts[7] = 85
    assert fit_of_counts(counts, inclusion, 100, 50).largest_z == pytest.approx(7)


@pytest.mark.full
@pytest.mark.slow(seconds=80)
def test_two_thousand_samples_fit_their_probabilities(material: Path) -> None:
    names = pl.read_csv(material / "sampling" / "sampler_reference_10k.csv")["name"]
    weights = leaf_probabilities(names, separator="|")
    fit = fit_of_samples(names.to_list(), weights, 500, range(2_000))
    assert fit.largest_z <= 5.2
    assert fit.p > 0.001
