"""Values that a model calls one person, firm or host: the others follow the surrogate of the first.

What follows is written with letters, syllables or characters of the leading value (initials, short
forms, logins, names of domains, readings), or is another given name beside its family name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from anonymization.text.contracts import EntityType, Value
from anonymization.text.surrogates.assignment import LETTERS, STEM, SurrogateTable, lexicon
from anonymization.text.surrogates.japanese_names import in_katakana, unvoiced, without_title
from anonymization.text.surrogates.names import FAMILY, GIVEN, chinese_parts
from anonymization.text.surrogates.net import HOST, MACHINE
from anonymization.text.surrogates.readings import read_surrogate, syllables
from data.text.scripts import has_han, has_kana, is_han

Pairs = Sequence[tuple[str, str]]  # words of the leading value with those of its surrogate
_BETWEEN = re.compile(r"[ \u3000・·]+")
_SHORTEST, _LONGEST = 3, 24  # letters of a joined word


def follow(table: SurrogateTable, leader: str, new: str, others: Iterable[Value]) -> dict[str, str]:
    """Let the words of other forms of a value become those of its surrogate; what is written in
    another way than by words is returned with what it becomes."""
    pairs = list(_pairs(leader, new))
    exact: dict[str, str] = {}
    for kind, value in others:
        written = _by_characters(leader, new, value)
        if written:
            exact[value] = written
        elif has_kana(value):
            _learn_reading(table, leader, new, value)
        else:
            _learn_words(table, pairs, value, is_person=kind is EntityType.PERSON)
    return exact


def letters_of(leader: str, new: str, initials: str) -> str:
    """The initials of the surrogate, made as those of the leading value are; empty if these are
    no initials of it."""
    made = _joined(initials.casefold(), list(_pairs(leader, new)))
    return made.upper() if len(made) == len(initials) else ""


def _pairs(leader: str, new: str) -> Iterator[tuple[str, str]]:
    """The words of a value, in small letters, with those that they became; of a name in Han
    characters their readings."""
    if is_han(leader) and len(leader) == len(new):
        for part, becomes in zip(chinese_parts(leader), chinese_parts(new), strict=True):
            old, read = syllables(part), syllables(becomes)
            yield from zip(old, read, strict=False)
            if old and read:
                yield "".join(old), "".join(read)
        return
    old, made = LETTERS.findall(leader), LETTERS.findall(new)
    if len(old) == len(made):
        yield from zip(map(str.casefold, old), made, strict=True)


def _joined(word: str, pairs: Pairs) -> str:
    """What a word becomes that joins words, or beginnings of words, of the leading value."""
    for number, (old, new) in enumerate(pairs):
        others = [*pairs[:number], *pairs[number + 1 :]]
        for size in range(min(len(old), len(word)), 0, -1):
            if word[:size] != old[:size]:
                continue
            made = new if size == len(old) else new[:size]
            rest = _joined(word[size:], others) if word[size:] else ""
            if rest or size == len(word):
                return (made + rest).casefold()
    return ""


def _learn_words(table: SurrogateTable, pairs: Pairs, value: str, *, is_person: bool) -> None:
    known = dict(pairs)
    words = [word.casefold() for word in LETTERS.findall(value) if not has_han(word)]
    strange = [word for word in words if len(word) > 1 and word not in known]
    for word in words:
        joined = _joined(word, pairs) if _SHORTEST <= len(word) <= _LONGEST else ""
        if word in known or joined:
            is_given = is_person and not table.knows(FAMILY, word)
            _agree(table, word, known.get(word) or joined.capitalize(), is_given=is_given)
        elif is_person and len(strange) == 1 and word in strange:
            given = _given(table, word, pairs, words)
            if given:
                _agree(table, word, given, is_given=True)


def _agree(table: SurrogateTable, word: str, new: str, *, is_given: bool) -> None:
    table.logins.setdefault(word, new.casefold())
    for space in (STEM, HOST, MACHINE, *((GIVEN,) if is_given else ())):
        table.agree(space, word, new.casefold() if space in (HOST, MACHINE) else new)


def _given(table: SurrogateTable, word: str, pairs: Pairs, words: Sequence[str]) -> str:
    """What a nickname becomes: what the most similar name of the person did, no family name if
    there is another one."""
    free = [(old, new) for old, new in pairs if old not in words and len(old) > 1]
    given = [pair for pair in free if not table.knows(FAMILY, pair[0])] or free
    likeness = ((SequenceMatcher(None, word, old).ratio(), new) for old, new in given)
    return max(likeness, default=(0.0, ""), key=lambda pair: pair[0])[1]


def _by_characters(leader: str, new: str, value: str) -> str:
    """What a short form becomes that is a word of the leading value, or characters of its name,
    with what people are called around them; empty if it is neither."""
    words = dict(zip(_BETWEEN.split(leader), _BETWEEN.split(new), strict=False))
    core, title = without_title(value)
    if core in words and core != leader and not core.isascii():
        return words[core] + title
    if not is_han(leader) or len(leader) != len(new) or not has_han(value):
        return ""
    lead, end = _around(value)
    core = value[len(lead) : len(value) - len(end)]
    at = leader.find(core)
    return lead + new[at : at + len(core)] + end if core and at >= 0 and core != leader else ""


def _around(value: str) -> tuple[str, str]:
    """What stands before and behind a Chinese name: 小, 经理."""
    words = lexicon()
    lead = value[:1] if value[:1] in words.person_lead_zh and len(value) > 1 else ""
    ends = (t for t in words.person_titles_zh if value[len(lead) :].endswith(t) and value != t)
    return lead, max(ends, key=len, default="")


def _learn_reading(table: SurrogateTable, leader: str, new: str, read: str) -> None:
    """Let the reading of a Japanese name, in kana, become that of its surrogate."""
    names, made = _BETWEEN.split(leader), _BETWEEN.split(new)
    family = next(iter(table.families.get(leader, ())), "")
    if len(names) == 1 and family and len(new) > len(leader) - len(family):
        size = len(new) - (len(leader) - len(family))
        names, made = [family, leader[len(family) :]], [new[:size], new[size:]]
    reads = _BETWEEN.split(without_title(read)[0])
    becomes = [read_surrogate(name, number == 0) for number, name in enumerate(made)]
    if len(names) != len(made) or not all(becomes) or any(map(has_kana, names)):
        return
    if len(reads) == len(made):
        pairs: Mapping[str, str] = dict(zip(reads, becomes, strict=True))
    else:
        pairs = {"".join(reads): "".join(becomes)}
    for said, reading in pairs.items():
        table.readings.setdefault(unvoiced(in_katakana(said)), reading)
