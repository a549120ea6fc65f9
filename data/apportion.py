"""Whole numbers from shares: largest remainder with minimum and maximum per group."""

from __future__ import annotations

from collections.abc import Mapping

from data.errors import ConfigError


def apportion(
    shares: Mapping[str, float],
    total: int,
    *,
    least: Mapping[str, int] | None = None,
    most: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """Split `total` in proportion to `shares` (Hamilton's method), within the bounds.

    A group that would leave its bounds is set to the bound, and the rest is shared again. Equal
    remainders are resolved by name. Raises ConfigError if no split satisfies the bounds.
    """
    low = {name: (least or {}).get(name, 0) for name in shares}
    high = {name: (most or {}).get(name, total) for name in shares}
    if sum(low.values()) > total or sum(high.values()) < total:
        raise ConfigError(
            f"apportionment: {total} does not lie between the sum of the minima, "
            f"{sum(low.values())}, and that of the maxima, {sum(high.values())}."
        )
    fixed: dict[str, int] = {}
    while True:
        free = {name: share for name, share in shares.items() if name not in fixed}
        exact = _proportional(free, total - sum(fixed.values()))
        short = {n: low[n] for n in free if exact[n] < low[n]}
        over = {n: high[n] for n in free if exact[n] > high[n]}
        if not short and not over:
            break
        # Fix the side on which more is missing first: fixing both at once can overshoot.
        lacking = sum(low[n] - exact[n] for n in short)
        spare = sum(exact[n] - high[n] for n in over)
        fixed |= short if lacking >= spare else over
    return dict(sorted((fixed | _rounded(exact, low, high)).items()))


def _proportional(shares: Mapping[str, float], total: int) -> dict[str, float]:
    mass = sum(shares.values())
    if mass <= 0:
        return {name: total / len(shares) for name in shares} if shares else {}
    return {name: round(total * share / mass, 9) for name, share in shares.items()}


def _rounded(
    exact: Mapping[str, float], low: Mapping[str, int], high: Mapping[str, int]
) -> dict[str, int]:
    counts = {name: max(low[name], int(value)) for name, value in exact.items()}
    remaining = round(sum(exact.values())) - sum(counts.values())
    by_remainder = sorted(exact, key=lambda name: (counts[name] - exact[name], name))
    while remaining > 0:
        for name in by_remainder:
            if remaining > 0 and counts[name] < high[name]:
                counts[name] += 1
                remaining -= 1
    return counts


def total_variation(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """Half the sum of the differences of two distributions given as masses: 0 equal, 1 disjoint."""
    names = first.keys() | second.keys()
    first_total, second_total = sum(first.values()) or 1.0, sum(second.values()) or 1.0
    return (
        sum(abs(first.get(n, 0.0) / first_total - second.get(n, 0.0) / second_total) for n in names)
        / 2
    )
