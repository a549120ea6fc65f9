"""The session files of a demo: their paths, damage to their lines, and files beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import orjson

from data.demo.script import Flavor, Human, Script
from data.demo.session import DemoSession
from data.demo.truth import FileTruth, InstanceTruth, IssueTruth, SessionTruth
from data.demo.writers import chat, claude_code, codex, openclaw

LABELS = {
    Flavor.OPENCLAW: "openclaw",
    Flavor.PI: "openclaw",
    Flavor.CLAUDE_CODE: "claude_code",
    Flavor.CODEX: "codex",
    Flavor.ATIF: "atif",
    Flavor.CHAT_JSON: "chat",
    Flavor.CHAT_LINES: "chat",
    Flavor.TAU: "chat",
    Flavor.DATACLAW: "chat",
}
_DUPLICATE = "instance.duplicate"
_KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Written:
    """A file to be written below `sessions/`; `link` instead of content makes it a symlink."""

    truth: FileTruth
    content: bytes = b""
    link: str | None = None


def is_shared(flavor: Flavor) -> bool:
    """Whether the sessions of a block share one file in this format."""
    return flavor in (Flavor.TAU, Flavor.DATACLAW)


def shared_file(flavor: Flavor, sessions: Sequence[DemoSession]) -> Written:
    """The runs of a block as one list, or its exports as lines."""
    block = sessions[0].script.block
    truths = tuple(session.truth for session in sessions)
    if flavor is Flavor.TAU:
        path = f"chat/runs-{block:05d}.json"
        content = orjson.dumps([chat.run(session.script) for session in sessions])
        truths = tuple(
            truth.model_copy(update={"session_id": f"task_{session.script.number}_trial_0"})
            for truth, session in zip(truths, sessions, strict=True)
        )
    else:
        path = f"chat/export-{block:05d}.jsonl"
        content = _joined([chat.export(session.script) for session in sessions])
    return Written(FileTruth(path=path, outcome="read", label="chat", sessions=truths), content)


def own_files(session: DemoSession) -> list[Written]:
    """The session's own log and what the plan puts beside it."""
    script, row = session.script, session.row
    path = _path(script)
    truth = FileTruth(
        path=path, outcome="read", label=LABELS[script.flavor], sessions=(session.truth,)
    )
    if "resumed" in row.beside:
        return _resumed(session, truth)
    lines = _lines(script)
    issues: list[IssueTruth] = []
    for name in row.damage:
        issues += _DAMAGE[name](lines, script)
    truth = truth.model_copy(update={"issues": tuple(issues), "plants": row.damage})
    written = Written(truth, _joined(lines) if _is_lines(script) else lines[0])
    files = [written]
    for name in row.beside:
        files += _BESIDE[name](session, written)
    return files


def _path(script: Script) -> str:
    moment = datetime.fromtimestamp(script.started, UTC)
    desk, name, stamp = f"desk-{script.block:05d}", script.session_id, f"{moment:%Y-%m-%dT%H-%M-%S}"
    # Gateways rename logs that were reset or deleted; such logs stay readable.
    suffix = {3: f".reset.{stamp}.000Z", 7: f".deleted.{stamp}.000Z"}.get(script.number % 11, "")
    return {
        Flavor.OPENCLAW: f"openclaw/agents/{desk}/sessions/{name}.jsonl{suffix}",
        Flavor.PI: f"pi/{desk}/{stamp}_{name}.jsonl",
        Flavor.CLAUDE_CODE: f"claude_code/{desk}/{name}.jsonl",
        Flavor.CODEX: f"codex/{desk}/rollout-{stamp}-{name}.jsonl",
        Flavor.ATIF: f"atif/{desk}/{name}.json",
        Flavor.CHAT_JSON: f"chat/{desk}/{name}.json",
        Flavor.CHAT_LINES: f"chat/{desk}/{name}.jsonl",
    }[script.flavor]


def _is_lines(script: Script) -> bool:
    return script.flavor not in (Flavor.ATIF, Flavor.CHAT_JSON)


def _lines(script: Script) -> list[bytes]:
    """The lines of a log, or its document as the only line."""
    if script.flavor in (Flavor.OPENCLAW, Flavor.PI):
        return openclaw.write(script)
    if script.flavor is Flavor.CLAUDE_CODE:
        return claude_code.write(script)
    if script.flavor is Flavor.CODEX:
        return codex.write(script)
    if script.flavor is Flavor.ATIF:
        return [chat.write_trajectory(script)]
    if script.flavor is Flavor.CHAT_JSON:
        return [chat.write_document(script)]
    return chat.write_lines(script)


def _joined(lines: Sequence[bytes]) -> bytes:
    return b"\n".join(lines) + b"\n"


# Damage ------------------------------------------------------------------------------------------


def _broken_line(lines: list[bytes], _: Script) -> list[IssueTruth]:
    """A record in the middle of the file that was cut off by a crash."""
    at = len(lines) // 2
    lines.insert(at, b'{"type": "message", "message": {"role": "assistant", "content": [{"te')
    return [IssueTruth(line=at + 1, reason="line.not_json")]


def _truncated_tail(lines: list[bytes], _: Script) -> list[IssueTruth]:
    """The last record was being written when the disk was full."""
    lines[-1] = lines[-1][: len(lines[-1]) // 2]
    return [IssueTruth(line=len(lines), reason="line.not_json")]


def _non_object(lines: list[bytes], _: Script) -> list[IssueTruth]:
    at = len(lines) // 2
    lines.insert(at, b'["checkpoint", 7]')
    return [IssueTruth(line=at + 1, reason="line.not_object")]


def _unknown_record(lines: list[bytes], _: Script) -> list[IssueTruth]:
    """A record of an unknown type."""
    at = len(lines) // 2
    record = {"type": "telemetry_beacon", "timestamp": "2025-01-01T00:00:00Z", "value": 3}
    lines.insert(at, orjson.dumps(record))
    return [IssueTruth(line=at + 1, reason="record.unexpected")]


def _replayed_lines(lines: list[bytes], _: Script) -> list[IssueTruth]:
    """Records that occur twice in the file, as after a resume: they count once."""
    lines.extend(lines[1:3])
    return []


_DAMAGE: dict[str, Callable[[list[bytes], Script], list[IssueTruth]]] = {
    "broken_line": _broken_line,
    "truncated_tail": _truncated_tail,
    "non_object": _non_object,
    "unknown_record": _unknown_record,
    "replayed_lines": _replayed_lines,
}


# Beside the session ------------------------------------------------------------------------------


def _copies(instances: Sequence[InstanceTruth]) -> tuple[InstanceTruth, ...]:
    """The same instances in another file: those that would be kept are duplicates."""
    return tuple(
        instance.model_copy(update={"outcome": _DUPLICATE, "plants": ("duplicate",)})
        if instance.outcome == _KEPT
        else instance
        for instance in instances
    )


def _unread(path: str, outcome: str, label: str, content: bytes = b"") -> Written:
    truth = FileTruth(path=path, outcome=outcome, label=label, plants=(outcome,))
    return Written(truth, content)


def _copy(_: DemoSession, written: Written) -> list[Written]:
    """The same bytes in another folder."""
    path = f"saved_copies/{written.truth.path}"
    return [_unread(path, "file.duplicate", written.truth.label, written.content)]


def _bak(session: DemoSession, written: Written) -> list[Written]:
    """A backup with one more record: another file with the same tasks."""
    more = {"type": "custom", "customType": "backup", "timestamp": "2025-01-01T00:00:00Z"}
    session_truth = session.truth.model_copy(update={"instances": _copies(session.truth.instances)})
    path = f"{written.truth.path}.bak-20250101"
    truth = written.truth.model_copy(
        update={"path": path, "sessions": (session_truth,), "plants": ("backup",)}
    )
    return [Written(truth, written.content + orjson.dumps(more) + b"\n")]


def _readme(session: DemoSession, _: Written) -> list[Written]:
    text = b"# Exported sessions\n\nOne folder per harness. Ask the desk before deleting.\n"
    path = f"codex/desk-{session.script.block:05d}/README.md"
    return [_unread(path, "file.unsupported_format", "not_a_session_log", text)]


def _kiro(session: DemoSession, _: Written) -> list[Written]:
    """A log in a format that is not supported."""
    document = {
        "conversation_id": session.script.session_id,
        "history": [
            {"user": {"content": "Sum up the attached minutes."}},
            {"assistant": {"content": "Here is the summary."}},
        ],
    }
    path = f"other/session-{session.script.block:05d}.json"
    return [_unread(path, "file.unsupported_format", "kiro_history", orjson.dumps(document))]


def _trajectory(session: DemoSession, written: Written) -> list[Written]:
    record = {"traceSchema": "1", "runId": session.script.session_id, "event": "run.start"}
    path = written.truth.path.partition(".jsonl")[0] + ".trajectory.jsonl"
    content = orjson.dumps(record) + b"\n"
    return [_unread(path, "file.unsupported_format", "openclaw_trajectory", content)]


def _empty(session: DemoSession, _: Written) -> list[Written]:
    return [_unread(f"openclaw/empty-{session.script.block:05d}.jsonl", "file.empty", "empty")]


def _link(session: DemoSession, written: Written) -> list[Written]:
    path = f"pi/latest-{session.script.block:05d}.jsonl"
    unread = _unread(path, "file.symlink", "symlink")
    return [replace(unread, link=written.truth.path.removeprefix("pi/"))]


def _sub_agent(session: DemoSession, written: Written) -> list[Written]:
    """The log of a sub-agent that the session's agent started; its prompts are not tasks."""
    agent_id, lines = claude_code.write_sub_agent(session.script)
    session_truth = SessionTruth(session_id=f"agent-{agent_id}", n_human_turns=0, is_sub_agent=True)
    path = f"{written.truth.path.removesuffix('.jsonl')}/subagents/agent-{agent_id}.jsonl"
    truth = FileTruth(
        path=path,
        outcome="read",
        label="claude_code",
        sessions=(session_truth,),
        plants=("sub_agent",),
    )
    return [Written(truth, _joined(lines))]


_BESIDE: dict[str, Callable[[DemoSession, Written], list[Written]]] = {
    "copy": _copy,
    "bak": _bak,
    "readme": _readme,
    "kiro": _kiro,
    "trajectory": _trajectory,
    "empty": _empty,
    "link": _link,
    "sub_agent": _sub_agent,
}


def _resumed(session: DemoSession, truth: FileTruth) -> list[Written]:
    """A log of the first task, and the log of the resumed session that replays it and goes on."""
    script, instances = session.script, session.truth.instances
    kept = next(at for at, e in enumerate(script.events) if isinstance(e, Human) and e.task == 1)
    first = replace(script, events=script.events[:kept])
    before = session.truth.model_copy(
        update={"n_human_turns": len(first.human_turns()), "instances": instances[:1]}
    )
    session_id = f"{script.session_id[:-4]}{'beef'}"
    again = (*_copies(instances[:1]), *instances[1:])
    after = session.truth.model_copy(update={"session_id": session_id, "instances": again})
    folder, _, _ = truth.path.rpartition("/")
    path = f"{folder}/resumed/{session_id}.jsonl"
    update = {"path": path, "sessions": (after,), "plants": ("replayed_prefix",)}
    lines = claude_code.write(script, session_id)
    return [
        Written(truth.model_copy(update={"sessions": (before,)}), _joined(_lines(first))),
        Written(truth.model_copy(update=update), _joined(lines)),
    ]
