"""One surrogate per token, drawn with the key; never one that occurs in the texts of the scope."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable

from numpy.random import Generator

from data.randomness import keyed_generator
from data.text.folding import fold_case
from data.text.scripts import HAN

_WORD = re.compile(rf"[^\W_{HAN}]+")
_RUN = re.compile(rf"[{HAN}]+")
_LONGEST_GRAM = 4
_LONGEST_WORD = 64


class ScopeVocabulary:
    """The words and the runs of two to four Chinese characters of all texts added so far."""

    def __init__(self) -> None:
        self._words: set[str] = set()
        self._grams: set[str] = set()

    def add(self, text: str) -> None:
        """Add the words of a text."""
        folded = fold_case(text)
        self._words.update(word[:_LONGEST_WORD] for word in _WORD.findall(folded))
        for run in set(_RUN.findall(folded)):
            for size in range(2, _LONGEST_GRAM + 1):
                self._grams.update(run[i : i + size] for i in range(len(run) - size + 1))

    def may_contain(self, value: str) -> bool:
        """May `value` occur in a text? False is certain; a single Chinese character always may."""
        folded = fold_case(value)
        words, runs = _WORD.findall(folded), _RUN.findall(folded)
        if any(word[:_LONGEST_WORD] not in self._words for word in words):
            return False
        return all(self._has_run(run) for run in runs)

    def _has_run(self, run: str) -> bool:
        if len(run) <= _LONGEST_GRAM:
            return len(run) < 2 or run in self._grams
        last = len(run) - _LONGEST_GRAM + 1
        return all(run[i : i + _LONGEST_GRAM] in self._grams for i in range(last))


STAGE = "anonymization.text.surrogates"
_ATTEMPTS = 200
_POOLS = {"handle": "given"}  # spaces whose surrogates are drawn from those of another

Draw = Callable[[Generator, int], str]


class SurrogateTable:
    """The surrogates given out so far, per space (given names, family names, hosts …).

    Within a space two tokens never get the same surrogate. A draw gets the number of earlier tries
    before, so that it can fall back on longer words. `open_names` are names, in folded case,
    that the texts go on saying.
    """

    def __init__(
        self, key: bytes, vocabulary: ScopeVocabulary, open_names: frozenset[str] = frozenset()
    ) -> None:
        self.open_names = open_names
        self.japanese: frozenset[str] = frozenset()  # values that Japanese texts hold
        self._key = key
        self._vocabulary = vocabulary
        self._surrogates: defaultdict[str, dict[str, str]] = defaultdict(dict)
        self._taken: set[tuple[str, str]] = set()

    def withdraw(self, names: Iterable[str]) -> None:
        """Names, in folded case, that are part of a private value: they are open no more."""
        self.open_names = self.open_names.difference(names)

    def knows(self, space: str, token: str) -> bool:
        """Does the token have a surrogate in this space?"""
        return token in self._surrogates[space]

    def tokens(self, space: str) -> dict[str, str]:
        """Tokens of a space with their surrogates: the table's own, to be read only."""
        return self._surrogates[space]

    def token(
        self, space: str, token: str, draw: Draw, salt: str = "", *, fresh: bool = True
    ) -> str:
        """The surrogate of `token`; with `fresh`, one that occurs in no text so far.

        Each `salt` gives another surrogate.
        """
        salted = token + salt
        known = self._surrogates[space].get(salted)
        if known is not None:
            return known
        rng = self.generator(space, salted)
        new = ""
        for attempt in range(_ATTEMPTS):
            new = draw(rng, attempt)
            if new.casefold() != token and self._free(space, new, fresh):
                break
        self._surrogates[space][salted] = new
        self._taken.add((_POOLS.get(space, space), new.casefold()))
        return new

    def generator(self, space: str, token: str) -> Generator:
        """The randomness that belongs to a token."""
        return keyed_generator(self._key, f"{STAGE}.{space}", token)

    def _free(self, space: str, new: str, fresh: bool) -> bool:
        if (_POOLS.get(space, space), new.casefold()) in self._taken:
            return False
        return not (fresh and self._vocabulary.may_contain(new))
