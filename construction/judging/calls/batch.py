"""Asking through the Batch API: cheaper, slower, and resumed by the next run after a kill.

Before a batch is submitted, the store records it under a name that is sent along as metadata.
Whenever a process is killed, the next run finds the batch again and pays for none twice.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from openai import AsyncOpenAI

from construction.judging.calls.batch_api import (
    Absent,
    BatchApi,
    Line,
    Order,
    chunks,
    make_order,
    total,
)
from construction.judging.calls.budget import Budget
from construction.judging.calls.contracts import (
    CallReason,
    LlmConfig,
    LlmRuntime,
    Outcome,
    Question,
    Unanswered,
    Usage,
)
from construction.judging.calls.endpoint import TRANSIENT, Failure
from construction.judging.calls.replies import judge, settle
from construction.judging.calls.requests import Turn, form
from construction.judging.calls.shapes import Dialect
from construction.judging.calls.store import NotedBatch, Store, Stored
from data.canonical import digest

_ONE_AT_A_TIME = "0" * 64  # the claim for which other batch runs on this store wait
_ROUNDS = 5  # first replies, repairs, and requests that came back undone


class Batches:
    """Settles questions batch by batch; used from one event loop."""

    def __init__(
        self,
        config: LlmConfig,
        runtime: LlmRuntime,
        client: AsyncOpenAI,
        store: Store,
        dialect: Dialect,
        budget: Budget,
    ) -> None:
        self._config, self._runtime, self._api = config, runtime, BatchApi(client, runtime)
        self._store, self._dialect, self._budget = store, dialect, budget
        self._failed: dict[str, Failure] = {}
        self._paid: set[str] = set()

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, Outcome]:
        """The outcome of each question, by key; `pending` where its batch is not done yet."""
        deadline = time.monotonic() + self._runtime.batch_wait
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._store.claims.hold(_ONE_AT_A_TIME))
            for key in sorted(questions):
                await stack.enter_async_context(self._store.claims.hold(key))
            for noted in self._store.batches():
                self._budget.take_over(noted.worst)
                await self._finish(noted, (), deadline)
            for _ in range(_ROUNDS):
                orders = [] if self._store.batches() else self._orders(questions)
                submitted = [
                    (await self._submit(chunk), chunk) for chunk in chunks(orders, self._runtime)
                ]
                for noted, chunk in submitted:
                    await self._finish(noted, chunk, deadline)
        return {key: self._outcome(key, question) for key, question in questions.items()}

    def _orders(self, questions: Mapping[str, Question]) -> list[Order]:
        """The calls that are still to be made, as far as the budget allows."""
        orders: list[Order] = []
        for key, question in questions.items():
            replies = self._store.replies(key)
            if key in self._failed or settle(question, replies, replayed=False) is not None:
                continue
            turn = Turn(question, replies[-1] if replies else None)
            order = make_order(key, turn, self._config, self._dialect)
            if order is None:
                self._failed[key] = Failure(
                    CallReason.REJECTED, "no form of structured output is supported"
                )
            elif not self._can_pay(order.worst):
                self._failed[key] = Failure(CallReason.BUDGET, "the run's budget is used up")
            else:
                orders.append(order)
        return orders

    def _can_pay(self, worst: Usage) -> bool:
        """Reserve the worst case of a call; the first that does not fit ends the run's spending."""
        if self._budget.exhausted or not self._budget.try_reserve(worst, batch=True):
            self._budget.exhausted = True
            return False
        return True

    async def _submit(self, orders: Sequence[Order]) -> NotedBatch:
        """Record a batch and submit it; it has no id if it is unclear whether it arrived."""
        noted = NotedBatch(
            digest([[order.key for order in orders], time.time_ns()]), "", total(orders)
        )
        self._store.note_batch(noted)
        batch = await self._api.submit(noted.name, b"".join(order.line for order in orders))
        if batch is not None:
            noted = replace(noted, batch=batch.id)
            self._store.note_batch(noted)
        return noted

    async def _finish(self, noted: NotedBatch, orders: Sequence[Order], deadline: float) -> None:
        """Wait for a batch and keep its replies; one that is not done stays recorded."""
        batch = await self._api.wait(noted, deadline)
        if batch is Absent.NEVER_ARRIVED:
            self._store.drop_batch(noted.name)
            self._budget.settle(noted.worst, None, batch=True)
        elif isinstance(batch, Absent):
            # It will have to be paid for, so this run is charged its worst case.
            self._budget.settle(noted.worst, noted.worst, batch=True, replies=0)
        else:
            lines = [line async for line in self._api.lines(batch)]
            rows = [
                Stored(line.key, line.number, line.reply)
                for line in lines
                if line.reply is not None
            ]
            self._store.keep_all(rows)
            self._store.drop_batch(noted.name)
            paid = sum((row.reply.usage for row in rows), Usage())
            self._budget.settle(noted.worst, paid, batch=True, replies=len(rows))
            self._paid.update(row.key for row in rows)
            self._learn(lines, {(order.key, order.turn.number): order for order in orders})

    def _learn(self, lines: Iterable[Line], orders: Mapping[tuple[str, int], Order]) -> None:
        """Remember which forms of request the endpoint accepted and which it refused."""
        for line in lines:
            order = orders.get((line.key, line.number))
            if order is None:
                continue
            answer, shape = order.turn.question.answer, order.shape
            if line.reply is not None:
                self._dialect.learn(shape, judge(line.reply, answer))
            elif not self._dialect.adapt(
                line.status, line.message, shape, form(answer).digest, order.limit_field
            ):
                self._note_refusal(line)

    def _note_refusal(self, line: Line) -> None:
        """Mark a request as failed if another round cannot help."""
        if line.status >= 400 and line.status not in TRANSIENT:
            detail = f"http {line.status} {line.code}".rstrip()
            self._failed[line.key] = Failure(CallReason.REJECTED, detail)

    def _outcome(self, key: str, question: Question) -> Outcome:
        replayed = key not in self._paid
        outcome = settle(question, self._store.replies(key), replayed=replayed)
        if outcome is not None:
            return outcome
        if key in self._failed:
            failure = self._failed[key]
        elif self._store.batches():
            failure = Failure(CallReason.PENDING, "a batch is not done yet")
        else:
            failure = Failure(CallReason.FAILED, "no batch returned a reply")
        return Unanswered(question.item_id, failure.reason, failure.detail)
