"""One repair round: faults go back to the model once, and what stays wrong falls back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pydantic import Field

from construction.judging.calls.contracts import CallReason, LlmConfig, Mode, Question
from construction.judging.contracts import Answer, JudgeReason
from construction.judging.model.asking import Checked, Faults, Stage, ask, cost_rows
from construction.judging.model.prompt import Cleaner, load_prompt
from tests.construction.judging.model.fakes import Scripted

NAMED = Faults(("`city` names no city", "`people` is not in the request"), JudgeReason.LOSS)


class Town(Answer):
    city: str
    people: int = Field(ge=0)


def check(request: str, answer: Town) -> Checked[Town] | Faults:
    return Checked(answer) if answer.city in request else NAMED


STAGE: Stage[str, Town, Town] = Stage(
    prompt=load_prompt("ideas"),
    answer=Town,
    item_id=lambda request: request,
    content=lambda request, cleaner: {"request": Cleaner().text(request, 90, "request")},
    check=check,
)
SETTLING = replace(STAGE, settle=lambda request, answer, faults: answer or Town(city="", people=0))


def saying(first: dict[str, Any] | CallReason, second: dict[str, Any] | CallReason) -> Scripted:
    def reply(question: Question) -> dict[str, Any] | CallReason:
        return first if question.repair is None else second

    return Scripted(reply)


def town(city: str) -> dict[str, Any]:
    return {"city": city, "people": 5}


def test_faults_go_back_once_with_the_answer_and_the_second_answer_counts() -> None:
    client = saying(town("Brno"), town("Graz"))
    (judged,) = ask(STAGE, ["about Graz"], client)
    assert (judged.value, judged.reason) == (Town(city="Graz", people=5), None)
    first, second = client.asked
    assert (first.user, first.repair) == (second.user, None)
    assert second.repair == (
        '{"city":"Brno","people":5}',
        "Your answer has these faults:\n- `city` names no city\n- `people` is not in the request\n"
        "Send the whole corrected object.",
    )
    assert (judged.usage.prompt_tokens, judged.usage.completion_tokens) == (10, 6)


@pytest.mark.parametrize(
    ("stage", "first", "second", "city", "reason"),
    [
        (STAGE, town("Brno"), town("Oslo"), None, JudgeReason.LOSS),
        (SETTLING, town("Brno"), town("Oslo"), "Oslo", None),
        (SETTLING, town("Brno"), CallReason.INVALID, "Brno", None),
        (SETTLING, CallReason.REFUSED, town("Graz"), "", None),
        (STAGE, CallReason.REFUSED, town("Graz"), None, CallReason.REFUSED),
        (SETTLING, town("Brno"), CallReason.BUDGET, None, CallReason.BUDGET),
        (SETTLING, CallReason.MISSING, town("Graz"), None, CallReason.MISSING),
    ],
)
def test_what_stays_wrong_falls_back_and_what_was_not_answered_does_not(
    stage: Stage[str, Town, Town],
    first: dict[str, Any] | CallReason,
    second: dict[str, Any] | CallReason,
    city: str | None,
    reason: str | None,
) -> None:
    (judged,) = ask(stage, ["about Graz"], saying(first, second))
    assert (judged.value.city if judged.value else None, judged.reason) == (city, reason)
    settled = [note for note in judged.notes if note.startswith("faults that stayed: ")]
    assert bool(settled) is (city is not None)


def test_what_a_replay_has_no_reply_about_is_the_baselines() -> None:
    def reply(question: Question) -> dict[str, Any] | CallReason:
        return town("Graz") if "Graz" in question.user else CallReason.UNRECORDED

    client = Scripted(reply)
    without, judged = ask(SETTLING, ["about Oslo", "about Graz"], client)
    assert (without.value, without.is_recorded) == (Town(city="", people=0), False)
    assert (judged.is_recorded, len(client.asked)) == (True, 2)
    (row,) = cost_rows(LlmConfig(model="m"), {"write": [without, judged]})
    assert (row["errors"], row["unrecorded"]) == (0, 1)


def test_only_those_with_faults_are_asked_again() -> None:
    client = saying(town("Graz"), town("Oslo"))
    judged = ask(STAGE, ["about Graz", "about Oslo", "near Graz"], client)
    assert [one.value.city for one in judged if one.value] == ["Graz", "Oslo", "Graz"]
    assert [question.item_id for question in client.asked[3:]] == ["about Oslo"]


def repaired(change: Callable[[Any], Any]) -> Scripted:
    client = saying(town("Brno"), town("Graz"))
    plain = client.ask
    client.ask = lambda questions: [change(one) for one in plain(questions)]  # type: ignore[method-assign]
    return client


def test_an_answer_that_was_repaired_already_is_not_repaired_again() -> None:
    client = repaired(lambda outcome: replace(outcome, repaired=True))
    (judged,) = ask(SETTLING, ["about Graz"], client)
    assert (judged.value, len(client.asked)) == (Town(city="Brno", people=5), 1)


def test_the_costs_say_which_settings_were_left_out_and_at_which_model_s_price() -> None:
    client = repaired(lambda outcome: replace(outcome, left_out=("temperature",)))
    judged = ask(STAGE, ["about Graz"], client)
    prices = {"prompt": 1e6, "models": {"small": {"prompt": 2e6, "completion": 1e6}}}
    config = LlmConfig.model_validate(
        {"mode": Mode.LIVE, "model": "big", "models": {"grade": "small"}, "prices": prices}
    )
    rows = cost_rows(config, {"write": judged, "grade": judged})
    shown = [(row["stage"], row["judge"], row["cost"], row["left_out"]) for row in rows]
    assert shown == [
        ("write", "model:big", 10.0, "temperature"),
        ("grade", "model:small", 26.0, "temperature"),
    ]
