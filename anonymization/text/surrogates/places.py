"""Places and addresses, replaced so that their parts agree.

Kinds of places, regions, countries and well-known towns stay; other places get invented stems.
"""

from __future__ import annotations

import re
from functools import cache

from numpy.random import Generator

from anonymization.text.surrogates.assignment import (
    LONGER_FROM,
    STEM,
    Draw,
    SurrogateTable,
    cased_like,
    digits,
    lexicon,
    pick,
    same_shape,
    stem,
)
from anonymization.text.surrogates.japanese_names import japanese_location
from data.text.lexicon import load_table
from data.text.numbers import ordinal_suffix
from data.text.scripts import HAN, has_han, has_kana, is_han

_DETECTION = "anonymization.text.detect"  # whose lists say what a place is
PLACE, _ZH_PLACE, _NUMBER, _CODE = "place", "zh.place", "number", "code"
_CANADIAN, _CANADIAN_FIRST = "ABCEGHJKLMNPRSTVWXYZ", "ABCEGHJKLMNPRSTVXY"
_OF_CANADA = rf"[{_CANADIAN_FIRST}]\d[{_CANADIAN}][ -]?\d[{_CANADIAN}]\d(?![^\W_])"
_ORDINAL = r"\d+(?:st|nd|rd|th)(?![^\W_])"
_PARTS = re.compile(
    rf"(?<![^\W_])(?:{_OF_CANADA}|{_ORDINAL})|[{HAN}]+|[^\W\d_{HAN}]+(?:'[^\W\d_]+)?|\d+"
)
_POSTCODE = re.compile(r"(?<![^\W_])[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}(?![^\W_])")
_ABBREVIATION = 3
_ZIP, _OF_REGION = 5, 3  # digits of a ZIP code, and of those the ones that name its region
_PUBLIC_SHORT = frozenset({"P", "O", "PO", "US", "USA", "UK", "SR", "CR", "RR"})  # of roads, boxes
_CODE_AFTER = re.compile(r",? {1,2}\d{4,5}(?!\d)")
_JAPANESE_PLACES = ("県", "東京都", "京都府", "大阪府", "北海道", "丁目", "番地")


def location(table: SurrogateTable, value: str, salt: str) -> str:
    """A place: each word has its own surrogate; kinds of places (city, lake, 省, 市) stay."""
    if _is_japanese_place(table, value):
        return japanese_location(table, value, salt)
    return _changed(table, value, salt)


def address(table: SurrogateTable, value: str, salt: str) -> str:
    """Like a location; numbers of houses and flats, postcodes and abbreviations are new too."""
    if _is_japanese_place(table, value):
        places = japanese_location(table, value, salt)
        return re.sub(r"\d+", lambda number: _number(table, number.group(), salt), places)
    value = _POSTCODE.sub(lambda match: short_code(table, match.group(), salt), value)
    return _changed(table, value, salt)


_TOWN_OR_PART = re.compile(rf"[{HAN}]+[市区町郡區县縣乡鄉镇鎮]")  # 村 and 山 end names, too


def ends_as_place(value: str) -> bool:
    """Is it one word in Han characters that ends in a kind of place, and not as families do?"""
    return _TOWN_OR_PART.fullmatch(value) is not None


def _is_japanese_place(table: SurrogateTable, value: str) -> bool:
    if not has_han(value) or stands_in_japanese(table, value):
        return has_kana(value) or has_han(value)
    is_ended = any(part in value for part in _JAPANESE_PLACES) and value not in table.chinese
    return has_kana(value) or is_ended


def stands_in_japanese(table: SurrogateTable, value: str) -> bool:
    """Does the text around a value in Han characters say that it is Japanese?"""
    return has_han(value) and value in table.japanese


def _changed(table: SurrogateTable, value: str, salt: str) -> str:
    keep = lexicon().place_words
    words = [word for word in _PARTS.findall(value) if not word.isdigit()]
    if all(word.casefold() in keep for word in words) and not any(map(str.isdecimal, value)):
        keep = frozenset()

    def change(match: re.Match[str]) -> str:
        word = match.group()
        if word.isdecimal():
            is_zip = len(word) == _ZIP and _is_postcode(value, match)
            return _zip_code(table, word, salt) if is_zip else _number(table, word, salt)
        if word[0].isdecimal():  # 5th
            number = int(_number(table, word[:-2], salt))
            return f"{number}{ordinal_suffix(number)}"
        if word[1:2].isdecimal():
            return _canadian_code(table, word, salt)
        if is_han(word[0]):
            after_number = value[: match.start()][-1:].isdecimal()
            return chinese_place(table, word, after_number, salt)
        folded = word.casefold()
        is_last = value[match.end() : match.end() + 1] in ("", ",", ";", "\n")
        if folded in keep or (is_last and match.start() and folded in lexicon().street_ends):
            return word
        if is_state(value, match):
            return word
        is_road = word in lexicon().states and value[match.end() :].lstrip()[:1].isdecimal()
        if word in _PUBLIC_SHORT or is_road:  # `NC 150`
            return word
        if len(word) == 1 or (len(word) < _ABBREVIATION and word.isupper()):  # `27b`
            return short_code(table, word, salt)
        if is_known_place(value, match):
            return word
        small = word.lower()
        end = next((e for e in lexicon().street_compounds if small.endswith(e)), "")
        if end and len(word) - len(end) >= _SHORTEST_STREET:  # Lindenallee
            return cased_like(table.token(PLACE, folded, stem, salt), word) + word[-len(end) :]
        of_firm = table.tokens(STEM).get(folded)  # `Waikato` of `Waikato Users Group`
        return cased_like(of_firm or table.token(PLACE, folded, stem, salt), word)

    return _PARTS.sub(change, value)


_SHORTEST_STREET = 3  # letters before what says that it is one
_ENDS_TOWN = re.compile(r"\s*(?:[,;\n]|\Z|\(|(?:[A-Z]{2} )?[A-Z\d]*\d)")


@cache
def _known_places() -> tuple[frozenset[str], frozenset[str]]:
    """Well-known towns and countries, also as they are called there."""
    listed = load_table(_DETECTION, "data", "places.toml")
    towns, countries = (frozenset(listed[key].strip().split("|")) for key in ("towns", "countries"))
    return towns, countries | frozenset(lexicon().own_countries)


def is_known_place(value: str, word: re.Match[str]) -> bool:
    """Is a word of an address a well-known town or a country, behind the rest of it?"""
    before = value[: word.start()].rstrip()
    is_behind = before.endswith((",", ";", "\n")) or before[-1:].isdecimal()
    towns, countries = _known_places()
    name = word.group().title() if word.group().isupper() else word.group()
    is_last = not value[word.end() :].strip(" .\n")
    if name in countries and is_last and before:
        return True
    is_alone = not before and _ENDS_TOWN.match(value, word.end()) and not is_last
    ends = _ENDS_TOWN.match(value, word.end()) is not None
    return name in towns and ((is_behind and ends) or bool(is_alone))


def is_state(value: str, word: re.Match[str]) -> bool:
    """Is it the short name of a state, behind a comma or before a postcode: `Dayton, OH 45402`?"""
    is_apart = value[: word.start()].endswith((",", ", ")) or _CODE_AFTER.match(value, word.end())
    return word.group() in lexicon().states and is_apart is not None


def _is_postcode(value: str, number: re.Match[str]) -> bool:
    """Does a number stand alone, or behind the short name of a state, as a ZIP code does?"""
    is_behind = value[: number.start()].rstrip(" .,")[-2:] in lexicon().states
    before = value[: number.start()].rstrip(" -DAICHFL")
    town = _TOWN_BEHIND.match(value, number.end())
    is_before_town = (
        town is not None
        and (not before or before[-1] in ",;·|\n")
        and lexicon().place_words.isdisjoint(town.group().casefold().split())  # of no house
    )
    return is_behind or is_before_town or value.strip().partition("-")[0] == number.group()


_TOWN_BEHIND = re.compile(r" [^\W\d_a-z][^\W\d_][^,;\n]*")  # `26382 Wilhelmshaven`


def _zip_code(table: SurrogateTable, word: str, salt: str) -> str:
    """Another code of the region that its first digits name, and the state beside it."""
    kept, rest = word[:_OF_REGION], word[_OF_REGION:]
    draw: Draw = lambda rng, _: digits(rng, len(rest))  # noqa: E731
    return kept + table.token(f"zip.{kept}", rest, draw, salt, fresh=False)


def is_known_code(table: SurrogateTable, value: str) -> bool:
    """Is a number the code of a town that an address has?"""
    return value.isdecimal() and table.knows(f"zip.{value[:_OF_REGION]}", value[_OF_REGION:])


def _number(table: SurrogateTable, word: str, salt: str) -> str:
    draw: Draw = lambda rng, _: digits(rng, len(word)).replace("0", "7", 1)  # noqa: E731
    return table.token(f"{_NUMBER}{len(word)}", word, draw, salt, fresh=False)


def _canadian_code(table: SurrogateTable, word: str, salt: str) -> str:
    """Another postal code of the same province, of the letters that Canada uses."""

    def draw(rng: Generator, _: int) -> str:
        new = [
            pick(rng, _CANADIAN) if char.isalpha() else digits(rng, 1) if char.isdigit() else char
            for char in word[1:]
        ]
        return word[0] + "".join(new)

    return table.token(_CODE, word, draw, salt, fresh=False)


def short_code(table: SurrogateTable, word: str, salt: str) -> str:
    """Letters or digits of the same form."""
    return table.token(_CODE, word, lambda rng, _: same_shape(word, rng), salt, fresh=False)


def chinese_place(table: SurrogateTable, text: str, after_number: bool, salt: str) -> str:
    """Replace the stems between kinds of places, each by a stem of the same length."""
    lead = next((word for word in lexicon().place_lead_zh if text.startswith(word)), "")
    if not after_number:
        known = _of_regions().match(text, len(lead))
        lead += known.group() if known else ""
    if after_number:
        counted = re.match(f"(?:{_ends()})+", text)
        lead = counted.group() if counted else ""
    parts, rest = [lead], text[len(lead) :]
    for match in re.finditer(f"(?P<end>(?:{_ends()})+)|(?P<name>.+?)(?={_ends()}|$)", rest):
        name, end = match["name"], match["end"]
        parts.append(end or table.token(_ZH_PLACE, name, _zh_place_stem(len(name)), salt))
    return "".join(parts)


@cache
def _ends() -> str:
    ends = sorted(lexicon().place_ends_zh, key=lambda end: (-len(end), end))
    return "|".join(f"{end}(?![{_OF_LARGER}])" if end in _IN_NAMES else end for end in ends)


_IN_NAMES, _OF_LARGER = "州城岛湾港园苑里省", "市区區县縣路街巷镇鎮乡鄉村"  # 株洲市, 鹿城区, 环城路


@cache
def _of_regions() -> re.Pattern[str]:
    towns = "|".join(_well_known_in_china())
    names = "|".join(sorted(lexicon().regions_zh, key=lambda name: (-len(name), name)))
    ends = "省|市|(?:壮族|回族|维吾尔)?自治区|特别行政区"
    return re.compile(f"(?:(?:{names})(?:{ends})?|(?:{towns})(?:{ends})){{0,2}}")


@cache
def _well_known_in_china() -> list[str]:
    return load_table(_DETECTION, "data", "places.toml")["chinese"].split("|")  # type: ignore[no-any-return]


def is_well_known(value: str) -> bool:
    """Is it a region, a well-known town or a country by itself: where so many are that it tells of
    nobody, and that addresses keep?"""
    name = value.strip()
    towns, countries = _known_places()
    is_chinese = _of_regions().fullmatch(name) is not None or name in _well_known_in_china()
    return bool(name) and (is_chinese or name in towns or name in countries)


def _zh_place_stem(size: int) -> Draw:
    def draw(rng: Generator, attempt: int) -> str:
        words = lexicon()
        count = max(1, size) + attempt // LONGER_FROM
        return "".join(
            pick(rng, words.zh_first if index % 2 == 0 else words.zh_second)
            for index in range(count)
        )

    return draw
