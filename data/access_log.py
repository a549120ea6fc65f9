"""The log of looks at private evidence (law 8): append-only, hash-chained."""

from __future__ import annotations

from pathlib import Path

from data import chain
from data.chain import BrokenChain

__all__ = ["BrokenChain", "check", "record"]


def record(path: Path, action: str, item_id: str) -> None:
    """Append one entry: who looked at what, when. Raises BrokenChain if the log was altered."""
    chain.append(path, {"action": action, "item_id": item_id})


def check(path: Path) -> int:
    """Verify the chain; returns the number of entries."""
    return len(chain.entries(path))
