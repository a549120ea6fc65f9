"""ATIF documents, and messages with OpenAI roles: documents, lines, tau-bench and dataclaw."""

from __future__ import annotations

from typing import Any

import orjson

from data.demo.script import Abandoned, Agent, Call, Compaction, Human, Machine, Script
from data.demo.writers.common import MODEL, Ids, dump, iso, named_call

_ATIF_VERSION = "ATIF-v1.6"
_POLICY = "You are an office assistant. Use the tools and answer in the user's language."


def write_trajectory(script: Script) -> bytes:
    """The ATIF document of one session. The format has no abandoned branches."""
    ids = Ids(script)
    steps: list[dict[str, Any]] = []
    for event in script.events:
        if isinstance(event, Abandoned):
            continue
        step: dict[str, Any] = {"step_id": len(steps) + 1, "timestamp": iso(event.at)}
        if isinstance(event, Human):
            step |= {"source": "user", "message": event.text}
        elif isinstance(event, Agent):
            step |= _step(event, ids)
        elif isinstance(event, Compaction):
            step |= {"source": "system", "message": event.summary}
        else:
            step |= {"source": "system", "message": event.text}
        steps.append(step)
    return dump(
        {
            "schema_version": _ATIF_VERSION,
            "session_id": script.session_id,
            "agent": {"name": "example-agent", "version": "1.4.0", "model_name": MODEL},
            "steps": steps,
            "final_metrics": {"total_steps": len(steps)},
        }
    )


def _step(agent: Agent, ids: Ids) -> dict[str, Any]:
    step: dict[str, Any] = {"source": "agent", "model_name": MODEL, "message": agent.text}
    if agent.thinking:
        step["reasoning_content"] = agent.thinking
    calls, results = [], []
    for call in agent.calls:
        call_id = ids.call("call_")
        name, given = _function(call)
        calls.append({"tool_call_id": call_id, "function_name": name, "arguments": given})
        results.append({"source_call_id": call_id, "content": call.result})
    if calls:
        step |= {"tool_calls": calls, "observation": {"results": results}}
    return step


def _function(call: Call) -> tuple[str, dict[str, Any]]:
    """A call as a function with arguments, as most harnesses name it."""
    return named_call(
        call, read="read_file", write="write_file", fetch="fetch_url", run="run_command"
    )


def write_document(script: Script) -> bytes:
    """One session as one JSON document."""
    head = {"id": script.session_id, "model": MODEL, "created_at": iso(script.started)}
    return dump({**head, "messages": messages(script)})


def write_lines(script: Script) -> list[bytes]:
    """One session as one message per line; its only id is the file name."""
    return [dump(message) for message in messages(script)]


def run(script: Script) -> dict[str, Any]:
    """A run as tau-bench keeps them: a task number, a reward, and the messages."""
    trajectory = [{"role": "system", "content": _POLICY}, *messages(script)]
    info = {"task": {"user_id": script.sender, "actions": []}}
    return {
        "task_id": script.number,
        "trial": 0,
        "reward": 1.0,
        "info": info,
        "traj": [{k: v for k, v in message.items() if k != "timestamp"} for message in trajectory],
    }


def export(script: Script) -> bytes:
    """A session as a line of a dataclaw export: calls with their results inside the messages."""
    exported: list[dict[str, Any]] = []
    for event in script.events:
        if isinstance(event, Human):
            exported.append({"role": "user", "content": event.text, "timestamp": iso(event.at)})
        elif isinstance(event, Agent):
            exported.append(_exported(event))
    return dump({"session_id": script.session_id, "model": MODEL, "messages": exported})


def _exported(agent: Agent) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": agent.text,
        "timestamp": iso(agent.at),
    }
    if agent.thinking:
        message["thinking"] = agent.thinking
    if agent.calls:
        message["tool_uses"] = [
            {"tool": name, "input": given, "output": {"text": call.result}, "status": "success"}
            for call in agent.calls
            for name, given in [_function(call)]
        ]
    return message


def messages(script: Script) -> list[dict[str, Any]]:
    """The conversation as messages, one call per assistant message."""
    ids = Ids(script)
    conversation: list[dict[str, Any]] = []
    for event in script.events:
        if isinstance(event, Agent):
            conversation += _answer(event, ids)
        elif isinstance(event, Human | Machine):
            conversation.append({"role": "user", "content": event.text, "timestamp": iso(event.at)})
        elif isinstance(event, Compaction):
            conversation.append({"role": "system", "content": event.summary})
    return conversation


def _answer(agent: Agent, ids: Ids) -> list[dict[str, Any]]:
    answer: list[dict[str, Any]] = []
    text, thinking = agent.text, agent.thinking
    for call in agent.calls:
        name, given = _function(call)
        call_id = ids.call("call_")
        wanted = {"name": name, "arguments": orjson.dumps(given).decode()}
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if thinking:
            message["reasoning_content"] = thinking
        message["tool_calls"] = [{"id": call_id, "type": "function", "function": wanted}]
        answer.append({**message, "timestamp": iso(agent.at)})
        result = {"role": "tool", "tool_call_id": call_id, "name": name}
        answer.append({**result, "content": call.result})
        text, thinking = "", ""
    if not agent.calls:
        answer.append({"role": "assistant", "content": text, "timestamp": iso(agent.at)})
    return answer
