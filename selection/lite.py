"""The Lite subset for manual audit: a stratified draw that resembles the whole release.

In EnterpriseClawBench people audit 120 of the 852 tasks, stratified by family, role and type of
deliverable. Here the strata are the three crossed. Largest remainders apportion the size to
families, and a keyed systematic draw along the sorted strata picks the items, so that each margin
comes out nearly proportional even where a crossed stratum is entitled to less than one item.
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
    """A task with its three stratum labels; None where a task has no label."""

    item_id: str
    family: str | None = None
    role: str | None = None
    deliverable_type: str | None = None

    @property
    def stratum(self) -> Stratum:
        return (self.family or MISSING, self.role or MISSING, self.deliverable_type or MISSING)


@dataclass(frozen=True, slots=True)
class MarginReport:
    """One margin: items of the pool and of the subset per value, and the total variation distance
    of the two distributions (0 equal, 1 disjoint)."""

    name: str
    pool: Mapping[str, int]
    subset: Mapping[str, int]
    distance: float


@dataclass(frozen=True, slots=True)
class Lite:
    """The chosen ids, sorted, with counts by family, role and deliverable type, and by all three
    crossed."""

    size: int
    pool_size: int
    chosen: tuple[str, ...]
    margins: tuple[MarginReport, ...]


def choose_lite(items: Sequence[LiteItem], size: int, seed: int = 0) -> Lite:
    """Draw `size` items; the order of the input does not matter.

    Raises ConfigError if the pool is smaller than the size or contains an id twice.
    """
    ids = Counter(item.item_id for item in items)
    repeated = sorted(name for name, count in ids.items() if count > 1)
    if repeated:
        raise ConfigError(f"lite: {len(repeated)} items are listed twice, first {repeated[0]}.")
    if not 0 < size <= len(items):
        raise ConfigError(f"lite: size {size} from a pool of {len(items)} items.")
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
    """Seats per stratum: families get whole quotas; inside a family a systematic draw along the
    sorted strata spreads its quota over roles and deliverable types."""
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
    """Whole numbers whose running sums differ by less than one from those of the shares (Madow
    1949)."""
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
