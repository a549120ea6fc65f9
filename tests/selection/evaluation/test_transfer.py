"""What skills change: effects, intervals and names of transfer, computed by hand."""

from __future__ import annotations

import pytest

from selection.evaluation.transfer import Pair, _tasks_needed, matrix


def pairs(creator: str, consumer: str, changes: list[float], task_class: str = "c") -> list[Pair]:
    """A held-out task per change, from 0.5."""
    return [
        Pair(creator, consumer, task_class, f"t{at}", 0.5, 0.5 + change, 0.0, float(change > 0))
        for at, change in enumerate(changes)
    ]


def test_a_cell_has_the_mean_change_and_the_exact_test() -> None:
    (cell,) = matrix(pairs("a", "x", [0.5] * 6)).cells
    assert (cell.n, cell.before, cell.after) == (6, 0.5, 1.0)
    assert cell.difference.estimate.mean == pytest.approx(0.5)
    assert cell.difference.p == pytest.approx(2 / 2**6)
    assert (cell.passed_before, cell.passed_after) == (0.0, 1.0)
    assert cell.transfer == "positive"


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ([0.5] * 6, "positive"),
        ([-0.5] * 6, "negative"),
        ([0.5] * 5, "positive (not shown)"),
        ([-0.5, -0.5, 0.25, 0, 0, 0], "negative (not shown)"),
        ([0.25, -0.25], "none"),
    ],
)
def test_transfer_is_named_by_its_sign_and_by_what_chance_explains(
    changes: list[float], name: str
) -> None:
    (cell,) = matrix(pairs("a", "x", changes)).cells
    assert cell.transfer == name


def test_holm_corrects_over_the_cells_of_a_table() -> None:
    both = matrix([*pairs("a", "x", [0.5] * 6), *pairs("b", "x", [-0.5] * 6)])
    assert [cell.difference.p_corrected for cell in both.cells] == pytest.approx([1 / 16, 1 / 16])
    assert [cell.transfer for cell in both.cells] == [
        "positive (not shown)",
        "negative (not shown)",
    ]
    # the mean of the consumer over both creators is 0 on each task
    assert [cell.transfer for cell in both.consumers] == ["none"]


def test_in_the_mean_of_a_creator_each_task_counts_once() -> None:
    made = matrix([*pairs("a", "x", [0.5, 0.5]), *pairs("a", "y", [-0.5])])
    (creator,) = made.creators
    assert (creator.creator, creator.consumer, creator.n) == ("a", "", 2)
    assert creator.difference.estimate.mean == pytest.approx((0.0 + 0.5) / 2)


def test_classes_have_cells_of_their_own() -> None:
    made = matrix([*pairs("a", "x", [0.5], "sales"), *pairs("a", "x", [-0.5], "hr")])
    assert [(cell.task_class, cell.difference.estimate.mean) for cell in made.by_class] == [
        ("sales", 0.5),
        ("hr", -0.5),
    ]


def test_a_pass_rate_is_undefined_where_one_is() -> None:
    (cell,) = matrix([Pair("a", "x", "c", "t", 0.5, 0.6, None, 1.0)]).cells
    assert (cell.passed_before, cell.passed_after) == (None, 1.0)


@pytest.mark.parametrize(("cells", "needed"), [(0, 6), (1, 6), (2, 7), (4, 8), (12, 9)])
def test_how_many_tasks_a_cell_needs_to_show_anything(cells: int, needed: int) -> None:
    assert _tasks_needed(cells) == needed
    shown = matrix(pairs("a", "x", [1.0] * needed)).cells[0].difference.p
    assert shown is not None and shown * max(cells, 1) < 0.05


def test_nothing_gives_empty_tables() -> None:
    made = matrix([])
    assert (made.cells, made.by_class, made.creators, made.consumers) == ((), (), (), ())
