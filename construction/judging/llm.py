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
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path

from construction.judging.calls.batch import Batches
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
    Unanswered,
)
from construction.judging.calls.endpoint import Line, Live, connect
from construction.judging.calls.replies import settle
from construction.judging.calls.requests import Dialect, forecast, key
from construction.judging.calls.store import SHAPES, Store
from data.canonical import digest
from data.errors import ConfigError

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
                return Batches(self._line, self._store).ask(waiting)
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
