"""What a lane hands to the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from data.contracts import Candidate


@dataclass(frozen=True, slots=True)
class LanePool:
    """Candidates, books and fixtures on disk, and the digests of the inputs."""

    candidates: Sequence[Candidate]
    folders: Sequence[Path]
    fixtures: Mapping[str, Path]
    inputs: Mapping[str, str]
