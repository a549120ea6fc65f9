"""A folder anywhere that fsspec reaches: on this machine, in a bucket, …"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.atomic import write_bytes
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
