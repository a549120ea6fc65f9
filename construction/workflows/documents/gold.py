"""What is right, by the SQL of a document, and the proof that it is.

A gold that one author computed is as good as that author's reading: from the wrong field it comes
out as smoothly as from the right one. So a document is derived twice, as `wanted` by its author and
as `second` by somebody who saw the prose and the records alone. Both have to come to the same end:
in the world of the draft, with other values of each fact, and in each variant. Besides, each fact
has to change the result, and each trap has to lead elsewhere.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import chain
from typing import Any

from construction.workflows.contracts import State
from construction.workflows.documents.contracts import (
    Act,
    Asked,
    Document,
    DocumentFault,
    Trap,
    Variant,
    sqls_of,
)
from construction.workflows.documents.tables import SqlFault, Tables, fields_of
from construction.workflows.documents.worlds import Drawn, put_facts, put_pools
from construction.workflows.values import parsed_now
from data.text.scripts import NAME_RUN

LEAST: Mapping[str, tuple[int, int]] = {"full": (150, 4), "smoke": (15, 2)}  # records, services
MOST_RECORDS = 2000
_MOST_SHOWN = 160  # characters of a value in a message
Arguments = dict[str, Any]
Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Decided:
    """What SQL says is right: the requests, in order, and the value of each part of the answer."""

    acts: tuple[tuple[Act, Arguments], ...]
    answers: Mapping[str, Any]


class Disagreement(DocumentFault):
    """The two derivations come to different ends, which no other draw can heal."""


def decided(document: Document, tables: Tables, trap: Trap | None = None) -> Decided:
    """The right end state by the tables, or what a trap leads to. Raises SqlFault."""

    def meant(sql: str) -> str:
        return sql if trap is None else sql.replace(trap.out, trap.instead)

    return _derived(
        document,
        tables,
        {name: meant(sql) for name, sql in document.views.items()},
        [meant(act.select) for act in document.wanted.acts],
        {entry.part: meant(entry.select) for entry in document.wanted.answers},
    )


def decided_again(document: Document, tables: Tables, facts: Facts) -> Decided:
    """The right end state by the second derivation, under these values of all facts.

    It does not see the views of the first, and knows also the facts that no longer hold, all of
    them by their numbers besides (`numbered`). Raises SqlFault.
    """
    second = document.second
    assert second is not None
    put_facts(document, tables, facts_of(document, facts, inert=True) | numbered(document, facts))
    tables.drop(document.views)
    try:
        return _derived(document, tables, second.views, second.acts, second.answers)
    except SqlFault as fault:
        raise SqlFault(f"second: {fault}") from None
    finally:
        tables.drop(second.views)
        put_facts(document, tables, facts_of(document, facts))


def _derived(
    document: Document,
    tables: Tables,
    views: Mapping[str, str],
    selects: Sequence[str],
    answers: Mapping[str, str],
) -> Decided:
    for name, sql in views.items():
        tables.keep(name, sql)
    acts = []
    for act, select in zip(document.wanted.acts, selects, strict=True):
        for row in tables.select(select):
            acts.append((act, {name: value for name, value in row.items() if value is not None}))
    values = {}
    for entry in document.wanted.answers:
        column = [next(iter(row.values())) for row in tables.select(answers[entry.part])]
        values[entry.part] = column if entry.type == "list" else (column or [None])[0]
    return Decided(tuple(acts), values)


# What is known


def known(document: Document, state: State, facts: Facts) -> Tables:
    """What somebody would know who had read all that the reference reads, and more."""
    tables = Tables(parsed_now(document.now).utcoffset() or dt.timedelta())
    put_pools(document, tables)
    put_facts(document, tables, facts_of(document, facts))
    put_all(document, tables, state)
    return tables


def put_all(document: Document, tables: Tables, state: State) -> None:
    """The collections that the reference reads, with all their records."""
    for collection in dict.fromkeys(read.collection for read in document.reads):
        _put_all(tables, collection, state)


def _put_all(tables: Tables, collection: str, state: State) -> None:
    service, _, plural = collection.partition(".")
    records = state.get(service, {}).get(plural, {})
    tables.put_records(collection, records.values(), fields_of(collection))


def facts_of(document: Document, values: Facts, *, inert: bool = False) -> dict[str, Any]:
    """The facts that stand in prose; those that no longer hold only for traps."""
    return {
        name: values[name]
        for name in document.facts
        if name in document.prose_facts
        and name in values
        and (inert or not document.facts[name].inert)
    }


def prose_facts(document: Document) -> list[str]:
    """The names of all facts in prose."""
    return [name for name in document.facts if name in document.prose_facts]


def numbered(document: Document, values: Facts) -> dict[str, Any]:
    """All facts in prose as f1, f2, …: names that give away nothing."""
    names = enumerate(prose_facts(document), 1)
    return {f"f{at}": values[name] for at, name in names if name in values}


# Do two derivations agree?


def differences(document: Document, first: Decided, second: Decided) -> Iterator[str]:
    """What two derivations have otherwise, a line each."""
    for entry in document.wanted.answers:
        mine, other = first.answers[entry.part], second.answers[entry.part]
        if not _is_same(entry, mine, other):
            is_list = entry.type == "list"
            first_shown = _only(mine, other) if is_list else _shown(mine)
            second_shown = _only(other, mine) if is_list else _shown(other)
            alone = " alone" if is_list else ""
            yield (
                f"answers.{entry.part}: `wanted`{alone} has {first_shown},"
                f" a second derivation{alone} has {second_shown}"
            )
    for number, act in enumerate(document.wanted.acts, 1):
        yield from _act_differences(number, act, first, second)


def _is_same(entry: Asked, mine: Any, other: Any) -> bool:
    if entry.type == "number":
        try:
            apart = abs(Decimal(str(mine or 0)) - Decimal(str(other or 0)))
        except InvalidOperation:
            return str(mine) == str(other)
        return bool(apart <= Decimal("0.500001").scaleb(-(entry.decimals or 0)))
    if entry.type == "list":
        return Counter(map(_plain, mine)) == Counter(map(_plain, other))
    return _plain(mine or "") == _plain(other or "")


def _plain(value: Any) -> str:
    """A value so that spellings of one value are equal."""
    if isinstance(value, list):
        return ", ".join(sorted(map(_plain, value)))
    try:
        return f"{Decimal(str(value)).normalize():f}"
    except InvalidOperation:
        return " ".join(str(value).casefold().split())


def _shown(value: Any) -> str:
    return str(value)[:_MOST_SHOWN]


def _only(mine: Sequence[Any], other: Sequence[Any]) -> str:
    """What of a list the other has not."""
    there = set(map(_plain, other))
    alone = [str(item) for item in mine if _plain(item) not in there]
    return f"{len(alone)} of {len(mine)} ({_shown(', '.join(alone[:3]))})"


def _act_differences(number: int, act: Act, first: Decided, second: Decided) -> Iterator[str]:
    mine, other = ([a for by, a in each.acts if by is act] for each in (first, second))
    names = {name for arguments in mine for name in arguments} - {*act.loose}
    mine_keys, other_keys = ([_key(a, names) for a in each] for each in (mine, other))
    alone = [*(Counter(mine_keys) - Counter(other_keys)).elements()]
    others = [*(Counter(other_keys) - Counter(mine_keys)).elements()]
    if alone or others:
        yield (
            f"wanted.acts: number {number}, {act.operation}: {len(alone)} of {len(mine)} wanted by"
            f" `wanted` alone ({_first(alone)}), {len(others)} of {len(other)} by a second"
            f" derivation alone ({_first(others)})"
        )
        return
    stated: dict[tuple[tuple[str, str], ...], list[Arguments]] = {}
    for key, arguments in zip(other_keys, other, strict=True):
        stated.setdefault(key, []).append(arguments)
    for key, arguments in zip(mine_keys, mine, strict=True):
        for name in (n for n in names if isinstance(arguments.get(n), list)):
            wanted = {_plain(item) for item in arguments[name]}
            if not any(wanted <= _items(each.get(name)) for each in stated[key]):
                yield (
                    f"wanted.acts: number {number}, {act.operation}: {name} states"
                    f" {_shown(arguments[name])}, by a second derivation"
                    f" {_shown(stated[key][0].get(name))}"
                )
                return


def _key(arguments: Arguments, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, _plain(arguments[name]))
        for name in sorted(names)
        if name in arguments and not isinstance(arguments[name], list)
    )


def _items(value: Any) -> set[str]:
    return set(map(_plain, value)) if isinstance(value, list) else {_plain(value)}


def _first(keys: Sequence[tuple[tuple[str, str], ...]]) -> str:
    return _shown(", ".join(f"{n}={v}" for n, v in keys[0])) if keys else "none"


def _require_agreement(
    document: Document, tables: Tables, facts: Facts, first: Decided, where: str
) -> None:
    """Raises Disagreement where the second derivation has another result."""
    if document.second is None:
        return
    lines = list(differences(document, first, decided_again(document, tables, facts)))
    if lines:
        raise Disagreement("\n".join(f"second: {where}{line}" for line in lines))


# The proof: what decides, decides


def faults_of(
    document: Document, made: Drawn, tables: Tables, right: Decided, *, fully: bool
) -> Iterator[str]:
    """What is wrong with a draft, a line each. Raises Disagreement and SqlFault.

    The second derivation is asked once, or, if `fully`, again for each fact and variant.
    """
    first = [*_size_faults(document, made.state), *_answer_faults(document, right)]
    yield from first
    if not first:
        _require_agreement(document, tables, made.facts, right, "")
    if not fully:
        document = document.model_copy(update={"second": None})
    yield from chain(
        _fact_faults(document, made, tables, right),
        _trap_faults(document, made, tables, right),
    )
    for variant in document.variants:
        yield from _variant_faults(variant, document, made, tables, right)
    put_facts(document, tables, facts_of(document, made.facts))


def _size_faults(document: Document, state: State) -> Iterator[str]:
    count = sum(len(records) for rooms in state.values() for records in rooms.values())
    least, services = LEAST[document.split]
    if not least <= count <= MOST_RECORDS:
        yield f"{count} records; expected {least} to {MOST_RECORDS}"
    if len(state) < services:
        yield f"{len(state)} services; expected at least {services}"


def _answer_faults(document: Document, right: Decided) -> Iterator[str]:
    for entry in document.wanted.answers:
        value = right.answers[entry.part]
        if entry.type == "number" and not isinstance(value, int | float):
            yield f"answers.{entry.part}: not a number"
        elif entry.type == "date" and not _is_day(value):
            yield f"answers.{entry.part}: not a day"
        elif value in (None, "", [], 0):
            yield f"answers.{entry.part}: empty or 0, which can be guessed"
    for act in document.wanted.acts:
        if not any(each is act for each, _ in right.acts):
            yield f"acts: {act.operation} ({act.text[:60]}): never wanted"


def _is_day(value: Any) -> bool:
    try:
        return bool(dt.date.fromisoformat(str(value)).isoformat() == value)
    except ValueError:
        return False


def _fact_faults(document: Document, made: Drawn, tables: Tables, right: Decided) -> Iterator[str]:
    """Facts that change nothing, whatever else they are."""
    for name in facts_of(document, made.facts):
        for other in made.others[name]:
            facts = made.facts | {name: other}
            put_facts(document, tables, facts_of(document, facts))
            result = decided(document, tables)
            _require_agreement(document, tables, facts, result, f"if {name} were {other}: ")
            if result != right:
                break
        else:
            yield f"facts.{name}: no other value changes the correct result"


def _trap_faults(document: Document, made: Drawn, tables: Tables, right: Decided) -> Iterator[str]:
    put_facts(document, tables, facts_of(document, made.facts, inert=True))
    for trap in document.traps:
        if decided(document, tables, trap) == right:
            yield f"traps.{trap.name}: leads to the correct result"


def _variant_faults(
    variant: Variant, document: Document, made: Drawn, tables: Tables, right: Decided
) -> Iterator[str]:
    """A variant that does not change the right result, or does, against what it says."""
    put_facts(document, tables, facts_of(document, made.facts))
    decided(document, tables)  # its `select` may use the views
    name = f"variants: {variant.meaning[:80]}"
    service, _, plural = variant.collection.partition(".")
    records = dict(made.state.get(service, {}).get(plural, {}))
    changed = tables.select(variant.select)
    for row in changed:
        if row.get("id") not in records:
            raise DocumentFault(
                f"{name}: a row with the id {row.get('id')}; expected the id of a record of "
                f"{variant.collection} in each row of `select`"
            )
        records[row["id"]] = {**records[row["id"]], **row}
    if not changed:
        yield f"{name}: its `select` has no rows"
        return
    state = {**made.state, service: {**made.state[service], plural: records}}
    _put_all(tables, variant.collection, state)
    result = decided(document, tables)
    where = f"in the variant '{variant.meaning}': "
    _require_agreement(document, tables, made.facts, result, where)
    if (result != right) is not variant.changes:
        yield f"{name}: expected changes = {str(variant.changes).lower()}"
    _put_all(tables, variant.collection, made.state)


# Which fields do the derivations look at?


def uneven_fields(document: Document, state: State, facts: Facts) -> Iterator[str]:
    """Collections of which each derivation looks at a field that the other does not.

    Each field that either names is exchanged between the records. Both then have to move, or
    neither; a condition that only one of them makes for safety is forgiven.
    """
    if document.second is None:
        return
    tables = known(document, state, facts)
    try:
        first, second = decided(document, tables), decided_again(document, tables, facts)
        named = {*NAME_RUN.findall(" ".join(_all_sql(document)))}
        for collection in dict.fromkeys(read.collection for read in document.reads):
            alone: dict[bool, list[str]] = {True: [], False: []}
            for field in (name for name in fields_of(collection) if name in named):
                if not (moved := _exchanged(state, collection, field)):
                    continue
                _put_all(tables, collection, moved)
                ends = _ends(document, tables, facts)
                if (ends[0] != first) is not (ends[1] != second):
                    alone[ends[0] != first].append(field)
            _put_all(tables, collection, state)
            if alone[True] and alone[False]:
                yield (
                    f"second: of {collection}, `wanted` looks at {', '.join(alone[True])}, "
                    f"a second derivation at {', '.join(alone[False])}; only one can be right"
                )
    finally:
        tables.close()


def _all_sql(document: Document) -> Iterator[str]:
    second = document.second
    assert second is not None
    yield from (*sqls_of(document), *second.views.values(), *second.acts, *second.answers.values())


def _exchanged(state: State, collection: str, field: str) -> State | None:
    """The state where each record has the field's value of the one before; None if it is equal."""
    service, _, plural = collection.partition(".")
    records = state.get(service, {}).get(plural, {})
    having = [name for name, fields in records.items() if fields.get(field) is not None]
    values = [records[name][field] for name in having]
    turned = dict(zip(having, values[1:] + values[:1], strict=True))
    if all(records[name][field] == value for name, value in turned.items()):
        return None
    moved = {n: {**f, field: turned[n]} if n in turned else f for n, f in records.items()}
    return {**state, service: {**state[service], plural: moved}}


def _ends(document: Document, tables: Tables, facts: Facts) -> tuple[Any, Any]:
    """What both derivations come to; None where the SQL does not run."""
    ends: list[Decided | None] = []
    for derive in (decided, lambda d, t: decided_again(d, t, facts)):
        try:
            ends.append(derive(document, tables))
        except SqlFault:
            ends.append(None)
    return ends[0], ends[1]
