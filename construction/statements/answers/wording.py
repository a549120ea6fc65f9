"""The words of a question, and whether a word of an answer is one of them in another form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from data.text.folding import fold_width
from data.text.scripts import HAN_KANA

_MAX_QUESTION = 2000  # characters that are read
_MAX_RUN = 200  # Japanese or Chinese characters in a row that are compared
_LEAST_SHARED = 2  # of them in a row that make a word of the question
_LEAST_STEM = 3
_LEAST_AGENT = 5  # letters before -er
_ENDINGS = ("ing", "ied", "ies", "ed", "es", "s", "d", "e", "y")
_IRREGULAR = {
    form: base
    for base, forms in {
        "be": "is are was were been",
        "begin": "began begun",
        "build": "built",
        "buy": "bought",
        "choose": "chose chosen",
        "fall": "fell fallen",
        "give": "gave given",
        "grow": "grew grown",
        "have": "has had",
        "hold": "held",
        "lead": "led",
        "lose": "lost",
        "make": "made",
        "pay": "paid",
        "rise": "rose risen",
        "run": "ran",
        "sell": "sold",
        "spend": "spent",
        "take": "took taken",
        "win": "won",
        "write": "wrote written",
    }.items()
    for form in forms.split()
}
_WORD = re.compile(r"[A-Za-z][A-Za-z&.]*|[0-9]+")
_CAPITALISED = re.compile(r"\b[A-Z][\w'’&-]*")
_SMALL = frozenset(["of", "and", "the", "in", "for", "to", "on", "per", "a", "an"])
_ABBREVIATION = re.compile(r"(?=(?:[a-z]*[A-Z]){2})[A-Za-z]{2,8}")
_RUN = re.compile(f"[{HAN_KANA}]+")


@dataclass(frozen=True, slots=True)
class Wording:
    """`words` in their order and lower case, their `stems`, and the text itself."""

    words: tuple[str, ...]
    stems: frozenset[str]
    text: str

    def has(self, word: str) -> bool:
        """Is it a word of the question, inflected perhaps, or an abbreviation of some of them?"""
        bare = word.removesuffix("'s").removesuffix("’s").strip(".'’&-")
        parts = [part for part in bare.lower().split("-") if part]
        return all(map(self._has_form, parts)) or self._abbreviates(bare)

    def _has_form(self, part: str) -> bool:
        """Revolver stands for "revolving" too."""
        agent = part.removesuffix("s").removesuffix("er")
        return stem(part) in self.stems or (len(agent) > _LEAST_AGENT and stem(agent) in self.stems)

    def has_initials(self, word: str) -> bool:
        """Is it the initials of at least three words in a row: cfo of "chief financial officer"?"""
        initials = "".join(word[0] for word in self.words)
        return len(word) > _LEAST_SHARED and word in initials

    def lower_case(self) -> Wording:
        """The wording without its capitalised words."""
        return wording(_CAPITALISED.sub(" ", self.text))

    def without(self, text: str) -> str:
        """The Japanese or Chinese of a text that the question does not have."""
        return "".join(self._unshared(match[0]) for match in _RUN.finditer(text))

    def _unshared(self, run: str) -> str:
        if len(run) > _MAX_RUN:
            return run
        rest, at = [], 0
        while at < len(run):
            end = at
            while end < len(run) and run[at : end + 1] in self.text:
                end += 1
            shared = end - at >= _LEAST_SHARED
            rest.append("" if shared else run[at])
            at = end if shared else at + 1
        return "".join(rest)

    def _abbreviates(self, word: str) -> bool:
        """EPS of "earnings per share", RevPAR of "revenue per available room"."""
        if not _ABBREVIATION.fullmatch(word):
            return False
        short = word.lower()
        long = [word for word in self.words if word not in _SMALL]
        return any(
            _spells(short, words, at) for words in (self.words, long) for at in range(len(words))
        )


def _spells(short: str, words: tuple[str, ...] | list[str], at: int) -> bool:
    """Do beginnings of at least two consecutive words from `at` on make up the abbreviation?"""
    ends = {0}
    for number, word in enumerate(words[at : at + len(short)], start=1):
        ends = {
            end + taken
            for end in ends
            for taken in range(1, len(word) + 1)
            if short[end : end + taken] == word[:taken]
        }
        if number >= _LEAST_SHARED and len(short) in ends:
            return True
    return False


@lru_cache(maxsize=64)
def wording(question: str) -> Wording:
    """The words of a question; of a long one the beginning is read."""
    text = fold_width(question[:_MAX_QUESTION])
    words = tuple(match[0].lower().strip(".&") for match in _WORD.finditer(text))
    return Wording(words, frozenset(map(stem, words)), text)


def stem(word: str) -> str:
    """The word without all endings of English inflection: operate, operated, operating."""
    base = _IRREGULAR.get(word, word)
    ending = next((ending for ending in _ENDINGS if base.endswith(ending)), "")
    while ending and len(base) - len(ending) >= _LEAST_STEM:
        base = base.removesuffix(ending)
        ending = next((ending for ending in _ENDINGS if base.endswith(ending)), "")
    return base[:-1] if len(base) > _LEAST_STEM and base[-1] == base[-2] else base
