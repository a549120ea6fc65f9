"""The kept runs: one folder of Parquet files each, below `<out>/staging/`.

A run is the result of one recipe, one set of inputs, one code version and one release key. Files
that sessions mention and pages that were fetched are not listed as inputs, so their outcomes count
too: the key of a run is a digest over all of these. Building the same again makes no second run.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from data.atomic import (
    PRIVATE_FILE,
    private_dir,
    remove_leftovers,
    replacing,
    replacing_dir,
    write_bytes,
)
from data.canonical import canonical_json, digest, is_hex
from data.errors import NOT_BUILT, InputError
from data.metrics import FILE as METRICS
from data.metrics import openmetrics, samples
from data.schemas import COSTS, RUNS, SELECTION_ROWS, Table
from data.snapshot import layout
from data.snapshot.release import SnapshotRef
from data.stage_tables import CHANGED, MISSING, read_private
from data.staging.database import (
    RUN_ID,
    STAGED,
    RunTables,
    build_database,
    open_read_only,
    table_paths,
)
from data.tables import read_table, write_table

FOLDER, _DATABASE = "staging", "staging.duckdb"
_MOMENT = 0.001  # seconds
_ROW = f"{RUNS.name}.parquet"
_SELECTION = "selection.json"
_KEY_LENGTH = 12
# Private, of the newest run: what items lacked, by name, and what masking changed in requests.
NAMES_FILE, CHANGES_FILE = "missing_inputs.json", "changed_parts.json"
_LIST_RUNS = 'List the runs with `benchmint sql "FROM runs"`.'
log = logging.getLogger("benchmint.staging")


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What identifies a run: its snapshot, and what it was made from and with."""

    snapshot: str
    released: date
    recipe_digest: str
    code_version: str
    release_key_digest: str
    inputs: Mapping[str, str]
    privacy: str


@dataclass(frozen=True, slots=True)
class _StagedRun:
    """A run on disk: its row of `runs`, its folder, and the size of its files in bytes."""

    row: Mapping[str, Any]
    folder: Path
    size: int

    @property
    def run_id(self) -> str:
        return str(self.row[RUN_ID])


def stage_run(
    out: Path,
    facts: RunFacts,
    folders: Sequence[Path],
    costs: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Keep the tables of the stages in `folders` as a run, and rebuild the database.

    `costs` are the costs of models, one row for each piece of judging. Returns the run's id. A run
    that exists already is not written again, but becomes the newest one. Its metrics are written
    again, into its folder and into `out`. The caller must exclude other writers of `out`.
    """
    tables = table_paths(folders)
    run_id = f"{facts.snapshot}-{_key(facts, tables)}"
    store = out / FOLDER
    store.mkdir(parents=True, exist_ok=True)
    remove_leftovers(store)
    target = store / run_id
    if not target.is_dir():
        with replacing_dir(target) as part:
            for name, paths in tables.items():
                for number, path in enumerate(paths):
                    _keep(path, part / f"{name}-{number:04d}.parquet")
            _write_selection(part, folders)
            rows = [{name: row.get(name) for name in COSTS.schema} for row in costs]
            write_table(part / f"{COSTS.name}-0000.parquet", rows, COSTS.schema)
            _write_row(part, _row(run_id, facts))
    remove_leftovers(target)
    _write_row(target, {**_read_row(target), "built_at": _now_after(out, run_id)})
    _rebuild(out)
    _write_private(out, NAMES_FILE, read_private(folders, MISSING))
    _write_private(out, CHANGES_FILE, read_private(folders, CHANGED))
    _write_metrics(out, target)
    log.info("staged", extra={"staged_run": run_id})
    return run_id


def _now_after(out: Path, run_id: str) -> float:
    """The time, or a moment after the newest other run, where the clock was set back since."""
    others = (run.row["built_at"] or 0.0 for run in staged_runs(out) if run.run_id != run_id)
    return round(max(time.time(), max(others, default=0.0) + _MOMENT), 3)


def record_release(out: Path, run_id: str, ref: SnapshotRef, n_tasks: int) -> None:
    """Record that a run was published, as which snapshot and with which digest."""
    folder = _folder(out, run_id)
    published = {"published": ref.snapshot, "digest": ref.digest, "n_tasks": n_tasks}
    _write_row(folder, {**_read_row(folder), **published})
    _rebuild(out)
    log.info("released", extra={"staged_run": run_id, **published})


def staged_runs(out: Path) -> list[_StagedRun]:
    """The kept runs, oldest first. Other entries of the folder are ignored."""
    store = out / FOLDER
    if not store.is_dir() or store.is_symlink():
        return []
    runs = []
    for entry in os.scandir(store):
        if not entry.is_dir(follow_symlinks=False) or not _is_run_id(entry.name):
            continue
        folder = Path(entry.path)
        if (folder / _ROW).is_file():
            size = sum(file.stat().st_size for file in folder.iterdir())
            runs.append(_StagedRun(_read_row(folder), folder, size))
    return sorted(runs, key=lambda run: (run.row["built_at"] or 0.0, run.run_id))  # None: killed


def _newest_run(out: Path) -> str | None:
    """The id of the run that was staged last; None if none is kept."""
    runs = staged_runs(out)
    return runs[-1].run_id if runs else None


def metrics_of_runs(out: Path, run: str | None = None) -> str:
    """The metrics of a staged run, of all of them (`all`), or of the newest, as OpenMetrics text.

    Raises InputError if there is no such run.
    """
    known = {staged.run_id for staged in staged_runs(out)}
    if not known:
        raise InputError(str(out), "no staged run", "at least one", NOT_BUILT)
    run_id = run or _newest_run(out)
    if run_id not in (*known, "all"):
        raise InputError(f"--run {run_id}", "no such run", "the ID of a staged run", _LIST_RUNS)
    wanted = known if run_id == "all" else {run_id}
    with open_read_only(out / _DATABASE, every_run=True) as staging:
        return openmetrics(row for row in samples(staging) if row.labels["run_id"] in wanted)


def drop_runs(out: Path, run_ids: Iterable[str]) -> None:
    """Remove runs and rebuild the database without them. Raises InputError for an unknown run."""
    folders = [_folder(out, run_id) for run_id in run_ids]
    for folder in folders:
        shutil.rmtree(folder)
    _rebuild(out)


def _key(facts: RunFacts, tables: Mapping[str, Sequence[Path]]) -> str:
    """The first digits of the digest that identifies a run."""
    made_from = [facts.recipe_digest, facts.code_version, facts.release_key_digest, facts.inputs]
    seen = [
        _rows_digest(table, tables[table.name])
        for table in STAGED
        if table.name in ("ledger", "fixtures")
    ]
    return digest([made_from, seen])[:_KEY_LENGTH]


def _rows_digest(table: Table, paths: Sequence[Path]) -> str:
    """SHA-256 over the sorted rows, independent of how they were sharded."""
    rows = read_table(paths, table.schema).sort(list(table.schema), nulls_last=False)
    return hashlib.sha256(rows.write_csv(quote_style="non_numeric").encode()).hexdigest()


def _keep(source: Path, target: Path) -> None:
    """Hard-link the file, so that it survives the pruning of stages; copy it if that fails."""
    try:
        target.hardlink_to(source)
    except OSError:
        shutil.copyfile(source, target)


def _write_selection(part: Path, folders: Sequence[Path]) -> None:
    """Write the constraints of the selection as a table, if there was a selection."""
    for folder in folders:
        report = folder / _SELECTION
        if report.is_file():
            rows = orjson.loads(report.read_bytes()).get("rows", [])
            path = part / f"{SELECTION_ROWS.name}-0000.parquet"
            write_table(path, rows, SELECTION_ROWS.schema)


def _write_private(out: Path, file: str, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows about items of the newest run by the ids of the items: into the private store."""
    by_item: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_item.setdefault(row.pop("item_id"), []).append(row)
    write_bytes(private_dir(out / "private") / file, canonical_json(by_item), mode=PRIVATE_FILE)


def _write_metrics(out: Path, folder: Path) -> None:
    """Write the newest run's metrics into its folder and into `out`, where monitors read them."""
    with open_read_only(out / _DATABASE) as staging:
        text = openmetrics(samples(staging)).encode()
    for target in (folder, out):
        write_bytes(target / METRICS, text)


def _row(run_id: str, facts: RunFacts) -> dict[str, Any]:
    return {
        RUN_ID: run_id,
        "snapshot": facts.snapshot,
        "released": facts.released,
        "privacy": facts.privacy,
        "recipe_digest": facts.recipe_digest,
        "code_version": facts.code_version,
        "release_key_digest": facts.release_key_digest,
        "n_inputs": len(facts.inputs),
    }


def _write_row(folder: Path, row: Mapping[str, Any]) -> None:
    with replacing(folder / _ROW) as part:
        write_table(part, [row], RUNS.schema)


def _read_row(folder: Path) -> dict[str, Any]:
    rows = pl.read_parquet(folder / _ROW).to_dicts()
    return {name: rows[0].get(name) for name in RUNS.schema}


def _folder(out: Path, run_id: str) -> Path:
    """The folder of a run. Raises InputError unless `run_id` names one that is kept."""
    folder = out / FOLDER / run_id
    if not _is_run_id(run_id) or folder.is_symlink() or not (folder / _ROW).is_file():
        raise InputError(
            run_id,
            "no such run",
            "the ID of a staged run",
            _LIST_RUNS,
        )
    return folder


def _rebuild(out: Path) -> None:
    build_database(out / _DATABASE, [_tables_of(run) for run in staged_runs(out)])


def _tables_of(run: _StagedRun) -> RunTables:
    files: dict[str, list[Path]] = {}
    for path in sorted(run.folder.iterdir()):
        table, _, part = path.stem.rpartition("-")
        if table and part.isdecimal() and path.suffix == ".parquet":
            files.setdefault(table, []).append(path)
    return RunTables(run.row, files)


def _is_run_id(text: str) -> bool:
    snapshot, _, key = text.rpartition("-")
    return layout.snapshot_name(snapshot) is not None and is_hex(key, _KEY_LENGTH)
