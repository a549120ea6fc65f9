"""Counts and distributions, computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.contracts import Deliverable
from data.snapshot.statistics import bins, distribution, label_of, statistics, summary
from tests.data.snapshot.sample import Store, candidate

NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1)


def test_statistics_of_four_tasks(tmp_path: Path) -> None:
    tasks = [candidate(number, Store(tmp_path)) for number in range(4)]
    tasks[0] = tasks[0].model_copy(
        update={"deliverables": (Deliverable(file_type="pdf", count=3),), "fixtures": ()}
    )
    told = statistics(tasks)
    assert told["tasks"] == 4
    assert told["languages"] == [{"value": "en", "n": 2}, {"value": "zh", "n": 2}]
    assert told["input_types"] == [
        {"value": "csv", "tasks": 3, "files": 3},
        {"value": "md", "tasks": 2, "files": 2},
    ]
    assert told["deliverable_types"] == [
        {"value": "xlsx", "tasks": 3, "files": 3},
        {"value": "pdf", "tasks": 1, "files": 3},
    ]
    assert told["families"] == [{"value": "not labelled", "n": 4}]
    assert told["inputs_per_task"]["histogram"] == [
        {"label": "0", "n": 1},
        {"label": "1", "n": 1},
        {"label": "2–4", "n": 2},
    ]
    assert told["total_input_bytes"] == 3 * len(b"id,total\n1,1\n") + 2 * len("背景资料\n".encode())


def test_a_huge_count_costs_nothing() -> None:
    task = candidate(0, Store(Path("/tmp"))).model_copy(
        update={"deliverables": (Deliverable(file_type="md", count=10**15),)}
    )
    assert statistics([task])["deliverable_types"] == [{"value": "md", "tasks": 1, "files": 10**15}]


def test_quartiles_are_values_that_occurred() -> None:
    assert summary([7, 1, 3, 10]) == {
        "n": 4,
        "min": 1,
        "p25": 1,
        "median": 3,
        "p75": 7,
        "max": 10,
    }
    assert summary([]) == {"n": 0}
    assert summary([0.1 + 0.2])["median"] == 0.3


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0], ["0"]),
        ([0, 1, 4], ["0", "1", "2–4"]),
        ([12, 700], ["10–19", "20–49", "50–99", "100–199", "200–499", "500–1k"]),
        ([-3, 1], ["< 0", "0", "1"]),
        ([-3], ["< 0"]),
        ([0.25, 3.5], ["0–1", "1–2", "2–5"]),
        ([1500], ["1k–2k"]),
    ],
)
def test_bins(values: list[float], labels: list[str]) -> None:
    assert list(bins(values)) == labels


def test_shares_are_binned_in_tenths() -> None:
    edges = bins([0.0, 0.85, 1.0])
    assert label_of(1.0, edges) == label_of(0.9, edges) == "0.9–1.0"
    assert label_of(0.0, edges) == "0.0–0.1"
    assert len(edges) == 10


@given(NUMBERS)
def test_every_value_falls_into_exactly_one_bin(values: list[float]) -> None:
    told = distribution(values)
    assert sum(bar["n"] for bar in told["histogram"]) == told["n"] == len(values)


@given(NUMBERS)
def test_order_does_not_matter(values: list[float]) -> None:
    assert distribution(values) == distribution(sorted(values))
