"""The records of one Codex rollout, collected into drafts of turns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from construction.sessions.readers.codex_items import (
    CALLS,
    RESULTS,
    call_parts,
    event_media,
    is_injected,
    message_media,
    message_texts,
    reasoning_text,
    result_of,
)
from construction.sessions.readers.source import epoch_seconds
from construction.sessions.readers.turns import ToolResults, type_name
from data.contracts import Attachment, ReadIssue, Role

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
_SAID_BY = {"user_message": Role.USER, "agent_message": Role.ASSISTANT}
_ENDED = {"turn_aborted": "aborted", "error": "error"}
_DUPLICATES = frozenset({"agent_reasoning", "agent_reasoning_raw_content", "exec_command_end"})
_BOOKKEEPING = frozenset({"world_state", "inter_agent_communication_metadata", "turn_context"})
# Item types outside the conversation; an `agent_message` goes from one agent to another.
_SILENT_ITEMS = frozenset(
    {"ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "other"}
    | {"tool_search_output", "agent_message"}
)

Call = tuple[str, str, object, int]  # id, name, arguments, line


@dataclass(slots=True)
class Draft:
    """A turn while it is read. `answered`: it has a result, so that the next call is a new turn."""

    role: Role
    line: int
    at: float | None
    id: str | None = None
    model: str | None = None
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    media: tuple[Attachment, ...] = ()
    stop_reason: str | None = None
    answered: bool = False

    @property
    def is_request(self) -> bool:
        """True if a person or a calling agent wrote it."""
        return self.role is Role.USER and (
            bool(self.media) or not all(is_injected(text) for text in self.texts)
        )


@dataclass(slots=True)
class CodexLog:
    """The content of one rollout while it is read."""

    source_path: str
    meta: dict[str, Any] = field(default_factory=dict)
    cwd: str | None = None
    drafts: list[Draft] = field(default_factory=list)
    results: ToolResults = field(default_factory=ToolResults)
    dropped: Counter[str] = field(default_factory=Counter)
    # Texts logged as events, each with the number of drafts before it.
    _events: list[tuple[int, Draft]] = field(default_factory=list)
    _model: str | None = None

    def add(self, line: int, record: dict[str, Any]) -> ReadIssue | None:
        """Add one record; returns an issue if its type is unknown or its payload is invalid."""
        kind, payload = record.get("type"), record.get("payload")
        if payload is None:
            return self._add_bare(line, record)
        if not isinstance(payload, dict):
            description = f"payload: {type(payload).__name__}"
            return ReadIssue(
                "record", self.source_path, line, "record.no_payload", description, "an object"
            )
        if kind == "response_item":
            return self._add_item(line, record, payload)
        if kind == "event_msg":
            self._add_event(line, record, payload)
        elif kind == "session_meta":
            self._add_meta(payload)
        elif kind == "compacted":
            self._add_summary(line, record, payload)
        elif isinstance(kind, str) and kind in _BOOKKEEPING:
            self._add_setting(kind, payload)
        else:
            return self._unexpected(line, kind, payload)
        return None

    def _unexpected(self, line: int, kind: object, record: dict[str, Any]) -> ReadIssue:
        description = f"a record of type {type_name(kind)} with {len(record)} keys"
        expected = "an item, an event, a summary, or a record of the program's state"
        return ReadIssue(
            "record", self.source_path, line, "record.unexpected", description, expected
        )

    def settle_events(self) -> None:
        """Drop events whose text also is an item; the others become turns at their position.

        An item takes the pictures that only its event names.
        """
        items: dict[tuple[Role, str], list[Draft]] = {}
        for draft in self.drafts:
            items.setdefault((draft.role, _spoken(draft)), []).append(draft)
        for position, event in reversed(self._events):
            same = items.get((event.role, _spoken(event)))
            if not same:
                self.drafts.insert(position, event)
                continue
            self.dropped["duplicate_event"] += 1
            item = same.pop()
            item.media = item.media or event.media

    def _add_bare(self, line: int, record: dict[str, Any]) -> ReadIssue | None:
        """Add a record of a rollout before 0.32, which has no envelope: the record is the item."""
        if "type" in record or "role" in record:
            return self._add_item(line, record, record)
        if "id" in record and not self.meta:
            self.meta = record
        else:
            self.dropped["bookkeeping"] += 1
        return None

    def _add_meta(self, payload: dict[str, Any]) -> None:
        """Keep the first meta record; a forked rollout repeats that of its origin."""
        if self.meta:
            self.dropped["bookkeeping"] += 1
        else:
            self.meta = payload

    def _add_setting(self, kind: str, payload: dict[str, Any]) -> None:
        self.dropped["bookkeeping"] += 1
        if kind != "turn_context":
            return
        model, cwd = payload.get("model"), payload.get("cwd")
        self._model = model if isinstance(model, str) else self._model
        self.cwd = self.cwd or (cwd if isinstance(cwd, str) else None)

    def _add_summary(self, line: int, record: dict[str, Any], payload: dict[str, Any]) -> None:
        text = payload.get("message")
        if isinstance(text, str) and text:
            self.drafts.append(Draft(Role.SYSTEM, line, _at(record), texts=[text]))
        else:
            self.dropped["bookkeeping"] += 1

    def _add_event(self, line: int, record: dict[str, Any], payload: dict[str, Any]) -> None:
        kind = payload.get("type")
        if kind == "token_count" or not isinstance(kind, str):
            self.dropped["bookkeeping"] += 1
        elif kind in _SAID_BY:
            text = payload.get("message")
            if isinstance(text, str):
                event = Draft(_SAID_BY[kind], line, _at(record), model=self._model, texts=[text])
                event.media = event_media(payload)
                self._events.append((len(self.drafts), event))
                if event.role is Role.USER:
                    self._close_answer()
        elif kind == "thread_rolled_back":
            self._roll_back(payload.get("num_turns"))
        elif kind in _DUPLICATES:
            self.dropped["duplicate_event"] += 1
        else:
            if kind in _ENDED and self.drafts and self.drafts[-1].role is Role.ASSISTANT:
                self.drafts[-1].stop_reason = _ENDED[kind]
            self.dropped["bookkeeping"] += 1

    def _roll_back(self, turns: object) -> None:
        """Remove the last requests, which the person took back, and everything after them."""
        requests = [position for position, draft in enumerate(self.drafts) if draft.is_request]
        if not isinstance(turns, int) or turns < 1 or not requests:
            return
        cut = requests[-min(turns, len(requests))]
        self.dropped["abandoned_branch"] += len(self.drafts) - cut
        del self.drafts[cut:]
        self._events = [(position, event) for position, event in self._events if position < cut]

    def _add_item(
        self, line: int, record: dict[str, Any], item: dict[str, Any]
    ) -> ReadIssue | None:
        kind = item.get("type", "message" if "role" in item else None)
        if kind == "message":
            self._add_message(line, record, item)
        elif kind == "reasoning":
            draft = self._answer(line, record)
            if draft.texts or draft.calls:
                draft = self._new_answer(line, record)
            draft.thoughts.append(reasoning_text(item))
        elif not isinstance(kind, str):
            return self._unexpected(line, kind, item)
        elif kind in CALLS:
            id_, name, arguments = call_parts(item)
            call = (id_ or f"name:{name}", name, arguments, line)
            self._answer(line, record).calls.append(call)
        elif kind in RESULTS:
            self._add_result(item)
        elif kind in _SILENT_ITEMS:
            self.dropped["bookkeeping"] += 1
        else:
            return self._unexpected(line, kind, item)
        return None

    def _add_message(self, line: int, record: dict[str, Any], item: dict[str, Any]) -> None:
        role = _ROLES.get(str(item.get("role")), Role.SYSTEM)
        texts = message_texts(item)
        if role is Role.ASSISTANT:
            draft = self._answer(line, record)
            if draft.texts:
                draft = self._new_answer(line, record)
            draft.texts.extend(texts)
        else:
            draft = Draft(role, line, _at(record), texts=texts, media=message_media(item))
            self.drafts.append(draft)
        id_ = item.get("id")
        draft.id = id_ if isinstance(id_, str) else None

    def _add_result(self, item: dict[str, Any]) -> None:
        id_ = item.get("call_id")
        key = id_ if isinstance(id_, str) else f"name:{item.get('name')}"
        result = result_of(item)
        self.results.add(key, result.text, result.is_error)
        self._close_answer()

    def _answer(self, line: int, record: dict[str, Any]) -> Draft:
        """The answer to which a record of the agent belongs."""
        last = self.drafts[-1] if self.drafts else None
        if last is None or last.role is not Role.ASSISTANT or last.answered:
            return self._new_answer(line, record)
        return last

    def _new_answer(self, line: int, record: dict[str, Any]) -> Draft:
        self.drafts.append(Draft(Role.ASSISTANT, line, _at(record), model=self._model))
        return self.drafts[-1]

    def _close_answer(self) -> None:
        if self.drafts and self.drafts[-1].role is Role.ASSISTANT:
            self.drafts[-1].answered = True


def _at(record: dict[str, Any]) -> float | None:
    return epoch_seconds(record.get("timestamp", record.get("created_at")))


def _spoken(draft: Draft) -> str:
    """The words without white space, by which the event and the item of a message are matched."""
    texts = [text for text in draft.texts if not is_injected(text)]
    return "".join("".join(texts).split())
