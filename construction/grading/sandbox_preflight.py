"""What the sandbox preflight decides about the pool: verdicts, ledger, survivors and their status.

Candidates that the selection did not take are not tried, and stay in the pool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from construction.grading.sandbox_gate import (
    GATE,
    NO_SANDBOX,
    NOT_TRIED,
    STAGE,
    SandboxReason,
    SandboxRecipe,
    TrialOutcome,
    measure,
)
from data.contracts import Candidate, StageKind, Status, Verdict
from data.ledger import deciding, gated_row
from data.pool import write_pool
from data.stage_tables import write_stage_tables

UNIT = "candidate"
SELECTION = "select"  # the stage that decides what is not tried
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
        else Verdict.blocked(GATE.name, SELECTION)
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
