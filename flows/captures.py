"""Capturing a registry's listing as an input of today, which a rebuild replays."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from construction.signals.collect import RegistryConfig, collect_registry
from construction.signals.config import SignalsRecipe


def capture_registry(base_url: str, recipe: SignalsRecipe, folder: Path, date: dt.date) -> Path:
    """Write `capture-DATE.jsonl`; a capture that was cut off goes on. Tells how it stopped."""
    path = folder / f"capture-{date}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    settings = RegistryConfig(base_url=base_url, source=recipe.source)
    capture = collect_registry(settings, recipe.collect, date, path)
    print(f"captured {path}: {capture.stopped}")
    return path
