"""What somebody asks to be run, as plain values, and the plan that follows from it.

The command line, a deployment and the process of a pilot ask in the same words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from construction.statements.tools.database import database_of
from construction.webpages.page_index import PageIndex
from construction.webpages.pages import open_pages
from data.attempts import check_name
from data.contracts.attempt import Configuration
from data.errors import InputError
from data.releases.tasks import read_tasks, require_outside
from flows.evaluate.budget import Budget, dollars, spending_of
from flows.evaluate.harness import Harness
from flows.evaluate.plan import AGENTS, HARNESS, MODEL_AGENT, Plan
from flows.evaluate.scripts import READER, SKILLED, scripts_of

MODEL_AGENTS = (MODEL_AGENT, HARNESS)
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
    harness: str | None = None
    programs: Path | None = None
    task: tuple[str, ...] = ()
    epochs: int = 1
    at_once: int = 4
    attempt_calls: int | None = None
    attempt_tokens: int | None = None
    attempt_cost: str | None = None
    run_tokens: int | None = None
    run_cost: str | None = None
    reply_tokens: int | None = None
    prices: Path | None = None

    @property
    def title(self) -> str:
        """The name of the configuration: the one given, or made of agent, model and condition."""
        tools = self.tools if self.tools != "data" else ""
        parts = [self.agent, (self.model or "").replace("/", "-"), tools, self.reasoning]
        return self.name or "-".join(part for part in parts if part)


def plan_of(request: Request) -> Plan:
    """The plan of a request. Raises InputError for what contradicts itself or is not there."""
    check_request(request)
    require_outside(request.snapshot, request.out)
    if request.programs is not None and not request.programs.is_dir():
        where = str(request.programs)
        raise InputError(where, "no folder", "the harness's programs", "Check --programs.")
    spending = spending_of(
        request.model,
        Budget(request.run_tokens, dollars(request.run_cost, "--run-cost")),
        Budget(request.attempt_tokens, dollars(request.attempt_cost, "--attempt-cost")),
        request.reply_tokens,
        request.prices,
        request.attempt_calls,
    )
    release = read_tasks(request.snapshot)
    check_name(request.title)
    agent, tools, source, epochs = request.agent, request.tools, request.source, request.epochs
    database = None if tools == "web" else database_of(release.tables)
    index = PageIndex(open_pages(request.pages)) if request.pages is not None else None
    model, harness = request.model or "none", request.harness
    return Plan(
        release,
        Configuration(request.title, agent, model, tools, request.reasoning),
        agent,
        request.out / release.snapshot / request.title,
        database,
        index,
        Harness(harness, request.programs) if harness is not None else None,
        epochs=epochs,
        samples_at_once=request.at_once,
        base_url=request.base_url,
        spending=spending,
        task_ids=request.task,
        scripts=scripts_of(agent, release, database, epochs, source, index),
    )


def check_request(request: Request) -> None:
    """Raise InputError for options that contradict each other."""
    agent, model, harness = request.agent, request.model, request.harness
    if (agent in MODEL_AGENTS) != (model is not None):
        raise InputError(
            "--agent and --model", f"agent {agent}, model {model}",
            "a model with react and harness alone",
            "Give --model NAME with --agent react or harness, and none with a scripted agent.",
        )  # fmt: skip
    is_blank = harness is not None and not harness.strip()
    if is_blank or (agent == "harness") != (harness is not None):
        raise InputError(
            "--agent and --harness", f"agent {agent}, harness {harness}", "a command with harness",
            "Give --harness 'COMMAND' with --agent harness, and with no other.",
        )  # fmt: skip
    tools, pages = request.tools, request.pages
    if tools not in ("data", "web", "data+web"):
        raise InputError("--tools", tools, "data, web or data+web", "Choose one of these.")
    if ("web" in tools) != (pages is not None):
        raise InputError(
            "--tools and --pages", f"tools {tools}, pages {pages}", "pages with web alone",
            "Give --pages DIR with --tools web or data+web; `benchmint lane pages` makes it.",
        )  # fmt: skip
    if agent == READER and pages is None:
        raise InputError(
            "--agent", agent, "captured pages to read", "Give --tools web and --pages DIR."
        )


def requests_of(
    snapshot: Path, agents: Sequence[str], models: Sequence[str], common: Mapping[str, Any]
) -> list[Request]:
    """A request for each agent and model; without any, for those that need no model.

    `common` are options of `benchmint evaluate`; a base URL is for models alone. Raises InputError.
    """
    named = agents or ([] if models else DEFAULT_PILOTS)
    if strange := sorted(set(common) - set(Request.__slots__)):
        expected = ", ".join(Request.__slots__)
        raise InputError("options", strange[0], expected, "Choose one of these.")
    asked_without = {**common, "base_url": None}
    requests = [Request(snapshot=snapshot, agent=name, **asked_without) for name in named]
    requests += [Request(snapshot=snapshot, model=name, **common) for name in models]
    for request in requests:
        if request.agent not in AGENTS:
            raise InputError("--agent", request.agent, ", ".join(AGENTS), "Choose one of these.")
        check_request(request)
    return requests
