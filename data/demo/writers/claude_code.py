"""Claude Code logs: one record per content block, records linked by `parentUuid`."""

from __future__ import annotations

from typing import Any

from data.demo.script import Abandoned, Agent, Call, Compaction, Human, Machine, Script, Tool
from data.demo.writers.common import MODEL, Ids, dump, iso

_VERSION = "2.0.14"


def write(script: Script, session_id: str | None = None) -> list[bytes]:
    """The lines of one log. `session_id` differs where a session was resumed in a new file."""
    log = _Log(script, session_id or script.session_id, {"isSidechain": False})
    snapshot = {"messageId": log.ids.uuid(), "snapshot": {"trackedFileBackups": {}}}
    log.lines.append(dump({"type": "file-history-snapshot", **snapshot, "isSnapshotUpdate": False}))
    for event in script.events:
        if isinstance(event, Human):
            log.user(event.at, event.text)
        elif isinstance(event, Agent):
            log.answer(event)
        elif isinstance(event, Compaction):
            log.compaction(event)
        elif isinstance(event, Abandoned):
            log.abandoned(event)
        elif isinstance(event, Machine):
            log.user(event.at, event.text, {"isMeta": True})
    return log.lines


def write_sub_agent(script: Script) -> tuple[str, list[bytes]]:
    """(agent id, lines) of a sub-agent that looked something up for this session."""
    agent_id = script.digest[-12:]
    log = _Log(script, script.session_id, {"isSidechain": True, "agentId": agent_id})
    log.user(script.started + 60, "List the column headers of the input files.")
    log.answer(Agent(script.started + 70, "The headers are listed in my notes."))
    return agent_id, log.lines


def _arguments(call: Call) -> tuple[str, dict[str, Any]]:
    if call.tool is Tool.READ:
        return "Read", {"file_path": call.target}
    if call.tool is Tool.WRITE:
        return "Write", {"file_path": call.target, "content": call.content}
    if call.tool is Tool.FETCH:
        return "WebFetch", {"url": call.target, "prompt": "What does the page say?"}
    return "Bash", {"command": call.target}


class _Log:
    def __init__(self, script: Script, session_id: str, marks: dict[str, Any]) -> None:
        self.ids = Ids(script)
        self.lines: list[bytes] = []
        self._parent: str | None = None
        self._common = {
            **marks,
            "userType": "external",
            "cwd": script.cwd,
            "sessionId": session_id,
            "version": _VERSION,
            "gitBranch": "main",
        }

    def _add(self, kind: str, at: int, fields: dict[str, Any]) -> str:
        own = self.ids.uuid()
        record = {
            "parentUuid": self._parent,
            **self._common,
            "type": kind,
            **fields,
            "uuid": own,
            "timestamp": iso(at),
        }
        self.lines.append(dump(record))
        self._parent = own
        return own

    def user(self, at: int, text: str, marks: dict[str, Any] | None = None) -> None:
        self._add("user", at, {"message": {"role": "user", "content": text}, **(marks or {})})

    def answer(self, agent: Agent) -> None:
        """Thinking, text and each call are separate records that share a message id."""
        message_id = self.ids.call("msg_")
        if agent.thinking:
            self._block(agent, message_id, {"type": "thinking", "thinking": agent.thinking})
        if agent.text:
            self._block(agent, message_id, {"type": "text", "text": agent.text})
        for call in agent.calls:
            name, given = _arguments(call)
            call_id = self.ids.call("toolu_")
            block = {"type": "tool_use", "id": call_id, "name": name, "input": given}
            own = self._block(agent, message_id, block)
            if agent.stop == "stop":
                self._result(agent.at, call_id, own, call.result)
            message_id = self.ids.call("msg_")
        if agent.stop == "aborted":
            self.user(agent.at, "[Request interrupted by user]")

    def _block(self, agent: Agent, message_id: str, block: dict[str, Any]) -> str:
        message = {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
            "usage": {"input_tokens": 1200, "output_tokens": 80},
        }
        return self._add("assistant", agent.at, {"message": message})

    def _result(self, at: int, call_id: str, asked_by: str, text: str) -> None:
        result = {"type": "tool_result", "tool_use_id": call_id, "content": text}
        message = {"role": "user", "content": [result]}
        self._add("user", at, {"message": message, "sourceToolAssistantUUID": asked_by})

    def compaction(self, event: Compaction) -> None:
        """A boundary without a parent, and the summary from which the session continues."""
        before = self._parent
        self._parent = None
        boundary = {"subtype": "compact_boundary", "content": "Conversation compacted"}
        self._add("system", event.at, {**boundary, "logicalParentUuid": before, "isMeta": False})
        marks = {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
        self.user(event.at, f"Summary of the conversation so far: {event.summary}", marks)

    def abandoned(self, event: Abandoned) -> None:
        head = self._parent
        self.user(event.at, event.text)
        self.answer(Agent(event.at, event.answer))
        self._parent = head
