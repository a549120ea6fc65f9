"""`benchmint lane select` and `benchmint lane signals` as a user runs them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson
import polars as pl
import pytest

from data.demo.generate import FROZEN
from tests.flows.command import inline

pytestmark = pytest.mark.slow(seconds=2)


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    rows = [
        {
            "item": f"t{item:03d}",
            "family": "abcd"[item % 4],
            "model": f"m{model}",
            "score": float(rng.random() < 0.3 + 0.1 * model),
        }
        for item in range(60)
        for model in range(5)
    ]
    path = tmp_path / "scores.csv"
    pl.DataFrame(rows).write_csv(path)
    return path


def test_a_selection_is_written_measured_and_checked_again(scores: Path, tmp_path: Path) -> None:
    out = tmp_path / "selected"
    result = inline("lane", "select", scores, "--size", 20, "--out", out)
    assert result.returncode == 0, result.stderr
    written = {path.name for path in out.iterdir()}
    assert written >= {"selection.json", "pool.parquet", "model.lp", "quality.json", "quality.md"}
    assert inline("lane", "select", "--check", out).returncode == 0
    selection = orjson.loads((out / "selection.json").read_bytes())
    dropped = selection["chosen"].pop()
    (out / "selection.json").write_bytes(orjson.dumps(selection))
    again = inline("lane", "select", "--check", out)
    assert again.returncode == 1
    assert "size: 19 is outside [20, 20]" in again.stdout, dropped


def test_an_impossible_selection_names_its_blockers(scores: Path, tmp_path: Path) -> None:
    out = tmp_path / "selected"
    result = inline("lane", "select", scores, "--size", 61, "--out", out)
    assert result.returncode == 1
    assert "the size is 61" in result.stdout
    blockers = orjson.loads((out / "blockers.json").read_bytes())["blockers"]
    assert blockers[0]["code"] == "size.too_few_eligible"
    assert not (out / "selection.json").exists()


def test_signals_give_weights_that_sum_to_one_whatever_the_order(tmp_path: Path) -> None:
    newest = FROZEN / "signals/2026-01-01.csv"
    result = inline("lane", "signals", newest, "--out", tmp_path / "first")
    assert result.returncode == 0, result.stderr
    report = orjson.loads((tmp_path / "first" / "signals.json").read_bytes())
    assert sum(row["weight"] for row in report["families"]) == pytest.approx(1.0, abs=1e-6)
    assert report["uncategorized_share"] < 0.1
    frame = pl.read_csv(newest, infer_schema=False)
    turned = tmp_path / "turned" / newest.name
    turned.parent.mkdir()
    frame.reverse().write_csv(turned)
    assert inline("lane", "signals", turned, "--out", tmp_path / "second").returncode == 0
    for name in ("signals.json", "mixture.svg", "weights.parquet"):
        first, second = (tmp_path / folder / name for folder in ("first", "second"))
        assert first.read_bytes() == second.read_bytes(), name
