"""The lane of anonymized tables, run without a server, and what a release gets of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.snapshot.release import Picture, ReleasedTable
from data.stages import Results
from flows.build_snapshot import TABLES, run_lane
from flows.prefect_adapter import without_prefect
from flows.publish import _anonymized_tables
from flows.recipe import load_settings
from flows.run import open_run
from flows.stages.tables import keep_pseudonymized, sealed


@dataclass(frozen=True, slots=True)
class TablesLane:
    """What the lane left: outputs of its stages, released tables, report, pictures, inputs."""

    folders: Sequence[Path]
    tables: Mapping[str, ReleasedTable]
    report: Mapping[str, Any]
    pictures: Mapping[str, Picture]
    identifiers: Sequence[str]
    inputs: Mapping[str, str]
    sealed: bool


def run_tables_lane(runtime: Mapping[str, Any], tables: Mapping[str, Any]) -> TablesLane | None:
    """Run the lane with these sections; None where it has nothing to do."""
    settings = load_settings(None, {"runtime": runtime, "tables": tables}, {})
    run, results = open_run(settings.recipe, settings.runtime), Results()
    with without_prefect():
        run_lane(run, TABLES, results)
    if not results.outputs:
        return None
    for folder in results.outputs["anonymize-tables"]:
        keep_pseudonymized(run, folder)
    made = _anonymized_tables(run, results)
    assert made.report is not None
    return TablesLane(
        results.folders,
        made.released,
        made.report,
        made.pictures,
        made.identifiers,
        results.inputs,
        sealed(run) is not None,
    )
