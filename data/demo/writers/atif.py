"""ATIF trajectories (Harbor's format): one JSON document per session."""

from __future__ import annotations

from typing import Any

from data.demo.script import Abandoned, Agent, Call, Compaction, Human, Script, Tool
from data.demo.writers.common import MODEL, Ids, dump, iso

_VERSION = "ATIF-v1.6"


def write(script: Script) -> bytes:
    """The document of one session. Branches left behind are not part of the format."""
    ids = Ids(script)
    steps: list[dict[str, Any]] = []
    for event in script.events:
        if isinstance(event, Abandoned):
            continue
        step: dict[str, Any] = {"step_id": len(steps) + 1, "timestamp": iso(event.at)}
        if isinstance(event, Human):
            step |= {"source": "user", "message": event.text}
        elif isinstance(event, Agent):
            step |= _answer(event, ids)
        elif isinstance(event, Compaction):
            step |= {"source": "system", "message": event.summary}
        else:
            step |= {"source": "system", "message": event.text}
        steps.append(step)
    return dump(
        {
            "schema_version": _VERSION,
            "session_id": script.session_id,
            "agent": {"name": "example-agent", "version": "1.4.0", "model_name": MODEL},
            "steps": steps,
            "final_metrics": {"total_steps": len(steps)},
        }
    )


def _answer(agent: Agent, ids: Ids) -> dict[str, Any]:
    step: dict[str, Any] = {"source": "agent", "model_name": MODEL, "message": agent.text}
    if agent.thinking:
        step["reasoning_content"] = agent.thinking
    calls, results = [], []
    for call in agent.calls:
        call_id = ids.call("call_")
        name, given = function(call)
        calls.append({"tool_call_id": call_id, "function_name": name, "arguments": given})
        results.append({"source_call_id": call_id, "content": call.result})
    if calls:
        step |= {"tool_calls": calls, "observation": {"results": results}}
    return step


def function(call: Call) -> tuple[str, dict[str, Any]]:
    """A call as a function with arguments, as most harnesses name it."""
    if call.tool is Tool.READ:
        return "read_file", {"path": call.target}
    if call.tool is Tool.WRITE:
        return "write_file", {"path": call.target, "content": call.content}
    if call.tool is Tool.FETCH:
        return "fetch_url", {"url": call.target}
    return "run_command", {"command": call.target}
