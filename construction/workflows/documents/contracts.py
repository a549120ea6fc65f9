"""What a scenario document says, and how it is read: TOML in, checked records out.

A document may come from a model, so nothing in it is believed: unknown keys are refused, slots must
name facts, collections and operations must be declared by services. SQL is checked when it is run
(`tables.py`). `README.md` beside this file tells authors how to write one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from construction.signals.codebook import default_crosswalk
from construction.workflows.declaration import Collection, operations, service, service_names
from data.canonical import digest
from data.contracts.candidate import Contract

SLOT = re.compile(r"\{([a-z][a-z0-9_]*)\}")
LARGEST_BYTES, MOST_ROWS = 1 << 20, 2000
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
Column = Annotated[str, Field(pattern=r"^_?[a-z][a-z0-9_]{0,59}$")]
Collected = Annotated[str, Field(pattern=r"^[a-z]+\.[a-z_]+$")]  # "service.collection"
Sql = Annotated[str, Field(min_length=1, max_length=8000)]
Plain = str | int | float | bool


class Draw(Contract):
    """A value that is drawn, by exactly one of the ways; `missing` is the share without a value.

    `pick`: an entry of a list or of the pool named; `distinct`: none of them twice. `whole`: from,
    to, both included, in steps of `step`. `amount`: from, to, with two decimals. `day`: first,
    last. `time`: first and last day, in the clock of the world, within `hours`. `code`: the prefix
    of a number with `digits` digits that no other row has. `sql`: an expression over the row's
    earlier columns, or of a fact the values in question, the right one first.
    """

    pick: Name | tuple[Any, ...] | None = None
    distinct: bool = False
    whole: tuple[int, int] | None = None
    step: Annotated[int, Field(gt=0)] = 1
    amount: tuple[float, float] | None = None
    day: tuple[str, str] | None = None
    time: tuple[str, str] | None = None
    hours: tuple[int, int] = (8, 18)
    code: str | None = None
    digits: Annotated[int, Field(ge=3, le=9)] = 5
    sql: Sql | None = None
    missing: Annotated[float, Field(ge=0, lt=1)] = 0.0

    @property
    def way(self) -> str:
        """How it is drawn; empty unless there is one way."""
        ways = ("pick", "whole", "amount", "day", "time", "code", "sql")
        named = [way for way in ways if getattr(self, way) is not None]
        return named[0] if len(named) == 1 else ""


class Fact(Draw):
    """A value that differs from draft to draft, and stands in the prose of `records`.

    `form` says how it is written there: a format of Python for numbers (",.2f") and days
    ("%-d %B %Y"). Entries of `pick` may be tables `{value, words}`: the prose has the words.
    `inert`: it no longer holds, or is only mentioned; the right result must not depend on it.
    """

    form: str = ""
    inert: bool = False


class Population(Contract):
    """`count` rows, or one for each row of the SQL `of`, with `columns` drawn in their order.

    With `into` each row becomes a record of that collection, without columns that begin with an
    underline. Later SQL of populations and facts knows the rows, with these columns, by `name`.
    """

    name: Name
    into: Collected | None = None
    count: Annotated[int, Field(gt=0, le=MOST_ROWS)] | None = None
    of: Sql | None = None
    columns: Mapping[Column, Draw | Plain | tuple[Plain, ...]] = {}


class Ballast(Contract):
    """`count` more records like those of a population, on which nothing may depend.

    Each takes after a record of the population `like`. `columns` set it apart: drawn as always, or
    one of the values of SQL over all records so far; with a day or time the others move along.
    `fresh` are names that are put together from those of several, `texts` the fields that are
    worded anew (without it titles, subjects and all that is long).
    """

    like: Name
    count: Annotated[int, Field(gt=0, le=MOST_ROWS)]
    fresh: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    columns: Mapping[Name, Draw | Plain | tuple[Plain, ...]] = {}


class Record(Contract):
    """A record as it is, with slots `{fact}` in its texts.

    `found_by` are words that a search finds it by; without them its title or subject.
    """

    into: Collected
    found_by: str = ""
    fields: Mapping[str, Any]


class Read(Contract):
    """What the reference reads of a collection: the rows that a search with `where` lists.

    `split`: one search for each of the values of an argument, listed or selected by SQL. What a
    search asks for is known of each row without opening it; bounds stand for the value.
    Whole records, unless `whole` is false: then only what lists show. `only` is SQL over what was
    read before, the list itself and the views over both: the ids whose whole record is needed.
    """

    collection: Collected
    where: Mapping[str, Any] = {}
    split: Mapping[Name, tuple[Plain, ...] | Sql] = {}
    whole: bool = True
    only: Sql | None = None


class Act(Contract):
    """What is to be done: `operation`, once for each row of `select`, whose columns are arguments.

    A list in an argument that is a text means: a text that states all of them, and of the words
    in `only_of` no other. `loose` are fields that the agent words as it likes. `then` are
    operations on the record that was made.
    """

    operation: Annotated[str, Field(pattern=r"^[a-z]+\.[a-z_]+$")]
    select: Sql
    text: str
    only_of: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    then: tuple[str, ...] = ()


class Asked(Contract):
    """One part of the answer: a value, or for lists a column of values. `form` tells the agent."""

    part: Name
    type: Literal["number", "text", "date", "list"]
    select: Sql
    form: str
    unit: str | None = None
    decimals: int | None = None


class Wanted(Contract):
    """The right end state and answers. No acts: everything has to stay as it is."""

    acts: tuple[Act, ...] = ()
    answers: Annotated[tuple[Asked, ...], Field(min_length=1)]


class Second(Contract):
    """The right result derived once more, by another who has not seen `views` and `wanted`.

    SQL over the same tables: `acts` in the order of `wanted.acts`, `answers` by their part. `prose`
    is the digest of the text that it was derived from (`prose_digest`): of another text it says
    nothing.
    """

    prose: str = ""
    views: Mapping[Name, Sql] = {}
    acts: tuple[Sql, ...] = ()
    answers: Mapping[Name, Sql]


class Trap(Contract):
    """A plausible wrong solution: the SQL with `instead` for every occurrence of `out`."""

    name: Name
    meaning: str
    out: Annotated[str, Field(min_length=3)]
    instead: str = ""


class Variant(Contract):
    """Records changed by rows of `select` (`id` and fields); must the right result change?"""

    meaning: str
    collection: Collected
    select: Sql
    changes: bool


class Document(Contract):
    """A scenario as data. `faulty`: the operation that is disturbed in every third draft.

    A fact in `requests` is known from there, and stands in each of them. `split`: small easy ones,
    which only show whether an agent works, are *smoke*.
    """

    name: Name
    meaning: str
    kind: Literal[
        "brief", "triage", "reconciliation", "plan", "handover", "refusal", "question", "long_job"
    ]
    split: Literal["full", "smoke"] = "full"
    task_family: str
    language: Literal["en", "zh"] = "en"
    now: str
    actor: str
    requests: Annotated[tuple[str, ...], Field(min_length=2)]
    faulty: str | None = None
    pools: Mapping[Name, tuple[Any, ...]] = {}
    facts: Annotated[Mapping[Name, Fact], Field(min_length=2)]
    populations: tuple[Population, ...]
    records: tuple[Record, ...]
    ballast: tuple[Ballast, ...] = ()
    reads: tuple[Read, ...]
    views: Mapping[Name, Sql] = {}
    wanted: Wanted
    traps: Annotated[tuple[Trap, ...], Field(min_length=2)]
    variants: tuple[Variant, ...] = ()
    second: Second | None = None

    @property
    def request_facts(self) -> frozenset[str]:
        """The facts that the request tells."""
        return frozenset(SLOT.findall(self.requests[0]))

    @property
    def prose_facts(self) -> frozenset[str]:
        """The facts that stand in prose, of the request or of records."""
        return self.request_facts | self.planted.keys()

    @property
    def planted(self) -> Mapping[str, Record]:
        """The record in which each fact stands, by fact; of several the first."""
        holding: dict[str, Record] = {}
        for record in self.records:
            for value in record.fields.values():
                for name in SLOT.findall(value) if isinstance(value, str) else ():
                    holding.setdefault(name, record)
        return {name: holding[name] for name in self.facts if name in holding}


class DocumentFault(Exception):
    """What is wrong with a document, for its author; at most a few lines."""


def read_document(path: Path) -> Document:
    """The document in a file. Raises DocumentFault."""
    content = path.read_bytes()
    if len(content) > LARGEST_BYTES:
        raise DocumentFault(f"{len(content)} bytes; expected at most {LARGEST_BYTES}")
    document = document_of(fields_in(content))
    if document.second is not None and document.second.prose != (now := prose_digest(document)):
        raise DocumentFault(
            f"second: derived from other prose ({document.second.prose or 'prose is missing'}); "
            "expected a derivation by somebody who read the request and the records as they "
            f'stand now, with prose = "{now}"'
        )
    return document


_READ = {"requests", "pools", "facts", "populations", "records", "ballast"}
_DIGITS = 16  # of the digest of prose


def prose_digest(document: Document) -> str:
    """Of the text and the tables that a second reader is shown: no SQL of the result."""
    shown = document.model_dump(mode="json", include=_READ, exclude_unset=True)
    forms = [[asked.part, asked.type, asked.form] for asked in document.wanted.answers]
    return digest([shown, forms])[:_DIGITS]


def fields_in(content: bytes) -> dict[str, Any]:
    """The plain values of a TOML text. Raises DocumentFault."""
    try:
        return tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DocumentFault(f"invalid TOML: {error}") from None


def document_of(fields: Mapping[str, Any]) -> Document:
    """A document from its plain values. Raises DocumentFault."""
    try:
        document = Document.model_validate(fields)
    except ValidationError as error:
        named = [
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
            for fault in error.errors(include_input=False, include_url=False)
        ]
        raise DocumentFault("\n".join(named[:8])) from None
    if faults := list(_faults(document)):
        raise DocumentFault("\n".join(faults[:8]))
    return document


def collection_of(into: str) -> Collection:
    """The declared collection of a "service.collection". Raises KeyError."""
    name, _, plural = into.partition(".")
    return service(name).collections[plural]


def _faults(document: Document) -> Iterator[str]:
    """What the schema cannot say."""
    if document.task_family not in default_crosswalk().task_families:
        known = ", ".join(sorted(default_crosswalk().task_families))
        yield f"task_family: {document.task_family[:40]}; expected one of {known}"
    yield from _strangers(document)
    yield from _unfit_facts(document)
    for population in document.populations:
        if (population.count is None) == (population.of is None):
            yield f"populations.{population.name}: expected either count or of"
        for name, column in population.columns.items():
            if isinstance(column, Draw) and not column.way:
                yield f"populations.{population.name}.{name}: expected exactly one way to draw it"
    for number, record in enumerate(document.records, 1):
        for name, value in record.fields.items():
            for slot in SLOT.findall(value) if isinstance(value, str) else ():
                if slot not in document.facts:
                    where = f"records: number {number}, {record.into} {name}"
                    yield f"{where}: there is no fact called {slot}"
    for trap in document.traps:
        if not any(trap.out in sql for sql in sqls_of(document)):
            yield f"traps.{trap.name}: its `out` occurs in no SQL in `views` or `wanted`"
    yield from _unfit_second(document)


def _unfit_facts(document: Document) -> Iterator[str]:
    """Facts that nobody can draw, write or look up."""
    for name, fact in document.facts.items():
        if not fact.way:
            yield f"facts.{name}: expected exactly one way to draw it"
        listed = fact.pick if isinstance(fact.pick, tuple) else ()
        tables = [entry for entry in listed if isinstance(entry, dict)]
        if any(not {"value", "words"} <= entry.keys() for entry in tables):
            yield f"facts.{name}: a table in `pick` has no `value` or no `words`"
    for number, request in enumerate(document.requests, 1):
        for slot in sorted(document.request_facts ^ {*SLOT.findall(request)}):
            yield f"requests: number {number}: {{{slot}}}: expected in all requests or in none"
    for slot in sorted(document.request_facts):
        if slot not in document.facts or document.facts[slot].inert:
            yield f"requests: {slot} is not a fact, or is one that does not hold (`inert`)"
    for read in document.reads:
        for name, value in read.where.items():
            slot = SLOT.fullmatch(value) if isinstance(value, str) else None
            if slot and slot[1] not in {"today", *document.prose_facts}:
                yield f"reads: {read.collection} where {name}: there is no fact called {slot[1]}"


def _unfit_second(document: Document) -> Iterator[str]:
    if document.second is None:
        return
    acts, parts = document.wanted.acts, [asked.part for asked in document.wanted.answers]
    if len(document.second.acts) != len(acts):
        yield f"second: {len(document.second.acts)} acts; expected {len(acts)}, as in wanted.acts"
    for part in document.second.answers.keys() ^ {*parts}:
        yield f"second: answers: {part}: expected a SELECT for each of {', '.join(parts)}"


def _strangers(document: Document) -> Iterator[str]:
    """Collections and operations that no service has."""
    used = [population.into for population in document.populations if population.into]
    used += [record.into for record in document.records]
    used += [read.collection for read in document.reads]
    used += [variant.collection for variant in document.variants]
    for into in dict.fromkeys(used):
        name, _, plural = into.partition(".")
        if name not in service_names() or plural not in service(name).collections:
            yield f"{into}: no service has this collection"
    acts = [title for act in document.wanted.acts for title in (act.operation, *act.then)]
    for title in [*acts, *([document.faulty] if document.faulty else [])]:
        name, _, operation = title.partition(".")
        if name not in service_names() or operation not in operations(name):
            yield f"{title}: no service has this operation"


def sqls_of(document: Document) -> tuple[str, ...]:
    """The SQL that decides what is right."""
    acts = (act.select for act in document.wanted.acts)
    answers = (asked.select for asked in document.wanted.answers)
    return (*document.views.values(), *acts, *answers)
