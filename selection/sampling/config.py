"""Settings of the sampler (`selection.sampling`), part of the recipe."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from data.contracts import Share, StageConfig

SEPARATOR = " | "


class Damping(StrEnum):
    """The weight of a child that holds n series.

    `none`: n, so that every series is as likely as any other. `sqrt`: √n. `log`: log(n + 1).
    `loglog`: log(1 + log(n + 1)). `sqrtlog`: √log(n + 1), the seed's rule. All logarithms are
    natural, and of n + 1, so that a single series keeps a positive weight.
    """

    NONE = "none"
    SQRT = "sqrt"
    LOG = "log"
    LOGLOG = "loglog"
    SQRTLOG = "sqrtlog"


class Design(StrEnum):
    """`without_replacement`: no unit twice, fixed size, systematic. `with_replacement`: independent
    draws."""

    WITHOUT_REPLACEMENT = "without_replacement"
    WITH_REPLACEMENT = "with_replacement"


class SamplingConfig(StageConfig):
    """One sample in four stages: company, category, series, data point.

    `size` data points are drawn, a share of `us_share` (rounded half up) from companies traded in
    the US; set it to 0 or 1 if the material covers only one of the two regions. `damping` weights
    the children in the hierarchy of series names, whose components are separated by `separator`.
    `reserve` is the number of reserve units kept per drawn unit in each stratum (region × category
    × period length).

    `categories` and `periods` are quotas: the target shares for each category and period length
    (`quarter`, `annual`, `half`, `nine_months`), which the sample matches as closely as the
    material allows. Anything not listed shares the remainder; empty tables mean no quotas. The
    defaults are FinRetrieval's, where it publishes them; per-share figures and ratios, which it
    does not count separately, get a small share.
    """

    size: Annotated[int, Field(ge=1)] = 500
    us_share: Share = 0.5
    damping: Damping = Damping.SQRTLOG
    design: Design = Design.WITHOUT_REPLACEMENT
    categories: dict[str, Share] = Field(
        default={"guidance": 0.146, "segments_geography": 0.128, "per_share_ratios": 0.05}
    )
    periods: dict[str, Share] = Field(
        default={"quarter": 0.59, "annual": 0.33, "half": 0.08, "nine_months": 0.0}
    )
    reserve: Annotated[float, Field(ge=0)] = 10.0
    separator: Annotated[str, Field(min_length=1)] = SEPARATOR
