"""Running agents on a release, and grading what they did: `evaluate` and `grade`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from data.attempts import TABLES_FOLDER, check_name, infra_errors
from data.errors import InputError, require_extra
from flows.commands.options import Json, Processes

ATTEMPTS = Path("attempts")
Snapshot = Annotated[Path, typer.Argument(help="The release: a folder with public/ and private/.")]


def evaluate_command(
    snapshot: Snapshot,
    agent: Annotated[
        str,
        typer.Option(
            help="react (a model with tools), harness (--harness), or without a model: oracle, "
            "web-reader, playback, null, talk, empty-calls, wrong-period, wrong-company, "
            "unrounded, missing-step, answers-first."
        ),
    ] = "react",
    model: Annotated[
        str | None, typer.Option(help="The model, as Inspect names it: provider/model.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of an OpenAI-compatible server.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="With playback: the folder of the attempts to repeat."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the configuration; by default, agent and model.")
    ] = None,
    tools: Annotated[
        str, typer.Option(help="What questions are answered with: data, web or data+web.")
    ] = "data",
    pages: Annotated[
        Path | None, typer.Option(help="With web: a folder of captured pages (`benchmint pages`).")
    ] = None,
    reasoning: Annotated[
        str | None, typer.Option(help="The effort that the model is asked for, as Inspect has it.")
    ] = None,
    harness: Annotated[
        str | None, typer.Option(help="With harness: the command that works in the sandbox.")
    ] = None,
    programs: Annotated[
        Path | None, typer.Option(help="A folder with the harness's programs: /opt/programs.")
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option(help="Run only this task; may be given several times.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, max=10_000, help="Attempts at each task.")] = 1,
    at_once: Annotated[int, typer.Option(min=1, max=500, help="Attempts at the same time.")] = 4,
    attempt_calls: Annotated[
        int | None,
        typer.Option(
            min=1, max=1_000_000, help="The most calls of tools in one attempt; 1000 by default."
        ),
    ] = None,
    attempt_tokens: Annotated[
        int | None,
        typer.Option(min=1, max=1 << 40, help="The most tokens that one attempt may use."),
    ] = None,
    attempt_cost: Annotated[
        str | None, typer.Option(help="The most US dollars that one attempt may cost.")
    ] = None,
    run_tokens: Annotated[
        int | None,
        typer.Option(
            min=1, max=1 << 40, help="The most tokens that all attempts may use together."
        ),
    ] = None,
    run_cost: Annotated[
        str | None, typer.Option(help="The most US dollars that all attempts may cost together.")
    ] = None,
    reply_tokens: Annotated[
        int | None,
        typer.Option(min=1, max=1 << 40, help="The most tokens of one reply; 4096 with a budget."),
    ] = None,
    prices: Annotated[
        Path | None, typer.Option(help="File with the prices of models, for costs.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where to write the attempts.")] = ATTEMPTS,
) -> None:
    """Run what is not finished yet, each attempt in a box of its own, and grade if possible."""
    require_extra("evaluate")
    from construction.statements.tools.database import database_of
    from construction.webpages.page_index import PageIndex
    from construction.webpages.pages import open_pages
    from data.contracts.attempt import Configuration
    from data.releases.tasks import read_tasks, require_outside
    from flows.evaluate.budget import Budget, dollars, spending_of
    from flows.evaluate.harness import Harness
    from flows.evaluate.plan import Plan
    from flows.evaluate.run import evaluate
    from flows.evaluate.scripts import scripts_of

    _check_options(agent, model, harness, tools, pages)
    require_outside(snapshot, out)
    if programs is not None and not programs.is_dir():
        raise InputError(str(programs), "no folder", "the harness's programs", "Check --programs.")
    spending = spending_of(
        model,
        Budget(run_tokens, dollars(run_cost, "--run-cost")),
        Budget(attempt_tokens, dollars(attempt_cost, "--attempt-cost")),
        reply_tokens,
        prices,
        attempt_calls,
    )
    release = read_tasks(snapshot)
    parts = [agent, (model or "").replace("/", "-"), tools if tools != "data" else "", reasoning]
    title = name or "-".join(part for part in parts if part)
    check_name(title)
    database = None if tools == "web" else database_of(release.tables)
    index = PageIndex(open_pages(pages)) if pages is not None else None
    plan = Plan(
        release,
        Configuration(title, agent, model or "none", tools, reasoning),
        agent,
        out / release.snapshot / title,
        database,
        index,
        Harness(harness, programs) if harness is not None else None,
        epochs=epochs,
        samples_at_once=at_once,
        base_url=base_url,
        spending=spending,
        task_ids=tuple(task or ()),
        scripts=scripts_of(agent, release, database, epochs, source, index),
    )
    ended = evaluate(plan)
    print(f"attempts: {ended.folder} ({ended.done} of {ended.wanted} done)")
    _tell_of_failures(ended.folder)
    if ended.budget_spent:
        print(
            f"the budget of the run is spent: {ended.wanted - ended.done} attempts are left. "
            "Run it again with a larger one; nothing is paid twice.",
            file=sys.stderr,
        )
    if release.private is not None and ended.done:
        _grade(snapshot, ended.folder, ended.folder / TABLES_FOLDER, workers=1, as_json=False)


def _tell_of_failures(folder: Path) -> None:
    """Say how many attempts the infrastructure ended, and how the first of them did."""
    errors = infra_errors(folder)
    if errors:
        print(
            f"{len(errors)} attempts were ended by the infrastructure, the first with: "
            f"{errors[0]}. The same command goes on with them.",
            file=sys.stderr,
        )


def _check_options(
    agent: str, model: str | None, harness: str | None, tools: str, pages: Path | None
) -> None:
    """Raise InputError for options that contradict each other."""
    if (agent in ("react", "harness")) != (model is not None):
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
    if tools not in ("data", "web", "data+web"):
        raise InputError("--tools", tools, "data, web or data+web", "Choose one of these.")
    if ("web" in tools) != (pages is not None):
        raise InputError(
            "--tools and --pages", f"tools {tools}, pages {pages}", "pages with web alone",
            "Give --pages DIR with --tools web or data+web; `benchmint pages` makes it.",
        )  # fmt: skip
    if agent == "web-reader" and pages is None:
        raise InputError(
            "--agent", agent, "captured pages to read", "Give --tools web and --pages DIR."
        )


def grade_command(
    logs: Annotated[Path, typer.Argument(help="A folder of attempts.")],
    snapshot: Annotated[Path, typer.Option(help="The release that was run, with private/.")],
    out: Annotated[
        Path | None, typer.Option(help="Where to write the tables; by default LOGS/scores.")
    ] = None,
    processes: Processes = 1,
    as_json: Json = False,
) -> None:
    """Grade attempts again, without running anything, and write the tables of scores."""
    _grade(snapshot, logs, out or logs / TABLES_FOLDER, workers=processes, as_json=as_json)


def _grade(snapshot: Path, logs: Path, out: Path, *, workers: int, as_json: bool) -> None:
    from construction.grading.logs import grade_attempts, print_summaries, summaries
    from construction.grading.retrieval_tables import write_retrieval_tables
    from data.attempts import write_tables
    from data.canonical import pretty_json
    from data.releases.tasks import read_tasks, require_outside

    require_outside(snapshot, out)
    release = read_tasks(snapshot)
    run = grade_attempts(release, logs, workers=workers)
    write_tables(out, run.attempts, run.scores)
    write_retrieval_tables(out / "retrieval", release, run.attempts, run.scores)
    rows = summaries(run)
    if as_json:
        print(pretty_json([asdict(row) for row in rows]).decode(), end="")
    else:
        print_summaries(rows)
        print(f"tables: {out}")
