"""Files of an environment as rows of text: CSV in its encoding and header form, and Parquet."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from construction.analytics.environment.declaration import Declaration, File
from data.errors import InputError

LARGEST_BYTES = 512 * 1024**2
_LONGEST_FIELD = 1 << 17  # characters, as Python sets it
_LONGEST_PATH = 200
ID, TEXT = "doc_id", "text"  # columns of a folder of documents


def content(root: Path, relative: str) -> bytes:
    """The bytes of a file below `root`, inflated. Raises InputError."""
    if "\0" in relative or len(relative) > _LONGEST_PATH:
        todo = "Correct the declaration."
        raise InputError(relative[:60], "no name of a file", "a file of the environment", todo)
    path = root / relative
    try:
        inside = path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # a link to itself
        inside = False
    if not inside or not path.is_file():
        actual = "no such file" if inside else "a path out of the folder"
        raise InputError(relative, actual, "a file of the environment", "Correct the declaration.")
    opener = gzip.open if path.suffix == ".gz" else Path.open
    try:
        with opener(path, "rb") as handle:
            raw = bytes(handle.read(LARGEST_BYTES + 1))
    except (OSError, EOFError, zlib.error) as error:
        problem, todo = type(error).__name__, "Export it again."
        raise InputError(relative, problem, "a readable file", todo) from error
    if len(raw) > LARGEST_BYTES:
        raise InputError(relative, "a larger file", f"at most {LARGEST_BYTES:,} bytes", "Split it.")
    return raw


def read_files(root: Path, declaration: Declaration) -> dict[str, pl.DataFrame]:
    """The rows of every file that a table is made of, with every cell as text, by file name."""
    used = {table.file for table in declaration.tables}
    return {name: read_file(root, declaration.files[name]) for name in sorted(used)}


def read_file(root: Path, file: File) -> pl.DataFrame:
    """One file, of an anonymized one only what may leave; empty cells are null. Raises InputError.

    Errors name the file and what cannot be read in it.
    """
    rows = _read(root, file)
    if absent := sorted({*file.keep, *file.least, *file.cut} - set(rows.columns)):
        expected = "the columns of keep, least and cut"
        raise InputError(file.path, f"no column {absent[0]}", expected, "Correct the declaration.")
    for column, begins in file.keep.items():
        leaving = (pl.col(column).str.starts_with(text) for text in begins)
        rows = rows.filter(pl.any_horizontal(leaving).fill_null(value=False))
    for column, least in file.least.items():
        rows = rows.filter(pl.len().over(column) >= least)
    return rows.with_columns(pl.col(name).str.slice(0, n) for name, n in file.cut.items())


def _read(root: Path, file: File) -> pl.DataFrame:
    if file.texts:
        texts = [(key, _text(root, path, file)) for key, path in sorted(file.texts.items())]
        return pl.DataFrame(texts, schema={ID: pl.String, TEXT: pl.String}, orient="row")
    if file.path.endswith(".parquet"):
        return _parquet(root, file.path)
    rows = _lines(root, file)
    if len(rows) <= file.header:
        expected = f"a header in line {file.header + 1}"
        raise InputError(file.path, f"{len(rows)} lines", expected, "Correct `header`.")
    names, width = rows[file.header], len(rows[file.header])
    for number, row in enumerate(rows[file.data_from :], file.data_from + 1):
        if len(row) != width:
            actual, expected = f"{len(row)} cells", f"{width}, as in the header"
            raise InputError(file.path, actual, expected, "Correct the line.", number)
    if len(rows) <= file.data_from:
        expected = f"data from line {file.data_from + 1}"
        raise InputError(file.path, f"{len(rows)} lines", expected, "Export it again.")
    columns = zip(*rows[file.data_from :], strict=True)
    unique = _unique(file, names)
    return pl.DataFrame(
        [
            pl.Series(name, [cell or None for cell in column], dtype=pl.String)
            for name, column in zip(unique, columns, strict=True)
        ]
    )


def _unique(file: File, names: Sequence[str]) -> list[str]:
    """The names of the columns; one that was there before has its number at the end."""
    unique = [name if names.index(name) == at else f"{name}.{at}" for at, name in enumerate(names)]
    if len(set(unique)) < len(unique):
        actual, expected = "columns of one name", "a name of its own for each column"
        raise InputError(file.path, actual, expected, "Rename them.", file.header + 1)
    return unique


def _parquet(root: Path, path: str) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(content(root, path))).cast(pl.String)
    except pl.exceptions.PolarsError as error:
        expected = "Parquet whose cells are numbers, times or texts"
        raise InputError(path, type(error).__name__, expected, "Export it again.") from None


def _lines(root: Path, file: File) -> list[list[str]]:
    csv.field_size_limit(_LONGEST_FIELD)  # of the process: others may have raised it
    reader = csv.reader(io.StringIO(_text(root, file.path, file)))
    try:
        return list(reader)
    except csv.Error as error:
        number = reader.line_num
        raise InputError(file.path, str(error), "CSV", "Export it again.", number) from None


def _text(root: Path, path: str, file: File) -> str:
    try:
        return content(root, path).decode("utf-8-sig" if file.encoding == "utf-8" else "cp932")
    except UnicodeDecodeError:
        todo = "Correct `encoding`."
        raise InputError(path, "other bytes", f"text in {file.encoding}", todo) from None
