"""Reads the stream of `codex exec --json`, in its form of items and its older form of messages.

The stream of items does not hold the request, so such a session has no turn of a person.
"""

from __future__ import annotations

from collections.abc import Iterator

from construction.sessions.readers.source import Sample, SourceFile, json_lines
from construction.sessions.readers.talk import (
    Record,
    Talk,
    dicts,
    first_text,
    inner,
    is_failure,
    kind_of,
    plain,
    type_name,
)
from data.contracts import ReadIssue, Session, SourceFormat

_TURNS = frozenset({"thread.started", "turn.started", "turn.completed", "turn.failed"})
_SILENT_ITEMS = frozenset({"todo_list"})
_SILENT = frozenset(
    {"task_started", "token_count", "task_complete", "turn_diff", "session_configured"}
    | {"agent_message_delta", "agent_reasoning_delta", "agent_reasoning_section_break"}
    | {"exec_command_output_delta", "plan_update", "agent_reasoning_raw_content", "turn_started"}
)


def fits(sample: Sample) -> bool:
    """Records `thread.started`, `turn.started` or `item.…`, or numbered `msg` records in the old
    format.
    """
    for record in sample.records:
        kind = kind_of(record)
        if kind in _TURNS or (kind.startswith("item.") and "item" in record):
            return True
        if "id" in record and isinstance(inner(record, "msg").get("type"), str):
            return True
    return False


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a stream. A call that was started and never completed has no result."""
    talk = Talk(source, SourceFormat.CODEX_EXEC)
    name: str | None = None
    cwd: str | None = None
    started: dict[str, tuple[int, Record]] = {}
    for line, record in talk.records(json_lines):
        kind = kind_of(record)
        if kind == "thread.started":
            name = first_text(record, "thread_id")
        elif kind.startswith("item."):
            entry = inner(record, "item")
            if kind == "item.completed":
                started.pop(plain(entry.get("id")), None)
                _add_item(talk, entry, line)
            else:
                started[plain(entry.get("id"))] = (line, entry)
        elif kind in ("turn.failed", "error"):
            talk.notice(plain(inner(record, "error").get("message") or record.get("message")), line)
        elif kind in ("turn.started", "turn.completed"):
            talk.skip()
        elif isinstance(record.get("msg"), dict):
            _add_message(talk, record["msg"], line)
        elif isinstance(record.get("prompt"), str):
            talk.person(record["prompt"], line)
        elif "workdir" in record and "model" in record:
            cwd = first_text(record, "workdir")
        else:
            talk.unexpected(line, f"a record of type {type_name(kind)}")
    for line, entry in started.values():
        _add_item(talk, entry, line)
    yield from talk.session(name, cwd=cwd, agent_name="codex")


def _add_item(talk: Talk, item: Record, line: int) -> None:
    kind = kind_of(item) or kind_of(item, "item_type")
    answer = talk.answer(line, key=plain(item.get("id")))
    status = item.get("status")
    if kind in ("agent_message", "assistant_message"):
        answer.say(item.get("text"))
    elif kind == "reasoning":
        answer.think(item.get("text"))
    elif kind == "command_execution":
        own = answer.call(item.get("id"), kind, {"command": item.get("command")})
        output, code = item.get("aggregated_output"), item.get("exit_code")
        if status != "in_progress":
            failed = status in ("failed", "declined") or is_failure(code)
            talk.results.add(own, plain(output), failed)
    elif kind == "file_change":
        changes = dicts(item.get("changes"))
        own = answer.call(item.get("id"), kind, {"changes": changes})
        if status == "failed":
            talk.results.add(own, "failed", is_error=True)
    elif kind in ("mcp_tool_call", "collab_tool_call"):
        own = answer.call(item.get("id"), item.get("tool"), item.get("arguments"))
        error = inner(item, "error").get("message")
        shown = inner(item, "result").get("content", item.get("result"))
        if status != "in_progress":
            talk.results.add(own, plain(shown) or plain(error), status == "failed")
    elif kind == "web_search":
        answer.call(item.get("id"), kind, {"query": item.get("query")})
    elif kind == "error":
        talk.notice(plain(item.get("message")), line)
    elif kind in _SILENT_ITEMS:
        talk.skip()
    else:
        talk.unexpected(line, f"an item of type {type_name(kind)}")


def _add_message(talk: Talk, message: Record, line: int) -> None:
    kind = kind_of(message)
    call_id = message.get("call_id")
    if kind == "agent_message":
        talk.answer(line).say(message.get("message"))
    elif kind == "agent_reasoning":
        talk.answer(line).think(message.get("text"))
    elif kind == "user_message":
        talk.person(plain(message.get("message")), line)
    elif kind == "exec_command_begin":
        command = {key: message.get(key) for key in ("command", "cwd")}
        talk.answer(line).call(call_id, "command_execution", command)
    elif kind == "exec_command_end":
        output = message.get("aggregated_output") or message.get("stdout")
        code = message.get("exit_code")
        shown = plain(output) or plain(message.get("stderr"))
        talk.results.add(plain(call_id), shown, is_failure(code))
    elif kind == "patch_apply_begin":
        talk.answer(line).call(call_id, "file_change", {"changes": message.get("changes")})
    elif kind == "patch_apply_end":
        shown = plain(message.get("stdout")) or plain(message.get("stderr"))
        talk.results.add(plain(call_id), shown, message.get("success") is False)
    elif kind == "mcp_tool_call_begin":
        invoked = inner(message, "invocation")
        talk.answer(line).call(call_id, invoked.get("tool"), invoked.get("arguments"))
    elif kind == "mcp_tool_call_end":
        result = inner(message, "result")
        held = inner(result, "Ok").get("content", result.get("Err", result))
        talk.results.add(plain(call_id), plain(held), "Err" in result)
    elif kind in ("web_search_begin", "web_search_end"):
        if kind == "web_search_end":
            talk.answer(line).call(call_id, "web_search", {"query": message.get("query")})
    elif kind in ("error", "stream_error"):
        talk.notice(plain(message.get("message")), line)
    elif kind in _SILENT:
        talk.skip()
    else:
        talk.unexpected(line, f"a message of type {type_name(kind)}")
