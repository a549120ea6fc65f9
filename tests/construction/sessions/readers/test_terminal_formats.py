"""Agents in a terminal: an invented session of each, one with a failed call, harness, branches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from data.contracts import SourceFormat
from tests.construction.sessions.readers.written_formats import (
    ASK,
    CSV,
    DONE,
    FAILED,
    GONE,
    READ,
    Case,
    assert_empty,
    assert_read,
    parts,
    said,
)


def _goose(*messages: Any) -> list[Any]:
    head = {"working_dir": "/quay", "description": "Swans", "message_count": len(messages)}
    return [head, *messages]


def _asks(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "created": 1790000000, "content": list(parts)}


def _goose_call(result: dict[str, Any]) -> list[Any]:
    called = {"status": "success", "value": {"name": "read", "arguments": {"path": "ponds.csv"}}}
    return [
        _asks("user", *parts(ASK)),
        _asks("assistant", {"type": "toolRequest", "id": "c", "toolCall": called}),
        _asks("user", {"type": "toolResponse", "id": "c", "toolResult": result}),
        _asks("assistant", *parts(DONE)),
    ]


_ENDED = {"status": "success", "value": {"content": parts(CSV), "isError": False}}
GOOSE = [
    Case(SourceFormat.GOOSE, "ordinary", _goose(*_goose_call(_ENDED)), [READ]),
    Case(
        SourceFormat.GOOSE,
        "failed",
        _goose(*_goose_call({"status": "error", "error": GONE})),
        [FAILED],
    ),
    Case(
        SourceFormat.GOOSE,
        "harness",
        _goose(
            *_goose_call(_ENDED)[:3],
            {**_asks("user", *parts("Summary so far")), "metadata": {"userVisible": False}},
            _asks("assistant", *parts(DONE)),
        ),
        [READ],
    ),
    Case(
        SourceFormat.GOOSE,
        "export",
        {"id": "g1", "working_dir": "/quay", "conversation": _goose_call(_ENDED)},
        [READ],
        name="export.json",
    ),
]


def _amp(run: dict[str, Any], *more: Any) -> dict[str, Any]:
    used = {"type": "tool_use", "id": "c", "name": "read", "input": {"path": "ponds.csv"}}
    result = {"type": "tool_result", "toolUseID": "c", "run": run}
    messages = [said("user", *parts(ASK)), said("assistant", used), said("user", result), *more,
                said("assistant", *parts(DONE))]  # fmt: skip
    numbered = [{**message, "messageId": n} for n, message in enumerate(messages)]
    return {"v": 3, "id": "T-9", "messages": numbered}


AMP = [
    Case(SourceFormat.AMP, "ordinary", _amp({"status": "done", "result": CSV}), [READ]),
    Case(
        SourceFormat.AMP, "failed", _amp({"status": "error", "error": {"message": GONE}}), [FAILED]
    ),
    Case(
        SourceFormat.AMP,
        "harness",
        _amp(
            {"status": "done", "result": {"output": CSV, "exitCode": 0}},
            {
                "role": "info",
                "content": [{"type": "manual_bash_invocation", "args": {"cmd": "ls"}}],
            },
        ),
        [READ],
    ),
]

_EXEC: list[Any] = [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}]


def _item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": f"i-{kind}", "type": kind, **fields}}


CODEX_EXEC = [
    Case(
        SourceFormat.CODEX_EXEC,
        "ordinary",
        [
            *_EXEC,
            _item("reasoning", text="look"),
            _item("command_execution", command="cat", aggregated_output=CSV, exit_code=0),
            _item("todo_list", items=[]),
            _item("agent_message", text=DONE),
        ],
        [("command_execution", CSV, False)],
        people=(),
    ),
    Case(
        SourceFormat.CODEX_EXEC,
        "failed",
        [
            *_EXEC,
            {"type": "item.started", "item": {"id": "w", "type": "web_search", "query": "swans"}},
            _item("command_execution", command="cat", aggregated_output=GONE, exit_code=1,
                  status="failed"),
            {"type": "turn.failed", "error": {"message": "overloaded"}},
        ],
        [("command_execution", GONE, True), ("web_search", None, False)],
        people=(),
        last=None,
    ),
    Case(
        SourceFormat.CODEX_EXEC,
        "old form",
        [
            {"workdir": "/quay", "model": "m", "provider": "p"},
            {"prompt": ASK},
            {"id": "0", "msg": {"type": "task_started"}},
            {"id": "0", "msg": {"type": "exec_command_begin", "call_id": "c", "command": ["cat"]}},
            {"id": "0", "msg": {"type": "exec_command_end", "call_id": "c", "stdout": CSV,
                                "exit_code": 0}},
            {"id": "0", "msg": {"type": "agent_message", "message": DONE}},
        ],
        [("command_execution", CSV, False)],
    ),
]  # fmt: skip


def _event(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": kind, "timestamp": "2026-03-02T09:30:00Z"}


_REQUEST = [{"toolCallId": "c", "name": "read", "arguments": {"path": "ponds.csv"}}]
_BEGUN = [
    _event("session.start", sessionId="s", context={"cwd": "/quay"}),
    _event("user.message", content=ASK),
    _event("assistant.message", content="", toolRequests=_REQUEST),
    _event("tool.execution_start", toolCallId="c", toolName="read", arguments={}),
]
_ANSWERED = _event("assistant.message", content=DONE, toolRequests=[])
COPILOT = [
    Case(
        SourceFormat.COPILOT_CLI,
        "ordinary",
        [*_BEGUN, _event("tool.execution_complete", toolCallId="c", success=True,
                         result={"content": CSV}), _ANSWERED],
        [READ],
    ),
    Case(
        SourceFormat.COPILOT_CLI,
        "failed",
        [*_BEGUN, _event("tool.execution_complete", toolCallId="c", success=False,
                         error={"message": GONE}), _ANSWERED],
        [FAILED],
    ),
    Case(
        SourceFormat.COPILOT_CLI,
        "side",
        [
            *_BEGUN,
            _event("subagent.started", toolCallId="c"),
            _event("assistant.message", content="", parentToolCallId="c",
                   toolRequests=[{"toolCallId": "d", "name": "grep", "arguments": {}}]),
            {**_event("tool.execution_complete", toolCallId="d", success=True,
                      result={"content": "mill"}), "agentId": "c"},
            {**_event("hook.start"), "agentId": "e"},
            _event("tool.execution_complete", toolCallId="c", success=True,
                   result={"content": CSV}),
            _ANSWERED,
        ],
        [READ, ("grep", "mill", False)],
        sessions=2,
    ),
    Case(
        SourceFormat.COPILOT_CLI,
        "harness",
        [
            *_BEGUN[:2],
            _event("system.notification", content="An agent has finished"),
            _event("user.message", content="skill text", source="skill-pond"),
            _event("tool.user_requested", toolCallId="u", toolName="bash",
                   arguments={"command": "ls"}),
            _event("tool.execution_start", toolCallId="u", toolName="bash", arguments={}),
            _event("tool.execution_complete", toolCallId="u", success=True,
                   result={"content": "ponds.csv"}),
            _ANSWERED,
        ],
    ),
    Case(
        SourceFormat.COPILOT_CLI,
        "older document",
        {"sessionId": "s", "chatMessages": [
            {"role": "user", "content": ASK}, {"role": "assistant", "content": DONE}]},
        name="session.json",
    ),
]  # fmt: skip


def _wire(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": 1790000000.0, "message": {"type": kind, "payload": payload}}


def _loop(kind: str, **event: Any) -> dict[str, Any]:
    return {"type": "context.append_loop_event", "event": {"type": kind, "stepUuid": "s", **event}}


_KIMI_CALL = {"id": "c", "type": "function", "function": {"name": "read", "arguments": '{"path"'}}
KIMI = [
    Case(
        SourceFormat.KIMI,
        "ordinary",
        [
            {"role": "_system_prompt", "content": "You are."},
            {"role": "_checkpoint", "id": 0},
            {"role": "user", "content": ASK},
            {"role": "assistant", "content": parts(""), "tool_calls": [_KIMI_CALL]},
            {"role": "tool", "content": parts(CSV), "tool_call_id": "c"},
            {"role": "user", "content": "<system>CHECKPOINT 1</system>"},
            {"role": "assistant", "content": parts(DONE)},
        ],
        [READ],
    ),
    Case(
        SourceFormat.KIMI,
        "failed",
        [
            {"type": "metadata", "protocol_version": "1.2"},
            _wire("TurnBegin", user_input=ASK),
            _wire("StepBegin", n=1),
            _wire("ContentPart", type="think", think="look"),
            _wire("ToolCall", **_KIMI_CALL),
            _wire("ToolCallPart", arguments_part=': "ponds.csv"}'),
            _wire("ToolResult", tool_call_id="c", return_value={"is_error": True, "output": GONE}),
            _wire("ContentPart", type="text", text=DONE),
        ],
        [FAILED],
    ),
    Case(
        SourceFormat.KIMI,
        "side",
        [
            _wire("TurnBegin", user_input=ASK),
            _wire("ToolCall", id="t", function={"name": "task", "arguments": "{}"}),
            _wire("SubagentEvent", parent_tool_call_id="t",
                  event={"type": "TurnBegin", "payload": {"user_input": "List the ponds"}}),
            _wire("SubagentEvent", parent_tool_call_id="t",
                  event={"type": "ContentPart", "payload": {"type": "text", "text": "mill"}}),
            _wire("ToolResult", tool_call_id="t", return_value={"output": "mill"}),
            _wire("ContentPart", type="text", text=DONE),
        ],
        [("task", "mill", False)],
        sessions=2,
        last="mill",
    ),
    Case(
        SourceFormat.KIMI,
        "harness",
        [
            {"type": "metadata", "protocol_version": "1.4", "created_at": 1},
            {"type": "config.update", "systemPrompt": "You are.", "cwd": "/quay"},
            {"type": "turn.prompt", "input": parts(ASK), "origin": {"kind": "user"}},
            {"type": "context.append_message", "message": {
                **said("user", *parts(ASK)), "origin": {"kind": "user"}}},
            {"type": "context.append_message", "message": {
                **said("user", *parts("a hook")), "origin": {"kind": "injection"}}},
            _loop("tool.call", toolCallId="c", name="read", args={"path": "ponds.csv"}),
            _loop("tool.result", toolCallId="c", result={"output": CSV}),
            _loop("content.part", part={"type": "text", "text": DONE}),
        ],
        [READ],
    ),
]  # fmt: skip


def _qwen(uuid: str, parent: str | None, kind: str, *parts: Any, **fields: Any) -> dict[str, Any]:
    role = {"assistant": "model"}.get(kind, "user")
    record = {"uuid": uuid, "parentUuid": parent, "sessionId": "q", "type": kind, "cwd": "/quay"}
    return {**record, "message": {"role": role, "parts": list(parts)}, **fields}


_FUNCTION = {"functionCall": {"id": "c", "name": "read", "args": {}}}


def _returned(response: dict[str, Any]) -> dict[str, Any]:
    return {"functionResponse": {"id": "c", "name": "read", "response": response}}


QWEN = [
    Case(
        SourceFormat.QWEN,
        "ordinary",
        [
            _qwen("1", None, "user", {"text": ASK}),
            _qwen("2", "1", "assistant", {"text": "look", "thought": True}),
            _qwen("2", "1", "assistant", _FUNCTION),
            _qwen("3", "2", "tool_result", _returned({"output": CSV})),
            _qwen("4", "3", "assistant", {"text": DONE}),
        ],
        [READ],
    ),
    Case(
        SourceFormat.QWEN,
        "branch and failed",
        [
            _qwen("1", None, "user", {"text": ASK}),
            _qwen("2", "1", "assistant", {"text": "No."}),
            {"uuid": "3", "parentUuid": "1", "sessionId": "q", "type": "system",
             "subtype": "rewind", "systemPayload": {}},
            _qwen("4", "3", "assistant", _FUNCTION),
            _qwen("5", "4", "tool_result", _returned({"error": GONE})),
            _qwen("6", "5", "assistant", {"text": DONE}),
        ],
        [FAILED],
    ),
    Case(
        SourceFormat.QWEN,
        "harness",
        [
            _qwen("1", None, "user", {"text": ASK}, {"text": "<qwen:hook>x</qwen:hook>"}),
            _qwen("2", "1", "user", {"text": "done"}, subtype="notification"),
            _qwen("3", "2", "assistant", {"text": DONE}),
        ],
    ),
]  # fmt: skip


_STARTED = "# aider chat started at 2026-03-02 09:30:00\n\n"
AIDER = [
    Case(
        SourceFormat.AIDER,
        "headings",
        f"{_STARTED}> aider ponds.csv  \n\n#### {ASK}  \n\n#### In *short*:\n\nSome.\n\n"
        "> as you said\n\nMore.\n\n> Tokens: 9 sent.  \n> # 1 block failed to match!\n\n"
        "## No such words\n> swans\n\nTry again.  \n\n"
        f"{DONE}\n\n> Tokens: 9 sent.  \n",
    ),
    Case(
        SourceFormat.AIDER,
        "ordinary",
        f"{_STARTED}> aider ponds.csv  \n\n#### {ASK}  \n\nswans.md\n```\nmill 4\n```\n\n{DONE}\n\n"
        "> Applied edit to swans.md  \n> Commit abc1234 feat: swans  \n",
        last=f"swans.md\n```\nmill 4\n```\n\n{DONE}",
        name="history.md",
    ),
    Case(
        SourceFormat.AIDER,
        "harness",
        f"{_STARTED}#### /add ponds.csv  \n\n> Added ponds.csv  \n\n#### /ask Which ponds?  \n"
        f"#### The big ones.  \n\n{DONE}\n\n{_STARTED}> aider  \n"
        f"{_STARTED}#### {ASK}  \n\n{DONE}\n",
        people=("Which ponds?\nThe big ones.", ASK),
        sessions=2,
        name="history.md",
    ),
    Case(
        SourceFormat.AIDER,
        "echo",
        f"{_STARTED}#### /ask {ASK}  \n\n> Added ponds.csv  \n\n#### {ASK}  \n\n{DONE}\n\n"
        f"#### Thanks  \n\n#### Thanks  \n\n{DONE}\n",
        people=(ASK, "Thanks", "Thanks"),
        name="history.md",
    ),
    Case(
        SourceFormat.AIDER,
        "architect",
        f"{_STARTED}#### /architect  \n\n#### {ASK}  \n\n{DONE}\n\n- weir\n\n"
        f"#### {DONE}  \n####   \n#### - weir  \n\nswans.md\n```\nmill 4\n```\n",
        last=f"{DONE}\n\n- weir",
        name="history.md",
    ),
]


def _turn(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "message": {"content": list(parts)}}


def _cursor_call(subtype: str, result: dict[str, Any]) -> dict[str, Any]:
    call = {"readToolCall": {"args": {"path": "ponds.csv"}, "result": result}}
    return {"type": "tool_call", "subtype": subtype, "call_id": "c", "tool_call": call}


_QUERY = f"<open_files>x</open_files>\n<user_query>\n{ASK}\n</user_query>"
_STAMPED = f"<timestamp>Monday, 9:30</timestamp>\n<user_query>\n{ASK}\n</user_query>"
CURSOR = [
    Case(
        SourceFormat.CURSOR,
        "ordinary",
        [
            _turn("user", *parts(_QUERY)),
            _turn("assistant", {"type": "tool_use", "name": "read", "input": {"path": "p"}}),
            _turn("assistant", *parts(DONE)),
            {"type": "turn_ended", "status": "success"},
        ],
        [("read", None, False)],
    ),
    Case(
        SourceFormat.CURSOR,
        "harness",
        [
            _turn("user", *parts("<system_reminder>be brief</system_reminder>")),
            _turn("user", *parts(ASK)),
            _turn("assistant", {"type": "tool_use", "name": "read", "input": {}}),
            _turn("user", {"type": "tool_result", "tool_use_id": "x", "content": parts(CSV)}),
            _turn("assistant", *parts(DONE)),
        ],
        [READ],
    ),
    Case(
        SourceFormat.CURSOR,
        "told again",
        [
            _turn("user", *parts(_STAMPED)),
            _turn("assistant", {"type": "tool_use", "name": "read", "input": {}}),
            _turn("user", *parts("<pond_rules>\nUse `read`.\n</pond_rules>")),
            _turn("user", *parts(_STAMPED)),
            _turn("assistant", *parts("One moment.")),
            _turn("user", *parts(_STAMPED)),
            _turn("user", *parts(
                "<system_notification>\nA task has finished.\n</system_notification>\n"
                "<user_query>Briefly inform the user about the task result and perform any "
                "follow-up actions (if needed).</user_query>")),
            _turn("user", *parts("<mill>\nIs this one in the list?\n</mill>")),
            _turn("assistant", *parts(DONE)),
        ],
        [("read", None, False)],
        people=(ASK, ASK, "<mill>\nIs this one in the list?\n</mill>"),
    ),
    Case(
        SourceFormat.CURSOR,
        "said twice",
        [
            _turn("user", *parts(_QUERY)),
            *[_turn("assistant", *parts("I look."))] * 2,
            _turn("assistant", *parts(DONE), *parts(DONE)),
        ],
        last=f"{DONE}\n{DONE}",
    ),
    Case(
        SourceFormat.CURSOR,
        "side",
        [_turn("user", *parts("List the ponds")), _turn("assistant", *parts(DONE))],
        people=(),
        name="subagents/a.jsonl",
    ),
    Case(
        SourceFormat.CURSOR,
        "failed",
        [
            {"type": "system", "subtype": "init", "apiKeySource": "login", "cwd": "/quay",
             "session_id": "s", "model": "m"},
            {"type": "user", "message": said("user", *parts(ASK)), "session_id": "s"},
            {"type": "thinking", "subtype": "delta", "text": "lo"},
            {"type": "thinking", "subtype": "delta", "text": "ok"},
            _cursor_call("started", {}),
            _cursor_call("completed", {"error": {"content": GONE}}),
            {"type": "assistant", "message": said("assistant", *parts("I counted: ")),
             "timestamp_ms": 1790000000000},
            {"type": "assistant", "message": said("assistant", *parts("mill 4, weir 7.")),
             "timestamp_ms": 1790000000001},
            {"type": "assistant", "message": said("assistant", *parts(DONE))},
            {"type": "result", "subtype": "success", "result": DONE},
        ],
        [FAILED],
        last="mill 4, weir 7.",
    ),
]  # fmt: skip


def _kiro(kind: str, *content: tuple[str, Any]) -> dict[str, Any]:
    held = [{"kind": part, "data": data} for part, data in content]
    return {"version": "v1", "kind": kind, "data": {"message_id": "m", "content": held}}


def _kiro_talk(shown: str, status: str) -> list[Any]:
    answered = {"toolUseId": "c", "content": [{"kind": "text", "data": shown}], "status": status}
    return [
        _kiro("Prompt", ("text", ASK)),
        _kiro("AssistantMessage", ("thinking", {"text": "look"}), ("toolUse", {
            "toolUseId": "c", "name": "read", "input": {"operations": [{"path": "ponds.csv"}]}})),
        _kiro("ToolResults", ("toolResult", answered)),
        _kiro("AssistantMessage", ("text", DONE)),
    ]  # fmt: skip


KIRO = [
    Case(SourceFormat.KIRO, "ordinary", _kiro_talk(CSV, "success"), [READ]),
    Case(SourceFormat.KIRO, "failed", _kiro_talk(GONE, "error"), [FAILED]),
    Case(
        SourceFormat.KIRO,
        "exported",
        {"format": "kiro-session-export-v1", "metadata": {"session_id": "k", "cwd": "/quay"},
         "log_entries": _kiro_talk(CSV, "success")},
        [READ],
        name="session.json",
    ),
    Case(
        SourceFormat.KIRO,
        "compacted",
        [*_kiro_talk(CSV, "success")[:3], {"version": "v1", "kind": "Compaction",
         "data": {"summary": "Ponds were read."}}, _kiro("AssistantMessage", ("text", DONE))],
        [READ],
    ),
]  # fmt: skip


def _step(number: int, kind: str, content: str, **fields: Any) -> dict[str, Any]:
    source = {"USER_INPUT": "USER_EXPLICIT"}.get(kind, "MODEL")
    return {"step_index": number, "source": source, "type": kind, "status": "DONE",
            "created_at": "2026-03-02T09:30:00Z", "content": content, **fields}  # fmt: skip


def _request(words: str) -> str:
    return f"<USER_REQUEST>\n{words}\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\n09:30"


_READS = {"tool_calls": [{"name": "read", "args": {"AbsolutePath": "/quay/ponds.csv"}}]}
_SHOWN = "Comments on artifact URI: file:///plan.md\n\nThe user has approved this document.\n"
ANTIGRAVITY = [
    Case(
        SourceFormat.ANTIGRAVITY,
        "ordinary",
        [
            _step(1, "USER_INPUT", _request("Count the swanns.")),
            _step(2, "PLANNER_RESPONSE", "Swanns?"),
            _step(1, "USER_INPUT", _request(ASK)),
            _step(4, "VIEW_FILE", CSV),
            _step(3, "PLANNER_RESPONSE", "", thinking="look", **_READS),
            _step(5, "EPHEMERAL_MESSAGE", "<EPHEMERAL_MESSAGE>be brief</…>", source="SYSTEM"),
            _step(7, "USER_INPUT", _SHOWN + _request("")),
            _step(8, "USER_INPUT", f'{_SHOWN}\nComment: "and the geese"\n{_request("")}'),
            _step(9, "PLANNER_RESPONSE", DONE),
        ],
        [READ],
        people=(ASK, "and the geese"),
    ),
    Case(
        SourceFormat.ANTIGRAVITY,
        "failed",
        [
            _step(1, "USER_INPUT", _request(ASK)),
            _step(2, "PLANNER_RESPONSE", "", **_READS),
            _step(3, "ERROR_MESSAGE", "", error=GONE, source="SYSTEM"),
            _step(4, "PLANNER_RESPONSE", DONE),
        ],
        [FAILED],
    ),
]


CASES = [*ANTIGRAVITY, *GOOSE, *AMP, *CODEX_EXEC, *COPILOT, *KIMI, *KIRO, *QWEN, *AIDER, *CURSOR]
_EMPTY: list[tuple[SourceFormat, Any, str]] = [
    (SourceFormat.ANTIGRAVITY, [_step(1, "PLANNER_RESPONSE", "")], "log.jsonl"),
    (SourceFormat.GOOSE, [{"working_dir": "/quay", "description": "x"}], "log.jsonl"),
    (SourceFormat.AMP, {"v": 1, "id": "T-1", "messages": []}, "t.json"),
    (SourceFormat.CODEX_EXEC, _EXEC, "log.jsonl"),
    (SourceFormat.COPILOT_CLI, _BEGUN[:1], "log.jsonl"),
    (SourceFormat.KIMI, [{"type": "metadata", "protocol_version": "1.2"}], "log.jsonl"),
    (SourceFormat.KIRO, [_kiro("Prompt")], "log.jsonl"),
    (SourceFormat.QWEN, [{"type": "system", "sessionId": "q", "systemPayload": {}}], "log.jsonl"),
    (SourceFormat.AIDER, _STARTED, "history.md"),
    (SourceFormat.CURSOR, [_turn("user"), _turn("assistant")], "log.jsonl"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.format}-{case.aspect}")
def test_a_log_says_what_a_person_would_say_of_it(tmp_path: Path, case: Case) -> None:
    assert_read(tmp_path, case)


@pytest.mark.parametrize(("name", "value", "file"), _EMPTY, ids=[row[0] for row in _EMPTY])
def test_a_log_without_messages_is_named(
    tmp_path: Path, name: SourceFormat, value: Any, file: str
) -> None:
    assert_empty(tmp_path, name, value, file)
