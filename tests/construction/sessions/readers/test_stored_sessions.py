"""Sessions that lie in several files, in a database or in an archive."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from construction.sessions.readers import sqlite_store
from construction.sessions.readers.registry import detect, read_source
from construction.sessions.readers.source import SourceFile
from construction.sessions.recovery.exchanges import acts_of
from construction.sessions.scan import FileReason, scan
from data.contracts import Origin, ReadIssue, Session, SourceFormat
from tests.construction.sessions.readers.test_editor_formats import CASES as EDITOR
from tests.construction.sessions.readers.test_editor_formats import CLINE, OPENCODE, OPENHANDS
from tests.construction.sessions.readers.test_framework_formats import ADK, INSPECT
from tests.construction.sessions.readers.test_framework_formats import CASES as FRAMEWORK
from tests.construction.sessions.readers.test_terminal_formats import CASES as TERMINAL
from tests.construction.sessions.readers.test_terminal_formats import GOOSE, KIMI
from tests.construction.sessions.readers.test_trace_formats import CASES as TRACE
from tests.construction.sessions.readers.written import document, lines
from tests.construction.sessions.readers.written_formats import (
    ASK,
    CSV,
    DONE,
    FAILED,
    READ,
    parts,
    said,
    seen,
)


def test_every_format_has_its_cases() -> None:
    own_tests = {
        SourceFormat.OPENCLAW, SourceFormat.CLAUDE_CODE, SourceFormat.CODEX, SourceFormat.ATIF,
        SourceFormat.CHAT, SourceFormat.HERMES, SourceFormat.SWE_AGENT, SourceFormat.SPECSTORY,
        SourceFormat.CRUSH, SourceFormat.AGNO, SourceFormat.OPENAI_AGENTS, SourceFormat.TERMINUS,
    }  # fmt: skip
    assert {case.format for case in (*EDITOR, *FRAMEWORK, *TERMINAL, *TRACE)} | own_tests == set(
        SourceFormat
    )


def test_a_folder_of_events_is_one_session(tmp_path: Path) -> None:
    folder = tmp_path / "conversation" / "events"
    folder.mkdir(parents=True)
    for number, event in enumerate(OPENHANDS[0].value):
        document(folder, event, f"{number * 2}.json")
    head, *others = scan([folder])
    assert [file.reason for file in others] == [FileReason.PART] * 6
    assert len(head.parts) == 6
    people, calls, last, _ = seen(list(read_source(SourceFile(head.path, head.relative))))
    assert (people, calls, last) == ([ASK], [READ], DONE)
    (refused,) = read_source(SourceFile(others[0].path, others[0].relative))
    assert isinstance(refused, ReadIssue)
    assert refused.reason == "file.part"


def test_a_storage_of_opencode_is_read_from_its_sessions_file(tmp_path: Path) -> None:
    export = OPENCODE[0].value
    storage = tmp_path / "storage"
    for name in ("session/p", "message/ses_1", "part/m1", "part/m2"):
        (storage / name).mkdir(parents=True)
    document(storage / "session/p", export["info"], "ses_1.json")
    for message in export["messages"]:
        document(storage / "message/ses_1", message["info"], f"{message['info']['id']}.json")
        for number, part in enumerate(message["parts"]):
            own = {**part, "messageID": message["info"]["id"]}
            document(storage / "part" / message["info"]["id"], own, f"prt_{number}.json")
    files = scan([storage])
    heads = [file for file in files if file.reason is None]
    assert [file.relative for file in heads] == ["storage/session/p/ses_1.json"]
    items = list(read_source(SourceFile(heads[0].path, heads[0].relative)))
    assert seen(items) == ([ASK], [READ], DONE, 1)
    (alone,) = read_source(SourceFile(storage / "message/ses_1/m1.json", "m1.json"))
    assert isinstance(alone, ReadIssue)
    assert alone.reason == "file.part_alone"


def test_a_session_of_opencode_that_names_a_path_reads_nothing_beside_it(tmp_path: Path) -> None:
    for name in ("storage/session/p", "secret"):
        (tmp_path / name).mkdir(parents=True)
    document(tmp_path / "secret", {"id": "m", "role": "user", "sessionID": "x"}, "m.json")
    document(tmp_path / "storage/session/p", {"id": "../../secret", "projectID": "p"}, "ses.json")
    (head,) = scan([tmp_path / "storage"])
    assert head.parts == ()


def _database(path: Path, tables: dict[str, list[dict[str, Any]]]) -> SourceFile:
    link = sqlite3.connect(path)
    for name, rows in tables.items():
        link.execute(f"CREATE TABLE {name} ({', '.join(rows[0])})")
        marks = ", ".join("?" * len(rows[0]))
        link.executemany(f"INSERT INTO {name} VALUES ({marks})", [tuple(r.values()) for r in rows])
    link.commit()
    link.close()
    return SourceFile(path, path.name)


def _opencode_rows() -> dict[str, list[dict[str, Any]]]:
    export = OPENCODE[0].value
    messages, parts = [], []
    for message in export["messages"]:
        own = message["info"]["id"]
        messages.append({"id": own, "session_id": "ses_1", "data": json.dumps(message["info"])})
        parts += [
            {"id": f"{own}-{number}", "message_id": own, "session_id": "ses_1",
             "data": json.dumps(part)}
            for number, part in enumerate(message["parts"])
        ]  # fmt: skip
    session = {"id": "ses_1", "directory": "/quay", "version": "1", "parent_id": None,
               "time_created": 1790000000000}  # fmt: skip
    return {"session": [session], "message": messages, "part": parts}


def _goose_rows() -> dict[str, list[dict[str, Any]]]:
    rows = [
        {"session_id": "g", "role": m["role"], "content_json": json.dumps(m["content"]),
         "created_timestamp": 1790000000}
        for m in GOOSE[3].value["conversation"]
    ]  # fmt: skip
    return {"sessions": [{"id": "g", "working_dir": "/quay"}], "messages": rows}


def _hermes_rows() -> dict[str, list[dict[str, Any]]]:
    calls = json.dumps([{"id": "c", "function": {"name": "read", "arguments": "{}"}}])
    spoken = [("user", ASK, None, None), ("assistant", "", calls, None), ("tool", CSV, None, "c"),
            ("assistant", DONE, None, None)]  # fmt: skip
    keys = ("role", "content", "tool_calls", "tool_call_id")
    rows = [{"session_id": "h", **dict(zip(keys, row, strict=True))} for row in spoken]
    return {"sessions": [{"id": "h", "source": "cli", "started_at": 1790000000}], "messages": rows}


def _crush_rows() -> dict[str, list[dict[str, Any]]]:
    init = "`Please analyze this codebase and create a **CRUSH.md** file containing: …"
    spoken: list[tuple[str, str, dict[str, Any]]] = [
        ("user", "text", {"text": init}),
        ("user", "text", {"text": ASK}),
        ("assistant", "tool_call", {"id": "c", "name": "read", "input": "{}", "finished": True}),
        ("tool", "tool_result", {"tool_call_id": "c", "content": CSV, "is_error": False}),
        ("assistant", "text", {"text": DONE}),
        ("assistant", "finish", {"reason": "end_turn"}),
    ]
    rows = [
        {"session_id": "k", "role": role, "parts": json.dumps([{"type": kind, "data": held}]),
         "model": "m", "created_at": 1790000000}
        for role, kind, held in spoken
    ]  # fmt: skip
    session = {"id": "k", "parent_session_id": None, "title": "x", "created_at": 1790000000}
    return {"sessions": [session], "messages": rows}


def _cursor_rows() -> dict[str, list[dict[str, Any]]]:
    spoken = [
        said("user", *parts(f"<user_query>\n{ASK}\n</user_query>")),
        said("assistant", {"type": "tool-call", "toolCallId": "c", "toolName": "read", "args": {}}),
        said("tool", {"type": "tool-result", "toolCallId": "c", "result": CSV}),
        said("assistant", *parts(DONE)),
    ]
    blobs = [{"id": f"{n:064x}", "data": json.dumps(m).encode()} for n, m in enumerate(spoken)]
    root = b"".join(b"\x0a\x20" + bytes.fromhex(str(blob["id"])) for blob in blobs)
    meta = json.dumps({"agentId": "a", "latestRootBlobId": "root"}).encode().hex()
    return {"blobs": [*blobs, {"id": "root", "data": root}], "meta": [{"key": "0", "value": meta}]}


def _adk_rows() -> dict[str, list[dict[str, Any]]]:
    events = [
        {**event, "timestamp": 1790000000 + n} for n, event in enumerate(ADK[0].value["events"])
    ]
    owner = {"app_name": "ponds", "user_id": "u"}
    rows = [
        {**owner, "id": str(n), "session_id": "s", "invocation_id": "i",
         "timestamp": event["timestamp"], "event_data": json.dumps(event)}
        for n, event in enumerate(events)
    ]  # fmt: skip
    return {"sessions": [{**owner, "id": "s"}], "events": rows[::-1]}


def _adk_columns() -> dict[str, list[dict[str, Any]]]:
    """The rows of older versions, which keep an event in columns."""
    tables = _adk_rows()
    for row in tables["events"]:
        event = json.loads(row.pop("event_data"))
        row |= {"author": event["author"], "content": json.dumps(event["content"]),
                "partial": event.get("partial")}  # fmt: skip
    return tables


def _agents_rows() -> dict[str, list[dict[str, Any]]]:
    items: list[dict[str, Any]] = [
        {"role": "developer", "content": "You count."},
        {"role": "user", "content": ASK},
        {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": CSV},
        {"type": "message", "role": "assistant", "content": parts(DONE, "output_text")},
    ]
    rows = [{"id": n, "session_id": "s", "message_data": json.dumps(item)}
            for n, item in enumerate(items)]  # fmt: skip
    return {"pond_sessions": [{"session_id": "s"}], "pond_messages": rows}


_CALLED = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
_RUN: list[dict[str, Any]] = [
    {"role": "system", "content": "You count."},
    {"role": "user", "content": ASK},
    {"role": "assistant", "tool_calls": [_CALLED]},
    {"role": "tool", "tool_call_id": "c", "tool_name": "read", "content": CSV},
]


def _agno_rows() -> dict[str, list[dict[str, Any]]]:
    memory = {"runs": [{"response": {"messages": _RUN}}],
              "messages": [*_RUN, {"role": "assistant", "content": DONE}]}  # fmt: skip
    row = {"session_id": "s", "agent_id": "a", "memory": json.dumps(memory)}
    return {"pond_agent": [row]}


def _agno_runs() -> dict[str, list[dict[str, Any]]]:
    """The rows of version 2, in which each run repeats what was said before it."""
    before = [message | {"from_history": True} for message in _RUN[1:]]
    runs = [{"messages": _RUN}, {"messages": [*before, {"role": "assistant", "content": DONE}]}]
    row = {"session_id": "s", "session_type": "agent", "runs": json.dumps(runs)}
    return {"agno_sessions": [row]}


def _history(prompt: str = ASK) -> dict[str, Any]:
    results = [{"tool_use_id": "c", "content": [{"Text": CSV}], "status": "Success"}]
    used = {"content": "", "tool_uses": [{"id": "c", "name": "read", "args": {}}]}
    return {"conversation_id": "k", "history": [
        {"user": {"content": {"Prompt": {"prompt": prompt}}}, "assistant": {"ToolUse": used}},
        {"user": {"content": {"ToolUseResults": {"tool_use_results": results}}},
         "assistant": {"Response": {"content": DONE}}},
    ]}  # fmt: skip


def _kiro_rows() -> dict[str, list[dict[str, Any]]]:
    return {"conversations": [{"key": "/quay", "value": json.dumps(_history())}]}


_USED = {"toolCallId": "c", "name": "read", "rawArgs": '{"path": "ponds.csv"}', "params": "{}",
         "result": CSV, "status": "completed"}  # fmt: skip


def _composer_rows() -> dict[str, list[dict[str, Any]]]:
    bubbles: list[dict[str, Any]] = [
        {"bubbleId": "b1", "type": 1, "text": ASK, "createdAt": "2026-03-02T09:30:00Z"},
        {"bubbleId": "b2", "type": 2, "text": "", "thinking": {"text": "a file has them"}},
        {"bubbleId": "b3", "type": 2, "text": "", "toolFormerData": _USED},
        {"bubbleId": "b4", "type": 2, "text": DONE},
    ]
    heads = [{"bubbleId": bubble["bubbleId"], "type": bubble["type"]} for bubble in bubbles]
    held = {"composerData:x": {"composerId": "x", "fullConversationHeadersOnly": heads},
            "composerData:y": {"composerId": "y", "fullConversationHeadersOnly": []}}  # fmt: skip
    held |= {f"bubbleId:x:{bubble['bubbleId']}": bubble for bubble in bubbles}
    rows = [{"key": key, "value": json.dumps(value)} for key, value in held.items()]
    return {"ItemTable": [{"key": "view", "value": "1"}], "cursorDiskKV": rows}


_ROWS: list[tuple[SourceFormat, Callable[[], dict[str, list[dict[str, Any]]]]]] = [
    (SourceFormat.OPENCODE, _opencode_rows),
    (SourceFormat.GOOSE, _goose_rows),
    (SourceFormat.HERMES, _hermes_rows),
    (SourceFormat.CURSOR, _cursor_rows),
    (SourceFormat.CURSOR, _composer_rows),
    (SourceFormat.CRUSH, _crush_rows),
    (SourceFormat.ADK, _adk_rows),
    (SourceFormat.OPENAI_AGENTS, _agents_rows),
    (SourceFormat.AGNO, _agno_rows),
    (SourceFormat.AGNO, _agno_runs),
    (SourceFormat.KIRO, _kiro_rows),
]


@pytest.mark.parametrize(("name", "rows"), _ROWS)
def test_a_store_is_read(
    tmp_path: Path, name: SourceFormat, rows: Callable[[], dict[str, list[dict[str, Any]]]]
) -> None:
    source = _database(tmp_path / "store.db", rows())
    assert detect(source).name == name
    assert seen(list(read_source(source))) == ([ASK], [READ], DONE, 1)


def test_the_state_of_a_workspace_holds_older_conversations_of_cursor(tmp_path: Path) -> None:
    uri = {"fsPath": "/quay/swans.md", "external": "file:///quay/swans.md"}
    made, kept = {"uri": uri, "version": 1}, {"version": 0, "status": "rejected"}
    composer = {
        "composerId": "x",
        "conversation": [{"type": 1, "text": ASK}, {"type": 2, "text": DONE, "codeBlocks": [made]}],
        "codeBlockData": {uri["external"]: [kept, {**made, "status": "accepted"}]},
    }
    tab = {
        "tabId": "t",
        "bubbles": [
            {"type": "user", "text": "And the geese?"},
            {"type": "ai", "rawText": "None."},
            {"type": "user"},
        ],
    }
    state = {"composer.composerData": {"allComposers": [composer, {"composerId": "y"}]},
             "workbench.panel.aichat.view.aichat.chatdata": {"tabs": [tab]}}  # fmt: skip
    rows = [{"key": key, "value": json.dumps(value)} for key, value in state.items()]
    items = list(read_source(_database(tmp_path / "state.vscdb", {"ItemTable": rows})))
    assert seen(items) == ([ASK, "And the geese?"], [], "None.", 2)
    acts = [act for i in items if isinstance(i, Session) for t in i.turns for act in acts_of(t)]
    assert [(act.kind, act.path) for act in acts][1:] == [("wrote", "/quay/swans.md")]


def test_a_member_of_a_team_of_agno_is_a_side_session(tmp_path: Path) -> None:
    runs = [{"run_id": "r", "messages": _RUN},
            {"run_id": "m", "parent_run_id": "r", "messages": _RUN}]  # fmt: skip
    row = {"session_id": "s", "session_type": "team", "runs": json.dumps(runs)}
    items = list(read_source(_database(tmp_path / "team.db", {"agno_sessions": [row]})))
    sessions = [(i.session_id, i.parent_session_id) for i in items if isinstance(i, Session)]
    assert sessions == [("s", None), ("s-1", "s")]


@pytest.mark.parametrize("form", ["objects", "pairs"])
def test_a_history_of_kiro_is_read(tmp_path: Path, form: str) -> None:
    history = _history()
    if form == "pairs":
        history["history"] = [[e["user"], e["assistant"]] for e in history["history"]]
    source = document(tmp_path, history)
    assert detect(source).name == SourceFormat.KIRO
    assert seen(list(read_source(source))) == ([ASK], [READ], DONE, 1)


def test_of_the_requests_of_a_run_the_last_is_read(tmp_path: Path) -> None:
    task = f"--- NEW TASK DESCRIPTION ---\n{ASK}\n--- END OF NEW TASK DESCRIPTION ---\nOne call."
    called = "I look.\n<function=read>\n<parameter=path>ponds.csv</parameter>\n</function>"
    messages = [
        {"role": "system", "content": "You count."},
        {"role": "user", "content": f"An example: <function=x>\n{task}"},
        {"role": "assistant", "content": called},
        {"role": "user", "content": f"EXECUTION RESULT of [read]:\n{CSV}"},
    ]
    answer = {"role": "assistant", "content": DONE}
    request = {"messages": messages[:2], "cost": 0, "kwargs": {}, "timestamp": 1790000000.5,
               "response": {"choices": [{"message": messages[2]}]}}  # fmt: skip
    folder = tmp_path / "run-7"
    folder.mkdir()
    document(folder, request, "model-1790000000.50.json")
    last = {**request, "messages": messages, "response": {"choices": [{"message": answer}]}}
    document(folder, last, "model-1790000009.25.json")
    head, part = sorted(scan([folder]), key=lambda file: file.reason is not None)
    assert (head.path.name, part.reason) == ("model-1790000009.25.json", FileReason.PART)
    (session,) = read_source(SourceFile(head.path, head.relative))
    assert isinstance(session, Session)
    assert seen([session]) == ([ASK], [READ], DONE, 1)
    assert (session.session_id, session.source_format) == ("run-7", SourceFormat.OPENHANDS)
    structured = {**last, "messages": messages[:2], "fncall_messages": [
        {"role": "user", "content": ASK}, {"role": "assistant", "content": "", "tool_calls": [
            {"id": "c", "function": {"name": "read", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": CSV}]}  # fmt: skip
    assert seen(list(read_source(document(tmp_path, structured)))) == ([ASK], [READ], DONE, 1)


def test_older_and_failed_events_of_adk_are_read(tmp_path: Path) -> None:
    tables = _adk_columns()
    source = _database(tmp_path / "old.db", tables)
    assert seen(list(read_source(source))) == ([ASK], [READ], DONE, 1)
    failed = {"author": "root", "error_code": "404", "error_message": "no such model"}
    tables = _adk_rows()
    tables["events"][0]["event_data"] = json.dumps(failed)
    (session,) = read_source(_database(tmp_path / "failed.db", tables))
    assert isinstance(session, Session)
    assert (session.turns[-1].origin, session.turns[-1].text) == (Origin.SYSTEM, "no such model")


def _with_log(folder: Path, rows: dict[str, list[dict[str, Any]]]) -> Path:
    """A store whose rows stand in the write-ahead log alone, as a running program leaves it."""
    folder.mkdir()
    live = sqlite3.connect(folder / "live.db")
    live.execute("PRAGMA journal_mode = WAL")
    live.execute("CREATE TABLE other (x)")
    live.commit()
    live.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    _database(folder / "live.db", rows)
    for end in ("", "-wal", "-shm"):
        shutil.copyfile(folder / f"live.db{end}", folder / f"store.db{end}")
    live.close()
    (folder / "live.db").unlink()
    return folder / "store.db"


@pytest.mark.parametrize(("name", "rows"), _ROWS)
def test_rows_in_a_write_ahead_log_are_read_and_nothing_beside_it_changes(
    tmp_path: Path, name: SourceFormat, rows: Callable[[], dict[str, list[dict[str, Any]]]]
) -> None:
    path = _with_log(tmp_path / "s", rows())
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    head, *others = scan([path.parent])
    assert (head.format, [part.name for part, _ in head.parts]) == (name, ["store.db-wal"])
    assert [(file.path.name, file.reason) for file in others] == [
        ("store.db-shm", FileReason.PART),
        ("store.db-wal", FileReason.PART),
    ]
    assert seen(list(read_source(SourceFile(path, "s/store.db")))) == ([ASK], [READ], DONE, 1)
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_a_write_ahead_log_that_is_broken_or_too_large_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _database(tmp_path / "store.db", _crush_rows()).path
    log = tmp_path / "store.db-wal"
    log.write_bytes(b"\x37\x7f\x06\x82" + bytes(range(256)) * 40)
    source = SourceFile(path, "store.db")
    assert seen(list(read_source(source))) == ([ASK], [READ], DONE, 1)
    monkeypatch.setattr(sqlite_store, "_LARGEST_COPY", 1000)
    (issue,) = read_source(source, SourceFormat.CRUSH)
    assert isinstance(issue, ReadIssue)
    assert issue.reason == "file.broken_database"
    log.unlink()
    log.symlink_to(path)
    assert seen(list(read_source(source))) == ([ASK], [READ], DONE, 1)


def test_sessions_in_several_files_are_copies_only_if_all_files_are(tmp_path: Path) -> None:
    for name, end in (("a", DONE), ("b", DONE), ("c", "I counted none.")):
        (tmp_path / name).mkdir()
        for number, event in enumerate([*OPENHANDS[0].value[:-1], None]):
            last = {**OPENHANDS[0].value[-1], "args": {"final_thought": end}}
            document(tmp_path / name, event or last, f"{number}.json")
    heads = {f.relative: f.reason for f in scan([tmp_path]) if f.path.name == "0.json"}
    assert list(heads.values()) == [None, FileReason.DUPLICATE, None]


def test_an_eval_archive_is_read_sample_by_sample(tmp_path: Path) -> None:
    value = INSPECT[0].value
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": value["eval"]}))
        for epoch in (1, 2):
            sample = {**value["samples"][0], "epoch": epoch}
            archive.writestr(f"samples/1_epoch_{epoch}.json", json.dumps(sample))
    source = SourceFile(path, "log.eval")
    assert detect(source).name == SourceFormat.INSPECT
    items = list(read_source(source))
    assert seen(items) == ([ASK, ASK], [READ, READ], DONE, 2)
    assert [i.session_id for i in items if isinstance(i, Session)] == ["1_epoch_1", "1_epoch_2"]


def test_a_checkpoint_of_entire_is_one_session_with_its_facts(tmp_path: Path) -> None:
    folder = tmp_path / "cp" / "0"
    folder.mkdir(parents=True)
    log = [
        {"type": "user", "uuid": "a", "sessionId": "s", "message": {"content": ASK}},
        {"type": "assistant", "uuid": "b", "parentUuid": "a", "message": {"content": parts(DONE)}},
    ]
    lines(folder, log, "full.jsonl")
    facts = {"checkpoint_id": "c1", "cli_version": "0.7"}
    document(folder, facts, "metadata.json")
    document(folder.parent, {**facts, "sessions": []}, "metadata.json")
    (folder / "prompt.txt").write_text(ASK)
    (folder / "content_hash.txt").write_text("sha256:0")
    files = scan([tmp_path / "cp"])
    assert {file.relative: file.reason for file in files} == {
        "cp/0/full.jsonl": None,
        **{f"cp/0/{name}": FileReason.PART
           for name in ("content_hash.txt", "metadata.json", "prompt.txt")},
        "cp/metadata.json": FileReason.PART,
    }  # fmt: skip


def test_what_the_window_showed_is_refused_beside_the_history(tmp_path: Path) -> None:
    document(tmp_path, CLINE[0].value, "api_conversation_history.json")
    window = document(tmp_path, CLINE[4].value, "ui_messages.json")
    (issue,) = read_source(window)
    assert isinstance(issue, ReadIssue)
    assert issue.reason == "file.copy_of_history"


@pytest.mark.parametrize("has_wire", [True, False])
def test_the_context_of_kimi_is_refused_beside_a_wire_that_holds_something(
    tmp_path: Path, has_wire: bool
) -> None:
    context = lines(tmp_path, KIMI[0].value, "context.jsonl")
    wire = lines(tmp_path, KIMI[1].value if has_wire else KIMI[1].value[:1], "wire.jsonl")
    items = list(read_source(context))
    if has_wire:
        assert [i.reason for i in items if isinstance(i, ReadIssue)] == ["file.copy_of_history"]
        items = [*items, *read_source(wire)]
    assert seen(items) == ([ASK], [FAILED if has_wire else READ], DONE, 1)


def _kimi_folder(folder: Path, agent: str) -> dict[str, list[Session]]:
    """What is read of a session's folder with a sub-agent whose context lies in `agent`."""
    prompt = "List the ponds"
    event = {"type": "TurnBegin", "payload": {"user_input": prompt}}
    (folder / agent).parent.mkdir(parents=True)
    lines(folder, KIMI[2].value, "wire.jsonl")
    given = [json.loads(line) for line in (folder / "wire.jsonl").read_text().splitlines()]
    for record in given:
        payload = record["message"]["payload"]
        if payload.get("event", {}).get("type") == "TurnBegin":
            payload |= {"event": event, "agent_id": "a1"}
    lines(folder, given, "wire.jsonl")
    lines(folder, KIMI[0].value[:3], "context_1.jsonl")
    whole = [{"role": "_checkpoint", "id": 0}, said("user", *parts(prompt)),
             said("assistant", *parts("mill")), said("assistant", *parts("weir"))]  # fmt: skip
    lines((folder / agent).parent, whole, Path(agent).name)
    document(folder, {"version": 1, "approval": {"yolo": False}}, "state.json")
    files = scan([folder])
    assert {f.path.name for f in files if f.reason is FileReason.PART} == {"state.json"}
    sources = {f.relative: SourceFile(f.path, f.relative) for f in files if f.format is not None}
    items = {name: list(read_source(source)) for name, source in sources.items()}
    return {n: [i for i in read if isinstance(i, Session)] for n, read in items.items()}


@pytest.mark.parametrize("agent", ["context_sub_1.jsonl", "subagents/a1/context.jsonl"])
def test_sub_agents_of_kimi_are_read_once_and_say_nothing_for_a_person(
    tmp_path: Path, agent: str
) -> None:
    sessions = _kimi_folder(tmp_path / "s9", agent)
    assert sessions.pop("s9/context_1.jsonl") == []  # an earlier state of what the wire holds
    (main,) = sessions.pop("s9/wire.jsonl")
    ((side,),) = sessions.values()
    assert seen([main]) == ([ASK], [("task", "mill", False)], DONE, 1)
    assert (main.parent_session_id, main.dropped["sub_agent"]) == (None, 1)
    assert seen([side])[0] == []
    assert (side.parent_session_id, [turn.text for turn in side.turns][1:]) == (
        "s9", ["mill", "weir"]
    )  # fmt: skip


@pytest.mark.parametrize(("agent", "parent"), [("main", None), ("agent-0", "s9")])
def test_agents_of_kimi_code_lie_in_folders(tmp_path: Path, agent: str, parent: str | None) -> None:
    folder = tmp_path / "s9" / "agents" / agent
    folder.mkdir(parents=True)
    source = lines(folder, KIMI[3].value, "wire.jsonl")
    (session,) = read_source(SourceFile(source.path, f"s9/agents/{agent}/wire.jsonl"))
    assert isinstance(session, Session)
    assert session.parent_session_id == parent
    assert (session.session_id, seen([session])[0]) == (
        (agent, []) if parent else ("s9", [ASK])
    )  # fmt: skip
