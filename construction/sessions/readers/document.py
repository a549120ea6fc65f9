"""Logs that are one JSON document instead of JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from construction.sessions.readers.lenient_json import loads
from construction.sessions.readers.source import BOM, SourceFile, json_lines
from data.contracts import ReadIssue


def json_document(source: SourceFile) -> Any | ReadIssue:
    """The file as one JSON value, or the issue that says why it is none."""
    raw = source.path.read_bytes().removeprefix(BOM)
    try:
        return loads(raw)
    except orjson.JSONDecodeError as error:
        found = f"text, {len(raw)} bytes, not JSON"
        return ReadIssue(
            "file", source.relative, error.lineno, "file.not_json", found, "one JSON document"
        )


def records(
    source: SourceFile, listed_under: str
) -> Iterator[tuple[int, dict[str, Any]] | ReadIssue]:
    """The records of a log that may be JSON lines or one document, as `json_lines` yields them.

    A document holds its records in a list under the key `listed_under`, or is itself the only
    record; their line is 0.
    """
    lines = json_lines(source)
    first = next(lines, None)
    if isinstance(first, tuple) and not isinstance(first[1].get(listed_under), list):
        yield first
        yield from lines
        return
    document = json_document(source)
    if not isinstance(document, dict):
        # A log whose first line is broken: `json_lines` names that line and reads the rest.
        yield from json_lines(source)
        return
    listed = document.get(listed_under)
    for number, record in enumerate(listed if isinstance(listed, list) else [document], start=1):
        if isinstance(record, dict):
            yield 0, record
        else:
            found = f"{type(record).__name__} at place {number}"
            expected = f"an object in {listed_under}"
            yield ReadIssue("record", source.relative, 0, "record.not_object", found, expected)
