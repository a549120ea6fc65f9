"""What a subset selection is asked for. Part of the recipe."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from data.contracts import Count, Lane, Share, StageConfig


class Objective(StrEnum):
    """What is maximised.

    `margins`: the leads of the items over all pairs of pilots, each weighted by the pair's lead
    on the rest of the pool and taken as a share of the item's spread. Summed over the pairs that
    is the corrected item-total correlation (`selection.profiles.item_rest_correlation`), in
    1/SCALE. With it go quotas per family and, inside, per stratum of like response profiles
    (`selection.profiles.profile_strata`), which keep the subset's mean profile near the pool's.
    Why this and not raw margins: benchmarks/results/selection_quality.md.
    `pairs`: the number of adjacent or distant pilot pairs whose designated order an item shows
    (Claw-Eval-Live §5.5). `coverage`: no pilot scores; difficulty spread and diversity.
    """

    MARGINS = "margins"
    PAIRS = "pairs"
    COVERAGE = "coverage"


class Band(StageConfig):
    """A share of the subset, from `low` to `high`."""

    low: Share = 0.0
    high: Share = 1.0

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"low {self.low} is above high {self.high}")
        return self


class SelectionConfig(StageConfig):
    """One selection.

    `pilots` are named best first: their order is the designated one; without names all models
    of the matrix are pilots, in the order of their means over the pool. An item is eligible if
    the pilots do not all pass and do not all fail it under `selection_threshold` (None: their
    scores differ at all). `order_margin` is the mean lead, in score points, by which each pilot
    must stay ahead of the next in the subset (None: the order is no constraint). `quota_price` is
    the objective lost per item that a family is away from its apportioned quota, as a share of
    the largest gain of an item (None: no quotas); `stratum_picks` is how many items a stratum of
    like profiles may be asked for before it is split in two (None: no strata). `cover_families`
    asks for one item of each family at least; `drop_zero_discrimination` false admits items that
    do not tell the pilots apart (for a subset that is to stand for the whole pool, or for few
    pilots, whose agreement says little). `max_changed` bounds the share of items that
    the last release did not hold.
    """

    size: Annotated[int, Field(gt=0)]
    objective: Objective = Objective.MARGINS
    pilots: tuple[str, ...] = ()
    selection_threshold: Share | None = None
    public_threshold: Share = 0.8
    order_margin: Annotated[float, Field(ge=0)] | None = None
    quota_price: Annotated[float, Field(ge=0)] | None = 0.5
    stratum_picks: Annotated[int, Field(gt=0)] | None = 2
    cover_families: bool = True
    drop_zero_discrimination: bool = True
    lane_shares: Mapping[str, Band] = Field(default_factory=dict)
    difficulty_shares: Mapping[str, Band] = Field(default_factory=dict)
    must_include: tuple[str, ...] = ()
    must_exclude: tuple[str, ...] = ()
    budget: Annotated[float, Field(gt=0)] | None = None
    max_changed: Share | None = None
    seed: Count = 0


def _lane_name(name: str) -> str:
    if name not in list(Lane):
        raise ValueError(f"found no lane; expected one of {', '.join(Lane)}")
    return name


LaneName = Annotated[str, AfterValidator(_lane_name)]


class SelectionRecipe(StageConfig):
    """Which candidates are released.

    `max_tasks`: more candidates than that are selected from (None: as many as the other limits
    allow), by family quotas from the market's mixture, spread over difficulties and sources. Where
    the runtime names pilot scores, `objective` says what they decide, `pilots` which models count
    (none: all) and `selection_threshold` what passes. `lane_shares` hold wherever candidates come
    from more than one lane, `difficulty_shares` among those whose difficulty is known. `lite_size`:
    tasks of the subset for manual audit (None: none is drawn).
    """

    max_tasks: Annotated[int, Field(gt=0)] | None = None
    max_changed: Share | None = None
    objective: Objective = Objective.MARGINS
    pilots: tuple[str, ...] = ()
    selection_threshold: Share | None = None
    lane_shares: Mapping[LaneName, Band] = Field(
        default_factory=lambda: {"questions": Band(high=0.3)}
    )
    difficulty_shares: Mapping[str, Band] = Field(default_factory=dict)
    lite_size: Annotated[int, Field(gt=0)] | None = None
