"""Screening: does the reference solve a draft, and does nothing else? And the recipe's section
`workflows`: how many drafts are made of what, and how they are screened.

A draft is run before it becomes a candidate: by its reference, twice; by agents that do nothing,
talk, or call every tool without arguments; by one that does what is right and something wrong
besides, or only reports, or reads nothing; by the reference without one of its services; by the
recipe of a sibling; by mutants that violate one check or answer each; and by worlds in which a fact
is another, which the gold has to follow (`variants`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from data.contracts import Bound, Count, Gate, GateReason, Limit, Share, StageConfig, Verdict

if TYPE_CHECKING:
    from construction.workflows.contracts import Draft, Scenario
    from construction.workflows.runs import Cell, Run
    from construction.workflows.trials import Tried

STAGE = "workflows"


class ScreenReason(GateReason):
    NO_SANDBOX = (
        "screen.no_sandbox",
        "Its programs have to be tried in a sandbox, and there is none.",
    )
    UNREACHED = "screen.unreached", "A paper that decides is not found by searching."
    NOT_RUNNABLE = "screen.not_runnable", "Its services refuse its world or cannot start from it."
    ORACLE_FAILED = "screen.oracle_failed", "The reference solution does not score 1."
    NOT_REPRODUCIBLE = "screen.not_reproducible", "A second run gives a different score or state."
    PASSED_BY_NULL = "screen.passed_by_null", "Doing nothing passes."
    PASSED_BY_TALK_ONLY = "screen.passed_by_talk_only", "Describing the work passes."
    PASSED_BY_EMPTY_CALLS = (
        "screen.passed_by_empty_calls",
        "Describing the work and calling every tool without arguments passes.",
    )
    PASSED_BY_REPORT = (
        "screen.passed_by_report",
        "A correct report without the required actions passes, or scores above the maximum for "
        "work that was not done.",
    )
    PASSED_UNREAD = (
        "screen.passed_unread",
        "Replaying the right actions without reading anything passes.",
    )
    PASSED_BY_DESTRUCTIVE = (
        "screen.passed_by_destructive",
        "Doing the right thing plus something wrong passes.",
    )
    SOURCE_UNNEEDED = "screen.source_unneeded", "The reference passes without one of the services."
    PASSED_BY_SIBLING = (
        "screen.passed_by_sibling",
        "The recipe for a sibling task passes, or one that ignores overriding records.",
    )
    MUTANT_SURVIVED = (
        "screen.mutant_survived",
        "A solution that violates a check or an answer neither fails nor loses points, "
        "or a check has no such solution.",
    )
    GOLD_BELIEVED = (
        "screen.gold_believed",
        "Part of the gold stays the same whatever changes in the world.",
    )
    RULE_IDLE = (
        "screen.rule_idle",
        "A rule, or records that have to be read, have no effect on the gold.",
    )
    GOLD_MOVED = (
        "screen.gold_moved",
        "Something that nobody has to look at changes what the reference does.",
    )


class PilotReason(GateReason):
    NOT_INFORMATIVE = "screen.not_informative", "All of the pilot's agents pass, or all fail."


class ScreeningConfig(StageConfig):
    """How to screen drafts. The pilot's threshold is more permissive than the public one."""

    pass_threshold: Share = 0.8
    pilot_threshold: Share = 0.7


def _none(name: str, meaning: str, reason: ScreenReason) -> Limit:
    """None of these are allowed."""
    return Limit(
        name, Bound.MAX, "runs", meaning, reason, value=lambda m: m[name], at=0, movable=False
    )


def _tried(draft: Draft, scenario: Scenario, siblings: Sequence[Draft], threshold: float) -> Tried:
    from construction.workflows.trials import tried

    return tried(draft, scenario, siblings, threshold)[0]


SCREEN = Gate(
    name="screen",
    stage=STAGE,
    section="workflows.screening",
    meaning="Does the reference solve it, and nothing else?",
    config=ScreeningConfig,
    reasons=ScreenReason,
    measure=_tried,
    limits=(
        _none("untried", "Its programs can be tried in a sandbox.", ScreenReason.NO_SANDBOX),
        _none("unreached", "Searching finds all papers that decide.", ScreenReason.UNREACHED),
        _none("faults", "The services start from its world.", ScreenReason.NOT_RUNNABLE),
        Limit(
            "oracle",
            Bound.MIN,
            "score",
            "The reference solution scores 1.",
            ScreenReason.ORACLE_FAILED,
            value=lambda m: m["oracle"],
            at=1,
            movable=False,
        ),
        _none(
            "differing", "Two runs give the same score and state.", ScreenReason.NOT_REPRODUCIBLE
        ),
        _none("null", "Doing nothing fails.", ScreenReason.PASSED_BY_NULL),
        _none("talk_only", "Only describing the work fails.", ScreenReason.PASSED_BY_TALK_ONLY),
        _none(
            "empty_calls",
            "Calling every tool without arguments fails.",
            ScreenReason.PASSED_BY_EMPTY_CALLS,
        ),
        _none(
            "destructive",
            "Doing something wrong as well fails.",
            ScreenReason.PASSED_BY_DESTRUCTIVE,
        ),
        _none("unneeded", "Every service is needed.", ScreenReason.SOURCE_UNNEEDED),
        _none("siblings", "Recipes for sibling tasks fail.", ScreenReason.PASSED_BY_SIBLING),
        _none("survivors", "Every mutant loses points or fails.", ScreenReason.MUTANT_SURVIVED),
        _none("report_only", "A report without the actions fails.", ScreenReason.PASSED_BY_REPORT),
        _none("unread", "Acting without reading fails.", ScreenReason.PASSED_UNREAD),
        _none("believed", "The gold follows the world.", ScreenReason.GOLD_BELIEVED),
        _none("idle", "The gold follows the rule.", ScreenReason.RULE_IDLE),
        _none("moved", "The gold follows nothing else.", ScreenReason.GOLD_MOVED),
    ),
    headline="oracle",
)


@dataclass(frozen=True, slots=True)
class Piloted:
    """How many agents of a pilot passed, of how many."""

    passed: int
    agents: int


PILOT = Gate(
    name="pilot",
    stage=STAGE,
    section="workflows.screening",
    meaning="Do the pilot's agents differ on it?",
    config=ScreeningConfig,
    reasons=PilotReason,
    measure=lambda cells: _piloted(cells, ScreeningConfig()),
    limits=(
        Limit(
            "some_pass",
            Bound.MIN,
            "agents",
            "At least one agent passes.",
            PilotReason.NOT_INFORMATIVE,
            value=lambda m: m["passed"],
            at=1,
            movable=False,
        ),
        Limit(
            "some_fail",
            Bound.MIN,
            "agents",
            "At least one agent fails.",
            PilotReason.NOT_INFORMATIVE,
            value=lambda m: m["agents"] - m["passed"],
            at=1,
            movable=False,
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Screened:
    """A draft with its reference run, what it was put to, the panel's cells and the verdicts."""

    draft: Draft
    scenario: Scenario
    run: Run
    tried: Tried
    cells: tuple[Cell, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def reason(self) -> str | None:
        """Why it is no candidate; None if it is one."""
        return next((verdict.reason for verdict in self.verdicts if verdict.reason), None)


def screened(
    drafts: Sequence[Draft], scenario: Scenario, config: ScreeningConfig
) -> Iterator[Screened]:
    """Every draft of a scenario with its verdicts, in order."""
    for draft in drafts:
        siblings = [other for other in drafts if other.number != draft.number]
        yield screen(draft, scenario, siblings, config)


def screen(
    draft: Draft, scenario: Scenario, siblings: Sequence[Draft], config: ScreeningConfig
) -> Screened:
    """The first gate that fails ends it: a pilot costs more than a screening."""
    from construction.workflows.runs import run_panel
    from construction.workflows.trials import tried

    seen, run = tried(draft, scenario, siblings, config.pass_threshold)
    verdict = SCREEN.judge(seen, config)
    if verdict.reason:
        return Screened(draft, scenario, run, seen, (), (verdict,))
    cells = run_panel(draft, scenario, config.pass_threshold)
    verdicts = (verdict, PILOT.judge(_piloted(cells, config), config))
    return Screened(draft, scenario, run, seen, cells, verdicts)


def _piloted(cells: Sequence[Cell], config: ScreeningConfig) -> Piloted:
    """Passes under the pilot's threshold."""
    passed = [
        cell
        for cell in cells
        if cell.score.overall is not None
        and cell.score.overall >= config.pilot_threshold
        and all(part.value == 1 for part in cell.score.parts if part.required)
    ]
    return Piloted(len(passed), len(cells))


class WorkflowsRecipe(StageConfig):
    """`drafts` are distributed over the task families by the weights of the mixture.

    Each generator makes at most `per_generator` of them. `generators` lists the generators to use;
    an empty list means all. With 0 drafts, the lane is off. A model writes scenarios for `authored`
    ideas (0: none); each proven scenario makes `per_generator` additional drafts.
    """

    drafts: Count = 12
    per_generator: Annotated[int, Field(gt=0, le=50)] = 3
    generators: tuple[str, ...] = ()
    authored: Count = 0
    screening: ScreeningConfig = ScreeningConfig()
