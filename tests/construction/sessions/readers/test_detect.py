"""Files are told by what is in them; each unsupported one gets its name."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from construction.sessions.readers.registry import (
    FORMATS,
    Format,
    _Detection,
    detect,
    read_source,
)
from construction.sessions.readers.source import SourceFile
from data.contracts import Session, SourceFormat
from tests.construction.sessions.readers.written import document, lines


def _detected(source: SourceFile) -> tuple[SourceFormat | None, str]:
    detection = detect(source)
    assert isinstance(detection, _Detection)
    assert detection.why
    return detection.format, detection.name


_SAID = {"role": "user", "content": [{"type": "text", "text": "x"}]}
_LOGS: list[tuple[str, SourceFormat | None, dict[str, Any]]] = [
    ("openclaw", SourceFormat.OPENCLAW, {"type": "session", "version": 3, "id": "s"}),
    ("openclaw", SourceFormat.OPENCLAW, 
     {"type": "message", "id": "u", "timestamp": "x", "message": _SAID}),
    ("openclaw", SourceFormat.OPENCLAW, {"type": "compaction", "summary": "x", "timestamp": "x"}),
    ("claude_code", SourceFormat.CLAUDE_CODE, {"type": "user", "message": _SAID}),
    ("claude_code", SourceFormat.CLAUDE_CODE, {"type": "summary", "summary": "x", "leafUuid": "u"}),
    ("claude_code", SourceFormat.CLAUDE_CODE, {"type": "file-history-snapshot"}),
    ("claude_code", SourceFormat.CLAUDE_CODE, {"type": "system", "uuid": "u", "content": "x"}),
    ("codex", SourceFormat.CODEX, {"type": "session_meta", "payload": {"id": "s"}}),
    ("codex", SourceFormat.CODEX, {"type": "event_msg", "payload": {"type": "user_message"}}),
    ("atif", SourceFormat.ATIF, {"schema_version": "ATIF-v1.6", "steps": []}),
    ("chat", SourceFormat.CHAT, {"role": "user", "content": "x"}),
    ("chat", SourceFormat.CHAT, {"messages": [{"role": "user", "content": "x"}]}),
    ("chat", SourceFormat.CHAT, {"task_id": 1, "traj": [{"role": "user", "content": "x"}]}),
    ("hermes", SourceFormat.HERMES, {"session_id": "h", "platform": "cli", "messages": [_SAID]}),
    ("openclaw_trajectory", None, {"traceSchema": "x", "type": "session.started", "data": {}}),
    ("openclaw_index", None, {"agent:a:s": {"sessionId": "s", "updatedAt": 1}}),
    ("gemini", SourceFormat.GEMINI, {"sessionId": "g", "projectHash": "x"}),
    ("gemini", SourceFormat.GEMINI, {"$set": {"lastUpdated": "x"}}),
    ("gemini", SourceFormat.GEMINI, {"history": [{"role": "user", "parts": []}]}),
    ("qwen", SourceFormat.QWEN, {"type": "user", "sessionId": "q", "message": {"parts": []}}),
    ("kimi", SourceFormat.KIMI, {"type": "metadata", "protocol_version": "1.4"}),
    ("kimi_state", None, {"agents": {}, "workDir": "/d"}),
    ("copilot_cli", SourceFormat.COPILOT_CLI, {"type": "session.start", "data": {}}),
    ("cursor", SourceFormat.CURSOR, {"role": "user", "message": {"content": []}}),
    ("droid", SourceFormat.DROID, {"type": "session_start", "id": "d"}),
    ("droid", SourceFormat.DROID,
     {"type": "message", "session_id": "d", "role": "user", "text": "x"}),
    ("grok", None, {"type": "user", "content": [], "prompt_index": 0}),
    ("grok", None, {"chat_format_version": 1, "info": {}}),
    ("opencode", SourceFormat.OPENCODE, {"id": "p", "messageID": "m", "type": "text"}),
    ("opencode", SourceFormat.OPENCODE, {"id": "p", "type": "text", "text": "x", "time": {}}),
    ("antigravity", SourceFormat.ANTIGRAVITY,
     {"step_index": 0, "source": "USER_EXPLICIT", "type": "USER_INPUT"}),
    ("autogen", SourceFormat.AUTOGEN, {"type": "TeamState", "agent_states": {}}),
    ("crewai", None, {"task": "t", "agent": "a", "status": "started", "timestamp": "x"}),
    ("continue_index", None, {"sessionId": "s", "title": "t", "dateCreated": "1"}),
    ("gemini", SourceFormat.GEMINI, {"error": {}, "context": [{"role": "user", "parts": []}]}),
    ("claude_code", SourceFormat.CLAUDE_CODE, {"type": "system", "subtype": "init", "uuid": "u",
     "apiKeySource": "none"}),
    ("browser_use", None, {"history": [{"model_output": {}, "result": [], "state": {}}]}),
    ("who_and_when", None, {"history": [{"role": "human", "content": "x"}], "mistake_agent": "a"}),
    ("windsurf", None, {"app": "Windsurf", "conversation": {"messages": [{"sender": "user"}]}}),
    ("kiro_history", None, {"conversation_id": "k", "history": [{"user": {}}]}),
    ("swe_agent", SourceFormat.SWE_AGENT, {"environment": "m", "trajectory": [{"action": "ls"}]}),
    ("swe_agent", SourceFormat.SWE_AGENT, {"history": [{"role": "user", "message_type": "x"}]}),
    ("claude_code_meta", None, {"agentType": "general-purpose"}),
    ("chat", SourceFormat.CHAT, {"conversations": [{"from": "human", "value": "x"}]}),
    ("chatgpt_export", None, {"mapping": {}, "current_node": "n"}),
    ("harbor_result", None, {"task_name": "t", "trial_name": "t__1", "config": {}}),
    ("not_a_session_log", None, {"name": "depot", "version": "1.0", "scripts": {}}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "source_format", "record"), _LOGS)
def test_kinds_as_lines_and_as_a_document(
    tmp_path: Path, name: str, source_format: SourceFormat | None, record: dict[str, Any]
) -> None:
    assert _detected(lines(tmp_path, [record])) == (source_format, name)
    assert _detected(lines(tmp_path, [record, record])) == (source_format, name)
    assert _detected(document(tmp_path, record)) == (source_format, name)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"", "empty"),
        (b"\n  \n", "empty"),
        (b"SQLite format 3\x00....", "sqlite"),
        (b"\x1f\x8b\x08....", "gzip"),
        (b"PK\x03\x04....", "zip"),
        (b"# Notes\n\n- count the stock\n", "not_a_session_log"),
        (b"id,count\n1,2\n", "not_a_session_log"),
        (b'"just text"\n', "not_a_session_log"),
        (b"[" * 5000, "not_a_session_log"),
        (b"{" + b'"a":{' * 5000, "not_a_session_log"),
        (b"\xff\xfe\x00binary", "not_a_session_log"),
        ("\ufeff[1, 2]".encode("utf-32-le"), "not_a_session_log"),
        (b"[1, 2]", "not_a_session_log"),
    ],
)
def test_files_that_are_no_logs(tmp_path: Path, content: bytes, name: str) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(content)
    assert _detected(SourceFile(path, "notes.jsonl")) == (None, name)


def test_the_first_record_that_tells_decides(tmp_path: Path) -> None:
    records = [{"type": "system", "sessionId": "d", "model": "m"}, _LOGS[25][2]]
    assert _detected(lines(tmp_path, records)) == (SourceFormat.DROID, "droid")


def test_a_broken_first_line_does_not_hide_the_format(tmp_path: Path) -> None:
    records = ['{"type": "sess', {"type": "message", "id": "u", "timestamp": "x", "message": _SAID}]
    assert _detected(lines(tmp_path, records)) == (SourceFormat.OPENCLAW, "openclaw")


def test_records_glued_on_one_line_are_still_named(tmp_path: Path) -> None:
    glued = '{"type": "session.start", "data": {}}{"type": "session.end", "data": {}}'
    assert _detected(lines(tmp_path, [glued])) == (SourceFormat.COPILOT_CLI, "copilot_cli")


@pytest.mark.parametrize("before", ["Exporting session: ses_7\n", "Loaded.\r\n\r\nDone (2).\n"])
@pytest.mark.parametrize("value", [{"messages": [_SAID]}, [_SAID]])
def test_lines_of_a_terminal_before_a_document_do_not_hide_it(
    tmp_path: Path, before: str, value: Any
) -> None:
    source = document(tmp_path, value)
    source.path.write_text(f"{before}{source.path.read_text()}", newline="")
    assert _detected(source) == (SourceFormat.CHAT, "chat")
    (session,) = read_source(source)
    assert isinstance(session, Session)
    source.path.write_text(f"{source.path.read_text()}\nand more words\n")
    assert _detected(source) == (None, "not_a_session_log")


def test_a_trajectory_is_told_by_its_name_where_its_records_do_not(tmp_path: Path) -> None:
    source = lines(tmp_path, [{"type": "message", "timestamp": "x", "message": _SAID}])
    renamed = SourceFile(source.path, "s.trajectory.jsonl")
    assert _detected(renamed) == (None, "openclaw_trajectory")


def test_a_byte_order_mark_and_long_first_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"type":"session_meta","payload":{"instructions":"'
        + b"x" * 700_000
        + b'"}}\n'
    )
    assert _detected(SourceFile(path, "log.jsonl")) == (SourceFormat.CODEX, "codex")


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("langgraph", "checkpoints (thread_id, checkpoint_id, checkpoint BLOB, metadata BLOB)"),
        ("langgraph", "checkpoints (thread_id, thread_ts, parent_ts, checkpoint BLOB)"),
        ("editor_state", "ItemTable (key, value)"),
        ("zed", "threads (id, summary, updated_at, data_type, data BLOB)"),
        ("sqlite", "berths (id, name)"),
    ],
)
def test_databases_of_other_programs_are_named(tmp_path: Path, name: str, table: str) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as link:
        link.execute(f"CREATE TABLE {table}")
    assert _detected(SourceFile(path, path.name)) == (None, name)


def test_what_fits_no_signature_says_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "berths.db"
    with closing(sqlite3.connect(path)) as link:
        link.execute("CREATE TABLE berths (id, name)")
        link.execute("CREATE TABLE 'Ines Okafor' (id)")
    assert detect(SourceFile(path, path.name)).why == "tables berths, 1 others"
    held = {"kind": 1, "type": "tally", "rows": [], "Ines Okafor": 1}
    expected = "with kind, type, rows, 1 others; types tally"
    assert detect(document(tmp_path, held)).why == (
        f"a JSON document that no signature fits, {expected}"
    )
    assert detect(lines(tmp_path, [held])).why == f"JSON lines that no signature fits, {expected}"
    assert detect(document(tmp_path, [held])).why == f"a list that no signature fits, {expected}"


def test_every_format_is_registered_and_states_its_signature() -> None:
    read = [entry for entry in FORMATS if isinstance(entry, Format)]
    assert {entry.name for entry in read} == set(SourceFormat)
    assert all(len(entry.signature) > 20 for entry in read)
