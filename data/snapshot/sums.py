"""SHA256SUMS files: readable by `sha256sum -c`, parsed as untrusted input."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from data.canonical import digest, file_digest
from data.snapshot import layout

_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


class SumsError(ValueError):
    """An invalid line of a SHA256SUMS file: its number and what is wrong with it."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")


def compute(root: Path) -> dict[str, str]:
    """Path below `root` -> SHA-256 of every regular file that is listed, sorted."""
    files = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    named = sorted((path.relative_to(root).as_posix(), path) for path in files)
    return {name: file_digest(path) for name, path in named if name not in layout.UNLISTED}


def render(sums: Mapping[str, str]) -> bytes:
    """The content of a SHA256SUMS file, sorted by path."""
    return "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()


def parse(content: bytes) -> dict[str, str]:
    """Path -> digest. Raises SumsError for a malformed line, an unsafe path or a repeated one."""
    sums: dict[str, str] = {}
    for number, raw in enumerate(content.split(b"\n")[:-1], start=1):
        try:
            match = _LINE.fullmatch(raw.decode())
        except UnicodeDecodeError:
            match = None
        if match is None:
            raise SumsError(number, f"{len(raw)} bytes that are not a digest and a path")
        name = match.group(2)
        if not layout.is_safe_path(name):
            raise SumsError(
                number, "a path that leaves the directory or contains unusual characters"
            )
        if name in sums:
            raise SumsError(number, "a path listed twice")
        sums[name] = match.group(1)
    if content and not content.endswith(b"\n"):
        raise SumsError(len(sums) + 1, "the last line is incomplete")
    return sums


def snapshot_digest(public: bytes, private: bytes) -> str:
    """The digest of a snapshot: SHA-256 over both SHA256SUMS files, public first."""
    return digest(public + private)
