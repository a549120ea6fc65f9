"""Output shared by all readers: session ids, turns, tool calls with results, inline media."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, deque
from typing import Any, NamedTuple

import orjson

from construction.sessions.readers.source import loads
from construction.sessions.wrappers.unwrap import unwrap
from data.contracts import Attachment, Origin, Role, ToolCall, Turn

# The address of media on the web is part of the person's text, not a file.
WEB = ("http://", "https://")
_NOT_SLUG = re.compile(r"[^A-Za-z0-9._-]+")
_SLUG_LENGTH = 80
_DATA_URL = re.compile(r"data:([^;,]{0,100})(?:;[^;,]{0,100})*?;base64,")


def inline_media(url: str) -> Attachment:
    """A `data:` URL as inline media; any other text as a path."""
    match = _DATA_URL.match(url)
    if match is None:
        return Attachment(url)
    return Attachment(None, match[1] or None, url[match.end() :])


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


def session_uid(session_id: str, relative: str) -> str:
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
        uid = session_uid(session_id, self._relative)
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
