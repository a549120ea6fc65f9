"""Settings of the signals lane: the analysis and collection (recipe), the registry (runtime)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from data.contracts import Count, Popularity, Share, StageConfig
from data.errors import ConfigError


class Counting(StrEnum):
    """How a signal with several patterns counts: its mass is divided, or counts in full in each."""

    FRACTIONAL = "fractional"
    FULL = "full"


class MatchingConfig(StageConfig):
    """The weight of a cue, by its strength and its position in the text.

    A cue's evidence is its strength times its position's weight. `title` is the weight in the name
    and the slug. In the summary, the weight falls from `opening` to `rest` over the first `fades`
    characters, because people start by saying what a thing is for. In brackets, after the means
    ("via …", "powered by …") and in lists of examples, the weight is multiplied by `aside`; in text
    about what is excluded, it is 0.
    """

    strong: Share = 0.6
    weak: Share = 0.2
    title: Share = 0.5
    opening: Share = 1.0
    rest: Share = 0.2
    fades: Annotated[int, Field(gt=0)] = 150
    aside: Share = 0.5
    max_chars: Annotated[int, Field(gt=0)] = 2000  # of a summary that are read; the rest is ignored


class ScoringConfig(StageConfig):
    """score = cue_weight · cues + anchor_weight · similarity + cluster_weight · cluster.

    The similarity to the nearest anchors is scaled so that `similarity_none` or less becomes 0 and
    `similarity_full` or more becomes 1. A signal whose best score is below `least_score` is
    uncategorized. At most `max_patterns` patterns, each with at least `keep` times the best score,
    share the mass in proportion to score ** `sharpness`. A signal's main family is sure if its
    share is at least `least_main_share`.
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
    least_main_share: Share = 0.7


class ClusterConfig(StageConfig):
    """Density clustering: a core signal has `neighbours` signals (itself included) within `radius`.

    `radius` is a cosine distance.
    """

    radius: Annotated[float, Field(gt=0, lt=1)] = 0.4
    neighbours: Annotated[int, Field(gt=0)] = 3


class GapConfig(StageConfig):
    """Thresholds for weight minus share, in percentage points.

    A difference of at least `act` means PRIORITY or REDUCE, and one of at least `mind` means ADD or
    TRIM.
    """

    act: Annotated[float, Field(gt=0)] = 5.0
    mind: Annotated[float, Field(gt=0)] = 2.0


class SignalsConfig(StageConfig):
    """How to analyse a snapshot: the popularity measure used as mass, and how to divide it."""

    measure: Popularity = Popularity.DOWNLOADS
    counting: Counting = Counting.FRACTIONAL
    matching: MatchingConfig = MatchingConfig()
    scoring: ScoringConfig = ScoringConfig()
    clusters: ClusterConfig = ClusterConfig()
    gap: GapConfig = GapConfig()
    ideas: Count = 120  # seed ideas to distribute over the patterns
    max_ideas: Annotated[int, Field(gt=0)] = 12  # per pattern


_SOURCE_NAME = r"^[a-z0-9]+(?:[._-][a-z0-9]+)*$"
_MAX_SOURCE_NAME = 64


class SourceKind(StrEnum):
    """The shapes in which sources answer (`collect/sources.toml`)."""

    CLAWHUB = "clawhub"
    SKILLS_SH = "skills_sh"
    SMITHERY = "smithery"
    MCP = "mcp"
    MARKETPLACE = "marketplace"


class _FieldName(StrEnum):
    """What can be read of a listed skill besides its counts."""

    SLUG = "slug"
    NAME = "name"
    SUMMARY = "summary"
    OWNER = "owner"
    TAGS = "tags"
    URL = "url"
    RANK = "rank"
    CREATED_AT = "created_at"


Fields = Mapping[_FieldName | Popularity, str | tuple[str, ...]]


class CollectConfig(StageConfig):
    """What to collect: a snapshot has the `top` signals by `measure`, or all of them if it is not
    set.

    `kind` is the source's format: `clawhub`, `skills_sh`, `smithery`, `mcp` or `marketplace`.
    `fields` declares the columns of any other table or list, such as `{slug = "repo", stars =
    "stargazers"}`: a dotted name leads into objects, several names are joined by "/", and only
    declared columns are read.
    """

    kind: SourceKind = SourceKind.CLAWHUB
    measure: Popularity = Popularity.DOWNLOADS
    top: Annotated[int, Field(ge=1, le=100_000)] | None = 500
    fields: Fields = Field(default_factory=dict)

    @field_validator("fields")
    @classmethod
    def _usable(cls, value: Fields) -> Fields:
        counts = [name for name in value if name in set(Popularity)]
        if value and (_FieldName.SLUG not in value or not counts):
            raise ValueError(f"expected slug and one of {', '.join(Popularity)}")
        return value


class SignalsRecipe(StageConfig):
    """Signals: the registry, which of its signals to use, and how to analyse them."""

    source: str = "registry"
    collect: CollectConfig = CollectConfig()
    analysis: SignalsConfig = SignalsConfig()


class RegistryConfig(StageConfig):
    """The registry's address and limits for requests to it; runtime settings.

    `base_url` is set by the operator and may be a loopback address; without one, no requests are
    made. `timeout` limits one response from connection to last byte, and `max_retry_after` the
    pause that a registry may request, both in seconds. With `details`, the detail page is read for
    each skill whose owner is not in the listing.
    """

    source: Annotated[str, Field(pattern=_SOURCE_NAME, max_length=_MAX_SOURCE_NAME)] = "registry"
    base_url: str = ""
    page_size: Annotated[int, Field(ge=1, le=200)] = 100
    details: bool = True
    requests_per_second: Annotated[float, Field(gt=0, le=100)] = 2.0
    attempts: Annotated[int, Field(ge=1, le=20)] = 5
    backoff: Annotated[float, Field(ge=0, le=60)] = 1.0
    max_retry_after: Annotated[float, Field(ge=0, le=3600)] = 120.0
    timeout: Annotated[float, Field(gt=0, le=600)] = 30.0
    max_answer_bytes: Annotated[int, Field(ge=1024)] = 8 * 1024 * 1024
    max_pages: Annotated[int, Field(ge=1)] = 1000

    @field_validator("base_url")
    @classmethod
    def _plain_address(cls, value: str) -> str:
        """Accept http(s) with a host and perhaps a path; a configuration holds no credentials."""
        if not value:
            return value
        parts = urlsplit(value)
        plain = value.isascii() and value.isprintable() and " " not in value
        if parts.scheme not in ("http", "https") or not parts.hostname or not plain:
            raise ValueError("expected http://host or https://host, with or without a path")
        if parts.port == 0 or parts.username is not None or parts.query or parts.fragment:
            raise ValueError("expected no user, query or fragment, and a port above 0")
        return value.rstrip("/")


def check_source(source: str) -> str:
    """`source` if it can name a directory of snapshots; raises ConfigError otherwise."""
    if len(source) > _MAX_SOURCE_NAME or not re.fullmatch(_SOURCE_NAME, source):
        raise ConfigError(
            f"source name of {len(source)} characters; expected at most {_MAX_SOURCE_NAME}: "
            "words of a-z and 0-9 with '.', '_' or '-' between them."
        )
    return source
