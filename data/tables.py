"""Parquet in and out: typed, and the same bytes for the same rows.

A stage's tables are written into its directory, which is synced and moved into place as a whole
(`data.atomic.replacing_dir`); those of attempts are replaced one by one (`replace_frames`).
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from data import schemas
from data.atomic import PRIVATE_DIR, PRIVATE_FILE, remove_leftovers, replacing
from data.canonical import canonical_json
from data.contracts import (
    MISSING,
    LedgerRow,
    LineageRow,
    Scalar,
    StageTally,
    Verdict,
    descriptions,
)
from data.neutralise import storable

Schema = Mapping[str, Any]
_OS_ERROR = "(os error "

LEDGER: Schema = schemas.LEDGER.schema
VERDICTS: Schema = schemas.VERDICTS.schema
LINEAGE: Schema = schemas.LINEAGE_ROWS.schema
TALLIES: Schema = schemas.TALLIES.schema


def write_table(path: Path, rows: Iterable[Mapping[str, Any]], schema: Schema) -> int:
    """Write `rows` with exactly `schema`; returns the number of rows."""
    return write_frame(path, frame_of(rows, schema))


def frame_of(rows: Iterable[Mapping[str, Any]], schema: Schema) -> pl.DataFrame:
    """`rows` with exactly `schema`."""
    return _frame([tuple(map(row.get, schema)) for row in rows], schema)


def write_rows(path: Path, rows: Sequence[tuple[Any, ...]], schema: Schema) -> int:
    """Write `rows`, whose values are in the order of `schema`; returns their number."""
    return write_frame(path, _frame(rows, schema))


def _frame(rows: Sequence[tuple[Any, ...]], schema: Schema) -> pl.DataFrame:
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    named = zip(schema.items(), columns, strict=True)
    return pl.DataFrame([pl.Series(n, c, dtype=t) for (n, t), c in named])


def write_frame(path: Path, frame: pl.DataFrame) -> int:
    """Write a frame as zstd Parquet; returns the number of rows. Raises OSError."""
    try:
        frame.write_parquet(path, compression="zstd", compression_level=3)
    except pl.exceptions.ComputeError as error:  # Polars wraps what the operating system says
        code = str(error).partition(_OS_ERROR)[2].partition(")")[0]
        if not code.isdecimal():
            raise
        raise OSError(int(code), os.strerror(int(code)), str(path)) from error
    return frame.height


def replace_frames(folder: Path, frames: Iterable[tuple[str, pl.DataFrame]]) -> None:
    """Write private tables by name into a folder, one after the other, each whole or not at all.

    One process at a time writes there, so that what a killed one left can be removed.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE_DIR)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        for name, frame in frames:
            path = folder / f"{name}.parquet"
            remove_leftovers(folder, path.name)
            with replacing(path, mode=PRIVATE_FILE) as part:
                write_frame(part, frame)
    finally:
        os.close(handle)


def read_table(paths: Sequence[Path], schema: Schema) -> pl.DataFrame:
    """The rows of all `paths` in the order given; an empty frame of `schema` for none."""
    frames = [pl.read_parquet(path) for path in paths]
    return pl.concat([pl.DataFrame(schema=dict(schema)), *frames], how="vertical")


def _text(value: Scalar) -> str | None:
    return None if value is None else str(value)


def _number(value: Scalar) -> float | None:
    return None if value is None or isinstance(value, str) else float(value)


def ledger_values(row: LedgerRow) -> tuple[Any, ...]:
    """A ledger row in the order of `LEDGER`; evidence becomes canonical JSON.

    Missing inputs are described in it, without their names.
    """
    described = {MISSING: descriptions(row.missing)} if row.missing else {}
    return (
        row.stage,
        row.unit,
        row.item_id,
        str(row.outcome),
        row.gate,
        row.reason,
        _text(row.observed),
        _text(row.limit),
        row.stratum,
        canonical_json({**row.evidence, **described}).decode(),
        row.n,
    )


def missing_values(row: LedgerRow) -> list[tuple[Any, ...]]:
    """The missing inputs of a ledger row, in the order of `schemas.MISSING_INPUTS`."""
    return [
        (row.stage, row.item_id, str(item.kind), item.extension, item.source, storable(item.name))
        for item in row.missing
    ]


def ledger_record(row: LedgerRow) -> dict[str, Any]:
    """A ledger row as a record of `LEDGER`."""
    return dict(zip(LEDGER, ledger_values(row), strict=True))


def verdict_values(item_id: str, verdict: Verdict) -> tuple[Any, ...]:
    """A verdict in the order of `VERDICTS`: numbers as numbers, and everything as text."""
    return (
        item_id,
        verdict.gate,
        str(verdict.status),
        verdict.reason,
        _number(verdict.observed),
        _number(verdict.limit),
        _text(verdict.observed),
        _text(verdict.limit),
        canonical_json(dict(verdict.measures)).decode(),
        verdict.blocked_by,
    )


def verdict_record(item_id: str, verdict: Verdict) -> dict[str, Any]:
    """A verdict as a record of `VERDICTS`."""
    return dict(zip(VERDICTS, verdict_values(item_id, verdict), strict=True))


def lineage_record(row: LineageRow) -> dict[str, Any]:
    """A lineage row as a record of `LINEAGE`."""
    return {name: getattr(row, name) for name in LINEAGE}


def tally_records(tally: StageTally) -> list[dict[str, Any]]:
    """One record of `TALLIES` per outcome, zero counts included."""
    head = {"stage": tally.stage, "kind": str(tally.kind), "unit": tally.unit}
    return [
        head | {"outcome": str(outcome), "n": n, "n_in": tally.n_in}
        for outcome, n in tally.counts.items()
    ]
