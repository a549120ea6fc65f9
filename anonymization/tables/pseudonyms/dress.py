"""What stands around the core of a company's name: legal form, spaces, letter case.

Kept as they came, `㈱` in front, a wide space and capitals would tell an industry's names apart. So
every company gets those of a company whose names vary in the same way, chosen by the release key:
two spellings of one name stay two spellings of one name.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from anonymization.tables.pseudonyms.name_parts import Anatomy, Language, normal
from data.randomness import keyed_hash


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


def dealt(anatomies: Mapping[tuple[str, str], Anatomy], key: bytes) -> dict[tuple[str, str], Dress]:
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


def _variation(anatomies: Sequence[Anatomy]) -> tuple[tuple[int, int], ...]:
    """Per name the number of its core and of its dress, counted as they first occur."""
    cores: dict[str, int] = {}
    dresses: dict[Dress, int] = {}
    return tuple(
        (
            cores.setdefault(normal(anatomy.core), len(cores)),
            dresses.setdefault(_dress(anatomy), len(dresses)),
        )
        for anatomy in anatomies
    )


def _dress(anatomy: Anatomy) -> Dress:
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
