"""Turns the turns of a session into task instances.

Where one task ends and the next begins is a question of meaning, which a model answers
(`by_model`). Without its answer structure alone decides: a reset, a long pause, and material of
another task after something was delivered.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import Field

from construction.mentions.files import (
    extension,
    find_file_spans,
    is_same_path,
    is_text,
    is_tool,
    tail,
)
from construction.mentions.urls import find_urls
from construction.sessions.gates.restoration import holds_mark
from construction.sessions.recovery.exchanges import (
    READ,
    WROTE,
    Exchange,
    LeftOutReason,
    acts_of,
    command_of,
    handles_files,
    is_reader,
    read_exchanges,
    runs_program,
)
from data.contracts import (
    AgentAct,
    CutReason,
    KeptText,
    Role,
    Session,
    StageConfig,
    TaskInstance,
    ToolCall,
    Turn,
    UserTurn,
)

# What the agent did beyond its file acts: its tools, what its programs made, what it was shown.

_MOST_TOOLS = 40
_MOST_FILES = 100
_MOST_CHARS = 400_000  # of one file
_LINE_CUT = 2_000  # characters after which tools cut a line, and lines after which they stop
# A line with its number, as readers of files and `cat -n` write it.
_NUMBERED = re.compile(r"[ \t]{0,8}(\d{1,6})(?:(?:→|\t)(.*))?", re.DOTALL)
# Signs at either end that a tool or an export left something out; whoever writes them in a file
# only keeps it from being taken for whole.
_CUT = re.compile(
    r"(?i)truncated|omitted|too large|more lines|not shown|showing lines|offset"
    r"|\[?\.\.\.\]?\s*$|…\s*$"
)
_RANGES = frozenset(
    {"offset", "limit", "lines", "range", "viewrange", "startline", "endline", "start", "end"}
)
_MARKUP = ("html", "htm", "xhtml", "xml", "svg", "vue")
# Claude Code keeps a long output in a file and says its size, by which a copy proves whole.
_STORED = re.compile(r"\((\d{1,6}\.\d)KB\)\. Full output saved to: (\S{1,1000})")


def _tools_called(exchanges: Iterable[Exchange]) -> tuple[str, ...]:
    """The tools that were called, with how often, in the order of their first calls."""
    counts = Counter(
        call.name[:100]
        for exchange in exchanges
        for turn in exchange.answers
        for call in turn.tool_calls
    )
    return tuple(f"{name} ×{count}" for name, count in list(counts.items())[:_MOST_TOOLS])


def other_tools(called: Iterable[str]) -> list[str]:
    """Those of the called tools that do more than handle files or run a shell."""
    return [tool for tool in called if not handles_files(tool.partition(" ×")[0])]


def _made_by_programs(session: Session) -> frozenset[str]:
    """The files that the agent read and that a program of its had made, as far as the log tells.

    Such a file was read after a program ran, and its name stands nowhere before that: in no
    message, in no listing, in no other result.
    """
    known: list[str] = [(session.system_prompt or "").casefold()]
    has_run = False
    made: set[str] = set()
    seen: set[str] = set()
    for turn in session.turns:
        if turn.role is Role.USER:
            known += [turn.text.casefold(), *((a.path or "").casefold() for a in turn.attachments)]
        for call in turn.tool_calls:
            for act in acts_of(replace(turn, tool_calls=(call,))):
                is_new = has_run and act.kind == READ and act.path not in seen
                seen.add(act.path)
                if is_new and not any(tail(act.path) in text for text in known):
                    made.add(act.path)
            if runs_program(call):
                has_run = True
            elif not has_run and call.result:
                known.append(call.result.casefold())
    return frozenset(made)


@dataclass(slots=True)
class _Shown:
    """What the log shows of one file until the agent changes it: numbered lines, or its text."""

    path: str
    lines: dict[int, str] = field(default_factory=dict)
    text: str | None = None
    is_open: bool = True  # not yet changed by the agent
    is_seen: bool = False  # the log holds what a call showed of it

    def whole(self, sizes: Mapping[str, str]) -> str | None:
        """The text, if nothing of it is missing as far as can be told."""
        text = self.text
        if text is None and self.lines and set(self.lines) == set(range(1, len(self.lines) + 1)):
            text = "\n".join(self.lines[number] for number in sorted(self.lines))
            is_cut = any(len(line) >= _LINE_CUT for line in self.lines.values())
            # A file ends with an empty line; a part that was asked for seldom does.
            is_ended = not self.lines[len(self.lines)] and len(self.lines) < _LINE_CUT
            size = f"{len(text.encode()) / 1024:.1f}"
            if is_cut or not (is_ended or size == sizes.get(self.path)):
                return None
        if text is None or len(text) > _MOST_CHARS or holds_mark(text) or not is_text(self.path):
            return None
        return None if is_tool(self.path) and self.path not in sizes else text


def _shown_files(exchanges: Sequence[Exchange]) -> tuple[tuple[KeptText, ...], tuple[str, ...]]:
    """The text files that the log holds whole, and the paths of files of which it holds a part.

    As they were before the agent, or a program that names them, may have changed them. Tools show
    a file with numbered lines, often in pieces, or plainly: then it counts as whole if it was
    asked for whole and ends with a line.
    """
    seen: list[_Shown] = []
    run: list[str] = []
    for turn in (turn for exchange in exchanges for turn in exchange.answers):
        for call in turn.tool_calls:
            acts = list(acts_of(replace(turn, tool_calls=(call,))))
            for act in acts:
                file = next((f for f in seen if is_same_path(f.path, act.path)), None)
                if file is None and len(seen) < _MOST_FILES:
                    is_named = any(tail(act.path) in words for words in run)
                    seen.append(file := _Shown(act.path, is_open=not is_named))
                if file is not None and act.kind == READ and len(acts) == 1 and file.is_open:
                    _show(file, call)
                elif file is not None and act.kind != READ:
                    file.is_open = False
                if file is not None and act.kind == READ and call.result:
                    file.is_seen = True
            if runs_program(call) or any(act.kind != READ for act in acts):
                run.append(json.dumps(call.arguments, ensure_ascii=False).casefold())
    sizes = dict(_stored(exchanges))
    texts = {file.path: file.whole(sizes) for file in seen if file.is_seen}
    kept = tuple(KeptText(path, text) for path, text in texts.items() if text)
    return kept, tuple(path for path, text in texts.items() if not text)


def _stored(exchanges: Iterable[Exchange]) -> Iterator[tuple[str, str]]:
    """Files of stored outputs, with their size in KB as it was said."""
    for exchange in exchanges:
        results = (call.result or "" for turn in exchange.answers for call in turn.tool_calls)
        for text in (exchange.turn.text, *results):
            for size, path in _STORED.findall(text):
                yield path, size


def _show(file: _Shown, call: ToolCall) -> None:
    """Take in what a call shows of a file."""
    text, reminder, _ = (call.result or "").partition("<system-reminder>")
    text = text.rstrip("\n") if reminder else text
    if numbered := {} if extension(file.path) == "tsv" else _numbered(text):
        file.lines = numbered | file.lines  # what was seen first counts
    elif file.text is None and _is_whole(text, file.path) and _asks_for_whole(call):
        file.text = text


def _numbered(text: str) -> dict[int, str]:
    """The lines by their numbers, if all lines have one, rising by one; a heading may go before."""
    lines = text.split("\n")
    if lines and lines[0].endswith(":") and not _NUMBERED.fullmatch(lines[0]):
        lines = lines[1:]
    matches = [_NUMBERED.fullmatch(line) for line in lines]
    listed = [(int(match[1]), match[2]) for match in matches if match]
    if not listed or len(listed) < len(lines) or any(line is None for _, line in listed[:-1]):
        return {}  # an export may have cut the mark off after the number of an empty last line
    first = listed[0][0]
    is_listing = all(number == first + at for at, (number, _) in enumerate(listed))
    return {number: line or "" for number, line in listed} if is_listing else {}


def _is_whole(text: str, path: str) -> bool:
    if not text.strip() or _CUT.search(text[-300:]) or _CUT.search(text[:200]):
        return False
    try:
        is_json = isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        is_json = False
    if is_json or extension(path) == "json":
        return is_json and extension(path) == "json"
    is_wrapped = text.startswith("<") and extension(path) not in _MARKUP
    return text.endswith("\n") and text.count("\n") < _LINE_CUT and not is_wrapped


def _asks_for_whole(call: ToolCall) -> bool:
    """No range is asked for: by a tool that reads files, or as `cat FILE` in a shell."""
    if is_reader(call):
        names = {key.replace("_", "").lower() for key, value in call.arguments.items() if value}
        return names.isdisjoint(_RANGES)
    try:
        words = shlex.split(command_of(call))
    except ValueError:
        return False
    return len(words) == 2 and words[0] == "cat"


_SAID_BEFORE = 3  # turns
_NAMED_CHARS = 4_000  # of a message in which file names are looked for


class RecoveryConfig(StageConfig):
    """When structure alone separates two tasks, and how much of a session to show to a model.

    `long_pause_seconds`: a pause this long (12 hours) separates work on different files.
    `prompt_tokens` limits one question about a session and `message_tokens` one message (longer
    ones are cut in the middle); `window_turns` is the number of messages per question. Longer
    sessions are split into windows that overlap by `overlap_turns`.
    """

    long_pause_seconds: float = Field(default=43_200.0, gt=0)
    prompt_tokens: int = Field(default=12_000, gt=0)
    message_tokens: int = Field(default=900, gt=0)
    window_turns: int = Field(default=60, gt=1)
    overlap_turns: int = Field(default=6, ge=1)


@dataclass(frozen=True, slots=True)
class _Recovered:
    """The instances of a session and the reasons of turns left out.

    Every turn index is either in `left_out` or in the `turn_indices` of exactly one instance.
    """

    instances: tuple[TaskInstance, ...]
    left_out: Mapping[int, LeftOutReason]


@dataclass(frozen=True, slots=True)
class Tasks:
    """Which messages of a person form one task, by their turn indices; `reason` of the cuts.

    `no_task` are messages that ask for no work. A message that is in neither belongs to the task of
    the one before it.
    """

    tasks: tuple[tuple[int, ...], ...]
    no_task: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Group:
    """The exchanges of one instance by their positions in the session, ascending."""

    positions: tuple[int, ...]
    reason: CutReason


def recover(session: Session, config: RecoveryConfig, tasks: Tasks | None = None) -> _Recovered:
    """Split a session into task instances; sub-agent sessions yield none.

    `tasks` is a model's answer about this session; without it structure alone decides.
    """
    if session.parent_session_id is not None:
        return _Recovered((), {turn.index: LeftOutReason.SUB_AGENT for turn in session.turns})
    exchanges, left_out = read_exchanges(session)
    if tasks is None:
        groups, idle = _by_structure(exchanges, config), list[int]()
    else:
        groups, idle = _as_told(exchanges, tasks)
    for position in idle:
        left_out |= dict.fromkeys(_indices([exchanges[position]]), LeftOutReason.NO_TASK)
    return _Recovered(_instances(session, exchanges, groups), dict(sorted(left_out.items())))


def _by_structure(exchanges: Sequence[Exchange], config: RecoveryConfig) -> list[_Group]:
    groups: list[list[int]] = []
    reasons: list[CutReason] = []
    known: set[str] = set()
    has_delivered = False
    for position, exchange in enumerate(exchanges):
        brought, used = _brought(exchange), _used(exchange)
        pause = _pause(exchanges[position - 1], exchange) if position else 0.0
        reason: CutReason | None = None
        if not position:
            reason = CutReason.SESSION_START
        elif exchange.after_reset:
            reason = CutReason.EXPLICIT_RESET
        elif known.isdisjoint(brought | used):
            if has_delivered and brought:
                reason = CutReason.AFTER_DELIVERY
            elif pause >= config.long_pause_seconds and (brought or used) and known:
                reason = CutReason.LONG_PAUSE
        if reason is not None:
            groups.append([])
            reasons.append(reason)
            known, has_delivered = set(), False
        groups[-1].append(position)
        known |= brought | used
        has_delivered = has_delivered or any(act.kind == WROTE for act in exchange.acts)
    return [_Group(tuple(group), reason) for group, reason in zip(groups, reasons, strict=True)]


def _brought(exchange: Exchange) -> set[str]:
    """The names of the files that a person attaches or names."""
    attached = {tail(item.path).lower() for item in exchange.turn.attachments if item.path}
    spans = find_file_spans(exchange.turn.said[:_NAMED_CHARS])
    return attached | {tail(span.path).lower() for span in spans if not span.doubtful}


def _used(exchange: Exchange) -> set[str]:
    return {tail(act.path).lower() for act in exchange.acts}


def _pause(before: Exchange, after: Exchange) -> float:
    """Seconds without a turn before `after`; 0 where times are not recorded."""
    if after.turn.at is None or before.ended_at is None:
        return 0.0
    return max(0.0, after.turn.at - before.ended_at)


def _as_told(exchanges: Sequence[Exchange], tasks: Tasks) -> tuple[list[_Group], list[int]]:
    """The groups that a model named, in the order of their first messages, and idle positions."""
    position_of = {exchange.turn.index: at for at, exchange in enumerate(exchanges)}
    task_of = {
        position_of[index]: number
        for number, members in enumerate(tasks.tasks)
        for index in members
        if index in position_of
    }
    idle = {position_of[index] for index in tasks.no_task if index in position_of}
    groups: dict[int, list[int]] = {}
    last = 0
    for position in range(len(exchanges)):
        if position in idle and position not in task_of:
            continue
        last = task_of.get(position, last)
        groups.setdefault(last, []).append(position)
    started = [CutReason.SESSION_START, *[CutReason.OTHER_TASK] * len(groups)]
    in_order = sorted(groups.values())
    made = [_Group(tuple(of), reason) for of, reason in zip(in_order, started, strict=False)]
    return made, sorted(idle - task_of.keys())


def _asks_back(reply: str) -> bool:
    """Does the agent's text end with a question mark?"""
    return reply.rstrip().endswith(("?", "？"))


def _instances(
    session: Session, exchanges: Sequence[Exchange], groups: Sequence[_Group]
) -> tuple[TaskInstance, ...]:
    said = [exchange.turn.said for exchange in exchanges]
    members = [[exchanges[position] for position in group.positions] for group in groups]
    redacted = [any(map(_is_redacted, of)) for of in members]
    urls = _session_urls(session) if any(redacted) else ()
    made = _made_by_programs(session)
    shown = [_shown_files(of) for of in members]
    return tuple(
        TaskInstance(
            instance_id=f"{session.uid}_i{number}",
            session_uid=session.uid,
            session_id=session.session_id,
            source_format=session.source_format,
            source_path=session.source_path,
            started_by=group.reason,
            user_turns=tuple(_user_turn(exchange.turn) for exchange in of),
            turn_indices=tuple(sorted(_indices(of))),
            acts=tuple(_acts(of)),
            session_urls=urls if is_redacted else (),
            reply=_last_reply(of),
            asked_back=any(_asks_back(exchange.reply) for exchange in of),
            cwd=session.cwd,
            fingerprint=_fingerprint(of),
            said_before=tuple(said[max(0, group.positions[0] - _SAID_BEFORE) : group.positions[0]]),
            answers=tuple(exchange.reply for exchange in of),
            tools=_tools_called(of),
            made=tuple(sorted({act.path for act in _acts(of)} & made)),
            kept=kept,
            in_part=in_part,
        )
        for number, (group, of, is_redacted, (kept, in_part)) in enumerate(
            zip(groups, members, redacted, shown, strict=True), start=1
        )
    )


def _acts(exchanges: Sequence[Exchange]) -> Iterator[AgentAct]:
    return (act for exchange in exchanges for act in exchange.acts)


def _last_reply(exchanges: Sequence[Exchange]) -> str:
    for exchange in reversed(exchanges):
        if reply := exchange.reply:
            return reply
    return ""


def _user_turn(turn: Turn) -> UserTurn:
    return UserTurn(
        turn.index, turn.line, turn.text, turn.said, turn.at, turn.sender, turn.attachments
    )


def _indices(exchanges: Sequence[Exchange]) -> Iterator[int]:
    for exchange in exchanges:
        yield exchange.turn.index
        yield from (turn.index for turn in exchange.answers)


def _is_redacted(exchange: Exchange) -> bool:
    turn = exchange.turn
    return holds_mark(turn.text) or any(
        item.path is not None and holds_mark(item.path) for item in turn.attachments
    )


def _fingerprint(exchanges: Sequence[Exchange]) -> str:
    """SHA-256 of the texts of the human turns, each prefixed with its length."""
    digest = hashlib.sha256()
    for exchange in exchanges:
        raw = exchange.turn.text.encode("utf-8", "surrogatepass")
        digest.update(f"{len(raw)}:".encode())
        digest.update(raw)
    return digest.hexdigest()


def _session_urls(session: Session) -> tuple[str, ...]:
    """Every URL in the texts, tool arguments and tool results of a session, in order."""
    urls: dict[str, None] = {}
    for text in _raw_texts(session):
        # Searching a single character is fastest, and most tool results hold no URL.
        if ("/" in text and "://" in text) or "www." in text:
            urls.update((mention.url, None) for mention in find_urls(text))
    return tuple(urls)


def _raw_texts(session: Session) -> Iterator[str]:
    for turn in session.turns:
        yield turn.text
        for call in turn.tool_calls:
            yield from _strings(call.arguments)
            if call.result is not None:
                yield call.result


def _strings(value: object) -> Iterator[str]:
    """The strings in decoded JSON, in document order; iterative, since nesting may be deep."""
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack.extend(reversed(item.values()))
        elif isinstance(item, list):
            stack.extend(reversed(item))
