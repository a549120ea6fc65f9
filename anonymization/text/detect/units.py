"""Cuts a text into what a name model is asked about: lines of prose, per language."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.letters import BEFORE, CAPITALS, LETTER
from anonymization.text.detect.lexicon import words
from anonymization.text.detect.machine import is_machine
from anonymization.text.detect.wording import COMMON

# Han characters and their marks end a piece: else the model joins what stands on either side.
_LINE = re.compile(r"[^\n\r\u3000-\u303f\u3400-\u9fff，；！？]+")
# At a full stop behind two small letters or digits, so that initials and titles stay whole.
_SENTENCE = re.compile(r"(?:[^.!?]|[.!?](?!\s)|(?<![a-z0-9)]{2})[.!?]){1,1200}[.!?]*\s?")
_CLAUSE = re.compile(r"[^。！？!?；;\n\r]{1,200}[。！？!?；;]?")
_HAN = re.compile(r"[\u3400-\u9fff]")
_CAPITALISED = re.compile(rf"(?<![/.@-]){BEFORE}[{CAPITALS}]{LETTER}+")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]{2} [A-Za-zÀ-ɏ]")
_NO_NAMES = COMMON | words("words.toml", "institutions")
# Of these kinds the model finds nothing better.
_SURE = frozenset(
    {
        EntityType.ADDRESS,
        EntityType.CASE_NUMBER,
        EntityType.DATE,
        EntityType.EMAIL,
        EntityType.LOCATION,
    }
    | {EntityType.NATIONALITY, EntityType.TITLE, EntityType.SECRET, EntityType.URL}
)

Unit = tuple[int, str]  # offset in the text, the words


def english_units(text: str, taken: Sequence[Finding]) -> Iterator[Unit]:
    """Sentences of English prose in which a word with a capital may be a name.

    A Han character ends a sentence too. Words that the rules have `taken`, in order and without
    overlap, are no reason to ask the model.
    """
    for line in _LINE.finditer(text):
        if not _LATIN.search(line.group()) or is_machine(line.group()):
            continue
        for part in _SENTENCE.finditer(text, line.start(), line.end()):
            if _may_name(text, part.start(), part.end(), taken):
                yield part.start(), part.group()


def _may_name(text: str, start: int, end: int, taken: Sequence[Finding]) -> bool:
    for word in _CAPITALISED.finditer(text, start, end):
        if word.group() in _NO_NAMES:
            continue
        place = bisect_right(taken, word.start(), key=lambda finding: finding.start) - 1
        if place < 0 or taken[place].end < word.end() or taken[place].type not in _SURE:
            return True
    return False


def chinese_units(text: str, taken: Sequence[Finding]) -> Iterator[Unit]:
    """Clauses with Han characters, between the spans that rules have taken.

    The model takes numbers for names, so that patterns go first.
    """
    if not _HAN.search(text):
        return
    start = 0
    for finding in [*taken, None]:
        end = len(text) if finding is None else finding.start
        for clause in _CLAUSE.finditer(text, start, end):
            if len(_HAN.findall(clause.group())) >= 2:
                yield clause.start(), clause.group()
        start = max(start, end if finding is None else finding.end)
