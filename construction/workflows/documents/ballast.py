"""Ballast: further records of a world, like those that it has, which decide nothing.

A small world can be read from end to end; a real one cannot. The records are made from those of a
population: each takes after one of them, is worded from the texts of several, and is moved out of
reach by `columns` (another year, another status, a customer of the same name but another form).
What is right must not depend on them; the builder derives it with and without them.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from numpy.random import Generator

from construction.workflows.contracts import Fields
from construction.workflows.documents.contracts import (
    Ballast,
    Document,
    DocumentFault,
    Draw,
    collection_of,
)
from construction.workflows.documents.tables import Tables, fields_of
from construction.workflows.documents.worlds import (
    Drawn,
    Draws,
    State,
    keep,
    put_facts,
    put_pools,
)
from construction.workflows.values import FieldRule, FieldType, parsed_now
from data.randomness import keyed_generator
from data.text.scripts import NAME_RUN

_TITLES, _PROSE_CHARS = ("title", "subject"), 1000  # fields that are prose by name, or by length
_CLOCKED = (FieldType.DATE, FieldType.DATETIME)
_DAY_CHARS = len("2026-03-05")
_MOST_TRIES = 30
_LEAST_MONEY = 100  # smaller numbers are days, years or marks, which are not rescaled
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_NUMBER = re.compile(r"(?!(?:19|20)\d\d\b)\d{3,}")  # of a request or order; years are none
_REMARKS: Mapping[str, tuple[str, ...]] = {
    "en": (
        "Ref. {code}, {name}.",
        "Seen on {day}, {name}.",
        "{name} knows, since {day}.",
        "Filed as {code}, {day}.",
        "See {name}, no. {code}.",
        "More on {day}, see {code}.",
    ),
    "zh": (
        "参见{code}，{name}。",
        "{day}已阅，{name}。",
        "{name}已知，{day}。",
        "归档{code}，{day}。",
        "见{name}，编号{code}。",
    ),
}


def with_ballast(document: Document, made: Drawn, key: str, seed: int) -> State:
    """The state with all ballast, in the order of the document. Raises DocumentFault, SqlFault."""
    state = {s: {c: dict(rows) for c, rows in each.items()} for s, each in made.state.items()}
    for number, ballast in enumerate(document.ballast, 1):
        _Maker(document, made, state, f"{key}/ballast.{number}", seed).add(ballast)
    return state


class _Maker:
    """Makes the records of one entry."""

    def __init__(self, document: Document, made: Drawn, state: State, key: str, seed: int) -> None:
        self._document, self._made, self._state = document, made, state
        self._key, self._seed = key, seed
        self._now = parsed_now(document.now)
        self._chance = keyed_generator(seed, f"workflows.{document.name}", key)
        self._names = sorted({*_names_in(made.state)})

    def add(self, ballast: Ballast) -> None:
        into, where = self._into(ballast.like), f"ballast: {ballast.like}"
        service, _, plural = into.partition(".")
        models = [self._made.state[service][plural][i] for i in self._made.rows[ballast.like]]
        columns = self._columns(ballast, into)
        rules, prefix = fields_of(into), collection_of(into).prefix
        taken = _taken(self._state[service][plural].values(), rules)
        for name in ballast.fresh:  # nobody is called like somebody else of this world
            taken.setdefault(name, set()).update(each.casefold() for each in self._names)
        for at in range(ballast.count):
            given = {name: values[at] for name, values in columns.items()}
            fields = self._like(self._one_of(models), given, rules)
            for name in ballast.fresh:
                fields[name] = self._fresh(name, fields, models, rules[name], taken)
            for name in self._texts(ballast, fields, rules):
                fields[name] = self._reworded(name, models, fields, rules[name], taken)
            for name, rule in rules.items():
                if rule.unique and name in fields and name not in (*ballast.fresh, *given):
                    fields[name] = self._numbered(str(fields[name]), taken.setdefault(name, set()))
            fields["id"] = self._numbered(f"{prefix}-10000", {*self._state[service][plural]})
            keep(self._state, into, fields, self._now, where)

    def _into(self, like: str) -> str:
        for population in self._document.populations:
            if population.name == like and population.into is not None:
                return population.into
        raise DocumentFault(f"ballast: there is no population with records called {like}")

    def _columns(self, ballast: Ballast, into: str) -> dict[str, list[Any]]:
        """The values of what sets these records apart."""
        draws, made = Draws(self._document, self._key, self._seed), {}
        for name, column in ballast.columns.items():
            if not isinstance(column, Draw):
                made[name] = [list(column) if isinstance(column, tuple) else column] * ballast.count
            elif column.way == "sql":
                listed = self._candidates(str(column.sql))
                if not listed:
                    raise DocumentFault(f"ballast: {ballast.like}: {name}: no value to choose from")
                made[name] = [self._one_of(listed) for _ in range(ballast.count)]
            else:
                made[name] = draws.values(column, f"{into}.{name}", ballast.count)
        return made

    def _candidates(self, sql: str) -> list[Any]:
        """The values of the one column of SQL over all records so far."""
        tables = Tables(self._now.utcoffset() or dt.timedelta())
        try:
            put_pools(self._document, tables)
            put_facts(self._document, tables, self._made.facts)
            for service, rooms in self._state.items():
                for plural, records in rooms.items():
                    into = f"{service}.{plural}"
                    tables.put_records(into, records.values(), fields_of(into))
            return [next(iter(row.values())) for row in tables.select(sql)]
        finally:
            tables.close()

    def _one_of(self, values: Sequence[Any]) -> Any:
        return values[int(self._chance.integers(0, len(values)))]

    def _like(
        self, model: Fields, given: Mapping[str, Any], rules: Mapping[str, FieldRule]
    ) -> dict[str, Any]:
        """A record after another: days move together, and amounts by one share."""
        days = _moved_by(model, given, rules)
        clocks = [n for n in given if n in model and rules[n].type is FieldType.DATETIME]
        kept = {name: _later(str(model[name]), days) for name in clocks[:1]}  # the hour stays
        fields = {**model, **given, **kept}
        share = float(self._chance.integers(80, 126)) / 100
        has_lines = any(rule.type is FieldType.ROWS for rule in rules.values())
        for name in [n for n, value in fields.items() if value is not None and n not in given]:
            rule = rules.get(name)
            if rule is not None and rule.type in _CLOCKED and days:
                fields[name] = _later(str(fields[name]), days)
            elif rule is not None and rule.type is FieldType.NUMBER and not has_lines:
                is_money = rule.maximum is None and abs(fields[name]) >= _LEAST_MONEY
                fields[name] = round(fields[name] * share, 2) if is_money else fields[name]
        return {name: value for name, value in fields.items() if value is not None}

    # Words

    def _texts(
        self, ballast: Ballast, fields: Mapping[str, Any], rules: Mapping[str, FieldRule]
    ) -> list[str]:
        """The fields of prose, as the entry names them."""
        fixed = {*ballast.fresh, *ballast.columns}
        return [
            name
            for name, rule in rules.items()
            if name in fields
            and name not in fixed
            and rule.type is FieldType.TEXT
            and (name in ballast.texts if ballast.texts else _is_prose(name, rule))
        ]

    def _reworded(
        self,
        name: str,
        models: Sequence[Fields],
        fields: Mapping[str, Any],
        rule: FieldRule,
        taken: dict[str, set[str]],
    ) -> str:
        """A text that no other record has, from the sentences of several; titles may repeat."""
        texts, seen = [str(m[name]) for m in models if m.get(name)], taken.setdefault(name, set())
        if name in _TITLES:  # with a number of its own, which nothing else has
            return _NUMBER.sub(
                lambda number: self._numbered(number[0], set()), str(self._one_of(texts))
            )
        text = ""
        for again in range(_MOST_TRIES):
            others = [str(self._one_of(texts)) for _ in range(2)]
            text = self._mixed(str(fields[name]), others, is_dull=again > _MOST_TRIES // 3)
            if text.casefold() not in seen and len(text) <= rule.max_chars:
                break
        seen.add(text.casefold())
        return text

    def _mixed(self, own: str, others: Sequence[str], *, is_dull: bool) -> str:
        """A letter of other matter, or some sentences; with a remark where few can be made."""
        lines = own.strip().split("\n")
        remark = [self._remark()] if is_dull else []
        if len(lines) > 1:
            matter = [max(other.strip().split("\n"), key=len) for other in others]
            head, end = lines[: len(lines) > 2], lines[-2:] if len(lines) > 3 else lines[-1:]
            return "\n".join((*head, *dict.fromkeys(matter), *remark, *end))
        sentences = [s for text in (own, *others) for s in _SENTENCE.split(text.strip()) if s]
        order = self._chance.permutation(len(sentences))[: int(self._chance.integers(1, 4))]
        chosen = list(dict.fromkeys(sentences[int(place)] for place in order)) + remark
        if len(chosen) == 1:
            return chosen[0]
        gap = "" if self._document.language == "zh" else " "
        ended = [_ended(sentence, self._document.language) for sentence in chosen]
        return gap.join((ended[0], *(s[0].upper() + s[1:] for s in ended[1:])))

    def _remark(self) -> str:
        since = dt.date.fromisoformat(self._document.now[:10])
        day = since - dt.timedelta(days=int(self._chance.integers(1, 500)))
        is_zh = self._document.language == "zh"
        said = f"{day.year}年{day.month}月{day.day}日" if is_zh else f"{day:%-d %B %Y}"
        return str(self._one_of(_REMARKS[self._document.language])).format(
            code=int(self._chance.integers(1000, 100_000)),
            name=str(self._one_of(self._names)).rstrip("."),
            day=said,
        )

    def _fresh(
        self,
        name: str,
        fields: Mapping[str, Any],
        models: Sequence[Fields],
        rule: FieldRule,
        taken: dict[str, set[str]],
    ) -> str:
        """A name from the parts of others, or the address that goes with it."""
        seen = taken.setdefault(name, set())
        for again in range(_MOST_TRIES):
            if rule.type is FieldType.EMAIL:
                local = ".".join(NAME_RUN.findall(str(fields.get("name", "")).lower()))
                domain = str(self._one_of(models).get(name, fields.get(name))).partition("@")[2]
                made = f"{local}{again or ''}@{domain}"
            else:
                made = self._composed([str(m[name]) for m in models if m.get(name)])
            if made.casefold() not in seen:
                seen.add(made.casefold())
                return made
        return self._numbered(f"{made} 10", seen)

    def _composed(self, names: Sequence[str]) -> str:
        """The first part of one name with later parts of others of as many parts."""
        first = str(self._one_of(names)).split()
        alike = [n.split() for n in names if _shape(n) == _shape(" ".join(first))]
        return " ".join(self._one_of(alike)[place] for place in range(len(first)))

    def _numbered(self, like: str, seen: set[str]) -> str:
        return numbered(like, seen, self._chance)


def numbered(like: str, seen: set[str], chance: Generator) -> str:
    """A code of the same form with other digits; one digit longer where too few are free."""
    for again in itertools.count(1):
        made = re.sub(r"\d", lambda _: str(int(chance.integers(1, 10))), like)
        if made.casefold() not in seen:
            break
        is_short = re.search(r"\d{3}", like) is None
        like = f"{like}0" if is_short or again % _MOST_TRIES == 0 else like
    seen.add(made.casefold())
    return made


def _shape(name: str) -> list[str]:
    """How the parts of a name end: those of "Ash, Ann" are not exchanged with "Ann Ash"."""
    return [part[-1] if part[-1] in ",." else "" for part in name.split()]


def _names_in(state: State) -> Iterator[str]:
    """What people and firms are called in the records."""
    for rooms in state.values():
        for records in rooms.values():
            for fields in records.values():
                for field in ("name", "sender_name", "author_name", "party"):
                    if isinstance(name := fields.get(field), str) and 1 <= len(name.split()) <= 4:
                        yield name


def _taken(records: Any, rules: Mapping[str, FieldRule]) -> dict[str, set[str]]:
    """The texts that each field has by now."""
    taken: dict[str, set[str]] = {}
    for fields in records:
        for name in rules:
            if isinstance(fields.get(name), str):
                taken.setdefault(name, set()).add(fields[name].casefold())
    return taken


def _is_prose(name: str, rule: FieldRule) -> bool:
    return name in _TITLES or rule.max_chars >= _PROSE_CHARS


def _moved_by(model: Fields, given: Mapping[str, Any], rules: Mapping[str, FieldRule]) -> int:
    """By how many days the first day that is given differs from the model's."""
    for name, value in given.items():
        if rules.get(name) and rules[name].type in _CLOCKED and model.get(name) and value:
            days = [dt.date.fromisoformat(str(v)[:_DAY_CHARS]) for v in (value, model[name])]
            return (days[0] - days[1]).days
    return 0


def _later(value: str, days: int) -> str:
    day = dt.date.fromisoformat(value[:_DAY_CHARS]) + dt.timedelta(days=days)
    return f"{day}{value[_DAY_CHARS:]}"


def _ended(sentence: str, language: str) -> str:
    """A sentence with its full stop."""
    stop = "。" if language == "zh" else "."
    return sentence if sentence[-1] in ".!?。！？" else sentence + stop
