"""How far two raters agree: a judge with another judge, or with people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True, slots=True)
class Agreement:
    """Spearman's ρ, the mean absolute error and Cohen's κ; None where undefined."""

    n: int
    spearman: float | None
    mean_error: float | None
    kappa: float | None


def agreement(
    first: Sequence[float],
    second: Sequence[float],
    classes: tuple[Sequence[Hashable], Sequence[Hashable]] | None = None,
) -> Agreement:
    """The agreement of two raters' scores of the same packets.

    `classes`: the same packets as both put them into classes (passed or not), for κ.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    varied = len(a) > 1 and bool(np.ptp(a)) and bool(np.ptp(b))
    rho = float(stats.spearmanr(a, b).statistic) if varied else None
    error = float(np.abs(a - b).mean()) if len(a) else None
    return Agreement(len(a), rho, error, cohens_kappa(*classes) if classes else None)


def cohens_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """(observed - expected) / (1 - expected) agreement (Cohen, Educ. Psychol. Meas. 20, 1960).

    None without packets, and where both put all into one class: nothing can be expected then.
    """
    n = len(first)
    if n == 0:
        return None
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    counts, others = Counter(first), Counter(second)
    expected = sum(counts[label] * others[label] for label in counts) / n**2
    return None if expected == 1 else (observed - expected) / (1 - expected)
