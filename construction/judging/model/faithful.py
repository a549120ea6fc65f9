"""Does a rewritten request say what a person said: the facts of both, by their form.

Facts are URLs, mail addresses, dates, numbers, file names, quoted strings, identifiers such as
"ORD-17", and names by their capitals. A fact is told by a text that holds its words, or its value:
1,000 = 1k = 一千, 12 March 2026 = 2026-03-12. What a fact means is not looked at: a model that
leaves one out says so, with the words that it left out, and a later message may have replaced it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from construction.mentions.spans import find_file_spans
from construction.mentions.urls import find_urls
from data.text.dates import Moment, find_dates
from data.text.numbers import scan_numbers
from data.text.scripts import CJK

_MAIL = re.compile(r"(?a)[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,10}\b")
_CODE = re.compile(
    r"(?a)(?<![\w-])(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[A-Za-z])[A-Za-z][\w-]{1,40}(?![\w-])"
)
_QUOTED = re.compile(r"[“\"「『《]([^“”\"「」『』《》\n]{1,80})[”\"」』》]")
_LIST_MARK = re.compile(
    r"(?m)^[ \t>#*-]*[(（]?\d{1,2}[.)）、:：](?!\d)|(?<=[\s(（])\d{1,2}[)）、](?!\d)"
)
_NAME = re.compile(
    r"(?<![\w@'’-])[A-Z][a-zÀ-ÿ]+(?:[-'’][A-Z]?[a-zÀ-ÿ]+)?(?:[ ][A-Z][a-zÀ-ÿ]+){0,3}"
)
_OPENING = re.compile(r"(?:^|[.!?:;\n\"“(•。！？：；—-]|\d[.)])[\s\"'“*#>(-]*$")
_SIGNS = re.compile(rf"[^\w{CJK}]+")
_LOOK_BACK = 12
_MOST = 400  # facts of one text; pasted tables have thousands of numbers


class FactKind(StrEnum):
    URL = "address"
    MAIL = "mail address"
    FILE = "file name"
    DATE = "date"
    CODE = "identifier"
    NUMBER = "number"
    QUOTED = "quoted text"
    NAME = "name"


SOFT = frozenset({FactKind.NAME, FactKind.FILE})  # may go: greetings, files that are not used


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact as it is written, and its value; `told_only`: nobody has to repeat it."""

    kind: FactKind
    text: str
    value: object = field(compare=False)
    told_only: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Told:
    """The facts of a text, and its words in plain form."""

    facts: tuple[Fact, ...]
    words: str

    @property
    def required(self) -> Iterator[Fact]:
        return (fact for fact in self.facts if not fact.told_only)

    def tells(self, fact: Fact) -> bool:
        """Does the text hold the words of a fact, or another with its value?"""
        if fact.kind is not FactKind.NUMBER and _holds(self.words, fact.text):
            return True
        same = (own for own in self.facts if own.kind is fact.kind)
        if isinstance(fact.value, Moment):
            return any(isinstance(o.value, Moment) and o.value.covers(fact.value) for o in same)
        if fact.kind is FactKind.NUMBER:
            return any(own.value == fact.value for own in same) or _holds(self.words, fact.text)
        return any(own.value == fact.value for own in same)


def plain(text: str) -> str:
    """Words and numbers in one case and width, a blank for every other sign."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return f" {_SIGNS.sub(' ', folded).strip()} "


@lru_cache(maxsize=256)
def told_by(text: str) -> Told:
    """The facts of a text; no part of it belongs to two."""
    rest = unicodedata.normalize("NFKC", text).replace("’", "'")
    facts: list[Fact] = []
    for finder in (_urls, _mails, _files, _dates, _codes, _numbers, _quoted, _names):
        finds = list(finder(rest))
        facts += [fact for _, _, fact in finds]
        rest = _without(rest, [(start, end) for start, end, _ in finds])
    return Told(tuple(dict.fromkeys(facts))[: len(FactKind) * _MOST], plain(text))


def _holds(words: str, text: str) -> bool:
    wanted = plain(text)
    return wanted in words if wanted.isascii() else wanted.strip() in words


def losses(rewrite: str, messages: Sequence[str], left_out: Iterable[str] = ()) -> list[Fact]:
    """The facts of a person's messages that a rewrite does not tell.

    Not those in the words that `left_out` names, nor a number or date of a message whose place a
    later message's took: "make it 6 copies" after 5, if the rewrite tells the 6.
    """
    own, excused = told_by(rewrite), [plain(words) for words in left_out]
    lost: list[Fact] = []
    for at, message in enumerate(messages):
        later = [told_by(text) for text in messages[at + 1 :]]
        for fact in told_by(message).required:
            if own.tells(fact) or any(_holds(words, fact.text) for words in excused):
                continue
            if not _is_replaced(fact, later, own):
                lost.append(fact)
    return list(dict.fromkeys(lost))


def inventions(rewrite: str, sources: Sequence[str]) -> list[Fact]:
    """The facts of a rewrite that no source tells; names are not looked at, nor small counts."""
    known = [told_by(source) for source in sources]
    return [
        fact
        for fact in told_by(rewrite).required
        if fact.kind is not FactKind.NAME and not any(one.tells(fact) for one in known)
    ]


def named(facts: Iterable[Fact]) -> str:
    """Facts as a list in words, each once."""
    return ", ".join(dict.fromkeys(f"{fact.kind} “{fact.text[:60]}”" for fact in facts))


def _is_replaced(fact: Fact, later: Sequence[Told], rewrite: Told) -> bool:
    kinds = {FactKind.NUMBER, FactKind.DATE}
    same = kinds if fact.kind in kinds else {fact.kind}
    return any(own.kind in same and rewrite.tells(own) for one in later for own in one.facts)


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    pieces, at = [], 0
    for start, end in sorted(spans):
        if start >= at:
            pieces += [text[at:start], "\x00" * (end - start)]
            at = end
    return "".join(pieces) + text[at:]


_Spans = Iterator[tuple[int, int, Fact]]


def _urls(text: str) -> _Spans:
    for mention in find_urls(text):
        written = text[mention.start : mention.end]
        yield mention.start, mention.end, Fact(FactKind.URL, written, mention.url)


def _mails(text: str) -> _Spans:
    for match in _MAIL.finditer(text):
        yield *match.span(), Fact(FactKind.MAIL, match[0], match[0].lower())


def _files(text: str) -> _Spans:
    for span in find_file_spans(text):
        if not span.doubtful:
            name = span.path.replace("\\", "/").rpartition("/")[2]
            yield span.start, span.end, Fact(FactKind.FILE, span.path, name.casefold())


def _dates(text: str) -> _Spans:
    for start, end, moment in find_dates(text):
        yield start, end, Fact(FactKind.DATE, text[start:end], moment)


def _codes(text: str) -> _Spans:
    for match in _CODE.finditer(text):
        yield *match.span(), Fact(FactKind.CODE, match[0], match[0].lower())


def _numbers(text: str) -> _Spans:
    """Numbers in digits; those in words ("both", "two", 一个) tell, and need not be told."""
    marks = [match.span() for match in _LIST_MARK.finditer(text)]
    for number in scan_numbers(text):
        if not any(start <= number.start < end for start, end in marks):
            written = text[number.start : number.end].strip()
            fact = Fact(FactKind.NUMBER, written, number.value, told_only=not number.digits)
            yield number.start, number.end, fact


def _quoted(text: str) -> _Spans:
    for match in _QUOTED.finditer(text):
        words = match[1].replace("\x00", "").strip()
        if len(words) > 1 and "\x00" not in match[1]:
            yield *match.span(), Fact(FactKind.QUOTED, words, plain(words))


def _names(text: str) -> _Spans:
    """Words with capitals inside a sentence; the first word of a sentence proves nothing."""
    for match in _NAME.finditer(text):
        name, start = match[0], match.start()
        if _OPENING.search(text[max(0, start - _LOOK_BACK) : start]) or not start:
            name = name.partition(" ")[2]
        if len(name) > 1:
            yield *match.span(), Fact(FactKind.NAME, name, plain(name))
