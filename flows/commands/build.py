"""`benchmint build`: session logs in, a verified snapshot out.

Most modules are imported only when needed, because importing all of them takes seconds.
"""

from __future__ import annotations

import datetime as dt
import os
import shlex
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from data.builds import PUBLISHED, building
from data.contracts import SourceFormat
from data.errors import InputError
from flows.commands.table import Config, Edinet, Key, PrivateValues, Reviewed, Sec, Xbrl, given
from flows.server import leads_to_server, own_server

if TYPE_CHECKING:
    from data.stages import PlannedStage
    from flows.build_snapshot import Built
    from flows.plan import Plan
    from flows.recipe import Runtime, Settings


def build_command(
    sessions: Annotated[
        list[Path] | None,
        typer.Argument(help="Session logs or folders of logs; if omitted, the demo is built."),
    ] = None,
    files: Annotated[
        list[Path] | None,
        typer.Option(help="Folder with the sessions' input files; repeatable."),
    ] = None,
    repos: Annotated[
        list[Path] | None,
        typer.Option(help="Folder with clones or bundles of repositories that the sessions edit."),
    ] = None,
    config: Config = None,
    out: Annotated[Path | None, typer.Option(help="Build directory.")] = None,
    sec: Sec = None,
    edinet: Edinet = None,
    xbrl: Xbrl = None,
    tables: Annotated[
        list[Path] | None,
        typer.Option(
            help="Tables to anonymize as declared in [tables]: files or folders; repeatable."
        ),
    ] = None,
    environment: Annotated[
        list[Path] | None,
        typer.Option(help="Environment declaration for analytics tasks (TOML); one only."),
    ] = None,
    environment_files: Annotated[
        Path | None,
        typer.Option(help="Folder with the environment's files; default: the declaration's."),
    ] = None,
    scores: Annotated[
        Path | None, typer.Option(help="Pilot scores by task ID: item,family,model,score.")
    ] = None,
    last: Annotated[
        Path | None, typer.Option(help="Previous release, to which max_changed applies.")
    ] = None,
    format: Annotated[
        SourceFormat | None, typer.Option(help="Read every file in this format.")
    ] = None,
    key: Key = None,
    workers: Annotated[
        int | None, typer.Option(help="Number of processes for the sharded stages.")
    ] = None,
    runner: Annotated[
        str | None, typer.Option(help="What runs the shards: processes, dask or ray.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Address of a running Dask or Ray cluster.")
    ] = None,
    shared: Annotated[
        str | None,
        typer.Option(help="Storage for a cluster that cannot see --out: s3://…, file:///…"),
    ] = None,
    approvals: Annotated[
        Path | None,
        typer.Option(
            help="Approved images and PDFs: one SHA-256 per line, followed by the approver."
        ),
    ] = None,
    private_values: PrivateValues = None,
    reviewed: Reviewed = None,
    tripwires: Annotated[
        Path | None,
        typer.Option(help="File of planted values that must not be in the release, one per line."),
    ] = None,
    revision: Annotated[
        bool,
        typer.Option(help="Add -r2, -r3, … if the name is taken by a different release."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would run and why; write nothing.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress bars and no summary.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Log each stage as it runs.")
    ] = False,
) -> None:
    """Build and verify a release, and print where it is and what was rejected."""
    started = time.perf_counter()
    lists = given(
        sessions=sessions,
        files=files,
        repos=repos,
        sec=sec,
        edinet=edinet,
        xbrl=xbrl,
        tables=tables,
    )
    single = given(
        environment=_only_one(environment or []),
        environment_files=environment_files,
        scores=scores,
        last_release=last,
        out=out,
        key_file=key,
        workers=workers,
        runner=runner,
        cluster=cluster,
        shared=shared,
        approvals=approvals,
        private_values=private_values,
        reviewed=reviewed,
        tripwires=tripwires,
        revision=revision or None,
        quiet=quiet or None,
    )
    overrides: dict[str, Any] = {"runtime": lists | single}
    if format is not None:
        overrides["source"] = {"format": format}
    if not quiet:
        _say_what_is_missing(config, overrides)
    if dry_run:
        print_plan(checked_settings(config, overrides))
        return
    settings = checked_settings(config, overrides)
    if verbose:
        from data.progress import tell_all

        tell_all()
    with building(settings.runtime.out):
        if not leads_to_server() and _is_reported_unchanged(settings, started):
            return
        with own_server():
            _build_and_report(settings, started)


def _say_what_is_missing(config: Path | None, overrides: dict[str, Any]) -> None:
    from data.configuration import merge, read_layers
    from flows.surroundings import say_what_is_missing

    values = read_layers(config, os.environ)
    merge(values, overrides)
    say_what_is_missing(values)


def _only_one(environments: list[Path]) -> Path | None:
    """The environment of a release. Raises InputError for a second one."""
    if len(environments) > 1:
        expected, todo = "one environment per release", "Build a separate release for each."
        raise InputError(str(environments[1]), "a second environment", expected, todo)
    return environments[0] if environments else None


def checked_settings(config: Path | None, overrides: dict[str, Any]) -> Settings:
    """The configuration, whose input is there, apart from the output, and complete."""
    from flows.recipe import load_settings
    from flows.source import require_input

    settings = load_settings(config, overrides).dated(dt.datetime.now(dt.UTC).date())
    require_input(settings.runtime)
    return settings


def _is_reported_unchanged(settings: Settings, started: float) -> bool:
    """Report the release that is there, if nothing is to do: a server takes longer to start.

    A first build asks for nothing that is there, and imports its flows while its server starts.
    """
    if not (settings.runtime.out / "private" / PUBLISHED).is_file():
        return False
    from flows.plan import kept_build

    built = kept_build(settings.recipe, settings.runtime)
    if built is None:
        return False
    if not settings.runtime.quiet:
        print_built(built)
        seconds = time.perf_counter() - started
        print(f"{seconds:.1f} s: nothing to do, so Prefect was not started")
        _print_next(built, settings.runtime)
    return True


def _build_and_report(settings: Settings, started: float) -> None:
    """Run the flow and print the closing summary."""
    from data.errors import NothingReleasedError
    from data.progress import console, tell_stages, underway
    from data.reasons import ReasonWords
    from data.staging.print import print_no_release
    from flows.build_snapshot import build_snapshot
    from flows.gates import GATES

    loud = not settings.runtime.quiet
    if loud:
        console.print("starting …")
        tell_stages()
    with underway("build"):
        try:
            built = build_snapshot(settings.recipe, settings.runtime)
        except NothingReleasedError as nothing:
            print_no_release(nothing.staging, ReasonWords.of(GATES))
            raise typer.Exit(1) from nothing
    if loud:
        print_built(built)
        total, waited = time.perf_counter() - started, built.flow_started - started
        print(f"{total:.1f} s, including {waited:.1f} s until Prefect had started")
        _print_next(built, settings.runtime)


def print_built(built: Built) -> None:
    """Print the funnel of a build, and what it released."""
    from data.reasons import ReasonWords
    from data.staging.print import print_funnel
    from flows.gates import GATES

    print_funnel(built.staging, ReasonWords.of(GATES))
    state = "written" if built.snapshot.written else "unchanged"
    print(f"\n{built.tasks} tasks in {built.snapshot.path} ({state}, verified)")
    print(f"digest {built.snapshot.digest}")
    if built.replayed:
        print(built.replayed)


def _print_next(built: Built, runtime: Runtime) -> None:
    """Print what is worth seeing next: the report, a task, why something was rejected, a board."""
    from construction.sandbox.presence import sandbox_problem
    from data.errors import program

    out = shlex.quote(str(runtime.out))
    latest = f"{out}/snapshots/latest"
    tasks = sorted(path.name for path in (built.snapshot.path / "public" / "tasks").iterdir())
    if runtime.out == Path("workspace"):
        board = "make leaderboard"
    else:
        board = f"{program()} evaluate {latest} --agent null --out {out}/attempts"
    if sandbox_problem() is not None:
        board = f"make system && {board}"
    print(f"report          {latest}/public/audit/report.html")
    print(f"first task      {latest}/public/tasks/{tasks[0]}/instruction.md")
    print(f"rejections      {program()} audit --out {out}")
    print(f"run an agent    {board}")


def print_plan(settings: Settings) -> None:
    """Print each log as it is read, and each stage with what a build would do. Starts no server."""
    from data.staging.print import print_table
    from flows import surroundings

    surroundings.set_prefect_up()  # before Prefect is imported
    from flows.plan import plan_build

    plan = plan_build(settings.recipe, settings.runtime)
    if settings.runtime.sessions:
        from construction.sessions.stages import LOG_HEAD, log_rows

        print_table(LOG_HEAD, log_rows(settings.runtime.sessions, settings.recipe.source.format))
        print()
    cells = ((row.lane, row.stage, row.would, _why(row)) for row in plan.stages)
    print_table(("lane", "stage", "would", "why"), cells)
    print(f"\n{_summary(plan.stages)}")
    if plan.forecasts or plan.unknown:
        print("\nQuestions to models (an unusable reply is requested once more):\n")
        head = ("questions", "model", "calls", "prompt tokens", "reply tokens", "cost")
        print_table(head, _costs(plan))
    if plan.unknown:
        print(
            "\nThe unknown figures depend on earlier stages. To compute those stages at no cost, "
            "build with BENCHMINT_RUNTIME__MODEL_CALLS__MODE=replay."
        )
    name = settings.snapshot_id
    exists = (settings.runtime.out / "snapshots" / name).exists()
    action = "written unless identical to the existing one" if exists else "written"
    print(f"Then the release is assembled, {action}, and verified: {name}")
    print("Nothing was written, no URL was probed and no model was called.")


def _costs(plan: Plan) -> Iterator[tuple[object, ...]]:
    """What each kind of question would cost; prompts are estimated, replies as long as they may.

    How many programs have to be mended is known once they were tried: at most all of them.
    """
    from construction.judging.settings import MEND

    for row in plan.forecasts:
        usage = row.usage
        tokens = (f"about {usage.prompt_tokens:,}", f"at most {usage.completion_tokens:,}")
        cost = f"at most {row.cost:,.2f}" if row.cost else "no prices set"
        calls = f"at most {row.calls:,}" if row.stage == MEND else f"{row.calls:,}"
        yield row.stage, row.model, calls, *tokens, cost
    for stage in plan.unknown:
        yield stage, "", "unknown", "unknown", "unknown", "depends on an earlier stage"


def _why(planned: PlannedStage) -> str:
    from data.stages import Would

    if planned.would is Would.FOLLOW:
        return "depends on an earlier stage"
    if planned.would is Would.REUSE:
        return "already done" if planned.outputs == 1 else f"{planned.outputs} shards already done"
    missing = f"{planned.outputs - planned.present} of {planned.outputs} shards, "
    return f"{missing if planned.outputs > 1 else ''}{planned.why}"


def _summary(plan: Sequence[PlannedStage]) -> str:
    from data.stages import Would

    reused, run, follow = (sum(planned.would is would for planned in plan) for would in Would)
    summary = f"{len(plan)} stages: {reused} reused, {run} to run"
    return f"{summary}, {follow} that depend on them" if follow else summary
