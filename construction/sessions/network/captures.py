"""Captured probe results and frozen pages: inputs with a digest that a rebuild replays (law 5).

They contain URLs and pages from sessions and belong in the private store.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, Literal

from construction.sessions.gates.network import Cause, NetworkConfig, ProbeResult
from data.atomic import PRIVATE_FILE, private_dir, write_bytes
from data.canonical import digest, file_digest
from data.captures import CaptureFile
from data.contracts import Fixture

ProbeMode = Literal["check", "freeze"]
_NOT_PROBING = {"mode", "unverified"}


def recipe_digest(config: NetworkConfig, mode: ProbeMode) -> str:
    """Digest of the settings on which a probe result depends."""
    return digest({"mode": mode, **config.model_dump(exclude=_NOT_PROBING)})


class Captures(CaptureFile[tuple[str, str], ProbeResult]):
    """Probe results by recipe digest and normalised URL."""

    EXPECTED = "a captured probe result"
    REMEDY = "Restore the file, or delete it to probe again."

    def get(self, url: str, recipe: str) -> ProbeResult | None:
        return self.find((recipe, url))

    def add(self, result: ProbeResult, recipe: str) -> None:
        """Record a result, replacing an older one of the same URL and recipe."""
        self.keep((recipe, result.url), result)

    def _record(self, key: tuple[str, str], outcome: ProbeResult) -> dict[str, Any]:
        return {"recipe": key[0], **dataclasses.asdict(outcome)}

    def _entry(self, record: dict[str, Any]) -> tuple[tuple[str, str], ProbeResult]:
        recipe, cause = record.pop("recipe"), record.pop("cause")
        result = ProbeResult(cause=None if cause is None else Cause(cause), **record)
        return (recipe, result.url), result


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
