"""Screening: does the reference solve a draft, and does nothing else?

A draft is run before it becomes a candidate: by its reference, twice; by agents that do nothing,
talk, or call every tool without arguments; by one that does what is right and something wrong
besides, or only reports, or reads nothing; by the reference without one of its services; by the
recipe of a sibling; by mutants that violate one check or answer each; and by worlds in which a fact
is another, which the gold has to follow (`variants`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from data.contracts import Bound, Gate, GateReason, Limit, Share, StageConfig, Verdict

if TYPE_CHECKING:  # whoever lists the gates loads neither graders nor services
    from construction.workflows.contracts import Draft, Scenario
    from construction.workflows.panel import Cell
    from construction.workflows.runs import Run
    from construction.workflows.trials import Tried

STAGE = "workflows"


class ScreenReason(GateReason):
    NO_SANDBOX = "screen.no_sandbox", "Its programs are tried in a sandbox, and there is none."
    NOT_RUNNABLE = "screen.not_runnable", "Services cannot start from its world, or refuse it."
    ORACLE_FAILED = "screen.oracle_failed", "The reference solution does not score 1."
    NOT_REPRODUCIBLE = "screen.not_reproducible", "A second run has another score or state."
    PASSED_BY_NULL = "screen.passed_by_null", "Doing nothing passes."
    PASSED_BY_TALK_ONLY = "screen.passed_by_talk_only", "Describing the work passes."
    PASSED_BY_EMPTY_CALLS = (
        "screen.passed_by_empty_calls",
        "Describing the work and calling every tool without arguments passes.",
    )
    PASSED_BY_REPORT = (
        "screen.passed_by_report",
        "A right report without the wanted acts passes, or scores more than undone work may.",
    )
    PASSED_UNREAD = "screen.passed_unread", "Who reads nothing, and replays what is right, passes."
    PASSED_BY_DESTRUCTIVE = (
        "screen.passed_by_destructive",
        "Doing what is right, and something wrong besides, passes.",
    )
    SOURCE_UNNEEDED = "screen.source_unneeded", "The reference passes without one of the services."
    PASSED_BY_SIBLING = (
        "screen.passed_by_sibling",
        "The recipe of a sibling passes, or one that obeys no overriding record.",
    )
    MUTANT_SURVIVED = (
        "screen.mutant_survived",
        "A solution that violates a check or an answer loses neither pass nor points, "
        "or a check has no such solution.",
    )
    GOLD_BELIEVED = (
        "screen.gold_believed",
        "A part of the gold stays the same whatever is changed in the world.",
    )
    RULE_IDLE = "screen.rule_idle", "A rule, or records that have to be read, change nothing."
    GOLD_MOVED = (
        "screen.gold_moved",
        "What nobody has to look at changes what the reference does.",
    )


class PilotReason(GateReason):
    NOT_INFORMATIVE = "screen.not_informative", "All agents of the pilot pass, or all fail."


class ScreeningConfig(StageConfig):
    """How drafts are screened. The pilot's threshold is more permissive than the public one."""

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
    meaning="Does the reference solve it, and does nothing else?",
    config=ScreeningConfig,
    reasons=ScreenReason,
    measure=_tried,
    limits=(
        _none("untried", "Its programs can be tried.", ScreenReason.NO_SANDBOX),
        _none("faults", "Services start from the world.", ScreenReason.NOT_RUNNABLE),
        Limit(
            "oracle",
            Bound.MIN,
            "score",
            "The reference scores 1.",
            ScreenReason.ORACLE_FAILED,
            value=lambda m: m["oracle"],
            at=1,
            movable=False,
        ),
        _none("differing", "Two runs agree.", ScreenReason.NOT_REPRODUCIBLE),
        _none("null", "Doing nothing fails.", ScreenReason.PASSED_BY_NULL),
        _none("talk_only", "Talk fails.", ScreenReason.PASSED_BY_TALK_ONLY),
        _none("empty_calls", "Empty calls fail.", ScreenReason.PASSED_BY_EMPTY_CALLS),
        _none("destructive", "Wrong acts besides fail.", ScreenReason.PASSED_BY_DESTRUCTIVE),
        _none("unneeded", "Every service is needed.", ScreenReason.SOURCE_UNNEEDED),
        _none("siblings", "Recipes of siblings fail.", ScreenReason.PASSED_BY_SIBLING),
        _none("survivors", "Every mutant loses.", ScreenReason.MUTANT_SURVIVED),
        _none("report_only", "A report without acts fails.", ScreenReason.PASSED_BY_REPORT),
        _none("unread", "Acts without reading fail.", ScreenReason.PASSED_UNREAD),
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
    meaning="Do agents of the pilot differ on it?",
    config=ScreeningConfig,
    reasons=PilotReason,
    measure=lambda cells: _piloted(cells, ScreeningConfig()),
    limits=(
        Limit(
            "some_pass",
            Bound.MIN,
            "agents",
            "An agent passes.",
            PilotReason.NOT_INFORMATIVE,
            value=lambda m: m["passed"],
            at=1,
            movable=False,
        ),
        Limit(
            "some_fail",
            Bound.MIN,
            "agents",
            "An agent fails.",
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
    from construction.workflows.panel import run_panel
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
