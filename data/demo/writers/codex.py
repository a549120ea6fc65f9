"""Codex rollouts: response items, and events that repeat some of them."""

from __future__ import annotations

from typing import Any

import orjson

from data.demo.script import Abandoned, Agent, Call, Compaction, Human, Machine, Script, Tool
from data.demo.writers.common import MODEL, Ids, dump, iso

_CLI_VERSION = "0.46.0"


def write(script: Script) -> list[bytes]:
    """The lines of one rollout."""
    log = _Log(script)
    log.head()
    for event in script.events:
        if isinstance(event, Human | Machine):
            log.user(event.at, event.text)
        elif isinstance(event, Agent):
            log.answer(event)
        elif isinstance(event, Compaction):
            log.add("compacted", event.at, {"message": event.summary})
        else:
            log.abandoned(event)
    return log.lines


class _Log:
    def __init__(self, script: Script) -> None:
        self._script = script
        self._ids = Ids(script)
        self.lines: list[bytes] = []

    def add(self, kind: str, at: int, payload: dict[str, Any]) -> None:
        self.lines.append(dump({"timestamp": iso(at), "type": kind, "payload": payload}))

    def head(self) -> None:
        script, at = self._script, self._script.started
        meta = {
            "id": script.session_id,
            "timestamp": iso(at),
            "cwd": script.cwd,
            "originator": "codex_cli_rs",
            "cli_version": _CLI_VERSION,
            "source": "cli",
        }
        self.add("session_meta", at, meta)
        context = f"<environment_context>\n  <cwd>{script.cwd}</cwd>\n</environment_context>"
        self._message(at, "user", "input_text", context)
        settings = {"cwd": script.cwd, "approval_policy": "never", "model": MODEL}
        self.add("turn_context", at, settings)

    def _message(self, at: int, role: str, part: str, text: str) -> None:
        content = [{"type": part, "text": text}]
        self.add("response_item", at, {"type": "message", "role": role, "content": content})

    def user(self, at: int, text: str) -> None:
        """The same text as an item and as an event."""
        self._message(at, "user", "input_text", text)
        self.add("event_msg", at, {"type": "user_message", "message": text, "images": []})

    def answer(self, agent: Agent) -> None:
        if agent.thinking:
            summary = [{"type": "summary_text", "text": agent.thinking}]
            reasoning = {"type": "reasoning", "summary": summary, "encrypted_content": "b3BhcXVl"}
            self.add("response_item", agent.at, reasoning)
        if agent.text:
            self._message(agent.at, "assistant", "output_text", agent.text)
            self.add("event_msg", agent.at, {"type": "agent_message", "message": agent.text})
        for call in agent.calls:
            self._call(agent, call)
        if agent.stop == "aborted":
            self.add("event_msg", agent.at, {"type": "turn_aborted", "reason": "interrupted"})
        usage = {"total_token_usage": {"input_tokens": 1200, "output_tokens": 80}}
        self.add("event_msg", agent.at, {"type": "token_count", "info": usage})

    def _call(self, agent: Agent, call: Call) -> None:
        call_id = self._ids.call("call_")
        item: dict[str, Any] = {"call_id": call_id, "status": "completed"}
        if call.tool is Tool.WRITE:
            added = "".join(f"+{line}\n" for line in call.content.splitlines())
            patch = f"*** Begin Patch\n*** Add File: {call.target}\n{added}*** End Patch"
            item |= {"type": "custom_tool_call", "name": "apply_patch", "input": patch}
        else:
            command = {"command": ["bash", "-lc", _command(call)]}
            given = orjson.dumps(command).decode()
            item |= {"type": "function_call", "name": "shell", "arguments": given}
        self.add("response_item", agent.at, item)
        if agent.stop == "stop":
            output = {"output": call.result, "metadata": {"exit_code": 0}}
            result = {"call_id": call_id, "output": orjson.dumps(output).decode()}
            self.add("response_item", agent.at, {"type": f"{item['type']}_output", **result})

    def abandoned(self, event: Abandoned) -> None:
        self.user(event.at, event.text)
        self.answer(Agent(event.at, event.answer))
        self.add("event_msg", event.at, {"type": "thread_rolled_back", "num_turns": 1})


def _command(call: Call) -> str:
    if call.tool is Tool.READ:
        return f"cat '{call.target}'"
    if call.tool is Tool.FETCH:
        return f"curl -s '{call.target}'"
    return call.target
