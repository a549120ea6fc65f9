"""Values of checks as people read them: alike for what was expected and what was found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

import orjson

from data.neutralise import one_line

_SHORT = 200
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)(?: (\S.*))?")
_UNITS = {"count": "", "ratio": "", "percent": "%"}
_SCALES = {1_000: "thousand", 1_000_000: "million", 1_000_000_000: "billion"}
_PLAIN = 10_000  # below it a number without a unit may be a year


def quantity(text: str, scale: int = 1) -> str:
    """A number of units, told in multiples of `scale`, as `11,314 million JPY`; else the text."""
    match = _NUMBER.fullmatch(text.strip())
    return (
        text if match is None else _number_words(Decimal(match[1]) / scale, match[2] or "", scale)
    )


def _number_words(value: Decimal, unit: str, scale: int) -> str:
    """So many multiples of a scale; zeros behind the point and units that say nothing are left out.

    A scale without a word of its own is multiplied out.
    """
    if scale not in _SCALES:
        value *= scale
    digits = f"{value:f}" if not unit and abs(value) < _PLAIN else f"{value:,f}"
    whole = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return " ".join(filter(None, (whole, _SCALES.get(scale), _UNITS.get(unit, unit))))


def answer_text(value: object, unit: str = "", scale: int = 1) -> str:
    """The value of an answer, in the unit asked for: a list as items, a number with its unit."""
    text = str(value)
    if text.startswith("["):
        try:
            items = orjson.loads(text)
        except ValueError:
            return text
        if isinstance(items, list):
            return plain(items)
    match = _NUMBER.fullmatch(f"{text} {unit}".strip())
    return (
        f"{text} {unit}".strip() if match is None else _number_words(Decimal(match[1]), unit, scale)
    )


def reading_text(reading: str, unit: str = "", scale: int = 1) -> str:
    """What an answer was read as, told in the unit asked for if it is in that unit."""
    is_alike = reading.partition(" ")[2] == unit
    return (
        answer_text(reading)
        if reading.startswith("[")
        else quantity(reading, scale if is_alike else 1)
    )


def plain(value: object) -> str:
    """A value in words: items behind commas, fields behind their names; no brackets of JSON."""
    if isinstance(value, Mapping):
        return "; ".join(
            f"{str(key).replace('_', ' ')}: {plain(item)}"
            for key, item in value.items()
            if item not in (None, "", [], {})
        )
    if isinstance(value, list | tuple):
        return ", ".join(plain(item) for item in value)
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "nothing"}[value]
    return str(value)


def settings(params: Mapping[str, object]) -> str:
    """The settings of a check that people can read at once; programs and files are left out."""
    shown = {key: value for key, value in params.items() if len(plain(value)) <= _SHORT}
    return plain(shown)


def brief(text: str, most: int = _SHORT) -> str:
    """The beginning of a text on one line, which ends between words."""
    line = one_line(text)
    if len(line) <= most:
        return line
    return f"{line[:most].rpartition(' ')[0] or line[:most]} …".replace(", …", " …")
