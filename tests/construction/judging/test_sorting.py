"""Tables that are sorted already, where they are to be sorted."""

from __future__ import annotations

import pytest

from construction.judging.contracts import InputTable
from construction.judging.sorting import is_in_order


def test_a_table_that_is_sorted_already() -> None:
    sheet = InputTable(
        name="", columns=("Item", "Cost"), rows=3, cells=(("oar", "10"), ("cox", "9"), ("tar", "9"))
    )
    assert is_in_order("Sort the items by cost", [sheet])
    assert not is_in_order("Sort the rows by item", [sheet])
    assert not is_in_order("Add the costs", [sheet])


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("Sort the crew by name", True),
        ("Please arrange it alphabetically by name", True),
        ("List all of them, sorted by name", True),
        ("按name升序排序", True),
        ("Sort the crew by weight", False),
        ("Sort the crew by name from Z to A", False),
        ("Sort the crew from heaviest to lightest", False),
        ("Sort the crew by shoe size", False),
        ("Reverse the order of the rows", False),
        ("Add a column total to orders.csv", False),
        ("Remove order 3 from the table", False),
        ("Mark every order above 65 kg", False),
        ("In order to plan the outing, delete Bo", False),
        ("把行的顺序倒序排列", False),
    ],
)
def test_only_what_is_to_be_sorted_can_be_in_order(request_text: str, expected: bool) -> None:
    rows = (("1", "Ann", "60"), ("2", "Bo", "64"), ("3", "Cy", "61"))
    sheet = InputTable(name="", columns=("order_id", "name", "weight"), rows=3, cells=rows)
    assert is_in_order(request_text, [sheet]) == expected
