"""Captured probe results and frozen pages: inputs with a digest that a rebuild replays (law 5).

They contain URLs and pages from sessions and belong in the private store.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Literal

import orjson

from construction.sessions.gates.network import Cause, NetworkConfig, ProbeResult
from data.atomic import PRIVATE_FILE, private_dir, write_bytes
from data.canonical import canonical_json, digest, file_digest
from data.contracts import Fixture
from data.errors import InputError

ProbeMode = Literal["check", "freeze"]
_NOT_PROBING = {"mode", "unverified"}


def recipe_digest(config: NetworkConfig, mode: ProbeMode) -> str:
    """Digest of the settings on which a probe result depends."""
    return digest({"mode": mode, **config.model_dump(exclude=_NOT_PROBING)})


class Captures:
    """Probe results by recipe digest and normalised URL, stored as sorted JSON lines.

    With a `path`, every added result is immediately appended to a journal beside the file, so
    that a killed build loses none; `save` writes all results to the file.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._results: dict[tuple[str, str], ProbeResult] = {}

    @classmethod
    def load(cls, path: Path) -> Captures:
        """Read the file, if it exists, and the journal of a killed build.

        Raises InputError for a line that is not a captured result. An incomplete last line of the
        journal is ignored.
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

    def get(self, url: str, recipe: str) -> ProbeResult | None:
        return self._results.get((recipe, url))

    def add(self, result: ProbeResult, recipe: str) -> None:
        """Record a result, replacing an older one of the same URL and recipe."""
        self._results[recipe, result.url] = result
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(_journal(self._path), os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE_FILE)
        with os.fdopen(handle, "ab") as journal:
            journal.write(_line(recipe, result))

    def save(self) -> None:
        """Write all results to the file, atomically, and remove the journal."""
        if self._path is None:
            raise ValueError("captures without a path cannot be saved")
        write_bytes(self._path, self.content(), mode=PRIVATE_FILE)
        _journal(self._path).unlink(missing_ok=True)

    def content(self) -> bytes:
        """The file's bytes; they do not depend on the order in which results were added."""
        return b"".join(_line(key[0], self._results[key]) for key in sorted(self._results))

    @property
    def digest(self) -> str:
        return digest(self.content())

    def __len__(self) -> int:
        return len(self._results)

    def _take(self, line: bytes, path: str, number: int) -> None:
        try:
            record = orjson.loads(line)
            recipe = record.pop("recipe")
            cause = record.pop("cause")
            result = ProbeResult(cause=Cause(cause) if cause is not None else None, **record)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                path,
                f"text, {len(line)} bytes",
                "a captured probe result",
                "Restore the file, or delete it to probe again.",
                number,
            ) from error
        self._results[recipe, result.url] = result


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}.journal")


def _line(recipe: str, result: ProbeResult) -> bytes:
    return canonical_json({"recipe": recipe, **dataclasses.asdict(result)}) + b"\n"


# Types that an agent can read; any other content is named .bin, never as a program.
_EXTENSIONS = {
    "application/atom+xml": "xml",
    "application/json": "json",
    "application/ld+json": "json",
    "application/msword": "doc",
    "application/pdf": "pdf",
    "application/rss+xml": "xml",
    "application/vnd.ms-excel": "xls",
    "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/xhtml+xml": "html",
    "application/xml": "xml",
    "application/zip": "zip",
    "image/gif": "gif",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/svg+xml": "svg",
    "image/webp": "webp",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
    "text/xml": "xml",
}


def store(content: bytes, freeze_dir: Path) -> str:
    """Store `content` in the private `freeze_dir` under its SHA-256, which is returned."""
    sha256 = digest(content)
    path = frozen_path(sha256, freeze_dir)
    if not path.exists():
        private_dir(freeze_dir)
        write_bytes(path, content, mode=PRIVATE_FILE)
    return sha256


def frozen_path(sha256: str, freeze_dir: Path) -> Path:
    return freeze_dir / sha256


def is_stored(sha256: str, freeze_dir: Path) -> bool:
    """True if the content is present and unchanged."""
    path = frozen_path(sha256, freeze_dir)
    return path.is_file() and file_digest(path) == sha256


def frozen_fixture(result: ProbeResult, number: int) -> Fixture:
    """The fixture for a frozen result: `page-<number>.<type>`.

    The name reveals neither URL nor content, both of which may be private. Raises ValueError if
    the result holds no frozen content.
    """
    if result.sha256 is None or result.bytes is None or result.media_type is None:
        raise ValueError("no frozen content: probe with mode = freeze first")
    extension = _EXTENSIONS.get(result.media_type, "bin")
    return Fixture(
        path=f"page-{number}.{extension}",
        sha256=result.sha256,
        bytes=result.bytes,
        media_type=result.media_type,
        role="frozen_page",
    )
