"""Running one configuration on a release with Inspect, resumable after any end.

What is finished is on disk and is not run again; a model's answers are kept as they come, so that
an attempt that was cut off repeats no paid call.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import ClassVar

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.hooks import Hooks, SampleEnd, hooks
from inspect_ai.model import CachePolicy, GenerateConfig, Model, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool
from inspect_ai.util import apply_limits, sandbox, time_limit, turn_limit

from construction.grading.oracle import computable, oracle
from construction.grading.spec import spec_of
from construction.statements.tools.database import Database
from data.atomic import write_bytes
from data.attempts import LOGS, RUN, attempt_name, finished, outputs_folder, write_attempt
from data.canonical import pretty_json
from data.contracts import Candidate
from data.contracts.attempt import Configuration
from data.errors import InputError
from data.releases.tasks import ReleasedTasks
from flows.evaluate.agents import SCRIPTS, Move, model_agent, scripted
from flows.evaluate.delivery import fetch_outputs
from flows.evaluate.inspect_sandbox import NAME, BoxEnvironment
from flows.evaluate.record import record_of
from flows.evaluate.sandbox import Box, SandboxFailed
from flows.evaluate.tools import tools_for
from flows.evaluate.toolset import library_paths, toolset

_METADATA = "benchmint"
ORACLE = "oracle"
AGENTS = ("react", ORACLE, *SCRIPTS)
_RETRIES = 3  # of a model call; then the attempt ends as an infrastructure error
_REPLY_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Plan:
    """One configuration on a release, and where its attempts go.

    `agent` is `react`, the name of a scripted agent, or `moves` gives each task's moves.
    """

    release: ReleasedTasks
    configuration: Configuration
    agent: str
    folder: Path
    database: Database | None = None
    epochs: int = 1
    samples_at_once: int = 4
    base_url: str | None = None
    most_tokens: int | None = None
    task_ids: tuple[str, ...] = ()
    moves: Mapping[str, Sequence[Move]] = field(default_factory=dict)


def reference_moves(
    release: ReleasedTasks, database: Database | None
) -> dict[str, tuple[Move, ...]]:
    """The moves of an agent that walks the reference steps, for tasks where they can be run.

    The answer is computed by the data tools, never read. Needs the private half.
    """
    moves: dict[str, tuple[Move, ...]] = {}
    for task_id in release.tasks:
        spec = spec_of(release.grading(task_id))
        if database is not None and computable(spec):
            walked = oracle(spec, database)
            calls = tuple((call.name, call.arguments) for call in walked.calls)
            moves[task_id] = (*calls, ("submit", {"answer": walked.answer}))
    return moves


def evaluate(plan: Plan) -> Path:
    """Run all attempts that are not finished yet; the folder that holds them."""
    chosen = _chosen(plan)
    _check_same(plan)
    os.environ["INSPECT_CACHE_DIR"] = str(plan.folder / "replies")
    done = finished(plan.folder)
    for epoch in range(1, plan.epochs + 1):
        todo = [task_id for task_id in chosen if attempt_name(task_id, epoch) not in done]
        if todo:
            _run_epoch(plan, epoch, todo)
    return plan.folder


def _chosen(plan: Plan) -> tuple[str, ...]:
    """The tasks to run: those named, or all that the agent can run. Raises InputError."""
    if plan.agent not in AGENTS:
        raise InputError(
            "evaluate", f"no agent {plan.agent}", ", ".join(AGENTS), "Choose one of these."
        )
    can_run = plan.moves if plan.agent == ORACLE else plan.release.tasks
    chosen = plan.task_ids or tuple(can_run)
    unknown = [task_id for task_id in chosen if task_id not in can_run]
    if unknown or not chosen:
        problem = f"{unknown[0]} is not among them" if unknown else "none"
        expected = f"tasks of {plan.release.snapshot} that {plan.agent} can run"
        raise InputError("evaluate", problem, expected, "Choose other tasks or another agent.")
    return chosen


def _check_same(plan: Plan) -> None:
    """Record what runs here. Raises InputError where something else ran in this folder."""
    path = plan.folder / RUN
    about = {
        "release": plan.release.digest,
        "configuration": asdict(plan.configuration),
        "toolset": toolset(),
    }
    content = pretty_json(about)
    if path.exists() and path.read_bytes() != content:
        raise InputError(
            str(path), "another configuration, release or toolset", "the one that is run",
            "Choose another name or folder for these attempts.",
        )  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_bytes(path, content)


def _run_epoch(plan: Plan, epoch: int, todo: Sequence[str]) -> None:
    _Recorder.plan, _Recorder.epoch = plan, epoch
    BoxEnvironment.box = Box(libraries=library_paths())
    tasks = [_inspect_task(plan, epoch, todo)]
    eval(
        tasks,
        model=_model(plan, epoch),
        log_dir=str(plan.folder / LOGS),
        display="none",
        score=False,
        fail_on_error=False,
        max_samples=plan.samples_at_once,
        max_sandboxes=plan.samples_at_once,
        log_level="error",
        token_limit=plan.most_tokens,
    )


def _model(plan: Plan, epoch: int) -> Model | str:
    if plan.agent != "react":
        return "mockllm/model"
    # Each repetition is a run of its own, so Inspect itself takes all of them for the first epoch.
    cache = CachePolicy(expiry=None, scopes={"epoch": str(epoch)})
    config = GenerateConfig(
        temperature=0.0, cache=cache, max_retries=_RETRIES, attempt_timeout=_REPLY_SECONDS
    )
    return get_model(plan.configuration.model, base_url=plan.base_url, config=config)


def _inspect_task(plan: Plan, epoch: int, todo: Sequence[str]) -> Task:
    """One Inspect task over the tasks that remain. Budgets of time and turns differ by task."""
    samples = [
        Sample(
            id=task_id,
            input=plan.release.tasks[task_id].instruction,
            files={
                f"inputs/{name}": str(path)
                for name, path in plan.release.tasks[task_id].inputs.items()
            },
            metadata={_METADATA: {"epoch": epoch}},
        )
        for task_id in todo
    ]
    return Task(
        dataset=MemoryDataset(samples, name=plan.release.snapshot),
        solver=_attempt(plan, epoch),
        sandbox=NAME,
        name=f"{plan.release.snapshot}-{epoch}",
    )


@solver
def _attempt(plan: Plan, epoch: int) -> Solver:
    """Let the agent work within the task's budget, and fetch what it delivered in any case."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        task = plan.release.tasks[str(state.sample_id)].candidate
        await sandbox().exec(["mkdir", "-p", "inputs", "outputs"])
        tools = tools_for(task, plan.database)
        agent = _agent(plan, task, tools)
        limits = [time_limit(task.budget.seconds), turn_limit(task.budget.turns)]
        try:
            with apply_limits(limits):
                return await agent(state, generate)
        finally:
            folder = outputs_folder(plan.folder, task.task_id, epoch)
            with suppress(SandboxFailed):
                fetch_outputs(sandbox().as_type(BoxEnvironment).sandbox, folder)

    return solve


def _agent(plan: Plan, task: Candidate, tools: Sequence[Tool]) -> Solver:
    if plan.agent == "react":
        return model_agent(tools)
    moves = plan.moves.get(task.task_id)
    if moves is None:
        moves = SCRIPTS[plan.agent](task, tools)
    return scripted(moves, tools)


@hooks(name="benchmint", description="Writes each attempt down as soon as it has ended.")
class _Recorder(Hooks):
    """The hook of the run that is under way in this process."""

    plan: ClassVar[Plan | None] = None
    epoch: ClassVar[int] = 1

    async def on_sample_end(self, data: SampleEnd) -> None:
        plan = self.plan
        if plan is not None:
            sample = data.sample.model_copy(update={"epoch": self.epoch})
            record = record_of(sample, plan.configuration, plan.release.digest)
            write_attempt(plan.folder, record)
