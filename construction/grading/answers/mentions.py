"""Does a text of an agent state a figure, a day or a name: whole, one of them, not denied?

A figure is a token with its value (12 is neither in 120 nor in 3.12), a day is the same day in any
notation, and one of a list that singles nothing out is not stated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from construction.grading.answers import lexicon
from construction.grading.answers.question import common_dates
from construction.grading.answers.tokens import Value, scan_values
from construction.grading.answers.units import settle
from data.text.dates import Moment, find_dates, read_date
from data.text.folding import fold_width, plain_form

MAX_DAYS, MAX_FIGURES = 8, 60  # different ones in a text that still states one of them
_REACH = 120  # characters before and behind a token that may deny it
_MARKDOWN = re.compile(r"[*_`~]+")
_CLAUSE = re.compile(
    r"[.!?;:。！？；：]\s|[()\n]|[,、，]\s?(?![0-9])|\b(?:and|but|while)\b",
)
_JOINED = re.compile(
    r"[\s,、，;；/|]{0,9}(?:\b(?:or|and|to|through|until|oder|und|auf|bis|ou|et|à|au|o|y|e|a|al|naar|tot|en)\b|または|又は|或者?|及び|[和と至~〜–—-])?"
    r"[\s,、，;；/]{0,9}",
    re.I,
)
_BOUND = re.compile(
    r"\b(?:(?:before|after|until|till|since|between|except|other than|instead of)"
    r"|(?:nach|vor|ab|seit|après|avant|depuis|dès|antes|después|desde|dopo|prima|na|voor|vanaf|sinds)"
    r"(?: (?:dem|der|den|le|la|del?|el|dell['’]|il|het|de))?)\s*\Z",
    re.I,
)
_MOVED = re.compile(
    r"\b(?:mov|chang|postpon|reschedul|shift|correct|rais|lower|reduc|increas|delay|extend|push|brought"
    r"|ros|ris|f[ae]ll|gr[eo]w|went|climb|drop|decreas|stieg|gestiegen|sank|versch[oi]b|verleg|erhöh"
    r"|pass|report|avanc|augment|aument|traslad|retras|spost|posticip|verplaats|verschov)\w*\b"
    r"[^.;\n]{0,40}\b(?:from|von|vom|de|du|del|da|dal|van)\s*\Z",
    re.I,
)
_GOES_ON = re.compile(r"[.,][0-9]")
_BOUND_AFTER = re.compile(r"\s*(?:[?？]|以前|以后|以降|より前|より後|之前|之后|まで)")


@dataclass(frozen=True, slots=True)
class _Token:
    start: int
    end: int
    is_wanted: bool
    is_day: bool = False


def mentions(text: str, wanted: str) -> bool:
    """Is the figure, day or text stated? A text counts from the start of a word on."""
    day = read_date(wanted)
    plain = common_dates(_MARKDOWN.sub(" ", fold_width(text)))
    if day is not None:
        moment = Moment(day.year, day.month, day.day)
        return _states(plain, lambda piece: _days(piece, moment), MAX_DAYS)
    figure = _figure(wanted)
    if figure is not None:
        return _states(plain, lambda piece: _figures(piece, figure), MAX_FIGURES)
    return _has_text(plain_form(text), plain_form(wanted))


def _figure(wanted: str) -> Value | None:
    """The value that a text is, if it is nothing else."""
    plain = fold_width(wanted).strip()
    values = scan_values(plain, []) if any(map(str.isdigit, plain)) else []
    sole = len(values) == 1 and not plain[: values[0].start] + plain[values[0].end :]
    return values[0] if sole and values[0].number.digits else None


def _days(text: str, wanted: Moment) -> list[_Token]:
    days = [(start, end, moment) for start, end, moment in find_dates(text) if moment.is_day]
    return [
        _Token(start, end, not moment.swapped and moment.covers(wanted), is_day=True)
        for start, end, moment in sorted(days, key=lambda day: day[0])
    ]


def _figures(text: str, wanted: Value) -> list[_Token]:
    """The figures of a text that are the wanted one, or have as many decimals."""
    days = [(start, end) for start, end, moment in find_dates(text) if moment.is_day]
    figures = [value for value in scan_values(text, days) if value.number.digits]
    return [
        _Token(value.start, value.end, is_wanted)
        for value in figures
        for is_wanted in [_is_same(value, wanted) and not _GOES_ON.match(text, value.end)]
        if is_wanted or value.number.quantum == wanted.number.quantum
    ]


def _is_same(value: Value, wanted: Value) -> bool:
    """The same value with the same sign, and where both have a unit, in units that can be one."""
    if value.number.value != wanted.number.value or value.negative != wanted.negative:
        return False
    if value.unit is None or wanted.unit is None:
        return True
    return settle(value.unit, wanted.unit) == settle(wanted.unit, value.unit)


def _states(text: str, read: Callable[[str], Sequence[_Token]], most: int) -> bool:
    """Is a wanted token singled out and not denied, in what the text says last?"""
    retraction = lexicon.taken_back(text)
    if retraction is not None and read(text[retraction.end() :]):
        text = text[retraction.end() :]
    elif retraction is not None and lexicon.WITHDRAWAL.search(text, retraction.start()):
        return False
    tokens = read(text)
    if len({text[token.start : token.end] for token in tokens}) > most:
        return False
    listed = set[_Token]()
    for first, second in pairwise(tokens):
        if _JOINED.fullmatch(text, first.end, second.start) and first.is_wanted != second.is_wanted:
            moved = _MOVED.search(text[max(0, first.start - _REACH) : first.start])
            listed |= {first} if moved else {first, second}
    others = [token.start for token in tokens if not token.is_wanted]
    return any(
        token.is_wanted
        and token not in listed
        and not _is_denied(text, token)
        and not any(_is_superseded(text, token, start) for start in others)
        for token in tokens
    )


def _is_superseded(text: str, token: _Token, other: int) -> bool:
    """Does its clause tell of what was once said or planned, and a later one what is instead?"""
    before = _CLAUSE.split(text[max(0, token.start - _REACH) : token.start])[-1]
    if other < token.end:
        return False
    return bool(
        lexicon.SUPERSEDED.search(before)
        or (lexicon.WAS.search(before) and lexicon.IS_NOW.search(text[token.end : other][-_REACH:]))
    )


def _is_denied(text: str, token: _Token) -> bool:
    """Do the words of its clause deny, doubt or bound a token?"""
    before = _CLAUSE.split(text[max(0, token.start - _REACH) : token.start])[-1]
    behind = text[token.end : token.end + _REACH]
    before, after = (lexicon.MAY.sub(" ", part) for part in (before, _CLAUSE.split(behind)[0]))
    if _BOUND.search(before) or lexicon.BOUND_BEFORE.search(before) or _BOUND_AFTER.match(behind):
        return True
    if lexicon.NEGATED_BEFORE.search(before) or lexicon.NEGATED_AFTER.match(after):
        return True
    doubts = (lexicon.DOUBT, lexicon.GUESS, lexicon.WITHDRAWAL)
    return any(words.search(part) for words in doubts for part in (before, after)) or bool(
        token.is_day and any(map(lexicon.CALLED_OFF.search, (before, after)))
    )


def _has_text(text: str, wanted: str) -> bool:
    """Is it in the text, from the start of a word on, with its figures whole?"""
    if not wanted:
        return True
    first, last = wanted[0], wanted[-1]
    before = r"(?<![0-9])(?<![0-9][.,])" if first.isdigit() else ""
    before = r"(?<![a-z0-9])" if first.isascii() and first.isalpha() else before
    after = r"(?![0-9]|[.,][0-9])" if last.isdigit() else ""
    return re.search(before + re.escape(wanted) + after, text) is not None
