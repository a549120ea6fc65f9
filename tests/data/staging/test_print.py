"""Printing of query results: as tables where they fit the terminal, else field by field."""

from __future__ import annotations

import re
from typing import Any

import pytest

from data.reasons import ReasonWords
from data.staging.print import print_funnel, print_table, print_tables
from flows.gates import GATES
from tests.demo import Demo

_ID = "3badef06-ca9a-4121-8b0e-63175c751da3.5b5711_i1"


def _shown(
    rows: list[dict[str, Any]],
    columns: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> list[str]:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    print_tables({"gates": rows})
    return re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out).strip().splitlines()


def test_a_narrow_terminal_gets_a_line_for_each_field(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: list[dict[str, Any]] = [
        {"gate": "length", "reason": None, "n": 3},
        {"gate": "x", "reason": "y", "n": 1},
    ]
    assert _shown(rows, 60, monkeypatch, capsys)[1:] == [
        "gate    length",
        "n       3",
        "",
        "gate    x",
        "reason  y",
        "n       1",
    ]
    assert [line.split() for line in _shown(rows, 100, monkeypatch, capsys)[1:]] == [
        ["gate", "reason", "n"],
        ["length", "3"],
        ["x", "y", "1"],
    ]


def test_an_id_is_whole_on_a_terminal_of_any_width(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: list[dict[str, Any]] = [
        {"item_id": _ID, "path": "sessions/claude_code/desk-00000/" + _ID, "line": 2}
    ]
    for columns in (50, 80, 120, 200):
        shown = _shown(rows, columns, monkeypatch, capsys)
        assert any(line.split()[-1] == _ID or line.startswith(f" {_ID}") for line in shown), columns
        assert (shown[1].split()[0] == "item_id") and ((len(shown) == 4) is (columns < 150))


def test_a_pipe_is_as_wide_as_columns_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    for columns, is_table in (("", True), ("200", True), ("80", False)):
        monkeypatch.setenv("COLUMNS", columns)
        print_tables({"gates": [{"item_id": _ID, "path": "sessions/" + _ID}]})
        lines = capsys.readouterr().out.splitlines()
        assert (lines[1].split() == ["item_id", "path"]) is is_table


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_table_of_stages_keeps_names_whole_at_80_columns(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    if is_terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "80")
    head = ("stage", "unit", "in", "passed", "rejected", "errored", "not chosen")
    print_table(head, [("sandbox_preflight", "environment_files", *"1" * 5)])
    lines = re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out).splitlines()
    assert lines[-1].split() == ["sandbox_preflight", "environment_files", *"1" * 5]
    assert max(map(len, lines)) <= (80 if is_terminal else 100)
    assert ("not chosen" in lines[0]) is not is_terminal  # the head is broken, no name is


@pytest.mark.slow
def test_the_funnel_says_what_passed_without_a_verdict(
    demo: Demo, capsys: pytest.CaptureFixture[str]
) -> None:
    print_funnel(demo.out / "staging.duckdb", ReasonWords.of(GATES))
    printed = capsys.readouterr().out
    (tried,) = re.findall(r"^ sandbox_preflight +candidate +(\d+) ", printed, re.MULTILINE)
    note = f"passed sandbox_preflight without a verdict: {tried} unverified by sandbox"
    assert note in printed.splitlines()  # the demo's recipe tries nothing in a sandbox
    assert "passed gates without a verdict" not in printed
