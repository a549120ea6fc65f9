"""What a rubric quotes of the inputs: the rows, ends and counts against which an answer is held."""

from __future__ import annotations

import pytest

from construction.judging.contracts import InputFile, InputTable
from construction.judging.lexicon import table
from construction.judging.reference import of_table
from construction.judging.reference_texts import (
    of_calendar,
    of_lines,
    references_of,
    whole_text,
)
from construction.judging.removed_rows import removals_of, removed_rows
from tests.construction.judging.rules.cases import case

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


def quoted(request: str, sheet: InputTable = CREW) -> list[str]:
    return list(of_table(sheet, "crew.csv", request, WORDS))


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("Who rows for Wear?", ["crew.csv says of Wear: Hal, Wear, 69, 44155500."]),
        ("How many rowers are in Lee?", ["4 of 30 rows have Lee as Club"]),
        ("What is the highest weight?", ["the lowest is 58 (Cleo), the highest 90 (Dov)"]),
        ("What is the total weight?", ["is summed up, it is 2111"]),
        (
            "Write the average weight into a.md. How tall is the best?",
            ["the mean of Weight", "70.37"],
        ),
        ("Sum the weight by club.", ["summed by Club: Lee 283; Tyne 219; Wear 69; Ouse 1540"]),
        ("Report on the weight of the rowers.", []),
        ("How many weights are above 70?", ["above 70 in 4 of 30 rows and below it in 4"]),
        ("Write a poem on phones.", []),
    ],
)
def test_what_a_long_table_says_of_a_request(request_text: str, expected: list[str]) -> None:
    lines = " ".join(quoted(request_text))
    assert all(text in lines for text in expected)
    assert bool(lines) == bool(expected)


RATES = InputTable(
    name="",
    columns=("Town", "Year", "Exchange Rate", "Lat", "Unit Price", "Number of Boats", "Share"),
    rows=30,
    cells=tuple(
        (
            f"Town {n}",
            str(1990 + n),
            f"{1 + n / 7:.3f}",
            f"5{n % 9}.{n}",
            f"{n}.50",
            str(3 * n),
            f"{n}%",
        )
        for n in range(30)
    ),
)


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("What is the total of the exchange rate?", []),
        ("Write the total year, the lowest year and the average year.", []),
        ("What is the highest lat?", []),
        ("Give the total unit price.", []),
        ("Sum the share.", []),
        ("What is the average exchange rate?", ["the mean of Exchange Rate over all 30 rows"]),
        ("What is the total number of boats?", ["Number of Boats of all 30 rows", "1305"]),
        ("Describe the number of boats; give an overall picture.", []),
        ("The report totals four pages and describes the number of boats at large.", []),
        ("Plot the number of boats, then list the top towns.", []),
        ("Number of boats by town.", []),
    ],
)
def test_only_what_is_asked_of_a_column_and_has_a_meaning(
    request_text: str, expected: list[str]
) -> None:
    lines = " ".join(quoted(request_text, RATES))
    assert all(text in lines for text in expected)
    assert bool(lines) == bool(expected)


def test_sums_are_asked_for_in_chinese_too() -> None:
    sheet = InputTable(
        name="",
        columns=("船名", "租金", "汇率"),
        rows=60,
        cells=(("苍鹭号", "90", "7.1"), ("白鹭号", "80", "7.2")) * 30,
    )
    assert "合计" not in "".join(
        of_table(sheet, "a.csv", "说明各船的租金情况，另外总共写两页。", WORDS)
    )
    assert any("5100" in text for text in of_table(sheet, "a.csv", "算出租金合计。", WORDS))
    assert not any("429" in text for text in of_table(sheet, "a.csv", "算出汇率合计。", WORDS))


def test_a_small_table_and_a_short_text_are_quoted_whole() -> None:
    sheet = InputTable(
        name="", columns=("Item", "Cost"), rows=2, cells=(("oar", "9"), ("cox", "4"))
    )
    assert "“Item, Cost; oar, 9; cox, 4”" in quoted("Sort it.", sheet)[0]
    mail = "mail mail a a lee@club.example lee@club.example Oars Oars They are wet."
    assert whole_text(mail, "mail/a.eml") == "lee@club.example Oars They are wet."
    assert not whole_text("boat boat", "boat.png")
    assert not whole_text("wet oars " * 99, "oars.txt")


CLASSES = InputTable(
    name="",
    columns=("Name", "Class", "Oars", "Sails"),
    rows=5,
    cells=(
        ("Ann", "1", "40", "7"), ("Bo", "2", "25", "9"), ("Cy", "1", "31", "5"),
        ("Di", "2", "28", "6"), ("Ed", "3", "12", "8"),
    ),
)  # fmt: skip


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("Who is in class 1?", ["2 of 5 rows have 1 as Class (Ann, Cy)"]),
        ("What is the difference of the highest and lowest oars?", ["which are 28 apart"]),
        ("Add the oars and sails of Ann together.", ["Oars, Sails of Ann add up to 47"]),
        ("Add the oars and sails of all.", []),
        ("List the names.", []),
    ],
)
def test_beside_a_small_table_that_is_quoted_stands_what_is_asked_of_it(
    request_text: str, expected: list[str]
) -> None:
    whole, *lines = quoted(request_text, CLASSES)
    assert "Ed, 3, 12, 8" in whole
    assert len(lines) == len(expected)
    assert all(text in line for text, line in zip(expected, lines, strict=True))


@pytest.mark.parametrize(
    "request_text",
    [
        "Look into the club of each rower and report on them.",
        "Check the inbox, then look at the CRM and write to those who wait. " * 4,
    ],
)
def test_words_of_columns_files_and_chance_name_no_value(request_text: str) -> None:
    rows = [("inbox", "Club"), ("wait", "Lee"), ("club", "Rowers")] * 20
    sheet = InputTable(name="", columns=("Label", "Club"), rows=60, cells=tuple(rows))
    assert not list(of_table(sheet, "mail/inbox.json", request_text, WORDS))


def test_lines_of_a_text_answer_to_a_demand() -> None:
    text = (
        "Regatta of the year\nTotal due: 90 EUR\nThe club was founded on the Tyne in 1880.\n"
        "Boats are stored in the shed.\nThe shed has room for 14 boats and oars.\n"
    ) + "The members met and talked of this and that. " * 40
    lines = " ".join(of_lines(text, "bill.pdf", ["Find the total due", "Write it down"], WORDS))
    assert "“Total due: 90 EUR”" in lines
    assert "1880" not in lines
    shed = " ".join(of_lines(text, "bill.pdf", ["How many boats and oars fit in?"], WORDS))
    assert "room for 14 boats" in shed
    assert "stored" not in shed
    assert not list(of_lines(text, "bill.png", ["Find the total due"], WORDS))


def test_a_calendar_is_quoted_event_by_event() -> None:
    text = (
        "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:20310504T060000Z\r\nDTEND:20310504T073000Z\r\n"
        "SUMMARY:Regatta\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20310506\r\n"
        "SUMMARY:Rest\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    (line,) = of_calendar(text, "crew.ics", WORDS)
    assert "2 event(s): Regatta, 2031-05-04 06:00 UTC – 2031-05-04 07:30 UTC; Rest, 2031-05-06" in (
        line
    )
    assert not list(of_calendar(text, "crew.txt", WORDS))
    assert not list(of_calendar(text + " " * 1500, "crew.ics", WORDS))


def test_a_table_that_is_to_be_checked_is_no_measure() -> None:
    sheet = InputTable(
        name="", columns=("Item", "Cost"), rows=2, cells=(("oar", "9"), ("cox", "4"))
    )
    known = {"costs.csv": InputFile(words=4, key=1, tables=(sheet,))}

    def quoted_of(text: str) -> list[tuple[str, tuple[str, ...]]]:
        made = case(text, files=["costs.csv"]).model_copy(update={"inputs": known})
        return references_of(made, ["costs.csv"], [text], WORDS, few=6)

    assert quoted_of("List the costs of costs.csv.")
    assert not quoted_of("List all errors in costs.csv.")


def test_several_short_texts_are_quoted_together() -> None:
    paths = [f"mail/{name}.txt" for name in "abc"]
    texts = {path: f"The oars of boat {path[5]} are wet." for path in paths}
    made = case("List the boats.", files=paths).model_copy(update={"excerpts": texts})
    ((text, files),) = references_of(made, paths, ["List the boats."], WORDS, few=6)
    assert files == tuple(paths)
    assert all(f"{path}: “{said}”" in text for path, said in texts.items())
    assert len(references_of(made, paths[:2], ["List the boats."], WORDS, few=6)) == 2


@pytest.mark.parametrize(
    ("demand", "expected"),
    [
        ("Enter the date of the regatta", "on 4 May 2031"),
        ("Make a contact card of the club", "lee@club.example"),
        ("Say what the entry fee is", "$40"),
        ("Praise the club", ""),
    ],
)
def test_lines_with_what_a_demand_seeks_are_quoted(demand: str, expected: str) -> None:
    text = (
        "The club meets its friends and all of their families at the shed\non 4 May 2031.\n"
        "Write to lee@club.example.\nTo enter costs $40 for a crew.\n"
    ) + "The members met and talked of this and that. " * 40
    lines = " ".join(of_lines(text, "letter.pdf", [demand], WORDS))
    assert expected in lines
    assert bool(lines) == bool(expected)


def test_values_of_a_column_are_counted_together() -> None:
    (line,) = quoted("Are there more rowers in Lee than in Ouse?")
    assert "The 30 rows of crew.csv by Club: Ouse 22, Lee 4, Tyne 3, Wear 1" in line


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("Delete the rower Gus", (6,)),
        ("Remove the rowers of Tyne from the list", (4, 5, 6)),
        ("Delete the first three rowers", (0, 1, 2)),
        ("Delete the third row", (2,)),
        ("Delete the last row", (29,)),
        ("Delete all rowers except Gus", ()),
        ("Delete the column Club of Gus", ()),
        ("Add a row for Gus", ()),
    ],
)
def test_the_rows_that_a_brief_request_wants_gone(
    request_text: str, expected: tuple[int, ...]
) -> None:
    assert removed_rows(CREW, request_text) == expected


def test_a_criterion_says_which_rows_go_and_how_many_stay() -> None:
    edited = {"crew.csv": InputFile(words=9, key=1, tables=(CREW,))}
    assert list(removals_of(edited, "Delete the rower Gus", WORDS)) == [
        (
            "Of crew.csv just these rows are gone: Gus, Tyne, 71, 44155500; "
            "the other 29 are there.",
            ("crew.csv",),
        )
    ]


def test_few_rows_of_a_value_are_named() -> None:
    (line,) = quoted("How many rowers are in Lee?")
    assert "have Lee as Club (Ada, Bo, Cleo, Dov)" in line
