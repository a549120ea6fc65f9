"""Reads Cursor: agent transcripts, the stream of `cursor-agent -p`, and its store (SQLite)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from construction.sessions.readers import pieces
from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds, json_lines
from construction.sessions.readers.talk import (
    Record,
    Said,
    Talk,
    Uids,
    decoded,
    dicts,
    first_text,
    inner,
    kind_of,
    plain,
    type_name,
)
from data.contracts import Attachment, Origin, ReadIssue, Session, SourceFormat

# Reads the state that Cursor's editor keeps in SQLite (`state.vscdb`), of a workspace or of all.
#
# A conversation of the composer is a list of bubbles, which stand in it (to 2024) or under keys of
# their own that its heads name. A workspace of newer versions names its conversations, which stand
# in the state of all workspaces, and holds none. The chat before the composer is a list of tabs.

_Query = Callable[..., Iterator[dict[str, Any]]]

_COMPOSERS = "composer.composerData"
_CHAT = "workbench.panel.aichat.view.aichat.chatdata"
_PERSON = (1, "user")
_AGENT = (2, "ai")
_APPLIED = ("accepted", "completed")  # states of a block of code that is in its file
_FAILED = ("error", "cancelled", "rejected")


def holds(query: _Query) -> bool:
    """Whether the state holds conversations, and not only what the editor shows."""
    return next(_composers(query), None) is not None or bool(_tabs(query))


def read_state(source: SourceFile, query: _Query, uids: Uids) -> Iterator[Session | ReadIssue]:
    """A session for each conversation with words of a person."""
    for composer in _composers(query):
        own = plain(composer.get("composerId"))
        talk = Talk(source, SourceFormat.CURSOR, is_typed=True)
        for bubble in _bubbles(query, composer):
            _add(talk, bubble, inner(composer, "codeBlockData"))
        if talk.drafts:
            parent = first_text(inner(composer, "subagentInfo"), "parentComposerId")
            yield from talk.session(
                own or None,
                uids=uids,
                agent_name="cursor",
                started_at=epoch_seconds(composer.get("createdAt")),
                parent_session_id=parent,
            )
    for tab in _tabs(query):
        talk = Talk(source, SourceFormat.CURSOR, is_typed=True)
        for bubble in dicts(tab.get("bubbles")):
            _add(talk, bubble, {})
        if talk.drafts:
            yield from talk.session(first_text(tab, "tabId"), uids=uids, agent_name="cursor")


def _value(query: _Query, table: str, key: str) -> Record:
    """The object under a key; empty without one, or without the table."""
    if not _has(query, table):
        return {}
    row = next(query(f"SELECT value FROM {table} WHERE key = ?", key), {})  # noqa: S608
    return inner(decoded(row.get("value")))


def _has(query: _Query, table: str) -> bool:
    known = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return next(query(known, table), None) is not None


def _composers(query: _Query) -> Iterator[Record]:
    """The conversations with bubbles, of a workspace and then of all."""
    for composer in dicts(_value(query, "ItemTable", _COMPOSERS).get("allComposers")):
        if dicts(composer.get("conversation")):
            yield composer
    if _has(query, "cursorDiskKV"):
        # A range of keys, for which SQLite needs no walk through the table.
        keys = "SELECT key FROM cursorDiskKV WHERE key > 'composerData:' AND key < 'composerData;'"
        for row in query(f"{keys} ORDER BY key"):
            composer = _value(query, "cursorDiskKV", plain(row["key"]))
            named = composer.get("conversation") or composer.get("fullConversationHeadersOnly")
            if dicts(named):
                yield {"composerId": plain(row["key"]).partition(":")[2], **composer}


def _tabs(query: _Query) -> list[Record]:
    return dicts(_value(query, "ItemTable", _CHAT).get("tabs"))


def _bubbles(query: _Query, composer: Record) -> Iterator[Record]:
    if inside := dicts(composer.get("conversation")):
        yield from inside
        return
    kept = inner(composer, "conversationMap")
    for head in dicts(composer.get("fullConversationHeadersOnly")):
        own = plain(head.get("bubbleId"))
        key = f"bubbleId:{plain(composer.get('composerId'))}:{own}"
        yield inner(kept, own) or _value(query, "cursorDiskKV", key)


def _add(talk: Talk, bubble: Record, blocks: Record) -> None:
    kind, at = bubble.get("type"), epoch_seconds(bubble.get("createdAt"))
    text = first_text(bubble, "text", "rawText") or ""
    if kind in _PERSON:
        images = [*dicts(bubble.get("selectedImages")), *dicts(bubble.get("images"))]
        names = (first_text(image, "path") for image in images)
        talk.person(text, at=at, media=tuple(Attachment(name) for name in names if name))
    elif kind in _AGENT:
        model = inner(bubble, "modelInfo").get("modelName") or bubble.get("modelType")
        answer = talk.answer(at=at, key=first_text(bubble, "usageUuid", "serverBubbleId"))
        answer.model = model if isinstance(model, str) else None
        answer.think(inner(bubble, "thinking").get("text"))
        answer.say(text)
        if used := inner(bubble, "toolFormerData"):
            _add_call(talk, used, at)
        elif applied := _applied(bubble, blocks):
            talk.notice("\n".join(f"Applied edit to {path}" for path in applied), at=at)
    elif bubble:
        talk.unexpected(0, "a bubble of an unknown type")
    else:
        talk.skip("lost_bubble")


def _add_call(talk: Talk, used: Record, at: float | None) -> None:
    """Add a call. What the editor made of its arguments has the path that the model left out."""
    given = inner(decoded(used.get("rawArgs"))) or inner(used, "rawArgs")
    made = inner(decoded(used.get("params"))) or inner(used, "params")
    name = first_text(used, "name") or f"tool {plain(used.get('tool'))}"
    served = dicts(made.get("tools"))
    if name.startswith("mcp") and served and not given:
        given = inner(decoded(served[0].get("parameters")))
    answer = talk.answer(at=at)
    own = answer.call(used.get("toolCallId"), name, {**made, **given} if given else made)
    failed = used.get("status") in _FAILED or used.get("userDecision") == "rejected"
    shown = used.get("result") or used.get("error")
    if shown or failed:
        talk.results.add(own, plain(shown), failed)


def _applied(bubble: Record, blocks: Record) -> list[str]:
    """The files into which the editor wrote the blocks of code of an answer."""
    paths: dict[str, None] = {}
    for block in dicts(bubble.get("codeBlocks")):
        uri = inner(block, "uri")
        external = first_text(uri, "external") or f"file://{first_text(uri, 'path')}"
        versions = dicts(blocks.get(external))
        if any(
            kept.get("version") == block.get("version") and kept.get("status") in _APPLIED
            for kept in versions
        ):
            paths[first_text(uri, "fsPath") or unquote(external.removeprefix("file://"))] = None
    return list(paths)


_QUERY = ("<user_query>", "</user_query>")
_TAG = re.compile(r"\s*<([a-z]{1,30}(?:_[a-z]{1,30}){1,5})>")
_NAME = "cursor-agent"


def fits(sample: Sample) -> bool:
    """A role next to a message without a type, or a stream with Cursor's `tool_call` records."""
    for record in sample.records:
        message = record.get("message")
        if "role" in record and isinstance(message, dict) and "type" not in record:
            return isinstance(message.get("content"), list | str)
        if kind_of(record) == "tool_call" and isinstance(record.get("tool_call"), dict):
            return True
        # Claude Code's first record names its tools, or has an id.
        if kind_of(record) == "system" and record.get("subtype") == "init":
            return not {"tools", "uuid"} & record.keys() and "apiKeySource" in record
    return False


@dataclass(slots=True)
class Log:
    talk: Talk
    by_agent: bool
    head: Record = field(default_factory=dict)
    written: list[str] = field(default_factory=list)  # deltas since the last other record
    thought: list[str] = field(default_factory=list)  # pieces of a thought
    prompt: str = ""  # the last one in a person's tags

    def settle(self) -> None:
        """Add the pieces of a thought that has ended."""
        if self.thought:
            self.talk.answer().think("".join(self.thought))
            self.thought.clear()


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a transcript or stream."""
    path = PurePosixPath(source.relative)
    is_side = path.parent.name == "subagents"
    log = Log(Talk(source, SourceFormat.CURSOR), is_side)
    for line, record in log.talk.records(json_lines):
        if kind_of(record) != "thinking":
            log.settle()
        if isinstance(record.get("message"), dict):
            add_message(log, line, record)
        else:
            log.written.clear()
            _add_event(log, line, record)
    log.settle()
    yield from log.talk.session(
        first_text(log.head, "session_id"),
        cwd=first_text(log.head, "cwd"),
        agent_name=_NAME,
        parent_session_id=(path.parent.parent.name or None) if is_side else None,
    )


def add_message(log: Log, line: int, record: Record) -> None:
    talk, message = log.talk, inner(record, "message")
    role = record.get("role") or message.get("role") or kind_of(record)
    given = list(pieces.of(talk, message.get("content"), line))
    at = epoch_seconds(record.get("timestamp_ms"))
    if role == "assistant":
        _add_answer(log, line, at, given, is_stream=kind_of(record) == "assistant")
        return
    log.written.clear()
    for piece in given:
        if isinstance(piece, pieces.Result):
            talk.result(piece.text, piece.failed, piece.call_id)
    text = pieces.text(given)
    if role == "system":
        talk.system(text, line, at=at)
    elif role == "user":
        _add_prompt(log, text, line, at)
    elif role != "tool":
        talk.unexpected(line, f"a message of role {type_name(role)}")


def _add_prompt(log: Log, text: str, line: int, at: float | None) -> None:
    """Add a prompt. One that stands again behind a notice was given to the agent anew."""
    last = log.talk.drafts[-1] if log.talk.drafts else None
    if text == log.prompt and isinstance(last, Said) and last.origin is Origin.SYSTEM:
        log.talk.skip("replayed_prefix")
        return
    add_prompt(log.talk, text, line, at, Origin.AGENT if log.by_agent else None)
    log.prompt = text if _QUERY[0] in text else log.prompt


def add_prompt(
    talk: Talk, text: str, line: int, at: float | None = None, origin: Origin | None = None
) -> None:
    """Add what stands in the tags of the person's words; other tags alone are the program's."""
    said = _queries(text)
    if said is None and _is_tagged(text):
        talk.notice(text, line, at=at)
    else:
        talk.person(text, line, at=at, said=said, origin=origin)


def _is_tagged(text: str) -> bool:
    """Is it nothing but tags of the program, one after the other?"""
    position = 0
    while (opening := _TAG.match(text, position)) is not None:
        closing = f"</{opening[1]}>"
        end = text.find(closing, opening.end())
        if end < 0:
            return False
        position = end + len(closing)
        # A tag that quotes its own name ends where no text follows.
        if not text[position:].strip() or _TAG.match(text, position) is not None:
            continue
        position = text.rfind(closing) + len(closing)
    return position > 0 and not text[position:].strip()


def _queries(text: str) -> str | None:
    """What stands in the tags of the person's words; None without such a tag."""
    said: list[str] = []
    position = 0
    while (start := text.find(_QUERY[0], position)) >= 0:
        end = text.find(_QUERY[1], start)
        end = len(text) if end < 0 else end
        said.append(text[start + len(_QUERY[0]) : end].strip())
        position = end
    return "\n".join(said) if said else None


def _add_answer(
    log: Log, line: int, at: float | None, given: list[pieces.Piece], *, is_stream: bool
) -> None:
    answer = log.talk.answer(line, at=at)
    for piece in given:
        if isinstance(piece, pieces.Text):
            if is_stream and log.written and piece.text == "".join(log.written):
                log.talk.skip("duplicate_event")  # the whole of what came in pieces
                log.written.clear()
                continue
            log.written.append(piece.text)
            answer.say(piece.text)
        elif isinstance(piece, pieces.Thought):
            answer.think(piece.text)
        elif isinstance(piece, pieces.Call):
            answer.call(piece.call_id, piece.name, piece.arguments, line)
        elif isinstance(piece, pieces.Result):
            log.talk.result(piece.text, piece.failed, piece.call_id)


def _add_event(log: Log, line: int, record: Record) -> None:
    talk, kind, subtype = log.talk, kind_of(record), record.get("subtype")
    at = epoch_seconds(record.get("timestamp_ms"))
    if kind == "system":
        log.head = record if subtype == "init" else log.head
        talk.skip()
    elif kind == "tool_call":
        call_id = plain(record.get("call_id"))
        name, call = _tool(inner(record, "tool_call"))
        if subtype == "started" or call_id not in talk.open:
            answer = talk.answer(line, at=at)
            answer.call(call_id, name, call.get("args", call.get("arguments")), line)
        if subtype == "started":
            return
        result = inner(call, "result")
        success = result.get("success")
        failed = bool(result) and "success" not in result
        shown = next(iter(result.values()), "") if failed else success
        text = first_text(shown, "content", "output", "stdout") if isinstance(shown, dict) else None
        talk.result(text or plain(shown), failed, call_id)
    elif kind == "thinking":
        log.thought.append(plain(record.get("text")))
    elif kind in ("result", "turn_ended"):
        talk.skip()
    else:
        talk.unexpected(line, f"a record of type {type_name(kind)}")


def _tool(held: Record) -> tuple[str, Record]:
    """(name, call) of `{"readToolCall": {"args": …}}` or `{"function": {"name": …}}`."""
    for key, call in held.items():
        if isinstance(call, dict):
            named = first_text(call, "name") if key == "function" else None
            return named or key.removesuffix("ToolCall"), call
    return "tool", {}
