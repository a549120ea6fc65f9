"""Input shared by all readers: a log file, its JSON lines or JSON document, and times."""

from __future__ import annotations

import codecs
import io
import itertools
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import orjson

from data.contracts import ReadIssue

# The pattern consumes every escape, so that `\ud83d` after an escaped backslash does not match.
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|\\u([dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4})"
    rb"|(\\)",
)


def loads(raw: bytes) -> Any:
    """The JSON value; unpaired surrogates are read as U+FFFD, unknown escapes as they stand.

    Harnesses cut long output between the two halves of an emoji, and those who redact a log
    leave `\\*`, both of which orjson rejects.

    Raises:
        orjson.JSONDecodeError: not JSON, or nested more than 1,024 levels deep.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        if b"\\" not in raw:
            raise
    return orjson.loads(_ESCAPE.sub(_mended, raw))


def _mended(escape: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if escape[1] else rb"\\" if escape[2] else escape[0]


LARGEST_LINE = 128 * 2**20  # bytes; a parsed line takes about ten times its length in memory
_BUFFER = 1 << 18  # bytes: most lines are longer than the default buffer of eight kilobytes


# UTF-32 first: in little-endian order its mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, ""),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class _Recoded(io.RawIOBase):
    """The text of a stream as UTF-8."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and (block := self._stream.read(_BUFFER)):
            self._ready = self._decoder.decode(block).encode()
        if not self._ready:
            self._ready = self._decoder.decode(b"", final=True).encode()
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def close(self) -> None:
        self._stream.close()
        super().close()


def _opened(path: Path) -> BinaryIO:
    """The file opened for reading; a text behind a byte order mark is UTF-8 without the mark.

    Raises:
        OSError: the file cannot be opened or read.
    """
    handle = path.open("rb", _BUFFER)
    start = handle.read(4)
    mark, encoding = next((m for m in _MARKS if start.startswith(m[0])), (b"", ""))
    handle.seek(len(mark))
    return io.BufferedReader(_Recoded(handle, encoding), _BUFFER) if encoding else handle


def opened_text(path: Path) -> TextIO:
    """The file as text, whose lines end at line feeds."""
    return io.TextIOWrapper(_opened(path), encoding="utf-8", errors="replace", newline="\n")


def _content(path: Path) -> bytes:
    with _opened(path) as handle:
        return handle.read()


# A document that begins behind lines of a terminal, as `program export >file 2>&1` leaves it.
_BEHIND = re.compile(rb"\s*[^\s{\[](?:.*\n){1,9}?(?=[{\[]\s*\n)")


def _without_lines_before(raw: bytes) -> bytes:
    lines = _BEHIND.match(raw[:_BEFORE])
    return raw[lines.end() :] if lines else raw


PLAIN_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")  # that may name a file
_BEFORE = 2_000  # bytes


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A session log: its path, and the POSIX path relative to the root that contains it."""

    path: Path
    relative: str


def json_lines(source: SourceFile) -> Iterator[tuple[int, dict[str, Any]] | ReadIssue]:
    """Yield (1-based line, object) for each JSON object, and an issue for any other line.

    The file is streamed; blank lines are skipped.
    """
    with _opened(source.path) as handle:
        for number, raw in enumerate(_lines(handle), start=1):
            if len(raw) > LARGEST_LINE:
                size = f"more than {LARGEST_LINE:,} bytes"
                yield ReadIssue(
                    "line", source.relative, number, "line.too_long", size, "a shorter line"
                )
                continue
            try:
                record = orjson.loads(raw)
            except orjson.JSONDecodeError:
                yield from _irregular_line(source, number, raw)
                continue
            yield (
                (number, record)
                if isinstance(record, dict)
                else _other(source, number, record, raw)
            )


def _lines(handle: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; a line that is too long is cut off."""
    while raw := handle.readline(LARGEST_LINE + 1):
        yield raw
        while len(raw) > LARGEST_LINE and not raw.endswith(b"\n"):
            raw = handle.readline(LARGEST_LINE + 1)


def count_lines(path: Path) -> int:
    """The lines of a file that can be read, the blank ones included."""
    lines, last = 0, b""
    with suppress(OSError), _opened(path) as handle:
        while block := handle.read(_BUFFER):
            lines, last = lines + block.count(b"\n"), block[-1:]
    return lines + (last not in (b"", b"\n"))


def _irregular_line(
    source: SourceFile, number: int, raw: bytes
) -> Iterator[tuple[int, dict[str, Any]] | ReadIssue]:
    """The object of a line with an unpaired surrogate; nothing if it is blank.

    A writer that was killed leaves several objects on a line. Any other line is an issue.
    """
    line = raw.strip()
    if not line:
        return
    try:
        record = loads(line)
    except orjson.JSONDecodeError:
        objects = _glued(line)
        if objects is None:
            description = f"text, {len(line)} bytes, not JSON"
            yield ReadIssue("line", source.relative, number, "line.not_json", description, "JSON")
        yield from ((number, held) for held in objects or ())
        return
    yield (number, record) if isinstance(record, dict) else _other(source, number, record, line)


def _other(source: SourceFile, number: int, record: object, line: bytes) -> ReadIssue:
    description = f"{type(record).__name__}, {len(line.strip())} bytes"
    return ReadIssue(
        "line", source.relative, number, "line.not_object", description, "a JSON object"
    )


def epoch_seconds(value: object) -> float | None:
    """ISO text, epoch seconds or epoch milliseconds as seconds since the epoch (UTC).

    None for anything else, for example the `T8:20:00` that some logs contain.
    """
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    seconds = value / 1000 if abs(value) >= 1e11 else float(value)
    return seconds if 0 <= seconds < 4_102_444_800 else None


def json_document(source: SourceFile) -> Any | ReadIssue:
    """The file as one JSON value, or the issue that says why it is not one."""
    raw = _content(source.path)
    try:
        return loads(_without_lines_before(raw))
    except orjson.JSONDecodeError as error:
        description = f"text, {len(raw)} bytes, not JSON"
        return ReadIssue(
            "file", source.relative, error.lineno, "file.not_json", description, "one JSON document"
        )


def no_records(source: SourceFile, expected: str) -> ReadIssue:
    """The issue of a file in which nothing of what was `expected` stands."""
    return ReadIssue("file", source.relative, 0, "file.no_records", "0 records", expected)


_SAMPLE_LINES = 40
# Enough for the longest first lines observed (instructions, images), and fits in any memory.
_SAMPLE_BYTES = 16 * 2**20
LARGEST_DOCUMENT = 128 * 2**20


@dataclass(frozen=True, slots=True)
class Sample:
    """What a signature may look at.

    `records` are the first objects: of the lines, of a document that is a list, or the document
    itself. `is_document` is true if the file is one JSON value over several lines, or a list.
    `text` is the beginning of a file that is no JSON, `tables` are the columns of each table of a
    SQLite database, `names` the first names in a ZIP archive.
    """

    source: SourceFile
    records: tuple[dict[str, Any], ...] = ()
    is_list: bool = False
    text: str = ""
    tables: Mapping[str, frozenset[str]] = field(default_factory=dict)
    names: tuple[str, ...] = ()

    @property
    def head(self) -> dict[str, Any]:
        """The first object, unless the file is a list."""
        return {} if self.is_list or not self.records else self.records[0]

    @property
    def items(self) -> tuple[dict[str, Any], ...]:
        """The objects of a file that is a list."""
        return self.records if self.is_list else ()


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file.

    `start` holds its first bytes. `record` is the first object if the file is JSON lines (a
    document on one line counts as such), else None. `document` is the whole file if it is a list
    or one JSON value over several lines, else None.
    """

    start: bytes
    record: dict[str, Any] | None = None
    document: Any = None
    is_too_large: bool = False


Reading = Callable[[SourceFile], Iterator[tuple[int, Any] | ReadIssue]]


def values(source: SourceFile) -> Iterator[tuple[int, object] | ReadIssue]:
    """(line, value) of each JSON line, or of a document or each item of one (line 0)."""
    lines = json_lines(source)
    first = next(lines, None)
    document = None if isinstance(first, tuple) else read_head(source).document
    if isinstance(document, list):
        yield from ((0, item) for item in document)
    elif document is not None:
        yield 0, document
    elif first is not None:
        yield first
        yield from lines


def records(source: SourceFile, listed_under: str) -> Iterator[tuple[int, object] | ReadIssue]:
    """The `values`; of an object that lists its records under this key, the records (line 0)."""
    for item in values(source):
        held = None if isinstance(item, ReadIssue) else item[1]
        listed = held.get(listed_under) if isinstance(held, dict) else None
        if isinstance(listed, list):
            yield from ((0, record) for record in listed)
        else:
            yield item


def objects(
    source: SourceFile, issues: list[ReadIssue], read: Reading = values
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, object) of each value that is one; what is none, or no JSON, goes to `issues`."""
    for item in read(source):
        if isinstance(item, ReadIssue):
            issues.append(item)
            continue
        line, record = item
        if isinstance(record, dict):
            yield line, record
        else:
            name, actual = source.relative, type(record).__name__
            issues.append(ReadIssue("record", name, line, "record.unexpected", actual, "an object"))


_MOST_PARTS = 100_000  # files of one session


def files_in(folder: Path) -> list[Path]:
    """The JSON files of a folder by name, without links; none if it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            files = [
                Path(entry.path)
                for entry in itertools.islice(entries, _MOST_PARTS)
                if entry.name.endswith(".json") and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return []
    return sorted(files)


def document_of(source: SourceFile) -> Any:
    """The file as one JSON value, on one line or on several; None if it is none."""
    head = read_head(source)
    return head.record if head.document is None else head.document


def read_head(source: SourceFile) -> Head:
    """Read the first line, and the whole file only if it may be one document.

    Raises:
        OSError: the file cannot be read.
    """
    first = next(_first_lines(source), b"")
    start = first[:64]
    record = None if start[:1] == b"[" else _parsed(first)
    if isinstance(record, dict):
        return Head(start, record)
    is_large = source.path.stat().st_size > LARGEST_DOCUMENT
    if start[:1] in (b"{", b"[") or (not is_large and _is_behind_lines(source)):
        if is_large:
            return Head(start, is_too_large=True)
        raw = _without_lines_before(_content(source.path))
        document = _parsed(raw)
        document = _glued(raw.strip()) if document is None else document
        if document is not None:
            return Head(start, document=document)
    return Head(start, next(first_records(source), None))


def _is_behind_lines(source: SourceFile) -> bool:
    with _opened(source.path) as handle:
        return _BEHIND.match(handle.read(_BEFORE)) is not None


def first_records(source: SourceFile) -> Iterator[dict[str, Any]]:
    """The objects among the first lines, read lazily.

    If there is none, the first of several objects on the first line.
    """
    has_object = False
    for line in _first_lines(source):
        value = _parsed(line)
        if isinstance(value, dict):
            has_object = True
            yield value
    if not has_object:
        yield from _glued(next(_first_lines(source), b"")) or ()


_LONGEST_GLUED = 16 * 2**20  # bytes


def _glued(line: bytes) -> list[dict[str, Any]] | None:
    """The objects of a line that holds several and nothing else, else None."""
    text = line.decode("utf-8", "replace")
    objects: list[dict[str, Any]] = []
    position = 0
    while position < len(text) and len(line) <= _LONGEST_GLUED:
        try:
            _, end = json.JSONDecoder().raw_decode(text, position)
            value = loads(text[position:end].encode())
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict):
            return None
        objects.append(value)
        position = len(text) - len(text[end:].lstrip())
    return objects or None


def _first_lines(source: SourceFile) -> Iterator[bytes]:
    """The first non-blank lines, within the limits."""
    count, budget = 0, _SAMPLE_BYTES
    with _opened(source.path) as handle:
        while count < _SAMPLE_LINES and budget > 0 and (line := handle.readline(budget)):
            budget -= len(line)
            line = line.strip()
            if line:
                count += 1
                yield line


def _parsed(raw: bytes) -> Any:
    """The JSON value, None if there is none (no log consists of `null`)."""
    try:
        return loads(raw)
    except orjson.JSONDecodeError:
        return None
