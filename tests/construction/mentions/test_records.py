"""Records that are to be gathered, and no input file that could hold them."""

from __future__ import annotations

import pytest

from construction.mentions.records import missing_records
from data.contracts import Fixture

PULL = "Pull all orders of the second quarter and rank the shops."


def fixture(path: str, size: int = 4000) -> Fixture:
    return Fixture(path=path, sha256="0" * 64, bytes=size, media_type="text/csv")


@pytest.mark.parametrize(
    ("text", "files", "missing"),
    [
        (PULL, [], ("pull all orders",)),
        (PULL, [fixture("order_guidelines.pdf"), fixture("report_template.xlsx")], 1),
        (PULL, [fixture("rows.csv", 47)], 1),
        (PULL, [fixture("rows.csv")], 0),
        ("First, gather the sensor readings. Then export the ticket history.", [], 2),
        ("Retrieve the video's metadata, then fetch the timed transcript.", [], 1),
        ("Pull the orders from the attached sheet.", [], 0),
        (
            "Start by retrieving all orders. Ship 3, keep 4.\nRows 1, 2 stay. No 5, 6.\nA 7, 8.",
            [],
            1,
        ),
        ("Extract the scores in inputs/run.log.", [], 0),
        ("Do not download the invoices; design the form only.", [], 0),
        ("Pull the highest prices:\nNorth, 12, 40\nSouth, 9, 35\nWest, 20, 31", [], 0),
        (f"{PULL}\n--- a/shop.sql\n+++ b/shop.sql\n-select\n+select all", [], 0),
        ("Write a script that parses dates and collects garbage.", [], 0),
        ("Explain how a warehouse counts its stock.", [], 0),
        ("Follow the audit skill's workflow to the end.", [fixture("rows.csv")], 1),
        ("Follow the audit skill's workflow.", [fixture("skills/audit/SKILL.md")], 0),
        ("请完整遵循审计技能的工作流。", [fixture("rows.csv")], 1),
        ("Use the spreadsheet skill to sum the rows.", [fixture("rows.csv")], 0),
        ("Find the lowest fee in the boat club excel file.", [], 2),
        ("Find the lowest fee in the boat club excel file.", [fixture("fees.xlsx")], 0),
        ("Scan the ferry notice and save it as a card.", [], ("scan the",)),
        ("Read all emails of Ann and list them in posts.docx.", [], ("read all emails",)),
        ("Collect Ann's letters.", [], ("collect ann's",)),
        ("Write a plan based on the survey results.", [], ("based on the survey results",)),
        ("查看所有会议纪要，列出行动项。", [], 1),
        ("Write an excel file with three made-up boats.", [], 0),
        ("Find the lowest fee in the table below: 3, 4, 9", [], 0),
        ("Search the web for the highest ticket price.", [], 0),
        ("Write to Ann that the average age of boats is nine.", [], 0),
    ],
)
def test_records_are_missing_where_no_input_can_hold_them(
    text: str, files: list[Fixture], missing: tuple[str, ...] | int
) -> None:
    actual = missing_records(text, files)
    assert (len(actual) if isinstance(missing, int) else actual) == missing


def test_what_a_program_is_to_be_able_to_do_is_not_there() -> None:
    assert (
        missing_records("Write a class that can add contacts and find contacts by e-mail.", ())
        == ()
    )
    assert missing_records("Please check my inbox.", ()) != ()
