"""Tables in and out of files: CSV as text, so that number formats stay; Parquet with its types."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from data.atomic import replacing
from data.errors import InputError

LARGEST_BYTES = 4 * 1024**3
_CSV, _ZIPPED, _PARQUET = ".csv", ".csv.gz", ".parquet"


def table_name(path: Path) -> str:
    """The name of a table: its file's, without the endings."""
    return path.name.removesuffix(".gz").rsplit(".", 1)[0]


def tables_by_name(paths: Sequence[Path]) -> dict[str, Path]:
    """The files by the names of their tables. Raises InputError if two have one name."""
    named = {table_name(path): path for path in paths}
    if len(named) != len(paths):
        todo = "Rename one of them."
        raise InputError("tables", "two files of one name", "a name per table", todo)
    return named


def is_table(path: Path) -> bool:
    """Whether a file's name ends as that of a table."""
    return path.name.lower().endswith((_CSV, _ZIPPED, _PARQUET))


def read_table(path: Path) -> pl.DataFrame:
    """A CSV (UTF-8, optionally gzipped) with every cell as text, or a Parquet file.

    Empty CSV cells are null. Errors: `InputError` for other files, and for what does not parse.
    """
    name = path.name.lower()
    if not path.is_file() or not is_table(path):
        raise InputError(path.name, "no table", "a .csv, .csv.gz or .parquet file", "Check it.")
    try:
        if name.endswith(_PARQUET):
            return pl.read_parquet(path)
        return pl.read_csv(_content(path), infer_schema_length=0)
    except (PolarsError, OSError, EOFError) as error:
        problem, todo = type(error).__name__, "Export it again as UTF-8."
        raise InputError(path.name, problem, "a readable table", todo) from error


def _content(path: Path) -> bytes:
    """The bytes of a CSV, inflated up to a limit."""
    opener = gzip.open if path.name.lower().endswith(".gz") else Path.open
    with opener(path, "rb") as handle:
        content = bytes(handle.read(LARGEST_BYTES + 1))
    if len(content) > LARGEST_BYTES:
        expected, todo = f"at most {LARGEST_BYTES:,} bytes", "Split the table."
        raise InputError(path.name, "a larger table", expected, todo)
    return content


def write_table(path: Path, frame: pl.DataFrame) -> None:
    """Write a frame in the format of the path's ending (.csv or .parquet), whole or not at all."""
    with replacing(path) as part:
        if path.suffix == _PARQUET:
            frame.write_parquet(part, compression="zstd", compression_level=3)
        else:
            frame.write_csv(part)


def released_name(path: Path) -> str:
    """The file name of the released table: as it came, but never zipped."""
    return path.name.removesuffix(".gz")
