"""The arrays of the sampler, and the weights of children that hold many series."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from selection.sampling.config import Damping

Floats = NDArray[np.float64]


Ints = NDArray[np.int64]


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
