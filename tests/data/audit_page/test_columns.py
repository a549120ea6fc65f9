"""Columns, what may leave the house, downloads, and the page around them."""

from __future__ import annotations

import csv
import io

import orjson
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.audit_page import Shown, as_csv, as_json, audit_page, build_columns, header_policy
from data.audit_page.columns import _judged
from data.canonical import canonical_json
from data.contracts import Scalar, Status, Verdict
from data.tables import VERDICTS as SCHEMA
from data.tables import verdict_record
from tests.data.audit_page.ledger_rows import (
    CHECKS,
    LANES,
    VERDICTS,
    WORDS,
    columns,
    ledger,
    verdict,
)
from tests.data.audit_page.whatif import cell


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
    steps = build_columns(ledger(strange), CHECKS, Shown(), WORDS, LANES)["steps"]
    result = {step["name"]: (step["whatif"], step["contradictions"]) for step in steps}
    assert result == {
        "length": (False, 1),
        "fixture": (True, 0),
        "distinct": (False, 0),
        "leaks": (False, 0),
    }


def test_blocked_verdicts_contradict_nothing() -> None:
    blocked = VERDICTS[3] | {"item": "h", "status": Status.NOT_MEASURED, "observed": None}
    step = build_columns(ledger((*VERDICTS, blocked)), CHECKS, Shown(), WORDS, LANES)["steps"][0]
    assert step["whatif"]
    assert cell(step["status"], -1) == 3


def test_what_other_lanes_judge_is_not_counted_among_the_items() -> None:
    table = VERDICTS[0] | {"item": "tables/x", "gate": "fidelity"}
    strange = VERDICTS[0] | {"gate": "renamed since"}
    made = build_columns(ledger((*VERDICTS, table, strange)), CHECKS, Shown(), WORDS, LANES)
    assert [step["name"] for step in made["steps"]][-2:] == ["leaks", "renamed since"]
    assert (made["items"], "tables/x" in made["ids"]) == (6, False)


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
        "path": "logs/b.jsonl", "line": "3", "missing": "",
    }  # fmt: skip


def test_lanes_are_counted() -> None:
    assert columns()["about"]["lanes"] == [
        {"lane": "sessions", "lost": 5, "pool": 1200, "released": 4},
        {"lane": "workflows", "lost": 0, "pool": 3, "released": 3},
        {"lane": "distinct", "lost": 1, "pool": 0, "released": 0},
    ]
    page = audit_page(columns(), served=False)
    row = '<tr><th scope="row">sessions</th><td class="num">5</td><td class="num">1,200</td>'
    assert row in page


def test_json_holds_the_same() -> None:
    result = orjson.loads(as_json(columns()))
    assert result["about"]["run_id"] == "demo-1"
    assert [row["reason"] for row in result["rejections"]][-1] == "instance.duplicate"


def test_a_run_without_rejections_makes_a_page() -> None:
    empty = build_columns(ledger((), ()), CHECKS, Shown(), WORDS, LANES)
    assert (empty["items"], empty["steps"]) == (0, [])
    assert "0 units in 0 entries rejected" in audit_page(empty, served=False)
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


scalars = st.none() | st.integers(-99, 99) | st.floats(-9, 9) | st.booleans() | st.text(max_size=3)


@given(st.lists(scalars))
def test_scalars_are_read_as_they_were_recorded(result: list[Scalar]) -> None:
    rows = [Verdict("g", Status.PASSED, None, value, 1, {"m": value}) for value in result]
    frame = pl.DataFrame([verdict_record("i", row) for row in rows], schema=dict(SCHEMA))
    read = _judged(frame.rename({"item_id": "item"}))
    assert read.observed == [str(v) if isinstance(v, bool) else v for v in result]
    assert list(map(type, read.measures.get("m", []))) == list(map(type, result))
    assert list(read.limit) == [1] * len(result)


@pytest.mark.parametrize("broken", ['{"a":1},{"b":2}', "{", "[1]", "7", '{"a":NaN}'])
def test_measures_that_are_no_object_are_refused(broken: str) -> None:
    row = verdict_record("i", Verdict("g", Status.PASSED, None, 1, 1)) | {"measures": broken}
    frame = pl.DataFrame([row], schema=dict(SCHEMA)).rename({"item_id": "item"})
    with pytest.raises(ValueError, match=r"measures|JSON|expected|unexpected"):
        _judged(frame)


def test_reasons_and_limits_come_with_their_words() -> None:
    made = columns()
    assert made["sentences"] == {
        "file.empty": "The file is empty.",
        "instance.duplicate": "The instance is a copy of another one.",
    }
    assert made["around"]["length  10"] == ("at least", "characters")
    assert made["around"]["fixture fixture.bad 0"] == ("at most", "files")
