"""One part of an answer compared with its gold value, by type; lists item by item.

Imports nothing but the standard library, text utilities and the reader of
`construction.statements.answers`: the exported bundle takes it along.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from construction.grading.answer_numbers import (
    AnswerReason,
    Verdict,
    compare_number,
    is_refusal,
)
from construction.grading.answer_words import (
    compare_boolean,
    compare_date,
    compare_text,
    is_any,
    loose,
)
from construction.grading.spec import AnswerSpec

MAX_ITEMS = 1000  # of a list; more are cut off, and count as extra items
_MAX_LIST = 100_000  # characters of a list that are read

_SEPARATORS = (r"\n+", r"[;；]", r"、", r",(?![0-9]{3}(?![0-9]))|,(?=\s)|，")
_LAST_AND = re.compile(r"^(?:and|or|及び|および|和|以及)\s+", re.I)
_BULLET = re.compile(r"^\s*(?:[-*•·]|[0-9]{1,3}[.)])\s+")
_INTRODUCTION = re.compile(r"^[^\n]{0,200}?(?::|：|\bare\b|\bis\b|是|は)\s*")

_RANK: tuple[AnswerReason | None, ...] = (
    None,
    AnswerReason.WRONG_ORDER,
    AnswerReason.MISSING_ITEMS,
    AnswerReason.EXTRA_ITEMS,
    AnswerReason.WRONG_VALUE,
    AnswerReason.MISSING,
)


def compare(spec: AnswerSpec, text: str, question: str) -> Verdict:
    """The verdict on the text given for one part.

    Never raises for any text; raises ValueError for a specification of an unknown type or with a
    gold value that is not of its type.
    """
    if spec.type not in _BY_TYPE:
        raise ValueError(f"unknown answer type {spec.type}; known: {', '.join(_BY_TYPE)}")
    return _BY_TYPE[spec.type](spec, text, question)


def compare_list(spec: AnswerSpec, text: str, question: str) -> Verdict:
    """A list, in order if the specification asks for it."""
    text = text[:_MAX_LIST]
    golds = [_gold_items(value) for value in (spec.value, *spec.aliases)]
    if is_refusal(text) and not text.lstrip().startswith("["):
        return Verdict(AnswerReason.REFUSED)
    introduced = _INTRODUCTION.match(text)
    texts = (text, text[introduced.end() :]) if introduced else (text,)
    readings = [reading for variant in texts for reading in _readings(variant)]
    verdicts = [_list_verdict(spec, gold, given, question) for gold in golds for given in readings]
    return min(verdicts, key=lambda verdict: _RANK.index(verdict.reason))


def _list_verdict(
    spec: AnswerSpec, gold: Sequence[str], given: Sequence[str], question: str
) -> Verdict:
    if not given:
        return Verdict(None if not gold else AnswerReason.MISSING)
    free, matched = list(range(len(given))), []
    for item in gold:
        is_equal = _item_test(spec, item, question)
        at = next((at for at in free if is_equal(given[at])), None)
        if at is not None:
            free.remove(at)
            matched.append(at)
    reading = "; ".join(given[:20])
    missing = len(gold) - len(matched)
    if missing or free:
        reason = AnswerReason.MISSING_ITEMS if not free else AnswerReason.EXTRA_ITEMS
        both = missing and free
        return Verdict(AnswerReason.WRONG_VALUE if both else reason, reading)
    in_order = matched == sorted(matched) or not spec.ordered
    return Verdict(None if in_order else AnswerReason.WRONG_ORDER, reading)


def _item_test(spec: AnswerSpec, gold: str, question: str) -> Callable[[str], bool]:
    """Whether an item equals a gold item: as a number if the gold item is one, else as text."""
    kind = "number" if _as_number(gold) else "text"
    item_spec = replace(spec, type=kind, value=gold, aliases=(), decimals=None)
    golds = [loose(gold)]
    if kind == "text":
        return lambda item: is_any(loose(item), golds)
    return lambda item: compare(item_spec, item, question).reason is None


def _as_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def _gold_items(value: str) -> list[str]:
    """The items of a gold list; a value that is no JSON array is one item."""
    loaded = _json_items(value)
    return [value] if loaded is None else loaded


def _json_items(text: str) -> list[str] | None:
    try:
        loaded = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    if not isinstance(loaded, list):
        return None
    return ["" if item is None else str(item) for item in loaded[: MAX_ITEMS + 1]]


def _items(text: str) -> list[str]:
    """The items of a JSON array, of lines, or of a text with separators."""
    loaded = _json_items(text.strip()) if text.lstrip().startswith("[") else None
    if loaded is not None:
        return loaded
    for separator in _SEPARATORS:
        parts = [
            _LAST_AND.sub("", _BULLET.sub("", part).strip()) for part in re.split(separator, text)
        ]
        parts = [part.strip(" .\"'“”[]") for part in parts[: MAX_ITEMS + 1]]
        parts = [part for part in parts if part]
        if len(parts) > 1:
            return parts
    only = _BULLET.sub("", text).strip(" .\"'“”[]\n")
    return [only] if only else []


def _readings(text: str) -> list[list[str]]:
    """The items, and as items too the two sides of an "and" in the last one ("A, B and C")."""
    items = _items(text)
    pieces = re.split(r"\s+and\s+|和|と", items[-1]) if items else []
    return [items, [*items[:-1], *pieces]] if len(pieces) == 2 else [items]


_BY_TYPE: dict[str, Callable[[AnswerSpec, str, str], Verdict]] = {
    "number": compare_number,
    "text": compare_text,
    "boolean": compare_boolean,
    "date": compare_date,
    "list": compare_list,
}
