"""Expected files: from the words of the request, and from what the agent wrote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.judging.deliverables import expected_deliverables
from construction.judging.messages import with_messages
from construction.judging.result_folders import folders_of
from data.contracts import AgentAct, Deliverable
from tests.construction.judging.rules.cases import case


def wrote(*paths: str) -> list[AgentAct]:
    return [AgentAct("wrote", path, 1) for path in paths]


def types(actual: tuple[Deliverable, ...]) -> list[tuple[str, int]]:
    return [(item.file_type, item.count) for item in actual]


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("Make 3 slide decks about our product line", [("pptx", 3)]),
        ("Turn these notes into a 10-page PowerPoint deck", [("pptx", 1)]),
        ("Read this PDF and give me a summary as Excel", [("xlsx", 1)]),
        ("Convert the attached Excel into a Word document", [("docx", 1)]),
        ("Write a Python script that parses the access logs", [("py", 1)]),
        ("Can you export the figures to csv and create two charts?", [("csv", 1), ("png", 2)]),
        ("Please draft a memo for the board", [("md", 1)]),
        ("Convert the old word documents to PDF", [("pdf", 1)]),
        ("I need a spreadsheet with all open invoices", [("xlsx", 1)]),
        ("请把结果导出为PDF", [("pdf", 1)]),
        ("帮我写一份报告", [("md", 1)]),
        ("生成两份报告和一个Excel表格", [("md", 2), ("xlsx", 1)]),
        ("做一个5页的PPT", [("pptx", 1)]),
        ("帮我根据这份PDF整理成Word文档", [("docx", 1)]),
    ],
)
def test_types_and_counts_of_a_request(request_text: str, expected: list[tuple[str, int]]) -> None:
    actual = expected_deliverables(request_text, [], [])
    assert types(actual) == expected
    assert {item.source for item in actual} == {"request"}


@pytest.mark.parametrize(
    "request_text",
    [
        "How do Python decorators work?",
        "Summarise inputs/contract.docx in three bullet points",
        "Create an overview and compute the means on the CSV",
        "读取数据并在 CSV 上进行计算，给我结论。",
        "I'll draft a report tomorrow. Can you check these figures?",
        "What does the PDF say about notice periods?",
        "这份报告说了什么？",
        "请用坐标的形式报告它，并解释原因。",
    ],
)
def test_an_answer_is_delivered_as_answer_md(request_text: str) -> None:
    (answer,) = expected_deliverables(request_text, [], [])
    assert answer == Deliverable(file_type="md", name_hints=("answer.md",), source="request")


def test_named_outputs_are_asked_for_with_their_names() -> None:
    actual = expected_deliverables(
        "Merge the two tables and save them", ["out/x.csv", "out\\notes.MD", "out/x.csv"], []
    )
    assert actual == (
        Deliverable(file_type="csv", name_hints=("x.csv",)),
        Deliverable(file_type="md", name_hints=("notes.MD",)),
    )


def test_more_names_than_asked_for_raise_the_count() -> None:
    (actual,) = expected_deliverables("Write a report", ["a.md", "b.md"], [])
    assert (actual.count, actual.name_hints) == (2, ("a.md", "b.md"))


def test_what_the_agent_made_of_a_report_is_its_type() -> None:
    (actual,) = expected_deliverables(
        "Write a report on churn", [], wrote("/w/churn.docx", "/w/x.py")
    )
    assert actual == Deliverable(file_type="docx", source="both")


def test_a_type_named_and_produced_has_both_sources() -> None:
    (actual,) = expected_deliverables("Export it as an Excel file", [], wrote("a.xlsx", "b.xlsx"))
    assert actual == Deliverable(file_type="xlsx", source="both")


def test_files_that_the_agent_wrote_stand_alone() -> None:
    acts = [
        *wrote("/w/src/loader.py", "/w/src/loader.py", "/w/.cache/.hidden.json"),
        AgentAct("read", "/w/data.csv", 1),
        AgentAct("ran", "/w/run.sh", 2),
    ]
    (actual,) = expected_deliverables("Fix the loader", [], acts)
    assert actual == Deliverable(file_type="py", name_hints=("loader.py",), source="produced")


def test_code_is_a_means_where_a_document_was_made() -> None:
    actual = expected_deliverables("Finish it", [], wrote("make.py", "deck.pptx", "notes.md"))
    assert types(actual) == [("md", 1), ("pptx", 1)]


def test_a_file_for_each_persons_folder_is_several_files() -> None:
    text = "For each rower write notice.docx into their folder."
    (actual,) = expected_deliverables(text, ["notice.docx"], [])
    assert actual == Deliverable(file_type="docx", count=2)
    (single,) = expected_deliverables("List each rower in rowers.docx.", ["rowers.docx"], [])
    assert single.name_hints == ("rowers.docx",)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Which event is on the calendar most often?", ["md"]),
        ("Find the free hours in the calendar and list them.", ["md"]),
        ("Create calendar events for each rower.", ["ics"]),
        ("Schedule the regatta with Ann on calendar.", ["ics"]),
        ("帮我建一个日历事件，周一八点，和Ann划船。", ["ics"]),
        ("Email the table to Ann.", ["eml"]),
        ("Pair the rowers and email those rowers.", ["eml"]),
        ("Read the email to Ann and list the prices.", ["md"]),
        ("List the name and email to call.", ["md"]),
        ("Draft an email to Ann.", ["eml"]),
        ("Write a report on the rents from the 2031 yearly housing pdf.", ["md"]),
        ("Put the rents into a pdf.", ["pdf"]),
    ],
)
def test_messages_and_events_are_delivered_where_they_are_made(text: str, kinds: list[str]) -> None:
    actual = with_messages(expected_deliverables(text, [], []), text)
    assert [item.file_type for item in actual] == kinds


@given(
    st.text(max_size=200),
    st.lists(st.text(max_size=20), max_size=4),
    st.lists(
        st.builds(AgentAct, st.sampled_from(["wrote", "read"]), st.text(max_size=20), st.just(0)),
        max_size=4,
    ),
)
def test_there_is_always_something_to_deliver(
    request_text: str, named: list[str], acts: list[AgentAct]
) -> None:
    actual = expected_deliverables(request_text, named, acts)
    assert actual
    assert list(actual) == sorted(actual, key=lambda item: item.file_type)
    assert all(item.count >= max(1, len(item.name_hints)) for item in actual)


@pytest.mark.parametrize(
    ("text", "named", "expected"),
    [
        ("Compare the halls in halls.md. Also draft a short email to the choir.", ["halls.md"],
         [("eml", 1), ("md", 1)]),
        ("Compare the halls and draft an email to the choir.", [], [("eml", 1), ("md", 1)]),
        ("What does the best hall cost? Send it by email to the choir.", [], [("eml", 1)]),
        ("Draft an email to the choir in invitation.docx.", ["invitation.docx"], [("docx", 1)]),
        ("Schedule a thank-you meeting with the best rower and write a speech in speech.pdf.",
         ["speech.pdf"], [("ics", 1), ("pdf", 1)]),
        ("1. 查看船只\n2. 查看船员\n3. 查看费用\n4. 为最急的一件起草回复邮件草稿", [], [("md", 1)]),
        ("Convert the club letter to pdf, then convert it to images.", [],
         [("pdf", 1), ("png", 1)]),
        ("Write a statement for the best rower and mail it as rower_name.eml.",
         ["rower_name.eml"], [("eml", 1)]),
    ],
)  # fmt: skip
def test_messages_events_and_pictures_that_no_name_tells_of(
    text: str, named: list[str], expected: list[tuple[str, int]]
) -> None:
    assert types(with_messages(expected_deliverables(text, named, []), text)) == expected


def test_a_name_that_is_still_to_be_found_out_is_no_name() -> None:
    text = "Write a statement for the best rower and mail it as rower_name.eml."
    (mail,) = expected_deliverables(text, ["rower_name.eml"], [])
    assert mail.name_hints == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write crew.xlsx and save it in folder named crew.", {"crew.xlsx": "crew"}),
        ("Make crew.xlsx; save the excel file under the boats folder", {"crew.xlsx": "boats"}),
        ("Split the list in b.csv and a.csv, save in two folders East and West respectively",
         {"b.csv": "East", "a.csv": "West"}),
        ("Write crew.xlsx and save it in a folder for each rower.", {}),
        ("Write crew.xlsx from the boats folder.", {}),
        ("Make a chart crew.xlsx in folder named boats", {"crew.xlsx": "boats"}),
        ("Write yes or no in crew.xlsx, save application into folder named application", {}),
    ],
)  # fmt: skip
def test_the_folder_in_which_a_file_is_to_be_saved(text: str, expected: dict[str, str]) -> None:
    names = [name for name in ("a.csv", "b.csv", "crew.xlsx") if name in text]
    assert folders_of(text, names) == expected


@pytest.mark.parametrize(
    ("text", "named", "given", "expected"),
    [
        ("Use the PDF extraction skill to make crew.md from it.", ["crew.md"], [], [("md", 1)]),
        ("Write a check of the Excel figures into crew.md and give me an Excel rating.",
         ["crew.md"], ["a.xlsx"], [("md", 1)]),
        ("Write crew.md and export it as Excel.", ["crew.md"], ["a.xlsx"],
         [("md", 1), ("xlsx", 1)]),
        ("Write a check of the figures, and give me Excel.", [], ["a.xlsx"], [("xlsx", 1)]),
        ("用 PDF 提取技能写成 crew.md。", ["crew.md"], [], [("md", 1)]),
        ("Write Ann/row.docx and Bo/row.docx.", ["Ann/row.docx", "Bo/row.docx"], [],
         [("docx", 2)]),
        ("Write it to out/row.docx.", ["out/row.docx", "row.docx"], [], [("docx", 1)]),
    ],
)  # fmt: skip
def test_means_and_inputs_are_no_results_and_a_name_in_several_folders_is_several(
    text: str, named: list[str], given: list[str], expected: list[tuple[str, int]]
) -> None:
    assert types(expected_deliverables(text, named, [], given)) == expected


@pytest.mark.parametrize(
    ("text", "named", "count"),
    [
        ("Send separate emails to Ann, Bo and Cleo.", [], 3),
        ("Send an email to each rower of the crew.", [], 2),
        ("Send emails to each rower separately.", [], 2),
        ("Send an email row.eml to Ann and send an email to Bo with the rest.", ["row.eml"], 2),
        ("Send an email row.eml to Ann and Bo.", ["row.eml"], 1),
    ],
)
def test_a_mail_for_each_person_is_several_mails(text: str, named: list[str], count: int) -> None:
    (mail,) = with_messages(expected_deliverables(text, named, []), text)
    assert (mail.file_type, mail.count) == ("eml", count)


def test_a_file_for_each_event_is_several_files() -> None:
    text = "Schedule a training, create calendar event files for each rower."
    (event,) = with_messages(expected_deliverables(text, [], []), text)
    assert (event.file_type, event.count) == ("ics", 2)
    text = "Schedule a training, create calendar events for each rower."
    (event,) = with_messages(expected_deliverables(text, [], []), text)
    assert event.count == 1  # one calendar may hold them all


@pytest.mark.parametrize(
    ("text", "kind", "count"),
    [
        ("Write one email to each of the three rowers.", "eml", 3),
        ("Email the three captains separately.", "eml", 3),
        ("Send an email to Ada and an email to Bo.", "eml", 2),
        ("Send an email to the whole crew.", "eml", 1),
        ("Create a calendar invite for each of the three crews.", "ics", 3),
        ("Send separate calendar invites to Ada, Bo and Cleo.", "ics", 3),
    ],
)
def test_each_recipient_has_a_message(text: str, kind: str, count: int) -> None:
    (item,) = case(text).candidate.deliverables
    assert (item.file_type, item.count) == (kind, count)
