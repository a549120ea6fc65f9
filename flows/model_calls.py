"""The client and the budget of a run: settings of recipe and runtime for `judging.model_calls`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from construction.judging.calls.budget import Budget
from construction.judging.calls.contracts import LlmConfig
from construction.judging.judge import JudgingConfig, ModelStage, client_config
from construction.judging.model.asking import model_client, shared_budget
from data.atomic import private_dir
from flows.recipe import Recipe, Runtime
from flows.run import Run

if TYPE_CHECKING:
    from construction.judging.llm import Client


def one_budget(recipe: Recipe, runtime: Runtime) -> AbstractContextManager[Budget]:
    """What every client opened within may spend together; within another budget, that one."""
    return shared_budget(client_config(recipe.judging.model, runtime.model_calls))


def open_client(run: Run, *, masked: bool) -> AbstractContextManager[Client]:
    """As `client_of`, for a run."""
    return client_of(run.recipe, run.runtime, masked=masked)


@contextmanager
def client_of(recipe: Recipe, runtime: Runtime, *, masked: bool) -> Iterator[Client]:
    """The client of the recipe's model, with the run's budget and its private store of replies."""
    config = client_config(recipe.judging.model, runtime.model_calls)
    store = private_dir(private_dir(runtime.out / "private") / "captures" / "llm")
    with model_client(config, runtime.llm, store, masked=masked) as client:
        yield client


def judges_of(config: JudgingConfig, *stages: ModelStage) -> list[Any]:
    """The model's settings for each stage that it does, or `rules`: part of a stage's key."""
    return [config.model if config.model.does(stage) else "rules" for stage in stages]


def asked_with(run: Run) -> LlmConfig:
    """The model of the recipe and how the runtime has it asked."""
    return client_config(run.recipe.judging.model, run.runtime.model_calls)
