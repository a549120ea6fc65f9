"""Of how much of its inputs a rubric speaks: only of what the request is about."""

from __future__ import annotations

import pytest

from construction.judging.contracts import InputFile, InputTable
from construction.judging.request_bounds import changes
from construction.judging.rules.criteria import GradingConfig
from construction.judging.rules.grading import grade
from construction.judging.rules.scope import altered_inputs
from data.contracts import Deliverable
from tests.construction.judging.rules.cases import case

CONFIG = GradingConfig()
DIFF = "--- a/fee.py\n+++ b/fee.py\n@@ -1 +1 @@\n-a = b\n+a = c"
CREW = InputTable(name="", columns=("Rower", "Club"), rows=9, cells=(("Ada", "Lee"),) * 9)


def texts_of(text: str, **files: InputFile) -> list[str]:
    """The criteria of a request over CSV files that hold these."""
    known = {f"{name}.csv": held for name, held in files.items()}
    made = case(text, files=tuple(known)).model_copy(update={"inputs": known})
    return [item.text for item in grade(made, CONFIG).rubric.criteria]


@pytest.mark.parametrize(
    ("text", "all_files", "all_rows"),
    [
        ("Answer from the files what Ada rows, in answer.md.", False, False),
        ("Count the rowers of each club in crew.csv as counts.csv.", False, True),
        ("How many rowers has Lee in crew.csv?", False, False),
        ("Find in crew.csv the thread of Ada and write all you know in ada.md.", False, False),
        ("Check every row of crew.csv.", False, True),
        ("Join crew.csv and boats.csv as both.csv.", True, False),
        ("Read all the files and write a report as r.docx.", True, False),
        ("阅读所有文件，写一份报告 r.docx。", True, False),
        ("从文件中找出 Ada 的俱乐部，写到 r.md。", False, False),
    ],
)
def test_all_of_the_material_only_where_the_request_says_so(
    text: str, all_files: bool, all_rows: bool
) -> None:
    held = InputFile(words=30, key=1, tables=(CREW,))
    texts = " ".join(texts_of(text, crew=held, boats=held))
    assert ("input files that the request" in texts or "全部 2 个输入文件" in texts) == all_files
    assert ("All 9 rows" in texts or "全部 9 行" in texts) == all_rows


@pytest.mark.parametrize(
    ("text", "is_old_state_quoted"),
    [
        ("Who rows with Ada Lee in crew.csv? Write who.md.", True),
        ("Swap Ada Lee and Bo Tyne in crew.csv.", False),
        ("Rename Ada Lee to Ada Ouse and save the crew as new.csv.", False),
        ("Update the club of Ada Lee to Wear, and export it as new.csv.", False),
        ("把 Ada Lee 的俱乐部改成 Wear，存为 new.csv。", False),
        ("Update me on Ada Lee in crew.csv.", True),
    ],
)
def test_nothing_of_the_state_before_a_change_is_quoted(
    text: str, is_old_state_quoted: bool
) -> None:
    cells = (("Ada Lee", "Ouse"), ("Bo Tyne", "Tees"))
    sheet = InputTable(name="", columns=("Rower", "Club"), rows=2, cells=cells)
    texts = texts_of(text, crew=InputFile(words=30, key=1, tables=(sheet,)))
    assert any("Tees" in text for text in texts) == is_old_state_quoted


def test_a_new_text_has_nothing_that_was_left_alone() -> None:
    held = InputFile(words=30, key=1, terms=("ada", "lee"), tables=(CREW,))
    for text in (
        "Summarise crew.csv, leave out the clubs, and mark the oldest, as s.md.",
        "Write a synthesis of crew.csv without the names; drop what is old.",
    ):
        assert not any("nothing else has changed" in line for line in texts_of(text, crew=held))
    edited = texts_of("Add a row for Bo to crew.csv and describe boats.csv.", crew=held, boats=held)
    (kept,) = [line for line in edited if "nothing else has changed" in line]
    assert "crew.csv" in kept and "boats.csv" not in kept


def test_facts_of_a_side_input_alone_need_a_model() -> None:
    note = InputFile(words=9, key=1, tables=(CREW,))
    log = InputFile(words=900, key=2)
    request = "Write who rows for Lee into lee.md, then describe the season in full in season.md."
    made = case(f"{request} See crew.csv.", files=("crew.csv", "log.txt"))
    for held, needs in (({"crew.csv": note, "log.txt": log}, True), ({"crew.csv": note}, False)):
        known = made.model_copy(update={"inputs": held})
        assert grade(known, CONFIG).rubric.needs_model == needs


def test_a_figure_in_a_very_long_text_needs_a_key() -> None:
    text = "How many oars does the harbour master, who is new in town, buy after the first flood?"
    for words, needs in ((90_000, True), (900, False)):
        known = {"tale.txt": InputFile(words=words, key=1)}
        made = case(text, files=("tale.txt",)).model_copy(update={"inputs": known})
        assert grade(made, CONFIG).rubric.needs_model == needs


def test_means_and_metadata_are_no_demands() -> None:
    request = (
        "Use the ledger skill. Offline mode is fine if the page is gone. "
        "List the prints in p.csv. Collection: Harbour Prints, 40 items."
    )
    texts = [item.text for item in grade(case(request), CONFIG).rubric.criteria]
    assert any("List the prints" in text for text in texts)
    assert not any(word in text for text in texts for word in ("skill", "Offline", "Collection"))


@pytest.mark.parametrize(
    "text",
    [
        "The charts must show the prices (correct axes and labels).",
        "I want to be able to change the prices later and have the sheet recalculate.",
        "List the prices so that the clerk knows what to remove.",
    ],
)
def test_what_is_said_beside_or_of_later_alters_nothing(text: str) -> None:
    assert not altered_inputs(text, ["prices.csv"])


def test_files_of_which_a_single_demand_does_not_speak_merely_lie_there() -> None:
    crew, log = InputFile(words=9, key=1, tables=(CREW,)), InputFile(words=900, key=2)
    made = case("Write all names of the crew file in docx.", files=("crew.csv", "log.txt"))
    known = made.model_copy(update={"inputs": {"crew.csv": crew, "log.txt": log}})
    assert not grade(known, CONFIG).rubric.needs_model


@pytest.mark.parametrize(
    "text",
    [
        "Clear everything in crew.csv.",
        "Remove all data from the file crew.csv.",
        "Empty the sheet of crew.csv.",
        "Clear crew.csv.",
        "Delete the contents of crew.csv.",
        "删除crew.csv中的全部数据。",
        "清空crew.csv里的所有内容。",
    ],
)
def test_of_a_file_that_is_emptied_nothing_is_left(text: str) -> None:
    held = InputFile(words=30, key=1, terms=("ada", "lee"), tables=(CREW,))
    made = case(text, files=("crew.csv",)).model_copy(update={"inputs": {"crew.csv": held}})
    named = made.candidate.model_copy(
        update={"deliverables": (Deliverable(file_type="csv", name_hints=("crew.csv",)),)}
    )
    rubric = grade(made.model_copy(update={"candidate": named}), CONFIG).rubric
    assert not rubric.needs_model
    first, second = (item.text for item in rubric.criteria)
    assert "holds anything any more" in first or "均已清空" in first
    assert "crew.csv" in second


def test_a_text_that_the_request_brings_along_is_a_measure() -> None:
    rules = "Berths one to nine are for small boats. Nobody may stay there for two weeks. " * 4
    for text, is_brought in (
        (f"Cut the rules below to three lines as short.md:\n\n{rules}", True),
        ("Cut the rules of a harbour to three lines as short.md.", False),
    ):
        rubric = grade(case(text), CONFIG).rubric
        first = rubric.criteria[0].text
        assert ("what the text in the request says" in first) == is_brought
        assert rubric.needs_model != is_brought


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        (f"Review this change.\n\n{DIFF}", "of the code, the change or the output in the request"),
        (f"审查这个改动。\n\n{DIFF}", "对需求中代码、改动或输出的说法"),
        ("Explain what the review of a change is for.", "is true, or marked as an assumption"),
    ],
)
def test_code_that_the_request_brings_along_is_a_measure(text: str, measure: str) -> None:
    assert any(measure in item.text for item in grade(case(text), CONFIG).rubric.criteria)


@pytest.mark.parametrize("text", ["Which news are about the tides?", "哪些新闻和潮汐有关？"])
def test_entries_that_are_quoted_one_by_one_are_a_measure(text: str) -> None:
    body = "The council met for hours, and nobody could say in the end what it had decided. " * 2
    cells = tuple((f"n{i}", f"Headline {i} of the day", body, f"2031-03-0{i}") for i in range(1, 7))
    news = InputTable(name="", columns=("id", "title", "text", "date"), rows=6, cells=cells)
    held = InputFile(words=200, key=1, tables=(news,))
    made = case(text, files=("news.json",)).model_copy(update={"inputs": {"news.json": held}})
    rubric = grade(made, CONFIG).rubric
    assert "Headline 6" in rubric.criteria[0].text
    assert not rubric.needs_model
    bare = case(text, files=("news.json",))
    assert grade(bare, CONFIG).rubric.needs_model


def test_what_is_only_taken_out_of_a_file_does_not_empty_it() -> None:
    for text in (
        "Clear the formatting of crew.csv.",
        "Remove all items from the crew file that cost over 5.",
    ):
        assert not changes(text, "clears")
