"""Shared storage of a build whose workers do not see its disk: contents by digest, encrypted.

    <shared>/<build>/objects/<name>       a content, under a name that hides its digest
    <shared>/<build>/done/<stage>/<key>   the digest of the output that a shard has left

The storage is any address that fsspec reaches. It holds private originals, so everything is
encrypted (AES-256-GCM) with a key that is derived from the release key: whoever reads the storage
learns sizes and counts. A reader names the digest that it expects, and gets nothing else: what was
changed, cut, moved or lost in between is an error that names the object.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from data.atomic import PRIVATE_FILE, private_dir
from data.canonical import digest, keyed_digest
from data.errors import BenchmintError, InputError
from data.remote_folder import RemoteFolder, open_folder, reaching

_NONCE_BYTES, _KEY_BYTES = 12, 32
_AT_ONCE = 8  # requests to the storage
_LARGEST = (1 << 31) - 1  # bytes: what is encrypted at once


class SharedAltered(BenchmintError):
    """An object of the shared storage is not what was written there."""


class _Entry(NamedTuple):
    """What lies in a folder: `content` is the digest of a file, or what a link leads to."""

    kind: Literal["folder", "file", "link", "pipe"]
    path: str
    content: str = ""


@dataclass(frozen=True, slots=True)
class ShardStore:
    """The part of the shared storage at `address` that belongs to one build."""

    address: str
    key: bytes = field(repr=False)

    def require(self) -> None:
        """Raise InputError if nothing can be written there, before anything is computed."""
        with self._reached() as folder:
            if folder.is_local:
                Path(folder.base).parent.stat()  # a share that is not mounted is not made up
                private_dir(Path(folder.base))
        self.get(self.put(b"reachable"))

    def put(self, content: bytes) -> str:
        """Store a content and return its SHA-256. Raises InputError if it is too large."""
        sha256 = digest(content)
        if len(content) > _LARGEST:
            raise InputError(
                f"content of {len(content):,} bytes", "more than can be shared",
                f"at most {_LARGEST:,} bytes", "Build where the workers can see the disk.",
            )  # fmt: skip
        self._write(self._name(sha256), content)
        return sha256

    def get(self, sha256: str) -> bytes:
        """The content with this SHA-256. Raises SharedAltered if it is not there as written."""
        name = self._name(sha256)
        content = self._read(name)
        if content is None or digest(content) != sha256:
            state = "nothing" if content is None else "another content"
            raise self._altered(name, state)
        return content

    def put_tree(self, folder: Path) -> str:
        """Store all that is below a folder; the digest of the list of it. Links stay links."""
        entries = sorted(_walk(folder, PurePosixPath()))

        def stored(entry: _Entry) -> _Entry:
            is_file = entry.kind == "file"
            content = self.put((folder / entry.path).read_bytes()) if is_file else entry.content
            return entry._replace(content=content)

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            listed = list(pool.map(stored, entries))
        return self.put(json.dumps(listed).encode())  # ASCII: names may be no UTF-8

    def get_tree(self, sha256: str, target: Path, was: Path | None = None) -> None:
        """Write a stored folder into `target`, which exists and is empty.

        Links that led to a path below `was`, where the folder lay, lead to the same file in
        `target`. Raises SharedAltered, also for a list that leaves the folder.
        """
        entries = [_Entry(*row) for row in json.loads(self.get(sha256))]
        if not all(_is_inside(entry.path) for entry in entries):
            raise self._altered(self._name(sha256), "a path that leaves its folder")
        by_kind: dict[str, list[_Entry]] = {}
        for entry in entries:  # sorted: a folder comes before what is in it
            by_kind.setdefault(entry.kind, []).append(entry)
        for entry in by_kind.get("folder", ()):
            (target / entry.path).mkdir()
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda entry: self._fetch(entry, target), by_kind.get("file", ())))
        for entry in by_kind.get("pipe", ()):
            os.mkfifo(target / entry.path)
        for entry in by_kind.get("link", ()):  # last: nothing is written through one
            leads = Path(entry.content)
            if was is not None and leads.is_relative_to(was):
                leads = target / leads.relative_to(was)
            (target / entry.path).symlink_to(leads)

    def record(self, stage: str, key: str, tree: str) -> None:
        """Note that the output of a shard is stored as the tree of this digest."""
        self._write(f"done/{stage}/{key}", tree.encode())

    def recorded(self, stage: str, key: str) -> str | None:
        """The tree that `record` noted; None if there is none. Raises SharedAltered."""
        content = self._read(f"done/{stage}/{key}")
        return None if content is None else content.decode()

    def clear(self) -> None:
        """Remove all that this build has stored."""
        with self._reached() as folder:
            folder.remove()

    @contextmanager
    def _reached(self) -> Iterator[RemoteFolder]:
        with reaching(self.address, "a URL that fsspec and all workers can reach"):
            yield _opened(self.address)

    def _fetch(self, entry: _Entry, target: Path) -> None:
        with (target / entry.path).open("xb") as out:
            out.write(self.get(entry.content))

    def _name(self, sha256: str) -> str:
        return f"objects/{keyed_digest(self.key, sha256)}"

    def _write(self, name: str, content: bytes) -> None:
        nonce = os.urandom(_NONCE_BYTES)
        sealed = nonce + AESGCM(self.key).encrypt(nonce, content, name.encode())
        with self._reached() as folder:
            folder.write(name, sealed, PRIVATE_FILE, {})

    def _read(self, name: str) -> bytes | None:
        """What was written under a name, which is sealed with it: no other object can stand in."""
        with self._reached() as folder:
            sealed = folder.content(name)
        if sealed is None:
            return None
        nonce, content = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        try:
            return AESGCM(self.key).decrypt(nonce, content, name.encode())
        except (InvalidTag, ValueError):
            raise self._altered(name, "another content") from None

    def _altered(self, name: str, state: str) -> SharedAltered:
        return SharedAltered(
            f"{self.address}/{name}: found {state}; expected what this build wrote there. All "
            "workers must be able to reach this storage, and nobody else may write to it. "
            f"Remove {self.address} and build again."
        )


def shard_store(address: str, release_key: bytes, out: Path) -> ShardStore:
    """The store of the build into `out`, apart from those of other builds at this address."""
    build = keyed_digest(release_key, f"shared storage of {os.fsdecode(out.resolve())}")[:16]
    key = bytes.fromhex(keyed_digest(release_key, "key of the shared storage"))[:_KEY_BYTES]
    return ShardStore(f"{address.rstrip('/')}/{build}", key)


@lru_cache(maxsize=4)
def _opened(address: str) -> RemoteFolder:
    """The folder; connections of a process are kept."""
    return open_folder(address)


def _walk(root: Path, inner: PurePosixPath) -> Iterator[_Entry]:
    """Everything below a folder, folders before what they hold.

    Raises InputError for a folder or file that cannot be read: workers would see something else.
    """
    for entry in _listed(root / inner):
        path = (inner / entry.name).as_posix()
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            yield _Entry("link", path, str(Path(entry.path).readlink()))
        elif stat.S_ISDIR(mode):
            yield _Entry("folder", path)
            yield from _walk(root, inner / entry.name)
        else:  # what is neither is no input file, and a pipe stands for it
            yield _Entry("file" if stat.S_ISREG(mode) else "pipe", path)


def _listed(folder: Path) -> Iterable[os.DirEntry[Any]]:
    with os.scandir(folder) as entries:
        return list(entries)


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path)
    return not parts.is_absolute() and ".." not in parts.parts and path not in ("", ".")
