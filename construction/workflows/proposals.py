"""Tasks that somebody proposes, such as a model: a world, checks and a solution, all as data.

A proposal is hostile input. It is validated, never run as code, and goes through the same screening
as the drafts of a scenario. Its solution is a list of requests; `$3.rows.0.id` in an argument
stands for a value in the answer to the third of them, and `{3.total}` in the final answer does.

A solution is data, so it cannot calculate by itself: a request to `compute` calculates with such
values, each step by its name. Without these steps it would have to write its figures down, and
nobody could tell a computed one from an invented one. So what services neither return nor make
computable, the solution does not have: a gold value that only stands written in the solution is
believed by nobody, and the proposal is refused (`_written_down`). A second solution, by other
requests, has to come to the same end (`_disagreements`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal, DivisionByZero, InvalidOperation
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field, ValidationError

from construction.grading.actions import CHANGES
from construction.signals.codebook import default_crosswalk
from construction.workflows.contracts import Client, Draft, Fault, Scenario, World
from construction.workflows.declaration import operations, service_names
from construction.workflows.declaration import service as declared
from construction.workflows.documents.checks import free_effects
from construction.workflows.runs import (
    FAILURES,
    InProcessClient,
    attempt,
    graded,
    perform,
    spec_of_draft,
)
from data.canonical import digest, is_deeper
from data.contracts.candidate import Answer, Check, Contract
from data.errors import InputError

SERVICE = "compute"
_MOST_DECIMALS = 12
_LARGEST = Decimal(10) ** 30


def compute(operation: str, arguments: Mapping[str, Any]) -> Mapping[str, str]:
    """`{"result": …}` of one step. `of`: numbers, or for `count` the rows that are counted.

    Raises ValueError for what is no number, or has no result.
    """
    try:
        values = arguments.get("of")
        if not isinstance(values, list):
            raise ValueError(f"{operation}: `of` is not a list")
        if operation == "count":
            result = Decimal(len(values))
        elif operation == "round":
            result = _rounded(values, arguments.get("decimals"))
        else:
            result = _OPERATIONS[operation]([_number(value) for value in values])
    except (InvalidOperation, DivisionByZero, KeyError) as error:
        raise ValueError(f"{operation}: no result") from error
    if not result.is_finite() or abs(result) > _LARGEST:
        raise ValueError(f"{operation}: no result")
    return {"result": f"{result:f}"}


def _number(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("a value that is not a number")
    return Decimal(str(value).replace(",", ""))


def _pair(numbers: Sequence[Decimal]) -> tuple[Decimal, Decimal]:
    first, second = numbers  # raises ValueError for more or fewer
    return first, second


def _product(numbers: Sequence[Decimal]) -> Decimal:
    result = Decimal(1)
    for number in numbers:
        result *= number
    return result


def _difference(numbers: Sequence[Decimal]) -> Decimal:
    first, second = _pair(numbers)
    return first - second


def _quotient(numbers: Sequence[Decimal]) -> Decimal:
    first, second = _pair(numbers)
    return first / second


def _rounded(values: Sequence[object], decimals: object) -> Decimal:
    (value,) = values  # raises ValueError for more or fewer
    if not isinstance(decimals, int) or not 0 <= decimals <= _MOST_DECIMALS:
        raise ValueError(f"round: `decimals` is not a number from 0 to {_MOST_DECIMALS}")
    return _number(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


_OPERATIONS: Mapping[str, Callable[[Sequence[Decimal]], Decimal]] = {
    "sum": lambda numbers: sum(numbers, Decimal(0)),
    "product": _product,
    "difference": _difference,
    "quotient": _quotient,
    "least": min,
    "greatest": max,
}
OPERATIONS = frozenset({*_OPERATIONS, "count", "round"})


LARGEST_BYTES = 16 << 20
_MAX_DEPTH = 32
_NAME_CHARS = 16  # of the digest in the name of a proposal
_REFERENCE = re.compile(r"\$(\d{1,3})((?:\.[A-Za-z0-9_-]{1,80}){1,8})")
_SLOT = re.compile(r"\{(\d{1,3})((?:\.[A-Za-z0-9_-]{1,80}){1,8})\}")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?!\w)")
_NOWHERE = ", but occurs in neither the task nor a response"
_WORD = re.compile(r"[^\s,;:!?\"'()\[\]{}，。；：]*[^\s.,;:!?\"'()\[\]{}，。；：]")
_MOST_NAMED = 6  # faults of a proposal
_PAGING = frozenset({"limit", "offset", "page", "decimals"})
_GIVEN = frozenset({Decimal(100)})  # per cent
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
    second_solution: Annotated[tuple[ProposedRequest, ...], Field(max_length=200)] = ()
    second_answer: Annotated[str, Field(max_length=20_000)] = ""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A line of a file of proposals; without a draft, `why` says what is wrong with it.

    `unproven`: it is well formed, and a literal of its gold, which `why` names, is proven by none.
    """

    name: str
    draft: Draft | None = None
    scenario: Scenario | None = None
    why: str = ""
    unproven: bool = False


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
    unproven = list(_written_down(proposal)) or _disagreements(proposal)
    if why := "; ".join(islice(unproven, _MOST_NAMED)):
        return Proposed(name, why=why, unproven=True)
    return Proposed(name, _draft(proposal, name), _scenario(proposal, name))


def _unfit(proposal: Proposal) -> Iterator[str]:
    """What the schema cannot say."""
    if proposal.task_family not in default_crosswalk().task_families:
        yield f"{proposal.task_family[:40]}: no such task family"
    for name in {*proposal.services, *proposal.state}:
        if name not in service_names():
            yield f"{name[:40]}: no such service"
    for number, request in enumerate((*proposal.solution, *proposal.second_solution), 1):
        service, _, operation = request.operation.partition(".")
        known = OPERATIONS if service == SERVICE else _operations(service)
        if operation not in known:
            yield f"request {number}: no such operation"
    for check in proposal.checks:
        yield from _unfit_check(check)
    for record in (*proposal.overriding, *proposal.decoys, *proposal.decoys.values()):
        if _record(proposal.state, record) is None:
            yield "a record that the world does not contain"


def _operations(service: str) -> Collection[str]:
    return operations(service) if service in service_names() else ()


def _unfit_check(check: Check) -> Iterator[str]:
    needed = _PARAMS.get(check.kind)
    if needed is None:
        yield f"check of a kind that is not one of {', '.join(_PARAMS)}"
        return
    for name, kind in needed.items():
        if not isinstance(check.params.get(name), kind):
            yield f"{check.kind}: no {name}, or none that fits"
    if any(not isinstance(name, str) for name in check.params.get("records", ())):
        yield f"{check.kind}: records that are not names"
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
        checks=tuple(_with_free_effects(check, proposal) for check in proposal.checks),
        overriding=proposal.overriding,
        decoys=proposal.decoys,
    )


def _with_free_effects(check: Check, proposal: Proposal) -> Check:
    if check.kind != "unchanged":
        return check
    free = free_effects(proposal.checks, proposal.state)
    return check.model_copy(update={"params": {"free": free, **check.params}})


def _scenario(proposal: Proposal, name: str) -> Scenario:
    return Scenario(
        name=name,
        meaning="A proposed task",
        task_family=proposal.task_family,
        services=proposal.services,
        build=lambda number, seed: _draft(proposal, name),
        solve=partial(_solve, proposal.solution, proposal.final_answer),
        is_scripted=True,
    )


def _solve(
    requests: Sequence[ProposedRequest], answer: str, client: Client, params: Mapping[str, Any]
) -> str:
    """Make the requests in turn. Raises LookupError where an answer lacks what is referred to."""
    bodies = _answered(requests, client)
    return _SLOT.sub(lambda slot: _text(_value(slot, bodies)), answer)


def _answered(requests: Sequence[ProposedRequest], client: Client) -> list[Mapping[str, Any]]:
    """What each request returned."""
    bodies: list[Mapping[str, Any]] = []
    for request in requests:
        service, _, operation = request.operation.partition(".")
        arguments = _filled(request.arguments, bodies)
        if service == SERVICE:
            bodies.append(compute(operation, arguments))
        else:
            bodies.append(attempt(client, service, operation, **arguments))
    return bodies


def _written_down(proposal: Proposal) -> Iterator[str]:
    """Values of the gold, and numbers that requests use, that stand in the solution alone."""
    try:
        bodies = _answered(proposal.solution, InProcessClient(_draft(proposal, "").world))
        slots = [_text(_value(slot, bodies)) for slot in _SLOT.finditer(proposal.final_answer)]
    except FAILURES:
        return  # the screening says that its solution does not run
    said = f"{proposal.prompt}\n{proposal.guidelines}"
    for answer in proposal.answers:
        for value in _values_of(answer):
            is_offered = answer.type in ("text", "list") and value.casefold() in said.casefold()
            if not is_offered and not any(_gives(slot, value, answer.scale) for slot in slots):
                yield (
                    f"answer {answer.part}: {value[:40]} is written down;"
                    " expected a slot that takes it from a response or from a step"
                )
    seen = _numbers_in(said)
    for number, (request, body) in enumerate(zip(proposal.solution, bodies, strict=True), 1):
        for literal in _literals(request.arguments):
            if literal not in seen and literal not in _GIVEN:
                yield (
                    f"request {number}: {literal:f} is written down,"
                    " but occurs in neither the task nor an earlier response"
                )
        seen |= _numbers_in(_text(body))
    known = f"{said}\n{_text(bodies)}"
    for figure in _figures(_SLOT.sub("", proposal.final_answer)):
        if not _is_known(figure, known, seen):
            yield f"final answer: {figure[:40]} is written down{_NOWHERE}"
    for check in proposal.checks:
        for word in _wanted_words(check):
            if not _is_known(word, known, seen):
                yield f"check {check.check_id[:40]}: {word[:40]} is written down{_NOWHERE}"


def _wanted_words(check: Check) -> Iterator[str]:
    """What a wanted change demands, word by word, but the values that its service declares."""
    if check.kind not in CHANGES:
        return
    service = declared(check.params["service"])
    rules = [rule for each in service.collections.values() for rule in each.fields.items()]
    for field, wanted in check.params.get("where", {}).items():
        offered = {value for name, rule in rules if name == field for value in rule.values}
        for value in _leaves(wanted):
            if value not in offered:
                yield from _WORD.findall(value)


def _leaves(value: Any) -> Iterator[str]:
    """The texts and numbers within a value, but not its keys, yes and no."""
    if isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def _figures(text: str) -> Iterator[str]:
    return (word for word in _WORD.findall(text) if any(map(str.isdigit, word)))


def _is_known(word: str, known: str, seen: Collection[Decimal]) -> bool:
    number = _decimal(word)
    if number is not None:
        return number in seen
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", known, re.I) is not None


def _disagreements(proposal: Proposal) -> Iterator[str]:
    """What a second solution reaches otherwise; it need not have read the same records.

    Only it finds a value of the wrong field or record, so that without one nothing is proven.
    """
    if not proposal.second_solution:
        yield "second solution: there is none; expected the same result by other requests"
        return
    if all(request in proposal.second_solution for request in proposal.solution):
        yield "second solution: the same requests as the first"
        return
    draft, first = _draft(proposal, ""), _scenario(proposal, "")
    if perform(draft, first).failure:
        return  # the screening says that it does not run
    solve = partial(_solve, proposal.second_solution, proposal.second_answer)
    run = perform(draft, replace(first, solve=solve))
    if run.failure:
        yield f"second solution: it ends in {run.failure}"
        return
    for part in graded(spec_of_draft(draft), run.submission(), 1.0).parts:
        if part.evidence != "retrieval" and part.value != 1:
            gold = next((a.value for a in draft.answers if part.name == f"answer.{a.part}"), "")
            yield f"second solution: {part.name} is not {gold[:40]}".rstrip()


def _values_of(answer: Answer) -> list[str]:
    """The values that a part wants, but yes and no, which are judgements."""
    if answer.type == "list":
        return [str(item) for item in orjson.loads(answer.value)]
    return [] if answer.type == "boolean" else [answer.value]


def _gives(slot: str, value: str, scale: int) -> bool:
    """Does a text that a service returned hold a value?"""
    if (number := _decimal(value)) is not None:
        return not _numbers_in(slot).isdisjoint({number, number * scale})
    return value.casefold() in slot.casefold()


def _literals(value: Any, key: str = "") -> Iterator[Decimal]:
    """The numbers of arguments; pages of a search are no figures."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _literals(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _literals(item, key)
    elif not isinstance(value, bool) and isinstance(value, int | float | str):
        number = _decimal(str(value))
        if number is not None and key not in _PAGING:
            yield number


def _numbers_in(text: str) -> set[Decimal]:
    return {number for match in _NUMBER.findall(text) if (number := _decimal(match)) is not None}


def _decimal(text: str) -> Decimal | None:
    return Decimal(text.replace(",", "")) if _NUMBER.fullmatch(text) else None


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
