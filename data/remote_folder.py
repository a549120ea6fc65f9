"""A folder anywhere that fsspec reaches (this machine, a bucket, …), and the shards kept in one."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from data.atomic import PRIVATE_FILE, private_dir, write_bytes
from data.canonical import digest, keyed_digest
from data.errors import BenchmintError, InputError
from data.neutralise import one_line

NEW = {"mode": "create"}  # the condition that a file is not there yet, as fsspec names it


@dataclass(frozen=True, slots=True)
class RemoteFolder:
    """A file system of fsspec and the folder there; files are named by their path below it."""

    system: Any
    base: str

    @property
    def is_local(self) -> bool:
        protocol = self.system.protocol
        return "file" in ((protocol,) if isinstance(protocol, str) else tuple(protocol))

    def at(self, path: str) -> str:
        return f"{self.base}/{path}"

    def listed(self, folder: str) -> set[str]:
        """The files below a folder."""
        prefix, root = f"{self.base}/", self.at(folder)
        paths: list[str] = self.system.find(root) if self.system.exists(root) else []
        return {str(path).removeprefix(prefix) for path in paths}

    def content(self, path: str) -> bytes | None:
        """What a file holds, whole in memory; None if it is not there."""
        try:
            return bytes(self.system.cat_file(self.at(path)))
        except FileNotFoundError:
            return None

    def digest(self, path: str) -> str:
        """SHA-256 of a file as it is read there."""
        with self.system.open(self.at(path), "rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()

    def state(self, path: str) -> dict[str, str]:
        """The condition under which a file is written only if it is as it is now (S3), or new."""
        where = self.at(path)
        if not self.system.exists(where):
            return NEW
        etag = None if self.is_local else self.system.info(where).get("ETag")
        return {} if etag is None else {"IfMatch": etag}

    def write(
        self, path: str, content: bytes, permissions: int, condition: Mapping[str, str]
    ) -> None:
        """Write a whole file or none: objects are put at once, local files moved into place.

        `condition` is for storage without turns; raises OSError if it does not hold.
        """
        if self.is_local:
            write_bytes(Path(self.at(path)), content, mode=permissions, aside=Path(self.base))
        else:
            self.system.pipe_file(self.at(path), content, **condition)

    def remove(self) -> None:
        """Remove the folder with all that is in it, if it is there."""
        if self.system.exists(self.base):
            self.system.rm(self.base, recursive=True)


def open_folder(address: str) -> RemoteFolder:
    """The folder at an address, without listings that are remembered; links to it are followed.

    Raises ValueError for no path or an unknown kind of storage, ImportError if its package is
    missing.
    """
    import fsspec  # its kinds of storage are imported when they are used

    if not address or address.endswith("://"):
        raise ValueError("no path")
    system, path = fsspec.core.url_to_fs(
        address, use_listings_cache=False, skip_instance_cache=True
    )
    there = RemoteFolder(system, str(path).rstrip("/"))
    if there.is_local:
        return RemoteFolder(system, str(Path(there.base).resolve()))
    return there


@contextmanager
def reaching(address: str, expected: str) -> Iterator[None]:
    """Raise InputError where the storage at an address cannot be used; `expected`: what it is."""
    try:
        yield
    except BenchmintError:
        raise
    except Exception as error:
        # Each kind of storage has errors of its own package; other built-in ones are our bugs.
        usual = isinstance(error, OSError | ImportError | ValueError)
        if not usual and type(error).__module__ == "builtins":
            raise
        problem = f"{type(error).__name__}: {one_line(str(error))[:200]}"
        raise InputError(
            address, problem, expected,
            "Check the URL, your access and the package for it (s3fs for s3://).",
        ) from error  # fmt: skip


_NONCE_BYTES, _KEY_BYTES = 12, 32
_AT_ONCE = 8  # requests to the storage
_LARGEST = (1 << 31) - 1  # bytes: what is encrypted at once


class _SharedAltered(BenchmintError):
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

    def _altered(self, name: str, state: str) -> _SharedAltered:
        return _SharedAltered(
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
