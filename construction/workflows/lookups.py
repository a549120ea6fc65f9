"""Reading records: search with conditions, order and pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from construction.workflows.contracts import Fields
from construction.workflows.declaration import PAGE_ROWS, Collection
from construction.workflows.values import FieldRule, FieldType, ValueFault, stored
from data.text.folding import plain_form

_DAY = FieldRule(type=FieldType.DATE)
_INSTANT = FieldRule(type=FieldType.DATETIME)
_DAY_CHARS = len("2026-03-05")


def matching(
    records: Mapping[str, Fields],
    collection: Collection,
    arguments: Mapping[str, Any],
    now: datetime,
) -> list[Fields]:
    """The records that meet all conditions, in the order asked for.

    Records without the field that they are sorted by come last; ties are in order of id. Raises
    ValueFault.
    """
    tests = _tests(collection, arguments, now)
    rows = [fields for fields in records.values() if all(test(fields) for test in tests)]
    order = arguments.get("sort", collection.sort)
    name = order.removeprefix("-")
    rows.sort(key=lambda fields: str(fields["id"]))
    present = [fields for fields in rows if fields.get(name) is not None]
    present.sort(key=lambda fields: fields[name], reverse=order.startswith("-"))
    return present + [fields for fields in rows if fields.get(name) is None]


def page_of(rows: Sequence[Fields], arguments: Mapping[str, Any]) -> list[Fields]:
    """The rows of the page asked for; none beyond the last."""
    limit, page = arguments.get("limit", PAGE_ROWS), arguments.get("page", 1)
    return list(rows[(page - 1) * limit : page * limit])


def row_of(fields: Fields, collection: Collection) -> dict[str, Any]:
    """What a search shows of a record."""
    shown = ("id", *collection.summary) if collection.summary else tuple(fields)
    return {name: fields[name] for name in shown if name in fields}


Test = Callable[[Fields], bool]


def _tests(collection: Collection, arguments: Mapping[str, Any], now: datetime) -> list[Test]:
    tests = []
    if words := folded(arguments.get("query", "")).split():
        tests.append(_has_words(words, collection.query))
    for name, rule in collection.fields.items():
        if name in arguments:
            tests.append(_equals(name, rule, arguments[name]))
        for suffix in ("from", "to"):
            if (bound := arguments.get(f"{name}_{suffix}")) is not None:
                tests.append(_in_time(name, rule, bound, suffix == "from", now))
        for suffix in ("min", "max"):
            if (bound := arguments.get(f"{name}_{suffix}")) is not None:
                tests.append(_in_range(name, bound, suffix == "min"))
    return tests


def _has_words(words: Sequence[str], names: Sequence[str]) -> Test:
    def test(fields: Fields) -> bool:
        texts = [_searched(_as_text(fields[name])) for name in names if name in fields]
        return all(any(word in text for text in texts) for word in words)

    return test


def _as_text(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _searched(text: str) -> str:
    """`folded` as far as a word without white space can notice, which costs far less for ASCII."""
    return text.lower() if text.isascii() else folded(text)


@lru_cache(maxsize=1 << 12)
def folded(text: str) -> str:
    """A text without differences of width, case and white space; kept, for it is compared often."""
    return plain_form(text)


def _equals(name: str, rule: FieldRule, wanted: Any) -> Test:
    if rule.type is FieldType.BOOLEAN:
        return lambda fields: fields.get(name, False) is wanted
    plain = folded(wanted)
    if rule.type in (FieldType.TEXTS, FieldType.EMAILS):
        return lambda fields: plain in map(folded, fields.get(name, ()))
    return lambda fields: folded(str(fields.get(name, ""))) == plain


def _in_time(name: str, rule: FieldRule, bound: str, is_lower: bool, now: datetime) -> Test:
    """Compares days with days, and instants with instants, which are stored with one offset."""
    try:
        limit = stored(_DAY, bound.strip(), now)
    except ValueFault:
        limit = stored(_INSTANT, bound.strip(), now)
    chars = _DAY_CHARS if rule.type is FieldType.DATE else len(limit)
    limit = limit[:chars]

    def test(fields: Fields) -> bool:
        value = fields.get(name)
        if value is None:
            return False
        return bool(value[:chars] >= limit if is_lower else value[:chars] <= limit)

    return test


def _in_range(name: str, bound: float, is_lower: bool) -> Test:
    def test(fields: Fields) -> bool:
        value = fields.get(name)
        if value is None:
            return False
        return bool(value >= bound if is_lower else value <= bound)

    return test
