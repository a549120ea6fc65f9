"""The codebook: families, patterns, and the cues and anchors by which a text shows a pattern.

People label by `families.toml` and `patterns.toml`; the program reads texts by `cues.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from data.canonical import digest
from data.errors import ConfigError

UNCATEGORIZED = "uncategorized"
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Family:
    """A signal family: a stratum of the market's mixture."""

    slug: str
    name: str
    definition: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """A workflow pattern: the user's `goal`, the `artifact`, and the `surface` of the work.

    `strong` and `weak` are cues in the notation of cues.toml; `anchors` are sentences.
    """

    slug: str
    family: str
    goal: str
    artifact: str
    surface: str
    benchmarkable: bool
    strong: tuple[str, ...]
    weak: tuple[str, ...]
    anchors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Codebook:
    """Families and patterns in the order of their slugs, decoy phrases, and a digest of all."""

    families: Mapping[str, Family]
    patterns: Mapping[str, Pattern]
    decoys: tuple[str, ...]
    digest: str

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def benchmarkable(self) -> frozenset[str]:
        """The patterns that are part of the mixture."""
        return frozenset(slug for slug, pattern in self.patterns.items() if pattern.benchmarkable)

    def family_of(self, pattern: str) -> str:
        """The family of a pattern; `uncategorized` is a family of its own."""
        return UNCATEGORIZED if pattern == UNCATEGORIZED else self.patterns[pattern].family


@cache
def default_codebook() -> Codebook:
    """The codebook of this package."""
    return load_codebook(_HERE)


def load_codebook(folder: Path) -> Codebook:
    """Read `families.toml`, `patterns.toml` and `cues.toml` of a folder.

    Raises ConfigError if a pattern names an unknown family, has no cue entry or no anchor, or if
    cues are given for a pattern that does not exist.
    """
    families, patterns, cues = (
        _read(folder / f"{n}.toml") for n in ("families", "patterns", "cues")
    )
    decoys = tuple(cues.pop("decoys", {}).get("phrases", ()))
    _check(families, patterns, cues, folder)
    return Codebook(
        {slug: Family(slug, **families[slug]) for slug in sorted(families)},
        {slug: _pattern(slug, patterns[slug], cues[slug]) for slug in sorted(patterns)},
        decoys,
        digest([families, patterns, cues, decoys]),
    )


def _read(path: Path) -> dict[str, Any]:
    with path.open("rb") as handle:
        return tomllib.load(handle)


def _pattern(slug: str, entry: Mapping[str, Any], cues: Mapping[str, Any]) -> Pattern:
    return Pattern(
        slug,
        entry["family"],
        entry["goal"],
        entry["artifact"],
        entry["surface"],
        entry.get("benchmarkable", True),
        tuple(cues["strong"]),
        tuple(cues["weak"]),
        tuple(cues["anchors"]),
    )


def _check(
    families: Mapping[str, Any], patterns: Mapping[str, Any], cues: Mapping[str, Any], folder: Path
) -> None:
    unmatched = sorted(patterns.keys() ^ cues.keys())
    if unmatched:
        raise ConfigError(
            f"{folder / 'cues.toml'}: only patterns.toml or only cues.toml has an entry for "
            f"{', '.join(unmatched)}. Give every pattern one entry in each file."
        )
    orphans = sorted(slug for slug, entry in patterns.items() if entry["family"] not in families)
    if orphans:
        raise ConfigError(
            f"{folder / 'patterns.toml'}: the family of {', '.join(orphans)} is not in "
            "families.toml. Add it there or correct the name."
        )
    without_anchor = sorted(slug for slug, entry in cues.items() if not entry.get("anchors"))
    if without_anchor:
        raise ConfigError(
            f"{folder / 'cues.toml'}: no anchor sentences for {', '.join(without_anchor)}. Add "
            "at least one to each."
        )
