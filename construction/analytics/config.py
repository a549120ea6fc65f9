"""Settings of the analytics lane in a build."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from construction.analytics.contracts import Split
from construction.analytics.environment.declaration import IGNORABLE, Noise
from construction.judging.consensus import ConsensusConfig
from data.contracts import Share, StageConfig

Variant = Literal["raw", "cleaned", "guided"]


def _ignorable(noise: Noise) -> Noise:
    if noise not in IGNORABLE:
        raise ValueError(f"found {noise}; expected one of {', '.join(IGNORABLE)}")
    return noise


IgnorableNoise = Annotated[Noise, AfterValidator(_ignorable)]


class AnalyticsRecipe(StageConfig):
    """Which variant agents get, and how many tasks must depend on its noise.

    `noisy`: the minimum share of tasks whose answer changes if some noise is ignored; `noise`: the
    minimum share per kind of noise. Candidates that would put these shares out of reach are
    rejected, so a set may be smaller than requested, but never short of noise. `splits`: which
    tasks to make from templates: those that ask for three results or more (`full`), and easy ones
    (`smoke`).

    `quotas`: how many tasks to make per category: as the environment declares (`declared`), or the
    same total distributed by the weights from the signals lane (`signals`; `families.toml` says
    which category serves which family). `per_template`: how many tasks one template may make, for
    example as many as a release takes. `consensus`: who answers each task in addition to the gates:
    `executor`, and models by name. If they do not agree, people decide (`agents review`); without
    annotators, nobody is asked.
    """

    variant: Variant = "raw"
    splits: Annotated[tuple[Split, ...], Field(min_length=1)] = ("full", "smoke")
    noisy: Share = 0.3
    quotas: Literal["declared", "signals"] = "declared"
    per_template: Annotated[int, Field(gt=0)] | None = None
    noise: Mapping[IgnorableNoise, Share] = Field(default_factory=dict)
    consensus: ConsensusConfig = ConsensusConfig()
