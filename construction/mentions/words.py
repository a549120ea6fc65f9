"""The roles of the words before a file name, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator

from construction.mentions.lexicon import (
    CHINESE,
    ENGLISH,
    LONGEST_CHINESE,
    MEASURES,
    NOUNS_TOO,
    NUMBERS,
    Cue,
)
from data.text.scripts import HAN, is_han

FILE = "\ufffc"  # overwrites each character of the file names in the text that is read

_WORD = re.compile(
    rf"(?<![-A-Za-z])[A-Za-z][A-Za-z'’]*|[{HAN}]+|[0-9]+|[,，、:：—–]|--|->|=>|→"
    rf"|{FILE}+"
)
_ARROWS = frozenset(("->", "=>", "→"))
_DASHES = frozenset(("—", "–", "--"))
_COMMAS = frozenset((",", "，"))
_COLONS = frozenset(("、", ":", "："))


def cues(before: str) -> Iterator[tuple[Cue, bool]]:
    """(role, is_sure) of each word of `before`; numbers have no role.

    `is_sure` is false for a verb that may be a noun here, as in "the export in …".
    """
    words = _WORD.findall(before)
    skip, last, determined = False, "", False
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if skip:
            skip = False
        elif is_han(word[0]):
            determined = False
            yield from _chinese(word, counted=_is_number(last))
        elif word[0].isascii() and word[0].isalpha():
            plain = _plain(word)
            if plain == "to" and _is_number(last) and _is_number(following):
                cue = Cue.OTHER  # "one to two pages"
            else:
                pair = ENGLISH.get(f"{plain} {_plain(following)}")
                skip = pair is not None
                cue = pair or ENGLISH.get(plain, Cue.OTHER)
            if determined and plain in NOUNS_TOO:
                cue = Cue.OTHER  # "a clean one-page document"
            determined = cue in (Cue.INDEFINITE, Cue.THE) or (determined and cue is Cue.OTHER)
            yield cue, False
        elif (mark := _mark(word, last)) is not None:
            determined = False
            yield mark, False
        last = word


def _mark(word: str, last: str) -> Cue | None:
    if word[0] == FILE:
        return Cue.FILE
    if word in _ARROWS:
        return Cue.FINAL
    if word in _COLONS:
        return Cue.JOIN
    if word in _COMMAS or word in _DASHES:
        return Cue.LIST if last.startswith(FILE) else Cue.CLAUSE
    return None


def _plain(word: str) -> str:
    return word.lower().replace("'", "").replace("’", "")


def _is_number(word: str) -> bool:
    return word.isdigit() or word.lower() in NUMBERS


def _chinese(run: str, *, counted: bool) -> Iterator[tuple[Cue, bool]]:
    """(role, is_sure) of the longest known words of a run of Chinese characters, left to right.

    `counted`: a number precedes the run. A verb directly after a measure word or after "write",
    with more of the run behind it, describes the result, as in 写一份分析报告 ("analysis report").
    """
    position = 1 if counted and run[0] in MEASURES else 0
    names_result = False
    while position < len(run):
        cue, end = _word_at(run, position)
        if cue is not None and cue is not Cue.OTHER:
            yield cue, cue is not Cue.ASK and not (names_result and end < len(run))
        names_result = cue is Cue.INDEFINITE or cue is Cue.MAKE
        position = end


def _word_at(run: str, position: int) -> tuple[Cue | None, int]:
    """The role of the longest known word at `position` and the word's end; None if unknown."""
    longest = LONGEST_CHINESE.get(run[position], 0)
    for length in range(min(longest, len(run) - position), 0, -1):
        cue = CHINESE.get(run[position : position + length])
        if cue is not None:
            return cue, position + length
    return None, position + 1
