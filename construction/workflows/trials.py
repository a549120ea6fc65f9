"""What a draft is put to: attacks, wrong acts besides, recipes that do not fit, mutants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from construction.grading.attacks import EMPTY_CALLS, NULL, TALK, attacks, reference_text
from construction.grading.spec import TaskSpec
from construction.workflows.contracts import Draft, Request, Scenario, World
from construction.workflows.declaration import operations
from construction.workflows.declaration import service as declared
from construction.workflows.mutants import mutants_of, strays
from construction.workflows.panel import forgetting, without_rule
from construction.workflows.runs import Run, graded, perform, replay, spec_of_draft
from construction.workflows.world_file import world_faults
from data.contracts.attempt import Submission


@dataclass(frozen=True, slots=True)
class Tried:
    """What a draft's grader was put to; the counts of passes should all be 0.

    `faults` counts what is wrong with its world, and a solution that ended in an error. `oracle` is
    the score of the reference; `differing` counts what a second run had otherwise. `survivors` are
    mutants that lost nothing, and checks and answers without a mutant, of `mutants` in all.
    `untried` is 1 where its programs need a sandbox and there is none.
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
    untried: int = 0


UNTRIED = Tried(faults=0, oracle=0.0, untried=1)


def tried(
    draft: Draft, scenario: Scenario, siblings: Sequence[Draft], threshold: float
) -> tuple[Tried, Run]:
    """What a draft was put to, and its reference run; stops where the reference fails."""
    spec = spec_of_draft(draft)
    faults = len(world_faults(draft.world))
    run = perform(draft, scenario)
    oracle = graded(spec, run.submission(), threshold)
    seen = Tried(faults + (run.failure is not None), oracle.overall or 0.0)
    if seen.faults or seen.oracle < 1:
        return seen, run
    again = perform(draft, scenario)
    same_score = graded(spec, again.submission(), threshold) == oracle
    nulls = _of_family(NULL, spec, draft)
    empty = [*_of_family(EMPTY_CALLS, spec, draft), empty_calls(spec, draft.world)]
    recipes = [*sibling_recipes(draft, scenario, siblings), rule_ignored(draft, scenario)]
    partial_runs = [without_source(draft, scenario, name) for name in scenario.services]
    survivors, mutants = _survivors(draft, run, spec, threshold)
    differing = (not same_score) + (again.digest != run.digest)
    return Tried(
        faults=0,
        oracle=seen.oracle,
        differing=differing,
        null=_passes(spec, nulls, threshold),
        talk_only=_passes(spec, _of_family(TALK, spec, draft), threshold),
        empty_calls=_passes(spec, empty, threshold),
        destructive=_passes(spec, destructive(draft, run), threshold),
        unneeded=_passes(spec, partial_runs, threshold),
        siblings=_passes(spec, recipes, threshold),
        survivors=survivors,
        mutants=mutants,
    ), run


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


def without_source(draft: Draft, scenario: Scenario, service: str) -> Submission:
    """The reference where one service holds nothing."""
    return perform(draft, scenario, lambda client: forgetting(client, service)).submission()


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
        state = {
            s: {c: dict(r) for c, r in rooms.items()} for s, rooms in draft.world.state.items()
        }
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
