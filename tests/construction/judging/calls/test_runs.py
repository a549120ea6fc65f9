"""Runs: killed, side by side, out of budget, replayed."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from construction.judging.calls.contracts import (
    FORECASTS,
    Answered,
    CallReason,
    Forecast,
    LlmConfig,
    LlmRuntime,
    Mode,
    Unanswered,
    Usage,
)
from construction.judging.calls.replies import Reply
from construction.judging.calls.requests import Turn, key, worst_case
from construction.judging.calls.store import Store, Stored, StoreError
from construction.judging.llm import Client
from data.errors import ConfigError
from tests.construction.judging.calls.conftest import REPO, Fault, ask
from tests.construction.judging.calls.run_client import questions

RUN = "tests.construction.judging.calls.run_client"


def start(fault: Fault, store: Path, prefix: str, count: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", RUN, fault.base(), str(store), prefix, str(count)]
    return subprocess.Popen(command, cwd=REPO, stdout=subprocess.PIPE)


def test_a_killed_run_goes_on_without_repeating_a_stored_call(fault: Fault, tmp_path: Path) -> None:
    process = start(fault, tmp_path / "store", "kill", 200)
    while len([name for name in fault.counts()["delivered"] if name.startswith("kill")]) < 40:
        assert process.poll() is None, "the run must be killed in its middle"
        time.sleep(0.01)
    process.kill()
    process.communicate()
    queries = questions("kill", 200)
    config = LlmConfig(mode=Mode.LIVE, model="fake-1")
    store = Store(tmp_path / "store")
    stored = {q.item_id for q in queries if store.replies(key(q, config))}
    store.close()
    assert 20 <= len(stored) < 200
    before = fault.counts()["calls"]
    with fault.client(tmp_path / "store") as client:
        outcomes = client.ask(queries)
        assert client.spent.replies == 200 - len(stored)
    assert all(isinstance(outcome, Answered) for outcome in outcomes)
    after = fault.counts()["calls"]
    assert {item: after[item] for item in stored} == {item: before[item] for item in stored}


def test_two_processes_pay_once(fault: Fault, tmp_path: Path) -> None:
    both = [start(fault, tmp_path / "store", "pair", 60) for _ in range(2)]
    result = [json.loads(process.communicate()[0]) for process in both]
    assert result[0]["answers"] == result[1]["answers"]
    assert result[0]["replies"] + result[1]["replies"] == 60
    calls = fault.counts()["calls"]
    assert [calls[f"pair{number}"] for number in range(60)] == [1] * 60


def test_two_clients_of_one_process_pay_once(fault: Fault, tmp_path: Path) -> None:
    with fault.client(tmp_path / "s") as entry, fault.client(tmp_path / "s") as other:
        entry.ask([ask("same")])
        other.ask([ask("same")])
        assert (entry.spent.replies, other.spent.replies) == (1, 0)


@pytest.mark.parametrize(
    ("plan", "limit"), [("ok", 1500), ("drop,ok", 6000), ("nousage", 6000), ("wrong,ok", 2000)]
)
def test_the_budget_is_never_exceeded_and_the_next_run_goes_on(
    fault: Fault, tmp_path: Path, plan: str, limit: int
) -> None:
    queries = [ask(f"{plan[:2]}-{number}", plan, max_tokens=100) for number in range(30)]
    billed, runs = 0, 0
    start = fault.counts()["tokens"]
    while True:
        with fault.client(tmp_path / "store", budget_tokens=limit, concurrency=8) as client:
            outcomes = client.ask(queries)
        now = fault.counts()["tokens"] - start
        assert now - billed <= limit
        billed, runs = now, runs + 1
        unanswered = [entry for entry in outcomes if isinstance(entry, Unanswered)]
        if not unanswered:
            break
        assert {entry.reason for entry in unanswered} == {CallReason.BUDGET}
        assert runs < 40, "every run must get further"
    assert runs > 1


def test_the_budget_counts_money(fault: Fault) -> None:
    queries = [ask(f"money{number}", max_tokens=100) for number in range(10)]
    worst = worst_case(Turn(queries[0]), LlmConfig(mode=Mode.LIVE, model="fake-1"))
    prices = {"prompt": 2.0, "completion": 10.0}
    entry = (worst.prompt_tokens * 2 + worst.completion_tokens * 10) / 1e6
    with fault.client(None, prices=prices, budget_cost=entry * 0.99) as client:
        nothing = client.ask(queries)
    with fault.client(None, prices=prices, budget_cost=entry * 1.01, concurrency=8) as client:
        some = client.ask(queries)
        assert 0 < client.spent.cost <= entry * 1.01
    assert not any(isinstance(outcome, Answered) for outcome in nothing)
    assert 0 < sum(isinstance(outcome, Answered) for outcome in some) < 10


def test_a_replay_needs_no_endpoint_and_says_what_is_missing(fault: Fault, tmp_path: Path) -> None:
    queries = [ask("there1"), ask("there2", "wrong")]
    with fault.client(tmp_path / "store", mode="record") as client:
        recorded = client.ask(queries)
        evidence = client.replies_digest()
    config = LlmConfig(mode=Mode.REPLAY, model="fake-1")
    nowhere = LlmRuntime(base_url="https://models.example/v1")
    with Client(config, nowhere, tmp_path / "store") as client:
        client.ask(queries)
        assert client.replies_digest() == evidence
        replayed = client.ask([*queries, ask("absent")])
        assert client.replies_digest() != evidence
    assert isinstance(recorded[0], Answered)
    assert isinstance(replayed[0], Answered)
    assert replayed[0].value == recorded[0].value
    assert replayed[0].usage == recorded[0].usage
    reasons = [outcome.reason for outcome in replayed[1:] if isinstance(outcome, Unanswered)]
    assert reasons == [CallReason.INVALID, CallReason.MISSING]
    by_baseline = config.model_copy(update={"unrecorded": "baseline"})
    with Client(by_baseline, nowhere, tmp_path / "store") as client:
        (lacking,) = client.ask([ask("absent")])
    assert isinstance(lacking, Unanswered)
    assert lacking.reason is CallReason.UNRECORDED


def test_what_a_run_would_ask_is_counted_without_asking(tmp_path: Path) -> None:
    prices = {"prompt": 1.0, "completion": 2.0}
    config = LlmConfig.model_validate(
        {"mode": "replay", "model": "a", "models": {"grade": "b"}, "prices": prices}
    )
    chinese = replace(ask("z"), user="请把每个月的数字加起来。" * 100, stage="grade", max_tokens=50)
    forecasts: list[Forecast] = []
    token = FORECASTS.set(forecasts)
    try:
        with Client(config, LlmRuntime(), tmp_path / "s") as client:
            client.ask([ask("x"), ask("y"), ask("x"), chinese])
    finally:
        FORECASTS.reset(token)
    assert [(one.stage, one.model, one.calls) for one in forecasts] == [
        ("test", "a", 2),
        ("grade", "b", 1),
    ]
    assert [one.usage.completion_tokens for one in forecasts] == [2048, 50]
    assert 100 < forecasts[0].usage.prompt_tokens < 400
    assert 700 < forecasts[1].usage.prompt_tokens < 1000
    first = forecasts[0]
    assert first.cost == (first.usage.prompt_tokens + 2 * 2048) / 1e6


def test_a_store_of_an_earlier_version_is_read_on(tmp_path: Path) -> None:
    link = sqlite3.connect(tmp_path / "replies.sqlite")
    link.executescript(
        "CREATE TABLE replies (key TEXT, turn INTEGER, text TEXT, finish TEXT, refused INTEGER,"
        " model TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, at REAL,"
        " PRIMARY KEY (key, turn)) WITHOUT ROWID;"
        "INSERT INTO replies VALUES ('k', 0, 'said', 'stop', 0, 'm', 1, 2, 3.0)"
    )
    link.close()
    store = Store(tmp_path)
    assert store.replies("k") == [Reply("said", "stop", False, "m", Usage(1, 2))]
    store.keep([Stored("l", 0, Reply("b", "stop", False, "m", Usage(1, 2), ("seed",)))])
    assert store.replies("l")[0].left_out == ("seed",)
    store.close()


def test_calls_start_no_faster_than_allowed(fault: Fault) -> None:
    # 1,200 a minute are 50 ms apart: four calls cannot start within less than 150 ms.
    began = time.monotonic()
    with fault.client(None, calls_per_minute=1200, concurrency=4) as client:
        client.ask([ask(f"pace{number}") for number in range(4)])
    assert time.monotonic() - began >= 0.15


def test_a_remote_model_needs_masked_text_and_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = LlmConfig(mode=Mode.LIVE, model="m")
    remote = LlmRuntime(base_url="https://models.example/v1")
    with pytest.raises(ConfigError, match="only see masked text"):
        Client(config, remote, tmp_path)
    with (
        Client(config, remote, tmp_path, masked=True) as client,
        pytest.raises(ConfigError, match="environment variable OPENAI_API_KEY"),
    ):
        client.ask([ask("x")])


@pytest.mark.parametrize(
    ("mode", "model", "result"),
    [
        ("rules", "m", "uses no model"),
        ("live", "", "a model name"),
        ("record", "m", "a reply store"),
    ],
)
def test_settings_that_cannot_work_are_refused(mode: str, model: str, result: str) -> None:
    with pytest.raises(ConfigError, match=result):
        Client(LlmConfig(mode=Mode(mode), model=model), LlmRuntime(), None)


def test_a_budget_needs_a_limit_of_replies() -> None:
    config = LlmConfig(mode=Mode.LIVE, model="m", max_tokens="none", budget_tokens=9)
    with pytest.raises(ConfigError, match="a budget needs a reply limit"):
        Client(config, LlmRuntime(), None)


def test_a_store_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "replies.sqlite").write_bytes(b"not a database at all" * 200)
    with pytest.raises(StoreError, match=r"replies.sqlite: DatabaseError"):
        Store(tmp_path)


def test_the_store_is_private(fault: Fault, tmp_path: Path) -> None:
    with fault.client(tmp_path / "store") as client:
        client.ask([ask("private")])
        modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "store").iterdir()}
    assert (tmp_path / "store").stat().st_mode & 0o777 == 0o700
    assert set(modes.values()) == {0o600}, modes
