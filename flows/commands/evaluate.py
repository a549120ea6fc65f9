"""Commands that run agents on a release and grade attempts: `evaluate` and `grade`.

To compare attempts from others, `submit` bundles them and `check` regrades them.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from data.attempts import TABLES_FOLDER, infra_errors
from data.errors import InputError, require_extra
from data.reasons import own_labels
from flows.commands.table import Json, Processes

if TYPE_CHECKING:
    from flows.evaluate.plan import Plan, Request
    from flows.evaluate.run import Ended
from typing import Any

_SHOWN = 5


ATTEMPTS = Path("attempts")
# Known before the runner is loaded, which takes seconds.
MODEL_AGENTS = ("react", "claude-code", "codex", "gemini-cli", "opencode", "openclaw", "command")
OTHER_AGENTS = ("human", "http")
SCRIPTED_AGENTS = tuple(own_labels()["agent"])
Snapshot = Annotated[Path, typer.Argument(help="The release: a folder with public/ and private/.")]


def evaluate_command(
    snapshot: Snapshot,
    agent: Annotated[
        str,
        typer.Option(
            help="With --model: react (uses the task's tools), claude-code, codex, gemini-cli, "
            "opencode or openclaw. An agent that brings its own model: its URL (http://…). "
            "human: opens a shell for you. "
            f"Without a model: {', '.join(SCRIPTED_AGENTS)}. Comma-separate several: react,codex."
        ),
    ] = "react",
    model: Annotated[
        str | None,
        typer.Option(help="Model in Inspect's format, provider/model; comma-separate several."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="URL of an OpenAI-compatible server.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="With playback: folder of the attempts to replay."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Configuration name; default: agent and model.")
    ] = None,
    tools: Annotated[
        str, typer.Option(help="What agents may use to answer questions: data, web or data+web.")
    ] = "data",
    pages: Annotated[
        Path | None,
        typer.Option(help="With web: folder of captured pages (`benchmint lane pages`)."),
    ] = None,
    reasoning: Annotated[
        str | None, typer.Option(help="Reasoning effort for the model, in Inspect's terms.")
    ] = None,
    command: Annotated[
        str | None, typer.Option(help="Command line of any other agent, to run in the sandbox.")
    ] = None,
    mcp: Annotated[
        bool,
        typer.Option("--mcp", help="The --command agent reads MCP servers from $MCP_CONFIG."),
    ] = False,
    programs: Annotated[
        Path | None,
        typer.Option(help="Folder with the agent's programs: /opt/programs in the sandbox."),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(min=0, max=2, help="Sampling temperature; defaults to the server's setting."),
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help="Run only this task; repeatable.")] = None,
    epochs: Annotated[int, typer.Option(min=1, max=10_000, help="Attempts per task.")] = 1,
    at_once: Annotated[
        int, typer.Option(min=1, max=500, help="Number of attempts to run at once.")
    ] = 4,
    attempt_calls: Annotated[
        int | None,
        typer.Option(min=1, max=1_000_000, help="Maximum tool calls per attempt; default: 1000."),
    ] = None,
    attempt_seconds: Annotated[
        int | None,
        typer.Option(min=1, max=604_800, help="Time limit per attempt; default: the task's."),
    ] = None,
    attempt_tokens: Annotated[
        int | None,
        typer.Option(min=1, max=1 << 40, help="Maximum tokens per attempt."),
    ] = None,
    attempt_cost: Annotated[
        str | None, typer.Option(help="Maximum cost per attempt in US dollars.")
    ] = None,
    run_tokens: Annotated[
        int | None,
        typer.Option(min=1, max=1 << 40, help="Maximum tokens for all attempts together."),
    ] = None,
    run_cost: Annotated[
        str | None, typer.Option(help="Maximum cost of all attempts together in US dollars.")
    ] = None,
    reply_tokens: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1 << 40,
            help="Maximum tokens per reply; defaults to 4096 if a budget is set.",
        ),
    ] = None,
    prices: Annotated[
        Path | None, typer.Option(help="File with model prices, for computing costs.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Output directory for attempts.")] = ATTEMPTS,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would run; write nothing.")
    ] = False,
) -> None:
    """Run unfinished attempts, each in its own sandbox, and grade them if possible."""
    values = {name: value for name, value in locals().items() if name != "dry_run"}
    for name_of_agent in [agent] if "://" in agent else agent.split(","):
        _check_agent(name_of_agent.strip())
    require_extra("evaluate")
    from flows.evaluate.plan import requests_for

    requests = requests_for(values | {"task": tuple(task or ())})
    if dry_run:
        for request in requests:
            _print_plan(request)
        return
    _run(requests)


def _check_agent(agent: str) -> None:
    """Raise InputError for an agent that does not exist, with the name that may be meant."""
    known = (*MODEL_AGENTS, *OTHER_AGENTS, *SCRIPTED_AGENTS)
    if agent in known or agent.startswith(("http://", "https://")):
        return
    near = get_close_matches(agent, known, n=1)
    guess = f"Did you mean {near[0]}? " if near else ""
    raise InputError(
        "--agent",
        f"unknown agent {agent}",
        "a known agent",
        f"{guess}Known agents: {', '.join(known)}.",
    )


def _print_plan(request: Request) -> None:
    """Say what a run would do, without doing anything."""
    from data.attempts import finished
    from flows.evaluate.plan import left_out, plan_of, wanted_attempts

    plan = plan_of(request)
    wanted = wanted_attempts(plan)
    done = len(finished(plan.folder) & wanted.keys())
    tasks = len({task_id for task_id, _ in wanted.values()})
    print(f"{request.title} on {plan.release.snapshot}: {tasks} tasks, {len(wanted)} attempts")
    print(f"{done} are done, {len(wanted) - done} would be run and written to {plan.folder}")
    _tell_of_left_out(left_out(plan))


def _run(requests: Sequence[Request]) -> None:
    """Run the configurations one after another, with one progress bar for all attempts."""
    from data.attempts import finished
    from data.progress import counting
    from flows.evaluate.plan import HUMAN, plan_of, wanted_attempts
    from flows.evaluate.run import evaluate

    plans = [plan_of(request) for request in requests]
    is_person = any(plan.agent == HUMAN for plan in plans)
    if is_person and (len(plans) > 1 or not sys.stdin.isatty()):
        expected = "a terminal and no other agents"
        actual = "other agents" if len(plans) > 1 else "no terminal"
        raise InputError("--agent human", actual, expected, "Run it alone, in a terminal.")
    todo = sum(len(wanted_attempts(plan).keys() - finished(plan.folder)) for plan in plans)
    title = plans[0].configuration.name if len(plans) == 1 else f"{len(plans)} configurations"
    with counting(title, 0 if is_person else todo, "attempt") as advance:
        ended = [evaluate(plan, advance) for plan in plans]
    for plan, result in zip(plans, ended, strict=True):
        _tell_of_end(requests[0].snapshot, plan, result)


def _tell_of_end(snapshot: Path, plan: Plan, ended: Ended) -> None:
    """Say what a configuration left, and grade it if possible."""
    print(f"attempts: {ended.folder} ({ended.done} of {ended.wanted} done)")
    _tell_of_failures(ended.folder)
    _tell_of_left_out(ended.left_out)
    if ended.budget_spent:
        print(
            f"the run's budget is spent: {ended.wanted - ended.done} attempts remain. "
            "Run again with a larger budget; nothing is paid for twice.",
            file=sys.stderr,
        )
    if plan.release.private is not None and ended.done:
        out = ended.folder / TABLES_FOLDER
        _grade(snapshot, [(ended.folder, out)], workers=1, as_json=False)


def _tell_of_left_out(reasons: Mapping[str, str]) -> None:
    """Say which tasks the configuration cannot do, and why; they are neither run nor scored."""
    for reason, n_tasks in Counter(reasons.values()).most_common():
        print(f"left out: {n_tasks} tasks: {reason}", file=sys.stderr)


def _tell_of_failures(folder: Path) -> None:
    """Say how many attempts the infrastructure ended, and how the first of them did."""
    errors = infra_errors(folder)
    if errors:
        print(
            f"{len(errors)} attempts were ended by infrastructure errors, the first: "
            f"{errors[0]}. Run the same command again to continue them.",
            file=sys.stderr,
        )


def grade_command(
    logs: Annotated[
        Path,
        typer.Argument(
            help="Attempts, or a state file from `benchmint agents services`. From other runners: "
            "a Harbor job, Inspect logs, or a folder of ATIF trajectories."
        ),
    ],
    snapshot: Annotated[Path, typer.Option(help="The release that was run, with private/.")],
    answer: Annotated[
        str | None, typer.Option(help="With a state file: the agent's answer.")
    ] = None,
    outputs: Annotated[
        Path | None, typer.Option(help="With a state file: folder with the agent's output files.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="With a state file: the task, if several share its world.")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="With a state file or another runner's results: configuration name."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Output directory for tables; default: LOGS/scores. With a state file or another "
            "runner's results: output directory for attempts; default: attempts."
        ),
    ] = None,
    processes: Processes = 1,
    as_json: Json = False,
) -> None:
    """Grade attempts made here or by other runners, and write the score tables."""
    from flows.evaluate.foreign import runner_of, write_results

    written: list[Path] = []
    if logs.exists() and runner_of(logs) is not None:
        written = write_results(snapshot, logs, out or ATTEMPTS, name)
    elif logs.is_file():
        from flows.evaluate.grading import Done, write_done

        done = Done(logs, name or "services", task, answer, outputs)
        written = [write_done(snapshot, done, out or ATTEMPTS)]
    own = [(folder, folder / TABLES_FOLDER) for folder in written]
    folders = own or [(logs, out or logs / TABLES_FOLDER)]
    _grade(snapshot, folders, workers=processes, as_json=as_json)


def _grade(
    snapshot: Path, folders: Sequence[tuple[Path, Path]], *, workers: int, as_json: bool
) -> None:
    """Grade each folder of attempts, and write its tables into the other folder."""
    from construction.grading.logs import print_summaries, summaries
    from data.canonical import pretty_json
    from flows.evaluate.grading import grade_folder

    runs = [grade_folder(snapshot, logs, out, workers) for logs, out in folders]
    rows = [row for run in runs for row in summaries(run)]
    if as_json:
        print(pretty_json([asdict(row) for row in rows]).decode(), end="")
    else:
        print_summaries(rows)
        if withdrawn := sum(run.n_withdrawn for run in runs):
            print(f"attempts at tasks withdrawn by errata, not counted: {withdrawn}")
        for _, out in folders:
            print(f"tables: {out}")


def submit_command(
    attempts: Annotated[
        Path, typer.Argument(help="One configuration's attempts: ATTEMPTS/RELEASE/NAME.")
    ],
    out: Annotated[Path, typer.Option(help="Archive to write.")] = Path("submission.zip"),
) -> None:
    """Bundle one configuration's attempts for the leaderboard's maintainer."""
    from data.attempts import bundle

    about = bundle(attempts, out)
    print(f"{about.configuration.name}: {len(about.files)} files in {out}")
    print(f"made on the release with the digest {about.release}")


def check_command(
    submission: Annotated[Path, typer.Argument(help="The submitted archive.")],
    snapshot: Annotated[Path, typer.Option(help="The release that was run, with private/.")],
    out: Annotated[Path, typer.Option(help="The leaderboard's attempts.")] = ATTEMPTS,
    partial: Annotated[
        bool, typer.Option("--partial", help="Accept attempts at only some of the tasks.")
    ] = False,
) -> None:
    """Check a submission, regrade it and add it to the attempts; exit with 1 if it is rejected.

    The submission's own scores are ignored.
    """
    import shutil
    from tempfile import TemporaryDirectory

    from data.attempts import TABLES_FOLDER, unpack
    from data.releases.tasks import read_tasks, require_outside

    require_outside(snapshot, out)
    release = read_tasks(snapshot)
    with TemporaryDirectory() as scratch:
        folder = Path(scratch, "submission")
        about = unpack(submission, folder)
        if about.release != release.digest:
            expected = f"attempts at {release.snapshot}"
            todo = "Pass the snapshot that was run."
            raise InputError(str(submission), "attempts at another release", expected, todo)
        target = out / release.snapshot / about.configuration.name
        if target.exists():
            todo = "Move them away, or ask for a submission with another name."
            raise InputError(str(target), "attempts with that name", "none yet", todo)
        problems = _problems(release, folder, about.epochs, partial=partial)
        if problems:
            print("\n".join(problems))
            print(f"refused: {about.configuration.name} was not added to the leaderboard")
            raise typer.Exit(1)
        run = _grade_again(snapshot, folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(folder, target)
    _print(run, target / TABLES_FOLDER)


def _problems(release: Any, folder: Path, epochs: int, *, partial: bool) -> list[str]:
    """Why a submission is refused, one line each."""
    from construction.grading.logs import altered_calls
    from construction.statements.tools.database import database_of
    from construction.workflows.runs import is_replayed
    from data.attempts import attempt_name, read_attempts
    from data.neutralise import one_line

    records = [
        record
        for _, record in read_attempts(folder)
        if record.attempt.task_id not in release.withdrawn
    ]
    names = {attempt_name(r.attempt.task_id, r.attempt.epoch) for r in records}
    strange = sorted({r.attempt.task_id for r in records} - release.tasks.keys())
    wanted = {attempt_name(task, n) for task in release.tasks for n in range(1, epochs + 1)}
    altered = list(altered_calls(records, database_of(release.tables)))
    forged = [record for record in records if not is_replayed(record, release)]
    lines = [f"task {name} is not in the release" for name in strange[:_SHOWN]]
    if not partial and (missing := sorted(wanted - names)):
        lines.append(f"{len(missing)} of {len(wanted)} attempts are missing, first {missing[0]}")
    lines += [
        f"{record.attempt.task_id}: {call.name} does not return the recorded response"
        for record, call in altered[:_SHOWN]
    ]
    lines += [
        f"{record.attempt.task_id}: replaying its calls does not end in the recorded state"
        for record in forged[:_SHOWN]
    ]
    return list(map(one_line, lines))


def _grade_again(snapshot: Path, folder: Path) -> Any:
    from data.attempts import TABLES_FOLDER
    from flows.evaluate.grading import grade_folder

    return grade_folder(snapshot, folder, folder / TABLES_FOLDER)


def _print(run: Any, tables: Path) -> None:
    from construction.grading.logs import print_summaries, summaries

    print_summaries(summaries(run))
    print(f"accepted; tables: {tables}")
