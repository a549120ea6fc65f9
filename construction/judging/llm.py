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
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType

from openai import OpenAI

from construction.judging.calls.batch import Batches
from construction.judging.calls.budget import FORECASTS, Budget, Spent
from construction.judging.calls.contracts import (
    Answered,
    CallReason,
    LlmConfig,
    LlmRuntime,
    Mode,
    Outcome,
    Question,
    Unanswered,
)
from construction.judging.calls.endpoint import Endpoint, Live, connect
from construction.judging.calls.replies import settle
from construction.judging.calls.requests import Dialect, forecast, key
from construction.judging.calls.store import SHAPES, Store
from data.canonical import digest
from data.errors import ConfigError

_BATCH_REPLY_BYTES = 4_000_000_000


class Client:
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
        self._http: OpenAI | None = None
        self._live: Live | None = None

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
        keys = [key(question, self._config) for question in questions]
        self._asked.update(keys)
        outcomes: dict[str, Outcome] = {}
        waiting: dict[str, Question] = {}
        for name, question in zip(keys, questions, strict=True):
            if name in outcomes or name in waiting:
                continue
            replies = self._store.replies(name) if self._store else []
            limit = self._config.limit(question)
            outcome = settle(question, replies, replayed=True, limit=limit)
            if outcome is None:
                waiting[name] = question
            else:
                outcomes[name] = outcome
        paired = list(zip(keys, questions, strict=True))
        answered = ((k, q) for k, q in paired if isinstance(outcomes.get(k), Answered))
        self._known = self._known or next(answered, None)
        outcomes.update(self._ask(waiting))
        return [replace(outcomes[name], item_id=question.item_id) for name, question in paired]

    def close(self) -> None:
        """Close connections and files."""
        if self._http is not None:
            self._http.close()
            self._http = None
        if self._store is not None:
            self._store.close()
            self._store = None

    def _ask(self, waiting: Mapping[str, Question]) -> Mapping[str, Outcome]:
        """The outcomes of questions that have no stored reply."""
        if not waiting:
            return {}
        if self._config.mode is Mode.REPLAY:
            forecasts, missing = FORECASTS.get(), "no recorded reply"
            if forecasts is not None:
                forecasts += forecast(waiting.values(), self._config)
            return {
                name: Unanswered(question.item_id, CallReason.MISSING, missing)
                for name, question in waiting.items()
            }
        with self._asking, self._store.alone() if self._store else nullcontext():
            http = self._connected()
            parts = (self._config, self._runtime, http)
            if self._config.mode is Mode.BATCH and self._store is not None:
                return Batches(*parts, self._store, self._dialects, self._budget).ask(waiting)
            if self._live is None:
                endpoint = Endpoint(*parts, self._dialects, self._budget)
                self._live = Live(endpoint, self._store, self._dialects, *parts[:2])
            return self._live.ask(waiting, self._known)

    def _connected(self) -> OpenAI:
        """The connections, made when first needed: a replay needs none."""
        if self._http is None:
            batch = self._config.mode is Mode.BATCH
            self._http = connect(self._runtime, _BATCH_REPLY_BYTES if batch else None)
        return self._http


def _check(config: LlmConfig, runtime: LlmRuntime, store: Path | None, masked: bool) -> None:
    """Raise ConfigError for settings that no client can work with."""
    mode = config.mode
    if mode is Mode.RULES:
        raise ConfigError("mode rules asks no model: there is no client to make")
    limited = config.budget_tokens is not None or config.budget_cost is not None
    if limited and config.max_tokens == "none":
        raise ConfigError('a budget needs a limit of replies: max_tokens must not be "none"')
    if not config.model:
        raise ConfigError(f"mode {mode} needs the name of a model")
    if store is None and mode is not Mode.LIVE:
        raise ConfigError(f"mode {mode} needs a store of replies")
    if mode is not Mode.REPLAY and not runtime.is_loopback and not masked:
        raise ConfigError("a model at a non-loopback address sees masked text only: mask first")
