"""Table files: which exist, which are declared, and their rows in a fixed order.

CSV is read as text, so that number formats stay; Parquet with its types, except that text behind a
dictionary becomes plain text: the dictionary can list values that no row has.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import polars as pl
import polars.selectors as cs
from polars.exceptions import PanicException, PolarsError

from data.atomic import replacing
from data.canonical import file_digest
from data.contracts import LedgerRow, Outcome, StageKind
from data.errors import ConfigError, InputError
from data.neutralise import csv_cell
from data.stage_tables import write_stage_tables

LARGEST_BYTES = 4 * 1024**3
_DICTIONARIES = (pl.Categorical, pl.Enum)
_CSV, _ZIPPED, _PARQUET = ".csv", ".csv.gz", ".parquet"
# Polars panics over some broken Parquet files instead of raising an error of its own.
_UNREADABLE = (PolarsError, PanicException, OSError, EOFError, UnicodeDecodeError, csv.Error)


def table_name(path: Path) -> str:
    """The name of a table: its file's, without the endings."""
    return path.name.removesuffix(".gz").rsplit(".", 1)[0]


def _is_table(path: Path) -> bool:
    """Whether a file's name ends as that of a table."""
    return path.name.lower().endswith((_CSV, _ZIPPED, _PARQUET))


def read_table(path: Path) -> pl.DataFrame:
    """A CSV (UTF-8, optionally gzipped) with every cell as text, or a Parquet file.

    Empty CSV cells are null; categories of a Parquet file become text. Errors: `InputError` for
    other files, for what does not parse, and for rows with more or fewer cells than columns.
    """
    name = path.name.lower()
    if not path.is_file() or not _is_table(path):
        raise InputError(path.name, "no table", "a .csv, .csv.gz or .parquet file", "Check it.")
    try:
        if name.endswith(_PARQUET):
            return pl.read_parquet(path, low_memory=True).cast(
                {cs.by_dtype(*_DICTIONARIES): pl.String}
            )
        return _read_csv(path)
    except _UNREADABLE as error:
        problem = type(error).__name__
        todo = "Export it again." if name.endswith(_PARQUET) else "Export it again as UTF-8."
        raise InputError(path.name, problem, "a readable table", todo) from error


def _read_csv(path: Path) -> pl.DataFrame:
    content = _content(path)
    frame = pl.read_csv(content, infer_schema_length=0)
    if frame.width > 1 and frame[:, -1].null_count():
        _require_whole_rows(path, content, frame.width)  # Polars fills short rows with nulls
    return frame


def _require_whole_rows(path: Path, content: bytes, width: int) -> None:
    rows = csv.reader(io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline=""))
    for row in rows:
        if row and len(row) != width:
            source, actual = f"{path.name}, line {rows.line_num}", f"{len(row)} cells"
            raise InputError(source, actual, f"{width}, one per column", "Export it again.")


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
    """Write a frame in the format of the path's ending (.csv or .parquet), whole or not at all.

    In CSV, text that a spreadsheet would take for a formula gets a leading apostrophe.
    """
    with replacing(path) as part:
        if path.suffix == _PARQUET:
            frame.write_parquet(part, compression="zstd", compression_level=3)
        else:
            frame.with_columns(_harmless(frame[name]) for name in frame.columns).write_csv(part)


_FORMULA = r"^ *[=+\-@\t\r\n|%]"
_AMOUNT = r"^ *[-+]*[0-9.,]*(?:[eE][-+]?[0-9]+)? ?[%％]?$"  # `-1,234.50`, `+3 %`, `-`


def _harmless(series: pl.Series) -> pl.Series:
    if series.dtype != pl.String:
        return series
    risky = series.str.contains(_FORMULA) & ~series.str.contains(_AMOUNT)
    if not risky.any():
        return series
    return series.zip_with(~risky, pl.Series(series.name, [csv_cell(text) for text in series]))


FIND = "find-tables"


class _FileReason(StrEnum):
    NO_TABLE = "table.no_table"
    NOT_DECLARED = "table.not_declared"
    LINK = "table.link"


@dataclass(frozen=True, slots=True)
class TableFile:
    """A given file; `reason` says why it is not one of the declared tables."""

    item: str
    path: Path
    name: str
    reason: _FileReason | None

    def row(self) -> LedgerRow:
        outcome = Outcome.KEPT if self.reason is None else Outcome.REJECTED
        return LedgerRow(FIND, "file", self.item, outcome, reason=self.reason)


def _find_tables(given: Sequence[Path], declared: Iterable[str]) -> list[TableFile]:
    """The files given, and those in the folders given, in order of their names.

    Errors: `InputError` for a missing path, a declared table without a file, and two files with
    the same name.
    """
    wanted = frozenset(declared)
    files = sorted(
        (_judged(item, path, wanted) for root in given for item, path in _below(root)),
        key=lambda file: file.item,
    )
    kept = [file.name for file in files if file.reason is None]
    for what, names in (("table", kept), ("file", [file.item for file in files])):
        if doubled := sorted({name for name in names if names.count(name) > 1}):
            actual, expected = f"two files for {what} {doubled[0]}", "one for each"
            raise InputError("tables", actual, expected, "Remove or rename one of them.")
    if missing := sorted(wanted.difference(kept)):
        todo = "Pass its .csv, .csv.gz or .parquet file, or remove it from [tables]."
        raise InputError("tables", f"no file for {', '.join(missing)}", "every table", todo)
    return files


def declared_files(
    given: Sequence[Path], tables: Collection[str], aggregates: Collection[str]
) -> list[TableFile]:
    """The files given. Errors: `ConfigError` if there are some, but [tables] declares none."""
    if given and not tables:
        raise ConfigError(
            "[tables]: found no declared tables; expected a role for every column in the input "
            "tables. `benchmint privacy profile TABLE --toml` proposes them."
        )
    return _find_tables(given, {*tables, *aggregates}) if given else []


def write_found(files: Sequence[TableFile], out: Path) -> None:
    """Write which files are declared tables."""
    ids, rows = [file.item for file in files], [file.row() for file in files]
    write_stage_tables(out, StageKind.FILTER, ids, rows, stage=FIND, unit="file")


def digests(files: Sequence[TableFile]) -> dict[str, str]:
    """SHA-256 of the files of declared tables by table."""
    return {file.name: file_digest(file.path) for file in files if file.reason is None}


def read_tables(files: Sequence[TableFile]) -> dict[str, pl.DataFrame]:
    """The declared tables, with rows in an order that only depends on their content.

    Errors: `InputError` for tables that cannot be read, have no rows, or nest values in cells.
    """
    return {file.name: _read(file.path) for file in files if file.reason is None}


def in_order(frame: pl.DataFrame, first: Sequence[str | None] = ()) -> pl.DataFrame:
    """Rows sorted by the text of `first` columns, then of all others from left to right."""
    led = [name for name in first if name in frame.columns]
    names = [*led, *(name for name in frame.columns if name not in led)]
    texts = pl.DataFrame(
        [frame[name].cast(pl.String).alias(str(at)) for at, name in enumerate(names)]
    )
    order = texts.select(pl.arg_sort_by(texts.columns, nulls_last=False))
    return frame[order.to_series()]


def _read(path: Path) -> pl.DataFrame:
    frame = read_table(path)
    nested = [n for n, t in frame.schema.items() if t.is_nested() or t in (pl.Binary, pl.Object)]
    if nested:
        actual, todo = f"{frame.schema[nested[0]]} in a column", "Flatten the table."
        raise InputError(path.name, actual, "text, numbers and dates", todo)
    if not frame.height:
        raise InputError(path.name, "no row", "a table with rows", "Export it again.")
    return in_order(frame)


def _below(root: Path) -> Iterable[tuple[str, Path]]:
    """Names and paths of a file, or of the files in a folder. Links are followed if given."""
    if not root.exists():
        raise InputError(str(root), "nothing", "a table or folder of tables", "Check the path.")
    if root.is_file():
        yield _text(Path(root.name)), root.resolve()
        return
    for path in root.rglob("*"):
        if path.is_symlink() or path.is_file():
            yield _text(path.relative_to(root.parent)), path


def _judged(item: str, path: Path, wanted: frozenset[str]) -> TableFile:
    name, reason = table_name(Path(item)), None
    if path.is_symlink():
        reason = _FileReason.LINK
    elif not _is_table(Path(item)):
        reason = _FileReason.NO_TABLE
    elif name not in wanted:
        reason = _FileReason.NOT_DECLARED
    return TableFile(item, path, name, reason)


def _text(path: Path) -> str:
    """A file name as valid UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
