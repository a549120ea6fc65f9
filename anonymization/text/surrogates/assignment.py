"""One surrogate per token, drawn with the key; never one that occurs in the texts of the scope.

A surrogate keeps the shape of its value (letter case, digits, separators); its words are those of
lexicon.toml.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from numpy.random import Generator

from anonymization.text.surrogates.networks import Networks
from data.randomness import KeyedNumbers, keyed_generator
from data.text.folding import fold_case, fold_width
from data.text.lexicon import load_table
from data.text.scripts import HAN, is_han


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Fields as in lexicon.toml; lists of words, characters, or sets of words that stay."""

    given: tuple[str, ...]
    given_first: tuple[str, ...]
    given_second: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]
    zh_families: tuple[str, ...]
    zh_double: tuple[str, ...]
    zh_given: tuple[str, ...]
    zh_first: tuple[str, ...]
    zh_second: tuple[str, ...]
    person_words: frozenset[str]
    epithets: frozenset[str]
    person_titles_zh: tuple[str, ...]
    person_lead_zh: tuple[str, ...]
    company_words: frozenset[str]
    trade_words: frozenset[str]
    company_ends_zh: tuple[str, ...]
    company_lines_zh: tuple[str, ...]
    place_words: frozenset[str]
    states: frozenset[str]
    street_ends: frozenset[str]
    street_compounds: tuple[str, ...]
    place_ends_zh: tuple[str, ...]
    place_lead_zh: tuple[str, ...]
    regions_zh: tuple[str, ...]
    mailboxes: frozenset[str]
    own_countries: tuple[str, ...]
    firm_countries: frozenset[str]
    url_words: frozenset[str]
    sites: frozenset[str]
    url_schemes: frozenset[str]
    machine_words: frozenset[str]
    nationalities: tuple[str, ...]
    nationalities_zh: tuple[str, ...]
    ja_families: tuple[str, ...]
    ja_first: tuple[str, ...]
    ja_second: tuple[str, ...]
    ja_given_first: tuple[str, ...]
    ja_given_second: tuple[str, ...]
    ja_first_read: tuple[str, ...]
    ja_second_read: tuple[str, ...]
    ja_given_first_read: tuple[str, ...]
    ja_given_second_read: tuple[str, ...]
    ja_letters_read: tuple[str, ...]
    ja_titles: tuple[str, ...]
    ja_company_words: tuple[str, ...]
    ja_prefectures: tuple[str, ...]
    ja_place_ends: tuple[str, ...]
    number_words: tuple[tuple[str, ...], ...]
    de_women: tuple[str, ...]
    de_men: tuple[str, ...]
    de_first: tuple[str, ...]
    de_second: tuple[str, ...]


_CHARACTERS = ("zh_families", "zh_given")
_SETS = (
    "person_words",
    "epithets",
    "company_words",
    "trade_words",
    "place_words",
    "states",
    "street_ends",
    "mailboxes",
    "firm_countries",
    "url_words",
    "sites",
    "url_schemes",
    "machine_words",
)


@cache
def lexicon() -> Lexicon:
    """The lexicon of this package."""
    raw = load_table(__package__, "lexicon.toml")
    fields: dict[str, object] = {}
    for name, value in raw.items():
        if name == "number_words":
            fields[name] = tuple(tuple(line.split()) for line in value)
        elif name in _CHARACTERS:
            fields[name] = tuple(dict.fromkeys("".join(value.split())))
        elif name.endswith("_read"):  # one for each of other words: two may be alike
            fields[name] = tuple(value.split())
        elif name in _SETS:
            fields[name] = frozenset(value.split())
        else:
            fields[name] = tuple(dict.fromkeys(value.split()))
    return Lexicon(**fields)  # type: ignore[arg-type]


Words = tuple[str, ...]
LETTERS = re.compile(r"[^\W\d_]+")
_DIGITS = "0123456789"
_LOWER = "abcdefghijklmnopqrstuvwxyz"
_HEX_LETTERS = "abcdef"
_HIRAGANA = "あいうえおかきくけこさしすせそたちつてとなにのはまみむもやゆよらりるれろ"
_KATAKANA = "アイウエオカキクケコサシスセソタチツテトナニノハマミムモヤユヨラリルレロ"
_HALF_KATAKANA = "ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛ"
_OF_SOUND = "ーｰﾞﾟ"  # they lengthen or voice the sound before them
# Encodings of files that hold some Han characters and not others.
_NARROW = ("cp932", "big5hkscs")
_DECIMAL = re.compile(r"\d{2,}\.\d+")
_HEX = re.compile(r"(?=.*\d)[0-9a-fA-F:.-]{8,}")


def cased_like(word: str, pattern: str) -> str:
    """`word` in the letter case of `pattern`."""
    if pattern.isupper() and len(pattern) > 1:
        return word.upper()
    if pattern.islower():
        return word.lower()
    return word


def pick(rng: Generator, choices: str | tuple[str, ...]) -> str:
    """One of the choices."""
    return choices[int(rng.integers(len(choices)))]


STEM, LONGER_FROM = "company", 40
Draw = Callable[[Generator, int], str]


def compound(rng: Generator, first: Words, second: Words, *, is_longer: bool) -> str:
    """A first and a second part, with one more between them if it is to be longer."""
    middle = pick(rng, second) if is_longer else ""
    return pick(rng, first) + middle + pick(rng, second)


def stem(rng: Generator, attempt: int) -> str:
    """An invented English name, longer after many attempts."""
    words = lexicon()
    return compound(rng, words.first, words.second, is_longer=attempt > LONGER_FROM)


_COMPOSED_FROM = 12


def given_name(rng: Generator, attempt: int) -> str:
    """An English given name; after some attempts a composed one."""
    words = lexicon()
    if attempt < _COMPOSED_FROM:
        return pick(rng, words.given)
    is_longer = attempt >= 3 * _COMPOSED_FROM
    return compound(rng, words.given_first, words.given_second, is_longer=is_longer)


# Ends of German given names.
_OF_WOMEN = ("a", "e", "heid", "gard", "traud", "hild", "burg", "gret", "lin", "dis", "iris", "oor")


def _german(draw: Draw, word: str) -> Draw:
    """The draw of a German name in place of an English one."""
    words = lexicon()
    if draw is stem:
        return lambda rng, attempt: compound(
            rng, words.de_first, words.de_second, is_longer=attempt > LONGER_FROM
        )
    if draw is not given_name:
        return draw
    known = {name.casefold() for name in words.de_women}
    is_woman = word in known or word.endswith(_OF_WOMEN)
    names = words.de_women if is_woman else words.de_men
    return lambda rng, attempt: (
        pick(rng, names) if attempt < 2 * _COMPOSED_FROM else given_name(rng, attempt)
    )


def digits(rng: Generator, count: int) -> str:
    """Random digits."""
    return "".join(pick(rng, _DIGITS) for _ in range(count))


def counting_number(rng: Generator, count: int) -> str:
    """Random digits, of which the first is not 0."""
    return pick(rng, _DIGITS[1:]) + digits(rng, count - 1)


def keeps_encodings(value: str, new: str) -> bool:
    """Can the new value be written in each narrow encoding in which the old one can?"""
    return value.isascii() or all(
        can_be_written(new, codec) for codec in _NARROW if can_be_written(value, codec)
    )


def can_be_written(text: str, codec: str) -> bool:
    """Has the encoding all characters of the text?"""
    try:
        text.encode(codec)
    except UnicodeEncodeError:
        return False
    return True


def same_shape(value: str, rng: Generator) -> str:
    """Each letter, digit and Han character replaced by a random one of its kind; all else stays.

    Hexadecimal values stay hexadecimal.
    """
    if _DECIMAL.fullmatch(value):  # a number stays one
        return pick(rng, _DIGITS[1:]) + "".join(_like(char, rng, _LOWER) for char in value[1:])
    letters = _HEX_LETTERS if _HEX.fullmatch(value) else _LOWER
    return "".join(_like(char, rng, letters) for char in value)


def _like(char: str, rng: Generator, letters: str) -> str:
    if char.isascii():
        if char.isdigit():
            return pick(rng, _DIGITS)
        if char.isalpha():
            letter = pick(rng, letters)
            return letter.upper() if char.isupper() else letter
        return char
    if is_han(char):
        new = pick(rng, lexicon().zh_given)
        while not keeps_encodings(char, new):
            new = pick(rng, lexicon().zh_given)
        return new
    if "\u3041" <= char <= "\u3096":
        return pick(rng, _HIRAGANA)
    if char in _OF_SOUND:
        return char
    if "\u30a1" <= char <= "\u30fa":
        return pick(rng, _KATAKANA)
    if "\uff66" <= char <= "\uff9d":
        return pick(rng, _HALF_KATAKANA)
    if char.isdecimal():
        zero = ord(char) - unicodedata.decimal(char)
        return chr(zero + int(rng.integers(10)))
    if char.isalpha():
        letter = pick(rng, _LOWER)
        return letter.upper() if char.isupper() else letter
    return pick(rng, _DIGITS) if char.isalnum() else char


def filled(value: str, payload: str) -> str:
    """The letters and digits of `value` replaced from the right by those of `payload`.

    Separators stay; so do leading characters beyond the payload's length (a country code, say).
    Letter case follows the value, full-width forms stay full-width.
    """
    characters, remaining = [], len(payload)
    for char in reversed(value):
        narrow = fold_width(char)
        if remaining and narrow.isascii() and narrow.isalnum():
            remaining -= 1
            new = payload[remaining]
            new = new.lower() if narrow.islower() else new
            characters.append(chr(ord(new) + 0xFEE0) if "\uff01" <= char <= "\uff5e" else new)
        else:
            characters.append(char)
    return "".join(reversed(characters))


_WORD = re.compile(rf"[^\W_{HAN}]+")
_RUN = re.compile(rf"[{HAN}]+")
_LONGEST_GRAM = 4
_LONGEST_WORD = 64


class ScopeVocabulary:
    """The words and the runs of two to four Chinese characters of all texts added so far."""

    def __init__(self) -> None:
        self._words: set[str] = set()
        self._grams: set[str] = set()

    def add(self, text: str) -> None:
        """Add the words of a text."""
        folded = fold_case(text)
        self._words.update(word[:_LONGEST_WORD] for word in _WORD.findall(folded))
        for run in set(_RUN.findall(folded)):
            for size in range(2, _LONGEST_GRAM + 1):
                self._grams.update(run[i : i + size] for i in range(len(run) - size + 1))

    def may_contain(self, value: str) -> bool:
        """May `value` occur in a text? False is certain; a single Chinese character always may."""
        folded = fold_case(value)
        words, runs = _WORD.findall(folded), _RUN.findall(folded)
        if any(word[:_LONGEST_WORD] not in self._words for word in words):
            return False
        return all(self._has_run(run) for run in runs)

    def _has_run(self, run: str) -> bool:
        if len(run) <= _LONGEST_GRAM:
            return len(run) < 2 or run in self._grams
        last = len(run) - _LONGEST_GRAM + 1
        return all(run[i : i + _LONGEST_GRAM] in self._grams for i in range(last))


STAGE = "anonymization.text.surrogates"
_ATTEMPTS = 200
_POOLS = {"handle": "given"}  # spaces whose surrogates are drawn from those of another

# What letters of other alphabets become in addresses, beside those that only lose their marks.
_SPELLED_OUT = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "æ": "ae", "ß": "ss", "œ": "oe"}
)
_PLAIN = str.maketrans({"ı": "i", "ø": "o", "ł": "l", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe"})


def plain_spellings(word: str) -> tuple[str, ...]:
    """How addresses spell a word with letters that are not in ASCII: müller as mueller, muller."""
    if word.isascii():
        return ()
    folded = word.casefold()
    spelled = (folded.translate(_SPELLED_OUT), folded)
    plain = (
        "".join(
            char
            for char in unicodedata.normalize("NFKD", form.translate(_PLAIN))
            if not unicodedata.combining(char)
        )
        for form in spelled
    )
    return tuple(dict.fromkeys(each for each in plain if each.isascii()))


def logins_of(name: Sequence[str]) -> tuple[str, ...]:
    """What people make of a given and a family name, or of several names, for a login."""
    words = [word.casefold() for word in name]
    first, last, initials = words[0], words[-1], "".join(word[0] for word in words)
    pairs = ((first, last), (first[0], last), (first, last[0]), (initials[:-1], last))
    return (*(part for pair in pairs for part in ("".join(pair), "".join(pair[::-1]))), initials)


class SurrogateTable:
    """The surrogates given out so far, per space (given names, family names, hosts …).

    Within a space two tokens never get the same surrogate. A draw gets the number of earlier tries
    before, so that it can fall back on longer words. `open_names` are names, in folded case,
    that the texts go on saying.
    """

    def __init__(
        self, key: bytes, vocabulary: ScopeVocabulary, open_names: frozenset[str] = frozenset()
    ) -> None:
        self.open_names = open_names
        self.japanese: frozenset[str] = frozenset()  # values that Japanese texts hold
        self.chinese: frozenset[str] = frozenset()  # values that only Chinese files hold
        self.german: frozenset[str] = frozenset()  # words of values that German files hold
        self.called: frozenset[str] = frozenset()  # family names, behind Frau or Herr
        self.people: frozenset[str] = frozenset()  # the words of names of people
        self.days = 0  # by which dates move
        self.families: dict[str, tuple[str, ...]] = {}  # of Japanese names that a dictionary has
        self.readings: dict[str, str] = {}  # of Japanese names, and of their surrogates
        self.domains: set[str] = set()  # of e-mail addresses, in small letters
        self.keys: frozenset[str] = frozenset()  # labels of machines that are keys, too
        self.logins: dict[str, str] = {}  # that names of people make, in small letters
        self.parts: dict[tuple[str, str], tuple[str, str]] = {}  # the same in two parts: wang, xm
        self.given_of: defaultdict[str, dict[str, str]] = defaultdict(dict)  # by family name
        self.initials: dict[str, str] = {}  # of whole names of people, as they are written
        self.moved_years: frozenset[str] = frozenset()  # of dates that move
        self.years: frozenset[str] = frozenset()  # of all dates
        self.still: frozenset[str] = frozenset()  # values of files whose dates stay
        # Running numbers, by what is before them and their digits: the first, the last, and what
        # the first becomes.
        self.series: defaultdict[tuple[str, int], list[tuple[int, int, int]]] = defaultdict(list)
        self.leads: dict[str, int] = {}  # digits that numbers share with their series, by number
        self._key = key
        self._vocabulary = vocabulary
        self._numbers = KeyedNumbers(key)
        self.networks = Networks(self.generator, self._below)
        self._surrogates: defaultdict[str, dict[str, str]] = defaultdict(dict)
        self._taken: set[tuple[str, str]] = set()

    def withdraw(self, names: Iterable[str]) -> None:
        """Names, in folded case, that are part of a private value: they are open no more."""
        self.open_names = self.open_names.difference(names)

    def introduce(self, name: Sequence[str], new: Sequence[str]) -> None:
        """Let the logins that the words of a person's name make become those of the surrogate."""
        for login, becomes in zip(logins_of(name), logins_of(new), strict=True):
            self.logins.setdefault(login, becomes)
        given, family = name[0].casefold(), name[-1].casefold()
        self.given_of[family].setdefault(given, new[0])

    def agree(self, space: str, token: str, new: str) -> None:
        """Let another spelling of a token become the same as the token."""
        self._surrogates[space].setdefault(token, new)

    def has_domain(self, host: str) -> bool:
        """Is a host one of a domain that e-mail addresses show?"""
        labels = host.casefold().split(".")
        return any(".".join(labels[at:]) in self.domains for at in range(len(labels) - 1))

    def year(self, year: str) -> str:
        """A year in a number: it moves with the dates of its year, or stays as they do."""
        if year not in self.moved_years:
            return year
        return str((date(int(year), 7, 1) + timedelta(days=self.days)).year)

    def has_year(self, year: str) -> bool:
        """Do dates name the year, of two figures or four?"""
        return (year if len(year) > 2 else f"20{year}") in self.years

    def day(self, year: str, month: str, day: str) -> str:
        """A day in a number, in figures: it moves with the dates of its year."""
        try:
            moved = date(int(year[-2:]) + 2000, int(month), int(day))
        except ValueError:
            return year + month + day
        moved += timedelta(days=self.days if str(moved.year) in self.moved_years else 0)
        return moved.strftime("%Y%m%d")[4 - len(year) :]

    def begin_series(self, lead: tuple[str, int], run: tuple[int, int, int]) -> bool:
        """Add running numbers, unless they or their surrogates meet others of the lead."""
        first, last, start = run
        end = start + last - first
        for old, old_last, new in self.series[lead]:
            if first <= old_last and old <= last:
                return True  # known already
            if start <= new + old_last - old and new <= end:
                return False
        self.series[lead].append(run)
        return True

    def says(self, text: str) -> bool:
        """May a text hold this already?"""
        return self._vocabulary.may_contain(text)

    def knows(self, space: str, token: str) -> bool:
        """Does the token have a surrogate in this space?"""
        return token in self._surrogates[space]

    def endings(self, space: str, end: str) -> set[str]:
        """How the surrogates of longer numbers end whose own end is this one, in such spaces."""
        return {
            new[-len(end) :]
            for name, known in self._surrogates.items()
            if name.startswith(space)
            for number, new in known.items()
            if len(number) > 2 * len(end) - 2 and number.endswith(end)
        }

    def tokens(self, space: str) -> dict[str, str]:
        """Tokens of a space with their surrogates: the table's own, to be read only."""
        return self._surrogates[space]

    def token(
        self, space: str, token: str, draw: Draw, salt: str = "", *, fresh: bool = True
    ) -> str:
        """The surrogate of `token`; with `fresh`, one that occurs in no text so far.

        Each `salt` gives another surrogate.
        """
        salted = token + salt
        known = self._surrogates[space].get(salted)
        if known is not None:
            return known
        rng = self.generator(space, salted)
        draw = _german(draw, token) if token in self.german else draw
        new = ""
        for attempt in range(_ATTEMPTS):
            new = draw(rng, attempt)
            is_other = new.casefold() != token and keeps_encodings(token, new)
            if is_other and self._free(space, new, fresh):
                break
        self._surrogates[space][salted] = new
        self._taken.add((_POOLS.get(space, space), new.casefold()))
        return new

    def generator(self, space: str, token: str) -> Generator:
        """The randomness that belongs to a token."""
        return keyed_generator(self._key, f"{STAGE}.{space}", token)

    def _below(self, space: str, token: str, count: int) -> int:
        return self._numbers.below(f"{STAGE}.{space}", token, count)

    def _free(self, space: str, new: str, fresh: bool) -> bool:
        if (_POOLS.get(space, space), new.casefold()) in self._taken:
            return False
        return not (fresh and self._vocabulary.may_contain(new))
