"""Who judges in a build: the settings, the client and the budget of its models, their costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from construction.judging.calls.budget import Budget
from construction.judging.calls.contracts import LlmConfig, LlmRuntime
from construction.judging.contracts import Judged
from construction.judging.settings import JudgingConfig, ModelCalls, ModelStage, client_config
from data.atomic import private_dir
from data.contracts import Scalar

if TYPE_CHECKING:
    from construction.judging.llm import Client


@dataclass(frozen=True, slots=True)
class Judges:
    """The judging of a recipe, and how a run reaches its models; `out` keeps their replies."""

    config: JudgingConfig
    calls: ModelCalls
    endpoint: LlmRuntime
    out: Path

    @property
    def client_config(self) -> LlmConfig:
        """The model of the recipe, and how the runtime has it asked."""
        return client_config(self.config.model, self.calls)

    def with_model(self, name: str) -> Judges:
        """The same with another model."""
        return replace(self, config=self.config.with_model(name))

    def of(self, *stages: ModelStage) -> list[Any]:
        """The model's settings for each stage that it does, or `rules`: part of a stage's key."""
        model = self.config.model
        return [model if model.does(stage) else "rules" for stage in stages]

    def budget(self) -> AbstractContextManager[Budget]:
        """What every client opened within may spend together; within another budget, that one."""

        from construction.judging.model.asking import shared_budget

        return shared_budget(self.client_config)

    @contextmanager
    def client(self, *, masked: bool) -> Iterator[Client]:
        """The client of the model, with the run's budget and its private store of replies."""

        from construction.judging.model.asking import model_client

        store = private_dir(private_dir(self.out / "private") / "captures" / "llm")
        with model_client(self.client_config, self.endpoint, store, masked=masked) as client:
            yield client

    def costs(self, judged: Mapping[str, Sequence[Judged[Any]]]) -> list[dict[str, Scalar]]:
        """What the answers of each stage cost when asked."""

        from construction.judging.model.asking import cost_rows

        return cost_rows(self.client_config, judged)
