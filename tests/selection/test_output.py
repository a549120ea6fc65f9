"""The files of a selection, and the check of them, which finds whatever was changed in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl
import pytest

from data.errors import InputError
from selection.config import SelectionConfig
from selection.constraints import programme_of
from selection.output import (
    BLOCKERS,
    MODEL,
    POOL,
    PROOF,
    SELECTION,
    _row_record,
    _write_selection,
    check_selection,
)
from selection.pool import Pool, pool_of_matrix
from selection.scores import ScoreMatrix
from selection.select import select_subset
from tests.selection.matrices import drawn

CONFIG = SelectionConfig(size=6, cover_families=False, quota_price=None, must_include=("i0003",))


def written(folder: Path, config: SelectionConfig = CONFIG) -> tuple[Pool, Any]:
    pool = pool_of_matrix(drawn(20, 4), config)
    _write_selection(folder, pool, config, select_subset(pool, config))
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
    _write_selection(tmp_path, pool, impossible, select_subset(pool, impossible))
    assert not (tmp_path / SELECTION).exists()
    blockers = orjson.loads((tmp_path / BLOCKERS).read_bytes())
    assert blockers["blockers"][0]["code"] == "size.too_few_eligible"
    with pytest.raises(InputError, match="no readable selection"):
        check_selection(tmp_path)
    written(tmp_path)
    assert not (tmp_path / BLOCKERS).exists()


SIMPLE = SelectionConfig(size=6, must_include=("i0003",), must_exclude=("i0001",))
BUDGET = SelectionConfig(size=6, budget=17.0)


def pool_for(config: SelectionConfig) -> Pool:
    matrix = drawn(24, 5, n_families=3)
    costs = (np.arange(24) % 7 + 1).astype(np.float64)
    priced = ScoreMatrix(matrix.items, matrix.families, matrix.models, matrix.scores, costs)
    return pool_of_matrix(priced, config)


def write_to(folder: Path, config: SelectionConfig) -> None:
    pool = pool_for(config)
    _write_selection(folder, pool, config, select_subset(pool, config))


def in_json(name: str, change: Callable[[Any], object]) -> Callable[[Path], object]:
    def tamper(folder: Path) -> None:
        stored = orjson.loads((folder / name).read_bytes())
        change(stored)
        (folder / name).write_bytes(orjson.dumps(stored))

    return tamper


def stated(change: Callable[[Any], object]) -> Callable[[Path], object]:
    return in_json(SELECTION, change)


def proven(change: Callable[[Any], object]) -> Callable[[Path], object]:
    return in_json(PROOF, change)


def in_pool(change: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Path], object]:
    """A pool that was changed, with its digest stated anew."""

    def tamper(folder: Path) -> None:
        change(pl.read_parquet(folder / POOL)).write_parquet(folder / POOL)
        restate_digest(folder)

    return tamper


def restate_digest(folder: Path) -> None:
    from data.canonical import file_digest

    in_json(PROOF, lambda s: s.update(pool_sha256=file_digest(folder / POOL)))(folder)


def worse(folder: Path) -> None:
    """Another subset that meets every row, with everything that is stated of it made to fit."""
    stored = orjson.loads((folder / SELECTION).read_bytes())
    config = SelectionConfig.model_validate(stored["config"])
    pool = pool_for(config)
    programme = programme_of(pool, config)
    chosen = np.array([item in stored["chosen"] for item in programme.items])
    for out in np.flatnonzero(chosen & ~programme.forced):
        for new in np.flatnonzero(~chosen & programme.allowed):
            other = chosen.copy()
            other[[out, new]] = [False, True]
            if not programme.broken(other) and programme.objective(other) < stored["objective"]:
                objective = programme.objective(other)
                names = [item for item, taken in zip(programme.items, other, strict=True) if taken]
                rows = [_row_record(row, other) for row in programme.rows]
                stored |= {"chosen": names, "objective": objective, "bound": objective}
                stored["rows"] = orjson.loads(orjson.dumps(rows))
                (folder / SELECTION).write_bytes(orjson.dumps(stored))
                return
    raise AssertionError("no other subset")


def worse_with_other_duals(folder: Path) -> None:
    worse(folder)
    proven(lambda s: s.update(duals=[0] * len(s["duals"])))(folder)


def worse_as_if_branched(folder: Path) -> None:
    worse(folder)
    proven(lambda s: s.update(method="branch and bound", duals=None, tie_duals=None))(folder)


def cell(column: str, value: Any) -> Callable[[Path], object]:
    def change(frame: pl.DataFrame) -> pl.DataFrame:
        values = frame[column].to_list()
        values[4] = value
        return frame.with_columns(pl.Series(column, values))

    return in_pool(change)


def with_pilots_exchanged(frame: pl.DataFrame) -> pl.DataFrame:
    pilots = [name for name in frame.columns if name.startswith("pilot:")]
    return frame.select(*[n for n in frame.columns if n not in pilots], *pilots[::-1])


STATED: dict[str, Callable[[Any], object]] = {
    "objective more": lambda s: s.update(objective=s["objective"] + 1),
    "objective less": lambda s: s.update(objective=s["objective"] - 1),
    "objective as float": lambda s: s.update(objective=float(s["objective"])),
    "objective and bound more": lambda s: s.update(
        objective=s["objective"] + 5, bound=s["objective"] + 5
    ),
    "bound more": lambda s: s.update(bound=s["bound"] + 1),
    "bound less": lambda s: s.update(bound=s["bound"] - 1),
    "bound null": lambda s: s.update(bound=None),
    "gap": lambda s: s.update(gap=1),
    "gap as truth": lambda s: s.update(gap=False),
    "status": lambda s: s.update(status="infeasible"),
    "scale": lambda s: s.update(scale=1000),
    "not unique": lambda s: s.update(unique=False),
    "a key gone": lambda s: s.pop("gap"),
    "a key more": lambda s: s.update(blockers=[]),
    "an id twice": lambda s: s["chosen"].append(s["chosen"][0]),
    "ids in another order": lambda s: s["chosen"].reverse(),
    "an id gone": lambda s: s["chosen"].pop(),
    "a stranger": lambda s: s["chosen"].append("stranger"),
    "an excluded item": lambda s: s["chosen"].append("i0001"),
    "a forced item gone": lambda s: s["chosen"].remove("i0003"),
    "nothing chosen": lambda s: s.update(chosen=[]),
    "a price": lambda s: next(row for row in s["rows"] if row["price"]).update(price=1),
    "a bound of a row": lambda s: s["rows"][0].update(high=7),
    "a value": lambda s: s["rows"][0].update(value=5),
    "an excess": lambda s: s["rows"][0].update(excess=1),
    "a name of a row": lambda s: s["rows"][0].update(name="siz"),
    "a kind of a row": lambda s: s["rows"][0].update(kind="lane"),
    "a row gone": lambda s: s["rows"].pop(),
    "a row twice": lambda s: s["rows"].append(s["rows"][0]),
    "rows in another order": lambda s: s["rows"].reverse(),
    "another size": lambda s: s["config"].update(size=5),
    "another seed": lambda s: s["config"].update(seed=1),
    "another quota price": lambda s: s["config"].update(quota_price=0.25),
    "coarser strata": lambda s: s["config"].update(stratum_picks=2),
    "another objective": lambda s: s["config"].update(objective="pairs"),
    "not forced": lambda s: s["config"].update(must_include=[]),
    "weights of families": lambda s: s.update(family_weights={"f0": 1.0, "f1": 9.0, "f2": 1.0}),
    "an unknown setting": lambda s: s["config"].update(sizes=5),
}
PROVEN: dict[str, Callable[[Any], object]] = {
    "a dual": lambda s: s["duals"].__setitem__(0, s["duals"][0] + 1),
    "no duals": lambda s: s.update(duals=[0] * len(s["duals"])),
    "duals gone": lambda s: s.update(duals=None),
    "a dual too few": lambda s: s["duals"].pop(),
    "a dual that overflows": lambda s: s["duals"].__setitem__(0, 2**63 - 1),
    "a dual as float": lambda s: s["duals"].__setitem__(0, 0.5),
    "no duals of ties": lambda s: s.update(tie_duals=[0] * len(s["tie_duals"])),
    "a dual of ties": lambda s: s["tie_duals"].__setitem__(0, s["tie_duals"][0] + 1),
    "an unknown method": lambda s: s.update(method="by eye"),
    "another digest of the pool": lambda s: s.update(pool_sha256="0" * 64),
}
FILES: dict[str, Callable[[Path], object]] = {
    "a worse subset": worse,
    "a worse subset with other duals": worse_with_other_duals,
    "a worse subset as if branched": worse_as_if_branched,
    "another model": lambda folder: (folder / MODEL).write_text("Maximize\nOBJ: x0\nEnd\n"),
    "no model": lambda folder: (folder / MODEL).unlink(),
    "no proof": lambda folder: (folder / PROOF).unlink(),
    "no pool": lambda folder: (folder / POOL).unlink(),
    "a pool that is none": lambda folder: (folder / POOL).write_bytes(b"PAR1"),
    "a score": cell("pilot:m00", 0.123),
    "a score out of range": cell("pilot:m00", 7.0),
    "a family": cell("family", "g"),
    "an id": cell("item_id", "i9999"),
    "an id in the pool twice": cell("item_id", "i0003"),
    "near-duplicates": in_pool(lambda frame: frame.with_columns(cluster=pl.lit("c"))),
    "a row of the pool gone": in_pool(lambda frame: frame[1:]),
    "a row of the pool twice": in_pool(lambda frame: pl.concat([frame, frame[-1:]])),
    "the pool in another order": in_pool(lambda frame: frame.reverse()),
    "pilots exchanged": in_pool(with_pilots_exchanged),
    "a pilot gone": in_pool(lambda frame: frame.drop(frame.columns[-1])),
    "a column gone": in_pool(lambda frame: frame.drop("family")),
}
TAMPERED = (
    {f"selection: {name}": stated(change) for name, change in STATED.items()}
    | {f"proof: {name}": proven(change) for name, change in PROVEN.items()}
    | {f"files: {name}": change for name, change in FILES.items()}
)


def complaints(folder: Path) -> tuple[str, ...]:
    try:
        return check_selection(folder)
    except InputError as error:
        return (str(error),)


@pytest.mark.parametrize("name", TAMPERED)
def test_whatever_is_changed_is_found(tmp_path: Path, name: str) -> None:
    write_to(tmp_path, SIMPLE)
    assert check_selection(tmp_path) == ()
    TAMPERED[name](tmp_path)
    assert complaints(tmp_path), name


def test_there_are_as_many_kinds_as_one_can_think_of() -> None:
    assert len(TAMPERED) >= 60


BRANCHED: dict[str, Callable[[Path], object]] = {
    "a worse subset": worse,
    "unique": stated(lambda s: s.update(unique=not s["unique"])),
    "another budget": stated(lambda s: s["config"].update(budget=18.0)),
    "as if proven": proven(lambda s: s.update(method="linear relaxation, certified integral")),
}


@pytest.mark.parametrize("name", BRANCHED)
def test_what_was_found_by_branching_is_solved_again(tmp_path: Path, name: str) -> None:
    write_to(tmp_path, BUDGET)
    assert orjson.loads((tmp_path / PROOF).read_bytes())["method"] == "branch and bound"
    assert check_selection(tmp_path) == ()
    BRANCHED[name](tmp_path)
    assert complaints(tmp_path), name


def test_a_check_of_a_proof_needs_no_solver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_to(tmp_path, SIMPLE)
    monkeypatch.setattr("selection.select.solve_model", None)
    monkeypatch.setattr("selection.blockers.solve_model", None)
    assert check_selection(tmp_path) == ()
