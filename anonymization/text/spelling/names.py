"""Names in another order or joined otherwise: `Smith, John`, `john.smith`, and letters apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from anonymization.text.contracts import EntityType
from anonymization.text.detect.lexicon import words
from anonymization.text.detect.wording import COMMON
from anonymization.text.spelling.normal_form import PLANTED, clean, is_apart, skeleton
from anonymization.text.surrogates.lexicon import lexicon
from data.text.scripts import HAN, is_han

_PEOPLE, _COMPANY = frozenset({EntityType.PERSON, PLANTED}), EntityType.ORGANIZATION
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+){0,3}\.?")
_PARTS = re.compile(r"[\s._,-]+")
_BLANKS = re.compile(" {1,4}")
_JOIN = re.compile(r" {1,4}|[._-]")
_TURNED = re.compile(r" ?, {1,3}| {1,4}|[._-]")
_BREAK = re.compile(r" {0,2}\r?\n {0,8}")
_BEFORE_BREAK = re.compile(r"[^\n]{20} $")
_NAME_BEFORE, _NAME_AFTER = re.compile(r"[^\W\d_]+ $"), re.compile(r" [^\W\d_]")
_HAN_GAP = re.compile(f"[^{HAN}]+")
_HAN_JOIN = re.compile(" {1,2}|[\u00b7\u2022\u2027\u30fb]")
_HAN_DOTS = str.maketrans("", "", "\u00b7\u2022\u2027\u30fb ")
_ROOM = 40  # characters looked at on either side
_MOST_WORDS = 6
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Name:
    """A name of several words: each order with the word before which it was turned (0: as is).

    Where it is not `is_telling`, but may be words as well, only blanks may differ.
    """

    orders: dict[Words, int]
    is_telling: bool
    is_person: bool
    original: Words

    def skeletons(self) -> tuple[bytes, ...]:
        """The skeletons under which it stands."""
        return tuple(skeleton("".join(order)) for order in self.orders)

    def stands(self, text: str, start: int, end: int) -> bool:
        """Is `text[start:end]` the name, in one of its orders, joined as words are?"""
        standing = clean(text[start:end])
        parts = tuple(_PARTS.split(standing))
        turn = self.orders.get(tuple(map(str.casefold, parts)))
        if turn is None or not is_apart(text, start, end):
            return False
        gaps = _PARTS.findall(standing)
        if not self.is_person and parts != self.original:
            return False
        if not self.is_telling:
            return not turn and all(map(_BLANKS.fullmatch, gaps))
        if turn:
            joined = (_TURNED if n == turn else _JOIN for n in range(1, len(parts)))
            well = all(map(re.Pattern.fullmatch, joined, gaps))
            return well and _is_no_list(text, start, end, gaps[turn - 1])
        if any("\n" in gap for gap in gaps):
            return all(map(_is_break, gaps)) and _is_wrapped(text, start)
        return all(map(_JOIN.fullmatch, gaps))


@dataclass(frozen=True, slots=True)
class HanName:
    """A Chinese name whose characters may stand apart by blanks or a middle dot."""

    letters: str

    def skeletons(self) -> tuple[bytes, ...]:
        """The skeleton under which it stands."""
        return (self.letters.encode(),)

    def stands(self, text: str, start: int, end: int) -> bool:
        """Is it written so? A name of two characters must not touch a third."""
        standing = clean(text[start:end])
        if not all(map(_HAN_JOIN.fullmatch, _HAN_GAP.findall(standing))):
            return False
        beside = text[max(0, start - 1) : start], text[end : end + 1]
        return len(self.letters) > 2 or not any(map(is_han, beside))


def name(kind: str, value: str) -> Name | HanName | None:
    """How a value is found as a name; None where it is none, or one of a single word."""
    told = clean(value).strip()
    if kind in _PEOPLE and is_han(told.translate(_HAN_DOTS)):
        return HanName(told.translate(_HAN_DOTS))
    groups = _groups(told, kind in _PEOPLE)
    if not 2 <= len(groups) <= _MOST_WORDS or (kind not in _PEOPLE and kind != _COMPANY):
        return None
    orders = {_flat(groups): 0}
    if kind in _PEOPLE:
        for first in (1, len(groups) - 1):
            head, tail = groups[first:], groups[:first]
            orders.setdefault(_flat(head + tail), len(_flat(head)))
    parts = _flat(groups)
    folded = {_folded(order): turn for order, turn in reversed(orders.items())}
    return Name(folded, _is_telling(parts), kind in _PEOPLE, parts)


def _groups(value: str, is_person: bool) -> list[Words]:
    """The words of a name, each with its parts; empty if anything else stands in it.

    Titles before it are left out, a known `Smith, John` is `Smith John`.
    """
    told = value.replace(", ", " ").split()
    if not all(map(_WORD.fullmatch, told)) or any(map(is_han, told)):
        return []
    plain = [word.rstrip(".") for word in told]
    while is_person and plain and _is_title(plain[0]):
        del plain[0]
    return [tuple(_PARTS.split(word)) for word in plain]


def _is_title(word: str) -> bool:
    return word.casefold() in lexicon().person_words and len(word) > 1


def _flat(groups: list[Words]) -> Words:
    return tuple(part for group in groups for part in group)


def _folded(parts: Words) -> Words:
    return tuple(map(str.casefold, parts))


def _is_telling(parts: Words) -> bool:
    """No everyday word among them, and not all of them names that are words too (Grace, May)."""
    own = {part.casefold() for part in parts if len(part) > 1}
    doubtful = words("words.toml", "small_words_too")
    return not ((own & _everyday()) - doubtful) and not own <= doubtful


@cache
def _everyday() -> frozenset[str]:
    return words("words.toml", "function_words") | {word.casefold() for word in COMMON}


def _is_break(gap: str) -> bool:
    return bool(_BREAK.fullmatch(gap) or _BLANKS.fullmatch(gap))


def _is_wrapped(text: str, start: int) -> bool:
    """Does the name stand at the end of a line of prose? Cells of a column do not."""
    return _BEFORE_BREAK.search(text, max(0, start - _ROOM), start) is not None


def _is_no_list(text: str, start: int, end: int, gap: str) -> bool:
    """In `Ann Smith, John Doe` no `Smith, John` stands."""
    before = _NAME_BEFORE.search(text, max(0, start - _ROOM), start)
    if before and before.group()[0].isupper():
        return False
    after = _NAME_AFTER.match(text, end)
    return "," in gap or after is None or not after.group()[1].isupper()
