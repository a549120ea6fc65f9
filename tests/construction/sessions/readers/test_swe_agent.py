"""Trajectories of SWE-agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from construction.sessions.readers.swe_agent import read
from construction.sessions.recovery.exchanges import acts_of
from data.contracts import ReadIssue, Role, SourceFormat
from tests.construction.sessions.readers.written import document, session, typed

_HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "You repair programs."},
    {"role": "user", "content": "An example of a run", "is_demo": True},
    {"role": "user", "content": "Repair the scale."},
    {"role": "assistant", "content": "ls it", "thought": "I look.", "action": "ls\n"},
    {"role": "user", "content": "scale.py"},
    {
        "role": "assistant",
        "content": "I open it.",
        "tool_calls": [
            {"id": "c1", "function": {"name": "open", "arguments": '{"path": "scale.py"}'}}
        ],
    },
    {"role": "tool", "content": "weigh()", "tool_call_ids": ["c1"]},
]


def test_only_the_task_is_said_by_a_person(tmp_path: Path) -> None:
    state = {"state": '{"working_dir": "/scales"}', "action": "ls"}
    source = document(tmp_path, {"history": _HISTORY, "trajectory": [state]}, "run.traj")
    parsed = session(read, source)
    assert (parsed.session_id, parsed.source_format) == ("run", SourceFormat.SWE_AGENT)
    assert (parsed.cwd, parsed.system_prompt) == ("/scales", "You repair programs.")
    assert typed(parsed.turns) == ["Repair the scale."]
    assert [turn.role for turn in parsed.turns] == [Role.USER, Role.ASSISTANT, Role.ASSISTANT]
    calls = [call for turn in parsed.turns for call in turn.tool_calls]
    assert [(call.name, call.result) for call in calls] == [
        ("bash", "scale.py"),
        ("open", "weigh()"),
    ]
    assert parsed.turns[1].said == "I look."


def test_commands_of_the_editor_name_the_file_that_it_shows(tmp_path: Path) -> None:
    commands = ["create \"drift.py\"", "edit 1:1\nprint(3)\nend_of_edit", "python drift.py",
                "open lib/tare.py 40", "insert 3 x = 1"]  # fmt: skip
    acted = [{"role": "assistant", "content": "x", "thought": "x", "action": c} for c in commands]
    parsed = session(read, document(tmp_path, {"history": [*_HISTORY[:3], *acted]}, "r.traj"))
    assert [call.name for turn in parsed.turns for call in turn.tool_calls] == [
        "create", "edit", "bash", "open", "insert"
    ]  # fmt: skip
    acts = [(act.kind, act.path) for turn in parsed.turns for act in acts_of(turn)]
    assert [path for kind, path in acts if kind == "wrote"] == [
        "drift.py", "drift.py", "lib/tare.py"
    ]  # fmt: skip


def test_a_trajectory_without_history_is_an_issue(tmp_path: Path) -> None:
    (issue,) = read(document(tmp_path, {"trajectory": [{"action": "ls"}]}))
    assert isinstance(issue, ReadIssue)
    assert issue.reason == "file.no_records"


def test_calls_of_functions_in_text_have_their_names(tmp_path: Path) -> None:
    call = "I look.\n\n<function=viewer>\n<parameter=path>a.py</parameter>\n</function>"
    acted = {"role": "assistant", "content": call, "thought": "I look.", "action": "viewer a.py"}
    seen = {"role": "user", "content": "OBSERVATION:\nweigh()", "message_type": "observation"}
    parsed = session(read, document(tmp_path, {"history": [*_HISTORY[:3], acted, seen]}, "r.traj"))
    (made,) = parsed.turns[1].tool_calls
    assert (made.name, made.arguments, made.result) == ("viewer", {"path": "a.py"}, "weigh()")
    assert parsed.turns[1].text == "I look."


def test_called_commands_of_the_editor_name_the_file_that_it_shows(tmp_path: Path) -> None:
    called = [("create", {"filename": "drift.py"}), ("insert", {"text": "x = 1"}),
              ("bash", {"command": "ls"}), ("open", {"path": "tare.py", "line_number": 9}),
              ("edit", {"search": "a", "replace": "b"})]  # fmt: skip
    acted = [
        {
            "role": "assistant",
            "content": "x",
            "tool_calls": [
                {"id": name, "function": {"name": name, "arguments": json.dumps(given)}}
            ],
        }
        for name, given in called
    ]
    parsed = session(read, document(tmp_path, {"history": [*_HISTORY[:3], *acted]}, "r.traj"))
    acts = [(act.kind, act.path) for turn in parsed.turns for act in acts_of(turn)]
    assert [path for kind, path in acts if kind == "wrote"] == ["drift.py", "drift.py", "tare.py"]
