"""Printing of query results: on wide terminals as tables, on narrow ones field by field."""

from __future__ import annotations

import re
from typing import Any

import pytest

from data.staging.print import print_rows


def test_a_narrow_terminal_gets_a_line_for_each_field(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    rows: dict[str, list[dict[str, Any]]] = {
        "gates": [{"gate": "length", "reason": None, "n": 3}, {"gate": "x", "reason": "y", "n": 1}]
    }
    shown = {}
    for columns in ("60", "100"):
        monkeypatch.setenv("COLUMNS", columns)
        print_rows(rows, as_json=False)
        text = capsys.readouterr().out
        shown[columns] = re.sub(r"\x1b\[\d*m", "", text).strip().splitlines()
    assert shown["60"][1:] == [
        "gate    length",
        "n       3",
        "",
        "gate    x",
        "reason  y",
        "n       1",
    ]
    assert [line.split() for line in shown["100"][1:]] == [
        ["gate", "reason", "n"],
        ["length", "3"],
        ["x", "y", "1"],
    ]
