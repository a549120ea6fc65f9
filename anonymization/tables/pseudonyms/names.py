"""Company names rebuilt from the lexicons: one stem per company in all its languages.

No pseudonym equals another or is close to a real name of the input. Aliases of a company (other
languages, short forms, acronyms, spellings) get aliases of its pseudonym. Legal form, case and
spaces are another company's, so that naming variants stay variants and tell nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz, process

from anonymization.tables.pseudonyms.dress import dealt
from anonymization.tables.pseudonyms.name_parts import (
    Anatomy,
    Language,
    Lexicon,
    Word,
    dissect,
    lexicon,
    name_language,
    normal,
)
from data.errors import InputError
from data.randomness import keyed_generator, keyed_order

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


Made = dict[tuple[Language, str], str]  # (language, normalised core) → core of the pseudonym


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
    dresses = dealt(anatomies, key)
    return {
        (entity, name): dresses[entity, name].around(
            made[entity][anatomy.language, normal(anatomy.core)]
        )
        for (entity, name), anatomy in anatomies.items()
    }


def _assigned(
    companies: Sequence[Company], cores: Mapping[str, Mapping[Language, list[str]]], key: bytes
) -> dict[str, Made]:
    """Every company proposes a name; the first in order gets it; the others propose again."""
    real = {normal(c) for own in cores.values() for named in own.values() for c in named} - {""}
    used: set[str] = set()
    made: dict[str, Made] = {}
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


def _cores(anatomies: Sequence[Anatomy]) -> dict[Language, list[str]]:
    """The distinct cores per language, the longest first: it is the full name."""
    cores_by_language: dict[Language, dict[str, str]] = {}
    for anatomy in anatomies:
        cores_by_language.setdefault(anatomy.language, {}).setdefault(
            normal(anatomy.core), anatomy.core
        )
    return {
        language: sorted(cores.values(), key=lambda core: (-len(core), core))
        for language, cores in sorted(cores_by_language.items())
    }


def _proposal(
    company: Company, cores: Mapping[Language, list[str]], key: bytes, attempt: int
) -> tuple[Made, set[str]]:
    """Forms of a pseudonym for all cores, and the names they claim: the forms and the stem, so
    that no two companies share one."""
    words = lexicon()
    draw = keyed_generator(key, f"names/{attempt}", company.entity)
    sector = words.sectors[words.sector_of(company.industry)]
    stem = _stem(words, draw, with_before=attempt >= _PLAIN_TRIES)
    start = int(draw.integers(len(sector)))
    forms = _forms(cores, stem, [*sector[start:], *sector[:start]], words.sectors["general"])
    claimed = {*forms.values(), *(_joined(stem, language) for language in cores)}
    return forms, {normal(core) for core in claimed}


def _stem(words: Lexicon, draw: np.random.Generator, *, with_before: bool) -> tuple[Word, ...]:
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
) -> Made:
    """A form of the pseudonym for each core: full name, short name, acronym, further names."""
    made: Made = {}
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
            elif normal(core) in normal(own[0]) and name not in made.values():
                form = name
            else:
                form = name + gap + words[number % len(words)][language]
            made[language, normal(core)] = form
    return made


def _is_acronym(core: str) -> bool:
    return len(core) <= _ACRONYM and core.isascii() and core.isupper()


def _acronym(stem: tuple[Word, ...], word: Word) -> str:
    parts = [part[Language.EN] for part in stem] + word[Language.EN].split()
    return "".join(part[0] for part in parts).upper()
