"""Reads Cursor: agent transcripts, the stream of `cursor-agent -p`, and its store (SQLite)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from construction.sessions.readers import pieces
from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds, json_lines
from construction.sessions.readers.talk import Record, Said, Talk, first_text, inner, kind_of
from construction.sessions.readers.turns import plain, type_name
from data.contracts import Origin, ReadIssue, Session, SourceFormat

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
