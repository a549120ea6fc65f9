"""Finds the tables of a data set: in a zip or a folder, as text or as Parquet."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import IO

from construction.statements.readers.sec.contracts import STAGE, SecConfig, SecReason
from data.contracts import LedgerRow, Outcome
from data.errors import InputError

TEXT = (".txt", ".tsv")
PARQUET = ".parquet"
_BROKEN = (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error)


class SecTable(StrEnum):
    """The tables of a data set; the value is the name of the file."""

    SUB = "sub"  # filings
    TAG = "tag"  # definitions of tags; extracts may lack it
    NUM = "num"  # facts
    PRE = "pre"  # rows of statements


class SourceError(Exception):
    """A table that cannot be used: the reason, the actual and the expected content."""

    def __init__(self, reason: SecReason, actual: str, expected: str) -> None:
        super().__init__(f"{reason}: found {actual}; expected {expected}")
        self.reason, self.actual, self.expected = reason, actual, expected


@dataclass(frozen=True, slots=True)
class SourceTable:
    """One table: `member` is its name in the zip `path`, or empty if `path` is the file itself."""

    label: str
    table: SecTable
    path: Path
    member: str = ""

    @property
    def is_parquet(self) -> bool:
        return self.label.endswith(PARQUET)


def find_tables(
    paths: Sequence[Path], config: SecConfig
) -> tuple[list[SourceTable], list[LedgerRow]]:
    """The tables of all data sets at `paths`, sorted by label, and ledger rows for other files.

    A path is a zip, or a folder that holds tables, zips of tables, or both. Raises InputError for a
    path that does not exist, and if there is no table at all.
    """
    tables: list[SourceTable] = []
    rows: list[LedgerRow] = []
    for label, path in _labelled(paths):
        archives = [(label, path)]
        if path.is_dir():
            loose_tables, loose_rows = _in_folder(label, path)
            tables, rows = tables + loose_tables, rows + loose_rows
            archives = [(f"{label}/{inner.name}", inner) for inner in sorted(path.glob("*.zip"))]
        for name, archive in archives:
            packed_tables, packed_rows = _in_zip(name, archive, config)
            tables, rows = tables + packed_tables, rows + packed_rows
    if not tables:
        given = ", ".join(str(path) for path in paths) or "no path"
        todo = "Name a quarterly zip, or the folder it was unpacked into."
        raise InputError(
            given, "no table", "sub, tag, num and pre, as .txt, .tsv or .parquet", todo
        )
    return sorted(tables, key=lambda table: table.label), rows


def read_bytes(source: SourceTable, config: SecConfig) -> bytes:
    """The content of a text table. Raises SourceError if it is too large or broken."""
    try:
        if not source.member:
            return _limited(source.path.open("rb"), config.max_table_bytes)
        with zipfile.ZipFile(source.path) as archive:
            packed = archive.getinfo(source.member).compress_size
            ratio = max(config.free_inflated_bytes, packed * config.max_inflation_ratio)
            return _limited(archive.open(source.member), min(config.max_table_bytes, ratio))
    except _BROKEN as error:
        expected = "a file that can be read to its end"
        raise SourceError(SecReason.UNREADABLE, type(error).__name__, expected) from None


def file_row(label: str, reason: SecReason, actual: str, expected: str) -> LedgerRow:
    """The ledger row of a file that was not read."""
    strange = reason in (SecReason.NOT_A_TABLE, SecReason.SECOND_TABLE)
    outcome = Outcome.REJECTED if strange else Outcome.ERRORED
    evidence = {"source_path": label, "found": actual, "expected": expected}
    return LedgerRow(STAGE, "file", label, outcome, reason=reason, evidence=evidence)


def _labelled(paths: Sequence[Path]) -> list[tuple[str, Path]]:
    """Each path once, with its own name; a second one of the same name gets `~2`, and so on."""
    taken: dict[str, int] = {}
    labelled = []
    for path in sorted({path.resolve() for path in paths}):
        if not path.exists():
            raise InputError(str(path), "nothing", "a zip or a folder", "Check the path.")
        taken[path.name] = taken.get(path.name, 0) + 1
        again = taken[path.name]
        labelled.append((path.name if again == 1 else f"{path.name}~{again}", path))
    return labelled


def _in_folder(label: str, folder: Path) -> tuple[list[SourceTable], list[LedgerRow]]:
    files = {}
    rows = []
    for path in sorted(folder.iterdir()):
        name = f"{label}/{path.name}"
        mode = path.lstat().st_mode
        if path.suffix == ".zip" or stat.S_ISDIR(mode):
            continue
        if stat.S_ISREG(mode):
            files[name] = SourceTable(name, SecTable.SUB, path)
        else:
            rows.append(file_row(name, SecReason.PATH_ESCAPE, "a link or device", "a file"))
    tables, strays = _sorted_out(label, files)
    return tables, rows + strays


def _in_zip(label: str, path: Path, config: SecConfig) -> tuple[list[SourceTable], list[LedgerRow]]:
    if path.is_symlink():
        return [], [file_row(label, SecReason.PATH_ESCAPE, "a link", "a file")]
    try:
        with zipfile.ZipFile(path) as archive:
            names = [member.filename for member in archive.infolist() if not member.is_dir()]
    except _BROKEN as error:
        actual = type(error).__name__
        return [], [file_row(label, SecReason.UNREADABLE, actual, "a zip archive")]
    if len(names) > config.max_members:
        expected = f"at most {config.max_members}"
        return [], [file_row(label, SecReason.TOO_LARGE, f"{len(names)} members", expected)]
    files, rows = {}, []
    for name in sorted(set(names)):
        inner = f"{label}/{name}"
        if _escapes(name):
            rows.append(file_row(inner, SecReason.PATH_ESCAPE, "a path out of the zip", "a name"))
        else:
            files[inner] = SourceTable(inner, SecTable.SUB, path, name)
    tables, strays = _sorted_out(label, files)
    return tables, rows + strays


def _escapes(name: str) -> bool:
    parts = PurePosixPath(name.replace("\\", "/"))
    return parts.is_absolute() or ".." in parts.parts or ":" in name or "\0" in name


def _sorted_out(
    label: str, files: Mapping[str, SourceTable]
) -> tuple[list[SourceTable], list[LedgerRow]]:
    """Which of the files are tables; of several files for one table the first is taken."""
    tables: dict[SecTable, SourceTable] = {}
    rows = []
    for name, file in files.items():
        stem, suffix = PurePosixPath(name).stem.lower(), PurePosixPath(name).suffix
        readable = suffix in TEXT or (suffix == PARQUET and not file.member)
        if stem not in set(SecTable) or not readable:
            expected = ", ".join(f"{table}" for table in SecTable)
            rows.append(file_row(name, SecReason.NOT_A_TABLE, suffix or "no suffix", expected))
        elif (table := SecTable(stem)) in tables:
            rows.append(file_row(name, SecReason.SECOND_TABLE, "a second one", "one"))
        else:
            tables[table] = SourceTable(name, table, file.path, file.member)
    if tables:
        missing = [table for table in SecTable if table not in tables]
        rows += [
            file_row(f"{label}/{table}", SecReason.MISSING_TABLE, "nothing", "a table")
            for table in missing
        ]
    return list(tables.values()), rows


def _limited(handle: IO[bytes], limit: int) -> bytes:
    with handle:
        content = handle.read(limit + 1)
    if len(content) > limit:
        actual = f"more than {limit:,} bytes"
        raise SourceError(SecReason.TOO_LARGE, actual, "a smaller table")
    return content
