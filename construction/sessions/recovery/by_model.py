"""Which messages of a session form one task, asked of a model.

The model reads the person's messages, masked, and in short what the agent did after each; it
answers in numbers of messages. A long session is asked about in overlapping windows, whose tasks
are joined where they share a message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import Field

from construction.judging.contracts import Answer, Asker, Judged
from construction.judging.model.asking import Checked, Stage, ask, require_answers, rows
from construction.judging.model.prompt import Cleaner, load_prompt
from construction.mentions.files import tail
from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile
from construction.sessions.recovery.exchanges import WROTE, Exchange, read_exchanges
from construction.sessions.recovery.recover import RecoveryConfig, Tasks
from construction.sessions.scan import ScannedFile
from data.atomic import write_bytes
from data.canonical import canonical_json
from data.contracts import Session, StageKind
from data.stage_tables import write_stage_tables
from data.text.scripts import count_cjk

STAGE = "divide"
_PROMPT = "recovery"
_TASKS = "tasks.json"
_LATIN, _CJK = 3.8, 1.1  # characters a token
_LEAST_CHARS = 80
_REPLY_SHARE = 0.3  # of a message's part of the prompt
_FILES = 8  # names a message

_Mask = Callable[[Sequence[str], str], Sequence[str]]  # texts, and the session's uid


@dataclass(frozen=True, slots=True)
class _Message:
    """What a person said, and what the agent did after it; `index` is that of the turn."""

    index: int
    said: str
    at: float | None
    attached: tuple[str, ...]
    read: tuple[str, ...]
    wrote: tuple[str, ...]
    reply: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of a session, or of one window of it (`number`), as a model is shown them."""

    uid: str
    messages: tuple[_Message, ...]
    number: int = 0

    @property
    def item_id(self) -> str:
        return f"{self.uid}/{self.number}" if self.number else self.uid


class TaskAnswer(Answer):
    turns: Annotated[tuple[int, ...], Field(max_length=500)]
    what: Annotated[str, Field(max_length=300)]


class RecoveryAnswer(Answer):
    reason: Annotated[str, Field(max_length=2000)]
    tasks: Annotated[tuple[TaskAnswer, ...], Field(max_length=200)]
    no_task: Annotated[tuple[int, ...], Field(max_length=500)] = ()


def _conversation_of(session: Session) -> Conversation | None:
    """The messages of a session that a model has to divide; None if there is nothing to divide."""
    if session.parent_session_id is not None:
        return None
    exchanges, _ = read_exchanges(session)
    if len(exchanges) < 2:
        return None
    return Conversation(session.uid, tuple(map(_message, exchanges)))


def _message(exchange: Exchange) -> _Message:
    turn, acts = exchange.turn, exchange.acts
    return _Message(
        index=turn.index,
        said=turn.said,
        at=turn.at,
        attached=_names(item.path for item in turn.attachments if item.path),
        read=_names(act.path for act in acts if act.kind != WROTE),
        wrote=_names(act.path for act in acts if act.kind == WROTE),
        reply=exchange.reply,
    )


def _names(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(tail, paths)))[:_FILES]


def windows(conversation: Conversation, config: RecoveryConfig) -> list[Conversation]:
    """The parts of a session that are asked about one by one; neighbours share messages."""
    messages, size = conversation.messages, config.window_turns
    if len(messages) <= size:
        return [conversation]
    step = max(1, size - config.overlap_turns)
    starts = range(0, len(messages) - config.overlap_turns, step)
    return [
        Conversation(conversation.uid, messages[start : start + size], number)
        for number, start in enumerate(starts, start=1)
    ]


def shortened(conversation: Conversation, config: RecoveryConfig) -> Conversation:
    """The conversation with texts cut to what one question may hold, in equal parts.

    What short messages leave over goes to the long ones. The cuts come before masking, since
    a session may hold megabytes of pasted output.
    """
    messages = conversation.messages
    share = config.prompt_tokens / len(messages)
    wants = [_tokens(m.said) + min(_tokens(m.reply), share * _REPLY_SHARE) for m in messages]
    level = min(_level(wants, float(config.prompt_tokens)), config.message_tokens)
    cut = tuple(
        _Message(
            m.index,
            _cut(m.said, level * (1 - _REPLY_SHARE)),
            m.at,
            m.attached,
            m.read,
            m.wrote,
            _end(m.reply, min(level, share) * _REPLY_SHARE),
        )
        for m in messages
    )
    return Conversation(conversation.uid, cut, conversation.number)


def _level(wants: Sequence[float], whole: float) -> float:
    """The most that each may take, so that all together take at most `whole`."""
    room, remaining = whole, sorted(wants)
    for done, want in enumerate(remaining):
        fair = room / (len(remaining) - done)
        if want > fair:
            return fair
        room -= want
    return max(wants, default=0.0)


def _tokens(text: str) -> float:
    """A rough count of tokens."""
    wide = count_cjk(text)
    return (len(text) - wide) / _LATIN + wide / _CJK


def _cut(text: str, tokens: float) -> str:
    """The text without its middle if it is longer than so many tokens."""
    most = _chars(text, tokens)
    if len(text) <= most:
        return text
    head = most * 2 // 3
    return f"{text[:head]} […] {text[len(text) - (most - head) :]}"


def _end(text: str, tokens: float) -> str:
    most = _chars(text, tokens)
    return text if len(text) <= most else f"[…] {text[len(text) - most :]}"


def _chars(text: str, tokens: float) -> int:
    per_token = len(text) / max(_tokens(text), 1.0)
    return max(_LEAST_CHARS, int(tokens * per_token))


def _masked(conversation: Conversation, mask: _Mask) -> Conversation:
    """The conversation with every text masked."""
    texts = [part for m in conversation.messages for part in (m.said, m.reply, *_files(m))]
    shown = iter(mask(texts, conversation.uid))
    return Conversation(
        conversation.uid,
        tuple(
            _Message(
                m.index,
                said=next(shown),
                at=m.at,
                reply=next(shown),
                attached=tuple(next(shown) for _ in m.attached),
                read=tuple(next(shown) for _ in m.read),
                wrote=tuple(next(shown) for _ in m.wrote),
            )
            for m in conversation.messages
        ),
        conversation.number,
    )


def _files(message: _Message) -> tuple[str, ...]:
    return (*message.attached, *message.read, *message.wrote)


def _recovery_stage() -> Stage[Conversation, RecoveryAnswer, Tasks]:
    """The stage, for callers that want its requests or checks alone."""
    return Stage(
        prompt=load_prompt(_PROMPT),
        answer=RecoveryAnswer,
        item_id=lambda conversation: conversation.item_id,
        content=_content,
        check=_checked,
    )


def _content(conversation: Conversation, cleaner: Cleaner) -> dict[str, Any]:
    def shown(number: int, message: _Message) -> dict[str, Any]:
        name = f"message {number}"

        def text(value: str) -> str:
            return cleaner.text(value, len(value), name)

        entry: dict[str, Any] = {"number": number, "person": text(message.said)}
        if message.at is not None:
            entry["at"] = datetime.fromtimestamp(message.at, UTC).strftime("%Y-%m-%d %H:%M")
        if message.attached:
            entry["attached"] = [text(item) for item in message.attached]
        agent = {
            "read": [text(item) for item in message.read],
            "wrote": [text(item) for item in message.wrote],
            "said_last": text(message.reply),
        }
        return entry | {"agent": {key: value for key, value in agent.items() if value}}

    return {"messages": [shown(n, m) for n, m in enumerate(conversation.messages, start=1)]}


def _checked(conversation: Conversation, answer: RecoveryAnswer) -> Checked[Tasks]:
    """The answer as turn indices.

    A number that is no message is left out, one that is named twice counts where it is named
    first, and one that is missing belongs to the task of the message before it.
    """
    last = len(conversation.messages)
    given: dict[int, int | None] = {}
    for number, task in enumerate(answer.tasks):
        for turn in task.turns:
            given.setdefault(turn, number)
    for turn in answer.no_task:
        given.setdefault(turn, None)
    known = {turn: number for turn, number in given.items() if 1 <= turn <= last}
    groups: dict[int, list[int]] = {}
    idle: list[int] = []
    current = 0
    for position, message in enumerate(conversation.messages, start=1):
        chosen = known.get(position, current)
        if chosen is None:
            idle.append(message.index)
            continue
        current = chosen
        groups.setdefault(chosen, []).append(message.index)
    named = sum(len(one.turns) for one in answer.tasks) + len(answer.no_task)
    wrong = (last - len(known)) + (named - len(known))  # missing, and unknown or repeated
    notes = (f"{wrong} numbers of messages put right",) if wrong else ()
    return Checked(Tasks(tuple(map(tuple, groups.values())), tuple(idle)), notes)


def conversations(files: Iterable[ScannedFile]) -> Iterator[tuple[str, Conversation]]:
    """The sessions of several messages in the scanned files, each with the path of its file."""
    for file in files:
        if file.format is None:
            continue
        for item in read_source(SourceFile(file.path, file.relative), file.format):
            conversation = _conversation_of(item) if isinstance(item, Session) else None
            if conversation is not None:
                yield file.relative, conversation


def write_tasks(
    sessions: Iterable[tuple[str, Conversation]],
    config: RecoveryConfig,
    mask: _Mask,
    client: Asker,
    out: Path,
) -> list[Judged[Tasks]]:
    """Ask about each session, and write its tasks and the stage tables; returns what was answered.

    A session without a usable answer is errored here and divided by structure. Raises ReleaseError
    where the model gave no reply at all.
    """
    source_of: dict[str, str] = {}
    parts: list[Conversation] = []
    for source, conversation in sessions:
        source_of[conversation.uid] = source
        cut = [shortened(window, config) for window in windows(conversation, config)]
        parts += [_masked(window, mask) for window in cut]
    judged = require_answers(ask(_recovery_stage(), parts, client))
    by_source: dict[str, dict[str, Any]] = {}
    for uid, tasks in joined(judged).items():
        by_source.setdefault(source_of[uid], {})[uid] = asdict(tasks)
    write_bytes(out / _TASKS, canonical_json(by_source))
    ids, ledger = [one.item_id for one in judged], rows(STAGE, "session", judged)
    write_stage_tables(out, StageKind.FILTER, ids, ledger, stage=STAGE, unit="session")
    return judged


def read_tasks(folder: Path) -> dict[str, dict[str, Tasks]]:
    """The tasks that `write_tasks` wrote: by path of the file, and by uid of the session."""
    by_source = orjson.loads((folder / _TASKS).read_bytes())
    return {
        source: {
            uid: Tasks(tuple(map(tuple, one["tasks"])), tuple(one["no_task"]))
            for uid, one in sessions.items()
        }
        for source, sessions in by_source.items()
    }


def joined(judged: Iterable[Judged[Tasks]]) -> Mapping[str, Tasks]:
    """The tasks of each session by its uid; sessions without a usable answer are left out.

    Windows share messages: tasks that share one are the same task.
    """
    by_session: dict[str, list[Tasks | None]] = {}
    for window in judged:
        uid = window.item_id.rpartition("/")[0] or window.item_id
        by_session.setdefault(uid, []).append(window.value)
    return {
        uid: _union([part for part in parts if part is not None])
        for uid, parts in by_session.items()
        if None not in parts
    }


def _union(parts: Sequence[Tasks]) -> Tasks:
    merged: list[set[int]] = []
    for group in (set(members) for part in parts for members in part.tasks):
        shared = [other for other in merged if other & group]
        merged = [other for other in merged if not other & group]
        merged.append(group.union(*shared))
    working = set().union(*merged) if merged else set()
    idle = {index for part in parts for index in part.no_task} - working
    return Tasks(tuple(sorted(tuple(sorted(of)) for of in merged)), tuple(sorted(idle)))
