"""The part of `benchmint build` that needs Prefect, kept apart because its import takes seconds."""

from __future__ import annotations

import time

from rich.console import Console
from rich.table import Table

from data import progress
from data.logs import tell_stages
from data.staging.audit import funnel
from flows import environment
from flows.recipe import Settings

environment.apply()

from flows.build_lock import taking_turns  # noqa: E402
from flows.build_snapshot import Built, build_snapshot  # noqa: E402  (after the environment)


def build_and_report(settings: Settings, started: float) -> None:
    """Run the flow and print the closing summary."""
    if not settings.runtime.quiet:
        progress.console.print("starting …")
        tell_stages()
    with taking_turns(settings.runtime.out):
        built: Built = build_snapshot(settings.recipe, settings.runtime)
    if not settings.runtime.quiet:
        _report(built, started)


def _report(built: Built, started: float) -> None:
    console = Console(highlight=False, soft_wrap=True, markup=False)
    table = Table("stage", "unit", "in", "passed", "rejected", "errored", box=None)
    for row in funnel(built.staging):
        cells = ("stage", "unit", "n_in", "passed", "rejected", "errored")
        table.add_row(*(str(row[name]) for name in cells))
    console.print(table)
    total, waited = time.perf_counter() - started, built.flow_started - started
    state = "written" if built.snapshot.written else "unchanged"
    console.print(f"\n{built.tasks} tasks in {built.snapshot.path} ({state}, verified)")
    console.print(f"digest {built.snapshot.digest}")
    console.print(f"{total:.1f} s, {waited:.1f} s of it until Prefect had started")
    console.print("why was something rejected?  benchmint audit --out", built.staging.parent)
