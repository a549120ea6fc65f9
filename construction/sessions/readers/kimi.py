"""Reads sessions of Kimi: `context.jsonl`, and `wire.jsonl` of the CLI and of Kimi Code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from construction.sessions.readers import pieces
from construction.sessions.readers.source import (
    PLAIN_ID,
    Sample,
    SourceFile,
    epoch_seconds,
    first_records,
    json_lines,
)
from construction.sessions.readers.talk import (
    Answer,
    Record,
    Said,
    Talk,
    Uids,
    block_text,
    dicts,
    first_text,
    inner,
    kind_of,
    plain,
    type_name,
)
from data.contracts import Origin, ReadIssue, Session, SourceFormat

_CONTEXT = re.compile(r"context(?:_\d{1,9})?\.jsonl")  # with a number: what a compaction replaced
_SUB_CONTEXT = re.compile(r"context_sub(?:_\d{1,9})?\.jsonl")
_SYSTEM_MARKS = ("<system>", "<system-reminder>")
_SILENT_EVENTS = frozenset(
    {"TurnEnd", "StepBegin", "StepInterrupted", "StepRetry", "StatusUpdate", "CompactionBegin"}
    | {"CompactionEnd", "HookTriggered", "HookResolved", "MCPLoadingBegin", "MCPLoadingEnd"}
    | {"ApprovalRequest", "ApprovalRequestResolved", "QuestionRequest", "QuestionResponse"}
    | {"HookRequest", "HookResponse", "ToolCallRequest", "PlanDisplay", "BtwBegin", "BtwEnd"}
    | {"MCPStatusSnapshot"}
)
_SUBSYSTEMS = (
    "config.", "tools.", "llm.", "turn.", "usage.", "permission.", "full_compaction.", "profile.",
    "plugin.", "runtime.", "token_counting.", "metadata", "session.", "mcp.", "hook.", "goal.",
    "background.", "subagent.", "skill.", "plan.", "plan_mode.", "cron.", "todo.",
)  # fmt: skip
_SILENT_STEPS = frozenset({"step.begin", "step.end", "step.interrupted", "step.retry"})


def fits(sample: Sample) -> bool:
    """Roles that begin with `_`, a `protocol_version`, wire messages with a payload, or events."""
    for record in sample.records:
        kind, role = kind_of(record), record.get("role")
        if isinstance(role, str) and role in ("_checkpoint", "_usage", "_system_prompt"):
            return True
        if kind == "metadata" and "protocol_version" in record:
            return True
        message = inner(record, "message")
        if "timestamp" in record and "payload" in message and isinstance(message.get("type"), str):
            return True
        if kind.startswith(("context.append_", "config.update")):
            return True
    return False


@dataclass(slots=True)
class _Log:
    """The main conversation, those of sub-agents by the call that started them, and the folder.

    `by_agent`: the main conversation of the file is itself a sub-agent's.
    """

    main: Talk
    by_agent: bool
    agents: dict[str, Talk] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)  # of sub-agents, by the same calls
    cwd: str | None = None
    pieces: list[str] = field(default_factory=list)  # of the last call's arguments

    def settle(self) -> None:
        """Add the pieces of arguments to their call."""
        last = self.main.drafts[-1] if self.main.drafts else None
        if self.pieces and isinstance(last, Answer) and last.calls:
            call_id, name, arguments, line = last.calls[-1]
            last.calls[-1] = (call_id, name, "".join([plain(arguments), *self.pieces]), line)
        self.pieces.clear()


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a file, and one for each sub-agent whose events it holds.

    A folder of the CLI holds a session twice: the context, and the wire, which also has times. Of
    a sub-agent with a context of its own the wire may hold only the beginning.
    """
    wire = source.path.with_name("wire.jsonl")
    if _CONTEXT.fullmatch(source.path.name) and wire.is_file() and _has_events(wire):
        actual, expected = "the context of a session", wire.name
        yield ReadIssue("file", source.relative, 0, "file.copy_of_history", actual, expected)
        return
    name, parent = _names(PurePosixPath(source.relative))
    log = _Log(Talk(source, SourceFormat.KIMI), parent is not None)
    for line, record in log.main.records(json_lines):
        _add(log, line, record)
    log.settle()
    uids, beside = Uids(source.relative), _prompts_beside(source.path)
    agents = {}
    for call_id, talk in log.agents.items():
        prompt = next((draft.text for draft in talk.drafts if isinstance(draft, Said)), "")
        own = log.names.get(call_id)
        if own is not None and (source.path.parent / "subagents" / own).is_dir():
            log.main.skip("sub_agent")
        elif beside[prompt] > 0:
            beside[prompt] -= 1
            log.main.skip("sub_agent")
        else:
            agents[call_id] = talk
    yield from log.main.session(
        name, uids=uids, cwd=log.cwd, agent_name="kimi", parent_session_id=parent
    )
    for call_id, talk in agents.items():
        yield from talk.session(
            f"{name}-agent-{call_id}", uids=uids, agent_name="kimi", parent_session_id=name
        )


def _names(path: PurePosixPath) -> tuple[str, str | None]:
    """A session's name by its folder, and for a sub-agent that of the session that started it."""
    folder, above = path.parent, path.parent.parent
    if _SUB_CONTEXT.fullmatch(path.name):
        return f"{folder.name}-{path.stem}", folder.name
    if path.stem not in ("context", "wire"):
        return path.stem, None
    if above.name == "subagents" or (above.name == "agents" and folder.name != "main"):
        return folder.name, above.parent.name
    own = above.parent if above.name == "agents" else folder
    return own.name or path.stem, None


def _prompts_beside(path: Path) -> Counter[str]:
    """The prompts of the sub-agents whose contexts lie beside a wire."""
    prompts: Counter[str] = Counter()
    for context in path.parent.iterdir() if path.name == "wire.jsonl" else ():
        is_file = context.is_file() and not context.is_symlink()
        if not is_file or _SUB_CONTEXT.fullmatch(context.name) is None:
            continue
        records = first_records(SourceFile(context, ""))
        prompt = next((record for record in records if record.get("role") == "user"), {})
        prompts[block_text(prompt.get("content"))] += 1
    return prompts


def _has_events(wire: Path) -> bool:
    """Whether a wire holds more than the record with which it begins."""
    return any(kind_of(record) != "metadata" for record in first_records(SourceFile(wire, "")))


def _add(log: _Log, line: int, record: Record) -> None:
    talk, kind = log.main, kind_of(record)
    message = inner(record, "message")
    if isinstance(role := record.get("role"), str):
        if role == "_system_prompt":
            talk.system(plain(record.get("content")), line)
        elif role.startswith("_"):
            talk.skip()
        else:
            _add_message(log, record, line, None)
    elif "payload" in message:
        if kind_of(message) != "ToolCallPart":
            log.settle()
        _add_event(log, talk, message, line, epoch_seconds(record.get("timestamp")))
    elif kind == "context.append_message":
        _add_message(log, message, line, epoch_seconds(record.get("time")))
    elif kind == "context.append_loop_event":
        _add_step(talk, inner(record, "event"), line, epoch_seconds(record.get("time")))
    elif kind == "context.apply_compaction":
        talk.notice(plain(record.get("summary")), line, at=epoch_seconds(record.get("time")))
    elif kind.startswith(_SUBSYSTEMS):
        log.cwd = log.cwd or first_text(record, "cwd")
        log.cwd = log.cwd or first_text(inner(record, "environmentDisclosure"), "cwd")
        if (prompt := first_text(record, "systemPrompt")) and talk.system_prompt is None:
            talk.system_prompt = prompt
        talk.skip()
    else:
        talk.unexpected(line, f"a record of type {type_name(kind)}")


def _add_message(log: _Log, message: Record, line: int, at: float | None) -> None:
    talk, origin = log.main, Origin.AGENT if log.by_agent else None
    role = message.get("role")
    given = list(pieces.of(talk, message.get("content"), line))
    text = pieces.text(given)
    if role == "assistant":
        answer = pieces.add_to(talk, talk.answer(line, at=at), given, line)
        for call in dicts(message.get("tool_calls") or message.get("toolCalls")):
            function = inner(call, "function") or call
            arguments = function.get("arguments", function.get("args"))
            answer.call(call.get("id"), function.get("name"), arguments)
    elif role == "tool":
        call_id = message.get("tool_call_id") or message.get("toolCallId")
        talk.results.add(plain(call_id), text, text.startswith("<system>ERROR"))
    elif role == "user":
        kind = inner(message, "origin").get("kind", "user")
        if kind == "user" and not text.lstrip().startswith(_SYSTEM_MARKS):
            pieces.add(talk, role, given, line, at=at, origin=origin)
        elif inner(message, "origin").get("name") == "subagent":
            talk.person(text, line, at=at, origin=Origin.AGENT)
        else:
            talk.notice(text, line, at=at)
    elif role == "system":
        talk.system(text, line, at=at)
    else:
        talk.unexpected(line, f"a message of role {type_name(role)}")


def _add_event(log: _Log, talk: Talk, message: Record, line: int, at: float | None) -> None:
    kind, payload = kind_of(message), inner(message, "payload")
    if kind in ("TurnBegin", "SteerInput"):
        origin = Origin.AGENT if log.by_agent or talk is not log.main else None
        given = pieces.of(talk, payload.get("user_input"), line)
        pieces.add(talk, "user", given, line, at=at, origin=origin)
    elif kind == "ContentPart":
        pieces.add_to(talk, _current(talk, line, at), pieces.of(talk, [payload], line), line)
    elif kind == "ToolCall":
        function = inner(payload, "function")
        answer = _current(talk, line, at)
        answer.call(payload.get("id"), function.get("name"), function.get("arguments"), line)
    elif kind == "ToolCallPart":
        log.pieces.append(plain(payload.get("arguments_part")))
    elif kind == "ToolResult":
        value = inner(payload, "return_value") or inner(payload, "result")
        text = plain(value.get("output")) or plain(value.get("message"))
        failed = value.get("is_error") is True
        talk.results.add(plain(payload.get("tool_call_id")), text, failed)
    elif kind == "SubagentEvent":
        own = plain(payload.get("parent_tool_call_id") or payload.get("task_tool_call_id"))
        agent = log.agents.setdefault(own, Talk(talk.source, SourceFormat.KIMI))
        agent_id = first_text(payload, "agent_id")
        if agent_id is not None and PLAIN_ID.fullmatch(agent_id):
            log.names[own] = agent_id
        event = inner(payload, "event")
        if kind_of(event) != "SubagentEvent":
            _add_event(log, agent, event, line, at)
        else:
            talk.unexpected(line, "a sub-agent's event inside another")
    elif kind == "ApprovalResponse":
        talk.person(plain(payload.get("feedback")), line, at=at)
    elif kind == "Notification":
        talk.notice(plain(payload.get("body")), line, at=at)
    elif kind in _SILENT_EVENTS:
        talk.skip()
    else:
        talk.unexpected(line, f"an event of type {type_name(kind)}")


def _current(talk: Talk, line: int, at: float | None) -> Answer:
    """The answer that is being written: until a person or a result comes in between."""
    return talk.answer(line, at=at, key="stream")


def _add_step(talk: Talk, event: Record, line: int, at: float | None) -> None:
    kind = kind_of(event)
    key = first_text(event, "stepUuid") or first_text(event, "uuid")
    if kind == "content.part":
        given = pieces.of(talk, [event.get("part")], line)
        pieces.add(talk, "assistant", given, line, at=at, key=key)
    elif kind == "tool.call":
        answer = talk.answer(line, at=at, key=key)
        answer.call(event.get("toolCallId"), event.get("name"), event.get("args"), line)
    elif kind == "tool.result":
        result = event.get("result")
        held = result if isinstance(result, dict) else {"output": result}
        failed = held.get("isError") is True or "error" in held
        shown = plain(held.get("output")) or plain(held.get("error"))
        talk.results.add(plain(event.get("toolCallId")), shown, failed)
    elif kind in _SILENT_STEPS:
        talk.skip()
    else:
        talk.unexpected(line, f"an event of type {type_name(kind)}")
