"""The checkable facts of a text: files, URLs, dates, numbers, and names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, lru_cache
from itertools import islice

from construction.judging.lexicon import table
from construction.judging.rules.numerals import find_numbers
from construction.mentions.extensions import tail
from construction.mentions.spans import find_file_spans
from construction.mentions.urls import find_urls
from data.text.dates import Moment, find_dates
from data.text.folding import fold_width
from data.text.scripts import HAN

_MAIL = re.compile(r"(?a)[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,10}\b")
_CODE = re.compile(r"(?a)(?<![\w-])(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[A-Za-z])[A-Za-z0-9][\w-]{1,40}")
_UNIT = re.compile(r"(?ai)\d+(?:st|nd|rd|th|[a-z]{1,5})$")  # 3rd, 5kg, 30min are no identifiers
_PHONE = re.compile(r"(?a)(?<![\w.,-])\+?\d{2,4}(?:[ -]\d{2,4}){2,4}(?![\w.,-])")
_WORD = r"[A-Z][A-Za-z]{0,40}(?:[&'-][A-Za-z]{1,40}){0,3}"
_CAPITAL = re.compile(rf"(?a)(?<![\w@'-]){_WORD}(?: {_WORD}){{0,3}}")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n\"“(•。！？：；—-]|\d[.)])[\s\"'“*#>-]*$")
_LOOK_BACK = 12
MAX_FACTS = 500  # of one kind in one text; pasted tables have thousands
_SHORT = 10_000  # characters; longer texts are not kept in memory
_QUOTED = re.compile(r"[「《“]([^「」《》“”\n\x00]{2,40})[」》”]")


class FactKind(StrEnum):
    FILE = "file"
    URL = "url"
    DATE = "date"
    NUMBER = "number"
    ENTITY = "entity"


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact as written in a text, and the form in which it is compared."""

    kind: FactKind
    text: str
    value: str
    moment: Moment | None = field(default=None, compare=False, repr=False)


def plain_text(text: str) -> str:
    """The text with normal letters, digits and spaces for full-width ones; offsets refer to it."""
    return fold_width(text).replace("’", "'")


def find_facts(text: str) -> tuple[Fact, ...]:
    """The facts of a text, each value once, by kind and in order; `MAX_FACTS` of a kind at most.

    No part of the text belongs to two facts. Linear in the length of the text.
    """
    return _remembered(text) if len(text) <= _SHORT else _facts(text)


@lru_cache(maxsize=256)
def _remembered(text: str) -> tuple[Fact, ...]:
    """Several stages look at the same prompt and request one after the other."""
    return _facts(text)


def _facts(text: str) -> tuple[Fact, ...]:
    remaining = plain_text(text)
    facts: list[Fact] = []
    for finder in (_urls, _mails, _files, _dates, _codes, _phones, _numbers, _names):
        taken: list[tuple[int, int]] = []
        for start, end, fact in islice(finder(remaining), MAX_FACTS):
            taken.append((start, end))
            facts.append(fact)
        remaining = _blanked(remaining, taken)
    return tuple({(fact.kind, fact.value): fact for fact in reversed(facts)}.values())[::-1]


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    pieces, position = [], 0
    for start, end in sorted(spans):
        if start >= position:
            pieces += [text[position:start], "\x00" * (end - start)]
            position = end
    return "".join(pieces) + text[position:]


Spans = Iterator[tuple[int, int, Fact]]


def _urls(text: str) -> Spans:
    for mention in find_urls(text):
        written = text[mention.start : mention.end]
        yield mention.start, mention.end, Fact(FactKind.URL, written, mention.url)


def _mails(text: str) -> Spans:
    for match in _MAIL.finditer(text):
        yield *match.span(), Fact(FactKind.ENTITY, match[0], match[0].lower())


def _files(text: str) -> Spans:
    for span in find_file_spans(text):
        if not span.doubtful:
            yield span.start, span.end, Fact(FactKind.FILE, span.path, tail(span.path))


def _dates(text: str) -> Spans:
    for start, end, moment in find_dates(text):
        yield start, end, Fact(FactKind.DATE, text[start:end], str(moment), moment)


def _codes(text: str) -> Spans:
    """Identifiers of letters and digits, such as orders, versions and models."""
    for match in _CODE.finditer(text):
        if not _UNIT.fullmatch(match[0]):
            yield *match.span(), Fact(FactKind.ENTITY, match[0], match[0].lower())


def _phones(text: str) -> Spans:
    for match in _PHONE.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if len(digits) >= 9:
            yield *match.span(), Fact(FactKind.NUMBER, match[0], digits)


def _numbers(text: str) -> Spans:
    for start, end, value in find_numbers(text):
        yield start, end, Fact(FactKind.NUMBER, text[start:end], value)


def _names(text: str) -> Spans:
    """Capitalised words inside a sentence; in Chinese: firms, persons with titles, quoted names."""
    for match in _CAPITAL.finditer(text):
        before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
        opens = _SENTENCE_START.search(before) is not None or not match.start()
        name = _proper(match[0].removesuffix("'s").split(" "), opens)
        if name:
            yield *match.span(), Fact(FactKind.ENTITY, name, name.lower())
    for match in _chinese_names().finditer(text):
        name = match["body"] or match["titled"] or match["person"]
        start = match.start(match.lastgroup or 0)
        yield start, start + len(name), Fact(FactKind.ENTITY, name, name)
    for match in _QUOTED.finditer(text):
        yield *match.span(), Fact(FactKind.ENTITY, match[1], match[1].strip().lower())


def _proper(words: list[str], opens: bool) -> str:
    """The name among capitalised words in a row; the first word of a sentence proves nothing."""
    common = _common()
    if opens and not (len(words[0]) > 1 and words[0].isupper()):
        words = words[1:]
    while words and words[0].lower() in common:
        words = words[1:]
    while words and words[-1].lower() in common:
        words = words[:-1]
    return " ".join(words) if len("".join(words)) > 1 else ""


@cache
def _common() -> frozenset[str]:
    return frozenset(table("faithfulness")["common"])


@cache
def _chinese_names() -> re.Pattern[str]:
    words = table("faithfulness")
    surnames = table("containment")["surnames"] + words["surnames"]
    bodies, titles = "|".join(words["bodies"]), "|".join(words["titles"])
    before = "|".join(words["before_person"])
    return re.compile(
        rf"(?P<body>[{HAN}]{{2}}(?:{bodies}))|(?P<titled>[{surnames}](?:{titles}))"
        rf"|(?:{before})(?P<person>[{surnames}][{HAN}]{{1,2}})(?=[，,。；;！!？?、的\s过审]|$)"
    )
