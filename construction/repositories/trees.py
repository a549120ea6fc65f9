"""The tree that is shipped: what of a commit may leave, as one archive with the same bytes."""

from __future__ import annotations

import io
import posixpath
import re
import tarfile
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from construction.repositories.contracts import RepositoriesConfig, RepositoryReason
from construction.repositories.git import LINK, PAGES, SUBMODULE, Entry, Store
from construction.repositories.run_tests import is_protected
from construction.sessions.fixtures.safety import is_credential
from construction.sessions.readers.markdown import FORMS
from construction.sessions.readers.source import Sample, SourceFile
from data.file_kinds import is_pointer

_TRANSCRIPTS = re.compile(
    r"(?:^|/)(?:\.specstory|\.entire|\.aider[^/]*)(?:/|$)"
    r"|(?:^|/)\.claude/(?:transcripts|projects|history)(?:/|$)|\.jsonl$"
)
_KEY = re.compile(
    rb"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----\s+[A-Za-z0-9+/=\s]{200}"
)
_BEGINNING = 4096  # bytes that tell what a page is
_LONGEST_PATH = 200  # bytes: a tar of the oldest form splits longer ones
_LEAST_LINE, _SAME_SHARE, _LEAST_LINES = 25, 0.5, 5


def is_left_out(path: str, config: RepositoriesConfig) -> bool:
    """Transcripts of sessions, credential files and what the settings name are never shipped."""
    named = any(path.startswith(f"{folder.strip('/')}/") for folder in config.left_out)
    return named or _TRANSCRIPTS.search(path) is not None or is_credential(path)


def transcripts(store: Store, tree: str) -> list[str]:
    """The pages that a program wrote of a session, wherever they are but among the tests."""
    named = [e.path for e in store.entries(tree) if e.path.endswith(PAGES) and e.size > 0]
    pages = store.files(tree, {path for path in named if not is_protected(path)})
    return [path for path, content in pages.items() if _is_transcript(path, content)]


def strays(store: Store, tree: str) -> list[str]:
    """Submodules that nothing says where to get: repositories inside, committed by mistake."""
    named = [entry.path for entry in store.entries(tree) if entry.mode == SUBMODULE]
    stated = b"".join(store.files(tree, [".gitmodules"]).values()) if named else b""
    return [path for path in named if f"path = {path}\n".encode() not in stated + b"\n"]


def _is_transcript(path: str, content: bytes) -> bool:
    text = content[:_BEGINNING].decode("utf-8", "replace")
    sample = Sample(SourceFile(Path(path), path), text=text)
    return any(form.fits(sample) for form in FORMS)


def problem_of(
    store: Store, entries: Sequence[Entry], config: RepositoriesConfig
) -> RepositoryReason | None:
    """Why a tree cannot be shipped; None if it can."""
    if any(not is_safe(entry.path) for entry in entries):
        return RepositoryReason.UNSAFE_PATH
    if len({entry.path.casefold() for entry in entries}) < len(entries):
        return RepositoryReason.UNSAFE_PATH
    if any(entry.mode == SUBMODULE for entry in entries):
        return RepositoryReason.SUBMODULE
    if len(entries) > config.max_files or sum(e.size for e in entries) > config.max_bytes:
        return RepositoryReason.TOO_LARGE
    contents = store.blobs(entry.name for entry in entries)
    for entry in entries:
        content = contents[entry.name]
        if entry.mode == LINK and not _is_inside(entry.path, content):
            return RepositoryReason.LINK_OUTSIDE
        if is_pointer(content, len(content)):
            return RepositoryReason.LFS
        if _KEY.search(content):
            return RepositoryReason.SECRET
    return None


def is_safe(path: str) -> bool:
    """Can a file of this name be written below a folder, wherever that is?"""
    parts = path.split("/")
    try:
        size = len(path.encode("utf-8"))
    except UnicodeEncodeError:
        return False
    return (
        0 < size <= _LONGEST_PATH
        and path.isprintable()
        and "\\" not in path
        and all(part not in ("", ".", "..") and part.casefold() != ".git" for part in parts)
    )


def _is_inside(path: str, target: bytes) -> bool:
    """Does a link at `path` lead to a place in the tree?"""
    try:
        text = target.decode("utf-8")
    except UnicodeDecodeError:
        return False
    whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
    return not text.startswith("/") and whole != ".." and not whole.startswith("../")


def archive(store: Store, tree: str) -> bytes:
    """The tree as a tar archive: sorted, without times or owners."""
    entries = store.entries(tree)
    contents = store.blobs(entry.name for entry in entries)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as out:
        for entry in sorted(entries, key=lambda entry: entry.path):
            item, content = tarfile.TarInfo(entry.path), contents[entry.name]
            if entry.mode == LINK:
                item.type, item.linkname = tarfile.SYMTYPE, content.decode("utf-8")
                out.addfile(item)
                continue
            item.size, item.mode = len(content), 0o755 if entry.mode.endswith("755") else 0o644
            out.addfile(item, io.BytesIO(content))
    return buffer.getvalue()


def members(path: Path, wanted: Collection[str]) -> dict[str, tuple[str, bytes]]:
    """The mode and content of the files at some paths of an archive."""
    with tarfile.open(path) as tar:
        files = [item for item in tar if item.isreg() and item.name in wanted]
        return {
            item.name: ("100755" if item.mode & 0o100 else "100644", content.read())
            for item in files
            if (content := tar.extractfile(item)) is not None
        }


def added_lines(patch: bytes) -> list[str]:
    """The lines that a patch adds and that are long enough to tell."""
    lines = patch.decode("utf-8", "replace").splitlines()
    texts = (line[1:].strip() for line in lines if line[:1] == "+" and line[:3] != "+++")
    return [text for text in texts if len(text) >= _LEAST_LINE]


def holds_answer(patch: bytes, contents: Iterable[bytes]) -> bool:
    """Does one file that is shipped hold most of the lines that the patch adds?"""
    added = set(added_lines(patch))
    if len(added) < _LEAST_LINES:
        return False
    for content in contents:
        lines = {line.strip() for line in content.decode("utf-8", "replace").splitlines()}
        if len(added & lines) > _SAME_SHARE * len(added):
            return True
    return False
