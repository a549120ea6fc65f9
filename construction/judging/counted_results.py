"""How many files a request wants of a type that it leaves nameless: one for each of its inputs, of
the people in it, or of the parts into which an input is split."""

from __future__ import annotations

import re
from collections.abc import Sequence

from construction.grading.file_types import TYPES, type_of
from construction.judging.deliverables import ANSWER
from construction.judging.reading import Ask, read
from data.contracts import Deliverable

_SEVERAL = 2
_NOUNS = {
    "eml": r"e-?mails?|mails?|messages?|邮件",
    "docx": r"docx|word|documents?|文档",
    "xlsx": r"excels?|xlsx|spreadsheets?|workbooks?|表格",
    "pdf": r"pdfs?",
    "csv": r"csvs?",
    "png": r"pngs?|images?|pictures?|photos?|图片",
    "jpg": r"jpe?gs?|images?|pictures?|photos?|图片",
    "md": r"markdown|md|notes?",
    "txt": r"txt|text files?",
}
_TO = r"(?:to|into|as|in|成|为|转)\s?(?:an? |separate |individual )*\.?"
_CONVERTS = r"\b(?:convert|save|export|turn|print|transform)\b|转换?|导出|另存"
_WHOLE = re.compile(
    r"\b(?:all|each|every|both|respective(?:ly)?|(?:original|same|own) (?:file ?)?names?)\b"
    r"|所有|全部|每|各|分别"
)
_ONE_OF_ALL = re.compile(
    r"\b(?:one|a single|the same) (?:\w+ ){0,2}(?:file|document|pdf|report|sheet|workbook|table)\b"
    r"(?! (?:per|for each|for every))|\b(?:merge|combine|consolidate|join|together)\w*"
    r"|合并|汇总|一个文件|一份"
)
_FOR_EACH = re.compile(
    r"\b(?:one|an?|separate|individual) (?:[\w.-]+ ){0,4}?(?:for|per) (?:each|every)\b"
    r"|\b(?:one|an?) (?:[\w.-]+ ){0,3}?(?:files?|documents?|reports?|pdfs?|docx|letters?|summary"
    r"|invoices?|certificates?|pages?) per [a-z]+|每(?:个|位|名|人|份)\S{0,6}(?:一|单独)[个份张]"
)
_SPLITS = re.compile(
    r"\b(?:split|divide|separate)\b[^.;]{0,60}\b(?:files?|workbooks?|spreadsheets?|by|per)\b"
    r"|拆分[^。；]{0,12}(?:文件|表格|按)"
)


def with_counts(
    deliverables: Sequence[Deliverable], request: str, given: Sequence[str]
) -> tuple[Deliverable, ...]:
    """The deliverables, with the number of those that have no name, as far as the words say it.

    A file that is split gives files of its own type, where only an answer was expected.
    """
    orders = [item.text.lower() for item in read(request) if item.ask is not Ask.QUESTION]
    least = {
        item.file_type: max((_least(text, item, given) for text in orders), default=1)
        for item in deliverables
    }
    counted = [
        item.model_copy(update={"count": max(item.count, least[item.file_type])})
        if not item.name_hints
        else item
        for item in deliverables
    ]
    only_answer = all(item.name_hints == (ANSWER,) for item in deliverables)
    kind = type_of(given[0]) if len(given) == 1 else None
    if only_answer and kind is not None and any(map(_SPLITS.search, orders)):
        return (Deliverable(file_type=kind.name, count=_SEVERAL),)
    return tuple(counted)


def _least(order: str, item: Deliverable, given: Sequence[str]) -> int:
    if item.file_type not in TYPES or _ONE_OF_ALL.search(order):
        return 1
    if _WHOLE.search(order):
        for path in given:
            kind = type_of(path)
            name = kind.name if kind is not None else ""
            if name in _NOUNS and name != item.file_type and _converts(order, name, item.file_type):
                return sum(type_of(other) == kind for other in given)
    if _FOR_EACH.search(order) and _names(order, item.file_type):
        return _SEVERAL
    return 1


def _converts(order: str, name: str, to: str) -> bool:
    inside = r"[^.;。；]{0,60}?"
    pattern = rf"(?:{_CONVERTS}){inside}(?:{_NOUNS[name]}){inside}{_TO}(?:{_noun(to)})"
    return re.search(pattern, order) is not None


def _names(order: str, kind: str) -> bool:
    return re.search(rf"\b(?:{_noun(kind)})\b", order) is not None


def _noun(kind: str) -> str:
    return _NOUNS.get(kind, re.escape(kind))
