"""Candidates of a lane on disk, with the way to the content of their fixtures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from data.atomic import write_bytes
from data.canonical import canonical_json
from data.contracts import Candidate

_CANDIDATES, _FIXTURES = "candidates.jsonl", "fixture_files.json"


@dataclass(frozen=True, slots=True)
class StoredPool:
    """Candidates sorted by id; `fixtures` maps SHA-256 to the file with that content."""

    candidates: tuple[Candidate, ...]
    fixtures: Mapping[str, Path]


def write_pool(out: Path, candidates: Sequence[Candidate], fixtures: Mapping[str, Path]) -> None:
    """Write both files into a stage's output. Paths of `fixtures` may be relative to it."""
    lines = [canonical_json(candidate) + b"\n" for candidate in candidates]
    write_bytes(out / _CANDIDATES, b"".join(lines))
    write_bytes(out / _FIXTURES, canonical_json(fixtures))


def read_pool(folder: Path) -> StoredPool:
    """What `write_pool` wrote."""
    lines = (folder / _CANDIDATES).read_bytes().splitlines()
    known = orjson.loads((folder / _FIXTURES).read_bytes())
    return StoredPool(
        tuple(Candidate.model_validate_json(line) for line in lines),
        {sha256: folder / path for sha256, path in known.items()},
    )
