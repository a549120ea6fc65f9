"""What a public text gives away of a task, and what it may say."""

from __future__ import annotations

from typing import Any

import pytest

from construction.grading.giveaways import _Giveaway, given_away
from construction.grading.spec import AnswerSpec, CheckSpec, MilestoneSpec, TaskSpec

PROMPT = "How many million yen did Kuroyama spend in 2021?\n\nEnd with the amount."


def task(value: str = "-8376", kind: str = "number", **more: Any) -> TaskSpec:
    fields: dict[str, Any] = {"unit": "JPY", "scale": 1_000_000} if kind == "number" else {}
    return TaskSpec("t", PROMPT, answers=(AnswerSpec("value", kind, value, **fields, **more),))


@pytest.mark.parametrize(
    "text",
    [
        "It is -8376.",
        "It is 8,376 million.",
        "It is 8.376 billion yen.",
        "The sum is 8 376 000 000.",
        "About 8.38 billion were meant.",
        "答えは8376です。",
        "８，３７６ is right.",
        "Read 2021,8376.",
    ],
)
def test_a_number_is_seen_in_every_notation(text: str) -> None:
    assert given_away(task(), text) is _Giveaway.ANSWER


@pytest.mark.parametrize(
    "text",
    [
        "Two readings of the question are possible.",
        "The filing of 2021 was read, that of 2022 is meant.",
        "Task q-8376ab was drawn twice.",
        "Of 83760001 rows one was read twice.",
        "Rounded to 8 or 80, nobody can tell.",
    ],
)
def test_other_numbers_and_words_are_allowed(text: str) -> None:
    assert given_away(task(), text) is None


def test_answers_of_each_type_are_seen() -> None:
    assert given_away(task("6"), "There are 6 of them.") is _Giveaway.ANSWER
    assert given_away(task("6"), "There are 16 of them, and 0.6 of those.") is None
    assert (
        given_away(task("Grenmark", "text"), "It is GRENMARK, not the other.") is _Giveaway.ANSWER
    )
    assert given_away(task("Grenmark", "text"), "Grenmarkers were counted.") is None
    assert given_away(task("黒山商事", "text"), "正しくは黒山商事。") is _Giveaway.ANSWER
    listed = task('["G-1701", "G-2509"]', "list")
    assert given_away(listed, "G-2509 was forgotten.") is _Giveaway.ANSWER
    assert given_away(task("true", "boolean"), "Yes.") is _Giveaway.ANSWER
    assert given_away(task("Bergen", "text", aliases=("Bjørgvin",)), "Bjørgvin") is _Giveaway.ANSWER


def test_what_the_task_says_itself_is_no_secret() -> None:
    assert given_away(task("2021", unit_free := "text"), f"Not 2021 ({unit_free}).") is None
    assert given_away(task("Kuroyama", "text"), "Kuroyama merged in that year.") is None


def test_milestones_and_checks_are_seen_and_their_short_numbers_are_not() -> None:
    spec = TaskSpec(
        "t",
        PROMPT,
        milestones=(MilestoneSpec("rank", "17.62545045", "number"), MilestoneSpec("n", "12")),
        checks=(
            CheckSpec(
                "c",
                "record_created",
                {
                    "service": "todo",
                    "max": 1,
                    "where": {"title": "Check price G-3876", "details": {"contains": "133.95"}},
                },
                "",
            ),
        ),
    )
    assert given_away(spec, "A growth of 17.6 % was meant.") is _Giveaway.MILESTONE
    assert given_away(spec, "The price of 133.95 was old.") is _Giveaway.CHECK
    assert given_away(spec, "A todo 'check price g-3876' was missing.") is _Giveaway.CHECK
    assert given_away(spec, "12 tasks of the service todo had 1 fault each.") is None
