"""A conversation while a reader builds it: who said what, calls with results, and its session."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import orjson

from construction.sessions.readers.source import Reading, SourceFile, loads, objects, values
from construction.sessions.wrappers.unwrap import unwrap
from data.contracts import (
    Attachment,
    Origin,
    ReadIssue,
    Role,
    Session,
    SourceFormat,
    ToolCall,
    Turn,
)

# Output shared by all readers: session ids, turns, tool calls with results, inline media.

# The address of media on the web is part of the person's text, not a file.
WEB = ("http://", "https://")
_NOT_SLUG = re.compile(r"[^A-Za-z0-9._-]+")
_SLUG_LENGTH = 80
_LONGEST_HEAD = 400  # characters before the data of a `data:` URL


def inline_media(url: str) -> Attachment:
    """A `data:` URL as inline media; any other text as a path."""
    head, mark, encoded = url.partition(";base64,")
    if not mark or not head.startswith("data:") or "," in head or len(head) > _LONGEST_HEAD:
        return Attachment(url)
    return Attachment(None, head.removeprefix("data:").partition(";")[0] or None, encoded)


def without_thought(text: str) -> tuple[str, str]:
    """What a model thinks at the start of an answer in tags of its own, and the rest."""
    opening, mark, rest = text.partition("</think>")
    if not mark or not opening.lstrip().startswith("<think>"):
        return "", text
    return opening.lstrip().removeprefix("<think>").strip(), rest.lstrip()


_ASSISTANT, _AGENT = Role.ASSISTANT, Origin.AGENT  # an enum lookup costs time in this hot path


class ToolResult(NamedTuple):
    """The output of a tool, as text."""

    text: str
    is_error: bool = False


_NO_RESULT = (None, False)


class ToolResults:
    """Results by call id, first in, first out: some harnesses use an id more than once.

    A reader adds all results of a session before it builds the turns, so that no turn must be
    copied to receive a result.
    """

    def __init__(self) -> None:
        self._by_id: dict[str, deque[ToolResult]] = {}

    def add(self, call_id: str, text: str, is_error: bool = False) -> None:
        self._by_id.setdefault(call_id, deque()).append(ToolResult(text, is_error))

    def take(self, call_id: str) -> ToolResult | None:
        """The next result of this id, None if no further one exists."""
        waiting = self._by_id.get(call_id)
        return waiting.popleft() if waiting else None

    def unclaimed(self) -> int:
        """The number of results that no call has taken."""
        return sum(len(waiting) for waiting in self._by_id.values())


def _session_uid(session_id: str, relative: str) -> str:
    """The id as a slug plus six hex digits of the path's hash: unique in the corpus.

    A follow-up file that repeats a session id gets its own uid, and a session that has grown
    keeps its uid from one build to the next.
    """
    slug = _NOT_SLUG.sub("-", session_id).strip("-.")[:_SLUG_LENGTH] or "session"
    return f"{slug}.{hashlib.sha256(relative.encode('utf-8', 'surrogateescape')).hexdigest()[:6]}"


class Uids:
    """Uids for the sessions of one file; repeated ids, and ids with equal slugs, are numbered."""

    def __init__(self, relative: str) -> None:
        self._relative = relative
        self._given: Counter[str] = Counter()

    @property
    def any_given(self) -> bool:
        """Whether the file gave a session."""
        return bool(self._given)

    def give(self, session_id: str) -> str:
        uid = _session_uid(session_id, self._relative)
        self._given[uid] += 1
        return uid if self._given[uid] == 1 else f"{uid}-{self._given[uid]}"


def text_or_none(value: object) -> str | None:
    """The value if it is a text, which may be empty, else None."""
    return value if isinstance(value, str) else None


def type_name(value: object) -> str:
    """A record's type name for messages; for other values, possibly private, type and length."""
    if (
        isinstance(value, str)
        and value.replace("-", "_").replace(".", "_").isidentifier()
        and len(value) <= 40
    ):
        return value
    length = f", {len(value)} characters" if isinstance(value, str) else ""
    return f"{type(value).__name__}{length}"


def decoded(value: object) -> Any:
    """The JSON value that a text or bytes hold, None if they hold none."""
    try:
        return loads(value if isinstance(value, bytes) else plain(value).encode("utf-8", "replace"))
    except ValueError:
        return None


def decoded_arguments(value: object) -> dict[str, Any]:
    """A call's arguments as a dict: an object as it is, JSON text decoded, other values wrapped."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, str):
        return {} if value is None else {"input": value}
    if value.lstrip()[:1] == "{":
        try:
            decoded = orjson.loads(value)
        except orjson.JSONDecodeError:
            return {"input": value}
        if isinstance(decoded, dict):
            return decoded
    return {"input": value} if value else {}


def is_failure(code: object) -> bool:
    """Whether an exit code says that a program failed."""
    return isinstance(code, int) and code != 0


def tool_call(
    results: ToolResults, call_id: str, name: str, arguments: object, line: int
) -> ToolCall:
    """A call joined to the next result of its id."""
    result, is_error = results.take(call_id) or _NO_RESULT
    return ToolCall(call_id, name, decoded_arguments(arguments), result, is_error, line)


def block_text(content: object) -> str:
    """The text of a message's content: a string, or its text blocks joined by newlines."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    if len(content) == 1 and isinstance(content[0], dict):
        text = content[0].get("text")
        return text if isinstance(text, str) else ""
    texts = [block.get("text") if isinstance(block, dict) else block for block in content]
    return "\n".join(text for text in texts if isinstance(text, str))


def plain(content: object) -> str:
    """A text as it is, the text of blocks, or any other value as JSON."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(b, dict) and "text" in b for b in content):
        return block_text(content)
    if content is None:
        return ""
    try:
        return orjson.dumps(content).decode()
    except TypeError:  # nested more than 254 levels deep
        return f"({type(content).__name__}, nested too deeply)"


def user_turn(
    index: int,
    text: str,
    line: int,
    *,
    at: float | None = None,
    turn_id: str | None = None,
    parent_id: str | None = None,
    sender: str | None = None,
    channel: str | None = None,
    attachments: tuple[Attachment, ...] = (),
    origin: Origin | None = None,
) -> Turn:
    """A turn of the user's side, with its text unwrapped.

    Time, sender and channel of the record take precedence over those of the wrapper in its text.
    Attachments of both are kept, the record's first. `origin` overrides the wrapper's, for
    example for a prompt that an agent wrote to a sub-agent.
    """
    unwrapped = unwrap(text, dated=at is None)
    return Turn(
        index,
        Role.USER,
        origin or unwrapped.origin,
        text,
        unwrapped.said,
        line,
        at if at is not None else unwrapped.at,
        turn_id,
        parent_id,
        sender or unwrapped.sender,
        channel or unwrapped.channel,
        attachments=attachments + unwrapped.attachments,
    )


def agent_turn(
    index: int,
    text: str,
    line: int,
    *,
    at: float | None = None,
    turn_id: str | None = None,
    parent_id: str | None = None,
    thinking: str = "",
    model: str | None = None,
    stop_reason: str | None = None,
    tool_calls: tuple[ToolCall, ...] = (),
) -> Turn:
    """A turn of the agent, made from the merged records of one message."""
    return Turn(
        index,
        _ASSISTANT,
        _AGENT,
        text,
        text,
        line,
        at,
        turn_id,
        parent_id,
        None,
        None,
        thinking,
        model,
        stop_reason,
        (),
        tool_calls,
    )


def system_turn(
    index: int,
    text: str,
    line: int,
    *,
    at: float | None = None,
    turn_id: str | None = None,
    parent_id: str | None = None,
) -> Turn:
    """A turn with text that nobody typed: a compaction summary, a hook's message, a notice."""
    return Turn(index, Role.SYSTEM, Origin.SYSTEM, text, text, line, at, turn_id, parent_id)


Record = dict[str, Any]


@dataclass(slots=True)
class Said:
    """What a person or the harness said; `said` are the words without the harness's frame."""

    text: str
    line: int
    at: float | None
    said: str | None
    media: tuple[Attachment, ...]
    origin: Origin | None
    sender: str | None = None


@dataclass(slots=True)
class Answer:
    """One message of the agent; parts with the same `key` that follow each other belong to it."""

    line: int
    at: float | None
    key: str | None
    model: str | None = None
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[tuple[str, str, object, int]] = field(default_factory=list)
    stop_reason: str | None = None
    open: deque[str] = field(default_factory=deque)  # the open calls of its conversation

    def say(self, text: object) -> None:
        if isinstance(text, str) and text:
            self.texts.append(text)

    def write(self, piece: object) -> None:
        """Add a piece of a text that a stream gives in pieces."""
        if isinstance(piece, str):
            self.texts[-1:] = ["".join((*self.texts[-1:], piece))]

    def think(self, text: object) -> None:
        if isinstance(text, str) and text:
            self.thoughts.append(text)

    def call(self, call_id: object, name: object, arguments: object, line: int = 0) -> str:
        """Add a call; returns the id under which its result is found."""
        known = f"{self.key or self.line}.{len(self.calls)}"
        own = call_id if isinstance(call_id, str) and call_id else known
        self.calls.append(
            (own, name if isinstance(name, str) and name else "tool", arguments, line)
        )
        self.open.append(own)
        return own


@dataclass(slots=True)
class Talk:
    """The turns of one session in order, the results of its calls, and what was left out.

    `open` are the calls without a result, where a program gives results in the order of the calls.
    """

    source: SourceFile
    format: SourceFormat
    drafts: list[Said | Answer] = field(default_factory=list)
    results: ToolResults = field(default_factory=ToolResults)
    open: deque[str] = field(default_factory=deque)
    dropped: Counter[str] = field(default_factory=Counter)
    issues: list[ReadIssue] = field(default_factory=list)
    system_prompt: str | None = None
    channel: str | None = None
    is_typed: bool = False  # no gateway adds to what a person types into this program

    def records(self, read: Reading = values) -> Iterator[tuple[int, Record]]:
        """(line, object) of each record of the file; any other line becomes an issue."""
        return objects(self.source, self.issues, read)

    def person(
        self,
        text: str,
        line: int = 0,
        *,
        at: float | None = None,
        said: str | None = None,
        media: tuple[Attachment, ...] = (),
        origin: Origin | None = None,
        sender: str | None = None,
    ) -> None:
        """Add words of a person, or with an `origin` words in a person's place."""
        if text.strip() or media:
            self.drafts.append(Said(text, line, at, said, media, origin, sender))

    def notice(self, text: str, line: int = 0, *, at: float | None = None) -> None:
        """Add a text that nobody typed and the agent did not write."""
        self.person(text, line, at=at, origin=Origin.SYSTEM)

    def system(self, text: str, line: int = 0, *, at: float | None = None) -> None:
        """Add instructions: the system prompt if nothing was said before, else a notice."""
        if self.drafts or self.system_prompt is not None:
            self.notice(text, line, at=at)
        else:
            self.system_prompt = text

    def answer(
        self,
        line: int = 0,
        *,
        at: float | None = None,
        key: str | None = None,
        model: object = None,
    ) -> Answer:
        """The message of the agent to add parts to: the last one if it has the same `key`."""
        last = self.drafts[-1] if self.drafts else None
        if key is not None and isinstance(last, Answer) and last.key == key:
            return last
        own = key if key is not None else f"m{len(self.drafts)}"
        made = Answer(line, at, own, model if isinstance(model, str) and model else None)
        made.open = self.open
        self.drafts.append(made)
        return made

    def result(self, text: str, failed: bool = False, call_id: str | None = None) -> None:
        """Add a result to the open call of its id, or to the first one that is open."""
        own = call_id if call_id is not None and call_id in self.open else None
        own = own or (self.open[0] if self.open else call_id or "")
        if own in self.open:
            self.open.remove(own)
        self.results.add(own, text, failed)

    def skip(self, reason: str = "bookkeeping") -> None:
        """Count a record that was understood and left out."""
        self.dropped[reason] += 1

    def unexpected(self, line: int, what: str, expected: str = "a known kind of record") -> None:
        """Note a record that is not understood; `what` names it without its text."""
        path = self.source.relative
        self.issues.append(ReadIssue("record", path, line, "record.unexpected", what, expected))

    def unknown_part(self, line: int, part: object) -> None:
        """Note a part of a message that is not understood."""
        kind = part.get("type") if isinstance(part, dict) else None
        what = f"a part of type {type_name(kind)}" if isinstance(part, dict) else type_name(part)
        self.unexpected(line, what, "a known kind of part")

    def session(
        self, name: str | None = None, *, uids: Uids | None = None, **fields: Any
    ) -> Iterator[Session | ReadIssue]:
        """All issues, then the session; without any message the file is an issue.

        `name` is the log's own id, else the file's name; `fields` are further ones of a Session.
        """
        yield from self.issues
        turns = list(self._turns())
        relative = self.source.relative
        if not turns:
            yield ReadIssue(
                "file", relative, 0, "file.no_records", "0 messages", f"messages of {self.format}"
            )
            return
        if unclaimed := self.results.unclaimed():
            self.dropped["result_without_call"] += unclaimed
        own = name or PurePosixPath(relative).name.split(".json")[0]
        started = fields.pop("started_at", None)
        yield Session(
            uid=uids.give(own) if uids is not None else _session_uid(own, relative),
            session_id=own,
            source_format=self.format,
            source_path=relative,
            turns=tuple(turns),
            started_at=started or next((turn.at for turn in turns if turn.at is not None), None),
            system_prompt=self.system_prompt,
            dropped={reason: count for reason, count in sorted(self.dropped.items()) if count},
            **fields,
        )

    def _turns(self) -> Iterator[Turn]:
        index = 0
        for draft in self.drafts:
            if isinstance(draft, Said):
                yield self._said(index, draft)
            elif draft.texts or draft.thoughts or draft.calls:
                yield self._answered(index, draft)
            else:
                continue
            index += 1

    def _said(self, index: int, draft: Said) -> Turn:
        if draft.origin is Origin.SYSTEM:
            return system_turn(index, draft.text, draft.line, at=draft.at)
        turn = user_turn(
            index,
            draft.text if draft.said is None else draft.said,
            draft.line,
            at=draft.at,
            sender=draft.sender,
            channel=self.channel,
            attachments=draft.media,
            origin=draft.origin,
        )
        if self.is_typed and turn.origin is Origin.HUMAN:
            turn = replace(turn, said=(draft.said or draft.text).strip())
        return turn if draft.said is None else replace(turn, text=draft.text)

    def _answered(self, index: int, draft: Answer) -> Turn:
        return agent_turn(
            index,
            "\n".join(draft.texts),
            draft.line,
            at=draft.at,
            thinking="\n".join(draft.thoughts),
            model=draft.model,
            stop_reason=draft.stop_reason,
            tool_calls=tuple(
                tool_call(self.results, call_id, name, arguments, line or draft.line)
                for call_id, name, arguments, line in draft.calls
            ),
        )


def dicts(value: object) -> list[Record]:
    """The objects of a list; none for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def inner(holder: object, *keys: str) -> Record:
    """The object found under these keys, one below the other; empty if there is none."""
    for key in keys:
        holder = holder.get(key) if isinstance(holder, dict) else None
    return holder if isinstance(holder, dict) else {}


def first_text(holder: Record, *keys: str) -> str | None:
    """The first non-empty text under one of the keys."""
    values = (holder.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str) and value), None)


def kind_of(record: object, key: str = "type") -> str:
    """The name of a record's kind; "" where it has none, or no text."""
    kind = record.get(key) if isinstance(record, dict) else None
    return kind if isinstance(kind, str) else ""
