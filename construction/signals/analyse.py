"""The signals lane in one call: signals in, assignments and masses out. Pure but for the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from construction.signals.assign import (
    Assignment,
    ClusterName,
    anchor_similarity,
    assign,
    name_clusters,
)
from construction.signals.clustering import NOISE, cluster
from construction.signals.codebook import Codebook, default_codebook
from construction.signals.config import SignalsConfig
from construction.signals.embedding import Encode, Vectors, encode_multilingual
from construction.signals.matching import evidence, find_cues, hits_by_pattern
from construction.signals.weights import Mixture, mixture
from data.contracts import Signal
from data.errors import ConfigError

_EMBEDDED_NAME = 100  # characters of a name, and of a summary: trigger lists follow
_EMBEDDED_CHARS = 400


@dataclass(frozen=True, slots=True)
class SignalAnalysis:
    """What a set of signals asks for. Assignments are sorted by slug."""

    assignments: tuple[Assignment, ...]
    clusters: tuple[ClusterName, ...]
    mixture: Mixture
    codebook: Codebook


def analyse(
    signals: Sequence[Signal],
    config: SignalsConfig,
    codebook: Codebook | None = None,
    encode: Encode = encode_multilingual,
) -> SignalAnalysis:
    """Assign each signal to patterns and sum the masses; the order of `signals` does not matter.

    Raises ConfigError if a slug comes twice or a signal lacks the declared popularity.
    """
    book = codebook or default_codebook()
    ordered = sorted(signals, key=lambda signal: signal.slug)
    _check(ordered, config)
    vectors = encode([_embedded(signal) for signal in ordered])
    similarity = _similarity(vectors, book, encode)
    patterns = list(book.patterns)
    labels = cluster(vectors, config.clusters)
    names = name_clusters(labels, similarity, patterns)
    assignments = []
    for signal, near, label in zip(ordered, similarity.tolist(), labels.tolist(), strict=True):
        hits = find_cues(_fields(signal), book, config.matching)
        assignments.append(
            assign(
                signal.slug,
                hits_by_pattern(hits),
                evidence(hits),
                dict(zip(patterns, near, strict=True)),
                None if label == NOISE else names[label],
                config.scoring,
            )
        )
    masses = {signal.slug: float(signal.popularity[config.measure]) for signal in ordered}
    mixed = mixture(assignments, masses, book, config)
    return SignalAnalysis(tuple(assignments), tuple(names), mixed, book)


def _similarity(vectors: Vectors, book: Codebook, encode: Encode) -> Vectors:
    anchors = [
        (number, sentence)
        for number, pattern in enumerate(book.patterns.values())
        for sentence in pattern.anchors
    ]
    owners = [number for number, _ in anchors]
    return anchor_similarity(vectors, encode([sentence for _, sentence in anchors]), owners)


def _embedded(signal: Signal) -> str:
    text = f"{signal.name[:_EMBEDDED_NAME]}. {signal.summary[:_EMBEDDED_CHARS]}"
    return text.encode("utf-8", "replace").decode()  # a lone surrogate is no text for a model


def _fields(signal: Signal) -> dict[str, str]:
    return {"slug": signal.slug, "name": signal.name, "summary": signal.summary}


def _check(ordered: Sequence[Signal], config: SignalsConfig) -> None:
    for one, other in pairwise(ordered):
        if one.slug == other.slug:
            raise ConfigError(
                f"signals: the slug {one.slug!r} comes twice. Give one snapshot at a time."
            )
    lacking = sum(config.measure not in signal.popularity for signal in ordered)
    if lacking:
        raise ConfigError(
            f"signals: {lacking} of {len(ordered)} have no {config.measure.value}. "
            "Declare a measure that the source gives for every skill."
        )
