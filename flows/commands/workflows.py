"""Workflow tasks by themselves: `workflows`."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.commands.options import Config, Key, WriteTo, given

if TYPE_CHECKING:
    from flows.build_snapshot import Built


def workflows_command(
    signals: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Popularity snapshots, with the date in each name; default: the demo's."
        ),
    ] = None,
    tasks: Annotated[
        int | None, typer.Option(min=1, help="Number of tasks to release from the pool.")
    ] = None,
    drafts: Annotated[
        int | None, typer.Option(min=1, help="Number of drafts to make and screen.")
    ] = None,
    per_generator: Annotated[
        int | None, typer.Option(min=1, help="Maximum drafts per scenario.")
    ] = None,
    author: Annotated[
        int | None, typer.Option(min=1, help="Number of ideas for a model to write scenarios for.")
    ] = None,
    proposals: Annotated[
        Path | None,
        typer.Option(help="Proposed tasks, one JSON object per line; screened like the others."),
    ] = None,
    check: Annotated[
        list[Path] | None,
        typer.Option(help="Only screen these scenario documents; release nothing."),
    ] = None,
    build_only: Annotated[
        bool,
        typer.Option("--build-only", help="With --check: build the drafts but do not screen them."),
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes for the sharded stages.")
    ] = None,
    config: Config = None,
    key: Key = None,
    out: WriteTo = Path("workflows"),
) -> None:
    """Write a release of workflow tasks only; print what became of the drafts."""
    if check:
        raise typer.Exit(_check(check, screens=not build_only))
    runtime = given(signals=signals, key_file=key, workers=workers, out=out, proposals=proposals)
    sections = {
        "workflows": given(drafts=drafts, per_generator=per_generator, authored=author),
        "selection": given(max_tasks=tasks),
    }
    _build(config, {"runtime": runtime} | {k: v for k, v in sections.items() if v})


def _check(paths: Sequence[Path], *, screens: bool) -> int:
    """Print what screening finds in documents; 1 if it finds a fault."""
    from construction.workflows.documents.check import check_lines
    from construction.workflows.screening import ScreeningConfig
    from data.builds import require_there
    from data.neutralise import one_line

    require_there(paths)
    is_faulty = False
    for path in paths:
        for line in check_lines(path, ScreeningConfig(), screens=screens):
            is_faulty |= line.startswith("fault: ")
            print(f"{path.stem}: {one_line(line)}", flush=True)
    return int(is_faulty)


def _build(config: Path | None, overrides: dict[str, Any]) -> None:
    from construction.workflows.pool import proposal_lines
    from data.builds import building, require_there
    from data.neutralise import one_line
    from data.progress import console
    from flows.build_snapshot import WORKFLOWS_ALONE, build
    from flows.prefect_adapter import without_prefect
    from flows.recipe import load_settings
    from flows.source import with_signals

    started = time.perf_counter()
    settings = load_settings(config, overrides).dated(dt.datetime.now(dt.UTC).date())
    if (path := settings.runtime.proposals) is not None:
        require_there([path])
        for line in proposal_lines(path, settings.recipe.workflows.screening):
            print(one_line(line))
    console.print("starting …")
    with building(settings.runtime.out), without_prefect():
        built = build(settings.recipe, settings.runtime, WORKFLOWS_ALONE, with_signals)
    _print(built, time.perf_counter() - started)


def _print(built: Built, seconds: float) -> None:
    """The funnel, what no scenario serves, the families, and where the release is."""
    from data.reasons import ReasonWords
    from data.staging.print import print_funnel
    from flows.gates import GATES
    from flows.stages.workflows import released_lines

    print_funnel(built.staging, ReasonWords.of(GATES))
    print("\n".join(released_lines(built.snapshot.path)))
    print(f"{built.tasks} tasks in {built.snapshot.path} (verified, {seconds:.0f} s)")
    print(f"digest {built.snapshot.digest}")
