"""The files of tables: which are there, which are declared, and their rows in one order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import polars as pl

from anonymization.tables.files import is_table, read_table, table_name
from data.canonical import file_digest
from data.contracts import LedgerRow, Outcome
from data.errors import InputError

FIND = "find-tables"


class FileReason(StrEnum):
    NO_TABLE = "table.no_table"
    NOT_DECLARED = "table.not_declared"
    LINK = "table.link"


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file that was given; `reason` says why it is none of the declared tables."""

    item: str
    path: Path
    name: str
    reason: FileReason | None

    def row(self) -> LedgerRow:
        outcome = Outcome.KEPT if self.reason is None else Outcome.REJECTED
        return LedgerRow(FIND, "file", self.item, outcome, reason=self.reason)


def find_tables(given: Sequence[Path], declared: Iterable[str]) -> list[TableFile]:
    """The files given, and those in the folders given, in order of their names.

    Errors: `InputError` for a path that leads nowhere, a declared table without a file, and two
    files of one name.
    """
    wanted = frozenset(declared)
    files = sorted(
        (_judged(item, path, wanted) for root in given for item, path in _below(root)),
        key=lambda file: file.item,
    )
    kept = [file.name for file in files if file.reason is None]
    for what, names in (("table", kept), ("file", [file.item for file in files])):
        if doubled := sorted({name for name in names if names.count(name) > 1}):
            found, expected = f"two files for {what} {doubled[0]}", "one for each"
            raise InputError("tables", found, expected, "Remove or rename one of them.")
    if missing := sorted(wanted.difference(kept)):
        todo = "Give its .csv, .csv.gz or .parquet file, or take it out of [tables]."
        raise InputError("tables", f"no file for {', '.join(missing)}", "every table", todo)
    return files


def digests(files: Sequence[TableFile]) -> dict[str, str]:
    """SHA-256 of the files of declared tables by table."""
    return {file.name: file_digest(file.path) for file in files if file.reason is None}


def read_tables(files: Sequence[TableFile]) -> dict[str, pl.DataFrame]:
    """The declared tables, rows in an order that depends on nothing but their content.

    Errors: `InputError` for what cannot be read, has no rows, or nests values in cells.
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
        found, todo = f"{frame.schema[nested[0]]} in a column", "Flatten the table."
        raise InputError(path.name, found, "texts, numbers and dates", todo)
    if not frame.height:
        raise InputError(path.name, "no row", "a table with rows", "Export it again.")
    return in_order(frame)


def _below(root: Path) -> Iterable[tuple[str, Path]]:
    """Names and paths of a file, or of the files in a folder. Links are followed if given."""
    if not root.exists():
        raise InputError(str(root), "nothing", "a table or a folder of tables", "Check the path.")
    if root.is_file():
        yield _text(Path(root.name)), root.resolve()
        return
    for path in root.rglob("*"):
        if path.is_symlink() or path.is_file():
            yield _text(path.relative_to(root.parent)), path


def _judged(item: str, path: Path, wanted: frozenset[str]) -> TableFile:
    name, reason = table_name(Path(item)), None
    if path.is_symlink():
        reason = FileReason.LINK
    elif not is_table(Path(item)):
        reason = FileReason.NO_TABLE
    elif name not in wanted:
        reason = FileReason.NOT_DECLARED
    return TableFile(item, path, name, reason)


def _text(path: Path) -> str:
    """A name as UTF-8, which the name of a file need not be."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
