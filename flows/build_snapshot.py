"""The whole pipeline on one screen: from raw input to a verified snapshot."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from anonymization.words_review import WORDS
from construction.judging.calls.contracts import Mode
from data.atomic import private_dir
from data.errors import ListUndecidedError, NothingReleasedError
from data.snapshot.release import SnapshotRef
from data.stages import Lane, Results, run_stage
from data.staging.runs import record_release
from flows.prefect_adapter import as_flow, as_task, name_run, publish_funnel, publish_release
from flows.recipe import Recipe, Runtime
from flows.run import Run, open_run
from flows.source import Source, with_source
from flows.stages import (
    analytics,
    judging,
    questions,
    repositories,
    selection,
    sessions,
    signals,
    tables,
    workflows,
)

SIGNALS = Lane(
    name="signals-to-mixture",
    meaning="Popularity data to family weights, seed ideas and candidate ideas.",
    stages=(signals.SIGNALS, signals.CANDIDATE_IDEAS),
    given=signals.is_given,
)
TABLES = Lane(
    name="anonymize-tables",
    meaning="Private tables to a publishable data environment.",
    stages=(tables.FIND_TABLES, tables.ANONYMIZE_TABLES, tables.JUDGE_TABLES),
    given=tables.is_given,
)
SESSIONS = Lane(
    name="sessions-to-tasks",
    meaning="Raw agent sessions to masked, self-contained tasks.",
    stages=(
        sessions.SCAN,
        sessions.DIVIDE,
        sessions.RECOVER,
        sessions.DISTINCT,
        sessions.NETWORK,
        sessions.READ_PRIVATE,
        sessions.FIND_PRIVATE,
        sessions.MASKING,
        sessions.PACKAGE,
        judging.CONSENSUS,
        judging.SCREEN,
        judging.WRITE,
        judging.GRADE,
        judging.CHECKS,
        sessions.LEAK_CHECK,
    ),
    given=sessions.is_given,
)
QUESTIONS = Lane(
    name="tables-to-questions",
    meaning="Financial statements to single-value questions.",
    stages=(questions.STATEMENTS, questions.QUESTIONS, questions.QUESTION_PHRASING),
    given=questions.is_given,
)
ANALYTICS = Lane(
    name="tables-to-analytics",
    meaning="A file environment to analytics tasks over it.",
    stages=(analytics.ENVIRONMENT, analytics.ANALYTICS, analytics.ANNOTATION),
    given=analytics.is_given,
)
WORKFLOWS = Lane(
    name="signals-to-workflows",
    meaning="Demand to executable tasks in services and broken workspaces.",
    stages=(workflows.WORKFLOW_DEMAND, workflows.WORKFLOW_DOCUMENTS, workflows.WORKFLOWS),
    given=workflows.is_given,
)
REPOSITORIES = Lane(
    name="sessions-to-repository-tasks",
    meaning="Sessions in repositories to executable tasks with hidden tests.",
    stages=(
        repositories.TASKS,
        repositories.TESTS,
        repositories.REQUESTS,
        repositories.RUBRICS,
    ),
    given=repositories.is_given,
)
_SELECTION = Lane(
    name="select-subset",
    meaning="The pool of all lanes to the release's tasks.",
    stages=(
        selection.PREFLIGHT,
        selection.INFORMATIVE,
        selection.SANDBOX_PREFLIGHT,
        selection.SELECT,
    ),
)
WORKFLOWS_ALONE = (SIGNALS, WORKFLOWS, _SELECTION)
PIPELINE = (SESSIONS, REPOSITORIES, QUESTIONS, TABLES, SIGNALS, ANALYTICS, WORKFLOWS, _SELECTION)


@dataclass(frozen=True, slots=True)
class Built:
    """What a build made: the snapshot, the staging file, and when the flow itself began.

    `replayed` says whose recorded replies judged, if they did.
    """

    snapshot: SnapshotRef
    staging: Path
    tasks: int
    flow_started: float  # time.perf_counter()
    replayed: str = ""


def build_snapshot(recipe: Recipe, runtime: Runtime) -> Built:
    """`build` as a Prefect flow of its own."""
    return as_flow("build-snapshot", runtime.label(recipe), lambda: build(recipe, runtime))


def build(
    recipe: Recipe,
    runtime: Runtime,
    lanes: Sequence[Lane[Run]] = PIPELINE,
    source: Source = with_source,
) -> Built:
    """Build, verify and publish one snapshot; nothing is redone that is done already.

    Whoever calls it holds the lock of the output (`data.builds.building`).
    """
    from flows import publish as publishing

    flow_started, began = time.perf_counter(), datetime.now(UTC)
    with runtime.judges(recipe).budget():
        recipe, runtime, privacy = source(recipe, runtime)
        name_run(runtime.label(recipe)["snapshot"])
        run, results = open_run(recipe, runtime), Results()
        for lane in lanes:
            run_lane(run, lane, results)
        undecided = sessions.write_words_left(run, results.outputs.get(sessions.MASKING.name, ()))
        run_id = publishing.stage_for_analysts(run, results, privacy)
        publish_funnel(run.staging)
        tasks = len(publishing.released_candidates(results))
        if not tasks:
            raise NothingReleasedError(run.staging)
        times = {"began": began.isoformat(timespec="seconds")}
        if undecided:
            aside = private_dir(run.private / "unpublished")
            kept = publishing.publish(run, results, privacy, times, aside)
            raise ListUndecidedError(undecided, run.review / WORDS, kept.path)
        key = publishing.release_key_of(run, results, privacy)
        snapshot = publishing.published_before(run, key)
        if snapshot is None:
            run.require_writing()
            snapshot = publishing.publish(run, results, privacy, times)
            publishing.remember(run, key, snapshot)
        record_release(run.out, run_id, snapshot, tasks)
        publish_release(snapshot, tasks, run.out)
        run.store.prune(set(results.folders))
    return Built(snapshot, run.staging, tasks, flow_started, _replayed(run, results))


def _replayed(run: Run, results: Results) -> str:
    """Whose recorded replies judged, and how often there was none, in one line."""
    from construction.judging.model.asking import model_costs

    model = run.recipe.judging.model.name
    if not model or run.runtime.model_calls.mode is not Mode.REPLAY:
        return ""
    costs = model_costs(results.folders)
    items, lacking = (sum(int(row[name] or 0) for row in costs) for name in ("items", "unrecorded"))
    rest = (
        f"; {lacking} of {items} questions had no reply and were decided by rules"
        if lacking
        else ""
    )
    return f"judged by recorded replies of {model}{rest}"


def run_lane(run: Run, lane: Lane[Run], results: Results) -> None:
    """Run the stages of a lane that apply, each as a Prefect task within the lane's flow."""
    stages = list(lane.stages_for(run))

    def run_stages() -> None:
        for stage in stages:
            as_task(stage.name, partial(run_stage, run, stage, results))

    if stages:
        as_flow(lane.name, run.runtime.label(run.recipe), run_stages)
