"""The Batch API: half the price, and no batch submitted twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from construction.judging.calls.contracts import Answered, CallReason, Unanswered
from construction.judging.llm import _BatchError, _Batches
from tests.construction.judging.calls.conftest import Fault, ask

PRICES = {"prompt": 1.0, "completion": 1.0}


def test_a_batch_answers_and_repairs_at_half_the_price(fault: Fault, tmp_path: Path) -> None:
    plans = ["ok"] * 8 + ["wrong,ok", "length,ok", "wrong", "400", "toolong", "429,ok"]
    requests = [ask(f"b{number}", plan) for number, plan in enumerate(plans)]
    fault.set(polls=2)
    before = fault.counts()["tokens"]
    with fault.client(tmp_path / "s", mode="batch", prices=PRICES, batch_requests=5) as client:
        outcomes = client.ask(requests)
        spent = client.spent
    billed = fault.counts()["tokens"] - before
    assert spent.usage.prompt_tokens + spent.usage.completion_tokens == billed
    assert spent.cost == pytest.approx(billed / 1e6 / 2)
    answered = [isinstance(outcome, Answered) for outcome in outcomes]
    assert answered == [True] * 10 + [False] * 3 + [True]
    assert [one.repaired for one in outcomes if isinstance(one, Answered)] == (
        [False] * 8 + [True] * 2 + [False]
    )
    reasons = [(one.reason, one.detail) for one in outcomes if isinstance(one, Unanswered)]
    assert reasons == [
        (CallReason.INVALID, "12 characters: missing×2, string_type×1"),
        (CallReason.REJECTED, "http 400 some_code"),
        (CallReason.TOO_LONG, "the request does not fit into the model's context"),
    ]
    with fault.client(tmp_path / "s", mode="replay") as client:
        replayed = client.ask(requests)
    assert [isinstance(outcome, Answered) for outcome in replayed] == answered


def test_what_expired_is_asked_again(fault: Fault, tmp_path: Path) -> None:
    requests = [ask(f"late{number}") for number in range(6)]
    fault.set(polls=0, expire=2)
    with fault.client(tmp_path / "s", mode="batch") as client:
        outcomes = client.ask(requests)
    assert all(isinstance(outcome, Answered) for outcome in outcomes)
    assert [fault.counts()["served"][f"late{number}"] for number in range(6)] == [1] * 6


def test_a_batch_not_done_yet_is_left_to_the_next_run(fault: Fault, tmp_path: Path) -> None:
    requests = [ask(f"wait{number}") for number in range(3)]
    fault.set(polls=10**6)
    with fault.client(tmp_path / "s", mode="batch", batch_wait=0.05) as client:
        outcomes = client.ask(requests)
        assert client.spent.usage.completion_tokens == 3 * 1024  # in full, until it is known
    assert {one.reason for one in outcomes if isinstance(one, Unanswered)} == {CallReason.PENDING}
    fault.set(finish=True)
    with fault.client(tmp_path / "s", mode="batch") as client:
        outcomes = client.ask(requests)
    assert all(isinstance(outcome, Answered) for outcome in outcomes)
    assert [fault.counts()["served"][f"wait{number}"] for number in range(3)] == [1] * 3


@pytest.mark.parametrize("moment", ["before", "lost", "after"])
def test_a_run_killed_around_submission_pays_once(
    fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    requests = [ask(f"{moment}{number}") for number in range(4)]
    fault.set(polls=0, lose_create=moment == "lost")

    def killed(*_: object) -> None:
        raise _BatchError("killed here")

    with monkeypatch.context() as patched:
        patched.setattr(_Batches, "submit" if moment == "before" else "wait", killed)
        with (
            fault.client(tmp_path / "s", mode="batch") as client,
            pytest.raises(_BatchError, match="killed here"),
        ):
            client.ask(requests)
    with fault.client(tmp_path / "s", mode="batch") as client:
        outcomes = client.ask(requests)
    assert all(isinstance(outcome, Answered) for outcome in outcomes)
    assert [fault.counts()["served"][f"{moment}{n}"] for n in range(4)] == [1] * 4


def test_a_batch_keeps_within_the_budget(fault: Fault, tmp_path: Path) -> None:
    requests = [ask(f"poor{number}", max_tokens=100) for number in range(10)]
    fault.set(polls=0)
    with fault.client(tmp_path / "s", mode="batch", budget_tokens=4000) as client:
        outcomes = client.ask(requests)
    result = [isinstance(outcome, Answered) for outcome in outcomes]
    assert 0 < sum(result) < 10
    assert result == sorted(result, reverse=True), "the first that does not fit ends the asking"
    rest = {one.reason for one in outcomes if isinstance(one, Unanswered)}
    assert rest == {CallReason.BUDGET}


def test_a_batch_finds_the_shape_that_works(fault: Fault, tmp_path: Path) -> None:
    fault.set(polls=0, path="/wordsonly/")
    with fault.client(tmp_path / "s", mode="batch") as client:
        outcomes = client.ask([ask("shaped1"), ask("shaped2")])
    fault.set()
    assert all(isinstance(outcome, Answered) for outcome in outcomes)
    assert fault.counts()["served"]["shaped1"] == 1
