"""Frameworks and runners: an invented session of each."""

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
)


def _adk(author: str, *parts: Any, **fields: Any) -> dict[str, Any]:
    role = "user" if author == "user" else "model"
    return {"author": author, "invocation_id": "i", "content": {"role": role, "parts": list(parts)},
            **fields}  # fmt: skip


def _adk_session(response: dict[str, Any]) -> dict[str, Any]:
    call = {"function_call": {"id": "c", "name": "read", "args": {"path": "p"}}}
    answered = {"function_response": {"id": "c", "name": "read", "response": response}}
    events = [
        _adk("user", {"text": ASK}),
        _adk("root", call),
        _adk("root", answered),
        _adk("root", {"text": "I cou"}, partial=True),
        _adk("root", {"text": "look", "thought": True}, {"text": DONE}),
    ]
    return {"id": "s", "app_name": "ponds", "user_id": "u", "events": events}


_CAMEL = {
    "evalSetId": "e",
    "evalCases": [{
        "evalId": "one",
        "conversation": [{
            "userContent": {"parts": [{"text": ASK}]},
            "intermediateData": {"toolUses": [{"name": "read", "args": {}}]},
            "finalResponse": {"parts": [{"text": DONE}]},
        }],
    }],
}  # fmt: skip
ADK = [
    Case(SourceFormat.ADK, "ordinary", _adk_session({"result": CSV}), [READ], name="s.json"),
    Case(SourceFormat.ADK, "failed", _adk_session({"error": GONE}), [FAILED], name="s.json"),
    Case(SourceFormat.ADK, "evaluation", _CAMEL, [("read", None, False)], name="e.json"),
]


def _vercel(**tool: Any) -> list[Any]:
    called = {"type": "tool-read", "toolCallId": "c", "input": {"path": "p"}, **tool}
    return [
        {"id": "1", "role": "user", "parts": parts(ASK)},
        {"id": "2", "role": "assistant", "parts": [{"type": "step-start"}, called, *parts(DONE)]},
    ]


VERCEL = [
    Case(
        SourceFormat.VERCEL_AI,
        "ordinary",
        _vercel(state="output-available", output=CSV),
        [READ],
        name="ui.json",
    ),
    Case(
        SourceFormat.VERCEL_AI,
        "failed",
        _vercel(state="output-error", errorText=GONE),
        [FAILED],
        name="ui.json",
    ),
    Case(
        SourceFormat.VERCEL_AI,
        "harness",
        {"id": "chat", "messages": [
            {"role": "system", "content": "You are."},
            {"role": "user", "content": ASK},
            {"role": "assistant", "content": [
                {"type": "tool-call", "toolCallId": "c", "toolName": "read", "input": {}}]},
            {"role": "tool", "content": [
                {"type": "tool-result", "toolCallId": "c", "toolName": "read",
                 "output": {"type": "error-text", "value": GONE}}]},
            {"role": "assistant", "content": parts(DONE)},
        ]},
        [FAILED],
        name="model.json",
    ),
    Case(
        SourceFormat.VERCEL_AI,
        "version 4",
        [
            {"id": "1", "role": "user", "content": ASK},
            {"id": "2", "role": "assistant", "content": DONE, "toolInvocations": [
                {"state": "result", "toolCallId": "c", "toolName": "read", "args": {},
                 "result": CSV}]},
        ],
        [READ],
        name="ui4.json",
    ),
]  # fmt: skip


def response_of(number: int, given: Any, *output: Any, **fields: Any) -> dict[str, Any]:
    own = {"id": f"resp_{number}", "object": "response", "model": "m", "input": given}
    return {**own, "output": list(output), **fields}


RESP_CALL = {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}
RESP_OUT = {"type": "function_call_output", "call_id": "c", "output": CSV}
RESP_SAID = {"type": "message", "role": "assistant", "content": parts(DONE, "output_text")}
RESPONSES = [
    Case(
        SourceFormat.OPENAI_RESPONSES,
        "ordinary",
        [
            response_of(1, ASK, {"type": "reasoning", "summary": []}, RESP_CALL),
            response_of(2, [{"role": "user", "content": ASK}, RESP_CALL, RESP_OUT], RESP_SAID),
        ],
        [READ],
    ),
    Case(
        SourceFormat.OPENAI_RESPONSES,
        "chained",
        [
            response_of(1, ASK, RESP_CALL),
            response_of(2, [RESP_OUT], RESP_SAID, previous_response_id="resp_1"),
            response_of(3, "And the geese?", RESP_SAID, previous_response_id="resp_2"),
            response_of(4, "Another matter", RESP_SAID),
        ],
        [READ],
        people=(ASK, "And the geese?", "Another matter"),
        sessions=2,
    ),
    Case(
        SourceFormat.OPENAI_RESPONSES,
        "failed",
        [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": ASK},
         RESP_CALL, {**RESP_OUT, "output": GONE, "status": "incomplete"}, RESP_SAID],
        [FAILED],
        name="items.json",
    ),
]  # fmt: skip


def _sample(*messages: Any, **fields: Any) -> dict[str, Any]:
    sample = {"id": 1, "epoch": 1, "input": ASK, "messages": list(messages), **fields}
    return {"version": 2, "eval": {"task": "swans"}, "plan": {}, "samples": [sample]}


_INSPECT_CALL = {"role": "assistant", "content": "", "tool_calls": [
    {"id": "c", "function": "read", "arguments": {"path": "p"}}]}  # fmt: skip
_INSPECT_ASK = {"role": "user", "content": ASK, "source": "input"}
INSPECT = [
    Case(
        SourceFormat.INSPECT,
        "ordinary",
        _sample(
            {"role": "system", "content": "You are."},
            _INSPECT_ASK,
            _INSPECT_CALL,
            {"role": "tool", "tool_call_id": "c", "content": "attachment://h"},
            {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "so"},
                                              *parts(DONE)]},
            attachments={"h": CSV},
        ),
        [READ],
        name="log.json",
    ),
    Case(
        SourceFormat.INSPECT,
        "failed",
        _sample(
            _INSPECT_ASK,
            _INSPECT_CALL,
            {"role": "tool", "tool_call_id": "c", "content": "", "error": {"message": GONE}},
            {"role": "assistant", "content": DONE},
        ),
        [FAILED],
        name="log.json",
    ),
    Case(
        SourceFormat.INSPECT,
        "harness",
        _sample(
            _INSPECT_ASK,
            {"role": "assistant", "content": "Hm."},
            {"role": "user", "content": "Please proceed to the next step."},
            {"role": "assistant", "content": DONE},
        ),
        name="log.json",
    ),
    Case(
        SourceFormat.INSPECT,
        "answers in events alone",
        _sample(
            _INSPECT_ASK,
            events=[{"event": "state"}, *(
                {"event": "model", "output": {"choices": [{"message": answer}]}}
                for answer in (_INSPECT_CALL, {"role": "assistant", "content": "attachment://d"})
            )],
            attachments={"d": DONE},
        ),
        [("read", None, False)],
        name="log.json",
    ),
]  # fmt: skip


def _tau2(*messages: Any) -> dict[str, Any]:
    run = {"id": "sim", "task_id": "0", "trial": 0, "messages": list(messages)}
    return {"info": {}, "tasks": [{"id": "0"}], "simulations": [run]}


def _tau2_call(requestor: str, **result: Any) -> list[Any]:
    call = {"id": "c", "name": "read", "arguments": {}, "requestor": requestor}
    role = {"user": "user"}.get(requestor, "assistant")
    answered = {"id": "c", "role": "tool", "requestor": requestor, **result}
    return [{"role": role, "content": None, "tool_calls": [call]}, answered]


_GREETED = [{"role": "assistant", "content": "Hello."}, {"role": "user", "content": ASK}]
TAU2 = [
    Case(
        SourceFormat.TAU2,
        "ordinary",
        _tau2(
            *_GREETED,
            *_tau2_call("assistant", content=CSV, error=False),
            {"role": "assistant", "content": DONE},
            {"role": "user", "content": "###STOP###"},
        ),
        [READ],
        name="results.json",
    ),
    Case(
        SourceFormat.TAU2,
        "failed",
        _tau2(
            *_GREETED,
            *_tau2_call("assistant", content=GONE, error=True),
            {"role": "assistant", "content": DONE},
        ),
        [FAILED],
        name="results.json",
    ),
    Case(
        SourceFormat.TAU2,
        "side",
        _tau2(*_GREETED, *_tau2_call("user", content=CSV), {"role": "assistant", "content": DONE}),
        name="results.json",
    ),
]


def _mini(*messages: tuple[str, str], **extra: Any) -> dict[str, Any]:
    listed = [{"role": role, "content": text} for role, text in messages]
    return {"trajectory_format": "mini-swe-agent-1.1", "info": {}, "messages": listed, **extra}


def _shown(code: int, text: str) -> tuple[str, str]:
    return "user", f"<returncode>{code}</returncode>\n<output>\n{text}\n</output>"


_LOOK = ("assistant", "THOUGHT: look\n```bash\ncat ponds.csv\n```")
MINI = [
    Case(
        SourceFormat.MINI_SWE_AGENT,
        "ordinary",
        _mini(("system", "A shell."), ("user", ASK), _LOOK, _shown(0, CSV.strip())),
        [("bash", CSV.strip(), False)],
        last="THOUGHT: look",
    ),
    Case(
        SourceFormat.MINI_SWE_AGENT,
        "too long",
        _mini(("user", ASK), _LOOK, ("user", "<returncode>0</returncode>\n<warning>\nToo long.\n"
              "</warning><output_head>\npond\n</output_head>\n<elided_chars>\n9 characters "
              "elided\n</elided_chars>\n<output_tail>\nweir\n</output_tail>")),
        [("bash", "pond\n<elided_chars>\n9 characters elided\n</elided_chars>\nweir", False)],
        last="THOUGHT: look",
    ),
    Case(
        SourceFormat.MINI_SWE_AGENT,
        "failed",
        _mini(("user", ASK), _LOOK, _shown(1, GONE), ("assistant", DONE)),
        [("bash", GONE, True)],
    ),
    Case(
        SourceFormat.MINI_SWE_AGENT,
        "harness",
        _mini(
            ("user", f"<pr_description>\nConsider the following PR description:\n{ASK}\n"
             "</pr_description>\n<instructions>…</instructions>"),
            ("assistant", "I would read it."),
            ("user", "Please always provide EXACTLY ONE action."),
            _LOOK,
            _shown(0, CSV.strip()),
            ("exit", "done"),
        ),
        [("bash", CSV.strip(), False)],
        last="THOUGHT: look",
    ),
    Case(
        SourceFormat.MINI_SWE_AGENT,
        "typed",
        _mini(
            ("user", ASK),
            _LOOK,
            ("user", "Command not executed. The user rejected your command with the following "
             "message: only the mill"),
            _LOOK,
            _shown(0, CSV.strip()),
            _LOOK,
            ("user", "Interrupted by user: Temporary interruption caught."),
            ("assistant", DONE),
            ("user", "The user added a new task: Now the weir"),
            ("assistant", DONE),
        ),
        [("bash", None, False), ("bash", CSV.strip(), False), ("bash", None, False)],
        people=(ASK, "only the mill", "Now the weir"),
    ),
    Case(
        SourceFormat.MINI_SWE_AGENT,
        "tool calls",
        {
            "info": {"mini_version": "2.2"},
            "messages": [
                {"role": "user", "content": ASK},
                {"role": "assistant", "content": "", "tool_calls": [
                    {"id": "c", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}]},
                {"role": "tool", "tool_call_id": "c", "content": "…", "extra": {
                    "raw_output": GONE, "returncode": 2}},
                {"role": "assistant", "content": DONE},
            ],
        },
        [("bash", GONE, True)],
    ),
]  # fmt: skip


def _team(thread: list[Any], *context: Any) -> dict[str, Any]:
    agent = {"agent_state": {"type": "AssistantAgentState", "llm_context": {"messages": context}}}
    return {"type": "TeamState", "agent_states": {
        "counter/1": agent, "Manager/1": {"message_thread": thread}}}  # fmt: skip


def _spoken(source: str, content: Any, kind: str = "TextMessage") -> dict[str, Any]:
    return {"source": source, "content": content, "type": kind}


_MADE = [{"id": "c", "name": "read", "arguments": '{"path": "ponds.csv"}'}]
_GOT = [{"call_id": "c", "name": "read", "content": CSV, "is_error": False}]
_LOST = [{"call_id": "c", "name": "read", "content": GONE, "is_error": True}]
_THREAD = [_spoken("user", ASK), _spoken("counter", DONE)]
_CONTEXT = [
    _spoken("user", ASK, "UserMessage"),
    _spoken("counter", _MADE, "AssistantMessage"),
    {"content": _GOT, "type": "FunctionExecutionResultMessage"},
    _spoken("counter", DONE, "AssistantMessage"),
]
AUTOGEN = [
    Case(SourceFormat.AUTOGEN, "ordinary", _team(_THREAD, *_CONTEXT), [READ], name="s.json"),
    Case(
        SourceFormat.AUTOGEN,
        "events",
        _team([
            _THREAD[0],
            _spoken("counter", _MADE, "ToolCallRequestEvent"),
            _spoken("counter", _LOST, "ToolCallExecutionEvent"),
            _spoken("counter", GONE, "ToolCallSummaryMessage"),
            _spoken("counter", "look again", "ThoughtEvent"),
            _THREAD[1],
        ], *_CONTEXT),
        [FAILED],
        name="s.json",
    ),
    Case(
        SourceFormat.AUTOGEN,
        "alone",
        {"type": "AssistantAgentState", "llm_context": {"messages": [
            {"content": "You count.", "type": "SystemMessage"}, *_CONTEXT]}},
        [READ],
        name="s.json",
    ),
]  # fmt: skip


def _trae(result: str, *, success: bool, **left_out: Any) -> dict[str, Any]:
    call = {"call_id": "c", "name": "read", "arguments": {"path": "ponds.csv"}}
    shown = {"call_id": "c", "success": success, "result": result if success else None,
             "error": None if success else result}  # fmt: skip
    first = [
        {"role": "system", "content": "You count."},
        {"role": "user", "content": f"[Task] {ASK}"},
    ]
    answers: list[dict[str, Any]] = [{"content": "", "tool_calls": [call]}, {"content": DONE}]
    back = [{"role": "user", "content": None, "tool_result": shown}]
    return {
        "task": ASK,
        "start_time": "2026-03-02T09:30:00",
        "llm_interactions": [
            {"input_messages": sent, "response": answer}
            for sent, answer in zip((first, back), answers, strict=True)
        ],
        "agent_steps": [
            {"step_number": 1, "llm_response": answers[0], "tool_calls": [call],
             "tool_results": [shown], "error": None},
            {"step_number": 2, "llm_response": answers[1], "error": None},
        ],
        **left_out,
    }  # fmt: skip


TRAE = [
    Case(SourceFormat.TRAE, "ordinary", _trae(CSV, success=True), [READ], name="t.json"),
    Case(SourceFormat.TRAE, "failed", _trae(GONE, success=False), [FAILED], name="t.json"),
    Case(
        SourceFormat.TRAE,
        "steps",
        _trae(CSV, success=True, llm_interactions=[]),
        [READ],
        name="t.json",
    ),
]


def _droid(role: str, *content: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "message", "id": "m", "message": {"role": role, "content": content, **fields}}


_REMINDED = parts("<system-reminder>\nThe folder holds ponds.csv.\n</system-reminder>")[0]
_STREAMED = {"session_id": "d", "timestamp": 1790000000000}
DROID = [
    Case(
        SourceFormat.DROID,
        "ordinary",
        [
            {"type": "session_start", "id": "d", "title": "x", "cwd": "/quay"},
            _droid("user", _REMINDED, *parts(ASK)),
            _droid("assistant", {"type": "tool_use", "id": "c", "name": "read", "input": {}}),
            _droid("user", {"type": "tool_result", "tool_use_id": "c", "content": CSV}),
            {"type": "todo_state", "todos": {}},
            _droid("assistant", *parts(DONE)),
            _droid("user", *parts("Token limit reached."), visibility="user_only"),
        ],
        [READ],
    ),
    Case(
        SourceFormat.DROID,
        "stream",
        [
            {"type": "system", "subtype": "init", "model": "m", "tools": [], **_STREAMED},
            {"type": "message", "role": "user", "id": "1", "text": ASK, **_STREAMED},
            {"type": "tool_call", "id": "c", "messageId": "2", "toolName": "read",
             "parameters": {}, **_STREAMED},
            {"type": "tool_result", "id": "c", "messageId": "3", "isError": True, "value": GONE,
             **_STREAMED},
            {"type": "message", "role": "assistant", "id": "4", "text": DONE, **_STREAMED},
            {"type": "completion", "finalText": DONE, **_STREAMED},
        ],
        [FAILED],
    ),
]  # fmt: skip


CASES = [*AUTOGEN, *DROID, *TRAE, *ADK, *VERCEL, *RESPONSES, *INSPECT, *TAU2, *MINI]
_EMPTY: list[tuple[SourceFormat, Any, str]] = [
    (SourceFormat.AUTOGEN, _team([]), "s.json"),
    (SourceFormat.ADK, {"id": "s", "app_name": "a", "events": []}, "s.json"),
    (SourceFormat.DROID, [{"type": "session_start", "id": "d"}], "log.jsonl"),
    (SourceFormat.TRAE, {"task": "", "agent_steps": [], "llm_interactions": []}, "t.json"),
    (SourceFormat.VERCEL_AI, [{"id": "1", "role": "user", "parts": parts("")}], "ui.json"),
    (SourceFormat.OPENAI_RESPONSES, [response_of(1, [])], "log.jsonl"),
    (SourceFormat.INSPECT, {"eval": {}, "plan": {}, "samples": []}, "l.json"),
    (SourceFormat.TAU2, {"info": {}, "simulations": []}, "r.json"),
    (SourceFormat.MINI_SWE_AGENT, {"trajectory_format": "mini-swe-agent-1"}, "t.json"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.format}-{case.aspect}")
def test_a_log_says_what_a_person_would_say_of_it(tmp_path: Path, case: Case) -> None:
    assert_read(tmp_path, case)


@pytest.mark.parametrize(("name", "value", "file"), _EMPTY, ids=[row[0] for row in _EMPTY])
def test_a_log_without_messages_is_named(
    tmp_path: Path, name: SourceFormat, value: Any, file: str
) -> None:
    assert_empty(tmp_path, name, value, file)
