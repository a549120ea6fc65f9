"""Reading ATIF trajectories that other tools wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from construction.sessions.readers.atif import read
from data.contracts import Attachment, Origin, Role, Session, ToolCall
from tests.construction.sessions.readers.written import document, issues, session, sessions, typed


def _trajectory(*steps: dict[str, Any], version: str = "1.8", **root: Any) -> dict[str, Any]:
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, start=1)]
    agent = {"name": "terminal-agent", "version": "2.0", "model_name": "model-a"}
    base = {"schema_version": f"ATIF-v{version}", "session_id": "run-1", "agent": agent}
    return {**base, "steps": numbered, **root}


_ASK = {"source": "user", "message": "Sum the invoices", "timestamp": "2025-10-16T14:30:00Z"}
_ACT = {
    "source": "agent",
    "message": "Reading.",
    "reasoning_content": "Two files.",
    "tool_calls": [
        {"tool_call_id": "c1", "function_name": "read", "arguments": {"path": "a.csv"}},
        {"tool_call_id": "c2", "function_name": "read", "arguments": {"path": "b.csv"}},
    ],
    "observation": {
        "results": [
            {"source_call_id": "c2", "content": [{"type": "text", "text": "two"}]},
            {"source_call_id": "c1", "content": "one"},
        ]
    },
}


@pytest.mark.parametrize("version", ["1.0", "1.4", "1.8"])
def test_turns_calls_and_results(tmp_path: Path, version: str) -> None:
    parsed = session(read, document(tmp_path, _trajectory(_ASK, _ACT, version=version)))
    assert parsed.session_id == "run-1"
    assert parsed.format_version == version
    assert (parsed.agent_name, parsed.agent_version) == ("terminal-agent", "2.0")
    assert parsed.started_at == 1_760_625_000.0
    request, acted = parsed.turns
    assert (request.role, request.origin, request.said) == (
        Role.USER,
        Origin.HUMAN,
        "Sum the invoices",
    )
    assert (acted.model, acted.thinking) == ("model-a", "Two files.")
    assert acted.tool_calls == (
        ToolCall("c1", "read", {"path": "a.csv"}, "one"),
        ToolCall("c2", "read", {"path": "b.csv"}, "two"),
    )


def test_a_leading_system_step_is_the_system_prompt_and_later_ones_are_turns(
    tmp_path: Path,
) -> None:
    notice = {"source": "system", "message": "Context was compacted."}
    prompt = {"source": "system", "message": "You are careful."}
    parsed = session(read, document(tmp_path, _trajectory(prompt, _ASK, notice)))
    assert parsed.system_prompt == "You are careful."
    assert [turn.role for turn in parsed.turns] == [Role.USER, Role.SYSTEM]


def test_copied_context_is_a_replayed_prefix(tmp_path: Path) -> None:
    old = {"source": "user", "message": "Old request", "is_copied_context": True}
    new = {"source": "user", "message": "New request"}
    parsed = session(read, document(tmp_path, _trajectory(old, new)))
    assert typed(parsed.turns) == ["New request"]
    assert parsed.turns[0].index == 0
    assert parsed.dropped == {"replayed_prefix": 1}


def test_media_parts_become_attachments_and_web_addresses_stay_text(tmp_path: Path) -> None:
    def media(kind: str, mime: str, path: str) -> dict[str, Any]:
        return {"type": kind, "source": {"media_type": mime, "path": path}}

    parts = [
        {"type": "text", "text": "Describe these"},
        media("image", "image/png", "images/step_1.png"),
        media("audio", "audio/wav", "data:audio/wav;base64,QUJD"),
        media("image", "image/png", "https://pictures.example/c.png"),
    ]
    parsed = session(read, document(tmp_path, _trajectory({"source": "user", "message": parts})))
    (turn,) = parsed.turns
    assert turn.text == "Describe these\nhttps://pictures.example/c.png"
    assert turn.attachments == (
        Attachment("images/step_1.png", "image/png"),
        Attachment(None, "audio/wav", "QUJD"),
    )


def test_subagents_are_sessions_of_their_own_and_their_prompts_are_an_agents(
    tmp_path: Path,
) -> None:
    grandchild = _trajectory(_ASK, session_id="run-1", trajectory_id="sub-2")
    child = _trajectory(
        _ASK, session_id="run-1", trajectory_id="sub-1", subagent_trajectories=[grandchild]
    )
    root = _trajectory(_ASK, subagent_trajectories=[child, child])
    parsed = sessions(read, document(tmp_path, root))
    ids = [(item.session_id, item.parent_session_id) for item in parsed]
    assert ids == [
        ("run-1", None),
        ("sub-1", "run-1"),
        ("sub-1", "run-1"),
        ("sub-2", "sub-1"),
        ("sub-2", "sub-1"),
    ]
    origins = [item.turns[0].origin for item in parsed]
    assert origins == [Origin.HUMAN, *[Origin.AGENT] * 4]
    assert len({item.uid for item in parsed}) == 5


def test_results_without_a_call_are_kept_as_what_the_agent_observed(tmp_path: Path) -> None:
    step = {"source": "agent", "message": "ls", "observation": {"results": [{"content": "a.csv"}]}}
    parsed = session(read, document(tmp_path, _trajectory(step)))
    assert parsed.turns[0].tool_calls == (ToolCall("", "observation", {}, "a.csv"),)


_TWO = [
    {"tool_call_id": f"c{number}", "function_name": "keys", "arguments": {"text": text}}
    for number, text in enumerate(("ls\n", "cat a.csv\n"), start=1)
]


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (["x"], [("keys", None), ("keys", "x")]),
        (["x", "y"], [("keys", "x"), ("keys", "y")]),
        (["x", "y", "z"], [("keys", None), ("keys", None)] + [("observation", t) for t in "xyz"]),
    ],
)
def test_results_that_name_no_call_belong_to_the_calls_of_their_step(
    tmp_path: Path, shown: list[str], expected: list[tuple[str, str | None]]
) -> None:
    observation = {"results": [{"content": text} for text in shown]}
    step = {"source": "agent", "message": "", "tool_calls": _TWO, "observation": observation}
    parsed = session(read, document(tmp_path, _trajectory(step)))
    assert [(call.name, call.result) for call in parsed.turns[0].tool_calls] == expected


def test_what_the_harness_hands_over_after_a_summary_is_not_typed(tmp_path: Path) -> None:
    ref = {"subagent_trajectory_ref": [{"session_id": "run-1-summary"}]}
    summed = {"source": "system", "message": "Summed up.", "observation": {"results": [ref]}}
    answers = {"source": "user", "message": "The other agent says: two files."}
    more = {"source": "user", "message": "Now the average"}
    parsed = session(read, document(tmp_path, _trajectory(_ASK, summed, answers, _ACT, more)))
    assert typed(parsed.turns) == ["Sum the invoices", "Now the average"]
    assert [turn.origin for turn in parsed.turns if turn.role is Role.USER][1] is Origin.AGENT
    notice = {"source": "system", "message": "Summed up."}
    parsed = session(read, document(tmp_path, _trajectory(_ASK, notice, more)))
    assert typed(parsed.turns) == ["Sum the invoices", "Now the average"]


def test_a_file_that_names_a_parent_holds_a_sub_agent(tmp_path: Path) -> None:
    agent = {"name": "terminal-agent-summary", "extra": {"parent_session_id": "run-1"}}
    value = _trajectory(_ASK, session_id="run-1-summary", agent=agent)
    parsed = session(read, document(tmp_path, value))
    assert (parsed.session_id, parsed.parent_session_id) == ("run-1-summary", "run-1")
    assert typed(parsed.turns) == []
    assert parsed.turns[0].origin is Origin.AGENT


def test_results_that_stand_as_steps_belong_to_the_calls_before(tmp_path: Path) -> None:
    calls = [{"tool_call_id": f"c{n}", "function_name": "exec", "arguments": {}} for n in (1, 2)]
    act = {"source": "agent", "message": "I look.", "tool_calls": calls}
    shown = [
        {"source": "agent", "message": text, "observation": {"results": [{"content": text}]},
         "extra": {"openclaw_role": "toolResult", "tool_call_id": own, "exec_exit_code": code}}
        for own, text, code in (("c2", "none", 1), ("c1", "four", 0))
    ]  # fmt: skip
    parsed = session(read, document(tmp_path, _trajectory(_ASK, act, *shown)))
    made = [(c.call_id, c.result, c.is_error) for turn in parsed.turns for c in turn.tool_calls]
    assert made == [("c1", "four", False), ("c2", "none", True)]
    assert (len(parsed.turns), parsed.dropped) == (2, {"duplicate_event": 2})


def test_where_a_trajectory_goes_on_is_kept(tmp_path: Path) -> None:
    root = _trajectory(_ASK, continued_trajectory_ref="trajectory.cont-1.json")
    parsed = session(read, document(tmp_path, root))
    assert parsed.extra == {"continued_trajectory_ref": "trajectory.cont-1.json"}


def test_a_broken_step_is_an_issue_and_the_others_are_read(tmp_path: Path) -> None:
    source = document(tmp_path, _trajectory({"source": "robot", "message": "secret"}, _ASK))
    (issue,) = issues(read, source)
    assert (issue.unit, issue.reason) == ("record", "record.bad_step")
    assert issue.actual == "step 1: dict, source: str"
    parsed = [item for item in read(source) if isinstance(item, Session)]
    assert typed(parsed[0].turns) == ["Sum the invoices"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([1], "list"),
        ({"schema_version": "ATIF-v1.8"}, "steps: NoneType"),
        ({"schema_version": "ATIF-v2.0", "steps": []}, "schema_version: str, 9 characters"),
        ({"steps": []}, "schema_version: NoneType"),
    ],
)
def test_what_is_no_trajectory_says_what_it_is(tmp_path: Path, value: object, problem: str) -> None:
    (issue,) = issues(read, document(tmp_path, value))
    assert (issue.reason, issue.actual) == ("file.not_atif", problem)


def test_half_an_emoji_does_not_lose_the_file(tmp_path: Path) -> None:
    step = {"source": "user", "message": "cut here \ud83d"}
    parsed = session(read, document(tmp_path, _trajectory(step)))
    assert parsed.turns[0].said == "cut here \ufffd"


def test_fields_of_our_export_are_checked_and_not_trusted(tmp_path: Path) -> None:
    fields = {"origin": ["x"], "said": 3, "attachments": [{"part": 9}, 4], "at": "soon"}
    step = {**_ASK, "extra": {"benchmint": fields}}
    extra = {"benchmint": {"dropped": [], "extra": 1, "started_at": "x", "agent_name": 5}}
    parsed = session(read, document(tmp_path, _trajectory(step, extra=extra)))
    (turn,) = parsed.turns
    assert (turn.origin, turn.said, turn.attachments) == (Origin.HUMAN, "Sum the invoices", ())
    assert turn.at == 1_760_625_000.0
    assert (parsed.dropped, parsed.extra, parsed.agent_name) == ({}, {}, None)
