"""`benchmint build --dry-run`: what would run and why. Needs Prefect's import, not its server."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from data.neutralise import one_line
from data.stage_plan import PlannedStage, Would
from flows import environment
from flows.recipe import Settings

environment.apply()

from flows.plan import plan_build  # noqa: E402  (after the environment)


def plan_and_report(settings: Settings) -> None:
    """Print each stage with what a build would do with it."""
    plan = plan_build(settings.recipe, settings.runtime)
    console = Console(highlight=False, soft_wrap=True, markup=False)
    table = Table("lane", "stage", "would", "why", box=None)
    for planned in plan:
        table.add_row(planned.lane, planned.stage, planned.would, one_line(_why(planned)))
    console.print(table)
    console.print(f"\n{_summary(plan)}")
    name = settings.snapshot_id
    exists = (settings.runtime.out / "snapshots" / name).exists()
    action = "written unless it is the same as the one there" if exists else "written"
    console.print(f"Then the release is put together, {action}, and verified: {name}")
    console.print("Nothing was written, probed or asked.")


def _why(planned: PlannedStage) -> str:
    if planned.would is Would.FOLLOW:
        return "a stage before it runs"
    if planned.would is Would.REUSE:
        return "done already" if planned.outputs == 1 else f"{planned.outputs} shards done already"
    shards = (
        f"{planned.outputs - planned.present} of {planned.outputs} shards, "
        if planned.outputs > 1
        else ""
    )
    return f"{shards}{planned.why}"


def _summary(plan: Sequence[PlannedStage]) -> str:
    counts = [sum(planned.would is would for planned in plan) for would in Would]
    reused, run, follow = counts
    summary = f"{len(plan)} stages: {reused} reused, {run} to run"
    return f"{summary}, {follow} after them" if follow else summary
