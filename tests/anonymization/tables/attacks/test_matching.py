"""From points to hits: ties are shared, and position gives nothing away."""

from __future__ import annotations

import numpy as np
import pytest

from anonymization.tables.attacks.measures import _assigned_hits, _kinds, _nearest_hits


def test_nearest_counts_ties_once() -> None:
    targets = np.array([[0.0], [0.0], [5.0]])
    records = np.array([[1.0], [1.0], [9.0]])
    # the third target is as far from all three records
    assert _nearest_hits(targets, records) == pytest.approx([0.5, 0.5, 1 / 3])


def test_nearest_counts_two_sides_as_a_tie() -> None:
    targets, records = np.array([[2.0], [9.0]]), np.array([[1.0], [3.0]])
    assert _nearest_hits(targets, records).tolist() == [0.5, 1.0]


def test_assignment_solves_what_nearest_cannot() -> None:
    targets, records = np.array([[0.0], [2.0]]), np.array([[1.9], [5.0]])
    label = np.zeros(2, dtype=np.int64)
    hits = _assigned_hits(
        label,
        _kinds(records, label),
        lambda rows, columns: np.abs(targets[rows] - records[columns].T),
        np.column_stack([targets, records]),
        most=10,
    )
    assert _nearest_hits(targets, records).tolist() == [1.0, 0.0]
    assert hits.tolist() == [1.0, 1.0]


def test_equal_costs_give_chance_not_the_truth() -> None:
    n = 400
    label = np.zeros(n, dtype=np.int64)
    values = np.arange(n, dtype=np.float64)[:, None]
    hits = _assigned_hits(
        label,
        _kinds(values, label),
        lambda rows, columns: np.zeros((len(rows), len(columns))),
        np.column_stack([values, values]),
        most=n,
    )
    assert hits.sum() < 8  # one is expected; the solver's preference for the diagonal gives 400


def test_records_that_are_equal_count_one_in_k() -> None:
    label = np.zeros(4, dtype=np.int64)
    records = np.array([[1.0], [1.0], [1.0], [8.0]])
    hits = _assigned_hits(
        label,
        _kinds(records, label),
        lambda rows, columns: np.abs(records[rows] - records[columns].T),
        np.column_stack([records, records]),
        most=10,
    )
    assert hits == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1.0])


def test_blocks_find_what_stays_in_its_block() -> None:
    n = 50
    values = np.arange(n, dtype=np.float64)[:, None]
    label = np.zeros(n, dtype=np.int64)
    hits = _assigned_hits(
        label,
        _kinds(values, label),
        lambda rows, columns: np.abs(values[rows] - values[columns].T),
        np.column_stack([values, values]),
        most=7,
    )
    assert hits.sum() == n


def test_kinds_differ_by_label() -> None:
    actual = _kinds(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]), np.array([0, 0, 1]))
    assert actual[0] == actual[1] != actual[2]
