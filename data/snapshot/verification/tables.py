"""The tables of a snapshot that nothing recounts: does each open?"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from data.snapshot import layout
from data.snapshot.verification.findings import Check, Findings, Half

BROKEN = (
    OSError,
    ValueError,
    MemoryError,
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)


def check_tables(half: Half, findings: Findings) -> None:
    """Released tables and the answers are Parquet: their footers are read, not their rows."""
    for path, file in half.files.items():
        problem = _problem(file) if _is_table(path) else None
        if problem is not None:
            findings.add(Check.TABLE, f"{half.name}/{path}", problem)


def _is_table(path: str) -> bool:
    return path == layout.ANSWERS_TABLE or path.startswith(f"{layout.TABLES}/")


def _problem(file: Path) -> str | None:
    try:
        with file.open("rb") as handle:
            columns = pl.read_parquet_schema(handle)
    except BROKEN as error:
        return f"is no Parquet table ({type(error).__name__})"
    return None if columns else "has no columns"
