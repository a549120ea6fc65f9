"""Reads what frameworks for agents keep of their sessions.

- Google ADK: sessions with events, lists of events, evaluation sets and their results.
- AutoGen: saved states, a team's thread with the contexts of its agents, or one agent's. A thread
  may leave out the calls; they stand in the context of the agent that made them.
- Managed agents: the events that the service lists, bare or inside `raw`.
- Vercel AI SDK: messages of the window (versions 4, 5, 6) and of the model.
"""

from __future__ import annotations

from collections.abc import Iterator

from construction.sessions.readers import pieces
from construction.sessions.readers.source import (
    Sample,
    SourceFile,
    document_of,
    epoch_seconds,
    objects,
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
from data.contracts import Attachment, ReadIssue, Session, SourceFormat

_NAME = "google-adk"


def fits_adk(sample: Sample) -> bool:
    """Events with an author and an invocation, or cases in an evaluation set."""
    for record in sample.records:
        if _events(record) is not None or _is_event(record) or _cases(record):
            return True
        if any("expected_tool_use" in turn for turn in dicts(record.get("data"))[:3]):
            return True
    return False


def _get(record: Record, name: str) -> object:
    """A field in either spelling: `function_call` or `functionCall`."""
    head, *rest = name.split("_")
    return record.get(name, record.get(head + "".join(part.title() for part in rest)))


def _is_event(record: Record) -> bool:
    return isinstance(record.get("author"), str) and _get(record, "invocation_id") is not None


def _events(record: Record) -> list[Record] | None:
    events = record.get("events")
    if not isinstance(events, list):
        return None
    own = dicts(events)
    is_ours = any(map(_is_event, own[:5])) or bool({"app_name", "appName"} & record.keys())
    return own if is_ours else None


def _cases(record: Record) -> list[Record]:
    listed = dicts(_get(record, "eval_cases")) or dicts(_get(record, "eval_case_results"))
    return listed or ([record] if _is_case(record) else [])


def _is_case(record: Record) -> bool:
    turns = dicts(record.get("conversation"))
    return any(_get(turn, "user_content") is not None for turn in turns[:3])


def read_adk(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a file, or one for each case of an evaluation set."""
    uids = Uids(source.relative)
    loose = Talk(source, SourceFormat.ADK)
    is_listed = False
    issues: list[ReadIssue] = []
    for line, record in objects(source, issues):
        is_listed |= not _is_event(record)
        if (events := _events(record)) is not None:
            yield from _session(source, uids, record, events, line)
        elif cases := _cases(record):
            for case in cases:
                yield from _case(source, uids, case, line)
        elif isinstance(record.get("data"), list):
            yield from _old_case(source, uids, record, line)
        else:
            add_adk_event(loose, record, line)
    yield from issues
    if loose.drafts or loose.issues or not is_listed:
        yield from loose.session(uids=uids, agent_name=_NAME)


def _session(
    source: SourceFile, uids: Uids, record: Record, events: list[Record], line: int
) -> Iterator[Session | ReadIssue]:
    talk = Talk(source, SourceFormat.ADK)
    for event in events:
        add_adk_event(talk, event, line)
    yield from talk.session(first_text(record, "id"), uids=uids, agent_name=_NAME)


def _case(source: SourceFile, uids: Uids, case: Record, line: int) -> Iterator[Session | ReadIssue]:
    details = _get(case, "session_details")
    if isinstance(details, dict):
        yield from _session(source, uids, details, dicts(details.get("events")), line)
        return
    talk = Talk(source, SourceFormat.ADK)
    for turn in dicts(case.get("conversation")):
        _add_parts(talk, _content(turn, "user_content"), "user", line, None, turn)
        held = _content(turn, "intermediate_data")
        answer = talk.answer(line)
        for call in dicts(_get(held, "tool_uses")):
            answer.call(call.get("id"), call.get("name"), call.get("args"), line)
        for result in dicts(_get(held, "tool_responses")):
            shown = pieces.gemini({"functionResponse": result})
            pieces.add(talk, "tool", [shown])
        for event in dicts(_get(held, "invocation_events")):
            _add_parts(talk, _content(event, "content"), "model", line, None, event)
        _add_parts(talk, _content(turn, "final_response"), "model", line, None, turn)
    yield from talk.session(first_text(case, "eval_id", "evalId"), uids=uids, agent_name=_NAME)


def _old_case(
    source: SourceFile, uids: Uids, record: Record, line: int
) -> Iterator[Session | ReadIssue]:
    talk = Talk(source, SourceFormat.ADK)
    for turn in dicts(record["data"]):
        talk.person(plain(turn.get("query")), line)
        answer = talk.answer(line)
        for call in dicts(turn.get("expected_tool_use")):
            answer.call(None, call.get("tool_name"), call.get("tool_input"), line)
        answer.say(turn.get("reference"))
    yield from talk.session(first_text(record, "name"), uids=uids, agent_name=_NAME)


def _content(holder: Record, name: str) -> Record:
    return inner(_get(holder, name))


def add_adk_event(talk: Talk, event: Record, line: int) -> None:
    if not isinstance(event.get("author"), str) and "content" not in event:
        talk.unexpected(line, f"an object with {len(event)} keys")
        return
    if event.get("partial") is True:
        talk.skip("duplicate_event")  # the whole text follows
        return
    at = epoch_seconds(event.get("timestamp"))
    if error := _get(event, "error_message"):
        talk.notice(plain(error), line, at=at)
    content = _content(event, "content")
    author = event.get("author") or content.get("role")
    _add_parts(talk, content, plain(author), line, at, event)


def _add_parts(
    talk: Talk, content: Record, author: str, line: int, at: float | None, event: Record
) -> None:
    """Add a content; what the user's side holds are words, or results of tools."""
    role = "user" if author == "user" else "assistant"
    key = first_text(event, "id")
    pieces.add(
        talk, role, pieces.of(talk, content.get("parts"), line, _piece_adk), line, at=at, key=key
    )


def _piece_adk(part: Record) -> pieces.Piece:
    piece = pieces.gemini(part)
    return pieces.SILENT if piece is pieces.UNKNOWN else piece


_PERSON = ("user", "user_proxy")
_REPEATED = "ToolCallSummaryMessage"  # of the results


def fits_autogen(sample: Sample) -> bool:
    """A `TeamState` with `agent_states`, or a state whose `llm_context` has messages."""
    head = sample.head
    is_team = kind_of(head) == "TeamState" and isinstance(head.get("agent_states"), dict)
    return is_team or bool(dicts(inner(head, "llm_context").get("messages")))


def read_autogen(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of the thread; that of the only context if there is no thread."""
    talk = Talk(source, SourceFormat.AUTOGEN)
    document = document_of(source)
    states = [inner(document, "agent_states", name) for name in inner(document, "agent_states")]
    thread = next((held for s in states if (held := dicts(s.get("message_thread")))), [])
    contexts: dict[str, list[Record]] = {}
    for name, state in zip(inner(document, "agent_states"), states, strict=True):
        context = dicts(inner(state, "agent_state", "llm_context").get("messages"))
        contexts[name.partition("/")[0]] = context
    if not thread:
        own = dicts(inner(document, "llm_context").get("messages"))
        thread = own or next(filter(None, contexts.values()), [])
    has_calls = any(_listed(message) for message in thread)
    for message in thread:
        if not has_calls:
            for made in _calls_before(message, contexts.get(plain(message.get("source")), [])):
                _add_autogen(talk, made)
        _add_autogen(talk, message)
    yield from talk.session(agent_name="autogen")


def _listed(message: Record) -> list[Record]:
    """The calls or results of a message; none of a message of words and pictures."""
    listed = dicts(message.get("content"))
    return [item for item in listed if {"arguments", "call_id"} & item.keys()]


def _calls_before(message: Record, context: list[Record]) -> list[Record]:
    """The calls and results up to these words of an agent, which are taken out of its context."""
    texts = [entry.get("content") for entry in context]
    said = message.get("content")
    if kind_of(message) == _REPEATED:
        end = next((n for n, entry in enumerate(context) if _listed(entry)), -2) + 2
    else:
        end = texts.index(said) + 1 if said in texts else 0
    taken, context[:] = context[:end], context[end:]
    return [entry for entry in taken if _listed(entry)]


def _add_autogen(talk: Talk, message: Record) -> None:
    kind, content = kind_of(message), message.get("content")
    speaker, at = plain(message.get("source")), epoch_seconds(message.get("created_at"))
    text = "\n".join(part for part in _parts(content) if isinstance(part, str))
    if kind == "SystemMessage":
        talk.system(text, at=at)
    elif listed := _listed(message):
        for item in listed:
            if "arguments" in item:
                talk.answer(at=at, key=speaker).call(
                    item.get("id"), item.get("name"), item["arguments"]
                )
            else:
                failed = item.get("is_error") is True
                talk.results.add(plain(item["call_id"]), plain(item.get("content")), failed)
    elif kind == _REPEATED:
        talk.skip()
    elif speaker in _PERSON:
        media = tuple(
            Attachment(None, "image/png", data)
            for part in dicts(content)
            if (data := first_text(part, "data"))
        )
        talk.person(text, at=at, media=media)
    elif kind in ("UserMessage", "StopMessage"):
        talk.notice(text, at=at)  # of another agent, or of the program
    else:
        answer = talk.answer(at=at)
        answer.think(message.get("thought") or (text if kind == "ThoughtEvent" else None))
        answer.say(text if kind != "ThoughtEvent" else None)


def _parts(content: object) -> list[object]:
    return content if isinstance(content, list) else [content]


_CALLS = ("agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use")
_RESULTS = ("agent.tool_result", "agent.mcp_tool_result", "user.custom_tool_result")
_SILENT_MANAGED_AGENTS = (
    "session.",
    "span.",
    "agent.thread_",
    "user.interrupt",
    "user.tool_confirmation",
)
_MAIN = ""


def fits_managed_agents(sample: Sample) -> bool:
    """Session events whose IDs begin with `sevt_`, or such an agent's calls and messages."""
    return any(
        plain(event.get("id", "")).startswith("sevt_")
        or (kind_of(event) in (*_CALLS, "user.define_outcome") and "id" in event)
        for record in sample.records
        for event in (_event(record), *dicts(record.get("data"))[:5])
    )


def _event(record: Record) -> Record:
    return inner(record, "raw") or record


def read_managed_agents(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a file. The threads of other agents are sessions of their own."""
    talks: dict[str, Talk] = {}
    issues: list[ReadIssue] = []
    name: str | None = None
    for line, held in objects(source, issues):
        name = name or first_text(held, "session_id")
        for event in dicts(held.get("data")) or [_event(held)]:
            thread = _MAIN
            if kind_of(event).startswith(("agent.", "user.")):
                thread = first_text(event, "session_thread_id") or _MAIN
            talk = talks.setdefault(thread, Talk(source, SourceFormat.MANAGED_AGENTS))
            _add_managed_agents(talk, event, line)
    yield from issues
    uids = Uids(source.relative)
    for thread, talk in talks.items():
        own = thread or name
        yield from talk.session(own, uids=uids, parent_session_id=name if thread else None)


def _add_managed_agents(talk: Talk, event: Record, line: int) -> None:
    kind, at = kind_of(event), epoch_seconds(event.get("processed_at"))
    if kind in ("user.message", "agent.message"):
        role = "user" if kind.startswith("user") else "assistant"
        pieces.add(talk, role, pieces.of(talk, event.get("content"), line), line, at=at)
    elif kind == "user.define_outcome":
        talk.person(plain(event.get("description")), line, at=at)
        talk.notice(plain(inner(event, "rubric").get("content")), line, at=at)
    elif kind == "agent.thinking":
        talk.answer(line, at=at).think(first_text(event, "thinking", "text"))
    elif kind in _CALLS:
        answer = talk.answer(line, at=at, key="calls")
        answer.call(event.get("id"), event.get("name"), event.get("input"), line)
    elif kind in _RESULTS:
        own = first_text(event, "tool_use_id", "mcp_tool_use_id", "custom_tool_use_id") or ""
        failed = event.get("is_error") is True
        talk.results.add(own, _shown(talk, event.get("content"), line), failed)
    elif kind.startswith("session.error"):
        talk.notice(plain(inner(event, "error").get("message")), line, at=at)
    elif kind.startswith(_SILENT_MANAGED_AGENTS):
        talk.skip()
    else:
        talk.unexpected(line, f"an event of type {type_name(kind)}")


def _shown(talk: Talk, content: object, line: int) -> str:
    """The texts of a result; those of a search stand in documents of their own."""

    def piece_of(part: Record) -> pieces.Piece:
        if isinstance(part.get("content"), list):
            return pieces.Text("\n".join(plain(p.get("text")) for p in dicts(part["content"])))
        piece = pieces.common(part)
        return (
            pieces.SILENT if piece is pieces.UNKNOWN or isinstance(piece, pieces.Result) else piece
        )

    return pieces.text(pieces.of(talk, content or [], line, piece_of))


_MODEL_PARTS = frozenset({"tool-call", "tool-result"})
_SILENT_VERCEL_AI = (
    "step-start",
    "source",
    "source-url",
    "source-document",
    "data-",
    "tool-approval-",
)
_TIMES = ("createdAt", "created_at", "timestamp")


def fits_vercel_ai(sample: Sample) -> bool:
    """Messages with `toolInvocations`, parts of the window, or calls identified by `toolCallId`."""
    return any(
        _is_message(message)
        for record in sample.records
        for message in (record, *dicts(record.get("messages"))[:20])
    )


def _is_message(message: Record) -> bool:
    if not isinstance(message.get("role"), str):
        return False
    if "toolInvocations" in message:
        return True
    shown = dicts(message.get("parts"))
    if shown and "content" not in message and "id" in message:
        return all(isinstance(kind_of(part), str) for part in shown)
    content = dicts(message.get("content"))
    if any(kind_of(part) in _MODEL_PARTS and "toolCallId" in part for part in content):
        return True
    return any(kind_of(part).startswith("tool-") and "state" in part for part in shown)


def read_vercel_ai(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a list of messages, or one for each object that holds such a list."""
    uids = Uids(source.relative)
    loose = Talk(source, SourceFormat.VERCEL_AI)
    issues: list[ReadIssue] = []
    for line, record in objects(source, issues):
        if isinstance(record.get("messages"), list):
            talk = Talk(source, SourceFormat.VERCEL_AI)
            for message in dicts(record["messages"]):
                _add_vercel_ai(talk, message, line)
            yield from talk.session(first_text(record, "id", "chatId"), uids=uids)
        else:
            _add_vercel_ai(loose, record, line)
    yield from issues
    if loose.drafts or not uids.any_given:
        yield from loose.session(uids=uids)


def _add_vercel_ai(talk: Talk, message: Record, line: int) -> None:
    role, content = message.get("role"), message.get("content")
    at = next((t for t in map(epoch_seconds, map(message.get, _TIMES)) if t), None)
    parts = dicts(message.get("parts")) or dicts(content)
    if not parts and isinstance(content, str):
        parts = [{"type": "text", "text": content}]
    parts += [
        {"type": "tool-invocation", "toolInvocation": call}
        for call in dicts(message.get("toolInvocations"))
        if not dicts(message.get("parts"))
    ]
    if role == "data":
        talk.skip()
    else:
        pieces.add(talk, role, pieces.of(talk, parts, line, _piece_vercel_ai), line, at=at)


def _piece_vercel_ai(part: Record) -> pieces.Piece:
    kind = kind_of(part)
    if kind == "tool-result":
        return _result(part)
    if kind == "tool-invocation":
        called = inner(part, "toolInvocation")
        shown = plain(called["result"]) if "result" in called else None
        return pieces.Call(
            called.get("toolCallId"), called.get("toolName"), called.get("args"), shown
        )
    if kind == "dynamic-tool" or (kind.startswith("tool-") and "toolCallId" in part):
        if kind in _MODEL_PARTS:
            return pieces.common(part)
        name = part.get("toolName") or kind.removeprefix("tool-")
        is_done = "output" in part or "errorText" in part
        shown = plain(part.get("output")) or plain(part.get("errorText")) if is_done else None
        failed = part.get("state") == "output-error" or "errorText" in part
        return pieces.Call(part.get("toolCallId"), name, part.get("input"), shown, failed)
    return pieces.SILENT if kind.startswith(_SILENT_VERCEL_AI) else pieces.common(part)


def _result(part: Record) -> pieces.Result:
    output = part.get("output", part.get("result"))
    kind = kind_of(output) if isinstance(output, dict) else None
    failed = part.get("isError") is True or kind in ("error-text", "error-json", "execution-denied")
    if isinstance(output, dict) and kind is not None and "value" in output:
        output = output["value"]
    return pieces.Result(plain(part.get("toolCallId")), plain(output), failed)
