"""Recovery on the blind cases: no cut where one task goes on, cuts where another begins."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from construction.sessions.recovery import RecoveryConfig, recover
from construction.sessions.wrappers.unwrap import unwrap
from data.contracts import Origin, Role, Session, SourceFormat, Turn
from tests.challenge.harness import Case, load

MERGE, SPLIT = load("recovery_merge"), load("recovery_split")
LEAST_SPLIT = 0.9  # share of the split cases whose instances are exactly the expected ones


def segments(case: Case) -> list[list[int]]:
    """The indices of the human turns of each recovered instance."""
    turns = tuple(_turn(index, turn) for index, turn in enumerate(case["turns"]))
    session = Session(case["id"], case["id"], SourceFormat.CHAT, "challenge", turns)
    actual = recover(session, RecoveryConfig())
    return [[turn.index for turn in instance.user_turns] for instance in actual.instances]


def _turn(index: int, turn: dict[str, Any]) -> Turn:
    text = turn["text"]
    at = datetime.fromisoformat(turn["at"]).timestamp() if "at" in turn else None
    if turn["role"] != "user":
        return Turn(index, Role.ASSISTANT, Origin.AGENT, text, text, index + 1, at)
    words = unwrap(text)
    return Turn(
        index,
        Role.USER,
        words.origin,
        text,
        words.said,
        index + 1,
        at,
        attachments=words.attachments,
    )


@pytest.mark.parametrize("case", MERGE, ids=lambda case: str(case["id"]))
def test_one_task_stays_one(case: Case) -> None:
    assert segments(case) == case["expect"]["segments"]


def test_other_tasks_are_split_off() -> None:
    exact = [case["id"] for case in SPLIT if segments(case) == case["expect"]["segments"]]
    missed = sorted({case["id"] for case in SPLIT} - set(exact))
    assert len(exact) >= LEAST_SPLIT * len(SPLIT), f"not as expected: {missed}"
