"""No log makes a reader fail: fields of any type, cycles, reused ids, endless tags."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.sessions.export_atif import to_atif
from construction.sessions.readers import (
    atif,
    claude_code,
    codex,
    coding_agents,
    copilot,
    openai_responses,
    source,
)
from construction.sessions.readers.source import SourceFile
from data.contracts import Attachment, ReadIssue, Session, ToolCall
from tests.construction.sessions.readers.written import Reader, lines, session

# fmt: off
_WORDS = st.sampled_from(
    ["a", "b", "", "user", "assistant", "agent", "system", "text", "tool_use", "tool_result",
     "attachment", "queued_command", "file", "prompt", "image", "document", "base64", "url",
     "message", "reasoning", "function_call", "function_call_output", "custom_tool_call",
     "event_msg", "response_item", "session_meta", "turn_context", "compacted",
     "user_message", "agent_message", "thread_rolled_back", "turn_aborted", "input_text",
     "ATIF-v1.8", "<system-reminder>", "2025-06-15T15:06:40Z", "T8:20:00", "data:,x", "@",
     '{"output":', '{"output": [1]}', "the user said:\n", "# Context from my IDE setup:", "\x00"]
)
_KEYS = st.sampled_from(
    ["type", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "message", "content", "role",
     "id", "isSidechain", "agentId", "isMeta", "origin", "kind", "attachment", "prompt", "text",
     "source", "data", "media_type", "url", "input", "name", "tool_use_id", "is_error", "cwd",
     "toolUseResult", "stdout", "timestamp", "payload", "call_id", "output", "arguments",
     "summary", "images", "local_images", "num_turns", "base_instructions", "subagent",
     "filename", "steps", "schema_version", "agent", "tool_calls", "observation", "results",
     "extra", "benchmint", "attachments", "part", "subagent_trajectories", "session_id",
     "metadata", "exit_code", "function", "action", "dropped", "loglines", "items"]
)
# fmt: on
_SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.just(1e300) | _WORDS
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=6),
    max_leaves=12,
)
_RECORDS = st.dictionaries(_KEYS, _VALUES, max_size=8)


def _as_a_record(draw: Any, record: dict[str, Any]) -> dict[str, Any]:
    """Often enough near the real thing for the deeper code to be reached."""
    shape = draw(st.sampled_from(["claude", "codex", "step", "free"]))
    kind = draw(_WORDS)
    if shape == "claude":
        ids = {"uuid": draw(_WORDS), "parentUuid": draw(_WORDS)}
        return {**record, **ids, "type": kind, "message": {"content": draw(_VALUES), **record}}
    if shape == "codex":
        outer = draw(st.sampled_from(["response_item", "event_msg", "session_meta"]))
        return {"type": outer, "payload": {**record, "type": kind}}
    return {**record, "source": kind} if shape == "step" else record


@st.composite
def _records(draw: Any) -> list[dict[str, Any]]:
    return [_as_a_record(draw, record) for record in draw(st.lists(_RECORDS, max_size=6))]


def _read(read: Reader, raw: bytes) -> list[Session | ReadIssue]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.jsonl")
        path.write_bytes(raw)
        return list(read(SourceFile(path, "x.jsonl")))


def _assert_well_formed(parsed: list[Session | ReadIssue]) -> None:
    read = [item for item in parsed if isinstance(item, Session)]
    assert len({item.uid for item in read}) == len(read)
    for item in read:
        assert [turn.index for turn in item.turns] == list(range(len(item.turns)))
        assert all(count > 0 for count in item.dropped.values())
        for turn in item.turns:
            assert isinstance(turn.text, str)
            assert isinstance(turn.said, str)
            assert turn.at is None or isinstance(turn.at, float)
            assert all(isinstance(call, ToolCall) for call in turn.tool_calls)
            assert all(isinstance(file, Attachment) for file in turn.attachments)
        orjson.dumps(to_atif(item))


@settings(max_examples=60)
@given(_records())
def test_lines_of_any_shape(records: list[dict[str, Any]]) -> None:
    raw = "\n".join(json.dumps(record) for record in records).encode()
    for read in (claude_code.read, codex.read):
        parsed = _read(read, raw)
        assert parsed
        _assert_well_formed(parsed)


@settings(max_examples=60)
@given(_records(), _VALUES)
def test_trajectories_of_any_shape(steps: list[dict[str, Any]], value: Any) -> None:
    extra = {"benchmint": value}
    root = {"schema_version": "ATIF-v1.8", "steps": steps, "agent": value, "extra": extra}
    nested = {**root, "subagent_trajectories": [root, value]}
    parsed = _read(atif.read, json.dumps(nested).encode())
    assert [item for item in parsed if isinstance(item, Session)]
    _assert_well_formed(parsed)


@given(st.binary(max_size=60))
def test_bytes_of_any_kind(raw: bytes) -> None:
    for read in (claude_code.read, codex.read, atif.read):
        assert _read(read, raw)


_MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    "text",
    [
        "<system-reminder>" * (_MEGABYTE // 17),
        "<system-reminder></system-reminder>" * (_MEGABYTE // 35),
        "# Files mentioned by the user:" + "\n## : /: " * (_MEGABYTE // 9),
        "## My request" * (_MEGABYTE // 13),
        "data:" + ";" * _MEGABYTE,
        "the user said:\n" * (_MEGABYTE // 15),
        "\\ud83d" * (_MEGABYTE // 6),
        " " * _MEGABYTE + "x",
    ],
)
def test_long_texts_take_time_in_proportion(tmp_path: Path, text: str) -> None:
    content = [{"type": "text", "text": text}, {"type": "input_image", "image_url": text}]
    result = [{"type": "tool_result", "tool_use_id": "t", "content": text, "is_error": True}]
    claude = lines(
        tmp_path, [{"type": "user", "message": {"content": c}} for c in (content, result)]
    )
    item = {"type": "message", "role": "user", "content": content}
    output = {"type": "function_call_output", "call_id": "c", "output": text}
    rows = [{"type": "response_item", "payload": payload} for payload in (item, output)]
    rollout = lines(tmp_path, rows, "rollout.jsonl")
    begun = time.process_time()
    session(claude_code.read, claude)
    session(codex.read, rollout)
    assert time.process_time() - begun < 2


def test_many_responses_that_continue_nothing(tmp_path: Path) -> None:
    row = {
        "object": "response",
        "input": [{"role": "user", "content": "x"}],
        "output": [{"type": "message", "role": "assistant", "content": "y"}],
    }
    begun = time.process_time()
    read = list(openai_responses.read(lines(tmp_path, [row] * 4_000)))
    assert time.process_time() - begun < 5
    assert len(read) == 4_000


def test_a_response_of_a_window_with_many_calls(tmp_path: Path) -> None:
    count = 3_000
    shown = [{"kind": "toolInvocationSerialized", "toolCallId": f"w{n}"} for n in range(count)]
    made = [{"id": f"k{n}", "name": f"tool{n}", "arguments": "{}"} for n in range(count - 1)]
    request = {
        "message": {"text": "x"},
        "response": shown,
        "result": {"metadata": {"toolCallRounds": [{"toolCalls": made}]}},
    }
    chat = {"responderUsername": "r", "requests": [request]}
    begun = time.process_time()
    parsed = session(copilot.read_vscode, lines(tmp_path, [chat]))
    assert time.process_time() - begun < 5
    assert len(parsed.turns[1].tool_calls) == count


@pytest.mark.parametrize("own", [["c"], {}, 1])
def test_ids_of_calls_that_are_no_texts(tmp_path: Path, own: object) -> None:
    call = {"id": own, "function": {"name": "read", "arguments": "{}"}}
    history = [
        {"message": {"role": "user", "content": "x"}},
        {
            "message": {"role": "assistant", "content": "y", "toolCalls": [call]},
            "toolCallStates": [{"toolCallId": own, "status": "done"}],
        },
    ]
    chat = {"sessionId": "s", "workspaceDirectory": "/w", "history": history}
    assert len(session(coding_agents.read_continue_dev, lines(tmp_path, [chat])).turns) == 2


def test_long_chains_and_wide_forks(tmp_path: Path) -> None:
    count = 10_000
    chain = [
        {"type": "user", "uuid": f"c{n}", "parentUuid": f"c{n - 1}", "message": {"content": "x"}}
        for n in range(count)
    ]
    relays = [
        {"type": "progress", "uuid": f"p{n}", "parentUuid": f"p{n - 1}"} for n in range(count)
    ]
    fork = [
        {
            "type": "user",
            "uuid": f"f{n}",
            "parentUuid": f"p{count - 1}",
            "message": {"content": "x"},
        }
        for n in range(count)
    ]
    begun = time.process_time()
    parsed = session(claude_code.read, lines(tmp_path, [*chain, *relays, *fork]))
    assert time.process_time() - begun < 10
    # The relays hang from nothing, so each message below them is a stretch of its own.
    assert len(parsed.turns) == 2 * count


def test_a_line_beyond_the_limit_is_an_issue_and_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "LARGEST_LINE", 20)
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"a": "' + b"x" * 90 + b'"}\n{"b": 1}\n{"c": "' + b"x" * 90)
    items = list(source.json_lines(source.SourceFile(path, "log.jsonl")))
    assert [item.reason if isinstance(item, ReadIssue) else item for item in items] == [
        "line.too_long",
        (2, {"b": 1}),
        "line.too_long",
    ]
