"""Rows of Terminus runs: what was asked, which keys were pressed, what the terminal showed."""

from __future__ import annotations

import json
from pathlib import Path

from construction.sessions.readers.registry import detect, read_source
from data.contracts import Origin, Role, Session, SourceFormat
from tests.construction.sessions.readers.written import lines, typed

_PROMPT = (
    "You press keys in a terminal.\n\nTask Description:\nCount the swans.\n\n\n"
    "Current terminal state:\n/ponds #\n"
)
_KEYS = [{"keystrokes": "ls\n", "duration": 0.1}, {"keystrokes": "wc -l swans.csv > n.txt\n"}]
_ANSWER = {"analysis": "An empty screen.", "plan": "I count.", "commands": _KEYS}


def _row(*messages: tuple[str, str]) -> dict[str, object]:
    said = [{"role": role, "content": text} for role, text in messages]
    facts = {"agent": "terminus-2", "trial_name": "swans__1", "episode": "episode-0"}
    return {"conversations": said, **facts, "date": "2026-03-02T09:30:00"}


def test_keys_are_calls_and_the_screen_their_result(tmp_path: Path) -> None:
    answer = f"<think>hm</think>\nSo: {json.dumps(_ANSWER)}"
    ended = json.dumps({"analysis": "Seven.", "plan": "", "commands": [], "task_complete": True})
    talk = [("user", _PROMPT), ("assistant", answer), ("user", "7 n.txt"), ("assistant", ended)]
    source = lines(tmp_path, [_row(*talk)])
    assert detect(source).format is SourceFormat.TERMINUS
    (session,) = read_source(source)
    assert isinstance(session, Session)
    assert (session.session_id, session.agent_name) == ("swans__1-episode-0", "terminus-2")
    assert typed(session.turns) == ["Count the swans."]
    assert [turn.role for turn in session.turns] == [Role.USER, Role.ASSISTANT, Role.ASSISTANT]
    _, first, last = session.turns
    assert (first.thinking, first.text) == ("hm", "An empty screen.\nI count.")
    assert [(call.name, call.arguments["command"], call.result) for call in first.tool_calls] == [
        ("terminal", "ls", ""),
        ("terminal", "wc -l swans.csv > n.txt", "7 n.txt"),
    ]
    assert (last.text, last.tool_calls) == ("Seven.", ())


def test_work_that_is_handed_over_is_no_persons(tmp_path: Path) -> None:
    handed = "You are picking up work from a previous AI agent on this task."
    talk = [("user", _PROMPT), ("user", handed), ("assistant", "Where are they?")]
    (session,) = read_source(lines(tmp_path, [_row(*talk)]))
    assert isinstance(session, Session)
    assert typed(session.turns) == ["Count the swans."]
    assert session.turns[1].origin is Origin.AGENT
    assert session.turns[2].text == "Where are they?"
