"""Numbers as people write them, in one form: 1,000 = 一千 = 1k, and 5 percent = 百分之五."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from data.text.numerals import MAX_INTEGER, NUMBER_WORDS, ONE_TO_TEN, chinese_integer

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
_LIST_MARK = re.compile(r"(?am)^[ \t]*[(（]?\d{1,2}[.)）、](?=\s|[^\d\s])")


def find_numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """Spans and values ("1000", "5%") of the numbers in a text; numbers of list items are none."""
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
