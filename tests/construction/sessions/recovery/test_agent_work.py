"""Which tools were called, and which files the agent's programs made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from construction.sessions.recovery.agent_work import other_tools
from construction.sessions.recovery.recover import RecoveryConfig, recover
from data.contracts import ToolCall
from tests.construction.sessions.recovery.talk import Talk, call


def shown(name: str, result: str, **arguments: str) -> ToolCall:
    return replace(call(name), arguments=arguments, result=result)


RUNS = shown("bash", "wrote 3 rows", command="python3 sums.py oak.csv")


@pytest.mark.parametrize(
    ("before", "said", "made"),
    [
        ([], "Sum up oak.csv", ("sums.csv",)),
        # A listing, a person or a file named it before a program ran: it was there.
        ([shown("bash", "oak.csv\nsums.csv", command="ls -l")], "Sum up oak.csv", ()),
        ([shown("Read", "see sums.csv", file_path="readme.md")], "Sum up oak.csv", ()),
        ([], "Compare oak.csv with sums.csv", ()),
    ],
)
def test_what_is_read_only_after_a_program_ran_was_made_by_it(
    before: list[ToolCall], said: str, made: tuple[str, ...]
) -> None:
    calls = [shown("Read", "a,b", file_path="oak.csv"), *before, RUNS]
    talk = Talk().user(said).agent("Done.", *calls, call("Read", file_path="sums.csv"))
    (instance,) = recover(talk.session(), RecoveryConfig()).instances
    assert instance.made == made


def test_looking_around_makes_nothing() -> None:
    calls = [shown("bash", "", command="head -3 oak.csv | wc -l"), call("Read", file_path="b.csv")]
    (instance,) = recover(
        Talk().user("Look").agent("Done.", *calls).session(), RecoveryConfig()
    ).instances
    assert instance.made == ()


def test_tools_are_told_with_how_often_and_files_and_shell_apart() -> None:
    calls = [
        call("Read", file_path="a.md"),
        call("mcp__mail__send"),
        call("Read", file_path="b.md"),
    ]
    (instance,) = recover(
        Talk().user("Go").agent("Done.", *calls).session(), RecoveryConfig()
    ).instances
    assert instance.tools == ("Read ×2", "mcp__mail__send ×1")
    assert other_tools(instance.tools) == ["mcp__mail__send ×1"]
