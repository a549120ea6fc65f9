"""Reads logs of coding agents that say who said what in a few kinds of records.

- Amp: threads, one document with messages of typed parts.
- Antigravity: transcripts, numbered steps of the person, the model and the system.
- Continue: sessions, one document with a history of messages.
- Droid, by Factory: its session logs, and the stream of `droid exec`.
- Kiro's command line: records of a kind and data, or a history of pairs.
- Trae Agent: trajectories, the task, and what the model was sent and answered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from construction.sessions.readers import pieces
from construction.sessions.readers.source import (
    Sample,
    SourceFile,
    document_of,
    epoch_seconds,
    records,
)
from construction.sessions.readers.talk import (
    Record,
    Talk,
    Uids,
    block_text,
    dicts,
    first_text,
    inner,
    is_failure,
    kind_of,
    plain,
    type_name,
)
from data.contracts import Attachment, ReadIssue, Session, SourceFormat

_FILE = "file://"


def fits_amp(sample: Sample) -> bool:
    """A version `v`, and messages whose results refer to their call by `toolUseID` or by number."""
    head = sample.head
    if "v" not in head or not isinstance(head.get("messages"), list):
        return False
    messages = dicts(head["messages"])[:20]
    return any("messageId" in message for message in messages) or (
        not messages and plain(head.get("id", "")).startswith("T-")
    )


def read_amp(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a thread."""
    thread = inner(document_of(source))
    talk = Talk(source, SourceFormat.AMP)
    for message in dicts(thread.get("messages")):
        _add_amp(talk, message)
    trees = dicts(inner(thread, "env", "initial").get("trees"))
    root = first_text(trees[0], "uri") if trees else None
    yield from talk.session(
        first_text(thread, "id"),
        cwd=root.removeprefix(_FILE) if root else None,
        agent_name="amp",
        started_at=epoch_seconds(thread.get("created")),
    )


def _add_amp(talk: Talk, message: Record) -> None:
    role, content = message.get("role"), message.get("content")
    at = epoch_seconds(inner(message, "meta").get("sentAt"))
    files = [
        Attachment(uri.removeprefix(_FILE))
        for file in dicts(inner(message, "fileMentions").get("files"))
        if (uri := first_text(file, "uri"))
    ]
    model = inner(message, "usage").get("model")
    given = [*files, *pieces.of(talk, content, 0, _piece_amp)]
    if role not in ("user", "assistant"):
        talk.notice(block_text(content), at=at)
        return
    answer = pieces.add(talk, role, given, at=at, model=model)
    if answer is not None:
        answer.stop_reason = first_text(inner(message, "state"), "stopReason")


def _piece_amp(part: Record) -> pieces.Piece:
    kind = kind_of(part)
    if kind in ("manual_bash_invocation", "summary"):
        return pieces.Notice(plain(part.get("args") or part.get("summary")))
    return _result(part) if kind == "tool_result" else pieces.common(part)


def _result(part: Record) -> pieces.Result:
    run = inner(part, "run")
    result = run.get("result")
    if isinstance(result, dict):
        shown = next((result[key] for key in ("content", "output") if key in result), result)
    else:
        shown = result if result is not None else part.get("content")
    code = inner(run, "result").get("exitCode")
    stopped = run.get("status") in ("error", "rejected-by-user", "cancelled")
    failed = stopped or is_failure(code)
    error = run.get("error")
    why = error.get("message") if isinstance(error, dict) else error
    call_id = plain(part.get("toolUseID") or part.get("tool_use_id"))
    return pieces.Result(call_id, plain(shown) or plain(why), failed)


_REQUEST = re.compile(r"<USER_REQUEST>\n?(.*?)\n?</USER_REQUEST>", re.DOTALL)
# What a person wrote beside a document that the agent had shown.
_COMMENT = re.compile(r"^Comment: \"(.*?)\"$", re.DOTALL | re.MULTILINE)
_DONE = frozenset({"DONE", "RUNNING"})
_SOURCES = frozenset({"USER_EXPLICIT", "USER_IMPLICIT", "MODEL", "SYSTEM"})


def fits_antigravity(sample: Sample) -> bool:
    """Steps with a `step_index`, a `type` and a `source` such as `USER_EXPLICIT` or `MODEL`."""
    return any(
        {"step_index", "type"} <= record.keys() and kind_of(record, "source") in _SOURCES
        for record in sample.records
    )


def read_antigravity(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session, in the order of its steps, which are logged when they end.

    A request with the number of an earlier step was edited: what had followed is taken back.
    """
    talk = Talk(source, SourceFormat.ANTIGRAVITY, is_typed=True)
    steps: dict[int, tuple[int, Record]] = {}
    for line, record in talk.records():
        number = record.get("step_index")
        if not isinstance(number, int):
            talk.unexpected(line, "a step without a number")
            continue
        if kind_of(record) == "USER_INPUT":
            for later in [held for held in steps if held >= number]:
                talk.skip("abandoned_branch")
                del steps[later]
        steps[number] = (line, record)
    for _, (line, record) in sorted(steps.items()):
        _add_antigravity(talk, record, line)
    yield from talk.session(agent_name="antigravity")


def _add_antigravity(talk: Talk, step: Record, line: int) -> None:
    """Add a step; results come in the order of the calls."""
    source, kind = kind_of(step, "source"), kind_of(step)
    at = epoch_seconds(step.get("created_at"))
    text = plain(step.get("content") or step.get("error"))
    if kind == "USER_INPUT":
        _add_request(talk, text, line, at)
    elif kind == "PLANNER_RESPONSE":
        answer = talk.answer(line, at=at)
        answer.think(step.get("thinking"))
        answer.say(step.get("content"))
        talk.open.clear()
        for call in dicts(step.get("tool_calls")):
            answer.call(call.get("id"), call.get("name"), call.get("args"), line)
    elif source == "MODEL" or (kind == "ERROR_MESSAGE" and talk.open):
        talk.result(text, kind == "ERROR_MESSAGE" or step.get("status") not in _DONE)
    elif source in _SOURCES:
        talk.notice(text, line, at=at)
    else:
        talk.unexpected(line, f"a step of type {type_name(kind)}")


def _add_request(talk: Talk, text: str, line: int, at: float | None) -> None:
    request = _REQUEST.search(text)
    if request is None:
        talk.person(text, line, at=at)
        return
    comments = _COMMENT.findall(text[: request.start()])
    said = "\n".join(filter(None, (*comments, request[1].strip())))
    if said:
        talk.person(text, line, at=at, said=said)
    else:
        talk.notice(text, line, at=at)  # a button


def fits_continue_dev(sample: Sample) -> bool:
    """A `sessionId` and a `workspaceDirectory` next to a `history` of messages with roles."""
    history = dicts(sample.head.get("history"))
    return {"sessionId", "workspaceDirectory"} <= sample.head.keys() and all(
        isinstance(inner(entry, "message").get("role"), str) for entry in history[:20]
    )


def read_continue_dev(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session. Logs of prompts and the editor's state repeat the words, and are left out."""
    head = inner(document_of(source))
    talk = Talk(source, SourceFormat.CONTINUE, is_typed=True)
    for entry in dicts(head.get("history")):
        _add_continue_dev(talk, entry)
    folder = first_text(head, "workspaceDirectory")
    yield from talk.session(
        first_text(head, "sessionId"), cwd=_path(folder) if folder else None, agent_name="continue"
    )


def _path(folder: str) -> str:
    path = unquote(folder.removeprefix("file://"))
    return path[1:] if path[2:3] == ":" else path  # file:///c%3A/…


def _add_continue_dev(talk: Talk, entry: Record) -> None:
    message = inner(entry, "message")
    role, content = message.get("role"), message.get("content")
    if role == "thinking":
        talk.answer().think(block_text(content))
    elif role == "tool":
        talk.results.add(first_text(message, "toolCallId") or "", block_text(content))
    elif role != "assistant":
        pieces.add(talk, role, pieces.of(talk, content))
    else:
        states = {kind_of(state, "toolCallId"): state for state in _states(entry)}
        calls = dicts(message.get("toolCalls")) or [inner(s, "toolCall") for s in states.values()]
        made = [_call(call, states.get(kind_of(call, "id"), {})) for call in calls]
        thought = first_text(inner(entry, "reasoning"), "text")
        before = [pieces.Thought(thought)] if thought else []
        pieces.add(talk, role, [*before, *pieces.of(talk, content), *made])


def _states(entry: Record) -> list[Record]:
    return dicts(entry.get("toolCallStates")) or dicts([entry.get("toolCallState")])


def _call(call: Record, state: Record) -> pieces.Call:
    """A call; the program keeps the result of one as items of context in the call's state."""
    function = inner(call, "function")
    output = [plain(item.get("content")) for item in dicts(state.get("output"))]
    failed = state.get("status") in ("errored", "canceled")
    shown = "\n".join(output) if output or failed else None
    name, given = function.get("name"), function.get("arguments")
    return pieces.Call(call.get("id"), name, given, shown, failed)


_SILENT = frozenset({"todo_state", "session_end", "completion", "system"})
_SHOWN = "user_only"  # words of the program that the model is not sent


def fits_droid(sample: Sample) -> bool:
    """A `session_start`, or plain text messages with a session ID."""
    return any(
        kind_of(record) == "session_start"
        or (
            kind_of(record) == "message"
            and "text" in record
            and bool({"session_id", "sessionId"} & record.keys())
        )
        for record in sample.records
    )


def read_droid(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The one session of a file."""
    talk = Talk(source, SourceFormat.DROID)
    head: Record = {}
    for line, record in talk.records():
        kind = kind_of(record)
        if kind == "session_start" or (kind == "system" and not head):
            head = record
        elif kind == "message":
            _add_message(talk, record, line)
        elif kind == "tool_call":
            answer = talk.answer(line, at=_at(record), key=first_text(record, "messageId"))
            name = first_text(record, "toolName", "toolId", "name")
            answer.call(record.get("id"), name, record.get("parameters"), line)
        elif kind == "tool_result":
            shown = record.get("value", record.get("error"))
            talk.results.add(plain(record.get("id")), plain(shown), record.get("isError") is True)
        elif kind == "compaction_state":
            talk.notice(plain(record.get("summaryText")), line, at=_at(record))
        elif kind in _SILENT:
            talk.skip()
        else:
            talk.unexpected(line, f"a record of type {type_name(kind)}")
    yield from talk.session(
        first_text(head, "id", "session_id", "sessionId"),
        cwd=first_text(head, "cwd"),
        agent_name="droid",
        parent_session_id=first_text(head, "parent", "parentSessionId"),
    )


def _at(record: Record) -> float | None:
    return epoch_seconds(record.get("timestamp"))


def _add_message(talk: Talk, record: Record, line: int) -> None:
    message = inner(record, "message") or record
    given = list(pieces.of(talk, message.get("content", record.get("text")), line))
    if message.get("visibility", record.get("visibility")) == _SHOWN:
        talk.notice(pieces.text(given), line, at=_at(record))
        return
    key = first_text(record, "id") if "text" in record else None
    pieces.add(talk, message.get("role"), given, line, at=_at(record), key=key)


_ROLES = {"Prompt": "user", "AssistantMessage": "assistant", "ToolResults": "tool"}
_LISTED = "log_entries"
_ASKED = frozenset({"Prompt", "ToolUseResults", "CancelledToolUses"})
_ANSWERED = frozenset({"Response", "ToolUse"})
_NOTICES = frozenset({"Compaction", "Clear", "CancelledPrompt"})


def fits_kiro(sample: Sample) -> bool:
    """A `kind` such as `Prompt` next to `data` with an ID, an export of such records, or a
    `history`.
    """
    return _is_history(sample.head) or any(
        kind_of(entry, "kind") in _ROLES and "message_id" in inner(entry, "data")
        for entry in (*sample.records, *dicts(sample.head.get(_LISTED))[:5])
    )


def _is_history(head: Record) -> bool:
    """Has a conversation answers in the two kinds of the program?"""
    history = head.get("history")
    return "conversation_id" in head and any(
        _ANSWERED & inner(entry, "assistant").keys()
        or (isinstance(entry, list) and any(_ANSWERED & half.keys() for half in dicts(entry)))
        for entry in (history if isinstance(history, list) else [])[:5]
    )


def read_kiro(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The one session of a file."""
    talk = Talk(source, SourceFormat.KIRO, is_typed=True)
    document = document_of(source)
    if isinstance(document, dict) and _is_history(document):
        add_kiro_history(talk, document, 0)
        yield from kiro_session(talk, document, None)
        return
    for line, record in talk.records(lambda file: records(file, _LISTED)):
        kind, data = kind_of(record, "kind"), inner(record, "data")
        if (role := _ROLES.get(kind)) is not None:
            at = epoch_seconds(inner(data, "meta").get("timestamp"))
            given = pieces.of(talk, data.get("content"), line, _piece_kiro)
            pieces.add(talk, role, given, line, at=at)
        elif kind in _NOTICES:
            talk.notice(plain(data.get("summary")), line)
        else:
            talk.unexpected(line, f"a record of kind {type_name(record.get('kind'))}")
    head = inner(document, "metadata")
    yield from talk.session(
        first_text(head, "session_id"), cwd=first_text(head, "cwd"), agent_name="kiro"
    )


def _piece_kiro(part: Record) -> pieces.Piece:
    kind, data = kind_of(part, "kind"), inner(part, "data")
    if kind == "toolUse":
        return pieces.Call(data.get("toolUseId"), data.get("name"), data.get("input"))
    if kind == "toolResult":
        shown = "\n".join(plain(block.get("data")) for block in dicts(data.get("content")))
        return pieces.Result(plain(data.get("toolUseId")), shown, data.get("status") == "error")
    if kind == "text":
        return pieces.Text(plain(part.get("data")))
    return pieces.common({**data, "type": kind})


def add_kiro_history(talk: Talk, held: Record, line: int) -> None:
    """Add a conversation as Kiro and its predecessor keep it: pairs of a prompt and an answer."""
    for entry in held["history"] if isinstance(held.get("history"), list) else ():
        user, assistant = entry if isinstance(entry, list) and len(entry) == 2 else (entry, entry)
        user_side = inner(user, "user") or inner(user)
        content = inner(user_side, "content")
        at = epoch_seconds(user_side.get("timestamp"))
        for kind, said in content.items():
            if kind not in _ASKED:
                talk.unexpected(line, f"a prompt of kind {type_name(kind)}")
                continue
            for result in dicts(inner(content, kind).get("tool_use_results")):
                shown = "\n".join(
                    plain(v) for p in dicts(result.get("content")) for v in p.values()
                )
                failed = result.get("status") == "Error" or kind == "CancelledToolUses"
                talk.results.add(plain(result.get("tool_use_id")), shown, failed)
            talk.person(plain(inner(said).get("prompt")), line, at=at)
        answered = inner(assistant, "assistant") or inner(assistant)
        for kind in [kind for kind in _ANSWERED if kind in answered]:
            said = inner(answered, kind)
            answer = talk.answer(line, at=at)
            answer.say(said.get("content"))
            for use in dicts(said.get("tool_uses")):
                answer.call(use.get("id"), use.get("name"), use.get("args"), line)


def kiro_session(
    talk: Talk, held: Record, cwd: str | None, uids: Uids | None = None
) -> Iterator[Session | ReadIssue]:
    """The session of a conversation that `add_history` added."""
    name = first_text(held, "conversation_id")
    yield from talk.session(name, uids=uids, cwd=cwd, agent_name="kiro")


def fits_trae(sample: Sample) -> bool:
    """A `task` next to `agent_steps` and `llm_interactions`."""
    return {"task", "agent_steps", "llm_interactions"} <= sample.head.keys()


def read_trae(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a run; the steps are read where the exchanges with the model are left out.

    The words of `user` behind the task are the program's own, when an answer calls no tool.
    """
    head = inner(document_of(source))
    talk = Talk(source, SourceFormat.TRAE)
    steps = dicts(head.get("agent_steps"))
    exchanges = dicts(head.get("llm_interactions"))
    sent = [message for e in exchanges[:1] for message in dicts(e.get("input_messages"))]
    for message in sent:
        if message.get("role") == "system":
            talk.system(plain(message.get("content")))
    talk.person(plain(head.get("task")), at=epoch_seconds(head.get("start_time")))
    known = [plain(message.get("content")) for message in sent]
    for exchange in exchanges:
        for message in dicts(exchange.get("input_messages")):
            words = plain(message.get("content"))
            if message.get("role") == "user" and words not in known:
                known.append(words)  # some clients are sent all that was said before
                talk.notice(words)
        _add_answer(talk, inner(exchange, "response"), exchange)
    for step in steps:
        if not exchanges:
            _add_answer(talk, inner(step, "llm_response"), step)
        for result in dicts(step.get("tool_results")):
            _add_result(talk, result)
        if error := first_text(step, "error"):
            talk.notice(error, at=epoch_seconds(step.get("timestamp")))
    yield from talk.session(
        agent_name="trae-agent", started_at=epoch_seconds(head.get("start_time"))
    )


def _add_answer(talk: Talk, response: Record, around: Record) -> None:
    if not response:
        return
    at, model = epoch_seconds(around.get("timestamp")), response.get("model")
    answer = talk.answer(at=at, model=model)
    answer.say(response.get("content"))
    answer.stop_reason = first_text(response, "finish_reason")
    for call in dicts(response.get("tool_calls")) or dicts(around.get("tool_calls")):
        answer.call(call.get("call_id") or call.get("id"), call.get("name"), call.get("arguments"))


def _add_result(talk: Talk, result: Record) -> None:
    shown = "\n".join(filter(None, (plain(result.get(key)) for key in ("result", "error"))))
    own = plain(result.get("call_id") or result.get("id"))
    talk.results.add(own, shown, result.get("success") is False)
