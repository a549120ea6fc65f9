"""Sessions of Gemini CLI."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from construction.sessions.readers.gemini import read
from data.contracts import Origin, ReadIssue, Role, SourceFormat
from tests.construction.sessions.readers.written import document, lines, session, sessions, typed

_CALL = {
    "id": "c1",
    "name": "read_file",
    "args": {"path": "stock.csv"},
    "status": "success",
    "result": [{"functionResponse": {"response": {"output": "oak,3"}}}],
}
_FAILED = {"id": "c2", "name": "shell", "args": {}, "status": "error", "resultDisplay": "no"}
_MESSAGES: list[dict[str, Any]] = [
    {
        "type": "user",
        "content": [{"text": "Count the stock."}],
        "timestamp": "2026-02-01T08:00:00Z",
    },
    {"type": "info", "content": "Model changed."},
    {"type": "gemini", "content": "I count.", "model": "m", "toolCalls": [_CALL, _FAILED]},
]


def test_lines(tmp_path: Path) -> None:
    head = {"sessionId": "s1", "projectHash": "h", "startTime": "2026-02-01T07:59:00Z"}
    changed = {"$set": {"lastUpdated": "2026-02-01T08:01:00Z"}}
    parsed = session(read, lines(tmp_path, [head, _MESSAGES[0], changed, *_MESSAGES[1:]]))
    assert (parsed.session_id, parsed.source_format) == ("s1", SourceFormat.GEMINI)
    assert parsed.started_at == 1769932740
    assert typed(parsed.turns) == ["Count the stock."]
    assert [turn.role for turn in parsed.turns] == [Role.USER, Role.ASSISTANT]
    calls = parsed.turns[1].tool_calls
    assert [(call.name, call.result, call.is_error) for call in calls] == [
        ("read_file", "oak,3", False),
        ("shell", "no", True),
    ]
    assert parsed.dropped == {"bookkeeping": 1}


def test_a_document_and_a_history_of_parts(tmp_path: Path) -> None:
    whole = session(read, document(tmp_path, {"projectHash": "h", "messages": _MESSAGES}))
    assert len(whole.turns) == 2
    parts = [{"text": "What is this?"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]
    history = [{"role": "user", "parts": parts}, {"role": "model", "parts": [{"text": "A dot."}]}]
    drawn = session(read, document(tmp_path, {"history": history}))
    assert [turn.said for turn in drawn.turns] == ["What is this?", "A dot."]
    assert [item.data for item in drawn.turns[0].attachments] == ["AAAA"]


def test_what_the_program_says_of_the_session_is_no_persons(tmp_path: Path) -> None:
    spoken = [
        ("user", "<session_context>\nToday is Monday.\n</session_context>"),
        ("user", "<state_snapshot>\n<overall_goal>Count.</overall_goal>\n</state_snapshot>"),
        ("model", "Got it."),
        ("user", "<state_snapshot>\nshort\n</state_snapshot>\n\nAnd the oaks?"),
        ("model", "Three."),
    ]
    contents = [{"role": role, "parts": [{"text": text}]} for role, text in spoken]
    parsed = session(read, document(tmp_path, contents))
    assert typed(parsed.turns) == ["And the oaks?"]
    assert [turn.origin for turn in parsed.turns[:2]] == [Origin.SYSTEM] * 2


_OPEN = "\nCurrent File Path:\n```python\nC:\\quay\\stock.py\n```\n\n"
_SELECTED = "\nUser Selected Files:\n- C:\\quay\\oaks.csv\n- C:\\quay\\elms.csv\n"


@pytest.mark.parametrize(
    ("text", "said", "files"),
    [
        (f"Count the oaks.{_OPEN}", "Count the oaks.", []),
        (f"Count the oaks.{_OPEN}{_SELECTED}", "Count the oaks.", ["oaks.csv", "elms.csv"]),
        (f"Count the oaks.{_SELECTED}", "Count the oaks.", ["oaks.csv", "elms.csv"]),
        (f"Count.{_OPEN}Selected Text:\n```\noak\n```\n", "Count.", []),
        ("What does\nCurrent File Path:\nmean?", None, []),
        (f"I see{_OPEN}What is it?", None, []),
        ("What are\nUser Selected Files:\nin the prompt?", None, []),
    ],
)
def test_what_the_editor_adds_is_no_persons(
    tmp_path: Path, text: str, said: str | None, files: list[str]
) -> None:
    message = {"type": "user", "content": text}
    source = document(tmp_path, {"projectHash": "h", "messages": [message, *_MESSAGES[1:]]})
    turn = session(read, source).turns[0]
    assert (turn.said, turn.text) == (text if said is None else said, text)
    names = [(item.path or "").removeprefix("C:\\quay\\") for item in turn.attachments]
    assert names == files


def test_an_editors_words_alone_are_a_notice(tmp_path: Path) -> None:
    messages = [{"type": "user", "content": _OPEN}, *_MESSAGES]
    parsed = session(read, document(tmp_path, {"projectHash": "h", "messages": messages}))
    assert typed(parsed.turns) == ["Count the stock."]
    assert parsed.turns[0].origin is Origin.SYSTEM


def test_a_session_without_messages_is_an_issue(tmp_path: Path) -> None:
    (issue,) = read(lines(tmp_path, [{"sessionId": "s1", "projectHash": "h"}]))
    assert isinstance(issue, ReadIssue)
    assert issue.reason == "file.no_records"


def test_a_report_of_an_error_holds_the_session_and_the_request_that_failed(tmp_path: Path) -> None:
    call = {"functionCall": {"name": "read_file", "args": {"path": "stock.csv"}}}
    shown = {"id": "read_file-1790000000000-3fa", "name": "read_file"}
    answered = {"functionResponse": {**shown, "response": {"output": "oak,3"}}}
    context = [
        {
            "role": "user",
            "parts": [{"text": "This is the Gemini CLI. We are setting up the context"}],
        },
        {"role": "model", "parts": [{"text": "Got it. Thanks for the context!"}]},
        {"role": "user", "parts": [{"text": "Count the stock."}]},
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [answered]},
        {"role": "model", "parts": [{"text": "Three oaks."}]},
        {"role": "user", "parts": [{"text": "Please continue."}]},
    ]
    for last in ("And the elms?", [{"text": "And the elms?"}]):
        report = {"error": {"message": "overloaded"}, "context": [*context, last]}
        parsed = session(read, document(tmp_path, report))
        assert typed(parsed.turns) == ["Count the stock.", "And the elms?"]
        calls = [call for turn in parsed.turns for call in turn.tool_calls]
        assert [(call.name, call.result) for call in calls] == [("read_file", "oak,3")]
        answers = [turn.text for turn in parsed.turns if turn.role is Role.ASSISTANT and turn.text]
        assert answers == ["Three oaks."]


def test_each_stream_of_a_file_is_a_session(tmp_path: Path) -> None:
    prompt = {"type": "message", "role": "user", "content": "The elms, as a script wrote it."}
    streams = [
        [
            prompt,
            {"type": "init", "session_id": name, "model": "m"},
            {"type": "message", "role": "user", "content": f"Count the {name}."},
            {"type": "tool_use", "tool_name": "read_file", "tool_id": "c", "parameters": {}},
            {"type": "tool_result", "tool_id": "c", "status": "success", "output": name},
            {"type": "message", "role": "assistant", "content": "Three.", "delta": True},
        ]
        for name in ("oaks", "elms")
    ]
    ended = {"type": "result", "status": "success"}
    both = sessions(read, lines(tmp_path, [*streams[0], ended, *streams[1]]))
    assert [one.session_id for one in both] == ["oaks", "elms"]
    assert [typed(one.turns) for one in both] == [["Count the oaks."], ["Count the elms."]]
    assert [one.turns[1].tool_calls[0].result for one in both] == ["oaks", "elms"]
    assert both[0].dropped["outside_stream"] == 2
    assert "outside_stream" not in both[1].dropped


def test_a_mode_that_was_switched_is_a_notice(tmp_path: Path) -> None:
    text = "User has manually exited Plan Mode. Switching to Default mode (edits need a yes)."
    messages = [{"type": "user", "content": [{"text": text}]}, *_MESSAGES]
    parsed = session(read, document(tmp_path, {"projectHash": "h", "messages": messages}))
    assert typed(parsed.turns) == ["Count the stock."]
