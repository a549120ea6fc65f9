"""The files of a selection, and a check of them: everything is computed again from their pool.

A subset that was found without branching is proven to be the best one by integral duals, without a
solver. A subset that was found by branching is solved again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import orjson
import polars as pl
from numpy.typing import NDArray
from pydantic import ValidationError

from data.atomic import replacing, write_bytes
from data.canonical import file_digest, pretty_json
from data.errors import InputError
from selection.config import SelectionConfig
from selection.constraints import programme_of
from selection.estimator import shipped
from selection.model import SCALE, Ints, Programme, Row, SolveStatus, write_model
from selection.pool import Pool, PoolItem, eligible, few_pilots, pool_of_matrix
from selection.scores import ScoreMatrix
from selection.select import (
    Method,
    Selected,
    Solution,
    dual_bound,
    optimal_face,
    select_subset,
    without_weighted,
)

SELECTION, BLOCKERS, POOL, MODEL = "selection.json", "blockers.json", "pool.parquet", "model.lp"
PROOF, ESTIMATOR = "proof.json", "estimator.json"
_PILOT = "pilot:"
_OPTIMAL_GAP = 0


def _write_selection(
    out: Path,
    pool: Pool,
    config: SelectionConfig,
    selected: Selected,
) -> None:
    """Write `selection.json` (or `blockers.json`), its proof, the pool it was made from, the model.

    The proof is apart: another solver proves the same selection by other duals.
    """
    out.mkdir(parents=True, exist_ok=True)
    _write_pool(out / POOL, pool)
    write_bytes(out / MODEL, _model_bytes(selected.programme))
    write_bytes(out / PROOF, pretty_json(_proof(selected.solution, out / POOL)))
    current, outdated = (
        (SELECTION, BLOCKERS) if selected.chosen is not None else (BLOCKERS, SELECTION)
    )
    (out / outdated).unlink(missing_ok=True)
    write_bytes(out / current, pretty_json(describe(config, selected)))


def _model_bytes(programme: Programme) -> bytes:
    """The integer programme in the LP format."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / MODEL
        write_model(programme, path)
        return path.read_bytes()


def _proof(solution: Solution, pool: Path) -> dict[str, Any]:
    """The duals in the order of the rows; nulls where branching found the subset, or none was."""
    proof = solution.proof
    return {
        "method": str(solution.method),
        "solver": str(solution.solver),
        "pool_sha256": file_digest(pool),
        "duals": proof.duals.tolist() if proof else None,
        "tie_duals": proof.tie_duals.tolist() if proof else None,
    }


def describe(
    config: SelectionConfig,
    selected: Selected,
    family_weights: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """The selection as plain data; the same bytes for the same input, whichever solver ran."""
    programme, solution = selected.programme, selected.solution
    head: dict[str, Any] = {
        "config": config.model_dump(mode="json"),
        "family_weights": dict(family_weights) if family_weights else None,
        "status": str(solution.status),
    }
    if selected.chosen is None or solution.chosen is None:
        return head | {"blockers": [asdict(blocker) for blocker in selected.blockers]}
    return head | {
        "chosen": list(selected.chosen),
        "objective": solution.objective,
        "bound": solution.bound,
        "gap": _OPTIMAL_GAP,
        "scale": SCALE,
        "unique": solution.unique,
        "rows": [_row_record(row, solution.chosen) for row in programme.rows],
    }


def _row_record(row: Row, chosen: NDArray[np.bool_]) -> dict[str, Any]:
    """A row with its value for a subset."""
    return {
        "name": row.name,
        "kind": str(row.kind),
        "low": row.low,
        "high": row.high,
        "value": row.value(chosen),
        "price": row.price,
        "excess": row.excess(chosen),
    }


def _write_pool(path: Path, pool: Pool) -> None:
    frame = pl.DataFrame([asdict(item) for item in pool.items], infer_schema_length=None)
    scores = [
        pl.Series(f"{_PILOT}{name}", pool.scores[:, column])
        for column, name in enumerate(pool.pilots)
    ]
    with replacing(path) as part:
        frame.with_columns(scores).write_parquet(part)


def select_from_matrix(
    matrix: ScoreMatrix, config: SelectionConfig, out: Path, *, quality: bool
) -> Selected:
    """Select from a score matrix and write the result, with its quality against the pool if asked.

    Quality is measured where a subset was chosen and there are two pilots at least.
    """
    pool = pool_of_matrix(matrix, config)
    selected = select_subset(pool, config)
    _write_selection(out, pool, config, selected)
    chosen = selected.solution.chosen
    if chosen is not None and (estimator := shipped(pool, chosen)):
        write_bytes(out / ESTIMATOR, pretty_json(estimator.record()))
    if quality and selected.chosen is not None and chosen is not None and len(pool.pilots) > 1:
        # SciPy's statistics take a second to import: other commands do not wait for them.
        from selection.quality import measure_quality, write_quality

        write_quality(out, measure_quality(pool, config, selected.programme, chosen))
    return selected


def selection_lines(selected: Selected, items: int, out: Path) -> Iterator[str]:
    """What was chosen of how many items, or a line per blocker, in lines for a person."""
    solution = selected.solution
    if selected.chosen is None:
        for blocker in selected.blockers:
            yield f"blocked: {blocker.text}. Possible fix: {blocker.relaxation}."
        return
    yield (
        f"{len(selected.chosen)} of {items} items in {out}: objective {solution.objective}, "
        f"bound {solution.bound}, {solution.solver}, {solution.method}"
    )
    if warning := few_pilots(selected.pilots):
        yield warning


_LARGEST_DUAL = 2**40
_KEYS = {
    *("config", "family_weights", "status", "chosen", "objective", "bound"),
    *("gap", "scale", "unique", "rows"),
}


@dataclass(frozen=True, slots=True)
class _Stored:
    """The files of a selection as they were read, and the programme of their pool."""

    selection: Mapping[str, Any]
    proof: Mapping[str, Any]
    model: bytes
    pool_sha256: str
    config: SelectionConfig
    pool: Pool
    programme: Programme
    chosen: NDArray[np.bool_]


def check_selection(out: Path) -> tuple[str, ...]:
    """What in the files of a selection does not agree with its pool, or is not proven.

    Raises InputError if the files are missing or not those of a selection.
    """
    try:
        stored = _read(out)
        return tuple(_disagreements(stored))
    except (
        *(OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError),
        *(ValidationError, pl.exceptions.PolarsError),
    ) as error:
        raise InputError(
            str(out), f"no readable selection ({type(error).__name__})", SELECTION, "Check it."
        ) from None


def _read(out: Path) -> _Stored:
    selection = orjson.loads((out / SELECTION).read_bytes())
    config = SelectionConfig.model_validate(selection["config"])
    pool = _read_pool(out / POOL, config)
    programme = programme_of(pool, config, selection["family_weights"])
    names = {*selection["chosen"]}
    return _Stored(
        selection=selection,
        proof=orjson.loads((out / PROOF).read_bytes()),
        model=(out / MODEL).read_bytes(),
        pool_sha256=file_digest(out / POOL),
        config=config,
        pool=pool,
        programme=programme,
        chosen=np.array([item in names for item in programme.items], dtype=bool),
    )


def _read_pool(path: Path, config: SelectionConfig) -> Pool:
    frame = pl.read_parquet(path)
    columns = [name for name in frame.columns if name.startswith(_PILOT)]
    items = tuple(PoolItem(**row) for row in frame.drop(columns).iter_rows(named=True))
    names = tuple(name.removeprefix(_PILOT) for name in columns)
    if not columns:
        able = np.ones(frame.height, dtype=bool)
        return Pool(items, (), np.zeros((frame.height, 0)), able)
    scores = frame.select(columns).to_numpy()
    return Pool(items, names, scores, eligible(scores, config))


def _disagreements(stored: _Stored) -> Iterator[str]:
    yield from _of_pool(stored)
    yield from _of_subset(stored)
    yield from _of_statements(stored)
    yield from _of_proof(stored)


def _of_pool(stored: _Stored) -> Iterator[str]:
    pool, ids = stored.pool, [item.item_id for item in stored.pool.items]
    if stored.proof["pool_sha256"] != stored.pool_sha256:
        yield f"{POOL}: is not the pool that was solved"
    if ids != sorted({*ids}):
        yield "pool: the IDs are not sorted or not unique"
    if not pool.pilots:
        return
    if ((pool.scores < 0) | (pool.scores > 1)).any():
        yield "pool: scores outside 0 to 1"
    matrix = ScoreMatrix(
        tuple(ids), tuple(item.family for item in pool.items), pool.pilots, pool.scores
    )
    if pool_of_matrix(matrix, stored.config).pilots != pool.pilots:
        yield "pool: the pilots differ from the configuration's, or are in another order"


def _of_subset(stored: _Stored) -> Iterator[str]:
    programme, chosen, names = stored.programme, stored.chosen, stored.selection["chosen"]
    if names != sorted({*names}):
        yield "chosen: the IDs are not sorted or not unique"
    if strangers := {*names} - {*programme.items}:
        yield f"{len(strangers)} chosen items are not in the pool"
    if barred := int((chosen & ~programme.allowed).sum()):
        yield f"{barred} chosen items are not eligible"
    if missing := int((programme.forced & ~chosen).sum()):
        yield f"{missing} must-include items are missing"
    for row in programme.broken(chosen):
        yield f"{row.name}: {row.value(chosen)} is outside [{row.low}, {row.high}]"


def _of_statements(stored: _Stored) -> Iterator[str]:
    """What the files say of the subset, against what is so."""
    selection, programme, chosen = stored.selection, stored.programme, stored.chosen
    if {*selection} != _KEYS:
        yield f"keys: {', '.join(sorted({*selection} ^ _KEYS))} are missing or unknown"
    objective = programme.objective(chosen)
    facts = {
        "objective": objective,
        "bound": objective,
        "gap": _OPTIMAL_GAP,
        "scale": SCALE,
        "status": str(SolveStatus.OPTIMAL),
    }
    for name, fact in facts.items():
        if selection[name] != fact or type(selection[name]) is not type(fact):
            yield f"{name}: stated {selection[name]}, is {fact}"
    if selection["rows"] != [_row_record(row, chosen) for row in programme.rows]:
        yield from _of_rows(stored)
    if stored.model != _model_bytes(programme):
        yield f"{MODEL}: is not the model of this pool and configuration"


def _of_rows(stored: _Stored) -> Iterator[str]:
    rows = stored.selection["rows"]
    if len(rows) != len(stored.programme.rows):
        yield f"rows: stated {len(rows)}, are {len(stored.programme.rows)}"
    for said, row in zip(rows, stored.programme.rows, strict=False):
        fact = _row_record(row, stored.chosen)
        for name in sorted({*said, *fact}):
            if said.get(name) != fact.get(name):
                yield f"{row.name}: stated {name} {said.get(name)}, is {fact.get(name)}"


def _of_proof(stored: _Stored) -> Iterator[str]:
    """Is the subset the best one, and the only one that the tie-breaks leave?"""
    if stored.proof["method"] == Method.BRANCHING:
        yield from _solved_again(stored)
        return
    if stored.proof["method"] != Method.RELAXATION:
        yield f"proof: unknown method {stored.proof['method']!r}"
        return
    if stored.selection["unique"] is not True:
        yield f"unique: stated {stored.selection['unique']}, is True"
    programme, chosen = without_weighted(stored.programme), stored.chosen
    duals = _duals(stored.proof["duals"], programme)
    bound, objective = dual_bound(programme, duals), programme.objective(chosen)
    if bound != objective:
        yield f"proof: the duals prove at most {bound}, the subset has {objective}"
        return
    face = optimal_face(programme, duals)
    tie_bound = dual_bound(face, _duals(stored.proof["tie_duals"], face))
    if tie_bound != face.objective(chosen) or face.broken(chosen):
        yield "proof: another subset may be as good and precede this one by the tie-breaks"


def _duals(numbers: list[int], programme: Programme) -> Ints:
    """The duals of a file. Larger ones than any programme has could overflow its sums."""
    if len(numbers) != len(programme.rows) or any(
        type(number) is not int or abs(number) > _LARGEST_DUAL for number in numbers
    ):
        raise ValueError("not one whole number per row")
    return np.array(numbers, dtype=np.int64)


def _solved_again(stored: _Stored) -> Iterator[str]:
    """Where there is no proof by duals."""
    solved = select_subset(stored.pool, stored.config, stored.selection["family_weights"])
    if solved.chosen != tuple(stored.selection["chosen"]):
        best = solved.solution.objective
        yield f"proof: solved again, another subset is chosen, with the objective {best}"
    if solved.solution.proof is not None:
        yield "proof: states branching, and the optimum can be proven without it"
    elif stored.selection["unique"] is not solved.solution.unique:
        yield f"unique: stated {stored.selection['unique']}, is {solved.solution.unique}"
