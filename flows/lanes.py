"""What a lane hands to the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from data.contracts import Candidate, Scalar
from data.snapshot.release import ReleasedTable


@dataclass(frozen=True, slots=True)
class LanePool:
    """Candidates, books and fixtures on disk, and the digests of the inputs.

    `tables` join the public half and `answers` the private one; `report` is what the lane tells
    the auditor about itself; `masked` are the outputs of masking, with its vaults, and
    `costs` what judging cost per stage.
    """

    candidates: Sequence[Candidate]
    folders: Sequence[Path]
    fixtures: Mapping[str, Path]
    inputs: Mapping[str, str]
    tables: Mapping[str, ReleasedTable] = field(default_factory=dict)
    answers: Path | None = None
    report: Mapping[str, Any] = field(default_factory=dict)
    masked: Sequence[Path] = ()
    costs: Sequence[Mapping[str, Scalar]] = ()


def joined(lanes: Sequence[LanePool]) -> LanePool:
    """All lanes as one pool. No two lanes have a table of one name, or answers both."""
    answers = [lane.answers for lane in lanes if lane.answers is not None]
    return LanePool(
        candidates=[candidate for lane in lanes for candidate in lane.candidates],
        folders=[folder for lane in lanes for folder in lane.folders],
        fixtures={sha256: path for lane in lanes for sha256, path in lane.fixtures.items()},
        inputs={name: sha256 for lane in lanes for name, sha256 in lane.inputs.items()},
        tables={name: table for lane in lanes for name, table in lane.tables.items()},
        answers=answers[0] if answers else None,
        report={name: told for lane in lanes for name, told in lane.report.items()},
        masked=[folder for lane in lanes for folder in lane.masked],
        costs=[row for lane in lanes for row in lane.costs],
    )
