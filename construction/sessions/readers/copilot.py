"""Reads GitHub Copilot: chats of VS Code (exports, and the files of `chatSessions`: a document, or
its changes), and sessions of Copilot CLI (`events.jsonl`, and the older `chatMessages`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from construction.sessions.readers.chat import chat_session
from construction.sessions.readers.source import (
    Sample,
    SourceFile,
    document_of,
    epoch_seconds,
    json_lines,
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

_SILENT = (
    "session.", "assistant.", "tool.", "hook.", "subagent.", "skill.", "permission.", "mcp.",
    "external_tool.", "elicitation.", "command.", "pending_messages.", "capabilities.", "plan.",
    "exit_plan_mode.", "sampling.", "auto_mode_switch.", "user_input.", "model.",
)  # fmt: skip
_FROM_PERSON = (None, "", "user")


def fits_cli(sample: Sample) -> bool:
    """Dotted event types with `data`, or a session's document with `chatMessages`."""
    if isinstance(sample.head.get("chatMessages"), list):
        return "sessionId" in sample.head
    return any(
        kind_of(record).startswith(("session.", "user.", "assistant.", "tool.", "system."))
        and isinstance(record.get("data"), dict)
        for record in sample.records
    )


@dataclass(slots=True)
class _Log:
    """The main conversation, those of sub-agents by their call, and the calls known so far."""

    main: Talk
    head: Record = field(default_factory=dict)
    agents: dict[str, Talk] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)
    by_person: set[str] = field(default_factory=set)


def read_cli(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a file, and one for each sub-agent whose events it holds."""
    document = document_of(source)
    if isinstance(document, dict) and isinstance(document.get("chatMessages"), list):
        messages = [(0, message) for message in document["chatMessages"]]
        name = first_text(document, "sessionId")
        started = epoch_seconds(document.get("startTime"))
        yield from chat_session(
            source, SourceFormat.COPILOT_CLI, messages, name, started_at=started, agent_name=_CLI
        )
        return
    del document
    log = _Log(Talk(source, SourceFormat.COPILOT_CLI))
    for line, record in log.main.records(json_lines):
        _add_record(log, line, record)
    name, uids = first_text(log.head, "sessionId"), Uids(source.relative)
    yield from log.main.session(
        name,
        uids=uids,
        cwd=first_text(inner(log.head, "context"), "cwd"),
        agent_name=_CLI,
        agent_version=first_text(log.head, "copilotVersion"),
        started_at=epoch_seconds(log.head.get("startTime")),
    )
    for call_id, talk in log.agents.items():
        if talk.drafts:
            yield from talk.session(
                f"agent-{call_id}", uids=uids, agent_name=_CLI, parent_session_id=name
            )


_CLI = "copilot-cli"


def _add_record(log: _Log, line: int, record: Record) -> None:
    kind, data = kind_of(record), inner(record, "data")
    at = epoch_seconds(record.get("timestamp"))
    above = first_text(data, "parentToolCallId") or first_text(record, "agentId")
    talk = log.main
    if above is not None:
        talk = log.agents.setdefault(above, Talk(talk.source, SourceFormat.COPILOT_CLI))
    if kind == "session.start":
        log.head = log.head or data
        talk.skip()
    elif kind == "user.message":
        _add_prompt(talk, data, line, at, by_agent=above is not None)
    elif kind == "assistant.message":
        _add_answer(log, talk, data, line, at)
    elif kind == "tool.user_requested":
        log.by_person.add(plain(data.get("toolCallId")))
        talk.notice(f"! {plain(inner(data, 'arguments').get('command'))}", line, at=at)
    elif kind == "tool.execution_start":
        call_id = plain(data.get("toolCallId"))
        if call_id not in log.called | log.by_person:
            log.called.add(call_id)
            talk.answer(line, at=at).call(
                call_id, data.get("toolName"), data.get("arguments"), line
            )
    elif kind == "tool.execution_complete":
        _add_result(log, talk, data, line, at)
    elif kind == "system.message":
        talk.system(plain(data.get("content")), line, at=at)
    elif kind == "system.notification":
        talk.notice(plain(data.get("content")), line, at=at)
    elif kind == "abort" or (kind.startswith(_SILENT)):
        talk.skip()
    else:
        talk.unexpected(line, f"an event of type {type_name(kind)}")


def _add_answer(log: _Log, talk: Talk, data: Record, line: int, at: float | None) -> None:
    answer = talk.answer(line, at=at, key=first_text(data, "messageId"), model=data.get("model"))
    answer.say(data.get("content"))
    answer.think(data.get("reasoningText"))
    for call in dicts(data.get("toolRequests")):
        if (call_id := plain(call.get("toolCallId"))) not in log.called:
            log.called.add(call_id)
            answer.call(call_id, call.get("name"), call.get("arguments"), line)


def _add_prompt(talk: Talk, data: Record, line: int, at: float | None, *, by_agent: bool) -> None:
    text = plain(data.get("content"))
    if data.get("source") not in _FROM_PERSON:
        talk.notice(text, line, at=at)
        return
    files = tuple(
        Attachment(path)
        for item in dicts(data.get("attachments"))
        if (path := first_text(item, "path", "filePath", "displayName"))
    )
    origin = Origin.AGENT if by_agent else None
    talk.person(text, line, at=at, media=files, origin=origin)


def _add_result(log: _Log, talk: Talk, data: Record, line: int, at: float | None) -> None:
    result = data.get("result")
    shown = result.get("content") if isinstance(result, dict) else result
    failed = data.get("success") is False
    text = plain(shown) or plain(inner(data, "error").get("message"))
    call_id = plain(data.get("toolCallId"))
    if call_id in log.by_person:
        talk.notice(text, line, at=at)
    else:
        talk.results.add(call_id, text, failed)


_SET_ALL, _SET, _PUSH, _DELETE = 0, 1, 2, 3
_CALLS = frozenset({"toolInvocationSerialized", "toolInvocation"})
_SUFFIX = "__vscode"
_VSCODE = "vscode-chat"
_FAILED = "ERROR while calling tool"


def fits_vscode(sample: Sample) -> bool:
    """A document with `requests` and `responder…` or a version, or a first change that sets it."""
    head = sample.head
    state = head.get("v") if head.get("kind") == _SET_ALL else head
    if not isinstance(state, dict) or not isinstance(state.get("requests"), list):
        return False
    return bool(
        state.keys() & {"responderUsername", "requesterUsername", "sessionId", "initialLocation"}
    )


def read_vscode(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a chat: what was typed, and the parts of each response in order."""
    chat = inner(document_of(source))
    if chat.get("kind") == _SET_ALL and "v" in chat:
        chat = yield from _replayed(source)
    talk = Talk(source, SourceFormat.VSCODE_CHAT, is_typed=True)
    for request in dicts(chat.get("requests")):
        _add_request(talk, request)
    yield from talk.session(
        first_text(chat, "sessionId"),
        agent_name=_VSCODE,
        started_at=epoch_seconds(chat.get("creationDate")),
    )


def _replayed(source: SourceFile) -> Any:
    """The chat after all changes that the file logs, turn on each line."""
    state: Any = {}
    for item in json_lines(source):
        if isinstance(item, ReadIssue):
            yield item
            continue
        line, change = item
        if change.get("kind") == _SET_ALL:
            state = change.get("v")
        elif not _change(state, change):
            actual = f"a change of kind {type(change.get('kind')).__name__} that fits nothing"
            expected = "a change of what is there"
            yield ReadIssue("record", source.relative, line, "record.unexpected", actual, expected)
    return state if isinstance(state, dict) else {}


def _change(state: Any, change: Record) -> bool:
    """Apply turn change in at; returns whether its path was there."""
    path, kind = change.get("k"), change.get("kind")
    if not isinstance(path, list) or not path:
        return False
    for key in path[:-1]:
        state = _below(state, key)
    last = path[-1]
    if kind == _PUSH:
        listed = _below(state, last)
        if listed is None and isinstance(state, dict) and isinstance(last, str):
            listed = state[last] = []
        if not isinstance(listed, list):
            return False
        start = change.get("i")
        if isinstance(start, int) and not isinstance(start, bool) and 0 <= start <= len(listed):
            del listed[start:]
        added = change.get("v")
        listed.extend(added if isinstance(added, list) else dicts([added]))
        return True
    if isinstance(state, dict) and isinstance(last, str):
        if kind == _DELETE:
            state.pop(last, None)
        else:
            state[last] = change.get("v")
        return kind in (_SET, _DELETE)
    if isinstance(state, list) and isinstance(last, int) and 0 <= last <= len(state):
        state[last : last + 1] = [] if kind == _DELETE else [change.get("v")]
        return kind in (_SET, _DELETE)
    return False


def _below(state: Any, key: object) -> Any:
    if isinstance(state, dict) and isinstance(key, str):
        return state.get(key)
    if isinstance(state, list) and isinstance(key, int) and -1 < key < len(state):
        return state[key]
    return None


def _add_request(talk: Talk, request: Record) -> None:
    at = epoch_seconds(request.get("timestamp"))
    message = request.get("message")
    text = plain(message.get("text") if isinstance(message, dict) else message)
    files = tuple(
        Attachment(path)
        for variable in dicts(inner(request, "variableData").get("variables"))
        if (path := _path(variable.get("value")))
    )
    if request.get("isSystemInitiated") is True or request.get("confirmation"):
        talk.notice(text, at=at)
    else:
        talk.person(text, at=at, media=files)
    metadata = inner(request, "result", "metadata")
    _add_response(talk, request, dicts(metadata.get("toolCallRounds")), at)
    for call_id, result in inner(metadata, "toolCallResults").items():
        content = result.get("content") if isinstance(result, dict) else result
        shown = _shown(content)
        talk.results.add(_own_id(call_id), shown, shown.startswith(_FAILED))
    error = first_text(inner(request, "result", "errorDetails"), "message")
    if error is not None:
        talk.notice(error, at=at)


def _add_response(talk: Talk, request: Record, rounds: list[Record], at: float | None) -> None:
    """Add what the window kept of a response, with what the rounds of the model say of its calls.

    The window shows a call once, those of sub-agents too, and hides some, mostly reading. Of a
    response that shows no call the rounds are all.
    """
    parts = dicts(request.get("response"))
    known = {
        _own_id(call.get("id")): call for turn in rounds for call in dicts(turn.get("toolCalls"))
    }
    shown = [part for part in parts if kind_of(part, "kind") in _CALLS]
    ids = _ids(shown, known)
    words = [plain(turn.get("response")).strip() for turn in rounds]
    hidden = _hidden(request, known, ids) if shown else []
    unshown = len(known.keys() - {*ids, *hidden})
    response = _Response(talk, request.get("modelId"), at, known, iter(ids), words, deque(hidden))
    for part in parts:
        response.add(part)
    response.settle()
    if not any(part.get("kind") in (None, "markdownContent") for part in parts):
        for turn in rounds:
            response.turn().say(turn.get("response"))
    if not shown:
        for call_id, call in known.items():
            response.turn().call(call_id, call.get("name"), call.get("arguments"))
    else:
        response.add_hidden()
        talk.dropped["call_not_shown"] += unshown
    if request.get("isCanceled") is True:
        response.turn().stop_reason = "aborted"


def _hidden(request: Record, known: dict[str, Record], ids: list[str]) -> list[str]:
    """The calls of the rounds that the window does not show, and that surely were made.

    They have results of their own. Other versions repeat a call in the rounds under another id,
    and the last one without a result may stand in the window of the next request.
    """
    results = inner(request, "result", "metadata", "toolCallResults")
    made = {_request_key(known[own]) for own in ids if own in known}
    unseen = set(map(_own_id, results)).difference(ids)
    hidden: list[str] = []
    for call_id in filter(unseen.__contains__, known):
        if (request_key := _request_key(known[call_id])) not in made:
            hidden.append(call_id)
            made.add(request_key)
    return hidden


def _request_key(call: Record) -> tuple[str, str]:
    return plain(call.get("name")), plain(call.get("arguments"))


def _ids(shown: list[Record], known: dict[str, Record]) -> list[str]:
    """The ids of the calls that the window shows.

    Where the window has an id of its own, the next call of the rounds with the tool's name is
    meant, or, if both hold as many calls and share no id, the one in the same at.
    """
    ids = [_own_id(part.get("toolCallId")) for part in shown]
    if len(shown) == len(known) and not known.keys() & set(ids):
        return list(known)
    given = set(ids)
    free: dict[str, deque[str]] = {}  # the calls of each tool that have no place yet, in order
    for call_id, call in known.items():
        if call_id not in given:
            free.setdefault(_tool(call.get("name")), deque()).append(call_id)
    places = {call_id: place for place, call_id in enumerate(known)}
    for number, part in enumerate(shown):
        if ids[number] in known or part.get("subAgentInvocationId"):
            continue
        tool = _tool(part.get("toolId") or part.get("toolName"))
        name = tool if tool in free else _beginning_of(tool, free, places)
        if name is not None:
            ids[number] = free[name].popleft()
            if not free[name]:
                del free[name]
    _pair_by_place(ids, shown, list(known))
    return ids


def _beginning_of(tool: str, free: dict[str, deque[str]], places: dict[str, int]) -> str | None:
    """The tool, of those with free calls, whose name begins this one: `copilot_listDirectory` is
    `list_dir`. Of several the one whose call comes first."""
    lengths = {len(name) for name in free if name}
    names = [tool[:length] for length in lengths if tool[:length] in free]
    return min(names, key=lambda name: places[free[name][0]], default=None)


def _pair_by_place(ids: list[str], shown: list[Record], known: list[str]) -> None:
    """Give a shown call whose name the rounds spell otherwise the call between its neighbours."""
    places = {own: place for place, own in enumerate(known)}
    ends, end = [0] * len(ids), len(known)
    for number in range(len(ids) - 1, -1, -1):
        ends[number] = end = places.get(ids[number], end)
    at = 0
    for number, part in enumerate(shown):
        is_open = ids[number] not in places and not part.get("subAgentInvocationId")
        if is_open and at < ends[number]:
            ids[number] = known[at]
        at = places.get(ids[number], at - 1) + 1


def _tool(name: object) -> str:
    """A tool's name in the one spelling for `copilot_readFile` and `read_file`."""
    return plain(name).removeprefix("copilot_").replace("_", "").lower()


@dataclass(slots=True)
class _Response:
    """A response while it is read: its text comes in pieces, between its calls."""

    talk: Talk
    model: object
    at: float | None
    known: dict[str, Record]
    ids: Iterator[str]
    words: list[str]  # what the model wrote in each round
    hidden: deque[str]  # the calls that the window does not show, in order
    pieces: list[str] = field(default_factory=list)
    answer: Answer | None = None
    places: dict[str | None, int] = field(init=False)

    def __post_init__(self) -> None:
        self.places = {call_id: number for number, call_id in enumerate(self.known)}

    def turn(self) -> Answer:
        if self.answer is None:
            self.answer = self.talk.answer(at=self.at, model=self.model)
        return self.answer

    def settle(self) -> None:
        """Add the pieces so far as one text; what follows calls is another turn."""
        text = "".join(self.pieces).strip()
        if len(self.pieces) > 1:  # the window has replaced names of files by references
            start = self.pieces[0].strip()
            text = next((w for w in self.words if start and w.startswith(start)), text)
        self.pieces.clear()
        if text:
            if self.answer is not None and self.answer.calls:
                self.answer = None
            self.turn().say(text)

    def add(self, part: Record) -> None:
        kind, value = part.get("kind"), part.get("value")
        if kind in (None, "markdownContent", "markdownVuln", "warning"):
            content = part.get("content", value)
            text = content.get("value") if isinstance(content, dict) else content
            self.pieces.append(plain(text))
        elif kind == "inlineReference":
            name = first_text(part, "name") or _path(part.get("inlineReference"))
            self.pieces.append(name or "")
        elif kind == "thinking":
            self.turn().think(value if isinstance(value, str) else "\n".join(_texts(value)))
        elif isinstance(kind, str) and kind in _CALLS:
            self.settle()
            own = next(self.ids)
            if self.hidden and own in self.known:
                self.add_hidden(own)
            call = self.known.get(own, {})
            name = part.get("toolId") or part.get("toolName") or call.get("name")
            self.turn().call(own or None, name, _arguments(part, call))
        else:
            self.talk.skip()

    def add_hidden(self, before: str | None = None) -> None:
        """Add the hidden calls that stand before this one in the rounds, or all that are left."""
        end = self.places.get(before, len(self.places))
        while self.hidden and self.places[self.hidden[0]] < end:
            call_id = self.hidden.popleft()
            call = self.known[call_id]
            self.turn().call(call_id, call.get("name"), call.get("arguments"))


def _own_id(call_id: object) -> str:
    return plain(call_id).partition(_SUFFIX)[0]


def _arguments(part: Record, call: Record) -> object:
    """What the call called for: from the model's round, or what the window kept of it."""
    if "arguments" in call:
        return call["arguments"]
    kept = inner(part, "toolSpecificData")
    command = inner(kept, "commandLine")
    if command:
        return {"command": first_text(command, "userEdited", "toolEdited", "original")}
    raw = kept.get("rawInput")
    if isinstance(raw, dict):
        return raw
    paths = list(
        inner(part, "pastTenseMessage", "uris") or inner(part, "invocationMessage", "uris")
    )
    return {"paths": [_path(path) or path for path in paths]} if paths else {}


def _path(value: object) -> str | None:
    """The path of a file's URI, given as text, as its parts, or inside a location."""
    if isinstance(value, str):
        return value.removeprefix("file://") if value.startswith("file://") else None
    if not isinstance(value, dict):
        return None
    held = inner(value, "uri") or value
    return first_text(held, "fsPath", "path")


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _shown(content: object) -> str:
    """The text of a result: of its parts, or of the tree of a rendered prompt."""
    texts: list[str] = []
    waiting: list[object] = [content]
    while waiting:
        held = waiting.pop()
        if isinstance(held, list):
            waiting.extend(reversed(held))
        elif isinstance(held, str):
            texts.append(held)
        elif isinstance(held, dict):
            if held.get("lineBreakBefore") is True and texts and texts[-1][-1:] != "\n":
                texts.append("\n")
            keys = ("children", "node", "value", "text")
            waiting.extend(
                held[key] for key in keys if isinstance(held.get(key), list | dict | str)
            )
    return "\n".join(texts) if len(texts) == 1 else "".join(texts)
