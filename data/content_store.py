"""File contents of a stage in one file: each content once, however many tasks name it.

Thousands of small files would each have to be created and synced. The contents are written one
after the other; an index gives the offset and the size of each by SHA-256.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from io import BufferedWriter
from pathlib import Path
from typing import BinaryIO

import orjson

from data.canonical import canonical_json

_CONTENTS, _INDEX = "contents.bin", "index.json"
_CHUNK = 1 << 20


class ContentStore:
    """Adds contents to a folder, which is created with the first; `close` writes the index."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._out: BufferedWriter | None = None
        self._index: dict[str, tuple[int, int]] = {}

    def __contains__(self, sha256: str) -> bool:
        return sha256 in self._index

    def add(self, sha256: str, chunks: Iterable[bytes]) -> bool:
        """Add a content; False, and nothing is kept, if its digest is not `sha256`."""
        if self._out is None:
            self._folder.mkdir()
            self._out = (self._folder / _CONTENTS).open("xb")
        start, size, digest = self._out.tell(), 0, hashlib.sha256()
        for chunk in chunks:
            size += self._out.write(chunk)
            digest.update(chunk)
        if digest.hexdigest() != sha256:
            self._out.seek(start)
            self._out.truncate()
            return False
        self._index[sha256] = (start, size)
        return True

    def close(self) -> None:
        """Without contents there is no folder."""
        if self._out is not None:
            self._out.close()
            (self._folder / _INDEX).write_bytes(canonical_json(self._index))


def unpack(folder: Path, wanted: Iterable[str], target: Path) -> None:
    """Write the contents of a store that have these digests as files `<target>/<sha256>`."""
    index: dict[str, tuple[int, int]] = orjson.loads((folder / _INDEX).read_bytes())
    with (folder / _CONTENTS).open("rb") as contents:
        for sha256 in wanted:
            start, size = index[sha256]
            contents.seek(start)
            with (target / sha256).open("xb") as out:
                out.writelines(chunks(contents, size))


def chunks(handle: BinaryIO, size: int) -> Iterator[bytes]:
    """The next `size` bytes, or fewer if there are not so many."""
    while size > 0 and (chunk := handle.read(min(_CHUNK, size))):
        size -= len(chunk)
        yield chunk
