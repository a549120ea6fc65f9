"""How far two judges agree, and how often one is right: figures with their intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import norm

_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with the ends of its two-sided interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two judges on the same `n` items. `kappa` is None where chance alone would agree always."""

    n: int
    observed: Interval
    expected: float
    kappa: Interval | None


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Given labels against the true ones; `baseline` is what the commonest true label would get.

    `beats_baseline`: the lower end of the accuracy lies above the baseline's share.
    `confusion` holds (true, given, count) for every pair that occurs, sorted.
    """

    n: int
    right: int
    accuracy: Interval
    majority: str
    baseline: Interval
    beats_baseline: bool
    confusion: tuple[tuple[str, str, int], ...]


def wilson(successes: int, n: int, level: float = 0.95) -> Interval:
    """A share with its Wilson score interval (Wilson 1927); 0 to 1 where nothing was seen."""
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is no share")
    if n == 0:
        return Interval(0.0, 0.0, 1.0)
    z = _quantile(level)
    share = successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return _interval(share, middle - half, middle + half, 0.0)


def agreement(first: Sequence[str], second: Sequence[str], level: float = 0.95) -> Agreement:
    """Cohen's kappa with its asymptotic interval (Fleiss, Cohen, Everitt 1969, eq. 8).

    Raises ValueError where the judges did not see equally many items, or none.
    """
    n = _same_length(first, second)
    rows, columns = Counter(first), Counter(second)
    pairs = Counter(zip(first, second, strict=True))
    same = sum(count for (one, two), count in pairs.items() if one == two)
    by_chance = sum(rows[label] * columns[label] for label in rows) / (n * n)
    observed = wilson(same, n, level)
    expected = round(by_chance, _DIGITS)
    if same * 1.0 / n == 1.0 and by_chance == 1.0:
        return Agreement(n, observed, expected, None)
    kappa = (same / n - by_chance) / (1 - by_chance)
    half = _quantile(level) * math.sqrt(_variance(pairs, rows, columns, n))
    return Agreement(n, observed, expected, _interval(kappa, kappa - half, kappa + half, -1.0))


def weighted_kappa(pairs: Sequence[tuple[int, int]]) -> float | None:
    """Cohen's kappa with quadratic weights (Cohen 1968) of two judges' scores on the same items.

    None where both gave every item the same score. Raises ValueError where there is no item.
    """
    if not pairs:
        raise ValueError("no pairs of scores: at least one")
    first, second = zip(*pairs, strict=True)
    apart = sum((one - two) ** 2 for one, two in pairs) / len(pairs)
    by_chance = sum((one - two) ** 2 for one in first for two in second) / len(pairs) ** 2
    return round(1 - apart / by_chance, _DIGITS) if by_chance else None


def _variance(
    pairs: Counter[tuple[str, str]], rows: Counter[str], columns: Counter[str], n: int
) -> float:
    """The large-sample variance of kappa, kappa not taken to be 0."""
    observed = sum(count for (one, two), count in pairs.items() if one == two) / n
    expected = sum(rows[label] * columns[label] for label in rows) / (n * n)
    free = 1 - expected
    on = sum(
        pairs[(label, label)]
        / n
        * (free - (rows[label] + columns[label]) / n * (1 - observed)) ** 2
        for label in rows
    )
    off = (1 - observed) ** 2 * sum(
        count / n * ((columns[one] + rows[two]) / n) ** 2
        for (one, two), count in pairs.items()
        if one != two
    )
    rest = (observed * expected - 2 * expected + observed) ** 2
    # rounded: the order in which labels are summed must not show
    return max(0.0, round(on + off - rest, 12)) / (free**4 * n)


def accuracy(true: Sequence[str], given: Sequence[str], level: float = 0.95) -> Accuracy:
    """How often the given labels are the true ones, beside the majority class.

    Raises ValueError where there are not equally many of both, or none.
    """
    n = _same_length(true, given)
    counts = Counter(true)
    majority = min(counts, key=lambda label: (-counts[label], label))
    right = sum(one == two for one, two in zip(true, given, strict=True))
    share = wilson(right, n, level)
    baseline = wilson(counts[majority], n, level)
    pairs = Counter(zip(true, given, strict=True))
    return Accuracy(
        n=n,
        right=right,
        accuracy=share,
        majority=majority,
        baseline=baseline,
        beats_baseline=share.low > baseline.value,
        confusion=tuple((*pair, count) for pair, count in sorted(pairs.items())),
    )


def _same_length(first: Sequence[str], second: Sequence[str]) -> int:
    if len(first) != len(second) or not first:
        raise ValueError(f"{len(first)} labels against {len(second)}: equally many, at least one")
    return len(first)


def _quantile(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level {level} is not between 0 and 1")
    return float(norm.ppf(0.5 + level / 2))


def _interval(value: float, low: float, high: float, least: float) -> Interval:
    ends = (value, max(least, low), min(1.0, high))
    return Interval(*(round(end, _DIGITS) for end in ends))
