"""What a draft is put to: attacks, wrong acts besides, recipes that do not fit, mutants.

A mutant is a solution that violates one check or one answer, made from the reference run. A read is
withheld; a write is left out, made twice, or made with another value; something else is written
besides; a part of the answer is altered. Whatever changes records is carried out by the services
again, so that a mutant is what an agent could have done.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from construction.grading.actions import CHANGES, fits
from construction.grading.attacks import attacks, reference_text
from construction.grading.grade import MOST_UNDONE
from construction.grading.spec import EMPTY_CALLS, NULL, TALK, TaskSpec
from construction.workflows.contracts import Draft, Request, Scenario, World
from construction.workflows.declaration import operations
from construction.workflows.declaration import service as declared
from construction.workflows.engine import OK, handle, state_changes
from construction.workflows.runs import (
    Run,
    forgetting,
    graded,
    perform,
    replay,
    spec_of_draft,
    without_rule,
)
from construction.workflows.variants import Proof, proof_of
from construction.workflows.world_file import world_faults
from data.contracts.attempt import StateChange, Submission
from data.contracts.candidate import Answer, Check
from data.text.dates import read_date

Meant = Callable[[StateChange], bool]
_LONGEST_NAME = 100  # characters
OTHER_TEXT = "something else entirely"


@dataclass(frozen=True, slots=True)
class _Mutant:
    """`violates` is the id of a check, or `answer.<part>`."""

    violates: str
    title: str
    submission: Submission


def mutants_of(draft: Draft, run: Run) -> Iterator[_Mutant]:
    """Mutants of every check and answer; none of a check that no mutant can violate."""
    for check in draft.checks:
        if check.kind in _MAKERS:
            yield from _MAKERS[check.kind](check, draft, run)
    for answer in draft.answers:
        yield from _of_answer(answer, run)


# Reads


def _withheld(check: Check, draft: Draft, run: Run) -> Iterator[_Mutant]:
    """Each of the records that had to be read was not."""
    submission = run.submission()
    for record in check.params["records"]:
        audit = tuple(
            replace(row, records=tuple(name for name in row.records if name != record))
            for row in submission.audit
        )
        yield _Mutant(check.check_id, f"{record} not read", replace(submission, audit=audit))


# Writes


def _record_set(check: Check, draft: Draft, run: Run) -> Iterator[_Mutant]:
    name, service = check.params["record"], check.params["service"]
    yield from _left_out(check, draft, run, lambda change: change.record == name)
    yield from _rewritten(check, run, (service, name))


def _record_made(check: Check, draft: Draft, run: Run) -> Iterator[_Mutant]:
    made = _made_by(check, run)
    if not made:
        return
    yield from _left_out(check, draft, run, lambda change: change.record in made)
    number = _request_behind(draft, run, check.params["service"], made)
    once = replay(draft.world, run.requests[: number + 1], None).world
    # Not where the second is refused or finds all as it should be: only later ids would differ.
    if handle(once, run.requests[number]).world.state != once.state:
        twice = (*run.requests[: number + 1], *run.requests[number:])
        yield _again(check, "made twice", draft, twice, run)
    yield from _rewritten(check, run, (check.params["service"], made[0]))


def _record_gone(check: Check, draft: Draft, run: Run) -> Iterator[_Mutant]:
    name = check.params["record"]
    yield from _left_out(check, draft, run, lambda change: change.record == name)


def _left_out(check: Check, draft: Draft, run: Run, is_meant: Meant) -> Iterator[_Mutant]:
    """Without the requests that change the record of a check."""
    service = check.params["service"]
    kept = [
        request
        for request, changed in zip(run.requests, _changes_by_request(draft, run), strict=True)
        if not any(change.service == service and is_meant(change) for change in changed)
    ]
    yield _again(check, "left out", draft, kept, run)


def _changes_by_request(draft: Draft, run: Run) -> tuple[tuple[StateChange, ...], ...]:
    """What each request of a run changed; found once for all checks of a draft."""
    key = (id(draft.world), id(run))
    if key not in _CHANGES:
        _CHANGES.clear()
        world, changes = draft.world, []
        for request in run.requests:
            after = handle(world, request).world
            changes.append(state_changes(world.state, after.state))
            world = after
        _CHANGES[key] = (draft, run, tuple(changes))
    return _CHANGES[key][2]


# Of the last run; the draft and the run are kept with it, so that their ids stay theirs.
_CHANGES: dict[tuple[int, int], tuple[Draft, Run, tuple[tuple[StateChange, ...], ...]]] = {}


def _made_by(check: Check, run: Run) -> list[str]:
    """The records that were made and fit a check, by the grader's own comparison."""
    return [
        change.record
        for change in run.submission().changes
        if change.before is None
        and change.service == check.params["service"]
        and fits(change.after or {}, check.params["where"])
    ]


def _request_behind(draft: Draft, run: Run, service: str, made: Sequence[str]) -> int:
    """The number of the request that made a record."""
    for number, changed in enumerate(_changes_by_request(draft, run)):
        if any((c.service, c.record) == (service, made[0]) for c in changed if c.before is None):
            return number
    raise LookupError(made[0])


def _again(
    check: Check, title: str, draft: Draft, requests: Sequence[Request], run: Run
) -> _Mutant:
    return _Mutant(check.check_id, title, replay(draft.world, requests, run.answer).submission())


def _rewritten(check: Check, run: Run, record: tuple[str, str]) -> Iterator[_Mutant]:
    """The record has another value in one field; where a text has to hold something, also texts
    that hold nearly that, deny it, or name it among others."""
    for field, wanted in check.params["where"].items():
        yield _altered(check, run, record, field, "altered", _other)
        if isinstance(wanted, Mapping) and "contains" in wanted:
            for title, spoiled in _spoiled_texts(str(wanted["contains"])):
                yield _altered(check, run, record, field, title, _always(spoiled))


def _altered(
    check: Check,
    run: Run,
    record: tuple[str, str],
    field: str,
    title: str,
    other: Callable[[Any], Any],
) -> _Mutant:
    submission = run.submission()
    changes = tuple(
        replace(change, after={**change.after, field: other(change.after.get(field))})
        if (change.service, change.record) == record and change.after is not None
        else change
        for change in submission.changes
    )
    return _Mutant(check.check_id, f"{field} {title}", replace(submission, changes=changes))


def _always(value: str) -> Callable[[Any], Any]:
    return lambda _: value


def _spoiled_texts(wanted: str) -> Iterator[tuple[str, str]]:
    """Texts around a figure, a day or a name that do not state it, by what is wrong with them."""
    day = read_date(wanted)
    if day is not None:
        others = [day + dt.timedelta(days) for days in range(-9, 10)]
        yield "a day late", f"It is {day + dt.timedelta(1)}."
        yield "a year early", f"It is {day.replace(day=1, year=day.year - 1)}."
        yield "before it", f"Not before {wanted}; it is {day + dt.timedelta(30)}."
        yield "every day", " ".join(map(str, others))
        yield "one of two", f"{wanted} or {day + dt.timedelta(3)}"
    elif wanted.replace(".", "", 1).isdecimal():
        other = f"{Decimal(wanted) + 1}"
        yield "a unit off", f"It is {other}."
        yield "a digit before it", f"It is 9{wanted}."
        yield "a digit behind it", f"It is {wanted}{'' if '.' in wanted else '.'}7."
        yield "negative", f"It is -{wanted}."
        yield "one of two", f"{other} or {wanted}"
    else:
        yield "in a longer word", f"re{wanted}"
        return
    yield "denied", f"It is certainly not {wanted}."
    yield "taken back", f"It is {wanted}. Correction: it is unknown, that was wrong."


def _other(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return value is not True
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, list):
        return [*value, OTHER_TEXT]
    return OTHER_TEXT


def _changed_besides(check: Check, draft: Draft, run: Run) -> Iterator[_Mutant]:
    """Something else is changed, made or deleted after all that was right."""
    for title, request in _strays(draft, run):
        yield _again(check, title, draft, (*run.requests, request), run)


def _strays(draft: Draft, run: Run) -> Iterator[tuple[str, Request]]:
    """Requests that nobody wants and services carry out: one of each kind in each service."""
    for service, collections in run.world.state.items():
        for name, operation in operations(service).items():
            if operation.kind not in ("update", "delete"):
                continue
            for identifier, fields in collections.get(operation.collection, {}).items():
                request = _stray(service, name, operation.kind, identifier, fields)
                if request is not None and _changes_state(run, request):
                    yield f"{service}.{name} besides", request
                    break


def _stray(
    service: str, name: str, kind: str, identifier: str, fields: Mapping[str, Any]
) -> Request | None:
    if kind == "delete":
        return Request(service, name, {"id": identifier})
    rules = operations(service)[name].arguments
    for field, rule in rules.items():
        is_free = rule.type == "text" and not (rule.reference or rule.values or rule.unique)
        if field != "id" and is_free and fields.get(field) != OTHER_TEXT:
            return Request(service, name, {"id": identifier, field: OTHER_TEXT})
    return None


def _changes_state(run: Run, request: Request) -> bool:
    after = replay(run.world, (request,), None)
    return after.audit[-1].status == OK and after.world.state != run.world.state


_MAKERS = {
    "records_returned": _withheld,
    "record_equals": _record_set,
    "record_created": _record_made,
    "record_deleted": _record_gone,
    "unchanged": _changed_besides,
}


# Answers


def _of_answer(answer: Answer, run: Run) -> Iterator[_Mutant]:
    """The part with other values, and without any."""
    submission = run.submission()
    lead = f"{answer.part}: "
    for title, value in _wrong_values(answer):
        lines = [
            lead + value if line.startswith(lead) else line
            for line in (run.answer or "").splitlines()
        ]
        text = "\n".join(lines)
        yield _Mutant(f"answer.{answer.part}", title, replace(submission, answer=text))


def _wrong_values(answer: Answer) -> Iterator[tuple[str, str]]:
    yield "missing", ""
    if answer.type == "number":
        value = Decimal(answer.value)
        yield "a unit off", str(value + 1)
        yield "ten times", str(value * 10 if value else Decimal(7))
    elif answer.type == "date":
        day = dt.date.fromisoformat(answer.value)
        yield "a day off", str(day + dt.timedelta(1))
        yield "a week off", str(day - dt.timedelta(7))
    elif answer.type == "list":
        items = json.loads(answer.value)
        yield "an item more", json.dumps([*items, "Nobody"], ensure_ascii=False)
        if items:
            yield "an item less", json.dumps(items[1:], ensure_ascii=False)
    else:
        yield "another text", "Nobody"


@dataclass(frozen=True, slots=True)
class Tried:
    """What a draft's grader was put to; the counts of passes should all be 0.

    `faults` counts what is wrong with its world, and a solution that ended in an error. `oracle` is
    the score of the reference; `differing` counts what a second run had otherwise. `survivors` are
    mutants that lost nothing, and checks and answers without a mutant, of `mutants` in all.
    `believed`, `idle` and `moved` count what `variants` found, where all else held; `named` is the
    first of it.
    `untried` is 1 where its programs need a sandbox and there is none; `unreached` counts papers
    that decide and that searching does not find.
    """

    faults: int
    oracle: float
    differing: int = 0
    null: int = 0
    talk_only: int = 0
    empty_calls: int = 0
    report_only: int = 0
    unread: int = 0
    destructive: int = 0
    unneeded: int = 0
    siblings: int = 0
    survivors: int = 0
    mutants: int = 0
    believed: int = 0
    idle: int = 0
    moved: int = 0
    named: str = ""
    untried: int = 0
    unreached: int = 0

    @property
    def holds(self) -> bool:
        """Did everything fail that was tried, but for the reference?"""
        passed = (self.null, self.talk_only, self.empty_calls, self.report_only, self.unread)
        wrong = (self.destructive, self.unneeded, self.siblings, self.survivors)
        return not any((self.differing, *passed, *wrong))


UNTRIED = Tried(faults=0, oracle=0.0, untried=1)


def tried(
    draft: Draft, scenario: Scenario, siblings: Sequence[Draft], threshold: float
) -> tuple[Tried, Run]:
    """What a draft was put to, and its reference run; stops where the reference fails.

    Variants cost most, so that they are tried only on what holds.
    """
    spec = spec_of_draft(draft)
    faults = len(draft.faults) + len(world_faults(draft.world))
    run = perform(draft, scenario)
    oracle = graded(spec, run.submission(), threshold)
    seen = Tried(faults + (run.failure is not None), oracle.overall or 0.0)
    if seen.faults or seen.oracle < 1:
        return seen, run
    seen = _attacked(draft, scenario, siblings, threshold, run)
    if not seen.holds:
        return seen, run
    proof = proof_of(draft, scenario, run)
    return replace(
        seen,
        believed=len(proof.believed),
        idle=len(proof.idle),
        moved=len(proof.moved),
        named=_named(draft, proof),
    ), run


def _attacked(
    draft: Draft, scenario: Scenario, siblings: Sequence[Draft], threshold: float, run: Run
) -> Tried:
    """What the attempts come to that should all fail; `run` is that of the reference."""
    spec = spec_of_draft(draft)
    again = perform(draft, scenario)
    scores = [graded(spec, one.submission(), threshold) for one in (run, again)]
    nulls = _of_family(NULL, spec, draft)
    empty = [*_of_family(EMPTY_CALLS, spec, draft), _empty_calls(spec, draft.world)]
    recipes = [*_sibling_recipes(draft, scenario, siblings), *_misled(draft, scenario)]
    partial_runs = [_without_source(draft, scenario, name) for name in scenario.services]
    survivors, mutants = _survivors(draft, run, spec, threshold)
    differing = (scores[0] != scores[1]) + (again.digest != run.digest)
    return Tried(
        faults=0,
        oracle=scores[0].overall or 0.0,
        differing=differing,
        null=_passes(spec, nulls, threshold),
        talk_only=_passes(spec, _of_family(TALK, spec, draft), threshold),
        empty_calls=_passes(spec, empty, threshold),
        report_only=_reported(draft, run, spec, threshold),
        unread=_passes(spec, [_only(draft, run, reads=False)], threshold),
        destructive=_passes(spec, (made for _, made in destructive(draft, run)), threshold),
        unneeded=_passes(spec, partial_runs, threshold),
        siblings=_passes(spec, recipes, threshold),
        survivors=survivors,
        mutants=mutants,
    )


def _only(draft: Draft, run: Run, *, reads: bool) -> Submission:
    """The reference's answer after its reads alone, or after its writes alone."""
    kept = [r for r in run.requests if operations(r.service)[r.operation].is_read == reads]
    return replay(draft.world, kept, run.answer).submission()


def _reported(draft: Draft, run: Run, spec: TaskSpec, threshold: float) -> int:
    """1 if a right report without the wanted acts is worth more than undone work."""
    if not any(check.kind in CHANGES for check in draft.checks):
        return 0
    score = graded(spec, _only(draft, run, reads=True), threshold)
    return int(score.passed is not False or (score.overall or 0.0) > MOST_UNDONE)


def _named(draft: Draft, proof: Proof) -> str:
    """The first part that is not proven, with its value, or the record that is to blame."""
    gold = {f"answer.{answer.part}": f" {answer.value}" for answer in draft.answers}
    faulty = (*proof.believed, *proof.idle, *proof.moved)
    return f"{faulty[0]}{gold.get(faulty[0], '')}"[:_LONGEST_NAME] if faulty else ""


def _passes(spec: TaskSpec, submissions: Iterable[Submission], threshold: float) -> int:
    return sum(graded(spec, one, threshold).passed is not False for one in submissions)


def _of_family(family: str, spec: TaskSpec, draft: Draft) -> list[Submission]:
    tools = [f"{s}.{name}" for s in draft.world.state for name in operations(s)]
    made = attacks(spec, tools, {}, Path())  # these tasks ask for no files, so none are written
    return [attack.submission for attack in made if attack.family == family]


def _empty_calls(spec: TaskSpec, world: World) -> Submission:
    """The reference path as talk, and every operation of every service called without arguments."""
    requests = [Request(s, name, {}) for s in world.state for name in operations(s)]
    return replay(world, requests, reference_text(spec)).submission()


def _without_source(draft: Draft, scenario: Scenario, service: str) -> Submission:
    """The reference where one service holds nothing."""
    return perform(draft, scenario, lambda client: forgetting(client, service)).submission()


def destructive(draft: Draft, run: Run) -> Iterator[tuple[Request, Submission]]:
    """All that is right, and a write besides: to a stranger, or the same to a decoy.

    Each with (the first of) the needless writes.
    """
    for _, request in _strays(draft, run):
        yield request, replay(draft.world, (*run.requests, request), run.answer).submission()
    for right, wrong in draft.decoys.items():
        name, twin = right.rpartition("/")[2], wrong.rpartition("/")[2]
        copies = [
            replace(request, arguments={**request.arguments, **changed})
            for request in run.requests
            if not operations(request.service)[request.operation].is_read
            and (changed := {k: twin for k, v in request.arguments.items() if v == name})
        ]
        if copies:
            submission = replay(draft.world, (*run.requests, *copies), run.answer).submission()
            yield copies[0], submission


def _sibling_recipes(
    draft: Draft, scenario: Scenario, siblings: Sequence[Draft]
) -> Iterator[Submission]:
    """What follows if the overriding records said what those of a sibling say."""
    for sibling in siblings:
        if len(sibling.overriding) != len(draft.overriding):
            continue
        state = {
            s: {c: dict(r) for c, r in rooms.items()} for s, rooms in draft.world.state.items()
        }
        for mine, other in zip(draft.overriding, sibling.overriding, strict=True):
            service, plural, identifier = mine.split("/", 2)
            their_service, their_plural, theirs = other.split("/", 2)
            fields = sibling.world.state[their_service][their_plural][theirs]
            state[service][plural][identifier] = {**fields, "id": identifier}
        if state == draft.world.state:  # it has drawn the same facts
            continue
        misled = replace(draft, world=replace(draft.world, state=state))
        run = perform(misled, scenario)
        yield replay(draft.world, run.requests, run.answer).submission()


def _misled(draft: Draft, scenario: Scenario) -> Iterator[Submission]:
    """What follows without the rule, and what the traps of a scenario lead to."""
    yield _rule_ignored(draft, scenario)
    for trap in scenario.traps:
        yield perform(draft, replace(scenario, solve=trap)).submission()


def _rule_ignored(draft: Draft, scenario: Scenario) -> Submission:
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
