"""The quality of a chosen subset, measured against the pool it came from.

On disk it is `quality.json`, `quality.md` and charts (SVG; the same data give the same bytes).
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from data.atomic import write_bytes
from data.canonical import pretty_json
from data.figures import percent
from data.progress import track
from selection.config import SelectionConfig
from selection.estimator import (
    LEAST_PILOTS,
    Estimator,
    PilotFits,
    Reliability,
    kendall_tau,
    mean_absolute_error,
    pool_means,
    reliability,
    spearman,
    subset_means,
)
from selection.model import Programme
from selection.pool import Pool, filled
from selection.scores import Floats
from selection.select import NEAR_OPTIMAL, churn_frontier, near_optimal


@dataclass(frozen=True, slots=True)
class _ModelMeans:
    """A pilot's mean on the pool and the subset, and its pool mean as estimated from the subset
    by an estimator fitted on other pilots (None with fewer than three pilots)."""

    model: str
    pool: float
    subset: float
    calibrated: float | None


@dataclass(frozen=True, slots=True)
class _PassCounts:
    """Items that every pilot passes, or fails, under a threshold (score ≥ it passes)."""

    threshold: float
    all_pass_pool: int
    all_fail_pool: int
    all_pass_subset: int
    all_fail_subset: int


@dataclass(frozen=True, slots=True)
class _ItemDiscrimination:
    """Population standard deviation of an item's scores over the pilots."""

    item: str
    family: str
    deviation: float


@dataclass(frozen=True, slots=True)
class _NearOptimal:
    """The near-optimal subsets: `worst_objective` as a share of the optimum, range of tau."""

    subsets: int
    worst_objective: float | None
    tau_low: float | None
    tau_high: float | None


@dataclass(frozen=True, slots=True)
class _Frontier:
    """Quality at a bound on the share of changed items; None where no subset exists."""

    max_changed: float
    changed: int | None
    objective: int | None
    tau: float | None
    mean_error: float | None


@dataclass(frozen=True, slots=True)
class Quality:
    """The whole report. Errors and gaps are in score points of [0, 1].

    `estimator` is the method of `selection.estimator` that was taken, `estimator_errors` are those
    of each method; None and empty with fewer than three pilots.
    """

    size: int
    pool_size: int
    tau: float
    spearman: float
    mean_error: float
    calibrated_error: float | None
    estimator: str | None
    estimator_errors: Mapping[str, float]
    models: tuple[_ModelMeans, ...]
    reliability: Reliability
    discrimination: tuple[_ItemDiscrimination, ...]
    pool_deviation: float
    subset_deviation: float
    pass_counts: tuple[_PassCounts, ...]
    near_optimal: _NearOptimal
    frontier: tuple[_Frontier, ...]


def measure_quality(
    pool: Pool,
    config: SelectionConfig,
    programme: Programme,
    chosen: NDArray[np.bool_],
) -> Quality:
    """Measure a subset of a pool with the scores of at least two pilots.

    Raises ValueError with fewer.
    """
    if len(pool.pilots) < 2:
        raise ValueError("quality needs scores from at least two pilots")
    full, here = pool_means(pool.scores), subset_means(pool.scores, chosen[None, :])[0]
    estimator = None
    if len(pool.pilots) >= LEAST_PILOTS:
        estimator = PilotFits(pool.scores).estimator(chosen)
    deviations = filled(pool.scores).std(axis=1).round(9)
    return Quality(
        size=int(chosen.sum()),
        pool_size=len(pool.items),
        tau=_tau(pool, chosen),
        spearman=round(spearman(here, full), 9),
        mean_error=round(mean_absolute_error(here, full), 9),
        calibrated_error=estimator.errors[estimator.method] if estimator else None,
        estimator=str(estimator.method) if estimator else None,
        estimator_errors={str(name): error for name, error in estimator.errors.items()}
        if estimator
        else {},
        models=_models(pool, full, here, estimator),
        reliability=reliability(pool.pilots, pool.scores, pool.scores[chosen], config.seed),
        discrimination=_discrimination(pool, chosen, deviations),
        pool_deviation=round(float(deviations.mean()), 9),
        subset_deviation=round(float(deviations[chosen].mean()), 9),
        pass_counts=_pass_counts(pool, config, chosen),
        near_optimal=_near_optimal(pool, programme, chosen, config.seed),
        frontier=_frontier(pool, config),
    )


def _tau(pool: Pool, chosen: NDArray[np.bool_]) -> float:
    means = subset_means(pool.scores, chosen[None, :])
    return round(float(kendall_tau(means, pool_means(pool.scores))[0]), 9)


def _models(
    pool: Pool, full: Floats, here: Floats, estimator: Estimator | None
) -> tuple[_ModelMeans, ...]:
    return tuple(
        _ModelMeans(
            model=model,
            pool=float(full[column]),
            subset=float(here[column]),
            calibrated=None if estimator is None else round(float(estimator.crossed[column]), 9),
        )
        for column, model in enumerate(pool.pilots)
    )


def _discrimination(
    pool: Pool, chosen: NDArray[np.bool_], deviations: Floats
) -> tuple[_ItemDiscrimination, ...]:
    return tuple(
        _ItemDiscrimination(pool.items[i].item_id, pool.items[i].family, float(deviations[i]))
        for i in np.flatnonzero(chosen)
    )


def _pass_counts(
    pool: Pool, config: SelectionConfig, chosen: NDArray[np.bool_]
) -> tuple[_PassCounts, ...]:
    thresholds = {config.selection_threshold, config.public_threshold} - {None}
    known = ~np.isnan(pool.scores)
    scored: NDArray[np.bool_] = np.asarray(known.any(axis=1))
    counts = []
    for threshold in sorted(value for value in thresholds if value is not None):
        passes = np.nan_to_num(pool.scores, nan=-1.0) >= threshold - 1e-9
        all_pass: NDArray[np.bool_] = np.asarray((passes | ~known).all(axis=1)) & scored
        all_fail: NDArray[np.bool_] = ~np.asarray(passes.any(axis=1)) & scored
        counts.append(
            _PassCounts(
                threshold=threshold,
                all_pass_pool=int(all_pass.sum()),
                all_fail_pool=int(all_fail.sum()),
                all_pass_subset=int(all_pass[chosen].sum()),
                all_fail_subset=int(all_fail[chosen].sum()),
            )
        )
    return tuple(counts)


def _near_optimal(
    pool: Pool,
    programme: Programme,
    chosen: NDArray[np.bool_],
    key: int,
) -> _NearOptimal:
    subsets = near_optimal(programme, chosen, key)
    alternatives = list(track(subsets, "near-optimal", NEAR_OPTIMAL, "subset"))
    if not alternatives:
        return _NearOptimal(0, None, None, None)
    best = programme.objective(chosen)
    worst = min(each.objective for each in alternatives)
    taus = [_tau(pool, each.chosen) for each in alternatives]
    share = round(worst / best, 9) if best > 0 else None
    return _NearOptimal(len(alternatives), share, min(taus), max(taus))


def _frontier(pool: Pool, config: SelectionConfig) -> tuple[_Frontier, ...]:
    full = pool_means(pool.scores)
    new = np.array([not item.in_last_release for item in pool.items], dtype=bool)
    points = []
    for point in churn_frontier(pool, config):
        share = round(point.max_changed, 9)
        if point.best is None:
            points.append(_Frontier(share, None, None, None, None))
            continue
        subset = point.best.chosen
        here = subset_means(pool.scores, subset[None, :])[0]
        points.append(
            _Frontier(
                max_changed=share,
                changed=int((subset & new).sum()),
                objective=point.best.objective,
                tau=_tau(pool, subset),
                mean_error=round(mean_absolute_error(here, full), 9),
            )
        )
    return tuple(points)


JSON, _TEXT = "quality.json", "quality.md"
_BARS = 12  # bins of the histogram of discrimination
_LEAST_LISTED = 10  # how many of the least discriminating items the text lists


def write_quality(out: Path, quality: Quality) -> None:
    """Write the report; the same quality gives the same bytes."""
    out.mkdir(parents=True, exist_ok=True)
    write_bytes(out / JSON, pretty_json(asdict(quality)))
    pictures = {name: draw(chart) for name, chart in _charts(quality).items()}
    for name, content in pictures.items():
        write_bytes(out / name, content)
    write_bytes(out / _TEXT, _text_of(quality, sorted(pictures)).encode())


def _charts(quality: Quality) -> dict[str, _Chart]:
    """The charts by file name; the frontier only if a last release is known."""
    by_name = {
        "quality-means.svg": _Chart(
            "Mean score of each pilot",
            "on the pool",
            "on the subset",
            tuple((each.pool, each.subset) for each in quality.models),
            Shape.DOTS,
            tuple(each.model for each in quality.models),
            diagonal=True,
        ),
        "quality-reliability.svg": _Chart(
            "Order preserved, by gap in the pool",
            "gap of more than (score points out of 100)",
            "bootstrap probability",
            tuple((100 * each.above, each.reliability) for each in quality.reliability.by_gap),
            Shape.LINE,
        ),
        "quality-discrimination.svg": _histogram(quality),
    }
    solved = [point for point in quality.frontier if point.tau is not None]
    if solved:
        by_name["quality-frontier.svg"] = _Chart(
            "Order preserved, by how much may change",
            "largest share of changed items",
            "Kendall tau with the pool",
            tuple((point.max_changed, point.tau or 0.0) for point in solved),
            Shape.LINE,
        )
    return by_name


def _histogram(quality: Quality) -> _Chart:
    values = [each.deviation for each in quality.discrimination]
    top = max(values, default=0.0) or 1.0
    counts, edges = np.histogram(values, bins=_BARS, range=(0.0, top))
    points = tuple(zip(edges[:-1].tolist(), counts.astype(float).tolist(), strict=True))
    return _Chart(
        "Discrimination of the chosen items",
        "standard deviation over the pilots",
        "items",
        points,
        Shape.BARS,
        bar_width=top / _BARS,
    )


def _text_of(quality: Quality, pictures: Sequence[str]) -> str:
    """The report as Markdown; names of models and items are neutralised."""
    parts = [
        *_summary(quality),
        *(f"![{name}]({name})\n" for name in pictures),
        *_means(quality),
        *_order(quality),
        *_gaps(quality),
        *_passes(quality),
        *_weakest(quality),
        *_frontier_lines(quality),
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
    others = "no other subset is possible near this one"
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
        f"- {quality.size} of {quality.pool_size} items, {len(quality.models)} pilots. All "
        "figures are for the pilots used to choose the subset; expect lower figures for other "
        "models.",
        f"- Order: Kendall tau {quality.tau:.3f}, Spearman {quality.spearman:.3f} with the pool.",
        f"- Mean: {100 * quality.mean_error:.2f} points off on average{calibrated}.",
        f"- Gaps whose order is preserved with 95 % probability: {gap}.",
        f"- Discrimination (standard deviation over the pilots): {quality.subset_deviation:.3f} on "
        f"average, {quality.pool_deviation:.3f} in the pool.",
        f"- Near-optimal subsets (a tenth of the items withheld in turn): {others}.",
        "",
    ]


def _means(quality: Quality) -> list[str]:
    rows = [
        (
            _plain(each.model),
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
            f"{_plain(each.better)} ahead of {_plain(each.worse)}",
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
    return _table("Items that do not distinguish the pilots: subset (pool)", head, rows)


def _weakest(quality: Quality) -> list[str]:
    ordered = sorted(quality.discrimination, key=lambda each: (each.deviation, each.item))
    rows = [
        (_plain(each.item), _plain(each.family), f"{each.deviation:.4f}")
        for each in ordered[:_LEAST_LISTED]
    ]
    return _table("Least discrimination", ("item", "family", "standard deviation"), rows)


def _frontier_lines(quality: Quality) -> list[str]:
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


def _plain(name: str) -> str:
    """A name as inline code that can neither break its table cell nor act as markup."""
    kept = "".join(
        " " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in name
    )
    return "`" + kept.replace("`", "'").replace("|", "¦") + "`"


_WIDTH, _HEIGHT = 560, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 40, 52
_INK, _PALE, _MARK, _GUIDE = "#333333", "#e3e3e3", "#2a6f97", "#c8553d"
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_TICKS = 5
_LONGEST = 60  # characters of a label


class Shape(StrEnum):
    DOTS = "dots"
    LINE = "line"
    BARS = "bars"


@dataclass(frozen=True, slots=True)
class _Chart:
    """One chart. `points` are (x, y); for bars x is the left edge and `bar_width` its width.

    `labels` (one per point) are shown when the pointer rests on a mark; `diagonal` draws y = x.
    """

    title: str
    x_label: str
    y_label: str
    points: tuple[tuple[float, float], ...]
    shape: Shape
    labels: tuple[str, ...] = ()
    bar_width: float = 0.0
    diagonal: bool = False


@dataclass(frozen=True, slots=True)
class _Axis:
    """A range of values on a range of pixels, with round ticks."""

    low: float
    high: float
    start: float
    end: float
    step: float

    def at(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        count = round((self.high - self.low) / self.step)
        return [self.low + self.step * number for number in range(count + 1)]


def draw(chart: _Chart) -> bytes:
    """The chart as a UTF-8 SVG document. Raises ValueError if a number is not finite."""
    if not all(math.isfinite(value) for point in chart.points for value in point):
        raise ValueError(f"chart {chart.title!r} has a number that is not finite")
    x, y = _axes(chart)
    body = [*_grid(chart, x, y), *_guide(chart, x, y), *_marks(chart, x, y)]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img" font-family="sans-serif" font-size="12" '
        f'fill="{_INK}">'
    )
    background = f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>'
    return "\n".join([head, background, *body, "</svg>", ""]).encode()


def _axes(chart: _Chart) -> tuple[_Axis, _Axis]:
    across = [point[0] for point in chart.points] or [0.0]
    up = [point[1] for point in chart.points] or [0.0]
    if chart.shape is Shape.BARS:
        across, up = [*across, *(value + chart.bar_width for value in across)], [*up, 0.0]
    if chart.diagonal:
        across = up = [*across, *up]
    return (
        _axis(across, _LEFT, _WIDTH - _RIGHT),
        _axis(up, _HEIGHT - _BOTTOM, _TOP),
    )


def _axis(values: Sequence[float], start: float, end: float) -> _Axis:
    low, high = min(values), max(values)
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / _TICKS
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in _STEPS if unit * factor >= rough - 1e-12)
    low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return _Axis(low, high, start, end, step)


def _grid(chart: _Chart, x: _Axis, y: _Axis) -> list[str]:
    parts = [_text(_WIDTH / 2, 22, chart.title, size=14)]
    for value in x.ticks():
        at = x.at(value)
        parts.append(_line(at, y.start, at, y.end, _PALE))
        parts.append(_text(at, y.start + 18, _number(value)))
    for value in y.ticks():
        at = y.at(value)
        parts.append(_line(x.start, at, x.end, at, _PALE))
        parts.append(_text(x.start - 8, at + 4, _number(value), anchor="end"))
    middle = (y.start + y.end) / 2
    parts.append(_text((x.start + x.end) / 2, _HEIGHT - 12, chart.x_label))
    parts.append(_text(16, middle, chart.y_label, turn=True))
    return parts


def _guide(chart: _Chart, x: _Axis, y: _Axis) -> list[str]:
    if not chart.diagonal:
        return []
    low, high = max(x.low, y.low), min(x.high, y.high)
    return [_line(x.at(low), y.at(low), x.at(high), y.at(high), _GUIDE)]


def _marks(chart: _Chart, x: _Axis, y: _Axis) -> list[str]:
    placed = [(x.at(across), y.at(up)) for across, up in chart.points]
    titles = [f"<title>{_safe(label)}</title>" for label in chart.labels] or [""] * len(placed)
    if chart.shape is Shape.BARS:
        floor, width = y.at(0.0), max(1.0, x.at(x.low + chart.bar_width) - x.start - 1.0)
        return [
            f'<rect x="{left:.2f}" y="{min(top, floor):.2f}" width="{width:.2f}" '
            f'height="{abs(floor - top):.2f}" fill="{_MARK}">{title}</rect>'
            for (left, top), title in zip(placed, titles, strict=True)
        ]
    path = " ".join(f"{across:.2f},{up:.2f}" for across, up in placed)
    joined = f'<polyline points="{path}" fill="none" stroke="{_MARK}" stroke-width="2"/>'
    dots = [
        f'<circle cx="{across:.2f}" cy="{up:.2f}" r="3.5" fill="{_MARK}">{title}</circle>'
        for (across, up), title in zip(placed, titles, strict=True)
    ]
    return [joined, *dots] if chart.shape is Shape.LINE and placed else dots


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" stroke="{colour}"/>'


def _text(
    x: float, y: float, text: str, *, anchor: str = "middle", size: int = 12, turn: bool = False
) -> str:
    turned = f' transform="rotate(-90 {x:.2f} {y:.2f})"' if turn else ""
    return (
        f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}" font-size="{size}"{turned}>'
        f"{_safe(text)}</text>"
    )


def _number(value: float) -> str:
    return f"{round(value, 9) + 0.0:.6g}"  # + 0.0 turns -0 into 0


def _safe(text: str) -> str:
    """Escaped, without control characters and lone surrogates, which XML does not admit."""
    printable = "".join(c if c.isprintable() else " " for c in text[:_LONGEST])
    return escape(printable, quote=True)
