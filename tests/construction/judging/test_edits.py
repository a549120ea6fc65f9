"""Input files that a request has changed where they lie."""

from __future__ import annotations

import time

import pytest

from construction.judging.edits import changed_inputs, missing_objects, moved_inputs
from tests.construction.judging.rules.cases import case

BOOKS = ("in/club_fees.xlsx", "in/boats.xlsx")
DIFF = "--- a/fee.txt\n+++ b/fee.txt\n-a = 1\n+a = 2"


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("Update the totals in boats.xlsx.", [1]),
        ("Please add a column with the age to boats.xlsx", [1]),
        ("Remove the duplicates from boats.xlsx", [1]),
        ("Delete the last row in club fees excel file", [0]),
        ("Find the oldest boat, mark it in the boats workbook", [1]),
        ("Can you sort the rows of boats.xlsx by age?", [1]),
        ("在 boats.xlsx 里加一列年龄。", [1]),
        ("把 boats.xlsx 里的价格改成整数。", [1]),
        ("Add a chart based on boats.xlsx to the slides.", []),
        ("Add the fees from club_fees.xlsx to boats.xlsx.", [1]),
        ("Add up the fees in club_fees.xlsx.", []),
        ("Do not change or sort boats.xlsx; count its rows.", []),
        ("How many rows are in boats.xlsx?", []),
        ("Delete the last row in boats.xlsx and save it as a new file.", []),
        ("The fees rise by 5%, show this in the fees excel file with a new column.", [0]),
        ("Update the workbook.", []),
        ("Swap the two lowest items in the fees excel file", [0]),
        ("Format the answer as a workbook.", []),
        ("Summarise boats.xlsx and highlight the oldest boats in boats.xlsx.", []),
        ("Highlight the risks of boats.xlsx in a one-page summary.", []),
        ("Add a summary sheet to boats.xlsx.", [1]),
        ("把结果整理后填入一个表格。", []),
        ('Add the row "all paid. Thanks" to the end of boats.xlsx.', [1]),
    ],
)
def test_what_is_changed_in_place(text: str, changed: list[int]) -> None:
    assert changed_inputs(text, BOOKS, []) == tuple(BOOKS[number] for number in changed)


def test_a_named_output_of_the_type_holds_the_change() -> None:
    assert changed_inputs("Sort boats.xlsx.", BOOKS, ["sorted.xlsx"]) == ()
    assert changed_inputs("Sort boats.xlsx.", BOOKS, ["notes.md"]) == (BOOKS[1],)


def test_beside_another_output_only_the_object_of_the_verb_is_changed() -> None:
    text = "Compare the fees and flag every gap in boats.xlsx. Save the gaps as gaps.csv."
    assert changed_inputs(text, BOOKS, ["gaps.csv"]) == ()
    assert changed_inputs("Update the boats.xlsx.", BOOKS, ["gaps.csv"]) == (BOOKS[1],)


def test_one_workbook_needs_no_name() -> None:
    assert changed_inputs("在表格里加一列。", BOOKS[:1], []) == BOOKS[:1]


def test_the_changed_file_is_delivered() -> None:
    item = case("Delete the last row in boats.xlsx.", files=("boats.xlsx",))
    (deliverable,) = item.candidate.deliverables
    assert (deliverable.file_type, deliverable.name_hints) == ("xlsx", ("boats.xlsx",))
    assert "- outputs/boats.xlsx" in item.candidate.prompt


@pytest.mark.parametrize(
    ("text", "given", "moved", "missing"),
    [
        ("Rename the club pdf to its year.", ["in/club.pdf", "in/a.xlsx"], ["in/club.pdf"], []),
        ("Rename the pdf file after its invoice number.", ["in/scan.pdf"], ["in/scan.pdf"], []),
        ("Rename the pdf file after its invoice number.", ["mail/a.eml"], [], ["the pdf file"]),
        ("Change the name of the pdf to its date.", ["mail/a.eml"], [], ["the pdf"]),
        ("Move the tide statistics file into harbour/.", ["README.md"], [],
         ["the tide statistics file"]),
        ("Move the tide statistics file into harbour/.", ["tide.csv"], ["tide.csv"], []),
        ("Copy the document into the archive folder.", ["a.docx"], ["a.docx"], []),
        ("Convert the picture to a pdf.", ["a.docx"], [], ["the picture"]),
        ("Convert the picture to a pdf.", ["a.jpg"], [], []),
        ("Save the list in a word file and convert the word file to pdf.", ["a.eml"], [], []),
        ("Rename the pdf file.", ["a.pdf", "b.pdf"], [], []),
        ("Do not rename the pdf file; read it.", ["mail/a.eml"], [], []),
        ("Delete the last row of the boats spreadsheet.", ["in/notes.md"], [],
         ["the boats spreadsheet"]),
        ("Delete the last row of the boats spreadsheet.", BOOKS, [], []),
        ("Sort the names and save them in the excel file.", ["in/names.txt"], [], []),
        ("Edit the letter in the word document below.", [], [], []),
        (f"Review this change and rename the file to fee.py.\n\n{DIFF}", [], [], []),
        ("Review this change and rename the file to fee.py.", [], [], ["the file"]),
        ("Rename the column Age in boats.xlsx.", BOOKS, [], []),
        ("Change the word file name to plan.docx.", ["old.docx", "b.pdf"], ["old.docx"], []),
        ("Duplicate the excel file and name it b.xlsx.", ["a.xlsx", "b.pdf"], ["a.xlsx"], []),
        ("Move all pdf, word and image files into new/.", ["a.pdf", "b.docx", "c.png", "d.csv"],
         ["a.pdf", "b.docx", "c.png"], []),
    ],
)  # fmt: skip
def test_what_is_moved_and_what_is_not_there(
    text: str, given: list[str], moved: list[str], missing: list[str]
) -> None:
    assert list(moved_inputs(text, given)) == moved
    assert list(missing_objects(text, given)) == missing


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("Fix the wrong sums.", ["crew.csv"], ["crew.csv"]),
        ("The settings are invalid. Repair them.", ["boat.json"], ["boat.json"]),
        ("改正信里的错别字。", ["letter.md"], ["letter.md"]),
        ("Fix the wrong sums.", ["crew.csv", "boats.csv"], []),
        ("Fix the scan.", ["crew.png"], []),
        ("Find a fix for the leak.", ["advice.md"], []),
        ("Do not fix anything; list the mistakes.", ["crew.csv"], []),
        ("How do I fix it?", ["crew.csv"], []),
    ],
)
def test_what_is_to_be_repaired_is_the_only_file_that_there_is(
    text: str, given: list[str], expected: list[str]
) -> None:
    assert list(changed_inputs(text, given, [])) == expected
    assert changed_inputs(text, given, ["notes.md"]) == ()


@pytest.mark.parametrize("piece", ["word, ", "then x; ", "and sort: ", "a:b:"])
def test_many_clauses_are_read_in_linear_time(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        began = time.process_time()
        changed_inputs(text, ["boats.csv"], [])
        return time.process_time() - began + 1e-3

    assert seconds(160_000) / seconds(20_000) < 24  # linear 8, quadratic 64


@pytest.mark.parametrize("piece", ["slides ", "csv ", "move a.csv to b/ ", "表格", "in the csv "])
def test_many_words_for_files_are_read_in_linear_time(piece: str) -> None:
    given = ["boats.csv", "crew.csv", "plan.pptx", "数据.xlsx"]

    def seconds(length: int) -> float:
        text = "Sort the rows: " + piece * (length // len(piece))
        began = time.process_time()
        changed_inputs(text, given, ["all.pdf"])
        moved_inputs(text, given)
        missing_objects(text, given)
        return time.process_time() - began + 1e-3

    assert seconds(80_000) / seconds(10_000) < 24  # linear 8, quadratic 64
