"""Asking an endpoint now: the connection, one call and its attempts, many questions at once.

Attempts are counted here and not by the openai client, because each may be paid for and has to fit
into the budget. Each reply is stored before anything else is done with it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from math import inf
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urlsplit

import httpx2
import orjson
from openai import APIConnectionError, APIStatusError, OpenAI, OpenAIError

from construction.judging.calls.contracts import (
    AccountError,
    Budget,
    CallReason,
    LlmConfig,
    LlmRuntime,
    Outcome,
    Question,
    Tariff,
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
from construction.judging.calls.requests import Dialect, Manner, Turn, body, form, worst_case
from construction.judging.calls.store import Store, Stored
from data.errors import BenchmintError, ConfigError
from data.randomness import keyed_generator

PATHS = {"chat": "/chat/completions", "responses": "/responses"}
TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_LASTING = frozenset({400, 413, 422})  # statuses that speak of the request, not of the run
_NO_CREDIT = {
    "insufficient_quota", "billing_hard_limit_reached", "billing_not_active",
    "insufficient_balance", "account_deactivated",
}  # fmt: skip
_NO_BALANCE = (
    *("credit balance is", "insufficient balance", "insufficient account balance"),
    *("insufficient credit", "insufficient funds"),
)
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_OPTIONS: Any = {"headers": {"Content-Type": "application/json"}, "security": {"bearer_auth": True}}


class _Bounded(httpx2.SyncByteStream):
    """A response body that raises an error when it is too long, or takes too long."""

    def __init__(self, stream: httpx2.SyncByteStream, limit: int, seconds: float) -> None:
        self._stream, self._limit, self._end = stream, limit, time.monotonic() + seconds

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self._stream:
            size += len(chunk)
            if size > self._limit:
                raise httpx2.ReadError(f"a body of more than {self._limit} bytes")
            if time.monotonic() > self._end:
                raise httpx2.ReadTimeout("a body without end")
            yield chunk

    def close(self) -> None:
        self._stream.close()


def connect(runtime: LlmRuntime, batch_bytes: int | None = None) -> OpenAI:
    """The openai client of a run: no redirects, no proxy for this machine, no endless bodies.

    A body has `max_reply_bytes` and `timeout`, those of batches `batch_bytes` and any time.
    Compressed bodies, which are not requested, are refused. Raises ConfigError if the endpoint
    needs a key and the environment has none.
    """
    seconds = runtime.timeout
    bounds = (batch_bytes, inf) if batch_bytes else (runtime.max_reply_bytes, seconds)

    def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.ReadError("a compressed body")
        if isinstance(response.stream, httpx2.SyncByteStream):
            response.stream = _Bounded(response.stream, *bounds)

    timeout = httpx2.Timeout(seconds, connect=runtime.connect_timeout)
    client = httpx2.Client(
        timeout=timeout,
        headers={"accept-encoding": "identity"},
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=runtime.concurrency),
        event_hooks={"response": [bound]},
        follow_redirects=False,
        trust_env=not runtime.is_loopback,
    )
    return OpenAI(
        api_key=runtime.key(),
        base_url=runtime.base_url,
        default_headers=runtime.secret_headers(),
        timeout=timeout,
        max_retries=0,
        http_client=client,
    )


@dataclass(frozen=True, slots=True)
class Line:
    """What a run asks with: settings, connection, store, budget, and what it knows of models."""

    config: LlmConfig
    runtime: LlmRuntime
    http: OpenAI
    store: Store | None
    dialects: Mapping[str, Dialect]  # by model
    budget: Budget

    def replies(self, key: str) -> list[Reply]:
        """The replies kept under a key."""
        return self.store.replies(key) if self.store else []

    def settled(self, question: Question, replies: list[Reply]) -> Outcome | None:
        """The outcome that follows from the replies so far; None: another one is needed."""
        return settle(question, replies, self.config.limit(question))


class _Pace:
    """Spaces calls evenly; where an endpoint asks to wait, all calls wait.

    `per_minute` None: calls are not spaced.
    """

    def __init__(self, per_minute: float | None) -> None:
        self._interval = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0
        self._lock = threading.Lock()

    def turn(self) -> None:
        """Wait until the next call may start."""
        with self._lock:
            start = max(time.monotonic(), self._next)
            # The slot is taken before the wait, so that later callers queue behind it.
            self._next = start + self._interval if self._interval else self._next
        time.sleep(max(0.0, start - time.monotonic()))

    def hold(self, seconds: float) -> None:
        """Start no call for the next `seconds`."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)


def _wait_after(
    headers: Mapping[str, str], key: str, attempt: int, base: float, longest: float
) -> float:
    """Seconds to wait before the next attempt: as the endpoint asks, else exponential backoff.

    The backoff doubles with every attempt. A keyed draw spreads it over its upper half, so that
    calls that failed together are not repeated together. Never more than `longest`.
    """
    requested = _retry_after(headers)
    if requested is not None:
        return min(requested, longest)
    spread = keyed_generator(0, "llm.backoff", f"{key}:{attempt}").random()
    return min(base * 2.0 ** min(attempt, 30), longest) * (0.5 + spread / 2)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a response asks to wait: `retry-after-ms` or `retry-after` (seconds or date)."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        with suppress(ValueError):
            seconds = float(headers.get(name, "").strip()[:40]) / unit
            if 0 <= seconds < inf:
                return seconds
    with suppress(TypeError, ValueError, OverflowError, IndexError):
        moment = parsedate_to_datetime(headers.get("retry-after", "")[:80])
        return max(0.0, moment.timestamp() - time.time())
    return None


def require_account(
    status: int,
    codes: tuple[str, ...],
    message: str,
    runtime: LlmRuntime,
    *,
    answering: bool = False,
) -> None:
    """Raise what ends a run where a refusal is one of the account, and not of this request.

    `answering`: it has answered in this run, so that a 403 speaks of the request.
    """
    host, code = urlsplit(runtime.base_url).hostname, next(filter(None, codes), "")
    status_line = f"({status} {code})" if code else f"({status})"
    if status == 401:
        named = runtime.key_variable
        raise ConfigError(f"the model endpoint rejects the key in {named} {status_line}")
    if status == 402:
        why, todo = "wants payment", "Top up the account"
    elif not _NO_CREDIT.isdisjoint(codes) or any(map(message[:4000].lower().count, _NO_BALANCE)):
        why, todo = "says that the quota is spent", "Top up the account"
    elif status == 403 and not answering:
        why, todo = "serves this account or region nothing", "Ask its provider"
    else:
        return
    raise AccountError(
        f"the model's endpoint {host} {why} {status_line}. {todo}, or choose another endpoint or "
        "model. Replies so far are kept: run it again to continue."
    )


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call brought no reply; `detail` as in `Unanswered`.

    `lasting`: the endpoint does not take this request; asked again, it would say the same.
    `headers`: those of an attempt that may be repeated after a pause, None of any other. `paid`: it
    may be charged all the same.
    """

    reason: CallReason
    detail: str
    lasting: bool = False
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    paid: bool = False


NO_FORM = Failure(CallReason.REJECTED, "no form of structured output is supported")
NO_BUDGET = Failure(CallReason.BUDGET, "the run's budget is used up")


class Live:
    """Settles questions, several at once, in threads that an interrupted run does not wait for."""

    def __init__(self, line: Line) -> None:
        self._line, self._pace = line, _Pace(line.runtime.calls_per_minute)
        self._keys = (line.http.api_key, *line.runtime.secret_headers().values())
        self._has_answered = False
        self._failed_in_a_row = 0
        self._error: BaseException | None = None
        self._not_taken: dict[str, Turn] = {}  # what the endpoint does not take

    def ask(
        self, questions: Mapping[str, Question], known: tuple[str, Question] | None = None
    ) -> dict[str, Outcome]:
        """The outcome of each question, by key.

        A request that the endpoint does not take is refused, and stored as such, if the endpoint
        has answered another in this run, or now answers `known`, which it answered in an earlier
        one: such a request must not keep all others from their results.
        An error ends the asking after all calls under way have ended and their replies are stored.
        """
        outcomes: dict[str, Outcome] = {}

        def work(keys: Iterable[str]) -> None:
            for key in keys:
                if self._error is not None:
                    return
                try:
                    outcomes[key] = self._outcome(key, questions[key])
                except BaseException as error:  # raised by `ask`, in the thread of the caller
                    self._error = self._error or error

        # An unknown endpoint is tried with one question before all are asked at once.
        config, dialects = self._line.config, self._line.dialects
        first = {config.model_of(q.stage): key for key, q in reversed([*questions.items()])}
        trials = [key for model, key in first.items() if not dialects[model].known]
        work(trials)
        rest: SimpleQueue[str] = SimpleQueue()
        for key in questions:
            if key not in trials:
                rest.put(key)
        number = min(self._line.runtime.concurrency, rest.qsize())
        self._side_by_side(lambda: work(_taken(rest)), number)
        if self._error is not None:
            raise self._error
        return outcomes | self._refused_ones(known)

    def _refused_ones(self, known: tuple[str, Question] | None) -> dict[str, Outcome]:
        """What is not taken, if the endpoint answers others; it is stored as refused."""
        outcomes: dict[str, Outcome] = {}
        not_taken, self._not_taken = self._not_taken, {}
        if not_taken and not self._has_answered and known is not None:
            self._call(known[0], Turn(known[1]))
        for key, turn in not_taken.items() if self._has_answered else ():
            self._keep(key, turn, NOT_TAKEN)
            replies = [NOT_TAKEN] if turn.first is None else [turn.first, NOT_TAKEN]
            outcome = self._line.settled(turn.question, replies)
            outcomes |= {key: outcome} if outcome else {}
        return outcomes

    def _side_by_side(self, work: Callable[[], None], number: int) -> None:
        threads = [threading.Thread(target=work, daemon=True) for _ in range(number)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except BaseException as interrupt:
            self._error = interrupt
            raise

    def _outcome(self, key: str, question: Question) -> Outcome:
        if self._failed_in_a_row >= self._line.runtime.give_up_after:
            return Unanswered(question.item_id, CallReason.FAILED, "the endpoint gave no answers")
        # Another process may have asked while this one waited for its turn.
        replies = self._line.replies(key)
        while (outcome := self._line.settled(question, replies)) is None:
            turn = Turn(question, replies[-1] if replies else None)
            reply = self._call(key, turn)
            if isinstance(reply, Failure):
                failed = reply.reason is CallReason.FAILED
                self._failed_in_a_row = self._failed_in_a_row + 1 if failed else 0
                self._not_taken |= {key: turn} if reply.lasting else {}
                return Unanswered(question.item_id, reply.reason, reply.detail)
            self._failed_in_a_row = 0
            self._keep(key, turn, reply)
            replies = [*replies, reply]
        return outcome

    def _keep(self, key: str, turn: Turn, reply: Reply) -> None:
        if self._line.store is not None:
            self._line.store.keep([Stored(key, turn.number, reply)])

    def _call(self, key: str, turn: Turn) -> Reply | Failure:
        """Make one call, with as many attempts as the runtime allows.

        Raises ConfigError where the endpoint refuses the key, or has no such path or model, and
        AccountError where it serves the account nothing.
        """
        line, question, attempt = self._line, turn.question, 0
        model, worst = line.config.model_of(question.stage), worst_case(turn, line.config)
        dialect = line.dialects[model]
        manner = dialect.manner(form(question.answer).digest)
        while manner is not None:
            if not line.budget.reserve(worst, Tariff(model)):
                return NO_BUDGET
            result = self._attempt(turn, manner, worst, Tariff(model))
            if isinstance(result, Reply):
                self._has_answered = self._has_answered or not result.refused
                dialect.learn(manner, judge(result, question.answer))
                return replace(result, left_out=manner.without(line.config, question))
            if isinstance(result, Manner):
                manner = result  # at once
                continue
            attempt += 1
            if result.headers is None or attempt >= line.runtime.attempts:
                return replace(result, detail=f"{result.detail}, attempt {attempt}")
            self._pause(key, attempt, result.headers)
        return NO_FORM

    def _attempt(
        self, turn: Turn, manner: Manner, worst: Usage, tariff: Tariff
    ) -> Reply | Manner | Failure:
        """One request; its reservation is settled however it ends."""
        paid: Usage | None = worst
        try:
            self._pace.turn()
            result = self._request(turn, manner, worst)
            if isinstance(result, Reply):
                paid = result.usage
            elif not (isinstance(result, Failure) and result.paid):
                paid = None
            return result
        except BenchmintError:
            paid = None
            raise
        finally:
            self._line.budget.settle(worst, tariff, paid)

    def _request(self, turn: Turn, manner: Manner, worst: Usage) -> Reply | Manner | Failure:
        sent = body(turn, self._line.config, manner)
        try:
            response = self._line.http.post(
                PATHS[manner.api],
                cast_to=httpx2.Response,
                content=orjson.dumps(sent),
                options=_OPTIONS,
            )
        except APIStatusError as error:
            return self._refused(error, turn.question, manner, sent)
        except APIConnectionError as error:
            cause = error.__cause__ or error
            paid = not isinstance(cause, _NEVER_SENT)
            return Failure(CallReason.FAILED, _snake(cause), headers={}, paid=paid)
        except OpenAIError as error:
            return Failure(CallReason.FAILED, _snake(error))
        reply = read_reply(parse(response.content), worst, self._keys)
        return reply or Failure(CallReason.FAILED, "broken_reply", headers={}, paid=True)

    def _refused(
        self, error: APIStatusError, question: Question, manner: Manner, sent: Mapping[str, Any]
    ) -> Reply | Manner | Failure:
        """What a status other than success means."""
        status, codes = error.status_code, (safe_code(error.code), safe_code(error.type))
        code, message = next(filter(None, codes), ""), f"{error.param or ''} {error.message}"
        refusal = declined(status, code, message)
        if refusal is not None:
            return refusal
        answering, runtime = self._has_answered, self._line.runtime
        require_account(status, codes, message, runtime, answering=answering)
        dialect = self._line.dialects[str(sent["model"])]
        again = dialect.adapt(status, message, manner, form(question.answer).digest, sent)
        if again is not None:
            return again
        if status == 404:
            raise ConfigError("the model endpoint has no such path or model (404)")
        detail = f"http {status} {code}".rstrip()
        if status in TRANSIENT:
            return Failure(CallReason.FAILED, detail, headers=error.response.headers)
        return Failure(CallReason.REJECTED, detail, lasting=status in _LASTING)

    def _pause(self, key: str, attempt: int, headers: Mapping[str, str]) -> None:
        runtime = self._line.runtime
        seconds = _wait_after(headers, key, attempt, runtime.backoff, runtime.max_wait)
        if "retry-after" in headers:
            self._pace.hold(seconds)  # the endpoint is busy, so all calls wait
        time.sleep(seconds)


def _snake(error: BaseException) -> str:
    name = type(error).__name__
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")


def _taken(keys: SimpleQueue[str]) -> Iterator[str]:
    """The keys that no other thread has taken."""
    with suppress(Empty):
        while True:
            yield keys.get_nowait()
