"""Demands of requests: all of them, whole, and neither headings nor background."""

from __future__ import annotations

import pytest

from construction.judging.rules.demands import demands_of
from tests.construction.judging.rules.cases import case


def test_the_items_of_a_list_are_demands_and_its_heading_is_none() -> None:
    text = (
        "Please open the recording:\ntalk.mp4\n\nRequirements:\n1. Only the first 3 minutes\n"
        "2. Standard captions, two lines\n   at most\n3. If nobody speaks, leave it empty"
    )
    assert demands_of(case(text, files=["talk.mp4"])) == [
        "Only the first 3 minutes",
        "Standard captions, two lines at most",
        "If nobody speaks, leave it empty",
    ]


def test_items_of_a_word_or_two_are_read_with_what_introduces_them() -> None:
    text = "Write a table of all suppliers with:\n- name\n- price\n- delivery time"
    assert demands_of(case(text)) == [
        "Write a table of all suppliers with: name; price; delivery time"
    ]


def test_a_list_in_a_line_and_a_quotation_are_kept_whole() -> None:
    text = 'Write a note: 1. a status, 2. the risks, 3. next steps. Add "It ends." to a.md.'
    assert demands_of(case(text, files=["a.md"])) == [
        "Write a note: a status; the risks; next steps.",
        'Add "It ends." to a.md.',
    ]


def test_a_list_of_what_is_there_is_no_demand() -> None:
    text = (
        "The folder holds a mix:\n- old invoices of the shop\n- photographs of the office\n\n"
        "Sort the invoices by date into list.csv."
    )
    assert demands_of(case(text)) == ["Sort the invoices by date into list.csv."]


def test_background_is_no_demand() -> None:
    text = (
        "Your firm needs to establish a review of its suppliers. The first part is about price.\n\n"
        "## Background\n\nWe buy paper from three mills.\n\n## Task\n\nCompare the mills by price."
    )
    assert demands_of(case(text)) == ["Compare the mills by price."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Build book.xlsx from it. The “Prices” sheet should have Mill and Price. "
            "Sort by Price. For each mill, I need the mean price.",
            4,
        ),
        ("Save the report. In the second section list every mill without a price.", 2),
        ("请写一份报告。第一个工作表应当列出每家供应商。阅读附件，并选出最合适的两家。", 3),
    ],
)
def test_no_demand_is_missed(text: str, expected: int) -> None:
    assert len(demands_of(case(text))) == expected


def test_wrapped_lines_are_one_sentence() -> None:
    text = (
        "把这三张小票上的每一条明细行都提取出来，并且逐条核对后写入\nreconcile.xlsx。第一个工作表应当每条明细\n"
        "对应一行，每行要清楚地标明它来自哪家店以及它的日期。"
    )
    assert demands_of(case(text)) == [
        "把这三张小票上的每一条明细行都提取出来，并且逐条核对后写入 reconcile.xlsx。",
        "第一个工作表应当每条明细对应一行，每行要清楚地标明它来自哪家店以及它的日期。",
    ]


def test_a_short_request_that_names_its_file_is_a_demand_and_mere_saving_is_none() -> None:
    assert demands_of(case("find the latest mail, save it in latest.docx")) == [
        "find the latest mail"
    ]
    text = "Summarise the minutes of May for the board. Save it as short.docx."
    assert demands_of(case(text)) == ["Summarise the minutes of May for the board."]


def test_a_text_without_any_demand_has_none() -> None:
    assert demands_of(case("The mill is old. It was built by three brothers.")) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "scan the poster, write the prices in prices.xlsx, and email it to Ann",
            ["scan the poster, write the prices in prices.xlsx", "email it to Ann"],
        ),
        (
            "Where a price is missing, please write none and add a note.",
            ["Where a price is missing, please write none and add a note."],
        ),
        (
            "Do not send emails, update the plan or change files.",
            ["Do not send emails, update the plan or change files."],
        ),
        (
            "Extract the name and email of each rower (if none, write none), save them in a table",
            [
                "Extract the name and email of each rower (if none, write none)",
                "save them in a table",
            ],
        ),
        ("汇总各店的销售额，再用图表比较各店。", ["汇总各店的销售额", "再用图表比较各店。"]),
        ("Please list the terms, schedule limits and prices of the fair.", None),
    ],
)
def test_a_sentence_with_several_orders_is_several_demands(
    text: str, expected: list[str] | None
) -> None:
    assert demands_of(case(text)) == (expected or [text])


def test_what_only_leads_over_is_no_demand() -> None:
    text = (
        "Please help me investigate.\n\nAlso save two handoff files:\n- prices.csv with the price "
        "of each mill\n- mills.json with their towns\n\nSave the new table at:\noutputs/x.csv"
    )
    assert demands_of(case(text)) == [
        "prices.csv with the price of each mill",
        "mills.json with their towns",
    ]


def test_items_set_further_in_belong_to_the_item_above_them() -> None:
    text = (
        "Please do this:\n1. List the mills in mills.csv, including at least:\n   - name\n"
        "   - town of the mill or its owner\n2. Compare their prices of the year"
    )
    assert demands_of(case(text)) == [
        "List the mills in mills.csv, including at least: name; town of the mill or its owner",
        "Compare their prices of the year",
    ]


@pytest.mark.parametrize(
    "telling",
    [
        "Ann, I've sent notes.md to the club.",
        "I want to be clear about the boat.",
        "But we should watch the weather.",
        "Should have had this before.",
        "Today is 2031-05-04.",
        "I'm finishing notes.md for the record.",
    ],
)
def test_what_people_tell_of_themselves_is_no_demand(telling: str) -> None:
    text = f"{telling} Please list the crews of the boats in notes.md."
    assert demands_of(case(text)) == ["Please list the crews of the boats in notes.md."]
    wish = "I want to sort the boats by age, and I've a list that needs totals."
    assert demands_of(case(wish)) == [wish]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Can you write up the leak in leak.md? Three parts:\n1. A log of the valves\n"
            "2. What broke, step by step",
            [
                "Can you write up the leak in leak.md?",
                "A log of the valves",
                "What broke, step by step",
            ],
        ),
        (
            "I want a few views of each bill. First, its lines. Second, the tax on them.",
            ["I want a few views of each bill.", "First, its lines.", "Second, the tax on them."],
        ),
        (
            "For each mill cover the price of a ream; the days to the shop; and the carrier.",
            None,
        ),
        ("Identify at least five mills and their prices.", None),
        ("Could you do a full check of the ledger?", None),
        ("Save:\n- `a.json`: the mills, each with a price\n- `b.json`: those left out", []),
    ],
)
def test_demands_that_no_verb_of_the_lists_opens(text: str, expected: list[str] | None) -> None:
    items = ["`a.json`: the mills, each with a price", "`b.json`: those left out"]
    assert demands_of(case(text)) == ([text] if expected is None else expected or items)


@pytest.mark.parametrize(
    "text",
    [
        "List the mills of the U.S. Treasury by year.",
        "Compare the mill of Art. 5 with that of Art. 7.",
        "Write to Mill Inc. and to Dr. Ames of Pulp Co., both in Ghent.",
        'Add the note ""read it and write back"" to the list.',
    ],
)
def test_no_demand_is_cut_at_an_abbreviation_or_in_a_quotation(text: str) -> None:
    assert demands_of(case(text)) == [text]


def test_reading_what_is_at_hand_is_no_demand_beside_others() -> None:
    text = "Please help me:\n1. Read all notes\n2. List the open points by person"
    assert demands_of(case(text)) == ["List the open points by person"]
    assert demands_of(case("Read all notes.")) == ["Read all notes."]
