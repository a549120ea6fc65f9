"""Asking an endpoint now: many questions at once, each reply stored before anything else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from construction.judging.calls.config import LlmRuntime
from construction.judging.calls.contracts import (
    CallReason,
    Outcome,
    Question,
    Unanswered,
)
from construction.judging.calls.endpoint import Endpoint, Failure
from construction.judging.calls.replies import Reply, settle
from construction.judging.calls.requests import Turn
from construction.judging.calls.shapes import Dialect
from construction.judging.calls.store import Store, Stored
from data.errors import BenchmintError


class Live:
    """Settles questions one by one; used from one event loop."""

    def __init__(
        self, endpoint: Endpoint, store: Store | None, dialect: Dialect, runtime: LlmRuntime
    ) -> None:
        self._endpoint, self._store, self._dialect = endpoint, store, dialect
        self._runtime = runtime
        self._failed_in_a_row = 0
        self._error: BenchmintError | None = None

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, Outcome]:
        """The outcome of each question, by key.

        An error ends the asking, but not before what is under way has come in and is stored.
        """
        found: dict[str, Outcome] = {}
        waiting = iter(questions.items())

        async def work() -> None:
            for key, question in waiting:
                found[key] = await self._outcome(key, question)

        # An endpoint not met before is tried with one question, not with all at once.
        if not self._dialect.known:
            for key, question in waiting:
                found[key] = await self._outcome(key, question)
                break
        workers = min(self._runtime.concurrency, len(questions))
        await asyncio.gather(*(work() for _ in range(workers)))
        if self._error is not None:
            raise self._error
        return found

    async def _outcome(self, key: str, question: Question) -> Outcome:
        """Settle one question; an error is kept for the end."""
        if self._error or self._failed_in_a_row >= self._runtime.give_up_after:
            return Unanswered(question.item_id, CallReason.FAILED, "the endpoint gave no answers")
        try:
            outcome = await self._settle(key, question)
        except BenchmintError as error:
            self._error = self._error or error
            return Unanswered(question.item_id, CallReason.FAILED, type(error).__name__)
        if isinstance(outcome, Unanswered) and outcome.reason is CallReason.FAILED:
            self._failed_in_a_row += 1
        else:
            self._failed_in_a_row = 0
        return outcome

    async def _settle(self, key: str, question: Question) -> Outcome:
        async with self._claimed(key):
            # Another process may have asked while this one waited for the claim.
            replies = self._store.replies(key) if self._store else []
            replayed = True
            while (outcome := settle(question, replies, replayed=replayed)) is None:
                turn = Turn(question, replies[-1] if replies else None)
                reply = await self._endpoint.call(key, turn)
                if isinstance(reply, Failure):
                    return Unanswered(question.item_id, reply.reason, reply.detail)
                await self._keep(key, turn, reply)
                replies, replayed = [*replies, reply], False
            return outcome

    async def _keep(self, key: str, turn: Turn, reply: Reply) -> None:
        if self._store is not None:
            await self._store.keep(Stored(key, turn.number, reply))

    @asynccontextmanager
    async def _claimed(self, key: str) -> AsyncIterator[None]:
        if self._store is None:
            yield
            return
        async with self._store.claims.hold(key):
            yield
