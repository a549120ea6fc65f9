"""What stages that ask a model share: one client and one budget per run, whole answers, costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from construction.judging.calls.budget import Budget
from construction.judging.calls.config import LlmConfig, LlmRuntime, Mode
from construction.judging.calls.contracts import CallReason, Usage
from construction.judging.model.contracts import Judged
from data.contracts import Scalar
from data.errors import ReleaseError

if TYPE_CHECKING:
    from construction.judging.llm import Client

T = TypeVar("T")
Costs = Sequence[Mapping[str, Scalar]]
_UNSETTLED = frozenset(reason for reason in CallReason if not reason.is_settled)
_BUDGET: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def shared_budget(config: LlmConfig) -> Iterator[Budget]:
    """What all clients opened within may spend together; within another budget, that one."""
    outer = _BUDGET.get()
    if outer is not None:
        yield outer
        return
    budget = Budget(config)
    token = _BUDGET.set(budget)
    try:
        yield budget
    finally:
        _BUDGET.reset(token)


@contextmanager
def model_client(
    config: LlmConfig, runtime: LlmRuntime, store: Path, *, masked: bool
) -> Iterator[Client]:
    """A client on the shared budget; `store` is the private folder in which it keeps replies.

    `masked` states that every text in the questions is masked or was public from the start: a
    model at a non-loopback address sees nothing else (law 9).
    """
    from construction.judging.llm import Client  # imports openai: two seconds, only with a model

    with (
        shared_budget(config) as budget,
        Client(config, runtime, store, masked=masked, budget=budget) as client,
    ):
        yield client


def require_answers(judged: list[Judged[T]]) -> list[Judged[T]]:
    """`judged` itself; raises ReleaseError if the model did not reply to some question at all.

    A reply that could not be used (refused, invalid) is a settled outcome with its reason: any
    replay comes to the same.
    """
    reasons = Counter(item.reason for item in judged if item.reason in _UNSETTLED)
    if reasons:
        summary = ", ".join(f"{reason} {n}" for reason, n in sorted(reasons.items()))
        raise ReleaseError(
            f"judging: found {len(judged)} questions with {summary}; expected an answer to each. "
            "Answers so far are kept: build again to continue."
        )
    return judged


def answers_of(judged: Sequence[Judged[Any]]) -> list[Any]:
    """The answers or the reasons for having none: they enter the key of the stage's output."""
    return [(item.item_id, item.value, item.reason) for item in judged]


def cost_rows(
    config: LlmConfig, stages: Mapping[str, Sequence[Judged[Any]]]
) -> list[dict[str, Scalar]]:
    """Per stage: items, errors, and the tokens and money that its answers cost when asked."""
    return [_cost_row(config, stage, judged) for stage, judged in stages.items()]


def _cost_row(config: LlmConfig, stage: str, judged: Sequence[Judged[Any]]) -> dict[str, Scalar]:
    usage = sum((item.usage for item in judged), Usage())
    cost = config.prices.cost(usage, batch=config.mode is Mode.BATCH)
    return {
        "stage": stage,
        "judge": config.judge,
        "items": len(judged),
        "errors": sum(item.value is None for item in judged),
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost": round(cost, 6),
    }
