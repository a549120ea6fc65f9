"""Assigns signals to patterns by a score of cues, anchors and clusters.

score = cue_weight · evidence of the cues
      + anchor_weight · similarity to the pattern's nearest anchors, scaled to 0 … 1
      + cluster_weight · (1 if the signal's cluster is named after the pattern, else 0)

Clusters: density clustering on cosine distance (DBSCAN; Ester, Kriegel, Sander, Xu 1996). Rows must
come in a fixed order (sorted by slug); then the clusters depend only on the set of signals.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from math import fsum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from construction.signals.codebook import UNCATEGORIZED, Codebook
from construction.signals.config import ClusterConfig, ScoringConfig
from construction.signals.matching import CueHit, Vectors, cosine, without_exclusions
from data.contracts import Signal
from data.text.folding import plain_form
from data.text.lexicon import load_table

if TYPE_CHECKING:
    from scipy import sparse


NOISE = -1
_BLOCK = 2048  # rows compared at once: memory stays below _BLOCK * n * 8 bytes


def cluster(vectors: Vectors, config: ClusterConfig) -> NDArray[np.int64]:
    """The cluster of each unit vector, numbered by first member; `NOISE` outside clusters.

    A core has at least `neighbours` rows (itself included) within `radius`. Cores within `radius`
    of each other share a cluster; any other row joins its nearest core within `radius` (of equally
    near ones the first), if there is one.
    """

    from scipy.sparse.csgraph import connected_components

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
    from scipy import sparse

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


_NEAREST = 2  # anchors per pattern: a single one may be near by chance


@dataclass(frozen=True, slots=True)
class _PatternShare:
    """A pattern's share of a signal, with its evidence.

    The shares of a signal sum to 1. `cues`, `similarity` (mean cosine to the pattern's two nearest
    anchors) and `in_cluster` are the three terms of `score` before weighting.
    """

    pattern: str
    share: float
    score: float
    cues: float
    similarity: float
    in_cluster: bool
    hits: tuple[CueHit, ...]


@dataclass(frozen=True, slots=True)
class Assignment:
    """A signal's patterns, best first; a single share of `uncategorized` if none scored enough.

    `cluster` is the number of its density cluster (None: noise). `nearest` is the pattern with the
    nearest anchors, with or without a share. `is_told`: the source says what the skill does; of one
    without a summary nothing is sure.
    """

    slug: str
    shares: tuple[_PatternShare, ...]
    cluster: int | None
    nearest: str
    nearest_similarity: float
    is_told: bool = True

    @property
    def pattern(self) -> str:
        """The pattern with the largest share."""
        return self.shares[0].pattern

    def families(self, codebook: Codebook) -> dict[str, float]:
        """Shares by family, largest first, equals by name."""
        sums: defaultdict[str, float] = defaultdict(float)
        for share in self.shares:
            sums[codebook.family_of(share.pattern)] += share.share
        rounded = {family: round(total, 9) for family, total in sums.items()}
        return dict(sorted(rounded.items(), key=lambda item: (-item[1], item[0])))

    def family(self, codebook: Codebook) -> str:
        """The family with the largest share."""
        return next(iter(self.families(codebook)))

    def sure_family(self, codebook: Codebook, least: float) -> str | None:
        """The family with the largest share; None if that is below `least`, or uncategorized.

        None also for a skill without a summary: its name alone decides nothing.
        """
        family, share = next(iter(self.families(codebook).items()))
        return family if self.is_told and share >= least and family != UNCATEGORIZED else None


@dataclass(frozen=True, slots=True)
class ClusterName:
    """A cluster: the pattern whose anchors are nearest to its members on average."""

    cluster: int
    pattern: str
    similarity: float
    size: int


def anchor_similarity(vectors: Vectors, anchors: Vectors, owners: Sequence[int]) -> Vectors:
    """Mean cosine to each pattern's `_NEAREST` nearest anchors, shape (signals, patterns).

    `owners` gives the number of each anchor's pattern; the numbers are consecutive from 0.
    """
    owner = np.asarray(owners)
    similarity = cosine(vectors, anchors)
    columns = [
        np.sort(similarity[:, owner == pattern], axis=1)[:, -_NEAREST:].mean(axis=1)
        for pattern in range(int(owner.max()) + 1)
    ]
    mean: Vectors = np.round(np.stack(columns, axis=1), 9)
    return mean


def name_clusters(
    labels: NDArray[np.int64], similarity: Vectors, patterns: Sequence[str]
) -> list[ClusterName]:
    """Name each cluster after the pattern with the highest mean similarity to its members."""
    names = []
    for number in range(int(labels.max(initial=NOISE)) + 1):
        members = labels == number
        mean = np.round(similarity[members].mean(axis=0), 9)
        best = int(np.argmax(mean))
        names.append(ClusterName(number, patterns[best], float(mean[best]), int(members.sum())))
    return names


def assign(
    slug: str,
    hits: Mapping[str, Sequence[CueHit]],
    cues: Mapping[str, float],
    similarity: Mapping[str, float],
    cluster: ClusterName | None,
    config: ScoringConfig,
) -> Assignment:
    """The patterns of one signal with their shares and evidence."""
    scored = [
        _score(pattern, hits.get(pattern, ()), cues.get(pattern, 0.0), near, cluster, config)
        for pattern, near in similarity.items()
    ]
    scored.sort(key=lambda share: (-share.score, share.pattern))
    nearest = max(similarity, key=lambda pattern: (similarity[pattern], pattern))
    number = cluster.cluster if cluster else None
    return Assignment(slug, _shared(scored, config), number, nearest, similarity[nearest])


def abstaining(assignment: Assignment) -> Assignment:
    """The assignment of a skill without a summary: by the cues of its name, else uncategorized."""
    has_cues = any(share.cues for share in assignment.shares)
    best = assignment.shares[0]
    nothing = _PatternShare(UNCATEGORIZED, 1.0, best.score, 0.0, best.similarity, False, ())
    shares = assignment.shares if has_cues else (nothing,)
    return replace(assignment, shares=shares, is_told=False)


def _score(
    pattern: str,
    hits: Sequence[CueHit],
    cues: float,
    similarity: float,
    cluster: ClusterName | None,
    config: ScoringConfig,
) -> _PatternShare:
    span = config.similarity_full - config.similarity_none
    near = min(1.0, max(0.0, (similarity - config.similarity_none) / span))
    in_cluster = cluster is not None and cluster.pattern == pattern
    score = (
        config.cue_weight * cues
        + config.anchor_weight * near
        + config.cluster_weight * float(in_cluster)
    )
    return _PatternShare(pattern, 0.0, round(score, 9), cues, similarity, in_cluster, tuple(hits))


def _shared(scored: Sequence[_PatternShare], config: ScoringConfig) -> tuple[_PatternShare, ...]:
    best = scored[0].score
    if best < config.least_score:
        return (_PatternShare(UNCATEGORIZED, 1.0, best, 0.0, scored[0].similarity, False, ()),)
    kept = [one for one in scored if one.score >= config.keep * best][: config.max_patterns]
    powers = [one.score**config.sharpness for one in kept]
    parts = [round(power / sum(powers), 9) for power in powers]
    parts[0] = round(1.0 - sum(parts[1:]), 9)  # so that they sum to 1 after rounding
    return tuple(
        _PatternShare(o.pattern, part, o.score, o.cues, o.similarity, o.in_cluster, o.hits)
        for o, part in zip(kept, parts, strict=True)
    )


# What skills need that no closed workspace can give, by their names and summaries.
#
# Where most of a pattern's mass needs an account of a person, or gives what no grader can judge,
# tasks without a controlled service in its place cannot be built: nobody has to look for one.


class Need(StrEnum):
    """What a skill needs; the value is the name of its words in `needs.toml`."""

    ACCOUNT = "account"
    NO_GRADER = "no_grader"


def _needs_of(signal: Signal) -> frozenset[Need]:
    """What the name and the summary of a skill say that it needs."""
    text = plain_form(without_exclusions(f"{signal.name}. {signal.summary}"))
    return frozenset(need for need in Need if _words(need).search(text))


def needs_by_pattern(
    signals: Sequence[Signal], assignments: Sequence[Assignment], masses: Mapping[str, float]
) -> dict[str, dict[str, float]]:
    """Pattern -> need -> the share (0 to 1) of the pattern's mass whose skills have this need.

    A signal of several patterns counts in each by its share. Patterns without mass are left out.
    """
    needs = {signal.slug: _needs_of(signal) for signal in signals}
    parts: dict[str, list[tuple[float, str]]] = {}
    for assignment in assignments:
        for share in assignment.shares:
            mass = share.share * masses[assignment.slug]
            parts.setdefault(share.pattern, []).append((mass, assignment.slug))
    totals = {pattern: fsum(mass for mass, _ in of) for pattern, of in parts.items()}
    return {
        pattern: {
            need.value: round(
                fsum(mass for mass, slug in of if need in needs[slug]) / totals[pattern], 9
            )
            for need in Need
        }
        for pattern, of in sorted(parts.items())
        if totals[pattern] > 0
    }


@cache
def _words(need: Need) -> re.Pattern[str]:
    """The words of a need; those of ASCII letters stand whole."""
    listed = map(plain_form, load_table(__package__, "needs.toml")[need.value])
    parts = [rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word) for word in listed]
    return re.compile("|".join(parts))
