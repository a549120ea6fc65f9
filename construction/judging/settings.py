"""Settings of judging: who judges, by which model, and the limits of each stage.

Kept apart from the code that uses them: every command reads the recipe, and few judge. `Judges` is
what a build has of them: the settings, the client and the budget of its models, their costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field

from construction.judging.baseline.screen import ScreeningConfig
from construction.judging.calls.contracts import (
    Budget,
    LlmConfig,
    LlmRuntime,
    Mode,
    Sampling,
    Spending,
)
from construction.judging.consensus import ConsensusConfig
from construction.judging.contracts import Judged, ModelStagesConfig
from data.atomic import private_dir
from data.canonical import file_digest
from data.contracts import AnyPath, Scalar, Share, StageConfig

if TYPE_CHECKING:
    from construction.judging.llm import Client


class ClassesConfig(StageConfig):
    """Requests within `radius` of each other (average linkage, cosine distance) share a class.

    `skill_share` is the part of the distance that depends on whether the skills are the same. The
    business tasks are compared, or the first `chars` characters of a request that has none.
    `held_out_share` is the share of each large class's subclasses that is kept for held-out tests.
    """

    radius: Share = 0.6
    skill_share: Share = 0.3
    chars: Annotated[int, Field(gt=0)] = 600
    held_out_share: Share = 0.25


class ModelStage(StrEnum):
    """What a model can do; the baseline does what it does not."""

    RECOVERY = "recovery"
    SCREEN = "screen"
    WRITE = "write"
    GRADE = "grade"
    QUESTION_PHRASING = "question_phrasing"
    CANDIDATE_IDEAS = "candidate_ideas"
    SCENARIO_DOCUMENTS = "scenario_documents"
    REPOSITORY_TESTS = "repository_tests"
    REPOSITORY_REQUESTS = "repository_requests"


SECOND, MEND = "second", "mend"  # prompts on programs; the model of `grade` answers them
_DERIVE = "derive"  # the prompt of second derivations; the model that writes documents answers it
_PROMPTS: dict[str, str] = {
    ModelStage.QUESTION_PHRASING: "phrasing",
    ModelStage.CANDIDATE_IDEAS: "ideas",
    ModelStage.SCENARIO_DOCUMENTS: "author",
    ModelStage.REPOSITORY_REQUESTS: "repository_request",
}


def _in_order(stages: tuple[ModelStage, ...]) -> tuple[ModelStage, ...]:
    return tuple(stage for stage in ModelStage if stage in stages)


class ModelConfig(Sampling):
    """Which model judges what, and how it is called. Without a `name`, the rules judge.

    `models` sets another model for individual stages, and by `second` for the second solutions of
    tasks, which prove more the less their author shares with that of the first. Without
    `sees_images`, the model is not shown input files that are pictures, and is told so. With
    `shows_statements`, a model that words a question also sees the statement, with the cell marked.
    """

    name: str = ""
    models: Mapping[ModelStage | Literal["second"], str] = {}
    stages: Annotated[tuple[ModelStage, ...], AfterValidator(_in_order)] = tuple(ModelStage)
    shows_statements: bool = False

    @property
    def judge(self) -> str:
        """The judge's name in outputs, whether the model answered now or earlier."""
        return f"model:{self.name}" if self.name else "rules"

    def does(self, stage: ModelStage) -> bool:
        """Whether a model does this stage."""
        return bool(self.models.get(stage, self.name)) and stage in self.stages

    def judge_of(self, stage: ModelStage) -> str:
        """The judge's name in outputs of this stage."""
        return f"model:{self.models.get(stage, self.name)}" if self.does(stage) else "rules"


class ModelCalls(Spending):
    """Where model replies come from, what they cost, and what a run may spend; runtime settings.

    They are not part of the digest: a replay makes the same release as the recorded run. `recorded`
    is a file of replies to load into the store before anything is asked.
    """

    mode: Literal[Mode.LIVE, Mode.RECORD, Mode.REPLAY, Mode.BATCH] = Mode.RECORD
    recorded: AnyPath | None = None


def client_config(model: ModelConfig, calls: ModelCalls) -> LlmConfig:
    """The settings of the model client; its questions name their stage by their prompt."""
    sampling = {name: getattr(model, name) for name in Sampling.model_fields}
    models = dict(model.models) | {_PROMPTS.get(k, str(k)): v for k, v in model.models.items()}
    if ModelStage.GRADE in models:
        for prompt in (SECOND, MEND):
            models.setdefault(prompt, models[ModelStage.GRADE])
    if ModelStage.SCENARIO_DOCUMENTS in models:
        models.setdefault(_DERIVE, models[ModelStage.SCENARIO_DOCUMENTS])
    return LlmConfig(
        model=model.name, models=models, **sampling, **calls.model_dump(exclude={"recorded"})
    )


class JudgingConfig(ScreeningConfig):
    """Who judges, and the settings of each stage, whether run by a model or by the baseline."""

    model: ModelConfig = ModelConfig()
    consensus: ConsensusConfig = ConsensusConfig()
    model_stages: ModelStagesConfig = ModelStagesConfig()
    classes: ClassesConfig = ClassesConfig()

    def stage_settings(self, stage: ModelStage) -> ModelStagesConfig:
        """`model_stages` with the name of the judge that the labels of a stage are marked with."""
        return self.model_stages.model_copy(update={"judge": self.model.judge_of(stage)})

    def with_model(self, name: str) -> JudgingConfig:
        """The same settings with another model for every stage."""
        own = {"name": name, "models": {}}
        return self.model_copy(update={"model": self.model.model_copy(update=own)})


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
        """The model's settings for each stage that it does, or `rules`: part of a stage's key.

        So is the file of recorded replies, which decides where the baseline stands in.
        """
        model = self.config.model
        settings: list[Any] = [model if model.does(stage) else "rules" for stage in stages]
        recorded = self.calls.recorded
        return settings + ([file_digest(recorded)] if recorded else [])

    def budget(self) -> AbstractContextManager[Budget]:
        """What every client opened within may spend together; within another budget, that one."""

        from construction.judging.model.asking import shared_budget

        return shared_budget(self.client_config)

    @contextmanager
    def client(self, *, masked: bool) -> Iterator[Client]:
        """The client of the model, with the run's budget and its private store of replies."""

        from construction.judging.calls.store import add_recorded
        from construction.judging.model.asking import model_client

        store = private_dir(private_dir(self.out / "private") / "captures" / "llm")
        if self.calls.recorded is not None:
            add_recorded(store, self.calls.recorded)
        with model_client(self.client_config, self.endpoint, store, masked=masked) as client:
            yield client

    def costs(self, judged: Mapping[str, Sequence[Judged[Any]]]) -> list[dict[str, Scalar]]:
        """What the answers of each stage cost when asked."""

        from construction.judging.model.asking import cost_rows

        return cost_rows(self.client_config, judged)
