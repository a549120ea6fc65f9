"""The codebook: families, patterns, and the cues and anchors by which a text shows a pattern.

People label by `families.toml` and `patterns.toml`; the program reads texts by `cues.toml`.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import fsum
from pathlib import Path
from typing import Any

from data.canonical import digest
from data.errors import ConfigError

UNCATEGORIZED = "uncategorized"
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class _Family:
    """A signal family: a stratum of the market's mixture."""

    slug: str
    name: str
    definition: str


@dataclass(frozen=True, slots=True)
class _Pattern:
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

    families: Mapping[str, _Family]
    patterns: Mapping[str, _Pattern]
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
    return _load_codebook(_HERE)


def _load_codebook(folder: Path) -> Codebook:
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
        {slug: _Family(slug, **families[slug]) for slug in sorted(families)},
        {slug: _pattern(slug, patterns[slug], cues[slug]) for slug in sorted(patterns)},
        decoys,
        digest([families, patterns, cues, decoys]),
    )


def _read(path: Path) -> dict[str, Any]:
    with path.open("rb") as handle:
        return tomllib.load(handle)


def _pattern(slug: str, entry: Mapping[str, Any], cues: Mapping[str, Any]) -> _Pattern:
    return _Pattern(
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


# The crosswalk: shares that join signal families to task families, and these to display groups.

_Shares = Mapping[str, Mapping[str, float]]
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Crosswalk:
    """Task families and display groups with their meanings, and the shares that map to them.

    `signal_to_task` may leave part of a family unmapped; `task_to_display` may not.
    """

    task_families: Mapping[str, str]
    display_groups: Mapping[str, str]
    signal_to_task: _Shares
    task_to_display: _Shares
    digest: str

    def display_group(self, task_family: str) -> str:
        """The display group with the largest share; of equal ones the first by name."""
        shares = self.task_to_display[task_family]
        return min(shares, key=lambda group: (-shares[group], group))

    def task_family(self, signal_shares: Mapping[str, float]) -> str | None:
        """The task family with the largest part of the given signal family shares, if any."""
        tasks = spread(signal_shares, self.signal_to_task).weights
        return min(tasks, key=lambda family: (-tasks[family], family)) if tasks else None


@dataclass(frozen=True, slots=True)
class _Spread:
    """Weights mapped to another layer: `masses` sum to 1 - `unmapped`, `weights` to 1."""

    masses: Mapping[str, float]
    unmapped: float

    @property
    def weights(self) -> dict[str, float]:
        whole = fsum(self.masses.values())
        return {name: round(mass / whole, 9) for name, mass in self.masses.items()} if whole else {}


@cache
def default_crosswalk() -> Crosswalk:
    """This package's crosswalk, checked against its codebook."""
    return _load_crosswalk(Path(__file__).parent / "crosswalk.toml", default_codebook())


def _load_crosswalk(path: Path, codebook: Codebook) -> Crosswalk:
    """Read and check a crosswalk; raises ConfigError that names the table in error."""
    with path.open("rb") as handle:
        document = tomllib.load(handle)
    tasks, groups = document["task_families"], document["display_groups"]
    signal_to_task, task_to_display = document["signal_to_task"], document["task_to_display"]
    wanted = {pattern.family for pattern in codebook.patterns.values() if pattern.benchmarkable}
    _check_shares(path, "signal_to_task", signal_to_task, wanted, set(tasks), whole=False)
    _check_shares(path, "task_to_display", task_to_display, set(tasks), set(groups), whole=True)
    return Crosswalk(tasks, groups, signal_to_task, task_to_display, digest(document))


def spread(weights: Mapping[str, float], shares: _Shares) -> _Spread:
    """Map weights to the next layer; a family without a row is entirely unmapped."""
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for family in sorted(weights):
        for target, share in shares.get(family, {}).items():
            parts[target].append(weights[family] * share)
    masses = {target: round(fsum(parts[target]), 9) for target in sorted(parts)}
    unmapped = fsum(weights.values()) - fsum(masses.values())
    return _Spread(masses, round(max(0.0, unmapped), 9))


def _check_shares(
    path: Path, table: str, shares: _Shares, rows: set[str], columns: set[str], *, whole: bool
) -> None:
    unmatched = sorted(shares.keys() ^ rows)
    if unmatched:
        raise ConfigError(
            f"{path}: the tables of [{table}] do not match its families: {', '.join(unmatched)}. "
            "Give every mapped family exactly one table."
        )
    for family, row in shares.items():
        unknown = sorted(row.keys() - columns)
        if unknown:
            raise ConfigError(
                f"{path}: [{table}.{family}] names {', '.join(unknown)}, which is not declared."
            )
        total = fsum(row.values())
        fits = abs(total - 1.0) < _ROUNDING if whole else total < 1.0 + _ROUNDING
        if not fits or min(row.values()) < 0:
            limit = "exactly 1" if whole else "at most 1"
            raise ConfigError(
                f"{path}: the shares of [{table}.{family}] sum to {total:g}; expected {limit}, "
                "none of them negative."
            )
