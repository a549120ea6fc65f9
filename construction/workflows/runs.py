"""A solution carried out on a draft: how it calls services (again where a fault passes, page by
page, whole records), what was answered, requested and changed, and its grade; and whether the
services of a task, asked again what an attempt asked, end as the attempt says.

And who is run beside it, a panel of eight scripted agents: the reference solution, and seven that
get one thing wrong. Each is the reference solution behind a client that spoils one thing, so that
it works on every scenario. Which drafts it fails is declared from the drafts before it is run: an
agent that leaves out an overriding rule fails where there is one. The order of the panel follows
from that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
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
from construction.workflows.declaration import has_services, operations, service
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


NAMES = ("name", "title", "subject", "number")  # what an entity is known by
_Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Agent:
    """`spoil` puts its client before the services'; `fails`: does it fail this draft?"""

    name: str
    meaning: str
    spoil: Callable[[Client, Draft, Scenario], Client]
    fails: Callable[[Draft], bool]


class _Relay:
    """Passes every call on; agents override what they get wrong."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def call(self, service: str, operation: str, **arguments: Any) -> _Body:
        return self.client.call(service, operation, **arguments)


class _Blind(_Relay):
    """Never sees the records for which `hidden(service, "collection/id")` holds."""

    def __init__(self, client: Client, hidden: Callable[[str, str], bool]) -> None:
        super().__init__(client)
        self.hidden = hidden

    def call(self, service: str, operation: str, **arguments: Any) -> _Body:
        body = self.client.call(service, operation, **arguments)
        declared = operations(service)[operation]
        if not declared.is_read:
            return body
        if "rows" not in body:
            if self.hidden(service, f"{declared.collection}/{body['id']}"):
                raise RefusedError(Refused.NOT_FOUND, "there is no such record")
            return body
        shown = [
            row
            for row in body["rows"]
            if not self.hidden(service, f"{declared.collection}/{row['id']}")
        ]
        return {**body, "rows": shown}


class _Confusing(_Relay):
    """Takes decoys for the right records and the other way round.

    Where two records are known by a name, the names are exchanged; else the ids are.
    """

    def __init__(self, client: Client, decoys: Mapping[str, str], draft: Draft) -> None:
        super().__init__(client)
        self.other = {**decoys, **{wrong: right for right, wrong in decoys.items()}}
        self.state = draft.world.state

    def call(self, service: str, operation: str, **arguments: Any) -> _Body:
        declared = operations(service)[operation]
        path = f"{service}/{declared.collection}"
        body = self.client.call(service, operation, **arguments)
        if not declared.is_read:
            return body
        if "rows" in body:
            return {**body, "rows": [self._taken(path, row) for row in body["rows"]]}
        return self._taken(path, body)

    def _taken(self, path: str, record: _Body) -> _Body:
        other = self.other.get(f"{path}/{record['id']}")
        if other is None:
            return record
        service, collection, identifier = other.split("/", 2)
        twin = self.state[service][collection][identifier]
        named = [
            name for name in NAMES if name in record and name in twin and record[name] != twin[name]
        ]
        if named:
            return {**record, **{name: twin[name] for name in named}}
        return {**record, "id": identifier}


class _Idle(_Relay):
    """Says that it writes, and does not."""

    def call(self, service: str, operation: str, **arguments: Any) -> _Body:
        if operations(service)[operation].is_read:
            return self.client.call(service, operation, **arguments)
        return {"id": "none", **arguments}


class _Twice(_Relay):
    """Writes everything twice."""

    def call(self, service: str, operation: str, **arguments: Any) -> _Body:
        body = self.client.call(service, operation, **arguments)
        if not operations(service)[operation].is_read:
            with suppress(RefusedError):
                self.client.call(service, operation, **arguments)
        return body


class _Careless(_Relay):
    """Slips in the numbers that it writes; those of its answer are changed by `_slipped`."""

    def call(self, service: str, operation: str, **arguments: Any) -> _Body:
        if operations(service)[operation].is_read:
            return self.client.call(service, operation, **arguments)
        return self.client.call(
            service, operation, **{name: _off(value) for name, value in arguments.items()}
        )


class _Impatient(_Relay):
    """Stops at the first refusal."""

    def call(self, service: str, operation: str, **arguments: Any) -> _Body:
        try:
            return self.client.call(service, operation, **arguments)
        except RefusedError as error:
            raise RefusedError(Refused.NOT_ALLOWED, "gave up") from error


def _off(value: Any) -> Any:
    """A number that is off by one; anything else as it is."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value + 1 if is_number else value


def _slipped(draft: Draft, answer: str | None) -> str | None:
    """The answer with every number that it was asked for off by one."""
    for part in draft.answers:
        if part.type == "number" and answer is not None:
            pattern = re.compile(rf"^({re.escape(part.part)}: )(-?[0-9.]+)$", re.M)
            answer = pattern.sub(lambda match: f"{match[1]}{Decimal(match[2]) + 1}", answer)
    return answer


def _writes_numbers(draft: Draft) -> bool:
    return any(
        isinstance(value, int | float) and not isinstance(value, bool)
        for check in draft.checks
        if check.kind in ("record_equals", "record_created")
        for value in check.params.get("where", {}).values()
    )


def _kinds(draft: Draft) -> set[str]:
    return {check.kind for check in draft.checks}


def _makes_records(draft: Draft) -> bool:
    """Is a record made that would be there twice? The history of a value that is set is not."""
    return any(
        check.kind == "record_created"
        and not any(
            special.is_repeatable and set(check.params["where"]) <= set(special.log_sets)
            for special in service(check.params["service"]).specials.values()
        )
        for check in draft.checks
    )


def _in_one_source(client: Client, draft: Draft, scenario: Scenario) -> Client:
    return forgetting(client, scenario.services[draft.number % len(scenario.services)])


def forgetting(client: Client, service: str) -> Client:
    """A client for which one service holds nothing."""
    return _Blind(client, lambda name, _: name == service)


def without_rule(client: Client, draft: Draft, _scenario: Scenario) -> Client:
    hidden = set(draft.overriding)
    return _Blind(client, lambda name, record: f"{name}/{record}" in hidden)


PANEL = (
    Agent("perfect", "the reference solution", lambda c, d, s: c, lambda d: False),
    Agent(
        "gives_up_on_errors",
        "stops at the first refusal",
        lambda c, d, s: _Impatient(c),
        lambda d: bool(d.world.faults),
    ),
    Agent(
        "wrong_entity",
        "takes decoys for the right records",
        lambda c, d, s: _Confusing(c, d.decoys, d),
        lambda d: bool(d.decoys),
    ),
    Agent(
        "double_writes",
        "writes everything twice",
        lambda c, d, s: _Twice(c),
        _makes_records,
    ),
    Agent(
        "arithmetic_slip",
        "is off by one in answers and writes",
        lambda c, d, s: _Careless(c),
        lambda d: any(a.type == "number" for a in d.answers) or _writes_numbers(d),
    ),
    Agent(
        "no_writes",
        "says that it writes, and does not",
        lambda c, d, s: _Idle(c),
        lambda d: bool(_kinds(d) & {"record_equals", "record_created", "record_deleted"}),
    ),
    Agent(
        "ignores_overriding_rule",
        "does not see the records that override the obvious",
        without_rule,
        lambda d: bool(d.overriding),
    ),
    Agent(
        "forgets_one_source",
        "does not look into one of the services",
        _in_one_source,
        lambda d: True,
    ),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """What one agent scored on one draft, and whether that was declared."""

    agent: str
    score: Score
    failure: str | None
    is_expected: bool


def _run_agent(agent: Agent, draft: Draft, scenario: Scenario) -> Run:
    run = perform(draft, scenario, lambda client: agent.spoil(client, draft, scenario))
    if agent.name != "arithmetic_slip":
        return run
    return Run(_slipped(draft, run.answer), run.requests, run.audit, run.world, run.failure)


def run_panel(draft: Draft, scenario: Scenario, threshold: float) -> tuple[Cell, ...]:
    """One cell per agent, in the order of the panel."""
    spec = spec_of_draft(draft)
    cells = []
    for agent in PANEL:
        run = _run_agent(agent, draft, scenario)
        score = graded(spec, run.submission(), threshold)
        cells.append(
            Cell(agent.name, score, run.failure, (score.passed is not True) == agent.fails(draft))
        )
    return tuple(cells)
