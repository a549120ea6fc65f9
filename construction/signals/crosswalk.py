"""The crosswalk: shares that join signal families to task families, and these to display groups."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import fsum
from pathlib import Path

from construction.signals.codebook import Codebook, default_codebook
from data.canonical import digest
from data.errors import ConfigError

Shares = Mapping[str, Mapping[str, float]]
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Crosswalk:
    """Task families and display groups with their meanings, and the shares that map to them.

    `signal_to_task` may leave part of a family unmapped; `task_to_display` may not.
    """

    task_families: Mapping[str, str]
    display_groups: Mapping[str, str]
    signal_to_task: Shares
    task_to_display: Shares
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
class Spread:
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
    return load_crosswalk(Path(__file__).parent / "crosswalk.toml", default_codebook())


def load_crosswalk(path: Path, codebook: Codebook) -> Crosswalk:
    """Read and check a crosswalk; raises ConfigError that names the table in error."""
    with path.open("rb") as handle:
        document = tomllib.load(handle)
    tasks, groups = document["task_families"], document["display_groups"]
    signal_to_task, task_to_display = document["signal_to_task"], document["task_to_display"]
    wanted = {pattern.family for pattern in codebook.patterns.values() if pattern.benchmarkable}
    _check(path, "signal_to_task", signal_to_task, wanted, set(tasks), whole=False)
    _check(path, "task_to_display", task_to_display, set(tasks), set(groups), whole=True)
    return Crosswalk(tasks, groups, signal_to_task, task_to_display, digest(document))


def spread(weights: Mapping[str, float], shares: Shares) -> Spread:
    """Map weights to the next layer; a family without a row is entirely unmapped."""
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for family in sorted(weights):
        for target, share in shares.get(family, {}).items():
            parts[target].append(weights[family] * share)
    masses = {target: round(fsum(parts[target]), 9) for target in sorted(parts)}
    unmapped = fsum(weights.values()) - fsum(masses.values())
    return Spread(masses, round(max(0.0, unmapped), 9))


def _check(
    path: Path, table: str, shares: Shares, rows: set[str], columns: set[str], *, whole: bool
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
