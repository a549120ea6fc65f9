"""What a company's name is made of: legal forms around a core, and the words of pseudonyms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

from data.text.folding import alphanumeric
from data.text.lexicon import load_table
from data.text.scripts import has_han, has_kana


class Language(StrEnum):
    EN = "en"
    ZH = "zh"
    JA = "ja"


Word = Mapping[Language, str]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """`sectors`: the words of each; `labels`: (part of an industry's label, sector), longest first;
    `forms`: legal forms per language, longest first."""

    first: tuple[Word, ...]
    second: tuple[Word, ...]
    before: tuple[Word, ...]
    sectors: Mapping[str, tuple[Word, ...]]
    labels: tuple[tuple[str, str], ...]
    forms: Mapping[Language, tuple[str, ...]]

    def sector_of(self, industry: str) -> str:
        """The sector whose label is found in the industry's name; `general` if none is."""
        low = industry.casefold()
        return next((sector for part, sector in self.labels if part in low), "general")


@cache
def lexicon() -> Lexicon:
    """The lexicon of the package."""
    raw = load_table(__package__, "lexicon.toml")
    sectors = {name: _words(entry["words"]) for name, entry in raw["sectors"].items()}
    labels = [(p, name) for name, entry in raw["sectors"].items() for p in entry["labels"]]
    return Lexicon(
        _words(raw["first"]),
        _words(raw["second"]),
        _words(raw["before"]),
        sectors,
        tuple(sorted(labels, key=lambda label: (-len(label[0]), label))),
        {
            Language(k): tuple(sorted(v, key=lambda f: (-len(f), f)))
            for k, v in raw["forms"].items()
        },
    )


def _words(lines: list[str]) -> tuple[Word, ...]:
    """Each line: an English form, which may have spaces, a Chinese and a Japanese one."""
    return tuple(dict(zip(Language, line.rsplit(" ", 2), strict=True)) for line in lines)


_EDGE = " \t\u3000,，.・-"


@dataclass(frozen=True, slots=True)
class Anatomy:
    """`before` + `core` + `after` is the name; only the core names the company."""

    before: str
    core: str
    after: str
    language: Language


def name_language(name: str, default: Language) -> Language:
    """Kana or a Japanese form: Japanese; a Chinese form: Chinese; other Han: `default`.

    `data.text.language` reads prose and abstains on a few words; of a name the legal form tells.
    """
    if has_kana(name):
        return Language.JA
    if has_han(name) or "㈱" in name:
        for language in (Language.JA, Language.ZH):
            if any(form in name for form in lexicon().forms[language]):
                return language
        return default
    return Language.EN


@lru_cache(maxsize=1 << 17)
def dissect(name: str, default: Language) -> Anatomy:
    """Strip legal forms and the like from both ends, as long as something is left."""
    language = name_language(name, default)
    start, end = 0, len(name)
    forms = _bare_forms(language)
    while True:
        start, end = _trimmed(name, start, end)
        shorter = _without_form(name, start, end, forms)
        if shorter is None:
            return Anatomy(name[:start], name[start:end], name[end:], language)
        start, end = shorter


def _trimmed(name: str, start: int, end: int) -> tuple[int, int]:
    while start < end - 1 and name[start] in _EDGE:
        start += 1
    while end - 1 > start and name[end - 1] in _EDGE:
        end -= 1
    return start, end


def _without_form(
    name: str, start: int, end: int, forms: tuple[str, ...]
) -> tuple[int, int] | None:
    low = name[start:end].casefold()
    if len(low) != end - start:  # a character that folds to several: offsets would not agree
        low = name[start:end]
    for bare in forms:
        if len(bare) >= len(low):
            continue
        if low.startswith(bare) and _parted(low, len(bare)):
            return start + len(bare), end
        if low.endswith(bare) and _parted(low, len(low) - len(bare)):
            return start, end - len(bare)
    return None


@cache
def _bare_forms(language: Language) -> tuple[str, ...]:
    """The legal forms of a language in lower case, with their last point and without it."""
    folded = [form.casefold() for form in lexicon().forms[language]]
    return tuple(dict.fromkeys(bare for form in folded for bare in (form, form.rstrip("."))))


def _parted(text: str, at: int) -> bool:
    """Does a word end at `at`? Latin forms are separate words; Han and kana have no spaces."""
    before, after = text[at - 1], text[at]
    return not (before.isascii() and after.isascii() and before.isalnum() and after.isalnum())


def normal(name: str) -> str:
    """The name for comparison: without differences of compatibility form, case and punctuation."""
    return alphanumeric(name)
