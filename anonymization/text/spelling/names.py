"""Names in another order or joined differently: `Smith, John`, `john.smith`, spaced letters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise

from anonymization.text.contracts import EntityType
from anonymization.text.detect.wording import COMMON, words
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
class NameSpelling:
    """A name of several words. `orders`: each order, and the index of the word at which it was
    rotated (0: not at all).

    Unless it `is_distinctive`, its words may mean something else, and only blanks may differ.
    """

    orders: dict[Words, int]
    is_distinctive: bool
    is_person: bool
    original: Words

    def skeletons(self) -> tuple[bytes, ...]:
        """The skeletons of its spellings."""
        return tuple(skeleton("".join(order)) for order in self.orders)

    def matches(self, text: str, start: int, end: int) -> bool:
        """Is `text[start:end]` the name, in one of its orders, joined as words usually are?"""
        candidate = clean(text[start:end])
        if candidate.isalpha():
            return self.is_distinctive and self._is_camel_case(candidate, text, start, end)
        parts = tuple(_PARTS.split(candidate))
        turn = self.orders.get(tuple(map(str.casefold, parts)))
        if turn is None or not is_apart(text, start, end):
            return False
        gaps = _PARTS.findall(candidate)
        if not self.is_person and parts != self.original:
            return False
        if not self.is_distinctive:
            return not turn and all(map(_BLANKS.fullmatch, gaps))
        if turn:
            joined = (_TURNED if n == turn else _JOIN for n in range(1, len(parts)))
            well = all(map(re.Pattern.fullmatch, joined, gaps))
            return well and _is_not_in_list(text, start, end, gaps[turn - 1])
        if any("\n" in gap for gap in gaps):
            return all(map(_is_break, gaps)) and _is_wrapped(text, start)
        return all(map(_JOIN.fullmatch, gaps))

    def _is_camel_case(self, candidate: str, text: str, start: int, end: int) -> bool:
        """Is it the name inside an identifier (`mailAnnSmith`), each word with a capital?"""
        before, after = text[max(0, start - 1) : start], text[end : end + 1]
        starts_a_word = not before.isalpha() or (before.islower() and candidate[0].isupper())
        if after.islower() or not starts_a_word:
            return False
        ends = list(accumulate(map(len, self.original)))
        parts = [candidate[first:last] for first, last in pairwise([0, *ends])]
        if [part.casefold() for part in parts] != [part.casefold() for part in self.original]:
            return False
        return all(part[0].isupper() and not part.isupper() for part in parts[1:])


@dataclass(frozen=True, slots=True)
class HanNameSpelling:
    """A Chinese name whose characters may be separated by blanks or a middle dot."""

    letters: str

    def skeletons(self) -> tuple[bytes, ...]:
        """The skeleton of its spellings."""
        return (self.letters.encode(),)

    def matches(self, text: str, start: int, end: int) -> bool:
        """Is `text[start:end]` the name? A name of two characters must not touch a third."""
        candidate = clean(text[start:end])
        if not all(map(_HAN_JOIN.fullmatch, _HAN_GAP.findall(candidate))):
            return False
        beside = text[max(0, start - 1) : start], text[end : end + 1]
        return len(self.letters) > 2 or not any(map(is_han, beside))


def name_spelling(kind: str, value: str) -> NameSpelling | HanNameSpelling | None:
    """The spelling of a value as a name; None if it is not a name, or is a single word."""
    text = clean(value).strip()
    if kind in _PEOPLE and is_han(text.translate(_HAN_DOTS)):
        return HanNameSpelling(text.translate(_HAN_DOTS))
    groups = _groups(text, kind in _PEOPLE)
    if not 2 <= len(groups) <= _MOST_WORDS or (kind not in _PEOPLE and kind != _COMPANY):
        return None
    orders = {_flat(groups): 0}
    if kind in _PEOPLE:
        for first in (1, len(groups) - 1):
            head, tail = groups[first:], groups[:first]
            orders.setdefault(_flat(head + tail), len(_flat(head)))
    parts = _flat(groups)
    folded = {_folded(order): turn for order, turn in reversed(orders.items())}
    return NameSpelling(folded, _is_distinctive(parts), kind in _PEOPLE, parts)


def _groups(value: str, is_person: bool) -> list[Words]:
    """The words of a name, each with its parts; empty if it contains anything else.

    Leading titles are left out; a known `Smith, John` is read as `Smith John`.
    """
    raw = value.replace(", ", " ").replace("_", " ").split()
    if not all(map(_WORD.fullmatch, raw)) or any(map(is_han, raw)):
        return []
    words_of_name = [word.rstrip(".") for word in raw]
    while is_person and words_of_name and _is_title(words_of_name[0]):
        del words_of_name[0]
    return [tuple(_PARTS.split(word)) for word in words_of_name]


def _is_title(word: str) -> bool:
    return word.casefold() in lexicon().person_words and len(word) > 1


def _flat(groups: list[Words]) -> Words:
    return tuple(part for group in groups for part in group)


def _folded(parts: Words) -> Words:
    return tuple(map(str.casefold, parts))


def _is_distinctive(parts: Words) -> bool:
    """Is no part an everyday word, and are not all parts names that are also words (Grace, May)?"""
    own = {part.casefold() for part in parts if len(part) > 1}
    doubtful = words("words.toml", "small_words_too")
    return not ((own & _everyday()) - doubtful) and not own <= doubtful


@cache
def _everyday() -> frozenset[str]:
    return words("words.toml", "function_words") | {word.casefold() for word in COMMON}


def _is_break(gap: str) -> bool:
    return bool(_BREAK.fullmatch(gap) or _BLANKS.fullmatch(gap))


def _is_wrapped(text: str, start: int) -> bool:
    """Is the name broken across lines of prose? Cells of a column are not."""
    return _BEFORE_BREAK.search(text, max(0, start - _ROOM), start) is not None


def _is_not_in_list(text: str, start: int, end: int, gap: str) -> bool:
    """Is it a name by itself? `Ann Smith, John Doe` does not contain `Smith, John`."""
    before = _NAME_BEFORE.search(text, max(0, start - _ROOM), start)
    if before and before.group()[0].isupper():
        return False
    after = _NAME_AFTER.match(text, end)
    return "," in gap or after is None or not after.group()[1].isupper()
