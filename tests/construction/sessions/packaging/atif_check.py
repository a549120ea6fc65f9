"""A check of ATIF 1.8 documents, written from the standard (Harbor RFC 0001)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

_ROOT = {
    "schema_version",
    "session_id",
    "trajectory_id",
    "agent",
    "steps",
    "notes",
    "final_metrics",
    "continued_trajectory_ref",
    "subagent_trajectories",
    "extra",
}
_STEP = {
    "step_id",
    "timestamp",
    "source",
    "message",
    "model_name",
    "reasoning_effort",
    "reasoning_content",
    "tool_calls",
    "observation",
    "metrics",
    "llm_call_count",
    "is_copied_context",
    "extra",
}
_AGENT_ONLY = {"model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"}
_MEDIA = {
    "image": {"image/jpeg", "image/png", "image/gif", "image/webp"},
    "audio": {
        "audio/wav",
        "audio/mpeg",
        "audio/mp4",
        "audio/aac",
        "audio/ogg",
        "audio/flac",
        "audio/webm",
        "audio/aiff",
    },
}


def assert_valid(document: dict[str, Any]) -> None:
    """Fields, types and cross-references of the standard; unknown fields are errors."""
    assert set(document) <= _ROOT
    assert document["schema_version"] == "ATIF-v1.8"
    agent = document["agent"]
    assert set(agent) <= {"name", "version", "model_name", "tool_definitions", "extra"}
    assert isinstance(agent["name"], str)
    assert isinstance(agent["version"], str)
    for number, step in enumerate(document["steps"], start=1):
        assert step["step_id"] == number
        _assert_step(step)


def _assert_step(step: dict[str, Any]) -> None:
    assert set(step) <= _STEP
    assert step["source"] in ("system", "user", "agent")
    if step["source"] != "agent":
        assert not set(step) & _AGENT_ONLY
    if "timestamp" in step:
        datetime.fromisoformat(step["timestamp"])
    _assert_content(step["message"])
    ids = set()
    for call in step.get("tool_calls", []):
        assert set(call) <= {"tool_call_id", "function_name", "arguments", "extra"}
        assert isinstance(call["arguments"], dict)
        ids.add(call["tool_call_id"])
    for result in step.get("observation", {"results": []})["results"]:
        allowed = {"source_call_id", "content", "subagent_trajectory_ref", "extra"}
        assert set(result) <= allowed
        assert result["source_call_id"] in ids
        if "content" in result:
            _assert_content(result["content"])


def _assert_content(content: object) -> None:
    if isinstance(content, str):
        return
    assert isinstance(content, list)
    for part in content:
        if part["type"] == "text":
            assert set(part) == {"type", "text"}
            assert isinstance(part["text"], str)
        else:
            assert set(part) == {"type", "source"}
            assert part["source"]["media_type"] in _MEDIA[part["type"]]
            assert isinstance(part["source"]["path"], str)
