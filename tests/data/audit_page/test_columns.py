"""Columns, what may leave the house, downloads, and the page around them."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import orjson

from data.audit_page import Shown, as_csv, as_json, audit_page, build_columns, header_policy
from data.audit_page.columns import cell
from data.canonical import canonical_json
from data.contracts import Status
from tests.data.audit_page.books import CHECKS, GATES, VERDICTS, books, columns, verdict


def test_a_stage_stands_behind_the_last_gate_that_saw_its_items() -> None:
    assert [(step["name"], step["kind"]) for step in columns()["steps"]] == [
        ("length", "gate"),
        ("fixture", "gate"),
        ("distinct", "stage"),
        ("leaks", "gate"),
    ]


def test_gates_without_checks_and_gates_that_contradict_them_offer_no_what_if() -> None:
    # Kept with nine characters: the run's limit was another one than ten.
    strange = (*VERDICTS, verdict("g", "length", 9, failed=False))
    steps = build_columns(books(strange), GATES, CHECKS, Shown())["steps"]
    told = {step["name"]: (step["whatif"], step["contradictions"]) for step in steps}
    assert told == {
        "length": (False, 1),
        "fixture": (True, 0),
        "distinct": (False, 0),
        "leaks": (False, 0),
    }


def test_blocked_verdicts_contradict_nothing() -> None:
    blocked = replace(VERDICTS[3], item="h", status=Status.NOT_MEASURED, observed=None)
    step = build_columns(books((*VERDICTS, blocked)), GATES, CHECKS, Shown())["steps"][0]
    assert step["whatif"]
    assert cell(step["status"], -1) == 3


def test_what_leaves_names_nothing_and_tells_no_text() -> None:
    made = columns(Shown(lambda item: f"x-{len(item)}"))
    assert made["about"]["opaque"]
    for text in (canonical_json(made).decode(), as_csv(made), audit_page(made, served=False)):
        assert "private name" not in text
        assert "logs/" not in text
        assert "SUM(A1)" not in text
        assert "text, 8 characters" in text
    assert {cell(made["rejections"]["line"], row) for row in range(6)} == {None}


def test_csv_holds_every_rejection_and_no_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(columns()))))
    assert [row["id"] for row in rows] == ["private name.jsonl", "b", "c", "d", "e", "f"]
    assert rows[4]["observed"] == "'=SUM(A1)"
    assert rows[1] == {
        "id": "b", "stage": "gates", "unit": "instance", "outcome": "rejected", "gate": "length",
        "reason": "length.bad", "observed": "8", "limit": "10", "n": "1",
        "path": "logs/b.jsonl", "line": "3",
    }  # fmt: skip


def test_json_holds_the_same() -> None:
    told = orjson.loads(as_json(columns()))
    assert told["about"]["run_id"] == "demo-1"
    assert [row["reason"] for row in told["rejections"]][-1] == "instance.duplicate"


def test_a_run_without_rejections_makes_a_page() -> None:
    empty = build_columns(replace(books(()), rejections=()), GATES, CHECKS, Shown())
    assert (empty["items"], empty["steps"]) == (0, [])
    assert "0 rejections" in audit_page(empty, served=False)
    assert as_csv(empty).count("\n") == 1


def test_policies_allow_the_pages_own_script_and_nothing_inline() -> None:
    page = audit_page(columns(), served=False)
    for policy in (page.split('content="')[1].split('"')[0], header_policy()):
        assert "default-src 'none'" in policy.replace("&#39;", "'")
        assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in header_policy()
    assert "connect-src" not in page.split("<style>")[0]
    assert "http://" not in page
    assert "https://" not in page
    for attribute in ("onclick", "onload", "style="):
        assert f" {attribute}" not in page.replace("const style", "")
