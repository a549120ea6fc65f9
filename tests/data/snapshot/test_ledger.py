"""What is told of the books: counts by hand, and no text of theirs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import orjson
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from data.contracts import LedgerRow, Outcome, StageKind, Status, Verdict
from data.ledger import close
from data.snapshot import layout
from data.snapshot.ledger import COLUMNS, Rows, _values_summary, counted, gate_order, ledger_frames
from data.snapshot.release import LedgerTables
from data.snapshot.verification import verify
from data.snapshot.writer import write_snapshot
from data.tables import LEDGER, LINEAGE, VERDICTS
from tests.data.snapshot.sample import GATES, ledger_tables, release

NOTHING = LedgerTables(ledger=[], verdicts=[], lineage=[], tallies=[])


def summary(tables: LedgerTables, gates: Sequence[str]) -> dict[str, Rows]:
    with counted(ledger_frames(tables)) as counts:
        return counts.summary(gates)


def funnel(tables: LedgerTables) -> Rows:
    with counted(ledger_frames(tables)) as counts:
        return counts.funnel(tables.tallies)


def test_the_columns_are_those_that_a_build_writes() -> None:
    kinds = {pl.String: "VARCHAR", pl.Int64: "BIGINT", pl.Float64: "DOUBLE"}
    written = {
        layout.LEDGER_TABLE: LEDGER,
        layout.VERDICTS_TABLE: VERDICTS,
        layout.LINEAGE_TABLE: LINEAGE,
    }
    for name, schema in written.items():
        assert list(COLUMNS[name].items()) == [(c, kinds[kind]) for c, kind in schema.items()]


def rejected(item: str, reason: str, observed: object, limit: object = 10) -> LedgerRow:
    return LedgerRow(
        "gates",
        "instance",
        item,
        Outcome.REJECTED,
        gate="length",
        reason=reason,
        observed=observed,  # type: ignore[arg-type]
        limit=limit,  # type: ignore[arg-type]
    )


def test_the_funnel_tells_outcomes_and_children_in_pipeline_order() -> None:
    given_tables = ledger_tables(24)
    result = funnel(given_tables)
    assert [(step["stage"], step["n_in"], step["made"]) for step in result] == [
        ("read", 10, {"session": 8}),
        ("recover", 8, {"instance": 24}),
        ("gates", 24, {}),
        ("package", 18, {"candidate": 18}),
        ("select", 18, {}),
    ]
    assert result[2]["outcomes"] == {"rejected": 6, "kept": 18}
    assert all(sum(step["outcomes"].values()) == step["n_in"] for step in result)


def test_rejections_gates_and_overlaps_by_hand() -> None:
    # Of 0..23, 0, 10 and 20 are too short; 0, 7, 14 and 21 lack a file.
    result = summary(ledger_tables(24), GATES)
    by_reason = {row["reason"]: row for row in result["rejections"]}
    assert by_reason["length.too_short"]["n"] == 3
    assert by_reason["length.too_short"]["limits"] == ["10"]
    assert by_reason["length.too_short"]["observed"] == {
        "kind": "number",
        "n": 3,
        "min": 0,
        "p25": 0,
        "median": 1,
        "p75": 2,
        "max": 2,
    }
    assert by_reason["fixture.unresolved_declared"]["n"] == 3
    assert by_reason["file.unsupported_format"]["observed"] == {
        "kind": "none",
        "n": 0,
        "values": [],
    }
    assert result["overlaps"] == [
        {"gates": ["fixture"], "n": 3},
        {"gates": ["length"], "n": 2},
        {"gates": ["length", "fixture"], "n": 1},
    ]
    network = next(gate for gate in result["gates"] if gate["gate"] == "network")
    assert network["statuses"] == {"passed": 18, "failed": 0, "unverified": 0, "not_measured": 6}
    assert network["histogram"] == [{"label": "0", "passed": 18, "failed": 0, "unverified": 0}]


def test_strata_are_counted() -> None:
    result = summary(ledger_tables(24), GATES)["strata"]
    assert result == [
        {"stage": "select", "unit": "candidate", "outcome": "chosen", "stratum": "zh", "n": 18}
    ]


def test_observed_texts_are_told_by_their_length_only() -> None:
    rows = [rejected("a", "length.odd", "ann@example.org"), rejected("b", "length.odd", "none")]
    result = summary(replace(NOTHING, ledger=rows), ["length"])["rejections"]
    assert result[0]["observed"] == {
        "kind": "text",
        "n": 2,
        "values": [{"value": "none", "n": 1}, {"value": "text, 15 characters", "n": 1}],
    }


def test_numbers_that_are_none_do_not_pass_for_numbers() -> None:
    assert _values_summary(["1e999", "3"])["kind"] == "text"
    assert _values_summary(["nan"])["kind"] == "text"
    assert _values_summary(["-2", None, "5.5"])["max"] == 5.5


def test_hostile_scalars_are_stored() -> None:
    rows = [rejected("a\ud800", "length.odd", 2**80, float("nan"))]
    verdict = Verdict("length", Status.PASSED, None, 10**400, "\udcff", {"n": 2**70})
    given_tables = replace(NOTHING, ledger=rows, verdicts=[("a\ud800", verdict)])
    held = ledger_frames(given_tables)
    assert held.ledger["item_id"].to_list() == held.verdicts["item_id"].to_list() == ["a⟨U+D800⟩"]
    assert held.ledger["observed"].to_list() == ["integer of 81 bits"]
    summary(given_tables, ["length"])


def test_gates_follow_their_declared_order_then_their_name() -> None:
    given_tables = replace(ledger_tables(24), gates=("network", "length", "unused"))
    assert gate_order(given_tables) == ["network", "length", "unused", "fixture", "restoration"]


@settings(max_examples=20)  # each counts by DuckDB, twice
@given(st.randoms(use_true_random=False))
def test_row_order_does_not_matter(mixed: random.Random) -> None:
    given_tables = ledger_tables(12)
    other = replace(
        given_tables,
        ledger=mixed.sample(list(given_tables.ledger), len(given_tables.ledger)),
        verdicts=mixed.sample(list(given_tables.verdicts), len(given_tables.verdicts)),
        lineage=mixed.sample(list(given_tables.lineage), len(given_tables.lineage)),
    )
    assert summary(other, GATES) == summary(given_tables, GATES)
    assert funnel(other) == funnel(given_tables)


@settings(max_examples=20)
@given(st.integers(1, 60))
def test_the_aggregates_add_up_to_the_ledger(instances: int) -> None:
    with counted(ledger_frames(ledger_tables(instances))) as counts:
        result = counts.rejections()
        outcomes = counts.outcomes()
    turned_away = sum(n for key, n in outcomes.items() if key[2] in ("rejected", "errored"))
    assert sum(row["n"] for row in result) == turned_away


def test_a_row_may_stand_for_many_units(tmp_path: Path) -> None:
    many = LedgerRow("read", "fact", "filing-1", Outcome.REJECTED, reason="fact.no_value", n=900)
    kept = LedgerRow("read", "fact", "filing-1", Outcome.KEPT, n=100)
    facts = close("read", StageKind.FILTER, "fact", 1000, {many.outcome: 900, kept.outcome: 100})
    made = release(tmp_path)
    more = replace(
        made.ledger_tables,
        ledger=[*made.ledger_tables.ledger, many, kept],
        tallies=[*made.ledger_tables.tallies, facts],
    )
    ref = write_snapshot(replace(made, ledger_tables=more), tmp_path / "out")
    assert verify(ref.path).ok
    result = orjson.loads((ref.path / "public/audit/ledger.json").read_bytes())["rejections"]
    assert {"fact.no_value": 900}.items() <= {row["reason"]: row["n"] for row in result}.items()
