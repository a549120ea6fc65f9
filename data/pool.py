"""The pool of candidates on disk: each lane writes one part, a release is selected from all.

A part is `pool.parquet` (a row per candidate) and `fixture_files.json`, which leads from the
SHA-256 of each input file to the file with that content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
import polars as pl

from data.atomic import write_bytes
from data.canonical import canonical_json
from data.contracts import Candidate
from data.tables import Schema, read_table, write_rows

POOL_FILE, _FIXTURES_FILE = "pool.parquet", "fixture_files.json"
_POOL: Schema = {"task_id": pl.String, "lane": pl.String, "candidate": pl.String}


@dataclass(frozen=True, slots=True)
class _Pool:
    """Candidates in the order of their ids; `fixtures` maps SHA-256 to the file's path."""

    candidates: tuple[Candidate, ...]
    fixtures: Mapping[str, Path]


def write_pool(out: Path, candidates: Iterable[Candidate], fixtures: Mapping[str, Path]) -> None:
    """Write a part of the pool into a stage's output.

    Paths of `fixtures` count from `out` or are absolute.
    """
    rows = [
        (candidate.task_id, str(candidate.lane), canonical_json(candidate).decode())
        for candidate in sorted(candidates, key=lambda candidate: candidate.task_id)
    ]
    write_rows(out / POOL_FILE, rows, _POOL)
    write_bytes(out / _FIXTURES_FILE, canonical_json(fixtures))


def read_pool(parts: Sequence[Path]) -> _Pool:
    """The candidates of all parts as one pool, sorted by id."""
    candidates = tuple(map(Candidate.model_validate_json, pool_rows(parts)))
    return _Pool(candidates, fixture_files(parts))


def pool_rows(parts: Sequence[Path]) -> list[str]:
    """The candidates of all parts as JSON, sorted by id."""
    table = read_table([part / POOL_FILE for part in parts], _POOL).sort("task_id")
    return table["candidate"].to_list()


def fixture_files(parts: Sequence[Path]) -> dict[str, Path]:
    """The files of all parts by SHA-256."""
    return {
        sha256: part / path
        for part in parts
        for sha256, path in orjson.loads((part / _FIXTURES_FILE).read_bytes()).items()
    }
