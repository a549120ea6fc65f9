"""Reads trajectories of mini-swe-agent: commands in fences, as tool calls, or as response items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
    dicts,
    first_text,
    inner,
    is_failure,
    kind_of,
    plain,
)
from data.contracts import ReadIssue, Session, SourceFormat

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


def fits(sample: Sample) -> bool:
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


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
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
