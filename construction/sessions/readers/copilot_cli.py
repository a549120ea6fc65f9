"""Reads sessions of GitHub Copilot CLI: `events.jsonl`, and the older `chatMessages`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from construction.sessions.readers.chat import chat_session
from construction.sessions.readers.source import (
    Sample,
    SourceFile,
    document_of,
    epoch_seconds,
    json_lines,
)
from construction.sessions.readers.talk import (
    Record,
    Talk,
    Uids,
    dicts,
    first_text,
    inner,
    kind_of,
    plain,
    type_name,
)
from data.contracts import Attachment, Origin, ReadIssue, Session, SourceFormat

_SILENT = (
    "session.", "assistant.", "tool.", "hook.", "subagent.", "skill.", "permission.", "mcp.",
    "external_tool.", "elicitation.", "command.", "pending_messages.", "capabilities.", "plan.",
    "exit_plan_mode.", "sampling.", "auto_mode_switch.", "user_input.", "model.",
)  # fmt: skip
_FROM_PERSON = (None, "", "user")


def fits(sample: Sample) -> bool:
    """Dotted event types with `data`, or a session's document with `chatMessages`."""
    if isinstance(sample.head.get("chatMessages"), list):
        return "sessionId" in sample.head
    return any(
        kind_of(record).startswith(("session.", "user.", "assistant.", "tool.", "system."))
        and isinstance(record.get("data"), dict)
        for record in sample.records
    )


@dataclass(slots=True)
class _Log:
    """The main conversation, those of sub-agents by their call, and the calls known so far."""

    main: Talk
    head: Record = field(default_factory=dict)
    agents: dict[str, Talk] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)
    by_person: set[str] = field(default_factory=set)


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a file, and one for each sub-agent whose events it holds."""
    document = document_of(source)
    if isinstance(document, dict) and isinstance(document.get("chatMessages"), list):
        messages = [(0, message) for message in document["chatMessages"]]
        name = first_text(document, "sessionId")
        started = epoch_seconds(document.get("startTime"))
        yield from chat_session(
            source, SourceFormat.COPILOT_CLI, messages, name, started_at=started, agent_name=_NAME
        )
        return
    del document
    log = _Log(Talk(source, SourceFormat.COPILOT_CLI))
    for line, record in log.main.records(json_lines):
        _add(log, line, record)
    name, uids = first_text(log.head, "sessionId"), Uids(source.relative)
    yield from log.main.session(
        name,
        uids=uids,
        cwd=first_text(inner(log.head, "context"), "cwd"),
        agent_name=_NAME,
        agent_version=first_text(log.head, "copilotVersion"),
        started_at=epoch_seconds(log.head.get("startTime")),
    )
    for call_id, talk in log.agents.items():
        if talk.drafts:
            yield from talk.session(
                f"agent-{call_id}", uids=uids, agent_name=_NAME, parent_session_id=name
            )


_NAME = "copilot-cli"


def _add(log: _Log, line: int, record: Record) -> None:
    kind, data = kind_of(record), inner(record, "data")
    at = epoch_seconds(record.get("timestamp"))
    above = first_text(data, "parentToolCallId") or first_text(record, "agentId")
    talk = log.main
    if above is not None:
        talk = log.agents.setdefault(above, Talk(talk.source, SourceFormat.COPILOT_CLI))
    if kind == "session.start":
        log.head = log.head or data
        talk.skip()
    elif kind == "user.message":
        _add_prompt(talk, data, line, at, by_agent=above is not None)
    elif kind == "assistant.message":
        _add_answer(log, talk, data, line, at)
    elif kind == "tool.user_requested":
        log.by_person.add(plain(data.get("toolCallId")))
        talk.notice(f"! {plain(inner(data, 'arguments').get('command'))}", line, at=at)
    elif kind == "tool.execution_start":
        call_id = plain(data.get("toolCallId"))
        if call_id not in log.called | log.by_person:
            log.called.add(call_id)
            talk.answer(line, at=at).call(
                call_id, data.get("toolName"), data.get("arguments"), line
            )
    elif kind == "tool.execution_complete":
        _add_result(log, talk, data, line, at)
    elif kind == "system.message":
        talk.system(plain(data.get("content")), line, at=at)
    elif kind == "system.notification":
        talk.notice(plain(data.get("content")), line, at=at)
    elif kind == "abort" or (kind.startswith(_SILENT)):
        talk.skip()
    else:
        talk.unexpected(line, f"an event of type {type_name(kind)}")


def _add_answer(log: _Log, talk: Talk, data: Record, line: int, at: float | None) -> None:
    answer = talk.answer(line, at=at, key=first_text(data, "messageId"), model=data.get("model"))
    answer.say(data.get("content"))
    answer.think(data.get("reasoningText"))
    for call in dicts(data.get("toolRequests")):
        if (call_id := plain(call.get("toolCallId"))) not in log.called:
            log.called.add(call_id)
            answer.call(call_id, call.get("name"), call.get("arguments"), line)


def _add_prompt(talk: Talk, data: Record, line: int, at: float | None, *, by_agent: bool) -> None:
    text = plain(data.get("content"))
    if data.get("source") not in _FROM_PERSON:
        talk.notice(text, line, at=at)
        return
    files = tuple(
        Attachment(path)
        for item in dicts(data.get("attachments"))
        if (path := first_text(item, "path", "filePath", "displayName"))
    )
    origin = Origin.AGENT if by_agent else None
    talk.person(text, line, at=at, media=files, origin=origin)


def _add_result(log: _Log, talk: Talk, data: Record, line: int, at: float | None) -> None:
    result = data.get("result")
    shown = result.get("content") if isinstance(result, dict) else result
    failed = data.get("success") is False
    text = plain(shown) or plain(inner(data, "error").get("message"))
    call_id = plain(data.get("toolCallId"))
    if call_id in log.by_person:
        talk.notice(text, line, at=at)
    else:
        talk.results.add(call_id, text, failed)
