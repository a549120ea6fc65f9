"""Reads a log file of any supported format: its sessions, and issues for unreadable parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from construction.sessions.readers import (
    atif,
    chat,
    claude_code,
    codex,
    gemini,
    openclaw,
    swe_agent,
)
from construction.sessions.readers.detect import detect
from construction.sessions.readers.source import SourceFile
from data.contracts import ReadIssue, Session, SourceFormat

_READERS: dict[SourceFormat, Callable[[SourceFile], Iterator[Session | ReadIssue]]] = {
    SourceFormat.OPENCLAW: openclaw.read,
    SourceFormat.CLAUDE_CODE: claude_code.read,
    SourceFormat.CODEX: codex.read,
    SourceFormat.ATIF: atif.read,
    SourceFormat.CHAT: chat.read,
    SourceFormat.GEMINI: gemini.read,
    SourceFormat.SWE_AGENT: swe_agent.read,
}
_EXPECTED = "a log of " + ", ".join(_READERS)
_NO_LOGS = frozenset({"not_a_session_log", "empty"})


def read_source(
    source: SourceFile, forced: SourceFormat | None = None
) -> Iterator[Session | ReadIssue]:
    """The sessions of a file, and an issue for each unreadable line, record or file.

    Every file yields at least one item; one of an unsupported format yields an issue of unit
    `file` that names the format. `forced` overrides the detection. No content of a file makes
    this raise.
    """
    is_empty = True
    try:
        source_format = forced
        if source_format is None:
            detection = detect(source)
            source_format = detection.format
            if source_format is None:
                yield _unread(source, detection.name, detection.why)
                return
        for item in _READERS[source_format](source):
            is_empty = False
            yield item
    except OSError as error:
        yield _failed(source, "file.unreadable", f"{type(error).__name__} {error.errno}")
        return
    except Exception as error:
        # Input that a reader does not expect must not stop the other files. The ledger shows the
        # failure, but not the error message, which may contain text of the file.
        yield _failed(source, "file.reader_failed", f"{type(error).__name__} in the reader")
        return
    if is_empty:
        yield _failed(source, "file.no_session", f"no session for the {source_format} reader")


def _unread(source: SourceFile, name: str, why: str) -> ReadIssue:
    reason = f"file.{name}" if name in _NO_LOGS else "file.unsupported"
    return _failed(source, reason, f"{name} ({why})")


def _failed(source: SourceFile, reason: str, description: str) -> ReadIssue:
    return ReadIssue("file", source.relative, 0, reason, description, _EXPECTED)
