"""Names of people: one surrogate per given and per family name, so that the parts agree."""

from __future__ import annotations

import re

from numpy.random import Generator

from anonymization.text.surrogates.assignment import Draw, SurrogateTable
from anonymization.text.surrogates.lexicon import lexicon
from anonymization.text.surrogates.shapes import LETTERS, cased_like, digits, pick
from data.text.scripts import HAN, has_han

GIVEN, FAMILY = "given", "family"
_ZH_GIVEN, _ZH_FAMILY, _ZH_FOREIGN, _INITIAL = "zh.given", "zh.family", "zh.foreign", "initial"
_ALPHABET = "ABCDEFGHJKLMNPRSTVW"
_HAN_RUN = re.compile(rf"[{HAN}]+")
_HANDLE_PARTS = re.compile(r"[^\W\d_]+|\d+")
_COMPOSED_FROM = 12
_LONG_NAME = 4


def person(table: SurrogateTable, value: str, salt: str) -> str:
    """A name of the same form: initials, titles, order, letter case and separators stay."""
    if has_han(value):
        return _HAN_RUN.sub(lambda run: _chinese(table, run.group(), "·" in value, salt), value)
    words = [match for match in LETTERS.finditer(value) if _is_name(match.group())]
    parts, done = [], 0
    for number, match in enumerate(words):
        last = number == len(words) - 1
        word = match.group()
        parts += [value[done : match.start()], _word(table, word, last and number > 0, salt)]
        done = match.end()
    return "".join(parts) + value[done:]


def part_of_person(table: SurrogateTable, value: str) -> bool:
    """Is the value a word that is part of a name known already?"""
    folded = value.casefold()
    return table.knows(FAMILY, folded) or table.knows(GIVEN, folded)


def handle(table: SurrogateTable, value: str, salt: str = "") -> str:
    """A user name: known parts of names get the same surrogates, all else new ones."""
    known = {**table.tokens(GIVEN), **table.tokens(FAMILY)}

    def part(match: re.Match[str]) -> str:
        word = match.group()
        if word.isdigit():
            return table.token("handle.digits", word, _digits_like(len(word)), salt, fresh=False)
        if has_han(word):
            return _chinese(table, word, False, salt)
        folded = word.casefold()
        if folded in known:
            return cased_like(known[folded], word)
        if folded[1:] in known and len(folded) > _LONG_NAME:
            return cased_like(_initial(table, folded[0]) + known[folded[1:]], word)
        if len(word) == 1:
            return cased_like(_initial(table, folded), word)
        return cased_like(table.token("handle", folded, _given, salt), word)

    return _HANDLE_PARTS.sub(part, value)


def _is_name(word: str) -> bool:
    return word.casefold() not in lexicon().person_words or (len(word) == 1 and word.isupper())


def _word(table: SurrogateTable, word: str, is_last: bool, salt: str) -> str:
    folded = word.casefold()
    if len(word) == 1:
        return cased_like(_initial(table, folded), word)
    family = table.knows(FAMILY, folded) and not table.knows(GIVEN, folded)
    if is_last or family:
        return cased_like(table.token(FAMILY, folded, _family, salt), word)
    return cased_like(table.token(GIVEN, folded, _given, salt), word)


def _initial(table: SurrogateTable, letter: str) -> str:
    """The initial of the surrogate of a known given name with this initial, else a random one."""
    for token, new in sorted(table.tokens(GIVEN).items()):
        if token.startswith(letter):
            return new[0]
    return table.token(_INITIAL, letter, lambda rng, _: pick(rng, _ALPHABET), fresh=False)


def _given(rng: Generator, attempt: int) -> str:
    words = lexicon()
    if attempt < _COMPOSED_FROM:
        return pick(rng, words.given)
    middle = "" if attempt < 3 * _COMPOSED_FROM else pick(rng, words.given_second)
    return pick(rng, words.given_first) + middle + pick(rng, words.given_second)


def _family(rng: Generator, attempt: int) -> str:
    words = lexicon()
    middle = pick(rng, words.second) if attempt > 3 * _COMPOSED_FROM else ""
    return pick(rng, words.first) + middle + pick(rng, words.second)


def _chinese(table: SurrogateTable, name: str, foreign: bool, salt: str) -> str:
    words = lexicon()
    end = next((t for t in words.person_titles_zh if name.endswith(t) and name != t), "")
    core = name[: len(name) - len(end)]
    if core[0] in words.person_lead_zh and len(core) == 2:
        return core[0] + _zh_family(table, core[1], salt) + end
    if foreign or len(core) > _LONG_NAME:
        return table.token(_ZH_FOREIGN, core, _zh_given(len(core)), salt) + end
    size = 2 if core[:2] in words.zh_double and len(core) > 1 else 1
    family, given = core[:size], core[size:]
    if not given:
        return _zh_family(table, family, salt) + end
    new = table.token(_ZH_GIVEN, given, _zh_given(len(given)), salt, fresh=False)
    return _zh_family(table, family, "") + new + end


def _zh_family(table: SurrogateTable, family: str, salt: str) -> str:
    choices = lexicon().zh_double if len(family) > 1 else lexicon().zh_families
    return table.token(
        _ZH_FAMILY, family, lambda rng, _: pick(rng, choices), salt, fresh=len(family) > 1
    )


def _zh_given(size: int) -> Draw:
    def draw(rng: Generator, attempt: int) -> str:
        more = attempt // (3 * _COMPOSED_FROM)
        return "".join(pick(rng, lexicon().zh_given) for _ in range(size + more))

    return draw


def _digits_like(size: int) -> Draw:
    return lambda rng, _: digits(rng, size)
