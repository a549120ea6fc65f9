"""The quality report on disk: `quality.json`, `quality.md` and its charts."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from data.atomic import write_bytes
from data.canonical import pretty_json
from data.figures import percent
from selection.plots import Chart, Shape, draw
from selection.quality import Quality

JSON, TEXT = "quality.json", "quality.md"
_BARS = 12  # bins of the histogram of discrimination
_LEAST_LISTED = 10  # how many of the least discriminating items the text lists


def write_quality(out: Path, quality: Quality) -> None:
    """Write the report; the same quality gives the same bytes."""
    out.mkdir(parents=True, exist_ok=True)
    write_bytes(out / JSON, pretty_json(asdict(quality)))
    pictures = {name: draw(chart) for name, chart in charts(quality).items()}
    for name, content in pictures.items():
        write_bytes(out / name, content)
    write_bytes(out / TEXT, text_of(quality, sorted(pictures)).encode())


def charts(quality: Quality) -> dict[str, Chart]:
    """The charts by file name; the frontier only if a last release is known."""
    by_name = {
        "quality-means.svg": Chart(
            "Mean score of each pilot",
            "on the pool",
            "on the subset",
            tuple((each.pool, each.subset) for each in quality.models),
            Shape.DOTS,
            tuple(each.model for each in quality.models),
            diagonal=True,
        ),
        "quality-reliability.svg": Chart(
            "Order kept, by the gap in the pool",
            "gap of more than (score points of 100)",
            "bootstrap probability",
            tuple((100 * each.above, each.reliability) for each in quality.reliability.by_gap),
            Shape.LINE,
        ),
        "quality-discrimination.svg": _histogram(quality),
    }
    solved = [point for point in quality.frontier if point.tau is not None]
    if solved:
        by_name["quality-frontier.svg"] = Chart(
            "Order kept, by how much may change",
            "largest share of changed items",
            "Kendall tau with the pool",
            tuple((point.max_changed, point.tau or 0.0) for point in solved),
            Shape.LINE,
        )
    return by_name


def _histogram(quality: Quality) -> Chart:
    values = [each.deviation for each in quality.discrimination]
    top = max(values, default=0.0) or 1.0
    counts, edges = np.histogram(values, bins=_BARS, range=(0.0, top))
    points = tuple(zip(edges[:-1].tolist(), counts.astype(float).tolist(), strict=True))
    return Chart(
        "Discrimination of the chosen items",
        "standard deviation over the pilots",
        "items",
        points,
        Shape.BARS,
        bar_width=top / _BARS,
    )


def text_of(quality: Quality, pictures: Sequence[str]) -> str:
    """The report as Markdown; names of models and items are neutralised."""
    parts = [
        *_summary(quality),
        *(f"![{name}]({name})\n" for name in pictures),
        *_means(quality),
        *_order(quality),
        *_gaps(quality),
        *_passes(quality),
        *_weakest(quality),
        *_frontier(quality),
    ]
    return "\n".join(parts) + "\n"


def _summary(quality: Quality) -> list[str]:
    smallest, near = quality.reliability.smallest_gap, quality.near_optimal
    gap = "none" if smallest is None else f"more than {100 * smallest:g} points"
    calibrated = (
        ""
        if quality.calibrated_error is None
        else f", {100 * quality.calibrated_error:.2f} calibrated by the {quality.estimator} "
        f"(each pilot from others)"
    )
    others = "no other subset is possible near it"
    if near.tau_low is not None and near.tau_high is not None:
        share = (
            ""
            if near.worst_objective is None
            else (f", at {percent(near.worst_objective)} of the objective or better")
        )
        others = f"{near.subsets} found{share}; tau {near.tau_low:.3f} to {near.tau_high:.3f}"
    return [
        "# Quality of the subset",
        "",
        f"- {quality.size} of {quality.pool_size} items, {len(quality.models)} pilots. All figures "
        "are for the pilots that the subset was chosen with; expect less for other models.",
        f"- Order: Kendall tau {quality.tau:.3f}, Spearman {quality.spearman:.3f} with the pool.",
        f"- Mean: {100 * quality.mean_error:.2f} points off on average{calibrated}.",
        f"- Gaps whose order is kept with 95 % probability: {gap}.",
        f"- Discrimination (standard deviation over the pilots): {quality.subset_deviation:.3f} on "
        f"average, {quality.pool_deviation:.3f} in the pool.",
        f"- Near-optimal subsets (a tenth of the items withheld in turn): {others}.",
        "",
    ]


def _means(quality: Quality) -> list[str]:
    rows = [
        (
            plain(each.model),
            f"{each.pool:.4f}",
            f"{each.subset:.4f}",
            "" if each.calibrated is None else f"{each.calibrated:.4f}",
        )
        for each in quality.models
    ]
    return _table("Means", ("model", "pool", "subset", "calibrated"), rows)


def _order(quality: Quality) -> list[str]:
    rows = [
        (
            f"{plain(each.better)} ahead of {plain(each.worse)}",
            f"{100 * each.gap:.2f}",
            f"{100 * each.subset_gap:.2f}",
            f"{each.probability:.3f}",
        )
        for each in quality.reliability.adjacent
    ]
    head = ("neighbours in the pool", "gap, points", "gap in the subset", "probability")
    return _table("Order of neighbours (bootstrap over items)", head, rows)


def _gaps(quality: Quality) -> list[str]:
    rows = [
        (f"{100 * c.above:g} to {100 * c.up_to:g}", str(c.pairs), f"{c.reliability:.3f}")
        for c in quality.reliability.by_gap
    ]
    return _table("Reliability by gap", ("gap, points", "pairs", "order kept"), rows)


def _passes(quality: Quality) -> list[str]:
    rows = [
        (
            f"{each.threshold:g}",
            f"{each.all_pass_subset} ({each.all_pass_pool})",
            f"{each.all_fail_subset} ({each.all_fail_pool})",
        )
        for each in quality.pass_counts
    ]
    head = ("threshold", "all pilots pass", "all pilots fail")
    return _table("Items that tell no pilots apart: subset (pool)", head, rows)


def _weakest(quality: Quality) -> list[str]:
    ordered = sorted(quality.discrimination, key=lambda each: (each.deviation, each.item))
    rows = [
        (plain(each.item), plain(each.family), f"{each.deviation:.4f}")
        for each in ordered[:_LEAST_LISTED]
    ]
    return _table("Least discrimination", ("item", "family", "standard deviation"), rows)


def _frontier(quality: Quality) -> list[str]:
    if not quality.frontier:
        return []
    rows = [
        (
            percent(p.max_changed, 0),
            str(p.changed),
            f"{p.tau:.3f}",
            f"{100 * (p.mean_error or 0):.2f}",
        )
        if p.tau is not None
        else (percent(p.max_changed, 0), "impossible", "", "")
        for p in quality.frontier
    ]
    head = ("may change", "changed", "tau", "error of the mean, points")
    return _table("Change against quality", head, rows)


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"## {title}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows), ""]


def plain(name: str) -> str:
    """A name as inline code that can neither break its table cell nor act as markup."""
    kept = "".join(
        " " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in name
    )
    return "`" + kept.replace("`", "'").replace("|", "¦") + "`"
