"""The head of a file: is it JSON lines, one JSON document, or neither?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from construction.sessions.readers.lenient_json import loads
from construction.sessions.readers.source import BOM, SourceFile

_SAMPLE_LINES = 40
# Enough for the longest first lines seen (instructions, images), little enough for any machine.
_SAMPLE_BYTES = 16 * 2**20
LARGEST_DOCUMENT = 128 * 2**20


@dataclass(frozen=True, slots=True)
class Head:
    """What a file starts with.

    `record` is the first object if the file is JSON lines (a document on one line counts as
    such), else None. `document` is the whole file if it is one JSON value over several lines, or
    a list; None otherwise. `start` is its first bytes.
    """

    start: bytes
    record: dict[str, Any] | None = None
    document: Any = None
    is_too_large: bool = False


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
    if start[:1] in (b"{", b"["):
        if source.path.stat().st_size > LARGEST_DOCUMENT:
            return Head(start, is_too_large=True)
        document = _parsed(source.path.read_bytes().removeprefix(BOM))
        if document is not None:
            return Head(start, document=document)
    return Head(start, next(first_records(source), None))


def first_records(source: SourceFile) -> Iterator[dict[str, Any]]:
    """The objects among the first lines, each read when it is asked for.

    If there is none, the first object of a first line that holds several.
    """
    found = False
    for line in _first_lines(source):
        value = _parsed(line)
        if isinstance(value, dict):
            found = True
            yield value
    if not found:
        yield from _glued(next(_first_lines(source), b""))


def _glued(line: bytes) -> tuple[dict[str, Any], ...]:
    """The first object of a line that holds several, glued by a writer that was killed."""
    try:
        value, _ = json.JSONDecoder().raw_decode(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return ()
    return (value,) if isinstance(value, dict) else ()


def _first_lines(source: SourceFile) -> Iterator[bytes]:
    """The first lines that are not blank, within the limits."""
    count, budget = 0, _SAMPLE_BYTES
    with source.path.open("rb") as handle:
        while count < _SAMPLE_LINES and budget > 0 and (line := handle.readline(budget)):
            budget -= len(line)
            line = line.strip().removeprefix(BOM)
            if line:
                count += 1
                yield line


def _parsed(raw: bytes) -> Any:
    """The JSON value, or None (which no log holds alone)."""
    try:
        return loads(raw)
    except orjson.JSONDecodeError:
        return None
