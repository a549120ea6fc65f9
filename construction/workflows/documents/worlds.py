"""From a document to a world: facts and populations are drawn, facts are planted in prose.

All draws are keyed by document, draft, population and column, so that one column more leaves the
others as they were. What was planted is read again by `planted_in`, the way the solver reads it.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from construction.workflows.contracts import Fields
from construction.workflows.documents.contracts import (
    SLOT,
    Document,
    DocumentFault,
    Draw,
    Fact,
    Population,
    Record,
    collection_of,
)
from construction.workflows.documents.tables import DECIMAL, Tables, fields_of
from construction.workflows.values import ISO_DAY, FieldType, ValueFault, parsed_now, stored
from data.randomness import keyed_generator

ALTERNATIVES = 6  # other values of a fact that are tried
_NUMBER, _DAY, _WORDS = r"-?[\d,]+(?:\.\d+)?", r"[\w ,./-]{4,40}", r"[^\n]{1,200}?"
State = dict[str, dict[str, dict[str, Fields]]]


@dataclass
class Drawn:
    """A world in the making. `others` are further values that each fact could have had."""

    state: State = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    others: dict[str, list[Any]] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)  # "service/collection/id"
    rows: dict[str, list[str]] = field(default_factory=dict)  # ids by population


class Draws:
    """Draws of one draft of a document."""

    def __init__(self, document: Document, key: str, seed: int) -> None:
        self._stage, self._key, self._seed = f"workflows.{document.name}", key, seed
        self._pools = document.pools
        self._codes: dict[str, set[int]] = {}

    def values(self, draw: Draw, name: str, count: int) -> list[Any]:
        """`count` values. Raises DocumentFault."""
        generator = keyed_generator(self._seed, self._stage, f"{self._key}/{name}")
        try:
            made = list(getattr(self, f"_{draw.way}")(draw, generator, count))
        except (ValueError, TypeError) as error:
            raise DocumentFault(f"{name}: {error}") from None
        if draw.missing:
            absent = generator.random(count) < draw.missing
            made = [None if gone else value for gone, value in zip(absent, made, strict=True)]
        return made

    def _pick(self, draw: Draw, generator: np.random.Generator, count: int) -> Iterator[Any]:
        named = isinstance(draw.pick, str)
        if named and draw.pick not in self._pools:
            raise ValueError(f"there is no pool called {draw.pick}")
        pool = self._pools[str(draw.pick)] if named else draw.pick
        if not isinstance(pool, Sequence) or not pool:
            raise ValueError("an empty pool")
        if draw.distinct and len(pool) < count:
            raise ValueError(f"{count} different values from a pool of {len(pool)}")
        order = generator.permutation(len(pool))[:count] if draw.distinct else None
        places = generator.integers(0, len(pool), count) if order is None else order
        return (pool[int(place)] for place in places)

    def _whole(self, draw: Draw, generator: np.random.Generator, count: int) -> Iterator[int]:
        low, high = draw.whole or (0, 0)
        steps = generator.integers(0, (high - low) // draw.step + 1, count)
        return (low + draw.step * int(each) for each in steps)

    def _amount(self, draw: Draw, generator: np.random.Generator, count: int) -> Iterator[float]:
        low, high = draw.amount or (0, 0)
        cents = generator.integers(round(low * 100), round(high * 100) + 1, count)
        return (round(int(each) / 100, 2) for each in cents)

    def _day(self, draw: Draw, generator: np.random.Generator, count: int) -> Iterator[str]:
        first, last = map(dt.date.fromisoformat, draw.day or ("", ""))
        days = generator.integers(0, (last - first).days + 1, count)
        return (str(first + dt.timedelta(int(each))) for each in days)

    def _time(self, draw: Draw, generator: np.random.Generator, count: int) -> Iterator[str]:
        first, last = map(dt.date.fromisoformat, draw.time or ("", ""))
        days = generator.integers(0, (last - first).days + 1, count)
        minutes = generator.integers(draw.hours[0] * 60, draw.hours[1] * 60, count)
        for day, minute in zip(days, minutes, strict=True):
            since = dt.timedelta(days=int(day), minutes=int(minute))
            yield (dt.datetime.combine(first, dt.time()) + since).isoformat()

    def _code(self, draw: Draw, generator: np.random.Generator, count: int) -> Iterator[str]:
        taken = self._codes.setdefault(str(draw.code), set())
        least = 10 ** (draw.digits - 1)
        if len(taken) + count > 5 * least:
            raise ValueError(f"too many codes with {draw.digits} digits")
        made = 0
        while made < count:
            number = int(generator.integers(least, 10 * least))
            if number not in taken:
                taken.add(number)
                made += 1
                yield f"{draw.code}{number}"


def drawn(document: Document, key: str, seed: int) -> Drawn:
    """The world of a draft. Raises DocumentFault or SqlFault."""
    now = parsed_now(document.now)
    draws, made = Draws(document, key, seed), Drawn()
    tables = Tables(now.utcoffset() or dt.timedelta())
    try:
        put_pools(document, tables)
        for name, fact in document.facts.items():
            if fact.way != "sql":
                values = draws.values(fact, f"facts.{name}", ALTERNATIVES + 1)
                _settle(made, name, [_value(value) for value in values])
        put_facts(document, tables, made.facts)
        for population in document.populations:
            _populate(population, tables, draws, made, now)
        for name, fact in document.facts.items():
            if fact.way == "sql":
                put_facts(document, tables, made.facts)
                listed = tables.select(str(fact.sql))
                _settle(made, name, [next(iter(row.values())) for row in listed])
        unread = []
        for number, record in enumerate(document.records):
            try:
                _write(record, number, document, draws, made, now)
            except DocumentFault as fault:
                unread.append(str(fault))
        if unread:
            raise DocumentFault("\n".join(unread))
    finally:
        tables.close()
    return made


def put_pools(document: Document, tables: Tables) -> None:
    """Pools as tables: entries that are tables with their columns, others as `value`."""
    for name, pool in document.pools.items():
        rows = [entry if isinstance(entry, dict) else {"value": entry} for entry in pool]
        tables.put(f"pools.{name}", _shape(rows), rows)


def put_facts(document: Document, tables: Tables, facts: Mapping[str, Any]) -> None:
    """The one row of `facts`: what is known, `now` and `today`."""
    clock = {"now": document.now[:19], "today": document.now[:10]}
    shape = {"now": "TIMESTAMP", "today": "DATE"} | {n: column_type(v) for n, v in facts.items()}
    tables.put("facts", shape, [{**clock, **facts}])


def _settle(made: Drawn, name: str, values: Sequence[Any]) -> None:
    if not values or values[0] is None:
        raise DocumentFault(f"facts.{name}: no value")
    made.facts[name] = values[0]
    made.others[name] = list(dict.fromkeys(v for v in values[1:] if v not in (None, values[0])))


def _value(entry: Any) -> Any:
    return entry["value"] if isinstance(entry, dict) else entry


def column_type(value: Any) -> Any:
    """The type of a column for a value."""
    if isinstance(value, bool):
        return "BOOLEAN"
    if isinstance(value, int):
        return "INTEGER"
    if isinstance(value, float):
        return DECIMAL
    if isinstance(value, list | tuple):
        return [column_type(value[0]) if value else "VARCHAR"]
    if isinstance(value, dict):
        return {name: column_type(each) for name, each in value.items()}
    return "DATE" if ISO_DAY.fullmatch(str(value)) else "VARCHAR"


def _shape(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The columns of rows that may lack some; whole numbers beside others count as those."""
    shape: dict[str, Any] = {}
    for row in rows:
        for name, value in row.items():
            kind = column_type(value)
            if shape.setdefault(name, kind) == "INTEGER" and kind != "INTEGER":
                shape[name] = kind
    return shape


# Populations


def _populate(
    population: Population, tables: Tables, draws: Draws, made: Drawn, now: dt.datetime
) -> None:
    name = population.name
    base = population.of or f"select 1 as _one from range({population.count})"  # noqa: S608
    tables.keep(name, f"select row_number() over () as n, b.* from ({base}) as b")  # noqa: S608
    count = int(tables.select(f'select count(*) as rows from "{name}"')[0]["rows"])  # noqa: S608
    if not count:
        raise DocumentFault(f"populations.{name}: no rows")
    columns = dict(population.columns)
    if population.into is not None and "id" not in columns:
        columns["id"] = Draw(code=f"{collection_of(population.into).prefix}-")
    for is_sql, group in groupby(columns.items(), key=lambda item: _is_sql(item[1])):
        if is_sql:
            for column, draw in group:
                made_of = f'({_sql_of(draw)}) as "{column}"'
                tables.keep(name, f'select p.*, {made_of} from "{name}" as p, facts order by n')  # noqa: S608
        else:
            _draw_columns(name, dict(group), count, tables, draws)
    if population.into is not None:
        rows = tables.select(f'select * from "{name}" order by n')  # noqa: S608
        kept = [keep(made.state, population.into, r, now, f"populations.{name}") for r in rows]
        made.rows[name] = [fields["id"] for fields in kept]


def _is_sql(column: Any) -> bool:
    return isinstance(column, Draw) and column.way == "sql"


def _sql_of(column: Any) -> str:
    assert isinstance(column, Draw)
    return str(column.sql)


def _draw_columns(
    name: str, columns: Mapping[str, Any], count: int, tables: Tables, draws: Draws
) -> None:
    made = {
        column: draws.values(draw, f"{name}.{column}", count)
        if isinstance(draw, Draw)
        else [list(draw) if isinstance(draw, tuple) else draw] * count
        for column, draw in columns.items()
    }
    rows = [
        {"n": at + 1, **{column: values[at] for column, values in made.items()}}
        for at in range(count)
    ]
    present = [{c: v for c, v in row.items() if v is not None} for row in rows]
    times = {c: "TIMESTAMP" for c, d in columns.items() if isinstance(d, Draw) and d.way == "time"}
    shape = dict.fromkeys(made, "VARCHAR") | _shape(present) | times
    tables.put("_drawn", shape, rows)
    listed = ", ".join(f'd."{column}"' for column in made)
    joined = f'select p.*, {listed} from "{name}" as p join "_drawn" as d using (n)'  # noqa: S608
    tables.keep(name, f"{joined} order by p.n")


def keep(
    state: State, into: str, row: Mapping[str, Any], now: dt.datetime, where: str
) -> dict[str, Any]:
    """Put a record into the state, as services write it. Raises DocumentFault."""
    service, _, plural = into.partition(".")
    rules = fields_of(into)
    fields: dict[str, Any] = {"id": str(row["id"])} | {
        name: rule.default
        for name, rule in rules.items()
        if rule.default is not None and "{" not in str(rule.default)
    }
    for name, value in row.items():
        if name in ("id", "n") or name.startswith("_") or value is None:
            continue
        if name not in rules:
            raise DocumentFault(f"{where}: {into} has no field {name}")
        try:
            fields[name] = stored(rules[name], value, now)
        except ValueFault as fault:
            raise DocumentFault(f"{where}: {name}: {fault}") from None
    room = state.setdefault(service, {}).setdefault(plural, {})
    if fields["id"] in room:
        raise DocumentFault(f"{where}: two records have the id {fields['id']}")
    room[fields["id"]] = fields
    return fields


# Facts in prose


def _write(
    record: Record, number: int, document: Document, draws: Draws, made: Drawn, now: dt.datetime
) -> None:
    """A literal record with its facts. Raises DocumentFault."""
    filled = written(record, document, made.facts)
    prefix = collection_of(record.into).prefix
    filled.setdefault("id", draws.values(Draw(code=f"{prefix}-"), f"records.{number}", 1)[0])
    where = f"records: {record.into} number {number + 1}"
    kept = keep(made.state, record.into, filled, now, where)
    read = planted_in(record, document, kept)
    slots = {s for v in record.fields.values() if isinstance(v, str) for s in SLOT.findall(v)}
    if read is None:
        raise DocumentFault(f"{where}: {_unread(document, made.facts, slots)}")
    for slot in sorted(slots):
        if read[slot] != made.facts[slot]:
            words = words_of(document.facts[slot], made.facts[slot])
            raise DocumentFault(
                f"{where}: {{{slot}}} is {made.facts[slot]!r}, is written {words!r}, and is read "
                f"again as {read[slot]!r}; expected a `form` that tells the whole value, and words "
                "between two facts"
            )
    if any(not document.facts[slot].inert for slot in slots):
        made.required.append(f"{record.into.replace('.', '/')}/{kept['id']}")


def _unread(document: Document, facts: Mapping[str, Any], slots: Iterable[str]) -> str:
    """Which facts have words that no reading expects, such as a text for a number."""
    strange = [
        f"{{{slot}}} is written {words!r}"
        for slot in sorted(slots)
        if not re.fullmatch(
            _form(document, slot), words := words_of(document.facts[slot], facts[slot])
        )
    ]
    listed = "; ".join(strange) or ", ".join(f"{{{slot}}}" for slot in sorted(slots))
    return f"its facts cannot be read again from its text: {listed}"


def written(record: Record, document: Document, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a literal record with these facts."""
    rules = fields_of(record.into)
    return {
        name: _filled(
            value, document, facts, name not in rules or rules[name].type is FieldType.TEXT
        )
        for name, value in record.fields.items()
    }


def others_of(fact: Fact, value: Any) -> list[Any]:
    """What a fact of `pick` could have been instead; nothing of other facts."""
    entries = fact.pick if isinstance(fact.pick, tuple) else ()
    return [other for other in map(_value, entries) if other != value]


def _filled(value: Any, document: Document, facts: Mapping[str, Any], is_text: bool) -> Any:
    if not isinstance(value, str):
        return value
    if not is_text and (whole := SLOT.fullmatch(value)):
        return facts[whole[1]]
    return SLOT.sub(lambda slot: words_of(document.facts[slot[1]], facts[slot[1]]), value)


def words_of(fact: Fact, value: Any) -> str:
    """How a value is written in prose."""
    for entry in fact.pick if isinstance(fact.pick, tuple) else ():
        if isinstance(entry, dict) and entry["value"] == value:
            return str(entry["words"])
    if isinstance(value, int | float):
        return format(value, fact.form or (",.2f" if isinstance(value, float) else ""))
    if ISO_DAY.fullmatch(str(value)):
        return dt.date.fromisoformat(value).strftime(fact.form or "%-d %B %Y")
    return str(value)


def _days(fact: Fact) -> Iterator[str]:
    """All days that the fact may be."""
    first, last = map(dt.date.fromisoformat, fact.day or ("", ""))
    return (str(first + dt.timedelta(n)) for n in range((last - first).days + 1))


def planted_in(record: Record, document: Document, fields: Fields) -> dict[str, Any] | None:
    """The facts of a record's template as a record of the world has them; None if it is another."""
    rules, facts = fields_of(record.into), dict[str, Any]()
    for name, template in record.fields.items():
        if not isinstance(template, str) or not SLOT.search(template):
            continue
        is_text = name not in rules or rules[name].type is FieldType.TEXT
        if not is_text and (whole := SLOT.fullmatch(template)):
            facts[whole[1]] = fields.get(name)
            continue
        match = re.fullmatch(_pattern(template, document), str(fields.get(name, "")))
        if match is None:
            return None
        for slot, words in match.groupdict().items():
            facts[slot] = _meant(document, document.facts[slot], words)
    return facts


def _pattern(template: str, document: Document) -> str:
    """What a template looks like when it is filled, with a group for each fact."""
    parts, at, seen = [], 0, set[str]()
    for slot in SLOT.finditer(template):
        parts.append(re.escape(template[at : slot.start()]))
        at, name = slot.end(), slot[1]
        parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>{_form(document, name)})")
        seen.add(name)
    return "".join((*parts, re.escape(template[at:])))


def _form(document: Document, name: str) -> str:
    fact = document.facts[name]
    if fact.way in ("whole", "amount"):
        return _NUMBER
    if fact.way == "day":
        return _DAY
    if isinstance(fact.pick, tuple):
        entries = (e["words"] if isinstance(e, dict) else words_of(fact, e) for e in fact.pick)
        return "|".join(re.escape(words) for words in sorted(set(entries), key=len, reverse=True))
    return _WORDS


def _meant(document: Document, fact: Fact, words: str) -> Any:
    """The value that words in prose stand for."""
    listed = document.pools.get(fact.pick, ()) if isinstance(fact.pick, str) else fact.pick or ()
    for entry in listed:
        value = entry.get("value") if isinstance(entry, dict) else entry
        if value is not None and words_of(fact, value) == words:
            return value  # a text of digits stays one
    if re.fullmatch(_NUMBER, words) and fact.way in ("whole", "amount", "sql"):
        plain = words.replace(",", "")
        is_whole = fact.way == "whole" or ("." not in plain and fact.way != "amount")
        return int(plain) if is_whole else float(plain)
    if fact.way == "day" and (days := [day for day in _days(fact) if words_of(fact, day) == words]):
        return days[0] if len(days) == 1 else words  # a form without a year may mean several
    try:
        form = (fact.form or "%-d %B %Y").replace("%-", "%")
        return dt.datetime.strptime(words, form).date().isoformat()
    except ValueError:
        return words
