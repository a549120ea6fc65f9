"""Reads tasks of Cline and Roo Code: the history of the model's API, or what the window showed.

In the history every message of role `user` is built by the extension: the person's words stand in
tags, beside results of tools and what the extension says of the editor. `markdown` reads the
history's export with what is here.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from construction.sessions.readers import pieces
from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds
from construction.sessions.readers.talk import (
    Answer,
    Record,
    Talk,
    decoded,
    dicts,
    first_text,
    inner,
    kind_of,
    plain,
    type_name,
)
from data.contracts import Attachment, ReadIssue, Session, SourceFormat

_TOOLS = (
    "execute_command", "read_file", "write_to_file", "replace_in_file", "apply_diff",
    "search_files", "list_files", "list_code_definition_names", "browser_action", "use_mcp_tool",
    "access_mcp_resource", "ask_followup_question", "attempt_completion", "plan_mode_respond",
    "new_task", "switch_mode", "fetch_instructions", "insert_content", "search_and_replace",
    "update_todo_list", "codebase_search", "condense", "load_mcp_documentation", "new_rule",
    "report_bug", "web_fetch", "web_search", "run_slash_command", "generate_image",
    "summarize_task", "use_skill", "edit_file", "apply_patch", "act_mode_respond",
)  # fmt: skip
# Tools by which the agent speaks to the person, and the parameter that holds its words.
_SPOKEN = {
    "attempt_completion": "result",
    "ask_followup_question": "question",
    "plan_mode_respond": "response",
    "act_mode_respond": "response",
}
_OPENING = re.compile(f"<({'|'.join(_TOOLS)})>")
_PARAMETER = re.compile(r"<(\w{1,40})>")
_WORDS = re.compile("<(task|feedback|answer|user_message)>")
_FRAMES = ("environment_details", "explicit_instructions", "slash_command_instructions")
_RESULT = re.compile(r"\[([a-z_]{1,40})(?: for [^\n]{0,2000})?\] Result:[ \t]*\n?")
_HEAD = re.compile(rf"^{_RESULT.pattern}", re.MULTILINE)
_CWD = re.compile(r"# Current (?:Working|Workspace) Directory \(([^)\n]{1,1000})\)")
_RESUMED = "[TASK RESUMPTION]"
_NAME = "cline"


def fits(sample: Sample) -> bool:
    """A list of messages with the extension's tags, or of prompts and replies in its window."""
    for item in sample.items[:3]:
        texts = [plain(part.get("text")) for part in dicts(item.get("content"))]
        if isinstance(item.get("content"), str):
            texts = [item["content"]]
        if item.get("role") == "user" and any(
            text.lstrip().startswith("<task>") or "<environment_details>" in text for text in texts
        ):
            return True
        if "ts" in item and kind_of(item) in ("ask", "say") and item["type"] in item:
            return True
    return False


@dataclass(slots=True)
class Task:
    """A task while it is read."""

    talk: Talk
    has_spoken: bool = False
    cwd: str | None = None


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a task. What the window showed is refused beside the history of the same."""
    task = Task(Talk(source, SourceFormat.CLINE))
    beside = source.path.with_name("api_conversation_history.json")
    for line, message in task.talk.records():
        if "role" in message:
            _add(task, message, line)
        elif beside != source.path and beside.is_file():
            actual, expected = "what the window showed of a task", beside.name
            yield ReadIssue("file", source.relative, 0, "file.copy_of_history", actual, expected)
            return
        else:
            _add_shown(task, message, line)
    stem = source.path.stem
    name = source.path.parent.name if stem in ("api_conversation_history", "ui_messages") else None
    yield from task.talk.session(name or None, cwd=task.cwd, agent_name=_NAME)


def _add(task: Task, message: Record, line: int) -> None:
    role, content = message.get("role"), message.get("content")
    at = epoch_seconds(message.get("ts"))
    parts = content if isinstance(content, list) else [content]
    if message.get("isSummary") is True:
        task.talk.notice(plain(_texts(content)), line, at=at)
    elif role == "assistant":
        _add_answer(task, parts, line, at)
    elif role == "user":
        for message_parts in _messages(parts):
            _add_user(task, message_parts, line, at)
    elif role == "system":
        task.talk.system(plain(content), line, at=at)
    else:
        task.talk.unexpected(line, f"a message of role {type_name(role)}")


def _add_answer(task: Task, parts: list[object], line: int, at: float | None) -> None:
    answer = task.talk.answer(line, at=at)
    task.talk.open.clear()
    for piece in pieces.of(task.talk, parts, line, _piece):
        if isinstance(piece, pieces.Text):
            _add_text(answer, piece.text)
        elif isinstance(piece, pieces.Call) and piece.name in _SPOKEN:
            answer.say(inner({"": piece.arguments}, "").get(_SPOKEN[plain(piece.name)]))
        else:
            pieces.add_to(task.talk, answer, [piece], line)


def _piece(part: Record) -> pieces.Piece:
    if kind_of(part) != "tool_result":
        return pieces.common(part)
    text, failed = plain(_texts(part.get("content"))), part.get("is_error") is True
    return pieces.Result(plain(part.get("tool_use_id")), text, failed or _is_error(text))


def _add_text(answer: Answer, text: str) -> None:
    """Add what the agent wrote: words, and calls that it wrote as tags."""
    position = 0
    said: list[str] = []
    while (opening := _OPENING.search(text, position)) is not None:
        name = opening[1]
        end = text.find(f"</{name}>", opening.end())
        body = text[opening.end() : end if end >= 0 else len(text)]
        said.append(text[position : opening.start()].strip())
        if name in _SPOKEN:
            said.append(_parameters(body).get(_SPOKEN[name], body).strip())
        else:
            answer.say("\n\n".join(filter(None, said)))
            said = []
            answer.call(None, name, _parameters(body))
        position = len(text) if end < 0 else end + len(name) + 3
    said.append(text[position:].strip())
    answer.say("\n\n".join(filter(None, said)))


def _parameters(body: str) -> dict[str, str]:
    parameters: dict[str, str] = {}
    position = 0
    while (opening := _PARAMETER.search(body, position)) is not None:
        end = body.find(f"</{opening[1]}>", opening.end())
        if end < 0:
            break
        parameters[opening[1]] = body[opening.end() : end].strip("\n")
        position = end
    return parameters


def _messages(parts: list[object]) -> list[list[object]]:
    """The messages that a record joins: a task that is taken up again begins another."""
    starts = [
        place
        for place, part in enumerate(parts)
        if isinstance(part, dict) and plain(part.get("text")).startswith(_RESUMED)
    ]
    bounds = sorted({0, *starts, len(parts)})
    return [parts[start:end] for start, end in itertools.pairwise(bounds)]


def _add_user(task: Task, parts: list[object], line: int, at: float | None) -> None:
    said: list[str] = []
    shown: list[str] = []
    media: list[Attachment] = []
    for piece in pieces.of(task.talk, parts, line, _piece):
        if isinstance(piece, pieces.Text):
            shown.append(piece.text)
        elif isinstance(piece, pieces.Result):
            task.talk.result(piece.text, piece.failed, piece.call_id)
            said += _words(piece.text)
        elif isinstance(piece, Attachment):
            media.append(piece)
    free = _add_results(task, shown)
    framed = [words for text in shown for words in _words(text)]
    if not framed and not task.has_spoken:
        framed = [text for text in map(_unframed, shown) if text]
        free = []
    said += framed
    task.has_spoken |= bool(said)
    task.cwd = task.cwd or next((m[1] for t in shown if (m := _CWD.search(t))), None)
    task.talk.notice("\n".join(text for text in free if not _words(text)), line, at=at)
    task.talk.person("\n".join(shown), line, at=at, said="\n".join(said), media=tuple(media)) if (
        said or media
    ) else None


def _texts(content: object) -> object:
    if isinstance(content, list):
        return [part for part in dicts(content) if kind_of(part) == "text"]
    return content


def _is_error(result: str) -> bool:
    failed = ("The tool execution failed", "The user denied this operation", "[ERROR]")
    return "<error>" in result[:2000] or result.startswith(failed)


def _words(text: str) -> list[str]:
    """What the person typed: the contents of the tags that the extension puts around it.

    A task stands before all results: in one it is quoted.
    """
    said: list[str] = []
    position = 0
    is_result = _RESULT.match(text.lstrip()) is not None
    while (opening := _WORDS.search(text, position)) is not None:
        end = text.find(f"</{opening[1]}>", opening.end())
        if end < 0:
            break
        if opening[1] != "task" or not is_result:
            said.append(text[opening.end() : end].strip())
        position = end
    return [words for words in said if words]


def _unframed(text: str) -> str:
    """A text without the blocks in which the extension describes the editor."""
    for tag in _FRAMES:
        start = text.find(f"<{tag}>")
        if start >= 0:
            end = text.find(f"</{tag}>", start)
            text = text[:start] + (text[end + len(tag) + 3 :] if end >= 0 else "")
    return text.strip()


def _add_results(task: Task, shown: list[str]) -> list[str]:
    """Give results in text to the calls in text; returns the texts that are no results."""
    results: list[list[str]] = []
    free: list[str] = []
    for text in map(_unframed, shown):
        head = _RESULT.match(text)
        if head is not None:
            results.append([text[head.end() :]])
        elif results and text:
            results[-1].append(text)
        elif text:
            free.append(text)
    for result in results:
        text = "\n".join(filter(None, result))
        if task.talk.open:
            task.talk.result(text, _is_error(text))
        elif not _words(text):
            free.append(text)
    return free


# An export writes the parts of a message one below the other. Calls and results that the history
# holds as parts get a line of their own; others are the text that they are in the history.
_EXPORTED_CALL = re.compile(r"^\[Tool Use: ([\w.-]{1,80})\][ \t]*$", re.MULTILINE)
_EXPORTED_RESULT = re.compile(r"^\[(?!Image\])\w[\w.-]{0,80}( \(Error\))?\][ \t]*$", re.MULTILINE)
_EXPORTED_THOUGHT = "[Reasoning]\n"
_EXPORTED_INPUT = re.compile(
    r"^(Path|Content|Diff|Command|Regex|File_pattern|Recursive|Question|Options|Follow_up|Result"
    r"|Response|Requires_approval|Task_progress|Todos|Cwd|Timeout|Query|Url|Action|Mode|Message"
    r"|Server_name|Tool_name|Arguments|Uri|Files|AbsolutePath|Input|Explanation): ",
    re.MULTILINE,
)


def add_exported(task: Task, role: str, text: str, line: int) -> None:
    """Add a message of an export, by the name that stands above it."""
    if role == "Assistant":
        calls = list(_EXPORTED_CALL.finditer(text))
        words = text[: calls[0].start()].strip() if calls else text
        parts: list[object] = _thought_and_words(words, is_all=bool(calls))
        for call, end in zip(calls, ends(calls, text), strict=True):
            given = _exported_input(text[call.end() : end])
            parts.append({"type": "tool_use", "name": call[1], "input": given})
        _add_answer(task, parts, line, None)
        return
    called = len(task.talk.open)
    shown = _shown_results(text, called)
    results = [] if shown else list(_EXPORTED_RESULT.finditer(text))[:called]
    if not results or text[: results[0].start()].strip():
        _add_user(task, [{"type": "text", "text": part} for part in shown or [text]], line, None)
        return
    parts = []
    for waiting, result, end in zip(task.talk.open, results, ends(results, text), strict=False):
        part = {"type": "tool_result", "tool_use_id": waiting}
        held = {"content": _unframed(text[result.end() : end]), "is_error": result[1] is not None}
        parts.append({**part, **held})
    _add_user(task, parts, line, None)


def _thought_and_words(text: str, *, is_all: bool) -> list[object]:
    """A thought and the words after it: nothing marks its end, before a call all is thought."""
    if not text.startswith(_EXPORTED_THOUGHT):
        return [{"type": "text", "text": text}]
    text = text.removeprefix(_EXPORTED_THOUGHT)
    thought, _, words = (text, "", "") if is_all else text.partition("\n\n")
    return [{"type": "thinking", "thinking": thought}, {"type": "text", "text": words}]


def ends(starts: list[re.Match[str]], text: str) -> list[int]:
    return [start.start() for start in starts[1:]] + [len(text)] * bool(starts)


def _exported_input(text: str) -> dict[str, str]:
    keys = list(_EXPORTED_INPUT.finditer(text))
    return {
        key[1][0].lower() + key[1][1:]: text[key.end() : end].strip()
        for key, end in zip(keys, ends(keys, text), strict=True)
    }


# Calls by what the window shows, with the name that the agent called.
_SHOWN_CALLS = {
    "tool": "tool",
    "command": "execute_command",
    "use_mcp_server": "use_mcp_tool",
    "load_mcp_documentation": "load_mcp_documentation",
    "browser_action_launch": "browser_action",
    "browser_action": "browser_action",
    "use_subagents": "use_subagents",
}
# What the window calls a tool, where that is not the agent's name in another spelling.
_SHOWN_TOOLS = {
    "newFileCreated": "write_to_file",
    "editedExistingFile": "replace_in_file",
    "appliedDiff": "apply_diff",
    "listFilesTopLevel": "list_files",
    "listFilesRecursive": "list_files",
}


def _add_shown(task: Task, message: Record, line: int) -> None:
    """Add one entry of what the window showed: `say` or `ask` names its kind."""
    talk, kind = task.talk, plain(message.get(plain(message.get("type"))))
    at, text = epoch_seconds(message.get("ts")), plain(message.get("text"))
    if kind in ("task", "user_feedback", "user_feedback_diff") or (
        kind == "text" and not task.has_spoken
    ):
        task.has_spoken = True
        talk.person(text, line, at=at)
    elif kind in ("text", "completion_result", "followup", *_SPOKEN):
        held = inner(decoded(text))
        talk.answer(line, at=at).say(first_text(held, "question", "response") or text)
    elif kind == "reasoning":
        talk.answer(line, at=at).think(text)
    elif kind in _SHOWN_CALLS:
        held = inner(decoded(text))
        name = _tool(first_text(held, "tool", "type") or _SHOWN_CALLS[kind])
        arguments: Record = held or {"command": text}
        talk.answer(line, at=at).call(None, name, arguments)
    elif kind in ("command_output", "mcp_server_response", "browser_action_result"):
        if talk.open:
            talk.result(text)
        talk.open.clear()
    elif kind == "api_req_started":
        request = plain(inner(decoded(text)).get("request"))
        folder = _CWD.search(request)
        task.cwd = task.cwd or (folder[1] if folder else None)
        _add_results(task, _shown_results(request, len(talk.open)))
        talk.open.clear()
    elif kind == "error":
        talk.notice(text, line, at=at)
    else:
        talk.skip()


def _tool(shown: str) -> str:
    """The agent's name of a tool, `read_file` for `readFile`; one that is not known stays."""
    spelled = "".join(f"_{char.lower()}" if char.isupper() else char for char in shown)
    return _SHOWN_TOOLS.get(shown) or (spelled if spelled in _TOOLS else shown)


def _shown_results(request: str, most: int) -> list[str]:
    """The results at the start of a request, at most as many as there were calls."""
    if not most or _RESULT.match(request) is None:
        return []
    starts = [head.start() for head in itertools.islice(_HEAD.finditer(request), most)]
    return [request[i:j] for i, j in itertools.pairwise([*starts, len(request)])]
