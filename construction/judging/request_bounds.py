"""What the words of a request fix of its files: how long they are, and what must stand in them.

Only what a program can decide without doubt is read: a length that is said of one part of a file
("a title of five words", "each mail") and texts given as a choice are left to the rubric.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import ceil, floor

from construction.judging.lexicon import table
from construction.judging.reading import Ask, Reading, read
from construction.mentions.spans import find_file_spans
from data.text.lexicon import alternatives
from data.text.numerals import NUMBER_WORDS, ONE_TO_TEN, read_integer

_ABOUT = 0.3  # "about 500 words" leaves so much room
_SHORT = 400  # characters; in a longer request a choice is a part of many
_MOST_TEXT = 60  # characters of a text that must stand in a file
_NUMBER = rf"\d{{1,3}}(?:,\d{{3}})+|\d+|{alternatives(NUMBER_WORDS)}"
_NUMBER_ZH = rf"\d+|[两{ONE_TO_TEN}百千万]+"
_QUOTED = r"[\"'“”‘’「『《`]([^\"'“”‘’「」『』《》`\n]{1,60})[\"'“”‘’」』》`]"
_NAME = re.compile(
    r"[A-Z][\w%/-]{0,30}(?: [A-Z0-9%][\w%/-]{0,30}){0,3}|[a-z0-9]{1,20}(?:_\w{1,20})+"
)
_TAG = re.compile(r"<([A-Z]{3,20}(?:_[A-Z]{2,20}){0,3})>\s*</\1>")
_SUBJECT = re.compile(
    r"(?i:\bsubject(?: line)?(?: of (?:the |this )?(?:e-?)?mail)? (?:should be|must be|is|being) )"
    r"([A-Z]\w*(?:[ _-][A-Z]\w*){0,5})(?=[\s.,;]|$)"
)
_WORD = re.compile(r"[a-z][a-z0-9]{0,20}")

_CUT = re.compile(r"[,;:，；：](?!\d)")
_SHEET = re.compile(r"(?<![\w.])[\"“]([A-Z][^\"“”\n]{1,30})[\"”] (?:work)?sheet\b")
_SHEET_NAME = re.compile(
    r"\b(?:work)?sheet (?:named|called|titled) ([A-Z][A-Za-z]{0,20}(?:_[A-Za-z]{1,20})*)\b"
)
_SNAKE = re.compile(
    r"(?<![\w./`])[A-Z][A-Za-z0-9]{0,20}(?:_[A-Za-z0-9]{1,20}){1,5}(?![\w/(])(?!\.\w)"
)
_SPEAKS_OF_TABLES = re.compile(
    r"(?i)\b(?:columns?|(?:work)?sheets?|should have|headers?)\b|列|工作表"
)


@dataclass(frozen=True, slots=True)
class Length:
    """A bound on a file: `unit` is words, characters, slides, pages or rows."""

    unit: str
    least: int | None
    most: int | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """Texts, columns or sheets that must be there, and the sentence that says so."""

    kind: str  # holds, columns, sheets
    values: tuple[str, ...]
    sentence: str


def changes(request: str, key: str) -> bool:
    """Does a request want the kind of change that the table lists under this key?"""
    return re.search("|".join(table("grading")["changes"][key]), request.lower()) is not None


def is_choice(request: str) -> bool:
    """Is the answer one of the words that a short request gives: "write yes or no"?"""
    is_short = len(request) <= _SHORT
    return is_short and (changes(request, "either") or changes(request, "choice"))


def lengths(request: str) -> Iterator[Length]:
    """The lengths that a request demands of a whole file."""
    for sentence in _demanding(request):
        text = sentence.text.lower()
        for match in _lengths().finditer(text):
            length = _length(match, sentence.text)
            if length is not None and not _part().search(_clause(text, match)):
                yield length


def _clause(text: str, match: re.Match[str]) -> str:
    """The clause in which a length is said, and what follows it directly."""
    starts = [mark.end() for mark in _CUT.finditer(text, 0, match.start())]
    end = _CUT.search(text, match.end())
    return text[starts[-1] if starts else 0 : end.start() if end else len(text)]


def fixed(request: str) -> Iterator[Fixed]:
    """The texts, columns and sheets that a request demands by name."""
    for sentence in _demanding(request):
        text = sentence.text
        if _choice().search(text.lower()):
            continue
        columns = [*_quoted_after("header", text), *_named_columns(text)]
        sheets = [*_quoted_after("sheet", text), *_SHEET.findall(text), *_SHEET_NAME.findall(text)]
        others = [*_quoted_after("text", text), *_snake_cased(text), *_TAG.findall(text)]
        others += _SUBJECT.findall(text)
        others = [value for value in others if value not in columns + sheets]
        for kind, values in (("columns", columns), ("sheets", sheets), ("holds", others)):
            if values:
                yield Fixed(kind, tuple(dict.fromkeys(values)), text)


def _demanding(request: str) -> Iterator[Reading]:
    for sentence in read(request):
        if sentence.ask is not Ask.STATUS and not _negated().search(sentence.text.lower()):
            yield sentence


@cache
def _words(key: str) -> str:
    return "|".join(table("grading")["fixed"][key])


@cache
def _part() -> re.Pattern[str]:
    return re.compile(_words("parts"))


@cache
def _negated() -> re.Pattern[str]:
    return re.compile(_words("negations"))


@cache
def _choice() -> re.Pattern[str]:
    return re.compile(_words("choices"))


@cache
def _lengths() -> re.Pattern[str]:
    least, most, about = (_words(key) for key in ("least", "most", "about"))
    units = r"(?:data |table )?(?P<unit>words?|characters?|slides?|pages?|rows?)\b"
    units_zh = "(?P<unit_zh>字|词|页|张幻灯片|行)"
    bound = rf"(?:(?:(?P<least>{least})|(?P<most>{most})|(?P<exact>exactly|正好)|(?:{about}))\s*)?"
    latin = (
        rf"(?<![\w.])(?P<low>{_NUMBER})(?:\s*(?:[-–~]|to)\s*(?P<high>{_NUMBER}))?"
        rf"(?P<plus>\+)?[\s-]{{0,2}}{units}(?P<after> or (?:more|fewer|less))?"
    )
    chinese = (
        rf"(?P<low_zh>{_NUMBER_ZH})(?:\s*[-–~到至]\s*(?P<high_zh>{_NUMBER_ZH}))?\s*个?{units_zh}"
        r"(?P<after_zh>以上|以内|以下|之内)?"
    )
    return re.compile(f"{bound}(?:{latin}|{chinese})")


_UNITS_ZH = {"字": "words", "词": "words", "页": "pages", "张幻灯片": "slides", "行": "rows"}


def _length(match: re.Match[str], sentence: str) -> Length | None:
    low = _integer(match["low"] or match["low_zh"])
    high = _integer(match["high"] or match["high_zh"])
    if not low:
        return None
    unit = _UNITS_ZH.get(match["unit_zh"] or "") or match["unit"].removesuffix("s") + "s"
    after = match["after"] or match["after_zh"] or ""
    if high and high > low:
        return Length(unit, low, high, sentence)
    if match["least"] or match["plus"] or after in (" or more", "以上"):
        return Length(unit, low, None, sentence)
    if match["most"] or after:
        return Length(unit, None, low, sentence)
    if match["exact"]:
        return Length(unit, low, low, sentence)
    if unit == "rows":
        return None  # "the first 3 rows" bounds no file
    if unit == "pages":
        return Length(unit, None, low, sentence)
    return Length(unit, floor(low * (1 - _ABOUT)), ceil(low * (1 + _ABOUT)), sentence)


def _integer(text: str | None) -> int | None:
    if not text:
        return None
    return NUMBER_WORDS.get(text) or read_integer(text.replace(",", ""))


@cache
def _before(key: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?i)(?:{_words(key)})[\s:：]{{0,2}}{_QUOTED}((?:\s*(?:,|、|and|和)\s*{_QUOTED}){{0,12}})"
    )


def _quoted_after(key: str, text: str) -> list[str]:
    """Quoted texts directly behind the words that say what they are; no names of files."""
    values: list[str] = []
    for match in _before(key).finditer(text):
        values += [match[1], *re.findall(_QUOTED, match[2])]
    return [value for value in map(str.strip, values) if _is_text(value)]


def _is_text(value: str) -> bool:
    speaks = any(map(str.isalnum, value)) and not re.search(r"[<>{}\[\]*…]|\.\.\.", value)
    return speaks and len(value) <= _MOST_TEXT and not find_file_spans(value)


def _snake_cased(text: str) -> list[str]:
    """Names such as Avg_Price in a sentence on sheets and columns: headers, or labels of rows."""
    return _SNAKE.findall(text) if _SPEAKS_OF_TABLES.search(text) else []


@cache
def _columns() -> re.Pattern[str]:
    return re.compile(
        rf"(?:{_words('columns')})(?:[\s:：]{{1,2}}|(?<=[为是括含有]))([^.;:。；：\n]{{3,400}})"
    )


def _named_columns(text: str) -> list[str]:
    """Names in a list behind "columns": capitalised, in snake case, or words beside such names."""
    columns: list[str] = []
    for match in _columns().finditer(text):
        parts = re.split(r",? and |[,，、]|和", re.sub(r"\([^()]*\)", "", match[1]))
        names = [part.strip(" \"'“”‘’`") for part in parts]
        plain = any("_" in name for name in names)
        for name in names:
            if not (_NAME.fullmatch(name) or (plain and _WORD.fullmatch(name))):
                break
            columns.append(name)
    return columns if len(columns) > 1 else []
