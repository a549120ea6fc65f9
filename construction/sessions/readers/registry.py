"""One way in: a file to its sessions and to what could not be read of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from construction.sessions.readers import atif, chat, claude_code, codex, openclaw
from construction.sessions.readers.detect import detect
from construction.sessions.readers.source import SourceFile
from data.contracts import ReadIssue, Session, SourceFormat

_READERS: dict[SourceFormat, Callable[[SourceFile], Iterator[Session | ReadIssue]]] = {
    SourceFormat.OPENCLAW: openclaw.read,
    SourceFormat.CLAUDE_CODE: claude_code.read,
    SourceFormat.CODEX: codex.read,
    SourceFormat.ATIF: atif.read,
    SourceFormat.CHAT: chat.read,
}
_EXPECTED = "a log of " + ", ".join(_READERS)
_NO_LOGS = frozenset({"not_a_session_log", "empty"})


def read_source(
    source: SourceFile, forced: SourceFormat | None = None
) -> Iterator[Session | ReadIssue]:
    """The sessions of a file, and an issue for each line, record or file that is none.

    At least one item comes for every file: one in another format yields an issue of unit
    `file` that names it. `forced` overrides the detection. Never raises for what a file holds.
    """
    nothing = True
    try:
        found = forced
        if found is None:
            detection = detect(source)
            found = detection.format
            if found is None:
                yield _unread(source, detection.name, detection.why)
                return
        for item in _READERS[found](source):
            nothing = False
            yield item
    except OSError as error:
        yield _failed(source, "file.unreadable", f"{type(error).__name__} {error.errno}")
        return
    except Exception as error:
        # Hostile or odd input that a reader did not foresee must not stop the other files; the
        # ledger shows it, and no text of the file, which the message may hold.
        yield _failed(source, "file.reader_failed", f"{type(error).__name__} in the reader")
        return
    if nothing:
        yield _failed(source, "file.no_session", f"no session for the {found} reader")


def _unread(source: SourceFile, name: str, why: str) -> ReadIssue:
    reason = f"file.{name}" if name in _NO_LOGS else "file.unsupported"
    return _failed(source, reason, f"{name} ({why})")


def _failed(source: SourceFile, reason: str, found: str) -> ReadIssue:
    return ReadIssue("file", source.relative, 0, reason, found, _EXPECTED)
