"""What a sample is asked for. Part of the recipe; the public seed is passed beside it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from data.contracts import Share, StageConfig
from selection.sampling.damping import Damping

SEPARATOR = " | "


class Design(StrEnum):
    """`without`: no unit twice, fixed size, systematic. `with`: independent draws."""

    WITHOUT_REPLACEMENT = "without_replacement"
    WITH_REPLACEMENT = "with_replacement"


class SamplingConfig(StageConfig):
    """One sample in four stages: company, category, series, data point.

    `size` data points are drawn, the share `us_share` of them (rounded half up) from companies
    traded in the US: 0 or 1 where the material has one side only. `damping` weighs the children
    in the hierarchy of series names, whose components `separator` parts. `reserve` is the number
    of reserve units kept per drawn unit of a stratum (region × category).
    """

    size: Annotated[int, Field(ge=1)] = 500
    us_share: Share = 0.5
    damping: Damping = Damping.SQRTLOG
    design: Design = Design.WITHOUT_REPLACEMENT
    reserve: Annotated[float, Field(ge=0)] = 2.0
    separator: Annotated[str, Field(min_length=1)] = SEPARATOR
