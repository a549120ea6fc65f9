"""Units of measure (km², tonnes, days, …): their spellings, and numbers that stand before them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from data.text.folding import fold_width
from data.text.lexicon import load_table

_SCALE = r"(?:hundred|thousand|million|billion|bn|百万|千|万|萬|亿|億)"
_GAP = r"[\s-]{0,2}"
RATIO = "ratio"
_RATIO = ("x", "times", "倍")


def _spelled(words: str) -> str:
    """The spelling as a pattern; a word of ASCII letters must not go on."""
    pattern = _GAP.join(map(re.escape, words.split()))
    return pattern + (r"(?![A-Za-z0-9^])" if words[-1].isascii() else "")


_TABLE = dict(load_table(__package__, "measures.toml"))
_LARGER = _TABLE.pop("larger")  # by unit and scale
_KINDS = {unit: kind for kind, units in _TABLE.items() for unit in units}
_COUNTED = frozenset(_TABLE["counted"])
_UNITS = {
    fold_width(spelling).lower(): unit
    for units in _TABLE.values()
    for unit, spellings in units.items()
    for spelling in (unit, *spellings)
}
_LONGEST_FIRST = sorted(_UNITS, key=lambda word: (-len(word), word))
_ANY = "|".join(map(_spelled, _LONGEST_FIRST))
_RATIO_ASKED = re.compile(
    r"\b(?:ratio|multiple|times|coverage)\b|how many times|倍|比率|比例|回転率", re.I
)
_ASKED = re.compile(
    rf"(?:\b(?:how many|number of|in|of) (?:whole |full |metric )?|多少个?|几|何"
    rf"|单位[:为]?|単位[:は]?)\s*(?P<unit>{_ANY})",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Measured:
    """A number before a unit of measure, or a unit declared for all numbers (`number` is None)."""

    start: int
    unit_start: int
    end: int
    unit: str
    number: str | None


def measures_asked(gold_unit: str | None, question: str, scale: int = 1) -> frozenset[str]:
    """The units of measure that are asked for: that of the gold value, or those of "how many …".

    `scale` is that of the gold value: thousands of tonnes are kilotonnes too.
    Empty if the gold value is money, a proportion, a number of shares or of things. The reader of
    numbers knows these itself.
    """
    if gold_unit not in (None, "count"):
        name = fold_width(gold_unit).lower()
        if name in _UNITS and not _is_currency(gold_unit):
            unit = _UNITS[name]
            return frozenset({unit, *_LARGER.get(unit, {}).get(str(scale), ())})
        return frozenset()
    plain = fold_width(question)
    units = {_UNITS[_key(match["unit"])] for match in _ASKED.finditer(plain)} - _COUNTED
    if gold_unit is None and _RATIO_ASKED.search(plain):
        units.add(RATIO)
    return frozenset(units)


def _is_currency(unit: str) -> bool:
    return len(unit) == 3 and unit.isupper()


def _key(written: str) -> str:
    """The spelling in the table of a unit as written."""
    plain = written.lower()
    if plain in _UNITS:
        return plain
    return next(word for word in _LONGEST_FIRST if re.fullmatch(_spelled(word), plain))


_RATIO_WORDS = "|".join(map(_spelled, _RATIO))
_MEASURED = re.compile(
    rf"(?<![0-9A-Za-z.,])(?P<number>[0-9][0-9.,]{{0,30}}(?:\s?{_SCALE})?)(?:\s?-?|\s?(?P<open>\())"
    rf"(?:(?P<unit>{_ANY})|(?P<ratio>{_RATIO_WORDS}))(?(open)\))",
    re.I,
)
_DECLARED = re.compile(rf'(?:"unit":\s*"|\bin |\bunits?: ?)(?P<unit>{_ANY})(?!\w)', re.I)


def measured(text: str) -> Iterator[Measured]:
    """The numbers of a text of half width before units of measure, and units that it declares."""
    for pattern in (_MEASURED, _DECLARED):
        for match in pattern.finditer(text):
            unit = _UNITS[_key(match["unit"])] if match["unit"] else RATIO
            number = match["number"] if pattern is _MEASURED else None
            start = match.start("unit") if number is None else match.end("number")
            yield Measured(match.start(), start, match.end(), unit, number)


def kind_of(unit: str) -> str:
    """The kind of a unit: area, mass, time, …"""
    return _KINDS.get(unit, unit)
