"""What the sandbox preflight decides about the pool: verdicts, ledger, survivors and their status.

Candidates that the selection did not take are not tried, and stay in the pool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal, Self

from pydantic import model_validator

from data.contracts import (
    Bound,
    Candidate,
    Gate,
    GateReason,
    Limit,
    StageConfig,
    StageKind,
    Status,
    Verdict,
)
from data.ledger import deciding, gated_row

# The gate of the sandbox preflight, and its settings: can the task be run where agents work?
#
# What is tried, and what counts as a fault, stands in `trial`.

STAGE = "sandbox_preflight"
SECTION = "preflight"


class SandboxRecipe(StageConfig):
    """Whether to try selected candidates in a sandbox, and what to do with those that cannot be
    tried.

    `sandbox`: `run` tries each selected candidate, `off` tries none. `unverified` applies to
    candidates that could not be tried because this machine has no working sandbox: `keep` releases
    them as unverified, `refuse` does not release them.
    """

    sandbox: Literal["off", "run"] = "off"
    unverified: Literal["keep", "refuse"] = "keep"

    @model_validator(mode="after")
    def _can_release_something(self) -> Self:
        if self.sandbox == "off" and self.unverified == "refuse":
            raise ValueError(
                'sandbox = "off" tries no candidates and unverified = "refuse" releases none that '
                'were not tried: set sandbox = "run" or unverified = "keep"'
            )
        return self


class TrialStep(StrEnum):
    """The steps of a trial, in their order."""

    UPLOAD = "upload"
    EXECUTION = "execution"
    DOWNLOAD = "download"
    ROUTE = "route"


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong, in one word, and where: `input 2`, `output 1`, `criterion 3`, a tool."""

    step: TrialStep
    what: str
    where: str


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """How many inputs, tools, outputs and criteria were tried, and each fault."""

    inputs: int
    tools: int
    outputs: int
    criteria: int
    faults: tuple[Fault, ...] = ()


class SandboxReason(GateReason):
    UPLOAD = "preflight.upload", "An input file is missing or altered when it reaches the sandbox."
    EXECUTION = (
        "preflight.execution",
        "One of the task's tools does not respond in the agents' environment.",
    )
    DOWNLOAD = "preflight.download", "A requested file cannot be delivered."
    ROUTE = "preflight.route", "Something left to a judge cannot be shown to a judge."
    NOT_TRIED = "preflight.not_tried", "The settings do not enable the sandbox."
    NO_SANDBOX = "preflight.no_sandbox", "This machine has no working sandbox."


@dataclass(frozen=True, slots=True)
class _Tried:
    """What a trial exercised (`inputs`, `tools`, `outputs`, `criteria`) and the faults by step.

    `untried` is 1 where there was no trial; then `reason` says why.
    """

    inputs: int = 0
    tools: int = 0
    outputs: int = 0
    criteria: int = 0
    upload: int = 0
    execution: int = 0
    download: int = 0
    route: int = 0
    untried: int = 0
    reason: SandboxReason | None = None


NOT_TRIED = _Tried(untried=1, reason=SandboxReason.NOT_TRIED)
NO_SANDBOX = _Tried(untried=1, reason=SandboxReason.NO_SANDBOX)


def measure(outcome: TrialOutcome) -> _Tried:
    """Count what a trial exercised, and what failed."""
    faults = [fault.step for fault in outcome.faults]
    return _Tried(
        inputs=outcome.inputs,
        tools=outcome.tools,
        outputs=outcome.outputs,
        criteria=outcome.criteria,
        upload=faults.count(TrialStep.UPLOAD),
        execution=faults.count(TrialStep.EXECUTION),
        download=faults.count(TrialStep.DOWNLOAD),
        route=faults.count(TrialStep.ROUTE),
    )


def _without(step: TrialStep, unit: str, reason: SandboxReason, meaning: str) -> Limit:
    return Limit(
        f"{step} faults",
        Bound.MAX,
        unit,
        meaning,
        reason,
        value=lambda seen: seen[str(step)],
        at=0,
        movable=False,
    )


def _tried(policy: str, status: Literal[Status.FAILED, Status.UNVERIFIED]) -> Limit:
    return Limit(
        "untried",
        Bound.MAX,
        "candidates",
        "The candidate was tried in a sandbox.",
        None,
        value=lambda seen: seen["untried"],
        at=0,
        movable=False,
        policy=("unverified", policy),
        status=status,
    )


GATE: Gate[_Tried, SandboxRecipe] = Gate(
    name="sandbox",
    stage=STAGE,
    section=SECTION,
    meaning="Can it be run in a sandbox: do inputs arrive, do tools respond, do files come back?",
    config=SandboxRecipe,
    reasons=SandboxReason,
    measure=measure,
    limits=(
        _without(
            TrialStep.UPLOAD,
            "files",
            SandboxReason.UPLOAD,
            "The instruction and every input file arrive unchanged and can be read.",
        ),
        _without(
            TrialStep.EXECUTION,
            "tools",
            SandboxReason.EXECUTION,
            "Every tool that the task declares is available and responds to a call.",
        ),
        _without(
            TrialStep.DOWNLOAD,
            "files",
            SandboxReason.DOWNLOAD,
            "A file for every deliverable can be written and is downloaded unchanged.",
        ),
        _without(
            TrialStep.ROUTE,
            "criteria",
            SandboxReason.ROUTE,
            "Everything left to a judge can be shown to a judge.",
        ),
        _tried("refuse", Status.FAILED),
        _tried("keep", Status.UNVERIFIED),
    ),
)


UNIT = "candidate"
_SELECTION = "select"  # the stage that decides what is not tried
Found = Mapping[str, TrialOutcome | None]  # None: this machine has no working sandbox


def is_refused(outcome: TrialOutcome | None, config: SandboxRecipe) -> bool:
    """Is a candidate that was to be tried out of the pool?"""
    return _judged(outcome, config).status is Status.FAILED


def write_sandbox_preflight(
    candidates: Sequence[Candidate], outcomes: Found | None, config: SandboxRecipe, out: Path
) -> None:
    """Write the pool without what is refused, and what became of each candidate.

    `outcomes` None: no sandbox was asked for.
    """
    from data.pool import write_pool  # whoever lists the gates loads no Polars
    from data.stage_tables import write_stage_tables

    verdicts = {task.task_id: _verdict(task.task_id, outcomes, config) for task in candidates}
    rows = [
        gated_row(
            STAGE, UNIT, name, deciding([verdict]), _evidence(verdict, (outcomes or {}).get(name))
        )
        for name, verdict in verdicts.items()
    ]
    write_stage_tables(
        out, StageKind.FILTER, verdicts, rows, verdicts=[*verdicts.items()], stage=STAGE, unit=UNIT
    )
    kept = [task for task in candidates if verdicts[task.task_id].status is not Status.FAILED]
    write_pool(out, [_with_status(task, verdicts[task.task_id]) for task in kept], {})


def _verdict(name: str, outcomes: Found | None, config: SandboxRecipe) -> Verdict:
    if outcomes is None:
        return GATE.judge(NOT_TRIED, config)
    return (
        _judged(outcomes[name], config)
        if name in outcomes
        else Verdict.blocked(GATE.name, _SELECTION)
    )


def _judged(outcome: TrialOutcome | None, config: SandboxRecipe) -> Verdict:
    return GATE.judge(NO_SANDBOX if outcome is None else measure(outcome), config)


def _evidence(verdict: Verdict, outcome: TrialOutcome | None) -> dict[str, str | None]:
    """The first fault of the step that decided; it names a place, never text of the task."""
    faults = outcome.faults if outcome is not None else ()
    first = next((f for f in faults if SandboxReason[f.step.name] == verdict.reason), None)
    return {} if first is None else {"fault": first.what, "where": first.where}


def _with_status(task: Candidate, verdict: Verdict) -> Candidate:
    status = "verified" if verdict.status is Status.PASSED else "unverified"
    return task.model_copy(update={"preflight": status})
