"""Reads Claude Code logs: JSON lines of all versions, and exports as one document."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from construction.sessions.readers import pieces
from construction.sessions.readers.claude_log import (
    MAIN,
    UNNAMED_AGENT,
    ClaudeLog,
    Message,
    Tree,
    nearest_message,
    origin_of,
    trees,
    without_injections,
)
from construction.sessions.readers.source import (
    Sample,
    SourceFile,
    epoch_seconds,
    no_records,
    objects,
    records,
)
from construction.sessions.readers.talk import (
    Uids,
    agent_turn,
    dicts,
    first_text,
    kind_of,
    system_turn,
    text_or_none,
    tool_call,
    user_turn,
)
from data.contracts import Attachment, Origin, ReadIssue, Session, SourceFormat, ToolCall, Turn

_AGENT_NAME = "claude-code"
_SYNTHETIC = "<synthetic>"  # the "model" of the program's own messages


_TYPES = frozenset(
    {"user", "assistant", "system", "summary", "attachment", "file-history-snapshot"}
    | {"queue-operation", "mode", "permission-mode", "progress", "custom-title", "last-prompt"}
)
_KEYS = frozenset(
    {"uuid", "sessionId", "leafUuid", "message", "messageId", "snapshot", "operation"}
)


def fits(sample: Sample) -> bool:
    """Typed records with a `uuid` or a `message`, or a document with `loglines`."""
    for record in sample.records:
        kind = kind_of(record)
        if isinstance(record.get("loglines"), list) or kind == "file-history-snapshot":
            return True
        if kind == "system":
            if "uuid" in record or record.get("subtype") == "init":
                return True  # other programs write `system` records, too
        elif kind in _TYPES and record.keys() & _KEYS:
            return True
    return False


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a log, and a separate session for each sub-agent in it.

    Records of one answer are merged, replayed ones dropped, and results joined to their calls.
    Turns follow the parent graph to the last leaf. A log without messages gives a session without
    turns.
    """
    path = PurePosixPath(source.relative)
    is_sub_agent = path.name.startswith("agent-") or path.parent.name == "subagents"
    log = ClaudeLog(source.relative, path.stem.removeprefix("agent-") if is_sub_agent else None)
    issues: list[ReadIssue] = []
    is_empty = True
    for line, record in objects(source, issues, lambda file: records(file, "loglines")):
        is_empty = False
        if (issue := log.add(line, record)) is not None:
            issues.append(issue)
    yield from issues
    if is_empty:
        yield no_records(source, "records with a type")
    else:
        yield from _sessions(log, path)


def _sessions(log: ClaudeLog, path: PurePosixPath) -> Iterator[Session]:
    messages = log.messages
    ids = [message.id for message in messages]
    parents = [message.parent for message in messages]
    labels = [message.label for message in messages]
    quiet = [_is_quiet(message) for message in messages]
    forest = trees(ids, parents, labels, log.relays, _with_taken_back(log, quiet))
    mentions = _mentions(log)
    main = [tree for tree in forest if tree.label == MAIN]
    agents = _agents([tree for tree in forest if tree.label != MAIN], messages)
    named = log.session_ids.get(MAIN) or next(iter(log.session_ids.values()), None)
    main_id = named or path.stem
    uids = Uids(log.source_path)
    built: list[Session] = []
    if main or not agents:
        built.append(_session(log, main, mentions, (uids.give(main_id), main_id, None)))
    for number, group in enumerate(agents, start=1):
        label = group[0].label
        own = f"{main_id}-sidechain-{number}" if label == UNNAMED_AGENT else f"agent-{label}"
        parent = _parent_session(log.session_ids.get(label), own, path)
        built.append(_session(log, group, mentions, (uids.give(own), own, parent)))
    # Counts of the whole file are reported with its first session.
    if unclaimed := log.results.unclaimed():
        log.dropped["unclaimed_result"] = unclaimed
    log.dropped.update(built[0].dropped)
    yield replace(built[0], dropped=dict(log.dropped))
    yield from built[1:]


def _is_quiet(message: Message) -> bool:
    """Whether neither a person nor an agent wrote it."""
    if message.prompt is None:
        return False
    texts, media = pieces.typed(message.content)
    typed = without_injections("\n".join(texts))
    origin = origin_of(message.prompt, typed, message.label != MAIN)
    return origin is Origin.SYSTEM or not (typed.strip() or media)


def _with_taken_back(log: ClaudeLog, quiet: Sequence[bool]) -> list[bool]:
    """The quiet messages, and prompts that nobody answered before other words took their place."""
    positions = {message.id: number for number, message in enumerate(log.messages) if message.id}
    children: dict[int, list[int]] = {}
    for number, message in enumerate(log.messages):
        above = message.parent and nearest_message(message.parent, positions, log.relays)
        if isinstance(above, int):
            children.setdefault(above, []).append(number)
    marked = list(quiet)
    for siblings in children.values():
        for number, following in itertools.pairwise(n for n in siblings if not quiet[n]):
            message, other = log.messages[number], log.messages[following]
            is_alone = all(quiet[below] for below in children.get(number, ()))
            is_pair = message.prompt is not None and other.prompt is not None
            marked[number] = is_pair and is_alone and message.content != other.content
    return marked


def _agents(side_trees: list[Tree], messages: Sequence[Message]) -> list[list[Tree]]:
    """The sub-agents' trees grouped by agent; where the log names none, each prompt starts one."""
    groups: dict[str, list[Tree]] = {}
    for tree in side_trees:
        root = messages[tree.path[0]]
        alone = tree.label == UNNAMED_AGENT and root.id is not None
        groups.setdefault(f"{tree.label}{root.id}" if alone else tree.label, []).append(tree)
    return list(groups.values())


def _parent_session(logged: str | None, own: str, path: PurePosixPath) -> str | None:
    if logged is not None and logged != own:
        return logged
    return path.parent.parent.name or None if path.parent.name == "subagents" else None


def _mentions(log: ClaudeLog) -> dict[int, list[Attachment]]:
    """Files opened because a prompt names them with `@`, by the position of the prompt."""
    positions = {message.id: number for number, message in enumerate(log.messages) if message.id}
    files: dict[int, list[Attachment]] = {}
    for parent, attachment in log.mentioned:
        position = nearest_message(parent, positions, log.relays)
        if position is not None and log.messages[position].prompt is not None:
            files.setdefault(position, []).append(attachment)
    return files


def _session(
    log: ClaudeLog,
    group: Sequence[Tree],
    mentions: dict[int, list[Attachment]],
    names: tuple[str, str, str | None],
) -> Session:
    """The session of one conversation; `names` are its uid, its own id and its parent's id."""
    uid, session_id, parent = names
    first = log.first.get(group[0].label if group else MAIN, {})
    turns, abandoned = _turns(log, group, mentions)
    return Session(
        uid=uid,
        session_id=session_id,
        source_format=SourceFormat.CLAUDE_CODE,
        source_path=log.source_path,
        turns=tuple(turns),
        cwd=first_text(first, "cwd"),
        started_at=next((turn.at for turn in turns if turn.at is not None), None),
        agent_name=_AGENT_NAME,
        agent_version=first_text(first, "version"),
        parent_session_id=parent,
        dropped={"abandoned_branch": abandoned} if abandoned else {},
    )


def _turns(
    log: ClaudeLog, group: Sequence[Tree], mentions: dict[int, list[Attachment]]
) -> tuple[list[Turn], int]:
    """The turns of one conversation, and the number of messages on abandoned branches.

    If one record of an answer is on the active branch, all its records belong to it: parallel
    tool calls put the others on branches of their own.
    """
    remaining = sum(len(tree.members) for tree in group)
    turns: list[Turn] = []
    for tree in group:
        before: str | None = None
        for position in tree.path:
            message = log.messages[position]
            if message.prompt is None:
                id_ = message.answer_id
                parts = [message] if id_ is None else log.answers.pop(id_, None)
                if parts is None:
                    continue
                made = _answer(log, len(turns), parts, before)
                turns.append(_notice_of(made) if made.model == _SYNTHETIC else made)
                remaining -= len(parts)
            else:
                files = tuple(mentions.get(position, ()))
                turns.append(_prompt(len(turns), message, message.prompt, before, files))
                remaining -= 1
            before = turns[-1].turn_id
    return turns, remaining


def _answer(log: ClaudeLog, index: int, parts: Sequence[Message], before: str | None) -> Turn:
    texts: list[str] = []
    thoughts: list[str] = []
    calls: dict[str, ToolCall] = {}
    for part in parts:
        if isinstance(part.content, str):
            texts.append(part.content)
            continue
        for piece in map(pieces.common, dicts(part.content)):
            if isinstance(piece, pieces.Call):
                _add_call(log, calls, piece, part)
            elif isinstance(piece, pieces.Text):
                texts.append(piece.text)
            elif isinstance(piece, pieces.Thought):
                thoughts.append(piece.text)
    return agent_turn(
        index,
        _joined(texts),
        parts[0].line,
        at=epoch_seconds(parts[0].timestamp),
        turn_id=parts[0].id,
        parent_id=before,
        thinking=_joined(thoughts),
        model=parts[0].model,
        stop_reason=parts[-1].stop_reason,
        tool_calls=tuple(calls.values()),
    )


def _notice_of(turn: Turn) -> Turn:
    """What the program wrote in the agent's place, for example that a limit is reached."""
    return system_turn(
        turn.index, turn.text, turn.line, at=turn.at, turn_id=turn.turn_id, parent_id=turn.parent_id
    )


def _joined(texts: Sequence[str]) -> str:
    """The texts joined, each once: some versions log an answer repeatedly while it grows."""
    return texts[0] if len(texts) == 1 else "\n".join(dict.fromkeys(filter(None, texts)))


def _add_call(
    log: ClaudeLog, calls: dict[str, ToolCall], piece: pieces.Call, part: Message
) -> None:
    id_ = text_or_none(piece.call_id)
    if id_ is not None and id_ in calls:
        return
    key = id_ or part.id or ""
    call = tool_call(log.results, key, text_or_none(piece.name) or "", piece.arguments, part.line)
    calls[id_ or f"{key}#{len(calls)}"] = call


def _prompt(
    index: int,
    message: Message,
    record: dict[str, Any],
    before: str | None,
    files: tuple[Attachment, ...],
) -> Turn:
    texts, media = pieces.typed(message.content)
    text = "\n".join(texts)
    typed = without_injections(text)
    at = epoch_seconds(message.timestamp)
    origin = origin_of(record, typed, message.label != MAIN)
    if origin is Origin.SYSTEM or not (typed.strip() or media):
        return system_turn(index, text, message.line, at=at, turn_id=message.id, parent_id=before)
    turn = user_turn(
        index,
        typed,
        message.line,
        at=at,
        turn_id=message.id,
        parent_id=before,
        attachments=(*media, *(files if "@" in typed else ())),
        origin=origin,
    )
    return turn if typed is text else replace(turn, text=text)
