"""Forms of known logs that other versions, or other windows of the same program, write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from construction.sessions.readers.registry import read_source
from construction.sessions.recovery.exchanges import acts_of
from data.contracts import Session, SourceFormat
from tests.construction.sessions.readers.written_formats import (
    ASK,
    CSV,
    DONE,
    Case,
    assert_read,
    parts,
    written,
)


def _turn(role: str, *content: Any) -> dict[str, Any]:
    return {"role": role, "message": {"content": list(content)}}


FRAMES = Case(
    SourceFormat.CURSOR,
    "frames",
    [
        _turn("user", *parts(f"<user_query>\n{ASK}\n</user_query>")),
        _turn("assistant", {"type": "tool_use", "name": "read", "input": {}}),
        _turn("user", *parts(
            "<past_talks>\nThey lie in one folder.\n</past_talks>\n\n<agent_arts>\nRead one "
            'first.\n<arts_list about="x">\n<art>Counts</art>\n</arts_list>\n</agent_arts>')),
        _turn("user", *parts("<past_talks>\nOne.\n</past_talks>\nAnd the weir?")),
        _turn("user", *parts("<past_talks>\nIs this in the list?")),
        _turn("assistant", *parts(DONE)),
    ],
    [("read", None, False)],
    people=(ASK, "<past_talks>\nOne.\n</past_talks>\nAnd the weir?",
            "<past_talks>\nIs this in the list?"),
)  # fmt: skip


def _window(by: str, kind: str, text: str) -> dict[str, Any]:
    return {"ts": 1, "type": by, by: kind, "text": text}


def _tool(by: str, tool: str, path: str, content: str = "") -> dict[str, Any]:
    return _window(by, "tool", json.dumps({"tool": tool, "path": path, "content": content}))


def _request(*results: str) -> dict[str, Any]:
    return _window("say", "api_req_started", json.dumps({"request": "\n\n".join(results)}))


WINDOW = Case(
    SourceFormat.CLINE,
    "window",
    [
        _window("say", "task", ASK),
        _tool("say", "listFilesTopLevel", "quay", "ponds.csv"),
        _request("[list_files for 'quay'] Result:\nponds.csv"),
        _tool("ask", "readFile", "ponds.csv", "/quay/ponds.csv"),
        _request(f"[read_file for 'ponds.csv'] Result:\n{CSV}"),
        _tool("ask", "newFileCreated", "swans.md", "mill 4"),
        _request("[write_to_file for 'swans.md'] Result:\nsaved"),
        _tool("say", "editedExistingFile", "notes.md", "------- SEARCH"),
        _request("[replace_in_file for 'notes.md'] Result:\nsaved"),
        _tool("ask", "feedSwans", "weir"),
        _window("say", "completion_result", DONE),
    ],
    [("list_files", "ponds.csv", False), ("read_file", CSV.strip(), False),
     ("write_to_file", "saved", False), ("replace_in_file", "saved", False),
     ("feedSwans", None, False)],
    name="ui_messages.json",
)  # fmt: skip


@pytest.mark.parametrize("case", [FRAMES, WINDOW], ids=lambda case: case.aspect)
def test_a_later_form_is_read(tmp_path: Path, case: Case) -> None:
    assert_read(tmp_path, case)


def test_the_window_says_which_files_were_written(tmp_path: Path) -> None:
    assert _acts(tmp_path, WINDOW) == [
        ("read", "ponds.csv"),
        ("wrote", "swans.md"),
        ("read", "notes.md"),
        ("wrote", "notes.md"),
    ]


def _acts(tmp_path: Path, case: Case) -> list[tuple[str, str]]:
    (session,) = read_source(written(tmp_path, case))
    assert isinstance(session, Session)
    return [(act.kind, act.path) for turn in session.turns for act in acts_of(turn)]
