"""The tables of gates in the docs are those of the registry."""

from __future__ import annotations

from pathlib import Path

import pytest

from construction.sessions.gates.length import LengthConfig, LengthReason
from construction.sessions.gates.restoration import GATE as RESTORATION
from flows.docs_gates import PARTS, gate_table, limit_table, page_with_tables, reason_table
from flows.gates import GATES


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.name)
def test_a_page_has_the_gates_as_they_are(path: Path) -> None:
    assert path.read_text("utf-8") == page_with_tables(path), "run `make docs`"


def test_a_row_of_each_table_says_what_the_record_says() -> None:
    question = f"| {RESTORATION.name} | {RESTORATION.meaning} | `restoration.unrecoverable` |"
    assert question in gate_table()
    limit = f"≥ {LengthConfig().min_user_chars} characters"
    row = f"{limit} | `sessions.length.min_user_chars` | `length.too_short` |"
    assert row in limit_table()
    meaning = LengthReason.TOO_SHORT.meaning
    assert f"| `length.too_short` | {meaning} |" in reason_table()


def test_every_gate_limit_and_reason_has_a_row() -> None:
    heading = 2  # lines
    assert len(gate_table().splitlines()) == len(GATES) + heading
    assert len(limit_table().splitlines()) == sum(len(gate.limits) for gate in GATES) + heading
    assert len(reason_table().splitlines()) == sum(len(gate.reasons) for gate in GATES) + heading


def test_a_limit_that_leaves_an_item_unverified_says_so() -> None:
    (kept,) = (line for line in limit_table().splitlines() if 'unverified = "keep"' in line)
    assert kept.endswith("`network.*` (unverified, not rejected) |")
