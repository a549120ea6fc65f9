"""What the words around a value say: its role among other values, its label and its period."""

from __future__ import annotations

import re
from bisect import bisect_left
from enum import Enum, IntEnum, auto
from itertools import pairwise

from construction.statements.answers import lexicon
from construction.statements.answers.amounts import Reading
from construction.statements.answers.candidates import Value
from construction.statements.answers.passage import Passage
from construction.statements.answers.periods import Period
from construction.statements.answers.question import Target
from data.text.scripts import HAN_KANA

_REACH = 200
_HAN_BEFORE = re.compile(f"[{HAN_KANA}]{{1,20}}\\Z")
_HAN_FREE = re.compile(
    "(?:[のはがを的及びと年度期其]|連結|合并|合計|合计|公司|同社|当社|披露|報告|报告|季度|単体|通期|全年|总计"
    "|实现|実現|その|该|為|为|是)\\Z"
)
_HAN_AFTER = re.compile(
    "[はがをもで]|[為为是达達約约共]|合计|实现|実現|の金額|の額|の値|に関|について|等于|有"
    f"|[^{HAN_KANA}]|\\Z"
)
_WORD_BEFORE = re.compile(r"([A-Za-z][A-Za-z'’&.-]*)[\s(\"']*\Z")
_WORD_AFTER = re.compile(
    r"[\s)\"']*([A-Za-z][A-Za-z'’-]*)(?:\s+(?:the\s+)?([A-Za-z][A-Za-z'’-]*))?"
)
_QUALIFYING = frozenset(
    ["from", "excluding", "before", "after", "per", "attributable", "including", "net"]
)
VERB = re.compile(
    r"(?:rose|fell|grew|increas|decreas|declin|drop|climb|gain|c[ao]me|st[oa]|total|reach|amount|hit"
    r"|equal|narrow|widen|improv|remain|jump|surg|edge|slip|end|be|went|r[ia]s|fall|year|fiscal|full)\w*\Z",
    re.I,
)
_BASE = re.compile(r"(?:^|[.;,、]\s*)(?:out )?of (?:the |its |all |these )?\Z", re.I)
_BASE_AFTER = re.compile(r"[人件社家隻条]?(?:のうち|中の)")
LABEL_WORD = re.compile(rf"[A-Za-z][A-Za-z'’&-]+|[{HAN_KANA}]{{2,}}")


class Role(Enum):
    """Only candidates can be the answer; the last three yield to other values."""

    CANDIDATE = auto()
    RANGE = auto()
    OPERAND = auto()
    NEGATED = auto()
    ASIDE = auto()
    COMPARATIVE = auto()
    CHANGE = auto()


def excluded_role(passage: Passage, index: int) -> Role:
    """Whether a value is the end of a range, an operand or negated, and so never the answer."""
    text, value = passage.text, passage.values[index]
    if _in_range(passage, index):
        return Role.RANGE
    low, high = passage.sentence(value.start)
    if "=" in text[value.end : min(high, value.end + _REACH)]:
        return Role.OPERAND
    before = text[max(low, value.start - 60) : value.start]
    if lexicon.NEGATED_BEFORE.search(before):
        return Role.NEGATED
    if lexicon.NEGATED_AFTER.match(text[value.end : value.end + 20]):
        return Role.NEGATED
    return Role.CANDIDATE


def _in_range(passage: Passage, index: int) -> bool:
    neighbours = passage.values[max(0, index - 1) : index + 2]
    return any(_is_range(passage, first, second) for first, second in pairwise(neighbours))


def _is_range(passage: Passage, first: Value, second: Value) -> bool:
    text = passage.text
    between = text[first.end : second.start]
    if len(between) > 30 or first.weak or second.weak or "\n" in between:
        return False
    if first.unit and second.unit and first.unit.dimension is not second.unit.dimension:
        return False
    before = text[max(0, first.start - 40) : first.start]
    if between.strip().lower() == "and" or between.strip() in ("と", "和"):
        opened = lexicon.BETWEEN.search(before)
        return opened is not None or text.startswith("の間", second.end)
    if not lexicon.RANGE_BETWEEN.fullmatch(between):
        return False
    if between.strip() in "-−–—~〜〰":
        return True
    low, high = passage.clause(first.start)
    outside = text[low : first.start] + " " + text[second.end : max(high, second.end)]
    return lexicon.MOVEMENT.search(outside) is None


def yielding_role(passage: Passage, index: int) -> Role:
    """Whether a value is an aside, a comparative or a change, and so yields to others."""
    text, value = passage.text, passage.values[index]
    if _is_aside(passage, index):
        return Role.ASIDE
    low, high = passage.clause(value.start)
    previous = passage.values[index - 1].end if index else 0
    following = passage.values[index + 1].start if index + 1 < len(passage.values) else len(text)
    before = text[max(low, previous) : value.start]
    if _BASE.search(before) or _BASE_AFTER.match(text, value.end):
        return Role.COMPARATIVE
    after = text[value.end : max(value.end, min(high, following))]
    if lexicon.CHANGE_BY.search(before) or lexicon.CHANGE_AFTER.match(after):
        return Role.CHANGE
    link = list(lexicon.LINK.finditer(before))
    linked = bool(link) and not lexicon.COPULA.search(before[link[-1].end() :])
    linked = linked and (link[-1][0].lower() != "from" or bool(lexicon.FROM.search(before)))
    if linked or after.startswith("から") or lexicon.EARLIER.search(before):
        return Role.COMPARATIVE
    return Role.COMPARATIVE if lexicon.EARLIER.search(after) else Role.CANDIDATE


def _is_aside(passage: Passage, index: int) -> bool:
    """Whether it is in brackets that open after another value of the same line."""
    value = passage.values[index]
    opener = passage.openers.get(value.start)
    if value.bracketed and opener is None:
        opener = value.start
    if opener is None or not index:
        return False
    earlier = bisect_left(passage.starts, opener) - 1
    if earlier < 0:
        return False
    between = passage.text[passage.values[earlier].end : opener]
    return len(between) < 40 and "\n" not in between and not re.search(r"[.。;]\s", between)


def period_of(passage: Passage, reading: Reading) -> Period | None:
    """The nearest period phrase of the clause, else the one that opens the sentence."""
    start, end = reading.value.start, reading.value.end
    low, high = passage.clause(start)
    near = periods_between(passage, low, high)
    if near:
        return min(near, key=lambda p: min(abs(p.start - end), abs(start - p.end)))
    first, _ = passage.sentence(start)
    earlier = periods_between(passage, max(first, start - 2000), start)
    opening = passage.clause(earlier[0].start)[0] <= first if earlier else False
    return earlier[0] if opening and len(earlier) == 1 else None


def periods_between(passage: Passage, low: int, high: int) -> list[Period]:
    index = bisect_left(passage.periods, low, key=lambda period: period.start)
    periods = []
    while index < len(passage.periods) and passage.periods[index].end <= high:
        periods.append(passage.periods[index])
        index += 1
    return periods


def other_period(passage: Passage, reading: Reading, target: Target) -> bool:
    """Whether the value belongs to a period that was not asked for."""
    period = period_of(passage, reading)
    return period is not None and target.period is not None and not period.fits(target.period)


class Naming(IntEnum):
    """How a value is labelled; smaller is better."""

    ASKED = 0
    NONE = 1
    OTHER = 2


def naming(passage: Passage, value: Value, target: Target, low: int, high: int) -> Naming:
    """The label of a value whose clause is `low:high`."""
    if target.naming is not None and target.counts:
        behind = target.naming.match(passage.text, value.number.end + 1) or target.naming.match(
            passage.text, value.number.end
        )
        if behind or value.unit is not None:
            return Naming.ASKED if behind else Naming.OTHER
    mentions = [span for span in passage.named if low <= span[0] and span[1] <= high]
    if any(_unqualified(passage.text, span, target, low, high) for span in mentions):
        return Naming.ASKED
    before = passage.text[low : value.start]
    for period in passage.periods:
        if low <= period.start and period.end <= value.start:
            gap = " " * (period.end - period.start)
            before = before[: period.start - low] + gap + before[period.end - low :]
    before = before.replace(target.company, " ") if target.company else before
    return Naming.OTHER if mentions or _has_label(before, target) else Naming.NONE


def _unqualified(text: str, span: tuple[int, int], target: Target, low: int, high: int) -> bool:
    before, after = text[low : span[0]], text[span[1] : high]
    if not text[span[0]].isascii():
        run = _HAN_BEFORE.search(before)
        free = run is None or _HAN_FREE.search(run[0]) or run[0].endswith(target.company or "\x00")
        return bool(free) and _HAN_AFTER.match(after) is not None
    word = _WORD_BEFORE.search(before)
    if word and not is_harmless(word[1], target):
        return False
    following = _WORD_AFTER.match(after)
    if following is None or after.lstrip()[:1] in "(":
        return True
    first, second = following[1], following[2] or ""
    if first.lower() in _QUALIFYING:
        return False
    if first.lower() in ("for", "in", "of", "at") and second[:1].isupper():
        return is_harmless(second, target) or second.upper() in ("FY", "USD", "US", "Q")
    return is_harmless(first, target) or VERB.match(first) is not None


def is_harmless(word: str, target: Target) -> bool:
    bare = word.lower().strip(".")
    generic = bare in lexicon.GENERIC or bare.endswith(("'s", "’s", "s'"))
    return (
        generic or bare in target.company.lower() or re.fullmatch(r"(?:fy|q)?\d*", bare) is not None
    )


def _has_label(before: str, target: Target) -> bool:
    """Whether words that are neither generic nor the company's name precede the value."""
    for match in LABEL_WORD.finditer(before):
        word = match[0]
        if not word.isascii():
            if len(lexicon.GENERIC_HAN.sub("", word)) > 1:
                return True
        elif not is_harmless(word, target) and not VERB.match(word):
            return True
    return False
