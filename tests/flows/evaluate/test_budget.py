"""Budgets: what is billed never exceeds them, over parallel attempts and resumed runs."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

from inspect_ai.model import ModelUsage

from data.attempts import RUN_BUDGET_SPENT, finished, read_attempts
from data.contracts.attempt import AttemptStatus
from data.endpoints import SUFFIX, Journal, Tokens, read_prices, spent
from data.errors import InputError
from data.releases.tasks import ReleasedTasks
from flows.evaluate.budget import (
    Amount,
    Budget,
    Purse,
    Spending,
    _BudgetSpent,
    spending_of,
    tokens_of,
)
from flows.evaluate.run import evaluate
from tests.flows.evaluate.chat_server import chat_server
from tests.flows.evaluate.plans import MODEL, TASKS, Messages, plan, steps_taken
from tests.flows.json_server import HANG_UP
from tests.needs import needs_box

PRICES = f"""
date = 2026-11-01
[models."{MODEL}"]
input = 2.0
output = 10
cache_read = 0.5
"""


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.toml"
    path.write_text(PRICES)
    return path


def test_tokens_cost_what_the_list_says(prices: Path) -> None:
    price = read_prices(prices).models[MODEL]
    tokens = Tokens(input=1_000_000, cache_read=2_000_000, cache_write=500_000, output=100_000)
    assert price.cost(tokens) == Decimal("2") + Decimal("1") + Decimal("1") + Decimal("1")
    assert price.most(tokens) == Decimal("8")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("2026-11-01", "1", "date"),
        ("input = 2.0", "", "input: Field required"),
        ("input = 2.0", "input = -1", "greater than or equal to 0"),
        ("input = 2.0", "input = 1e999999", "less than or equal to 1000000"),
        ("input = 2.0", "input = " + "[" * 5000, "RecursionError"),
        ("cache_read", "cached", "cached: Extra inputs"),
        ("[models", "[[models", "TOMLDecodeError|models"),
    ],
)
def test_a_price_list_that_is_none_is_refused(
    prices: Path, old: str, new: str, problem: str
) -> None:
    prices.write_text(PRICES.replace(old, new))
    with pytest.raises(InputError, match=problem):
        read_prices(prices)


def test_limits_that_cannot_be_kept_are_refused(prices: Path) -> None:
    none = Budget()
    with pytest.raises(InputError, match="no price for other/model"):
        spending_of("other/model", Budget(cost=Decimal(1)), none, None, prices)
    with pytest.raises(InputError, match=f"no price for {MODEL}"):
        spending_of(MODEL, none, Budget(cost=Decimal(1)), None, None)
    with pytest.raises(InputError, match="no model"):
        spending_of(None, Budget(tokens=5), none, None, None)
    spending = spending_of(MODEL, Budget(tokens=5), none, None, prices)
    assert (spending.reply_tokens, spending.price_date) == (4096, "2026-11-01")


def test_a_call_waits_for_those_that_may_give_something_back() -> None:
    asyncio.run(_wait_for_each_other())


async def _wait_for_each_other() -> None:
    purse = Purse(Spending(run=Budget(tokens=100)), {"before": Amount(10)})
    await purse.set_aside("a", Amount(60))
    waiting = asyncio.create_task(purse.set_aside("b", Amount(60)))
    await asyncio.sleep(0)
    assert not waiting.done()
    purse.settle("a", Amount(60), Amount(20))
    await waiting
    purse.settle("b", Amount(60), Amount(60))
    with pytest.raises(_BudgetSpent) as error:
        await purse.set_aside("c", Amount(11))
    assert error.value.whole_run
    await purse.set_aside("c", Amount(10))


@pytest.mark.parametrize(
    "line", ["{", "[]", "7", '{"call": 1, "reply": {}}', '{"call": 1, "request": "r"}']
)
def test_a_journal_that_was_edited_is_refused_and_kept(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(InputError, match=r"found .* expected the replies"):
        Journal(path)
        list(spent(path))
    assert path.read_text() == f"{line}\n"


def test_a_journal_survives_any_cut(tmp_path: Path) -> None:
    path = tmp_path / f"t{SUFFIX}"
    journal = Journal(path)
    first = journal.begin("q", Tokens(input=7, output=3))
    journal.keep(first, {"text": "r"}, Tokens(1, output=1), 0.5)
    kept = path.read_bytes().rstrip(b"\0")
    journal.begin("q", Tokens(input=9))
    begun = path.read_bytes().rstrip(b"\0")
    for end in range(len(kept), len(begun) + 1):
        path.write_bytes(begun[:end] + b"\0" * (end % 3))
        again = Journal(path)
        assert again.reply("q") == {"text": "r"}
        assert again.reply("q") is None
        is_open = [(Tokens(input=9), True)] if end == len(begun) else []
        assert list(spent(path)) == [(Tokens(1, output=1), False), *is_open]
        again.close()


def test_what_nobody_knows_of_a_call_is_counted_and_has_no_cost(tmp_path: Path) -> None:
    path = tmp_path / f"t{SUFFIX}"
    journal = Journal(path)
    for reply in ({"usage": {"input_tokens": 1}}, {"text": "without usage"}):
        journal.keep(journal.begin("q", Tokens(9)), reply, Tokens(1), 0.1)
    journal.free(journal.begin("refused", Tokens(9)))
    journal.begin("under way at a kill", Tokens(9))
    assert journal.unknown == 2
    journal.close()
    again = Journal(path)
    assert again.unknown == 2
    again.close()


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 900, "output_tokens": 80, "total_tokens": 980}, Tokens(900, output=80)),
        # reasoning that stands beside the output, with and without its own name
        (
            {
                "input_tokens": 900,
                "output_tokens": 80,
                "total_tokens": 1400,
                "reasoning_tokens": 420,
            },
            Tokens(900, output=500),
        ),
        ({"input_tokens": 900, "output_tokens": 80, "total_tokens": 1400}, Tokens(900, output=500)),
        # what was cached is part of the total, whether a provider counts it there or not
        (
            {
                "input_tokens": 100,
                "input_tokens_cache_read": 800,
                "output_tokens": 80,
                "total_tokens": 980,
            },
            Tokens(100, 800, output=80),
        ),
        (
            {
                "input_tokens": 100,
                "input_tokens_cache_read": 800,
                "output_tokens": 80,
                "total_tokens": 180,
            },
            Tokens(100, 800, output=80),
        ),
    ],
)
def test_tokens_beside_those_of_the_completion_are_billed(
    usage: dict[str, int], expected: Tokens
) -> None:
    assert tokens_of(ModelUsage(**usage)) == expected


def endless(messages: Messages) -> tuple[str, dict[str, Any]]:
    """Never submits."""
    return "shell", {"command": f"echo {len(messages)}"}


@needs_box
@pytest.mark.slow(seconds=8)
def test_an_attempt_ends_before_its_budget_is_exceeded(
    tasks: ReleasedTasks, tmp_path: Path, prices: Path
) -> None:
    limit = Budget(tokens=9000, cost=Decimal("0.02"))
    spending = spending_of(MODEL, Budget(), limit, 100, prices)
    with chat_server(endless) as chat:
        folder = evaluate(
            plan(tasks, tmp_path / "run", base_url=chat.url, spending=spending)
        ).folder
    for _, record in read_attempts(folder):
        attempt = record.attempt
        assert (attempt.status, attempt.error) == (
            AttemptStatus.BUDGET,
            "the budget of the attempt is spent",
        )
        used = attempt.usage
        assert 0 < used.input_tokens + used.output_tokens <= 9000
        assert used.cost == pytest.approx((used.input_tokens * 2 + used.output_tokens * 10) / 1e6)
        assert used.price_date == "2026-11-01"
        assert used.cost is not None
        assert used.cost <= 0.02
    assert chat.billed <= TASKS * 9000


@needs_box
@pytest.mark.slow(seconds=15)
def test_a_run_stops_at_its_budget_and_goes_on_with_a_larger_one(
    tasks: ReleasedTasks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flows.evaluate.run._RETRIES", 0)
    hung_up: list[str] = []

    def play(messages: Messages) -> tuple[str, dict[str, Any]] | int:
        if not hung_up and steps_taken(messages) == 1:
            hung_up.append("once")
            return HANG_UP
        if steps_taken(messages) < 3:
            return endless(messages)
        return "submit", {"answer": "x"}

    def run(most: int) -> Any:
        spending = Spending(run=Budget(tokens=most), reply_tokens=200)
        return evaluate(plan(tasks, tmp_path / "run", base_url=chat.url, spending=spending))

    with chat_server(play) as chat:
        for most in (3300, 3300):
            ended = run(most)
            assert ended.budget_spent
            assert ended.done < ended.wanted
            assert 0 < chat.billed <= most
        cut_off = [r.attempt for _, r in read_attempts(ended.folder) if r.attempt.error]
        assert {attempt.error for attempt in cut_off} <= {RUN_BUDGET_SPENT} | {
            attempt.error for attempt in cut_off if attempt.status is AttemptStatus.INFRA_ERROR
        }
        ended = run(100_000)
    assert (ended.done, ended.budget_spent) == (TASKS, False)
    assert len(finished(ended.folder)) == TASKS
    requests = Counter(json.dumps(request) for request in chat.requests)
    assert sum(requests.values()) - len(requests) == len(hung_up)
