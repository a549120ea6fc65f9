"""Company names rebuilt from the lexicons: one stem per company in all its languages.

A name is dissected into its legal forms, the core between them, and what stands around the core. No
pseudonym equals another or is close to a real name of the input. Aliases of a company (other
languages, short forms, acronyms, spellings) get aliases of its pseudonym.

Legal form, case and spaces are another company's. Kept as they came, `㈱` in front, a wide space
and capitals would tell an industry's names apart. So every company gets those of a company whose
names vary in the same way, chosen by the release key: two spellings of one name stay two spellings
of one name, and tell nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

import numpy as np
from rapidfuzz import fuzz, process

from data.errors import InputError
from data.randomness import keyed_generator, keyed_hash, keyed_order
from data.text.folding import alphanumeric
from data.text.lexicon import load_table
from data.text.scripts import has_han, has_kana


class Language(StrEnum):
    EN = "en"
    ZH = "zh"
    JA = "ja"


Word = Mapping[Language, str]


@dataclass(frozen=True, slots=True)
class _Lexicon:
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
def lexicon() -> _Lexicon:
    """The lexicon of the package."""
    raw = load_table(__package__, "pseudonyms.toml")
    sectors = {name: _words(entry["words"]) for name, entry in raw["sectors"].items()}
    labels = [(p, name) for name, entry in raw["sectors"].items() for p in entry["labels"]]
    return _Lexicon(
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
class _Anatomy:
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
def dissect(name: str, default: Language) -> _Anatomy:
    """Strip legal forms and the like from both ends, as long as something is left."""
    language = name_language(name, default)
    start, end = 0, len(name)
    forms = _bare_forms(language)
    while True:
        start, end = _trimmed(name, start, end)
        shorter = _without_form(name, start, end, forms)
        if shorter is None:
            return _Anatomy(name[:start], name[start:end], name[end:], language)
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


def _normal(name: str) -> str:
    """The name for comparison: without differences of compatibility form, case and punctuation."""
    return alphanumeric(name)


class Case(StrEnum):
    """The letter case of a core in Latin letters; other cores are as written."""

    UPPER = "upper"
    LOWER = "lower"
    WRITTEN = "written"


@dataclass(frozen=True, slots=True, order=True)
class Dress:
    """`before` + a core in this letter case + `after` is a name."""

    before: str
    after: str
    case: Case

    def around(self, core: str) -> str:
        """The name with this core."""
        styles = {Case.UPPER: core.upper(), Case.LOWER: core.lower(), Case.WRITTEN: core}
        return self.before + styles[self.case] + self.after


_Variation = tuple[Language, tuple[tuple[int, int], ...]]


def _dealt(
    anatomies: Mapping[tuple[str, str], _Anatomy], key: bytes
) -> dict[tuple[str, str], Dress]:
    """(entity, name) → what is put around the pseudonym's core.

    Entities are dealt dresses by keyed hash on a ring, so that another company in the input changes
    few of the others. An entity whose names vary like nobody else's keeps its own.
    """
    names: dict[tuple[str, Language], list[str]] = {}
    for entity, name in sorted(anatomies):
        names.setdefault((entity, anatomies[entity, name].language), []).append(name)
    alike: dict[_Variation, list[str]] = {}
    for (entity, language), own in names.items():
        variation = _variation([anatomies[entity, name] for name in own])
        alike.setdefault((language, variation), []).append(entity)
    new: dict[tuple[str, str], Dress] = {}
    for (language, _), entities in alike.items():
        for entity, giver in _givers(entities, key, language).items():
            pairs = zip(names[entity, language], names[giver, language], strict=True)
            new |= {(entity, own): _dress(anatomies[giver, other]) for own, other in pairs}
    return new


def _variation(anatomies: Sequence[_Anatomy]) -> tuple[tuple[int, int], ...]:
    """Per name the number of its core and of its dress, counted as they first occur."""
    cores: dict[str, int] = {}
    dresses: dict[Dress, int] = {}
    return tuple(
        (
            cores.setdefault(_normal(anatomy.core), len(cores)),
            dresses.setdefault(_dress(anatomy), len(dresses)),
        )
        for anatomy in anatomies
    )


def _dress(anatomy: _Anatomy) -> Dress:
    case = Case.WRITTEN
    if anatomy.language is Language.EN and anatomy.core.isupper():
        case = Case.UPPER
    elif anatomy.language is Language.EN and anatomy.core.islower():
        case = Case.LOWER
    return Dress(anatomy.before, anatomy.after, case)


def _givers(entities: Sequence[str], key: bytes, language: Language) -> dict[str, str]:
    """Per entity the one that follows it on a ring of keyed hashes."""
    ring = sorted((keyed_hash(key, f"dress/{language}/gives", e), e) for e in entities)
    hashes = [value for value, _ in ring]
    return {
        entity: ring[
            bisect_left(hashes, keyed_hash(key, f"dress/{language}/takes", entity)) % len(ring)
        ][1]
        for entity in entities
    }


CLOSE = 85.0  # rapidfuzz ratio of normalised cores from which two names are close
_SHORT = 4  # up to here only equal names are close
_ACRONYM = 5
_PLAIN_TRIES = 6
_TRIES = 200
_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Company:
    """One entity: its id, the label of its industry, and all names it has in the input."""

    entity: str
    industry: str
    names: tuple[str, ...]


_Made = dict[tuple[Language, str], str]  # (language, normalised core) → core of the pseudonym


def rebuilt_names(companies: Sequence[Company], key: bytes) -> dict[tuple[str, str], str]:
    """(entity, name) → pseudonym. Companies choose in keyed order.

    Errors: `InputError` if the lexicons do not suffice.
    """
    default = _default_language([name for company in companies for name in company.names])
    anatomies = {
        (company.entity, name): dissect(name, default)
        for company in companies
        for name in company.names
    }
    order = keyed_order(key, "names", [company.entity for company in companies])
    cores = {
        company.entity: _cores([anatomies[company.entity, name] for name in company.names])
        for company in companies
    }
    made = _assigned([companies[at] for at in order], cores, key)
    dresses = _dealt(anatomies, key)
    return {
        (entity, name): dresses[entity, name].around(
            made[entity][anatomy.language, _normal(anatomy.core)]
        )
        for (entity, name), anatomy in anatomies.items()
    }


def _assigned(
    companies: Sequence[Company], cores: Mapping[str, Mapping[Language, list[str]]], key: bytes
) -> dict[str, _Made]:
    """Every company proposes a name; the first in order gets it; the others propose again."""
    real = {_normal(c) for own in cores.values() for named in own.values() for c in named} - {""}
    used: set[str] = set()
    made: dict[str, _Made] = {}
    pending = list(companies)
    for attempt in range(_TRIES):
        proposed = [_proposal(company, cores[company.entity], key, attempt) for company in pending]
        close = _close({core for _, claimed in proposed for core in claimed}, real)
        remaining: list[Company] = []
        for company, (forms, claimed) in zip(pending, proposed, strict=True):
            is_free = claimed.isdisjoint(close) and claimed.isdisjoint(used)
            if not is_free or len(set(forms.values())) < len(forms):
                remaining.append(company)
                continue
            used |= claimed
            made[company.entity] = forms
        if not remaining:
            return made
        pending = remaining
    expected = "fewer companies than the lexicons have names for"
    raise InputError("names", f"{len(pending)} companies without a name", expected, "Add stems.")


def _close(proposed: set[str], real: set[str]) -> set[str]:
    """The (normalised) proposals that equal a real core or, if long enough, are close to one."""
    close = proposed & real
    for ascii_ in (True, False):
        ours, theirs = (
            sorted(core for core in cores if core.isascii() is ascii_ and len(core) > _SHORT)
            for cores in (proposed, real)
        )
        for start in range(0, len(ours) if theirs else 0, _BATCH):
            part = ours[start : start + _BATCH]
            near = process.cdist(
                part, theirs, scorer=fuzz.ratio, score_cutoff=CLOSE, dtype=np.uint8
            )
            hits = near.max(axis=1).tolist()
            close |= {core for core, hit in zip(part, hits, strict=True) if hit}
    return close


def _default_language(names: Sequence[str]) -> Language:
    """The language of Han without other evidence: Japanese if more names are than Chinese."""
    ja = sum(name_language(name, Language.EN) is Language.JA for name in names)
    zh = sum(name_language(name, Language.EN) is Language.ZH for name in names)
    return Language.JA if ja > zh else Language.ZH


def _cores(anatomies: Sequence[_Anatomy]) -> dict[Language, list[str]]:
    """The distinct cores per language, the longest first: it is the full name."""
    cores_by_language: dict[Language, dict[str, str]] = {}
    for anatomy in anatomies:
        cores_by_language.setdefault(anatomy.language, {}).setdefault(
            _normal(anatomy.core), anatomy.core
        )
    return {
        language: sorted(cores.values(), key=lambda core: (-len(core), core))
        for language, cores in sorted(cores_by_language.items())
    }


def _proposal(
    company: Company, cores: Mapping[Language, list[str]], key: bytes, attempt: int
) -> tuple[_Made, set[str]]:
    """Forms of a pseudonym for all cores, and the names they claim: the forms and the stem, so
    that no two companies share one."""
    words = lexicon()
    draw = keyed_generator(key, f"names/{attempt}", company.entity)
    sector = words.sectors[words.sector_of(company.industry)]
    stem = _stem(words, draw, with_before=attempt >= _PLAIN_TRIES)
    start = int(draw.integers(len(sector)))
    forms = _forms(cores, stem, [*sector[start:], *sector[:start]], words.sectors["general"])
    claimed = {*forms.values(), *(_joined(stem, language) for language in cores)}
    return forms, {_normal(core) for core in claimed}


def _stem(words: _Lexicon, draw: np.random.Generator, *, with_before: bool) -> tuple[Word, ...]:
    first = words.first[int(draw.integers(len(words.first)))]
    second = words.second[int(draw.integers(len(words.second)))]
    if not with_before:
        return first, second
    return words.before[int(draw.integers(len(words.before)))], first, second


def _joined(stem: tuple[Word, ...], language: Language) -> str:
    """`Upper Northfield`, `上北原`."""
    *before, first, second = (word[language] for word in stem)
    core = first + second
    return " ".join([*before, core]) if language is Language.EN else "".join([*before, core])


def _forms(
    cores: Mapping[Language, list[str]],
    stem: tuple[Word, ...],
    sector: Sequence[Word],
    general: Sequence[Word],
) -> _Made:
    """A form of the pseudonym for each core: full name, short name, acronym, further names."""
    made: _Made = {}
    words = [*sector, *general]
    for language, own in cores.items():
        gap = " " if language is Language.EN else ""
        name = _joined(stem, language)
        full = name + gap + words[0][language]
        for number, core in enumerate(own):
            if number == 0:
                form = full
            elif _is_acronym(core):
                form = _acronym(stem, words[number % len(words)])
            elif _normal(core) in _normal(own[0]) and name not in made.values():
                form = name
            else:
                form = name + gap + words[number % len(words)][language]
            made[language, _normal(core)] = form
    return made


def _is_acronym(core: str) -> bool:
    return len(core) <= _ACRONYM and core.isascii() and core.isupper()


def _acronym(stem: tuple[Word, ...], word: Word) -> str:
    parts = [part[Language.EN] for part in stem] + word[Language.EN].split()
    return "".join(part[0] for part in parts).upper()
