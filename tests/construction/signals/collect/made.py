"""Signals and snapshots made for tests."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from construction.signals.collect import CollectConfig, Collected, collect_file
from construction.signals.collect.snapshot import _make_snapshot
from data.contracts import Popularity, Signal, SignalProvenance, SignalSnapshot

DAY = dt.date(2026, 3, 1)


def made_signal(slug: str, downloads: int, date: dt.date = DAY, summary: str = "") -> Signal:
    return Signal(
        slug=slug,
        name=slug.title(),
        summary=summary,
        owner=None,
        popularity={Popularity.DOWNLOADS: downloads},
        tags=(),
        provenance=SignalProvenance("made", date, None, 1),
    )


def made_snapshot(counts: Mapping[str, int], date: dt.date = DAY) -> SignalSnapshot:
    signals = [made_signal(slug, count, date) for slug, count in counts.items()]
    return _make_snapshot("made", date, Popularity.DOWNLOADS, signals)


def collect_text(folder: Path, text: str | bytes, name: str = "list.csv", **more: Any) -> Collected:
    """Write a file and collect it; `top` as in CollectConfig, 500 unless told."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return collect_file(path, "made", DAY, CollectConfig(**more))
