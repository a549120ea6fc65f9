"""Which words explain themselves: everyday words, words of programs, and parts made of them."""

from __future__ import annotations

import re
from functools import lru_cache

from anonymization.text.detect.wording import COMMON, in_dictionary, words
from data.text.lexicon import load_table

_KNOWN = "known_words.toml"
_EVERYDAY = words(_KNOWN, "everyday") | words(_KNOWN, "legal")
_PROGRAMS = words(_KNOWN, "programs") | words(_KNOWN, "more_programs")
_NAMES = words(_KNOWN, "names_too") - words("words.toml", "small_words_too")


def _split(names: frozenset[str]) -> frozenset[str]:
    return frozenset(part.lower() for name in names for part in re.split(r"[\s.-]", name))


_PUBLIC = _split(
    words("places.toml", "countries")
    | words("places.toml", "towns")
    | words("places.toml", "people")
)
_LISTED = _PUBLIC | _split(
    COMMON
    | words("words.toml", "function_words")
    | words("words.toml", "organisation_heads")
    | words("words.toml", "institutions")
    | words("words.toml", "job_heads")
    | words("words.toml", "no_handles")
    | words("words.toml", "service_logins")
    | words("words.toml", "public_hosts")
)
_GIVEN = _split(words("names.toml", "given") | words("names.toml", "pinyin"))
_PREFIXES = ("un", "re", "non", "pre", "sub", "over", "under", "mis", "multi", "inter", "micro",
             "anti", "auto", "super", "semi", "meta", "cyber", "bio", "geo", "de", "dis",
             "co", "counter", "cross", "post", "hyper", "macro", "mini", "out", "up")  # fmt: skip
_ENDINGS = (("est", ""), ("est", "e"), ("iest", "y"), ("ier", "y"), ("ily", "y"), ("able", ""),
            ("able", "e"), ("ability", ""), ("ability", "e"), ("ization", ""), ("isation", ""),
            ("ization", "e"), ("ize", ""), ("ized", ""), ("izing", ""), ("ise", ""), ("less", ""),
            ("ful", ""), ("ish", ""), ("ness", ""), ("ors", "e"), ("er", "e"), ("ers", "e"),
            ("ers", ""), ("ings", ""), ("ings", "e"), ("ibility", "ible"),
            ("ability", "able"), ("ally", "al"), ("ality", "al"), ("ivity", "ive"))  # fmt: skip
_LABELS = (
    frozenset(
        part
        for table in load_table(__package__, "data", "declared.toml").values()
        for labels in table.values()
        for part in re.split(r"[|\s]+", labels)
    )
    | words("languages.toml", "de")
    | words("languages.toml", "fr")
    | words(_KNOWN, "labels")
)
_SHORT, _INITIALISM, _STEM = 2, 4, 4  # letters of no name, of an initialism, of a word with parts


@lru_cache(maxsize=200_000)
def is_known(word: str, dictionary: frozenset[str]) -> bool:
    """Is a word of letters an everyday word, a word of programs or an initialism?

    So is a name that is an everyday word too (`rose`): the detector finds names among words.
    """
    if len(word) <= _SHORT or (word.isupper() and len(word) <= _INITIALISM and word.isascii()):
        return True
    small = word.lower()
    if small in _NAMES:
        return False
    if _is_listed(small, dictionary):
        return True
    stems = (small[: -len(end)] + whole for end, whole in _ENDINGS if small.endswith(end))
    if any(len(stem) >= _STEM and _is_listed(stem, dictionary) for stem in stems):
        return True
    rests = (small[len(lead) :] for lead in _PREFIXES if small.startswith(lead))
    return any(len(rest) >= _STEM and _is_listed(rest, dictionary) for rest in rests)


def is_program_word(word: str) -> bool:
    """Is it a word of programs and formats, and no name of anybody?"""
    return word.lower() in _PROGRAMS or word.lower() in _PUBLIC


def is_ordinary_login(login: str, dictionary: frozenset[str]) -> bool:
    """Is a login only a word in small letters (`backup`), and not what people are called?

    Without a dictionary only the lists here decide: a login that is no word stays private.
    """
    is_word = login.isascii() and login.isalpha() and login.islower()
    return is_word and login not in _GIVEN and is_known(login, dictionary)


def _is_listed(small: str, dictionary: frozenset[str]) -> bool:
    doubled = small[:-3] if small.endswith("ing") else small[:-2] if small.endswith("ed") else ""
    return (
        small in _LISTED
        or small in _EVERYDAY
        or small in _PROGRAMS
        or small in _LABELS
        or in_dictionary(small, dictionary)
        or (len(doubled) > _STEM and doubled[-1:] == doubled[-2:-1] and doubled[:-1] in dictionary)
    )
