"""How many files of a type, and which messages and answers, the words of a request mean."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from data.contracts import Deliverable
from tests.construction.judging.rules.cases import case


def types(deliverables: Sequence[Deliverable]) -> list[tuple[str, int]]:
    return [(item.file_type, item.count) for item in deliverables]


DOCS = ["a.docx", "b.docx", "c.docx"]


@pytest.mark.parametrize(
    ("text", "files", "expected"),
    [
        ("Convert all docx files to pdf.", DOCS, [("pdf", 3)]),
        ("Convert all docx files to pdf and merge them into one file.", DOCS, [("pdf", 1)]),
        ("Convert a.docx to pdf.", DOCS, [("pdf", 1)]),
        ("Write a Word report for each rower in crew.xlsx.", ["crew.xlsx"], [("docx", 2)]),
        ("Split the excel file by club, one file per club.", ["crew.xlsx"], [("xlsx", 2)]),
        ("Plot a bar chart of the weights in crew.xlsx.", ["crew.xlsx"], [("png", 1)]),
    ],
)
def test_a_result_for_each_input_person_or_part_is_counted(
    text: str, files: list[str], expected: list[tuple[str, int]]
) -> None:
    assert types(case(text, files=files).candidate.deliverables) == expected


@pytest.mark.parametrize(
    ("text", "files", "expected"),
    [
        ("Add the regattas in the notes to Ann's calendar.", ["notes.md"], [("ics", 1)]),
        ("Delete Ann's race at 10:00 in her calendar.", ["calendar/Ann.ics"], [("ics", 1)]),
        ("Find the fastest crew and send reminder emails to the rowers.", ["crew.csv"],
         [("eml", 1)]),
        ("Schedule a race between Ann and Bo on 5/1/2031 and notify them by email.", [],
         [("eml", 1)]),
        ("Send Ann a calendar invite for the review on 5/3/2031 at 10:00.", [], [("ics", 1)]),
        ("Save the events on Ann's calendar to list.xlsx.", ["calendar/Ann.ics"], [("xlsx", 1)]),
        ("Email all rowers about the race and add it to their calendars.", ["crew.csv"],
         [("eml", 1), ("ics", 1)]),
        ("Send an email to Ann and create an event for the race.", [], [("eml", 1), ("ics", 1)]),
        ("Create calendar events for each of them and email them.", ["crew.csv"],
         [("eml", 1), ("ics", 2)]),
        ("Send each rower the mail notice.eml.", ["crew.csv"], [("eml", 2)]),
        ("Send the mail notice.eml with a line for each rower.", ["crew.csv"], [("eml", 1)]),
        ("Send each rower a mail, saved as notice.eml in the folder of each rower.", ["crew.csv"],
         [("eml", 2)]),
        ("Create an events list in list.xlsx and email it to Ann.", ["crew.csv"],
         [("eml", 1), ("xlsx", 1)]),
        ("which rower send the most email to Ann", ["mails/a.eml", "mails/b.eml"], [("md", 1)]),
        ("Who sent the most email to Ann? write the name", ["mails/a.eml"], [("md", 1)]),
        ("Give me the name of the person who send email to Ann the most", ["mails/a.eml"],
         [("md", 1)]),
        ("Find who is late and send her an email.", ["crew.csv"], [("eml", 1)]),
    ],
)  # fmt: skip
def test_what_goes_on_a_calendar_or_out_by_mail(
    text: str, files: list[str], expected: list[tuple[str, int]]
) -> None:
    assert types(case(text, files=files).candidate.deliverables) == expected


def test_what_is_told_beside_a_new_task_is_no_part_of_its_file() -> None:
    files = ["todo/tasks.json", "boats.csv"]
    both = case("Draft notices for late boats and create a follow-up task.", files=files)
    assert types(both.candidate.deliverables) == [("json", 1), ("md", 1)]
    alone = case("Create a follow-up task for the late boats.", files=files)
    assert types(alone.candidate.deliverables) == [("json", 1)]
    listed = case("1. 查看 boats.csv\n2. 列出需要新建的待办事项", files=files)
    assert types(listed.candidate.deliverables) == [("md", 1)]
