"""What a rubric quotes of the inputs: the rows, ends and counts against which an answer is held."""

from __future__ import annotations

import pytest

from construction.judging.contracts import InputTable
from construction.judging.lexicon import table
from construction.judging.reference import is_in_order, of_table, of_text

WORDS = table("grading")["en"]
ROWERS = (
    ("Ada", "Lee", 61), ("Bo", "Lee", 74), ("Cleo", "Lee", 58), ("Dov", "Lee", 90),
    ("Edda", "Tyne", 66), ("Finn", "Tyne", 82), ("Gus", "Tyne", 71), ("Hal", "Wear", 69),
)  # fmt: skip
REST = [(f"Reserve {number}", "Ouse", 70) for number in range(22)]
CREW = InputTable(
    name="",
    columns=("Name", "Club", "Weight", "Phone"),
    rows=30,
    cells=tuple((name, club, str(kilos), "44155500") for name, club, kilos in (*ROWERS, *REST)),
)


def told(request: str, sheet: InputTable = CREW) -> list[str]:
    return list(of_table(sheet, "crew.csv", request, WORDS))


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("Who rows for Wear?", ["crew.csv says of Wear: Hal, Wear, 69, 44155500."]),
        ("How many rowers are in Lee?", ["4 of 30 rows have Lee as Club"]),
        ("What is the highest weight?", ["from 58 (Cleo) to 90 (Dov)", "sum 2111, mean 70.37"]),
        ("How many weights are above 70?", ["above 70 in 4 of 30 rows and below it in 4"]),
        ("Write a poem on phones.", []),
    ],
)
def test_what_a_long_table_says_of_a_request(request_text: str, expected: list[str]) -> None:
    lines = " ".join(told(request_text))
    assert all(text in lines for text in expected)
    assert bool(lines) == bool(expected)


def test_a_small_table_and_a_short_text_are_quoted_whole() -> None:
    sheet = InputTable(
        name="", columns=("Item", "Cost"), rows=2, cells=(("oar", "9"), ("cox", "4"))
    )
    assert "“Item, Cost; oar, 9; cox, 4”" in told("Sort it.", sheet)[0]
    mail = "mail mail a a lee@club.example lee@club.example Oars Oars They are wet."
    assert list(of_text(mail, "mail/a.eml", WORDS)) == [
        "What is taken from mail/a.eml agrees with what it holds: "
        "“lee@club.example Oars They are wet.”"
    ]
    assert not list(of_text("boat boat", "boat.png", WORDS))
    assert not list(of_text("wet oars " * 99, "oars.txt", WORDS))


def test_a_table_that_is_sorted_already() -> None:
    sheet = InputTable(
        name="", columns=("Item", "Cost"), rows=3, cells=(("oar", "10"), ("cox", "9"), ("tar", "9"))
    )
    assert is_in_order("Sort the items by cost", [sheet])
    assert not is_in_order("Sort the rows by item", [sheet])
    assert not is_in_order("Add the costs", [sheet])
