"""`benchmint metrics`: what kept runs did and took, as OpenMetrics text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from data.errors import InputError
from data.metrics import openmetrics, samples
from data.staging import newest_run, open_read_only, staged_runs


def command(
    out: Annotated[Path, typer.Option(help="The directory that was built into.")] = Path(
        "workspace"
    ),
    run: Annotated[
        str | None, typer.Option(help="Id of a staged run, or `all`; default: the newest.")
    ] = None,
) -> None:
    """Print items, seconds, bytes and cost of each stage for a monitor to read."""
    wanted = _wanted(out, run)
    with open_read_only(out / "staging.duckdb", every_run=True) as staging:
        rows = [row for row in samples(staging) if row.labels["run_id"] in wanted]
    print(openmetrics(rows), end="")


def _wanted(out: Path, run: str | None) -> set[str]:
    known = {staged.run_id for staged in staged_runs(out)}
    if not known:
        raise InputError(str(out), "no staged run", "at least one", "Run `benchmint build` first.")
    if run == "all":
        return known
    run_id = run or newest_run(out)
    if run_id not in known:
        raise InputError(
            f"--run {run_id}",
            "no such run",
            "the id of one",
            'List the runs with `benchmint sql "FROM runs"`.',
        )
    return {run_id}
