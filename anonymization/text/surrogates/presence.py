"""What stands in the texts of a scope, so that no surrogate equals something real in them."""

from __future__ import annotations

import re
import unicodedata

from anonymization.text.surrogates.shapes import HAN

_WORD = re.compile(rf"[^\W_{HAN}]+")
_RUN = re.compile(rf"[{HAN}]+")
_LONGEST_GRAM = 4
_LONGEST_WORD = 64


class Presence:
    """The words and the runs of two to four Chinese characters of all texts added so far."""

    def __init__(self) -> None:
        self._words: set[str] = set()
        self._grams: set[str] = set()

    def add(self, text: str) -> None:
        """Take note of a text."""
        plain = unicodedata.normalize("NFKC", text).casefold()
        self._words.update(word[:_LONGEST_WORD] for word in _WORD.findall(plain))
        for run in set(_RUN.findall(plain)):
            for size in range(2, _LONGEST_GRAM + 1):
                self._grams.update(run[i : i + size] for i in range(len(run) - size + 1))

    def holds(self, value: str) -> bool:
        """May `value` stand in a text? False is sure; a single Chinese character always may."""
        plain = unicodedata.normalize("NFKC", value).casefold()
        words, runs = _WORD.findall(plain), _RUN.findall(plain)
        if any(word[:_LONGEST_WORD] not in self._words for word in words):
            return False
        return all(self._has_run(run) for run in runs)

    def _has_run(self, run: str) -> bool:
        if len(run) <= _LONGEST_GRAM:
            return len(run) < 2 or run in self._grams
        last = len(run) - _LONGEST_GRAM + 1
        return all(run[i : i + _LONGEST_GRAM] in self._grams for i in range(last))
