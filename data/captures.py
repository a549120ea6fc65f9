"""What a build finds outside, kept as sorted JSON lines that a rebuild replays (law 5)."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import orjson

from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json, digest
from data.errors import InputError

_Key = TypeVar("_Key", bound=str | tuple[str, ...])
_Found = TypeVar("_Found")


class CaptureFile(ABC, Generic[_Key, _Found]):
    """Findings by key; the file's bytes do not depend on the order in which they were added.

    With a `path`, each finding is appended to a journal beside the file as soon as it is added, so
    that a killed build loses none; `save` writes all of them to the file. `EXPECTED` and `REMEDY`
    are what is said of a line that cannot be read.
    """

    EXPECTED: ClassVar[str]
    REMEDY: ClassVar[str]

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._outcomes: dict[_Key, _Found] = {}

    @abstractmethod
    def _record(self, key: _Key, outcome: _Found) -> dict[str, Any]:
        """A finding with its key as JSON values."""

    @abstractmethod
    def _entry(self, record: dict[str, Any]) -> tuple[_Key, _Found]:
        """The reverse. Raises ValueError, KeyError, TypeError or AttributeError."""

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read the file, if it exists, and the journal of a killed build.

        Raises InputError for a line that is no finding. An incomplete last line of the journal is
        ignored.
        """
        captures = cls(path)
        if path.exists():
            for number, line in enumerate(path.read_bytes().splitlines(), start=1):
                captures._take(line, str(path), number)
        journal = _journal(path)
        if journal.exists():
            for number, line in enumerate(journal.read_bytes().split(b"\n")[:-1], start=1):
                captures._take(line, str(journal), number)
            captures.save()
        return captures

    def find(self, key: _Key) -> _Found | None:
        return self._outcomes.get(key)

    def keep(self, key: _Key, outcome: _Found) -> None:
        """Record a finding, replacing an older one of the same key."""
        self._outcomes[key] = outcome
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(_journal(self._path), os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE_FILE)
        with os.fdopen(handle, "ab") as journal:
            journal.write(self._line(key))

    def save(self) -> None:
        """Write all findings to the file, atomically, and remove the journal."""
        if self._path is None:
            raise ValueError("captures without a path cannot be saved")
        write_bytes(self._path, self.content(), mode=PRIVATE_FILE)
        _journal(self._path).unlink(missing_ok=True)

    def content(self) -> bytes:
        """The file's bytes."""
        return b"".join(self._line(key) for key in sorted(self._outcomes))

    @property
    def digest(self) -> str:
        return digest(self.content())

    def __len__(self) -> int:
        return len(self._outcomes)

    def _line(self, key: _Key) -> bytes:
        return canonical_json(self._record(key, self._outcomes[key])) + b"\n"

    def _take(self, line: bytes, path: str, number: int) -> None:
        try:
            key, outcome = self._entry(orjson.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            actual = f"text, {len(line)} bytes"
            raise InputError(path, actual, self.EXPECTED, self.REMEDY, number) from error
        self._outcomes[key] = outcome


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}.journal")
