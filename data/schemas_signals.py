"""The staging tables of the signals lane. Registry texts stay out: slugs, figures and offsets."""

from __future__ import annotations

import polars as pl

from data.schemas import Table

SIGNALS = Table(
    "signals",
    "one skill of a snapshot",
    {
        "source": (pl.String, "registry or file the snapshot came from"),
        "date": (pl.Date, "date of the snapshot"),
        "slug": (pl.String, "the skill's name in addresses"),
        "mass": (pl.Float64, "popularity by the declared measure"),
        "measure": (pl.String, "which count is the popularity"),
        "pattern": (pl.String, "pattern with the largest share, or uncategorized"),
        "family": (pl.String, "signal family with the largest share, or uncategorized"),
        "task_family": (pl.String, "task family through the crosswalk; null if unmapped"),
        "benchmarkable": (pl.Boolean, "its pattern enters the mixture"),
        "n_patterns": (pl.Int64, "patterns that share its mass"),
        "score": (pl.Float64, "score of the first pattern, 0 to 1"),
        "cluster": (pl.Int64, "density cluster; null in a sparse place"),
        "nearest_pattern": (pl.String, "pattern with the nearest anchor sentences"),
        "nearest_similarity": (pl.Float64, "mean cosine to them"),
        "summary_chars": (pl.Int64, "characters of the skill's summary"),
    },
)
SIGNAL_PATTERNS = Table(
    "signal_patterns",
    "one pattern's share in one skill, with its evidence",
    {
        "source": (pl.String, "registry or file the snapshot came from"),
        "date": (pl.Date, "date of the snapshot"),
        "slug": (pl.String, "skill"),
        "pattern": (pl.String, "pattern"),
        "family": (pl.String, "signal family"),
        "share": (pl.Float64, "part of the skill's mass; the parts of a skill sum to 1"),
        "score": (pl.Float64, "weighed sum of the three kinds of evidence, 0 to 1"),
        "cues": (pl.Float64, "evidence of the cues, 0 to 1"),
        "similarity": (pl.Float64, "mean cosine to the pattern's two nearest anchors"),
        "in_cluster": (pl.Boolean, "the skill's cluster bears the pattern's name"),
        "hits": (pl.String, "JSON: cue, field, start, end and weight of each match"),
    },
)
PATTERNS = Table(
    "patterns",
    "one workflow pattern in one snapshot",
    {
        "source": (pl.String, "registry or file the snapshot came from"),
        "date": (pl.Date, "date of the snapshot"),
        "pattern": (pl.String, "pattern"),
        "family": (pl.String, "signal family"),
        "benchmarkable": (pl.Boolean, "enters the mixture"),
        "surface": (pl.String, "where the work happens"),
        "signals": (pl.Int64, "skills with a share in it"),
        "mass": (pl.Float64, "popularity, by measure and counting"),
        "weight": (pl.Float64, "share of the benchmarkable mass; 0 for the others"),
        "measure": (pl.String, "which count is the popularity"),
        "counting": (pl.String, "fractional or full"),
        "ideas": (pl.Int64, "recommended number of task ideas"),
    },
)
WEIGHTS = Table(
    "weights",
    "one family of one layer in one snapshot",
    {
        "source": (pl.String, "registry or file the snapshot came from"),
        "date": (pl.Date, "date of the snapshot"),
        "layer": (pl.String, "signal, task or display"),
        "family": (pl.String, "family; (unmapped) for what the crosswalk leaves over"),
        "weight": (pl.Float64, "share of the benchmarkable mass; sums to 1 in each layer"),
        "measure": (pl.String, "which count is the popularity"),
        "counting": (pl.String, "fractional or full"),
        "tasks": (pl.Int64, "tasks of the pool in the family (task layer)"),
        "gap": (pl.Float64, "weight minus the pool's share, percentage points (task layer)"),
        "suggested": (pl.Int64, "tasks in a release of the size asked for (task layer)"),
        "action": (pl.String, "PRIORITY, ADD, OK, TRIM or REDUCE (task layer)"),
    },
)

SIGNAL_TABLES = (SIGNALS, SIGNAL_PATTERNS, PATTERNS, WEIGHTS)
