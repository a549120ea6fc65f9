"""Screening: does the reference solve a draft, and does nothing else?

A draft is run before it becomes a candidate: by its reference, twice; by agents that do nothing,
talk, or call every tool without arguments; by one that does what is right and something wrong
besides; by the reference without one of its services; by the recipe of a sibling; and by mutants
that violate one check or answer each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from construction.grading.attacks import EMPTY_CALLS, NULL, TALK, attacks, reference_text
from construction.grading.spec import TaskSpec
from construction.workflows.contracts import Draft, Request, Scenario, World
from construction.workflows.declaration import operations
from construction.workflows.declaration import service as declared
from construction.workflows.mutants import mutants_of, strays
from construction.workflows.panel import Cell, forgetting, run_panel, without_rule
from construction.workflows.runs import Run, graded, perform, replay, spec_of_draft
from construction.workflows.world_file import world_faults
from data.contracts import Bound, Gate, GateReason, Limit, Share, StageConfig, Verdict
from data.contracts.attempt import Submission

STAGE = "workflows"


class ScreenReason(GateReason):
    NOT_RUNNABLE = "screen.not_runnable", "Services cannot start from its world, or refuse it."
    ORACLE_FAILED = "screen.oracle_failed", "The reference solution does not score 1."
    NOT_REPRODUCIBLE = "screen.not_reproducible", "A second run has another score or state."
    PASSED_BY_NULL = "screen.passed_by_null", "Doing nothing passes."
    PASSED_BY_TALK_ONLY = "screen.passed_by_talk_only", "Describing the work passes."
    PASSED_BY_EMPTY_CALLS = (
        "screen.passed_by_empty_calls",
        "Describing the work and calling every tool without arguments passes.",
    )
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
    NOT_INFORMATIVE = "screen.not_informative", "All agents of the pilot pass, or all fail."


class ScreeningConfig(StageConfig):
    """How drafts are screened. The pilot's threshold is more permissive than the public one."""

    pass_threshold: Share = 0.8
    pilot_threshold: Share = 0.7


@dataclass(frozen=True, slots=True)
class Tried:
    """What a draft's grader was put to; the counts of passes should all be 0.

    `faults` counts what is wrong with its world, and a solution that ended in an error. `oracle` is
    the score of the reference; `differing` counts what a second run had otherwise. `survivors` are
    mutants that lost nothing, and checks and answers without a mutant, of `mutants` in all.
    """

    faults: int
    oracle: float
    differing: int = 0
    null: int = 0
    talk_only: int = 0
    empty_calls: int = 0
    destructive: int = 0
    unneeded: int = 0
    siblings: int = 0
    survivors: int = 0
    mutants: int = 0


def _none(name: str, meaning: str, reason: ScreenReason) -> Limit:
    """None of these are allowed."""
    return Limit(
        name, Bound.MAX, "runs", meaning, reason, value=lambda m: m[name], at=0, movable=False
    )


SCREEN = Gate(
    name="screen",
    stage=STAGE,
    section="workflows.screening",
    meaning="Does the reference solve it, and does nothing else?",
    config=ScreeningConfig,
    reasons=ScreenReason,
    measure=lambda draft, scenario, siblings, config: tried(draft, scenario, siblings, config)[0],
    limits=(
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
    reasons=ScreenReason,
    measure=lambda cells: piloted(cells, ScreeningConfig()),
    limits=(
        Limit(
            "some_pass",
            Bound.MIN,
            "agents",
            "An agent passes.",
            ScreenReason.NOT_INFORMATIVE,
            value=lambda m: m["passed"],
            at=1,
            movable=False,
        ),
        Limit(
            "some_fail",
            Bound.MIN,
            "agents",
            "An agent fails.",
            ScreenReason.NOT_INFORMATIVE,
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
    drafts: Sequence[Draft], scenarios: Mapping[str, Scenario], config: ScreeningConfig
) -> Iterator[Screened]:
    """Every draft with its verdicts, in order. `scenarios` are by name."""
    for draft in drafts:
        siblings = [
            other
            for other in drafts
            if other.scenario == draft.scenario and other.number != draft.number
        ]
        yield screen(draft, scenarios[draft.scenario], siblings, config)


def screen(
    draft: Draft, scenario: Scenario, siblings: Sequence[Draft], config: ScreeningConfig
) -> Screened:
    """The first gate that fails ends it: a pilot costs more than a screening."""
    seen, run = tried(draft, scenario, siblings, config)
    verdict = SCREEN.judge(seen, config)
    if verdict.reason:
        return Screened(draft, scenario, run, seen, (), (verdict,))
    cells = run_panel(draft, scenario, config.pass_threshold)
    verdicts = (verdict, PILOT.judge(piloted(cells, config), config))
    return Screened(draft, scenario, run, seen, cells, verdicts)


def piloted(cells: Sequence[Cell], config: ScreeningConfig) -> Piloted:
    """Passes under the pilot's threshold."""
    passed = [
        cell
        for cell in cells
        if cell.score.overall is not None
        and cell.score.overall >= config.pilot_threshold
        and all(part.value == 1 for part in cell.score.parts if part.required)
    ]
    return Piloted(len(passed), len(cells))


def tried(
    draft: Draft, scenario: Scenario, siblings: Sequence[Draft], config: ScreeningConfig
) -> tuple[Tried, Run]:
    """What a draft was put to, and its reference run; stops where the reference fails."""
    threshold, spec = config.pass_threshold, spec_of_draft(draft)
    faults = len(world_faults(draft.world))
    run = perform(draft, scenario)
    oracle = graded(spec, run.submission(), threshold)
    seen = Tried(faults + (run.failure is not None), oracle.overall or 0.0)
    if seen.faults or seen.oracle < 1:
        return seen, run
    again = perform(draft, scenario)
    same_score = graded(spec, again.submission(), threshold) == oracle
    passes = [
        _passes(spec, submissions, threshold)
        for submissions in (
            _of_family(NULL, spec, draft),
            _of_family(TALK, spec, draft),
            [*_of_family(EMPTY_CALLS, spec, draft), empty_calls(spec, draft.world)],
            destructive(draft, run),
            [perform(draft, scenario, lambda c, s=s: forgetting(c, s)).submission()  # type: ignore[misc]
             for s in scenario.services],
            [*sibling_recipes(draft, scenario, siblings), rule_ignored(draft, scenario)],
        )
    ]  # fmt: skip
    survivors, mutants = _survivors(draft, run, spec, threshold)
    differing = (not same_score) + (again.digest != run.digest)
    return Tried(0, seen.oracle, differing, *passes, survivors, mutants), run


def _passes(spec: TaskSpec, submissions: Iterable[Submission], threshold: float) -> int:
    return sum(graded(spec, one, threshold).passed is not False for one in submissions)


def _of_family(family: str, spec: TaskSpec, draft: Draft) -> list[Submission]:
    tools = [f"{s}.{name}" for s in draft.world.state for name in operations(s)]
    made = attacks(spec, tools, {}, Path())  # these tasks ask for no files, so none are written
    return [attack.submission for attack in made if attack.family == family]


def empty_calls(spec: TaskSpec, world: World) -> Submission:
    """The reference path as talk, and every operation of every service called without arguments."""
    requests = [Request(s, name, {}) for s in world.state for name in operations(s)]
    return replay(world, requests, reference_text(spec)).submission()


def destructive(draft: Draft, run: Run) -> Iterator[Submission]:
    """All that is right, and a write besides: to a stranger, or the same to a decoy."""
    for _, request in strays(draft, run):
        yield replay(draft.world, (*run.requests, request), run.answer).submission()
    for right, wrong in draft.decoys.items():
        name, twin = right.rpartition("/")[2], wrong.rpartition("/")[2]
        copies = [
            replace(request, arguments={**request.arguments, **changed})
            for request in run.requests
            if not operations(request.service)[request.operation].is_read
            and (changed := {k: twin for k, v in request.arguments.items() if v == name})
        ]
        if copies:
            yield replay(draft.world, (*run.requests, *copies), run.answer).submission()


def sibling_recipes(
    draft: Draft, scenario: Scenario, siblings: Sequence[Draft]
) -> Iterator[Submission]:
    """What follows if the overriding records said what those of a sibling say."""
    for sibling in siblings:
        if sibling.rule == draft.rule or len(sibling.overriding) != len(draft.overriding):
            continue
        state = {s: {c: dict(r) for c, r in rooms.items()} for s, rooms in draft.world.state.items()}
        for mine, other in zip(draft.overriding, sibling.overriding, strict=True):
            service, plural, identifier = mine.split("/", 2)
            their_service, their_plural, theirs = other.split("/", 2)
            fields = sibling.world.state[their_service][their_plural][theirs]
            state[service][plural][identifier] = {**fields, "id": identifier}
        misled = replace(draft, world=replace(draft.world, state=state))
        run = perform(misled, scenario)
        yield replay(draft.world, run.requests, run.answer).submission()


def rule_ignored(draft: Draft, scenario: Scenario) -> Submission:
    """What follows without the overriding records, which are read but not obeyed."""
    run = perform(draft, scenario, lambda client: without_rule(client, draft, scenario))
    reads = [
        Request(service, f"get_{declared(service).collections[plural].record}", {"id": identifier})
        for service, plural, identifier in (one.split("/", 2) for one in draft.overriding)
    ]
    return replay(draft.world, (*run.requests, *reads, *reads), run.answer).submission()


def _survivors(draft: Draft, run: Run, spec: TaskSpec, threshold: float) -> tuple[int, int]:
    """Mutants that lose nothing and checks without one; and how many mutants there are."""
    wanted = {check.check_id for check in draft.checks}
    wanted |= {f"answer.{answer.part}" for answer in draft.answers}
    count, survivors = 0, 0
    for mutant in mutants_of(draft, run):
        count += 1
        wanted.discard(mutant.violates)
        score = graded(spec, mutant.submission, threshold)
        survivors += score.passed is not False and score.overall == 1
    return survivors + len(wanted), count
