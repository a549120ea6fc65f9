"""Names of people, organisations, places and addresses, replaced so that their parts agree.

A person has one surrogate per given and per family name. Organisations and places get invented
stems; legal forms, trades and separators stay. Japanese names are in `japanese_names.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice

from numpy.random import Generator

from anonymization.text.surrogates.assignment import (
    LETTERS,
    LONGER_FROM,
    STEM,
    Draw,
    SurrogateTable,
    cased_like,
    compound,
    digits,
    lexicon,
    pick,
    same_shape,
    stem,
)
from anonymization.text.surrogates.japanese_names import (
    JA_FAMILY,
    is_japanese_name,
    japanese_location,
    japanese_organization,
    japanese_person,
    knows_japanese_family,
    knows_japanese_firm,
)
from data.text.lexicon import load_table
from data.text.numbers import ordinal_suffix
from data.text.scripts import HAN, has_han, has_kana, is_han

_DETECTION = "anonymization.text.detect"  # whose lists say what a word is
GIVEN, FAMILY = "given", "family"
_ZH_GIVEN, _ZH_FAMILY, _ZH_FOREIGN, _INITIAL = "zh.given", "zh.family", "zh.foreign", "initial"
_ALPHABET = "ABCDEFGHJKLMNPRSTVW"
_HAN_RUN = re.compile(rf"[{HAN}]+")
_TURNED = re.compile(r"[^\W\d_]+(?:[ '-][^\W\d_]+)?(?=, [^\W\d_])")
_COMPOSED_FROM = 12
_AMONG_FRIENDS = frozenset("哥姐叔姨")  # said behind a given name
_LONG_NAME, _LONGEST_PERSON, _LONGEST_INITIALS = 4, 6, 3


def person(table: SurrogateTable, value: str, salt: str) -> str:
    """A name of the same form: initials, titles, order, letter case and separators stay."""
    is_japanese = is_japanese_name(value) or knows_japanese_family(table, value)
    if _is_japanese(table, value) or (is_japanese and value not in table.chinese):
        return japanese_person(table, value, salt)
    if has_han(value):
        return _HAN_RUN.sub(lambda run: chinese_name(table, run.group(), "·" in value, salt), value)
    words = [match for match in LETTERS.finditer(value) if _is_name(match.group())]
    names = [match.group() for match in words]
    turned = _TURNED.match(value)  # Smith, John: the family name comes first
    is_turned = turned is not None or _is_turned(table, names)
    parts, done = [], 0
    for number, match in enumerate(words):
        is_joined = value[match.end() : match.end() + 1] == "-"  # Blackwood-Nash, Mei-Lin
        at_end = len(names) - 1 - (is_joined or value[match.start() - 1 : match.start()] == "-")
        is_family = number == 0 if is_turned else 0 < number >= at_end
        is_family = match.end() <= turned.end() if turned else is_family
        word = match.group()
        new = initial(table, word.casefold(), names) if len(word) == 1 else ""
        new = cased_like(new, word) if new else _word(table, word, is_family, salt)
        parts += [value[done : match.start()], new]
        done = match.end()
    if len(names) > 1 and not salt and min(len(names[0]), len(names[-1])) > 1:
        first = 1 if is_turned else 0
        made = parts[1::2]
        table.introduce(names[first:] + names[:first], made[first:] + made[:first])
    return "".join(parts) + value[done:]


def _is_turned(table: SurrogateTable, names: Sequence[str]) -> bool:
    """Does a family name that is known come before a given name that is known?"""
    if len(names) != 2:
        return False
    given, family = ({*map(str.casefold, table.tokens(space))} for space in (GIVEN, FAMILY))
    first, last = map(str.casefold, names)
    return first in family - given and last in given - family


def part_of_person(table: SurrogateTable, value: str) -> bool:
    """Is the value a word that is part of a name known already?"""
    folded = value.casefold()
    known = (FAMILY, GIVEN, JA_FAMILY, _ZH_GIVEN)
    return any(table.knows(space, folded) for space in known)


def _is_name(word: str) -> bool:
    return word.casefold() not in lexicon().person_words or (len(word) == 1 and word.isupper())


def _word(table: SurrogateTable, word: str, is_last: bool, salt: str) -> str:
    folded = word.casefold()
    if len(word) == 1:
        return cased_like(initial(table, folded), word)
    if word.islower() and len(word) > _LONGEST_INITIALS and not salt and folded in table.logins:
        return table.logins[folded]
    family = table.knows(FAMILY, folded) and not table.knows(GIVEN, folded)
    if is_last or family:
        return cased_like(table.token(FAMILY, folded, stem, salt), word)
    return cased_like(table.token(GIVEN, folded, given_name, salt), word)


def initial(table: SurrogateTable, letter: str, beside: Iterable[str] = ()) -> str:
    """The initial of the surrogate of a known given name with this initial, else a random one; of
    one with a family name beside it, if there is any."""
    for family in map(str.casefold, beside):
        for given, new in sorted(table.given_of.get(family, {}).items()):
            if given.startswith(letter):
                return new[0]
    for token, new in sorted(table.tokens(GIVEN).items()):
        if token.startswith(letter):
            return new[0]
    return table.token(_INITIAL, letter, lambda rng, _: pick(rng, _ALPHABET), fresh=False)


def given_name(rng: Generator, attempt: int) -> str:
    """An English given name; after some attempts a composed one."""
    words = lexicon()
    if attempt < _COMPOSED_FROM:
        return pick(rng, words.given)
    is_longer = attempt >= 3 * _COMPOSED_FROM
    return compound(rng, words.given_first, words.given_second, is_longer=is_longer)


def chinese_name(table: SurrogateTable, name: str, foreign: bool, salt: str) -> str:
    """A Chinese name of the same length; a foreign one is not split."""
    words = lexicon()
    is_house = name[1:] == "家" and table.knows(_ZH_FAMILY, name[0])
    if name[1:] in _roles() or is_house:
        return _zh_family(table, name[0], salt) + name[1:]
    end = next((t for t in words.person_titles_zh if name.endswith(t) and name != t), "")
    core = name[: len(name) - len(end)]
    is_given = table.knows(_ZH_GIVEN, core) and not table.knows(_ZH_FAMILY, core)
    if is_given and (len(core) == 2 or end in _AMONG_FRIENDS):  # 昊哥, of a known person
        return table.token(_ZH_GIVEN, core, _zh_given(len(core))) + end
    if core[0] in words.person_lead_zh and len(core) == 2:
        return core[0] + _zh_family(table, core[1], salt) + end
    if foreign or len(core) > _LONG_NAME:
        return table.token(_ZH_FOREIGN, core, _zh_given(len(core)), salt) + end
    family, given = chinese_parts(core)
    if not given:
        return _zh_family(table, family, salt) + end
    new = table.token(_ZH_GIVEN, given, _zh_given(len(given)), salt, fresh=False)
    return _zh_family(table, family, "") + new + end


def chinese_parts(name: str) -> tuple[str, str]:
    """The family and the given name of a Chinese name."""
    size = 2 if name[:2] in lexicon().zh_double and len(name) > 1 else 1
    return name[:size], name[size:]


@cache
def _roles() -> frozenset[str]:
    """What somebody is called behind the family name: 王员工."""
    return frozenset(load_table(_DETECTION, "data", "names.toml")["chinese_roles"].split())


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


PLACE, _ZH_PLACE, _REGION, _NUMBER, _CODE = "place", "zh.place", "zh.region", "number", "code"
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
    value = _POSTCODE.sub(lambda match: _code(table, match.group(), salt), value)
    return _changed(table, value, salt)


_TOWN_OR_PART = re.compile(rf"[{HAN}]+[市区町郡區县縣乡鄉镇鎮]")  # 村 and 山 end names, too


def ends_as_place(value: str) -> bool:
    """Is it one word in Han characters that ends in a kind of place, and not as families do?"""
    return _TOWN_OR_PART.fullmatch(value) is not None


def _is_japanese_place(table: SurrogateTable, value: str) -> bool:
    if not has_han(value) or _is_japanese(table, value):
        return has_kana(value) or has_han(value)
    is_ended = any(part in value for part in _JAPANESE_PLACES) and value not in table.chinese
    return has_kana(value) or is_ended


def _is_japanese(table: SurrogateTable, value: str) -> bool:
    """Does the text around a value in Han characters say that it is Japanese?"""
    return has_han(value) and value in table.japanese


def region(table: SurrogateTable, name: str) -> str:
    """Another Chinese province or city, with the same ending."""
    choices = tuple(r for r in lexicon().regions_zh if r.endswith("市") == name.endswith("市"))
    return table.token(_REGION, name, lambda rng, _: pick(rng, choices), fresh=False)


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
            return _chinese_place(table, word, after_number, salt)
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
            return _code(table, word, salt)
        of_firm = table.tokens(STEM).get(folded)  # `Waikato` of `Waikato Users Group`
        return cased_like(of_firm or table.token(PLACE, folded, stem, salt), word)

    return _PARTS.sub(change, value)


def is_state(value: str, word: re.Match[str]) -> bool:
    """Is it the short name of a state, behind a comma or before a postcode: `Dayton, OH 45402`?"""
    is_apart = value[: word.start()].endswith((",", ", ")) or _CODE_AFTER.match(value, word.end())
    return word.group() in lexicon().states and is_apart is not None


def _is_postcode(value: str, number: re.Match[str]) -> bool:
    """Does a number stand alone, or behind the short name of a state, as a ZIP code does?"""
    is_behind = value[: number.start()].rstrip(" .,")[-2:] in lexicon().states
    return is_behind or value.strip().partition("-")[0] == number.group()


def _zip_code(table: SurrogateTable, word: str, salt: str) -> str:
    """Another code of the region that its first digits name, and the state beside it."""
    kept, rest = word[:_OF_REGION], word[_OF_REGION:]
    draw: Draw = lambda rng, _: digits(rng, len(rest))  # noqa: E731
    return kept + table.token(f"zip.{kept}", rest, draw, salt, fresh=False)


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


def _code(table: SurrogateTable, word: str, salt: str) -> str:
    return table.token(_CODE, word, lambda rng, _: same_shape(word, rng), salt, fresh=False)


def _chinese_place(table: SurrogateTable, text: str, after_number: bool, salt: str) -> str:
    """Replace the stems between kinds of places, each by a stem of the same length."""
    lead = next((word for word in lexicon().place_lead_zh if text.startswith(word)), "")
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
    return "|".join(sorted(lexicon().place_ends_zh, key=lambda end: (-len(end), end)))


def _zh_place_stem(size: int) -> Draw:
    def draw(rng: Generator, attempt: int) -> str:
        words = lexicon()
        count = max(1, size) + attempt // LONGER_FROM
        return "".join(
            pick(rng, words.zh_first if index % 2 == 0 else words.zh_second)
            for index in range(count)
        )

    return draw


_ZH_STEM = "zh.company"
_JAPANESE_FORM = re.compile(r"会社|法人|㈱|㈲|[(（][株有][)）]")

_APOSTROPHES = ("'", "’")
# In brackets: where a firm of a group is.
_IN_BRACKETS = re.compile(r"\( ?([^\W\d_]{2,20}) ?\)")
_LEGAL_FORMS = frozenset(
    {"Inc", "LLC", "Ltd", "Limited", "Corp", "Corporation", "GmbH", "AG", "PLC", "plc", "LLP"}
)


_NOT_OWN = frozenset(map(str.casefold, _LEGAL_FORMS)) | {"the", "of", "and", "for", "de", "la"}


def organization(table: SurrogateTable, value: str, salt: str) -> str:
    """A name of the same form; each word of a stem has one surrogate, so that short names agree."""
    is_japanese = _is_japanese(table, value) or knows_japanese_firm(table, value)
    if has_kana(value) or _JAPANESE_FORM.search(value) or (is_japanese and "公司" not in value):
        return japanese_organization(table, value, salt)
    if has_han(value):
        value = _HAN_RUN.sub(lambda run: _chinese_organization(table, run.group(), salt), value)
    keep = lexicon().company_words | lexicon().trade_words
    places = {place.casefold() for place in _IN_BRACKETS.findall(value)} & lexicon().firm_countries
    words = [word.casefold() for word in LETTERS.findall(value) if not has_han(word)]
    keep |= places
    if keep.issuperset(words):  # `Comprehensive Testing Inc.`: its first word is its own
        keep -= frozenset(islice((w for w in words if w not in _NOT_OWN and w not in places), 1))

    def change(match: re.Match[str]) -> str:
        word, folded = match.group(), match.group().casefold()
        is_genitive = folded == "s" and value[match.start() - 1 : match.start()] in _APOSTROPHES
        if folded in keep or has_han(word) or is_genitive:
            return word
        if word.isupper() and len(word) < _LONG_NAME:  # initials
            return _code(table, word, salt)
        known = (table.tokens(space).get(folded) for space in (FAMILY, GIVEN))
        new = next(filter(None, known), "") or table.token(STEM, folded, stem, salt)
        return cased_like(new, word)

    return LETTERS.sub(change, value)


def is_chinese_organization(value: str) -> bool:
    """Does a name in Han characters end as those of firms do, or is it too long for a person?"""
    words = lexicon()
    if not _HAN_RUN.fullmatch(value) or len(value) < _LONG_NAME or _JAPANESE_FORM.search(value):
        return False
    is_ended = bool(_end(value, words.company_ends_zh) or _end(value, words.company_lines_zh))
    return is_ended or len(value) > _LONGEST_PERSON


def is_chinese_house(value: str) -> bool:
    """Is it a name in Han characters that ends in a kind of house or office (派出所, 店)?"""
    return _HAN_RUN.fullmatch(value) is not None and bool(_end(value, lexicon().company_ends_zh))


def has_legal_form(value: str) -> bool:
    """Does a Latin name of several words end in a legal form or a kind of firm (`Ltd`, `Foods`)?"""
    first, _, last = value.strip(" .").rpartition(" ")
    is_kind = last.casefold() in lexicon().company_words and last[:1].isupper()
    return bool(first) and (last in _LEGAL_FORMS or is_kind)


def _chinese_organization(table: SurrogateTable, name: str, salt: str) -> str:
    words = lexicon()
    lead = next((r for r in words.regions_zh if name.startswith(r) and name != r), "")
    town = "" if lead else _town(name)
    rest = name[len(lead or town) :]
    if name in words.company_ends_zh:  # behind a town in brackets
        return name
    end = _end("x" + rest if town else rest, words.company_ends_zh)
    core = rest[: len(rest) - len(end)]
    line = ""
    while more := _end(core, words.company_lines_zh):
        core, line = core[: len(core) - len(more)], more + line
    if not core and not town:
        core, line, end = (rest[: len(rest) - len(end)], "", end) if end != rest else (rest, "", "")
    new = _around_known(table, core, salt) if core else ""
    at = region(table, lead) if lead else _chinese_place(table, town, False, salt) if town else ""
    return at + new + line + end


_TOWN = re.compile(rf"[{HAN}]{{1,3}}?[市县](?=[{HAN}]{{2}})")


def _town(name: str) -> str:
    """The town that the name of an institution begins with, if the rest says its kind."""
    match = _TOWN.match(name)
    is_kind = match and _end("x" + name[match.end() :], lexicon().company_ends_zh)
    return match.group() if match and is_kind else ""


def _around_known(table: SurrogateTable, core: str, salt: str) -> str:
    """The new stem; where the stem of another firm's name stands in it, that one's new stem."""
    known = [name for name in table.tokens(_ZH_STEM) if 1 < len(name) < len(core) and name in core]
    if not known:
        return table.token(_ZH_STEM, core, _zh_stem(len(core)), salt)
    short = max(known, key=lambda name: (len(name), name))
    before, _, after = core.partition(short)
    kept = next((end for end in lexicon().company_ends_zh if after.startswith(end)), "")
    parts = [table.tokens(_ZH_STEM)[short], kept]
    if before:
        parts.insert(0, table.token(_ZH_STEM, before, _zh_stem(len(before)), salt))
    if after != kept:
        rest = after.removeprefix(kept)
        parts.append(table.token(_ZH_STEM, rest, _zh_stem(len(rest)), salt))
    return "".join(parts)


def _end(name: str, ends: tuple[str, ...]) -> str:
    matching = [end for end in ends if name.endswith(end) and name != end]
    return max(matching, key=len, default="")


def _zh_stem(size: int) -> Draw:
    def draw(rng: Generator, attempt: int) -> str:
        words = lexicon()
        pairs = (max(2, min(size, 4)) + 1) // 2 + attempt // LONGER_FROM
        return "".join(pick(rng, words.zh_first) + pick(rng, words.zh_second) for _ in range(pairs))

    return draw
