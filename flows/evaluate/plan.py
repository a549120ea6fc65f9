"""What is to be run, where, and within which limits; and that nothing else runs there.

What somebody asks to be run is plain values: the command line, a deployment and the process of a
pilot ask in the same words, and the plan follows from them.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
from inspect_ai.tool import Skill

from construction.sandbox.toolset import toolset
from construction.sessions.network.transport import Wire
from construction.statements.tools.agent_tools import BY_NAME
from construction.statements.tools.database import Database, database_of
from construction.webpages.pages import PageIndex, open_pages
from construction.workflows.declaration import has_services
from data.atomic import PRIVATE_DIR, PRIVATE_FILE, remove_leftovers, write_bytes
from data.attempts import FOLDER, RUN, TRAJECTORIES, attempt_name, check_name
from data.canonical import digest, pretty_json
from data.contracts.attempt import Configuration
from data.errors import BenchmintError, InputError
from data.releases.tasks import ReleasedTasks, read_tasks, require_outside
from flows.evaluate.budget import Budget, Spending, dollars, spending_of
from flows.evaluate.http_agent import PROTOCOL, is_here
from flows.evaluate.programs import AGENTS_FOLDER, KNOWN, Program, version_of
from flows.evaluate.scripts import READER, SCRIPTED, SKILLED, WORKLESS, Scripts, scripts_of

MODEL_AGENT, COMMAND, HUMAN, HTTP = "react", "command", "human", "http"
_MODEL_AGENTS = (MODEL_AGENT, *KNOWN, COMMAND)
AGENTS = (*_MODEL_AGENTS, HUMAN, HTTP, *SCRIPTED)
_LOCK = "run.lock"


@dataclass(frozen=True, slots=True)
class Plan:
    """One configuration on a release, and where its attempts go.

    `scripts` hold what the agent does, unless it asks a model or does the same on every task.
    `skills` are what it is given for some tasks, by task.
    """

    release: ReleasedTasks
    configuration: Configuration
    agent: str
    folder: Path
    database: Database | None = None
    pages: PageIndex | None = None
    program: Program | None = None
    url: str | None = None
    wire: Wire = field(default_factory=Wire)
    epochs: int = 1
    samples_at_once: int = 4
    base_url: str | None = None
    temperature: float | None = None
    attempt_seconds: int | None = None
    spending: Spending = field(default_factory=Spending)
    task_ids: tuple[str, ...] = ()
    scripts: Scripts = field(default_factory=dict)
    skills: Mapping[str, Skill] = field(default_factory=dict)

    @property
    def asks_model(self) -> bool:
        return self.agent in _MODEL_AGENTS

    def can_run(self, task_id: str, epoch: int) -> bool:
        """Can the agent work on a task at all?"""
        is_scripted = self.agent in SCRIPTED and self.agent not in WORKLESS
        return not is_scripted or (task_id, epoch) in self.scripts

    def left_out(self, task_id: str) -> str | None:
        """Why the agent is not let at a task that others can work on: no failure of it."""
        task = self.release.tasks[task_id].candidate
        if self.program is not None and self.program.command is None and not self.version:
            return f"{self.agent} is not installed in {self.program.folder}: `make agents` adds it"
        has_data = bool(BY_NAME.keys() & set(task.tools)) or self.pages is not None
        if self.url is not None and not is_here(self.url) and (has_data or has_services(task)):
            return "the task has tools, which are served only on this machine's loopback"
        if not has_data:
            return None
        if self.program is not None and not self.program.reads_mcp:
            return (
                "the task has tools, and the command does not read MCP servers (pass --mcp "
                "if it does)"
            )
        if self.agent == HUMAN:
            return "the task has data tools, which are not available in a shell"
        return None

    @property
    def version(self) -> str | None:
        """The version of the program that runs, if it is known."""
        return version_of(self.program) if self.program is not None else None


class _RunUnderWay(BenchmintError):
    """Another process runs attempts in the same folder."""


def chosen(plan: Plan) -> tuple[str, ...]:
    """The tasks to run: those named, or all that the agent can run.

    Raises InputError, also where the services of a task have no world to start from.
    """
    if plan.agent not in AGENTS:
        raise InputError(
            "evaluate", f"unknown agent {plan.agent}", ", ".join(AGENTS), "Choose one of these."
        )
    possible = [task_id for task_id in plan.release.tasks if plan.can_run(task_id, 1)]
    tasks = plan.task_ids or tuple(possible)
    unknown = [task_id for task_id in tasks if task_id not in possible]
    if unknown or not tasks:
        problem = f"unknown task {unknown[0]}" if unknown else "none"
        expected = f"tasks in {plan.release.snapshot} that {plan.agent} can run"
        todo = f"Choose other tasks, or an agent for all of them: {', '.join(WORKLESS)}, a model."
        raise InputError("evaluate", problem, expected, todo)
    tasks = tuple(task_id for task_id in tasks if plan.left_out(task_id) is None)
    for task_id in tasks:
        if has_services(plan.release.tasks[task_id].candidate):
            plan.release.world(task_id)
    return tasks


def left_out(plan: Plan) -> dict[str, str]:
    """Why tasks that were asked for are left out, by task."""
    tasks = plan.task_ids or tuple(plan.release.tasks)
    reasons = ((task_id, plan.left_out(task_id)) for task_id in tasks)
    return {task_id: reason for task_id, reason in reasons if reason is not None}


def wanted_attempts(plan: Plan) -> dict[str, tuple[str, int]]:
    """Task and repetition of all attempts of a plan, by their names. Raises InputError."""
    tasks = chosen(plan)
    return {
        attempt_name(task_id, epoch): (task_id, epoch)
        for epoch in range(1, plan.epochs + 1)
        for task_id in tasks
        if plan.can_run(task_id, epoch)
    }


@contextmanager
def alone(plan: Plan) -> Iterator[None]:
    """Hold the plan's folder, remove what a killed run left half written, and record what runs.

    Raises RunUnderWay if another process holds it, InputError if something else ran there.
    """
    with held(plan.folder):
        for folder in (plan.folder, plan.folder / FOLDER, plan.folder / TRAJECTORIES):
            remove_leftovers(folder)
        _record(plan)
        yield


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder, which is made. Raises RunUnderWay if another process holds it."""
    folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE_DIR)
    handle = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, PRIVATE_FILE)
    try:
        _lock(handle, folder)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, folder: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise _RunUnderWay(
            f"{folder}: another run is in progress here. Wait for it, or use another --name or "
            "--out."
        ) from None


def _record(plan: Plan) -> None:
    path = plan.folder / RUN
    about: dict[str, Any] = {
        "release": plan.release.digest,
        "configuration": asdict(plan.configuration),
        "limits": _limits(plan.spending) | {"attempt_seconds": plan.attempt_seconds},
        "toolset": toolset(),
        "pages": plan.pages.digest if plan.pages is not None else None,
        "program": _program_facts(plan),
    }
    same = [about]
    if plan.skills:  # without any, the record is as it was before there were skills
        before = _skills_in(path)
        given = {task: digest(skill.skill_md()) for task, skill in plan.skills.items()}
        about["skills"] = before | given
        if before.items() <= about["skills"].items():  # for more tasks than before
            same.append(about | {"skills": before})
    content = pretty_json(about)
    if path.exists() and path.read_bytes() not in map(pretty_json, same):
        raise InputError(
            str(path), f"a different {_difference(path, content)}", "the one being run",
            "Choose another name or folder for these attempts.",
        )  # fmt: skip
    write_bytes(path, content, mode=PRIVATE_FILE)


def _skills_in(path: Path) -> dict[str, str]:
    """The skills that a `run.json` names, by task; none where it cannot be read."""
    with suppress(OSError, ValueError, AttributeError, TypeError):
        return dict(orjson.loads(path.read_bytes()).get("skills") or {})
    return {}


def _program_facts(plan: Plan) -> dict[str, str | None] | None:
    if plan.url is not None:
        return {"url": plan.url, "protocol": PROTOCOL}
    if plan.program is None:
        return None
    return {"command": plan.program.command, "version": plan.version}


def _limits(spending: Spending) -> dict[str, Any]:
    """The limits that decide how an attempt ends; those of the whole run may be raised."""
    attempt = spending.attempt
    return {
        "attempt_calls": spending.calls,
        "attempt_tokens": attempt.tokens,
        "attempt_cost": None if attempt.cost is None else str(attempt.cost),
        "reply_tokens": spending.reply_tokens,
    }


def _difference(path: Path, content: bytes) -> str:
    """The first part of `run.json` that differs."""
    try:
        before = orjson.loads(path.read_bytes())
        now: dict[str, Any] = orjson.loads(content)
        return next(name for name, value in now.items() if before[name] != value)
    except (ValueError, KeyError, TypeError, StopIteration):
        return "content"


_WITHOUT_MODEL: dict[str, Any] = dict.fromkeys(
    ("base_url", "attempt_calls", "attempt_tokens", "attempt_cost", "run_tokens", "run_cost",
     "reply_tokens", "prices", "temperature")
)  # fmt: skip
# What runs without a model: agents of graded skill, and controls that show the grader at work.
_DEFAULT_PILOTS = (*SKILLED, "oracle", "unrounded", "wrong-period", "missing-step", "talk", "null")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One agent on one release; the fields are the options of `benchmint evaluate`."""

    snapshot: Path
    out: Path
    agent: str = "react"
    model: str | None = None
    base_url: str | None = None
    source: Path | None = None
    name: str | None = None
    tools: str = "data"
    pages: Path | None = None
    reasoning: str | None = None
    command: str | None = None
    mcp: bool = False
    programs: Path | None = None
    temperature: float | None = None
    task: tuple[str, ...] = ()
    epochs: int = 1
    at_once: int = 4
    attempt_calls: int | None = None
    attempt_seconds: int | None = None
    attempt_tokens: int | None = None
    attempt_cost: str | None = None
    run_tokens: int | None = None
    run_cost: str | None = None
    reply_tokens: int | None = None
    prices: Path | None = None

    @property
    def kind(self) -> str:
        """The agent without what belongs to it alone: its command or its address."""
        if self.agent.startswith(("http://", "https://")):
            return HTTP
        return COMMAND if self.command is not None and self.agent == MODEL_AGENT else self.agent

    @property
    def title(self) -> str:
        """The name of the configuration: the one given, or made of agent, model and condition."""
        tools = self.tools if self.tools != "data" else ""
        parts = [self.kind, (self.model or "").replace("/", "-"), tools, self.reasoning]
        return self.name or "-".join(part for part in parts if part)


def plan_of(request: Request) -> Plan:
    """The plan of a request. Raises InputError for what contradicts itself or is not there."""
    check_request(request)
    require_outside(request.snapshot, request.out)
    if request.programs is not None and not request.programs.is_dir():
        where = str(request.programs)
        raise InputError(where, "no folder", "the agent's programs", "Check --programs.")
    agent, tools, source, epochs = request.kind, request.tools, request.source, request.epochs
    spending = spending_of(
        request.model if agent in _MODEL_AGENTS else None,
        Budget(request.run_tokens, dollars(request.run_cost, "--run-cost")),
        Budget(request.attempt_tokens, dollars(request.attempt_cost, "--attempt-cost")),
        request.reply_tokens,
        request.prices,
        request.attempt_calls,
    )
    release = read_tasks(request.snapshot)
    check_name(request.title)
    database = None if tools == "web" else database_of(release.tables)
    index = PageIndex(open_pages(request.pages)) if request.pages is not None else None
    return Plan(
        release,
        Configuration(request.title, agent, request.model or "none", tools, request.reasoning),
        agent,
        request.out / release.snapshot / request.title,
        database,
        index,
        _program_of(request),
        url=request.agent if agent == HTTP else None,
        epochs=epochs,
        samples_at_once=1 if agent == HUMAN else request.at_once,
        base_url=request.base_url,
        temperature=request.temperature,
        attempt_seconds=request.attempt_seconds,
        spending=spending,
        task_ids=request.task,
        scripts=scripts_of(agent, release, database, epochs, source, index),
    )


def _program_of(request: Request) -> Program | None:
    """What runs inside the box, if the agent is a program."""
    if request.kind == COMMAND:
        return Program(COMMAND, request.programs, request.command, request.mcp)
    if request.kind in KNOWN:
        return Program(request.kind, request.programs or AGENTS_FOLDER)
    return None


def check_request(request: Request) -> None:
    """Raise InputError for options that contradict each other."""
    agent, model, command = request.kind, request.model, request.command
    if agent != HTTP and (agent in _MODEL_AGENTS) != (model is not None):
        raise InputError(
            "--agent and --model", f"agent {agent}, model {model}",
            "a model only with an agent that uses one",
            f"Pass --model NAME only with {', '.join(_MODEL_AGENTS)}.",
        )  # fmt: skip
    is_blank = command is not None and not command.strip()
    if is_blank or (agent == COMMAND) != (command is not None) or (request.mcp and not command):
        raise InputError(
            "--agent and --command", f"agent {agent}, command {command}",
            "a command line with no other agent",
            "Pass --command 'COMMAND' on its own; --mcp goes with it.",
        )  # fmt: skip
    tools, pages = request.tools, request.pages
    if tools not in ("data", "web", "data+web"):
        raise InputError("--tools", tools, "data, web or data+web", "Choose one of these.")
    if ("web" in tools) != (pages is not None):
        raise InputError(
            "--tools and --pages", f"tools {tools}, pages {pages}", "pages only with web",
            "Pass --pages DIR with --tools web or data+web; `benchmint lane pages` "
            "builds the folder.",
        )  # fmt: skip
    if agent == READER and pages is None:
        raise InputError(
            "--agent", agent, "captured pages to read", "Pass --tools web and --pages DIR."
        )


def requests_for(values: Mapping[str, Any]) -> list[Request]:
    """The requests of a command line: each agent with each model, by commas between their names.

    Agents without a model are asked for once, and without budgets. Raises InputError.
    """
    agents, models = _listed(values["agent"]), _listed(values["model"]) or [None]
    requests = []
    for agent in agents:
        request = Request(**{**values, "agent": agent, "model": None})
        asks = request.kind in (*_MODEL_AGENTS, HTTP) or len(agents) == 1
        own = request if asks else replace(request, **_WITHOUT_MODEL)
        requests += [replace(own, model=model) for model in (models if asks else [None])]
    titles = [request.title for request in requests]
    if len(set(titles)) < len(titles):
        raise InputError(
            "--agent, --model and --name", f"{len(titles)} configurations named {titles[0]}",
            "configurations with distinct names", "List each only once, and omit --name.",
        )  # fmt: skip
    return requests


def _listed(text: str | None) -> list[str | None]:
    """Names with commas between them; an address is one name."""
    if text is None or text.startswith(("http://", "https://")):
        return [text] if text else []
    return [name.strip() for name in text.split(",")]


def requests_of(
    snapshot: Path, agents: Sequence[str], models: Sequence[str], common: Mapping[str, Any]
) -> list[Request]:
    """A request for each agent, those that ask a model with each model; without any agent, one with
    the task's tools for each model; without any of both, those that need no model.

    `common` are options of `benchmint evaluate`; a base URL and a command are for models alone.
    Raises InputError.
    """
    named: Sequence[str] = agents or ([] if models else _DEFAULT_PILOTS)
    if strange := sorted(set(common) - set(Request.__slots__)):
        expected = ", ".join(Request.__slots__)
        raise InputError("options", strange[0], expected, "Choose one of these.")
    without = {**common, "base_url": None, "command": None, "mcp": False, "programs": None}
    asking = [name for name in named if name in _MODEL_AGENTS] or [MODEL_AGENT] * bool(models)
    alone = [name for name in named if name not in _MODEL_AGENTS]
    requests = [Request(snapshot=snapshot, agent=name, **without) for name in alone]
    requests += [
        Request(snapshot=snapshot, agent=name, model=model, **common)
        for name in asking
        for model in (*models,) or (None,)
    ]
    for request in requests:
        if request.kind not in AGENTS:
            raise InputError("--agent", request.agent, ", ".join(AGENTS), "Choose one of these.")
        check_request(request)
    return requests
