from __future__ import annotations

import traceback
from pathlib import Path

import polars as pl
import pytest

from data.errors import StageError
from data.run_store import RunStore


def test_a_stage_runs_once_per_key(tmp_path: Path) -> None:
    store = RunStore(tmp_path, "v1")
    calls: list[Path] = []

    def compute(part: Path) -> None:
        calls.append(part)
        (part / "t").write_text("x")

    key = store.key("read", {"a": 1})
    first, second = store.run("read", key, compute), store.run("read", key, compute)
    assert (first.cached, second.cached, len(calls)) == (False, True, 1)
    assert (second.path / "t").read_text() == "x"


@pytest.mark.parametrize("how", ["edited", "removed", "added", "sums"])
def test_an_output_that_was_altered_is_told_and_computed_anew(
    tmp_path: Path, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store = RunStore(tmp_path, "v1")
    key = store.key("read")

    def write(part: Path) -> None:
        (part / "t").write_text("x")

    output = store.run("read", key, write)
    assert store.is_done("read", key)
    file = output.path / {"edited": "t", "removed": "t", "added": "u", "sums": "sums.json"}[how]
    if how == "removed":
        file.unlink()
    else:
        file.write_text("y")
    assert not store.is_done("read", key)
    assert not store.run("read", key, write).cached
    named = {"added": "u", "sums": "key.json, t, timings.parquet"}.get(how, "t")
    assert capsys.readouterr().err == (
        f"benchmint: {output.path}: {named} altered since the stage was computed; recomputed\n"
    )
    assert [path.read_text() for path in output.path.glob("[tu]")] == ["x"]
    assert store.run("read", key, write).cached


def test_a_stage_tells_what_it_took_beside_its_output(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = RunStore(tmp_path, "v1")
    with caplog.at_level("INFO", "benchmint"):
        output = store.run("read", store.key("read"), lambda part: (part / "t").touch())
        store.run("read", store.key("read"), lambda part: None)
    names = {path.name for path in output.path.iterdir()}
    assert names == {"t", "timings.parquet", "key.json", "sums.json"}
    rows = pl.read_parquet(output.path / "timings.parquet").to_dicts()
    assert [(row["work"], row["bytes"]) for row in rows] == [("read", 0)]
    assert [record.message for record in caplog.records] == [
        "computing",
        "computed",
        "already done",
    ]


def test_code_input_and_stage_each_change_the_key(tmp_path: Path) -> None:
    keys = {
        RunStore(tmp_path, code).key(stage, part)
        for code in ("v1", "v2")
        for stage in ("a", "b")
        for part in (1, 2)
    }
    assert len(keys) == 8


def test_a_crashed_stage_is_not_done_and_its_rest_is_pruned(tmp_path: Path) -> None:
    store = RunStore(tmp_path, "v1")

    def crash(part: Path) -> None:
        (part / "t").write_text("half")
        raise RuntimeError("Ms Example's salary")

    with pytest.raises(
        StageError, match=r"stage read: RuntimeError at test_run_store.py:"
    ) as result:
        store.run("read", "k", crash)
    assert "salary" not in "".join(traceback.format_exception_only(result.value))
    assert result.value.__suppress_context__
    assert not store.path("read", "k").exists()
    left_by_a_kill = tmp_path / "read" / ".k.abc.part"
    left_by_a_kill.mkdir()
    kept = store.run("read", "k", lambda part: None).path
    assert store.prune({kept}) == 1
    assert kept.is_dir()
    assert not left_by_a_kill.exists()


def test_losing_the_race_uses_the_winners_output(tmp_path: Path) -> None:
    store = RunStore(tmp_path, "v1")

    def compute(part: Path) -> None:
        (store.path("read", "k")).mkdir()
        (store.path("read", "k") / "t").write_text("winner")
        (part / "t").write_text("loser")

    assert (store.run("read", "k", compute).path / "t").read_text() == "winner"
