"""The files of a selection, and a check of them without a solver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl
from pydantic import ValidationError

from data.atomic import replacing, write_bytes
from data.canonical import pretty_json
from data.errors import InputError
from selection.config import SelectionConfig
from selection.constraints import programme_of
from selection.model import write_model
from selection.pool import Pool, PoolItem, eligible, pool_of_matrix
from selection.programme import SCALE, Programme, Row
from selection.scores import ScoreMatrix
from selection.select import Selected, select_subset

SELECTION, BLOCKERS, POOL, MODEL = "selection.json", "blockers.json", "pool.parquet", "model.lp"
_PILOT = "pilot:"


def write_selection(
    out: Path,
    pool: Pool,
    config: SelectionConfig,
    selected: Selected,
    family_weights: Mapping[str, float] | None = None,
) -> None:
    """Write `selection.json` (or `blockers.json`), the pool it was made from, and the model."""
    out.mkdir(parents=True, exist_ok=True)
    _write_pool(out / POOL, pool)
    with replacing(out / MODEL) as part:
        lp = part.with_suffix(".lp")
        write_model(selected.programme, lp)
        lp.replace(part)
    current, outdated = (
        (SELECTION, BLOCKERS) if selected.chosen is not None else (BLOCKERS, SELECTION)
    )
    (out / outdated).unlink(missing_ok=True)
    write_bytes(out / current, pretty_json(describe(config, selected, family_weights)))


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
        "gap": 0,
        "scale": SCALE,
        "unique": solution.unique,
        "rows": [_row(row, solution.chosen) for row in programme.rows],
    }


def _row(row: Row, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> dict[str, Any]:
    return {
        "name": row.name,
        "kind": str(row.kind),
        "low": row.low,
        "high": row.high,
        "value": row.value(chosen),
        "price": row.price,
        "excess": row.excess(chosen),
    }


def check_selection(out: Path) -> tuple[str, ...]:
    """Recompute objective and rows from the stored pool; returns what does not agree.

    Raises InputError if the files are missing or not those of a selection.
    """
    path = out / SELECTION
    try:
        stored = orjson.loads(path.read_bytes())
        config = SelectionConfig.model_validate(stored["config"])
        pool = _read_pool(out / POOL, config)
        chosen_ids, rows = set(stored["chosen"]), {row["name"]: row for row in stored["rows"]}
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        raise InputError(
            str(out), f"no readable selection ({type(error).__name__})", SELECTION, "Check it."
        ) from None
    programme = programme_of(pool, config, stored["family_weights"])
    return tuple(_disagreements(programme, stored, chosen_ids, rows))


def _disagreements(
    programme: Programme, stored: dict[str, Any], chosen_ids: set[str], rows: dict[str, Any]
) -> list[str]:
    chosen = np.array([item in chosen_ids for item in programme.items], dtype=bool)
    issues = []
    strangers = chosen_ids - set(programme.items)
    if strangers:
        issues.append(f"{len(strangers)} chosen items are not in the pool")
    if (chosen & ~programme.allowed).any():
        issues.append(f"{int((chosen & ~programme.allowed).sum())} chosen items are not eligible")
    if (programme.forced & ~chosen).any():
        issues.append(f"{int((programme.forced & ~chosen).sum())} must-include items are missing")
    issues += [
        f"{row.name}: {row.value(chosen)} is outside [{row.low}, {row.high}]"
        for row in programme.broken(chosen)
    ]
    issues += [
        f"{row.name}: stated {rows.get(row.name, {}).get('value')}, is {row.value(chosen)}"
        for row in programme.rows
        if rows.get(row.name, {}).get("value") != row.value(chosen)
    ]
    if programme.objective(chosen) != stored["objective"]:
        issues.append(f"objective: stated {stored['objective']}, is {programme.objective(chosen)}")
    return issues


def _write_pool(path: Path, pool: Pool) -> None:
    frame = pl.DataFrame([asdict(item) for item in pool.items], infer_schema_length=None)
    scores = [
        pl.Series(f"{_PILOT}{name}", pool.scores[:, column])
        for column, name in enumerate(pool.pilots)
    ]
    with replacing(path) as part:
        frame.with_columns(scores).write_parquet(part)


def _read_pool(path: Path, config: SelectionConfig) -> Pool:
    frame = pl.read_parquet(path)
    pilots = [name for name in frame.columns if name.startswith(_PILOT)]
    items = tuple(PoolItem(**row) for row in frame.drop(pilots).iter_rows(named=True))
    scores = frame.select(pilots).to_numpy() if pilots else np.zeros((frame.height, 0))
    able = eligible(scores, config) if pilots else np.ones(frame.height, dtype=bool)
    names = tuple(name.removeprefix(_PILOT) for name in pilots)
    return Pool(items, names, scores, able)


def select_from_matrix(
    matrix: ScoreMatrix, config: SelectionConfig, out: Path, *, quality: bool
) -> Selected:
    """Select from a score matrix and write the result, with its quality against the pool if asked.

    Quality is measured where a subset was chosen and there are two pilots at least.
    """
    pool = pool_of_matrix(matrix, config)
    selected = select_subset(pool, config)
    write_selection(out, pool, config, selected)
    chosen = selected.solution.chosen
    if quality and selected.chosen is not None and chosen is not None and len(pool.pilots) > 1:
        # SciPy's statistics take a second to import: other commands do not wait for them.
        from selection.quality import measure_quality
        from selection.quality_report import write_quality

        write_quality(out, measure_quality(pool, config, selected.programme, chosen))
    return selected


def selection_lines(selected: Selected, items: int, out: Path) -> Iterator[str]:
    """What was chosen of how many items, or a line per blocker, in lines for a person."""
    solution = selected.solution
    if selected.chosen is None:
        for blocker in selected.blockers:
            yield f"blocked: {blocker.text}. Way out: {blocker.relaxation}."
        return
    yield (
        f"{len(selected.chosen)} of {items} items in {out}: objective {solution.objective}, "
        f"bound {solution.bound}, {solution.solver}, {solution.method}"
    )
