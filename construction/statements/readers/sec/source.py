"""The tables of a data set, in a zip or a folder, as text or as Parquet, read as frames of text.

Broken lines are set aside, bad bytes replaced.
"""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import IO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from construction.statements.readers.sec.contracts import STAGE, SecConfig, SecReason
from data.contracts import LedgerRow, Outcome
from data.errors import InputError

# Settings (part of the recipe) and reasons of the SEC reader.


_TEXT = (".txt", ".tsv")
_PARQUET = ".parquet"
_FACTS = "CIK*.json"  # the SEC's companyfacts, one company a file
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
        return self.label.endswith(_PARQUET)


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
        if path.suffix == ".json":
            continue
        archives = [(label, path)]
        if path.is_dir():
            loose_tables, loose_rows = _in_folder(label, path)
            tables, rows = tables + loose_tables, rows + loose_rows
            archives = [(f"{label}/{inner.name}", inner) for inner in sorted(path.glob("*.zip"))]
        for name, archive in archives:
            packed_tables, packed_rows = _in_zip(name, archive, config)
            tables, rows = tables + packed_tables, rows + packed_rows
    if not tables and not find_facts(paths):
        given = ", ".join(str(path) for path in paths) or "no path"
        todo = "Name a quarterly zip, the folder it was unpacked into, or companyfacts files."
        raise InputError(
            given, "no table", "sub, tag, num and pre, as .txt, .tsv or .parquet", todo
        )
    return sorted(tables, key=lambda table: table.label), rows


def find_facts(paths: Sequence[Path]) -> list[tuple[str, Path]]:
    """The companyfacts files at `paths` and in their folders, with their labels."""
    matches = []
    for label, path in _labelled(paths):
        if path.is_dir():
            matches += [(f"{label}/{inner.name}", inner) for inner in sorted(path.glob(_FACTS))]
        elif path.suffix == ".json":
            matches.append((label, path))
    return [(label, path) for label, path in matches if not path.is_symlink()]


def read_facts(path: Path, config: SecConfig) -> bytes:
    """The content of a companyfacts file. Raises SourceError if it is too large or broken."""
    try:
        return _limited(path.open("rb"), config.max_table_bytes)
    except OSError as error:
        expected = "a file that can be read to its end"
        raise SourceError(SecReason.UNREADABLE, type(error).__name__, expected) from None


def _read_bytes(source: SourceTable, config: SecConfig) -> bytes:
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
        if path.suffix == ".zip" or stat.S_ISDIR(mode) or path.match(_FACTS):
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
        readable = suffix in _TEXT or (suffix == _PARQUET and not file.member)
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


# Optional columns are missing in the data sets of some years; they are null then.
_REQUIRED: Mapping[SecTable, tuple[str, ...]] = {
    SecTable.SUB: ("adsh", "cik", "name", "form", "filed"),
    SecTable.TAG: ("tag", "version"),
    SecTable.NUM: ("adsh", "tag", "version", "ddate", "qtrs", "uom", "value"),
    SecTable.PRE: ("adsh", "report", "line", "stmt", "tag", "version"),
}
_OPTIONAL: Mapping[SecTable, tuple[str, ...]] = {
    SecTable.SUB: (
        *("sic", "countryba", "countryinc", "fye", "period", "fy", "fp", "prevrpt", "instance"),
    ),
    SecTable.TAG: ("datatype", "crdr", "tlabel"),
    SecTable.NUM: ("segments", "coreg", "footnote"),
    SecTable.PRE: ("inpth", "plabel", "negating"),
}
# Columns with few distinct values that are compared and joined most.
_CODED = frozenset({"adsh", "tag", "version", "ddate", "qtrs", "uom", "segments", "stmt"})
_TAB, _NEWLINE = 9, 10
_BOM = b"\xef\xbb\xbf"
_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True)
class TableFrame:
    """A table as read: columns as named above, text or (CODED) categorical, and `source`, its
    label.

    `lines` counts the lines below the header. `broken` has (line number, number of columns) of
    those whose number of columns differs from the header's `columns`; they are not in the frame.
    `replaced` counts the byte sequences that are not UTF-8.
    """

    frame: pl.DataFrame
    lines: int
    columns: int
    broken: Sequence[tuple[int, int]] = ()
    replaced: int = 0


def read_table(source: SourceTable, config: SecConfig) -> TableFrame:
    """Read one table. Raises SourceError if it is broken, too large or lacks a column."""
    read = _read_parquet if source.is_parquet else _read_text
    table = read(source, config)
    required, optional = _REQUIRED[source.table], _OPTIONAL[source.table]
    lacking = [name for name in optional if name not in table.frame.columns]
    frame = table.frame.with_columns(
        *(pl.lit(None, _dtype(name)).alias(name) for name in lacking),
        pl.lit(source.label).alias("source"),
    ).select(*required, *optional, "source")
    return TableFrame(frame, table.lines, table.columns, table.broken, table.replaced)


def empty_table(table: SecTable) -> pl.DataFrame:
    """The empty frame of a table that no data set has."""
    names = (*_REQUIRED[table], *_OPTIONAL[table], "source")
    return pl.DataFrame(schema={name: _dtype(name) for name in names})


def _dtype(name: str) -> type[pl.String] | type[pl.Categorical]:
    return pl.Categorical if name in _CODED else pl.String


def _wanted(names: Sequence[str], table: SecTable) -> list[str]:
    missing = [name for name in _REQUIRED[table] if name not in names]
    if missing:
        actual = f"{len(names)} columns without {', '.join(missing)}"
        raise SourceError(SecReason.NO_COLUMNS, actual, ", ".join(_REQUIRED[table]))
    return [name for name in (*_REQUIRED[table], *_OPTIONAL[table]) if name in names]


def _read_text(source: SourceTable, config: SecConfig) -> TableFrame:
    raw, replaced = _as_utf8(_read_bytes(source, config).removeprefix(_BOM))
    head = raw[: raw.find(b"\n")] if b"\n" in raw else raw
    names = head.decode().rstrip("\r").split("\t")
    wanted = _wanted(names, source.table)
    whole, lines, broken = _without_broken_lines(raw, len(names))
    if lines > config.max_table_rows:
        raise SourceError(SecReason.TOO_LARGE, f"{lines:,} rows", "a smaller table")
    frame = pl.read_csv(
        whole,
        separator="\t",
        quote_char=None,
        infer_schema=False,
        columns=wanted,
        schema_overrides={name: _dtype(name) for name in wanted},
    )
    return TableFrame(frame, lines, len(names), broken, replaced)


def _as_utf8(raw: bytes) -> tuple[bytes, int]:
    """The bytes with everything that is not UTF-8 replaced, and the number of replacements."""
    if raw.isascii():
        return raw, 0
    try:
        raw.decode()
    except UnicodeDecodeError:
        text = raw.decode(errors="replace")
        return text.encode(), text.count(_REPLACEMENT) - raw.count(_REPLACEMENT.encode())
    return raw, 0


def _without_broken_lines(raw: bytes, columns: int) -> tuple[bytes, int, list[tuple[int, int]]]:
    """The bytes without lines of another number of columns, the number of lines, those lines.

    Quoting is off: every tab separates, every newline ends a line.
    """
    if not raw.endswith(b"\n"):
        raw += b"\n"
    content = np.frombuffer(raw, np.uint8)
    ends = np.flatnonzero(content == _NEWLINE)
    tabs = np.flatnonzero(content == _TAB)
    if _all_alike(tabs, ends, columns):
        return raw, len(ends) - 1, []
    column_counts = np.diff(np.searchsorted(tabs, ends), prepend=0) + 1
    wrong = np.flatnonzero(column_counts != columns)
    broken = [(int(line) + 1, int(column_counts[line])) for line in wrong]
    if broken:
        sizes = np.diff(ends, prepend=-1)
        raw = content[np.repeat(column_counts == columns, sizes)].tobytes()
    return raw, len(ends) - 1, broken


def _all_alike(tabs: NDArray[np.intp], ends: NDArray[np.intp], columns: int) -> bool:
    """Whether every line has this number of columns: a fast check before the exact one."""
    if columns < 2 or len(tabs) != len(ends) * (columns - 1):
        return False
    lines = tabs.reshape(len(ends), columns - 1)
    return bool((lines[:, -1] < ends).all() and (lines[1:, 0] > ends[:-1]).all())


def _read_parquet(source: SourceTable, config: SecConfig) -> TableFrame:
    try:
        scan = pl.scan_parquet(source.path, glob=False)
        names = scan.collect_schema().names()
        rows = scan.select(pl.len()).collect().item()
        if rows > config.max_table_rows or source.path.stat().st_size > config.max_table_bytes:
            raise SourceError(SecReason.TOO_LARGE, f"{rows:,} rows", "a smaller table")
        frame = scan.select(_wanted(names, source.table)).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise SourceError(SecReason.UNREADABLE, type(error).__name__, "a Parquet file") from None
    text = frame.select(
        _as_text(pl.col(name), dtype).cast(_dtype(name)) for name, dtype in frame.schema.items()
    )
    return TableFrame(text, rows, len(names))


def _as_text(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """A typed column as the text file would have it; floats as their shortest decimal."""
    if dtype in (pl.Date, pl.Datetime):
        return column.dt.strftime("%Y%m%d")
    if dtype == pl.Boolean:
        return column.cast(pl.Int8).cast(pl.String)
    if dtype.is_float():
        whole = column.cast(pl.Int128, strict=False).cast(pl.String)
        return pl.when(column == column.round()).then(whole).otherwise(column.cast(pl.String))
    text = column.cast(pl.String)
    return pl.when(text.str.len_bytes() > 0).then(text)
