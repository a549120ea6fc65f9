"""Frozen pages: what a URL answered, kept by digest so that a task outlives the page."""

from __future__ import annotations

from pathlib import Path

from construction.sessions.gates.network import ProbeResult
from data.atomic import PRIVATE_FILE, private_dir, write_bytes
from data.canonical import digest, file_digest
from data.contracts import Fixture

# Only types that an agent can read; anything else is kept as .bin, never as a program.
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
    """Keep `content` in the private `freeze_dir` under its SHA-256, which is returned."""
    sha256 = digest(content)
    path = frozen_path(sha256, freeze_dir)
    if not path.exists():
        private_dir(freeze_dir)
        write_bytes(path, content, mode=PRIVATE_FILE)
    return sha256


def frozen_path(sha256: str, freeze_dir: Path) -> Path:
    return freeze_dir / sha256


def is_stored(sha256: str, freeze_dir: Path) -> bool:
    """True if the content is there and unchanged."""
    path = frozen_path(sha256, freeze_dir)
    return path.is_file() and file_digest(path) == sha256


def frozen_fixture(result: ProbeResult, number: int) -> Fixture:
    """The fixture for a frozen result: `page-<number>.<type>`.

    The name says nothing about the URL or the content, both of which may be private. Raises
    ValueError if nothing was frozen.
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
