"""Replies of a store as one file, which a build elsewhere replays: compressed JSON lines.

    python -m construction.judging.calls.recorded workspace/private/captures/llm REPLIES.jsonl.gz

A line is a reply with the key of its question and its turn. The same replies give the same bytes.
The file holds what was said about the material, so it is as private as the store, unless the
material is public.
"""

from __future__ import annotations

import argparse
import gzip
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import orjson

from construction.judging.calls.contracts import Usage
from construction.judging.calls.replies import Reply
from construction.judging.calls.store import Store, Stored
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json
from data.errors import InputError

_MOST_BYTES = 1 << 30  # of the lines, before a file is refused as a bomb


def write_recorded(store: Path, path: Path) -> int:
    """Write all replies of a store to a file; returns how many. Raises StoreError."""
    with closing(Store(store)) as opened:
        stored = opened.all_replies()
    lines = b"".join(canonical_json(asdict(one)) + b"\n" for one in stored)
    write_bytes(path, gzip.compress(lines, 9, mtime=0), mode=PRIVATE_FILE)
    return len(stored)


def read_recorded(path: Path) -> Iterator[Stored]:
    """The replies of a file. Raises InputError for what `write_recorded` does not write."""
    try:
        with gzip.open(path) as file:
            content = file.read(_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, type(error).__name__) from None
    if len(content) > _MOST_BYTES:
        raise _unreadable(path, f"more than {_MOST_BYTES:,} bytes")
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            fields = orjson.loads(line)
            reply = fields["reply"]
            reply["usage"] = Usage(**reply["usage"])
            reply["left_out"] = tuple(reply["left_out"])
            yield Stored(fields["key"], fields["turn"], Reply(**reply))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise _unreadable(path, f"text, {len(line)} bytes", number) from None


def add_recorded(store: Path, path: Path) -> None:
    """Put the replies of a file into a store, beside those that it has. Raises InputError."""
    replies = list(read_recorded(path))
    with closing(Store(store)) as opened:
        opened.keep(replies)


def _unreadable(path: Path, actual: str, line: int = 0) -> InputError:
    expected = "recorded replies, as gzip of JSON lines"
    remedy = "Restore the file, or take it out of runtime.model_calls.recorded."
    return InputError(str(path), actual, expected, remedy, line)


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("file", type=Path)
    given = parser.parse_args()
    print(f"{given.file}: {write_recorded(given.store, given.file)} replies")


if __name__ == "__main__":
    main()
