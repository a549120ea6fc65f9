"""The checkable facts of a text: files, URLs, dates, numbers, and names.

Numbers are brought into one form: 1,000 = 一千 = 1k, and 5 percent = 百分之五. The search is
narrower than that of `data.text.numbers` for amounts: in requests, 一 and "one" are mostly
articles, a small Chinese numeral counts only before a measure word, and the marks of list items
are not numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from functools import cache, lru_cache
from itertools import islice

from construction.judging.lexicon import table
from construction.mentions.extensions import tail
from construction.mentions.spans import find_file_spans
from construction.mentions.urls import find_urls
from data.text.dates import Moment, find_dates
from data.text.folding import fold_width
from data.text.numerals import MAX_INTEGER, NUMBER_WORDS, ONE_TO_TEN, chinese_integer
from data.text.scripts import HAN

_WORD = NUMBER_WORDS | {"dozen": 12, "hundred": 100}
_IDLE = frozenset(("one", "zero"))  # "one of them", "one page" against "a page"

_SCALES = {
    "k": 10**3,
    "thousand": 10**3,
    "hundred": 10**2,
    "m": 10**6,
    "mio": 10**6,
    "mn": 10**6,
    "million": 10**6,
    "bn": 10**9,
    "billion": 10**9,
    "百": 100,
    "千": 1000,
    "万": 10**4,
    "十万": 10**5,
    "百万": 10**6,
    "千万": 10**7,
    "亿": 10**8,
}
_SCALE = "|".join(sorted(map(re.escape, _SCALES), key=len, reverse=True))
_MEASURES = (
    "个|页|份|张|条|项|天|年|月|周|小时|分钟|秒|人|件|次|元|块|章|节|段|位|名|种|类|步|期|款|行|列|倍|句|字|组|层|"
    "部分|点|篇|轮|家|台|套|封|门|户|米|公里|公斤|吨|岁|季度|星期|大|方面|档"
)
_PERCENT = r"(?:%|percent\b|per cent\b|pct\b)"
_DIGITS = re.compile(
    rf"(?ai)(?<![\w.])(?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    rf"(?:\s?(?P<percent>{_PERCENT})|\s?(?P<scale>{_SCALE})(?![a-z]))?"
    r"(?![\d_]|[A-Za-z]\w*\d)"
)
_OF_HUNDRED = re.compile(rf"百分之\s?([〇零两{ONE_TO_TEN}百点\d.]{{1,12}})")
_HAN_CHAR = f"〇零两{ONE_TO_TEN}百千万亿"
_HAN_NUMBER = re.compile(  # a run of numerals is looked at once, from its beginning
    rf"(?<![第{_HAN_CHAR}])[两{ONE_TO_TEN}]"
    rf"(?:[{_HAN_CHAR}]{{0,{MAX_INTEGER}}}+(?=\s?(?:{_MEASURES}))|[两{ONE_TO_TEN}]{{0,3}}[百千万亿][{_HAN_CHAR}]{{0,20}})"
)
_ENGLISH = re.compile(
    rf"(?ai)\b(?:(?P<tens>twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[ -]"
    rf"(?P<ones>{'|'.join(list(NUMBER_WORDS)[1:10])})|(?P<word>{'|'.join(_WORD)}))\b"
    rf"(?:\s(?P<scale>hundred|thousand|million|billion)\b)?(?:\s?(?P<percent>{_PERCENT}))?"
)
_LIST_MARK = re.compile(r"(?am)^[ \t]*[(（]?\d{1,2}[.)）、](?!\d)")


def find_numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """Spans and values ("1000", "5%") of the numbers in a text, without list marks."""
    marks = {match.end() - 1 for match in _LIST_MARK.finditer(text)}
    for match in _DIGITS.finditer(text):
        if match.end("number") in marks:
            continue
        value = _scaled(match["number"].replace(",", ""), match["scale"])
        if value is not None:
            yield match.start(), match.end(), value + ("%" if match["percent"] else "")
    for match in _OF_HUNDRED.finditer(text):
        hundredth = _scaled(match[1], None) or _han(match[1])
        if hundredth is not None:
            yield match.start(), match.end(), f"{hundredth}%"
    for match in _HAN_NUMBER.finditer(text):
        written = _han(match[0])
        if written not in (None, "1"):
            yield match.start(), match.end(), str(written)
    yield from _english(text)


def _english(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _ENGLISH.finditer(text):
        scale, word = match["scale"], (match["word"] or "").lower()
        if word in _IDLE and not scale and not match["percent"]:
            continue
        number = (
            _WORD[word] if word else _WORD[match["tens"].lower()] + _WORD[match["ones"].lower()]
        )
        value = _scaled(str(number), scale)
        yield match.start(), match.end(), f"{value}{'%' if match['percent'] else ''}"


def _scaled(digits: str, scale: str | None) -> str | None:
    if len(digits) > MAX_INTEGER:
        return digits
    try:
        value = Decimal(digits) * _SCALES.get((scale or "").lower(), 1)
    except InvalidOperation:
        return None
    return f"{value.normalize():f}" if value else "0"


def _han(written: str) -> str | None:
    value = chinese_integer(written)
    return None if value is None else str(value)


_MAIL = re.compile(r"(?a)[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,10}\b")
_CODE = re.compile(r"(?a)(?<![\w-])(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[A-Za-z])[A-Za-z0-9][\w-]{1,40}")
_UNIT = re.compile(r"(?ai)\d+(?:st|nd|rd|th|[a-z]{1,5})$")  # 3rd, 5kg, 30min are no identifiers
_PHONE = re.compile(r"(?a)(?<![\w.,-])\+?\d{2,4}(?:[ -]\d{2,4}){2,4}(?![\w.,-])")
_NAME_WORD = r"[A-Z][A-Za-z]{0,40}(?:[&'-][A-Za-z]{1,40}){0,3}"
_CAPITAL = re.compile(rf"(?a)(?<![\w@'-]){_NAME_WORD}(?: {_NAME_WORD}){{0,3}}")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n\"“(•。！？：；—-]|\d[.)])[\s\"'“*#>-]*$")
_LOOK_BACK = 12
MAX_FACTS = 500  # of one kind in one text; pasted tables have thousands
_SHORT = 10_000  # characters; longer texts are not kept in memory
_FUNCTION = (
    "它他她我你这那跟和与没不是的了在把被给对为用从到有及或以也都就来去个"  # in no name here
)
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
        rf"(?P<body>(?:(?![{_FUNCTION}])[{HAN}]){{2}}(?:{bodies}))|(?P<titled>[{surnames}](?:{titles}))"
        rf"|(?:{before})(?P<person>[{surnames}][{HAN}]{{1,2}})(?=[，,。；;！!？?、的\s过审]|$)"
    )
