"""Reading Codex rollouts: events and items once, injected context apart, calls with results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from construction.sessions.readers.codex import read
from construction.sessions.readers.source import SourceFile
from data.contracts import Attachment, Origin, Role, Session, SourceFormat, ToolCall
from tests.construction.sessions.readers.written import document, issues, lines, session, typed

_AT = "2025-06-15T15:06:40.000Z"
_START = 1_750_000_000


def _row(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": _AT, "type": kind, "payload": payload}


def _meta(**more: Any) -> dict[str, Any]:
    fields = {"id": "r1", "timestamp": _AT, "cwd": "/work/books", "cli_version": "0.77.0"}
    return _row("session_meta", **{**fields, **more})


def _user(*texts: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text} for text in texts]
    return _row("response_item", type="message", role="user", content=content, **more)


def _agent(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text}]
    return _row("response_item", type="message", role="assistant", content=content)


def _said(text: str, **more: Any) -> dict[str, Any]:
    return _row("event_msg", type="user_message", message=text, **more)


def _call(id_: str, command: str) -> dict[str, Any]:
    arguments = json.dumps({"command": command})
    return _row(
        "response_item", type="function_call", name="shell", arguments=arguments, call_id=id_
    )


def _output(id_: str, output: Any) -> dict[str, Any]:
    return _row("response_item", type="function_call_output", call_id=id_, output=output)


def _thought(text: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text}]
    return _row("response_item", type="reasoning", summary=summary, encrypted_content="gAAA")


def test_the_session_and_its_turns(tmp_path: Path) -> None:
    source = lines(
        tmp_path,
        [
            _meta(base_instructions={"text": "You are careful."}),
            _row("turn_context", cwd="/work/books", model="model-x"),
            _user("Sum the invoices"),
            _said("Sum the invoices"),
            _row("event_msg", type="agent_reasoning", text="Listing"),
            _thought("Listing"),
            _call("c1", "ls"),
            _output("c1", json.dumps({"output": "a.csv\n", "metadata": {"exit_code": 0}})),
            _row("event_msg", type="token_count", info=None),
            _call("c2", "cat a.csv"),
            _output("c2", "Exit code: 1\nWall time: 0 seconds\nOutput:\nno such file"),
            _agent("There is no such file."),
            _row("event_msg", type="agent_message", message="There is no such file."),
        ],
    )
    parsed = session(read, source)
    assert (parsed.session_id, parsed.cwd, parsed.agent_version) == ("r1", "/work/books", "0.77.0")
    assert parsed.source_format is SourceFormat.CODEX
    assert (parsed.system_prompt, parsed.started_at) == ("You are careful.", _START)
    request, listed, opened, closed = parsed.turns
    assert (request.said, request.origin, request.line) == ("Sum the invoices", Origin.HUMAN, 3)
    assert (listed.thinking, listed.model, listed.line) == ("Listing", "model-x", 6)
    assert listed.tool_calls == (ToolCall("c1", "shell", {"command": "ls"}, "a.csv\n", line=7),)
    assert opened.tool_calls[0].is_error
    assert (closed.role, closed.text) == (Role.ASSISTANT, "There is no such file.")
    assert parsed.dropped == {"bookkeeping": 2, "duplicate_event": 3}


def test_parallel_calls_belong_to_one_turn(tmp_path: Path) -> None:
    rows = [_meta(), _call("a", "1"), _call("b", "2"), _output("b", "two"), _output("a", "one")]
    (turn,) = session(read, lines(tmp_path, rows)).turns
    assert [(call.call_id, call.result) for call in turn.tool_calls] == [("a", "one"), ("b", "two")]


def test_a_text_said_twice_is_two_turns_and_four_records(tmp_path: Path) -> None:
    rows = [_meta(), _said("go on"), _user("go on"), _agent("ok"), _user("go on"), _said("go on")]
    parsed = session(read, lines(tmp_path, rows))
    assert [turn.text for turn in parsed.turns] == ["go on", "ok", "go on"]
    assert parsed.dropped == {"duplicate_event": 2}


def test_an_event_more_than_items_is_a_turn_of_its_own(tmp_path: Path) -> None:
    rows = [_meta(), _user("go on"), _said("go on"), _agent("ok"), _said("go on")]
    parsed = session(read, lines(tmp_path, rows))
    assert len(typed(parsed.turns)) == 2
    assert parsed.dropped == {"duplicate_event": 1}


def test_an_event_ends_the_answer_before_it(tmp_path: Path) -> None:
    rows = [_meta(), _call("a", "1"), _said("faster"), _call("b", "2")]
    turns = session(read, lines(tmp_path, rows)).turns
    assert [turn.role for turn in turns] == [Role.ASSISTANT, Role.USER, Role.ASSISTANT]


def test_messages_of_the_agent_in_a_row_are_turns_of_their_own(tmp_path: Path) -> None:
    rows = [_meta(), _agent("Working on it."), _agent("Done.")]
    turns = session(read, lines(tmp_path, rows)).turns
    assert [turn.text for turn in turns] == ["Working on it.", "Done."]


def test_a_text_that_is_only_an_event_is_a_turn_at_its_place(tmp_path: Path) -> None:
    rows = [
        _meta(),
        _user("first"),
        _call("a", "1"),
        _output("a", "one"),
        _said("second"),
        _agent("done"),
        _row("event_msg", type="agent_message", message="bye"),
    ]
    turns = session(read, lines(tmp_path, rows)).turns
    assert [turn.text for turn in turns] == ["first", "", "second", "done", "bye"]
    assert [turn.index for turn in turns] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n<cwd>/work</cwd>\n</environment_context>",
        "<user_instructions>be brief</user_instructions>",
        "# AGENTS.md instructions for /work\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
        "<user_shell_command>\n<command>ls</command>\n</user_shell_command>",
        "<turn_aborted>\nThe user interrupted.\n</turn_aborted>",
        "<skill>\n<name>letters</name>\n</skill>",
    ],
)
def test_injected_context_is_of_system_origin(tmp_path: Path, text: str) -> None:
    (turn,) = session(read, lines(tmp_path, [_meta(), _user(text)])).turns
    assert turn.origin is Origin.SYSTEM
    assert turn.text == text


def test_context_in_the_same_message_is_taken_off_the_request(tmp_path: Path) -> None:
    context = "<environment_context><cwd>/work</cwd></environment_context>"
    (turn,) = session(read, lines(tmp_path, [_meta(), _user(context, "Write a letter")])).turns
    assert (turn.said, turn.text) == ("Write a letter", f"{context}\nWrite a letter")


def test_an_editors_context_is_taken_off_and_its_files_are_attachments(tmp_path: Path) -> None:
    text = (
        "# Context from my IDE setup:\n\n## Active file: notes.md\n\n"
        "# Files mentioned by the user:\n\n"
        "## invoices.xlsx: /home/kim/invoices.xlsx\n## b.png: C:\\scans\\b.png\n\n"
        "## My request for Codex:\nSum the invoices\n"
    )
    (turn,) = session(read, lines(tmp_path, [_meta(), _user(text), _said(text)])).turns
    assert turn.said == "Sum the invoices"
    assert turn.attachments == (
        Attachment("/home/kim/invoices.xlsx"),
        Attachment("C:\\scans\\b.png"),
    )


def test_pictures_are_inline_or_paths(tmp_path: Path) -> None:
    picture = {"type": "input_image", "image_url": "data:image/png;base64,QUJD"}
    tagged = [{"type": "input_text", "text": "<image name=[Image #1]>"}, picture]
    ask = {"type": "input_text", "text": "What is this?"}
    item = _row("response_item", type="message", role="user", content=[*tagged, ask])
    rows = [
        _meta(),
        item,
        _said("What is this?", local_images=["/tmp/shot.png"]),
        _user("And this?"),
        _said("And this?", local_images=["/tmp/b.png"], images=[]),
    ]
    first, second = session(read, lines(tmp_path, rows)).turns
    assert (first.said, first.attachments) == (
        "What is this?",
        (Attachment(None, "image/png", "QUJD"),),
    )
    assert second.attachments == (Attachment("/tmp/b.png"),)


def test_calls_of_other_kinds(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** End Patch"
    shell = {"type": "exec", "command": ["ls"]}
    rows = [
        _meta(),
        _row(
            "response_item", type="custom_tool_call", name="apply_patch", call_id="p", input=patch
        ),
        _row(
            "response_item",
            type="custom_tool_call_output",
            call_id="p",
            output=json.dumps({"output": "failed", "metadata": {"exit_code": 2}}),
        ),
        _row("response_item", type="local_shell_call", call_id="s", action=shell),
        _output("s", [{"type": "input_text", "text": "a.csv"}]),
        _row("response_item", type="web_search_call", id="w", action={"query": "rates"}),
    ]
    calls = [
        call for turn in session(read, lines(tmp_path, rows)).turns for call in turn.tool_calls
    ]
    assert calls == [
        ToolCall("p", "apply_patch", {"input": patch}, "failed", is_error=True, line=2),
        ToolCall("s", "local_shell", shell, "a.csv", line=4),
        ToolCall("w", "web_search", {"query": "rates"}, line=6),
    ]


def test_a_rollout_that_ends_in_the_middle_of_a_run(tmp_path: Path) -> None:
    rows = [_meta(), _user("Sum"), _call("c1", "ls"), '{"timestamp": "2025-06-15T15:0']
    source = lines(tmp_path, rows)
    (issue,) = issues(read, source)
    assert (issue.line, issue.reason) == (4, "line.not_json")
    (parsed,) = [item for item in read(source) if isinstance(item, Session)]
    assert parsed.turns[-1].tool_calls[0].result is None


def test_requests_taken_back_are_an_abandoned_branch(tmp_path: Path) -> None:
    rows = [
        _meta(),
        _user("<environment_context></environment_context>"),
        _user("first"),
        _said("first"),
        _agent("one"),
        _said("second"),
        _user("second"),
        _agent("two"),
        _row("event_msg", type="thread_rolled_back", num_turns=1),
        _user("third"),
        _said("third"),
    ]
    parsed = session(read, lines(tmp_path, rows))
    assert typed(parsed.turns) == ["first", "third"]
    assert parsed.dropped == {"abandoned_branch": 2, "duplicate_event": 2}


def test_an_aborted_answer_says_so(tmp_path: Path) -> None:
    rows = [_meta(), _user("go"), _call("c", "x"), _row("event_msg", type="turn_aborted")]
    assert session(read, lines(tmp_path, rows)).turns[1].stop_reason == "aborted"


def test_compaction_is_a_system_turn(tmp_path: Path) -> None:
    rows = [_meta(), _user("go"), _row("compacted", message="So far: nothing"), _user("on")]
    turns = session(read, lines(tmp_path, rows)).turns
    assert [turn.origin for turn in turns] == [Origin.HUMAN, Origin.SYSTEM, Origin.HUMAN]


def test_prompts_to_a_sub_agent_are_an_agents(tmp_path: Path) -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "r0", "depth": 1}}}
    parsed = session(read, lines(tmp_path, [_meta(source=spawned), _user("Find the invoices")]))
    assert parsed.parent_session_id == "r0"
    assert parsed.turns[0].origin is Origin.AGENT


def test_a_person_may_take_over_a_session_that_an_agent_started(tmp_path: Path) -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "r0"}}}
    context = "# Context from my IDE setup:\n\n## Open tabs:\n- a.csv"
    person = _user(f"{context}\n\n## My request for Codex:\nSort them")
    rows = [_meta(source=spawned), _user("Find the invoices"), person]
    parsed = session(read, lines(tmp_path, rows))
    assert [turn.origin for turn in parsed.turns] == [Origin.AGENT, Origin.HUMAN]
    assert typed(parsed.turns) == ["Sort them"]


def test_rollouts_without_envelope(tmp_path: Path) -> None:
    rows = [
        {"id": "old", "timestamp": _AT, "instructions": None, "git": {}},
        {"record_type": "state"},
        _user("Write a letter")["payload"],
        _call("c1", "ls")["payload"],
        _output("c1", "a.csv")["payload"],
        {"created_at": _AT, "role": "assistant", "content": "Done."},
    ]
    parsed = session(read, lines(tmp_path, rows))
    assert (parsed.session_id, parsed.started_at) == ("old", _START)
    assert [turn.text for turn in parsed.turns] == ["Write a letter", "", "Done."]
    assert parsed.turns[1].tool_calls[0].result == "a.csv"
    assert parsed.turns[2].at == _START
    assert parsed.dropped == {"bookkeeping": 1}


def test_a_rollout_in_one_document(tmp_path: Path) -> None:
    items = [_user("Write a letter")["payload"]]
    parsed = session(read, document(tmp_path, {"session": {"id": "x"}, "items": items}))
    assert typed(parsed.turns) == ["Write a letter"]


def test_a_record_without_payload_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    bad = {"timestamp": _AT, "type": "response_item", "payload": ["secret"]}
    source = lines(tmp_path, [_meta(), bad, _user("go")])
    (issue,) = issues(read, source)
    assert (issue.line, issue.reason, issue.actual) == (2, "record.unexpected", "payload: list")
    assert [len(item.turns) for item in read(source) if isinstance(item, Session)] == [1]


def test_records_and_items_of_unknown_type_are_named(tmp_path: Path) -> None:
    rows = [
        _meta(),
        {"timestamp": _AT, "type": "telemetry", "payload": {"n": 1}},
        {"timestamp": _AT, "type": "response_item", "payload": {"type": "hologram", "id": "h"}},
        {"timestamp": _AT, "type": "response_item", "payload": {"type": "ghost_snapshot"}},
        {"type": "beacon"},
        _user("go"),
    ]
    source = lines(tmp_path, rows)
    assert [(issue.line, issue.reason, issue.actual) for issue in issues(read, source)] == [
        (2, "record.unexpected", "a record of type telemetry with 1 keys"),
        (3, "record.unexpected", "a record of type hologram with 2 keys"),
        (5, "record.unexpected", "a record of type beacon with 1 keys"),
    ]
    (parsed,) = (item for item in read(source) if isinstance(item, Session))
    assert (typed(parsed.turns), parsed.dropped) == (["go"], {"bookkeeping": 1})


def test_the_real_rollout_has_one_request_and_all_results(material: Path) -> None:
    (path,) = sorted((material / "sessions" / "codex").glob("*.jsonl"))
    parsed = session(read, SourceFile(path, path.name))
    assert len(typed(parsed.turns)) == 1
    calls = [call for turn in parsed.turns for call in turn.tool_calls]
    assert len(calls) == 39
    assert all(call.result is not None for call in calls)
    assert not any((call.result or "").startswith('{"output"') for call in calls)
