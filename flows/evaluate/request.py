"""What somebody asks to be run, as plain values, and the plan that follows from it.

The command line, a deployment and the process of a pilot ask in the same words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from construction.statements.tools.database import database_of
from construction.webpages.pages import PageIndex, open_pages
from data.attempts import check_name
from data.contracts.attempt import Configuration
from data.errors import InputError
from data.releases.tasks import read_tasks, require_outside
from flows.evaluate.budget import Budget, dollars, spending_of
from flows.evaluate.plan import AGENTS, COMMAND, HTTP, HUMAN, MODEL_AGENT, MODEL_AGENTS, Plan
from flows.evaluate.programs import AGENTS_FOLDER, KNOWN, Program
from flows.evaluate.scripts import READER, SKILLED, scripts_of

_WITHOUT_MODEL: dict[str, Any] = dict.fromkeys(
    ("base_url", "attempt_calls", "attempt_tokens", "attempt_cost", "run_tokens", "run_cost",
     "reply_tokens", "prices", "temperature")
)  # fmt: skip
# What runs without a model: agents of graded skill, and controls that show the grader at work.
DEFAULT_PILOTS = (*SKILLED, "oracle", "unrounded", "wrong-period", "missing-step", "talk", "null")


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
        request.model if agent in MODEL_AGENTS else None,
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
        _program(request),
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


def _program(request: Request) -> Program | None:
    """What runs inside the box, if the agent is a program."""
    if request.kind == COMMAND:
        return Program(COMMAND, request.programs, request.command, request.mcp)
    if request.kind in KNOWN:
        return Program(request.kind, request.programs or AGENTS_FOLDER)
    return None


def check_request(request: Request) -> None:
    """Raise InputError for options that contradict each other."""
    agent, model, command = request.kind, request.model, request.command
    if agent != HTTP and (agent in MODEL_AGENTS) != (model is not None):
        raise InputError(
            "--agent and --model", f"agent {agent}, model {model}",
            "a model only with an agent that uses one",
            f"Pass --model NAME only with {', '.join(MODEL_AGENTS)}.",
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
        asks = request.kind in (*MODEL_AGENTS, HTTP) or len(agents) == 1
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
    named: Sequence[str] = agents or ([] if models else DEFAULT_PILOTS)
    if strange := sorted(set(common) - set(Request.__slots__)):
        expected = ", ".join(Request.__slots__)
        raise InputError("options", strange[0], expected, "Choose one of these.")
    without = {**common, "base_url": None, "command": None, "mcp": False, "programs": None}
    asking = [name for name in named if name in MODEL_AGENTS] or [MODEL_AGENT] * bool(models)
    alone = [name for name in named if name not in MODEL_AGENTS]
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
