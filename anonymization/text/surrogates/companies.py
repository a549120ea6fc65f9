"""Names of organisations: the stem is invented, legal form and line of business stay."""

from __future__ import annotations

import re

from numpy.random import Generator

from anonymization.text.surrogates.book import Book, Draw
from anonymization.text.surrogates.lexicon import lexicon
from anonymization.text.surrogates.places import region
from anonymization.text.surrogates.shapes import HAN, LETTERS, cased_like, is_han, pick

_STEM, _ZH_STEM = "company", "zh.company"
_HAN_RUN = re.compile(rf"[{HAN}]+")
_LONGER_FROM = 40


def organization(book: Book, value: str, salt: str) -> str:
    """A name of the same form; each word of a stem has one surrogate, so short names agree."""
    if any(map(is_han, value)):
        value = _HAN_RUN.sub(lambda run: _chinese(book, run.group(), salt), value)
    keep = lexicon().company_words
    words = [word.casefold() for word in LETTERS.findall(value) if not any(map(is_han, word))]
    if all(word in keep for word in words):
        keep = frozenset()

    def change(match: re.Match[str]) -> str:
        word = match.group()
        if word.casefold() in keep or any(map(is_han, word)):
            return word
        return cased_like(book.token(_STEM, word.casefold(), stem, salt), word)

    return LETTERS.sub(change, value)


def stem(rng: Generator, attempt: int) -> str:
    """An invented English name: a first and a second part, further parts after many attempts."""
    words = lexicon()
    middle = pick(rng, words.second) if attempt > _LONGER_FROM else ""
    return pick(rng, words.first) + middle + pick(rng, words.second)


def _chinese(book: Book, name: str, salt: str) -> str:
    words = lexicon()
    lead = next((r for r in words.regions_zh if name.startswith(r) and name != r), "")
    rest = name[len(lead) :]
    end = _end(rest, words.company_ends_zh)
    core = rest[: len(rest) - len(end)]
    line = _end(core, words.company_lines_zh)
    core = core[: len(core) - len(line)]
    if not core:
        core, line, end = (rest[: len(rest) - len(end)], "", end) if end != rest else (rest, "", "")
    new = book.token(_ZH_STEM, core, _zh_stem(len(core)), salt)
    return (region(book, lead) if lead else "") + new + line + end


def _end(name: str, ends: tuple[str, ...]) -> str:
    found = [end for end in ends if name.endswith(end) and name != end]
    return max(found, key=len, default="")


def _zh_stem(size: int) -> Draw:
    def draw(rng: Generator, attempt: int) -> str:
        words = lexicon()
        pairs = (max(2, min(size, 4)) + 1) // 2 + attempt // _LONGER_FROM
        return "".join(pick(rng, words.zh_first) + pick(rng, words.zh_second) for _ in range(pairs))

    return draw
