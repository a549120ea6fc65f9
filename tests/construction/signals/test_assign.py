"""Density clusters: dense places, noise, and no influence of anything but the set."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.signals.assign import NOISE, cluster
from construction.signals.config import ClusterConfig
from construction.signals.embedding import Vectors, unit

CONFIG = ClusterConfig(radius=0.02, neighbours=3)


def circle(*degrees: float) -> Vectors:
    angles = np.radians(np.array(degrees))
    places: Vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return places


def test_two_dense_places_and_a_stray() -> None:
    # Cosine distance 0.02 is about 11.5 degrees.
    labels = cluster(circle(0, 5, 10, 90, 95, 100, 200), CONFIG)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, NOISE]


def test_a_border_row_joins_but_does_not_carry_on() -> None:
    # 15 has three neighbours with itself, so it is no core; 25 reaches nothing but 15.
    config = ClusterConfig(radius=0.02, neighbours=4)
    labels = cluster(circle(0, 1, 2, 5, 15, 25), config)
    assert labels.tolist() == [0, 0, 0, 0, 0, NOISE]


def test_a_border_row_joins_its_nearest_core() -> None:
    # 11 reaches the core at 0 (11 degrees) and that at 20 (9 degrees), and is none itself.
    config = ClusterConfig(radius=0.02, neighbours=6)
    labels = cluster(circle(-6, -5, -4, -3, -2, 0, 11, 20, 23, 24, 25, 26, 27), config)
    assert labels.tolist() == [0] * 6 + [1] * 7


def test_clusters_are_numbered_by_their_first_row() -> None:
    # The first row is a border of the second place; cores alone would number the places otherwise.
    config = ClusterConfig(radius=0.02, neighbours=4)
    labels = cluster(circle(110, 0, 1, 2, 3, 97, 98, 99, 100), config)
    assert labels.tolist() == [0, 1, 1, 1, 1, 0, 0, 0, 0]


def test_nothing_to_cluster() -> None:
    assert cluster(np.zeros((0, 4)), CONFIG).tolist() == []
    assert cluster(circle(10), CONFIG).tolist() == [NOISE]


@settings(max_examples=60)
@given(st.lists(st.integers(0, 359), min_size=1, max_size=30))
def test_cores_are_joined_as_by_hand(degrees: list[int]) -> None:
    labels = cluster(unit(circle(*degrees)), CONFIG).tolist()
    near = [[np.cos(np.radians(a - b)) >= 1 - CONFIG.radius for b in degrees] for a in degrees]
    cores = [row for row, others in enumerate(near) if sum(others) >= CONFIG.neighbours]
    reached: dict[int, set[int]] = {}
    for core in cores:  # flood fill over cores
        todo, seen = [core], {core}
        while todo:
            row = todo.pop()
            new = [other for other in cores if near[row][other] and other not in seen]
            seen.update(new)
            todo.extend(new)
        reached[core] = seen
    for core in cores:
        assert {other for other in cores if labels[other] == labels[core]} == reached[core]
    for row in set(range(len(degrees))) - set(cores):
        assert (labels[row] == NOISE) == (not any(near[row][core] for core in cores))
    seen_first = list(dict.fromkeys(label for label in labels if label != NOISE))
    assert seen_first == sorted(seen_first)  # numbered by first member
