"""Reads trajectories of SWE-agent (`.traj`): one document with the history of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from construction.sessions.readers.chat import FUNCTION, PARAMETER, chat_session
from construction.sessions.readers.source import Sample, SourceFile, document_of
from construction.sessions.readers.talk import (
    block_text,
    decoded,
    decoded_arguments,
    dicts,
    first_text,
    inner,
    plain,
)
from data.contracts import ReadIssue, Session, SourceFormat

_AGENT_NAME = "swe-agent"
_SHELL = "bash"
_OBSERVED = "OBSERVATION:\n"
_Record = dict[str, Any]


def fits(sample: Sample) -> bool:
    """A trajectory of actions, or a history whose messages state their types."""
    return any(
        any("message_type" in entry for entry in dicts(record.get("history"))[:20])
        or any("action" in step for step in dicts(record.get("trajectory"))[:20])
        for record in sample.records
    )


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a run: the task is the first message of the user that is no demonstration,
    and every later one is what a command printed.
    """
    head = inner(document_of(source))
    history = head.get("history")
    messages = _as_chat(history if isinstance(history, list) else [])
    yield from chat_session(
        source,
        SourceFormat.SWE_AGENT,
        [(0, message) for message in messages],
        PurePosixPath(source.relative).stem,
        cwd=_working_folder(head.get("trajectory")),
        agent_name=_AGENT_NAME,
    )


def _as_chat(history: Sequence[object]) -> list[object]:
    """The history as messages in OpenAI roles, without demonstrations."""
    messages: list[object] = []
    waiting = shown = ""  # the id of the command whose output comes next; the file in the editor
    has_task = False
    for number, entry in enumerate(history):
        if not isinstance(entry, dict):
            messages.append(entry)
            continue
        if entry.get("is_demo"):
            continue
        role = entry.get("role")
        if role == "assistant":
            message, waiting, shown = _action(entry, number, shown)
            messages.append(message)
        elif role == "tool" or (role == "user" and has_task):
            ids = entry.get("tool_call_ids")
            call_id = ids[0] if isinstance(ids, list) and ids else waiting
            content = block_text(entry.get("content")).removeprefix(_OBSERVED)
            messages.append({"role": "tool", "tool_call_id": call_id, "content": content})
        else:
            has_task |= role == "user"
            messages.append(entry)
    return messages


_EDITOR = frozenset({"open", "create", "edit", "insert"})  # commands of the file in the editor


def _action(entry: _Record, number: int, shown: str) -> tuple[_Record, str, str]:
    """What the agent said with the call of its command, the id of that call, the file shown."""
    if isinstance(entry.get("tool_calls"), list):
        calls, shown = _with_files(entry["tool_calls"], shown)
        return {**entry, "tool_calls": calls}, "", shown
    command, text = entry.get("action"), block_text(entry.get("content"))
    function = FUNCTION.search(text)
    if function is None and (not isinstance(command, str) or not command.strip()):
        return entry, "", shown
    name, arguments = _SHELL, {"command": command}
    verb, *words = plain(command).split(maxsplit=2) or [""]
    if verb in _EDITOR:
        shown = words[0].strip("\"'") if verb in ("open", "create") and words else shown
        name, arguments = verb, {"path": shown, "input": command}
    said = entry.get("thought")
    if function is not None:
        name, arguments = function[1], dict(PARAMETER.findall(function[2]))
        said = said if isinstance(said, str) else text[: function.start()].strip()
    call_id = f"action{number}"
    message = {
        "role": "assistant",
        "content": said if isinstance(said, str) else entry.get("content"),
        "tool_calls": [{"id": call_id, "name": name, "arguments": arguments}],
    }
    return message, call_id, shown


def _with_files(calls: Sequence[object], shown: str) -> tuple[list[object], str]:
    """The calls, those that change the file in the editor with its path; the file shown then."""
    made: list[object] = []
    for call in calls:
        function = inner(call, "function")
        given = decoded_arguments(function.get("arguments"))
        if function.get("name") in _EDITOR and isinstance(call, dict):
            shown = first_text(given, "path", "filename") or shown
            named = {"path": shown, **given} if shown else given
            call = {**call, "function": {**function, "arguments": named}}
        made.append(call)
    return made, shown


def _working_folder(trajectory: object) -> str | None:
    """The folder in which the run began, as the state after its first command says it."""
    steps = dicts(trajectory)
    state = steps[0].get("state") if steps else None
    folder = inner(decoded(state) if isinstance(state, str) else state).get("working_dir")
    return folder if isinstance(folder, str) and folder.startswith("/") else None
