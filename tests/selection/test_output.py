"""The files of a selection, and what a check of them without a solver says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from data.errors import InputError
from selection.check import check_selection
from selection.config import SelectionConfig
from selection.output import BLOCKERS, POOL, SELECTION, write_selection
from selection.pool import Pool, pool_of_matrix
from selection.select import select_subset
from tests.selection.matrices import drawn

CONFIG = SelectionConfig(size=6, cover_families=False, quota_price=None, must_include=("i0003",))


def written(folder: Path, config: SelectionConfig = CONFIG) -> tuple[Pool, Any]:
    pool = pool_of_matrix(drawn(20, 4), config)
    write_selection(folder, pool, config, select_subset(pool, config))
    return pool, orjson.loads((folder / SELECTION).read_bytes())


def test_an_item_that_must_be_there_and_a_size_that_is_missed(tmp_path: Path) -> None:
    _, stored = written(tmp_path)
    stored["chosen"].remove("i0003")
    (tmp_path / SELECTION).write_bytes(orjson.dumps(stored))
    issues = check_selection(tmp_path)
    assert issues[:2] == ("1 must-include items are missing", "size: 5 is outside [6, 6]")
    assert issues[2].startswith("objective: stated ")
    assert "size: stated excess 0, is 1" in issues


def test_an_item_that_is_not_eligible(tmp_path: Path) -> None:
    pool, stored = written(tmp_path)
    alike = [item.item_id for item, able in zip(pool.items, pool.eligible, strict=True) if not able]
    stored["chosen"] = [*stored["chosen"][:-1], alike[0]]
    (tmp_path / SELECTION).write_bytes(orjson.dumps(stored))
    assert "1 chosen items are not eligible" in check_selection(tmp_path)


def test_what_is_written_of_a_selection(tmp_path: Path) -> None:
    pool, stored = written(tmp_path)
    assert (stored["gap"], stored["scale"], stored["status"]) == (0, 10_000, "optimal")
    assert stored["objective"] == stored["bound"] and stored["unique"] is True
    assert stored["family_weights"] is None and len(stored["chosen"]) == 6
    assert stored["rows"][0] == {
        "name": "size", "kind": "size", "low": 6, "high": 6, "value": 6, "price": None, "excess": 0,
    }  # fmt: skip
    columns = pl.read_parquet(tmp_path / POOL).columns
    assert [name for name in columns if name.startswith("pilot:")] == [
        f"pilot:{name}" for name in pool.pilots
    ]


def test_the_last_outcome_replaces_the_one_before(tmp_path: Path) -> None:
    written(tmp_path)
    impossible = CONFIG.model_copy(update={"size": 21})
    pool = pool_of_matrix(drawn(20, 4), impossible)
    write_selection(tmp_path, pool, impossible, select_subset(pool, impossible))
    assert not (tmp_path / SELECTION).exists()
    blockers = orjson.loads((tmp_path / BLOCKERS).read_bytes())
    assert blockers["blockers"][0]["code"] == "size.too_few_eligible"
    with pytest.raises(InputError, match="no readable selection"):
        check_selection(tmp_path)
    written(tmp_path)
    assert not (tmp_path / BLOCKERS).exists()
