"""The flows as deployments run them: parameters are plain JSON, errors decide about retries.

`prefect.yaml` deploys them; `build_snapshot.serve(...)` serves one without a worker.
"""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import httpx
from prefect import flow, get_client, get_run_logger
from prefect.client.schemas.objects import FlowRunPolicy, State
from prefect.context import FlowRunContext
from prefect.runtime import deployment, flow_run
from prefect.states import Completed

from construction.signals.collect import capture_registry
from construction.signals.mixture import CHART, DRIFT, REPORT, mixture_report
from construction.workflows.candidate_ideas import IDEAS_FILE
from data.attempts import TABLES_FOLDER
from data.builds import RUN_SECONDS, BuildRunning, building
from data.errors import BenchmintError
from data.stages import Results
from flows import build_snapshot as pipeline
from flows.prefect_adapter import name_run
from flows.recipe import Settings, load_settings
from flows.run import open_run
from flows.source import with_signals, with_snapshots, with_source

if TYPE_CHECKING:
    from flows.evaluate.plan import Request

_RETRIES = 2
_RETRY_SECONDS = 30
_SCHEDULED = "scheduled"
_CAPTURES = "captures"


def _due() -> dt.date:
    """The day the run was due, which a retry and a resumed run share."""
    due: dt.datetime = flow_run.get_scheduled_start_time()
    return due.astimezone(dt.UTC).date()


def _first_name() -> str:
    """The name of a run until its snapshot is known, which wrong settings may prevent."""
    return f"{deployment.get_name() or flow_run.get_flow_name()} of {_due()}"


@flow(
    name="build-snapshot",
    flow_run_name=_first_name,
    retries=_RETRIES,
    retry_delay_seconds=_RETRY_SECONDS,
)
def build_snapshot(
    config: str | None = None,
    out: str | None = None,
    sessions: list[str] = [],  # noqa: B006  (never changed; Prefect shows the default)
    files: list[str] = [],  # noqa: B006
    signals: list[str] = [],  # noqa: B006
    release_date: str | None = None,
    workers: int | None = None,
    revision: bool = False,
    signals_alone: bool = False,
    wait_seconds: float = RUN_SECONDS,
    overrides: dict[str, Any] = {},  # noqa: B006
) -> State[None]:
    """Build, verify and publish one snapshot; a run that was cut off goes on where it was.

    Args:
        config: Configuration (TOML); none: all defaults. Paths count from the project's folder.
        out: Where to build; none: as configured, else `workspace`.
        sessions: Session logs or folders of them; none here or configured: the demo.
        files: Folders that the sessions' files lie in.
        signals: Popularity snapshots or folders of them, such as the captures of a refresh.
        release_date: YYYY-MM-DD, or `scheduled` for the day the run was due (UTC).
        workers: Processes for the sharded stages.
        revision: Write -r2, -r3, … if the name is taken by another digest.
        signals_alone: Workflow tasks from the signals and nothing else; no demo either.
        wait_seconds: How long to wait for another build into the same place.
        overrides: Configuration by section as in the TOML, over file and environment.
    """
    given = {
        "out": out,
        "sessions": sessions,
        "files": files,
        "signals": [path for path in signals if Path(path).exists()],
        "workers": workers,
        "revision": revision,
    }
    try:
        settings = _dated(_settings(config, given, overrides), release_date)
        message = _build(settings, wait_seconds, signals_alone=signals_alone)
    except Exception as error:
        _decide_about_retries(error)
        raise
    return Completed(message=message)


def _build(settings: Settings, wait_seconds: float, *, signals_alone: bool) -> str:
    """Build a snapshot; a line for the run's page."""
    lanes = (pipeline.WORKFLOWS_ALONE, with_signals) if signals_alone else ()
    with building(settings.runtime.out, wait_seconds):
        built = pipeline.build(settings.recipe, settings.runtime, *lanes)
    state = "written" if built.snapshot.written else "unchanged"
    summary = f"{built.tasks} tasks in {built.snapshot.path} ({state}, verified), "
    return f"{summary}digest {built.snapshot.digest}"


@flow(
    name="refresh-signals",
    flow_run_name=_first_name,
    retries=_RETRIES,
    retry_delay_seconds=_RETRY_SECONDS,
)
def refresh_signals(
    config: str | None = None,
    out: str | None = None,
    signals: list[str] = [],  # noqa: B006
    registry: str | None = None,
    date: str | None = None,
    wait_seconds: float = RUN_SECONDS,
    overrides: dict[str, Any] = {},  # noqa: B006
) -> State[None]:
    """Capture the registry if one is named or configured, and weigh all snapshots anew.

    Args:
        config: Configuration (TOML); none: all defaults. Paths count from the project's folder.
        out: Where to write; none: as configured, else `workspace`.
        signals: Snapshots besides the captures, or folders of them; none of either: the demo's.
        registry: Base URL of a registry to capture into OUT/captures first; none: as configured.
        date: YYYY-MM-DD of the capture; none: the day the run was due (UTC).
        wait_seconds: How long to wait for a build into the same place.
        overrides: Configuration by section as in the TOML, over file and environment.
    """
    try:
        settings = _settings(config, {"out": out}, overrides)
        day = dt.date.fromisoformat(date) if date else _due()
        message = _refresh(settings, signals, registry, day, wait_seconds)
    except Exception as error:
        _decide_about_retries(error)
        raise
    return Completed(message=message)


def _refresh(
    settings: Settings, signals: list[str], registry: str | None, day: dt.date, wait_seconds: float
) -> str:
    """Capture and weigh; a line for the run's page."""
    recipe, runtime = settings.recipe, settings.runtime
    captures = runtime.out / _CAPTURES
    with building(runtime.out, wait_seconds):
        if address := registry or runtime.registry.base_url:
            capture_registry(address, runtime.registry, recipe.signals, captures, day)
        given = (*runtime.signals, *filter(Path.exists, [*map(Path, signals), captures]))
        runtime = with_snapshots(recipe, runtime.model_copy(update={"signals": given}))
        if not runtime.signals:
            recipe, runtime, _ = with_source(recipe, runtime)
        run, results = open_run(recipe, runtime), Results()
        pipeline.run_lane(run, pipeline.SIGNALS, results)
        newest = mixture_report(_hand_over(results, runtime.out))["date"]
    return f"{len(runtime.signals)} snapshots, the newest from {newest}: {runtime.out / REPORT}"


@flow(
    name="refresh-and-build",
    flow_run_name=_first_name,
    retries=_RETRIES,
    retry_delay_seconds=_RETRY_SECONDS,
)
def refresh_and_build(
    config: str | None = None,
    out: str | None = None,
    registry: str | None = None,
    date: str | None = None,
    wait_seconds: float = RUN_SECONDS,
    overrides: dict[str, Any] = {},  # noqa: B006
) -> State[None]:
    """Refresh the signals, then build the release of the day from all captures.

    Without sessions, statements, tables or an environment it has workflow tasks alone.

    Args:
        config: Configuration (TOML); none: all defaults. Paths count from the project's folder.
        out: Where to write; none: as configured, else `workspace`.
        registry: Base URL of a registry; none: as configured.
        date: YYYY-MM-DD of capture and release; none: the day the run was due (UTC).
        wait_seconds: How long to wait for a build into the same place.
        overrides: Configuration by section as in the TOML, over file and environment.
    """
    try:
        settings = _settings(config, {"out": out}, overrides)
        day = dt.date.fromisoformat(date) if date else _due()
        refreshed = _refresh(settings, [], registry, day, wait_seconds)
        runtime = settings.runtime
        signals = (*runtime.signals, *filter(Path.exists, [runtime.out / _CAPTURES]))
        runtime = runtime.model_copy(update={"signals": signals})
        dated = settings.model_copy(update={"runtime": runtime}).released(day)
        built = _build(dated, wait_seconds, signals_alone=not runtime.has_input)
    except Exception as error:
        _decide_about_retries(error)
        raise
    return Completed(message=f"{refreshed}; {built}")


def _hand_over(results: Results, out: Path) -> Path:
    """Copy what people read to `out`; returns the folder of the mixture."""
    (mixture,), (ideas,) = results.outputs.values()
    for path in (mixture / REPORT, mixture / CHART, mixture / DRIFT, ideas / IDEAS_FILE):
        shutil.copyfile(path, out / path.name)
    return mixture


@flow(
    name="evaluate-snapshot",
    flow_run_name=_first_name,
    retries=_RETRIES,
    retry_delay_seconds=_RETRY_SECONDS,
)
def evaluate_snapshot(
    snapshot: str | None = None,
    out: str = "attempts",
    agents: list[str] = [],  # noqa: B006
    models: list[str] = [],  # noqa: B006
    base_url: str | None = None,
    epochs: int = 1,
    task: list[str] = [],  # noqa: B006
    overrides: dict[str, Any] = {},  # noqa: B006
) -> State[None]:
    """Run agents on a release and grade them; what is done already is not run again.

    Args:
        snapshot: The release; none: the newest of `workspace`.
        out: Where to write the attempts.
        agents: Agents without a model, as in `benchmint evaluate`.
        models: Models for Inspect's own agent, as provider/model. None of either: the controls.
        base_url: Address of an OpenAI-compatible server.
        epochs: Attempts at each task.
        task: Only these tasks; none: all.
        overrides: More options of `benchmint evaluate`, by their names with underscores.
    """
    from flows.evaluate.plan import requests_of

    folder = Path(snapshot or "workspace/snapshots/latest")
    common = {"out": Path(out), "base_url": base_url, "epochs": epochs, "task": tuple(task)}
    try:
        requests = requests_of(folder, agents, models, {**common, **overrides})
        name_run(f"{folder.resolve().name}: evaluate-snapshot")
        lines = [_evaluated(request) for request in requests]
    except Exception as error:
        _decide_about_retries(error)
        raise
    return Completed(message="; ".join(lines))


def _evaluated(request: Request) -> str:
    """Run one agent and grade it; a line for the run's page."""
    from flows.evaluate.grading import grade_folder
    from flows.evaluate.plan import plan_of
    from flows.evaluate.run import evaluate

    ended = evaluate(plan_of(request))
    if ended.done:
        grade_folder(request.snapshot, ended.folder, ended.folder / TABLES_FOLDER)
    line = f"{request.title}: {ended.done} of {ended.wanted} attempts"
    if FlowRunContext.get() is not None:
        get_run_logger().info(line)
    return line


def _is_worth_retrying(error: BaseException) -> bool:
    """May the same run succeed in a while? Disks and networks may; input and code do not change."""
    if isinstance(error, BenchmintError):
        return isinstance(error, BuildRunning)
    return isinstance(error, OSError | httpx.TransportError)


def _decide_about_retries(error: BaseException) -> None:
    """Take the retries from the run where they cannot help: Prefect retries on any error."""
    run_id = flow_run.get_id()
    if run_id is None or _is_worth_retrying(error):
        return
    with get_client(sync_client=True) as client:
        client.update_flow_run(UUID(run_id), empirical_policy=FlowRunPolicy(retries=0))


def _settings(config: str | None, given: dict[str, Any], overrides: dict[str, Any]) -> Settings:
    """The configuration with the run's parameters on top; `given` are those of the runtime."""
    given_values = {name: value for name, value in given.items() if value not in (None, [], False)}
    runtime = {"quiet": True, **overrides.get("runtime", {}), **given_values}
    return load_settings(Path(config) if config else None, {**overrides, "runtime": runtime})


def _dated(settings: Settings, release_date: str | None) -> Settings:
    """With the date that was given; real input without any is released as of the run's day."""
    if release_date is None:
        return settings.dated(_due())
    due = release_date == _SCHEDULED
    return settings.released(_due() if due else dt.date.fromisoformat(release_date))
