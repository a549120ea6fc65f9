"""The files of an EDINET collection and their lines, read within limits."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import orjson

from construction.statements.readers.edinet.contracts import (
    STAGE,
    EdinetConfig,
    Reason,
    unusable_row,
)
from data.contracts import LedgerRow, Outcome
from data.errors import InputError

SUMMARIES = "edinet_summaries_*.jsonl.gz"
CODE_LIST = "EdinetcodeDlInfo.csv"
_BROKEN = (OSError, EOFError, zlib.error)


class Repeated(tuple[Any, ...]):
    """The values of a label that occurs several times in one JSON object."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line that holds a JSON object."""

    file: str
    number: int
    record: dict[str, Any]

    @property
    def item_id(self) -> str:
        return f"{self.file}:{self.number}"


def find_files(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Summary files and code lists among `paths`: files, or folders that contain them.

    Code lists in the folders of the summaries count too. Both are sorted by name; each file occurs
    once. Raises InputError for a path that does not exist and for paths without any summary file.
    """
    summaries: set[Path] = set()
    lists: set[Path] = set()
    for path in (given.resolve() for given in paths):
        if path.is_dir():
            summaries.update(inner for inner in path.glob(SUMMARIES) if inner.is_file())
        elif not path.is_file():
            raise InputError(str(path), "nothing", "a file or folder", "Check the path.")
        elif path.suffix == ".csv":
            lists.add(path)
        else:
            summaries.add(path)
    if not summaries:
        given = ", ".join(str(path) for path in paths) or "no path"
        raise InputError(given, "no summaries", SUMMARIES, "Name a file or its folder.")
    folders = {path.parent for path in summaries} | {p.resolve() for p in paths if p.is_dir()}
    lists.update(path for folder in folders if (path := folder / CODE_LIST).is_file())
    return (sorted(summaries, key=_by_name), sorted(lists, key=_by_name))


def short_names(paths: Sequence[Path]) -> list[str]:
    """POSIX paths relative to the common folder: one name per file, without machine paths."""
    if not paths:
        return []
    root = os.path.commonpath([path.parent for path in paths])
    return [path.relative_to(root).as_posix() for path in paths]


def _by_name(path: Path) -> tuple[str, str]:
    return path.name, path.as_posix()


def company_lines(path: Path, name: str, config: EdinetConfig) -> Iterator[Line | LedgerRow]:
    """The lines of a file, and a ledger row for each that is not a JSON object.

    The last item is the row of the file itself: kept, or errored if it could not be read to its
    end; the lines before the break are kept.
    """
    number, remaining_bytes = 0, config.max_inflated_bytes
    try:
        with _opened(path) as handle:
            for number, raw, size in _raw_lines(handle, config.max_line_bytes):
                remaining_bytes -= size
                if remaining_bytes < 0:
                    limit = f"at most {config.max_inflated_bytes:,} bytes"
                    yield _file_row(name, number, Reason.FILE_TOO_LARGE, "more bytes", limit)
                    return
                item = None if raw is None else _parsed(name, number, raw, config)
                if item is not None:
                    yield item
    except _BROKEN as error:
        actual = f"{type(error).__name__} after line {number}"
        yield _file_row(name, number, Reason.FILE_BROKEN, actual, "a whole gzip or text file")
        return
    yield LedgerRow(STAGE, "file", name, Outcome.KEPT, evidence={"lines": number})


def _raw_lines(handle: IO[bytes], limit: int) -> Iterator[tuple[int, bytes | None, int]]:
    """Number, bytes and size of each line; the remainder of an overlong line is None."""
    number = 0
    inside = False
    while raw := handle.readline(limit + 1):
        number += not inside
        yield number, None if inside else raw, len(raw)
        inside = len(raw) > limit and not raw.endswith(b"\n")


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    return path.open("rb")


def _parsed(name: str, number: int, raw: bytes, config: EdinetConfig) -> Line | LedgerRow | None:
    """The object of a line, the ledger row of a line without one, None for a blank line."""
    if len(raw) > config.max_line_bytes:
        actual = f"more than {config.max_line_bytes:,} bytes"
        return line_row(name, number, Reason.LINE_TOO_LONG, actual, "a shorter line")
    raw = raw.strip().removeprefix(BOM_UTF8 if number == 1 else b"")
    if not raw:
        return None
    try:
        record = orjson.loads(raw)
    except orjson.JSONDecodeError:
        actual = f"text, {len(raw)} bytes, not JSON"
        return line_row(name, number, Reason.LINE_NOT_JSON, actual, "a JSON object")
    if not isinstance(record, dict):
        actual = f"{type(record).__name__}, {len(raw)} bytes"
        return line_row(name, number, Reason.LINE_NOT_COMPANY, actual, "a JSON object")
    if raw.count(b'":') != _keys(record):
        record = _with_repeats(raw, record)
    return Line(name, number, record)


def _keys(record: dict[str, Any]) -> int:
    """How many keys a company's object has, tables of its filings included."""
    periods = record.get("periods")
    total = len(record)
    for period in periods if isinstance(periods, list) else ():
        if isinstance(period, dict):
            total += len(period) + sum(len(v) for v in period.values() if isinstance(v, dict))
    return total


def _with_repeats(raw: bytes, record: dict[str, Any]) -> dict[str, Any]:
    """The object with repeated keys kept as `Repeated`; the fast parser drops them.

    Needed only if the colons of the line do not match the number of keys.
    """
    try:
        return cast(dict[str, Any], json.loads(raw, object_pairs_hook=_object))
    except (ValueError, RecursionError):
        return record


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key not in values:
            values[key] = value
        elif isinstance(values[key], Repeated):
            values[key] = Repeated((*values[key], value))
        else:
            values[key] = Repeated((values[key], value))
    return values


def _file_row(name: str, line: int, reason: Reason, actual: str, expected: str) -> LedgerRow:
    return unusable_row("file", name, Outcome.ERRORED, reason, (name, line), actual, expected)


def line_row(name: str, line: int, reason: Reason, actual: str, expected: str) -> LedgerRow:
    """The ledger row of an unusable line."""
    item_id = f"{name}:{line}"
    return unusable_row("line", item_id, Outcome.ERRORED, reason, (name, line), actual, expected)
