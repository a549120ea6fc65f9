"""The values of records and arguments: which fit a field, how they are stored, and their schemas.

Instants are stored with the offset of the world's clock, to the second; numbers to six decimals,
whole ones as integers. So the same act always leaves the same state.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from data.contracts.candidate import Contract

MAX_NUMBER = 1e12
MAX_ITEMS = 200  # of a list
_EMAIL = re.compile(r"[^@\s,;<>\"]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})+")
ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?")
_DECIMALS = 6


class FieldType(StrEnum):
    TEXT = "text"
    EMAIL = "email"
    ENUM = "enum"
    DATE = "date"  # 2026-03-05
    DATETIME = "datetime"  # 2026-03-05T09:00:00+01:00
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    TEXTS = "texts"
    EMAILS = "emails"
    ROWS = "rows"  # a list of objects with `columns`


class FieldRule(Contract):
    """What a field may hold.

    `reference` names the collection ("service/collection", or a collection of the same service)
    whose ids the value is among. `default` is the value of new records; it may be a template.
    `minimum` and `maximum` bound numbers; `max_chars` bounds texts. Nobody minds if the field moves
    among the values of `harmless` by the way (true: among all), unless a task is about just that.
    """

    type: FieldType = FieldType.TEXT
    required: bool = False
    read_only: bool = False  # clients neither set nor change it
    fixed: bool = False  # clients set it when they create the record, never later
    unique: bool = False
    values: tuple[str, ...] = ()
    reference: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    max_chars: int = 500
    pattern: str | None = None  # that a whole text has to fit; `about` says it in words
    default: Any = None
    about: str = ""
    harmless: tuple[str, ...] | bool = False
    columns: Mapping[str, FieldRule] = {}


class ValueFault(Exception):
    """A value that does not fit; the message says what is expected and never holds the value."""


def stored(rule: FieldRule, value: Any, now: datetime) -> Any:
    """A JSON value as it is stored. Raises ValueFault."""
    return _STORED[rule.type](rule, value, now)


def _text(rule: FieldRule, value: Any, _now: datetime) -> str:
    if not isinstance(value, str):
        raise ValueFault(f"found {_kind(value)}; expected a text")
    if len(value) > rule.max_chars:
        raise ValueFault(f"found {len(value)} characters; expected at most {rule.max_chars}")
    if rule.required and not value.strip():
        raise ValueFault("found a blank text; expected some words")
    if rule.pattern is not None and not re.fullmatch(rule.pattern, value):
        raise ValueFault(f"expected {rule.about}")
    return value


def _email(rule: FieldRule, value: Any, now: datetime) -> str:
    text = _text(rule, value, now).strip()
    if not _EMAIL.fullmatch(text):
        raise ValueFault("expected one email address, such as ann@example.com")
    return text.lower()


def _enum(rule: FieldRule, value: Any, _now: datetime) -> str:
    if not isinstance(value, str) or value not in rule.values:
        raise ValueFault(f"expected one of {', '.join(rule.values)}")
    return value


def _date(_rule: FieldRule, value: Any, _now: datetime) -> str:
    if isinstance(value, str) and ISO_DAY.fullmatch(value):
        try:
            return date.fromisoformat(value).isoformat()
        except ValueError:
            pass
    raise ValueFault("expected a day such as 2026-03-05")


def _datetime(_rule: FieldRule, value: Any, now: datetime) -> str:
    if isinstance(value, str) and _INSTANT.fullmatch(value):
        try:
            instant = datetime.fromisoformat(value)
            if instant.tzinfo is None:
                instant = instant.replace(tzinfo=now.tzinfo)
            return instant.astimezone(now.tzinfo).isoformat(timespec="seconds")
        except (ValueError, OverflowError):
            pass
    raise ValueFault("expected a time such as 2026-03-05T09:00:00+01:00")


def _integer(rule: FieldRule, value: Any, _now: datetime) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueFault(f"found {_kind(value)}; expected a whole number")
    _bounded(rule, value)
    return value


def _number(rule: FieldRule, value: Any, _now: datetime) -> float | int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueFault(f"found {_kind(value)}; expected a number")
    _bounded(rule, value)
    rounded = round(float(value), _DECIMALS)
    return int(rounded) if rounded.is_integer() else rounded


def _bounded(rule: FieldRule, value: float) -> None:
    least = -MAX_NUMBER if rule.minimum is None else rule.minimum
    most = MAX_NUMBER if rule.maximum is None else rule.maximum
    if not least <= value <= most:
        raise ValueFault(f"expected a number from {least:g} to {most:g}")


def _boolean(_rule: FieldRule, value: Any, _now: datetime) -> bool:
    if not isinstance(value, bool):
        raise ValueFault(f"found {_kind(value)}; expected true or false")
    return value


def _texts(rule: FieldRule, value: Any, now: datetime) -> list[str]:
    item = FieldRule(required=True, max_chars=rule.max_chars)
    return [_text(item, part, now) for part in _items(rule, value)]


def _emails(rule: FieldRule, value: Any, now: datetime) -> list[str]:
    return [_email(rule, part, now) for part in _items(rule, value)]


def _rows(rule: FieldRule, value: Any, now: datetime) -> list[dict[str, Any]]:
    rows = []
    for part in _items(rule, value):
        if not isinstance(part, dict):
            raise ValueFault(f"found {_kind(part)}; expected objects")
        row = {}
        for name, column in rule.columns.items():
            if part.get(name) is not None:
                row[name] = stored(column, part[name], now)
            elif column.required:
                raise ValueFault(f"expected {name} in each object")
        if part.keys() - rule.columns.keys():
            raise ValueFault(f"expected objects with {', '.join(rule.columns)}")
        rows.append(row)
    return rows


def _items(rule: FieldRule, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueFault(f"found {_kind(value)}; expected a list")
    if len(value) > MAX_ITEMS:
        raise ValueFault(f"found {len(value)} items; expected at most {MAX_ITEMS}")
    if rule.required and not value:
        raise ValueFault("found an empty list; expected at least one item")
    return value


def _kind(value: Any) -> str:
    kinds: dict[type, str] = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
    }
    return kinds.get(type(value), "nothing")


_STORED = {
    FieldType.TEXT: _text,
    FieldType.EMAIL: _email,
    FieldType.ENUM: _enum,
    FieldType.DATE: _date,
    FieldType.DATETIME: _datetime,
    FieldType.INTEGER: _integer,
    FieldType.NUMBER: _number,
    FieldType.BOOLEAN: _boolean,
    FieldType.TEXTS: _texts,
    FieldType.EMAILS: _emails,
    FieldType.ROWS: _rows,
}


def json_schema(rule: FieldRule) -> dict[str, Any]:
    """The JSON schema of a field: one plain type, no references, no alternatives."""
    schema = dict(_SCHEMAS[rule.type])
    if rule.type is FieldType.ENUM:
        schema["enum"] = list(rule.values)
    if rule.type is FieldType.TEXT:
        schema["maxLength"] = rule.max_chars
    if rule.type is FieldType.ROWS:
        schema["items"] = object_schema(rule.columns)
    for name, bound in (("minimum", rule.minimum), ("maximum", rule.maximum)):
        if bound is not None:
            schema[name] = int(bound) if float(bound).is_integer() else bound
    said = [rule.about] if rule.about else []
    if rule.reference is not None:
        said.append(f"an id of {rule.reference.replace('_', ' ')}")
    elif rule.type in _FORMS:
        said.append(_FORMS[rule.type])
    return schema | {"description": "; ".join(said) or "a text"}


def object_schema(rules: Mapping[str, FieldRule]) -> dict[str, Any]:
    """The JSON schema of an object with these fields and no others."""
    return {
        "type": "object",
        "properties": {name: json_schema(rule) for name, rule in rules.items()},
        "required": [name for name, rule in rules.items() if rule.required],
        "additionalProperties": False,
    }


# Every argument has a description: some runners insist on it, and agents need the form.
_FORMS: Mapping[FieldType, str] = {
    FieldType.EMAIL: "an email address",
    FieldType.ENUM: "one of the values listed",
    FieldType.DATE: "a day such as 2026-03-05",
    FieldType.DATETIME: "a time such as 2026-03-05T09:00:00+01:00",
    FieldType.INTEGER: "a whole number",
    FieldType.NUMBER: "a number",
    FieldType.BOOLEAN: "true or false",
    FieldType.TEXTS: "a list of texts",
    FieldType.EMAILS: "a list of email addresses",
    FieldType.ROWS: "a list of objects",
}
_SCHEMAS: Mapping[FieldType, Mapping[str, Any]] = {
    FieldType.TEXT: {"type": "string"},
    FieldType.EMAIL: {"type": "string"},
    FieldType.ENUM: {"type": "string"},
    FieldType.DATE: {"type": "string"},
    FieldType.DATETIME: {"type": "string"},
    FieldType.INTEGER: {"type": "integer"},
    FieldType.NUMBER: {"type": "number"},
    FieldType.BOOLEAN: {"type": "boolean"},
    FieldType.TEXTS: {"type": "array", "items": {"type": "string"}},
    FieldType.EMAILS: {"type": "array", "items": {"type": "string"}},
    FieldType.ROWS: {"type": "array"},
}


def parsed_now(now: str) -> datetime:
    """The world's clock. Raises ValueError unless it is an instant with an offset."""
    instant = datetime.fromisoformat(now)
    if instant.tzinfo is None or instant.utcoffset() is None:
        raise ValueError("a time without an offset")
    return instant
