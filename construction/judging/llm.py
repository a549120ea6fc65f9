"""The client for language models: typed questions in, validated answers out.

    with Client(config, runtime, store) as client:
        outcomes = client.ask(questions)

In every mode a stored reply is used and never paid for again. `live` and `record` ask the endpoint
for the rest and store each reply before they use it, so that a run that is killed continues where
it stopped. `record` requires a store, which is then an input of the release; `replay` uses the
store alone; `batch` asks through the Batch API.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
from openai import APIConnectionError, APIStatusError
from openai.types import Batch

from construction.judging.calls.contracts import (
    FORECASTS,
    Answered,
    Budget,
    CallReason,
    LlmConfig,
    LlmRuntime,
    Mode,
    Outcome,
    Question,
    Spent,
    Tariff,
    Unanswered,
    Usage,
)
from construction.judging.calls.endpoint import (
    NO_BUDGET,
    NO_FORM,
    PATHS,
    TRANSIENT,
    Failure,
    Line,
    Live,
    connect,
    require_account,
)
from construction.judging.calls.replies import (
    Reply,
    at,
    declined,
    judge,
    parse,
    read_reply,
    safe_code,
    settle,
)
from construction.judging.calls.requests import (
    Dialect,
    Manner,
    Turn,
    body,
    forecast,
    form,
    key,
    worst_case,
)
from construction.judging.calls.store import SHAPES, NotedBatch, Store, Stored
from data.canonical import digest, is_hex
from data.errors import BenchmintError, ConfigError

_DONE = frozenset({"completed", "failed", "expired", "cancelled"})
_MARK = "benchmint"  # the metadata key under which a batch is found again
_LISTED = 1000  # how many of the endpoint's batches are searched for ours
_ROUNDS = 5  # first replies, repairs, and requests that came back undone
_KEY_CHARS = 64


class _BatchError(BenchmintError):
    """The endpoint's Batch API failed; batches that were submitted stay recorded."""


@dataclass(frozen=True, slots=True)
class _Order:
    """One request of a batch: its question's key, its turn, the manner it is asked in."""

    key: str
    turn: Turn
    manner: Manner
    worst: Usage
    sent: Mapping[str, Any] = field(repr=False)

    @property
    def line(self) -> bytes:
        url = f"/v1{PATHS[self.manner.api]}"
        request = {"custom_id": self.key, "method": "POST", "url": url, "body": self.sent}
        return orjson.dumps(request) + b"\n"


@dataclass(frozen=True, slots=True)
class _Answer:
    """One line that came back: a reply, or a status with a code and the error's message."""

    key: str
    reply: Reply | None
    status: int = 0
    code: str = ""
    message: str = field(default="", repr=False)


def _read_lines(content: bytes, longest: int, keys: Sequence[str] = ()) -> Iterator[_Answer]:
    """The lines of an output or error file; those with a foreign id are skipped.

    `keys` as for `read_reply`.
    """
    for raw in content.split(b"\n"):
        document = parse(raw) if 0 < len(raw) <= longest else None
        key, response = at(document, "custom_id"), at(document, "response")
        if not isinstance(key, str) or not is_hex(key, _KEY_CHARS):
            continue
        status, reply = at(response, "status_code"), read_reply(at(response, "body"), Usage(), keys)
        if status == 200 and reply is not None:
            yield _Answer(key, reply)
            continue
        error = at(response, "body", "error") or at(document, "error")
        status = status if isinstance(status, int) else 0
        code, message = safe_code(at(error, "code")), str(at(error, "message") or "")
        yield _Answer(key, declined(status, code, message), status, code, message)


def _chunks(orders: Sequence[_Order], runtime: LlmRuntime) -> Iterator[list[_Order]]:
    """The orders in batches of one model within the endpoint's limits."""
    chunk: list[_Order] = []
    size = 0
    for order in sorted(orders, key=lambda order: str(order.sent["model"])):
        length = len(order.line)
        full = size + length > runtime.batch_bytes or len(chunk) >= runtime.batch_requests
        if chunk and (full or chunk[-1].sent["model"] != order.sent["model"]):
            yield chunk
            chunk, size = [], 0
        chunk.append(order)
        size += length
    if chunk:
        yield chunk


class _Batches:
    """Settles questions batch by batch; who calls it holds the store alone."""

    def __init__(self, line: Line, store: Store) -> None:
        self._line, self._store = line, store
        self._patient = line.http.with_options(max_retries=line.runtime.attempts - 1)
        self._failed: dict[str, Failure] = {}

    def ask(self, questions: Mapping[str, Question]) -> dict[str, Outcome]:
        """The outcome of each question, by key; `pending` where its batch is not done yet.

        Raises ConfigError where the endpoint has no Batch API or refuses the key, BatchError where
        it keeps failing.
        """
        deadline = time.monotonic() + self._line.runtime.batch_wait
        for noted in self._store.batches():
            self._line.budget.take_over(noted.worst, Tariff(noted.model, batch=True))
            self._finish(noted, (), deadline)
        for _ in range(_ROUNDS):
            orders = [] if self._store.batches() else self._orders(questions)
            own = _chunks(orders, self._line.runtime)
            for noted, chunk in [(self.submit(chunk), chunk) for chunk in own]:
                self._finish(noted, chunk, deadline)
        return {key: self._outcome(key, question) for key, question in questions.items()}

    def _orders(self, questions: Mapping[str, Question]) -> list[_Order]:
        """The calls that are still to be made, as far as the budget allows."""
        orders: list[_Order] = []
        config, budget = self._line.config, self._line.budget
        for question_key, question in questions.items():
            replies = self._store.replies(question_key)
            if question_key in self._failed or self._line.settled(question, replies) is not None:
                continue
            turn = Turn(question, replies[-1] if replies else None)
            model, worst = config.model_of(question.stage), worst_case(turn, config)
            manner = self._line.dialects[model].manner(form(question.answer).digest)
            if manner is None:
                self._failed[question_key] = NO_FORM
            elif not budget.reserve(worst, Tariff(model, batch=True), wait=False):
                self._failed[question_key] = NO_BUDGET
            else:
                orders.append(_Order(question_key, turn, manner, worst, body(turn, config, manner)))
        return orders

    def submit(self, orders: Sequence[_Order]) -> NotedBatch:
        """Record a batch and submit it; it has no id if it is unclear whether it arrived."""
        name = digest([[order.key for order in orders], time.time_ns()])
        worst = sum((order.worst for order in orders), Usage())
        noted = NotedBatch(name, "", worst, str(orders[0].sent["model"]))
        self._store.note_batch(noted)
        content = b"".join(order.line for order in orders)
        path: Any = f"/v1{PATHS[orders[0].manner.api]}"
        with self._explained():
            file = self._patient.files.create(file=(f"{name}.jsonl", content), purpose="batch")
        try:
            batch = self._line.http.batches.create(
                input_file_id=file.id,
                endpoint=path,
                completion_window="24h",
                metadata={_MARK: name},
            )
        except APIConnectionError:
            return noted  # a second try could be a second batch: `wait` looks for the first
        except APIStatusError as error:
            if error.status_code in TRANSIENT and not error.code:
                return noted
            with self._explained():
                raise
        noted = replace(noted, batch=batch.id)
        self._store.note_batch(noted)
        return noted

    def wait(self, noted: NotedBatch, deadline: float) -> Batch | None:
        """The batch when it is done, or as it is at the deadline; None: it never arrived."""
        poll = self._line.runtime.batch_poll
        with self._explained():
            if noted.batch:
                batch = self._patient.batches.retrieve(noted.batch)
            else:
                time.sleep(poll)  # a new batch may not be listed at once
                listed = islice(self._patient.batches.list(limit=100), _LISTED)
                ours = (one for one in listed if (one.metadata or {}).get(_MARK) == noted.name)
                newest = next(ours, None)
                if newest is None:
                    return None
                batch = newest
            while batch.status not in _DONE and time.monotonic() < deadline:
                time.sleep(min(poll, max(0.0, deadline - time.monotonic())))
                batch = self._patient.batches.retrieve(batch.id)
            return batch

    def _finish(self, noted: NotedBatch, orders: Sequence[_Order], deadline: float) -> None:
        """Wait for a batch and keep its replies; one that is not done stays recorded."""
        tariff, budget = Tariff(noted.model, batch=True), self._line.budget
        batch = self.wait(noted, deadline)
        if batch is None:
            self._store.drop_batch(noted.name)
            budget.settle(noted.worst, tariff, None)
        elif batch.status not in _DONE:
            # It will have to be paid for, so this run is charged its worst case.
            budget.settle(noted.worst, tariff, noted.worst, replies=0)
        else:
            answers, by_key = self._answers(batch), {order.key: order for order in orders}
            rows = [
                self._row(answer.key, answer.reply, by_key.get(answer.key))
                for answer in answers
                if answer.reply is not None
            ]
            self._store.keep(rows)
            self._store.drop_batch(noted.name)
            paid = sum((row.reply.usage for row in rows), Usage())
            budget.settle(noted.worst, tariff, paid, replies=len(rows))
            self._learn(answers, by_key)

    def _answers(self, batch: Batch) -> list[_Answer]:
        files = [file for file in (batch.output_file_id, batch.error_file_id) if file]
        with self._explained():
            contents = [self._patient.files.content(file).content for file in files]
        keys, longest = (self._line.http.api_key,), self._line.runtime.max_reply_bytes
        return [answer for content in contents for answer in _read_lines(content, longest, keys)]

    def _row(self, key: str, reply: Reply, order: _Order | None) -> Stored:
        config = self._line.config
        left_out = order.manner.without(config, order.turn.question) if order else ()
        return Stored(key, len(self._store.replies(key)), replace(reply, left_out=left_out))

    def _learn(self, answers: Iterable[_Answer], orders: Mapping[str, _Order]) -> None:
        """Remember which forms of request the endpoint accepted and which it refused."""
        for line in answers:
            order = orders.get(line.key)
            if order is None:
                continue
            answer = order.turn.question.answer
            dialect = self._line.dialects[str(order.sent["model"])]
            if line.reply is not None:
                dialect.learn(order.manner, judge(line.reply, answer))
                continue
            runtime = self._line.runtime
            require_account(line.status, (line.code,), line.message, runtime, answering=True)
            schema = form(answer).digest
            again = dialect.adapt(line.status, line.message, order.manner, schema, order.sent)
            if again is not None:
                dialect.turn_to(again)
            elif line.status >= 400 and line.status not in TRANSIENT:
                detail = f"http {line.status} {line.code}".rstrip()
                self._failed[line.key] = Failure(CallReason.REJECTED, detail)

    def _outcome(self, key: str, question: Question) -> Outcome:
        outcome = self._line.settled(question, self._store.replies(key))
        if outcome is not None:
            return outcome
        failure = Failure(CallReason.FAILED, "no batch returned a reply")
        if self._store.batches():
            failure = Failure(CallReason.PENDING, "a batch is not done yet")
        failure = self._failed.get(key, failure)
        return Unanswered(question.item_id, failure.reason, failure.detail)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """What a call of the Batch API that failed after all its attempts means."""
        try:
            yield
        except APIStatusError as error:
            status, codes = error.status_code, (safe_code(error.code), safe_code(error.type))
            require_account(status, codes, error.message, self._line.runtime)
            if status == 404:
                raise ConfigError("the endpoint has no Batch API (404)") from None
            raise _BatchError(f"the endpoint's Batch API returns {status}") from None
        except APIConnectionError:
            raise _BatchError("the endpoint's Batch API does not respond") from None


_BATCH_REPLY_BYTES = 4_000_000_000


class Client(AbstractContextManager["Client"]):
    """Asks one model. Close it, or use it in a `with`; threads ask one after another.

    `store` is a private folder; None keeps nothing (mode `live` only). `masked` states that every
    text in the questions is masked: otherwise only a loopback endpoint is called (law 9). `budget`
    is shared by the clients of a run; None: one of its own.
    """

    def __init__(
        self,
        config: LlmConfig,
        runtime: LlmRuntime,
        store: Path | None,
        *,
        masked: bool = False,
        budget: Budget | None = None,
    ) -> None:
        _check(config, runtime, store, masked)
        self._config, self._runtime = config, runtime
        self._budget = budget or Budget(config)
        self._store = Store(store) if store is not None else None
        path = store / SHAPES if store is not None else None
        names = {config.model, *config.models.values()}
        self._dialects = {name: Dialect(path, runtime, name) for name in sorted(names)}
        self._asked: set[str] = set()
        self._known: tuple[str, Question] | None = None  # with an answer of an earlier run
        self._asking = threading.Lock()
        self._line: Line | None = None  # made when first needed: a replay needs none
        self._live: Live | None = None

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def spent(self) -> Spent:
        """What this run has paid so far."""
        return self._budget.spent

    def replies_digest(self) -> str:
        """Digest of all replies that this client's outcomes came from: the same live and replayed.

        Empty without a store. Times are not part of it; the store records which replies it covers.
        """
        if self._store is None:
            return ""
        kept = [[name, *map(asdict, self._store.replies(name))] for name in sorted(self._asked)]
        kept_digest = digest(kept)
        self._store.note_use(kept_digest, self._asked)
        return kept_digest

    def ask(self, questions: Sequence[Question]) -> list[Answered | Unanswered]:
        """The outcome of each question, in the order asked. Equal questions are one call.

        Raises ConfigError where the endpoint refuses the key or the model, StoreError where the
        store fails; replies that came before that are stored. Any other failure is an outcome.
        """
        pairs = [(key(question, self._config), question) for question in questions]
        self._asked.update(name for name, _ in pairs)
        outcomes: dict[str, Outcome] = {}
        waiting: dict[str, Question] = {}
        for name, question in pairs:
            if name in outcomes or name in waiting:
                continue
            replies = self._store.replies(name) if self._store else []
            outcome = settle(question, replies, self._config.limit(question))
            if outcome is None:
                waiting[name] = question
                continue
            outcomes[name] = outcome
            if self._known is None and isinstance(outcome, Answered):
                self._known = name, question
        outcomes.update(self._ask(waiting))
        return [replace(outcomes[name], item_id=question.item_id) for name, question in pairs]

    def close(self) -> None:
        """Close connections and files."""
        if self._line is not None:
            self._line.http.close()
            self._line = self._live = None
        if self._store is not None:
            self._store.close()
            self._store = None

    def _ask(self, waiting: Mapping[str, Question]) -> Mapping[str, Outcome]:
        """The outcomes of questions that have no stored reply."""
        if not waiting:
            return {}
        config = self._config
        if config.mode is Mode.REPLAY:
            if (forecasts := FORECASTS.get()) is not None:
                forecasts += forecast(waiting.values(), config)
            by_baseline = config.unrecorded == "baseline"
            reason = CallReason.UNRECORDED if by_baseline else CallReason.MISSING
            return {
                name: Unanswered(question.item_id, reason, "no recorded reply")
                for name, question in waiting.items()
            }
        is_batch = config.mode is Mode.BATCH
        with self._asking, self._store.alone() if self._store else nullcontext():
            if self._line is None:
                http = connect(self._runtime, _BATCH_REPLY_BYTES if is_batch else None)
                parts = (self._store, self._dialects, self._budget)
                self._line = Line(config, self._runtime, http, *parts)
            if is_batch and self._store is not None:
                return _Batches(self._line, self._store).ask(waiting)
            self._live = self._live or Live(self._line)
            return self._live.ask(waiting, self._known)


def _check(config: LlmConfig, runtime: LlmRuntime, store: Path | None, masked: bool) -> None:
    """Raise ConfigError for settings that no client can work with."""
    mode = config.mode
    if mode is Mode.RULES:
        raise ConfigError("mode rules uses no model, so there is no client to create")
    limited = config.budget_tokens is not None or config.budget_cost is not None
    if limited and config.max_tokens == "none":
        raise ConfigError('a budget needs a reply limit: max_tokens must not be "none"')
    if not config.model:
        raise ConfigError(f"mode {mode} needs a model name")
    if store is None and mode is not Mode.LIVE:
        raise ConfigError(f"mode {mode} needs a reply store")
    if mode is not Mode.REPLAY and not runtime.is_loopback and not masked:
        raise ConfigError("a model at a non-loopback address may only see masked text: mask first")
