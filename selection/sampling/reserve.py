"""The reserve of each stratum, and how its units replace rejected ones."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import polars as pl

from data.randomness import keyed_hash
from selection.sampling.weights import Floats

SERIES_STAGE = "sample.series"
STRATUM = ("is_us", "category")
_SERIES = ("company", "category", "series_name")


@dataclass(frozen=True, slots=True)
class Filled:
    """A sample after rejections.

    `rows` are the accepted points, replacements flagged; a replacement keeps the `pi_design` of its
    own unit. `response` has per stratum (is_us, category): drawn, rejected, replaced (units taken
    from its reserve), missing (rejected units that its own reserve could not replace), and
    response_rate = accepted / tried units.
    """

    rows: pl.DataFrame
    response: pl.DataFrame


def series_keys(series: pl.DataFrame) -> list[str]:
    """The name by which each series is keyed."""
    return ["\0".join(row) for row in series.select(_SERIES).iter_rows()]


def reserve_of(
    units: pl.DataFrame, drawn: pl.DataFrame, per_draw: float, seed: int
) -> pl.DataFrame:
    """Positions (`at`) in `units` of the reserve, with `rank` within the stratum, sorted by both.

    The reserve continues the stratum's draw: the series not drawn, ordered by their keyed hash.
    Hash u and single-draw probability p give the sort key -log(u)/p, so that at each step a series
    comes next with probability proportional to p among the remaining ones (successive sampling;
    Efraimidis and Spirakis 2006). At most `per_draw` units are kept per drawn unit.
    """
    in_stratum = drawn.group_by(STRATUM).agg(wanted=pl.col("draws").sum() * per_draw)
    undrawn = units.with_row_index("at").join(drawn, on=_SERIES, how="anti")
    undrawn = undrawn.join(in_stratum, on=STRATUM).sort("at")
    weights = (undrawn["pi_category"] * undrawn["pi_series"]).to_numpy()
    races = -np.log(_uniforms(undrawn, seed)) / weights
    ranked = undrawn.with_columns(race=pl.Series(races).round(9)).sort(*STRATUM, "race", "at")
    ranked = ranked.with_columns(rank=pl.int_range(1, pl.len() + 1).over(STRATUM))
    return ranked.filter(pl.col("rank") <= pl.col("wanted").ceil()).select("at", "rank")


def fill(drawn: pl.DataFrame, reserve: pl.DataFrame, rejected: Collection[str]) -> Filled:
    """The sample after the data points `rejected` (drawn or replacements) are taken out.

    Each of them is replaced by the next unit of the stratum's reserve that is not rejected; when
    that is used up, by the next units of the region's other strata. Reserve units count as tried
    once they were needed: call again with the replacements' own rejections added, until there are
    no new ones.
    """
    out = pl.col("point_id").is_in(list(rejected))
    lost = drawn.filter(out).group_by(STRATUM).agg(lost=pl.col("draws").sum())
    standing = reserve.filter(~out).sort(*STRATUM, "rank")
    standing = standing.with_columns(turn=pl.int_range(1, pl.len() + 1).over(STRATUM))
    standing = standing.join(lost, on=STRATUM, how="left").with_columns(pl.col("lost").fill_null(0))
    called = standing.filter(pl.col("turn") <= pl.col("lost"))
    called = pl.concat([called, _from_other_strata(standing, lost)])
    rows = pl.concat([drawn.filter(~out), called.select(drawn.columns)])
    strata = drawn.group_by(STRATUM).agg(drawn=pl.len(), rejected=out.sum())
    spoiled = reserve.filter(out).group_by(STRATUM).agg(spoiled=pl.len())
    used = called.group_by(STRATUM).agg(replaced=pl.len())
    response = strata
    for more in (lost, spoiled, used):
        response = response.join(more, on=STRATUM, how="left")
    counts = ("drawn", "rejected", "lost", "spoiled", "replaced")
    response = response.with_columns(pl.col(counts).fill_null(0).cast(pl.Int64))
    accepted = pl.col("drawn") - pl.col("rejected") + pl.col("replaced")
    tried = pl.col("drawn") + pl.col("spoiled") + pl.col("replaced")
    response = response.select(
        *STRATUM,
        "drawn",
        rejected=pl.col("rejected") + pl.col("spoiled"),
        replaced="replaced",
        missing=(pl.col("lost") - pl.col("replaced")).clip(lower_bound=0),
        response_rate=accepted / tried,
    )
    return Filled(rows.sort(*_SERIES, "point_id"), response.sort(STRATUM))


def _from_other_strata(standing: pl.DataFrame, lost: pl.DataFrame) -> pl.DataFrame:
    """Units for rejected ones that their own stratum cannot replace, the next of each region."""
    at_hand = standing.group_by(STRATUM).agg(at_hand=pl.len())
    open_places = (
        lost.join(at_hand, on=STRATUM, how="left")
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
    hashes = [keyed_hash(seed, SERIES_STAGE, key)[:8] for key in series_keys(series)]
    integers = np.frombuffer(b"".join(hashes), dtype=">u8").astype(np.float64)
    return np.asarray((integers + 0.5) / 2.0**64)
