"""Reads Google ADK: sessions with events, lists of events, evaluation sets and their results."""

from __future__ import annotations

from collections.abc import Iterator

from construction.sessions.readers import pieces
from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds, objects
from construction.sessions.readers.talk import Record, Talk, Uids, dicts, first_text, inner, plain
from data.contracts import ReadIssue, Session, SourceFormat

_NAME = "google-adk"


def fits(sample: Sample) -> bool:
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


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
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
            add_event(loose, record, line)
    yield from issues
    if loose.drafts or loose.issues or not is_listed:
        yield from loose.session(uids=uids, agent_name=_NAME)


def _session(
    source: SourceFile, uids: Uids, record: Record, events: list[Record], line: int
) -> Iterator[Session | ReadIssue]:
    talk = Talk(source, SourceFormat.ADK)
    for event in events:
        add_event(talk, event, line)
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


def add_event(talk: Talk, event: Record, line: int) -> None:
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
        talk, role, pieces.of(talk, content.get("parts"), line, _piece), line, at=at, key=key
    )


def _piece(part: Record) -> pieces.Piece:
    piece = pieces.gemini(part)
    return pieces.SILENT if piece is pieces.UNKNOWN else piece
