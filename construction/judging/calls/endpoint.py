"""Asking an endpoint now: one call and its attempts, and many questions at once.

Each reply is stored before anything else is done with it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import httpx2
import orjson
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, OpenAIError

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
from construction.judging.calls.replies import (
    NOT_TAKEN,
    Reply,
    declined,
    judge,
    parse,
    read_reply,
    safe_code,
    settle,
)
from construction.judging.calls.requests import Turn, body, form, worst_case
from construction.judging.calls.shapes import Dialect, Shape
from construction.judging.calls.store import Store, Stored
from construction.judging.calls.transport import Pace, wait_after
from data.errors import BenchmintError, ConfigError

_LASTING = frozenset({400, 413, 422})  # statuses that speak of the request, not of the run
TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_NO_CREDIT = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_OPTIONS: Any = {"headers": {"Content-Type": "application/json"}, "security": {"bearer_auth": True}}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call brought no reply; `detail` as in `Unanswered`.

    `lasting`: the endpoint does not take this request; asked again, it would say the same.
    """

    reason: CallReason
    detail: str
    lasting: bool = False


class _Next(Enum):
    AGAIN = "again"  # after a pause
    ANEW = "anew"  # at once, in another form
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class _Trouble:
    """One attempt that brought no reply; `paid`: it may be charged all the same."""

    then: _Next
    detail: str
    paid: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    reason: CallReason = CallReason.FAILED
    lasting: bool = False


class Endpoint:
    """Calls one endpoint and model, within budget and pace. Used from one event loop."""

    def __init__(
        self,
        config: LlmConfig,
        runtime: LlmRuntime,
        client: AsyncOpenAI,
        dialect: Dialect,
        budget: Budget,
    ) -> None:
        self._config, self._runtime = config, runtime
        self._client, self._dialect, self._budget = client, dialect, budget
        self._pace = Pace(runtime.calls_per_minute)

    async def call(self, key: str, turn: Turn) -> Reply | Failure:
        """Make one call, with as many attempts as the runtime allows.

        Raises ConfigError where the endpoint refuses the key, or has no such path or model.
        """
        worst, attempt = worst_case(turn, self._config), 0
        while True:
            shape = self._dialect.shape(form(turn.question.answer).digest)
            if shape is None:
                return Failure(CallReason.REJECTED, "no form of structured output is supported")
            if not await self._budget.reserve(worst):
                return Failure(CallReason.BUDGET, "the run's budget is used up")
            result = await self._attempt(turn, shape, worst)
            if isinstance(result, Reply):
                self._dialect.learn(shape, judge(result, turn.question.answer))
                return result
            if result.then is _Next.ANEW:
                continue
            attempt += 1
            if result.then is _Next.NEVER or attempt >= self._runtime.attempts:
                detail = f"{result.detail}, attempt {attempt}"
                return Failure(result.reason, detail, result.lasting)
            await self._pause(key, attempt, result)

    async def _attempt(self, turn: Turn, shape: Shape, worst: Usage) -> Reply | _Trouble:
        """One request; its reservation is settled however it ends."""
        paid: Usage | None = worst
        try:
            await self._pace.turn()
            result = await self._request(turn, shape, worst)
            if isinstance(result, Reply):
                paid = result.usage
            elif not result.paid:
                paid = None
            return result
        finally:
            self._budget.settle(worst, paid)

    async def _request(self, turn: Turn, shape: Shape, worst: Usage) -> Reply | _Trouble:
        runtime, dialect = self._runtime, self._dialect
        limit_field = dialect.limit_field
        content = orjson.dumps(body(turn, self._config, shape, limit_field))
        try:
            async with asyncio.timeout(runtime.timeout + runtime.connect_timeout):
                response = await self._client.post(
                    "/chat/completions", cast_to=httpx2.Response, content=content, options=_OPTIONS
                )
        except APIStatusError as error:
            code = safe_code(error.code or error.type)
            refusal = declined(error.status_code, code, error.message)
            if refusal is not None:
                return refusal
            schema = form(turn.question.answer).digest
            if dialect.adapt(error.status_code, error.message, shape, schema, limit_field):
                return _Trouble(_Next.ANEW, "")
            return self._refused(error)
        except APIConnectionError as error:
            cause = error.__cause__ or error
            sent = not isinstance(cause, _NEVER_SENT)
            return _Trouble(_Next.AGAIN, _snake(type(cause).__name__), paid=sent)
        except TimeoutError:
            return _Trouble(_Next.AGAIN, "timeout", paid=True)
        except OpenAIError as error:
            return _Trouble(_Next.NEVER, _snake(type(error).__name__), paid=True)
        reply = read_reply(parse(response.content), worst, (self._client.api_key,))
        return reply or _Trouble(_Next.AGAIN, "broken_reply", paid=True)

    def _refused(self, error: APIStatusError) -> _Trouble:
        """What a status other than success means."""
        status, code = error.status_code, safe_code(error.code or error.type)
        if status == 401:
            named = self._runtime.key_variable
            raise ConfigError(f"the model's endpoint refuses the key in {named} (401)")
        if status == 404:
            raise ConfigError("the model's endpoint has no such path or model (404)")
        detail = f"http {status} {code}".rstrip()
        if code in _NO_CREDIT:
            return _Trouble(_Next.NEVER, detail)
        if status in TRANSIENT:
            return _Trouble(_Next.AGAIN, detail, headers=error.response.headers)
        lasting = status in _LASTING
        return _Trouble(_Next.NEVER, detail, reason=CallReason.REJECTED, lasting=lasting)

    async def _pause(self, key: str, attempt: int, trouble: _Trouble) -> None:
        runtime = self._runtime
        seconds = wait_after(trouble.headers, key, attempt, runtime.backoff, runtime.max_wait)
        if "retry-after" in trouble.headers:
            self._pace.hold(seconds)  # the endpoint is busy, so all calls wait
        await asyncio.sleep(seconds)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


class Live:
    """Settles questions one by one; used from one event loop."""

    def __init__(
        self, endpoint: Endpoint, store: Store | None, dialect: Dialect, runtime: LlmRuntime
    ) -> None:
        self._endpoint, self._store, self._dialect = endpoint, store, dialect
        self._runtime = runtime
        self._failed_in_a_row = 0
        self._error: BenchmintError | None = None
        self._has_answered = False
        self._not_taken: set[str] = set()  # keys of requests that the endpoint does not take

    async def ask(
        self, questions: Mapping[str, Question], known: tuple[str, Question] | None = None
    ) -> dict[str, Outcome]:
        """The outcome of each question, by key.

        A request that the endpoint does not take is refused, and stored as such, if the endpoint
        has answered another in this run, or now answers `known`, which it answered in an earlier
        one: such a request must not keep all others from their results.
        An error ends the asking after all calls under way have ended and their replies are stored.
        """
        outcomes: dict[str, Outcome] = {}
        waiting = iter(questions.items())

        async def work() -> None:
            for key, question in waiting:
                outcomes[key] = await self._outcome(key, question)

        # An unknown endpoint is tried with one question before all are asked at once.
        if not self._dialect.known:
            for key, question in waiting:
                outcomes[key] = await self._outcome(key, question)
                break
        workers = min(self._runtime.concurrency, len(questions))
        await asyncio.gather(*(work() for _ in range(workers)))
        not_taken = [key for key in questions if key in self._not_taken]
        if not_taken and self._error is None and await self._is_answering(known):
            for key in not_taken:
                outcomes[key] = await self._outcome(key, questions[key], refusing=True)
        if self._error is not None:
            raise self._error
        return outcomes

    async def _is_answering(self, known: tuple[str, Question] | None) -> bool:
        if not self._has_answered and known is not None:
            key, question = known
            reply = await self._endpoint.call(key, Turn(question, None))
            self._has_answered = isinstance(reply, Reply)
        return self._has_answered

    async def _outcome(self, key: str, question: Question, *, refusing: bool = False) -> Outcome:
        """Settle one question; an error is raised at the end, by `ask`."""
        if self._error or self._failed_in_a_row >= self._runtime.give_up_after:
            return Unanswered(question.item_id, CallReason.FAILED, "the endpoint gave no answers")
        try:
            outcome = await self._settle(key, question, refusing)
        except BenchmintError as error:
            self._error = self._error or error
            return Unanswered(question.item_id, CallReason.FAILED, type(error).__name__)
        if isinstance(outcome, Unanswered) and outcome.reason is CallReason.FAILED:
            self._failed_in_a_row += 1
        else:
            self._failed_in_a_row = 0
        return outcome

    async def _settle(self, key: str, question: Question, refusing: bool) -> Outcome:
        async with self._claimed(key):
            # Another process may have asked while this one waited for the claim.
            replies = self._store.replies(key) if self._store else []
            replayed = True
            while (outcome := settle(question, replies, replayed=replayed)) is None:
                turn = Turn(question, replies[-1] if replies else None)
                reply = await self._endpoint.call(key, turn)
                if isinstance(reply, Failure) and reply.lasting and refusing:
                    reply = NOT_TAKEN
                if isinstance(reply, Failure):
                    self._not_taken.update([key] if reply.lasting else [])
                    return Unanswered(question.item_id, reply.reason, reply.detail)
                self._has_answered = self._has_answered or not reply.refused
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
