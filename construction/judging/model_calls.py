"""What stages that ask a model share: one client and one budget per run, whole answers, costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from construction.judging.calls.budget import Budget
from construction.judging.calls.config import LlmConfig, LlmRuntime, Mode
from construction.judging.calls.contracts import CallReason, Usage
from construction.judging.model.contracts import Judged
from data.atomic import write_bytes
from data.canonical import canonical_json
from data.contracts import Scalar
from data.errors import ReleaseError

if TYPE_CHECKING:
    from construction.judging.llm import Client

_MODEL_USE = "model_use.json"
T = TypeVar("T")
Costs = Sequence[Mapping[str, Scalar]]
_UNSETTLED = frozenset(reason for reason in CallReason if not reason.is_settled)
_BUDGET: ContextVar[Budget | None] = ContextVar("budget", default=None)


class UnansweredError(ReleaseError):
    """A model gave no reply about something that a stage needs."""


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
        raise UnansweredError(
            f"judging: found {len(judged)} questions with {summary}; expected an answer to each. "
            "Answers so far are kept: build again to continue."
        )
    return judged


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


def write_model_use(
    out: Path, costs: Costs, replies: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Keep beside a stage's output what the model cost when asked, and digests of its replies."""
    if costs or replies:
        write_bytes(out / _MODEL_USE, canonical_json({"costs": costs, "replies": replies}))


def model_costs(folders: Sequence[Path]) -> list[dict[str, Scalar]]:
    """What the model cost, over all stages in their order."""
    return [row for folder in folders for row in _model_use(folder)["costs"]]


def model_replies(folders: Sequence[Path]) -> dict[str, str]:
    """The digests of the model's replies: inputs of a release, by public name."""
    return {k: v for folder in folders for k, v in _model_use(folder)["replies"].items()}


def _model_use(folder: Path) -> dict[str, Any]:
    path = folder / _MODEL_USE
    nothing: dict[str, Any] = {"costs": [], "replies": {}}
    return orjson.loads(path.read_bytes()) if path.is_file() else nothing
