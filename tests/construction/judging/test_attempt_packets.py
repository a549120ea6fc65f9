"""Packets of judged attempts: what people are shown of them, and which ones there are."""

from __future__ import annotations

import os
from datetime import date
from typing import Any

from construction.grading.logs import GradedRun
from construction.judging.contracts import CriterionVerdict
from construction.judging.evidence.views import Evidence, FileView
from construction.judging.judged_attempts import JudgedRun, packets, rated_pairs
from construction.judging.model.attempt_case import (
    AttemptCase,
    JudgedAttempt,
    PartVerdict,
)
from construction.judging.review import (
    LONGEST_ITEM,
    Decision,
    ReviewItem,
    Topic,
    _csv_sheet,
    _Recorded,
    _xlsx_sheet,
)
from tests.construction.judging.model.attempt_cases import text_file

MET, PARTLY, NOT_MET = CriterionVerdict
PARTS = ("rubric.depth", "rubric.depth.2")


def judged(
    *names: str,
    verdict: CriterionVerdict | None = MET,
    files: tuple[FileView, ...] = (text_file("a.md", "The text."),),
    **more: Any,
) -> JudgedRun:
    given: dict[str, Any] = {
        "answer": "done",
        "evidence": Evidence(outputs=files),
        "folder": "b/outputs/c",
    }
    cases = tuple(
        AttemptCase(name, "Write.", dict.fromkeys(PARTS, "It is deep."), **given | more)
        for name in names
    )
    verdicts = dict.fromkeys(PARTS, PartVerdict(verdict))
    results = tuple(JudgedAttempt(name, verdicts) for name in names)
    return JudgedRun(GradedRun((), ()), cases, results, 0)


def only(run: JudgedRun) -> ReviewItem:
    return packets(run, "j", 1, 0, [])[0]


def test_what_is_cut_is_said_and_where_the_whole_stands() -> None:
    text = "All is well. " * 10_000
    shown = only(judged("x", files=(text_file("a.md", text),))).text
    assert len(shown) <= LONGEST_ITEM
    kept = shown.count("All is well. ")
    missing = int(shown.rpartition("⟨")[2].partition(" ")[0])
    assert abs(len(text) - kept * len("All is well. ") - missing) < 100
    assert shown.endswith(" more characters are not shown; the whole stands in b/outputs/c⟩")
    assert "more characters" not in only(judged("x")).text


def test_a_text_that_grows_where_it_is_made_visible_is_cut_by_its_shown_length() -> None:
    shown = only(judged("x", files=(text_file("a.md", "\x0c" * 20_000 + "end"),))).text
    assert len(shown) <= LONGEST_ITEM
    assert shown.endswith("b/outputs/c⟩")


def test_files_without_text_and_files_that_are_not_shown_are_named() -> None:
    files = (
        FileView(
            path="chart.png", bytes=1, media_type="image/png", kind="picture", note="PNG, 4×4"
        ),
    )
    shown = only(judged("x", files=files, left_out=980)).text
    assert "[chart.png]\n(no text: PNG, 4×4)" in shown
    assert "Delivered files: b/outputs/c (980 more than are shown here)" in shown


def test_any_file_name_and_character_fits_into_both_sheets() -> None:
    name = os.fsdecode(b"caf\xe9\xff.md")
    files = (text_file(name, "before \ufffe\uffff\x00\ud800 after"),)
    items = packets(judged("x", files=files, answer=f"see {name}"), "j", 1, 0, [])
    assert "caf⟨U+DCE9⟩" in items[0].text
    assert _csv_sheet(items) and _xlsx_sheet(items)


def test_another_draw_adds_to_what_was_drawn_before() -> None:
    names = [f"attempt-{n}" for n in range(30)]
    run = judged(*names)
    first = packets(run, "j", 5, 1, [])
    second = packets(run, "j", 5, 2, first)
    assert len(first) == 10 and {item.key for item in first} < {item.key for item in second}
    assert packets(run, "j", 5, 2, second) == second
    gone = packets(judged(*names[:1]), "j", 1, 3, first)
    assert {item.key for item in first} <= {item.key for item in gone}


def test_earlier_packets_have_the_answers_of_the_judge_of_today() -> None:
    first = packets(judged("x"), "one", 1, 0, [])
    second = packets(judged("x", verdict=PARTLY), "two", 1, 0, first)
    assert [item.answers for item in second] == [{"two": "partly"}] * 2


def test_a_part_without_a_verdict_is_compared_as_what_it_counts() -> None:
    decided = {
        (f"x:{part}", Topic.CRITERION): _Recorded(
            Decision(item_id=f"x:{part}", topic=Topic.CRITERION, decision="met", reviewer="Kim",
                     date=date(2026, 1, 1)), "0" * 64,
        )
        for part in PARTS
    }  # fmt: skip
    assert rated_pairs(judged("x", "y", verdict=None), decided) == (["not_met"] * 2, ["met"] * 2)
