"""Small charts as SVG: dots, lines and bars on one pair of axes; same data, same bytes.

Coordinates are written with two decimals, every text is escaped, and nothing is loaded from
elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape

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
class Chart:
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


def draw(chart: Chart) -> bytes:
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


def _axes(chart: Chart) -> tuple[_Axis, _Axis]:
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


def _grid(chart: Chart, x: _Axis, y: _Axis) -> list[str]:
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


def _guide(chart: Chart, x: _Axis, y: _Axis) -> list[str]:
    if not chart.diagonal:
        return []
    low, high = max(x.low, y.low), min(x.high, y.high)
    return [_line(x.at(low), y.at(low), x.at(high), y.at(high), _GUIDE)]


def _marks(chart: Chart, x: _Axis, y: _Axis) -> list[str]:
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
