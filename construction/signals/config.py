"""Settings of the signals lane. Part of the recipe."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from data.contracts import Count, Popularity, Share, StageConfig


class Counting(StrEnum):
    """How a signal with several patterns counts: its mass is shared out, or counts in each."""

    FRACTIONAL = "fractional"
    FULL = "full"


class MatchingConfig(StageConfig):
    """How much one cue says, by strength and by where it stands.

    A cue's evidence is its strength times the weight of its place. `title` is that of the name and
    the slug. In the summary it falls from `opening` to `rest` over the first `fades` letters:
    people say first what a thing is for. Text in brackets, the means ("via …", "powered by …") and
    lists of examples count for `aside` of their place; what a text excludes counts 0.
    """

    strong: Share = 0.6
    weak: Share = 0.2
    title: Share = 0.5
    opening: Share = 1.0
    rest: Share = 0.2
    fades: Annotated[int, Field(gt=0)] = 150
    aside: Share = 0.5
    max_chars: Annotated[int, Field(gt=0)] = 2000  # of a summary; the rest is not read


class ScoringConfig(StageConfig):
    """score = cue_weight · cues + anchor_weight · similarity + cluster_weight · cluster.

    The similarity to the nearest anchors is scaled: `similarity_none` and less is 0,
    `similarity_full` and more is 1. A signal whose best score is under `least_score` is
    uncategorized. Patterns with at least `keep` of the best score share the mass, at most
    `max_patterns`, in proportion to score ** `sharpness`.
    """

    cue_weight: Share = 0.6
    anchor_weight: Share = 0.3
    cluster_weight: Share = 0.1
    similarity_none: Share = 0.1
    similarity_full: Share = 0.6
    least_score: Share = 0.15
    keep: Share = 0.6
    max_patterns: Annotated[int, Field(gt=0)] = 3
    sharpness: Annotated[float, Field(gt=0)] = 2.0


class ClusterConfig(StageConfig):
    """Density clustering: cosine distance and the neighbours (itself included) of a core signal."""

    radius: Annotated[float, Field(gt=0, lt=1)] = 0.4
    neighbours: Annotated[int, Field(gt=0)] = 3


class GapConfig(StageConfig):
    """Limits of weight minus share, in percentage points.

    From `act` on PRIORITY or REDUCE, from `mind` on ADD or TRIM.
    """

    act: Annotated[float, Field(gt=0)] = 5.0
    mind: Annotated[float, Field(gt=0)] = 2.0


class SignalsConfig(StageConfig):
    """One analysis of a snapshot: the popularity that is the mass, and how it is shared out."""

    measure: Popularity = Popularity.DOWNLOADS
    counting: Counting = Counting.FRACTIONAL
    matching: MatchingConfig = MatchingConfig()
    scoring: ScoringConfig = ScoringConfig()
    clusters: ClusterConfig = ClusterConfig()
    gap: GapConfig = GapConfig()
    ideas: Count = 120  # seed ideas to apportion over the patterns
    max_ideas: Annotated[int, Field(gt=0)] = 12  # for one pattern
