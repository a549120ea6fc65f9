"""`benchmint build --dry-run`: what would run and why. Needs Prefect's import, not its server."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from data.snapshot.neutralise import one_line
from flows import environment
from flows.recipe import Settings

environment.apply()

from flows.plan import PlannedStage, Would, plan_build  # noqa: E402  (after the environment)


def plan_and_report(settings: Settings) -> None:
    """Print each stage with what a build would do with it."""
    plan = plan_build(settings.recipe, settings.runtime)
    console = Console(highlight=False, soft_wrap=True, markup=False)
    table = Table("lane", "stage", "would", "why", box=None)
    for one in plan:
        table.add_row(one.lane, one.stage, one.would, one_line(_why(one)))
    console.print(table)
    console.print(f"\n{_summary(plan)}")
    name = settings.snapshot_id
    there = (settings.runtime.out / "snapshots" / name).exists()
    then = "written unless it is the same as the one there" if there else "written"
    console.print(f"Then the release is put together, {then}, and verified: {name}")
    console.print("Nothing was written, probed or asked.")


def _why(one: PlannedStage) -> str:
    if one.would is Would.FOLLOW:
        return "a stage before it runs"
    if one.would is Would.REUSE:
        return "done already" if one.outputs == 1 else f"{one.outputs} shards done already"
    shards = f"{one.outputs - one.there} of {one.outputs} shards, " if one.outputs > 1 else ""
    return f"{shards}{one.why}"


def _summary(plan: Sequence[PlannedStage]) -> str:
    counts = [sum(one.would is would for one in plan) for would in Would]
    reused, run, follow = counts
    told = f"{len(plan)} stages: {reused} reused, {run} to run"
    return f"{told}, {follow} after them" if follow else told
