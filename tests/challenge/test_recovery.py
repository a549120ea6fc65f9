"""Recovery by structure on the blind cases: no cut where one task goes on."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from construction.sessions.recovery import RecoveryConfig, recover
from construction.sessions.wrappers.unwrap import unwrap
from data.contracts import Origin, Role, Session, SourceFormat, Turn
from tests.challenge.harness import Case, load

MERGE = load("recovery_merge")


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
