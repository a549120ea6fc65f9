"""Reads chats: messages in OpenAI roles, runs of tau-bench, exports of dataclaw, ShareGPT."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from construction.sessions.readers import pieces
from construction.sessions.readers.source import (
    Sample,
    SourceFile,
    epoch_seconds,
    values,
)
from construction.sessions.readers.talk import (
    Answer,
    Record,
    Talk,
    Uids,
    block_text,
    decoded,
    decoded_arguments,
    dicts,
    first_text,
    inner,
    kind_of,
    plain,
    text_or_none,
    type_name,
    without_thought,
)
from data.contracts import ReadIssue, Session, SourceFormat

_ROLES = frozenset({"user", "assistant", "system", "developer", "tool", "function"})
# Types of records without a role: some harnesses write calls and results this way.
_CALL_TYPES = frozenset({"tool_call", "function_call"})
_RESULT_TYPES = frozenset({"tool_result", "function_result"})
_BOOKKEEPING = frozenset({"session_meta", "error", "world_state", "metadata"})
_COMPACTION = "[CONTEXT COMPACTION"
_TIME_KEYS = ("timestamp", "created_at", "createdAt", "ts", "time")
_THINKING_KEYS = ("reasoning_content", "reasoning", "thinking")
_NO_NAME = "tool"
_PARTS = frozenset(
    {"text", "input_text", "output_text", "refusal", "summary_text", "thinking", "think"}
    | {"redacted_thinking", "reasoning", "tool_use", "tool_result", "server_tool_use"}
    | {"web_search_tool_result", "image", "image_url", "input_image", "file", "input_file"}
    | {"document", "input_audio", "audio", "audio_url", "video_url"}
)
_EXPECTED = "a message with an OpenAI role and content"
# Calls and results in text, where the model has no tools: not the words of the person's side.
_TEXT_CALLS = (
    "<function=", "<tool_call>", "<function_calls>", "<execute_", "Action:", "```bash", "```sh",
    "<tool_use>", "<invoke ", '"commands"', '"keystrokes"',
)  # fmt: skip
_TEXT_RESULTS = (
    "OBSERVATION:", "Observation:", "EXECUTION RESULT of [", "<function_results>",
    "<tool_response>", "<tool_result", "<returncode>", "New Terminal Output:", "[Observation]",
    "<observation>",
)  # fmt: skip


def chat_session(
    source: SourceFile,
    source_format: SourceFormat,
    messages: Sequence[tuple[int, object]],
    name: str | None,
    **fields: Any,
) -> Iterator[Session | ReadIssue]:
    """The issues of a conversation, then its session with further `fields` of a Session.

    Results are joined to calls by id, or else by name; `model` and `channel` apply to messages
    that name none. A conversation with parts that nobody knows is refused as a whole: what they
    hold may be the words of a person, or the result of a tool.
    """
    uids, model, channel = (fields.pop(key, None) for key in ("uids", "model", "channel"))
    talk = Talk(source, source_format, channel=channel)
    unknown: Counter[str] = Counter()
    before = ""
    for line, message in _with_functions(messages):
        if not isinstance(message, dict):
            talk.unexpected(line, type(message).__name__, _EXPECTED)
            continue
        text = _content_text(message)
        is_result = message.get("role") == "user" and text.startswith(_TEXT_RESULTS)
        if is_result and any(mark in before for mark in _TEXT_CALLS):
            unknown["a tool's result as text"] += 1
        before = text if message.get("role") == "assistant" else ""
        _add(talk, message, line, model, unknown)
    if unknown:
        kinds = ", ".join(f"{kind} ×{count}" for kind, count in sorted(unknown.items())[:5])
        expected = "parts of text, media, calls and results"
        unit = "file" if uids is None else "record"
        line = messages[0][0] if uids is not None and messages else 0
        actual = f"parts: {kinds}"
        yield ReadIssue(unit, source.relative, line, "file.unknown_parts", actual, expected)
        return
    talk.system_prompt = fields.pop("system_prompt", None) or talk.system_prompt
    yield from talk.session(name, uids=uids, **fields)


def _add(talk: Talk, message: Record, line: int, model: str | None, unknown: Counter[str]) -> None:
    role, kind = text_or_none(message.get("role")), text_or_none(message.get("type"))
    has_role = message.get("role") is not None
    at = next((t for t in map(epoch_seconds, map(message.get, _TIME_KEYS)) if t), None)
    given = _pieces(talk, message, line, unknown)
    if role == "assistant" or (not has_role and kind in _CALL_TYPES):
        text = _content_text(message)
        if text.startswith(_COMPACTION):
            talk.notice(text, line, at=at)
            return
        answer = talk.answer(line, at=at, model=message.get("model") or model)
        _add_answer(talk, answer, message, given, line)
    elif role in ("tool", "function") or (not has_role and kind in _RESULT_TYPES):
        name = message.get("name") or message.get("tool_name") or _NO_NAME
        call_id = message.get("tool_call_id") or message.get("call_id") or name
        content = message.get("content", message.get("result", message.get("output")))
        failed = message.get("is_error") is True or message.get("status") == "error"
        list(given)
        talk.results.add(plain(call_id), plain(content), failed)
    elif role in ("user", "system", "developer"):
        pieces.add(talk, role, given, line, at=at, sender=first_text(message, "name"))
    elif role in _BOOKKEEPING or (not has_role and kind in _BOOKKEEPING):
        talk.skip()
    else:
        role_type = type(message["role"]).__name__ if has_role else "none"
        what = f"an object with {len(message)} keys, role: {role_type}"
        talk.unexpected(line, what, _EXPECTED)


def _pieces(
    talk: Talk, message: Record, line: int, unknown: Counter[str]
) -> Iterator[pieces.Piece]:
    def chosen(part: Record) -> pieces.Piece:
        if _is_declared(message, part):
            return pieces.Text("")
        if "type" in part and kind_of(part) not in _PARTS:
            unknown[type_name(part["type"])] += 1
            return pieces.SILENT
        piece = pieces.common({"type": "text", **part})
        return pieces.SILENT if piece is pieces.UNKNOWN else piece

    for key in ("content", "content_parts", "message"):
        if key != "message" or message.get("content") is None:
            yield from pieces.of(talk, message.get(key), line, chosen)


def _is_declared(message: Record, part: Record) -> bool:
    """Whether the role says what a part is: a call in tool_calls, or the result of a tool."""
    if message.get("role") == "tool":
        return part.get("type") == "tool_output" and bool(message.get("tool_call_id"))
    repeated = [call.get("id") for call in dicts(message.get("tool_calls"))]
    is_call = message.get("role") == "assistant" and part.get("type") == "tool_call"
    return is_call and bool(part.get("tool_call_id")) and part["tool_call_id"] in repeated


def _content_text(message: Record) -> str:
    content = message.get("content")
    return block_text(message.get("message") if content is None else content)


def _add_answer(
    talk: Talk, answer: Answer, message: Record, given: Iterator[pieces.Piece], line: int
) -> None:
    # Exports repeat the same reasoning under several keys.
    thought = next((t for k in _THINKING_KEYS if isinstance(t := message.get(k), str)), None)
    answer.think(thought)
    shown = [p for p in given if thought is None or not isinstance(p, pieces.Thought)]
    pieces.add_to(talk, answer, shown, line)
    answer.stop_reason = first_text(message, "finish_reason")
    calls = dicts(message.get("tool_calls")) + dicts([message.get("function_call")])
    if text_or_none(message.get("type")) in _CALL_TYPES:
        calls.append(message)
    for call in calls:
        named = {**call, **inner(call, "function")}
        name = plain(named.get("name")) or _NO_NAME
        call_id = plain(named.get("id") or named.get("call_id") or name)
        answer.call(call_id, name, named.get("arguments"), line)
    for use in dicts(message.get("skillExecutions")):  # of a thread of GitHub's Copilot
        own = answer.call(use.get("callId"), use.get("slug"), use.get("arguments"), line)
        failed = use.get("status") in ("error", "failed")
        talk.results.add(own, plain(use.get("references")), failed)
    for use in dicts(message.get("tool_uses")):
        own = answer.call(None, use.get("tool"), use.get("input"), line)
        if use.get("output") is not None:
            failed = use.get("status") in ("error", "failed")
            talk.results.add(own, plain(use["output"]), failed)


FUNCTION = re.compile(r"<function=([\w.-]{1,80})>\n?(.*?)(?:</function>|\Z)", re.DOTALL)
PARAMETER = re.compile(r"<parameter=([\w.-]{1,80})>(.*?)</parameter>", re.DOTALL)
_EXECUTED = re.compile(r"EXECUTION RESULT of \[[\w.-]{1,80}\]:\n?")
_TASK = ("- NEW TASK DESCRIPTION -", "- END OF NEW TASK DESCRIPTION -")


def _with_functions(messages: Sequence[tuple[int, object]]) -> Iterator[tuple[int, object]]:
    """The messages with calls and results that stand in their texts, as OpenHands sends them.

    The first message then shows how to call, by an example before the task.
    """
    waiting = ""
    for number, (line, message) in enumerate(messages):
        text = _content_text(message) if isinstance(message, dict) else ""
        role = message.get("role") if isinstance(message, dict) else None
        function = FUNCTION.search(text) if role == "assistant" else None
        shown = _EXECUTED.match(text) if role == "user" and waiting else None
        following = messages[number + 1][1] if number + 1 < len(messages) else {}
        is_answered = isinstance(following, dict) and _EXECUTED.match(_content_text(following))
        if isinstance(message, dict) and function is not None and is_answered:
            waiting = f"call{number}"
            given = {name: value.strip("\n") for name, value in PARAMETER.findall(function[2])}
            call = {"id": waiting, "name": function[1], "arguments": given}
            said = text[: function.start()].strip()
            yield line, {**message, "content": said, "tool_calls": [call]}
        elif shown is not None:
            yield line, {"role": "tool", "tool_call_id": waiting, "content": text[shown.end() :]}
            waiting = ""
        elif isinstance(message, dict) and role == "user" and all(mark in text for mark in _TASK):
            framed = text.partition(_TASK[0])[2].lstrip("-").rpartition(_TASK[1])[0]
            yield line, {**message, "content": framed.rstrip("-").strip()}
        else:
            yield line, message


_MESSAGE_KEYS = ("messages", "traj")
_ID_KEYS = ("session_id", "sessionId", "conversation_id", "id")
_START_KEYS = ("session_start", "start_time", "startTime", "created_at", "timestamp")


def fits(sample: Sample) -> bool:
    """Lists of messages that all have OpenAI roles or ShareGPT's `from`, or the messages
    themselves.
    """
    return any(map(_is_chat, sample.records))


def fits_hermes(sample: Sample) -> bool:
    """A chat with the platform that Hermes ran it on."""
    return any({"platform", "session_id"} <= r.keys() and _is_chat(r) for r in sample.records)


def _is_chat(record: dict[str, Any]) -> bool:
    conversation = _find_messages(record)
    if conversation is not None:
        messages = [message for _, message in conversation[1]]
        return bool(messages) and all(
            isinstance(message, dict) and isinstance(message.get("role"), str)
            for message in messages
        )
    if isinstance(record.get("role"), str) and record["role"] in _ROLES:
        said = record.get("content", record.get("message"))
        return isinstance(said, str | list) or bool(record.keys() & {"tool_calls", "function_call"})
    return (
        kind_of(record) in _CALL_TYPES | _RESULT_TYPES
        and "role" not in record
        and (isinstance(record.get("function"), dict) or "result" in record)
    )


def read_hermes(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The sessions of a file of Hermes."""
    return read(source, SourceFormat.HERMES)


def read(
    source: SourceFile, source_format: SourceFormat = SourceFormat.CHAT
) -> Iterator[Session | ReadIssue]:
    """The sessions of a file.

    JSON lines are the messages of one session, or sessions with a list of messages each. A
    document is a session, a list of messages, or a list of sessions.
    """
    uids = Uids(source.relative)
    loose: list[tuple[int, object]] = []
    for item in values(source):
        if isinstance(item, ReadIssue):
            yield item
            continue
        line, value = item
        conversation = _find_messages(value)
        if conversation is None:
            loose.append(item)
        else:
            yield from _session(source, source_format, uids, *conversation, line)
    if loose:
        own = None if not uids.any_given else uids
        yield from _session(source, source_format, own, {}, loose, 0)


def _find_messages(value: object) -> tuple[dict[str, Any], list[tuple[int, object]]] | None:
    """(fields around the messages, numbered messages) of a session; None if `value` is not one."""
    if not isinstance(value, dict):
        return None
    conversation = value.get("conversation")
    if isinstance(conversation, dict):
        value = {**value, **conversation}
    for key in _MESSAGE_KEYS:
        messages = value.get(key)
        if isinstance(messages, list):
            return value, [(0, message) for message in messages]
    pairs = dicts(value.get("conversations"))
    if pairs and all({"from", "value"} <= pair.keys() for pair in pairs):
        return value, [(0, message) for message in _from_pairs(pairs)]
    return None


_SPEAKERS = {
    "human": "user", "user": "user", "gpt": "assistant", "chatgpt": "assistant", "system": "system",
    "assistant": "assistant", "function_call": "assistant", "tool_call": "assistant",
    "observation": "tool", "tool": "tool", "function_response": "tool",
}  # fmt: skip
_CALL_TAG = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_RESULT_TAG = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)


def _from_pairs(pairs: Sequence[Record]) -> Iterator[Record]:
    """Messages of ShareGPT's pairs, in which calls and their results are texts or in tags."""
    waiting: deque[str] = deque()
    for number, pair in enumerate(pairs):
        who, text = plain(pair["from"]).lower(), plain(pair["value"])
        role = _SPEAKERS.get(who, who)
        if role == "tool":
            for shown in _RESULT_TAG.findall(text) or [text]:
                own = waiting.popleft() if waiting else who
                yield {"role": role, "tool_call_id": own, "content": shown}
        elif role == "assistant":
            is_call = who.endswith("_call")
            texts = [text] if is_call else _CALL_TAG.findall(text)
            calls = [call for given in texts for call in _calls(given)]
            made = [{**call, "id": f"call{number}.{at}"} for at, call in enumerate(calls)]
            waiting.extend(call["id"] for call in made)
            words = "" if is_call else _CALL_TAG.sub("", text).strip()
            yield {"role": role, "content": words, "tool_calls": made}
        else:
            yield {"role": role, "content": text}


def _calls(text: str) -> list[Record]:
    held = decoded(text)
    return dicts(held if isinstance(held, list) else [held]) or [{"arguments": text}]


def _session(
    source: SourceFile,
    source_format: SourceFormat,
    uids: Uids | None,
    head: dict[str, Any],
    messages: Sequence[tuple[int, object]],
    line: int,
) -> Iterator[Session | ReadIssue]:
    if "traj" in head:
        messages = list(_with_calls(messages))
    return chat_session(
        source,
        source_format,
        [(number or line, message) for number, message in messages],
        _name(source, head),
        uids=uids,
        model=first_text(head, "model"),
        channel=first_text(head, "platform"),
        cwd=first_text(head, "cwd") or first_text(inner(head, "model_config"), "cwd"),
        started_at=next(
            (at for at in (epoch_seconds(head.get(k)) for k in _START_KEYS) if at), None
        ),
        system_prompt=first_text(head, "system_prompt"),
        extra={"reward": head["reward"]} if isinstance(head.get("reward"), int | float) else {},
    )


_ACTION = re.compile(r"^Action:\s*(?=\{)", re.MULTILINE)
_RETURNED = "API output: "
_RESPOND = "respond"  # the action by which the agent speaks to the person


def _with_calls(messages: Sequence[tuple[int, object]]) -> Iterator[tuple[int, object]]:
    """Messages of tau-bench, with the calls that its agents write as text and their results."""
    waiting = ""
    for number, (line, message) in enumerate(messages):
        text = message.get("content") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(text, str):
            yield line, message
            continue
        thought, words = without_thought(text)
        action = _ACTION.search(words) if message.get("role") == "assistant" else None
        if message.get("role") == "user" and waiting and words.startswith(_RETURNED):
            shown = words.removeprefix(_RETURNED)
            yield line, {"role": "tool", "tool_call_id": waiting, "content": shown}
        elif action is not None:
            call, waiting = decoded_arguments(words[action.end() :].strip()), f"call{number}"
            given = decoded_arguments(call.get("arguments"))
            made = {**message, "content": words[: action.start()].strip()}
            made["thinking"] = thought or None
            if call.get("name") == _RESPOND:
                waiting, made["content"] = "", plain(given.get("content"))
            else:
                made["tool_calls"] = [{**call, "id": waiting}]
            yield line, made
        else:
            yield line, {**message, "content": words} if words else message


def _name(source: SourceFile, head: dict[str, Any]) -> str:
    """The session's name: its own id, the run's task and trial, or the file's name."""
    own = first_text(head, *_ID_KEYS)
    if own is not None:
        return own
    if "task_id" in head:
        trial = f"_trial_{head['trial']}" if "trial" in head else ""
        return f"task_{head['task_id']}{trial}"
    return PurePosixPath(source.relative).name.split(".json")[0]
