"""Do fields of requests and records meet what a check wants of them?

Imports the reader of answers and text utilities: the exported bundle takes them along.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from construction.grading.answers.mentions import mentions
from data.text.folding import plain_form

MAX_CHARS = 10_000  # of a field that is searched


def fits(fields: Mapping[str, Any], where: Mapping[str, Any] | None) -> bool:
    """Do all fields fit? A missing field fits only `{"exists": false}`."""
    return all(_meets(_field(fields, name), wanted) for name, wanted in (where or {}).items())


_ABSENT = object()


def _field(fields: Mapping[str, Any], name: str) -> Any:
    if name in fields:
        return fields[name]
    value: Any = fields
    for key in name.split("."):
        value = value.get(key, _ABSENT) if isinstance(value, Mapping) else _ABSENT
    return value


def _meets(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, Mapping):
        return value is not _ABSENT and _equals(value, wanted)
    if value is _ABSENT:
        return wanted == {"exists": False}
    return all(
        name in _OPERATORS and _OPERATORS[name](value, operand) for name, operand in wanted.items()
    )


def _equals(value: Any, wanted: Any) -> bool:
    """Numbers by value, texts without width, case and amount of white space."""
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    if isinstance(value, str) and isinstance(wanted, str):
        return plain_form(value) == plain_form(wanted)
    if isinstance(wanted, list | tuple):
        if not isinstance(value, list | tuple) or len(value) != len(wanted):
            return False
        return all(map(_equals, value, wanted))
    first, second = _number(value), _number(wanted)
    if first is not None and second is not None:
        return first == second
    return bool(value == wanted)


def _number(value: Any) -> Decimal | None:
    if value is None or isinstance(value, bool | Mapping | list | tuple):
        return None
    try:
        number = Decimal(str(value)[:100])
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _compares(value: Any, bound: Any, sign: int) -> bool:
    """Is `sign` times the difference from a bound at least zero? Texts, such as days, by order."""
    first, second = _number(value), _number(bound)
    if first is not None and second is not None:
        return (first - second) * sign >= 0
    if isinstance(value, str) and isinstance(bound, str):
        return value >= bound if sign > 0 else value <= bound
    return False


def _contains(value: Any, wanted: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_equals(item, wanted) for item in value)
    return mentions(str(value)[:MAX_CHARS], str(wanted))


def _all_of(value: Any, wanted: Sequence[Any]) -> bool:
    return all(_contains(value, item) for item in wanted)


def _same_items(value: Any, wanted: Sequence[Any]) -> bool:
    """A list with exactly these items, in any order."""
    if not isinstance(value, list | tuple) or len(value) != len(wanted):
        return False
    free = list(value)
    for item in wanted:
        at = next((at for at, other in enumerate(free) if _equals(other, item)), None)
        if at is None:
            return False
        free.pop(at)
    return True


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "equals": _equals,
    "not": lambda value, wanted: not _equals(value, wanted),
    "in": lambda value, wanted: any(_equals(value, item) for item in wanted),
    "contains": _contains,
    "contains_all": _all_of,
    "same_items": _same_items,
    "matches": lambda value, wanted: re.search(wanted, str(value)[:MAX_CHARS], re.I) is not None,
    "min": lambda value, bound: _compares(value, bound, 1),
    "max": lambda value, bound: _compares(value, bound, -1),
    "exists": lambda value, wanted: wanted is True,
}
