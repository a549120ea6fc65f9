"""Lengths and names that a request fixes, and sentences that fix nothing."""

from __future__ import annotations

import pytest

from construction.judging.request_bounds import fixed, lengths


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("Write an essay of at least 2000 words.", ("words", 2000, None)),
        ("Write a memo, no more than 1,200 words", ("words", None, 1200)),
        ("Draft a note of 300-400 words.", ("words", 300, 400)),
        ("Write a post at roughly 800 words, with an intro.", ("words", 560, 1040)),
        ("Make a deck with exactly ten slides", ("slides", 10, 10)),
        ("Create a table with at least eight data rows.", ("rows", 8, None)),
        ("Condense it into two pages.", ("pages", None, 2)),
        ("写一篇不少于2000字的文章。", ("words", 2000, None)),
        ("起草一份通知，500字以内。", ("words", None, 500)),
    ],
)
def test_the_length_of_a_file_is_read(
    request_: str, expected: tuple[str, int | None, int | None]
) -> None:
    assert [(one.unit, one.least, one.most) for one in lengths(request_)] == [expected]


@pytest.mark.parametrize(
    "request_",
    [
        "Add a title of at most five words.",
        "Write three mails with at most 100 words each.",
        "Remove the first 3 rows.",
        "The log has 70000 lines; summarise it.",
        "每段不超过100字。",
        "Do not write more than 100 words.",
    ],
)
def test_the_length_of_a_part_or_of_the_material_is_not(request_: str) -> None:
    assert list(lengths(request_)) == []


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("Mail it to Tom with the subject 'Cars for you'.", ("holds", ("Cars for you",))),
        ("Record it under a new header 'Attendance' in the file.", ("columns", ("Attendance",))),
        (
            "Save plan.csv with columns issue_type, affected_path, evidence, priority.",
            ("columns", ("issue_type", "affected_path", "evidence", "priority")),
        ),
        (
            "It must have the following columns: Segment_No (from 1), Track, Note.",
            ("columns", ("Segment_No", "Track", "Note")),
        ),
        ('The "Summary" sheet should be short.', ("sheets", ("Summary",))),
        ("The sheet should have Avg_Price and On_Sale_Count.", ("holds", None)),
        ("起草邮件，主题为“春季汇报”。", ("holds", ("春季汇报",))),
    ],
)
def test_names_are_read(request_: str, expected: tuple[str, tuple[str, ...] | None]) -> None:
    kind, values = expected
    (named,) = fixed(request_)
    assert (named.kind, named.values) == (kind, values or ("Avg_Price", "On_Sale_Count"))


@pytest.mark.parametrize(
    "request_",
    [
        "Answer with the text 'larger' or 'smaller'.",
        "Do not use the title 'Report'.",
        "Give it a title such as 'Spring'.",
        "Save it with the subject 'out.csv'.",
        "Explain the columns of the table.",
    ],
)
def test_a_choice_an_example_and_what_is_forbidden_fix_nothing(request_: str) -> None:
    assert list(fixed(request_)) == []
