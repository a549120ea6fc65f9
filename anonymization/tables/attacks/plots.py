"""The attack report as SVG charts: the same figures give the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

WIDTH = 760
_LABEL, _BAR = 410, 262  # where bars start, and how wide a rate of 1 is
_ROW, _HEAD = 24, 46
_PLOT, _SIDE, _GAP = 270, 54, 90  # side of a scatter plot, margin left of it, space between two
_TICKS = 4
_READ_FRONTIER = (
    "Dashes: declared limit of this risk, which releases stay below. Green: with the declared rank "
    "utility as well."
)

STYLE = """
.privacy text{font:13px system-ui,sans-serif;fill:#1d2430}
.privacy .big{font-size:15px;font-weight:650}
.privacy .soft{fill:#5b6675}
.privacy .rate{fill:#2f6f8f}
.privacy .above{fill:#b8452d}
.privacy .whisker,.privacy .axis{stroke:#1d2430;stroke-width:1;fill:none}
.privacy .chance{stroke:#5b6675;stroke-width:2;stroke-dasharray:2 2}
.privacy .limit{stroke:#1d2430;stroke-width:3}
.privacy .wanted{fill:#2f8f5b;fill-opacity:.16}
.privacy .dot{fill:#2f6f8f}
.privacy .own{fill:#b8452d}
@media (prefers-color-scheme:dark){
.privacy text{fill:#e6eaf0}
.privacy .soft{fill:#9aa7b6}
.privacy .rate,.privacy .dot{fill:#5fa8cb}
.privacy .above,.privacy .own{fill:#ef7d63}
.privacy .whisker,.privacy .axis{stroke:#e6eaf0}
.privacy .chance{stroke:#9aa7b6}
.privacy .limit{stroke:#e6eaf0}
}
"""


@dataclass(frozen=True, slots=True)
class RateRow:
    """A bar: a rate with its interval, the chance level, and the declared limit if one applies."""

    label: str
    rate: float
    low: float
    high: float
    chance: float
    limit: float | None


@dataclass(frozen=True, slots=True)
class Dot:
    """A setting: the utility it keeps (horizontal) and its risk (vertical), both 0 to 1."""

    label: str
    kept: float
    risk: float
    own: bool = False


@dataclass(frozen=True, slots=True)
class Scatter:
    """A plot of settings: a release passes below `most_risk`; in the green part, right of
    `least_kept`, it also keeps the declared utility."""

    heading: str
    dots: tuple[Dot, ...]
    least_kept: float
    most_risk: float


def rates_chart(rows: Sequence[RateRow], title: str, *, standalone: bool = False) -> str:
    """Horizontal bars, one per row; red where a limit is exceeded."""
    parts = [_text(0, 26, title, "big")]
    for at, row in enumerate(rows):
        parts.append(_rate(row, _HEAD + at * _ROW))
    y = _HEAD + len(rows) * _ROW + 20
    parts.append(
        _text(
            0,
            y,
            "Line: 95 % interval. Dashes: guessing. Thick mark: declared limit, red beyond it.",
            "soft",
        )
    )
    return _framed(parts, y + 12, title, standalone)


def _rate(row: RateRow, y: int) -> str:
    kind = "above" if row.limit is not None and row.rate > row.limit else "rate"
    low, high, chance = (_LABEL + _BAR * v for v in (row.low, row.high, row.chance))
    parts = [
        _text(_LABEL - 8, y + 15, row.label, "name", "end"),
        f'<rect class="{kind}" x="{_LABEL}" y="{y + 4}" width="{_BAR * row.rate:.1f}" '
        'height="13" rx="2"/>',
        f'<path class="whisker" d="M{low:.1f} {y + 10.5}H{high:.1f}"/>',
        f'<path class="chance" d="M{chance:.1f} {y + 1}V{y + 20}"/>',
        _text(_LABEL + _BAR + 14, y + 15, f"{100 * row.rate:.1f} %", "soft"),
    ]
    if row.limit is not None:
        at = _LABEL + _BAR * row.limit
        parts.append(f'<path class="limit" d="M{at:.1f} {y + 1}V{y + 20}"/>')
    return "".join(parts)


def frontier_chart(
    plots: Sequence[Scatter], across: str, title: str, *, standalone: bool = False
) -> str:
    """Up to two plots side by side, with one numbered list of the settings below."""
    parts = [_text(0, 26, title, "big")]
    least = min((dot.kept for plot in plots for dot in plot.dots), default=0.0)
    least_shown = min(int(least * 10) / 10, 0.9)
    for at, plot in enumerate(plots):
        parts.append(_scatter(plot, across, least_shown, _SIDE + at * (_PLOT + _GAP), _HEAD + 24))
    y = _HEAD + 24 + _PLOT + 64
    labels = [(dot.label, dot.own) for dot in plots[0].dots] if plots else []
    for number, (label, own) in enumerate(labels, 1):
        column, line = (number - 1) % 3, (number - 1) // 3
        kind = "own" if own else "name"
        parts.append(_text(column * WIDTH / 3, y + line * 20, f"{number}  {label}", kind))
    y += (len(labels) + 2) // 3 * 20
    parts.append(_text(0, y + 4, _READ_FRONTIER, "soft"))
    return _framed(parts, y + 16, title, standalone)


def _scatter(plot: Scatter, across: str, least_shown: float, x: float, y: float) -> str:
    def position(kept: float, risk: float) -> tuple[float, float]:
        return x + _PLOT * (kept - least_shown) / (1 - least_shown), y + _PLOT * (1 - risk)

    bottom = y + _PLOT
    wanted_x, wanted_y = position(max(plot.least_kept, least_shown), plot.most_risk)
    parts = [
        _text(x, y - 10, plot.heading, "name"),
        f'<rect class="wanted" x="{wanted_x:.1f}" y="{wanted_y:.1f}" '
        f'width="{x + _PLOT - wanted_x:.1f}" height="{bottom - wanted_y:.1f}"/>',
        f'<path class="chance" d="M{x:.1f} {wanted_y:.1f}H{x + _PLOT:.1f}"/>',
        f'<path class="axis" d="M{x:.1f} {y:.1f}V{bottom:.1f}H{x + _PLOT:.1f}"/>',
        _text(x + _PLOT / 2, bottom + 36, across, "soft", "middle"),
    ]
    for step in range(_TICKS + 1):
        share = step / _TICKS
        kept = least_shown + (1 - least_shown) * share
        parts.append(_text(x + _PLOT * share, bottom + 18, f"{kept:.2f}", "soft", "middle"))
        parts.append(_text(x - 6, bottom - _PLOT * share + 4, f"{share:.2f}", "soft", "end"))
    numbered = sorted(enumerate(plot.dots, 1), key=lambda item: item[1].own)  # own: on top
    for number, dot in numbered:
        at_x, at_y = position(dot.kept, dot.risk)
        kind = "own" if dot.own else "dot"
        parts.append(f'<circle class="{kind}" cx="{at_x:.1f}" cy="{at_y:.1f}" r="4"/>')
        parts.append(_text(at_x + 6, at_y + 4, str(number), "soft"))
    return "".join(parts)


def _framed(parts: Sequence[str], height: float, title: str, standalone: bool) -> str:
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" class="privacy" role="img" '
        f'viewBox="0 0 {WIDTH} {height:.0f}" aria-label={quoteattr(_plain(title))}>'
    )
    style = f"<style>{STYLE}</style>" if standalone else ""
    return f"{head}{style}{''.join(parts)}</svg>"


def _plain(text: str) -> str:
    """One line of characters allowed in XML: names come from files that anyone may edit."""
    return "".join(char if char.isprintable() else " " for char in text)


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">'
        f"{escape(_plain(text))}</text>"
    )
