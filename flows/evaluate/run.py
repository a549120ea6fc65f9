"""Running one configuration on a release with Inspect, resumable after any end.

What is finished is on disk and is not run again; what a model answered is kept as it comes, so that
an attempt that was cut off repeats no paid call.
"""

from __future__ import annotations

import asyncio
import os
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar

from inspect_ai import Task, eval
from inspect_ai.agent import AgentSubmit, as_solver, react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.event import ModelEvent
from inspect_ai.hooks import Hooks, SampleEnd, hooks
from inspect_ai.log import EvalLog, transcript
from inspect_ai.model import (
    ChatMessageAssistant,
    GenerateConfig,
    Model,
    ModelOutput,
    execute_tools,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolCall, ToolDef
from inspect_ai.util import apply_limits, sandbox, time_limit, turn_limit

from construction.sandbox.sandbox import Box, fetch_outputs
from construction.sandbox.toolset import library_paths
from data.atomic import PRIVATE_FILE, write_bytes
from data.attempts import (
    LEFT_OUT,
    LOGS,
    REPLIES,
    attempt_name,
    finished,
    outputs_folder,
    previous_attempt,
    write_attempt,
    write_trajectory,
)
from data.canonical import pretty_json
from data.endpoints import SUFFIX, Journal, spent
from data.errors import BenchmintError, InputError, is_disk_full
from data.neutralise import one_line
from flows.evaluate.budget import ACCOUNT, Account, Amount, Purse, paid
from flows.evaluate.http_agent import http_agent
from flows.evaluate.inspect_sandbox import NAME, TOOL_FOLDERS, BoxEnvironment
from flows.evaluate.plan import HUMAN, Plan, alone, left_out, wanted_attempts
from flows.evaluate.programs import has_skills, network_of, person, program_agent
from flows.evaluate.record import record_of, trajectory_of
from flows.evaluate.scripts import WORKLESS, Script
from flows.evaluate.tools import SHELL, keep, said_so_far, start_instance, tools_for
from flows.services.instance import Instance

# How Inspect itself came to its end, apart from the attempts.

_OS_ERROR = re.compile(r"OSError\((\d{1,3}), ")  # as Inspect records one of its own


class _RunFailed(BenchmintError):
    """The runner could not start, such as in a sandbox that does not isolate."""


class _RunStopped(BenchmintError):
    """Somebody stopped the run."""


def _check_ended(logs: Sequence[EvalLog]) -> None:
    """Raise RunFailed where the runner itself failed, RunStopped where it was interrupted.

    Raises OSError where it failed as this machine did, such as with a full disk.
    """
    if not logs or any(log.status in ("cancelled", "started") for log in logs):
        raise _RunStopped("stopped; run the same command again to continue.")
    for log in logs:
        if log.error is None:
            continue
        if number := _OS_ERROR.match(log.error.message):
            raise OSError(int(number[1]), os.strerror(int(number[1])))
        raise _RunFailed(one_line(log.error.message)[:500])


# Agents as solvers of Inspect: its own react agent on a model, and agents that play a script.

_INSTRUCTIONS = """
You work on a task in a folder of your own. Its input files, if any, are in inputs/; files that the
task asks for go into outputs/. Use the tools, then call submit() once with your answer, in the form
that the task asks for and nothing else. If the task asks for files only, submit one short line that
names them.
"""


def _model_agent(tools: Sequence[Tool]) -> Solver:
    """Inspect's react agent with the tools of one task."""
    agent = react(prompt=_INSTRUCTIONS, tools=list(tools), submit=AgentSubmit(answer_only=True))
    return as_solver(agent)


@solver
def _scripted(script: Script, tools: Sequence[Tool]) -> Solver:
    """Plays a script: each step says something, makes its calls, or both."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        for step in script.steps:
            calls = [
                ToolCall(id=uuid.uuid4().hex, function=name, arguments=dict(arguments))
                for name, arguments in step.calls
            ]
            message = ChatMessageAssistant(content=step.text, tool_calls=calls or None)
            state.messages.append(message)
            if calls:
                state.messages += (await execute_tools(state.messages, list(tools))).messages
        if script.answer is not None:
            state.output = ModelOutput.from_content("scripted", script.answer)
        return state

    return solve


_RETRIES = 3  # of a model call; then the attempt ends as an infrastructure error
_REPLY_SECONDS = 600
_LONGEST_ERROR = 300
_STOPPED = ("CancelledError(", "Cancelled(")  # how Inspect records what was interrupted


@dataclass
class _UnderWay:
    """One repetition that is under way: the accounts of its attempts by task.

    `failure` is the error that ends the run, such as that of a full disk. `advance` is called
    after each attempt.
    """

    plan: Plan
    epoch: int
    purse: Purse
    advance: Callable[[], object] = int
    accounts: dict[str, Account] = field(default_factory=dict)
    failure: Exception | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """What a run left: its folder, how many attempts are done, and of how many.

    `budget_spent` tells whether the budget of the run stopped or kept back any; `left_out` says
    why of each task that the configuration cannot do.
    """

    folder: Path
    done: int
    wanted: int
    budget_spent: bool
    left_out: Mapping[str, str]


def evaluate(plan: Plan, advance: Callable[[], object] = int) -> Ended:
    """Run all attempts that are not finished yet; `advance` is called after each.

    Raises OSError where this machine cannot go on, such as with a full disk; what was done is kept.
    """
    wanted = wanted_attempts(plan)  # what is refused leaves no folder
    with alone(plan):
        budget_spent = False
        reasons = left_out(plan)
        write_bytes(plan.folder / LEFT_OUT, pretty_json(reasons), mode=PRIVATE_FILE)
        before = finished(plan.folder)
        for epoch in range(1, plan.epochs + 1):
            todo = [
                task_id
                for name, (task_id, repetition) in wanted.items()
                if repetition == epoch and name not in before
            ]
            if todo:
                budget_spent |= _run_epoch(plan, epoch, todo, advance)
        done = finished(plan.folder)
    return Ended(plan.folder, len(done & wanted.keys()), len(wanted), budget_spent, reasons)


def _run_epoch(plan: Plan, epoch: int, todo: Sequence[str], advance: Callable[[], object]) -> bool:
    """Run one repetition; true if the budget of the run was spent."""
    run = _UnderWay(plan, epoch, Purse(plan.spending, _spent(plan)), advance)
    _Recorder.run = run
    BoxEnvironment.at_once = plan.samples_at_once
    BoxEnvironment.box = _box(plan)
    try:
        with redirect_stdout(StringIO()):  # Inspect announces itself there
            logs = eval(
                [_inspect_task(run, todo)],
                model=model_of(plan),
                log_dir=str(plan.folder / LOGS),
                log_realtime=False,
                ctl_server=False,
                display="none",
                score=False,
                fail_on_error=False,
                max_samples=plan.samples_at_once,
                max_sandboxes=plan.samples_at_once,
                log_level="error",
            )
    finally:
        _Recorder.run = None
    if run.failure is not None:
        raise run.failure
    _check_ended(logs)
    return any(_is_cut_off(account) for account in run.accounts.values())


def _box(plan: Plan) -> Box:
    """The box of an attempt; Inspect's tools have a folder in that of a program or a person."""
    program = plan.program
    if program is None and plan.agent != HUMAN:
        return Box(libraries=library_paths())
    return Box(
        libraries=library_paths(),
        programs=program.folder if program is not None else None,
        settings=("/etc/os-release",),
        folders=TOOL_FOLDERS,
        reserves=True,
    )


def _spent(plan: Plan) -> dict[str, Amount]:
    """What each attempt in the folder has spent, with the worst case of calls without an end."""
    spending = plan.spending
    return {
        path.stem: sum(
            (
                spending.most(tokens) if is_worst else spending.amount(tokens)
                for tokens, is_worst in spent(path)
            ),
            Amount(),
        )
        for path in sorted((plan.folder / REPLIES).glob(f"*{SUFFIX}"))
    }


def model_of(plan: Plan) -> Model | str:
    """The model of a plan, whose requests are on the account in `ACCOUNT`. Raises InputError."""
    if not plan.asks_model:
        return "mockllm/model"
    effort: Any = plan.configuration.reasoning  # Inspect knows which there are
    config = GenerateConfig(
        temperature=plan.temperature,
        max_tokens=plan.spending.reply_tokens,
        reasoning_effort=effort,
        max_retries=_RETRIES,
        attempt_timeout=max(_REPLY_SECONDS, plan.attempt_seconds or 0),
    )
    name, address = plan.configuration.model, plan.base_url
    try:
        return paid(get_model(name, base_url=address, config=config, memoize=False))
    except Exception as error:  # of any provider, about its name, its address or a key
        model = f"{name} at {address}" if address else name
        raise InputError(
            "--model and --base-url",
            f"{one_line(model)} ({one_line(str(error))[:_LONGEST_ERROR]})",
            "a model that Inspect can call, such as openai-api/local/my-model, with its key",
            "Correct the name, the address or the environment (see docs/run.md).",
        ) from error


def _inspect_task(run: _UnderWay, todo: Sequence[str]) -> Task:
    """One Inspect task over the tasks that remain. Budgets of time and turns differ by task."""
    release = run.plan.release
    samples = [
        Sample(
            id=task_id,
            input=_instruction(run.plan, task_id),
            files={
                f"inputs/{name}": str(path) for name, path in release.tasks[task_id].inputs.items()
            },
            metadata={"task": task_id},
        )
        for task_id in todo
    ]
    return Task(
        dataset=MemoryDataset(samples, name=release.snapshot),
        solver=_attempt(run),
        sandbox=NAME,
        name=f"{release.snapshot}-{run.epoch}",
    )


def _instruction(plan: Plan, task_id: str) -> str:
    """What the agent is told: the task, and its skill unless the agent has a folder for skills."""
    text = plan.release.tasks[task_id].instruction
    skill = plan.skills.get(task_id)
    if skill is None or has_skills(plan.program):
        return text
    return f"{text}\n\n# Skill: {skill.name}\n\n{skill.description}\n\n{skill.instructions}\n"


@solver
def _attempt(run: _UnderWay) -> Solver:
    """Let the agent work within the task's budget, and fetch what it delivered in any case."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if run.failure is not None:
            raise run.failure
        task = run.plan.release.tasks[str(state.sample_id)].candidate
        seconds = run.plan.attempt_seconds or task.budget.seconds
        limits = [time_limit(seconds), turn_limit(task.budget.turns)]
        if run.plan.agent == HUMAN:
            limits = []  # a person's time is measured, and not cut off
        folder = outputs_folder(run.plan.folder, task.task_id, run.epoch)
        with ExitStack() as stack:
            try:
                box = sandbox().as_type(BoxEnvironment)
                await box.exec(["mkdir", "-p", "inputs", "outputs"])
                instance = start_instance(
                    run.plan.release, task.task_id, run.plan.folder, run.epoch
                )
                agent = _agent(run, state, instance, stack)
                try:
                    async with network_of(box, task.network, state, run.plan.wire):
                        with apply_limits(limits):
                            return await agent(state, generate)
                finally:
                    keep(state, instance)
                    await asyncio.to_thread(fetch_outputs, box.sandbox, folder)
            except OSError as error:
                if is_disk_full(error):
                    run.failure = run.failure or error
                raise

    return solve


def _agent(run: _UnderWay, state: TaskState, instance: Instance | None, stack: ExitStack) -> Solver:
    """The agent of one attempt; one that asks a model has an account, and its tools too."""
    plan, task_id = run.plan, str(state.sample_id)
    task = plan.release.tasks[task_id].candidate
    is_own_loop = plan.asks_model and plan.program is None
    if instance is not None:
        instance.step = _inferences_so_far if is_own_loop else partial(said_so_far, state)
    tools = tools_for(task, plan.database, plan.pages, instance)
    if plan.program is not None or plan.url is not None:  # it has a shell of its own
        tools = [item for item in tools if ToolDef(item).name != SHELL]
    if plan.url is not None:
        return http_agent(plan.url, task, instance, tools)
    if plan.agent == HUMAN:
        return person(instance)
    if not plan.asks_model:
        script = plan.scripts.get((task_id, run.epoch))
        return _scripted(script or WORKLESS[plan.agent](task, tools), tools)
    name = attempt_name(task_id, run.epoch)
    journal = stack.enter_context(closing(Journal(plan.folder / REPLIES / f"{name}{SUFFIX}")))
    account = run.accounts[task_id] = Account(name, run.purse, journal)
    ACCOUNT.set(account)
    shown = [account.shown(tool) for tool in tools]
    if plan.program is not None:
        skills = [plan.skills[task_id]] if task_id in plan.skills else []
        return program_agent(plan.program, shown, account, instance, skills)
    return _model_agent(shown)


def _inferences_so_far() -> int:
    """The inferences of the attempt under way, whose agent keeps its messages until its end."""
    return sum(isinstance(event, ModelEvent) for event in transcript().events)


def _is_cut_off(account: Account | None) -> bool:
    """Did the budget of the run end the attempt? It goes on where that is raised."""
    return account is not None and account.stopped is not None and account.stopped.whole_run


@hooks(name="benchmint", description="Records each attempt as soon as it ends.")
class _Recorder(Hooks):
    """The hook of the run that is under way in this process."""

    run: ClassVar[_UnderWay | None] = None

    async def on_sample_end(self, data: SampleEnd) -> None:
        if self.run is None or self.run.failure is not None:
            return
        try:
            _write(self.run, data)
        except Exception as error:  # Inspect would only log it, and the attempt be lost
            self.run.failure = error


def _write(run: _UnderWay, data: SampleEnd) -> None:
    """Write an attempt and its trajectory.

    Nothing for one that somebody stopped, or that the budget of the run did not let begin.
    """
    plan, sample = run.plan, data.sample.model_copy(update={"epoch": run.epoch})
    account = run.accounts.get(str(sample.id))
    if account is not None and _is_cut_off(account) and not account.journal.is_paid:
        return
    if sample.error is not None and sample.error.message.startswith(_STOPPED):
        return
    before = previous_attempt(plan.folder, str(sample.id), run.epoch)
    record = record_of(sample, plan, account, before)
    write_trajectory(plan.folder, record.attempt, trajectory_of(sample, record))
    write_attempt(plan.folder, record)
    run.advance()
