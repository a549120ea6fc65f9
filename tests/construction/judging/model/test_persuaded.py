"""Texts that persuade a judge, judges that do not look, and the controls that show it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest

from construction.judging.calls.contracts import Question
from construction.judging.model.attempt_case import CONTROLS, empty_claims
from construction.judging.model.attempts import judge_attempts
from tests.conftest import REPO
from tests.construction.judging.model.attempt_cases import (
    HONEST,
    KEY,
    MET,
    NOT_MET,
    answering,
    case,
    reasons,
    verdicts,
)
from tests.construction.judging.model.fakes import CONFIG, Scripted
from tests.construction.judging.model.judges import (
    AIMED,
    HELD,
    HELD_IN,
    Judge,
    wants_about,
    wants_everything,
    wants_exactly,
)
from tests.flows.judge_server import material, scopes

INJECTIONS = tomllib.loads((REPO / "benchmarks" / "judge_injections.toml").read_text("utf-8"))


def test_a_reader_who_takes_an_empty_claim_for_the_thing_is_not_believed() -> None:
    for text in INJECTIONS["third_one"]:
        judge = Judge({HELD: HELD_IN}, text, wants_exactly(AIMED), is_credulous=True)
        assert reasons(case(text), judge) == {"judge.claim_believed"}
    assert reasons(case(), Judge({HELD: HELD_IN}, is_credulous=True)) == {"judge.claim_believed"}


def test_empty_claims_are_drawn_with_the_key_and_hold_no_value() -> None:
    drawn = {claim for n in range(300) for claim in empty_claims(b"one", f"a{n}", 2)}
    assert len(drawn) > 150 and not any(re.search(r"\d", passage) for _, passage in drawn)
    assert empty_claims(b"one", "a1", 2) == empty_claims(b"one", "a1", 2)
    assert empty_claims(b"one", "a1", 2) != empty_claims(b"two", "a1", 2)


def test_passages_that_persuade_of_two_twins_are_taken_away_and_it_is_judged_again() -> None:
    client = Scripted(answering(twin="part", quotes=[HELD_IN]))
    (result,) = judge_attempts([case()], client, CONFIG, KEY)
    first, *_, last = (q.user for q in client.asked if q.stage == "attempts")
    assert HELD_IN in first and HELD_IN not in last
    seen = result.verdicts["held"]  # the judge quotes what is no longer there
    assert (seen.verdict, seen.reason) == (None, "judge.no_evidence")


def test_a_judge_that_errs_once_about_a_control_is_asked_again_with_others() -> None:
    requests: list[Question] = []

    def judge(request: Question) -> Mapping[str, Any]:
        requests.append(request)
        text = HELD_IN if len(requests) == 2 else ""
        return Judge({HELD: HELD_IN}, text, wants_everything)(request)

    assert verdicts(case(), judge) == {"held": MET, "aimed": NOT_MET}
    assert len(requests) == 4 and HELD_IN in requests[2].user  # once in vain, then both readings


def test_sixty_injections_move_no_score_of_an_honest_judge() -> None:
    texts = INJECTIONS["texts"]
    assert len(texts) == 60
    assert verdicts(case(), HONEST) == {"held": MET, "aimed": NOT_MET}
    for text in texts:
        assert verdicts(case(text), HONEST) == {"held": MET, "aimed": NOT_MET}


@pytest.mark.parametrize("wants", [wants_everything, wants_about(AIMED)])
def test_sixty_injections_move_no_score_of_a_judge_that_obeys_them(wants: Any) -> None:
    for text in INJECTIONS["texts"]:
        judge = Judge({HELD: HELD_IN}, text, wants)
        assert verdicts(case(text), judge) == {"held": MET, "aimed": NOT_MET}


def test_what_a_judge_is_told_about_helps_nothing_if_it_quotes_another_sentence() -> None:
    for text in INJECTIONS["third_one"]:
        judge = Judge({HELD: HELD_IN}, text, wants_exactly(AIMED), quotes_other=True)
        assert verdicts(case(text), judge) == {"held": MET, "aimed": NOT_MET}


def test_a_judge_that_does_not_look_gives_no_verdict() -> None:
    def careless(request: Question) -> Mapping[str, Any]:
        block = material(request.user)
        if request.stage == "scope":
            return scopes(block)
        lines = [line for line in block["output_files"][0]["text"].splitlines() if line]
        part = {"finding": "", "verdict": "met", "quotes": lines[:1], "page": None}
        return {"verdicts": [part | {"part": entry["part"]} for entry in block["criteria"]]}

    assert reasons(case(*("A line of the report." for _ in range(9))), careless)
    assert reasons(case(), careless) == {"judge.control_met"}


def test_controls_cannot_be_told_from_criteria_and_are_met_by_nothing() -> None:
    shown = case().shown_criteria(KEY)
    assert len(shown.controls) == CONTROLS
    assert sorted(shown.parts.values()) == ["aimed", "held"]
    prefixes = {text.partition(": ")[0] for text in shown.criteria.values()}
    assert prefixes == {"grounded_accuracy", "substantive_depth"}
    wanted = {w for label in shown.controls for w in re.findall(r"\S*\d\S*", shown.criteria[label])}
    again = case("\n".join(wanted)).shown_criteria(KEY)  # then others are drawn
    assert not wanted & {w for text in again.criteria.values() for w in re.findall(r"\S+", text)}


def test_controls_are_drawn_with_the_key_from_many_forms() -> None:
    def forms(key: int | bytes) -> set[str]:
        cases = (case(attempt_id=f"a{n}").shown_criteria(key) for n in range(200))
        return {re.sub(r"\S*\d\S*", "#", s.criteria[label]) for s in cases for label in s.controls}

    assert len(forms(b"one")) > 300
    first, second = (case().shown_criteria(key).criteria for key in (b"one", b"two"))
    assert first != second and first == case().shown_criteria(b"one").criteria
