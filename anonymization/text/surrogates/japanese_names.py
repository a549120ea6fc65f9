"""Names of Japanese people, firms and places.

Whether a name in Han characters is Japanese is told by its length and by common family names; names
with kana are. In names of people kana stay kana, of the same kind and number; the stems of firms
are read as invented family names are. Legal forms, trades and kinds of places stay.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from numpy.random import Generator

from anonymization.text.surrogates.assignment import (
    LONGER_FROM,
    STEM,
    Draw,
    SurrogateTable,
    cased_like,
    compound,
    lexicon,
    pick,
    stem,
)
from data.text.folding import fold_width
from data.text.numbers import ONE_TO_TEN
from data.text.scripts import HAN, has_han, has_kana, is_han

JA_FAMILY, JA_GIVEN, _JA_KANA, _JA_STEM, _JA_PLACE = (
    "ja.family",
    "ja.given",
    "ja.kana",
    "ja.company",
    "ja.place",
)
_RUNS = re.compile(rf"(?!(?<=\d)世)[{HAN}]+|[ァ-ヺー]+|[ぁ-ゖ]+")
_JA_WORDS = re.compile(rf"{_RUNS.pattern}|[A-Za-z]{{2,}}|[Ａ-Ｚａ-ｚ]{{2,}}")
_TO_WIDE = ord("Ａ") - ord("A")
_HAN_NUMBER = re.compile(f"[{ONE_TO_TEN}]{{1,3}}")
_HIRAGANA = re.compile(r"[ぁ-ゖ]+")
_SYLLABLES = tuple("アイウエカキクケコサシスセタテトナニネノハヒフホマミムメモヤユヨラリルレロワ")
_TO_HIRAGANA = ord("ァ") - ord("ぁ")
_GIVEN_ENDS, _LONGEST_GIVEN = frozenset("子郎"), 3  # of given names that only Japan writes
_HOUSES, _LONGEST_PARTICLE = "屋店亭軒庵苑園会堂館院寮荘", 2
_BETWEEN = re.compile(rf"(?<=[{HAN}])[ヶケヵノツ](?=[{HAN}])")  # 矢ヶ崎, 一ノ瀬
_FULL = 4  # Han characters of a family and a given name


def is_japanese_name(value: str) -> bool:
    """Is it a name in kana, or one in Han characters that is Japanese rather than Chinese?"""
    if has_kana(value.replace("・", "")):
        return True
    words = lexicon()
    plain = without_title(value)[0].replace(" ", "").replace("\u3000", "")
    plain = next((plain[: -len(t)] for t in words.person_titles_zh if plain.endswith(t)), plain)
    if not is_han(plain) or plain[:2] in words.zh_double or not is_written_in_japan(plain):
        return False
    if len(plain) > 1 and plain[-1] in _GIVEN_ENDS:
        return True
    return len(plain) >= _FULL or any(
        len(family) > 1 and plain.startswith(family) for family in words.ja_families
    )


def knows_japanese_part(table: SurrogateTable, value: str) -> bool:
    """Is it the family or given name of somebody whose name is known?"""
    name = without_title(value)[0]
    return table.knows(JA_FAMILY, name) or table.knows(JA_GIVEN, name)


def is_written_in_japan(text: str) -> bool:
    """Is every character in the Japanese standard? Simplified Chinese ones (张) are not."""
    try:
        text.replace("𠮷", "吉").encode("cp932")
    except UnicodeEncodeError:
        return False
    return True


def japanese_person(table: SurrogateTable, value: str, salt: str) -> str:
    """A Japanese name of the same form; titles, order and separators stay."""
    core, title = without_title(value)
    spaced = re.search(rf"(?<=[{HAN}ぁ-ゖ])[ \u3000]+(?=[{HAN}ぁ-ゖァ-ヺ])", core)
    if spaced is not None:
        family, given = core[: spaced.start()], core[spaced.end() :]
        return (
            _ja_family(table, family, salt) + spaced.group() + _ja_given(table, given, "") + title
        )
    if not is_han(core[:1]):
        return _RUNS.sub(lambda run: _kana(table, run.group(), salt), core) + title
    if core[-1] in _GIVEN_ENDS and len(core) <= _LONGEST_GIVEN:
        return _ja_given(table, core, salt) + title
    if table.knows(JA_GIVEN, core) and not table.knows(JA_FAMILY, core):  # 大樹, of 及川 大樹
        return _ja_given(table, core, salt) + title
    family = core if title and not _begins_known(table, core) else _family_of(table, core)
    given = core[len(family) :]
    return _ja_family(table, family, salt) + (_ja_given(table, given, "") if given else "") + title


def is_firm(value: str) -> bool:
    """Does the name end in a kind of business or of house (鶴見屋), which no person's does?"""
    ends = tuple(word for word in lexicon().ja_company_words if len(word) > 1)
    is_house = len(value) > 2 and value[-1] in _HOUSES and not value.isascii()
    return is_house or "会社" in value or (value.endswith(ends) and value not in ends)


def japanese_organization(table: SurrogateTable, value: str, salt: str) -> str:
    """Legal forms and kinds of business stay; the rest is an invented stem."""
    return _kept_between(table, value, salt, _ja_kinds(), _JA_STEM)


def knows_japanese_firm(table: SurrogateTable, value: str) -> bool:
    """Is it the name of a known firm without its legal form?"""
    stems = (run for part in _ja_kinds().split(value) for run in _RUNS.findall(part))
    return any(table.knows(_JA_STEM, stem) for stem in stems)


def japanese_location(table: SurrogateTable, value: str, salt: str) -> str:
    """Prefectures and kinds of places stay; the names before them are invented."""
    known = next((p for p in lexicon().ja_prefectures if p in value and value != p), "")
    before, _, rest = value.partition(known) if known else ("", "", value)
    return before + known + _kept_between(table, rest, salt, _ja_place_ends(), _JA_PLACE)


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
        word, narrow = run.group(), fold_width(run.group())
        if narrow.isascii():
            new = cased_like(table.token(STEM, narrow.casefold(), stem, salt), narrow)
            return new if word == narrow else "".join(chr(ord(char) + _TO_WIDE) for char in new)
        if _HAN_NUMBER.fullmatch(word):  # of a block: 四丁目
            return table.token(f"ja.number{len(word)}", word, _drawn_number(len(word)), fresh=False)
        if not is_han(word):
            is_between = has_han(text[run.end() : run.end() + 1])  # の, and the ends of verbs
            is_short = len(word) <= _LONGEST_PARTICLE and _HIRAGANA.fullmatch(word)
            return word if is_between and is_short else _kana(table, word, salt, is_name=False)
        if space == _JA_STEM and not salt and word in table.tokens(JA_FAMILY):  # of its owner
            return table.tokens(JA_FAMILY)[word]
        return table.token(space, word, _ja_stem(len(word)), salt)

    return (_RUNS if space == _JA_PLACE else _JA_WORDS).sub(change, text)


def without_title(value: str) -> tuple[str, str]:
    """A name, and what the person is called behind it."""
    titles = sorted(lexicon().ja_titles, key=len, reverse=True)
    title = next((t for t in titles if value.endswith(t) and value != t), "")
    return value[: len(value) - len(title)], title


def _family_of(table: SurrogateTable, name: str) -> str:
    """The family name that a name begins with: one of somebody known, a common one, otherwise two
    characters."""
    if table.knows(JA_FAMILY, name):
        return name
    families = (*lexicon().ja_families, *table.families.get(name, ()))
    known = [family for family in families if name.startswith(family)]
    if known:
        return max(known, key=len)
    run = re.match(f"[{HAN}]+", name)
    size = len(run.group()) if run else len(name)
    return name[: size if size < _FULL else 2]  # 鴨志田 by itself


def _begins_known(table: SurrogateTable, name: str) -> bool:
    return _family_of(table, name) in (*lexicon().ja_families, *table.families.get(name, ()))


def _ja_family(table: SurrogateTable, name: str, salt: str) -> str:
    if not is_han(_BETWEEN.sub("", name)):
        return _kana(table, name, salt)
    return table.token(JA_FAMILY, name, _drawn_family, salt)


def _ja_given(table: SurrogateTable, name: str, salt: str) -> str:
    if not is_han(name):
        return _RUNS.sub(lambda run: _kana(table, run.group(), salt), name)
    return table.token(JA_GIVEN, name, _drawn_given, salt, fresh=False)


def _drawn_family(rng: Generator, attempt: int) -> str:
    words = lexicon()
    return compound(rng, words.ja_first, words.ja_second, is_longer=attempt > LONGER_FROM)


def _drawn_given(rng: Generator, attempt: int) -> str:
    first, second = lexicon().ja_given_first, lexicon().ja_given_second
    return compound(rng, first, second, is_longer=attempt > LONGER_FROM)


def _ja_stem(size: int) -> Draw:
    def draw(rng: Generator, attempt: int) -> str:
        pairs = max(1, min(size, 4) // 2) + attempt // LONGER_FROM
        return "".join(_drawn_family(rng, 0) for _ in range(pairs))

    return draw


def _drawn_number(size: int) -> Draw:
    """A number below ten, or one of as many characters between ten and twenty or above."""
    before = {1: "", 2: "十", 3: "二十"}[size]
    return lambda rng, _: before + pick(rng, ONE_TO_TEN[:-1])


def in_katakana(word: str) -> str:
    """The word with katakana for its hiragana."""
    return "".join(chr(ord(c) + _TO_HIRAGANA) if "ぁ" <= c <= "ゖ" else c for c in word)


def unvoiced(read: str) -> str:
    """A reading in katakana without the marks of voiced sounds, in which readings of one name may
    differ: タサキ, タザキ."""
    return unicodedata.normalize("NFD", read).replace("\u3099", "")


def _kana(table: SurrogateTable, word: str, salt: str, *, is_name: bool = True) -> str:
    """Other syllables, as many as before (at least two), in a name; else an invented stem as it
    is read. Hiragana stay hiragana."""
    is_hiragana = _HIRAGANA.fullmatch(word) is not None
    katakana = in_katakana(word)
    for size in (len(katakana), *range(len(katakana) - 2, 1, -1)):
        read = table.readings.get(unvoiced(katakana[:size]))
        if read:
            known = "".join(chr(ord(c) - _TO_HIRAGANA) for c in read) if is_hiragana else read
            rest = word[size:]
            return known + (_kana(table, rest, salt, is_name=is_name) if rest else "")

    def draw(rng: Generator, attempt: int) -> str:
        size = max(2, len(word)) + attempt // LONGER_FROM
        first, second = lexicon().ja_first_read, lexicon().ja_second_read
        new = compound(rng, first, second, is_longer=attempt > LONGER_FROM)
        new = "".join(pick(rng, _SYLLABLES) for _ in range(size)) if is_name else new
        return "".join(chr(ord(c) - _TO_HIRAGANA) for c in new) if is_hiragana else new

    return table.token(_JA_KANA, word, draw, salt)


@cache
def _ja_kinds() -> re.Pattern[str]:
    words = lexicon().ja_company_words
    short = [word for word in words if len(word) == 2 and has_kana(word)]  # バー, not in シルバー
    rest = tuple(word for word in words if word not in short)
    kana, letters = "[ぁ-ゖァ-ヺー]", f"[{HAN}ぁ-ゖァ-ヺー]"
    house = f"(?<={letters}{letters})[{_HOUSES}](?!{letters})"
    alone = f"(?<!{kana})(?:{'|'.join(short)})(?!{kana})"
    # `カ）` and `（ユ`, as banks write a legal form
    return re.compile(f"^[カユドシ][)）]|[(（][カユド]$|{_alternatives(rest)}|{alone}|{house}")


@cache
def _ja_place_ends() -> re.Pattern[str]:
    ends = _alternatives(lexicon().ja_place_ends)
    inner = f"(?![島山川湖港][{_OF_LARGER}])"  # 東松島市
    return re.compile(rf"(?<=.){inner}(?:{ends})(?=[{HAN}\dぁ-ゖァ-ヺ０-９]|$)")


_OF_LARGER = "市区町村郡"


def _alternatives(listed: tuple[str, ...]) -> str:
    return "|".join(re.escape(word) for word in sorted(listed, key=lambda word: (-len(word), word)))
