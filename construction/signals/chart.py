"""Draws the mixture as SVG: weights, change and gap. Equal figures give equal bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from construction.signals.gap import Action, CoverageGap
from construction.signals.weights import Mixture, MixtureChange
from data.figures import percent

_WIDTH = 760
# Where bars start, and the length of the longest: both shares behind it end before the notes.
_BAR_AT, _BAR = 290, 198
_NOTE_AT = 650  # where the notes start
_LONGEST = 38  # characters of a label
_ROW, _HEAD = 24, 46

STYLE = """
.mixture text{font:13px system-ui,sans-serif;fill:#1d2430}
.mixture .big{font-size:15px;font-weight:650}
.mixture .soft{fill:#5b6675}
.mixture .weight{fill:#2f6f8f}
.mixture .held{stroke:#b8452d;stroke-width:3}
.mixture .more{fill:#a3341f}
@media (prefers-color-scheme:dark){
.mixture text{fill:#e6eaf0}
.mixture .soft{fill:#9aa7b6}
.mixture .weight{fill:#5fa8cb}
.mixture .held{stroke:#ef7d63}
.mixture .more{fill:#ff9a82}
}
"""


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A bar for `weight` (0 to 1); `share` (0 to 1), that of the pool, is drawn as a mark."""

    label: str
    weight: float
    note: str
    share: float | None = None
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    heading: str
    rows: tuple[ChartRow, ...]


def mixture_panel(
    mixture: Mixture, names: Mapping[str, str], change: MixtureChange | None = None
) -> Panel:
    """Weights by signal family, heaviest first, with the change since the previous snapshot.

    A family that the previous snapshot had and this one lacks stays, without a bar.
    """
    moved = {row.name: row.points for row in change.families} if change else {}
    known = dict.fromkeys(moved, 0.0) | mixture.weights
    weights = sorted(known.items(), key=lambda item: (-item[1], item[0]))
    rows = tuple(
        ChartRow(names.get(family, family), weight, _points(moved.get(family, 0)) if change else "")
        for family, weight in weights
    )
    since = f"; points since {change.before.isoformat()}" if change else ""
    return Panel(f"Market weight by {mixture.measure}, {mixture.counting} counting{since}", rows)


def gap_panel(gap: CoverageGap, names: Mapping[str, str]) -> Panel:
    """Weights by task family against the shares of the pool, largest gap first."""
    rows = tuple(
        ChartRow(
            names.get(row.family, row.family),
            row.weight,
            f"{_points(row.gap)} {row.action}",
            row.share,
            row.action in (Action.PRIORITY, Action.REDUCE),
        )
        for row in gap.rows
    )
    return Panel(
        f"Market share (bar) and pool share (mark), by task family; {gap.tasks} tasks in the pool",
        rows,
    )


def draw(panels: Sequence[Panel], title: str, *, standalone: bool = False) -> str:
    """The panels below each other as an `<svg>`; a standalone file contains its style."""
    parts: list[str] = []
    y = 0
    for panel in panels:
        parts.append(_text(0, y + 26, panel.heading, "big"))
        y += _HEAD
        top = max([*(row.weight for row in panel.rows), *(row.share or 0 for row in panel.rows), 0])
        for row in panel.rows:
            parts.append(_bar(row, y, top))
            y += _ROW
        y += _ROW
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="mixture" role="img" '
        f'viewBox="0 0 {_WIDTH} {max(y, _ROW)}" aria-label={quoteattr(_plain(title))}>'
    )
    style = f"<style>{STYLE}</style>" if standalone else ""
    return head + style + "".join(parts) + "</svg>"


def _bar(row: ChartRow, y: int, top: float) -> str:
    scale = _BAR / top if top else 0.0
    parts = [
        _text(_BAR_AT - 8, y + 14, _short(row.label.replace("_", " ")), "name", "end"),
        f'<rect class="weight" x="{_BAR_AT}" y="{y + 3}" '
        f'width="{row.weight * scale:.1f}" height="14" rx="2"/>',
    ]
    end, figure = row.weight, percent(row.weight)
    if row.share is not None:
        at = _BAR_AT + row.share * scale
        parts.append(f'<path class="held" d="M{at:.1f} {y}V{y + 20}"/>')
        end, figure = max(end, row.share), f"{figure}, pool {percent(row.share)}"
    parts.append(_text(_BAR_AT + end * scale + 6, y + 15, figure, "soft"))
    parts.append(_text(_NOTE_AT, y + 15, row.note, "more" if row.marked else "soft"))
    return "".join(parts)


def _points(points: float) -> str:
    """The points with sign, one decimal and a real minus; zero after rounding has no sign."""
    digits = f"{abs(points):.1f}"
    if float(digits) == 0:
        return digits
    return f"+{digits}" if points > 0 else f"−{digits}"


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"


def _plain(text: str) -> str:
    """The text as one line of printable characters: names come from files that anyone may edit."""
    return "".join(char if char.isprintable() else " " for char in text)


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y}" class="{kind}" text-anchor="{anchor}">'
        f"{escape(_plain(text))}</text>"
    )
