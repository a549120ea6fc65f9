"""Japanese names, replaced so that their parts agree: family and given names, stems of companies.

Whether a name in Han characters is Japanese is told by its length and by common family names;
names with kana are. Kana stay kana, of the same kind.
"""

from __future__ import annotations

import re
from functools import cache

from numpy.random import Generator

from anonymization.text.surrogates.assignment import Draw, SurrogateTable
from anonymization.text.surrogates.lexicon import lexicon
from anonymization.text.surrogates.shapes import STEM, cased_like, pick, stem
from data.text.scripts import HAN, has_kana, is_han

_FAMILY, _GIVEN, _KANA, _STEM, _PLACE = "ja.family", "ja.given", "ja.kana", "ja.company", "ja.place"
_RUNS = re.compile(rf"(?!(?<=\d)世)[{HAN}]+|[ァ-ヺー]+|[ぁ-ゖ]+")
_WORDS = re.compile(rf"{_RUNS.pattern}|[A-Za-z]{{2,}}")
_HIRAGANA = re.compile(r"[ぁ-ゖ]+")
_SYLLABLES = tuple("アイウエカキクケコサシスセタテトナニネノハヒフホマミムメモヤユヨラリルレロワ")
_TO_HIRAGANA = ord("ァ") - ord("ぁ")
_GIVEN_ENDS, _LONGEST_GIVEN = frozenset("子郎"), 3  # of given names that only Japan writes
_FULL = 4  # Han characters of a family and a given name
_LONGER_FROM = 40


def is_japanese_name(value: str) -> bool:
    """Is it a name in kana, or one in Han characters that is Japanese rather than Chinese?"""
    if has_kana(value.replace("・", "")):
        return True
    words = lexicon()
    plain = _without_title(value)[0].replace(" ", "").replace("\u3000", "")
    plain = next((plain[: -len(t)] for t in words.person_titles_zh if plain.endswith(t)), plain)
    if not is_han(plain) or plain[:2] in words.zh_double or not _is_written_in_japan(plain):
        return False
    if len(plain) > 1 and plain[-1] in _GIVEN_ENDS:
        return True
    return len(plain) >= _FULL or any(
        len(family) > 1 and plain.startswith(family) for family in words.ja_families
    )


def knows_family(table: SurrogateTable, value: str) -> bool:
    """Is it the family name of somebody whose name is known?"""
    return table.knows(_FAMILY, _without_title(value)[0])


def _is_written_in_japan(text: str) -> bool:
    """Is every character in the Japanese standard? Simplified Chinese ones (张) are not."""
    try:
        text.encode("shift_jis")
    except UnicodeEncodeError:
        return False
    return True


def person(table: SurrogateTable, value: str, salt: str) -> str:
    """A Japanese name of the same form; titles, order and separators stay."""
    core, title = _without_title(value)
    spaced = re.search(rf"(?<=[{HAN}ぁ-ゖ])[ \u3000]+(?=[{HAN}ぁ-ゖ])", core)
    if spaced is not None:
        family, given = core[: spaced.start()], core[spaced.end() :]
        return _family(table, family, salt) + spaced.group() + _given(table, given, "") + title
    if not is_han(core[:1]):
        return _RUNS.sub(lambda run: _kana(table, run.group(), salt), core) + title
    if core[-1] in _GIVEN_ENDS and len(core) <= _LONGEST_GIVEN:
        return _given(table, core, salt) + title
    family = _family_of(core)
    given = core[len(family) :]
    return _family(table, family, salt) + (_given(table, given, "") if given else "") + title


def is_firm(value: str) -> bool:
    """Does the name end in a kind of business, which no person's does?"""
    ends = tuple(word for word in lexicon().ja_company_words if len(word) > 1)
    return value.endswith(ends) and value not in ends


def organization(table: SurrogateTable, value: str, salt: str) -> str:
    """Legal forms and kinds of business stay; the rest is an invented stem."""
    return _kept_between(table, value, salt, _kinds(), _STEM)


def location(table: SurrogateTable, value: str, salt: str) -> str:
    """Kinds of places stay; the names before them are invented."""
    return _kept_between(table, value, salt, _place_ends(), _PLACE)


def _kept_between(
    table: SurrogateTable, value: str, salt: str, kinds: re.Pattern[str], space: str
) -> str:
    parts, done = [], 0
    for match in [*kinds.finditer(value), None]:
        end = match.start() if match else len(value)
        parts.append(_stems(table, value[done:end], salt, space))
        if match is not None:
            parts.append(match.group())
            done = match.end()
    new = "".join(parts)
    return _stems(table, value, salt, space) if new == value else new


def _stems(table: SurrogateTable, text: str, salt: str, space: str) -> str:
    def change(run: re.Match[str]) -> str:
        word = run.group()
        if word.isascii():
            return cased_like(table.token(STEM, word.casefold(), stem, salt), word)
        if not is_han(word):
            return _kana(table, word, salt)
        return table.token(space, word, _stem(len(word)), salt)

    return (_RUNS if space == _PLACE else _WORDS).sub(change, text)


def _without_title(value: str) -> tuple[str, str]:
    titles = sorted(lexicon().ja_titles, key=len, reverse=True)
    title = next((t for t in titles if value.endswith(t) and value != t), "")
    return value[: len(value) - len(title)], title


def _family_of(name: str) -> str:
    """The family name that a name begins with: a common one, otherwise two characters."""
    known = [family for family in lexicon().ja_families if name.startswith(family)]
    if known:
        return max(known, key=len)
    run = re.match(f"[{HAN}]+", name)
    size = len(run.group()) if run else len(name)
    return name[: min(2, size)]


def _family(table: SurrogateTable, name: str, salt: str) -> str:
    if not is_han(name):
        return _kana(table, name, salt)
    return table.token(_FAMILY, name, _drawn_family, salt)


def _given(table: SurrogateTable, name: str, salt: str) -> str:
    if not is_han(name):
        return _RUNS.sub(lambda run: _kana(table, run.group(), salt), name)
    return table.token(_GIVEN, name, _drawn_given, salt, fresh=False)


def _drawn_family(rng: Generator, attempt: int) -> str:
    words = lexicon()
    middle = pick(rng, words.ja_second) if attempt > _LONGER_FROM else ""
    return pick(rng, words.ja_first) + middle + pick(rng, words.ja_second)


def _drawn_given(rng: Generator, attempt: int) -> str:
    words = lexicon()
    middle = pick(rng, words.ja_given_second) if attempt > _LONGER_FROM else ""
    return pick(rng, words.ja_given_first) + middle + pick(rng, words.ja_given_second)


def _stem(size: int) -> Draw:
    def draw(rng: Generator, attempt: int) -> str:
        pairs = max(1, min(size, 4) // 2) + attempt // _LONGER_FROM
        return "".join(_drawn_family(rng, 0) for _ in range(pairs))

    return draw


def _kana(table: SurrogateTable, word: str, salt: str) -> str:
    """Other syllables, as many as before (at least two); hiragana stay hiragana."""
    is_hiragana = _HIRAGANA.fullmatch(word) is not None

    def draw(rng: Generator, attempt: int) -> str:
        size = max(2, len(word)) + attempt // _LONGER_FROM
        new = "".join(pick(rng, _SYLLABLES) for _ in range(size))
        return "".join(chr(ord(c) - _TO_HIRAGANA) for c in new) if is_hiragana else new

    return table.token(_KANA, word, draw, salt)


@cache
def _kinds() -> re.Pattern[str]:
    return _pattern(lexicon().ja_company_words)


@cache
def _place_ends() -> re.Pattern[str]:
    return re.compile(rf"(?<=.)(?:{_alternatives(lexicon().ja_place_ends)})(?=[{HAN}\d]|$)")


def _pattern(listed: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(_alternatives(listed))


def _alternatives(listed: tuple[str, ...]) -> str:
    return "|".join(re.escape(word) for word in sorted(listed, key=lambda word: (-len(word), word)))
