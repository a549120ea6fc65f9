"""Proposed step programmes: what is none, what a gate rejects, and one that becomes a task."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from construction.analytics.candidates import read_proposals
from construction.analytics.make import mint
from tests.construction.analytics.world import QUESTION, STEPS, bench, declaration

GOOD: dict[str, Any] = {
    "category": "enterprise_industry",
    "language": "en",
    "question": QUESTION,
    "steps": list(STEPS),
    "answers": [{"part": "value", "step": 3, "kind": "money", "decimals": 0}],
}


def reason_of(proposal: Mapping[str, Any] | str, folder: Path) -> str | None:
    path = folder / "proposals.jsonl"
    path.write_text(proposal if isinstance(proposal, str) else json.dumps(proposal))
    minted = mint(bench(), (), 0, read_proposals(path, declaration()))
    (row,) = minted.ledger
    assert len(minted.tasks) == (row.reason is None)
    return row.reason


def with_steps(*steps: Mapping[str, Any]) -> dict[str, Any]:
    part = GOOD["answers"][0] | {"step": len(steps)}
    return GOOD | {"steps": list(steps), "answers": [part]}


RANK, LOOKUP, SUM = STEPS
LAST_YEAR = {**SUM, "where": [{"column": "fiscal_year", "value": 2019}, SUM["where"][1]]}


@pytest.mark.parametrize(
    ("proposal", "reason"),
    [
        (GOOD, None),
        ("{", "steps.invalid"),
        (GOOD | {"code": "import os"}, "steps.invalid"),
        (with_steps({"op": "eval", "source": "accounts"}), "steps.invalid"),
        (with_steps(RANK, {**LOOKUP, "source": "$3"}, SUM), "steps.invalid"),
        (GOOD | {"answers": [GOOD["answers"][0] | {"step": 9}]}, "steps.invalid"),
        (GOOD | {"answers": [GOOD["answers"][0] | {"kind": "prose"}]}, "steps.invalid"),
        (with_steps(RANK, LOOKUP, {**SUM, "source": "passwords"}), "answer.missing_data"),
        (with_steps(RANK, LOOKUP, LAST_YEAR), "answer.not_unique"),
        (GOOD | {"question": f"{QUESTION} Read annual_accounts.csv."}, "priors.leak"),
        (
            with_steps(RANK, LOOKUP, {**SUM, "source": "x; DROP TABLE accounts"}),
            "answer.missing_data",
        ),
    ],
)
def test_a_proposal_passes_all_gates_or_is_rejected_with_its_reason(
    proposal: Mapping[str, Any] | str, reason: str | None, tmp_path: Path
) -> None:
    assert reason_of(proposal, tmp_path) == reason
