"""Counts and distributions, computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.contracts import Candidate, Deliverable, Label, TaskClass
from data.snapshot.tasks import (
    _counted,
    _distribution,
    _extension,
    _plain,
    bins,
    label_of,
    statistics,
    summary,
)
from tests.data.snapshot.sample import Store, candidate

NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1)


def test_statistics_of_four_tasks(tmp_path: Path) -> None:
    tasks = [candidate(number, Store(tmp_path)) for number in range(4)]
    tasks[0] = tasks[0].model_copy(
        update={"deliverables": (Deliverable(file_type="pdf", count=3),), "fixtures": ()}
    )
    result = statistics(tasks)
    assert result["tasks"] == 4
    assert result["languages"] == [{"value": "en", "n": 2}, {"value": "zh", "n": 2}]
    assert result["input_types"] == [
        {"value": "csv", "tasks": 3, "files": 3},
        {"value": "md", "tasks": 2, "files": 2},
    ]
    assert result["deliverable_types"] == [
        {"value": "xlsx", "tasks": 3, "files": 3},
        {"value": "pdf", "tasks": 1, "files": 3},
    ]
    assert result["families"] == [{"value": "not labelled", "n": 4}]
    assert result["inputs_per_task"]["histogram"] == [
        {"label": "0", "n": 1},
        {"label": "1", "n": 1},
        {"label": "2–4", "n": 2},
    ]
    assert result["total_input_bytes"] == 3 * len(b"id,total\n1,1\n") + 2 * len(
        "背景资料\n".encode()
    )


def test_a_huge_count_costs_nothing(tmp_path: Path) -> None:
    task = candidate(0, Store(tmp_path)).model_copy(
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
    result = _distribution(values)
    assert sum(bar["n"] for bar in result["histogram"]) == result["n"] == len(values)


@given(NUMBERS)
def test_order_does_not_matter(values: list[float]) -> None:
    assert _distribution(values) == _distribution(sorted(values))


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0.0, 1.0], ["0", "1"]),  # whole numbers are no shares
        ([0.5, 1.5], ["0–1", "1–2"]),
        ([-0.5, 0.5], ["< 0", "0–1"]),
        ([2], ["2–4"]),
        ([1, 2], ["1", "2–4"]),
        ([5], ["5–9"]),
        ([10], ["10–19"]),
        ([999, 1000], ["500–1k", "1k–2k"]),
        ([999_999, 1_000_000], ["500k–1M", "1M–2M"]),
        ([999_999_999, 1e9], ["500M–1G", "1G–2G"]),
        ([1e12], ["1T–2T"]),
        ([2e12], ["2T–5T"]),
    ],
)
def test_the_edges_of_bins_belong_to_the_bin_above(values: list[float], labels: list[str]) -> None:
    assert list(bins(values)) == labels


def test_the_bins_hold_their_lower_edge_alone() -> None:
    edges = bins([0, 1, 2, 5, 12])
    labels = [label_of(value, edges) for value in (0, 1, 2, 4, 5, 9, 10, 19)]
    assert labels == ["0", "1", "2–4", "2–4", "5–9", "5–9", "10–19", "10–19"]
    assert bins([-2, 0])["< 0"] == (float("-inf"), 0.0)
    tenths = bins([0.05, 0.3])
    assert list(tenths)[:2] == ["0.0–0.1", "0.1–0.2"]
    assert label_of(0.1, tenths) == "0.1–0.2"
    assert label_of(0.3, tenths) == "0.3–0.4"


def test_quantiles_are_those_of_the_nearest_rank() -> None:
    assert summary([5]) == {"n": 1, "min": 5, "p25": 5, "median": 5, "p75": 5, "max": 5}
    ranks = {"n": 8, "min": 1, "p25": 2, "median": 4, "p75": 6, "max": 8}
    assert summary(range(8, 0, -1)) == ranks
    assert summary(range(1, 10)) == ranks | {"n": 9, "p25": 3, "median": 5, "p75": 7, "max": 9}
    assert bins([]) == {}


def test_a_whole_number_is_one_as_long_as_that_is_exact() -> None:
    exact = float(2**53)
    assert [type(_plain(value)) for value in (exact, -exact, exact * 2, 0.5)] == [
        int, int, float, float,
    ]  # fmt: skip
    assert _plain(0.12345678949) == 0.123456789


def test_the_most_frequent_value_comes_first_and_then_the_name() -> None:
    assert _counted(["b", "a", "c", "c"]) == [
        {"value": "c", "n": 2},
        {"value": "a", "n": 1},
        {"value": "b", "n": 1},
    ]


def test_the_type_of_most_tasks_comes_first_then_that_of_most_files(tmp_path: Path) -> None:
    def task(number: int, **files: int) -> Candidate:
        deliverables = tuple(Deliverable(file_type=kind, count=n) for kind, n in files.items())
        return candidate(number, Store(tmp_path)).model_copy(update={"deliverables": deliverables})

    tasks = [task(0, pdf=1, md=1, csv=9), task(1, pdf=1, md=2), task(2, txt=9)]
    assert statistics(tasks)["deliverable_types"] == [
        {"value": "md", "tasks": 2, "files": 3},
        {"value": "pdf", "tasks": 2, "files": 2},
        {"value": "csv", "tasks": 1, "files": 9},
        {"value": "txt", "tasks": 1, "files": 9},
    ]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a/b.CSV", "csv"),
        ("b.tar.gz", "gz"),
        ("Makefile", "none"),
        (".env", "none"),
        ("x.d/y", "none"),
    ],
)
def test_an_extension_is_the_last_one_in_lower_case(path: str, kind: str) -> None:
    assert _extension(path) == kind


def test_each_task_counts_once_under_its_labels(tmp_path: Path) -> None:
    bare = candidate(0, Store(tmp_path))
    role = Label(value="analyst", confidence=0.9, reason="asks for figures", judge="rules")
    task_class = TaskClass(
        big_class="office",
        subclass_id="o-1",
        name="report",
        definition="A report.",
        confidence=0.8,
        reason="asks for one",
        split="held_out",
    )
    labelled = bare.model_copy(
        update={
            "role": role,
            "task_family": role.model_copy(update={"value": "finance"}),
            "skill_subclass": role.model_copy(update={"value": "charts"}),
            "task_class": task_class,
            "difficulty": "hard",
            "execution_surface": "shell",
        }
    )
    counts = statistics([labelled, bare])

    def once(value: str) -> list[dict[str, object]]:
        return [{"value": name, "n": 1} for name in sorted([value, "not labelled"])]

    assert counts["roles"] == once("analyst")
    assert counts["families"] == once("finance")
    assert counts["skills"] == once("charts")
    assert counts["task_classes"] == once("report")
    assert counts["splits"] == once("held_out")
    assert counts["judges"] == once("rules")
    assert counts["difficulties"] == once("hard")
    assert counts["surfaces"] == once("shell")
