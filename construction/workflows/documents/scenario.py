"""A document as a scenario: one builder and one solver for all of them.

The builder knows the whole world; the solver acts through a client as an agent does: it finds the
records in whose prose facts are planted, lists what else it needs, reads that into tables, and runs
the SQL of the document over them. Both have to come to the same right end state, so that whatever
the gold says follows from answers of services.

A draft whose traps lead to what is right, or whose facts decide nothing, is drawn again; if that
does not help, its faults go with it (`Draft.faults`), and the screening refuses it.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from construction.workflows.contracts import (
    Client,
    Draft,
    Fault,
    FaultKind,
    Fields,
    Request,
    Scenario,
    World,
)
from construction.workflows.declaration import operations
from construction.workflows.documents.contracts import (
    SLOT,
    Act,
    Asked,
    Document,
    DocumentFault,
    Read,
    Record,
    Trap,
    collection_of,
    read_document,
)
from construction.workflows.documents.gold import (
    Arguments,
    Decided,
    Disagreement,
    decided,
    faults_of,
    known,
)
from construction.workflows.documents.tables import SqlFault, Tables, fields_of
from construction.workflows.documents.worlds import (
    drawn,
    others_of,
    planted_in,
    put_facts,
    put_pools,
    words_of,
    written,
)
from construction.workflows.engine import changes_of, handle
from construction.workflows.runs import InProcessClient
from construction.workflows.scenarios.story import (
    ACTION,
    FAULTY,
    RETRIEVAL,
    WRITTEN,
    attempt,
    by_service,
    every,
    free_effects,
    get,
    guidelines_of,
    holds_a_value,
    read_check,
    report,
    rows,
    weighed,
)
from construction.workflows.values import FieldType, parsed_now
from construction.workflows.world_file import world_faults
from data.contracts.attempt import StateChange
from data.contracts.candidate import Answer, Check

FOLDER = Path(__file__).parent
TRIES = 12  # draws of one draft
_MOST_NAMED = 4  # faults of a world
UNFORESEEN = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError)


# The builder


def build(document: Document, number: int, seed: int) -> Draft:
    """The draft of that number; with `faults` where a document makes none that is right."""
    for again in range(TRIES):
        is_last = again == TRIES - 1
        try:
            draft = _drafted(document, number, f"{number}.{again}", seed, all_faults=is_last)
        except (Disagreement, SqlFault) as fault:  # another draw does not heal it
            return _unbuilt(document, number, str(fault))
        except DocumentFault as fault:
            draft = _unbuilt(document, number, str(fault))
        except UNFORESEEN as error:
            return _unbuilt(document, number, f"the builder stopped: {named(error)}")
        if not draft.faults:
            break
    return draft


def named(error: Exception) -> str:
    """The kind of an error, what it says, and where it came up."""
    frames = traceback.extract_tb(error.__traceback__)
    at = f" in {frames[-1].name}" if frames else ""
    return f"{type(error).__name__}: {str(error)[:200]}{at}"


def _unbuilt(document: Document, number: int, fault: str) -> Draft:
    """A draft without a world, which says why."""
    return Draft(
        scenario=document.name,
        rule=f"draft {number}",
        number=number,
        prompt=document.requests[0],
        language=document.language,
        guidelines="",
        world=World({}, document.now, document.actor),
        params={},
        answers=(),
        checks=(),
        faults=tuple(fault.splitlines()),
    )


def _drafted(document: Document, number: int, key: str, seed: int, *, all_faults: bool) -> Draft:
    made = drawn(document, key, seed)
    for act in document.wanted.acts:  # of services that are only written to
        service, _, operation = act.operation.partition(".")
        plural = operations(service)[operation].collection
        made.state.setdefault(service, {}).setdefault(plural, {})
    world = World(made.state, document.now, document.actor, _disturbed(document, number))
    tables = known(document, made.state, made.facts)
    try:
        right = decided(document, tables)
        unfit = world_faults(replace(world, faults=()))[:_MOST_NAMED]
        proofs = chain(unfit, faults_of(document, made, tables, right))
        faults = list(proofs if all_faults else islice(proofs, 1))
    finally:
        tables.close()
    if None in right.answers.values():
        raise DocumentFault("\n".join(faults))
    changes = _changed(replace(world, faults=()), right)
    return Draft(
        scenario=document.name,
        rule=f"draft {number}",
        number=number,
        prompt=request_of(document, number, made.facts),
        language=document.language,
        guidelines=guidelines_of(
            document.now,
            document.actor,
            [f"{entry.part}: <{entry.form}>" for entry in document.wanted.answers],
            document.language,
        ),
        world=world,
        params={name: made.facts[name] for name in sorted(document.request_facts)},
        answers=_answers(document, right),
        checks=_checks(made.required, changes, right, made.state),
        overriding=tuple(made.required),
        faults=tuple(faults),
    )


def _disturbed(document: Document, number: int) -> tuple[Fault, ...]:
    if document.faulty is None or number % FAULTY:
        return ()
    service, _, operation = document.faulty.partition(".")
    return (Fault(service, operation, FaultKind.UNAVAILABLE, (1,)),)


def _answers(document: Document, right: Decided) -> tuple[Answer, ...]:
    return tuple(_answer(entry, right.answers[entry.part]) for entry in document.wanted.answers)


def _answer(entry: Asked, value: Any) -> Answer:
    if entry.type == "number":
        written = f"{value:.{entry.decimals or 0}f}"
    elif entry.type == "list":
        written = json.dumps([str(item) for item in value], ensure_ascii=False)
    else:
        written = str(value)
    return Answer(
        part=entry.part,
        type=entry.type,
        value=written,
        unit=entry.unit,
        decimals=(entry.decimals or 0) if entry.type == "number" else None,
        ordered=entry.type != "list",
    )


# What is right, as checks


def _changed(world: World, right: Decided) -> list[tuple[Act, StateChange]]:
    """The changes that the acts lead to, each with the last act behind it. Raises DocumentFault."""
    behind: dict[tuple[str, str], Act] = {}
    for act, arguments in right.acts:
        for service, operation, given in _requests(act, arguments):
            handled = handle(world, Request(service, operation, given(world, behind)))
            if handled.response.refused is not None:
                message = handled.response.body["message"]
                raise DocumentFault(f"{service}.{operation} is refused: {message}")
            for change in changes_of(handled.world):
                before = world.state.get(change.service, {})
                plural, _, name = change.record.partition("/")
                if before.get(plural, {}).get(name) != change.after:
                    behind[(change.service, change.record)] = act
            world = handled.world
    return [(behind[(c.service, c.record)], c) for c in changes_of(world)]


def _requests(act: Act, arguments: Arguments) -> Iterator[tuple[str, str, Any]]:
    service, _, operation = act.operation.partition(".")
    yield service, operation, lambda world, behind: _worded(service, operation, arguments)
    for title in act.then:
        name, _, following = title.partition(".")
        yield name, following, lambda world, behind: {"id": _newest(behind)}


def _newest(behind: Mapping[tuple[str, str], Act]) -> str:
    return list(behind)[-1][1].partition("/")[2]


def _worded(service: str, operation: str, arguments: Arguments) -> Arguments:
    """Arguments as they are given: texts that have to state several things state them in a line."""
    rules = operations(service)[operation].arguments
    return {
        name: "; ".join(map(str, value)) if _states(rules.get(name), value) else value
        for name, value in arguments.items()
    }


def _states(rule: Any, value: Any) -> bool:
    return isinstance(value, list) and rule is not None and rule.type is FieldType.TEXT


def _checks(
    required: Sequence[str],
    changes: Sequence[tuple[Act, StateChange]],
    right: Decided,
    services: Iterable[str],
) -> tuple[Check, ...]:
    wanted, allowed = [], []
    stating = _stating(right)
    for number, (act, change) in enumerate(changes, 1):
        check, may = _wanted(f"write.{number}", act, change, stating)
        wanted.append(check)
        allowed.append(may)
    only = Check(
        check_id="only",
        kind="unchanged",
        params={"except": allowed, "free": free_effects(wanted, services)},
        text="Nothing else is changed.",
        required=True,
    )
    written = [
        check.model_copy(update={"evidence": "accuracy"})
        for check in wanted
        if holds_a_value(check.params.get("where", {}))
    ]
    ids = {check.check_id for check in written}
    reads = [
        read_check(f"rule.{service}", service, records, required=True)
        for service, records in by_service(required).items()
    ]
    acted = [*(check for check in wanted if check.check_id not in ids), only]
    return (*weighed(reads, RETRIEVAL), *weighed(acted, ACTION), *weighed(written, WRITTEN))


def _stating(right: Decided) -> dict[str, list[Any]]:
    """What texts have to state, by the text that the reference writes."""
    stated: dict[str, list[Any]] = {}
    for act, arguments in right.acts:
        service, _, operation = act.operation.partition(".")
        worded = _worded(service, operation, arguments)
        for name, value in arguments.items():
            if isinstance(value, list) and isinstance(worded[name], str):
                stated[worded[name]] = value
    return stated


def _wanted(
    name: str, act: Act, change: StateChange, stating: Mapping[str, list[Any]]
) -> tuple[Check, dict[str, Any]]:
    """The check of a change, and what of it `unchanged` allows."""
    service, before, after = change.service, change.before, change.after
    if after is None:
        params: dict[str, Any] = {"service": service, "record": change.record}
        return _check(name, "record_deleted", params, act), {"service": service, "where": before}
    rules = fields_of(f"{service}.{change.record.partition('/')[0]}")
    stamps = {f for f, rule in rules.items() if rule.read_only and rule.type in _CLOCKED}
    open_fields = {*act.loose, *stamps}
    plain = {f: _meant(v, stating) for f, v in after.items() if f not in open_fields}
    if before is None:
        where = {f: v for f, v in plain.items() if f != "id"}
        params = {"service": service, "where": where, "min": 1, "max": 1}
        return _check(name, "record_created", params, act), {"service": service, "where": where}
    where = {f: v for f, v in plain.items() if before.get(f) != after[f]}
    params = {"service": service, "record": change.record, "where": where}
    return _check(name, "record_equals", params, act), {**params, "where": plain}


_CLOCKED = (FieldType.DATE, FieldType.DATETIME)


def _meant(value: Any, stating: Mapping[str, list[Any]]) -> Any:
    if isinstance(value, str) and value in stating:
        return {"contains_all": [str(each) for each in stating[value]]}
    if isinstance(value, list) and value:
        return {"same_items": value}
    return value


def _check(name: str, kind: str, params: dict[str, Any], act: Act) -> Check:
    return Check(check_id=name, kind=kind, params=params, text=act.text, required=True)


# The solver


def solve(
    document: Document, client: Client, params: Mapping[str, Any], trap: Trap | None = None
) -> str:
    """Read, decide, act, report. Raises LookupError where a service lacks what is needed."""
    tables = Tables(parsed_now(document.now).utcoffset() or dt.timedelta())
    try:
        put_pools(document, tables)
        facts = {**params, **_learnt(document, client, with_inert=trap is not None)}
        put_facts(document, tables, facts)
        read: dict[str, dict[str, Mapping[str, Any]]] = {}
        for each in document.reads:
            _read(each, client, tables, facts | {"today": document.now[:10]}, read)
        right = decided(document, tables, trap)
    except SqlFault as fault:
        raise LookupError(str(fault)) from None
    finally:
        tables.close()
    for act, arguments in right.acts:
        service, _, operation = act.operation.partition(".")
        done = attempt(client, service, operation, **_worded(service, operation, arguments))
        for title in act.then:
            name, _, following = title.partition(".")
            attempt(client, name, following, id=done["id"])
    return report(**{entry.part: _said(entry, right) for entry in document.wanted.answers})


def _said(entry: Asked, right: Decided) -> Any:
    value = right.answers[entry.part]
    if value is None:
        raise LookupError(
            f"answers.{entry.part}: found no value by what the reference read; expected one. "
            "Does `reads` list all that `views` and `wanted` look at?"
        )
    return f"{value:.{entry.decimals or 0}f}" if entry.type == "number" else value


def _learnt(document: Document, client: Client, *, with_inert: bool) -> dict[str, Any]:
    """The facts, from the records in whose prose they stand."""
    facts: dict[str, Any] = {}
    for record in document.records:
        slots = {s for v in record.fields.values() if isinstance(v, str) for s in SLOT.findall(v)}
        holds = [slot for slot in slots if with_inert or not document.facts[slot].inert]
        if holds or record.must:
            read = _planted_facts(document, client, record)
            facts |= {slot: read[slot] for slot in holds}
    return facts


def known_to_readers(document: Document, draft: Draft) -> dict[str, Any]:
    """The facts of a draft, those that no longer hold too, as its world tells them."""
    client = InProcessClient(replace(draft.world, faults=()))
    return {**draft.params, **_learnt(document, client, with_inert=True)}


def _planted_facts(document: Document, client: Client, record: Record) -> Mapping[str, Any]:
    """What the record says that fits a template. Raises LookupError."""
    service, _, plural = record.into.partition(".")
    title = record.fields.get("title", record.fields.get("subject", ""))
    words = record.found_by or " ".join(re.findall(r"\w+", SLOT.sub(" ", str(title))))
    listed = rows(client, service, plural, query=words)
    for row in listed:
        planted = planted_in(record, document, get(client, service, plural, row["id"]))
        if planted is not None:
            return planted
    searched, lacks = ", ".join(collection_of(record.into).query), _missing(record, words)
    raise LookupError(
        f"records: number {document.records.index(record) + 1}: the search of {record.into} for "
        f"{words[:60]!r} lists {len(listed)} records, and none is this one{lacks}; "
        f"expected words for `found_by` that all stand in it, in its fields {searched}"
    )


def _missing(record: Record, words: str) -> str:
    """Which of the words its template lacks."""
    text = " ".join(str(value) for value in record.fields.values()).casefold()
    missing = [word for word in words.split() if word.casefold() not in text]
    return f", which lacks {', '.join(missing)}" if missing else ""


def _read(
    read: Read,
    client: Client,
    tables: Tables,
    facts: Mapping[str, Any],
    known: dict[str, dict[str, Mapping[str, Any]]],
) -> None:
    """Put what a read returns beside what was read of the collection before."""
    service, _, plural = read.collection.partition(".")
    where = {name: _looked_up(value, facts) for name, value in read.where.items()}
    room = known.setdefault(read.collection, {})
    is_short = bool(collection_of(read.collection).summary)
    if read.only is None and read.whole:
        room |= {str(each["id"]): each for each in every(client, service, plural, **where)}
    else:
        listed = rows(client, service, plural, **where)
        room |= {str(row["id"]): {**row, **room.get(str(row["id"]), {})} for row in listed}
    tables.put_records(read.collection, room.values(), fields_of(read.collection))
    if read.only is not None and is_short:
        for row in tables.select(read.only):
            identifier = str(next(iter(row.values())))
            room[identifier] = get(client, service, plural, identifier)
        tables.put_records(read.collection, room.values(), fields_of(read.collection))


def _looked_up(value: Any, facts: Mapping[str, Any]) -> Any:
    slot = SLOT.fullmatch(value) if isinstance(value, str) else None
    return value if slot is None else facts[slot[1]]


def request_of(document: Document, number: int, facts: Mapping[str, Any]) -> str:
    """The request of a draft, with its facts in words."""
    request = document.requests[(number - 1) % len(document.requests)]
    return SLOT.sub(lambda slot: words_of(document.facts[slot[1]], facts[slot[1]]), request)


# The registry


def scenario_of(document: Document) -> Scenario:
    """Its services are those that have to be read."""
    read = {read.collection.partition(".")[0] for read in document.reads}
    read |= {r.partition("/")[0] for r in _required_services(document)}
    return Scenario(
        name=document.name,
        meaning=document.meaning,
        task_family=document.task_family,
        services=tuple(sorted(read)),
        build=partial(build, document),
        solve=partial(solve, document),
        traps=tuple(partial(_trapped, document, trap) for trap in document.traps),
        retold=partial(_retold, document),
        split=document.split,
    )


def _retold(document: Document, draft: Draft) -> Iterator[tuple[str, Fields]]:
    """The records with facts of `pick`, in the words of every other entry."""
    for name in draft.overriding:
        service, plural, identifier = name.split("/", 2)
        fields = draft.world.state[service][plural][identifier]
        for record in document.records:
            if record.into != f"{service}.{plural}":
                continue
            facts = planted_in(record, document, fields) or {}
            for slot, value in facts.items():
                for other in others_of(document.facts[slot], value):
                    retold = written(record, document, facts | {slot: other})
                    yield name, {**fields, **retold}


def _trapped(document: Document, trap: Trap, client: Client, params: Mapping[str, Any]) -> str:
    return solve(document, client, params, trap)


def _required_services(document: Document) -> Iterator[str]:
    holding = [r for name, r in document.planted.items() if not document.facts[name].inert]
    for record in (*holding, *(r for r in document.records if r.must)):
        yield record.into.replace(".", "/")


@cache
def documents() -> tuple[Document, ...]:
    """All documents of the folder, in the order of their names. Raises DocumentFault."""
    return tuple(_document(path) for path in _paths())


def readable_documents() -> Iterator[Document]:
    """Those of the folder that can be read: one that is broken does not hide the others."""
    for path in _paths():
        with suppress(DocumentFault):
            yield _document(path)


def _paths() -> list[Path]:
    return sorted(FOLDER.glob("*.toml"))


@cache
def _document(path: Path) -> Document:
    try:
        document = read_document(path)
    except DocumentFault as fault:
        raise DocumentFault(f"{path.name}: {fault}") from None
    if document.name != path.stem:
        raise DocumentFault(f"{path.name}: it is called {document.name}; expected {path.stem}")
    return document
