"""Settings and contracts of the model client: questions to a model, what comes back, what it costs.

Settings say what is asked (recipe, digested) and how (runtime). Texts are kept out of every `repr`,
so that no traceback and no log shows a prompt or an answer. Of a run's budget a call's worst case
is reserved before it, its cost settled after; a run that only looks (`build --dry-run`) counts what
it would ask in `FORECASTS`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import ip_address
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, Field, field_validator

from data.contracts import Count, StageConfig
from data.errors import BenchmintError, ConfigError

# TOML has no null, so that a setting is left out of requests by the word "none".
_NONE = BeforeValidator(lambda value: None if value == "none" else value)


class AccountError(BenchmintError):
    """The endpoint serves this account nothing: no question after this one would be answered."""


class CallReason(StrEnum):
    """Why a question has no answer."""

    REFUSED = "call.refused"  # the model or its endpoint declined, twice
    TRUNCATED = "call.truncated"  # the answer ran into `max_tokens`, twice
    TOO_LONG = "call.too_long"  # the request does not fit into the model's context
    INVALID = "call.invalid"  # no JSON, or JSON that does not fit the answer's model, twice
    BUDGET = "call.budget"  # not asked: it could have exceeded the run's budget
    MISSING = "call.missing"  # replay only: no answer was recorded
    UNRECORDED = "call.unrecorded"  # the same, where the baseline decides instead
    PENDING = "call.pending"  # batch only: submitted, not done; the next run collects it
    REJECTED = "call.rejected"  # the endpoint does not accept this request, and answers no other
    FAILED = "call.failed"  # no answer after all attempts; the next run asks again

    @property
    def is_settled(self) -> bool:
        """Whether the reason follows from stored replies, so that every replay gives the same one.

        The other reasons hold for this run only, and what is built on them is incomplete.
        """
        return self in _SETTLED


_SETTLED = frozenset({
    CallReason.REFUSED, CallReason.TRUNCATED, CallReason.TOO_LONG, CallReason.INVALID,
    CallReason.UNRECORDED,
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Image:
    """A picture for models that see: `media_type` (such as `image/png`) and the file's bytes."""

    media_type: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Question:
    """One request. `item_id` says what it is about and is never sent to the endpoint.

    The reply must fit the pydantic model `answer`, whose JSON Schema is sent along. `max_tokens`
    limits the reply, including its reasoning. `repair` holds an earlier answer to the same question
    and what is wrong with it.
    """

    item_id: str
    stage: str
    system: str = field(repr=False)
    user: str = field(repr=False)
    answer: type[BaseModel]
    max_tokens: int = 1024
    images: tuple[Image, ...] = ()
    repair: tuple[str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that were paid for, summed over the first reply and its repair."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def __bool__(self) -> bool:
        return bool(self.tokens)

    def __add__(self, other: Usage) -> Usage:
        completion = self.completion_tokens + other.completion_tokens
        return Usage(self.prompt_tokens + other.prompt_tokens, completion)


@dataclass(frozen=True, slots=True)
class Answered:
    """A validated answer, an instance of the question's `answer`.

    `model` is the name that the endpoint gave, `usage` what the answer cost when it was asked for.
    `repaired`: the first reply could not be used. `mended` names what did not fit after the repair
    and was cut or left out, `left_out` settings that the endpoint does not take, so that it was
    asked without them.
    """

    item_id: str
    value: BaseModel = field(repr=False)
    model: str
    usage: Usage
    repaired: bool
    mended: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question without an answer; `detail` holds types, codes and lengths, never text.

    `usage` is what its unusable replies cost.
    """

    item_id: str
    reason: CallReason
    detail: str
    usage: Usage = Usage()
    left_out: tuple[str, ...] = ()


Outcome = Answered | Unanswered


class Mode(StrEnum):
    """Where answers come from. No mode pays for an answer that is in the store."""

    LIVE = "live"  # the endpoint; without a store a run that was killed pays again
    RECORD = "record"  # the endpoint, and the store is kept as an input of the release
    REPLAY = "replay"  # the store alone; a missing answer is an error, never a call
    BATCH = "batch"  # the endpoint's Batch API, at `batch_share` of the price
    RULES = "rules"  # no model: the rules judge, and there is no client


class Price(StageConfig):
    """Price per million tokens, in any single currency."""

    prompt: Annotated[float, Field(ge=0)] = 0.0
    completion: Annotated[float, Field(ge=0)] = 0.0


class Prices(Price):
    """The price of any model not listed in `models`; batches cost `batch_share` of it."""

    batch_share: Annotated[float, Field(gt=0, le=1)] = 0.5
    models: Mapping[str, Price] = {}

    def cost(self, usage: Usage, *, batch: bool = False, model: str = "") -> float:
        """What `usage` costs, in the currency of the prices."""
        price = self.models.get(model, self)
        full = usage.prompt_tokens * price.prompt + usage.completion_tokens * price.completion
        return full / 1e6 * (self.batch_share if batch else 1.0)


class Sampling(StageConfig):
    """Recipe: how a model is asked. What is "none" is not sent, for models that do not accept it.

    `max_tokens` limits each reply, its reasoning included: "stage" as each prompt says, "none" by
    no limit but the endpoint's own. `extra_body` holds further fields of a request, as they are.
    Without `sees_images` no picture is sent; `image_tokens` is the most that one costs.
    `unrecorded` says what a replay does about a question without a recorded reply: end with an
    error, or let the baseline decide.
    """

    temperature: Annotated[Annotated[float, Field(ge=0, le=2)] | None, _NONE] = 0.0
    seed: Annotated[int | None, _NONE] = 0
    max_tokens: Annotated[int, Field(gt=0)] | Literal["stage", "none"] = "stage"
    reasoning_effort: Annotated[str | None, _NONE] = None
    extra_body: Mapping[str, Any] = {}
    sees_images: bool = True
    image_tokens: Annotated[int, Field(gt=0)] = 4096
    unrecorded: Literal["error", "baseline"] = "error"


class Spending(StageConfig):
    """Runtime: what answers cost, and what a run may spend.

    `budget_tokens` and `budget_cost` limit each run (None: no limit); prompt and completion tokens
    count alike.
    """

    prices: Prices = Prices()
    budget_tokens: Count | None = None
    budget_cost: Annotated[float, Field(ge=0)] | None = None


class LlmConfig(Sampling, Spending):
    """Which model is asked, how it samples, and what a run may spend.

    `models` names other models by the stage of their questions.
    """

    mode: Mode = Mode.RULES
    model: str = ""
    models: Mapping[str, str] = {}

    @property
    def judge(self) -> str:
        """The judge's name in outputs, the same in all modes that ask a model."""
        return "rules" if self.mode is Mode.RULES else f"model:{self.model}"

    def model_of(self, stage: str) -> str:
        """The model that answers the questions of a stage."""
        return self.models.get(stage, self.model)

    def limit(self, question: Question) -> int | None:
        """How many tokens the reply to a question may have; None: as many as the endpoint gives."""
        if self.max_tokens == "none":
            return None
        return question.max_tokens if self.max_tokens == "stage" else self.max_tokens


class LlmRuntime(StageConfig):
    """Endpoint and request rate; runtime settings, not part of the digest. Times are in seconds.

    `api` is the interface: chat completions or responses. `key_variable` is the environment
    variable that holds the key, which is stored nowhere else. `headers` are sent with each request;
    a value of `env:NAME` is read from the environment. `attempts` includes the first call. After
    `give_up_after` consecutive questions without any reply from the endpoint, the run stops asking.
    `timeout` limits one call, and `max_wait` each pause between attempts, whatever the endpoint
    asks for. `batch_wait`: how long one run waits for batches before leaving them to the next run.
    """

    base_url: str = "http://127.0.0.1:8000/v1"
    api: Literal["chat", "responses"] = "chat"
    key_variable: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] = "OPENAI_API_KEY"
    headers: Mapping[str, str] = {}
    concurrency: Annotated[int, Field(ge=1, le=512)] = 16
    calls_per_minute: Annotated[float, Field(gt=0)] | None = None
    connect_timeout: Annotated[float, Field(gt=0)] = 10.0
    timeout: Annotated[float, Field(gt=0)] = 180.0
    attempts: Annotated[int, Field(ge=1, le=20)] = 6
    backoff: Annotated[float, Field(ge=0)] = 0.5
    max_wait: Annotated[float, Field(ge=0)] = 60.0
    give_up_after: Annotated[int, Field(ge=1)] = 32
    max_reply_bytes: Annotated[int, Field(gt=0)] = 4_000_000
    batch_requests: Annotated[int, Field(ge=1, le=50_000)] = 50_000
    batch_bytes: Annotated[int, Field(gt=0, le=200_000_000)] = 100_000_000
    batch_poll: Annotated[float, Field(gt=0)] = 30.0
    batch_wait: Annotated[float, Field(ge=0)] = 90_000.0

    @field_validator("base_url")
    @classmethod
    def _plain_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("base_url must be an http(s) URL")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("base_url must contain no user, password, query or fragment")
        return url.rstrip("/")

    @property
    def is_loopback(self) -> bool:
        """Whether texts stay on this machine. Of names only localhost counts, else IP addresses."""
        host = (urlsplit(self.base_url).hostname or "").rstrip(".")
        if host == "localhost" or host.endswith(".localhost"):
            return True
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return False

    def key(self) -> str:
        """The key from the environment, or "none" for a loopback endpoint. Raises ConfigError."""
        value = os.environ.get(self.key_variable, "").strip()
        if value or self.is_loopback:
            return value or "none"
        raise ConfigError(f"no key for the model: set the environment variable {self.key_variable}")

    def secret_headers(self) -> dict[str, str]:
        """The headers with their values from the environment. Raises ConfigError."""
        values: dict[str, str] = {}
        for name, value in self.headers.items():
            variable = value.removeprefix("env:")
            values[name] = value if variable == value else os.environ.get(variable, "").strip()
            if not values[name]:
                raise ConfigError(f"header {name}: set the environment variable {variable}")
        return values


class Tariff(NamedTuple):
    """What decides the price of a call: the model, and whether a batch pays for it."""

    model: str
    batch: bool = False


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run has paid so far: number of replies, tokens, and cost in the prices' currency."""

    replies: int
    usage: Usage
    cost: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """What questions of one stage would cost, as far as that is known before they are asked.

    The tokens of prompts are estimated, those of replies the most that they may have.
    """

    stage: str
    model: str
    calls: int
    usage: Usage
    cost: float


FORECASTS: ContextVar[list[Forecast] | None] = ContextVar("forecasts", default=None)


class Budget:
    """Tokens and money of one run; shared by its clients and their threads.

    A call starts only if the run would stay within its limits even if every call under way cost
    its worst case. The first call that does not fit while none is under way ends the run's
    spending: `exhausted`. A call that may have been paid for although no reply came is charged its
    worst case.
    """

    def __init__(self, config: LlmConfig) -> None:
        self._config = config
        self._held = (0, 0.0)  # tokens and cost of what is under way
        self._changed = threading.Condition()
        self.spent = Spent(0, Usage(), 0.0)
        self.exhausted = False

    def reserve(self, worst: Usage, tariff: Tariff, *, wait: bool = True) -> bool:
        """Reserve `worst`, when it fits; False if it never will in this run.

        Without `wait`, the first that does not fit now ends the run's spending.
        """
        amount = self._amount(worst, tariff)
        with self._changed:
            while not self.exhausted:
                if self._fits(amount):
                    self._held = _sum(self._held, amount)
                    return True
                if not wait or not self._held[0]:
                    self.exhausted = True
                    self._changed.notify_all()
                else:
                    self._changed.wait()
            return False

    def take_over(self, worst: Usage, tariff: Tariff) -> None:
        """Reserve for a batch that an earlier run submitted, even beyond the limits."""
        with self._changed:
            self._held = _sum(self._held, self._amount(worst, tariff))

    def settle(self, worst: Usage, tariff: Tariff, paid: Usage | None, replies: int = 1) -> None:
        """Release a reservation and record what was paid; None: nothing was."""
        with self._changed:
            tokens, cost = self._amount(worst, tariff)
            self._held = _sum(self._held, (-tokens, -cost))
            if paid is not None:
                known, (_, cost) = self.spent, self._amount(paid, tariff)
                self.spent = Spent(known.replies + replies, known.usage + paid, known.cost + cost)
            self._changed.notify_all()

    def _amount(self, usage: Usage, tariff: Tariff) -> tuple[int, float]:
        prices = self._config.prices
        return usage.tokens, prices.cost(usage, batch=tariff.batch, model=tariff.model)

    def _fits(self, amount: tuple[int, float]) -> bool:
        most, most_cost = self._config.budget_tokens, self._config.budget_cost
        tokens, cost = _sum((self.spent.usage.tokens, self.spent.cost), self._held, amount)
        return (most is None or tokens <= most) and (most_cost is None or cost <= most_cost)


def _sum(*amounts: tuple[int, float]) -> tuple[int, float]:
    tokens, costs = zip(*amounts, strict=True)
    return sum(tokens), round(sum(costs), 12)
