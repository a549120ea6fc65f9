"""Bars for the pages: values with the share of the longest bar, drawn by the templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from data.snapshot.pages import thousands

_FULL = 100.0  # width of the longest bar, in units of its view box


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a bar: its style class, where it starts and how long it is (0 to 100)."""

    kind: str
    start: float
    length: float


@dataclass(frozen=True, slots=True)
class Bar:
    """A labelled bar; `text` is the number as shown."""

    label: str
    text: str
    segments: tuple[Segment, ...]


def bars(rows: Sequence[Mapping[str, Any]], label: str = "value", n: str = "n") -> list[Bar]:
    """One plain bar per row, scaled to the largest."""
    top = max((row[n] for row in rows), default=0)
    return [
        Bar(str(row[label]), thousands(row[n]), (Segment("plain", 0.0, _scaled(row[n], top)),))
        for row in rows
    ]


def stacks(rows: Sequence[Mapping[str, Any]], kinds: Sequence[str], label: str) -> list[Bar]:
    """One bar per row with a segment per kind, scaled to the row with the largest sum."""
    top = max((sum(row[kind] for kind in kinds) for row in rows), default=0)
    return [_stack(row, kinds, label, top) for row in rows]


def _stack(row: Mapping[str, Any], kinds: Sequence[str], label: str, top: int) -> Bar:
    segments: list[Segment] = []
    done = 0
    for kind in kinds:
        if row[kind]:
            segments.append(Segment(kind, _scaled(done, top), _scaled(row[kind], top)))
        done += row[kind]
    return Bar(str(row[label]), thousands(done), tuple(segments))


def _scaled(n: int, top: int) -> float:
    return round(_FULL * n / top, 2) if top else 0.0
