"""The stage that tries what the selection takes in a sandbox, before it may be released.

The selection is solved on the pool. What it takes is tried, and where a task fails, the selection
is solved again without it, until all that it takes was tried: so a replacement is found by the same
programme and under the same limits as the release, from all of the pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path

from construction.grading.sandbox_preflight import (
    GATE,
    SECTION,
    UNIT,
    Fault,
    Found,
    TrialOutcome,
    is_refused,
    write_sandbox_preflight,
)
from construction.grading.trial import (
    Boxes,
    Outcomes,
    Trial,
    outcome_of,
    outside_faults,
    stored_faults,
    trial_key,
)
from construction.sandbox.presence import Presence
from construction.statements.database import DATABASE
from construction.statements.tools.agent_tools import BY_NAME
from construction.statements.tools.database import Database, open_database
from construction.workflows.declaration import service_names, tools_of
from data.contracts import Candidate, StageKind
from data.pool import fixture_files, read_pool
from data.run_store import content_digest
from data.snapshot import layout
from data.snapshot.tasks import candidate_of, instruction, public_row
from data.stages import Observed, Stage, Unit
from flows.run import Work
from flows.stages.preflight import FILES
from flows.stages.questions import STATEMENTS
from flows.stages.selection import INFORMATIVE, chosen_from, releases_before

INPUT = "preflight-outcomes"  # in the manifest
_SERVICE_TOOLS = frozenset(tool.name for tool in tools_of(service_names()))  # tried in screening


class Attempts:
    """Tries candidates of one build, and replays what was tried before."""

    def __init__(self, work: Work) -> None:
        run = work.run
        self._captures = Outcomes.load(run.private / "captures" / "preflight.jsonl")
        self._files = fixture_files([part for stage in FILES for part in work.folders(stage)])
        self._statements = work.folders(STATEMENTS.name)
        self._boxes = run.boxes or Boxes(run.runtime.workers, run.runtime.quiet)
        self._find_sandbox = run.sandbox
        self._opaque = partial(run.opaque, "x")
        self._snapshot = run.release
        self._canary = layout.canary(run.release, run.recipe.digest())
        self.used = Outcomes()

    def outcomes(self, tasks: Sequence[Candidate]) -> dict[str, TrialOutcome | None]:
        """The outcome of each task; None where there is no working sandbox, as captured.

        Raises TrialStopped where the infrastructure fails.
        """
        trials = [self._trial(task) for task in tasks]
        broken = {trial.task.task_id: stored_faults(trial) for trial in trials}
        sound = [trial for trial in trials if not broken[trial.task.task_id]]
        new = [trial for trial in sound if self._captures.find(trial.key) is None]
        if new and self._sandbox is Presence.PRESENT:
            self._boxes.run(new, self._keep)
        if len(self._captures):
            self._captures.save()
        return {
            trial.task.task_id: self._outcome(trial, broken[trial.task.task_id]) for trial in trials
        }

    @cached_property
    def _sandbox(self) -> Presence:
        return self._find_sandbox()

    @cached_property
    def _database(self) -> Database | None:
        return open_database(self._statements[0] / DATABASE) if self._statements else None

    def _outcome(self, trial: Trial, broken: Sequence[Fault]) -> TrialOutcome | None:
        """What is found in the store is not captured: the store may be mended."""
        if broken:
            return outcome_of(trial, broken)
        outcome = self._captures.find(trial.key)
        if outcome is not None:
            self.used.keep(trial.key, outcome)
        return outcome

    def _keep(self, trial: Trial, faults: Sequence[Fault]) -> None:
        outside = outside_faults(trial.task, self._database, _SERVICE_TOOLS)
        self._captures.keep(trial.key, outcome_of(trial, [*faults, *outside]))

    def _trial(self, task: Candidate) -> Trial:
        is_served = any(name in BY_NAME for name in task.tools)
        tables = [content_digest(folder) for folder in self._statements if is_served]
        public = candidate_of(public_row(task, self._opaque, self._canary))
        return Trial(
            task=task,
            key=trial_key(task, {"tables": tables, "limits": asdict(self._boxes.box.limits)}),
            instruction=instruction(public, self._snapshot, self._canary),
            files=self._files,
        )


@dataclass(frozen=True, slots=True)
class _Tried:
    """What was observed, by task (None: no sandbox was asked for), and the digest of it."""

    outcomes: Found | None = None
    captured: str | None = None


def _try(work: Work) -> Observed:
    config = work.run.recipe.preflight
    if config.sandbox == "off":
        return Observed("off", _Tried())
    candidates = read_pool(work.folders(INFORMATIVE.name)).candidates
    before, attempts = releases_before(work), Attempts(work)
    outcomes: dict[str, TrialOutcome | None] = {}
    while True:
        standing = [
            task
            for task in candidates
            if task.task_id not in outcomes or not is_refused(outcomes[task.task_id], config)
        ]
        chosen = chosen_from(work, standing, before).choice.chosen
        new = [task for task in standing if task.task_id in chosen - outcomes.keys()]
        if not new:
            break
        outcomes |= attempts.outcomes(new)
        if config.unverified == "refuse" and None in outcomes.values():  # so will be all others
            outcomes |= attempts.outcomes(
                [task for task in standing if task.task_id not in outcomes]
            )
    made_from = {name: outcome and asdict(outcome) for name, outcome in outcomes.items()}
    return Observed(
        made_from, _Tried(outcomes, attempts.used.digest if len(attempts.used) else None)
    )


def _captured(work: Work) -> dict[str, str]:
    tried: _Tried = work.observed
    inputs = {} if tried.captured is None else {INPUT: tried.captured}
    is_untried = tried.outcomes is not None and None in tried.outcomes.values()
    return inputs | (Presence.ABSENT.inputs if is_untried else {})


def _write(work: Work, out: Path) -> None:
    candidates = read_pool(work.folders(INFORMATIVE.name)).candidates
    write_sandbox_preflight(candidates, work.observed.outcomes, work.run.recipe.preflight, out)


SANDBOX_PREFLIGHT = Stage(
    name=GATE.stage,
    meaning=GATE.meaning,
    units=(Unit(UNIT, StageKind.FILTER),),
    settings=(SECTION,),
    reads=("signals", INFORMATIVE.name, *FILES, STATEMENTS.name),
    inputs=_captured,
    observe=_try,
    compute=_write,
    is_cheap=True,
)
