"""Drafts over services as candidates of the pool, with the reference run as their steps."""

from __future__ import annotations

from typing import Literal

from construction.workflows.agent_tools import tools_of
from construction.workflows.client import reference_steps
from construction.workflows.contracts import Draft, Scenario
from construction.workflows.runs import perform
from data.contracts import Budget, Candidate, Disclosure, Evidence, Label, Lane, Provenance

SOURCE = "scenarios over services"
_BUDGET = Budget(turns=80, seconds=900)  # the longest reference run has 54 requests
_EASY, _MEDIUM = 9, 12  # points up to which a task is easy, or medium
DIFFICULTY_RULE = (
    "a point for each service that has to be read, each wanted change and each part of the answer, "
    f"two for a decoy, two for a fault: up to {_EASY} easy, up to {_MEDIUM} medium, above hard"
)


def item_id(draft: Draft) -> str:
    """The private name of a draft; task ids are made of it."""
    return f"{draft.scenario}-{draft.number}"


def candidate_of(draft: Draft, scenario: Scenario, task_id: str) -> Candidate:
    """The candidate of a draft. Its world is released apart, to graders and runners alone."""
    run = perform(draft, scenario)
    kinds = {check.evidence for check in draft.checks}
    return Candidate(
        task_id=task_id,
        lane=Lane.WORKFLOWS,
        prompt=draft.prompt,
        language=draft.language,
        task_family=Label(
            value=scenario.task_family, confidence=1.0, reason=f"scenario {scenario.name}"
        ),
        business_task=scenario.meaning,
        execution_surface="services",
        difficulty=difficulty_of(draft, scenario),
        difficulty_rule=DIFFICULTY_RULE,
        guidelines=draft.guidelines,
        tools=tuple(tool.name for tool in tools_of(sorted(draft.world.state))),
        budget=_BUDGET,
        answers=draft.answers,
        steps=reference_steps(run.audit, run.answer),
        checks=draft.checks,
        evidence=Evidence(
            retrieval="retrieval" in kinds,
            accuracy=bool(draft.answers) or "accuracy" in kinds,
            action="action" in kinds,
        ),
        provenance=Provenance(
            source=SOURCE,
            source_format="scenario",
            item_id=item_id(draft),
            disclosure=Disclosure.PUBLIC,
            licence="Apache-2.0",
            detail={"generator": draft.scenario, "rule": draft.rule},
        ),
    )


def difficulty_of(draft: Draft, scenario: Scenario) -> Literal["easy", "medium", "hard"]:
    """By `DIFFICULTY_RULE`, from the draft alone."""
    wanted = [c for c in draft.checks if c.kind not in ("records_returned", "unchanged")]
    points = len(scenario.services) + len(wanted) + len(draft.answers)
    points += 2 * bool(draft.decoys) + 2 * bool(draft.world.faults)
    if points <= _EASY:
        return "easy"
    return "medium" if points <= _MEDIUM else "hard"
