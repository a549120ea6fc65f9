"""Reads OpenHands: trajectories and evaluation outputs of V0, events of V1, requests to models.

A folder of events, one file each, is one session: the first file stands for all of them. Of the
requests of a run, one file each, the last holds all that was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from construction.sessions.readers.chat import chat_session
from construction.sessions.readers.source import (
    Sample,
    SourceFile,
    document_of,
    epoch_seconds,
    files_in,
    values,
)
from construction.sessions.readers.talk import (
    Answer,
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

_REQUEST = re.compile(r"(.{1,200})-(\d{9,11}\.\d{1,9})(?:-\w{1,36})?\.json")
_MESSAGES = ("fncall_messages", "raw_messages", "messages")  # calls as text stand in the last
_EVENT = re.compile(r"(?:event-)?(\d{1,9})(?:-[\w-]{1,80})?\.json")
_ACTORS = frozenset({"user", "agent", "environment"})
# Actions of V0 that are no calls of tools: words, and what the program does with itself.
_SILENT_ACTIONS = frozenset(
    {"change_agent_state", "recall", "null", "condensation", "condensation_request", "pause"}
    | {"resume", "stop", "start", "loop_recovery", "initialize"}
)
_SILENT_SEEN = frozenset(
    {"agent_state_changed", "null", "recall", "condense", "message", "loop_detection", "think"}
)
_SILENT_EVENTS = frozenset(
    {"ConversationStateUpdateEvent", "CondensationRequest", "PauseEvent", "TokenEvent"}
    | {"LLMCompletionLogEvent", "HookExecutionEvent", "StreamingDeltaEvent", "InterruptEvent"}
    | {"CondensationSummaryEvent", "ResumeTranscriptEvent", "UserActionEvent"}
)
_V1 = re.compile(r"[A-Z]\w{2,60}(?:Event|Condensation|Request)|Condensation")
_NAME = "openhands"
# What an evaluation answers in the person's place when the agent stops.
_ANSWERED = "Please continue working on the task on whatever approach you think is suitable."


def fits(sample: Sample) -> bool:
    """Events with a `source` and an action, an observation or a `kind`, or a history of such
    events.

    With an `instruction` its events may lack their surroundings. A request to a model has
    `messages`, a `response` with `choices` and a `cost`.
    """
    if _is_request(sample.head):
        return True
    for record in sample.records:
        history = record.get("history")
        if _is_event(record) or ("instance_id" in record and _has_events(history)):
            return True
        if "instruction" in record and any(map(_is_bare, _flat(history)[:5])):
            return True
        if _has_events(record.get("trajectory")) or _has_events(record.get("events")):
            return True
    return False


def _is_request(head: Record) -> bool:
    choices = inner(head, "response").get("choices")
    return isinstance(choices, list) and {"messages", "cost"} <= head.keys()


def _has_events(listed: object) -> bool:
    flat = _flat(listed)
    return any(_is_event(event) for event in flat[:5])


def _is_event(record: object) -> bool:
    if not isinstance(record, dict) or kind_of(record, "source") not in _ACTORS:
        return False
    if isinstance(record.get("kind"), str):
        return _V1.fullmatch(record["kind"]) is not None
    named = record.get("action", record.get("observation"))
    return isinstance(named, str) and ("args" in record or "extras" in record or "id" in record)


def _is_bare(event: Record) -> bool:
    """Is it an event that the resolver wrote without its envelope (source, id and arguments)?"""
    named = isinstance(event.get("action"), str) != isinstance(event.get("observation"), str)
    return named and not {"source", "args", "extras"} & event.keys()


def _flat(listed: object) -> list[Record]:
    """The events of a history; older ones hold pairs of an action and its observation."""
    events: list[Record] = []
    for item in listed if isinstance(listed, list) else ():
        events += dicts(item) if isinstance(item, list) else dicts([item])
    return events


def parts(path: Path) -> list[Path]:
    """The files of a session that lies in a folder: its events in order, or its last request."""
    request = _REQUEST.fullmatch(path.name)
    if request is not None:
        runs = [(m, f) for f in files_in(path.parent) if (m := _REQUEST.fullmatch(f.name))]
        own = [(float(m[2]), f) for m, f in runs if m[1] == request[1]]
        return [file for _, file in sorted(own, reverse=True)]
    if _EVENT.fullmatch(path.name) is None or not _is_event(
        document_of(SourceFile(path, path.name))
    ):
        return []
    numbered = [
        (match, file) for file in files_in(path.parent) if (match := _EVENT.fullmatch(file.name))
    ]
    return [file for _, file in sorted(numbered, key=lambda pair: (int(pair[0][1]), pair[1].name))]


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a trajectory or a folder, and one for each line of an evaluation's output."""
    head = inner(document_of(source))
    if _is_request(head):
        yield from _request(source, head)
        return
    uids = Uids(source.relative)
    talk = Talk(source, SourceFormat.OPENHANDS)
    files = parts(source.path)
    name: str | None = None
    if len(files) > 1:
        if source.path != files[0]:
            actual, expected = "an event of a session in a folder", files[0].name
            yield ReadIssue("file", source.relative, 0, "file.part", actual, expected)
            return
        folder = source.path.parent
        name = folder.parent.name if folder.name == "events" else folder.name
    for file in files or [source.path]:
        for item in values(SourceFile(file, source.relative)):
            if isinstance(item, ReadIssue):
                yield item
            elif (history := _history(item[1])) is not None:
                yield from _run(source, uids, *history, item[0])
            elif isinstance(item[1], dict):
                _add_event(talk, item[1], item[0])
            else:
                talk.unexpected(item[0], type_name(item[1]))
    if talk.drafts or not uids.any_given:
        yield from talk.session(name, uids=uids, agent_name=_NAME)


def _request(source: SourceFile, head: Record) -> Iterator[Session | ReadIssue]:
    """The conversation that a request holds, with its answer."""
    key = next(key for key in _MESSAGES if isinstance(head.get(key), list))
    response = inner(head, "fncall_response") or inner(head, "response")
    answers = [inner(choice, "message") for choice in dicts(response.get("choices"))[:1]]
    folder = PurePosixPath(source.relative).parent.name
    yield from chat_session(
        source,
        SourceFormat.OPENHANDS,
        [(0, message) for message in (*head[key], *answers)],
        folder or None,
        agent_name=_NAME,
        started_at=epoch_seconds(head.get("timestamp")),
    )


def _history(record: object) -> tuple[Record, list[Record]] | None:
    """A record that holds the events of a whole session, and those events."""
    for key in ("history", "trajectory", "events"):
        if not isinstance(record, dict):
            return None
        if _has_events(record.get(key)):
            return record, _flat(record[key])
        if "instruction" in record and any(map(_is_bare, _flat(record.get(key)))):
            return record, list(_enveloped(_flat(record[key])))
    return None


def _enveloped(events: list[Record]) -> Iterator[Record]:
    """Bare events with a source, an id and a cause: an observation belongs to the action before."""
    cause = -1
    for number, event in enumerate(events):
        kind = event.get("action")
        if not _is_bare(event):
            yield event
        elif isinstance(kind, str):
            args = {key: value for key, value in event.items() if key != "action"}
            is_said = kind == "message" and event.get("wait_for_response") is not True
            cause = number
            yield {
                "id": number,
                "source": "user" if is_said else "agent",
                "action": kind,
                "args": args,
            }
        else:
            yield {**event, "source": "environment", "extras": event, "cause": cause}
            cause = cause if event["observation"] in _SILENT_SEEN else -1


def _issue_name(record: Record) -> str | None:
    """The issue that a resolver worked on."""
    owner, repo, number = (inner(record, "issue").get(key) for key in ("owner", "repo", "number"))
    return f"{owner}/{repo}#{number}" if owner and repo and number else None


def _run(
    source: SourceFile, uids: Uids, record: Record, events: list[Record], line: int
) -> Iterator[Session | ReadIssue]:
    talk = Talk(source, SourceFormat.OPENHANDS)
    for event in events:
        _add_event(talk, event, line)
    name = first_text(record, "instance_id", "id") or _issue_name(record)
    yield from talk.session(name, uids=uids, agent_name=_NAME)


def _add_event(talk: Talk, event: Record, line: int) -> None:
    """Add one event of either version."""
    if isinstance(event.get("kind"), str):
        _add_v1(talk, event, line)
    elif isinstance(event.get("action"), str):
        _add_action(talk, event, line)
    elif isinstance(event.get("observation"), str):
        _add_observation(talk, event, line)
    elif "status_update" in event or kind_of(event) == "info":
        talk.skip()
    else:
        talk.unexpected(line, f"an event with {len(event)} keys")


def _add_action(talk: Talk, event: Record, line: int) -> None:
    kind, args = plain(event.get("action")), inner(event, "args")
    at = epoch_seconds(event.get("timestamp"))
    by_person = event.get("source") == "user"
    if kind == "message":
        text = plain(args.get("content"))
        if by_person and text.startswith(_ANSWERED):
            talk.notice(text, line, at=at)
        elif by_person:
            names: Any = args.get("file_urls") or args.get("image_urls") or []
            media = tuple(Attachment(n) for n in names if isinstance(n, str) and n[:5] != "data:")
            talk.person(text, line, at=at, media=media)
        else:
            talk.answer(line, at=at).say(text)
    elif kind == "system":
        talk.system(plain(args.get("content")), line, at=at)
    elif kind in ("finish", "reject"):
        talk.answer(line, at=at).say(args.get("thought"))
        talk.answer(line, at=at).say(
            first_text(args, "final_thought") or first_text(inner(args, "outputs"), "content")
        )
    elif kind in _SILENT_ACTIONS:
        talk.skip()
    elif by_person:
        talk.notice(f"{kind}: {plain(args.get('command') or args)}", line, at=at)
    else:
        _add_act(talk.answer(line, at=at), event, kind, args, line)


def _add_act(answer: Answer, event: Record, kind: str, args: Record, line: int) -> None:
    thought = args.get("thought")
    model = inner(event, "tool_call_metadata", "model_response").get("model")
    answer.model = answer.model or (model if isinstance(model, str) else None)
    if kind == "think":
        answer.think(thought)  # a thought that is logged, and nothing done
        return
    answer.say(thought)
    arguments = {key: value for key, value in args.items() if key not in ("thought", "hidden")}
    name = first_text(args, "name") if kind == "call_tool_mcp" else None
    answer.call(f"event-{event.get('id')}", name or kind, arguments, line)


def _add_observation(talk: Talk, event: Record, line: int) -> None:
    kind, extras = plain(event.get("observation")), inner(event, "extras")
    cause = event.get("cause")
    text = plain(event.get("content"))
    if kind in _SILENT_SEEN:
        talk.skip()
    elif isinstance(cause, int) and not isinstance(cause, bool) and cause >= 0:
        code = inner(extras, "metadata").get("exit_code", extras.get("exit_code"))
        failed = kind in ("error", "user_rejected") or (
            isinstance(code, int) and code not in (0, -1)
        )
        talk.results.add(f"event-{cause}", text, failed)
    else:
        talk.notice(text, line, at=epoch_seconds(event.get("timestamp")))


def _add_v1(talk: Talk, event: Record, line: int) -> None:
    kind = event.get("kind")
    at = epoch_seconds(event.get("timestamp"))
    if kind == "MessageEvent":
        _add_message(talk, event, line, at)
    elif kind == "SystemPromptEvent":
        prompt = event.get("system_prompt")
        talk.system(plain(prompt.get("text") if isinstance(prompt, dict) else prompt), line, at=at)
    elif kind in ("ActionEvent", "ACPToolCallEvent"):
        _add_v1_action(talk, event, line, at)
    elif kind == "ObservationEvent":
        seen = inner(event, "observation")
        if kind_of(seen, "kind") == "ThinkObservation":
            talk.skip()
            return
        content = seen.get("content", seen.get("output", seen.get("text")))
        code = seen.get("exit_code")
        failed = seen.get("is_error") is True or bool(seen.get("error"))
        failed = failed or (isinstance(code, int) and code not in (0, -1))
        text = _text(content) or plain(seen.get("error"))
        talk.results.add(plain(event.get("tool_call_id")), text, failed)
    elif kind in ("AgentErrorEvent", "UserRejectObservation"):
        text = plain(event.get("error") or event.get("rejection_reason"))
        talk.results.add(plain(event.get("tool_call_id")), text, is_error=True)
    elif kind == "ConversationErrorEvent":
        talk.notice(plain(event.get("detail") or event.get("code")), line, at=at)
    elif kind == "Condensation":
        talk.notice(plain(event.get("summary")), line, at=at)
    elif kind in _SILENT_EVENTS:
        talk.skip()
    else:
        talk.unexpected(line, f"an event of type {type_name(kind)}")


def _add_message(talk: Talk, event: Record, line: int, at: float | None) -> None:
    message = inner(event, "llm_message")
    text = _text(message.get("content"))
    if message.get("role") == "assistant" or event.get("source") == "agent":
        answer = talk.answer(line, at=at, key=first_text(event, "llm_response_id"))
        answer.say(text)
        answer.think(message.get("reasoning_content"))
    elif event.get("source") == "user":
        talk.person(text, line, at=at)
    else:
        talk.notice(text, line, at=at)


def _add_v1_action(talk: Talk, event: Record, line: int, at: float | None) -> None:
    answer = talk.answer(line, at=at, key=first_text(event, "llm_response_id"))
    answer.say(_text(event.get("thought")))
    answer.think(event.get("reasoning_content"))
    name = first_text(event, "tool_name")
    action = inner(event, "action")
    if name == "finish":
        answer.say(first_text(action, "message"))
        return
    if kind_of(action, "kind") == "ThinkAction":
        answer.think(action.get("thought"))
        return
    arguments = {key: value for key, value in action.items() if key != "kind"}
    if not arguments:
        arguments = inner(event, "tool_call").get(
            "arguments", inner(event, "tool_call", "function")
        )
    answer.call(event.get("tool_call_id"), name, arguments, line)


def _text(content: object) -> str:
    """The texts of a content that is a text or parts."""
    if isinstance(content, list):
        return "\n".join(plain(part.get("text")) for part in dicts(content) if "text" in part)
    return plain(content)
