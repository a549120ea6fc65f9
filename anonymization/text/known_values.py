"""A known value: where a text holds it in some spelling, and its surrogate in that spelling.

The one rule for masking in a scope and for the leak search. The skeleton of the text gives the
candidates; the text of a candidate then has to be

- the value itself to a reader: with or without invisible characters, composed or not, wide or not;
- a number of seven digits or more with other separators, a phone with or without country code;
- a name of several words joined differently, a person's also with the last word first;
- a Chinese name with blanks or a dot between its characters.

Short forms of a known person (M. Ellsworth, mellsworth) are values of their own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise

from anonymization.text.contracts import EntityType, kinds
from anonymization.text.detect.wording import (
    CHINESE_ROLES,
    COMMON,
    GIVEN_NAMES,
    characters,
    in_dictionary,
    words,
)
from anonymization.text.normal_form import (
    PLANTED,
    Origins,
    clean,
    is_apart,
    is_whole,
    skeleton,
    trimmed,
    visible,
)
from anonymization.text.surrogates.assignment import LETTERS, cased_like, filled, lexicon
from anonymization.text.surrogates.identifiers import planned
from data.text.folding import alnum_form, compose
from data.text.scripts import HAN, HAN_KANA, is_han

_PEOPLE, _COMPANY = frozenset({EntityType.PERSON, PLANTED}), EntityType.ORGANIZATION
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+){0,3}\.?")
_PARTS = re.compile(r"[\s._,-]+")
_BLANKS = frozenset(" " * count for count in range(1, 5))
_JOIN = _BLANKS | frozenset("._-")
_TURNED = _JOIN | {f"{lead},{' ' * count}" for lead in ("", " ") for count in range(1, 4)}
_BREAK = re.compile(r" {0,2}\r?\n {0,8}")
_BEFORE_BREAK = re.compile(r"[^\n]{20} $")
_NAME_BEFORE, _NAME_AFTER = re.compile(r"[^\W\d_]+ $"), re.compile(r" [^\W\d_]")
_HAN_GAP = re.compile(f"[^{HAN}]+")
_HAN_JOIN = frozenset("\u00b7\u2022\u2027\u30fb") | {" ", "  "}
_HAN_DOTS = str.maketrans("", "", "\u00b7\u2022\u2027\u30fb ")
_ROOM = 40  # characters looked at on either side
_MOST_WORDS = 6
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _NameSpelling:
    """A name of several words. `orders`: each order, and the index of the word at which it was
    rotated (0: not at all).

    Unless it `is_distinctive`, its words may mean something else, and only blanks may differ.
    """

    orders: dict[Words, int]
    is_distinctive: bool
    is_person: bool
    original: Words

    def skeletons(self) -> tuple[bytes, ...]:
        """The skeletons of its spellings."""
        return tuple(skeleton("".join(order)) for order in self.orders)

    def matches(self, text: str, start: int, end: int) -> bool:
        """Is `text[start:end]` the name, in one of its orders, joined as words usually are?"""
        candidate = clean(text[start:end])
        if candidate.isalpha():
            return self.is_distinctive and self._is_camel_case(candidate, text, start, end)
        parts = tuple(_PARTS.split(candidate))
        turn = self.orders.get(tuple(map(str.casefold, parts)))
        if turn is None or not is_apart(text, start, end):
            return False
        gaps = _PARTS.findall(candidate)
        if not self.is_person and parts != self.original:
            return False
        if not self.is_distinctive:
            return not turn and _BLANKS.issuperset(gaps)
        if turn:
            joined = (_TURNED if n == turn else _JOIN for n in range(1, len(parts)))
            well = all(gap in joints for joints, gap in zip(joined, gaps, strict=False))
            return well and _is_not_in_list(text, start, end, gaps[turn - 1])
        if any("\n" in gap for gap in gaps):
            return all(map(_is_break, gaps)) and _is_wrapped(text, start)
        return _JOIN.issuperset(gaps)

    def _is_camel_case(self, candidate: str, text: str, start: int, end: int) -> bool:
        """Is it the name inside an identifier (`mailAnnSmith`), each word with a capital?"""
        before, after = text[max(0, start - 1) : start], text[end : end + 1]
        starts_a_word = not before.isalpha() or (before.islower() and candidate[0].isupper())
        if after.islower() or not starts_a_word:
            return False
        ends = list(accumulate(map(len, self.original)))
        parts = [candidate[first:last] for first, last in pairwise([0, *ends])]
        if [part.casefold() for part in parts] != [part.casefold() for part in self.original]:
            return False
        return all(part[0].isupper() and not part.isupper() for part in parts[1:])


@dataclass(frozen=True, slots=True)
class _HanNameSpelling:
    """A Chinese name whose characters may be separated by blanks or a middle dot."""

    letters: str

    def skeletons(self) -> tuple[bytes, ...]:
        """The skeleton of its spellings."""
        return (self.letters.encode(),)

    def matches(self, text: str, start: int, end: int) -> bool:
        """Is `text[start:end]` the name? A name of two characters must not touch a third."""
        candidate = clean(text[start:end])
        if not _HAN_JOIN.issuperset(_HAN_GAP.findall(candidate)):
            return False
        beside = text[max(0, start - 1) : start], text[end : end + 1]
        return len(self.letters) > 2 or not any(map(is_han, beside))


def _name_spelling(kind: str, value: str) -> _NameSpelling | _HanNameSpelling | None:
    """The spelling of a value as a name; None if it is not a name, or is a single word."""
    text = clean(value).strip()
    if kind in _PEOPLE and is_han(text.translate(_HAN_DOTS)):
        return _HanNameSpelling(text.translate(_HAN_DOTS))
    groups = _groups(text, kind in _PEOPLE)
    if not 2 <= len(groups) <= _MOST_WORDS or (kind not in _PEOPLE and kind != _COMPANY):
        return None
    orders = {_flat(groups): 0}
    if kind in _PEOPLE:
        for first in (1, len(groups) - 1):
            head, tail = groups[first:], groups[:first]
            orders.setdefault(_flat(head + tail), len(_flat(head)))
    parts = _flat(groups)
    folded = {_folded(order): turn for order, turn in reversed(orders.items())}
    return _NameSpelling(folded, _is_distinctive(parts), kind in _PEOPLE, parts)


def _groups(value: str, is_person: bool) -> list[Words]:
    """The words of a name, each with its parts; empty if it contains anything else.

    Leading titles are left out; a known `Smith, John` is read as `Smith John`.
    """
    raw = value.replace(", ", " ").replace("_", " ").split()
    if not all(map(_WORD.fullmatch, raw)) or any(map(is_han, raw)):
        return []
    words_of_name = [word.rstrip(".") for word in raw]
    while is_person and words_of_name and _is_title(words_of_name[0]):
        del words_of_name[0]
    return [tuple(_PARTS.split(word)) for word in words_of_name]


def _is_title(word: str) -> bool:
    return word.casefold() in lexicon().person_words and len(word) > 1


def _flat(groups: list[Words]) -> Words:
    return tuple(part for group in groups for part in group)


def _folded(parts: Words) -> Words:
    return tuple(map(str.casefold, parts))


def _is_distinctive(parts: Words) -> bool:
    """Is no part an everyday word, and are not all parts names that are also words (Grace, May)?"""
    own = {part.casefold() for part in parts if len(part) > 1}
    doubtful = words("words.toml", "small_words_too")
    return not ((own & _everyday()) - doubtful) and not own <= doubtful


@cache
def _everyday() -> frozenset[str]:
    return words("words.toml", "function_words") | {word.casefold() for word in COMMON}


def _is_break(gap: str) -> bool:
    return gap in _BLANKS or _BREAK.fullmatch(gap) is not None


def _is_wrapped(text: str, start: int) -> bool:
    """Is the name broken across lines of prose? Cells of a column are not."""
    return _BEFORE_BREAK.search(text, max(0, start - _ROOM), start) is not None


def _is_not_in_list(text: str, start: int, end: int, gap: str) -> bool:
    """Is it a name by itself? `Ann Smith, John Doe` does not contain `Smith, John`."""
    before = _NAME_BEFORE.search(text, max(0, start - _ROOM), start)
    if before and before.group()[0].isupper():
        return False
    after = _NAME_AFTER.match(text, end)
    return "," in gap or after is None or not after.group()[1].isupper()


_FULL_NAME = re.compile(r"[^\W\d_]{2,24}(?:[ -][^\W\d_]\.?)?(?: [^\W\d_]{2,24}){1,2}")
_TURNED_NAME = re.compile(r"(?P<family>[^\W\d_]{2,24}), (?P<given>[^\W\d_]{2,24})")
_HAN_NAME = re.compile(f"[{HAN}]{{2,4}}")
_SPACED_NAME = re.compile(f"(?P<family>[{HAN}]{{2,3}})[ \u3000][{HAN_KANA}]{{1,5}}")
_DOUBLE = words("names.toml", "chinese_double")
_GIVEN_WORDS = words("names.toml", "chinese_given_words") | CHINESE_ROLES
_PAIR = 2  # characters of a given name; one alone is a word
_NOT_OLD, _NOT_SMALL = (
    characters("names.toml", "not_friends"),
    characters("names.toml", "not_small"),
)
_PLACES = (
    words("places.toml", "countries")
    | words("places.toml", "towns")
    | words("places.toml", "people")
)
_SHORTEST = 4  # letters of a family name; shorter ones occur inside other words


# Ends of posts and institutions, which a model takes for names: 林次長, 蘇生会.
_OFFICE = re.compile("[会院園课課室社係局]$|^[部課次係室所社院園局店組班]長$|^主[任査幹事]$")


def _chinese_forms(name: str) -> Iterator[tuple[EntityType, str]]:
    """老 or 小 and the family name, and the given name alone."""
    family = name[:2] if name[:2] in _DOUBLE else name[:1]
    yield from ((EntityType.PERSON, f"老{family}") for _ in range(family not in _NOT_OLD))
    yield from ((EntityType.PERSON, f"小{family}") for _ in range(family not in _NOT_SMALL))
    given = name[len(family) :]
    if len(given) == _PAIR and given not in _GIVEN_WORDS and not _OFFICE.search(given):
        yield EntityType.PERSON, given


def short_forms(
    name: str, dictionary: frozenset[str] = frozenset()
) -> Iterator[tuple[EntityType, str]]:
    """Initial and family name, each name alone, logins made of both; 老 or 小 and a family name.

    No form is an everyday word or a place. `dictionary` holds English words in small letters:
    without one there are no names alone.
    """
    if _HAN_NAME.fullmatch(name):
        yield from _chinese_forms(name)
        return
    spaced = _SPACED_NAME.fullmatch(name)
    if spaced:  # 佐藤 次郎 is 佐藤 to the functions of a page
        yield EntityType.PERSON, spaced["family"]
        return
    turned = _TURNED_NAME.fullmatch(name)
    if turned:
        name = f"{turned['given']} {turned['family']}"
    if not _FULL_NAME.fullmatch(name):
        return
    parts = [part for part in name.split() if part.casefold() not in lexicon().person_words]
    if len(parts) < 2 or len(parts[-1]) < _SHORTEST or parts[-1].title() in COMMON:
        return
    given, family = parts[0], parts[-1]
    yield EntityType.PERSON, f"{given[0]}. {family}"
    yield EntityType.PERSON, f"{given[0]} {family}"
    yield EntityType.PERSON, f"{given[0]} {family}".upper()
    # `Foxglove Pharmacies`, under a label of customers, makes nobody of a common word.
    is_thing = given.title() not in GIVEN_NAMES and in_dictionary(family, dictionary)
    for alone in (given,) if is_thing else (given, family) if dictionary else ():
        if len(alone) >= _SHORTEST and alone.istitle() and not _is_word(alone, dictionary):
            yield EntityType.PERSON, alone
    login, first = family.lower(), given.lower()
    if login not in words("words.toml", "function_words"):
        yield EntityType.ACCOUNT, f"{first[0]}{login}"
        yield EntityType.ACCOUNT, f"{first}{login}"
        yield EntityType.ACCOUNT, f"{login}{first[0]}"
        yield EntityType.ACCOUNT, f"{first}_{login}"


_FORMS_EAST = re.compile(
    r"[\s\u3000]*(?:㈱|㈲|[(（][株有同][)）]|(?:株式|有限|合同|合資|合名)会社|股份有限公司|有限责任公司|有限公司)[\s\u3000]*"
)
_FORM_LATIN = re.compile(
    r",? (?:Inc|Incorporated|LLC|Ltd|Limited|Corp|Corporation|GmbH|AG|PLC|plc|LLP|LP|KG|SARL|SAS"
    r"|S\.?A|B\.?V|N\.?V|Oy|AB|Pty|Pte|Pvt|Co)\.?$"
)
_SHORTEST_FIRM = 4  # characters of a name in Han characters or kana


def bare_firm(name: str, dictionary: frozenset[str]) -> str:
    """The name of a firm without its legal form, where that is still its name and no other word:
    东启纸业 of 东启纸业有限公司, `Hollin & Marrow` of `Hollin & Marrow Ltd`. Else nothing."""
    bare, before = _FORMS_EAST.sub("", name), ""
    while bare != before:
        before, bare = bare, _FORM_LATIN.sub("", bare)
    if bare == name or not bare:
        return ""
    if not bare.isascii():
        is_kind = bare in lexicon().ja_company_words or bare.startswith(lexicon().ja_company_words)
        return bare if len(bare) >= _SHORTEST_FIRM and not is_kind else ""
    own = [word for word in LETTERS.findall(bare) if len(word) > 1]
    is_strange = len(own) > 1 and not all(in_dictionary(word, dictionary) for word in own)
    return bare if dictionary and is_strange else ""


def _is_word(name: str, dictionary: frozenset[str]) -> bool:
    small = name.lower()
    return (
        small in dictionary
        or small in words("words.toml", "function_words")
        or small in words("words.toml", "small_words_too")
        or name in COMMON
        or name in _PLACES
    )


# Numbers of these kinds contain letters; numbers of the other kinds contain few.
_LETTERED = kinds("BANK_ACCOUNT NATIONAL_ID COMPANY_CODE PASSPORT")
_NUMBERS = _LETTERED | {
    EntityType.PHONE,
    EntityType.BANK_CARD,
    EntityType.ACCOUNT,
    EntityType.PERSON_NUMBER,
    PLANTED,
}
_WRITTEN = re.compile(r"[A-Za-z0-9 +./()\[\]_-]+")
_LETTER = re.compile(r"[A-Za-z]")
_GAP = re.compile(r"[^0-9a-z]+")
_ALLOWED = re.compile(r"[ ./()\[\]-]{1,3}")
_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])")
_BEFORE = re.compile(r"(\d{1,6})([./-]?)$")
_AFTER = re.compile(r"([./-]?)\d")
_PREFIX_ROOM = 8  # characters before a number in which its country code may be written
_MIN_DIGITS, _MANY_DIGITS, _FEW_LETTERS = 7, 9, 4
_CODES = {"cn": "86", "us": "1", "uk": "44"}


@dataclass(frozen=True, slots=True)
class _NumberSpelling:
    """The letters and digits in lower case, and what may precede them: country codes."""

    key: str
    prefixes: frozenset[str]

    def skeletons(self) -> tuple[bytes, ...]:
        """The skeletons of its spellings."""
        return (self.key.encode(),)

    def matches(self, text: str, start: int, end: int) -> bool:
        """Is `text[start:end]`, whose letters and digits are these, written as numbers are?

        Groups of two or more (of three or more if there are fewer than nine digits), separated by
        up to three blanks, hyphens, dots, slashes or brackets; never by line breaks, tabs or
        commas. A single dot is a decimal point, and eight digits may be a date.
        """
        candidate = clean(text[start:end]).casefold()
        gaps, groups = _GAP.findall(candidate), _GAP.split(candidate)
        if "".join(groups) != self.key:
            return False
        if not all(_ALLOWED.fullmatch(gap) for gap in gaps) or gaps == ["."]:
            return False
        if gaps and (_DATE.fullmatch(self.key) or not self._is_grouped(groups)):
            return False
        return self._is_apart(text, start, end, bool(gaps))

    def _is_grouped(self, groups: list[str]) -> bool:
        if len(self.key) < _MANY_DIGITS:
            return min(map(len, groups)) >= 3
        return sum(len(group) == 1 for group in groups) <= 1

    def _is_apart(self, text: str, start: int, end: int, in_groups: bool) -> bool:
        """Is it no part of a longer number, apart from a country code or trunk zero before it?"""
        after = _AFTER.match(clean(text[end : end + 2]))
        if after and (in_groups or not after[1]):
            return False
        before = _BEFORE.search(clean(text[max(0, start - _PREFIX_ROOM) : start]))
        if before is None or (before[2] and not in_groups):
            return True
        return before[1] in self.prefixes


def _number_spelling(kind: str, value: str) -> _NumberSpelling | None:
    """The spelling of a value as a number; None if it is not a number of seven or more digits."""
    text = clean(value)
    if kind not in _NUMBERS or not _WRITTEN.fullmatch(text):
        return None
    if kind == EntityType.PHONE:
        return _phone(text)
    key = alnum_form(text).lower()
    letters = sum(map(str.isalpha, key))
    if len(key) - letters < _MIN_DIGITS or (letters > _FEW_LETTERS and kind not in _LETTERED):
        return None
    return _NumberSpelling(key, frozenset())


def _main_part(value: str) -> str:
    """A phone number without its extension."""
    letter = _LETTER.search(value)
    return value[: letter.start()] if letter else value


def _phone(value: str) -> _NumberSpelling | None:
    main = _main_part(value)
    plan, national = planned(main)
    if len(national) < _MIN_DIGITS:
        return None
    whole = alnum_form(main).removeprefix("00")
    code = _CODES.get(plan, whole.removesuffix(national) if whole != national else "")
    prefixes = {"0", code, f"00{code}", f"{code}0", f"00{code}0"} - {""}
    return _NumberSpelling(national, frozenset(prefixes))


MIN_KEY = 4  # bytes of a skeleton; shorter ones occur everywhere
SPREAD, ROOM = 8, 64  # a spelling has at most SPREAD times the value's characters and ROOM more


@dataclass(frozen=True, slots=True)
class KnownValue:
    """A value with the skeletons (`keys`) of its spellings, and the ways it may be written."""

    kind: str
    value: str
    any_case: bool
    keys: tuple[bytes, ...]
    plain: str
    forms: tuple[_NumberSpelling | _NameSpelling | _HanNameSpelling, ...]

    def locate(self, text: str, start: int, end: int) -> tuple[int, int] | None:
        """The span of the value if `text[start:end]`, of one of the keys, is a spelling of it.

        The span includes the combining marks of its last letter. None if it is something else.
        """
        if end - start > SPREAD * len(self.value) + ROOM:
            return None
        while end < len(text) and not text[end].isascii() and _is_mark(text[end]):
            end += 1
        candidate = trimmed(clean(text[start:end]))
        is_spelled = self._is_same(candidate) and is_whole(text, start, end)
        is_spelled = is_spelled or any(form.matches(text, start, end) for form in self.forms)
        return (start, end) if is_spelled else None

    def is_in(self, text: str) -> bool:
        """Does the value occur anywhere in a text, in some spelling?"""
        bones, origins = skeleton(text), Origins(text)
        return any(
            self.locate(text, origins.at(hit.start()), origins.at(hit.end() - 1) + 1) is not None
            for key in self.keys
            for hit in re.finditer(re.escape(key), bones)
        )

    def _is_same(self, candidate: str) -> bool:
        if candidate == self.plain:
            return True
        return self.any_case and candidate.casefold() == self.plain.casefold()


def _is_mark(char: str) -> bool:
    """Does it belong to the preceding letter: a combining accent or a variation selector?"""
    return unicodedata.category(char) in ("Mn", "Me")


def known_value(kind: str, value: str, any_case: bool, shortest: int = MIN_KEY) -> KnownValue:
    """A value prepared for the search; `any_case`: in other letter cases too.

    Its spellings are found by skeletons of `shortest` bytes or more.
    """
    plain = trimmed(clean(value))
    forms = tuple(
        form
        for form in (_number_spelling(kind, value), _name_spelling(kind, value))
        if form is not None
    )
    keys = {skeleton(plain), *(key for form in forms for key in form.skeletons())}
    kept = tuple(sorted(key for key in keys if len(key) >= shortest))
    return KnownValue(kind, value, any_case, kept, plain, forms)


def respelled(kind: str, value: str, surrogate: str, spelled: str) -> str:
    """The surrogate in the spelling in which the value was found: order, separators, letter case.

    `spelled` is that spelling. Where it cannot be imitated, the surrogate stays as it is; no part
    of the value is ever kept.
    """
    if spelled == value:
        return surrogate
    if _number_spelling(kind, value) is not None:
        return _numbered(surrogate, spelled)
    form = _name_spelling(kind, value)
    if isinstance(form, _HanNameSpelling):
        return _spaced(surrogate, spelled)
    in_words = _worded(value, surrogate, spelled) if isinstance(form, _NameSpelling) else None
    return in_words or _trimmed_like(value, surrogate, spelled)


def _numbered(surrogate: str, spelled: str) -> str:
    payload, needed = alnum_form(_main_part(surrogate)), len(alnum_form(spelled))
    if len(payload) < needed:
        payload = alnum_form(surrogate)
    return filled(spelled, payload) if len(payload) >= needed else surrogate


def _spaced(surrogate: str, spelled: str) -> str:
    letters, gaps = _HAN_GAP.sub("", surrogate), visible(spelled)
    if len(letters) != len(_HAN_GAP.sub("", gaps)):
        return surrogate
    following = iter(letters)
    return "".join(next(following) if is_han(char) else char for char in gaps)


def _worded(value: str, surrogate: str, spelled: str) -> str | None:
    """Word for word; None if the surrogate's words do not correspond to the value's."""
    old, new = LETTERS.findall(clean(value)), LETTERS.findall(surrogate)
    pairs = {word.casefold(): other for word, other in zip(old, new, strict=False)}
    plain = compose(visible(spelled))
    own = [clean(word).casefold() for word in LETTERS.findall(plain)]
    if len(old) == len(new) and len(own) == 1 and len(old) > 1:
        return _camel_cased(old, new, plain)
    if len(old) != len(new) or not all(word in pairs for word in own):
        return None
    return LETTERS.sub(
        lambda word: cased_like(pairs[clean(word.group()).casefold()], clean(word.group())), plain
    )


def _camel_cased(old: list[str], new: list[str], plain: str) -> str | None:
    """The surrogate's words joined as in `mailAnnSmith`; None if `plain` joins them otherwise."""
    if "".join(old).casefold() != plain.casefold():
        return None
    first = new[0].capitalize() if plain[:1].isupper() else new[0].lower()
    return first + "".join(word.capitalize() for word in new[1:])


def _trimmed_like(value: str, surrogate: str, spelled: str) -> str:
    plain = clean(value)
    ends = plain.partition(trimmed(plain))
    bare = surrogate.removeprefix(ends[0]).removesuffix(ends[2]) or surrogate
    return cased_like(bare, visible(spelled))
