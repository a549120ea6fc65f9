"""Eight scripted agents: the reference solution, and seven that get one thing wrong.

Each is the reference solution behind a client that spoils one thing, so that it works on every
scenario. Which drafts it fails is declared from the drafts before it is run: an agent that leaves
out an overriding rule fails where there is one. The order of the panel follows from that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from construction.workflows.contracts import Client, Draft, Refused, RefusedError, Scenario
from construction.workflows.declaration import operations, service
from construction.workflows.runs import Run, graded, perform, spec_of_draft
from data.contracts.attempt import Score

NAMES = ("name", "title", "subject", "number")  # what an entity is known by
Body = Mapping[str, Any]


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

    def call(self, service: str, operation: str, **arguments: Any) -> Body:
        return self.client.call(service, operation, **arguments)


class _Blind(_Relay):
    """Never sees the records for which `hidden(service, "collection/id")` holds."""

    def __init__(self, client: Client, hidden: Callable[[str, str], bool]) -> None:
        super().__init__(client)
        self.hidden = hidden

    def call(self, service: str, operation: str, **arguments: Any) -> Body:
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

    def call(self, service: str, operation: str, **arguments: Any) -> Body:
        declared = operations(service)[operation]
        path = f"{service}/{declared.collection}"
        body = self.client.call(service, operation, **arguments)
        if not declared.is_read:
            return body
        if "rows" in body:
            return {**body, "rows": [self._taken(path, row) for row in body["rows"]]}
        return self._taken(path, body)

    def _taken(self, path: str, record: Body) -> Body:
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

    def call(self, service: str, operation: str, **arguments: Any) -> Body:
        if operations(service)[operation].is_read:
            return self.client.call(service, operation, **arguments)
        return {"id": "none", **arguments}


class _Twice(_Relay):
    """Writes everything twice."""

    def call(self, service: str, operation: str, **arguments: Any) -> Body:
        body = self.client.call(service, operation, **arguments)
        if not operations(service)[operation].is_read:
            with suppress(RefusedError):
                self.client.call(service, operation, **arguments)
        return body


class _Careless(_Relay):
    """Slips in the numbers that it writes; those of its answer are changed by `slipped`."""

    def call(self, service: str, operation: str, **arguments: Any) -> Body:
        if operations(service)[operation].is_read:
            return self.client.call(service, operation, **arguments)
        return self.client.call(
            service, operation, **{name: _off(value) for name, value in arguments.items()}
        )


class _Impatient(_Relay):
    """Stops at the first refusal."""

    def call(self, service: str, operation: str, **arguments: Any) -> Body:
        try:
            return self.client.call(service, operation, **arguments)
        except RefusedError as error:
            raise RefusedError(Refused.NOT_ALLOWED, "gave up") from error


def _off(value: Any) -> Any:
    """A number that is off by one; anything else as it is."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value + 1 if is_number else value


def slipped(draft: Draft, answer: str | None) -> str | None:
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


def run_agent(agent: Agent, draft: Draft, scenario: Scenario) -> Run:
    run = perform(draft, scenario, lambda client: agent.spoil(client, draft, scenario))
    if agent.name != "arithmetic_slip":
        return run
    return Run(slipped(draft, run.answer), run.requests, run.audit, run.world, run.failure)


def run_panel(draft: Draft, scenario: Scenario, threshold: float) -> tuple[Cell, ...]:
    """One cell per agent, in the order of the panel."""
    spec = spec_of_draft(draft)
    cells = []
    for agent in PANEL:
        run = run_agent(agent, draft, scenario)
        score = graded(spec, run.submission(), threshold)
        cells.append(
            Cell(agent.name, score, run.failure, (score.passed is not True) == agent.fails(draft))
        )
    return tuple(cells)
