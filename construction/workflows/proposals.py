"""Tasks that somebody proposes, such as a model: a world, checks and a solution, all as data.

A proposal is hostile input. It is validated, never run as code, and goes through the same screening
as the drafts of a scenario. Its solution is a list of requests; `$3.rows.0.id` in an argument
stands for a value in the answer to the third of them, and `{3.total}` in the final answer does.
So what a service does not return, the solution does not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field, ValidationError

from construction.signals.crosswalk import default_crosswalk
from construction.workflows.contracts import Client, Draft, Fault, Scenario, World
from construction.workflows.declaration import operations, service_names
from construction.workflows.scenarios.acting import attempt
from data.canonical import digest, is_deeper
from data.contracts.candidate import Answer, Check, Contract
from data.errors import InputError

LARGEST_BYTES = 16 << 20
_MAX_DEPTH = 32
_NAME_CHARS = 16  # of the digest in the name of a proposal
_REFERENCE = re.compile(r"\$(\d{1,3})((?:\.[A-Za-z0-9_-]{1,80}){1,8})")
_SLOT = re.compile(r"\{(\d{1,3})((?:\.[A-Za-z0-9_-]{1,80}){1,8})\}")
# What a check of a kind has to say. Kinds that only ask for a call are not taken.
_PARAMS: Mapping[str, Mapping[str, type]] = {
    "records_returned": {"service": str, "records": list},
    "record_equals": {"service": str, "record": str, "where": dict},
    "record_created": {"service": str, "where": dict},
    "record_deleted": {"service": str, "record": str},
    "unchanged": {"except": list},
}
Name = Annotated[str, Field(max_length=200)]


class ProposedRequest(Contract):
    """One request of the solution; `operation` is `service.operation`."""

    operation: Name
    arguments: dict[str, Any] = Field(default_factory=dict)


class Proposal(Contract):
    """A proposed task. `overriding` and `decoys` name records as `service/collection/id`."""

    task_family: Name
    rule: Name
    language: Literal["en", "zh"] = "en"
    prompt: Annotated[str, Field(min_length=20, max_length=4_000)]
    guidelines: Annotated[str, Field(max_length=4_000)]
    now: Name
    actor: Name
    state: dict[str, dict[str, dict[str, dict[str, Any]]]]
    faults: Annotated[tuple[Fault, ...], Field(max_length=20)] = ()
    services: Annotated[tuple[Name, ...], Field(min_length=2, max_length=18)]
    answers: Annotated[tuple[Answer, ...], Field(max_length=12)] = ()
    checks: Annotated[tuple[Check, ...], Field(min_length=1, max_length=60)]
    overriding: Annotated[tuple[Name, ...], Field(min_length=1, max_length=20)]
    decoys: dict[Name, Name] = Field(default_factory=dict)
    solution: Annotated[tuple[ProposedRequest, ...], Field(min_length=1, max_length=200)]
    final_answer: Annotated[str, Field(max_length=20_000)]


@dataclass(frozen=True, slots=True)
class Proposed:
    """A line of a file of proposals; without a draft, `why` says what is wrong with it."""

    name: str
    draft: Draft | None = None
    scenario: Scenario | None = None
    why: str = ""


def read_proposals(path: Path) -> list[Proposed]:
    """One proposal per line of JSON. Raises InputError for a file that is too large."""
    if path.stat().st_size > LARGEST_BYTES:
        raise InputError(path.name, "a larger file", f"{LARGEST_BYTES:,} bytes", "Split it.")
    return [_proposed(line) for line in path.read_bytes().splitlines() if line.strip()]


def _proposed(line: bytes) -> Proposed:
    name = f"proposal-{digest(line.decode('utf-8', 'backslashreplace'))[:_NAME_CHARS]}"
    try:
        content = orjson.loads(line)
        if is_deeper(content, _MAX_DEPTH):
            return Proposed(name, why=f"more than {_MAX_DEPTH} levels of objects and lists")
        proposal = Proposal.model_validate(content)
    except orjson.JSONDecodeError:
        return Proposed(name, why="no JSON")
    except ValidationError as error:
        fields = sorted({".".join(map(str, item["loc"][:2])) for item in error.errors()})
        return Proposed(name, why=", ".join(fields)[:200] or "no JSON object")
    if why := next(_unfit(proposal), ""):
        return Proposed(name, why=why)
    return Proposed(name, _draft(proposal, name), _scenario(proposal, name))


def _unfit(proposal: Proposal) -> Iterator[str]:
    """What the schema cannot say."""
    if proposal.task_family not in default_crosswalk().task_families:
        yield f"{proposal.task_family[:40]}: no such task family"
    for name in {*proposal.services, *proposal.state}:
        if name not in service_names():
            yield f"{name[:40]}: no such service"
    for number, request in enumerate(proposal.solution, 1):
        service, _, operation = request.operation.partition(".")
        if service not in service_names() or operation not in operations(service):
            yield f"request {number}: no such operation"
    for check in proposal.checks:
        yield from _unfit_check(check)
    for record in (*proposal.overriding, *proposal.decoys, *proposal.decoys.values()):
        if _record(proposal.state, record) is None:
            yield "a record is named that the world has not"


def _unfit_check(check: Check) -> Iterator[str]:
    needed = _PARAMS.get(check.kind)
    if needed is None:
        yield f"check of a kind that is not one of {', '.join(_PARAMS)}"
        return
    for name, kind in needed.items():
        if not isinstance(check.params.get(name), kind):
            yield f"{check.kind}: no {name}, or none that fits"
    if any(not isinstance(name, str) for name in check.params.get("records", ())):
        yield f"{check.kind}: records that are no names"
    if '"matches"' in orjson.dumps(check.params).decode():
        yield f"{check.kind}: a pattern; only values may be compared"


def _record(state: Mapping[str, Any], name: str) -> Any:
    service, _, path = name.partition("/")
    plural, _, identifier = path.partition("/")
    return state.get(service, {}).get(plural, {}).get(identifier)


def _draft(proposal: Proposal, name: str) -> Draft:
    return Draft(
        scenario=name,
        rule=proposal.rule,
        number=1,
        prompt=proposal.prompt,
        language=proposal.language,
        guidelines=proposal.guidelines,
        world=World(proposal.state, proposal.now, proposal.actor, proposal.faults),
        params={},
        answers=proposal.answers,
        checks=proposal.checks,
        overriding=proposal.overriding,
        decoys=proposal.decoys,
    )


def _scenario(proposal: Proposal, name: str) -> Scenario:
    return Scenario(
        name=name,
        meaning="A proposed task",
        task_family=proposal.task_family,
        services=proposal.services,
        build=lambda number, seed: _draft(proposal, name),
        solve=partial(_solve, proposal),
    )


def _solve(proposal: Proposal, client: Client, params: Mapping[str, Any]) -> str:
    """Make the requests in turn. Raises LookupError where an answer lacks what is referred to."""
    bodies: list[Mapping[str, Any]] = []
    for request in proposal.solution:
        service, _, operation = request.operation.partition(".")
        bodies.append(attempt(client, service, operation, **_filled(request.arguments, bodies)))
    return _SLOT.sub(lambda slot: _text(_value(slot, bodies)), proposal.final_answer)


def _filled(value: Any, bodies: Sequence[Mapping[str, Any]]) -> Any:
    """Arguments with the values that they refer to."""
    if isinstance(value, dict):
        return {key: _filled(item, bodies) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, bodies) for item in value]
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return value if match is None else _value(match, bodies)


def _value(match: re.Match[str], bodies: Sequence[Mapping[str, Any]]) -> Any:
    number = int(match[1])
    if not 1 <= number <= len(bodies):
        raise LookupError(f"request {number} was not made before")
    value: Any = bodies[number - 1]
    for key in match[2].removeprefix(".").split("."):
        if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, Mapping) and key in value:
            value = value[key]
        else:
            raise LookupError(f"request {number} returned no {key}")
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
