"""Judged attempts and tasks: `agents judge`, `rules`, `review export` and `review import`.

A model scores what graders cannot, and people check a part of it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

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
from data.errors import InputError
from data.figures import amount
from flows.commands.options import WORKSPACE, BuiltInto

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
        int | None, typer.Option(min=1, help="Maximum tokens for all questions together.")
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
    """Score what a program cannot grade, and rewrite the tables; replies are kept."""
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
    topic: Annotated[Topic | None, typer.Option(help="Only this topic.")] = None,
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
