"""What flows that ask a model share: one client and one budget per run, whole answers, costs."""

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
from construction.judging.calls.config import LlmConfig, Mode
from construction.judging.calls.contracts import CallReason, Usage
from construction.judging.judge import client_config
from construction.judging.model.contracts import Judged
from data.atomic import private_dir, write_bytes
from data.canonical import canonical_json
from data.contracts import Scalar
from data.errors import ReleaseError
from flows.recipe import Recipe, Runtime
from flows.run import Run

if TYPE_CHECKING:
    from construction.judging.llm import Client

_MODEL_USE = "model_use.json"
T = TypeVar("T")
Costs = Sequence[Mapping[str, Scalar]]
_UNSETTLED = frozenset(reason for reason in CallReason if not reason.is_settled)
_BUDGET: ContextVar[Budget | None] = ContextVar("budget", default=None)


class UnansweredError(ReleaseError):
    """A model was not asked, or gave no answer, about something that a stage needs."""


@contextmanager
def one_budget(recipe: Recipe, runtime: Runtime) -> Iterator[Budget]:
    """What every client opened within may spend together; within another budget, that one."""
    outer = _BUDGET.get()
    if outer is not None:
        yield outer
        return
    budget = Budget(client_config(recipe.judging.model, runtime.model_calls))
    token = _BUDGET.set(budget)
    try:
        yield budget
    finally:
        _BUDGET.reset(token)


@contextmanager
def open_client(run: Run, *, masked: bool) -> Iterator[Client]:
    """As `client_of`, for a run."""
    with client_of(run.recipe, run.runtime, masked=masked) as client:
        yield client


@contextmanager
def client_of(recipe: Recipe, runtime: Runtime, *, masked: bool) -> Iterator[Client]:
    """The client of the recipe's model, with the run's budget and its private store of replies.

    `masked`: every text that is asked about is masked, or was public from the start (law 9).
    """
    from construction.judging.llm import Client  # openai: two seconds that the rules do not need

    asked = client_config(recipe.judging.model, runtime.model_calls)
    store = private_dir(private_dir(runtime.out / "private") / "captures" / "llm")
    with (
        one_budget(recipe, runtime) as budget,
        Client(asked, runtime.llm, store, masked=masked, budget=budget) as client,
    ):
        yield client


def asked_with(run: Run) -> LlmConfig:
    """The model of the recipe and how the runtime has it asked."""
    return client_config(run.recipe.judging.model, run.runtime.model_calls)


def settled(judged: list[Judged[T]]) -> list[Judged[T]]:
    """Raise ReleaseError where the model was not asked, or not heard, about something.

    What it did not answer in earnest (refused, invalid) has its reason instead, now and in any
    replay.
    """
    reasons = Counter(one.reason for one in judged if one.reason in _UNSETTLED)
    if reasons:
        told = ", ".join(f"{reason} {n}" for reason, n in sorted(reasons.items()))
        raise UnansweredError(
            f"judging: found {len(judged)} questions with {told}; expected an answer to each. "
            "Answers so far are kept: build again to continue."
        )
    return judged


def said(judged: Sequence[Judged[Any]]) -> list[Any]:
    """What a model said, for the key of the stage that is made of it."""
    return [(one.item_id, one.value, one.reason) for one in judged]


def cost_rows(
    asked: LlmConfig, stages: Mapping[str, Sequence[Judged[Any]]]
) -> list[dict[str, Scalar]]:
    """Per stage: items, answers, errors, tokens and money that its answers cost when asked."""
    return [_cost_row(asked, stage, judged) for stage, judged in stages.items()]


def _cost_row(asked: LlmConfig, stage: str, judged: Sequence[Judged[Any]]) -> dict[str, Scalar]:
    usage = sum((one.usage for one in judged), Usage())
    money = asked.prices.cost(usage, batch=asked.mode is Mode.BATCH)
    return {
        "stage": stage,
        "judge": asked.judge,
        "items": len(judged),
        "errors": sum(one.value is None for one in judged),
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost": round(money, 6),
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
