"""Runs: kept side by side, the same build once, published or not, pruned by name."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import orjson
import pytest

from data.contracts import LedgerRow, Outcome, Scalar, StageKind
from data.errors import InputError
from data.ledger import tally
from data.metrics import write_timing
from data.snapshot.release import SnapshotRef
from data.staging.database import open_read_only
from data.staging.runs import (
    RunFacts,
    _newest_run,
    drop_runs,
    record_release,
    stage_run,
    staged_runs,
)
from data.tables import LEDGER, TALLIES, ledger_record, tally_records, write_table

FACTS = RunFacts(
    snapshot="demo-2026.01.15",
    released=date(2026, 1, 15),
    recipe_digest="a" * 64,
    code_version="c0de",
    release_key_digest="b" * 64,
    inputs={"session-1": "d" * 64},
    privacy="generated",
)
KEPT = LedgerRow("gates", "instance", "x", Outcome.KEPT)
LATER = replace(FACTS, snapshot="demo-2026.01.22", released=date(2026, 1, 22))


def stage(folder: Path, *items: str, parts: int = 1) -> list[Path]:
    """Stage outputs whose ledger holds `items`, spread over `parts` shards."""
    made = []
    for part in range(parts):
        made.append(folder / f"shard-{part}")
        made[-1].mkdir(parents=True)
        rows = [
            LedgerRow("gates", "instance", item, Outcome.KEPT, evidence={"line": 1})
            for item in items[part::parts]
        ]
        write_table(made[-1] / "ledger.parquet", map(ledger_record, rows), LEDGER)
    return made


def items(out: Path, schema: str = "main") -> list[tuple[str, str]]:
    with open_read_only(out / "staging.duckdb", every_run=True) as staging:
        return staging.sql(f"SELECT run_id, item_id FROM {schema}.ledger ORDER BY ALL").fetchall()


def test_runs_stand_side_by_side_and_the_last_is_the_newest(tmp_path: Path) -> None:
    first = stage_run(tmp_path, FACTS, stage(tmp_path / "a", "x"))
    second = stage_run(tmp_path, LATER, stage(tmp_path / "b", "x", "y"))
    assert items(tmp_path) == [(first, "x"), (second, "x"), (second, "y")]
    assert items(tmp_path, "newest") == [(second, "x"), (second, "y")]
    assert _newest_run(tmp_path) == second
    assert stage_run(tmp_path, FACTS, stage(tmp_path / "c", "x")) == first
    assert _newest_run(tmp_path) == first
    assert items(tmp_path, "newest") == [(first, "x")]
    assert [run.run_id for run in staged_runs(tmp_path)] == [second, first]


def test_the_newest_run_is_the_last_one_also_where_the_clock_was_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage_run(tmp_path, FACTS, stage(tmp_path / "a", "x"))
    monkeypatch.setattr("data.staging.runs.time.time", lambda: 86_400.0)
    second = stage_run(tmp_path, LATER, stage(tmp_path / "b", "y"))
    assert _newest_run(tmp_path) == second
    assert items(tmp_path, "newest") == [(second, "y")]


def test_the_id_follows_from_what_was_built_and_from_nothing_else(tmp_path: Path) -> None:
    whole = stage_run(tmp_path, FACTS, stage(tmp_path / "a", "x", "y", "z"))
    sharded = stage_run(tmp_path, FACTS, stage(tmp_path / "b", "z", "y", "x", parts=2))
    assert sharded == whole
    others = [
        replace(FACTS, recipe_digest="e" * 64),
        replace(FACTS, code_version="c0df"),
        replace(FACTS, release_key_digest="e" * 64),
        replace(FACTS, inputs={"session-1": "e" * 64}),
    ]
    ids = {stage_run(tmp_path, o, stage(tmp_path / str(n), "x")) for n, o in enumerate(others)}
    ids.add(stage_run(tmp_path, FACTS, stage(tmp_path / "more", "x", "y")))
    assert len(ids - {whole}) == 5
    assert all(run_id.startswith("demo-2026.01.15-") for run_id in ids)


def test_a_run_outlives_the_stage_outputs_it_came_from(tmp_path: Path) -> None:
    folders = stage(tmp_path / "a", "x")
    first = stage_run(tmp_path, FACTS, folders)
    (folders[0] / "ledger.parquet").unlink()
    second = stage_run(tmp_path, LATER, stage(tmp_path / "b", "y"))
    assert items(tmp_path) == [(first, "x"), (second, "y")]


def test_the_constraints_of_the_selection_are_staged(tmp_path: Path) -> None:
    folders = stage(tmp_path / "a", "x")
    row = {"name": "size", "kind": "size", "low": 4, "high": 4, "value": 4, "price": None}
    (folders[0] / "selection.json").write_bytes(orjson.dumps({"rows": [row | {"excess": 0}]}))
    stage_run(tmp_path, FACTS, folders)
    with open_read_only(tmp_path / "staging.duckdb") as staging:
        result = staging.sql("SELECT name, low, value, price FROM selection_rows").fetchall()
    assert result == [("size", 4.0, 4.0, None)]


def test_a_run_tells_what_it_did_and_took_without_another_id_for_that(tmp_path: Path) -> None:
    folders = stage(tmp_path / "a", "x", parts=2)
    for seconds, folder in enumerate(folders, 1):
        closed = tally("gates", StageKind.FILTER, "instance", ["x"], [KEPT])
        write_table(folder / "tallies.parquet", tally_records(closed), TALLIES)
        write_timing(folder, "recover", seconds, 1.0)
    row: dict[str, Scalar] = {"stage": "labels", "judge": "model:m", "items": 1, "errors": 0}
    row |= {"prompt_tokens": 90, "completion_tokens": 10, "cost": 0.5}
    run_id = stage_run(tmp_path, FACTS, folders, [row])
    with open_read_only(tmp_path / "staging.duckdb") as staging:
        result = staging.sql("SELECT stage, unit, measure, value FROM metrics").fetchall()
    assert {row for row in result if row[2] != "bytes"} == {
        ("gates", "instance", "items_in", 2.0),
        ("gates", "instance", "items_out", 2.0),
        ("recover", None, "seconds", 3.0),
        ("recover", None, "cpu_seconds", 2.0),
        ("labels", None, "cost", 0.5),
        ("labels", None, "prompt_tokens", 90.0),
        ("labels", None, "completion_tokens", 10.0),
    }
    text = (tmp_path / "metrics.prom").read_text()
    assert f'benchmint_work_seconds{{run_id="{run_id}",work="recover"}} 3.0\n' in text
    assert (tmp_path / "staging" / run_id / "metrics.prom").read_text() == text
    write_timing(folders[0], "recover", 50, 1.0)
    assert stage_run(tmp_path, FACTS, folders, [row | {"cost": 0.7}]) == run_id


def test_a_published_run_says_as_what(tmp_path: Path) -> None:
    run_id = stage_run(tmp_path, FACTS, stage(tmp_path / "a", "x"))
    query = "SELECT published, digest, n_tasks, n_inputs, released FROM runs"
    with open_read_only(tmp_path / "staging.duckdb") as staging:
        assert staging.sql(query).fetchall() == [(None, None, None, 1, date(2026, 1, 15))]
    ref = SnapshotRef("demo-2026.01.15-r2", tmp_path / "s", "f" * 64, written=True)
    record_release(tmp_path, run_id, ref, 12)
    with open_read_only(tmp_path / "staging.duckdb") as staging:
        (row,) = staging.sql(query).fetchall()
    assert row == ("demo-2026.01.15-r2", "f" * 64, 12, 1, date(2026, 1, 15))


def test_runs_are_dropped_by_their_ids_alone(tmp_path: Path) -> None:
    first = stage_run(tmp_path, FACTS, stage(tmp_path / "a", "x"))
    second = stage_run(tmp_path, LATER, stage(tmp_path / "b", "y"))
    outside = tmp_path / "outside"
    outside.mkdir()
    link = f"demo-2026.01.29-{'0' * 12}"
    (tmp_path / "staging" / link).symlink_to(outside)
    for name in ("../outside", "..", "", "gone", link, f"demo-2026.01.29-{'1' * 12}"):
        with pytest.raises(InputError, match="no such run"):
            drop_runs(tmp_path, [first, name])
    assert [run.run_id for run in staged_runs(tmp_path)] == [first, second]
    drop_runs(tmp_path, [first])
    assert items(tmp_path) == [(second, "y")]
    assert outside.is_dir()
