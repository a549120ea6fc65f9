"""No content of a file makes any reader of the registry fail, or makes a session ill-formed."""

from __future__ import annotations

import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, note, settings
from hypothesis import strategies as st

from construction.sessions.readers import benchmark_runs, source, sqlite_store
from construction.sessions.readers.registry import FORMATS, Format, detect, read_source
from construction.sessions.readers.source import SourceFile
from construction.sessions.scan import scan
from data.contracts import Attachment, ReadIssue, Session, SourceFormat, ToolCall
from tests.construction.sessions.readers.written import document, lines

# fmt: off
_WORDS = st.sampled_from(
    ["", "a", "user", "assistant", "system", "tool", "agent", "environment", "human", "ai", "model",
     "text", "tool_use", "tool_result", "tool-call", "tool-result", "toolRequest", "toolResponse",
     "thinking", "message", "function_call", "function_call_output", "response", "reasoning",
     "thread.started", "item.completed", "item.started", "command_execution", "agent_message",
     "tool.execution_start", "tool.execution_complete", "assistant.message", "user.message",
     "session.start", "tool_call", "started", "completed", "init", "TurnBegin", "ToolCall",
     "ToolCallPart", "ToolResult", "ContentPart", "SubagentEvent", "context.append_message",
     "context.append_loop_event", "tool.call", "content.part", "_checkpoint", "run", "read",
     "finish", "think", "ActionEvent", "ObservationEvent", "MessageEvent", "<task>x</task>",
     "<returncode>1</returncode>", "```bash\nls\n```", "[read_file for 'x'] Result:", "say", "ask",
     "<read_file><path>x</path>", "[{\"role\": \"user\"}]", "GENERATION", "TOOL", "llm", "chain",
     "execute_tool", "LLM", "toolInvocationSerialized", "tool-read", "dynamic-tool", "data:,x",
     "attachment://x", "2026-03-02T09:30:00Z", "T8:20:00", "\x00", "\ud800", "{"]
)
_KEYS = st.sampled_from(
    ["type", "kind", "role", "content", "text", "parts", "message", "messages", "id", "uuid",
     "parentUuid", "sessionId", "sessionID", "session_id", "source", "action", "observation",
     "args", "cause", "extras", "history", "instance_id", "events", "author", "invocation_id",
     "data", "payload", "timestamp", "item", "msg", "event", "part", "state", "status", "input",
     "output", "result", "results", "run", "toolUseID", "v", "messageId", "working_dir",
     "conversation", "description", "toolCall", "toolResult", "value", "error", "name",
     "arguments", "tool_calls", "toolCalls", "function", "tool_call_id", "toolCallId",
     "toolRequests", "call_id", "tool_call", "info", "directory", "version", "time", "projectID",
     "messageID", "callID", "tool", "requests", "response", "responderUsername", "metadata",
     "toolCallRounds", "toolCallResults", "k", "i", "simulations", "tasks", "task_id",
     "reward_info", "run_type", "inputs", "outputs", "trace_id", "parent_run_id", "child_runs",
     "observations", "traceId", "startTime", "attributes", "key", "resourceSpans", "scopeSpans",
     "spans", "stringValue", "gen_ai.input.messages", "llm.x", "gen_ai.prompt.0.content",
     "llm.input_messages", "openinference.span.kind", "generations", "object", "eval", "plan",
     "samples", "attachments", "trajectory_format", "extra", "raw_output", "returncode",
     "toolInvocations", "ts", "say", "ask", "eval_cases", "user_content", "chatMessages",
     "llm_message", "tool_name", "functionCall", "functionResponse", "toolCallResult", "kwargs"]
)
# fmt: on
_SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.just(1e300) | _WORDS
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=6),
    max_leaves=14,
)
_RECORDS = st.lists(st.dictionaries(_KEYS, _VALUES, max_size=7), max_size=5)
_READ = [entry for entry in FORMATS if isinstance(entry, Format)]


def _assert_well_formed(parsed: Iterable[Session | ReadIssue]) -> None:
    sessions = [item for item in parsed if isinstance(item, Session)]
    assert len({item.uid for item in sessions}) == len(sessions)
    for session in sessions:
        assert [turn.index for turn in session.turns] == list(range(len(session.turns)))
        assert all(count > 0 for count in session.dropped.values())
        for turn in session.turns:
            assert isinstance(turn.text, str)
            assert isinstance(turn.said, str)
            assert turn.at is None or isinstance(turn.at, float)
            for call in turn.tool_calls:
                assert isinstance(call, ToolCall)
                assert isinstance(call.name, str)
                assert isinstance(call.arguments, dict)
                assert call.result is None or isinstance(call.result, str)
            for file in turn.attachments:
                assert isinstance(file, Attachment)
                assert all(v is None or isinstance(v, str) for v in (file.path, file.mime))


@settings(max_examples=40, deadline=None)
@given(_RECORDS, st.booleans())
@example(records=[{"timestamp": None, "message": {"payload": None}}], is_document=False)
def test_records_of_any_shape(records: list[Any], is_document: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write = document if is_document else lines
        own = write(Path(folder), records if is_document else [*records])
        for entry in _READ:
            note(f"reader: {entry.name}")
            _assert_well_formed(list(entry.read(own)))
        reasons = [i.reason for i in read_source(own) if isinstance(i, ReadIssue)]
        assert "file.reader_failed" not in reasons


@pytest.mark.parametrize("entry", _READ, ids=lambda entry: str(entry.name))
def test_bytes_that_no_writer_wrote(entry: Format, tmp_path: Path) -> None:
    for number, raw in enumerate(
        (b"", b"\x00" * 100, b"[" * 5000, b'{"a":' * 5000, b"PK\x03\x04", b"SQLite format 3\x00xx",
         b"\xff\xfe\x00", b'"text"', b"[1, [2]]", b'{"messages": [[[]]]}', b'{"role": ["user"]}')
    ):  # fmt: skip
        path = tmp_path / f"{number}.json"
        path.write_bytes(raw)
        _assert_well_formed(list(entry.read(SourceFile(path, path.name))))
        reasons = [
            item.reason
            for item in read_source(SourceFile(path, path.name), entry.name)
            if isinstance(item, ReadIssue)
        ]
        assert "file.reader_failed" not in reasons


def test_a_sample_that_inflates_beyond_the_limit_is_an_issue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmark_runs, "LARGEST_DOCUMENT", 1000)
    said = [{"role": "user", "content": "count the boats"}]
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {}}))
        archive.writestr("samples/1_epoch_1.json", " " * 1_000_000)
        archive.writestr("samples/2_epoch_1.json", json.dumps({"id": 2, "messages": said}))
    issue, session = read_source(SourceFile(path, "log.eval"))
    assert isinstance(issue, ReadIssue)
    assert (issue.unit, issue.reason) == ("record", "record.unreadable")
    assert isinstance(session, Session)
    assert session.session_id == "2_epoch_1"


def test_a_database_is_opened_without_a_trace_and_views_are_no_tables(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    link = sqlite3.connect(path)
    link.execute("CREATE VIEW sessions AS SELECT 1 AS id, '/' AS working_dir")
    link.execute("CREATE VIEW messages AS SELECT 1 AS session_id, 'x' AS role, 'y' AS content_json")
    link.commit()
    link.close()
    before = path.read_bytes()
    assert detect(SourceFile(path, path.name)).name == "sqlite"
    assert [file.name for file in tmp_path.iterdir()] == ["sessions.db"]
    assert path.read_bytes() == before


def test_a_database_that_is_cut_off_is_named(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    with closing(sqlite3.connect(path)) as link:
        link.execute("CREATE TABLE sessions (id TEXT, working_dir TEXT)")
        link.executemany(
            "INSERT INTO sessions VALUES (?, '/')", [(str(n) * 50,) for n in range(500)]
        )
        link.commit()
    raw = path.read_bytes()
    for size in (len(raw) - 4096, 5000, 99):
        path.write_bytes(raw[:size])
        detection = detect(SourceFile(path, path.name))
        assert (detection.name, detection.why) == ("sqlite", "cut off or damaged")


@pytest.mark.parametrize("key", ["id", "schema_version", "attributes", "kind", "role", "app"])
def test_an_object_nested_deeply_stops_nothing(tmp_path: Path, key: str) -> None:
    nested = "[" * 1000 + "]" * 1000
    names = ("v", "messages", "gen_ai.x", "requests", "trajectory_format", "type")
    fields = ", ".join(f'"{name}": {nested}' for name in (key, *names))
    (tmp_path / "log.jsonl").write_text(f"{{{fields}}}\n")
    (file,) = scan([tmp_path])
    assert file.format is None
    (issue,) = read_source(SourceFile(tmp_path / "log.jsonl", "log.jsonl"))
    assert isinstance(issue, ReadIssue)


def test_a_database_whose_columns_take_long_to_compute_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "slow.db"
    with closing(sqlite3.connect(path)) as link:
        slow = "GENERATED ALWAYS AS (replace(hex(zeroblob(4000000)), '0', 'x')) VIRTUAL"
        link.execute(
            f"CREATE TABLE sessions (id, parent_session_id, title, created_at, slow {slow})"
        )
        columns = "id, session_id, role, parts, model, created_at"
        link.execute(f"CREATE TABLE messages ({columns})")
        link.executemany("INSERT INTO sessions VALUES (?, '', '', 1)", [(n,) for n in range(30)])
        link.commit()
    source = SourceFile(path, path.name)
    assert detect(source).format is SourceFormat.CRUSH
    monkeypatch.setattr(sqlite_store, "_SECONDS", 0.1)
    (issue,) = read_source(source)
    assert isinstance(issue, ReadIssue)
    assert (issue.unit, issue.reason) == ("file", "file.broken_database")


def test_a_damaged_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    link = sqlite3.connect(path)
    link.execute("CREATE TABLE sessions (id TEXT, working_dir TEXT)")
    link.execute("CREATE TABLE messages (session_id TEXT, role TEXT, content_json TEXT)")
    link.executemany("INSERT INTO sessions VALUES (?, '/')", [(str(n) * 50,) for n in range(500)])
    link.commit()
    link.close()
    raw = bytearray(path.read_bytes())
    raw[4096 * 3 :] = b"\xff" * (len(raw) - 4096 * 3)
    path.write_bytes(raw)
    (issue,) = read_source(SourceFile(path, path.name), SourceFormat.GOOSE)
    assert isinstance(issue, ReadIssue)
    assert (issue.unit, issue.reason) == ("file", "file.broken_database")


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("task", "<task>"),
        ("call", "<read_file><path>"),
        ("result", "[read_file for 'x'] Result:"),
        ("fence", "```bash\n"),
        ("query", "<user_query>"),
        ("heading", "#### x\n"),
    ],
)
def test_endless_frames_take_time_in_proportion(tmp_path: Path, name: str, unit: str) -> None:
    text = unit * (300_000 // len(unit))
    said = {"role": "user", "content": [{"type": "text", "text": f"<task>{text}"}]}
    answer = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    for reader in _READ:
        if reader.name in (SourceFormat.CLINE, SourceFormat.CURSOR, SourceFormat.MINI_SWE_AGENT):
            _assert_well_formed(list(reader.read(document(tmp_path, [said, answer, said]))))
    history = tmp_path / "history.md"
    history.write_text(f"# aider chat started at 2026-03-02 09:30:00\n\n{text}", encoding="utf-8")
    _assert_well_formed(list(read_source(SourceFile(history, history.name))))


def test_a_huge_text_and_a_lone_surrogate_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    head = json.dumps({"working_dir": "/quay", "description": "x", "message_count": 1})
    part = '{"type": "text", "text": "cut \\ud83d' + "x" * 2_000_000 + '"}'
    path.write_text(f'{head}\n{{"role": "user", "content": [{part}]}}\n', encoding="utf-8")
    (session,) = read_source(SourceFile(path, path.name))
    assert isinstance(session, Session)
    assert session.turns[0].text.startswith("cut \ufffdx")
    monkeypatch.setattr(source, "LARGEST_LINE", 1000)
    issue, last = read_source(SourceFile(path, path.name))
    assert isinstance(issue, ReadIssue)
    assert isinstance(last, ReadIssue)
    assert (issue.reason, last.reason) == ("line.too_long", "file.no_records")
