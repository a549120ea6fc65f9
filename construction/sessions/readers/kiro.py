"""Reads Kiro's command line: records of a kind and data, or a history of pairs."""

from __future__ import annotations

from collections.abc import Iterator

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
    dicts,
    first_text,
    inner,
    kind_of,
    plain,
    type_name,
)
from data.contracts import ReadIssue, Session, SourceFormat

_ROLES = {"Prompt": "user", "AssistantMessage": "assistant", "ToolResults": "tool"}
_LISTED = "log_entries"
_ASKED = frozenset({"Prompt", "ToolUseResults", "CancelledToolUses"})
_ANSWERED = frozenset({"Response", "ToolUse"})
_NOTICES = frozenset({"Compaction", "Clear", "CancelledPrompt"})


def fits(sample: Sample) -> bool:
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


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The one session of a file."""
    talk = Talk(source, SourceFormat.KIRO, is_typed=True)
    document = document_of(source)
    if isinstance(document, dict) and _is_history(document):
        add_history(talk, document, 0)
        yield from session_of(talk, document, None)
        return
    for line, record in talk.records(lambda file: records(file, _LISTED)):
        kind, data = kind_of(record, "kind"), inner(record, "data")
        if (role := _ROLES.get(kind)) is not None:
            at = epoch_seconds(inner(data, "meta").get("timestamp"))
            given = pieces.of(talk, data.get("content"), line, _piece)
            pieces.add(talk, role, given, line, at=at)
        elif kind in _NOTICES:
            talk.notice(plain(data.get("summary")), line)
        else:
            talk.unexpected(line, f"a record of kind {type_name(record.get('kind'))}")
    head = inner(document, "metadata")
    yield from talk.session(
        first_text(head, "session_id"), cwd=first_text(head, "cwd"), agent_name="kiro"
    )


def _piece(part: Record) -> pieces.Piece:
    kind, data = kind_of(part, "kind"), inner(part, "data")
    if kind == "toolUse":
        return pieces.Call(data.get("toolUseId"), data.get("name"), data.get("input"))
    if kind == "toolResult":
        shown = "\n".join(plain(block.get("data")) for block in dicts(data.get("content")))
        return pieces.Result(plain(data.get("toolUseId")), shown, data.get("status") == "error")
    if kind == "text":
        return pieces.Text(plain(part.get("data")))
    return pieces.common({**data, "type": kind})


def add_history(talk: Talk, held: Record, line: int) -> None:
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


def session_of(
    talk: Talk, held: Record, cwd: str | None, uids: Uids | None = None
) -> Iterator[Session | ReadIssue]:
    """The session of a conversation that `add_history` added."""
    name = first_text(held, "conversation_id")
    yield from talk.session(name, uids=uids, cwd=cwd, agent_name="kiro")
