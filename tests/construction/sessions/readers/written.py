"""Logs written by tests, and what was read of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from construction.sessions.readers.source import SourceFile
from data.contracts import Origin, ReadIssue, Role, Session, Turn

Reader = Callable[[SourceFile], Iterator[Session | ReadIssue]]


def lines(folder: Path, records: Sequence[Any], name: str = "log.jsonl") -> SourceFile:
    """A log of JSON lines; a text is written as it is, so that it can be a broken line."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    written = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("\n".join(written) + "\n", encoding="utf-8")
    return SourceFile(path, name)


def document(folder: Path, value: object, name: str = "log.json") -> SourceFile:
    """A log that is one indented JSON document."""
    path = folder / name
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    return SourceFile(path, name)


def sessions(read: Reader, source: SourceFile) -> list[Session]:
    """All sessions of a log that must be free of issues."""
    parsed = list(read(source))
    assert not [item for item in parsed if isinstance(item, ReadIssue)]
    return [item for item in parsed if isinstance(item, Session)]


def session(read: Reader, source: SourceFile) -> Session:
    """The only session of a log."""
    (parsed,) = sessions(read, source)
    return parsed


def issues(read: Reader, source: SourceFile) -> list[ReadIssue]:
    """The issues of a log."""
    return [item for item in read(source) if isinstance(item, ReadIssue)]


def typed(turns: Sequence[Turn]) -> list[str]:
    """What persons said, in order."""
    return [turn.said for turn in turns if turn.role is Role.USER and turn.origin is Origin.HUMAN]
