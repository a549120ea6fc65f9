from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import InputError
from selection.config import Damping
from selection.sampling.systematic import MAX_DEPTH, _damped, depths, leaf_probabilities

PARTS = st.lists(st.sampled_from(["A", "B", "", "é", "a b"]), min_size=1, max_size=5)
NAMES = st.lists(PARTS.map(" | ".join), min_size=1, max_size=40)
ROOT_2, ROOT_3, ROOT_4 = (math.sqrt(math.log(n)) for n in (2, 3, 4))


def by_recursion(names: list[str], damping: Damping) -> list[float]:
    """The definition, read aloud: the plain implementation the vectorised one must equal."""
    actual = [0.0] * len(names)

    def descend(members: list[int], level: int, share: float) -> None:
        children: dict[str | None, list[int]] = {}
        for at in members:
            path = names[at].split(" | ")
            children.setdefault(path[level] if level < len(path) else None, []).append(at)
        sizes = np.array([len(held) for held in children.values()])
        chances = _damped(sizes, damping) / _damped(sizes, damping).sum()
        for (part, held), chance in zip(children.items(), chances, strict=True):
            if part is not None:
                descend(held, level + 1, share * chance)
                continue
            for at in held:
                actual[at] = share * chance / len(held)

    descend(list(range(len(names))), 0, 1.0)
    return actual


def test_worked_tree() -> None:
    names = ["A", "A | x", "A | y", "B", "B", "C | z | end"]
    # The root holds A with three series, B with two equal ones, C with one.
    total = ROOT_4 + ROOT_3 + ROOT_2
    a, b, c = ROOT_4 / total / 3, ROOT_3 / total / 2, ROOT_2 / total
    assert leaf_probabilities(pl.Series(names)) == pytest.approx([a, a, a, b, b, c], abs=1e-15)


def test_a_name_that_ends_inside_is_one_child_beside_larger_ones() -> None:
    names = ["A", "A | x | 1", "A | x | 2"]
    ends, goes_on = ROOT_2 / (ROOT_2 + ROOT_3), ROOT_3 / (ROOT_2 + ROOT_3)
    expected = [ends, goes_on / 2, goes_on / 2]
    assert leaf_probabilities(pl.Series(names)) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("damping", "of_three"),
    [
        (Damping.NONE, 3.0),
        (Damping.SQRT, 1.7320508075688772),
        (Damping.LOG, 1.3862943611198906),
        (Damping.LOGLOG, 0.8697416861919429),
        (Damping.SQRTLOG, 1.1774100225154747),
    ],
)
def test_weights_by_hand(damping: Damping, of_three: float) -> None:
    assert _damped(np.array([3]), damping)[0] == pytest.approx(of_three, abs=1e-15)


def test_without_damping_every_series_is_alike() -> None:
    names = pl.Series(["A", "A | x", "A | x | 1", "A | y", "B"])
    assert leaf_probabilities(names, Damping.NONE) == pytest.approx([0.2] * 5, abs=1e-15)


def test_reference_of_ten_thousand_names(material: Path) -> None:
    reference = pl.read_csv(material / "sampling" / "sampler_reference_10k.csv")
    actual = leaf_probabilities(reference["name"], separator="|")
    assert np.abs(actual - reference["p"].to_numpy()).max() <= 1e-12


@given(NAMES, st.sampled_from(Damping))
def test_equals_the_recursive_definition_and_sums_to_one(
    names: list[str], damping: Damping
) -> None:
    actual = leaf_probabilities(pl.Series(names), damping)
    assert actual == pytest.approx(by_recursion(names, damping), rel=1e-12)
    assert actual.sum() == pytest.approx(1, abs=1e-12)
    assert (actual > 0).all()


@given(NAMES, st.integers(0, 99))
def test_order_changes_no_bit(names: list[str], shuffle: int) -> None:
    order = np.random.default_rng(shuffle).permutation(len(names))
    actual = leaf_probabilities(pl.Series(names))
    shuffled = leaf_probabilities(pl.Series([names[at] for at in order]))
    assert (shuffled == actual[order]).all()


@given(NAMES, NAMES)
def test_groups_are_hierarchies_of_their_own(first: list[str], second: list[str]) -> None:
    groups = np.array([4] * len(first) + [0] * len(second))
    together = leaf_probabilities(pl.Series(first + second), groups=groups)
    assert (together[: len(first)] == leaf_probabilities(pl.Series(first))).all()
    assert (together[len(first) :] == leaf_probabilities(pl.Series(second))).all()


def test_more_components_than_one_integer_holds() -> None:
    # Twelve levels of 97 codes take 84 bits; the tails are shared by names that differ above.
    tails = [" | ".join(f"{(at * 7919 + level) % 97}" for level in range(9)) for at in range(97)]
    names = [f"{at % 2} | {at % 5} | {at % 97} | {tails[at % 13]}" for at in range(200)]
    names += tails + [name.rsplit(" | ", 3)[0] for name in names[:20]]
    actual = leaf_probabilities(pl.Series(names))
    assert actual == pytest.approx(by_recursion(names, Damping.SQRTLOG), rel=1e-12)


def test_depth_and_the_empty_table() -> None:
    assert depths(pl.Series(["A", "A | b", "", "A|b"])).tolist() == [1, 2, 1, 1]
    assert leaf_probabilities(pl.Series([], dtype=pl.String)).tolist() == []


def test_hostile_names_are_refused() -> None:
    with pytest.raises(InputError, match="1 nulls"):
        leaf_probabilities(pl.Series(["A", None]))
    with pytest.raises(InputError, match=f"a name of {MAX_DEPTH + 1} components"):
        leaf_probabilities(pl.Series([" | ".join("A" * (MAX_DEPTH + 1))]))
