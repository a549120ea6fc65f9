"""How good the rebuilt names are."""

from __future__ import annotations

from typing import Any

import polars as pl

from construction.statements.model import HierarchyMethod


def hierarchy_report(series: pl.DataFrame, points: pl.DataFrame | None = None) -> dict[str, Any]:
    """Shares by method, a histogram of depths, and how much stands under a section.

    `under_sections` is the share of series with more than statement and label; with `points`
    also of points, as `points_under_sections`. `shared_names` counts names that two series of a
    company share, zero after `rebuild`. Shares are rounded to 1e-9; 0.0 for an empty table.
    """
    total = series.height
    methods = dict(series.group_by("method").len().iter_rows())
    depths = series.group_by("depth").len().sort("depth")
    deep = series.filter(pl.col("depth") > 2)
    report: dict[str, Any] = {
        "n_series": total,
        "by_method": {str(m): _share(methods.get(str(m), 0), total) for m in HierarchyMethod},
        "depths": {str(depth): int(n) for depth, n in depths.iter_rows()},
        "under_sections": _share(deep.height, total),
        "shared_names": total - series.select("company_id", "name").n_unique(),
        "by_statement": _by_statement(series),
    }
    if points is not None:
        inside = points.join(deep, on="series_id", how="semi").height
        report["points_under_sections"] = _share(inside, points.height)
    return report


def _by_statement(series: pl.DataFrame) -> dict[str, dict[str, int]]:
    counts = series.group_by("statement", "method").len().sort("statement", "method")
    found: dict[str, dict[str, int]] = {}
    for statement, method, n in counts.iter_rows():
        found.setdefault(statement, {})[method] = n
    return found


def _share(part: int, whole: int) -> float:
    return round(part / whole, 9) if whole else 0.0
