"""Reads Codex: rollouts (JSON lines with or without `payload`, and documents with `items`), and the
stream of `codex exec --json`, in its form of items and its older form of messages.

The stream of items does not hold the request, so such a session has no turn of a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PureWindowsPath
from typing import Any

import orjson

from construction.sessions.readers import pieces
from construction.sessions.readers.source import (
    Sample,
    SourceFile,
    epoch_seconds,
    json_lines,
    records,
)
from construction.sessions.readers.talk import (
    WEB,
    Answer,
    Record,
    Said,
    Talk,
    ToolResult,
    block_text,
    dicts,
    first_text,
    inline_media,
    inner,
    is_failure,
    kind_of,
    plain,
    type_name,
)
from data.contracts import Attachment, Origin, ReadIssue, Session, SourceFormat

# The beginnings of texts that the harness inserts into user messages, sometimes several at once.
_INJECTED = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions for ",
    "<INSTRUCTIONS>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<skill>",
    "<skills_instructions>",
    "<plugins_instructions>",
    "<recommended_plugins>",
    "<apps_instructions>",
    "<personality_spec>",
    "<model_switch>",
    "<user_shell_command>",
    "<user_action>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<hook_prompt",
    "<goal_context>",
)
# Headings of the context that an editor puts before the request, and of the request itself.
_EDITOR_HEADS = (
    "# Context from my IDE setup:",
    "# Files mentioned by the user:",
    "## Referenced chats with Codex:",
)
_REQUEST_HEAD = re.compile(r"^## My request(?: for Codex)?:[ \t]*\n?", re.MULTILINE)
_FILES_HEAD = "# Files mentioned by the user:"
_IMAGE_TAGS = ("<image", "</image>")
_EXIT_CODE = re.compile(r"(?:Exit code: |Process exited with code )(-?\d{1,10})")
_EXIT_WITHIN = 300  # characters: the exit code is in the lines that the harness writes on top

_CALLS = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_call"}
    | {"tool_search_call", "image_generation_call", "mcp_tool_call"}
)
_RESULTS = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output"}
    | {"tool_result", "function_result", "mcp_tool_call_output"}
)


def _without_editor_context(text: str) -> tuple[str, tuple[Attachment, ...]]:
    """The request below an editor's context, and the files that the context declares."""
    start = text.lstrip()
    if not start.startswith(_EDITOR_HEADS):
        return text, ()
    head = _REQUEST_HEAD.search(start)
    if head is None:
        return text, ()
    _, _, listed = start[: head.start()].partition(_FILES_HEAD)
    return start[head.end() :], _declared(listed)


def _declared(listed: str) -> tuple[Attachment, ...]:
    """Files listed as `## name: path`, one per line."""
    files: list[Attachment] = []
    for line in listed.splitlines():
        name, _, path = line.partition(": ")
        is_path = path.startswith(("/", "~/")) or PureWindowsPath(path).is_absolute()
        if name.startswith("## ") and is_path:
            files.append(Attachment(path.strip()))
    return tuple(files)


def _result_of(item: dict[str, Any]) -> ToolResult:
    """The text of an output, taken out of the envelope that some versions use."""
    output = item.get("output", item.get("result"))
    if isinstance(output, str) and output.startswith(('{"output":', '{"content":')):
        try:
            output = orjson.loads(output)
        except orjson.JSONDecodeError:
            return ToolResult(item["output"])
    if isinstance(output, dict):
        return _from_envelope(output)
    text = block_text(output)
    may_hold_code = text.find("xit", 0, _EXIT_WITHIN) >= 0
    code = _EXIT_CODE.search(text, 0, _EXIT_WITHIN) if may_hold_code else None
    return ToolResult(text, code is not None and code[1] != "0")


def _from_envelope(output: dict[str, Any]) -> ToolResult:
    metadata = output.get("metadata")
    code = metadata.get("exit_code") if isinstance(metadata, dict) else output.get("exitCode")
    failed = output.get("success") is False or is_failure(code)
    inner = output.get("output", output.get("content", output.get("text")))
    if inner is None:
        streams = [output.get("stdout"), output.get("stderr")]
        inner = "\n".join(stream for stream in streams if isinstance(stream, str) and stream)
    return ToolResult(block_text(inner), failed)


def _reasoning_text(item: dict[str, Any]) -> str:
    """Summaries and readable reasoning, without the encrypted part."""
    parts: list[str] = []
    for key in ("summary", "content"):
        listed = item.get(key)
        parts.append(block_text(listed) if isinstance(listed, list) else "")
    return "\n".join(part for part in parts if part)


_ENDED = {"turn_aborted": "aborted", "error": "error"}
_DUPLICATES = frozenset({"agent_reasoning", "agent_reasoning_raw_content", "exec_command_end"})
_BOOKKEEPING = frozenset({"world_state", "inter_agent_communication_metadata", "turn_context"})
# Item types outside the conversation; an `agent_message` goes from one agent to another.
_SILENT_ITEMS = frozenset(
    {"ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "other"}
    | {"tool_search_output", "agent_message"}
)
_TYPES = frozenset({"session_meta", "response_item", "event_msg", "compacted"} | _BOOKKEEPING)


def fits(sample: Sample) -> bool:
    """Typed rollout records with a payload."""
    return any(kind_of(record) in _TYPES and "payload" in record for record in sample.records)


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of one rollout, which may be incomplete.

    A text logged as event and as item counts once. Context that the harness wrote into user
    messages has system origin, a prompt to a sub-agent agent origin.
    """
    log = _Log(Talk(source, SourceFormat.CODEX))
    for line, record in log.talk.records(lambda file: records(file, "items")):
        log.add(line, record)
    log.settle_events()
    meta = log.meta
    log.talk.system_prompt = first_text(inner(meta, "base_instructions"), "text") or first_text(
        meta, "instructions"
    )
    yield from log.talk.session(
        first_text(meta, "id", "session_id"),
        cwd=first_text(meta, "cwd") or log.cwd,
        started_at=epoch_seconds(meta.get("timestamp")),
        agent_name="codex",
        agent_version=first_text(meta, "cli_version"),
        parent_session_id=log.spawned_by()[1],
    )


@dataclass(slots=True)
class _Log:
    """A rollout while it is read.

    `events` are texts logged as events, each with the number of drafts before it. `is_answered`:
    the last answer has a result, so that the agent's next record is a new turn.
    """

    talk: Talk
    meta: Record = field(default_factory=dict)
    cwd: str | None = None
    model: str | None = None
    events: list[tuple[int, Said | Answer]] = field(default_factory=list)
    is_answered: bool = False

    def add(self, line: int, record: Record) -> None:
        kind, payload = kind_of(record), record.get("payload")
        if payload is None:
            self._add_bare(line, record)
        elif not isinstance(payload, dict):
            self.talk.unexpected(line, f"payload: {type(payload).__name__}", "an object")
        elif kind == "response_item":
            self._add_item(line, record, payload)
        elif kind == "event_msg":
            self._add_event(line, record, payload)
        elif kind == "session_meta" and not self.meta:
            self.meta = payload  # a forked rollout repeats that of its origin after its own
        elif kind == "compacted" and first_text(payload, "message"):
            self.talk.notice(payload["message"], line, at=_at(record))
        elif kind in _TYPES:
            self.talk.skip()
            if kind == "turn_context":
                self.model = first_text(payload, "model") or self.model
                self.cwd = self.cwd or first_text(payload, "cwd")
        else:
            self._unexpected(line, record.get("type"), payload)

    def spawned_by(self) -> tuple[bool, str | None]:
        """(whether an agent started this session, the id of that agent's session if known)."""
        spawn = inner(self.meta, "source").get("subagent")
        if spawn is None:
            return False, None
        named = first_text(inner(spawn, "thread_spawn"), "parent_thread_id")
        return True, named or first_text(self.meta, "parent_thread_id")

    def settle_events(self) -> None:
        """Drop events whose text also is an item; the others become turns at their position.

        An item takes the pictures that only its event names.
        """
        items: dict[tuple[bool, str], list[Said | Answer]] = {}
        for draft in self.talk.drafts:
            items.setdefault(_spoken(draft), []).append(draft)
        for position, event in reversed(self.events):
            same = items.get(_spoken(event))
            if not same:
                self.talk.drafts.insert(position, event)
                continue
            self.talk.skip("duplicate_event")
            item = same.pop()
            if isinstance(item, Said) and isinstance(event, Said):
                item.media = item.media if any(m.data for m in item.media) else event.media

    def _unexpected(self, line: int, kind: object, record: Record) -> None:
        what = f"a record of type {type_name(kind)} with {len(record)} keys"
        self.talk.unexpected(
            line, what, "an item, an event, a summary, or a record of the program's state"
        )

    def _add_bare(self, line: int, record: Record) -> None:
        """Add a record of a rollout before 0.32, which has no envelope: the record is the item."""
        if "type" in record or "role" in record:
            self._add_item(line, record, record)
        elif "id" in record and not self.meta:
            self.meta = record
        else:
            self.talk.skip()

    def _add_event(self, line: int, record: Record, payload: Record) -> None:
        kind, text = kind_of(payload), payload.get("message")
        last = self.talk.drafts[-1] if self.talk.drafts else None
        if kind == "agent_message" and isinstance(text, str):
            self._add_said(Answer(line, _at(record), None, self.model, [text]))
        elif kind == "user_message" and isinstance(text, str):
            self._add_said(self._request(line, record, [text], _event_media(payload)))
            self.is_answered = True
        elif kind == "thread_rolled_back":
            self._roll_back(payload.get("num_turns"))
        elif kind in _DUPLICATES:
            self.talk.skip("duplicate_event")
        else:
            self.talk.skip()
            if kind in _ENDED and isinstance(last, Answer):
                last.stop_reason = _ENDED[kind]

    def _add_said(self, event: Said | Answer) -> None:
        self.events.append((len(self.talk.drafts), event))

    def _roll_back(self, turns: object) -> None:
        """Remove the last requests, which the person took back, and everything after them."""
        drafts = self.talk.drafts
        requests = [
            position
            for position, draft in enumerate(drafts)
            if isinstance(draft, Said) and draft.origin is not Origin.SYSTEM
        ]
        if not isinstance(turns, int) or turns < 1 or not requests:
            return
        cut = requests[-min(turns, len(requests))]
        self.talk.dropped["abandoned_branch"] += len(drafts) - cut
        del drafts[cut:]
        self.events = [(position, event) for position, event in self.events if position < cut]

    def _add_item(self, line: int, record: Record, item: Record) -> None:
        kind = kind_of(item) or ("message" if "role" in item else "")
        if kind == "message":
            self._add_message(line, record, item)
        elif kind == "reasoning":
            draft = self._answer(line, record)
            is_new = bool(draft.texts or draft.calls)
            draft = self._answer(line, record, anew=True) if is_new else draft
            draft.think(_reasoning_text(item))
        elif kind in _CALLS:
            function = inner(item, "function")
            name = first_text(item, "name") or first_text(function, "name")
            given = item.get("arguments", item.get("input", item.get("action")))
            if kind == "image_generation_call":
                given = {"prompt": item.get("revised_prompt")}
            name = name or kind.removesuffix("_call")
            own = first_text(item, "call_id", "id") or f"name:{name}"
            self._answer(line, record).call(own, name, given, line)
        elif kind in _RESULTS:
            result = _result_of(item)
            own = first_text(item, "call_id") or f"name:{item.get('name')}"
            self.talk.results.add(own, result.text, result.is_error)
            self.is_answered = True
        elif kind in _SILENT_ITEMS:
            self.talk.skip()
        else:
            self._unexpected(line, item.get("type"), item)

    def _add_message(self, line: int, record: Record, item: Record) -> None:
        texts, media = pieces.typed(item.get("content", item.get("message")))
        texts = [text for text in texts if not text.startswith(_IMAGE_TAGS)]
        if item.get("role") == "assistant":
            draft = self._answer(line, record)
            draft = self._answer(line, record, anew=True) if draft.texts else draft
            draft.texts.extend(texts)
        elif item.get("role") == "user":
            self.talk.drafts.append(self._request(line, record, texts, tuple(media)))
        else:
            self.talk.notice("\n".join(texts), line, at=_at(record))

    def _request(
        self, line: int, record: Record, texts: list[str], media: tuple[Attachment, ...]
    ) -> Said:
        typed = [text for text in texts if not text.lstrip().startswith(_INJECTED)]
        request, files = _without_editor_context("\n".join(typed))
        is_typed = request.strip() != "\n".join(typed).strip()  # in an editor, below its context
        origin = Origin.AGENT if self.spawned_by()[0] and not is_typed else None
        if not (typed or media):
            request, origin = "\n".join(texts), Origin.SYSTEM
        return Said("\n".join(texts), line, _at(record), request, media + files, origin)

    def _answer(self, line: int, record: Record, *, anew: bool = False) -> Answer:
        """The answer to which a record of the agent belongs."""
        last = self.talk.drafts[-1] if self.talk.drafts else None
        if isinstance(last, Answer) and not (anew or self.is_answered):
            return last
        self.is_answered = False
        return self.talk.answer(line, at=_at(record), model=self.model)


def _at(record: Record) -> float | None:
    return epoch_seconds(record.get("timestamp", record.get("created_at")))


def _spoken(draft: Said | Answer) -> tuple[bool, str]:
    """Who speaks, and the words without white space: event and item of a message share them."""
    is_person = isinstance(draft, Said)
    text = draft.said or "" if isinstance(draft, Said) else "".join(draft.texts)
    return is_person, "".join(text.split())


def _event_media(event: Record) -> tuple[Attachment, ...]:
    """Pictures of a `user_message` event: files on the person's disk, or inline."""
    listed = [event.get("local_images"), event.get("images")]
    images = [image for held in listed if isinstance(held, list) for image in held]
    kept = [image for image in images if isinstance(image, str) and image]
    return tuple(inline_media(image) for image in kept if not image.startswith(WEB))


_TURNS = frozenset({"thread.started", "turn.started", "turn.completed", "turn.failed"})
_SILENT_EXEC_ITEMS = frozenset({"todo_list"})
_SILENT = frozenset(
    {"task_started", "token_count", "task_complete", "turn_diff", "session_configured"}
    | {"agent_message_delta", "agent_reasoning_delta", "agent_reasoning_section_break"}
    | {"exec_command_output_delta", "plan_update", "agent_reasoning_raw_content", "turn_started"}
)


def fits_exec(sample: Sample) -> bool:
    """Records `thread.started`, `turn.started` or `item.…`, or numbered `msg` records in the old
    format.
    """
    for record in sample.records:
        kind = kind_of(record)
        if kind in _TURNS or (kind.startswith("item.") and "item" in record):
            return True
        if "id" in record and isinstance(inner(record, "msg").get("type"), str):
            return True
    return False


def read_exec(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a stream. A call that was started and never completed has no result."""
    talk = Talk(source, SourceFormat.CODEX_EXEC)
    name: str | None = None
    cwd: str | None = None
    started: dict[str, tuple[int, Record]] = {}
    for line, record in talk.records(json_lines):
        kind = kind_of(record)
        if kind == "thread.started":
            name = first_text(record, "thread_id")
        elif kind.startswith("item."):
            entry = inner(record, "item")
            if kind == "item.completed":
                started.pop(plain(entry.get("id")), None)
                _add_item(talk, entry, line)
            else:
                started[plain(entry.get("id"))] = (line, entry)
        elif kind in ("turn.failed", "error"):
            talk.notice(plain(inner(record, "error").get("message") or record.get("message")), line)
        elif kind in ("turn.started", "turn.completed"):
            talk.skip()
        elif isinstance(record.get("msg"), dict):
            _add_message(talk, record["msg"], line)
        elif isinstance(record.get("prompt"), str):
            talk.person(record["prompt"], line)
        elif "workdir" in record and "model" in record:
            cwd = first_text(record, "workdir")
        else:
            talk.unexpected(line, f"a record of type {type_name(kind)}")
    for line, entry in started.values():
        _add_item(talk, entry, line)
    yield from talk.session(name, cwd=cwd, agent_name="codex")


def _add_item(talk: Talk, item: Record, line: int) -> None:
    kind = kind_of(item) or kind_of(item, "item_type")
    answer = talk.answer(line, key=plain(item.get("id")))
    status = item.get("status")
    if kind in ("agent_message", "assistant_message"):
        answer.say(item.get("text"))
    elif kind == "reasoning":
        answer.think(item.get("text"))
    elif kind == "command_execution":
        own = answer.call(item.get("id"), kind, {"command": item.get("command")})
        output, code = item.get("aggregated_output"), item.get("exit_code")
        if status != "in_progress":
            failed = status in ("failed", "declined") or is_failure(code)
            talk.results.add(own, plain(output), failed)
    elif kind == "file_change":
        changes = dicts(item.get("changes"))
        own = answer.call(item.get("id"), kind, {"changes": changes})
        if status == "failed":
            talk.results.add(own, "failed", is_error=True)
    elif kind in ("mcp_tool_call", "collab_tool_call"):
        own = answer.call(item.get("id"), item.get("tool"), item.get("arguments"))
        error = inner(item, "error").get("message")
        shown = inner(item, "result").get("content", item.get("result"))
        if status != "in_progress":
            talk.results.add(own, plain(shown) or plain(error), status == "failed")
    elif kind == "web_search":
        answer.call(item.get("id"), kind, {"query": item.get("query")})
    elif kind == "error":
        talk.notice(plain(item.get("message")), line)
    elif kind in _SILENT_EXEC_ITEMS:
        talk.skip()
    else:
        talk.unexpected(line, f"an item of type {type_name(kind)}")


def _add_message(talk: Talk, message: Record, line: int) -> None:
    kind = kind_of(message)
    call_id = message.get("call_id")
    if kind == "agent_message":
        talk.answer(line).say(message.get("message"))
    elif kind == "agent_reasoning":
        talk.answer(line).think(message.get("text"))
    elif kind == "user_message":
        talk.person(plain(message.get("message")), line)
    elif kind == "exec_command_begin":
        command = {key: message.get(key) for key in ("command", "cwd")}
        talk.answer(line).call(call_id, "command_execution", command)
    elif kind == "exec_command_end":
        output = message.get("aggregated_output") or message.get("stdout")
        code = message.get("exit_code")
        shown = plain(output) or plain(message.get("stderr"))
        talk.results.add(plain(call_id), shown, is_failure(code))
    elif kind == "patch_apply_begin":
        talk.answer(line).call(call_id, "file_change", {"changes": message.get("changes")})
    elif kind == "patch_apply_end":
        shown = plain(message.get("stdout")) or plain(message.get("stderr"))
        talk.results.add(plain(call_id), shown, message.get("success") is False)
    elif kind == "mcp_tool_call_begin":
        invoked = inner(message, "invocation")
        talk.answer(line).call(call_id, invoked.get("tool"), invoked.get("arguments"))
    elif kind == "mcp_tool_call_end":
        result = inner(message, "result")
        held = inner(result, "Ok").get("content", result.get("Err", result))
        talk.results.add(plain(call_id), plain(held), "Err" in result)
    elif kind in ("web_search_begin", "web_search_end"):
        if kind == "web_search_end":
            talk.answer(line).call(call_id, "web_search", {"query": message.get("query")})
    elif kind in ("error", "stream_error"):
        talk.notice(plain(message.get("message")), line)
    elif kind in _SILENT:
        talk.skip()
    else:
        talk.unexpected(line, f"a message of type {type_name(kind)}")
