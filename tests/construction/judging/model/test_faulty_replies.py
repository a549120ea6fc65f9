"""No task is lost to the form of a reply: 200 faulty ones are mended or fall back, none errs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from construction.judging.baseline.grade import grade as grade_by_facts
from construction.judging.baseline.label import as_said
from construction.judging.baseline.screen import screen as screen_by_facts
from construction.judging.calls.contracts import Answered, Question, Unanswered, Usage
from construction.judging.calls.replies import Reply, settle
from construction.judging.contracts import Case, ContainmentReason
from construction.judging.model.asking import ask
from construction.judging.model.grade import grade_stage
from construction.judging.model.screen import screen_stage
from construction.judging.model.write import write_stage
from tests.construction.judging.model.answers import (
    DIMENSIONS,
    criterion,
    graded,
    screened,
    written,
)
from tests.construction.judging.model.fakes import CONFIG, case
from tests.construction.judging.model.faulty_replies import KINDS, OF_CONTENT, OF_FORM, reply

PER_KIND = 3  # of each kind for each of the three stages: 22 · 3 · 3 = 198, and two good ones
CASE = case(
    "Add up the boxes per depot in orders.csv.",
    {"orders.csv": "depot,boxes\nGoole,12\nSelby,8\nGoole,9"},
    outputs=("answer.md",),
)
FACT = ("orders.csv", "Goole,12")
GOOD: dict[str, dict[str, Any]] = {
    "screen": screened(work_quote="Add up the boxes"),
    "write": written(CASE.request),
    "grade": graded(*(criterion(name, 0.2, FACT) for name in DIMENSIONS)),
}


class Raw:
    """Gives the same text to every question, and to its repair, as an endpoint would."""

    def __init__(self, text: str) -> None:
        self.text = text

    def ask(self, questions: Sequence[Question]) -> list[Answered | Unanswered]:
        given_reply = Reply(self.text, "stop", False, "m", Usage(5, 3))
        outcomes = []
        for question in questions:
            outcome = settle(question, [given_reply])
            outcome = outcome or settle(question, [given_reply, given_reply])
            assert outcome is not None
            outcomes.append(outcome)
        return outcomes


def judged(stage: str, text: str, given: Case = CASE) -> Any:
    client = Raw(text)
    if stage == "screen":
        (screened,) = ask(screen_stage(CONFIG, screen_by_facts), [given], client)
        return screened
    if stage == "write":
        (written,) = ask(write_stage(CONFIG, as_said), [given], client)
        return written
    (graded,) = ask(grade_stage(CONFIG, grade_by_facts), [given], client)
    return graded


BASELINE: dict[str, Callable[[Case], Any]] = {
    "screen": screen_by_facts,
    "write": as_said,
    "grade": grade_by_facts,
}


def telling(value: Any) -> Any:
    """What of a value does not depend on long texts that are cut."""
    left_out = {"brief_reason", "difficulty_reason", "why", "taxonomy", "confidence"}
    return value.model_dump(exclude=left_out)


@pytest.mark.parametrize("stage", GOOD)
@pytest.mark.parametrize("kind", OF_FORM)
def test_what_was_meant_is_used(kind: str, stage: str) -> None:
    import json

    meant = judged(stage, json.dumps(GOOD[stage]))
    assert meant.reason is None
    for number in range(PER_KIND):
        outcome = judged(stage, reply(kind, number, GOOD[stage]))
        assert outcome.value is not None, (kind, number, outcome.reason)
        assert telling(outcome.value) == telling(meant.value), (kind, number)


@pytest.mark.parametrize("stage", GOOD)
@pytest.mark.parametrize("kind", OF_CONTENT)
def test_what_was_not_told_falls_back(kind: str, stage: str) -> None:
    otherwise = BASELINE[stage](CASE)
    for number in range(PER_KIND):
        outcome = judged(stage, reply(kind, number, GOOD[stage]))
        assert outcome.value is not None, (kind, number, outcome.reason)
        if kind in ("two objects", "prose only"):
            assert outcome.value == otherwise


def test_the_replies_are_two_hundred_and_always_the_same() -> None:
    texts = [
        (kind, stage, number, reply(kind, number, GOOD[stage]))
        for kind in KINDS
        for stage in GOOD
        for number in range(PER_KIND)
    ]
    assert len(texts) == 198
    assert texts == [(k, s, n, reply(k, n, GOOD[s])) for k, s, n, _ in texts]
    assert judged("screen", texts[0][3]).value.reason_code is ContainmentReason.SELF_CONTAINED
