"""OpenClaw logs (version 3, a tree of records) and pi logs (version 1, a plain list)."""

from __future__ import annotations

from typing import Any

from data.demo.script import (
    Abandoned,
    Agent,
    Call,
    Compaction,
    Flavor,
    Human,
    Machine,
    Script,
    Tool,
)
from data.demo.writers.channels import wrapped
from data.demo.writers.common import MODEL, Ids, dump, iso


def write(script: Script) -> list[bytes]:
    """The lines of one session log."""
    log = _Log(script)
    log.head()
    for event in script.events:
        if isinstance(event, Human):
            log.user(event.at, wrapped(script, event))
        elif isinstance(event, Agent):
            log.answer(event)
        elif isinstance(event, Machine):
            log.user(event.at, event.text)
        elif isinstance(event, Compaction):
            log.compaction(event)
        else:
            log.abandoned(event)
    return log.lines


def arguments(call: Call) -> tuple[str, dict[str, Any]]:
    """A call's name and arguments in this harness."""
    if call.tool is Tool.READ:
        return "read", {"path": call.target}
    if call.tool is Tool.WRITE:
        return "write", {"path": call.target, "content": call.content}
    if call.tool is Tool.FETCH:
        return "web_fetch", {"url": call.target}
    return "exec", {"command": call.target}


class _Log:
    def __init__(self, script: Script) -> None:
        self._script = script
        self._is_tree = script.flavor is Flavor.OPENCLAW
        self._ids = Ids(script)
        self._parent: str | None = None
        self._first_message: str | None = None
        self._n_messages = 0
        self.lines: list[bytes] = []

    def head(self) -> None:
        script = self._script
        header: dict[str, Any] = {"type": "session", "id": script.session_id}
        if self._is_tree:
            header["version"] = 3
        header |= {"timestamp": iso(script.started), "cwd": script.cwd}
        self.lines.append(dump(header))
        if self._is_tree:
            model = {"provider": "example", "modelId": MODEL}
            self._add("model_change", script.started, model)
            self._add("thinking_level_change", script.started, {"thinkingLevel": "low"})
            snapshot = {"customType": "model-snapshot", "data": model}
            self._add("custom", script.started, snapshot)

    def _add(self, kind: str, at: int, fields: dict[str, Any], milliseconds: int = 0) -> str:
        """Append a record below the last one; its id, if the version has ids."""
        record: dict[str, Any] = {"type": kind}
        own = self._ids.short()
        if self._is_tree:
            record |= {"id": own, "parentId": self._parent}
        record["timestamp"] = iso(at, milliseconds)
        record |= fields
        self.lines.append(dump(record))
        self._parent = own
        return own

    def _message(self, at: int, message: dict[str, Any]) -> None:
        self._n_messages += 1
        message["timestamp"] = at * 1000
        own = self._add("message", at, {"message": message})
        self._first_message = self._first_message or own

    def user(self, at: int, text: str) -> None:
        self._message(at, {"role": "user", "content": [{"type": "text", "text": text}]})

    def answer(self, agent: Agent) -> None:
        """One message per call, each followed by its result; the text goes with the first."""
        blocks: list[dict[str, Any]] = []
        if agent.thinking:
            blocks.append({"type": "thinking", "thinking": agent.thinking})
        if agent.text:
            blocks.append({"type": "text", "text": agent.text})
        if not agent.calls:
            self._assistant(agent.at, blocks, agent.stop)
            return
        for call in agent.calls:
            name, given = arguments(call)
            call_id = self._ids.call("call_")
            block = {"type": "toolCall", "id": call_id, "name": name, "arguments": given}
            stop = agent.stop if agent.stop != "stop" else "toolUse"
            self._assistant(agent.at, [*blocks, block], stop)
            blocks = []
            if agent.stop == "stop":
                self._result(agent.at, call_id, name, call.result)

    def _assistant(self, at: int, blocks: list[dict[str, Any]], stop: str) -> None:
        usage = {"input": 1200 + self._n_messages, "output": 80, "totalTokens": 1280}
        self._message(
            at,
            {
                "role": "assistant",
                "content": blocks,
                "api": "openai-completions",
                "provider": "example",
                "model": MODEL,
                "usage": usage,
                "stopReason": stop,
            },
        )

    def _result(self, at: int, call_id: str, name: str, text: str) -> None:
        self._message(
            at,
            {
                "role": "toolResult",
                "toolCallId": call_id,
                "toolName": name,
                "content": [{"type": "text", "text": text}],
                "isError": False,
            },
        )

    def compaction(self, event: Compaction) -> None:
        kept: dict[str, Any] = {"firstKeptEntryIndex": 1}
        if self._is_tree:
            kept = {"firstKeptEntryId": self._first_message, "fromHook": False}
        summed_up = {"summary": event.summary, "tokensBefore": 90_000}
        self._add("compaction", event.at, {**summed_up, **kept})

    def abandoned(self, event: Abandoned) -> None:
        """A branch beside the one that goes on."""
        head = self._parent
        self.user(event.at, event.text)
        self.answer(Agent(event.at, event.answer))
        self._parent = head
