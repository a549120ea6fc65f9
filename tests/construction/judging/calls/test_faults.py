"""What the client makes of an endpoint that fails: no reply lost, none paid twice."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from construction.judging.calls.contracts import AccountError, Answered, CallReason, Unanswered
from data.errors import ConfigError
from tests.construction.judging.calls.conftest import Fault, Verdict, ask

RECOVERED = {
    "429:0.01,ok": 1,  # plan: replies that were billed
    "500,503,ok": 1,
    "drop,ok": 2,
    "cut,ok": 2,
    "garbage,ok": 2,
    "gzip,ok": 2,
    "huge,ok": 2,
    "fenced": 1,
    "prose": 1,
    "extra": 1,
    "nousage": 1,
    "slow:0.05": 1,
}
REPAIRED = ("wrong,ok", "values,ok", "cutjson,ok", "empty,ok", "length,ok", "refusal,ok")
HOPELESS = {
    "wrong": (CallReason.INVALID, "12 characters: missing×2, string_type×1"),
    "values": (CallReason.INVALID, "43 characters: int_parsing×1"),
    "refusal": (CallReason.REFUSED, "refused, finish stop"),
    "filter": (CallReason.REFUSED, "refused, finish content_filter"),
    "two": (CallReason.INVALID, "65 characters: json_invalid×1"),
    "length": (
        CallReason.TRUNCATED,
        "12 characters after 20 tokens, cut at max_tokens 1024: raise judging.model.max_tokens, or "
        "lower judging.model.reasoning_effort; the endpoint itself may allow less",
    ),
    "toolong": (CallReason.TOO_LONG, "the request does not fit into the model's context"),
    "wrong,toolong": (CallReason.INVALID, "12 characters: missing×2, string_type×1"),
    "blocked": (CallReason.REFUSED, "refused, finish content_filter"),
    "400": (CallReason.REFUSED, "refused, finish not_taken"),
    "403": (CallReason.REJECTED, "http 403 some_code, attempt 1"),
    "500": (CallReason.FAILED, "http 500 some_code, attempt 6"),
    "drop": (CallReason.FAILED, "remote_protocol_error, attempt 6"),
}


def test_every_fault_at_once_loses_nothing(fault: Fault, tmp_path: Path) -> None:
    plans = [*RECOVERED, *REPAIRED, *HOPELESS] + ["ok"] * 20
    questions = [ask(f"all{number}", plan) for number, plan in enumerate(plans)]
    with fault.client(tmp_path / "store") as client:
        outcomes = client.ask(questions)
        spent = client.spent
    result = fault.counts()
    assert [outcome.item_id for outcome in outcomes] == [q.item_id for q in questions]
    for plan, outcome in zip(plans, outcomes, strict=True):
        if plan in HOPELESS:
            assert isinstance(outcome, Unanswered), plan
            assert (outcome.reason, outcome.detail) == HOPELESS[plan]
            continue
        assert isinstance(outcome, Answered), plan
        assert isinstance(outcome.value, Verdict)
        assert outcome.value.label == outcome.item_id
        assert outcome.repaired is (plan in REPAIRED)
        assert result["served"][outcome.item_id] == RECOVERED.get(plan, 1 + outcome.repaired)
        assert result["delivered"][outcome.item_id] == 1 + outcome.repaired
    assert spent.usage.prompt_tokens + spent.usage.completion_tokens >= result["tokens"]


def test_a_settled_question_is_never_paid_for_again(fault: Fault, tmp_path: Path) -> None:
    plans = ["ok", "wrong,ok", "wrong", "refusal", "length", "toolong", "wrong,toolong"]
    questions = [ask(f"again{number}", plan) for number, plan in enumerate(plans)]
    with fault.client(tmp_path / "store") as client:
        first = client.ask(questions)
    calls = fault.counts()["calls"]
    with fault.client(tmp_path / "store", mode="record") as client:
        second = client.ask(questions)
        assert client.spent.replies == 0
    with fault.client(tmp_path / "store", mode="replay") as client:
        assert client.ask(questions) == second
    assert fault.counts()["calls"] == calls
    assert [repr(one) for one in first] == [repr(one) for one in second]


def test_a_request_that_is_not_taken_is_refused_where_others_are_answered(
    fault: Fault, tmp_path: Path
) -> None:
    rejected = CallReason.REJECTED
    with fault.client(tmp_path / "store") as client:
        alone = client.ask([ask("odd", "400"), ask("odder", "400")])
        assert [getattr(one, "reason", None) for one in alone] == [rejected, rejected]
        mixed = client.ask([ask("even"), ask("odd", "400"), ask("closed", "403")])
    assert [getattr(one, "reason", None) for one in mixed] == [None, CallReason.REFUSED, rejected]
    calls = fault.counts()["calls"]
    with fault.client(tmp_path / "store", mode="replay") as client:
        (again,) = client.ask([ask("odd", "400")])
    assert getattr(again, "reason", None) is CallReason.REFUSED
    assert fault.counts()["calls"] == calls


def test_an_answer_of_an_earlier_run_is_sought_again_before_a_request_is_refused(
    fault: Fault, tmp_path: Path
) -> None:
    with fault.client(tmp_path / "store") as client:
        client.ask([ask("even")])
    calls = fault.counts()["calls"]["even"]
    with fault.client(tmp_path / "store") as client:
        _, late = client.ask([ask("even"), ask("late", "400")])
    assert getattr(late, "reason", None) is CallReason.REFUSED
    assert fault.counts()["calls"]["even"] == calls + 1


def test_equal_questions_are_one_call(fault: Fault, tmp_path: Path) -> None:
    question = ask("twin")
    other = type(question)("other", "elsewhere", question.system, question.user, question.answer)
    with fault.client(tmp_path / "store") as client:
        outcomes = client.ask([question, other, question])
    assert [outcome.item_id for outcome in outcomes] == ["twin", "other", "twin"]
    assert fault.counts()["calls"]["twin"] == 1


def test_a_repair_says_what_was_wrong_and_a_longer_reply_may_be_longer(fault: Fault) -> None:
    with fault.client(None) as client:
        client.ask([ask("hint", "values,ok")])
        invalid = fault.counts()["bodies"][-1]
        client.ask([ask("longer", "length,ok", max_tokens=100)])
        longer = fault.counts()["bodies"][-1]
    assert [said["role"] for said in invalid["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert "score: Input should be a valid integer" in invalid["messages"][-1]["content"]
    assert longer["max_tokens"] == 200
    assert [said["role"] for said in longer["messages"]] == ["system", "user"]


def test_a_refused_key_ends_the_asking_and_loses_no_reply(fault: Fault, tmp_path: Path) -> None:
    questions = [ask("early"), ask("locked", "401"), *(ask(f"late{i}") for i in range(50))]
    with (
        fault.client(tmp_path / "store", concurrency=2) as client,
        pytest.raises(ConfigError, match="rejects the key in OPENAI_API_KEY"),
    ):
        client.ask(questions)
    paid = {item for item in fault.counts()["served"] if item in {q.item_id for q in questions}}
    assert len(paid) < 10
    with fault.client(tmp_path / "store", mode="replay") as client:
        outcomes = client.ask(questions)
    assert {one.item_id for one in outcomes if isinstance(one, Answered)} == paid


def test_an_endpoint_that_gives_no_answers_is_given_up(fault: Fault, tmp_path: Path) -> None:
    questions = [ask(f"dead{number}", "503") for number in range(40)]
    with fault.client(tmp_path, attempts=2, give_up_after=5, concurrency=1) as client:
        outcomes = client.ask(questions)
    assert [one.reason for one in outcomes if isinstance(one, Unanswered)] == (
        [CallReason.FAILED] * 40
    )
    assert sum(fault.counts()["calls"].get(f"dead{number}", 0) for number in range(40)) == 10


def test_a_port_where_nobody_listens_costs_nothing(tmp_path: Path) -> None:
    with Fault("http://127.0.0.1:9").client(tmp_path, attempts=2) as client:
        outcomes = client.ask([ask("x")])
        assert client.spent.usage.prompt_tokens == 0
    assert isinstance(outcomes[0], Unanswered)
    assert outcomes[0].detail == "connect_error, attempt 2"


def test_a_call_that_takes_too_long_is_charged_in_full(fault: Fault, tmp_path: Path) -> None:
    with fault.client(tmp_path, timeout=0.1, attempts=1) as client:
        outcomes = client.ask([ask("slowly", "slow:3", max_tokens=77)])
        assert client.spent.usage.completion_tokens == 77
    assert isinstance(outcomes[0], Unanswered)
    assert outcomes[0].reason is CallReason.FAILED
    assert outcomes[0].detail == "read_timeout, attempt 1"


@pytest.mark.parametrize(
    ("kind", "shapes"),
    [
        ("", ["json_schema"]),
        ("noschema", ["json_object", "json_schema"]),
        ("wordsonly", ["json_object", "json_schema", "text"]),
        ("ignores", ["json_object", "json_schema", "text"]),
    ],
)
def test_the_shape_that_works_is_found_once_and_remembered(
    fault: Fault, tmp_path: Path, kind: str, shapes: list[str]
) -> None:
    before = fault.counts()["shapes"]
    with fault.client(tmp_path / "store", kind) as client:
        # Where every shape is ignored but the last, the question that finds out pays for it.
        client.ask([ask(f"probe-{kind}")])
        outcomes = client.ask([ask(f"shape-{kind}-{number}") for number in range(10)])
    after = fault.counts()["shapes"]
    assert all(isinstance(outcome, Answered) for outcome in outcomes)
    tried = {shape: after.get(shape, 0) - before.get(shape, 0) for shape in sorted(after)}
    tried = {shape: count for shape, count in tried.items() if count}
    assert list(tried) == shapes
    assert all(count == 1 for count in list(tried.values())[:-1] if len(tried) == 3)
    with fault.client(tmp_path / "store", kind) as client:
        client.ask([ask(f"more-{kind}")])
    assert sum(fault.counts()["shapes"].values()) == sum(after.values()) + 1


@pytest.mark.parametrize(
    ("kind", "requests", "left_out"),
    [("newstyle", 3, ()), ("strict", 5, ("reasoning_effort", "seed", "temperature"))],
)
def test_what_an_endpoint_refuses_by_name_is_left_out_for_the_run_and_said(
    fault: Fault, tmp_path: Path, kind: str, requests: int, left_out: tuple[str, ...]
) -> None:
    questions = [ask(f"{kind}{number}") for number in range(2)]
    with fault.client(tmp_path / "store", kind, reasoning_effort="low") as client:
        outcomes = client.ask(questions)
    assert [getattr(one, "left_out", None) for one in outcomes] == [left_out] * 2
    assert sum(fault.counts()["calls"][one.item_id] for one in questions) == requests
    settings: Any = {"reasoning_effort": "low", "mode": "replay"}
    with fault.client(tmp_path / "store", kind, **settings) as client:
        replayed = client.ask(questions)
    assert [getattr(one, "left_out", None) for one in replayed] == [left_out] * 2


def test_what_a_recipe_leaves_out_is_not_sent_and_what_it_adds_is(
    fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM", "team-7")
    settings: Any = {"temperature": "none", "seed": "none", "max_tokens": "none"}
    added: Any = {"extra_body": {"top_k": 5}, "models": {"test": "fake-2"}}
    headers = {"X-Team": "env:TEAM", "X-Title": "plain"}
    with fault.client(None, **settings, **added, headers=headers) as client:
        client.ask([ask("plain")])
    sent = fault.counts()["bodies"][-1]
    assert {*sent} == {"model", "messages", "response_format", "top_k"}
    assert (sent["model"], sent["top_k"]) == ("fake-2", 5)
    with fault.client(None, max_tokens=77, reasoning_effort="high") as client:
        client.ask([ask("set")])
    sent = fault.counts()["bodies"][-1]
    assert (sent["max_tokens"], sent["reasoning_effort"], sent["seed"]) == (77, "high", 0)
    monkeypatch.delenv("TEAM")
    with (
        fault.client(None, headers=headers) as client,
        pytest.raises(ConfigError, match="header X-Team: set the environment variable TEAM"),
    ):
        client.ask([ask("plain")])


def test_the_responses_api_answers_alike(fault: Fault, tmp_path: Path) -> None:
    plans = ["ok", "length,ok", "refusal", "prose", "wrong,ok"]
    questions = [ask(f"resp{number}", plan) for number, plan in enumerate(plans)]
    with fault.client(tmp_path / "s", api="responses", reasoning_effort="low") as client:
        outcomes = client.ask(questions)
        sent = fault.counts()["bodies"][0]
    assert [isinstance(one, Answered) for one in outcomes] == [True, True, False, True, True]
    assert outcomes[0].left_out == ("seed",)
    sent = next(b for b in fault.counts()["bodies"] if "resp0" in str(b))
    assert (sent["max_output_tokens"], sent["reasoning"]) == (1024, {"effort": "low"})
    assert (sent["text"]["format"]["type"], sent["store"]) == ("json_schema", False)
    with fault.client(tmp_path / "s", mode="replay", reasoning_effort="low") as client:
        assert client.ask(questions[:1])[0].usage == outcomes[0].usage


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ("quota", r"quota is spent \(429 insufficient_quota\)"),
        ("402", r"wants payment \(402 some_code\)"),
        ("403", r"serves this account or region nothing \(403 some_code\)"),
    ],
)
def test_a_fault_of_the_account_ends_the_run_in_one_line_and_keeps_answers(
    fault: Fault, tmp_path: Path, plan: str, message: str
) -> None:
    early, rest = ask(f"paid-{plan}"), [ask(f"broke-{plan}-{n}", plan) for n in range(40)]
    if plan != "403":  # of an endpoint that has answered, it speaks of the request
        with fault.client(tmp_path / "store", concurrency=1) as client:
            client.ask([early])
    with (
        fault.client(tmp_path / "store", concurrency=1) as client,
        pytest.raises(AccountError, match=message) as raised,
    ):
        client.ask([early, *rest] if plan != "403" else rest)
    assert "\n" not in str(raised.value)
    calls = fault.counts()["calls"]
    assert sum(calls.get(one.item_id, 0) for one in rest) == 1
    assert calls.get(early.item_id, 0) == (0 if plan == "403" else 1)


def test_no_text_and_no_key_in_logs_errors_and_reprs(
    fault: Fault, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    questions = [ask(f"quiet{n}", plan) for n, plan in enumerate(["ok", "400", "500", "wrong"])]
    with caplog.at_level(logging.DEBUG), fault.client(None, key_variable="MY_KEY") as client:
        result = repr(client.ask(questions)) + repr(questions) + caplog.text
    assert "Bearer sk-very-secret" in "".join(fault.counts()["authorizations"]).replace(
        "bearer", "Bearer"
    )
    for secret in ("sk-very-secret", "You judge.", "plan=", "because", "secret message"):
        assert secret not in result, secret
