"""How well texts fit a query, by RapidFuzz, rounded so that no float noise orders results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

Scores = NDArray[np.float64]
# What it is worth, against equality, that a text holds the query as a phrase, or its words in
# any order, or something like it in any place. Equality itself breaks the ties.
_PHRASE, _WORDS, _PART = 0.88, 0.8, 0.72
_CLOSENESS = 0.1
_SHORTEST_PART = 4
_SHORTEST_WIDE_PART = 2  # two characters of Japanese say as much as a word


def similarity(query: str, texts: Sequence[str]) -> Scores:
    """0 to 100 for each folded text: the same, the same words, or a text that holds the query."""
    if not query or not texts:
        return np.zeros(len(texts))
    equal = closeness(query, texts)
    whole = np.maximum(equal, _score(query, texts, fuzz.token_sort_ratio))
    loose = np.maximum(
        _PHRASE * _phrases(query, texts), _WORDS * _score(query, texts, fuzz.token_set_ratio)
    )
    if len(query) >= (_SHORTEST_PART if query.isascii() else _SHORTEST_WIDE_PART):
        # The query within the text only: a short name within a long query is chance.
        longer = np.array([len(text) >= len(query) for text in texts])
        part = np.where(longer, _score(query, texts, fuzz.partial_ratio), 0.0)
        loose = np.maximum(loose, _PART * part)
    found = loose + np.where(loose > 0, _CLOSENESS * equal, 0.0)
    best: Scores = np.maximum(whole, found).round(1)
    return best


def closeness(query: str, texts: Sequence[str]) -> Scores:
    """0 to 100 for each folded text: how much of the two is the same, character by character."""
    return _score(query, texts, fuzz.ratio) if texts else np.zeros(0)


def _phrases(query: str, texts: Sequence[str]) -> Scores:
    """100 where the text holds the query between blanks, or anywhere if it is no ASCII."""
    edge = " " if query.isascii() else ""
    phrase = f"{edge}{query}{edge}"
    return np.array([100.0 if phrase in f"{edge}{text}{edge}" else 0.0 for text in texts])


def _score(query: str, texts: Sequence[str], scorer: Any) -> Scores:
    scores: Scores = process.cdist([query], texts, scorer=scorer, dtype=np.float64)[0]
    return scores
