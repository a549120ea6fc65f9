"""Running and grading: seconds for 1,000 attempts, the sandbox beside Inspect's own, and escapes.

Graded are the attempts of the scripted agents on a release of the
demo, repeated until there are 1,000; all that is timed is `grade_attempts` and the tables. The
sandbox is compared with Inspect's plain local one, which isolates nothing: the same samples, each
with ten commands, in the same run. Escapes are tried inside a sandbox and outside of it.

A run of a scripted model is killed at ten random points and resumed each time; another one meets
a full disk.

    python -m benchmarks.evaluation SNAPSHOT      writes benchmarks/results/evaluation.md and .json
    python -m benchmarks.evaluation --kills       the same, with new figures of kills alone

Needs the extra `evaluate` and bubblewrap.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from benchmarks.report import RESULTS, table, write_result
from construction.grading.logs import grade_attempts, summaries
from construction.sandbox import escapes
from construction.statements.tools.database import database_of
from data.attempts import attempt_id_of, read_attempts, write_attempt, write_tables
from data.contracts.attempt import Configuration
from data.releases.tasks import ReleasedTasks, read_tasks
from data.snapshot.writer import write_snapshot
from flows.evaluate.inspect_sandbox import NAME
from flows.evaluate.plan import Plan
from flows.evaluate.run import evaluate
from flows.evaluate.scripts import ORACLE, PLAYBACK, SCRIPTED, scripts_of
from tests.data.snapshot.sample import release as small_release
from tests.flows.evaluate.chat_server import chat_server
from tests.flows.evaluate.kills import (
    child,
    repeated,
    run_on_full_disk,
    run_with_kills,
    score_digests,
    slowly,
)

ATTEMPTS, WORKERS = 1000, 2
SAMPLES, COMMANDS = 40, 10
KILLS = 10
_REQUESTS = ("requests", "requests_of_a_whole_run", "cut_off", "repeated")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("snapshot", type=Path, nargs="?")
    parser.add_argument("--kills", action="store_true")
    given = parser.parse_args()
    if given.kills:
        figures = json.loads((RESULTS / "evaluation.json").read_text())
    elif given.snapshot is None:
        parser.error("name a release, or give --kills")
    else:
        figures = _measured(read_tasks(given.snapshot))
    figures["kills"] = _kills()
    write_result("evaluation", __doc__ or "", _page(figures), figures)


def _measured(release: ReleasedTasks) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        logs = Path(name)
        agents = _attempts(release, logs)
        grading = _grading(release, logs)
    overhead = {kind: _seconds_per_sample(kind) for kind in ("local", NAME)}
    return {
        "agents": agents,
        "grading": grading,
        "sandbox": overhead,
        "escapes": escapes.table(),
    }


def _kills() -> dict[str, Any]:
    """A run that is killed and resumed beside one that is not, and one on a full disk."""
    with tempfile.TemporaryDirectory() as name, chat_server(slowly) as chat:
        root = Path(name)
        snapshot = write_snapshot(small_release(root), root / "release").path
        killed = run_with_kills(snapshot, root / "killed", chat, KILLS, seed=1)
        requests, again = len(chat.requests), repeated(chat)
        with child(snapshot, root / "whole", chat.url) as process:
            process.wait()
        before = len(chat.requests), repeated(chat)
        full = run_on_full_disk(snapshot, root, chat)
        digests = [score_digests(snapshot, root / run) for run in ("killed", "whole")]
        return {
            "kills": killed.kills,
            "requests": requests,
            "requests_of_a_whole_run": before[0] - requests,
            "cut_off": killed.open_calls,
            "repeated": again,
            "same_scores": digests[0] == digests[1],
            "full_disk": asdict(full),
        }


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
        given = record.attempt
        own = attempt_id_of(given.release_digest, given.task_id, given.configuration.name, epoch)
        again = replace(given, epoch=epoch, attempt_id=own)
        write_attempt(folder, replace(record, attempt=again))
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
    kills, full = figures["kills"], figures["kills"]["full_disk"]
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
        f"\n## A run that is killed {kills['kills']} times\n",
        table(
            ("requests of the model", "in a run that was not killed", "cut off", "repeated"),
            [[str(kills[key]) for key in _REQUESTS]],
        ),
        "\nOnly requests that were cut off before their reply could be kept are made again. The "
        f"tables of scores are {'the same' if kills['same_scores'] else 'DIFFERENT'}, byte for "
        f"byte.\n\nOn a full disk the run ended with {full['done_when_full']} of "
        f"{full['wanted']} attempts done and this line: `{full['line']}` With space, "
        f"{full['done']} were done.",
        "\n## Escapes\n",
        table(("attempt", "inside", "without the wrapper"), tried),
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    main()
