"""Candidate ideas by a model: several per seed idea, through four prefilters, twins left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from construction.judging.prompted.asking import Checked, Stage, ask, rows
from construction.judging.prompted.block import Cleaner
from construction.judging.prompted.contracts import (
    Answer,
    Asker,
    Fault,
    Judged,
    JudgeReason,
    PromptedConfig,
)
from construction.judging.prompted.prefilters import Idea, IdeaReason, first_fault, twins
from construction.judging.prompted.prompt import load_prompt
from construction.signals.seeds import SeedIdea
from data.contracts import Evidence, LedgerRow, LineageRow, Outcome, StageKind, StageTally
from data.ledger import tally

STAGE = "candidate_ideas"
PREFILTER = "idea_prefilter"
_TITLES = 60  # known titles that a brief shows
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


@dataclass(frozen=True, slots=True)
class Proposed:
    """Ideas that passed, by seed and number; what became of seeds and ideas, and whence they are.

    `tallies` closes both stages: seeds are consumed or errored, ideas kept or rejected.
    """

    ideas: tuple[Idea, ...]
    judged: tuple[Judged[tuple[Idea, ...]], ...]
    ledger: tuple[LedgerRow, ...]
    lineage: tuple[LineageRow, ...]
    tallies: tuple[StageTally, ...]


def propose_ideas(
    seeds: Sequence[SeedIdea],
    client: Asker,
    config: PromptedConfig,
    known: Sequence[str] = (),
) -> Proposed:
    """5 to 8 ideas per seed, prefiltered; `known` are titles and prompts not to be repeated."""
    judged = ask(ideas_stage(config, known), seeds, client)
    order = sorted(judged, key=lambda one: one.item_id)
    ideas = [idea for one in order for idea in one.value or ()]
    twin = twins(ideas, known, config.near_duplicate)
    faults = {idea.idea_id: first_fault(idea) or twin.get(idea.idea_id) for idea in ideas}
    seed_rows = [_consumed(row) for row in rows(STAGE, "seed", order)]
    idea_rows = [_filtered(idea, faults[idea.idea_id]) for idea in ideas]
    ids = [idea.idea_id for idea in ideas]
    return Proposed(
        ideas=tuple(idea for idea in ideas if faults[idea.idea_id] is None),
        judged=tuple(judged),
        ledger=(*seed_rows, *idea_rows),
        lineage=tuple(
            LineageRow(STAGE, "seed", idea.seed, "idea", idea.idea_id, "proposed") for idea in ideas
        ),
        tallies=(
            tally(STAGE, StageKind.DERIVE, "seed", [one.item_id for one in judged], seed_rows),
            tally(PREFILTER, StageKind.FILTER, "idea", ids, idea_rows),
        ),
    )


def ideas_stage(
    config: PromptedConfig, known: Sequence[str] = ()
) -> Stage[SeedIdea, IdeasAnswer, tuple[Idea, ...]]:
    """The stage, for callers that want its requests or checks alone."""

    def check(seed: SeedIdea, answer: IdeasAnswer) -> Checked[tuple[Idea, ...]] | Fault:
        number = len(answer.ideas)
        if not config.min_ideas <= number <= config.max_ideas:
            return Fault(JudgeReason.WRONG_NUMBER, str(number))
        told = enumerate(answer.ideas, start=1)
        return Checked(tuple(_idea(seed, place, one) for place, one in told))

    return Stage(
        prompt=load_prompt("ideas"),
        answer=IdeasAnswer,
        item_id=lambda seed: seed.pattern,
        content=lambda seed, cleaner: _content(seed, cleaner, config, known),
        check=check,
    )


def _content(
    seed: SeedIdea, cleaner: Cleaner, config: PromptedConfig, known: Sequence[str]
) -> dict[str, Any]:
    """The brief; names of signals come from public registries and are as hostile as sessions."""
    wanted = min(max(seed.ideas, config.min_ideas), config.max_ideas)
    titles = sorted(set(known))[:_TITLES]
    return {
        "wanted": wanted,
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


def _idea(seed: SeedIdea, place: int, told: IdeaAnswer) -> Idea:
    return Idea(
        idea_id=f"{seed.pattern}-{place}",
        seed=seed.pattern,
        task_family=seed.task_family,
        title=" ".join(told.title.split()),
        task=told.task.strip(),
        steps=told.steps,
        artifact=told.artifact,
        environment=told.environment,
        evidence=Evidence(**dict.fromkeys(told.evidence, True)),
        graded=told.graded,
        ungraded=told.ungraded,
        minutes=told.minutes,
    )


def _consumed(row: LedgerRow) -> LedgerRow:
    outcome = Outcome.CONSUMED if row.outcome is Outcome.KEPT else row.outcome
    return LedgerRow(row.stage, row.unit, row.item_id, outcome, reason=row.reason)


def _filtered(idea: Idea, fault: IdeaReason | None) -> LedgerRow:
    outcome = Outcome.KEPT if fault is None else Outcome.REJECTED
    return LedgerRow(PREFILTER, "idea", idea.idea_id, outcome, reason=fault, stratum=idea.seed)
