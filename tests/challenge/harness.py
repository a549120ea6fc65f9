"""From a challenge case to what the gates see: real unwrapping, real acts, real files."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from construction.sessions.recovery.exchanges import acts_of
from construction.sessions.recovery.recover import _session_urls
from construction.sessions.wrappers.unwrap import unwrap
from data.contracts import (
    CutReason,
    Origin,
    Role,
    Session,
    SourceFormat,
    TaskInstance,
    ToolCall,
    Turn,
    UserTurn,
    Verdict,
)

Case = dict[str, Any]
_BOMB_MEMBER_BYTES = 100_000_000


def load(gate: str) -> list[Case]:
    """The cases of a gate, in the order of their file."""
    text = (Path(__file__).parent / f"{gate}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def instance_of(case: Case) -> TaskInstance:
    """All turns of a case as one instance, as a reader and recovery would hand it on."""
    turns = tuple(_turn(index, turn) for index, turn in enumerate(case["turns"]))
    session = Session(case["id"], case["id"], SourceFormat.CHAT, "challenge", turns)
    return TaskInstance(
        instance_id=f"{case['id']}_i1",
        session_uid=case["id"],
        session_id=case["id"],
        source_format=SourceFormat.CHAT,
        source_path="challenge",
        started_by=CutReason.SESSION_START,
        user_turns=tuple(
            UserTurn(turn.index, turn.line, turn.text, turn.said, attachments=turn.attachments)
            for turn in turns
            if turn.origin is Origin.HUMAN
        ),
        turn_indices=tuple(range(len(turns))),
        acts=tuple(act for turn in turns for act in acts_of(turn)),
        session_urls=_session_urls(session),
        cwd=case.get("cwd"),
    )


def _turn(index: int, turn: dict[str, Any]) -> Turn:
    text = turn["text"]
    if turn["role"] != "user":
        calls = tuple(_call(call) for call in turn.get("tool_calls", ()))
        return Turn(index, Role.ASSISTANT, Origin.AGENT, text, text, index + 1, tool_calls=calls)
    words = unwrap(text)
    return Turn(
        index,
        Role.USER,
        words.origin,
        text,
        words.said,
        index + 1,
        attachments=words.attachments,
    )


def _call(call: dict[str, Any]) -> ToolCall:
    failed = call["result"].startswith("Error")
    return ToolCall("call", call["name"], call["arguments"], call["result"], failed)


def write_files(root: Path, files: dict[str, Any]) -> None:
    """Lay out the workspace of a fixture case below `root`."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        elif "symlink" in content:
            path.symlink_to(content["symlink"])
        elif "fifo" in content:
            os.mkfifo(path)
        elif "bytes" in content:
            with path.open("wb") as handle:
                handle.truncate(content["bytes"])
        else:
            members = content.get("zip") or {"zeros": "\0" * _BOMB_MEMBER_BYTES}
            path.write_bytes(_zip(members))


def _zip(members: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def precision_and_recall(
    cases: Sequence[Case], judge: Callable[[Case], Verdict]
) -> tuple[float, float]:
    """Of the verdict "failed", over all cases."""
    pairs = [
        (judge(case).status == "failed", case["expect"]["status"] == "failed") for case in cases
    ]
    hits = sum(1 for said, true in pairs if said and true)
    return hits / sum(said for said, _ in pairs), hits / sum(true for _, true in pairs)
