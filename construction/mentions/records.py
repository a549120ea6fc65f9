"""Records and instructions that a request counts on although no input file can hold any.

"Pull all orders of the last quarter" needs a shop, or a file with orders. The words are in
`records.toml`. Counted is only an order to gather what exists and whose place is not named.
"Follow the tender skill's workflow" needs the file of that skill. Where a task has no file at all,
the documents that it speaks of as being there count as well (`spoken_documents.toml`): "the highest
score in the class excel file", "Bob's emails".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from construction.mentions.brought import brings_code
from construction.mentions.extensions import path_words
from construction.mentions.negation import is_negated
from construction.mentions.resources import ResourceKind, wants
from construction.mentions.spans import find_file_spans
from data.contracts import Fixture
from data.text.lexicon import load_table
from data.text.sentences import sentence_spans

_TABLE = load_table(__package__, "records.toml")
_REACH = 90  # characters between the verb and what is gathered
_LEAST_BYTES = 200  # a smaller table holds a header and a row or two
_MOST = 400  # sentences
_PASTED_ROWS = 3


def missing_records(text: str, fixtures: Iterable[Fixture]) -> tuple[str, ...]:
    """What is to be gathered or followed, as the request says it, and no input file can hold."""
    given = tuple(fixtures)
    guides = () if any(_SKILL in fixture.path.casefold() for fixture in given) else _guides(text)
    if any(_holds_records(fixture) for fixture in given) or _is_pasted(text):
        return tuple(dict.fromkeys(guides))
    is_elsewhere = "://" in text or wants(text, ResourceKind.WEB) or _BROUGHT.search(text.lower())
    spoken = () if given or is_elsewhere else _documents(text)
    return tuple(dict.fromkeys((*_gathered(text), *guides, *spoken)))


def brings_records(text: str, *, of_its_own: bool) -> bool:
    """Does a request say that it brings a text along, or hold rows or a block of one?

    `of_its_own`: it has no file, so that many figures in it are what it works on.
    """
    has_figures = of_its_own and len(_NUMBER.findall(text)) >= _OWN_NUMBERS
    return has_figures or _is_pasted(text) or _BROUGHT.search(text.lower()) is not None


def _guides(text: str) -> Iterator[str]:
    """The instructions of a skill that the request wants followed."""
    return (" ".join(match.group().split()) for match in _GUIDE.finditer(text))


def _holds_records(fixture: Fixture) -> bool:
    """Neither too small for records nor, by its name, a guide, a template or a setting."""
    words = path_words(fixture.path)
    return fixture.bytes >= _LEAST_BYTES and not any(
        word.startswith(stem) for word in words for stem in _NO_RECORDS
    )


def _is_pasted(text: str) -> bool:
    """Does the request bring its records along, as a block, as a change of code, or as rows?"""
    return brings_code(text) or len(_ROW.findall(text)) >= _PASTED_ROWS


def _gathered(text: str) -> Iterator[str]:
    for number, (start, end) in enumerate(sentence_spans(text)):
        if number == _MOST:
            return
        sentence = " ".join(text[start:end].lower().split())
        match = _GATHERED.search(sentence)
        if match is None or is_negated(sentence, match.start("said")):
            continue
        if not _PLACED.search(sentence, match.start()) and not find_file_spans(text[start:end]):
            yield match["said"]


def _documents(text: str) -> Iterator[str]:
    """Documents and kept figures of which the request speaks as of something that is there."""
    if len(_NUMBER.findall(text)) >= _OWN_NUMBERS:
        return
    for number, (start, end) in enumerate(sentence_spans(text)):
        if number == _MOST:
            return
        sentence = " ".join(text[start:end].lower().split())
        if _IN_A_FILE.search(sentence):
            continue  # its place is named, and is looked for as a file
        for match in _SPOKEN.finditer(sentence):
            is_able = _IS_ABLE.search(sentence, 0, match.start())
            if not is_able and not is_negated(sentence, match.start()):
                yield match.group().strip(" ,;:.")


_DOCUMENTS = load_table(__package__, "spoken_documents.toml")
_NUMBER = re.compile(r"\d[\d.,]*")
_OWN_NUMBERS = 12  # so many figures of its own make a request its own table


def _any(key: str) -> str:
    return f"(?:{'|'.join(_DOCUMENTS[key])})"


_BROUGHT = re.compile("|".join(_DOCUMENTS["brought"]))
_ORDER = r"(?:^|[,;:.] |\b(?:and|then|to|please) )"
# "score" in "score excel file": some word that says which one, and none of a new one.
_WHICH = r"(?:(?!(?:an?|new|one|two|named|called|into|to|in|as|and)\b)[a-z0-9'’-]+ )"
_IN_A_FILE = re.compile(
    r"\b(?:from|of) [\w./-]{1,80}\.[a-z]{2,5}\b|\bin [\w.-]*/[\w./-]{1,80}\.[a-z]"
)
_KINDS, _KEPT, _READINGS = _any("kinds"), _any("kept"), _any("readings")
_FROM = r"(?:from|based on|according to)"
_SPOKEN = re.compile(
    rf"\b(?:in|of|on|at|using|{_FROM}) (?:the |this |my |our )?{_WHICH}{{1,4}}?"
    r"(?:excel|csv|pdf|spreadsheet|workbook)\b(?! named| called)"
    rf"|\b{_FROM} (?:the |an? |my |our |{_WHICH}{{0,3}}){_KINDS}\b"
    rf"|\b(?:based on|according to) {_WHICH}{{1,4}}?(?:and {_WHICH}{{1,3}}?)?{_KEPT}\b"
    rf"|{_ORDER}{_any('orders')} (?!and\b)[\w'’]+|{_ORDER}read (?:the |all )?[a-z]+ {_KEPT}\b"
    rf"|{_ORDER}{_READINGS} (?:if |the |all |this |my |our )*{_WHICH}{{0,4}}?{_KINDS}\b"
    rf"|{_ORDER}{_READINGS} [a-z]+s?['’]s? "
    r"|\b(?:synthesi[sz]e|pull|combine) (?:data|information) from\b"
    rf"|\b{_any('extremes')} {_WHICH}{{0,3}}?{_any('figures')}\b"
    rf"|{'|'.join(_DOCUMENTS['zh'])}"
)
_NO_RECORDS = tuple(_TABLE["no_records"])
_GATHERED = re.compile(
    r"(?:^|[,;:] |\b(?:to|and|then|please|involves|(?:start|begin|starting) by) )"
    rf"(?P<said>(?:{'|'.join(_TABLE['verbs'])})\b"
    rf"[^.;]{{1,{_REACH}}}?\b(?:{'|'.join(_TABLE['nouns'])})\b)"
)
# "A class that can add contacts and find contacts": what a program is to be able to do.
_IS_ABLE = re.compile(
    r"\b(?:class|function|module|library|api|app|program|tool|cli)\b[^.;]{0,60}"
    r"\b(?:that|which) (?:can|lets?|allows?)\b"
)
_SKILL = "skill"
_GUIDE = re.compile(
    rf"(?:[\w/-]{{1,40}} ){{1,2}}skill['’]?s (?:own )?(?:{'|'.join(_TABLE['guides']['en'])})\b"
    rf"|技能的(?:{'|'.join(_TABLE['guides']['zh'])})",
    re.IGNORECASE,
)
_PLACED = re.compile(rf"\b(?:{'|'.join(_TABLE['places'])})\b")
# A row is short and no sentence.
_ROW = re.compile(r"(?m)^(?!.{160})(?!.*[.!?][ \t])(?!.*[.!?]$).*\d.*[,|\t;].*\d.*$")
