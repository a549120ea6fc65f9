"""Replies of a store as one file, which a build elsewhere replays: compressed JSON lines.

    python -m construction.judging.calls.recorded workspace/private/captures/llm REPLIES.jsonl.gz

A line is a reply with the key of its question and its turn. The same replies give the same bytes.
The file holds what was said about the material, so it is as private as the store, unless the
material is public.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter

from construction.judging.calls.replies import TRIES
from construction.judging.calls.store import Store, Stored
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json
from data.errors import InputError

_MOST_BYTES = 1 << 30  # of the lines, before a file is refused as a bomb
_LONGEST = 1 << 24  # bytes of a line
_MOST_TOKENS = 1 << 53
_STORED = TypeAdapter(Stored)


def write_recorded(store: Path, path: Path) -> int:
    """Write all replies of a store to a file; returns how many. Raises StoreError."""
    with closing(Store(store)) as opened:
        stored = opened.all_replies()
    lines = b"".join(canonical_json(asdict(one)) + b"\n" for one in stored)
    write_bytes(path, gzip.compress(lines, 9, mtime=0), mode=PRIVATE_FILE)
    return len(stored)


def read_recorded(path: Path) -> Iterator[Stored]:
    """The replies of a file. Raises InputError for what `write_recorded` does not write."""
    known: set[tuple[str, int]] = set()
    bytes_left = _MOST_BYTES
    try:
        with gzip.open(path) as file:
            for number in itertools.count(1):
                line = file.readline(_LONGEST + 1)
                bytes_left -= len(line)
                if not line:
                    break
                if bytes_left < 0 or len(line) > _LONGEST:
                    most = _MOST_BYTES if bytes_left < 0 else _LONGEST
                    raise _unreadable(path, f"more than {most:,} bytes", number)
                stored = _stored(line)
                if stored is None or (stored.key, stored.turn) in known:
                    content = "a second reply" if stored else f"text, {len(line)} bytes"
                    raise _unreadable(path, content, number)
                known.add((stored.key, stored.turn))
                yield stored
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, type(error).__name__) from None
    if not known and not path.stat().st_size:
        raise _unreadable(path, "an empty file")


def _stored(line: bytes) -> Stored | None:
    """The reply of a line, if it is one that a store can hold."""
    try:
        stored = _STORED.validate_json(line, strict=True)
    except ValueError:
        return None
    usage = stored.reply.usage
    numbers = (usage.prompt_tokens, usage.completion_tokens)
    is_kept = stored.turn in range(TRIES) and all(0 <= number < _MOST_TOKENS for number in numbers)
    return stored if is_kept else None


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
