"""Candidate ideas by a model: several per seed idea, filtered, without near-duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from construction.ideas.prefilters import Idea, Proposed, ideas_wanted, sift
from construction.judging.contracts import (
    Answer,
    Asker,
    Fault,
    JudgeReason,
    ModelStagesConfig,
)
from construction.judging.model.asking import Checked, Stage, ask
from construction.judging.model.prompt import Cleaner, load_prompt
from construction.signals.seeds import SeedIdea
from data.contracts import Evidence
from data.neutralise import one_line, visible

_TITLES = 60  # known titles that the prompt lists
Line = Annotated[str, Field(min_length=3, max_length=300)]


class IdeaAnswer(Answer):
    title: Annotated[str, Field(min_length=3, max_length=120)]
    task: Annotated[str, Field(min_length=20, max_length=1_500)]
    steps: Annotated[tuple[Line, ...], Field(max_length=20)]
    artifact: Line
    environment: Annotated[tuple[Line, ...], Field(max_length=20)]
    evidence: tuple[Literal["retrieval", "accuracy", "action", "semantic"], ...]
    graded: Annotated[str, Field(max_length=600)]
    ungraded: Annotated[str, Field(max_length=600)]
    minutes: Annotated[int, Field(ge=0, le=100_000)]


class IdeasAnswer(Answer):
    ideas: Annotated[tuple[IdeaAnswer, ...], Field(max_length=20)]


def propose_ideas(
    seeds: Sequence[SeedIdea],
    client: Asker,
    config: ModelStagesConfig,
    known: Sequence[str] = (),
) -> Proposed:
    """5 to 8 ideas per seed, filtered; `known` are titles and prompts not to be repeated."""
    return sift(ask(ideas_stage(config, known), seeds, client), known, config.near_duplicate)


def ideas_stage(
    config: ModelStagesConfig, known: Sequence[str] = ()
) -> Stage[SeedIdea, IdeasAnswer, tuple[Idea, ...]]:
    """The stage, for callers that want its requests or checks alone."""

    def check(seed: SeedIdea, answer: IdeasAnswer) -> Checked[tuple[Idea, ...]] | Fault:
        number = len(answer.ideas)
        if not config.min_ideas <= number <= config.max_ideas:
            return Fault(JudgeReason.WRONG_NUMBER, str(number))
        numbered = enumerate(answer.ideas, start=1)
        return Checked(tuple(_idea(seed, number, idea) for number, idea in numbered))

    return Stage(
        prompt=load_prompt("ideas"),
        answer=IdeasAnswer,
        item_id=lambda seed: seed.pattern,
        content=lambda seed, cleaner: _content(seed, cleaner, config, known),
        check=check,
    )


def _content(
    seed: SeedIdea, cleaner: Cleaner, config: ModelStagesConfig, known: Sequence[str]
) -> dict[str, Any]:
    """The material; names of signals come from public registries and may be hostile."""
    titles = sorted(set(known))[:_TITLES]
    return {
        "wanted": ideas_wanted(seed, config),
        "kind_of_work": cleaner.text(seed.pattern, 120, "kind_of_work"),
        "task_family": seed.task_family,
        "goal": cleaner.text(seed.user_goal, 600, "goal"),
        "artifact": cleaner.text(seed.artifact, 600, "artifact"),
        "worked_in": seed.execution_surface,
        "expected": cleaner.text(seed.grading.expected, 600, "expected"),
        "graded": cleaner.text(seed.grading.graded, 600, "graded"),
        "ungraded": cleaner.text(seed.grading.ungraded, 600, "ungraded"),
        "in_demand": [cleaner.text(name, 120, "in_demand") for name in seed.signals],
        "taken": [cleaner.text(title, 120, "taken") for title in titles],
    }


def _idea(seed: SeedIdea, number: int, answer: IdeaAnswer) -> Idea:
    return Idea(
        idea_id=f"{seed.pattern}-{number}",
        seed=seed.pattern,
        task_family=seed.task_family,
        title=one_line(" ".join(answer.title.split())),
        task=visible(answer.task.strip()),
        steps=tuple(map(one_line, answer.steps)),
        artifact=one_line(answer.artifact),
        environment=tuple(map(one_line, answer.environment)),
        evidence=Evidence(**dict.fromkeys(answer.evidence, True)),
        graded=one_line(answer.graded),
        ungraded=one_line(answer.ungraded),
        minutes=answer.minutes,
    )
