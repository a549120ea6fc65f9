"""The lines that an instance's pointers lead to: private, for someone with the token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from data.audit import Rows, turn_lines
from data.snapshot.neutralise import one_line, visible

_MAX_CHARS = 20_000  # of one line; a log line can be a whole document


def evidence(out: Path, instance_id: str) -> Rows:
    """Role, file, line and raw text of each turn; control characters are shown by name."""
    sources: dict[str, str] = orjson.loads((out / "private" / "sources.json").read_bytes())
    turns = turn_lines(out / "staging.duckdb", instance_id)
    return [
        {
            "role": one_line(turn["role"] or ""),
            "path": one_line(turn["path"]),
            "line": turn["line"],
            "text": _text(sources.get(turn["path"]), turn),
        }
        for turn in turns
    ]


def _text(source: str | None, turn: dict[str, Any]) -> str:
    if source is None or not Path(source).is_file():
        return "(the source file is gone)"
    with Path(source).open("rb") as handle:
        for number, line in enumerate(handle, start=1):
            if number == turn["line"]:
                return _cut(visible(line.decode("utf-8", "replace").strip()))
    return "(one document, not lines: open the source file)"


def _cut(text: str) -> str:
    if len(text) <= _MAX_CHARS:
        return text
    return f"{text[:_MAX_CHARS]} … ({len(text) - _MAX_CHARS} more characters)"
