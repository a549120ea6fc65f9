"""Commands of the group `agents` that run or judge: `agents pilot`, `judge`, `skills`, `rules` and
`review`."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from construction.judging.calls.contracts import Mode
from construction.judging.review import (
    ENCODINGS,
    SheetLimits,
    Topic,
    import_lines,
    items_to_decide,
    read_decisions,
    read_items,
    record,
    sheet_writer,
)
from data import hash_chain
from data.atomic import PRIVATE_FILE, write_bytes
from data.attempts import TABLES_FOLDER
from data.errors import InputError, require_extra
from data.figures import amount
from data.progress import keep_telling
from flows.commands.build import checked_settings, print_built, print_plan
from flows.commands.evaluate import ATTEMPTS, Snapshot
from flows.commands.table import WORKSPACE, BuiltInto, Config, Key, WriteTo, given
from flows.server import own_server

if TYPE_CHECKING:
    from flows.evaluate.plan import Request
    from flows.evaluate.skills import Order, Study
    from flows.recipe import Settings

FOLDER = "review"


def judge_command(
    attempts: Annotated[Path, typer.Argument(help="Folder of attempts at one release.")],
    snapshot: Annotated[Path, typer.Option(help="The release that was run, with private/.")],
    model: Annotated[
        str, typer.Option(help="The judge model: the same one for a whole leaderboard.")
    ],
    base_url: Annotated[
        str, typer.Option(help="URL of an OpenAI-compatible server.")
    ] = "http://127.0.0.1:8000/v1",
    mode: Annotated[
        Mode,
        typer.Option(
            help="record: call the model and keep replies; replay: use only kept replies."
        ),
    ] = Mode.RECORD,
    most_tokens: Annotated[
        int | None, typer.Option(min=1, help="Maximum tokens for all requests together.")
    ] = None,
    packets: Annotated[
        int,
        typer.Option(min=0, help="Number of attempts for people to judge too (`review export`)."),
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed for drawing the packets.")] = 0,
    hide: Annotated[
        list[Path] | None,
        typer.Option(
            help="Key or folder to hide from the judge process; repeatable. "
            "The private folder of the release's build is always hidden."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Output directory for tables; default: ATTEMPTS/scores.")
    ] = None,
) -> None:
    """Have a model judge the parts that need a judge, and rewrite the tables; replies are kept."""
    from data.releases.tasks import require_outside
    from flows.evaluate.judging import JudgeOrder, judge, private_of_build

    tables = out or attempts / TABLES_FOLDER
    require_outside(snapshot, tables)
    if mode not in (Mode.RECORD, Mode.REPLAY, Mode.BATCH):
        raise InputError("--mode", mode, "record, replay or batch", "Choose one of these.")
    judge(
        JudgeOrder(
            attempts=attempts, snapshot=snapshot, model=model, base_url=base_url, mode=mode,
            most_tokens=most_tokens, packets=packets, seed=seed, tables=tables,
            hidden=tuple(path.resolve() for path in (*private_of_build(snapshot), *(hide or ()))),
        )
    )  # fmt: skip


def rules_check_command(
    task: Annotated[
        str,
        typer.Argument(help="A task ID, the task's folder in a private half, or its rules.json."),
    ],
    outputs: Annotated[Path, typer.Argument(help="Folder with an agent's output files.")],
    snapshot: Annotated[Path, typer.Option(help="Release in which to look up a task ID.")] = (
        WORKSPACE / "snapshots" / "latest"
    ),
    json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Print one line per rule; exit with 1 if any fails."""
    from construction.grading.rule_files import check_outputs, result_line, task_folder

    results = check_outputs(task_folder(task, snapshot), outputs)
    print(orjson.dumps(results).decode() if json else "\n".join(map(result_line, results)))
    raise typer.Exit(0 if all(result.passed for result in results) else 1)


def review_export_command(
    sheet: Annotated[Path, typer.Argument(help="Sheet to write: .csv or .xlsx.")],
    topic: Annotated[Topic | None, typer.Option(help="Export only cases on this topic.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite an existing sheet and the decisions in it.")
    ] = False,
    decided: Annotated[
        bool, typer.Option(help="Also export cases that are already decided.")
    ] = False,
    out: BuiltInto = WORKSPACE,
) -> None:
    """Write the cases that judges disagree on to a sheet for decisions; access is logged."""
    writer = sheet_writer(sheet)
    items = items_to_decide(out / "private" / FOLDER, topic, decided=decided)
    if sheet.exists() and not force:
        todo = "Import its decisions first, choose another name, or replace it with --force."
        raise InputError(str(sheet), "an existing file", "a new file", todo)
    hash_chain.record_access(out / "private" / "access.log", "review export", str(len(items)))
    write_bytes(sheet, writer(items), mode=PRIVATE_FILE)
    print(f"{amount(len(items), 'item')} to decide in {sheet}")


def review_import_command(
    sheet: Annotated[Path, typer.Argument(help="The filled sheet: .csv or .xlsx.")],
    reviewer: Annotated[str, typer.Option(help="Name of the reviewer for rows without one.")] = "",
    encoding: Annotated[
        str, typer.Option(help=f"Encoding of a CSV sheet: {', '.join(ENCODINGS)}.")
    ] = "utf-8",
    out: BuiltInto = WORKSPACE,
) -> None:
    """Record the decisions in a sheet for the next build to follow; exit with 1 on bad rows."""
    folder, today = out / "private" / FOLDER, datetime.now(UTC).date()
    items, limits = read_items(folder), SheetLimits()
    imported = read_decisions(
        sheet, items, limits, encoding=encoding, reviewer=reviewer, today=today
    )
    new = record(folder, imported.decisions)
    print("\n".join(import_lines(imported, new)))
    raise typer.Exit(1 if imported.bad_rows else 0)


def pilot_command(
    sessions: Annotated[
        list[Path] | None,
        typer.Argument(help="Session logs or folders of logs; if omitted, the demo is piloted."),
    ] = None,
    config: Config = None,
    out: Annotated[Path | None, typer.Option(help="Build directory.")] = None,
    key: Key = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            help="Pilot agent, as in `benchmint evaluate`; repeatable. Agents that use a model run "
            "once per model. Without a model, scripted agents run; their scores mean nothing."
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="Model for the pilots (provider/model); repeatable."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="URL of an OpenAI-compatible server.")
    ] = None,
    command: Annotated[
        str | None, typer.Option(help="Command line of any other agent, to run in the sandbox.")
    ] = None,
    mcp: Annotated[
        bool,
        typer.Option("--mcp", help="The --command agent reads MCP servers from $MCP_CONFIG."),
    ] = False,
    programs: Annotated[
        Path | None, typer.Option(help="Folder with the agents' programs, as for `evaluate`.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, max=100, help="Attempts per task.")] = 1,
    at_once: Annotated[
        int, typer.Option(min=1, max=500, help="Number of attempts to run at once.")
    ] = 4,
    release: Annotated[
        bool, typer.Option("--release", help="Build the next release from the scores.")
    ] = False,
    date: Annotated[
        str | None,
        typer.Option(help="Date of the next release (YYYY-MM-DD); if omitted, it is a revision."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would run and why; write nothing.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress bars and no summary.")
    ] = False,
) -> None:
    """Run pilots without access to keys, write their scores, and build a release from them."""
    require_extra("evaluate")
    from flows.evaluate.plan import requests_of

    overrides = given(sessions=sessions, out=out, key_file=key, quiet=quiet or None)
    released = _day(date)
    common = {
        "out": Path(), "base_url": base_url, "epochs": epochs, "at_once": at_once,
        "command": command, "mcp": mcp, "programs": programs,
    }  # fmt: skip
    requests = requests_of(Path(), agent or [], model or [], common)
    if dry_run:
        _print_pilots(checked_settings(config, {"runtime": overrides}), requests)
        return
    settings = checked_settings(config, {"runtime": overrides})
    with own_server():
        _pilot(settings, requests, release=release or released is not None, released=released)


def _day(text: str | None) -> dt.date | None:
    try:
        return dt.date.fromisoformat(text) if text else None
    except ValueError:
        raise InputError("--date", repr(text), "YYYY-MM-DD", "Correct --date.") from None


def _pilot(
    settings: Settings, requests: list[Request], *, release: bool, released: dt.date | None
) -> None:
    from flows.evaluate.pilots import next_release, pilot

    recipe, runtime = settings.recipe, settings.runtime
    done = pilot(recipe, runtime, requests)
    print(f"pilots on {len(done.pool.tasks)} candidates: {done.attempts}")
    print(f"scores: {done.scores}")
    built = next_release(recipe, runtime, done, released) if release else None
    if built is not None and not runtime.quiet:
        print_built(built)


def _print_pilots(settings: Settings, requests: list[Request]) -> None:
    """What would run: the stages that lead to the pool, then the pilots."""
    print_plan(settings)
    names = ", ".join(request.title for request in requests)
    print(f"Then {len(requests)} pilots would attempt the whole pool: {names}")


def skills_command(
    snapshot: Snapshot,
    consumers: Annotated[
        str,
        typer.Option(help="Agents, each with its model: codex:openai/m1,react:openai/m2."),
    ],
    creators: Annotated[
        str,
        typer.Option(help="Models that write skills, in Inspect's format: openai/m1,openai/m2."),
    ],
    base_url: Annotated[
        str | None, typer.Option(help="URL of an OpenAI-compatible server for all models.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--class", help="Use only this task class; repeatable."),
    ] = None,
    in_domain: Annotated[
        int, typer.Option(min=1, help="Maximum number of tasks to distil a skill from.")
    ] = 10,
    epochs: Annotated[int, typer.Option(min=1, max=100, help="Attempts per task.")] = 1,
    at_once: Annotated[
        int, typer.Option(min=1, max=500, help="Number of attempts to run at once.")
    ] = 4,
    attempt_seconds: Annotated[
        int | None, typer.Option(min=1, max=604_800, help="Time limit per attempt.")
    ] = None,
    attempt_tokens: Annotated[
        int | None, typer.Option(min=1, max=1 << 40, help="Maximum tokens per attempt.")
    ] = None,
    prices: Annotated[Path | None, typer.Option(help="File with prices for all models.")] = None,
    programs: Annotated[
        Path | None, typer.Option(help="Folder with the agents' programs, as for `evaluate`.")
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="Model that scores the parts that need a judge.")
    ] = None,
    judge_url: Annotated[
        str, typer.Option(help="URL of the judge's OpenAI-compatible server.")
    ] = "http://127.0.0.1:8000/v1",
    attempts: Annotated[
        Path, typer.Option(help="Folder of attempts without skills; those from `evaluate` count.")
    ] = ATTEMPTS,
    out: WriteTo = Path("skills"),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would run; write nothing.")
    ] = False,
) -> None:
    """Run consumers with and without the creators' skills, and report the changes in score."""
    require_extra("evaluate")
    from flows.evaluate.plan import Request
    from flows.evaluate.skills import Order, study

    own = Request(
        snapshot=snapshot, out=attempts, base_url=base_url, epochs=epochs, at_once=at_once,
        attempt_seconds=attempt_seconds, attempt_tokens=attempt_tokens, prices=prices,
        programs=programs,
    )  # fmt: skip
    models = _names("--creators", creators)
    order = Order(
        snapshot=snapshot, attempts=attempts, out=out,
        consumers=tuple(_consumer(own, name) for name in _names("--consumers", consumers)),
        creators=tuple(
            Request(snapshot=snapshot, out=out, model=name, base_url=base_url, prices=prices)
            for name in models
        ),
        classes=tuple(only or ()), in_domain=in_domain, judge=judge, judge_url=judge_url,
    )  # fmt: skip
    if dry_run:
        _print_plan(order)
        return
    keep_telling()
    _write(study(order), out)


def _names(option: str, text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names) or len(set(names)) < len(names):
        expected = "comma-separated names, each once"
        raise InputError(option, repr(text), expected, "Correct it.")
    return names


def _consumer(common: Request, name: str) -> Request:
    """`agent:model`, or an address without a model. Raises InputError."""
    if name.startswith(("http://", "https://")):
        return replace(common, agent=name, base_url=None, prices=None, attempt_tokens=None)
    agent, _, model = name.partition(":")
    if not model:
        expected = "AGENT:MODEL, such as codex:openai/some-model, or a URL"
        raise InputError("--consumers", repr(name), expected, "Give both parts.")
    return replace(common, agent=agent, model=model)


def _print_plan(order: Order) -> None:
    from flows.evaluate.plan import left_out
    from flows.evaluate.skills import plans_without, prepare

    release, classes, reasons = prepare(order)
    learned = sum(len(of.in_domain) for of in classes)
    tested = sum(len(of.held_out) for of in classes)
    for of in classes:
        print(f"{of.name}: {len(of.in_domain)} in-domain, {len(of.held_out)} held-out ({of.split})")
    for name, reason in reasons.items():
        print(f"left out: {name}: {reason}")
    n, m = len(order.consumers), len(order.creators)
    epochs = order.consumers[0].epochs
    print(
        f"{release.snapshot}: {n * (learned + tested) * epochs} attempts without skills, "
        f"{n * m * len(classes)} skills, {n * m * tested * epochs} attempts with skills"
    )
    for plan in plans_without(order, classes):
        for reason, n_tasks in Counter(left_out(plan).values()).most_common():
            print(f"left out for {plan.configuration.name}: {n_tasks} tasks: {reason}")
    print("Nothing was written and no model was called.")


def _write(made: Study, out: Path) -> None:
    from selection.evaluation.transfer import (
        matrix,
        transfer_markdown,
        transfer_record,
        write_transfer,
    )

    record = transfer_record(_about(made), matrix(made.pairs))
    paths = write_transfer(record, out)
    print(transfer_markdown(record), end="")
    print("\n".join(f"written: {path}" for path in paths))
    print(f"written: {out / 'private'} (private: skills, attempts and traces)")


def _about(made: Study) -> dict[str, Any]:
    """All but the figures: a skill by its digest and size, never its text."""
    skills = [
        {
            "creator": written.creator, "consumer": written.consumer,
            "task_class": written.task_class, "name": written.name, "digest": written.digest,
            "made_of": written.made_of, "attempts": len(written.attempts),
            "characters": len(written.instructions), "tokens": written.tokens,
            "cost": written.cost,
        }
        for written in made.skills
    ]  # fmt: skip
    return {
        "release": made.release,
        "release_digest": made.release_digest,
        "judge": made.judge,
        "consumer_names": list(made.consumers),
        "creator_names": list(made.creators),
        "classes": [asdict(of) for of in made.classes],
        "pairs": [asdict(pair) for pair in made.pairs],
        "skills": skills,
        "uses": [asdict(use) for use in made.uses],
        "left_out": [asdict(row) for row in made.left_out],
    }
