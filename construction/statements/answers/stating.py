"""Whether the words around a value only state it, or quote or guess it."""

from __future__ import annotations

import re

from construction.statements.answers import lexicon
from construction.statements.answers.amounts import Reading
from construction.statements.answers.candidates import Value
from construction.statements.answers.passage import Passage
from construction.statements.answers.question import Target
from construction.statements.answers.roles import (
    LABEL_WORD,
    VERB,
    Role,
    is_harmless,
    periods_between,
    yielding_role,
)
from data.text.numerals import NUMBER_WORDS
from data.text.scripts import HAN

_REACH = 24  # characters beside a value in which a bound is named
_WIDE = 200
_BOUND_BEFORE = re.compile(
    r"(?:\b(?:exceed(?:s|ed|ing)?|surpass(?:es|ed|ing)?|over|under|below|above"
    r"|at least|at most|up to|(?:more|less|fewer|higher|lower|greater) than|short of|near|close to"
    r"|half of)"
    r"|不到|超过|超過|至少|至多|不足|低于|低於|高于|高於|逾)\s*\Z",
    re.I,
)
_BOUND_AFTER = re.compile(
    r"\s*(?:[?？]|or (?:more|less|so|higher|lower)\b|以上|以下|未満|未满|を?[超上下][えま回]|を超"
    r"|弱|強)"
)
_HEARSAY = re.compile(
    r"\b(?:some(?:one|body)? (?:say|claim|report)s?|people say"
    r"|(?:it|he|she) (?:is|was) (?:said|claimed|believed)|memory|reddit|blogs?|forums?|wiki\w*"
    r"|rivals?|competitors?|peers?|nowhere|half of|would have)\b"
    r"|噂|うわさ|競合|推定|记错|記錯|有人|对手|對手|伝聞",
    re.I,
)
_MAY = re.compile(r"\bMay\b")
_TOPIC = re.compile(rf"\s*[{HAN}ァ-ヺー・のA-Z()0-9]{{2,24}}(?:は|が|为|為|是|:)\s*")
_TOPIC_MARK = re.compile(r"(?:は|が|为|為|是|:)?\s*\Z")
_TOPIC_END = re.compile(
    r"\s*(?:です|でした|である|であった|だ|と(?:なった|なりました|なっている|なっています))?[\s。.]*"
)
_NO_TOPIC = re.compile(
    "予想|仮|推|参考|噂|記憶|私|我|猜|估|网|網|传|傳|某|例|未|不|非|否|旧|誤|错|錯"
)
_ASIDE = re.compile(r"\([^()]*[0-9][^()]*(?:\)|\Z)")  # with a figure of its own
_MOST_HAN = 4  # further Japanese or Chinese characters in a row that still state a value


def is_bounded(passage: Passage, value: Value) -> bool:
    """Is a value asked, or the bound of another one ("over 512", "512 or more", "512?")?"""
    before = passage.text[max(0, value.start - _REACH) : value.start]
    after = passage.text[value.end : value.end + _REACH]
    return bool(_BOUND_BEFORE.search(before) or _BOUND_AFTER.match(after))


def is_supposed(passage: Passage, reading: Reading, target: Target) -> bool:
    """Is a value told as hearsay, a guess, a plan, or a change where none is asked for?"""
    clause = passage.text[reading.low : reading.high]
    if not target.plan and lexicon.PLAN.search(_without_names(passage, reading, target)):
        return True
    low, high = passage.sentence(reading.value.start)
    sentence = _MAY.sub(" ", passage.text[max(low, reading.low - _WIDE) : min(high, reading.high)])
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
    for match in LABEL_WORD.finditer(around):
        if not match[0].isascii():
            rest = lexicon.STATING_HAN.sub("", target.wording.without(match[0]))
            if len(rest) > _MOST_HAN and not is_topic:
                return False
        elif not _is_stating(match[0].strip(".'’-&"), target):
            return False
    return True


def _without_periods(passage: Passage, low: int, high: int) -> str:
    pieces, position = [], low
    for period in periods_between(passage, low, high):
        pieces.append(passage.text[position : period.start])
        position = period.end
    return " ".join([*pieces, passage.text[position:high]])


def _names_more(clause: str, target: Target) -> bool:
    """Has a clause a verb of the question too? "57 aircraft" may be sold where leased are asked."""
    rest = target.naming.sub(" ", clause) if target.naming is not None else clause
    rest = rest.replace(target.company, " ") if target.company else rest
    words = [match[0] for match in LABEL_WORD.finditer(rest)]
    return any(
        target.wording.has(word) and word.lower() not in lexicon.STATING
        if word.isascii()
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
    is_same_script = any(not char.isascii() for char in target.metric)
    return is_same_script and len(name) > 1 and target.wording.without(name) == name


def is_worded(label: str, target: Target) -> bool:
    """Does a label consist of words of the question, and such as state a value?"""
    return all(
        _is_stating(match[0].strip(".'’-&"), target)
        if match[0].isascii()
        else not lexicon.STATING_HAN.sub("", target.wording.without(match[0]))
        for match in LABEL_WORD.finditer(label)
    )


def _is_stating(word: str, target: Target) -> bool:
    bare = word.lower().removesuffix("'s").removesuffix("’s")
    if set(bare.split("-")) <= NUMBER_WORDS.keys():
        return True
    known = bare in lexicon.STATING or target.wording.has(word) or is_harmless(bare, target)
    known = known or (bare in lexicon.STATING_MEASURED and not target.counts)
    return known or bool(
        VERB.match(bare) or lexicon.MOVEMENT.fullmatch(bare) or lexicon.MOVES.fullmatch(bare)
    )
