"""How the surrogates of Japanese and Chinese names are read, in kana and in Latin letters.

Who has a name in Han characters has its reading in other places: a column of readings, a login, an
address for mail. Where a dictionary knows the reading of a name, its surrogate there is the
reading of the surrogate of the name. Chinese names are read character by character (pinyin).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from anonymization.text.contracts import NameReading
from anonymization.text.surrogates.assignment import SurrogateTable, lexicon
from anonymization.text.surrogates.japanese_names import JA_FAMILY, JA_GIVEN, unvoiced
from anonymization.text.surrogates.names import FAMILY, GIVEN, chinese_parts
from data.text.lexicon import load_table

_SYLLABLE = re.compile("[ァ-ヺ][ャュョ]|[ァ-ヺ]")
_LONG = re.compile("(?<=o)[uo]|(?<=u)u")


def romanised(read: str) -> str:
    """The Hepburn spelling of a reading in katakana, with every vowel that is written."""
    letters = _SYLLABLE.sub(lambda kana: _letters().get(kana.group(), kana.group()), read)
    return re.sub("ッ(?=(.)|$)", lambda stop: stop[1] or "", letters).replace("ー", "")


@cache
def _letters() -> Mapping[str, str]:
    pairs = lexicon().ja_letters_read
    return dict(zip(pairs[::2], pairs[1::2], strict=True))


def _spellings(read: str) -> tuple[str, str]:
    """With and without the second letter of long vowels: youko, yoko."""
    whole = romanised(read)
    return whole, _LONG.sub("", whole)


def read_surrogate(name: str, of_family: bool) -> str:
    """How a surrogate of a family or given name is read, in katakana."""
    first, second = _parts(of_family)
    return first.get(name[:1], "") + "".join(second.get(char, "") for char in name[1:])


@cache
def _parts(of_family: bool) -> tuple[Mapping[str, str], Mapping[str, str]]:
    words = lexicon()
    if of_family:
        return (
            dict(zip(words.ja_first, words.ja_first_read, strict=True)),
            dict(zip(words.ja_second, words.ja_second_read, strict=True)),
        )
    return (
        dict(zip(words.ja_given_first, words.ja_given_first_read, strict=True)),
        dict(zip(words.ja_given_second, words.ja_given_second_read, strict=True)),
    )


def learn_reading(table: SurrogateTable, name: NameReading) -> None:
    """Let the readings of a name, which has its surrogate, become those of the surrogate."""
    family = table.tokens(JA_FAMILY).get(name.family)
    given = table.tokens(JA_GIVEN).get(name.given)
    if family is None or given is None:
        return
    new_family, new_given = read_surrogate(family, True), read_surrogate(given, False)
    _learn(table, FAMILY, name.family_read, new_family)
    if name.given_read:
        _learn(table, GIVEN, name.given_read, new_given)
        whole = unvoiced(name.family_read + name.given_read)
        table.readings.setdefault(whole, new_family + new_given)
        read = (name.given_read, name.family_read, new_given, new_family)
        for given, family, *becomes in zip(*map(_spellings, read), strict=True):
            table.introduce((given, family), becomes)


def _learn(table: SurrogateTable, space: str, read: str, new: str) -> None:
    new = table.readings.setdefault(unvoiced(read), new)
    for spelled, becomes in zip(_spellings(read), _spellings(new), strict=True):
        table.token(space, spelled, lambda _rng, _: becomes.capitalize(), fresh=False)  # noqa: B023


def learn_pinyin(table: SurrogateTable, name: str, new: str) -> None:
    """Let what a Chinese name makes in Latin letters (lixuemei, xuemei.li, ouyangxf, lxm) become
    what its surrogate makes; nothing if a character of either has no known reading."""
    parts, becomes = ([syllables(part) for part in chinese_parts(whole)] for whole in (name, new))
    if not all([*parts, *becomes]) or list(map(len, parts)) != list(map(len, becomes)):
        return
    for space, old, read in zip((FAMILY, GIVEN), parts, becomes, strict=True):
        spelled = "".join(read).capitalize()
        table.token(space, "".join(old), lambda _rng, _: spelled, fresh=False)  # noqa: B023
    (family, given), (new_family, new_given) = parts, becomes
    table.introduce([*given, "".join(family)], [*new_given, "".join(new_family)])
    table.introduce(["".join(given), "".join(family)], ["".join(new_given), "".join(new_family)])
    olds, news = (
        ("".join(head), "".join(syllable[0] for syllable in tail))
        for head, tail in (parts, becomes)
    )
    table.parts.setdefault(olds, news)
    table.parts.setdefault(olds[::-1], news[::-1])
    whole, other = ("".join(part) for part in parts), ("".join(part) for part in becomes)
    (old_family, old_given), (own_family, own_given) = whole, other
    table.parts.setdefault((old_family, old_given), (own_family, own_given))
    table.parts.setdefault((old_given, old_family), (own_given, own_family))
    first, second = (
        "".join(syllable[0] for syllable in [*head, *tail]) for head, tail in (parts, becomes)
    )
    table.logins.setdefault(first, second)


def syllables(part: str) -> list[str]:
    """The reading of each character; empty if one has none."""
    read = [_pinyin().get(char, "") for char in part]
    return read if all(read) else []


@cache
def _pinyin() -> Mapping[str, str]:
    rows = load_table(__package__, "pinyin.toml")["readings"].splitlines()
    pairs = (row.split() for row in rows if row)
    return {char: syllable for syllable, chars in pairs for char in chars}
