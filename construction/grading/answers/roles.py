"""What the words around a value say: its role among other values, its label and its period."""

from __future__ import annotations

import re
from bisect import bisect_left
from enum import Enum, IntEnum, StrEnum, auto
from itertools import pairwise

from construction.grading.answers import lexicon
from construction.grading.answers.lexicon import stem
from construction.grading.answers.passage import Passage, Reading
from construction.grading.answers.question import Period, Target, is_latin
from construction.grading.answers.tokens import Value
from data.text.lexicon import load_table, pattern_of
from data.text.numbers import NUMBER_WORDS
from data.text.scripts import HAN, HAN_KANA

_REACH = 200
_HAN_BEFORE = pattern_of(f"[{HAN_KANA}]{{1,20}}\\Z")
_HAN_FREE = pattern_of(
    "(?:[のはがを的及びと年度期其]|連結|合并|合計|合计|公司|同社|当社|披露|報告|报告|季度|単体|通期|全年|总计"
    "|实现|実現|その|该|為|为|是)\\Z"
)
_HAN_AFTER = pattern_of(
    "[はがをもで]|[為为是达達約约共]|合计|实现|実現|の金額|の額|の値|に関|について|等于|有"
    f"|[^{HAN_KANA}]|\\Z"
)
_L = lexicon.LETTER
_WORD_BEFORE = pattern_of(rf"({_L}(?:{_L}|['’&.-])*)[\s(\"']*\Z")
_WORD_AFTER = pattern_of(rf"[\s)\"']*({_L}(?:{_L}|['’-])*)(?:\s+(?:the\s+)?({_L}(?:{_L}|['’-])*))?")
_QUALIFYING = frozenset(
    ["from", "excluding", "before", "after", "per", "attributable", "including", "net"]
)
_VERB = pattern_of(
    r"(?:rose|fell|grew|increas|decreas|declin|drop|climb|gain|c[ao]me|st[oa]|total|reach|amount|hit"
    r"|equal|narrow|widen|improv|remain|jump|surg|edge|slip|end|be|went|r[ia]s|fall|year|fiscal|full)\w*\Z",
    re.I,
)
_BASE = pattern_of(r"(?:^|[.;,、]\s*)(?:out )?of (?:the |its |all |these )?\Z", re.I)
_OF_TOTAL = pattern_of(r"\s*(?:out )?of (?:the |its |all |these |a total of )*", re.I)
_BASE_AFTER = pattern_of(r"[人件社家隻条]?(?:のうち|中の)")
_LABEL_WORD = pattern_of(rf"{_L}(?:{_L}|['’&-])+|[{HAN_KANA}]{{2,}}")


_AND = frozenset(["and", "und", "et", "y", "e", "en", "och", "og", "と", "和"])


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
    if between.strip().lower() in _AND:
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
    if (
        _BASE.search(before)
        or (index and _OF_TOTAL.fullmatch(before))
        or _BASE_AFTER.match(text, value.end)
    ):
        return Role.COMPARATIVE
    after = text[value.end : max(value.end, min(high, following))]
    if lexicon.CHANGE_BY.search(before) or lexicon.CHANGE_AFTER.match(after):
        return Role.CHANGE
    if lexicon.FROM_LEVEL.search(before) and lexicon.TO_LEVEL.fullmatch(
        text[value.end : following]
    ):
        return Role.COMPARATIVE
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
    near = _periods_between(passage, low, high)
    if near:
        return min(near, key=lambda p: min(abs(p.start - end), abs(start - p.end)))
    first, _ = passage.sentence(start)
    earlier = _periods_between(passage, max(first, start - 2000), start)
    opening = passage.clause(earlier[0].start)[0] <= first if earlier else False
    return earlier[0] if opening and len(earlier) == 1 else None


def _periods_between(passage: Passage, low: int, high: int) -> list[Period]:
    index = bisect_left(passage.periods, low, key=lambda period: period.start)
    periods = []
    while index < len(passage.periods) and passage.periods[index].end <= high:
        periods.append(passage.periods[index])
        index += 1
    return periods


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
    if not is_latin(text[span[0]]):
        run = _HAN_BEFORE.search(before)
        free = run is None or _HAN_FREE.search(run[0]) or run[0].endswith(target.company or "\x00")
        return bool(free) and _HAN_AFTER.match(after) is not None
    word = _WORD_BEFORE.search(before)
    if word and not _is_harmless(word[1], target):
        return False
    following = _WORD_AFTER.match(after)
    if following is None or after.lstrip()[:1] in "(":
        return True
    first, second = following[1], following[2] or ""
    if first.lower() in _QUALIFYING:
        return False
    if first.lower() in ("for", "in", "of", "at") and second[:1].isupper():
        return _is_harmless(second, target) or second.upper() in ("FY", "USD", "US", "Q")
    return _is_harmless(first, target) or _VERB.match(first) is not None


def is_of_other_label(passage: Passage, reading: Reading, target: Target) -> bool:
    """Does a label that is not the asked one stand between a value and the one before it?

    "Net income was 31 on revenue of 402": 402 has a label of its own.
    """
    value = reading.value
    before = passage.within(reading.low, value.start)
    low = passage.values[before[-1]].end if before else reading.low
    if any(low <= start and end <= value.start for start, end in passage.named):
        return False
    return bool(before) and _has_label(passage.text[low : value.start], target)


def _is_harmless(word: str, target: Target) -> bool:
    bare = word.lower().strip(".")
    generic = bare in lexicon.GENERIC or bare.endswith(("'s", "’s", "s'"))
    number = bare.removeprefix("fy" if bare.startswith("fy") else "q")
    return generic or bare in target.company.lower() or not number or number.isdecimal()


def _has_label(before: str, target: Target) -> bool:
    """Whether words that are neither generic nor the company's name precede the value."""
    for match in _LABEL_WORD.finditer(before):
        word = match[0]
        if not is_latin(word):
            if len(lexicon.GENERIC_HAN.sub("", word)) > 1:
                return True
        elif not _is_harmless(word, target) and not _VERB.match(word):
            return True
    return False


_REACH_VERSIONS = 160  # characters on either side of an amount
_BREAK = 40  # characters that a comma, a conjunction or a new sentence between both counts as
_STOPS = pattern_of(r"[,.;、。;,]|\b(?:and|but|then|versus|which|while)\b")
_LISTED = load_table(__package__, "versions.toml")


class Version(StrEnum):
    """The first value that was filed, or the one that replaced it."""

    ORIGINAL = "original"
    RESTATED = "restated"


_WORDS = tuple(
    (version, pattern_of(rf"(?<![A-Za-z])(?:{'|'.join(_LISTED[version.value])})", re.I))
    for version in Version
)


def version_in(question: str) -> Version | None:
    """The version that a question asks for; None if it names none."""
    named = [version for version, words in _WORDS if words.search(question)]
    return named[0] if len(named) == 1 else None


def version_of(passage: Passage, reading: Reading) -> Version | None:
    """The version that the nearest words say, as far as the neighbouring amounts; None without."""
    value = reading.value
    before = max((one.end for one in passage.values if one.end <= value.start), default=0)
    after = min((one.start for one in passage.values if one.start >= value.end), default=None)
    lead = passage.text[max(before, value.start - _REACH_VERSIONS) : value.start]
    tail = passage.text[value.end : after][:_REACH_VERSIONS]
    nearest = [
        *((_far(lead[match.end() :]), version) for version, match in _matches(lead)),
        *((_far(tail[: match.start()]), version) for version, match in _matches(tail)),
    ]
    return min(nearest, default=(0, None))[1]


def _matches(text: str) -> list[tuple[Version, re.Match[str]]]:
    """The words of either version; those of the first one hide the other's inside them."""
    matches = [(version, match) for version, words in _WORDS for match in words.finditer(text)]
    originals = [match.span() for version, match in matches if version is Version.ORIGINAL]
    return [
        (version, match)
        for version, match in matches
        if version is Version.ORIGINAL
        or not any(start <= match.start() < end for start, end in originals)
    ]


def _far(between: str) -> int:
    return len(between) + _BREAK * len(_STOPS.findall(between))


_REACH_STATING = 24  # characters beside a value in which a bound is named
_WIDE = 200
_BOUND_AFTER = pattern_of(
    r"\s*(?:[?？+]|or (?:more|less|so|higher|lower)\b|以上|以下|未満|未满|を?[超上下][えま回]|を超"
    r"|弱|強)"
)
_HEARSAY = pattern_of(
    r"\b(?:some(?:one|body)? (?:say|claim|report)s?|people say"
    r"|(?:it|he|she) (?:is|was) (?:said|claimed|believed)|memory|reddit|blogs?|forums?|wiki\w*"
    r"|rivals?|competitors?|peers?|nowhere|(?<!first )(?<!second )half of|would have)\b"
    r"|噂|うわさ|競合|推定|记错|記錯|有人|对手|對手|伝聞",
    re.I,
)
_WOULD = pattern_of(r"\bwould be\b")
_TOPIC = pattern_of(rf"\s*[{HAN}ァ-ヺー・のA-Z()0-9]{{2,24}}(?:は|が|为|為|是|:)\s*")
_TOPIC_MARK = pattern_of(r"(?:は|が|为|為|是|:)?\s*\Z")
_TOPIC_END = pattern_of(
    r"\s*(?:です|でした|である|であった|だ|と(?:なった|なりました|なっている|なっています))?[\s。.]*"
)
_NO_TOPIC = pattern_of(
    "予想|仮|推|参考|噂|記憶|私|我|猜|估|网|網|传|傳|某|例|未|不|非|否|旧|誤|错|錯"
)
_ASIDE = pattern_of(r"\([^()]*[0-9][^()]*(?:\)|\Z)")  # with a figure of its own
_MOST_HAN = 4  # further Japanese or Chinese characters in a row that still state a value


def is_bounded(passage: Passage, value: Value, target: Target) -> bool:
    """Is a value asked, or the bound of another one ("over 512", "512 or more", "512?")?

    A plan may be a bound itself: "guided for at least 512".
    """
    if target.plan:
        return False
    before = passage.text[max(0, value.start - _REACH_STATING) : value.start]
    after = passage.text[value.end : value.end + _REACH_STATING]
    return bool(lexicon.BOUND_BEFORE.search(before) or _BOUND_AFTER.match(after))


def is_supposed(passage: Passage, reading: Reading, target: Target) -> bool:
    """Is a value told as hearsay, a guess, a plan, or a change where none is asked for?"""
    clause = passage.text[reading.low : reading.high]
    plans = lexicon.PLAN.finditer(_without_names(passage, reading, target))
    if not target.plan and any(not target.wording.has(plan[0]) for plan in plans):
        return True
    low, high = passage.sentence(reading.value.start)
    low, high = max(low, reading.low - _WIDE), min(high, reading.high)
    sentence = lexicon.MAY.sub(" ", passage.text[low:high])
    if target.plan:
        sentence = _WOULD.sub(" ", sentence)  # as in "guided that sales would be 512"
    if lexicon.GUESS.search(sentence) or _HEARSAY.search(clause):
        return True
    index = passage.within(reading.value.start, reading.value.start + 1)[0]
    asks_change = (
        target.change
        or lexicon.CHANGE.search(target.wording.text) is not None
        or _states_side(passage, reading, target)
    )
    return not asks_change and yielding_role(passage, index) is Role.CHANGE


def _states_side(passage: Passage, reading: Reading, target: Target) -> bool:
    """Does the clause of a value say on which side it is, as in "a gain of 5"?"""
    clause = passage.text[reading.low : reading.high]
    position = reading.value.start - reading.low
    return target.side is not None and target.side.is_stated(clause, position) is not None


def _without_names(passage: Passage, reading: Reading, target: Target) -> str:
    clause = passage.text[reading.low : reading.high]
    clause = clause.replace(target.company, " ") if target.company else clause
    return target.naming.sub(" ", clause) if target.naming is not None else clause


def is_stated(passage: Passage, reading: Reading, target: Target) -> bool:
    """Does the clause of a value only state it: by the asked metric, or in words for stating?

    "Some blog has 3,633" quotes the value, and "3,633 is what I would bet on" guesses it.
    """
    low, high, value = reading.low, reading.high, reading.value
    if any(low <= start and end <= high for start, end in passage.named) and (
        not target.counts or _names_more(passage.text[low:high], target)
    ):
        return True
    after = _ASIDE.sub(" ", _without_periods(passage, value.end, high))
    around = f"{_without_periods(passage, low, value.start)} {after}"
    around = around.replace(target.company, " ") if target.company else around
    around = target.side.without(around) if target.side is not None else around
    is_topic = _is_topic(passage.text[low : value.start], passage.text[value.end : high])
    if is_topic and _is_other_topic(passage.text[low : value.start], target):
        return False
    for match in _LABEL_WORD.finditer(around):
        if not is_latin(match[0]):
            rest = lexicon.STATING_HAN.sub("", target.wording.without(match[0]))
            if len(rest) > _MOST_HAN and not is_topic:
                return False
        elif not _is_stating(match[0].strip(".'’-&"), target):
            return False
    return True


def _without_periods(passage: Passage, low: int, high: int) -> str:
    pieces, position = [], low
    for period in _periods_between(passage, low, high):
        pieces.append(passage.text[position : period.start])
        position = period.end
    return " ".join([*pieces, passage.text[position:high]])


def _names_more(clause: str, target: Target) -> bool:
    """Has a clause a verb of the question too? "57 aircraft" may be sold where leased are asked."""
    rest = target.naming.sub(" ", clause) if target.naming is not None else clause
    rest = rest.replace(target.company, " ") if target.company else rest
    words = [match[0] for match in _LABEL_WORD.finditer(rest)]
    return any(
        target.wording.has(word) and word.lower() not in lexicon.STATING
        if is_latin(word)
        else target.wording.without(word) != word
        for word in words
    )


def _is_topic(before: str, after: str) -> bool:
    """A name that is no clause, a particle, the value, an end: 自己資本比率は58.2%です."""
    return bool(
        _TOPIC.fullmatch(before) and _TOPIC_END.fullmatch(after) and not _NO_TOPIC.search(before)
    )


def _is_other_topic(before: str, target: Target) -> bool:
    """Has the name before the value nothing of a question in the same script?"""
    name = lexicon.STATING_HAN.sub("", _TOPIC_MARK.sub("", before))
    is_same_script = not all(map(is_latin, target.metric))
    return is_same_script and len(name) > 1 and target.wording.without(name) == name


def is_worded(label: str, target: Target) -> bool:
    """Does a label consist of words of the question, and such as state a value?"""
    return all(
        _is_stating(match[0].strip(".'’-&"), target)
        if is_latin(match[0])
        else not lexicon.STATING_HAN.sub("", target.wording.without(match[0]))
        for match in _LABEL_WORD.finditer(label)
    )


_SALES = ("revenue", "revenues", "sales", "turnover")
_PROFITS = ("profit", "profits", "loss", "losses", "earnings", "eps")
_OF_OTHER_METRICS = (
    (frozenset(_SALES), frozenset(map(stem, (*_PROFITS, "income", "ebitda", "ebit")))),
    (frozenset(_PROFITS), frozenset(map(stem, _SALES))),
)


def _is_stating(word: str, target: Target) -> bool:
    bare = word.lower().removesuffix("'s").removesuffix("’s")
    if set(bare.split("-")) <= NUMBER_WORDS.keys():
        return True
    if any(bare in own and target.wording.stems & others for own, others in _OF_OTHER_METRICS):
        return target.wording.has(word)
    if target.plan and lexicon.PLAN.fullmatch(bare):
        return True
    known = bare in lexicon.STATING or target.wording.has(word) or _is_harmless(bare, target)
    known = known or (bare in lexicon.STATING_MEASURED and not target.counts)
    return known or bool(
        _VERB.match(bare) or lexicon.SIDE_NOUN.fullmatch(bare) or lexicon.MOVEMENT.fullmatch(bare)
    )


_DENIED_WITHIN = 30  # characters between "not" and the value that it denies


def gives_up(passage: Passage, scope: tuple[int, int]) -> bool:
    """Does the text give up on the question, or say that what was asked for is missing?"""
    low, high = scope
    if lexicon.GIVES_UP.search(passage.text, low, high):
        return True
    for match in lexicon.REFUSAL.finditer(passage.text, low, high):
        first, last = passage.clause(match.start())
        if any(first <= start and end <= last for start, end in passage.named):
            return True
    return False


def is_doubted(passage: Passage, target: Target) -> bool:
    """Does a word deny or doubt anything but another value, outside the names asked about?

    "3,633, not 3,400" denies a value that is none; "not consolidated" may be the metric's name;
    "no loss" denies the side that a question asks to give as a negative number.
    """
    text = passage.text
    named = [*passage.named]
    if target.company:
        named += [match.span() for match in re.finditer(re.escape(target.company), text, re.I)]
    for match in lexicon.DOUBT.finditer(text):
        is_name = any(low <= match.start() and match.end() <= high for low, high in named)
        following = passage.within(match.end(), match.end() + _DENIED_WITHIN)
        denied = following and lexicon.NEGATED_BEFORE.search(
            text, match.start(), passage.values[following[0]].start
        )
        denies = bool(denied) or (
            target.side is not None and target.side.is_denied(text, match.start())
        )
        is_asked = target.wording.has(match[0])  # "failed" where failed inspections are counted
        if not is_name and not denies and not is_asked:
            return True
    return False
