"""Words that nobody and nothing is called, so that no owner has to look at them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from anonymization.text.detect.wording import COMMON, is_chosen, is_known, is_program_word, words
from data.text.lexicon import load_table

_TABLE = {
    key: frozenset(text.split()) for key, text in load_table(__package__, "everyday.toml").items()
}
_EVERYDAY, _OFFICE = _TABLE["nouns"] | _TABLE["others"], _TABLE["office"]
_SMALL = words("words.toml", "function_words")
_NAMES = (
    words("known_words.toml", "names_too")
    | frozenset(name.lower() for name in words("names.toml", "given"))
    | _TABLE["doubtful"]
)
_WORDS_TOO = words("words.toml", "small_words_too")
_COMMON = frozenset(word.lower() for word in COMMON)
# How words of a sentence end that name an act, a quality or a manner.
_ENDINGS = (
    "tion", "tions", "sion", "sions", "ness", "ment", "ments", "ity", "ities", "ance", "ence",
    "ency", "ancy", "able", "ible", "ive", "ous", "ical", "ism",
)  # fmt: skip
_INFLECTED = ("ed", "ing", "ly")
_SHORT, _STEM = 2, 5  # letters


@dataclass(frozen=True, slots=True)
class English:
    """Words of the English dictionary in small letters; those that name things, the others, and
    those that every reader of texts has seen."""

    dictionary: frozenset[str]
    nouns: frozenset[str]
    doing: frozenset[str]
    usual: frozenset[str] = frozenset()


@lru_cache(maxsize=1 << 17)
def is_beyond_doubt(word: str, english: English, stands_out: bool) -> bool:
    """Can the word, or part of an identifier, only mean what the dictionary says?

    `stands_out` says that it stands in a cell, a key or a name of several words, or has a capital
    inside a sentence: there names count that are everyday words (`will`, `mark`).
    """
    small = word.lower()
    if small in _SMALL:
        return True
    if len(word) <= _SHORT:
        return not (word.istitle() and stands_out)
    if is_chosen(word):
        return False
    if small in _WORDS_TOO:
        return not stands_out and word.islower()
    if small in _NAMES:
        return False
    if small in _EVERYDAY or small in _COMMON or is_program_word(word):
        return True
    if not is_known(word, english.dictionary):
        return False
    if small.endswith(_INFLECTED) and small not in english.nouns:  # `fetched`, no `pudding`
        return True
    if not stands_out and small.endswith("ing") and _is_doing(small, english.doing):
        return True
    if not small.endswith("y") and not _is_noun(small, english.nouns):  # `consider`, `highest`
        return not stands_out
    return not stands_out and len(word) > _STEM and small.endswith(_ENDINGS)


def _is_doing(small: str, doing: frozenset[str]) -> bool:
    """Is it the form of a verb that ends in -ing?"""
    stem = small.removesuffix("ing")
    return stem in doing or f"{stem}e" in doing or (stem[-1:] == stem[-2:-1] and stem[:-1] in doing)


def _is_noun(small: str, nouns: frozenset[str]) -> bool:
    singulars = (small.removesuffix("s"), small.removesuffix("es"))
    return small in nouns or any(singular in nouns for singular in singulars)


def is_common(word: str) -> bool:
    """Is it a small word, a word of headings and forms, or a word of programs?"""
    small = word.lower()
    if small in _NAMES or small in _WORDS_TOO or is_chosen(word):
        return False
    return small in _SMALL or small in _COMMON or len(word) <= _SHORT or is_program_word(word)


def is_office_word(word: str) -> bool:
    """Is it a word of the names that office programs give to fonts, styles and languages?"""
    return word.lower() in _OFFICE
