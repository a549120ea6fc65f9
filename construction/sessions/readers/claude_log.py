"""Parts of a Claude Code log: who wrote a user record, its content, and the active branches.

`ClaudeLog` sorts the records of one log into messages, results and bookkeeping.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from construction.sessions.readers.talk import (
    ToolResults,
    block_text,
    first_text,
    kind_of,
    type_name,
)
from construction.sessions.wrappers.blocks import is_of_harness
from data.contracts import Attachment, Origin, ReadIssue

# Blocks that the harness inserts before, after or inside a prompt.
_INJECTED = ("system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics")

_BY_AGENTS = ("<teammate-message", "<agent-message", "<cross-session-message")
_MACHINE_KINDS = frozenset({"task-notification", "auto-continuation", "coordinator", "system"})
_AGENT_KINDS = frozenset({"peer", "agent", "teammate"})
_FLAGS = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isSynthetic")

_SAID = "the user said:\n"
_NOT_SAID = ("The user wants to clarify these questions",)
_NOTE_AFTER = "\n\nNote: The user's next message"


def without_injections(text: str) -> str:
    """The text without the blocks that the harness inserted."""
    if "<" not in text:
        return text
    for tag in _INJECTED:
        if f"<{tag}>" in text:
            text = _without_tag(text, f"<{tag}>", f"</{tag}>")
    return text


def _without_tag(text: str, opening: str, closing: str) -> str:
    kept: list[str] = []
    at = 0
    while (start := text.find(opening, at)) >= 0:
        end = text.find(closing, start)
        if end < 0:
            break
        kept.append(text[at:start])
        at = end + len(closing)
    kept.append(text[at:])
    return "".join(kept)


def origin_of(record: dict[str, Any], typed: str, is_side: bool) -> Origin | None:
    """The origin of a user record with this text; None leaves it to the wrappers in the text."""
    if any(record.get(flag) is True for flag in _FLAGS) or is_of_harness(typed.lstrip()):
        return Origin.SYSTEM
    kind = kind_of(record.get("origin"), "kind")
    if kind == "human":
        return None
    if kind in _MACHINE_KINDS:
        return Origin.SYSTEM
    if is_side or kind in _AGENT_KINDS:
        return Origin.AGENT
    return Origin.AGENT if typed.lstrip().startswith(_BY_AGENTS) else None


def _said_on_refusal(result: str) -> str | None:
    """What a person typed when rejecting a tool call, which the log stores as the call's result."""
    start = result.find(_SAID)
    if start < 0:
        return None
    said = result[start + len(_SAID) :].partition(_NOTE_AFTER)[0].strip()
    return said if said and not said.startswith(_NOT_SAID) else None


_NONE = -1
_UNKNOWN = -1
_CLIMBING = -2


@dataclass(frozen=True, slots=True)
class Tree:
    """Connected messages, as positions in the log.

    `members` are all of them in file order, `path` those of the active branch, root first.
    """

    label: str
    members: tuple[int, ...]
    path: tuple[int, ...]


def trees(
    ids: Sequence[str | None],
    parents: Sequence[str | None],
    labels: Sequence[str],
    relays: dict[str, str | None],
    quiet: Sequence[bool] = (),
) -> list[Tree]:
    """Group messages into trees, in the order of their roots.

    `ids`, `parents` and `labels` describe the messages, in file order. `relays` maps the other
    records to their parents; it is compressed in place. A message is a root if its parent is not
    in the log (it is the first, a line was lost, a restart) or has another label. If a message
    has several children, the branch of the last message in the file is active, because logs are
    appended to. Cycles are cut.

    `quiet` marks messages that neither a person nor the agent wrote, such as the output of a
    command with `!`: they choose no branch, and those beside the active one are added to it.
    """
    position = {id_: number for number, id_ in enumerate(ids) if id_ is not None}
    above = [_NONE] * len(ids)
    for number, parent in enumerate(parents):
        if parent is None:
            continue
        near = nearest_message(parent, position, relays)
        if near is not None and near != number and labels[near] == labels[number]:
            above[number] = near
    members: dict[int, list[int]] = {}
    for number, root in enumerate(_roots(above)):
        members.setdefault(root, []).append(number)
    with_child = set(above)
    forest: list[Tree] = []
    for root in sorted(members):
        own = members[root]
        leaf = next(number for number in reversed(own) if number not in with_child)
        path = _path_down(leaf, above)
        if quiet:
            last = next((number for number in reversed(own) if not quiet[number]), leaf)
            path = _with_asides(_path_down(_last_below(last, own, above), above), own, above, quiet)
        forest.append(Tree(labels[root], tuple(own), path))
    return forest


def _last_below(top: int, members: Sequence[int], above: Sequence[int]) -> int:
    """The last message that hangs from `top` and stands after it in the file."""
    last_child = {above[number]: number for number in members if number > top}
    while top in last_child:
        top = last_child[top]
    return top


def _with_asides(
    path: tuple[int, ...], members: Sequence[int], above: Sequence[int], quiet: Sequence[bool]
) -> tuple[int, ...]:
    """The path with the quiet messages that hang from it, all in file order."""
    kept = set(path)
    for number in members:
        if quiet[number] and above[number] in kept:
            kept.add(number)
    return path if len(kept) == len(path) else tuple(sorted(kept))


def nearest_message(
    start: str, position: Mapping[str, int], relays: dict[str, str | None]
) -> int | None:
    """The position of the message `start`, or of its nearest ancestor through relays."""
    if start in position:
        return position[start]
    trail: list[str] = []
    at: str | None = start
    while at is not None and at not in position:
        trail.append(at)
        above = relays.get(at)
        # A relay set to None ends a cycle when it is reached again.
        relays[at] = None
        at = above
    for relay in trail:
        relays[relay] = at
    return None if at is None else position[at]


def _roots(above: list[int]) -> list[int]:
    """The root of each message; a cycle is cut (in `above`) where it is first reached."""
    roots = [_UNKNOWN] * len(above)
    for start in range(len(above)):
        trail: list[int] = []
        at = start
        while roots[at] == _UNKNOWN and above[at] != _NONE:
            roots[at] = _CLIMBING
            trail.append(at)
            at = above[at]
        if roots[at] == _CLIMBING:
            above[at] = _NONE
        roots[at] = at if above[at] == _NONE else roots[at]
        for passed in trail:
            roots[passed] = roots[at]
    return roots


def _path_down(leaf: int, above: list[int]) -> tuple[int, ...]:
    path: list[int] = []
    at = leaf
    while at != _NONE:
        path.append(at)
        at = above[at]
    return tuple(reversed(path))


MAIN = ""
UNNAMED_AGENT = "?"

_BOOKKEEPING = frozenset(
    {"summary", "system", "attachment", "progress", "file-history-snapshot", "queue-operation"}
    | {"mode", "permission-mode", "custom-title", "ai-title", "agent-name", "last-prompt"}
    | {"pr-link", "frame-link", "worktree-state", "bridge-session", "started", "result"}
    | {"relocated", "tag", "agent-color", "agent-setting", "task-summary", "cost-state"}
    | {"file-history-delta", "attribution-snapshot", "content-replacement", "atis-latch"}
    | {"speculation-accept", "context-collapse-commit", "context-collapse-snapshot"}
    | {"marble-origami-commit", "marble-origami-snapshot", "stream_event", "rate_limit_event"}
    | {"tool_progress", "tool_use_summary", "auth_status", "prompt_suggestion"}
)
_TURN_HOOKS = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop"})


@dataclass(slots=True)
class Message:
    """The kept parts of a record with words of a person or of the agent.

    `label` names the sub-agent whose conversation it belongs to. The records of one answer share
    `answer_id`. `timestamp` is as logged. `prompt` is the record itself unless the agent wrote
    it: its flags and origin show who did.
    """

    line: int
    id: str | None
    parent: str | None
    label: str
    content: str | list[Any]
    timestamp: object
    prompt: dict[str, Any] | None
    answer_id: str | None = None
    model: str | None = None
    stop_reason: str | None = None


@dataclass(slots=True)
class ClaudeLog:
    """The content of one file while it is read.

    `agent` names the sub-agent whose own log the file is. `mentioned` holds the files that were
    opened for a prompt, each with the id of its parent record. `first` holds the first record
    with a working folder, `session_ids` the last session id, both by conversation label.
    """

    source_path: str
    agent: str | None = None
    messages: list[Message] = field(default_factory=list)
    answers: dict[str, list[Message]] = field(default_factory=dict)
    relays: dict[str, str | None] = field(default_factory=dict)
    results: ToolResults = field(default_factory=ToolResults)
    mentioned: list[tuple[str, Attachment]] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    first: dict[str, dict[str, Any]] = field(default_factory=dict)
    session_ids: dict[str, str] = field(default_factory=dict)
    _ids: set[str] = field(default_factory=set)
    _last_answer: str | None = None
    _newest: dict[str, str] = field(default_factory=dict)  # the last message of a conversation

    def add(self, line: int, record: dict[str, Any]) -> ReadIssue | None:
        """Add one record; returns an issue if its type is unknown or its message is missing."""
        id_ = first_text(record, "uuid")
        if id_ is not None:
            if id_ in self._ids:
                self.dropped["replayed_prefix"] += 1
                return None
            self._ids.add(id_)
        kind = kind_of(record)
        if kind == "assistant":
            return self._add_message(line, record, id_, by_agent=True)
        if kind == "user":
            return self._add_message(line, record, id_, by_agent=False)
        if kind == "tool_use" or kind == "tool_result":
            # Versions before 1.0 log calls and results as separate records.
            record["message"] = {"content": [dict(record)]}
            return self._add_message(line, record, id_, by_agent=kind == "tool_use")
        if kind == "attachment":
            self._add_attachment(line, record, id_)
            return None
        self._relay(id_, record)
        if kind in _BOOKKEEPING:
            self.dropped["bookkeeping"] += 1
            return None
        description = f"a record of type {type_name(record.get('type'))} with {len(record)} keys"
        expected = "a message, a tool's result, or a record of the program's state"
        return ReadIssue(
            "record", self.source_path, line, "record.unexpected", description, expected
        )

    def _add_message(
        self, line: int, record: dict[str, Any], id_: str | None, *, by_agent: bool
    ) -> ReadIssue | None:
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, str | list):
            self._relay(id_, record)
            description = f"message: {type(message).__name__}, content: {type(content).__name__}"
            expected = "an object whose content is a text or a list of blocks"
            return ReadIssue(
                "record", self.source_path, line, "record.no_content", description, expected
            )
        if isinstance(content, list) and not by_agent:
            content = self._without_results(record, content)
        if content:
            self._keep(line, record, id_, content, by_agent)
        else:
            # The record held only results, now stored for their calls, or nothing.
            self._relay(id_, record)
        return None

    def _without_results(self, record: dict[str, Any], blocks: list[Any]) -> list[Any]:
        """Store the results; returns the other blocks, from a person or inserted by the harness."""
        others: list[Any] = []
        detail = record.pop("toolUseResult", None)
        for block in blocks:
            if not isinstance(block, dict) or block.get("type") != "tool_result":
                others.append(block)
                continue
            content = block.get("content", block.get("output"))
            text = content if isinstance(content, str) else block_text(content)
            text = text or _detail_text(detail)
            failed = block.get("is_error") is True
            self.results.add(
                first_text(block, "tool_use_id") or self._call_of(record), text, failed
            )
            said = _said_on_refusal(text) if failed else None
            if said is not None:
                others.append({"type": "text", "text": said})
        return others

    def _call_of(self, record: dict[str, Any]) -> str:
        """The key of the call that a result without an id belongs to."""
        named = first_text(record, "sourceToolAssistantUUID") or _parent(record)
        if named is not None:
            return named
        return self._last_answer or ""

    def _add_attachment(self, line: int, record: dict[str, Any], id_: str | None) -> None:
        attachment = record.get("attachment")
        if isinstance(attachment, dict):
            prompt = _queued_prompt(attachment)
            if prompt:
                record["origin"] = attachment.get("origin")
                self._keep(line, record, id_, prompt, by_agent=False)
                return
            parent, name = _parent(record), first_text(attachment, "filename")
            if attachment.get("type") == "file" and parent is not None and name is not None:
                self.mentioned.append((parent, Attachment(name)))
        self._relay(id_, record)
        self.dropped["bookkeeping"] += 1

    def _keep(
        self,
        line: int,
        record: dict[str, Any],
        id_: str | None,
        content: str | list[Any],
        by_agent: bool,
    ) -> None:
        label = self._conversation(record)
        prompt = None if by_agent else record
        timestamp = record.get("timestamp")
        message = Message(line, id_, _parent(record), label, content, timestamp, prompt)
        self.messages.append(message)
        if id_ is not None:
            self._newest[label] = id_
        if by_agent:
            self._add_answer(message, record)

    def _add_answer(self, message: Message, record: dict[str, Any]) -> None:
        self._last_answer = message.id
        inner = record["message"]
        message.model = first_text(inner, "model")
        message.stop_reason = _stop_reason(record, inner)
        answer_id = first_text(inner, "id")
        if answer_id is not None:
            message.answer_id = f"{message.label}:{answer_id}"
            self.answers.setdefault(message.answer_id, []).append(message)

    def _conversation(self, record: dict[str, Any]) -> str:
        """The label of a record's conversation; notes the session id and folder that it names."""
        label = self._label(record)
        session_id = first_text(record, "sessionId") or first_text(record, "session_id")
        if session_id is not None:
            self.session_ids[label] = session_id
        if label not in self.first and "cwd" in record:
            self.first[label] = record
        return label

    def _label(self, record: dict[str, Any]) -> str:
        label = MAIN
        if self.agent is not None or record.get("isSidechain") is True:
            label = first_text(record, "agentId") or self.agent or UNNAMED_AGENT
        # The stream of `claude -p` marks a sub-agent's messages by the call that started it.
        return first_text(record, "parent_tool_use_id") or label

    def _relay(self, id_: str | None, record: dict[str, Any]) -> None:
        if id_ is not None:
            newest = self._newest.get(self._label(record)) if _is_of_turn(record) else None
            self.relays[id_] = newest or _parent(record)
        if not self.messages:
            self._conversation(record)  # a log without messages still names its session


def _is_of_turn(record: dict[str, Any]) -> bool:
    """Does it tell of a hook that ran while the agent worked, or when it stopped?

    Some versions log the hooks of a turn only when it is over, below its first call: the next
    prompt then hangs from them, and what the agent did meanwhile would be a branch of its own.
    The hooks of a prompt say nothing of what stands before: a person may have gone back.
    """
    event = record.get("attachment", record.get("data"))
    if kind_of(record, "subtype") == "stop_hook_summary":
        return True
    return kind_of(event).startswith("hook_") and kind_of(event, "hookEvent") in _TURN_HOOKS


def _parent(record: dict[str, Any]) -> str | None:
    return first_text(record, "parentUuid") or first_text(record, "logicalParentUuid")


def _stop_reason(record: dict[str, Any], message: dict[str, Any]) -> str | None:
    if record.get("isApiErrorMessage") is True:
        return "error"
    if record.get("isAbortedMidStream") is True:
        return "aborted"
    return first_text(message, "stop_reason")


def _queued_prompt(attachment: dict[str, Any]) -> str | list[Any] | None:
    """The prompt typed while the agent worked, which is logged only as an attachment."""
    if attachment.get("type") != "queued_command":
        return None
    if attachment.get("commandMode", "prompt") != "prompt":
        return None
    prompt = attachment.get("prompt")
    return prompt if isinstance(prompt, str | list) else None


def _detail_text(detail: object) -> str:
    """The output that the harness stored beside an empty result."""
    if isinstance(detail, str):
        return detail
    if not isinstance(detail, dict):
        return ""
    streams = [detail.get("stdout"), detail.get("stderr")]
    return "\n".join(stream for stream in streams if isinstance(stream, str) and stream)
