"""Reading chat messages in OpenAI roles, in the shapes that exports give them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from construction.sessions.readers.chat import read
from data.contracts import Attachment, Origin, ReadIssue, Role, Session, ToolCall
from tests.construction.sessions.readers.written import (
    document,
    issues,
    lines,
    session,
    sessions,
    typed,
)

_CALL = {"id": "c1", "type": "function", "function": {"name": "count", "arguments": '{"of": "x"}'}}
_TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "You count."},
    {"role": "user", "content": "count x"},
    {"role": "assistant", "content": None, "tool_calls": [_CALL]},
    {"role": "tool", "tool_call_id": "c1", "name": "count", "content": "4"},
    {"role": "assistant", "content": "Four.", "finish_reason": "stop"},
]


def _assert_is_the_talk(parsed: Session) -> None:
    assert parsed.system_prompt == "You count."
    assert [(turn.role, turn.text) for turn in parsed.turns] == [
        (Role.USER, "count x"), (Role.ASSISTANT, ""), (Role.ASSISTANT, "Four.")
    ]  # fmt: skip
    (call,) = parsed.turns[1].tool_calls
    assert (call.name, call.arguments, call.result) == ("count", {"of": "x"}, "4")
    assert parsed.turns[2].stop_reason == "stop"


def test_messages_as_lines_are_one_session(tmp_path: Path) -> None:
    parsed = session(read, lines(tmp_path, _TALK, "talk.jsonl"))
    _assert_is_the_talk(parsed)
    assert parsed.session_id == "talk"
    assert [turn.line for turn in parsed.turns] == [2, 3, 5]


def test_a_document_with_messages(tmp_path: Path) -> None:
    value: dict[str, Any] = {
        "session_id": "h1",
        "platform": "telegram",
        "model": "model-h",
        "messages": _TALK,
    }
    value |= {"session_start": "2026-03-02T09:30:00Z", "model_config": {"cwd": "/depot"}}
    parsed = session(read, document(tmp_path, value))
    _assert_is_the_talk(parsed)
    assert (parsed.session_id, parsed.cwd, parsed.started_at) == ("h1", "/depot", 1772443800.0)
    assert parsed.turns[0].channel == "telegram"
    assert parsed.turns[2].model == "model-h"


def test_a_list_of_messages_is_one_session(tmp_path: Path) -> None:
    _assert_is_the_talk(session(read, document(tmp_path, _TALK)))


def test_pairs_of_sharegpt_with_calls_of_their_own_or_in_tags(tmp_path: Path) -> None:
    call = '{"name": "count", "arguments": {"of": "x"}}'
    pairs = [
        [("system", "You count."), ("human", "count x"), ("function_call", call),
         ("observation", "4"), ("gpt", "Four.")],
        [("system", "You count."), ("user", "count x"),
         ("gpt", f"<tool_call>\n{call}\n</tool_call>"),
         ("tool", "<tool_response>\n4\n</tool_response>"), ("gpt", "Four.")],
    ]  # fmt: skip
    value = [{"conversations": [{"from": f, "value": v} for f, v in talk]} for talk in pairs]
    for parsed in sessions(read, document(tmp_path, value)):
        assert typed(parsed.turns) == ["count x"]
        (called,) = parsed.turns[1].tool_calls
        assert (called.name, called.arguments, called.result) == ("count", {"of": "x"}, "4")
        assert (parsed.system_prompt, parsed.turns[-1].text) == ("You count.", "Four.")
    broken = [{"conversations": [{"from": "function_call", "value": "count x"}]}]
    (made,) = session(read, document(tmp_path, broken)).turns[0].tool_calls
    assert made.arguments == {"input": "count x"}


def test_runs_are_named_by_task_and_trial(tmp_path: Path) -> None:
    runs = [{"task_id": n, "trial": 1, "reward": 0.5, "traj": _TALK} for n in (3, 4, 4)]
    parsed = sessions(read, document(tmp_path, runs))
    assert [run.session_id for run in parsed] == [
        "task_3_trial_1", "task_4_trial_1", "task_4_trial_1"
    ]  # fmt: skip
    assert len({run.uid for run in parsed}) == 3
    assert parsed[0].extra == {"reward": 0.5}
    for run in parsed:
        _assert_is_the_talk(run)


def test_an_export_holds_a_session_a_line(tmp_path: Path) -> None:
    uses = [{"tool": "count", "input": {"of": "x"}, "output": {"n": 4}, "status": "success"}]
    messages = [
        {"role": "user", "content": "count x", "timestamp": "2026-03-02T09:30:00Z"},
        {"role": "assistant", "content": "Four.", "thinking": "hm", "tool_uses": uses},
    ]
    records = [{"session_id": name, "model": "m", "messages": messages} for name in ("d1", "d2")]
    parsed = sessions(read, lines(tmp_path, records))
    assert [one.session_id for one in parsed] == ["d1", "d2"]
    user, agent = parsed[1].turns
    assert (user.line, agent.thinking, agent.model) == (2, "hm", "m")
    assert parsed[1].started_at == 1772443800.0
    (call,) = agent.tool_calls
    assert (call.name, call.arguments, call.result) == ("count", {"of": "x"}, '{"n":4}')


def test_calls_and_results_as_records_of_their_own(tmp_path: Path) -> None:
    records = [
        {"role": "user", "message": "count x"},
        {"type": "function_call", "function": {"name": "count"}, "arguments": {"of": "x"}},
        {"type": "function_result", "name": "count", "result": "4"},
        {"type": "error", "text": "late"},
    ]
    parsed = session(read, lines(tmp_path, records))
    assert typed(parsed.turns) == ["count x"]
    assert parsed.turns[1].tool_calls == (ToolCall("count", "count", {"of": "x"}, "4", False, 2),)
    assert parsed.dropped == {"bookkeeping": 1}


def test_results_in_user_messages_are_no_user_turns(tmp_path: Path) -> None:
    records = [
        {"role": "user", "content": "count x"},
        {"role": "assistant", 
         "content": [{"type": "tool_use", "id": "t", "name": "count", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "4"}]},
        {"role": "tool", "tool_call_id": "lost", "content": "5"},
    ]  # fmt: skip
    parsed = session(read, lines(tmp_path, records))
    assert [turn.role for turn in parsed.turns] == [Role.USER, Role.ASSISTANT]
    assert parsed.turns[1].tool_calls[0].result == "4"
    assert parsed.dropped == {"result_without_call": 1}


def test_a_conversation_with_parts_that_nobody_knows_is_refused_as_a_whole(tmp_path: Path) -> None:
    said = {"role": "user", "content": [{"type": "text", "text": "count x"}]}
    shown = {"role": "user", "content": [{"type": "hologram", "data": "4"}]}
    (issue,) = issues(read, lines(tmp_path, [said, shown]))
    assert (issue.unit, issue.reason) == ("file", "file.unknown_parts")
    assert issue.actual == "parts: hologram ×1"
    held = [{"id": "a", "messages": [said]}, {"id": "b", "messages": [said, shown]}]
    kept, refused = read(lines(tmp_path, held))
    assert isinstance(kept, Session)
    assert isinstance(refused, ReadIssue)
    assert (refused.unit, refused.line) == ("record", 2)


def _part_of(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "tool_call_id": "c", **fields}


def test_parts_that_repeat_a_call_or_hold_a_tools_result_are_read(tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "count", "arguments": "{}"}}
    question = {"role": "user", "content": [{"type": "text", "text": "count x"}]}
    called = {"role": "assistant", "content": [_part_of("tool_call", name="count")]}
    result = {"role": "tool", "tool_call_id": "c", "content": [_part_of("tool_output", text="4")]}
    parsed = session(read, lines(tmp_path, [question, {**called, "tool_calls": [call]}, result]))
    assert typed(parsed.turns) == ["count x"]
    assert [(c.name, c.result) for t in parsed.turns for c in t.tool_calls] == [("count", "4")]
    (issue,) = issues(read, lines(tmp_path, [question, called, {**result, "role": "user"}]))
    assert issue.actual == "parts: tool_call ×1, tool_output ×1"


def test_results_of_tools_written_as_text_are_no_words_of_a_person(tmp_path: Path) -> None:
    records = [
        {"role": "user", "content": "count x"},
        {"role": "assistant", "content": "<function=bash>\n<parameter=command>ls</parameter>"},
        {"role": "user", "content": "OBSERVATION:\na.csv"},
    ]
    (issue,) = issues(read, lines(tmp_path, records))
    assert (issue.unit, issue.reason) == ("file", "file.unknown_parts")
    assert issue.actual == "parts: a tool's result as text ×1"
    spoken = [*records[:1], {"role": "assistant", "content": "Why?"}, records[2]]
    assert typed(session(read, lines(tmp_path, spoken)).turns) == ["count x", "OBSERVATION:\na.csv"]


def test_media_parts_are_attachments(tmp_path: Path) -> None:
    parts = [
        {"type": "text", "text": "what is it"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image_url", "image_url": "https://depot.example/a.png"},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "BBBB"}},
        {"type": "input_audio", "input_audio": {"format": "wav", "data": "CCCC"}},
        {"type": "image", "source": {"media_type": "image/gif", "data": "DDDD"}},
    ]
    parsed = session(read, lines(tmp_path, [{"role": "user", "content": parts}]))
    assert parsed.turns[0].said == "what is it"
    assert parsed.turns[0].attachments == (
        Attachment(None, "image/png", "AAAA"),
        Attachment("https://depot.example/a.png"),
        Attachment("a.pdf", None, "BBBB"),
        Attachment(None, "audio/wav", "CCCC"),
        Attachment(None, "image/gif", "DDDD"),
    )


def test_a_compaction_is_not_the_agents_answer(tmp_path: Path) -> None:
    text = "[CONTEXT COMPACTION — REFERENCE ONLY] so far"
    records = [{"role": "user", "content": "go"}, {"role": "assistant", "content": text}]
    parsed = session(read, lines(tmp_path, records))
    assert parsed.turns[1].origin is Origin.SYSTEM


def test_what_is_no_message_is_an_issue(tmp_path: Path) -> None:
    records = [
        {"role": "user", "content": "go"}, '{"role":', {"role": "oracle", "content": "private"},
        {"role": ["user"], "content": "x"}, {"role": "user", "content": "on"},
    ]  # fmt: skip
    parsed = list(read(lines(tmp_path, records)))
    named = [item for item in parsed if isinstance(item, ReadIssue)]
    assert [(issue.unit, issue.line, issue.actual) for issue in named] == [
        ("line", 2, "text, 8 bytes, not JSON"),
        ("record", 3, "an object with 2 keys, role: str"),
        ("record", 4, "an object with 2 keys, role: list"),
    ]
    read_session = parsed[-1]
    assert isinstance(read_session, Session)
    assert typed(read_session.turns) == ["go", "on"]


def test_an_item_of_a_list_that_is_no_object(tmp_path: Path) -> None:
    issue, read_session = list(read(document(tmp_path, [7, {"role": "user", "content": "go"}])))
    assert isinstance(issue, ReadIssue)
    assert issue.actual == "int"
    assert isinstance(read_session, Session)


def test_calls_and_results_of_tau_bench_in_text(tmp_path: Path) -> None:
    act = 'Action:\n{"name": "count", "arguments": {"of": "x"}}'
    said = 'Action:\n{"name": "respond", "arguments": {"content": "Four."}}'
    spoken = [
        ("system", "You count."),
        ("user", "<think>\nI want a number.\n</think>\n\ncount x"),
        ("assistant", f"<think>\nThe tool.\n</think>\n\nI look.\n{act}"),
        ("user", "API output: 4"),
        ("assistant", said),
        ("user", "API output: my own words"),
    ]
    run = {"task_id": 1, "reward": 1.0, "traj": [{"role": r, "content": c} for r, c in spoken]}
    parsed = session(read, document(tmp_path, [run]))
    assert typed(parsed.turns) == ["count x", "API output: my own words"]
    assert [(c.name, c.result) for t in parsed.turns for c in t.tool_calls] == [("count", "4")]
    answers = [turn for turn in parsed.turns if turn.role is Role.ASSISTANT]
    assert [answer.text for answer in answers] == ["I look.", "Four."]
    assert "The tool." in answers[0].thinking


def test_skills_that_a_thread_of_copilot_ran_are_calls(tmp_path: Path) -> None:
    ran = {"slug": "code-search", "status": "completed", "arguments": '{"query": "berths"}',
           "references": [{"type": "text", "text": "Not found."}], "callId": "c"}  # fmt: skip
    messages = [
        {"role": "user", "content": "Where are berths counted?", "skillExecutions": []},
        {"role": "assistant", "content": "Nowhere.", "skillExecutions": [ran]},
    ]
    parsed = session(read, document(tmp_path, {"threadUrl": "x", "messages": messages}))
    (call,) = parsed.turns[1].tool_calls
    assert (call.name, call.arguments, call.result) == (
        "code-search", {"query": "berths"}, "Not found."
    )  # fmt: skip
