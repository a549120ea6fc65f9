"""Settings of subset selection and of the sampler (`selection.sampling`). Part of the recipe."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from data.contracts import Count, Lane, Share, StageConfig


class Objective(StrEnum):
    """What is maximised.

    `by_pilots`, the default: `covariance` for fewer than 26 pilots, `margins` for more, as measured
    on held-out models (benchmarks/results/selection_regimes.md). `margins`: the item-rest
    correlation of each item (`selection.pool._item_rest_correlation`), in 1/SCALE: its leads over
    all pairs of pilots, each weighted by the pair's lead on the rest of the pool, as a share of the
    item's spread. It is combined with quotas per family and, inside a family, per stratum of
    similar response profiles (`selection.pool.profile_strata`), which keep the subset's mean
    profile near the pool's. benchmarks/results/selection_quality.md says why raw margins are not
    used. `covariance`: that correlation, shrunk towards 1 with few pilots, times the spread of the
    item's scores; within the same quotas. `balanced`: no item is preferred; within the same quotas
    the public seed draws one at random from each stratum. `pairs`: the number of adjacent or
    distant pilot pairs whose designated order an item shows (Claw-Eval-Live §5.5). `coverage`:
    without pilot scores; spread of difficulty and diversity.
    """

    BY_PILOTS = "by_pilots"
    MARGINS = "margins"
    COVARIANCE = "covariance"
    BALANCED = "balanced"
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

    `pilots` are named best first; this is the designated order. Without names all models of the
    matrix are pilots, ordered by their means over the pool. An item is eligible unless all pilots
    pass it or all fail it under `selection_threshold` (None: eligible if their scores differ at
    all). `order_margin` is the mean lead, in score points, by which each pilot must stay ahead of
    the next in the subset (None: no constraint on the order). `quota_price` is the objective lost
    per item by which a family misses its apportioned quota, as a share of the largest gain of an
    item (None: no quotas; where no item gains anything, each miss costs the same least price).
    `stratum_picks` is the most items that a stratum of similar profiles may have to supply before
    it is split in two (None: no strata; `by_pilots`:
    two from 100 pilots on, else one). `cover_families` requires at least one item of each
    family. If `drop_zero_discrimination` is false, items that do not distinguish the pilots are
    admitted too (for a subset that stands for the whole pool, or for few pilots, whose agreement
    says little). `max_changed` bounds the share of items that were not in the last release,
    `max_per_generator` the number of items that one generator of tasks made.
    """

    size: Annotated[int, Field(gt=0)]
    objective: Objective = Objective.BY_PILOTS
    pilots: tuple[str, ...] = ()
    selection_threshold: Share | None = None
    public_threshold: Share = 0.8
    order_margin: Annotated[float, Field(ge=0)] | None = None
    quota_price: Annotated[float, Field(ge=0)] | None = 2.0
    stratum_picks: Annotated[int, Field(gt=0)] | Literal["by_pilots"] | None = "by_pilots"
    cover_families: bool = True
    drop_zero_discrimination: bool = True
    lane_shares: Mapping[str, Band] = Field(default_factory=dict)
    difficulty_shares: Mapping[str, Band] = Field(default_factory=dict)
    pass_rate_shares: Mapping[str, Band] = Field(default_factory=dict)
    split_shares: Mapping[str, Band] = Field(default_factory=dict)
    must_include: tuple[str, ...] = ()
    must_exclude: tuple[str, ...] = ()
    budget: Annotated[float, Field(gt=0)] | None = None
    max_changed: Share | None = None
    max_per_generator: Annotated[int, Field(gt=0)] | None = None
    seed: Count = 0


def _lane_name(name: str) -> str:
    if name not in list(Lane):
        raise ValueError(f"found no lane; expected one of {', '.join(Lane)}")
    return name


_LaneName = Annotated[str, AfterValidator(_lane_name)]


_PassBand = Literal["none", "low", "middle", "high", "all"]
_Split = Literal["full", "smoke"]


class SelectionRecipe(StageConfig):
    """Which candidates to release.

    `max_tasks` is the size of the release (if not set: as many as the other limits allow). If there
    are more candidates, a subset is selected by family quotas from the market's mixture, spread
    over difficulties and sources. If `[runtime]` sets pilot scores, `objective` says how they
    decide, `pilots` which models count (if empty: all) and `selection_threshold` what counts as a
    pass. Candidates that all pilots pass, or all fail, under `pilot_threshold` are rejected first.
    `unpiloted`: whether candidates with no scores are left out or kept alongside those with scores.

    `lane_shares` apply if candidates come from more than one lane (by default, questions and
    analytics tasks may together fill a release, but neither may alone), and `difficulty_shares` to
    candidates of known difficulty. `pass_rate_shares` go by the rate at which a pilot's agents
    passed (none, low up to a third, middle up to two thirds, high, all), and `split_shares` by the
    split, full or easy (smoke): `{ smoke = { high = 0.0 } }` leaves out the easy tasks. No workflow
    generator, and no template of analytic tasks, has more than `max_per_generator` tasks in a
    release. `lite_size`: number of tasks in
    the subset for manual audit (if not set: no subset is drawn).
    """

    max_tasks: Annotated[int, Field(gt=0)] | None = None
    max_changed: Share | None = None
    max_per_generator: Annotated[int, Field(gt=0)] | None = 3
    objective: Objective = Objective.BY_PILOTS
    pilots: tuple[str, ...] = ()
    selection_threshold: Share | None = None
    pilot_threshold: Share = 0.6
    unpiloted: Literal["leave_out", "keep"] = "leave_out"
    lane_shares: Mapping[_LaneName, Band] = Field(
        default_factory=lambda: {"questions": Band(high=0.3), "analytics": Band(high=0.7)}
    )
    difficulty_shares: Mapping[str, Band] = Field(default_factory=dict)
    pass_rate_shares: Mapping[_PassBand, Band] = Field(default_factory=dict)
    split_shares: Mapping[_Split, Band] = Field(default_factory=dict)
    lite_size: Annotated[int, Field(gt=0)] | None = None


_OF_CANDIDATES = frozenset(
    {
        "lane_shares",
        "difficulty_shares",
        "pass_rate_shares",
        "split_shares",
        "max_changed",
        "max_per_generator",
        "pilot_threshold",
        "unpiloted",
    }
)


class MatrixSelection(SelectionConfig):
    """`[selection]` for a score matrix, whose items have no lane, difficulty or last release.

    `max_tasks`, as a build calls the size, is the size where no other is given.
    """

    max_tasks: Annotated[int, Field(gt=0)] | None = Field(default=None, exclude=True)

    @model_validator(mode="before")
    @staticmethod
    def _of_matrix(section: dict[str, Any]) -> dict[str, Any]:
        values = {name: value for name, value in section.items() if name not in _OF_CANDIDATES}
        if "max_tasks" in values:
            values.setdefault("size", values["max_tasks"])
        return values


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
