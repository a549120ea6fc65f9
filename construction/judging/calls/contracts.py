"""Contracts of the model client: questions to a language model, and what comes back.

Texts are kept out of every `repr`, so that no traceback and no log shows a prompt or an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from pydantic import BaseModel


class CallReason(StrEnum):
    """Why a question has no answer."""

    REFUSED = "call.refused"  # the model declined, twice
    TRUNCATED = "call.truncated"  # the answer ran into `max_tokens`, twice
    TOO_LONG = "call.too_long"  # the request does not fit into the model's context
    INVALID = "call.invalid"  # no JSON, or JSON that does not fit the answer's model, twice
    BUDGET = "call.budget"  # not asked: it could have exceeded the run's budget
    MISSING = "call.missing"  # replay only: no answer was recorded
    PENDING = "call.pending"  # batch only: submitted, not done; the next run collects it
    REJECTED = "call.rejected"  # the endpoint does not accept this request in any shape
    FAILED = "call.failed"  # no answer after all attempts; the next run asks again

    @property
    def is_settled(self) -> bool:
        """Whether the reason follows from stored replies, so that every replay gives the same one.

        The other reasons hold for this run only, and what is built on them is incomplete.
        """
        return self in _SETTLED


_SETTLED = frozenset(
    {CallReason.REFUSED, CallReason.TRUNCATED, CallReason.TOO_LONG, CallReason.INVALID}
)


@dataclass(frozen=True, slots=True)
class Image:
    """A picture for models that see: `media_type` (such as `image/png`) and the file's bytes."""

    media_type: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Question:
    """One request. `item_id` says what it is about and is never sent to the endpoint.

    The reply must fit the pydantic model `answer`, whose JSON Schema is sent along. `max_tokens`
    limits the reply, including its reasoning.
    """

    item_id: str
    stage: str
    system: str = field(repr=False)
    user: str = field(repr=False)
    answer: type[BaseModel]
    max_tokens: int = 1024
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that were paid for, summed over the first reply and its repair."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __bool__(self) -> bool:
        return bool(self.prompt_tokens or self.completion_tokens)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True)
class Answered:
    """A validated answer, an instance of the question's `answer`.

    `model` is the name that the endpoint gave, `usage` what the answer cost when it was asked for.
    `repaired`: the first reply could not be used. `replayed`: the reply was stored before, so that
    nothing was paid now; this depends on earlier runs and must not enter a digested output.
    """

    item_id: str
    value: BaseModel = field(repr=False)
    model: str
    usage: Usage
    replayed: bool
    repaired: bool


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question without an answer; `detail` holds types, codes and lengths, never text.

    `usage` is what its unusable replies cost; `replayed` as in `Answered`.
    """

    item_id: str
    reason: CallReason
    detail: str
    usage: Usage = Usage()
    replayed: bool = False


Outcome = Answered | Unanswered
