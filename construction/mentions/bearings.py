"""Who asks, and what day it is, where a request depends on it and does not say it.

"Which seat is mine?" over a list of forty people, "is the invoice overdue?": nobody but the one who
asked can answer it. The words are in `bearings.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from construction.grading.file_types import extension_of
from construction.mentions.extensions import path_words
from construction.mentions.spans import find_file_spans
from data.text.dates import find_dates
from data.text.lexicon import load_table
from data.text.sentences import sentence_spans

_TABLE = load_table(__package__, "bearings.toml")
_MOST = 400  # sentences
_LONG = 400  # characters


def unknown_day(text: str, *, for_event: bool = False, is_told: bool = False) -> tuple[str, ...]:
    """The words that need to be known what day it is; empty where the request names a date.

    `for_event`: something is to be put on a calendar, which needs more than "tomorrow", unless the
    day is written beside it or an input tells it (`is_told`). In a long request the day is but a
    part of many, and none is named.
    """
    lowered = _plain(text)
    if len(lowered) > _LONG or _GIVEN_DAY.search(lowered) or any(True for _ in find_dates(text)):
        return ()
    patterns = (_DAY, _RELATIVE) if for_event else (_DAY,)
    words = dict.fromkeys(said for pattern in patterns for said in _said(text, pattern))
    if for_event and (is_told or _WRITTEN_DAY.search(lowered)):
        return tuple(said for said in words if not _RELATIVE.search(said))
    return tuple(words)


def tells_day(text: str, inputs: Collection[str], calendar_days: Collection[str]) -> bool:
    """Does one of the inputs that a request speaks of tell the day of an event?

    A mail or a notice of it does, and so does a calendar of a single day, or one in which the event
    is moved or any free time is sought. A list of people does not.
    """
    lowered = _plain(text)
    calendars = [path for path in inputs if extension_of(path) == "ics"]
    notices = [path for path in inputs if _is_notice(path)]
    in_calendar = len(calendar_days) == 1 or _WITHIN_CALENDAR.search(lowered) is not None
    return bool(notices) or bool(calendars and calendar_days and in_calendar)


def _is_notice(path: str) -> bool:
    return extension_of(path) in _NOTICES or not _PLANS.isdisjoint(path_words(path))


def unknown_asker(text: str, paths: Collection[str]) -> tuple[str, ...]:
    """The words that need to be known who asks, over input files that hold several people's rows.

    A mailbox or a calendar is somebody's own; a file that carries "my" in its name too. A long
    request tells of its files itself.
    """
    lowered = _plain(text)
    if len(lowered) > _LONG or _GIVEN_ASKER.search(lowered):
        return ()
    if not any(extension_of(path) in _TABLES for path in paths):
        return ()
    words = {word for path in paths for word in path_words(path)}
    if not _OWNED.isdisjoint(words):
        return ()
    return tuple(dict.fromkeys(_said(text, _ASKER)))


def _said(text: str, pattern: re.Pattern[str]) -> Iterator[str]:
    for number, (start, end) in enumerate(sentence_spans(text)):
        if number == _MOST:
            return
        sentence = _plain(_without_files(text[start:end]))
        match = pattern.search(sentence)
        if match is not None and not _NEGATED.search(sentence, 0, match.start()):
            yield match.group()


def _without_files(sentence: str) -> str:
    """The sentence without file names: `overdue.xlsx` says nothing of today."""
    pieces, position = [], 0
    for span in find_file_spans(sentence):
        pieces.append(sentence[position : span.start])
        position = span.end
    return "…".join([*pieces, sentence[position:]])


def _plain(text: str) -> str:
    return " ".join(text.lower().replace("’", "'").split())


def _any(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


_NEGATED = re.compile(r"(?:\b(?:not|never|no|without|n't)(?: \w+){0,2} |不要|不用|无需|没有)$")
_DAY = _any([*_TABLE["day"]["en"], *_TABLE["day"]["zh"]])
_RELATIVE = _any([*_TABLE["day"]["relative_en"], *_TABLE["day"]["relative_zh"]])
_GIVEN_DAY = _any(_TABLE["day"]["given"])
_WRITTEN_DAY = _any(_TABLE["day"]["written"])
_WITHIN_CALENDAR = _any(_TABLE["day"]["within_calendar"])
_NOTICES = frozenset(_TABLE["day"]["notices"])
_PLANS = frozenset(_TABLE["day"]["plans"])
_ASKER = _any([*_TABLE["asker"]["en"], *_TABLE["asker"]["zh"]])
_GIVEN_ASKER = _any(_TABLE["asker"]["given"])
_OWNED = frozenset(_TABLE["asker"]["owned"])
_TABLES = frozenset(_TABLE["asker"]["tables"])
