"""Rubrics by rules: exact weights, criteria from the request, pointers into the fixtures."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.judging.contracts import InputFile, InputTable
from construction.judging.lexicon import table
from construction.judging.rules.criteria import GradingConfig
from construction.judging.rules.grading import DIMENSIONS, grade
from tests.construction.judging.rules.cases import case

CONFIG = GradingConfig()
REQUEST = (
    "Condense the memo in memo.pdf into one page for Petra Bachwald, at most 300 words. "
    "Save it as short.docx."
)


def test_the_weights_of_empty_dimensions_go_to_the_others_in_proportion() -> None:
    rubric = grade(case(REQUEST, "Start with the cost.", files=("memo.pdf",)), CONFIG).rubric
    weights = table("grading")["weights"]
    filled = {item.dimension for item in rubric.criteria}
    assert "task_relevance" in filled
    whole = sum(weights[name] for name in filled)
    for name in DIMENSIONS:
        shares = [item.weight for item in rubric.criteria if item.dimension == name]
        expected = weights[name] / whole if name in filled else 0
        assert sum(shares) == pytest.approx(expected, abs=0.002)
        assert not shares or max(shares) - min(shares) <= 1 / 1024


@given(
    st.lists(
        st.sampled_from(["Add 3 charts.", "Why?", "Use blue.", "写两页。", REQUEST]), max_size=6
    ),
    st.randoms(use_true_random=False),
)
def test_the_weights_sum_to_exactly_one_in_any_order(
    texts: list[str], shuffled: random.Random
) -> None:
    weights = [item.weight for item in grade(case(REQUEST, *texts), CONFIG).rubric.criteria]
    shuffled.shuffle(weights)
    assert sum(weights) == 1.0


def test_the_criteria_are_the_demands_of_the_request() -> None:
    actual = grade(
        case(REQUEST, "Start with the cost.", files=("memo.pdf",)), CONFIG
    ).rubric.criteria
    result = {item.text: item.evidence for item in actual}
    assert result["Does what is asked: “Start with the cost.”"] == ("memo.pdf",)
    assert not any("300 words" in text for text in result if text.startswith("Keeps"))
    (condense,) = [text for text in result if text.startswith("Does what is asked: “Condense")]
    assert result[condense] == ("memo.pdf",)
    assert not any("“Save it" in text for text in result)
    quoted = [text.partition("“")[2] for text in result if "“" in text]
    assert len(quoted) == len(set(quoted))


def test_no_demand_is_left_out_however_many_there_are() -> None:
    demands = [f"Describe river number {number} of the list" for number in range(40)]
    rubric = grade(case("\n".join(f"- {demand}" for demand in ["Do:", *demands])), CONFIG).rubric
    relevance = [item for item in rubric.criteria if item.dimension == "task_relevance"]
    assert len(relevance) == CONFIG.max_demands
    assert all(any(f"“{demand}”" in item.text for item in relevance) for demand in demands)


def test_criteria_name_what_the_inputs_hold() -> None:
    table = InputTable(
        name="May", columns=("Mill", "Price"), rows=9, blanks={"Price": 2}, repeats=1
    )
    known = {"costs.xlsx": InputFile(words=30, key=1, tables=(table,))}
    item = case("Sum all prices in costs.xlsx by mill", files=("costs.xlsx", "other.csv"))
    criteria = grade(item.model_copy(update={"inputs": known}), CONFIG).rubric.criteria
    texts = {one.text: one.evidence for one in criteria}
    (taken,) = [text for text in texts if text.startswith("Names, figures and dates")]
    assert texts[taken] == ("costs.xlsx#May",)
    assert any("costs.xlsx" in text and "Price (2)" in text for text in texts)
    assert any("All 9 rows of costs.xlsx" in text for text in texts)
    assert any("repeated rows of costs.xlsx (1)" in text for text in texts)
    assert not any("other.csv" in text for text in texts)


def test_criteria_leave_alone_inputs_that_the_request_does_not_speak_of() -> None:
    paths = ("data/rents.xlsx", "data/boats.xlsx")
    criteria = grade(case("Write homework on rivers as homework.docx", files=paths), CONFIG)
    texts = [item.text for item in criteria.rubric.criteria]
    assert texts
    assert not any("rents" in text or "boats" in text for text in texts)
    assert not any(item.evidence for item in criteria.rubric.criteria)


def test_inputs_are_spoken_of_by_their_folder_or_system() -> None:
    paths = ("fx/crm/customers.json", "fx/kb/articles.json", "fx/rss/feeds.json")
    text = "Look up the buyer in the CRM, and check the knowledge base for the price."
    criteria = grade(case(text, files=paths), CONFIG).rubric.criteria
    assert {path for item in criteria for path in item.evidence} == set(paths[:2])


def test_choices_and_words_of_sequence_are_no_facts() -> None:
    text = "Is Orla Venn owed more than 12.5%? Yes or No? Read the README Then say why."
    criteria = grade(case(text), CONFIG).rubric.criteria
    (facts,) = [one.text for one in criteria if "carried over" in one.text]
    assert "Orla Venn" in facts
    assert not any(word in facts for word in ("README", "Then", "No"))


def test_acronyms_and_small_counts_are_no_facts_to_be_carried_over() -> None:
    text = "Write 3 notes on the API and the CRM of “Northmill” with 12.5% off from 2031-05-04"
    criteria = grade(case(text), CONFIG).rubric.criteria
    (facts,) = [one.text for one in criteria if "carried over" in one.text]
    assert all(fact in facts for fact in ("Northmill", "12.5%", "2031-05-04"))
    assert not any(fact in facts for fact in ("API", "CRM", "3 "))


def test_a_long_text_without_a_demand_needs_a_model() -> None:
    tale = "The mill is old. It was built by three brothers near the river. " * 9
    assert grade(case(tale), CONFIG).rubric.needs_model
    assert not grade(case(REQUEST), CONFIG).rubric.needs_model


def test_a_rubric_with_a_single_thing_to_check_needs_a_model() -> None:
    seen = case("What kind of boat is it?", files=("boat.jpg",))
    assert grade(seen, CONFIG).rubric.needs_model
    both = case("What kind of boat is it?", "List its parts in parts.csv.", files=("boat.jpg",))
    assert not grade(both, CONFIG).rubric.needs_model
    moved = case("Rename boat.docx to ship.docx", files=("boat.docx",))
    known = {"boat.docx": InputFile(words=30, key=1)}
    assert not grade(moved.model_copy(update={"inputs": known}), CONFIG).rubric.needs_model


@pytest.mark.parametrize(
    ("columns", "rows", "needs_model"),
    [
        (("id", "from", "subject", "body"), 120, False),
        (("发件人", "主题"), 120, False),
        (("from", "subject"), 1, True),
        (("id", "from", "stop"), 120, True),  # trips, not mails
    ],
)
def test_the_mails_of_an_inbox_can_be_held_against_replies(
    columns: tuple[str, ...], rows: int, needs_model: bool
) -> None:
    made = case("Draft replies to the mails in my inbox.", files=("inbox.json",))
    inbox = InputFile(words=900, key=1, tables=(InputTable(name="", columns=columns, rows=rows),))
    rubric = grade(made.model_copy(update={"inputs": {"inbox.json": inbox}}), CONFIG).rubric
    assert rubric.needs_model is needs_model
    assert any("120 rows of inbox.json" in one.text for one in rubric.criteria) is not needs_model


def test_several_mails_can_be_held_against_replies() -> None:
    request = "Draft replies to the mails in my inbox."
    single, several = (case(request, files=files) for files in (("a.eml",), ("a.eml", "b.eml")))
    assert grade(single, CONFIG).rubric.needs_model
    assert not grade(several, CONFIG).rubric.needs_model


def test_the_purpose_and_the_look_are_those_of_the_request() -> None:
    texts = [
        item.text
        for item in grade(
            case("Draw a bar chart of the rents as rents.png, so that I can compare the towns."),
            CONFIG,
        ).rubric.criteria
    ]
    assert any("“so that I can compare the towns”" in text for text in texts)
    assert any("axes or parts are labelled" in text for text in texts)
    plain = [
        item.text
        for item in grade(case("Convert ship.pdf to ship.png", files=("ship.pdf",)), CONFIG)
        .rubric.criteria
    ]  # fmt: skip
    assert not any("labelled" in text for text in plain)


def test_pointers_name_the_sheets_that_the_excerpts_tell_apart() -> None:
    item = case("Sum the costs in costs.xlsx by month", files=("costs.xlsx",))
    two = item.model_copy(update={"excerpts": {"costs.xlsx#May": "1", "costs.xlsx#June": "2"}})
    accuracy = grade(two, CONFIG).rubric.criteria[0]
    assert accuracy.evidence == ("costs.xlsx#June", "costs.xlsx#May")
    assert grade(item, CONFIG).rubric.criteria[0].evidence == ("costs.xlsx",)


def test_the_criteria_are_in_the_language_of_the_task() -> None:
    criteria = grade(case("写一份停车通知，不超过一百字。"), CONFIG).rubric.criteria
    assert "完成所要求的：“写一份停车通知，不超过一百字。”" in [item.text for item in criteria]


@pytest.mark.parametrize(
    ("text", "route"),
    [
        ("Make a deck on rain as pptx", "visual"),
        ("Write a landing page as html", "visual"),
        ("Make a table of rivers as xlsx", "visual"),
        ("Write a report as docx", "text"),
        ("What is rain?", "text"),
    ],
)
def test_the_route_follows_the_deliverables(text: str, route: str) -> None:
    assert grade(case(text), CONFIG).rubric.route == route


def test_rules_are_kept_and_completed() -> None:
    item = case(REQUEST, files=("memo.pdf",))
    bare = item.model_copy(update={"candidate": item.candidate.model_copy(update={"rules": ()})})
    full = grade(item, CONFIG).rules
    assert full == grade(bare, CONFIG).rules
    assert full[: len(item.candidate.rules)] == item.candidate.rules
    assert "length.docx.words" in {rule.rule_id for rule in full}
    assert {"file_type.docx", "named.docx", "opens.docx"} <= {rule.rule_id for rule in full}


def test_evidence_says_what_a_grader_needs() -> None:
    computed = grade(case("Sum the costs in costs.csv", files=("costs.csv",)), CONFIG).evidence
    assert (computed.retrieval, computed.accuracy, computed.action) == (True, True, False)
    script = grade(case("Write a python script sort.py that sorts lines"), CONFIG).evidence
    assert (script.retrieval, script.action) == (False, True)


def test_braces_in_a_request_are_text() -> None:
    criteria = grade(case("Explain what {files} and {0} mean in Python"), CONFIG).rubric.criteria
    assert any("{files} and {0}" in item.text for item in criteria)


def test_a_role_for_an_assistant_of_others_needs_a_model() -> None:
    role = (
        "You are a helper for rowing clubs. Answer what the user asks. If the user wants a boat, "
        "list the boats in boats.csv. Always ask the user for the date."
    )
    assert grade(case(role, files=("boats.csv",)), CONFIG).rubric.needs_model
    task = "You are a rower. List the boats in boats.csv by age, then write the best in best.md."
    assert not grade(case(task, files=("boats.csv",)), CONFIG).rubric.needs_model


def test_what_is_taken_away_need_not_agree_with_the_input() -> None:
    table = InputTable(
        name="", columns=("Boat", "Age"), rows=2, cells=(("Heron", "9"), ("Tern", "4"))
    )
    known = {"boats.xlsx": InputFile(words=30, key=1, terms=("heron", "tern"), tables=(table,))}
    item = case("delete the ages in boats.xlsx", files=("boats.xlsx",))
    texts = [
        one.text for one in grade(item.model_copy(update={"inputs": known}), CONFIG).rubric.criteria
    ]
    assert any(text.startswith("What the request leaves alone") for text in texts)
    assert not any("Heron" in text or "header that stands out" in text for text in texts)
