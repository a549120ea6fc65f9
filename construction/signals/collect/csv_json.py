"""Reads a snapshot file: a CSV table, or JSON as a plain list or in the registry's form."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from construction.sessions.readers.source import loads
from construction.signals.collect.fields import (
    BadFieldError,
    SignalReason,
    describe,
    field_key,
    is_measure,
    signal_of,
)
from data.contracts import Popularity, ReadIssue, Signal
from data.errors import InputError

_MAX_FILE_BYTES = 128 * 1024 * 1024
_ITEMS = "items"


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A row of a file, named `name:line` (CSV) or `name#item` (JSON), as a signal or an issue."""

    where: str
    content: Signal | ReadIssue


def read_signals(path: Path, source: str, date: dt.date) -> tuple[SourceRow, ...]:
    """All rows of a snapshot file in file order; a row that cannot be used is an issue.

    A `.json` file holds a list of records, or an object with the list under `items`. Any other
    file is CSV with a header. Raises InputError if the whole file cannot be used.
    """
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            actual = f"{path.stat().st_size} bytes"
            raise InputError(str(path), actual, f"at most {_MAX_FILE_BYTES}", "Split the file.")
        raw = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        actual = error.strerror or "an error"
        raise InputError(str(path), actual, "a file", "Check the path.") from None
    read = _read_json if path.suffix.lower() == ".json" else _read_csv
    return tuple(read(raw, path, source, date))


def _row(
    where: str, line: int, path: Path, record: object, source: str, date: dt.date
) -> SourceRow:
    """The record as a signal, or the issue that says why it is not one."""
    if not isinstance(record, dict):
        reason, actual = SignalReason.NOT_A_RECORD, describe(record)
        return SourceRow(where, _issue(path, line, reason, actual, "an object"))
    try:
        return SourceRow(where, signal_of(record, source, date))
    except BadFieldError as bad:
        reason = SignalReason.BAD_FIELD
        return SourceRow(where, _issue(path, line, reason, bad.actual, bad.expected))


def _issue(path: Path, line: int, reason: SignalReason, actual: str, expected: str) -> ReadIssue:
    return ReadIssue("record", path.name, line, str(reason), actual, expected)


def _read_json(raw: bytes, path: Path, source: str, date: dt.date) -> Iterator[SourceRow]:
    expected = f"a list of records, or an object with a list under {_ITEMS!r}"
    try:
        document = loads(raw)
    except orjson.JSONDecodeError as error:
        todo = "Fix the file."
        raise InputError(str(path), "text, not JSON", expected, todo, error.lineno) from None
    items = document.get(_ITEMS) if isinstance(document, dict) else document
    if not isinstance(items, list):
        raise InputError(str(path), describe(items), expected, "Fix the file.")
    lines = item_lines(raw, None if items is document else _ITEMS.encode())
    if len(lines) != len(items):  # the key is written with escapes, so the lines are unknown
        lines = [0] * len(items)
    for number, (line, record) in enumerate(zip(lines, items, strict=True), start=1):
        yield _row(f"{path.name}#{number}", line, path, record, source, date)


def _read_csv(raw: bytes, path: Path, source: str, date: dt.date) -> Iterator[SourceRow]:
    # Invalid bytes become unpaired surrogates, by which their rows are recognised below.
    lines = _Lines(list(io.StringIO(raw.decode("utf-8", "surrogateescape"), newline="")))
    records = _records(lines)
    header = _header(next(records, (1, [])), path)
    for line, cells in records:
        where = f"{path.name}:{line}"
        if isinstance(cells, str):
            issue = _issue(path, line, SignalReason.BAD_CSV, cells, "a CSV record")
        elif len(cells) != len(header):
            actual, expected = f"{len(cells)} cells", f"{len(header)} cells, as in the header"
            issue = _issue(path, line, SignalReason.BAD_CSV, actual, expected)
            # An open quotation mark consumes the following lines: continue after the first line.
            lines.position = line
        elif not all(map(_is_text, cells)):
            issue = _issue(path, line, SignalReason.NOT_TEXT, "bytes that are not UTF-8", "UTF-8")
        else:
            yield _row(where, line, path, dict(zip(header, cells, strict=True)), source, date)
            continue
        yield SourceRow(where, issue)


class _Lines:
    """Lines for csv.reader; `position` (0-based, the next to read) can be set back."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self.position = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if self.position >= len(self._lines):
            raise StopIteration
        self.position += 1
        return self._lines[self.position - 1]


def _records(lines: _Lines) -> Iterator[tuple[int, list[str] | str]]:
    """(1-based first line, cells) of each record; for a broken one a text with the error.

    After a broken record, reading continues with its second line. This stays linear, because the
    next quotation mark closes an open one, rightly or wrongly.
    """
    reader = csv.reader(lines, strict=True)
    while True:
        first = lines.position
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            lines.position = first + 1
            yield first + 1, f"text that is not CSV ({error})"
            continue
        if cells:
            yield first + 1, cells


def _header(record: tuple[int, list[str] | str], path: Path) -> list[str]:
    """Column names. Raises InputError without slug or measure, or for a repeated name."""
    expected = f"a header with slug and one of {', '.join(Popularity)}, no name twice"
    names = record[1]
    if isinstance(names, str):
        raise InputError(str(path), names, expected, "Fix the header.", record[0])
    folded = [field_key(name) for name in names]
    if "slug" not in folded or not any(map(is_measure, names)) or len(set(folded)) < len(folded):
        raise InputError(str(path), f"{len(names)} columns", expected, "Fix the header.", record[0])
    return names


def _is_text(cell: str) -> bool:
    return not any("\udc80" <= letter <= "\udcff" for letter in cell)


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},]', re.DOTALL)
_VALUE = re.compile(rb"\S")


def item_lines(raw: bytes, key: bytes | None) -> list[int]:
    """1-based lines of the items of the outermost list, or of the list under `key` of the root.

    `raw` must be valid JSON that contains this list. Linear in its length.
    """
    starts: list[int] = []
    depth, inside, last = 0, False, b""
    home = 1 if key is None else 2
    for token in _TOKEN.finditer(raw):
        text = token[0]
        if text in (b"[", b"{"):
            depth += 1
            if depth == home and text == b"[" and (key is None or last == b'"%s"' % key):
                inside, starts = True, [_next_value(raw, token.end())]
        elif text in (b"]", b"}"):
            inside = inside and depth != home
            depth -= 1
        elif text == b"," and inside and depth == home:
            starts.append(_next_value(raw, token.end()))
        elif text[:1] == b'"':
            last = text
    breaks = [match.start() for match in re.finditer(rb"\n", raw)]
    return [bisect_left(breaks, start) + 1 for start in starts]


def _next_value(raw: bytes, start: int) -> int:
    match = _VALUE.search(raw, start)
    return match.start() if match else len(raw)
