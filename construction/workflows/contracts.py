"""What a workflow task is made of: a world of services, requests to them, scenarios and drafts.

A world is a value: services answer a request with a new world and never change the one they were
given. An agent, a reference solution, a scripted agent and an attack all act through `Client`, so
that whatever one of them can do, the others can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from data.contracts.attempt import AuditRow
from data.contracts.candidate import Answer, Check

Fields = Mapping[str, Any]  # of a record: JSON values by name; `id` is always among them
Collections = Mapping[str, Mapping[str, Fields]]  # collection -> record id -> fields
State = Mapping[str, Collections]  # service -> its collections


class Refused(StrEnum):
    """Why a service did not carry out a request; the value is the status of its audit row."""

    UNKNOWN_SERVICE = "unknown_service"
    UNKNOWN_OPERATION = "unknown_operation"
    INVALID_ARGUMENT = "invalid_argument"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"  # the id, or a value that has to be unique, is taken
    NOT_ALLOWED = "not_allowed"  # read-only fields, forbidden changes of status, locked records
    RATE_LIMITED = "rate_limited"  # declared fault, or no request is left, HTTP 429
    UNAVAILABLE = "unavailable"  # declared fault, HTTP 500


class FaultKind(StrEnum):
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    SLOW = "slow"
    STALE = "stale"  # reads answer from the world as it was at the start


@dataclass(frozen=True, slots=True)
class Fault:
    """A declared fault: the calls of an operation that it hits, counted from 1."""

    service: str
    operation: str
    kind: FaultKind
    calls: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class World:
    """All that services know: records, the time that they tell, for whom the agent acts.

    `now` is an ISO 8601 instant with offset and stands still. `calls` counts the requests so far
    by `service.operation`, refused ones too; ids of new records are made from these counts.
    `allowance` is the number of requests that are answered in all, None if there is no limit.
    """

    state: State
    now: str
    actor: str
    faults: tuple[Fault, ...] = ()
    calls: Mapping[str, int] = field(default_factory=dict)
    initial: State | None = None  # what stale reads answer from; None: `state`
    allowance: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    service: str
    operation: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Response:
    """`refused` is None where the request was carried out; `body` is then its JSON result."""

    body: Mapping[str, Any]
    refused: Refused | None = None
    delay_ms: int = 0  # of a slow service; shells wait, the engine does not


@dataclass(frozen=True, slots=True)
class Handled:
    """The world after a request, the answer, and what the audit log keeps of it."""

    world: World
    response: Response
    audit: tuple[AuditRow, ...]


class RefusedError(Exception):
    """A client's request was not carried out."""

    def __init__(self, refused: Refused, message: str) -> None:
        super().__init__(message)
        self.refused = refused


class Client(Protocol):
    """The one way to act on services. Raises RefusedError."""

    def call(self, service: str, operation: str, **arguments: Any) -> Mapping[str, Any]:
        """The body of the response."""
        ...


Solve = Callable[[Client, Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class Draft:
    """One task of a scenario, before screening.

    `rule` names what decides the right action: siblings of a scenario differ in it. `params` are
    what the prompt tells the agent beyond the world, and all that the solution may know besides
    what services return. `overriding` are the records ("service/collection/id") that hold the
    overriding rule or the fact that only one service has; `decoys` maps a right record to the one
    that is easily taken for it. `faults` are what its builder found wrong with it, a line each.
    """

    scenario: str
    rule: str
    number: int  # among the drafts of the scenario, from 1
    prompt: str
    language: str
    guidelines: str
    world: World
    params: Mapping[str, Any]
    answers: tuple[Answer, ...]
    checks: tuple[Check, ...]
    overriding: tuple[str, ...] = ()
    decoys: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


def _nothing_retold(_draft: Draft) -> Iterable[tuple[str, Fields]]:
    return ()


@dataclass(frozen=True, slots=True)
class Scenario:
    """A generator of tasks.

    `build(number, seed)` makes the draft of that number; the same arguments make the same draft.
    `solve(client, params)` is the reference solution: it uses the tools of an agent and returns the
    text of its final answer. `traps` are plausible solutions that get one thing wrong; `retold` are
    records with a rule ("service/collection/id") as they would be if it said something else.
    `split` is where its tasks belong: in a release proper, or among the easy ones that show
    whether an agent works. `is_scripted`: the solution is a list of requests, which no rule can
    steer.
    """

    name: str
    meaning: str
    task_family: str  # one of the task families of `construction/signals/families.toml`
    services: tuple[str, ...]
    build: Callable[[int, int], Draft]
    solve: Solve
    traps: tuple[Solve, ...] = ()
    retold: Callable[[Draft], Iterable[tuple[str, Fields]]] = _nothing_retold
    split: Literal["full", "smoke"] = "full"
    is_scripted: bool = False
