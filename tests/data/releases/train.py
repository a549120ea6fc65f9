"""Two releases of one train, for the tests of this package."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from data.snapshot.release import Release, SnapshotRef
from data.snapshot.writer import write_snapshot
from tests.data.snapshot.sample import RELEASED, release

MIXTURE = {"correspondence": 0.5, "data_reporting": 0.3, "assurance": 0.2}


def given(root: Path, weeks: int = 0, **other: Any) -> Release:
    """The sample release, so many weeks later, with a mixture."""
    made = release(root)
    changed: dict[str, Any] = {
        "released": RELEASED + timedelta(weeks=weeks),
        "selection": mixture(MIXTURE),
    }
    return replace(made, **(changed | other))


def mixture(weights: dict[str, float]) -> dict[str, Any]:
    return {"mixture": {"task_weights": weights}}


def written(root: Path, weeks: int = 0, **other: Any) -> SnapshotRef:
    """The release written to `root/snapshots`."""
    return write_snapshot(given(root, weeks, **other), root / "snapshots")


def day(weeks: int = 0) -> date:
    return RELEASED + timedelta(weeks=weeks)
