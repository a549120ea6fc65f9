"""Reads trajectories of SWE-agent (`.traj`: one document with the history of a run) and of
mini-swe-agent: commands in fences, as tool calls, or as response items."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from construction.sessions.readers.chat import FUNCTION, PARAMETER, chat_session
from construction.sessions.readers.openai_responses import add_item
from construction.sessions.readers.source import (
    Sample,
    SourceFile,
    document_of,
    epoch_seconds,
)
from construction.sessions.readers.talk import (
    Answer,
    Record,
    Talk,
    block_text,
    decoded,
    decoded_arguments,
    dicts,
    first_text,
    inner,
    is_failure,
    kind_of,
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


_FENCE = re.compile(r"```(?:bash|sh|mswea_bash_command)[ \t]*\n(.*?)\n?```", re.DOTALL)
_CODE = re.compile(r"<returncode>\s*(-?\d{1,10})\s*</returncode>")
_RETURNED = "<returncode>"
_HALVES = ("</output_head>\n", "<output_tail>\n")  # of an output that was too long
_FRAMES = (("<pr_description>", "</pr_description>"), ("<task>", "</task>"))
_HEADS = ("Consider the following PR description:", "Please solve this issue:")
# What the harness puts before words that a person typed in place of an answer.
_TYPED = (
    "Command not executed. The user rejected your command with the following message:",
    "Command not executed: The user rejected your command with the following message:",
    "Interrupted by user:",
    "The user added a new task:",
)
_NO_WORDS = ("", "Temporary interruption caught.")
_TAIL = "\n\nYou can execute bash commands and edit files to implement the necessary changes."


def fits_mini(sample: Sample) -> bool:
    """Its `trajectory_format`, its version in `info`, or a code fence followed by a return code."""
    head = sample.head
    named = plain(head.get("trajectory_format", "")).startswith("mini-swe-agent")
    if named or "mini_version" in inner(head, "info"):
        return True
    messages = dicts(head.get("messages")) or list(sample.items)
    before = ""
    for message in messages[:20]:
        text = block_text(message.get("content"))
        is_answered = message.get("role") == "user" and text.startswith(_RETURNED)
        if is_answered and _FENCE.search(before):
            return True
        before = text if message.get("role") == "assistant" else ""
    return False


@dataclass(slots=True)
class _Run:
    talk: Talk
    has_task: bool = False
    has_acted: bool = True  # whether the last message of the agent held a command


def read_mini(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a run: the task is the first message of `user`, later ones are results."""
    document = document_of(source)
    head = inner(document)
    messages = dicts(head.get("messages") if head else document)
    run = _Run(Talk(source, SourceFormat.MINI_SWE_AGENT))
    for message in messages:
        _add(run, message)
    config = inner(head, "info", "config")
    yield from run.talk.session(
        first_text(head, "instance_id"),
        cwd=first_text(inner(config, "environment"), "cwd"),
        agent_name="mini-swe-agent",
        agent_version=first_text(inner(head, "info"), "mini_version"),
    )


def _add(run: _Run, message: Record) -> None:
    role, talk = message.get("role"), run.talk
    extra = inner(message, "extra")
    at = epoch_seconds(extra.get("timestamp"))
    text = block_text(message.get("content"))
    if message.get("object") == "response":
        for item in dicts(message.get("output")):
            add_item(talk, item, 0, at)
        run.has_acted = True
    elif kind_of(message) == "function_call_output":
        add_item(talk, message, 0, at)
    elif role == "assistant":
        run.has_acted = bool(_add_answer(run, message, text, at).calls)
    elif role in ("system", "developer"):
        talk.system(text, at=at)
    elif role == "tool":
        _add_result(talk, plain(message.get("tool_call_id")), extra, text)
    elif role == "exit":
        talk.skip()
    elif role == "user":
        _add_user(run, extra, text, at)
    else:
        talk.unexpected(0, f"an object with {len(message)} keys")


def _add_user(run: _Run, extra: Record, text: str, at: float | None) -> None:
    talk = run.talk
    if not run.has_task:
        run.has_task = True
        talk.person(text, at=at, said=_task(text))
    elif extra.get("interrupt_type") == "FormatError":
        talk.notice(text, at=at)
    elif text.startswith(_TYPED):
        talk.open.clear()  # the command was not run, or its output is not shown
        words = next(text.removeprefix(mark) for mark in _TYPED if text.startswith(mark)).strip()
        talk.notice(text, at=at) if words in _NO_WORDS else talk.person(text, at=at, said=words)
    elif talk.open and not plain(extra.get("interrupt_type", "")).startswith("User"):
        _add_result(talk, None, extra, text)
    elif run.has_acted:
        talk.person(text, at=at)
    else:
        talk.notice(text, at=at)  # the answer held no command, of which the harness complains


def _add_answer(run: _Run, message: Record, text: str, at: float | None) -> Answer:
    extra = inner(message, "extra")
    answer = run.talk.answer(at=at, model=inner(extra, "response").get("model"))
    answer.think(message.get("reasoning_content"))
    for call in dicts(message.get("tool_calls")):
        function = inner(call, "function")
        answer.call(call.get("id"), function.get("name"), function.get("arguments"))
    if not answer.calls:
        actions = [action.get("command") for action in dicts(extra.get("actions"))]
        fences = _FENCE.findall(text) if text.count("```") <= _MOST_FENCES else []
        for command in actions or (fences if len(fences) == 1 else []):
            answer.call(None, "bash", {"command": command})
        if len(fences) == 1 and answer.calls:
            text = _FENCE.sub("", text).strip()
    answer.say(text)
    return answer


_MOST_FENCES = 1000


def _add_result(talk: Talk, call_id: str | None, extra: Record, text: str) -> None:
    raw, code = extra.get("raw_output"), extra.get("returncode")
    tagged = _CODE.search(text, 0, 200)
    if code is None and tagged is not None:
        code = int(tagged[1])
    shown = raw if isinstance(raw, str) else _between(text, "<output>", "</output>")
    if shown is None:
        long = _between(text, "<output_head>", "</output_tail>")
        shown = text if long is None else long
        for half in _HALVES:
            shown = shown.replace(half, "").replace(half.rstrip(), "")
    talk.result(shown, is_failure(code), call_id)


def _between(text: str, opening: str, closing: str) -> str | None:
    start = text.find(opening)
    end = text.rfind(closing)
    return text[start + len(opening) : end].strip("\n") if 0 <= start < end else None


def _task(text: str) -> str:
    """The task as it was given, without the template around it."""
    for opening, closing in _FRAMES:
        framed = _between(text, opening, closing)
        if framed is not None:
            text = framed
            break
    text = text.partition(_TAIL)[0].strip()
    for head in _HEADS:
        text = text.removeprefix(head)
    return text.strip()
