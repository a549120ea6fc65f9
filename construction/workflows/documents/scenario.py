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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import chain, islice, product
from pathlib import Path
from typing import Any

from construction.workflows.contracts import (
    Client,
    Draft,
    Fault,
    FaultKind,
    Fields,
    Scenario,
    World,
)
from construction.workflows.declaration import operations
from construction.workflows.documents.ballast import with_ballast
from construction.workflows.documents.checks import carry_out, checks_of
from construction.workflows.documents.contracts import (
    SLOT,
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
    Decided,
    Disagreement,
    decided,
    differences,
    faults_of,
    known,
    put_all,
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
from construction.workflows.runs import CALLS, FAILURES, TURNS, InProcessClient, get, rows
from construction.workflows.values import FieldType, parsed_now
from construction.workflows.world_file import world_faults
from data.contracts.candidate import Answer, Check
from data.text.scripts import NAME_RUN

FOLDER = Path(__file__).parent
TRIES = 12  # draws of one draft
FAULTY = 3  # every third draft of a scenario has a fault
_BOUNDED = (FieldType.DATE, FieldType.INTEGER, FieldType.NUMBER)
_MOST_NAMED = 4  # faults of a world
UNFORESEEN = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError)


# The builder


def build(document: Document, number: int, seed: int, *, fully: bool = True) -> Draft:
    """The draft of that number; with `faults` where a document makes none that is right.

    Its two derivations are compared in its world and, if `fully`, also with other values of its
    facts and in its variants.
    """
    for again in range(TRIES):
        is_last = again == TRIES - 1
        try:
            draft = _drafted(
                document, number, f"{number}.{again}", seed, all_faults=is_last, fully=fully
            )
            draft = draft if draft.faults else replace(draft, faults=_too_long(document, draft))
        except (Disagreement, SqlFault) as fault:  # another draw does not heal it
            return _unbuilt(document, number, str(fault))
        except DocumentFault as fault:
            draft = _unbuilt(document, number, str(fault))
        except UNFORESEEN as error:
            return _unbuilt(document, number, f"the builder stopped: {named(error)}")
        if not draft.faults:
            break
    return draft


def _built(document: Document, number: int, seed: int) -> Draft:
    """The draft of that number; the two derivations of the first are compared fully.

    All drafts have the same rules, but names and amounts may coincide in any of them.
    """
    return build(document, number, seed, fully=number == 1)


def _too_long(document: Document, draft: Draft) -> tuple[str, ...]:
    """What is wrong if the reference makes more calls than an agent may; else nothing.

    Why one ended before its time, the screening says.
    """
    client = InProcessClient(draft.world)
    with suppress(*FAILURES):
        solve(document, client, draft.params)
    calls = len(client.audit)
    if calls <= TURNS * CALLS:
        return ()
    return (f"reads: the reference makes {calls} calls; expected at most {TURNS * CALLS}",)


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


def _drafted(
    document: Document, number: int, key: str, seed: int, *, all_faults: bool, fully: bool
) -> Draft:
    made = drawn(document, key, seed)
    for act in document.wanted.acts:  # of services that are only written to
        service, _, operation = act.operation.partition(".")
        plural = operations(service)[operation].collection
        made.state.setdefault(service, {}).setdefault(plural, {})
    world = World(made.state, document.now, document.actor, _disturbed(document, number))
    tables = known(document, made.state, made.facts)
    try:
        right = decided(document, tables)
        if document.ballast:
            made.state = with_ballast(document, made, key, seed)
            world = replace(world, state=made.state)
            put_all(document, tables, made.state)
            _require_unmoved(document, tables, right)
        unfit = world_faults(replace(world, faults=()))[:_MOST_NAMED]
        proofs = chain(unfit, faults_of(document, made, tables, right, fully=fully))
        faults = list(proofs if all_faults else islice(proofs, 1))
    finally:
        tables.close()
    if None in right.answers.values():
        raise DocumentFault("\n".join(faults))
    checks, refused = _checks_or_faults(replace(world, faults=()), right, made.required)
    return Draft(
        scenario=document.name,
        rule=f"draft {number}",
        number=number,
        prompt=_request_of(document, number, made.facts),
        language=document.language,
        guidelines=_guidelines_of(document),
        world=world,
        params={name: made.facts[name] for name in sorted(document.request_facts)},
        answers=tuple(_answer(each, right.answers[each.part]) for each in document.wanted.answers),
        checks=checks,
        overriding=tuple(made.required),
        faults=(*faults, *refused),
    )


def _require_unmoved(document: Document, tables: Tables, right: Decided) -> None:
    """Raises DocumentFault where further records, now in the tables, change what is right."""
    lines = list(differences(document, right, decided(document, tables)))
    if lines:
        raise DocumentFault(
            "\n".join(f"ballast: changes the correct result: {line}" for line in lines)
        )


def _checks_or_faults(
    world: World, right: Decided, required: Sequence[str]
) -> tuple[tuple[Check, ...], Sequence[str]]:
    """The checks of a draft, or what services refuse of it: its world can be read all the same."""
    try:
        return checks_of(world, right, required), ()
    except DocumentFault as fault:
        return (), str(fault).splitlines()


def _disturbed(document: Document, number: int) -> tuple[Fault, ...]:
    if document.faulty is None or number % FAULTY:
        return ()
    service, _, operation = document.faulty.partition(".")
    return (Fault(service, operation, FaultKind.UNAVAILABLE, (1,)),)


_LEADS = {
    "en": "It is {day}, {clock}. You act for {actor}. Change nothing beyond what is asked.\n"
    "Please end your reply with exactly these lines:",
    "zh": "现在是 {day} {clock}，您代 {actor} 处理。除所要求的以外，请不要改动任何内容。\n"
    "请在回复的最后只写以下几行：",
}


def _guidelines_of(document: Document) -> str:
    """Clock and mailbox of the person for whom the agent acts, and the form of the report."""
    lead = _LEADS[document.language].format(
        day=document.now[:10], clock=document.now[11:16], actor=document.actor
    )
    return "\n".join((lead, *(f"{each.part}: <{each.form}>" for each in document.wanted.answers)))


def _answer(entry: Asked, value: Any) -> Answer:
    return Answer(
        part=entry.part,
        type=entry.type,
        value=_written(entry, value),
        unit=entry.unit,
        decimals=(entry.decimals or 0) if entry.type == "number" else None,
        ordered=entry.type != "list",
    )


def _written(entry: Asked, value: Any) -> str:
    if entry.type == "number":
        return f"{value:.{entry.decimals or 0}f}"
    if entry.type == "list":
        return json.dumps([str(item) for item in value], ensure_ascii=False)
    return str(value)


# The solver


def solve(
    document: Document, client: Client, params: Mapping[str, Any], trap: Trap | None = None
) -> str:
    """Read, decide, act, report. Raises LookupError where a service lacks what is needed."""
    tables = Tables(parsed_now(document.now).utcoffset() or dt.timedelta())
    try:
        put_pools(document, tables)
        reading = _Remembering(client)
        facts = {**params, **_learnt(document, reading, with_inert=trap is not None)}
        put_facts(document, tables, facts)
        collections = dict.fromkeys(read.collection for read in document.reads)
        for collection in collections:
            tables.put_records(collection, (), fields_of(collection))
        reader = _Reader(document, reading, tables, facts | {"today": document.now[:10]})
        for each in document.reads if trap is None else map(_whole, collections):
            reader.read(each)
        right = decided(document, tables, trap)
    except SqlFault as fault:
        raise LookupError(str(fault)) from None
    finally:
        tables.close()
    for act, arguments in right.acts:
        carry_out(client, act, arguments)
    return "\n".join(f"{each.part}: {_said(each, right)}" for each in document.wanted.answers)


def _said(entry: Asked, right: Decided) -> str:
    value = right.answers[entry.part]
    if value is None:
        raise LookupError(
            f"answers.{entry.part}: found no value by what the reference read; expected one. "
            "Does `reads` list all that `views` and `wanted` look at?"
        )
    return _written(entry, value)


def _learnt(document: Document, client: Client, *, with_inert: bool) -> dict[str, Any]:
    """The facts, from the records in whose prose they stand."""
    facts: dict[str, Any] = {}
    for record in document.records:
        slots = {s for v in record.fields.values() if isinstance(v, str) for s in SLOT.findall(v)}
        holds = [slot for slot in slots if with_inert or not document.facts[slot].inert]
        if holds:
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
    words = record.found_by or " ".join(NAME_RUN.findall(SLOT.sub(" ", str(title))))
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


def _whole(collection: str) -> Read:
    """What somebody reads who does not know what matters."""
    return Read(collection=collection)


class _Remembering:
    """A client that asks nothing twice."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._answers: dict[tuple[str, str, str], Mapping[str, Any]] = {}

    def call(self, service: str, operation: str, **arguments: Any) -> Mapping[str, Any]:
        request = (service, operation, json.dumps(arguments, sort_keys=True))
        if request not in self._answers:
            self._answers[request] = self._client.call(service, operation, **arguments)
        return self._answers[request]


class _Reader:
    """Puts into tables what the reads of a document return."""

    def __init__(
        self, document: Document, client: Client, tables: Tables, facts: Mapping[str, Any]
    ) -> None:
        self._views, self._client = document.views, client
        self._tables, self._facts = tables, facts
        self._known: dict[str, dict[str, Mapping[str, Any]]] = {}

    def read(self, read: Read) -> None:
        service, _, plural = read.collection.partition(".")
        where = {name: _looked_up(value, self._facts) for name, value in read.where.items()}
        room, listed = self._known.setdefault(read.collection, {}), []
        for chosen in self._searches(read):
            search = {**where, **chosen}
            for row in rows(self._client, service, plural, **search):
                listed.append(str(row["id"]))
                seen = {**room.get(listed[-1], {}), **row}
                room[listed[-1]] = {**seen, **_known_by(search, read.collection, seen)}
        self._put(read.collection)
        if (not read.whole and read.only is None) or not collection_of(read.collection).summary:
            return
        for identifier in listed if read.only is None else self._selected(read.only):
            room[str(identifier)] = get(self._client, service, plural, str(identifier))
        self._put(read.collection)

    def _put(self, collection: str) -> None:
        records = self._known[collection].values()
        self._tables.put_records(collection, records, fields_of(collection))

    def _searches(self, read: Read) -> Iterator[dict[str, Any]]:
        """The conditions of the searches that `split` makes of one."""
        listed = [
            [(name, value) for value in (self._selected(v) if isinstance(v, str) else v)]
            for name, v in read.split.items()
        ]
        return map(dict, product(*listed))

    def _selected(self, sql: str) -> list[Any]:
        """The first column of SQL, which may use the views over what is known by now."""
        names = list(self._views)
        used = [at for at, name in enumerate(names, 1) if re.search(rf"\b{name}\b", sql)]
        for name in names[: max(used, default=0)]:
            self._tables.keep(name, self._views[name])
        return [next(iter(row.values())) for row in self._tables.select(sql)]


def _known_by(
    search: Mapping[str, Any], collection: str, seen: Mapping[str, Any]
) -> dict[str, Any]:
    """What a search tells of a row by its conditions alone; of lists an item, of bounds the bound.

    Where a value lies within bounds, the narrowest stands for it: nobody may need it more exactly.
    """
    values, rules = dict[str, Any](), fields_of(collection)
    for name, value in search.items():
        field, _, suffix = name.rpartition("_")
        if name in rules:
            is_list = rules[name].type in (FieldType.TEXTS, FieldType.EMAILS)
            values[name] = [*dict.fromkeys((*seen.get(name, ()), value))] if is_list else value
        elif field in rules and rules[field].type in _BOUNDED:
            narrower = max if suffix in ("from", "min") else min
            values[field] = narrower(values.get(field, seen.get(field, value)), value)
    return values


def _looked_up(value: Any, facts: Mapping[str, Any]) -> Any:
    slot = SLOT.fullmatch(value) if isinstance(value, str) else None
    return value if slot is None else facts[slot[1]]


def _request_of(document: Document, number: int, facts: Mapping[str, Any]) -> str:
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
        build=partial(_built, document),
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
    for record in holding:
        yield record.into.replace(".", "/")


@cache
def documents() -> tuple[Document, ...]:
    """All documents of the folder, in the order of their names. Raises DocumentFault."""
    return tuple(_document(path) for path in _paths())


@cache
def scenarios() -> Mapping[str, Scenario]:
    """All scenarios by name. Raises DocumentFault."""
    return {document.name: scenario_of(document) for document in documents()}


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
        raise DocumentFault(f"{path.name}: its name is {document.name}; expected {path.stem}")
    return document
