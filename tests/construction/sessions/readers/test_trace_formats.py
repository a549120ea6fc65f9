"""Traces of calls to models: an invented session of each form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from construction.sessions.readers.pieces import Call, Text
from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile
from construction.sessions.readers.traces import messages_of
from data.contracts import Session, SourceFormat
from tests.construction.sessions.readers.test_framework_formats import (
    RESP_CALL,
    RESP_OUT,
    RESP_SAID,
    response_of,
)
from tests.construction.sessions.readers.written import typed
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
)


def _run(number: int, kind: str, inputs: Any, outputs: Any, **fields: Any) -> dict[str, Any]:
    own = {"id": f"r{number}", "name": "read", "run_type": kind, "trace_id": "r0"}
    parent = None if number == 0 else "r0"
    at = {"start_time": f"2026-03-02T09:30:0{number}Z"}
    return {**own, **at, "parent_run_id": parent, "inputs": inputs, "outputs": outputs, **fields}


def _lc(kind: str, **kwargs: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", kind], "kwargs": kwargs}


_HUMAN = {"type": "human", "content": ASK}
_AI_CALL = {"type": "ai", "content": "", "tool_calls": [{"id": "c", "name": "read", "args": {}}]}
_TOOL_SAID = {"type": "tool", "content": CSV, "tool_call_id": "c"}
_AI = {"type": "ai", "content": DONE}
LANGSMITH = [
    Case(
        SourceFormat.LANGSMITH,
        "ordinary",
        [
            _run(0, "chain", {"messages": [_HUMAN]},
                 {"messages": [_HUMAN, _AI_CALL, _TOOL_SAID, _AI]}),
            _run(1, "llm", {"messages": [[_lc("HumanMessage", content=ASK)]]},
                 {"generations": [[{"message": _lc("AIMessage", content="", tool_calls=[
                     {"id": "c", "name": "read", "args": {}}])}]]}),
        ],
        [READ],
    ),
    Case(
        SourceFormat.LANGSMITH,
        "failed",
        [
            _run(0, "chain", {"input": ASK}, {"output": DONE}, child_runs=[
                _run(1, "llm", {"messages": [[_lc("HumanMessage", content=ASK)]]},
                     {"generations": [[{"message": _lc("AIMessage", content="", tool_calls=[
                         {"id": "c", "name": "read", "args": {}}])}]]}),
                _run(2, "tool", {}, {"output": GONE}, error="FileNotFoundError"),
            ]),
        ],
        [FAILED],
        last=None,
    ),
    Case(
        SourceFormat.LANGSMITH,
        "side",
        [
            _run(0, "chain", {"messages": [_HUMAN]}, {"messages": [_HUMAN, _AI]}),
            _run(1, "llm", {"messages": [[["system", "You list."], ["human", "List the ponds"]]]},
                 {"generations": [[{"text": "mill"}]]}),
        ],
        sessions=2,
        last="mill",
    ),
    Case(
        SourceFormat.LANGSMITH,
        "thread",
        [
            _run(0, "chain", {"question": ASK}, {"answer": "Four."},
                 extra={"metadata": {"thread_id": "t"}}),
            {**_run(0, "chain", {"question": "And the weir?"}, {"answer": DONE},
                    extra={"metadata": {"thread_id": "t"}}), "id": "r9", "trace_id": "r9",
             "start_time": "2026-03-02T09:40:00Z"},
        ],
        people=(ASK, "And the weir?"),
    ),
    Case(
        SourceFormat.LANGSMITH,
        "batches with what came later",
        [
            {"post": [_run(0, "llm", {"messages": [{"role": "user", "content": ASK}]}, None)]},
            {"patch": [{"id": "r0", "run_type": None, "outputs": {
                "choices": [{"message": {"role": "assistant", "content": DONE}}]}}]},
        ],
    ),
    Case(
        SourceFormat.LANGSMITH,
        "the states of a thread of LangGraph",
        [
            {"values": {"messages": [_HUMAN, _AI_CALL]}, "metadata": {"thread_id": "g"}},
            {"values": {"messages": [_HUMAN, _AI_CALL, _TOOL_SAID, _AI], "title": "x"},
             "next": [], "metadata": {"thread_id": "g"}},
        ],
        [READ],
        name="thread.json",
    ),
]  # fmt: skip


def _observed(kind: str, **fields: Any) -> dict[str, Any]:
    return {"id": kind, "traceId": "t", "type": kind, "startTime": "2026-03-02T09:30:00Z", **fields}


_OPENAI_CALL = {"role": "assistant", "content": None, "tool_calls": [
    {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}]}  # fmt: skip
_OPENAI_ASK = {"role": "user", "content": ASK}
_GEMINI_ASK = {"role": "user", "parts": [{"text": ASK}]}
_GEMINI_CALL = {"name": "read", "args": {"path": "ponds.csv"}}
_CALLS_AS_TEXT = '[{"function":{"name":"read","arguments":"{}"},"id":"c","type":"function"}]'
LANGFUSE = [
    Case(
        SourceFormat.LANGFUSE,
        "ordinary",
        {"id": "t", "input": ASK, "output": DONE, "observations": [
            _observed("GENERATION", input=[{"role": "system", "content": "You."}, _OPENAI_ASK],
                      output=_OPENAI_CALL),
            _observed("GENERATION", startTime="2026-03-02T09:31:00Z",
                      input=[{"role": "system", "content": "You."}, _OPENAI_ASK, _OPENAI_CALL,
                             {"role": "tool", "tool_call_id": "c", "content": CSV}],
                      output={"role": "assistant", "content": DONE}),
        ]},
        [READ],
        name="trace.json",
    ),
    Case(
        SourceFormat.LANGFUSE,
        "failed",
        [
            _observed("GENERATION", input={"messages": [_OPENAI_ASK]}, output=_OPENAI_CALL),
            _observed("TOOL", name="read", output=GONE, level="ERROR"),
        ],
        [FAILED],
        last=None,
    ),
    Case(
        SourceFormat.LANGFUSE,
        "session",
        [
            {"id": "a", "sessionId": "s", "timestamp": "2026-03-02T09:30:00Z", "input": ASK,
             "output": "Four.", "observations": []},
            {"id": "b", "sessionId": "s", "timestamp": "2026-03-02T09:40:00Z",
             "input": {"query": "And the weir?"}, "output": {"answer": DONE}, "observations": [
                 _observed("SPAN", traceId="b")]},
        ],
        people=(ASK, "And the weir?"),
    ),
    Case(
        SourceFormat.LANGFUSE,
        "items of the Responses API",
        [
            _observed("GENERATION", input=[_OPENAI_ASK], output=response_of(1, ASK, RESP_CALL)),
            _observed("GENERATION", input=json.dumps([_OPENAI_ASK, RESP_CALL, RESP_OUT]),
                      output=json.dumps(response_of(2, ASK, RESP_SAID))),
        ],
        [READ],
    ),
    Case(
        SourceFormat.LANGFUSE,
        "calls of the AI SDK",
        [
            _observed("GENERATION", input=json.dumps({"prompt": ASK}), output=json.dumps(
                [{"toolCallId": "c", "toolName": "read", "input": '{"path": "p"}'}])),
            _observed("TOOL", name="read", output=CSV),
        ],
        [READ],
        last=None,
    ),
    Case(
        SourceFormat.LANGFUSE,
        "contents of Gemini's API",
        [
            _observed("CHAIN", input={"new_message": {"role": "user", "parts": [{"text": ASK}]}},
                      output={"content": {"role": "model", "parts": [{"text": DONE}]}}),
            _observed("GENERATION", input={"contents": [_GEMINI_ASK]}, output={"candidates": [
                {"content": {"role": "model", "parts": [{"functionCall": _GEMINI_CALL}]}}]}),
            _observed("GENERATION", startTime="2026-03-02T09:31:00Z", input={"contents": [
                _GEMINI_ASK, {"role": "model", "parts": [{"functionCall": _GEMINI_CALL}]},
                {"role": "user", "parts": [
                    {"functionResponse": {"name": "read", "response": {"result": CSV}}}]}]},
                output={"content": {"role": "model", "parts": [{"text": DONE}]}}),
        ],
        [READ],
    ),
    Case(
        SourceFormat.LANGFUSE,
        "a text in which each message begins with its role",
        [_observed("GENERATION", input=f"system: You.\nuser: {ASK}", output=DONE)],
    ),
    Case(
        SourceFormat.LANGFUSE,
        "arguments of a function",
        [_observed("GENERATION", input={"args": [ASK]}, output=DONE)],
    ),
    Case(
        SourceFormat.LANGFUSE,
        "contents as a text",
        [_observed("GENERATION", input={"model": "m", "contents": ASK}, output={"candidates": [
            {"content": {"role": "model", "parts": [{"text": DONE}]}}]})],
    ),
    Case(
        SourceFormat.LANGFUSE,
        "a tool that may be called among the messages, and calls as a text",
        [
            _observed("GENERATION", output={"role": "assistant", "content": _CALLS_AS_TEXT},
                      input=[_OPENAI_ASK, {"role": "tool", "content": {
                          "type": "function", "function": {"name": "read"}}}]),
            _observed("GENERATION", startTime="2026-03-02T09:31:00Z", input=[
                _OPENAI_ASK, {"role": "tool", "content": _CALLS_AS_TEXT},
                {"role": "tool", "content": CSV}], output={"role": "assistant", "content": DONE}),
        ],
        [READ],
    ),
    Case(
        SourceFormat.LANGFUSE,
        "calls that log what is new in them",
        [
            _observed("GENERATION", input=[_OPENAI_ASK], output=_OPENAI_CALL),
            _observed("GENERATION", startTime="2026-03-02T09:31:00Z",
                      input=[{"role": "tool", "tool_call_id": "c", "content": CSV}],
                      output={"role": "assistant", "content": DONE}),
        ],
        [READ],
    ),
    Case(
        SourceFormat.LANGFUSE,
        "instructions in a person's place, and a trace encoded twice",
        {"trace": {"id": "t", "input": json.dumps(json.dumps({"messages": [_HUMAN]})),
                   "output": json.dumps(json.dumps({"messages": [_HUMAN, _AI]}))},
         "observations": [
            _observed("GENERATION", output={"role": "assistant", "content": DONE},
                      input=[{"role": "user", "content": "Be brief."}, _OPENAI_ASK])]},
        name="trace.json",
    ),
    Case(
        SourceFormat.LANGFUSE,
        "a result in the role of its tool",
        [_observed("GENERATION", output={"role": "assistant", "content": DONE}, input=[
            _OPENAI_ASK, _OPENAI_CALL, {"role": "read", "content": CSV}])],
        [READ],
    ),
]  # fmt: skip


def _span(name: str, **attributes: Any) -> dict[str, Any]:
    return {"name": name, "context": {"trace_id": "t", "span_id": name}, "parent_id": None,
            "start_time": "2026-03-02T09:30:00Z", "attributes": attributes}  # fmt: skip


def _llm(*given: dict[str, Any], **output: Any) -> dict[str, Any]:
    held: dict[str, Any] = {"openinference.span.kind": "LLM"}
    for number, message in enumerate(given):
        for key, value in message.items():
            held[f"llm.input_messages.{number}.message.{key}"] = value
    for key, value in output.items():
        held[f"llm.output_messages.0.message.{key}"] = value
    return held


_OI_ASKED = _llm({"role": "user", "content": ASK}, role="assistant", **{
    "tool_calls.0.tool_call.function.name": "read",
    "tool_calls.0.tool_call.function.arguments": "{}",
    "tool_calls.0.tool_call.id": "c"})  # fmt: skip
OPENINFERENCE = [
    Case(
        SourceFormat.OPENINFERENCE,
        "ordinary",
        [
            _span("one", **_OI_ASKED),
            _span("two", **{**_OI_ASKED, "llm.input_messages.1.message.role": "assistant",
                            "llm.input_messages.2.message.role": "tool",
                            "llm.input_messages.2.message.content": CSV,
                            "llm.input_messages.2.message.tool_call_id": "c",
                            "llm.output_messages.0.message.content": DONE}),
        ],
        [READ],
    ),
    Case(
        SourceFormat.OPENINFERENCE,
        "failed",
        [
            _span("one", **_OI_ASKED),
            {**_span("read", **{"openinference.span.kind": "TOOL", "tool.name": "read",
                                "output.value": GONE}), "status_code": "ERROR"},
        ],
        [FAILED],
        last=None,
    ),
    Case(
        SourceFormat.OPENINFERENCE,
        "columns",
        [{"context.trace_id": "t", "start_time": "2026-03-02T09:30:00Z", "parent_id": None,
          "attributes.openinference.span.kind": "AGENT", "attributes.input.value": ASK,
          "attributes.output.value": DONE}],
    ),
    Case(
        SourceFormat.OPENINFERENCE,
        "an agent's turn whose model also saw the turn before",
        [
            _span("turn", **{"openinference.span.kind": "AGENT", "input.value": "And the weir?",
                             "output.value": DONE}),
            {**_span("llm", **_llm(
                {"role": "user", "content": ASK}, {"role": "assistant", "content": "Four."},
                {"role": "user", "content": "And the weir?"}, role="assistant", content=DONE,
            )), "parent_id": "turn"},
        ],
        people=(ASK, "And the weir?"),
    ),
]  # fmt: skip


def _otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def _otlp_span(number: int, events: Sequence[Any] = (), **attributes: Any) -> dict[str, Any]:
    listed = [{"key": k, "value": {"stringValue": v}} for k, v in attributes.items()]
    return {
        "traceId": "t",
        "spanId": str(number),
        "name": "chat m",
        "attributes": listed,
        "startTimeUnixNano": str(1790000000000000000 + number),
        "events": list(events),
    }


_GENAI = [{"role": "user", "parts": [{"type": "text", "content": ASK}]}]
_GENAI_CALL = [{"role": "assistant", "parts": [
    {"type": "tool_call", "id": "c", "name": "read", "arguments": {}}]}]  # fmt: skip
_GENAI_OUT = [{"role": "tool", "parts": [
    {"type": "tool_call_response", "id": "c", "response": CSV}]}]  # fmt: skip
_GENAI_SAID = [{"role": "assistant", "parts": [{"type": "text", "content": DONE}]}]
OTEL = [
    Case(
        SourceFormat.OTEL_GENAI,
        "ordinary",
        _otlp(
            _otlp_span(1, **{"gen_ai.operation.name": "chat",
                             "gen_ai.input.messages": json.dumps(_GENAI),
                             "gen_ai.output.messages": json.dumps(_GENAI_CALL)}),
            _otlp_span(2, **{"gen_ai.operation.name": "chat",
                             "gen_ai.input.messages": json.dumps(_GENAI + _GENAI_CALL + _GENAI_OUT),
                             "gen_ai.output.messages": json.dumps(_GENAI_SAID)}),
        ),
        [READ],
        name="traces.json",
    ),
    Case(
        SourceFormat.OTEL_GENAI,
        "failed",
        _otlp(
            _otlp_span(1, **{"gen_ai.input.messages": json.dumps(_GENAI),
                             "gen_ai.output.messages": json.dumps(_GENAI_CALL)}),
            {**_otlp_span(2, **{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read",
                                "gen_ai.tool.call.result": GONE}), "status": {"code": 2}},
        ),
        [FAILED],
        last=None,
        name="traces.json",
    ),
    Case(
        SourceFormat.OTEL_GENAI,
        "events",
        [_otlp(_otlp_span(1, [
            {"name": "gen_ai.system.message", "attributes": [
                {"key": "content", "value": {"stringValue": "You are."}}]},
            {"name": "gen_ai.user.message", "attributes": [
                {"key": "content", "value": {"stringValue": ASK}}]},
            {"name": "gen_ai.choice", "attributes": [
                {"key": "message", "value": {"stringValue": DONE}}]},
        ], **{"gen_ai.system": "openai"}))],
    ),
    Case(
        SourceFormat.OTEL_GENAI,
        "numbered",
        [_span("chat", **{"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": ASK,
                          "gen_ai.completion.0.content": DONE})],
    ),
    Case(
        SourceFormat.OTEL_GENAI,
        "side",
        _otlp(
            _otlp_span(1, **{"gen_ai.input.messages": json.dumps(_GENAI),
                             "gen_ai.output.messages": json.dumps(_GENAI_SAID)}),
            _otlp_span(2, **{"gen_ai.input.messages": json.dumps(
                [{"role": "user", "parts": [{"type": "text", "content": "List"}]}]),
                "gen_ai.output.messages": json.dumps(_GENAI_SAID)}),
        ),
        sessions=2,
        name="traces.json",
    ),
]  # fmt: skip

CASES = [*LANGSMITH, *LANGFUSE, *OPENINFERENCE, *OTEL]
_EMPTY: list[tuple[SourceFormat, Any, str]] = [
    (SourceFormat.LANGSMITH, [_run(0, "chain", {}, {})], "log.jsonl"),
    (SourceFormat.LANGFUSE, [_observed("SPAN")], "log.jsonl"),
    (SourceFormat.OPENINFERENCE, [_span("x", **{"openinference.span.kind": "LLM"})], "log.jsonl"),
    (SourceFormat.OTEL_GENAI, [_span("x", **{"gen_ai.system": "openai"})], "log.jsonl"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.format}-{case.aspect}")
def test_a_log_says_what_a_person_would_say_of_it(tmp_path: Path, case: Case) -> None:
    assert_read(tmp_path, case)


@pytest.mark.parametrize(("name", "value", "file"), _EMPTY, ids=[row[0] for row in _EMPTY])
def test_a_log_without_messages_is_named(
    tmp_path: Path, name: SourceFormat, value: Any, file: str
) -> None:
    assert_empty(tmp_path, name, value, file)


def test_messages_of_a_span_without_role_or_kind_are_none() -> None:
    odd: list[object] = [{"data": {"content": "x"}}, {"message": {}}, ["a"], 4, None]
    assert messages_of(odd) == []
    (message,) = messages_of([{"role": "assistant", "content": [{"toolUse": {"toolUseId": "c",
                           "name": "read", "input": {}}}, {"text": DONE}]}])  # fmt: skip
    assert message.parts == [Call("c", "read", {}), Text(DONE)]


def _input_message(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"type": "text", "content": text}]}


def test_documents_one_after_the_other_whose_spans_hold_what_is_new(tmp_path: Path) -> None:
    """A span's input ends with the results of its own calls; one agent works below another."""

    def call(own: str) -> dict[str, Any]:
        return {"role": "assistant", "parts": [
            {"type": "tool_call", "id": own, "name": "read", "arguments": {}}]}  # fmt: skip

    def result(own: str) -> dict[str, Any]:
        part = {"type": "tool_call_response", "id": own, "response": CSV}
        return {"role": "tool", "parts": [part]}

    def span(
        number: int, parent: str, given: list[Any], made: list[Any], name: str = "chat"
    ) -> Any:
        held = {"gen_ai.operation.name": name, "gen_ai.conversation.id": "s",
                "gen_ai.input.messages": json.dumps(given),
                "gen_ai.output.messages": json.dumps(made)}  # fmt: skip
        return {**_otlp_span(number, **held), "parentSpanId": parent}

    end = {"role": "assistant", "parts": [{"type": "text", "content": DONE}]}
    notice = _input_message("<system_notification>\nAn agent has finished.\n</system_notification>")
    spans = [
        span(1, "", [_input_message(ASK), notice], [end], "invoke_agent"),
        span(2, "1", [_input_message(ASK), result("a")], [call("a")]),
        span(3, "1", [result("b")], [call("b")], "invoke_agent"),
        span(4, "3", [result("b")], [call("b")]),
        span(5, "1", [notice, result("c")], [call("c")]),
        span(6, "1", [], [end]),
    ]
    path = tmp_path / "raw.jsonl"
    resource: dict[str, Any] = {"resource": {"attributes": []}}
    held = [{**resource, "scopeSpans": [{"spans": [one]}]} for one in spans]
    path.write_text("\n".join(json.dumps(one, indent=2) for one in held))
    main, side = read_source(SourceFile(path, path.name))
    assert isinstance(main, Session)
    assert isinstance(side, Session)
    assert (main.source_format, side.parent_session_id) == (SourceFormat.OTEL_GENAI, "s")
    assert typed(main.turns) == [ASK]
    calls = [[(c.call_id, c.result) for t in s.turns for c in t.tool_calls] for s in (main, side)]
    assert calls == [[("a", CSV), ("c", CSV)], [("b", CSV)]]
    assert [turn.text for turn in main.turns][-1] == DONE
