"""Density clustering on cosine distance (DBSCAN; Ester, Kriegel, Sander, Xu 1996).

Rows must come in a fixed order (sorted by slug): then the clusters depend on the set alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from construction.signals.config import ClusterConfig
from construction.signals.embedding import Vectors, cosine

NOISE = -1
_BLOCK = 2048  # rows compared at once: memory stays below _BLOCK * n * 8 bytes


def cluster(vectors: Vectors, config: ClusterConfig) -> NDArray[np.int64]:
    """The cluster of each unit vector, numbered by first member; `NOISE` for sparse places.

    Core: at least `neighbours` rows (itself included) within `radius`. Cores within `radius` of
    each other share a cluster; another row joins its nearest core within `radius` (the first of
    equals), if there is one.
    """
    near = _near(vectors, 1.0 - config.radius)
    is_core = np.diff(near.indptr) >= config.neighbours
    labels = np.full(len(vectors), NOISE, dtype=np.int64)
    cores = np.flatnonzero(is_core)
    if len(cores) == 0:
        return labels
    _, parts = connected_components(near[cores][:, cores], directed=False)
    labels[cores] = parts
    for row in np.flatnonzero(~is_core):
        reach = near[[row]][:, cores].tocoo()
        if reach.nnz:
            nearest = max(zip(reach.data, -reach.coords[1], strict=True))
            labels[row] = parts[-nearest[1]]
    return _renumbered(labels)


def _near(vectors: Vectors, least: float) -> sparse.csr_array:
    blocks = []
    for start in range(0, len(vectors), _BLOCK):
        similarity = cosine(vectors[start : start + _BLOCK], vectors)
        blocks.append(sparse.csr_array(np.where(similarity >= round(least, 9), similarity, 0.0)))
    return sparse.csr_array(sparse.vstack(blocks)) if blocks else sparse.csr_array((0, 0))


def _renumbered(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    seen: dict[int, int] = {NOISE: NOISE}
    for label in labels.tolist():
        seen.setdefault(label, len(seen) - 1)
    return np.array([seen[label] for label in labels.tolist()], dtype=np.int64)
