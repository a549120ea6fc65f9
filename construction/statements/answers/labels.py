"""Whether the words around a value name the asked metric."""

from __future__ import annotations

import re
from enum import IntEnum

from construction.statements.answers import lexicon
from construction.statements.answers.asked import Asked
from construction.statements.answers.candidates import Value
from construction.statements.answers.passage import Passage

_HAN = "\u3040-\u30ff\u4e00-\u9fff"
_HAN_BEFORE = re.compile(f"[{_HAN}]{{1,20}}\\Z")
_HAN_FREE = re.compile(
    "(?:[のはがを的及びと年度期其]|連結|合并|合計|合计|公司|同社|当社|披露|報告|报告|季度|単体|通期|全年|总计"
    "|实现|実現|その|该|為|为|是)\\Z"
)
_HAN_AFTER = re.compile(
    "[はがをもで]|[為为是达達約约共]|合计|实现|実現|の金額|の額|の値|に関|について|等于|有|[^一-龥ぁ-ヿ]|\\Z"
)
_WORD_BEFORE = re.compile(r"([A-Za-z][A-Za-z'’&.-]*)[\s(\"']*\Z")
_WORD_AFTER = re.compile(
    r"[\s)\"']*([A-Za-z][A-Za-z'’-]*)(?:\s+(?:the\s+)?([A-Za-z][A-Za-z'’-]*))?"
)
_QUALIFYING = frozenset(
    ["from", "excluding", "before", "after", "per", "attributable", "including", "net"]
)
_VERB = re.compile(
    r"(?:rose|fell|grew|increas|decreas|declin|drop|climb|gain|c[ao]me|st[oa]|total|reach|amount|hit"
    r"|equal|narrow|widen|improv|remain|jump|surg|edge|slip|end|be|went|r[ia]s|fall|year|fiscal|full)\w*\Z",
    re.I,
)
_LABEL_WORD = re.compile(rf"[A-Za-z][A-Za-z'’&-]+|[{_HAN}]{{2,}}")


class Naming(IntEnum):
    """How a value is labelled; the smaller the better."""

    ASKED = 0
    NONE = 1
    OTHER = 2


def naming(passage: Passage, value: Value, asked: Asked, low: int, high: int) -> Naming:
    """The label of a value whose clause is `low:high`."""
    if asked.naming is not None and asked.counts:
        behind = asked.naming.match(passage.text, value.number.end + 1) or asked.naming.match(
            passage.text, value.number.end
        )
        if behind or value.unit is not None:
            return Naming.ASKED if behind else Naming.OTHER
    mentions = [span for span in passage.named if low <= span[0] and span[1] <= high]
    if any(_unqualified(passage.text, span, asked, low, high) for span in mentions):
        return Naming.ASKED
    before = passage.text[low : value.start]
    for period in passage.periods:
        if low <= period.start and period.end <= value.start:
            gap = " " * (period.end - period.start)
            before = before[: period.start - low] + gap + before[period.end - low :]
    before = before.replace(asked.company, " ") if asked.company else before
    return Naming.OTHER if mentions or _has_label(before, asked) else Naming.NONE


def _unqualified(text: str, span: tuple[int, int], asked: Asked, low: int, high: int) -> bool:
    before, after = text[low : span[0]], text[span[1] : high]
    if not text[span[0]].isascii():
        run = _HAN_BEFORE.search(before)
        free = run is None or _HAN_FREE.search(run[0]) or run[0].endswith(asked.company or "\x00")
        return bool(free) and _HAN_AFTER.match(after) is not None
    word = _WORD_BEFORE.search(before)
    if word and not _harmless(word[1], asked):
        return False
    following = _WORD_AFTER.match(after)
    if following is None or after.lstrip()[:1] in "(":
        return True
    first, second = following[1], following[2] or ""
    if first.lower() in _QUALIFYING:
        return False
    if first.lower() in ("for", "in", "of", "at") and second[:1].isupper():
        return _harmless(second, asked) or second.upper() in ("FY", "USD", "US", "Q")
    return _harmless(first, asked) or _VERB.match(first) is not None


def _harmless(word: str, asked: Asked) -> bool:
    bare = word.lower().strip(".")
    generic = bare in lexicon.GENERIC or bare.endswith(("'s", "’s", "s'"))
    return (
        generic or bare in asked.company.lower() or re.fullmatch(r"(?:fy|q)?\d*", bare) is not None
    )


def _has_label(before: str, asked: Asked) -> bool:
    """Whether words that are neither generic nor the company's name stand before the value."""
    for match in _LABEL_WORD.finditer(before):
        word = match[0]
        if not word.isascii():
            if len(lexicon.GENERIC_HAN.sub("", word)) > 1:
                return True
        elif not _harmless(word, asked) and not _VERB.match(word):
            return True
    return False
