"""Names of organisations, places and addresses: invented stems; forms and separators stay."""

from __future__ import annotations

import re
from functools import cache

from numpy.random import Generator

from anonymization.text.surrogates.assignment import Draw, SurrogateTable
from anonymization.text.surrogates.lexicon import lexicon
from anonymization.text.surrogates.shapes import (
    LETTERS,
    cased_like,
    digits,
    pick,
    same_shape,
)
from data.text.scripts import HAN, has_han, is_han

_PLACE, _ZH_PLACE, _REGION, _NUMBER, _CODE = "place", "zh.place", "zh.region", "number", "code"
_PARTS = re.compile(rf"[{HAN}]+|[^\W\d_{HAN}]+(?:'[^\W\d_]+)?|\d+")
_POSTCODE = re.compile(r"(?<![^\W_])[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}(?![^\W_])")
_ABBREVIATION = 3


def location(table: SurrogateTable, value: str, salt: str) -> str:
    """A place: each word has its own surrogate; kinds of places (city, lake, 省, 市) stay."""
    return _changed(table, value, salt)


def address(table: SurrogateTable, value: str, salt: str) -> str:
    """Like a location; numbers of houses and flats, postcodes and abbreviations are new too."""
    value = _POSTCODE.sub(lambda match: _code(table, match.group(), salt), value)
    return _changed(table, value, salt)


def region(table: SurrogateTable, name: str) -> str:
    """Another Chinese province or city, with the same ending."""
    choices = tuple(r for r in lexicon().regions_zh if r.endswith("市") == name.endswith("市"))
    return table.token(_REGION, name, lambda rng, _: pick(rng, choices), fresh=False)


def _changed(table: SurrogateTable, value: str, salt: str) -> str:
    keep = lexicon().place_words
    words = [word for word in _PARTS.findall(value) if not word.isdigit()]
    if all(word.casefold() in keep for word in words) and not re.search(r"\d", value):
        keep = frozenset()

    def change(match: re.Match[str]) -> str:
        word = match.group()
        if word.isdecimal():
            return _number(table, word, salt)
        if is_han(word[0]):
            after_number = value[: match.start()][-1:].isdecimal()
            return _chinese_place(table, word, after_number, salt)
        folded = word.casefold()
        if folded in keep:
            return word
        if len(word) < _ABBREVIATION and word.isupper():
            return _code(table, word, salt)
        return cased_like(table.token(_PLACE, folded, stem, salt), word)

    return _PARTS.sub(change, value)


def _number(table: SurrogateTable, word: str, salt: str) -> str:
    draw: Draw = lambda rng, _: digits(rng, len(word)).replace("0", "7", 1)  # noqa: E731
    return table.token(f"{_NUMBER}{len(word)}", word, draw, salt, fresh=False)


def _code(table: SurrogateTable, word: str, salt: str) -> str:
    return table.token(_CODE, word, lambda rng, _: same_shape(word, rng), salt, fresh=False)


def _chinese_place(table: SurrogateTable, text: str, after_number: bool, salt: str) -> str:
    """Replace the stems between kinds of places, each by a stem of the same length."""
    lead = next((word for word in lexicon().place_lead_zh if text.startswith(word)), "")
    if after_number:
        counted = re.match(f"(?:{_ends()})+", text)
        lead = counted.group() if counted else ""
    parts, rest = [lead], text[len(lead) :]
    for match in re.finditer(f"(.+?)({_ends()}|$)", rest):
        name, end = match.groups()
        parts += [table.token(_ZH_PLACE, name, _zh_place_stem(len(name)), salt), end]
    return "".join(parts)


@cache
def _ends() -> str:
    return "|".join(sorted(lexicon().place_ends_zh, key=lambda end: (-len(end), end)))


def _zh_place_stem(size: int) -> Draw:
    def draw(rng: Generator, attempt: int) -> str:
        words = lexicon()
        count = max(1, size) + attempt // _LONGER_FROM
        return "".join(
            pick(rng, words.zh_first if index % 2 == 0 else words.zh_second)
            for index in range(count)
        )

    return draw


_STEM, _ZH_STEM = "company", "zh.company"
_HAN_RUN = re.compile(rf"[{HAN}]+")
_LONGER_FROM = 40


def organization(table: SurrogateTable, value: str, salt: str) -> str:
    """A name of the same form; each word of a stem has one surrogate, so that short names agree."""
    if has_han(value):
        value = _HAN_RUN.sub(lambda run: _chinese(table, run.group(), salt), value)
    keep = lexicon().company_words
    words = [word.casefold() for word in LETTERS.findall(value) if not has_han(word)]
    if all(word in keep for word in words):
        keep = frozenset()

    def change(match: re.Match[str]) -> str:
        word = match.group()
        if word.casefold() in keep or has_han(word):
            return word
        return cased_like(table.token(_STEM, word.casefold(), stem, salt), word)

    return LETTERS.sub(change, value)


def stem(rng: Generator, attempt: int) -> str:
    """An invented English name: a first and a second part, further parts after many attempts."""
    words = lexicon()
    middle = pick(rng, words.second) if attempt > _LONGER_FROM else ""
    return pick(rng, words.first) + middle + pick(rng, words.second)


def _chinese(table: SurrogateTable, name: str, salt: str) -> str:
    words = lexicon()
    lead = next((r for r in words.regions_zh if name.startswith(r) and name != r), "")
    rest = name[len(lead) :]
    end = _end(rest, words.company_ends_zh)
    core = rest[: len(rest) - len(end)]
    line = _end(core, words.company_lines_zh)
    core = core[: len(core) - len(line)]
    if not core:
        core, line, end = (rest[: len(rest) - len(end)], "", end) if end != rest else (rest, "", "")
    new = table.token(_ZH_STEM, core, _zh_stem(len(core)), salt)
    return (region(table, lead) if lead else "") + new + line + end


def _end(name: str, ends: tuple[str, ...]) -> str:
    matching = [end for end in ends if name.endswith(end) and name != end]
    return max(matching, key=len, default="")


def _zh_stem(size: int) -> Draw:
    def draw(rng: Generator, attempt: int) -> str:
        words = lexicon()
        pairs = (max(2, min(size, 4)) + 1) // 2 + attempt // _LONGER_FROM
        return "".join(pick(rng, words.zh_first) + pick(rng, words.zh_second) for _ in range(pairs))

    return draw
