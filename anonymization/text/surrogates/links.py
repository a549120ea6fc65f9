"""Values that are one person, firm or host under several forms.

Whole names are made of what texts say and what logins or addresses add. Where a model calls values
one, the others follow the surrogate of the first: they are written with letters, syllables or
characters of the leading value (initials, short forms, logins, names of domains, readings), or are
another given name beside its family name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from anonymization.text.contracts import EntityType, Value, kinds
from anonymization.text.surrogates.assignment import LETTERS, STEM, SurrogateTable, lexicon
from anonymization.text.surrogates.japanese_names import in_katakana, unvoiced, without_title
from anonymization.text.surrogates.names import FAMILY, GIVEN, chinese_parts, own_names
from anonymization.text.surrogates.net import HOST, MACHINE
from anonymization.text.surrogates.readings import read_surrogate, syllables
from data.text.scripts import WORD_OUTSIDE_CJK, has_han, has_kana, is_han

Pairs = Sequence[tuple[str, str]]  # words of the leading value with those of its surrogate
_BETWEEN = re.compile(r"[ \u3000・·]+")
_SHORTEST, _LONGEST = 3, 24  # letters of a joined word
_MOST_WORDS = 6  # of a value whose words are joined
_WITH_LOGINS = kinds("ACCOUNT USER_PATH EMAIL")
_LOGIN = re.compile(
    r"(?P<given>[a-z]{1,20})[._](?P<family>[a-z]{1,24})(?:[._]?\d{1,4})?"
    r"|(?P<login>[a-z]{5,24})"
)
_SHORTEST_FAMILY = 5  # letters, behind an initial: p.vorlicek


def follow(table: SurrogateTable, leader: str, new: str, others: Iterable[Value]) -> dict[str, str]:
    """Let the words of other forms of a value become those of its surrogate; what is written in
    another way than by words is returned with what it becomes."""
    pairs = _pairs(leader, new)
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
    made = _joined(initials.casefold(), _pairs(leader, new))
    return made.upper() if len(made) == len(initials) else ""


def _pairs(leader: str, new: str) -> Pairs:
    """The words of a value, in small letters, with those that they became; of a name in Han
    characters their readings. Of a long value the first ones: every order of them is tried."""
    return list(dict.fromkeys(_every_pair(leader, new)))[:_MOST_WORDS]


def _every_pair(leader: str, new: str) -> Iterator[tuple[str, str]]:
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


def names_in_logins(values: Collection[tuple[EntityType, str]]) -> set[str]:
    """Ludmila Sirota, of ludmila.sirota@ and L. Sirota; Graham Thistlewood, of gthistlewood and
    Graham T.; of the values of one file."""
    people = _People([v for kind, v in values if kind is EntityType.PERSON and not has_han(v)])
    names = set[tuple[str, str]]()
    for value in {value for kind, value in values if kind in _WITH_LOGINS}:
        match = _LOGIN.fullmatch(value.partition("@")[0].casefold())
        if match and match["login"]:
            names.update(people.joined_as(match["login"]))
        elif match:
            names.update(people.said_by(match["given"], match["family"]))
    return {f"{given.title()} {family.title()}" for given, family in names - people.whole}


class _People:
    def __init__(self, names: Collection[str]) -> None:
        people = [WORD_OUTSIDE_CJK.findall(name.casefold()) for name in names]
        self.whole = {(name[0], name[-1]) for name in people if len(name) > 1}
        self._words = {word for name in people for word in name if len(word) > 2}
        self._short = {pair for pair in self.whole if 1 in map(len, pair)}  # Graham T.
        self._joined = {"".join(name[1:]) for name in people}  # mbekilowe, of Mbeki-Lowe
        of_others = {word for pair in self.whole for word in pair}
        self._alone = {name[0] for name in people if len(name) == 1} - of_others

    def joined_as(self, login: str) -> Iterator[tuple[str, str]]:
        """gthistlewood, of Graham T."""
        for given, end in self._short:
            is_begun = len(end) == 1 and len(given) > 1
            if is_begun and login.startswith(given[0] + end):
                yield given, login[1:]

    def said_by(self, given: str, family: str) -> Iterator[tuple[str, str]]:
        """The names of a login in two parts, of which one may be a letter."""
        begun = [word for word in self._alone - {family} if word.startswith(given)]
        if len(family) == 1:  # priyanka.r, of P. Raghunathan
            for first, last in self._short:
                if first == given[0] and last[0] == family:
                    yield given, last
        elif any(last == family and first.startswith(given) for first, last in self.whole):
            return
        elif len(given) == 1 and family in self._words:  # n.rahman, of Nour and Frau Rahman
            if len(begun) == 1:
                yield begun[0], family
        elif len(given) == 1:
            if family not in self._joined and len(family) >= _SHORTEST_FAMILY:
                yield begun[0] if len(begun) == 1 else given, family
        elif (
            not self._words.isdisjoint((given, family))
            or given in own_names()
            or any(given.startswith(word) for word in self._words)
        ):
            yield given, family
