"""A solution carried out on a draft: how it calls services (again where a fault passes, page by
page, whole records), what was answered, requested and changed, and its grade; and whether the
services of a task, asked again what an attempt asked, end as the attempt says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

from construction.grading.spec import REPORT, TaskSpec, spec_of
from construction.workflows.contracts import (
    Client,
    Draft,
    Refused,
    RefusedError,
    Request,
    Scenario,
    World,
)
from construction.workflows.declaration import has_services, operations
from construction.workflows.declaration import service as declared
from construction.workflows.engine import changes_of, handle, is_read, read_again, state_digest
from construction.workflows.world_file import read_world
from data.attempts import AttemptRecord
from data.canonical import canonical_json
from data.contracts.attempt import AuditRow, Score, StateChange, Submission
from data.contracts.candidate import Step
from data.neutralise import storable_tree
from data.releases.tasks import ReleasedTasks


class InProcessClient:
    """Acts on services as an agent does; `world` and `audit` are always the latest.

    Slow services are not waited for.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.audit: tuple[AuditRow, ...] = ()

    def call(self, service: str, operation: str, **arguments: Any) -> Mapping[str, Any]:
        """The body of the response. Raises RefusedError."""
        handled = handle(self.world, Request(service, operation, arguments))
        self.world = handled.world
        self.audit += handled.audit
        if handled.response.refused is not None:
            raise RefusedError(handled.response.refused, handled.response.body["message"])
        return handled.response.body

    @property
    def changes(self) -> tuple[StateChange, ...]:
        """What differs from the state at the start."""
        return changes_of(self.world)


def reference_steps(audit: Sequence[AuditRow], answer: str | None) -> tuple[Step, ...]:
    """The requests of a reference solution as steps, refused ones too, and its answer as the last.

    The step of the answer has the operation `report` and the argument `answer`.
    """
    steps = [
        Step(
            index=index,
            text=f"{row.service}: {row.operation.replace('_', ' ')}",
            operation=f"{row.service}.{row.operation}",
            arguments=dict(row.arguments),
        )
        for index, row in enumerate(audit, start=1)
    ]
    if answer is not None:
        text = "Report what was asked for."
        last = Step(index=len(steps) + 1, text=text, operation=REPORT, arguments={"answer": answer})
        steps.append(last)
    return tuple(steps)


def answers_alike(run: Run, world: World, other: World) -> bool:
    """Do services answer the requests of a run on another world as they did on its own?

    A solution knows nothing but these answers, so that it then does on both the same. A read looks
    at one collection, so those of collections that are the same on both worlds are only counted.
    """
    apart = _apart(world, other)
    for request in run.requests:
        is_plain = is_read(request)
        if is_plain and _collection_read(request) not in apart:
            world, other = read_again(world, request), read_again(other, request)
            continue
        first, second = handle(world, request), handle(other, request)
        if first.response != second.response:
            return False
        world, other = first.world, second.world
        if not is_plain:
            apart = _apart(world, other)
    return True


def _collection_read(request: Request) -> tuple[str, str]:
    return request.service, operations(request.service)[request.operation].collection


def _apart(world: World, other: World) -> set[tuple[str, str]]:
    """The collections in which two worlds differ, now or (for stale reads) at the start."""
    return {
        (name, plural)
        for first, second in ((world.state, other.state), (world.initial, other.initial))
        for name in {*(first or {}), *(second or {})}
        for plural in {*(first or {}).get(name, {}), *(second or {}).get(name, {})}
        if (first or {}).get(name, {}).get(plural) != (second or {}).get(name, {}).get(plural)
    }


_Wrap = Callable[[Client], Client]
FAILURES = (RefusedError, LookupError, ValueError, TypeError, StopIteration, ArithmeticError)


@dataclass(frozen=True, slots=True)
class Run:
    """What a solution did. `failure` names the exception that ended it, if one did."""

    answer: str | None
    requests: tuple[Request, ...]
    audit: tuple[AuditRow, ...]
    world: World
    failure: str | None = None

    @property
    def digest(self) -> str:
        """Of all records after the run."""
        return state_digest(self.world.state)

    def submission(self) -> Submission:
        statements = () if self.answer is None else ((len(self.audit) + 1, self.answer),)
        return Submission(
            answer=self.answer,
            statements=statements,
            audit=self.audit,
            changes=changes_of(self.world),
            steps=len(self.audit) + 1,
        )


TURNS, CALLS, SECONDS = 24, 8, 300  # of an agent; CALLS in each turn; references need no more
_ROOM, _STEP = Fraction(4, 3), 5


def allowance_for(requests: int) -> int:
    """How many requests services answer where the reference makes so many.

    A reference knows what to open; it takes at most three quarters of what an agent has.
    """
    return math.ceil(requests * _ROOM / _STEP) * _STEP


def perform(draft: Draft, scenario: Scenario, wrap: _Wrap | None = None) -> Run:
    """Run the reference solution, behind `wrap` if given; a solution that fails answers nothing."""
    client = InProcessClient(draft.world)
    answer, failure = None, None
    try:
        answer = scenario.solve(client if wrap is None else wrap(client), draft.params)
    except FAILURES as error:
        failure = type(error).__name__
    requests = tuple(Request(row.service, row.operation, row.arguments) for row in client.audit)
    return Run(answer, requests, client.audit, client.world, failure)


def replay(world: World, requests: Iterable[Request], answer: str | None) -> Run:
    """The same requests on a world as it is; what is refused stays refused."""
    audit: tuple[AuditRow, ...] = ()
    done = []
    for request in requests:
        handled = handle(world, request)
        world, audit = handled.world, audit + handled.audit
        done.append(request)
    return Run(answer, tuple(done), audit, world)


def spec_of_draft(draft: Draft) -> TaskSpec:
    """What graders know of a draft."""
    fields: dict[str, Any] = {
        "task_id": f"{draft.scenario}-{draft.number}",
        "prompt": draft.prompt,
        "guidelines": draft.guidelines,
        "answers": [answer.model_dump(mode="json") for answer in draft.answers],
        "checks": [check.model_dump(mode="json") for check in draft.checks],
    }
    return spec_of(fields)


def graded(spec: TaskSpec, submission: Submission, threshold: float) -> Score:
    from construction.grading.grade import grade

    return grade(spec, submission, threshold=threshold)


LIMIT = 50  # rows of a page
TRIES = 4
_PASSING = (Refused.RATE_LIMITED, Refused.UNAVAILABLE)


def attempt(client: Client, service: str, operation: str, **arguments: Any) -> Mapping[str, Any]:
    """The body of the response; faults that pass are waited out. Raises RefusedError."""
    for _ in range(TRIES - 1):
        try:
            return client.call(service, operation, **arguments)
        except RefusedError as error:
            if error.refused not in _PASSING:
                raise
    return client.call(service, operation, **arguments)


def rows(client: Client, service: str, plural: str, **conditions: Any) -> list[dict[str, Any]]:
    """All rows of a search, page by page, as the search shows them."""
    listed: list[dict[str, Any]] = []
    page, seen, total = 1, 0, 1
    while seen < total:
        body = attempt(client, service, f"search_{plural}", **conditions, limit=LIMIT, page=page)
        listed += map(dict, body["rows"])
        page, seen, total = page + 1, seen + LIMIT, body["total"]
    return listed


def get(client: Client, service: str, plural: str, identifier: str) -> Mapping[str, Any]:
    """One whole record. Raises RefusedError."""
    record = declared(service).collections[plural].record
    return attempt(client, service, f"get_{record}", id=identifier)


def is_replayed(record: AttemptRecord, release: ReleasedTasks) -> bool:
    """Do its requests lead to its log and its changes? An attempt without services has neither.

    Raises InputError without the private half, where the worlds are.
    """
    task, submission = release.tasks.get(record.attempt.task_id), record.submission
    if task is None or not has_services(task.candidate):
        return not (submission.audit or submission.changes)
    requests = [Request(row.service, row.operation, row.arguments) for row in submission.audit]
    world = read_world(release.world(task.candidate.task_id))
    return _ended(submission) == _ended(replay(world, requests, None).submission())


def _ended(submission: Submission) -> bytes:
    """Log and changes as an attempt's file has them; the step of a request is the agent's."""
    audit = [asdict(replace(row, step=0)) for row in submission.audit]
    changes = [asdict(change) for change in submission.changes]
    return canonical_json(storable_tree({"audit": audit, "changes": changes}))
