"""The Lite subset for manual audit: a stratified draw that looks like the whole.

EnterpriseClawBench has people audit 120 of its 852 tasks, stratified by family, role and type of
deliverable. Here the strata are all three crossed; largest remainders apportion the size, and a
keyed systematic draw along sorted strata takes the items, so that each margin comes out nearly
proportional even where crossed strata hold less than one seat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from data.apportion import apportion, total_variation
from data.errors import ConfigError
from data.randomness import keyed_hash, keyed_order

MISSING = "(none)"
_STAGE = "lite-subset"
Stratum = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class LiteItem:
    """A task with its three strata; None where a task has no value."""

    item_id: str
    family: str | None = None
    role: str | None = None
    deliverable_type: str | None = None

    @property
    def stratum(self) -> Stratum:
        return (self.family or MISSING, self.role or MISSING, self.deliverable_type or MISSING)


@dataclass(frozen=True, slots=True)
class MarginReport:
    """One way of counting: items of the pool and of the subset per value, and the total variation
    distance of the two distributions (0 equal, 1 disjoint)."""

    name: str
    pool: Mapping[str, int]
    subset: Mapping[str, int]
    distance: float


@dataclass(frozen=True, slots=True)
class Lite:
    """The chosen ids, sorted, with counts by family, role, deliverable type and all crossed."""

    size: int
    pool_size: int
    chosen: tuple[str, ...]
    margins: tuple[MarginReport, ...]


def choose_lite(items: Sequence[LiteItem], size: int, seed: int = 0) -> Lite:
    """Draw `size` items; the same for any order of the input.

    Raises ConfigError if the pool is smaller than the size or names an item twice.
    """
    ids = Counter(item.item_id for item in items)
    repeated = sorted(name for name, count in ids.items() if count > 1)
    if repeated:
        raise ConfigError(f"lite: {len(repeated)} items are named twice, first {repeated[0]}.")
    if not 0 < size <= len(items):
        raise ConfigError(f"lite: size {size} of a pool of {len(items)} items.")
    strata: dict[Stratum, list[str]] = {}
    for item in items:
        strata.setdefault(item.stratum, []).append(item.item_id)
    seats = _seats(strata, size, seed)
    chosen = {
        name for stratum, held in strata.items() for name in _drawn(held, seats[stratum], seed)
    }
    taken = [item for item in items if item.item_id in chosen]
    return Lite(size, len(items), tuple(sorted(chosen)), _margin_reports(items, taken))


def _seats(strata: Mapping[Stratum, Sequence[str]], size: int, seed: int) -> dict[Stratum, int]:
    """Family by family, then in each family: whole quotas first, and the rest by a systematic
    draw along the sorted strata, which spreads it over roles and deliverable types."""
    families: dict[str, list[Stratum]] = {}
    for stratum in sorted(strata):
        families.setdefault(stratum[0], []).append(stratum)
    held = {name: sum(len(strata[s]) for s in inside) for name, inside in families.items()}
    quotas = apportion({n: float(count) for n, count in held.items()}, size, most=held)
    seats: dict[Stratum, int] = {}
    for name, inside in families.items():
        shares = [(s, Fraction(quotas[name] * len(strata[s]), held[name])) for s in inside]
        seats |= _systematic(shares, _uniform(seed, name))
    return seats


def _systematic(shares: Sequence[tuple[Stratum, Fraction]], start: Fraction) -> dict[Stratum, int]:
    """Whole numbers whose running sums stay within one of those of the shares (Madow 1949)."""
    seats, running = {}, start
    for stratum, share in shares:
        after = running + share
        seats[stratum] = int(after) - int(running)
        running = after
    return seats


def _uniform(seed: int, name: str) -> Fraction:
    drawn = int.from_bytes(keyed_hash(seed, _STAGE, name)[:6], "big")
    return Fraction(drawn, 2**48)


def _drawn(held: Sequence[str], seats: int, seed: int) -> list[str]:
    return [held[position] for position in keyed_order(seed, _STAGE, held)[:seats]]


def _margin_reports(
    pool: Sequence[LiteItem], subset: Sequence[LiteItem]
) -> tuple[MarginReport, ...]:
    reports = []
    for name, level in (("family", 0), ("role", 1), ("deliverable_type", 2), ("crossed", None)):
        whole, part = _counted(pool, level), _counted(subset, level)
        counts = {value: part.get(value, 0) for value in whole}
        reports.append(MarginReport(name, whole, counts, round(total_variation(whole, part), 9)))
    return tuple(reports)


def _counted(items: Sequence[LiteItem], level: int | None) -> dict[str, int]:
    values = (" / ".join(item.stratum) if level is None else item.stratum[level] for item in items)
    return dict(sorted(Counter(values).items()))
