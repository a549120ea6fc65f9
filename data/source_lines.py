"""The lines that an instance's pointers lead to: private, for someone who may look."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from data.neutralise import one_line, visible
from data.staging.audit import Rows, turn_lines

_MAX_CHARS = 20_000  # of one line; a log line can be a whole document


def evidence(out: Path, instance_id: str) -> Rows:
    """Role, file, line and raw text of each turn; control characters are shown by name."""
    return [
        {
            "role": one_line(turn["role"] or ""),
            "path": one_line(turn["path"]),
            "line": turn["line"],
            "text": turn["text"],
        }
        for turn in with_text(out, turn_lines(out / "staging.duckdb", instance_id))
    ]


def with_text(out: Path, turns: Rows) -> Rows:
    """Turns with the raw line that each one's pointer leads to, control-safe and cut if long.

    Where there is none, `text` says why: a later build read other sources, or the file is gone.
    """
    sources = _sources(out)
    return [turn | {"text": _text(sources.get(turn["path"]), turn)} for turn in turns]


def _sources(out: Path) -> Mapping[str, str]:
    """Where the files of the newest build lie, by the path in the pointers."""
    try:  # with json: names that are not UTF-8 stand in it as lone surrogates
        sources: Mapping[str, str] = json.loads((out / "private" / "sources.json").read_bytes())
    except FileNotFoundError:  # purged
        return {}
    return sources


def _text(source: str | None, turn: dict[str, Any]) -> str:
    if source is None:
        return "(the newest build did not read this file)"
    if not Path(source).is_file():
        return "(the source file is gone)"
    with Path(source).open("rb") as handle:
        for number, line in enumerate(handle, start=1):
            if number == turn["line"]:
                return _cut(visible(line.decode("utf-8", "replace").strip()))
    return f"(one document, not lines: open {visible(source)})"


def _cut(text: str) -> str:
    if len(text) <= _MAX_CHARS:
        return text
    return f"{text[:_MAX_CHARS]} … ({len(text) - _MAX_CHARS} more characters)"
