"""What every reader shares: the file at hand, its JSON lines, and the identity of a session."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from construction.sessions.readers.lenient_json import loads
from data.contracts import ReadIssue

_NOT_SLUG = re.compile(r"[^A-Za-z0-9._-]+")
_SLUG_LENGTH = 80
BOM = b"\xef\xbb\xbf"
LARGEST_LINE = 128 * 2**20  # bytes; parsed, a line takes about ten times its length
_BUFFER = 1 << 18  # bytes: most lines are longer than the usual eight kilobytes


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A session log: where it lies, and its POSIX path relative to the root it was found under."""

    path: Path
    relative: str


def session_uid(session_id: str, relative: str) -> str:
    """The id as a slug, plus six hex digits of the source path: unique in the corpus.

    A follow-up file that repeats a session id gets a uid of its own, and a session that has
    grown keeps its uid from one build to the next.
    """
    slug = _NOT_SLUG.sub("-", session_id).strip("-.")[:_SLUG_LENGTH] or "session"
    return f"{slug}.{hashlib.sha256(relative.encode('utf-8', 'surrogateescape')).hexdigest()[:6]}"


def json_lines(source: SourceFile) -> Iterator[tuple[int, dict[str, Any]] | ReadIssue]:
    """Yield (1-based line, object) for each line, and an issue for each line that is none.

    The file is streamed; blank lines are passed over. A UTF-8 byte order mark is tolerated.
    """
    with source.path.open("rb", _BUFFER) as handle:
        for number, raw in enumerate(_lines(handle), start=1):
            if len(raw) > LARGEST_LINE:
                found = f"more than {LARGEST_LINE:,} bytes"
                yield ReadIssue(
                    "line", source.relative, number, "line.too_long", found, "a shorter line"
                )
                continue
            try:
                record = orjson.loads(raw)
            except orjson.JSONDecodeError:
                item = _odd_line(source, number, raw)
                if item is not None:
                    yield item
                continue
            yield (
                (number, record)
                if isinstance(record, dict)
                else _other(source, number, record, raw)
            )


def _lines(handle: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; of one that is too long only the beginning."""
    while raw := handle.readline(LARGEST_LINE + 1):
        yield raw
        while len(raw) > LARGEST_LINE and not raw.endswith(b"\n"):
            raw = handle.readline(LARGEST_LINE + 1)


def _odd_line(
    source: SourceFile, number: int, raw: bytes
) -> tuple[int, dict[str, Any]] | ReadIssue | None:
    """A line with a byte order mark, one that can be mended, a blank one (None), or no JSON."""
    line = raw.strip()
    if number == 1:
        line = line.removeprefix(BOM)
    if not line:
        return None
    try:
        record = loads(line)
    except orjson.JSONDecodeError:
        found = f"text, {len(line)} bytes, not JSON"
        return ReadIssue("line", source.relative, number, "line.not_json", found, "JSON")
    return (number, record) if isinstance(record, dict) else _other(source, number, record, line)


def _other(source: SourceFile, number: int, record: object, line: bytes) -> ReadIssue:
    found = f"{type(record).__name__}, {len(line.strip())} bytes"
    return ReadIssue("line", source.relative, number, "line.not_object", found, "a JSON object")


def epoch_seconds(value: object) -> float | None:
    """ISO text, epoch seconds or epoch milliseconds as seconds since the epoch (UTC).

    None for anything else, e.g. the `T8:20:00` that some logs hold.
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
