"""How strongly the size of a branch counts when a child is chosen (FinRetrieval, sampling)."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Damping(StrEnum):
    """The weight of a child that holds n series.

    `none`: n, so that every series is as likely as any other. `sqrt`: √n. `log`: log(n + 1).
    `loglog`: log(1 + log(n + 1)). `sqrtlog`: √log(n + 1), the seed's rule. All logarithms are
    natural, and of n + 1, so that a single series keeps a positive weight.
    """

    NONE = "none"
    SQRT = "sqrt"
    LOG = "log"
    LOGLOG = "loglog"
    SQRTLOG = "sqrtlog"


def damped(counts: Ints, damping: Damping) -> Floats:
    """The weights of children that hold `counts` (≥ 0) series; 0 for an empty one."""
    n = counts.astype(np.float64)
    if damping is Damping.NONE:
        return n
    if damping is Damping.SQRT:
        return np.sqrt(n)
    if damping is Damping.LOG:
        return np.log1p(n)
    if damping is Damping.LOGLOG:
        return np.log1p(np.log1p(n))
    return np.sqrt(np.log1p(n))
