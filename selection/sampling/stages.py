"""The draw in four stages: company, category, series, data point (FinRetrieval, sampling), and what
it means for the ledger and the report of a release.

Each stage is keyed by what it draws from: how often a company is drawn depends on the companies of
its region, but which of its series are drawn, given how often, depends on the company alone. Each
stratum has a reserve, whose units replace rejected ones. The report says what each damping rule
does to breakdown series, those below the headline of their name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from data.contracts import LedgerRow, Outcome, StageKind, StageTally
from data.figures import percent
from data.ledger import close
from data.randomness import keyed_generator, keyed_hash, keyed_order
from selection.config import SEPARATOR, Damping, Design, SamplingConfig
from selection.sampling.frame import (
    COLUMNS,
    STRATUM,
    Frame,
    build_frame,
    category_of,
    cell_expectation,
    company_expectation,
    inclusion_of_points,
    region_sizes,
    series_inclusion,
    series_weights,
    stage_probabilities,
    with_quotas,
)
from selection.sampling.systematic import (
    Floats,
    Ints,
    depths,
    draw_with_replacement,
    leaf_probabilities,
    start,
    systematic,
)

_SERIES_STAGE = "sample.series"
_STRATUM = ("is_us", "category")
_SERIES = ("company", "category", "series_name")


@dataclass(frozen=True, slots=True)
class _Filled:
    """A sample after rejections.

    `rows` are the accepted points, replacements flagged; a replacement keeps the `pi_design` of its
    own unit. `response` has per stratum (is_us, category): drawn, rejected, replaced (units taken
    from its reserve), missing (rejected units that its own reserve could not replace), and
    response_rate = accepted / tried units.
    """

    rows: pl.DataFrame
    response: pl.DataFrame


def _series_keys(series: pl.DataFrame) -> list[str]:
    """The name by which each series is keyed."""
    return ["\0".join(row) for row in series.select(_SERIES).iter_rows()]


def _reserve_of(
    units: pl.DataFrame, drawn: pl.DataFrame, per_draw: float, seed: int
) -> pl.DataFrame:
    """Positions (`at`) in `units` of the reserve, with `rank` within the stratum, sorted by both.

    The reserve continues the stratum's draw: the series not drawn, ordered by their keyed hash.
    Hash u and single-draw probability p give the sort key -log(u)/p, so that at each step a series
    comes next with probability proportional to p among the remaining ones (successive sampling;
    Efraimidis and Spirakis 2006). At most `per_draw` units are kept per drawn unit.
    """
    in_stratum = drawn.group_by(_STRATUM).agg(wanted=pl.col("draws").sum() * per_draw)
    undrawn = units.with_row_index("at").join(drawn, on=_SERIES, how="anti")
    undrawn = undrawn.join(in_stratum, on=_STRATUM).sort("at")
    weights = (undrawn["pi_company"] * undrawn["pi_category"] * undrawn["pi_series"]).to_numpy()
    races = -np.log(_uniforms(undrawn, seed)) / weights
    ranked = undrawn.with_columns(race=pl.Series(races).round(9)).sort(*_STRATUM, "race", "at")
    ranked = ranked.with_columns(rank=pl.int_range(1, pl.len() + 1).over(_STRATUM))
    return ranked.filter(pl.col("rank") <= pl.col("wanted").ceil()).select("at", "rank")


def _fill(drawn: pl.DataFrame, reserve: pl.DataFrame, rejected: Collection[str]) -> _Filled:
    """The sample after the data points `rejected` (drawn or replacements) are taken out.

    Each of them is replaced by the next unit of the stratum's reserve that is not rejected; when
    that is used up, by the next units of the region's other strata. Reserve units count as tried
    once they were needed: call again with the replacements' own rejections added, until there are
    no new ones.
    """
    out = pl.col("point_id").is_in(list(rejected))
    lost = drawn.filter(out).group_by(_STRATUM).agg(lost=pl.col("draws").sum())
    standing = reserve.filter(~out).sort(*_STRATUM, "rank")
    standing = standing.with_columns(turn=pl.int_range(1, pl.len() + 1).over(_STRATUM))
    standing = standing.join(lost, on=_STRATUM, how="left").with_columns(
        pl.col("lost").fill_null(0)
    )
    called = standing.filter(pl.col("turn") <= pl.col("lost"))
    called = pl.concat([called, _from_other_strata(standing, lost)])
    rows = pl.concat([drawn.filter(~out), called.select(drawn.columns)])
    strata = drawn.group_by(_STRATUM).agg(drawn=pl.len(), rejected=out.sum())
    spoiled = reserve.filter(out).group_by(_STRATUM).agg(spoiled=pl.len())
    used = called.group_by(_STRATUM).agg(replaced=pl.len())
    response = strata
    for more in (lost, spoiled, used):
        response = response.join(more, on=_STRATUM, how="left")
    counts = ("drawn", "rejected", "lost", "spoiled", "replaced")
    response = response.with_columns(pl.col(counts).fill_null(0).cast(pl.Int64))
    accepted = pl.col("drawn") - pl.col("rejected") + pl.col("replaced")
    tried = pl.col("drawn") + pl.col("spoiled") + pl.col("replaced")
    response = response.select(
        *_STRATUM,
        "drawn",
        rejected=pl.col("rejected") + pl.col("spoiled"),
        replaced="replaced",
        missing=(pl.col("lost") - pl.col("replaced")).clip(lower_bound=0),
        response_rate=accepted / tried,
    )
    return _Filled(rows.sort(*_SERIES, "point_id"), response.sort(_STRATUM))


def _from_other_strata(standing: pl.DataFrame, lost: pl.DataFrame) -> pl.DataFrame:
    """Units for rejected ones that their own stratum cannot replace, the next of each region."""
    at_hand = standing.group_by(_STRATUM).agg(at_hand=pl.len())
    open_places = (
        lost.join(at_hand, on=_STRATUM, how="left")
        .with_columns(open=(pl.col("lost") - pl.col("at_hand").fill_null(0)).clip(lower_bound=0))
        .group_by("is_us")
        .agg(pl.col("open").sum())
    )
    spare = standing.filter(pl.col("turn") > pl.col("lost")).sort("is_us", "turn", "category")
    spare = spare.with_columns(place=pl.int_range(1, pl.len() + 1).over("is_us"))
    taken = spare.join(open_places, on="is_us").filter(pl.col("place") <= pl.col("open"))
    return taken.select(standing.columns)


def _uniforms(series: pl.DataFrame, seed: int) -> Floats:
    """The keyed hash of each series as a number in (0, 1)."""
    hashes = [keyed_hash(seed, _SERIES_STAGE, key)[:8] for key in _series_keys(series)]
    integers = np.frombuffer(b"".join(hashes), dtype=">u8").astype(np.float64)
    return np.asarray((integers + 0.5) / 2.0**64)


_COMPANY_STAGE = "sample.company"
_CATEGORY_STAGE = "sample.category"
_POINT_STAGE = "sample.point"
_REGIONS = ("non-US", "US")
_SORTED = ("company", "category", "series_name", "point_id")


@dataclass(frozen=True, slots=True)
class Sample:
    """The drawn units, and the reserve that can replace them.

    Both tables have company, is_us, category, series_name, point_id, the stage probabilities of
    `stage_probabilities`, `pi_design`, `draws` (above 1 only with replacement), `replacement`.
    `reserve` also has `rank`, its position within the stratum (is_us, category).
    """

    drawn: pl.DataFrame
    reserve: pl.DataFrame


def _draw_sample(points: pl.DataFrame, config: SamplingConfig, seed: int) -> Sample:
    """Draw `config.size` data points of a table with the columns of `frame.COLUMNS`, and a reserve.

    The same table, in any order, with the same config and seed gives the same sample, sorted by
    company, category, series and point. Errors: `InputError` as in `build_frame`, and if a region
    has fewer series than are to be drawn from it without replacement.
    """
    frame = build_frame(points)
    units = inclusion_of_points(frame, config)
    if config.design is Design.WITHOUT_REPLACEMENT:
        series = _draw_series(frame, config, seed)
        places = _keyed_places(frame, series, seed)
    else:
        series, places = _draw_independently(frame, config, seed)
    drawn = _rows(frame, units, series, places)
    drawn = drawn.group_by(drawn.columns).agg(draws=pl.len().cast(pl.Int64))
    reserve = _reserve_of(units, drawn, config.reserve, seed)
    spare = reserve["at"].to_numpy().astype(np.int64)
    spares = _rows(frame, units, spare, _keyed_places(frame, spare, seed))
    return Sample(
        drawn.with_columns(replacement=pl.lit(False)).sort(*_SORTED),
        spares.with_columns(
            draws=pl.lit(1, pl.Int64), replacement=pl.lit(True), rank=reserve["rank"]
        ),
    )


def _draw_series(frame: Frame, config: SamplingConfig, seed: int) -> Ints:
    """Positions of the series drawn without replacement, stage by stage."""
    names = frame.companies["company"].to_list()
    cells = [
        f"{company}\0{category}"
        for company, category in frame.cells.select("company", "category").iter_rows()
    ]
    expected = company_expectation(frame, region_sizes(frame, config))
    of_company = _counts(expected, frame.region_of_company, _REGIONS, names, seed, _COMPANY_STAGE)
    expected = cell_expectation(frame, of_company)
    of_cell = _counts(expected, frame.company_of_cell, names, cells, seed, _CATEGORY_STAGE)
    expected = series_inclusion(frame, of_cell, series_weights(frame, config))
    keys = _series_keys(frame.series)
    of_series = _counts(expected, frame.cell_of_series, cells, keys, seed, _SERIES_STAGE)
    return np.flatnonzero(of_series).astype(np.int64)


def _counts(
    expected: Floats,
    groups: Ints,
    group_names: Sequence[str],
    names: Sequence[str],
    seed: int,
    stage: str,
) -> Ints:
    """Systematic draws within each group, each over its own order and from its own start."""
    counts = np.zeros(len(expected), dtype=np.int64)
    candidates = np.flatnonzero(expected > 0)
    by_group = candidates[np.argsort(groups[candidates], kind="stable")]
    bounds = np.flatnonzero(np.diff(groups[by_group])) + 1
    for members in np.split(by_group, bounds) if len(by_group) else []:
        order = np.array(keyed_order(seed, stage, [names[at] for at in members]), dtype=np.intp)
        begin = start(seed, stage, group_names[groups[members[0]]])
        counts[members] = systematic(expected[members], order, begin)
    return counts


def _draw_independently(frame: Frame, config: SamplingConfig, seed: int) -> tuple[Ints, Ints]:
    """Series and point positions drawn with replacement, one entry per draw."""
    of_cell = frame.cells["weight"].to_numpy()[frame.cell_of_series]
    weights = series_weights(frame, config) * of_cell  # each cell sums to its weight
    company_of_series = frame.company_of_cell[frame.cell_of_series]
    series: list[int] = []
    places: list[int] = []
    for company, draws in _independent_companies(frame, config, seed).items():
        low, high = np.searchsorted(company_of_series, [company, company + 1])
        generator = keyed_generator(seed, _SERIES_STAGE, frame.companies["company"][company])
        chosen = low + draw_with_replacement(weights[low:high], draws, generator)
        series += chosen.tolist()
        places += generator.integers(frame.points_of_series[chosen]).tolist()
    return np.array(series, dtype=np.int64), np.array(places, dtype=np.int64)


def _independent_companies(frame: Frame, config: SamplingConfig, seed: int) -> dict[int, int]:
    """How often each company is drawn with replacement within its region; only those drawn."""
    counts: dict[int, int] = {}
    for region, size in enumerate(region_sizes(frame, config)):
        members = np.flatnonzero(frame.region_of_company == region)
        if size:
            generator = keyed_generator(seed, _COMPANY_STAGE, _REGIONS[region])
            weights = frame.weight_of_company[members]
            drawn = draw_with_replacement(weights, int(size), generator)
            companies, times = np.unique(members[drawn], return_counts=True)
            counts |= dict(zip(companies.tolist(), times.tolist(), strict=True))
    return counts


def _keyed_places(frame: Frame, series: Ints, seed: int) -> Ints:
    """Per series the position of its data point with the lowest keyed hash: uniform over its
    points."""
    points = frame.series["points"].gather(series).to_list()
    firsts = [keyed_order(seed, _POINT_STAGE, ids)[0] for ids in points]
    return np.array(firsts, dtype=np.int64)


def _rows(frame: Frame, units: pl.DataFrame, series: Ints, places: Ints) -> pl.DataFrame:
    """The unit of each series with the id of the data point at the given position."""
    ids = frame.series["points"].gather(series).list.get(pl.Series(places))
    table = units[series].with_columns(point_id=ids)
    return table.select(*COLUMNS, pl.exclude(*COLUMNS))


@dataclass(frozen=True, slots=True)
class _DampingReport:
    """Probabilities of a single draw under each damping rule.

    `shares`: damping, breakdown (share of the probability on breakdown series), fall_points (how
    far that is below `none`, in percentage points), effective_series (1 / Σπ²: the number of
    equally likely series with the same concentration). `by_depth`: damping, depth, share. `series`
    and `breakdown_series` are numbers of series.
    """

    shares: pl.DataFrame
    by_depth: pl.DataFrame
    series: int
    breakdown_series: int


def _compare_dampings(
    names: pl.Series,
    *,
    groups: Ints | None = None,
    mass: Floats | None = None,
    breakdown: NDArray[np.bool_] | None = None,
    headline_depth: int = 1,
    separator: str = SEPARATOR,
) -> _DampingReport:
    """All damping rules over one hierarchy, or one per group whose probability `mass` has per name.

    `breakdown` marks breakdown series; without it, those whose name has more than `headline_depth`
    components.
    """
    depth = depths(names, separator)
    below = depth > headline_depth if breakdown is None else breakdown
    of_group = np.ones(len(names)) if mass is None else mass
    probabilities = {
        damping: of_group * leaf_probabilities(names, damping, groups=groups, separator=separator)
        for damping in Damping
    }
    base = float(probabilities[Damping.NONE][below].sum())
    shares = [_shares(damping, pi, below, base) for damping, pi in probabilities.items()]
    by_depth = [_by_depth(damping, pi, depth) for damping, pi in probabilities.items()]
    return _DampingReport(
        pl.DataFrame(shares), pl.concat(by_depth), len(names), int(np.count_nonzero(below))
    )


def _shares(
    damping: Damping, pi: Floats, below: NDArray[np.bool_], base: float
) -> dict[str, str | float]:
    """A row of `DampingReport.shares`; `base` is the breakdown share under `none`."""
    share = float(pi[below].sum())
    return {
        "damping": damping.value,
        "breakdown": share,
        "fall_points": 100 * (base - share),
        "effective_series": float(pi.sum() ** 2 / np.square(pi).sum()),
    }


def _by_depth(damping: Damping, pi: Floats, depth: Ints) -> pl.DataFrame:
    """Rows of `DampingReport.by_depth`: the probability of each depth."""
    held = np.bincount(depth, weights=pi)
    present = np.unique(depth)
    return pl.DataFrame({"depth": present, "share": held[present]}).select(
        pl.lit(damping.value).alias("damping"), "depth", "share"
    )


def _compare_in_frame(
    frame: Frame, config: SamplingConfig, headline_depth: int = 1
) -> _DampingReport:
    """All damping rules within the cells of a four-stage frame."""
    stages = stage_probabilities(frame, config)
    return _compare_dampings(
        frame.series["series_name"],
        groups=frame.cell_of_series,
        mass=(stages["pi_company"] * stages["pi_category"]).to_numpy(),
        headline_depth=headline_depth,
        separator=config.separator,
    )


_SAMPLE = "sample"
_FEW = 0.05  # of the questions
_HEADLINE_DEPTH = 2  # components of a name without sections: statement | label
_REGION = {True: "US", False: "non-US"}


def _fitting(config: SamplingConfig, frame: pl.DataFrame) -> SamplingConfig:
    """The sampling as configured; material of one region fills the sample alone."""
    regions = set(frame["is_us"].unique())
    if len(regions) == 1:
        return config.model_copy(update={"us_share": float(regions.pop())})
    return config


@dataclass(frozen=True, slots=True)
class _Drawing:
    """A sample drawn from a frame, with what it was drawn by."""

    frame: pl.DataFrame
    config: SamplingConfig
    sample: Sample

    def without(self, rejected: Collection[str]) -> pl.DataFrame:
        """The drawn points without the rejected ones, which the reserve replaces."""
        rows = _fill(self.sample.drawn, self.sample.reserve, rejected).rows
        return rows.with_columns(category=category_of(pl.col("category")))

    def report(self, rejected: Collection[str]) -> dict[str, Any]:
        """What was drawn, by region and category, and what was replaced."""
        filled = _fill(self.sample.drawn, self.sample.reserve, rejected)
        return _sampling_report(self.frame, filled, self.sample.reserve.height, self.config)


def draw(frame: pl.DataFrame, config: SamplingConfig, seed: int) -> _Drawing:
    """Draw as configured; material of one region fills the sample alone."""
    fitted = _fitting(config, frame)
    weighed = with_quotas(frame, fitted)
    return _Drawing(weighed, fitted, _draw_sample(weighed, fitted, seed))


def lacking(frame: pl.DataFrame, config: SamplingConfig) -> list[str]:
    """A line for each quota of which the material allows less than half, and for each source (what
    the ids of companies begin with) that so few companies come from that hardly any is drawn."""
    fitted = _fitting(config, frame)
    weighed = with_quotas(frame, fitted)
    built = build_frame(weighed)
    expected = inclusion_of_points(built, fitted).with_columns(
        expected=pl.col("pi_design") * built.points_of_series / config.size,
        source=pl.col("company").str.split(":").list.first(),
    )
    strata = expected.group_by("category").agg(pl.col("expected").sum())
    reached = Counter[str]()
    for stratum, share in strata.iter_rows():
        reached.update(dict.fromkeys(stratum.split(STRATUM), share))
    by_source = expected.group_by("source").agg(
        pl.col("company").n_unique(), pl.col("expected").sum()
    )
    quotas = {} if weighed is frame else config.categories | config.periods
    return [
        *(
            f"{name}: quota {percent(quota)}, but the material allows only about "
            f"{percent(reached[name])}"
            for name, quota in quotas.items()
            if reached[name] < quota / 2
        ),
        *(
            f"{source}: {companies} of {built.companies.height} companies, "
            f"about {config.size * share:.1f} of {config.size} questions"
            for source, companies, share in by_source.sort("source").iter_rows()
            if share < _FEW
        ),
    ]


def sample_records(
    frame: pl.DataFrame, tried: Collection[str]
) -> tuple[list[LedgerRow], StageTally]:
    """Points tried and not tried, counted per stratum: most of a database are never drawn."""
    counted = (
        frame.with_columns(tried=pl.col("point_id").is_in(list(tried)))
        .group_by("is_us", "category", "tried")
        .len()
        .sort("is_us", "category", "tried")
    )
    rows = []
    for is_us, category, was_tried, n in counted.iter_rows():
        stratum = f"{_REGION[is_us]}/{category}"
        outcome = Outcome.CHOSEN if was_tried else Outcome.NOT_CHOSEN
        rows.append(LedgerRow(_SAMPLE, "point", f"({stratum})", outcome, stratum=stratum, n=n))
    counts = {Outcome.CHOSEN: len(tried), Outcome.NOT_CHOSEN: frame.height - len(tried)}
    return rows, close(_SAMPLE, StageKind.CHOOSE, "point", frame.height, counts)


def _sampling_report(
    frame: pl.DataFrame, filled: _Filled, reserve: int, config: SamplingConfig
) -> dict[str, Any]:
    """What was drawn, by region and category, how many were replaced, and the response rates."""
    drawn = frame.filter(pl.col("point_id").is_in(filled.rows["point_id"].to_list()))
    by_region = Counter(_REGION[is_us] for is_us in drawn["is_us"])
    dampings = _compare_in_frame(build_frame(frame), config, _HEADLINE_DEPTH).shares
    return {
        "asked_for": config.size,
        "questions": drawn.height,
        "us_share": config.us_share,
        "by_region": dict(sorted(by_region.items())),
        **_by_stratum(drawn["category"]),
        "replacements": int(filled.rows["replacement"].sum()),
        "reserve": reserve,
        "response": _rounded(filled.response),
        "dampings": _rounded(dampings),
    }


def _by_stratum(strata: pl.Series) -> dict[str, dict[str, int]]:
    """How many were drawn by category, and by length of period where the strata have one."""
    parts = [one.partition(STRATUM)[::2] for one in strata]
    counts = {"by_category": Counter(category for category, _ in parts)}
    counts["by_period"] = Counter(period for _, period in parts if period)
    return {name: dict(sorted(counted.items())) for name, counted in counts.items()}


def _rounded(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows with their floats to nine places (law 5)."""
    return table.with_columns(pl.col(pl.Float64).round(9)).to_dicts()
