"""Rounds over releases: what was said is kept, goes on in the next release, and changes nothing
when a release is built again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from construction.judging.calls.contracts import Question
from construction.judging.consensus import ConsensusConfig, Endorsed
from construction.judging.contracts import ContainmentReason, Judged, Screened
from construction.judging.rounds import (
    Round,
    _endorsed_verdict,
    _held_rounds,
    _judge_anew,
    _opinions,
    _read_rounds,
    _ReleaseRounds,
    _rounds_of,
    _with_release,
    _write_rounds,
)
from data.canonical import digest
from data.errors import InputError
from tests.construction.judging.model.answers import screened
from tests.construction.judging.model.fakes import CONFIG, Scripted, case

WHO = ConsensusConfig(annotators=("rules", "m"))
ONE = case("Write a note on parking.", item_id="one")
TWO = case("Write a note on bicycles.", item_id="two")
YES = Screened(reason_code=ContainmentReason.SELF_CONTAINED, brief_reason="whole", confidence=0.9)
NO = Screened(reason_code=ContainmentReason.AMBIGUOUS_TASK, brief_reason="open")
ABSTAINS = Screened(reason_code=ContainmentReason.NEEDS_MODEL)


def held(number: int, item: str = "one", **verdicts: Screened | None) -> Round:
    of = {"one": ONE, "two": TWO}[item]
    return Round(item_id=item, case=digest(of), round=number, verdicts=verdicts)


def test_a_release_sees_its_own_rounds_and_those_before(tmp_path: Path) -> None:
    log = _with_release([], "r1", [held(1, rules=YES, m=NO), held(1, "two", rules=YES, m=YES)])
    log = _with_release(log, "r2", [held(2, rules=YES, m=YES)])
    _write_rounds(tmp_path, log)
    assert _read_rounds(tmp_path) == log
    for release, numbers in (("r1", [1]), ("r2", [1, 2]), ("r3", [1, 2])):
        actual = _rounds_of(log, release, [TWO, ONE], WHO)
        assert [one.round for one in actual["one"]] == numbers
        assert [one.round for one in actual["two"]] == [1]
    assert [one.annotator for one in _opinions({"one": actual["one"]})] == ["m", "rules"] * 2


def test_a_release_without_a_round_keeps_its_place() -> None:
    log = _with_release([], "r1", [])
    log = _with_release(log, "r2", [held(1, rules=YES, m=YES)])
    assert _rounds_of(log, "r1", [ONE], WHO) == {"one": []}
    assert _with_release(log, "r1", []) == log


def test_another_text_or_other_annotators_begin_anew() -> None:
    log = _with_release([], "r1", [held(1, rules=YES, m=NO)])
    changed = case("Write two notes on parking.", item_id="one")
    assert _rounds_of(log, "r1", [changed], WHO) == {"one": []}
    others = ConsensusConfig(annotators=("rules", "m", "n"))
    assert _rounds_of(log, "r1", [ONE], others) == {"one": []}


def test_the_next_round_takes_what_each_annotator_said() -> None:
    refused: Judged[Screened] = Judged("one", None, "call.refused")
    result = {"rules": [Judged("one", YES)], "m": [refused]}
    (first,) = _held_rounds([ONE], result, {"one": []})
    assert first == held(1, rules=YES, m=None)
    assert [one.annotator for one in _opinions({"one": [first]})] == ["rules"]
    (second,) = _held_rounds([ONE], result, {"one": [first]})
    assert second.round == 2


def test_who_abstains_gives_no_opinion() -> None:
    rounds = {"one": [held(1, rules=ABSTAINS, m=YES)]}
    assert [one.annotator for one in _opinions(rounds)] == ["m"]


def test_the_first_annotator_with_the_answer_speaks() -> None:
    rounds = [held(1, rules=NO, m=YES), held(2, rules=YES, m=YES)]
    order = ("rules", "m")
    verdict = _endorsed_verdict(rounds, Endorsed("one", "self_contained", 2, ("m", "rules")), order)
    assert verdict == YES
    by_review = _endorsed_verdict(rounds, Endorsed("one", "missing_input", 0, ("review",)), order)
    assert by_review.reason_code is ContainmentReason.MISSING_INPUT
    assert not by_review.self_contained


def test_a_model_is_told_how_earlier_rounds_were_spread() -> None:
    seen: list[object] = []

    def reply(question: Question) -> Mapping[str, object]:
        material = question.user.split("⟧\n", 1)[1].split("\n⟦end", 1)[0]
        seen.append(json.loads(material).get("earlier_rounds"))
        return screened(reason="whole")

    earlier: dict[str, list[Round]] = {"one": [held(1, rules=YES, m=NO)], "two": []}
    judged = _judge_anew([ONE, TWO], earlier, Scripted(reply), CONFIG)
    assert [one.value for one in judged] == [YES, YES]
    assert seen == [[{"ambiguous_task": 1, "self_contained": 1}], None]


def test_a_log_that_is_none_is_told(tmp_path: Path) -> None:
    assert _read_rounds(tmp_path) == []
    _write_rounds(tmp_path, [_ReleaseRounds(release="r1", rounds=())])
    with (tmp_path / "rounds.jsonl").open("a") as log:
        log.write('{"release": 7}\n')
    with pytest.raises(InputError, match=r"rounds\.jsonl:2"):
        _read_rounds(tmp_path)
