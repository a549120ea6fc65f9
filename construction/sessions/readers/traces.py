"""Sessions from traces: spans of calls to models, each with the whole conversation so far.

Each call repeats what was said before it, so that the conversations of a trace are its longest
ones. A conversation that begins with other words belongs to another agent of the same trace.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import orjson

from construction.sessions.readers import pieces
from construction.sessions.readers.source import SourceFile
from construction.sessions.readers.talk import (
    Record,
    Talk,
    Uids,
    dicts,
    first_text,
    inline_media,
    inner,
    kind_of,
    plain,
)
from data.contracts import Attachment, Origin, ReadIssue, Session, SourceFormat

_ROLES = {
    "user": "user", "human": "user", "humanmessage": "user", "humanmessagechunk": "user",
    "assistant": "assistant", "ai": "assistant", "aimessage": "assistant", "model": "assistant",
    "aimessagechunk": "assistant", "system": "system", "developer": "system",
    "systemmessage": "system", "tool": "tool", "function": "tool", "toolmessage": "tool",
    "functionmessage": "tool", "chat": "user",
}  # fmt: skip
_MEDIA = frozenset(
    {"image_url", "input_image", "image", "blob", "uri", "file", "input_file", "media"}
)


@dataclass(slots=True)
class Message:
    """One message in any of the forms in which traces hold them."""

    role: str
    parts: list[pieces.Piece]

    @property
    def text(self) -> str:
        return "\n".join(p.text for p in self.parts if isinstance(p, pieces.Text) and p.text)

    @property
    def results(self) -> list[pieces.Result]:
        return [piece for piece in self.parts if isinstance(piece, pieces.Result)]

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from other messages of a conversation; answers differ in their form."""
        if self.role == "assistant":
            return "assistant", ""
        results = "\n".join(result.text for result in self.results)
        return self.role, (self.text or results).strip()


@dataclass(slots=True)
class Span:
    """A call to a model (with messages), or of a tool (with a result)."""

    trace: str
    at: float | None
    thread: str | None = None  # the conversation that the trace continues
    id: str | None = None
    owner: str | None = None  # the agent's span that it lies in
    is_root: bool = False
    is_agent: bool = False  # it repeats what the calls to models below it hold
    is_new: bool = False  # it holds what is new since the call to a model before it
    model: str | None = None
    messages: list[Message] = field(default_factory=list)
    tool: str | None = None
    call_id: str | None = None
    result: str | None = None
    failed: bool = False
    line: int = 0


@dataclass(slots=True)
class _Conversation:
    messages: list[Message]
    keys: list[tuple[str, str]]
    at: float | None
    model: str | None
    line: int
    is_main: bool = False
    owner: str | None = None

    def goes_on_in(self, span: Span) -> bool:
        """Does a span hold only what is new since the last one: the result of a call in that?"""
        if span.owner != self.owner or span.is_agent:
            return False
        known = _call_ids(self.messages) - _call_ids(span.messages)
        answered = {result.call_id for m in span.messages for result in m.results}
        is_rest = all(m.role in ("assistant", "tool") for m in span.messages)
        return is_rest or span.is_new or not known.isdisjoint(answered)

    def absorbs(self, span: Span) -> bool:
        """Take a span over that continues this conversation, or repeats part of it."""
        keys = _keys(span.messages)
        if span.is_agent and span.id is not None and span.id == self.owner:
            self.is_main |= span.is_root
            return True
        shared = min(len(keys), len(self.keys))
        if not shared or keys[:shared] != self.keys[:shared]:
            # What an agent was asked last may stand behind what was said before its trace.
            questions = [key for key in keys if key[0] == "user"]
            known = [key for key in self.keys if key[0] == "user"]
            is_ours = span.is_agent and bool(questions) and known[-len(questions) :] == questions
            if is_ours and span.is_root:
                self.is_main = True
                self._set_apart(len(known) - len(questions))
            return is_ours
        if len(keys) > len(self.keys):
            self.messages, self.keys = span.messages, keys
        self.is_main |= span.is_root
        return True

    def _set_apart(self, count: int) -> None:
        """Make instructions of what the model was told, in a person's place, before the person."""
        before = itertools.takewhile(lambda message: message.role != "assistant", self.messages)
        instructions = [message for message in before if message.role == "user"]
        if len(instructions) > count:
            for message in instructions[:count]:
                message.role = "system"
            self.keys = _keys(self.messages)

    def follows_on(self, later: _Conversation) -> None:
        """Add a later trace of the same thread, which may or may not repeat this one."""
        shared = min(len(later.keys), len(self.keys))
        if later.keys[:shared] == self.keys[:shared]:
            if len(later.keys) > len(self.keys):
                self.messages, self.keys = later.messages, later.keys
            return
        self.messages = [*self.messages, *(m for m in later.messages if m.role != "system")]
        self.keys = [*self.keys, *later.keys]


def settle(span: Span) -> None:
    """Put results behind their calls where a program logs as input what answered the output."""
    calls = _call_ids(span.messages)
    early: list[Message] = []
    for message in span.messages:
        if any(isinstance(piece, pieces.Call) for piece in message.parts):
            break
        if message.results and calls.issuperset(result.call_id for result in message.results):
            early.append(message)
    span.is_new = bool(early)
    rest = [message for message in span.messages if not any(message is one for one in early)]
    span.messages = [*rest, *early]


def _call_ids(messages: Sequence[Message]) -> set[object]:
    return {p.call_id for m in messages for p in m.parts if isinstance(p, pieces.Call)}


def _keys(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """What tells the messages apart; the parts of an answer may stand in several of them."""
    keys = [message.key for message in messages if message.role != "system"]
    return [
        key for n, key in enumerate(keys) if not n or key[0] != "assistant" or keys[n - 1] != key
    ]


def sessions_of(
    source: SourceFile, source_format: SourceFormat, spans: Sequence[Span]
) -> Iterator[Session | ReadIssue]:
    """The sessions of all traces, in the order in which they begin."""
    uids = Uids(source.relative)
    threads: dict[str, dict[str, list[Span]]] = {}
    for span in sorted(spans, key=lambda span: (span.at is None, span.at or 0.0)):
        thread = span.thread or span.trace
        threads.setdefault(thread, {}).setdefault(span.trace, []).append(span)
    for thread, traces in threads.items():
        main: _Conversation | None = None
        sides: list[_Conversation] = []
        for own in traces.values():
            conversations = _conversations(own)
            with_person = [
                talk for talk in conversations if any(key[0] == "user" for key in talk.keys)
            ]
            mains = [talk for talk in with_person if talk.is_main] or with_person or conversations
            first = mains[0] if mains else None
            sides += [talk for talk in conversations if talk is not first]
            if main is None:
                main = first
            elif first is not None:
                main.follows_on(first)
        tools = [span for own in traces.values() for span in own if span.tool is not None]
        for number, held in enumerate([main, *sides] if main is not None else []):
            assert held is not None
            yield from _talk(source, source_format, held, tools, is_main=number == 0).session(
                f"{thread}-{number + 1}" if number else thread,
                uids=uids,
                started_at=held.at,
                parent_session_id=thread if number else None,
            )
    if not uids.any_given:
        actual = "no span holds a message: what was said was not captured"
        expected = f"a trace with messages for {source_format}"
        yield ReadIssue("file", source.relative, 0, "file.no_records", actual, expected)


_RECENT = 200  # conversations of a trace that a span may belong to: more would take too long


def _conversations(spans: Sequence[Span]) -> list[_Conversation]:
    """The conversations of a trace; spans of agents come last, because they hold less."""
    conversations: list[_Conversation] = []
    for span in sorted(spans, key=lambda span: span.is_agent):
        keys = _keys(span.messages)
        recent = conversations[-_RECENT:]
        last = next((one for one in reversed(recent) if one.goes_on_in(span)), None)
        if last is not None:
            last.messages = [*last.messages, *span.messages]
            last.keys = _keys(last.messages)
        elif keys and not any(one.absorbs(span) for one in recent):
            conversations.append(
                _Conversation(
                    span.messages, keys, span.at, span.model, span.line, span.is_root, span.owner
                )
            )
    return conversations


def _talk(
    source: SourceFile,
    source_format: SourceFormat,
    held: _Conversation,
    tools: list[Span],
    *,
    is_main: bool,
) -> Talk:
    talk = Talk(source, source_format)
    origin = None if is_main else Origin.AGENT
    open_calls: dict[str, str] = {}
    for message in held.messages:
        if message.role == "system":
            talk.system(message.text, held.line, at=held.at)
        elif message.role == "assistant":
            answer = talk.answer(held.line, at=held.at, model=held.model)
            for piece in message.parts:
                if isinstance(piece, pieces.Call):
                    own = answer.call(piece.call_id, piece.name, piece.arguments, held.line)
                    open_calls[own] = plain(piece.name)
                elif not isinstance(piece, pieces.Result):
                    pieces.add_to(talk, answer, [piece], held.line)
        elif message.role == "user":
            media = tuple(piece for piece in message.parts if isinstance(piece, Attachment))
            talk.person(message.text, held.line, at=held.at, media=media, origin=origin)
        for result in message.results:
            own = result.call_id
            own = own if own in open_calls else next(iter(open_calls), own)
            open_calls.pop(own, None)
            talk.results.add(own, result.text, result.failed)
    for span in tools:
        named = span.call_id if span.call_id in open_calls else None
        named = named or next((c for c, name in open_calls.items() if name == span.tool), None)
        if named is not None:
            open_calls.pop(named)
            if span.result is not None:
                talk.results.add(named, span.result, span.failed)
    return talk


def messages_of(value: object, role: str = "user") -> list[Message]:
    """The messages in a value of a span; a bare text is one message of `role`."""
    value = _decoded(value)
    if isinstance(value, dict):
        for key in ("messages", "chat_history", "input_messages", "contents"):
            listed = _decoded(value.get(key))
            if isinstance(listed, list) or (key == "contents" and isinstance(listed, str)):
                return messages_of(listed, role)
        if isinstance(value.get("candidates"), list):
            return [m for c in dicts(value["candidates"]) for m in messages_of(c.get("content"))]
        if "role" not in value and (held := inner(value, "new_message") or inner(value, "content")):
            return messages_of(held, role)
        if value.get("object") == "response":
            return messages_of(value.get("output"), "assistant")
        if isinstance(value.get("choices"), list):
            return [m for c in dicts(value["choices"]) for m in messages_of(c.get("message"))]
        if isinstance(value.get("generations"), list):
            return _generated(value["generations"])
        message = message_of(value)
        return [message] if message is not None else []
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], list | str):
            return messages_of(value[0], role)  # a batch of one
        messages = [message_of(item) for item in value]
        return [message for message in messages if message is not None]
    if not isinstance(value, str) or not value.strip():
        return []
    return _labelled(value) or [Message(role, [pieces.Text(value)])]


_LABEL = re.compile(r"^(system|developer|user|assistant|tool): ", re.MULTILINE)


def _labelled(text: str) -> list[Message]:
    """The messages of a text in which each begins with its role, as OpenLIT writes them."""
    labels = list(_LABEL.finditer(text))
    if not labels or labels[0].start() or all(label[1] != "user" for label in labels):
        return []
    ends = [label.start() for label in labels[1:]] + [len(text)]
    made = [
        message_of({"role": label[1], "content": text[label.end() : end].strip()})
        for label, end in zip(labels, ends, strict=True)
    ]
    return [message for message in made if message is not None]


def _generated(generations: object) -> list[Message]:
    held = generations
    while isinstance(held, list) and held:
        held = held[0]
    if not isinstance(held, dict):
        return []
    message = message_of(held.get("message"))
    text = plain(held.get("text"))
    if message is None and text:
        message = Message("assistant", [pieces.Text(text)])
    return [message] if message is not None else []


def _decoded(value: object) -> object:
    """The list or object of a text; some exports encode it twice."""
    if isinstance(value, str) and value.startswith(("[", "{", '"[', '"{')):
        try:
            decoded = orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
        return _decoded(decoded) if value[0] == '"' else decoded
    return value


def message_of(value: object) -> Message | None:
    """One message: OpenAI's, LangChain's (three forms), GenAI's with parts, or a pair."""
    if isinstance(value, list) and len(value) == 2 and all(isinstance(v, str) for v in value):
        value = {"role": value[0], "content": value[1]}
    if not isinstance(value, dict):
        return None
    held: Record = value
    named = held.get("id")
    if isinstance(held.get("kwargs"), dict):
        kwargs: Record = held["kwargs"]
        last = plain(named[-1]) if isinstance(named, list) and named else "ai"
        held = {**kwargs, "role": last if last.lower() in _ROLES else kwargs.get("type", "ai")}
    elif isinstance(held.get("data"), dict) and kind_of(held):
        held = {**held["data"], "role": held["type"]}
    elif isinstance(held.get("message"), dict) and "role" not in held:
        held = held["message"]
    return _message(held)


_CALLS_AS_TEXT = '[{"function":{"name":'


def _message(value: Record) -> Message | None:
    named = plain(value.get("role") or kind_of(value)).lower()
    # LangGraph's traces call the role of a result by the name of its tool.
    role = _ROLES.get(named) or ("tool" if value.get("role") and "content" in value else None)
    if role is None:
        return _item(value)
    content = value.get("parts", value.get("content"))
    if kind_of(content) == "function":
        return None  # a tool that the model may call
    if isinstance(content, str) and content.startswith(_CALLS_AS_TEXT):
        role, value, content = "assistant", {**value, "tool_calls": _decoded(content)}, ""
    made = list(map(_piece, content)) if isinstance(content, list) else [_piece(plain(content))]
    for call in dicts(value.get("tool_calls")) or dicts(
        inner(value, "additional_kwargs").get("tool_calls")
    ):
        held = inner(call, "tool_call") or call
        function = inner(held, "function") or held
        arguments = function.get("arguments", function.get("args"))
        own = plain(held.get("id") or held.get("call_id"))
        made.append(pieces.Call(own, plain(function.get("name")), arguments))
    thought = value.get("reasoning_content") or value.get("reasoning")
    if isinstance(thought, str) and not any(isinstance(p, pieces.Thought) for p in made):
        made.append(pieces.Thought(thought))
    message = Message(role, made)
    if role == "tool":
        failed = value.get("status") == "error" or value.get("is_error") is True
        own = first_text(value, "tool_call_id", "id", "name") or ""
        whole = pieces.Result(own, message.text, failed)
        message.parts = list(message.results) or [whole]
    elif role == "user" and message.results and not message.text:
        message.role = "tool"
    return message


def _item(value: Record) -> Message | None:
    """A call or result alone, as the Responses API and the AI SDK write them beside messages."""
    piece = pieces.common({"type": "tool-call", **value} if "toolName" in value else value)
    if isinstance(piece, pieces.Result):
        return Message("tool", [piece])
    is_answer = isinstance(piece, pieces.Call | pieces.Thought)
    return Message("assistant", [piece]) if is_answer else None


def _piece(part: object) -> pieces.Piece:
    """The piece that a part of any of the known kinds is."""
    held = inner(part, "message_content") or part
    if isinstance(held, str):
        return pieces.Text(held)
    if not isinstance(held, dict):
        return pieces.SILENT
    if use := inner(held, "toolUse"):
        held = {"type": "tool_use", **use}
    if kind_of(held) in _MEDIA:
        url = held.get("image_url", held.get("url", held.get("uri", held.get("content"))))
        link = inline_media(plain(url.get("url") if isinstance(url, dict) else url))
        return Attachment(link.path or None, first_text(held, "mime_type"), link.data)
    if not kind_of(held) and not {"text", "content"} & held.keys():
        return pieces.gemini(held)
    text = plain(held.get("text", held.get("content")))
    piece = pieces.common({"text": text, **held})
    return pieces.Text(text) if piece is pieces.UNKNOWN and "text" in held else piece


def _bare_messages(held: object, names: tuple[str, ...], role: str) -> list[Message]:
    """What stands under one of the usual names, where there are no messages."""
    held = _decoded(held)
    if not isinstance(held, dict):
        return messages_of(held, role)
    for name in names:
        messages = messages_of(held.get(name), role)
        if messages:
            return messages
    return []


def exchanged(inputs: object, outputs: object) -> list[Message]:
    """What went into a span and came out of it; a graph's output begins with its input."""
    given = messages_of(inputs) or _bare_messages(inputs, _INPUTS, "user")
    made = messages_of(outputs, "assistant") or _bare_messages(outputs, _OUTPUTS, "assistant")
    keys = _keys(given)
    return made if keys and _keys(made)[: len(keys)] == keys else [*given, *made]


_INPUTS = (
    "args",
    "input",
    "question",
    "query",
    "prompt",
    "text",
    "human_input",
    "user_input",
    "message",
)
_OUTPUTS = ("output", "answer", "result", "text", "response", "return_values", "content")


def unflattened(attributes: Record) -> Record:
    """Attributes such as `llm.input_messages.0.message.role` as nested objects and lists."""
    root: Record = {}
    for name, value in attributes.items():
        *path, last = name.split(".")
        if len(path) > _DEEPEST:
            continue
        at: Record = root
        for key in path:
            below = at.setdefault(key, {})
            if not isinstance(below, dict):
                below = at[key] = {}
            at = below
        if not isinstance(at.get(last), dict):
            at[last] = value
    return root


_DEEPEST = 24


def listed(value: object) -> list[object]:
    """A list, or an object whose keys are the positions of one."""
    value = _decoded(value)
    if isinstance(value, list):
        return value
    if isinstance(value, dict) and all(key.isdecimal() and len(key) < 10 for key in value):
        return [value[key] for key in sorted(value, key=int)]
    return []
