"""Running and grading: seconds for 1,000 attempts, the sandbox beside Inspect's own, and escapes.

Graded are the attempts of the scripted agents on a release of the
demo, repeated until there are 1,000; all that is timed is `grade_attempts` and the tables. The
sandbox is compared with Inspect's plain local one, which isolates nothing: the same samples, each
with ten commands, in the same run. Escapes are tried inside a sandbox and outside of it.

    python -m benchmarks.evaluation SNAPSHOT      writes benchmarks/results/evaluation.md and .json

Needs the extra `evaluate` and bubblewrap.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from benchmarks.report import table, write_result
from construction.grading.logs import grade_attempts, summaries
from construction.statements.tools.database import database_of
from data.attempts import read_attempts, write_attempt, write_tables
from data.contracts.attempt import Configuration
from data.releases.tasks import ReleasedTasks, read_tasks
from flows.evaluate import escapes
from flows.evaluate.inspect_sandbox import NAME
from flows.evaluate.plan import Plan
from flows.evaluate.run import evaluate
from flows.evaluate.scripts import ORACLE, PLAYBACK, SCRIPTED, scripts_of

ATTEMPTS, WORKERS = 1000, 2
SAMPLES, COMMANDS = 40, 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("snapshot", type=Path)
    release = read_tasks(parser.parse_args().snapshot)
    with tempfile.TemporaryDirectory() as name:
        logs = Path(name)
        agents = _attempts(release, logs)
        grading = _grading(release, logs)
    overhead = {kind: _seconds_per_sample(kind) for kind in ("local", NAME)}
    tried = escapes.table()
    figures = {"agents": agents, "grading": grading, "sandbox": overhead, "escapes": tried}
    write_result("evaluation", __doc__ or "", _page(figures), figures)


def _attempts(release: ReleasedTasks, logs: Path) -> list[dict[str, Any]]:
    """Run the scripted agents once; returns a row for each."""
    database = database_of(release.tables)
    for agent in SCRIPTED:
        source = logs / ORACLE if agent == PLAYBACK else None
        scripts = scripts_of(agent, release, database, 1, source)
        configuration = Configuration(agent, agent, "none")
        evaluate(Plan(release, configuration, agent, logs / agent, database, scripts=scripts))
    rows = summaries(grade_attempts(release, logs))
    return [
        {
            "agent": row.configuration,
            "attempts": row.n,
            "passed": row.n_passed,
            "infra": row.n_infra,
        }
        for row in rows
    ]


def _grading(release: ReleasedTasks, logs: Path) -> dict[str, float]:
    """Repeat the attempts until there are `ATTEMPTS`, and time grading them."""
    recorded = list(read_attempts(logs))
    for number in range(len(recorded), ATTEMPTS):
        folder, record = recorded[number % len(recorded)]
        epoch = 2 + number // len(recorded)
        write_attempt(folder, replace(record, attempt=replace(record.attempt, epoch=epoch)))
    started = time.monotonic()
    run = grade_attempts(release, logs, workers=WORKERS)
    write_tables(logs / "scores", run.attempts, run.scores)
    seconds = time.monotonic() - started
    return {"attempts": len(run.attempts), "processes": WORKERS, "seconds": round(seconds, 1)}


@solver
def _commands() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        for _ in range(COMMANDS):
            await sandbox().exec(["true"])
        return state

    return solve


def _seconds_per_sample(kind: str) -> float:
    """Wall seconds per sample with its commands, without the start of the run."""
    samples = [Sample(input="x", id=str(number)) for number in range(SAMPLES)]
    with tempfile.TemporaryDirectory() as logs:
        taken = []
        for dataset in (samples[:1], samples):
            task = Task(dataset=MemoryDataset(dataset), solver=_commands(), sandbox=kind)
            started = time.monotonic()
            eval(task, model="mockllm/model", log_dir=logs, display="none", score=False)
            taken.append(time.monotonic() - started)
    return round((taken[1] - taken[0]) / (SAMPLES - 1), 4)


def _page(figures: dict[str, Any]) -> str:
    grading, overhead = figures["grading"], figures["sandbox"]
    agents = [[str(value) for value in row.values()] for row in figures["agents"]]
    ratio = overhead[NAME] / overhead["local"]
    sandboxes = [
        ["Inspect's local sandbox", f"{overhead['local'] * 1000:.0f}", "1.00"],
        ["ours", f"{overhead[NAME] * 1000:.0f}", f"{ratio:.2f}"],
    ]
    tried = [
        [name, "through" if inside else "held", "through" if outside else "held"]
        for name, inside, outside in figures["escapes"]
    ]
    parts = [
        "## Scripted agents through the runner\n",
        table(("agent", "attempts", "passed", "ended by infrastructure"), agents),
        f"\nGrading {grading['attempts']} attempts with {grading['processes']} processes took "
        f"{grading['seconds']} s.\n\n## An attempt with {COMMANDS} commands\n",
        table(("sandbox", "ms", "ratio"), sandboxes),
        "\n## Escapes\n",
        table(("attempt", "inside", "without the wrapper"), tried),
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    main()
