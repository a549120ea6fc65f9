"""Reads Gemini CLI and its fork Qwen Code, whose messages have the same parts.

Gemini CLI: lines, documents, contents of parts, reports of errors, and its stream. Qwen Code: a
tree of records.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from construction.sessions.readers import pieces
from construction.sessions.readers.claude_log import trees
from construction.sessions.readers.source import (
    Sample,
    SourceFile,
    epoch_seconds,
    json_lines,
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
from data.contracts import Attachment, Origin, ReadIssue, Session, SourceFormat

_AGENT_ROLES = frozenset({"gemini", "model", "assistant"})
_NOTICES = frozenset({"info", "error", "warning", "result"})
_LISTED = ("messages", "history", "context")
_REWIND = "$rewindTo"
# What the program asks when the model stopped too early, and the answer that it puts in its mouth.
_ASKED_ON = ("Please continue.", "System: Please continue.")
_SWITCHED = "User has manually exited Plan Mode. Switching to "
_CANNED = "Got it. Thanks for the context!"
# What `@` brings in follows the prompt.
_INSERTED = "\n--- Content from referenced files ---"
# What an editor adds below the prompt: the open file, then the files that the person selected.
_EDITOR = re.compile(
    r"(?:^|\n)(?:Current File Path:\n```[^\n]*\n[^\n]*\n```[ \t\r\n]*(?=\Z|[A-Z][A-Za-z ]{2,40}:\n)"
    r"|User Selected Files:\n(?=- ))"
)
_SELECTED = re.compile(r"^User Selected Files:\n((?:- [^\n]+\n?)+)", re.MULTILINE)


def fits(sample: Sample) -> bool:
    """`projectHash`, `$set`, a reply of type `gemini`, a history of parts, or stream-json.

    The history may be the `context` in an `error` report.
    """
    for record in sample.records:
        if kind_of(record) == "init" and {"session_id", "model"} <= record.keys():
            return True
        if "projectHash" in record or "$set" in record or kind_of(record) == "gemini":
            return True
        history = record.get("context" if "error" in record else "history")
        if any("parts" in entry for entry in dicts(history)[:20]):
            return True
        is_content = isinstance(record.get("parts"), list) and record["parts"] != []
        if kind_of(record, "role") == "model" and is_content:
            return True
    return False


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a file, or one of each stream in it.

    A message that is logged again replaces itself; rewound ones go.
    """
    log, uids = _Log(), Uids(source.relative)
    for item in values(source):
        if isinstance(item, ReadIssue):
            yield item
            continue
        if log.is_stream and kind_of(item[1]) == "init":
            yield from _session(source, log, uids)
            log = _Log()
        log.read(*item)
    yield from _session(source, log, uids)


def _session(source: SourceFile, log: _Log, uids: Uids) -> Iterator[Session | ReadIssue]:
    head = log.head
    talk = Talk(source, SourceFormat.GEMINI)
    talk.dropped["abandoned_branch"] = log.rewound
    talk.dropped["outside_stream"] = log.outside
    by_agent = head.get("kind") == "subagent"
    for line, message in log.messages.values():
        _add(talk, message, line, by_agent=by_agent)
    yield from talk.session(
        first_text(head, "sessionId"),
        uids=uids,
        agent_name="gemini",
        started_at=epoch_seconds(head.get("startTime") or head.get("start_time")),
        cwd=next((path for path in _folders(head) if path.startswith("/")), None),
    )


class _Log:
    """The head of a log and its messages by id; how many were rewound, or lie outside a stream.

    A script that calls the program writes such messages into the same file.
    """

    def __init__(self) -> None:
        self.head: Record = {}
        self.messages: dict[str, tuple[int, object]] = {}
        self.rewound = self.outside = 0
        self.is_stream = self.is_ended = False

    def read(self, line: int, record: object) -> None:
        messages = self.messages
        if not isinstance(record, dict):
            messages[f"#{len(messages)}"] = (line, record)
        elif "projectHash" in record or any(isinstance(record.get(key), list) for key in _LISTED):
            self.head = record
            lists = (record[key] for key in _LISTED if isinstance(record.get(key), list))
            for entry in chain(*lists):
                is_asked = "context" in record and not isinstance(entry, dict)
                held = {"role": "user", "parts": entry} if is_asked else entry
                messages[_id(held, len(messages))] = (line, held)
        elif _REWIND in record:
            later = list(messages)
            start = later.index(plain(record[_REWIND])) if record[_REWIND] in later else 0
            for name in later[start:]:
                del messages[name]
                self.rewound += 1
        elif kind_of(record) == "init":
            self.head = {
                "sessionId": record.get("session_id"),
                "startTime": record.get("timestamp"),
            }
            self.is_stream = True
            self.outside += len(messages)
            messages.clear()
        elif self.is_ended:
            self.outside += 1
        elif "$set" not in record:
            self.is_ended = self.is_stream and kind_of(record) == "result"
            messages[_id(record, len(messages))] = (line, record)


def _id(entry: object, number: int) -> str:
    own = entry.get("id") if isinstance(entry, dict) else None
    return own if isinstance(own, str) and own else f"#{number}"


def _folders(head: Record) -> list[str]:
    listed = head.get("directories")
    return [path for path in listed if isinstance(path, str)] if isinstance(listed, list) else []


def _add(talk: Talk, entry: object, line: int, *, by_agent: bool) -> None:
    kind = kind_of(entry)
    role = kind if kind not in ("", "message") else kind_of(entry, "role")
    if not isinstance(entry, dict) or not role:
        talk.unexpected(line, type_name(entry) if not isinstance(entry, dict) else "no role")
        return
    at = epoch_seconds(entry.get("timestamp") or entry.get("ts"))
    if role in _NOTICES:
        talk.skip()
    elif role in ("tool_use", "tool_result") or entry.get("delta") is True:
        _add_streamed(talk, entry, line, at)
    elif role in _AGENT_ROLES:
        _add_answer(talk, entry, line, at)
    elif role == "system":
        talk.system(_text(entry), line, at=at)
    elif role == "user":
        _add_prompt(talk, entry, line, at, by_agent=by_agent)
    else:
        talk.unexpected(line, f"a message of role {type_name(role)}")


def _add_prompt(talk: Talk, entry: Record, line: int, at: float | None, *, by_agent: bool) -> None:
    given = list(pieces.of(talk, _content(entry), line, pieces.gemini))
    text = _text(entry)
    shown = _text({"content": entry["displayContent"]}) if "displayContent" in entry else ""
    said, selected = _typed(text.partition(_INSERTED)[0].rstrip())
    said = shown or said
    results = [_named(talk, piece) for piece in given if isinstance(piece, pieces.Result)]
    pieces.add(talk, "tool", results)
    media = (*(piece for piece in given if isinstance(piece, Attachment)), *selected)
    origin, said_ = Origin.AGENT if by_agent else None, said if said != text else None
    is_own = text in _ASKED_ON or text.startswith(_SWITCHED)
    if (said.strip() or media) and not is_own:
        talk.person(text, line, at=at, said=said_, media=media, origin=origin)
    else:
        talk.notice(text, line, at=at)


def _named(talk: Talk, result: pieces.Result) -> pieces.Result:
    """A result under its call's name if the call has no id: the program makes one of the name."""
    last = next((d for d in reversed(talk.drafts) if isinstance(d, Answer)), None)
    names = [own for own, *_ in last.calls] if last is not None else []
    fits = (name for name in names if result.call_id.startswith(f"{name}-"))
    return replace(result, call_id=next(fits, result.call_id))


def _typed(text: str) -> tuple[str, tuple[Attachment, ...]]:
    """(the prompt without what the editor added, the files that the person selected in it)."""
    added = _EDITOR.search(text)
    if added is None:
        return text, ()
    listed = _SELECTED.search(text, added.start())
    names = listed[1].splitlines() if listed else []
    said = text[: added.start()].rstrip()
    return said, tuple(Attachment(name.removeprefix("- ").strip()) for name in names)


def _add_streamed(talk: Talk, entry: Record, line: int, at: float | None) -> None:
    """Add a piece of an answer, a call or a result; words after calls are another answer."""
    kind = kind_of(entry)
    if kind == "tool_result":
        shown = entry.get("output") or inner(entry, "error").get("message")
        talk.results.add(plain(entry.get("tool_id")), plain(shown), entry.get("status") == "error")
        return
    last = talk.drafts[-1] if talk.drafts else None
    if not isinstance(last, Answer) or (last.calls and kind == "message"):
        last = talk.answer(line, at=at)
    if kind == "message":
        last.write(entry.get("content"))
    else:
        last.call(entry.get("tool_id"), entry.get("tool_name"), entry.get("parameters"), line)


def _add_answer(talk: Talk, entry: Record, line: int, at: float | None) -> None:
    if _text(entry) == _CANNED:
        talk.skip()
        return
    answer = talk.answer(line, at=at, model=entry.get("model"))
    for thought in dicts(entry.get("thoughts")):
        answer.think(first_text(thought, "description", "subject"))
    pieces.add_to(talk, answer, pieces.of(talk, _content(entry), line, pieces.gemini), line)
    for call in dicts(entry.get("toolCalls")):
        own = answer.call(call.get("id") or call.get("name"), call.get("name"), call.get("args"))
        shown = _output(call)
        if shown is not None:
            talk.results.add(own, plain(shown), call.get("status") in ("error", "cancelled"))


def _content(entry: Record) -> object:
    return entry.get("content", entry.get("parts"))


def _text(entry: Record) -> str:
    content = _content(entry)
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def _output(call: Record) -> object:
    """What a tool answered, without the wrapping of the response; None if it did not."""
    for result in dicts(call.get("result")):
        response = inner(result, "functionResponse", "response")
        if response:
            return response.get("output", response.get("error", response))
    return call.get("resultDisplay")


_TURNS = frozenset({"user", "assistant", "tool_result"})
_TYPED = frozenset({None, "mid_turn_user_message", "queued_user_message"})
_FRAMES = ("<qwen:", "<system-reminder>")


def fits_qwen(sample: Sample) -> bool:
    """A `sessionId` next to messages made of parts, or next to a `systemPayload`."""
    return any(
        "sessionId" in record
        and (isinstance(inner(record, "message").get("parts"), list) or "systemPayload" in record)
        for record in sample.records
    )


def read_qwen(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session on its active branch: the one that ends last in the file."""
    talk = Talk(source, SourceFormat.QWEN)
    kept: list[tuple[int, Record]] = []
    relays: dict[str, str | None] = {}
    seen: set[str] = set()
    for line, record in talk.records(json_lines):
        kind, own = kind_of(record), first_text(record, "uuid")
        if kind in _TURNS:
            if own is not None and own in seen:
                relays[f"{own}#{len(kept)}"] = own
                record["uuid"] = f"{own}#{len(kept)}"  # one answer in several records
            kept.append((line, record))
            seen.add(own or "")
        elif kind == "system":
            if own is not None:
                relays[own] = first_text(record, "parentUuid")
            talk.skip()
        else:
            talk.unexpected(line, f"a record of type {type_name(kind)}")
    path = _active(kept, relays)
    if abandoned := len(kept) - len(path):
        talk.dropped["abandoned_branch"] = abandoned
    head: Record = kept[path[0]][1] if path else {}
    for position in path:
        _add_qwen(talk, *kept[position])
    yield from talk.session(
        first_text(head, "sessionId"),
        cwd=first_text(head, "cwd"),
        agent_name="qwen-code",
        agent_version=first_text(head, "version"),
    )


def _active(kept: list[tuple[int, Record]], relays: dict[str, str | None]) -> list[int]:
    ids = [first_text(record, "uuid") for _, record in kept]
    parents = [first_text(record, "parentUuid") for _, record in kept]
    forest = trees(ids, parents, [""] * len(kept), relays)
    chosen = {position for tree in forest for position in tree.path}
    # The records of one answer share a parent, so that all but the last look abandoned.
    answers = {(ids[p] or "").partition("#")[0] for p in chosen}
    return [
        p for p in range(len(kept)) if p in chosen or (ids[p] or "").partition("#")[0] in answers
    ]


def _add_qwen(talk: Talk, line: int, record: Record) -> None:
    kind, message = kind_of(record), inner(record, "message")
    at = epoch_seconds(record.get("timestamp"))
    given = list(pieces.of(talk, message.get("parts"), line, pieces.gemini))
    if inner(record, "toolCallResult").get("status") == "error":
        given = [replace(p, failed=True) if isinstance(p, pieces.Result) else p for p in given]
    if kind == "assistant":
        key = (first_text(record, "uuid") or "").partition("#")[0] or None
        pieces.add(talk, kind, given, line, at=at, key=key, model=record.get("model"))
        return
    pieces.add(talk, "tool", [piece for piece in given if isinstance(piece, pieces.Result)])
    if kind == "user":
        _add_qwen_prompt(talk, record, given, line, at)


def _add_qwen_prompt(
    talk: Talk, record: Record, given: list[pieces.Piece], line: int, at: float | None
) -> None:
    texts = [piece.text for piece in given if isinstance(piece, pieces.Text)]
    said = [text for text in texts if not text.lstrip().startswith(_FRAMES)]
    shown = first_text(inner(record, "systemPayload"), "displayText")
    media = tuple(piece for piece in given if isinstance(piece, Attachment))
    text = "\n".join(texts)
    if first_text(record, "subtype") in _TYPED and (said or media):
        origin = Origin.AGENT if record.get("isSidechain") is True else None
        words = shown if shown and not said else "\n".join(said)
        talk.person(text, line, at=at, said=words, media=media, origin=origin)
    else:
        talk.notice(text, line, at=at)
