"""Settings of the model client: what is asked (recipe, digested) and how (runtime)."""

from __future__ import annotations

import os
from enum import StrEnum
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from construction.judging.calls.contracts import Usage
from data.contracts import Count, StageConfig
from data.errors import ConfigError


class Mode(StrEnum):
    """Where answers come from. No mode pays for an answer that is in the store."""

    LIVE = "live"  # the endpoint; without a store a run that was killed pays again
    RECORD = "record"  # the endpoint, and the store is kept as an input of the release
    REPLAY = "replay"  # the store alone; a missing answer is an error, never a call
    BATCH = "batch"  # the endpoint's Batch API, at `batch_share` of the price
    RULES = "rules"  # no model: the rules judge, and there is no client


class Prices(StageConfig):
    """Price per million tokens, in any one currency; batches cost `batch_share` of it."""

    prompt: Annotated[float, Field(ge=0)] = 0.0
    completion: Annotated[float, Field(ge=0)] = 0.0
    batch_share: Annotated[float, Field(gt=0, le=1)] = 0.5

    def cost(self, usage: Usage, *, batch: bool = False) -> float:
        """What `usage` costs, in the currency of the prices."""
        full = usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion
        return full / 1e6 * (self.batch_share if batch else 1.0)


class LlmConfig(StageConfig):
    """Recipe: which model judges, how it samples, and what a run may spend.

    `temperature` and `seed` None: not sent, for models that do not accept them. `image_tokens` is
    the most that a picture costs. `budget_tokens` and `budget_cost` limit each run (None: no
    limit); prompt and completion tokens count alike.
    """

    mode: Mode = Mode.RULES
    model: str = ""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0
    seed: int | None = 0
    image_tokens: Annotated[int, Field(gt=0)] = 4096
    prices: Prices = Prices()
    budget_tokens: Count | None = None
    budget_cost: Annotated[float, Field(ge=0)] | None = None

    @property
    def judge(self) -> str:
        """The judge's name in outputs, the same in all modes that ask a model."""
        return "rules" if self.mode is Mode.RULES else f"model:{self.model}"


class LlmRuntime(StageConfig):
    """Runtime, never digested: where the endpoint is, and how fast it is asked. Times in seconds.

    `key_variable` names the environment variable that holds the key, which is stored nowhere else.
    `attempts` includes the first call. After `give_up_after` questions in a row without any reply
    from the endpoint, this run asks no more. `timeout` limits one call, `max_wait` each pause
    between attempts, whatever the endpoint asks for. `batch_wait`: how long one run waits for
    batches before it leaves them to the next run.
    """

    base_url: str = "http://127.0.0.1:8000/v1"
    key_variable: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] = "OPENAI_API_KEY"
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
            raise ValueError("base_url must be an http(s) address")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("base_url must hold no user, password, query or fragment")
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
