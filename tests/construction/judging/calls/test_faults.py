"""What the client makes of an endpoint that fails: no reply lost, none paid twice."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from construction.judging.calls.contracts import Answered, CallReason, Unanswered
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
    "nousage": 1,
    "slow:0.05": 1,
}
REPAIRED = ("wrong,ok", "values,ok", "cutjson,ok", "empty,ok", "length,ok", "refusal,ok")
HOPELESS = {
    "wrong": (CallReason.INVALID, "12 characters: missing×2, string_type×1"),
    "values": (CallReason.INVALID, "43 characters: int_parsing×1"),
    "refusal": (CallReason.REFUSED, "refused, finish stop"),
    "filter": (CallReason.REFUSED, "refused, finish content_filter"),
    "length": (CallReason.TRUNCATED, "12 characters, cut at max_tokens"),
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
    assert [repr(one).replace("replayed=False", "replayed=True") for one in first] == [
        repr(one) for one in second
    ]


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
        pytest.raises(ConfigError, match="refuses the key in OPENAI_API_KEY"),
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
        ("toolonly", ["json_object", "json_schema", "tool"]),
        ("ignores", ["json_object", "json_schema", "tool"]),
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


def test_reasoning_models_get_their_own_limit_field(fault: Fault, tmp_path: Path) -> None:
    with fault.client(tmp_path / "store", "newstyle") as client:
        outcomes = client.ask([ask("new1"), ask("new2")])
    assert all(isinstance(outcome, Answered) for outcome in outcomes)
    assert sum(fault.counts()["calls"][item] for item in ("new1", "new2")) == 3


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
