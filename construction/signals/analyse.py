"""The analysis of signals: assignment to patterns, masses, and families of candidate tasks.

Pure except for the sentence encoder.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from construction.signals.assign import (
    NOISE,
    Assignment,
    ClusterName,
    abstaining,
    anchor_similarity,
    assign,
    cluster,
    name_clusters,
)
from construction.signals.codebook import UNCATEGORIZED, Codebook, default_codebook
from construction.signals.collect.fields import last_name
from construction.signals.config import SignalsConfig
from construction.signals.crosswalk import default_crosswalk
from construction.signals.embedding import Encode, Vectors, encode_multilingual
from construction.signals.matching import evidence, find_cues, hits_by_pattern
from construction.signals.weights import Mixture, mixture
from data.contracts import Candidate, Label, Signal, SignalProvenance
from data.errors import ConfigError

_EMBEDDED_NAME = 100  # characters of a name, and of a summary: trigger lists follow
_EMBEDDED_CHARS = 400


@dataclass(frozen=True, slots=True)
class SignalAnalysis:
    """The assignments of a set of signals, sorted by slug, with clusters, mixture and codebook."""

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

    Raises ConfigError if a slug is repeated or a signal lacks the declared popularity measure.
    """
    return analyse_days([signals], config, codebook, encode)[0]


def analyse_days(
    days: Sequence[Sequence[Signal]],
    config: SignalsConfig,
    codebook: Codebook | None = None,
    encode: Encode = encode_multilingual,
) -> list[SignalAnalysis]:
    """The analysis of each day, on one scale: a text is assigned once, among those of all days.

    Weights then differ between days by counts and texts alone. `clusters` are those of all days.
    """
    book = codebook or default_codebook()
    ordered = [sorted(signals, key=_text) for signals in days]
    for signals in ordered:
        _check(signals, config)
    texts = {_text(signal): signal for signals in ordered for signal in signals}
    distinct = [texts[text] for text in sorted(texts)]
    assignments, clusters = _assigned(distinct, config, book, encode)
    known = dict(zip(sorted(texts), assignments, strict=True))
    analyses = []
    for signals in ordered:
        own = tuple(known[_text(signal)] for signal in signals)
        masses = {signal.slug: float(signal.popularity[config.measure]) for signal in signals}
        analyses.append(SignalAnalysis(own, clusters, mixture(own, masses, book, config), book))
    return analyses


def _text(signal: Signal) -> tuple[str, str, str]:
    return signal.slug, signal.name, signal.summary


def _assigned(
    ordered: Sequence[Signal], config: SignalsConfig, book: Codebook, encode: Encode
) -> tuple[list[Assignment], tuple[ClusterName, ...]]:
    """The assignments of signals in their order, and the clusters that they form."""
    vectors = encode([_embedded(signal) for signal in ordered])
    similarity = _similarity(vectors, book, encode)
    patterns = list(book.patterns)
    labels = cluster(vectors, config.clusters)
    names = name_clusters(labels, similarity, patterns)
    assignments = []
    for signal, near, label in zip(ordered, similarity.tolist(), labels.tolist(), strict=True):
        hits = find_cues(_fields(signal), book, config.matching)
        assignment = assign(
            signal.slug,
            hits_by_pattern(hits),
            evidence(hits),
            dict(zip(patterns, near, strict=True)),
            None if label == NOISE else names[label],
            config.scoring,
        )
        assignments.append(assignment if signal.summary else abstaining(assignment))
    return assignments, tuple(names)


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
    return text.encode("utf-8", "replace").decode()  # the encoder accepts no unpaired surrogates


def _fields(signal: Signal) -> dict[str, str]:
    return {"slug": last_name(signal.slug), "name": signal.name, "summary": signal.summary}


def _check(ordered: Sequence[Signal], config: SignalsConfig) -> None:
    for signal, following in pairwise(ordered):
        if signal.slug == following.slug:
            raise ConfigError(
                f"signals: the slug {signal.slug!r} occurs twice. Analyse one snapshot at a time."
            )
    lacking = sum(config.measure not in signal.popularity for signal in ordered)
    if lacking:
        raise ConfigError(
            f"signals: {lacking} of {len(ordered)} have no {config.measure.value}. Choose a "
            "measure that the source provides for every skill."
        )


_NO_DATE = dt.date(1970, 1, 1)  # a task is not a market signal and belongs to no snapshot


def with_families(candidates: Sequence[Candidate], config: SignalsConfig) -> list[Candidate]:
    """The candidates with task family and display group, where the codebook has one.

    The request of a candidate is analysed like a signal. A family that a lane has already
    assigned stays. The label's confidence is the score of the best pattern; its reason names the
    patterns.
    """
    unknown = [candidate for candidate in candidates if candidate.task_family is None]
    if not unknown:
        return list(candidates)
    analysis = analyse([_as_signal(candidate, config) for candidate in unknown], config)
    crosswalk, labels = default_crosswalk(), {}
    for assignment in analysis.assignments:
        shares = assignment.families(analysis.codebook)
        known = {family: share for family, share in shares.items() if family != UNCATEGORIZED}
        family = crosswalk.task_family(known)
        if family is not None:
            patterns = ", ".join(share.pattern for share in assignment.shares)
            confidence = round(min(1.0, assignment.shares[0].score), 9)
            labels[assignment.slug] = Label(value=family, confidence=confidence, reason=patterns)
    return [_labelled(candidate, labels.get(candidate.task_id)) for candidate in candidates]


def _as_signal(candidate: Candidate, config: SignalsConfig) -> Signal:
    provenance = SignalProvenance(candidate.provenance.source, _NO_DATE)
    popularity = {config.measure: 1}
    return Signal(candidate.task_id, "", candidate.prompt, None, popularity, (), provenance)


def _labelled(candidate: Candidate, label: Label | None) -> Candidate:
    if label is None or candidate.task_family is not None:
        return candidate
    group = default_crosswalk().display_group(label.value)
    return candidate.model_copy(update={"task_family": label, "display_group": group})
