"""Messages whose content is a list of typed parts, which most programs write in nearly one way.

A reader turns each part into a piece, with `common` for what all programs share and a function
of its own for the rest; `add` makes the turn of a message from its pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from construction.sessions.readers.talk import (
    WEB,
    Answer,
    Record,
    Talk,
    dicts,
    first_text,
    inline_media,
    inner,
    kind_of,
    plain,
    type_name,
)
from data.contracts import Attachment, Origin


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Words of the program."""

    text: str


@dataclass(frozen=True, slots=True)
class Result:
    call_id: str
    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A call; `result` is given where the program keeps both in one part."""

    call_id: object
    name: object
    arguments: object
    result: str | None = None
    failed: bool = False


class _Other(Enum):
    SILENT = "understood, and no part of the conversation"
    UNKNOWN = "not understood"


SILENT, UNKNOWN = _Other.SILENT, _Other.UNKNOWN
Piece = Text | Thought | Notice | Result | Call | Attachment | _Other
_Reading = Callable[[Record], Piece]

_TEXTS = frozenset({"text", "input_text", "output_text", "refusal", "summary_text"})
_THOUGHTS = frozenset({"thinking", "reasoning", "think"})
_CALLS = frozenset(
    {"tool_use", "server_tool_use", "tool_call", "tool-call", "toolCall", "function_call"}
)
_RESULTS = frozenset(
    (
        "tool_result",
        "web_search_tool_result",
        "tool-result",
        "tool_call_response",
        "function_call_output",
    )
)
_SILENT = frozenset({"redacted_thinking", "redacted-reasoning"})
_URLS = ("image_url", "audio_url", "video_url", "input_image")
_CALL_IDS = ("id", "tool_call_id", "toolCallId", "toolUseId", "call_id")
_RESULT_IDS = ("tool_use_id", "toolUseID", *_CALL_IDS[1:], "id")
_SHOWN = ("content", "output", "result", "response")


def common(part: Record) -> Piece:
    """The piece that a part of a kind is which many programs write; UNKNOWN for any other."""
    kind = kind_of(part)
    if kind in _TEXTS:
        return Text(plain(part.get("text") or part.get("refusal")))
    if kind in _THOUGHTS:
        return Thought(first_text(part, "thinking", "text", "think", "reasoning") or "")
    if kind in _CALLS:
        own = first_text(part, *_CALL_IDS)
        given = part.get("input", part.get("args", part.get("arguments")))
        return Call(own, first_text(part, "name", "toolName"), given)
    if kind in _RESULTS:
        shown = next((part[key] for key in _SHOWN if key in part), None)
        failed = part.get("is_error") is True or part.get("isError") is True
        return Result(first_text(part, *_RESULT_IDS) or "", plain(shown), failed)
    if kind in _SILENT:
        return SILENT
    return _media(kind, part)


def _media(kind: str, part: Record) -> Piece:
    if kind in _URLS:
        url = inner(part, kind).get("url") or part.get(kind) or part.get("image_url")
        return inline_media(plain(url))
    if kind == "input_audio":
        audio = inner(part, "input_audio")
        return Attachment(None, f"audio/{audio.get('format')}", first_text(audio, "data"))
    if kind not in ("image", "file", "input_file", "document"):
        return UNKNOWN
    held = inner(part, "source") or inner(part, "file") or part
    mime = first_text(held, "media_type", "mediaType", "mimeType", "mime")
    name = first_text(part, "sourcePath", "filename") or first_text(held, "filename", "file_url")
    data = first_text(held, "data", "file_data")
    if data is None and (url := first_text(held, "url", "image")):
        linked = inline_media(url)
        return Attachment(name or linked.path, linked.mime or mime, linked.data)
    return Attachment(name, mime, data) if name or data else SILENT


def gemini(part: Record) -> Piece:
    """The piece of a part of Gemini's API, in either spelling of its keys."""
    call = inner(part, "functionCall") or inner(part, "function_call")
    answered = inner(part, "functionResponse") or inner(part, "function_response")
    inline = inner(part, "inlineData") or inner(part, "inline_data")
    file = inner(part, "fileData") or inner(part, "file_data")
    if call:
        return Call(first_text(call, "id", "name"), call.get("name"), call.get("args"))
    if answered:
        held = inner(answered, "response")
        failed = "error" in held or held.get("status") == "error"
        alone = len(held) == 1 and next(iter(held)) in ("result", "output", "error")
        shown = next(iter(held.values())) if alone else held.get("output", held)
        if not held:
            shown = answered.get("response")
        return Result(first_text(answered, "id", "name") or "", plain(shown), failed)
    if isinstance(text := part.get("text"), str):
        return Thought(text) if part.get("thought") is True else Text(text)
    if inline:
        mime = first_text(inline, "mimeType", "mime_type")
        return Attachment(None, mime, first_text(inline, "data"))
    if file:
        mime = first_text(file, "mimeType", "mime_type")
        return Attachment(first_text(file, "fileUri", "file_uri"), mime)
    return SILENT if part.keys() & {"executableCode", "codeExecutionResult"} else UNKNOWN


def of(talk: Talk, content: object, line: int = 0, read: _Reading = common) -> Iterator[Piece]:
    """The pieces of a content, which is a text or a list; what is unknown becomes an issue."""
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            yield Text(part)
            continue
        piece = read(part) if isinstance(part, dict) else UNKNOWN
        if piece is SILENT:
            talk.skip()
        elif piece is not UNKNOWN:
            yield piece
        elif part is not None:
            talk.unknown_part(line, part)


def typed(content: object) -> tuple[list[str], list[Attachment]]:
    """The texts and media of a person's content; the address of a linked picture is text."""
    texts: list[str] = [content] if isinstance(content, str) else []
    media: list[Attachment] = []
    for piece in map(common, dicts(content)):
        if isinstance(piece, Text):
            texts.append(piece.text)
        elif isinstance(piece, Attachment) and piece.path and piece.path.startswith(WEB):
            texts.append(piece.path)
        elif isinstance(piece, Attachment):
            media.append(piece)
    return texts, media


def text(given: Iterable[Piece]) -> str:
    """The words of a message."""
    return "\n".join(piece.text for piece in given if isinstance(piece, Text))


def add(
    talk: Talk,
    role: object,
    given: Iterable[Piece],
    line: int = 0,
    *,
    at: float | None = None,
    key: str | None = None,
    model: object = None,
    origin: Origin | None = None,
    sender: str | None = None,
) -> Answer | None:
    """Add a message: an answer, results, instructions, or words, whose `origin` may be an agent."""
    if role == "assistant":
        return add_to(talk, talk.answer(line, at=at, key=key, model=model), given, line)
    texts: list[str] = []
    media: list[Attachment] = []
    for piece in given:
        if isinstance(piece, Result):
            talk.results.add(piece.call_id, piece.text, piece.failed)
        elif isinstance(piece, Notice):
            talk.notice(piece.text, line, at=at)
        elif isinstance(piece, Attachment):
            media.append(piece)
        elif isinstance(piece, Text):
            texts.append(piece.text)
    text = "\n".join(texts)
    if role == "user":
        talk.person(text, line, at=at, media=tuple(media), origin=origin, sender=sender)
    elif role in ("system", "developer"):
        talk.system(text, line, at=at)
    elif role != "tool":
        talk.unexpected(line, f"a message of role {type_name(role)}")
    return None


def add_to(talk: Talk, answer: Answer, given: Iterable[Piece], line: int) -> Answer:
    """Add the pieces of a message to an answer."""
    for piece in given:
        if isinstance(piece, Text):
            answer.say(piece.text)
        elif isinstance(piece, Thought):
            answer.think(piece.text)
        elif isinstance(piece, Call):
            own = answer.call(piece.call_id, piece.name, piece.arguments, line)
            if piece.result is not None:
                talk.results.add(own, piece.result, piece.failed)
        elif isinstance(piece, Result):
            talk.results.add(piece.call_id, piece.text, piece.failed)
        elif isinstance(piece, Notice):
            talk.notice(piece.text, line)
    return answer
