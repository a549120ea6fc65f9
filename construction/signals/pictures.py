"""The pictures of a release: the mixture, what the pool lacks, and the subset for manual audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from construction.signals.chart import STYLE, ChartRow, Panel, draw, gap_panel
from construction.signals.gap import Action, CoverageGap, GapRow
from construction.signals.mixture import mixture_picture
from data.snapshot import Picture


def pictures_of(signals: Sequence[Path], selection: Mapping[str, Any]) -> dict[str, Picture]:
    """By name: `audit/<name>.svg` and a section of the report, each where there are figures."""
    pictures = {"mixture": mixture_picture(signals[0])} if signals else {}
    if gap := selection.get("coverage_gap"):
        pictures["coverage-gap"] = _picture("Coverage gap", [gap_panel(_gap(gap), {})])
    if lite := selection.get("lite"):
        heading = f"Lite subset for manual audit: {lite['size']} of {lite['pool_size']} tasks"
        pictures["lite-subset"] = _picture(heading, [_margin(row) for row in lite["margins"]])
    return pictures


def _picture(title: str, panels: list[Panel]) -> Picture:
    return Picture(title, draw(panels, title), draw(panels, title, standalone=True), STYLE)


def _gap(report: Mapping[str, Any]) -> CoverageGap:
    rows = tuple(GapRow(**row | {"action": Action(row["action"])}) for row in report["rows"])
    return CoverageGap(**{**report, "rows": rows})


def _margin(margin: Mapping[str, Any]) -> Panel:
    """One way of counting: share of the release (bar), of the subset (mark), and the counts."""
    pool, subset = margin["pool"], margin["subset"]
    rows = tuple(
        ChartRow(
            name,
            n / sum(pool.values()),
            f"{subset.get(name, 0)} of {n}",
            subset.get(name, 0) / sum(subset.values()),
        )
        for name, n in sorted(pool.items(), key=lambda item: (-item[1], item[0]))
    )
    name = margin["name"].replace("_", " ")
    return Panel(f"By {name}: total variation distance {margin['distance']:.3f}", rows)
