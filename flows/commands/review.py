"""`benchmint review export` and `import`: what judges disagree on, decided by people."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from construction.judging.review import Topic, read_items, record, recorded
from construction.judging.review_sheet import csv_sheet, read_decisions, xlsx_sheet
from construction.judging.review_table import ENCODINGS, SheetLimits
from data import hash_chain
from data.atomic import PRIVATE_FILE, write_bytes
from data.errors import InputError
from data.snapshot.pages import amount

FOLDER = "review"
_SHOWN = 20  # bad rows that are listed one by one

Out = Annotated[Path, typer.Option(help="The directory that was built into.")]


def export_command(
    sheet: Annotated[Path, typer.Argument(help="Where to write the sheet: .csv or .xlsx.")],
    topic: Annotated[Topic | None, typer.Option(help="Only this topic.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a sheet, and the decisions in it.")
    ] = False,
    decided: Annotated[bool, typer.Option(help="Also export what is decided already.")] = False,
    out: Out = Path("workspace"),
) -> None:
    """Write what judges disagree on as a sheet with room for decisions; the look is logged."""
    writer = {".csv": csv_sheet, ".xlsx": xlsx_sheet}.get(sheet.suffix.lower())
    if writer is None:
        actual = f"the extension {sheet.suffix or '(none)'}"
        raise InputError(str(sheet), actual, ".csv or .xlsx", "Use one of these extensions.")
    folder = out / "private" / FOLDER
    known = recorded(folder)
    items = [
        item
        for item in read_items(folder)
        if topic in (None, item.topic) and (decided or item.key not in known)
    ]
    if sheet.exists() and not force:
        todo = "Import its decisions first, choose another name, or replace it with --force."
        raise InputError(str(sheet), "a file", "no file yet", todo)
    hash_chain.record_access(out / "private" / "access.log", "review export", str(len(items)))
    write_bytes(sheet, writer(items), mode=PRIVATE_FILE)
    print(f"{amount(len(items), 'item')} to decide in {sheet}")


def import_command(
    sheet: Annotated[Path, typer.Argument(help="The filled sheet: .csv or .xlsx.")],
    reviewer: Annotated[str, typer.Option(help="Who decided, for rows that name nobody.")] = "",
    encoding: Annotated[
        str, typer.Option(help=f"Encoding of a CSV sheet: {', '.join(ENCODINGS)}.")
    ] = "utf-8",
    out: Out = Path("workspace"),
) -> None:
    """Record the decisions of a sheet; the next build follows them. Exit 1 if rows were bad."""
    folder = out / "private" / FOLDER
    sheet_rows = read_decisions(
        sheet,
        read_items(folder),
        SheetLimits(),
        encoding=encoding,
        reviewer=reviewer,
        today=datetime.now(UTC).date(),
    )
    new = record(folder, sheet_rows.decisions)
    known = len(sheet_rows.decisions) - new
    print(f"{amount(new, 'decision')} recorded, {known} known, {sheet_rows.undecided} undecided")
    for row in sheet_rows.bad_rows[:_SHOWN]:
        print(f"row {row.line} not used: {row.reason}")
    for reason, count in sorted(Counter(row.reason for row in sheet_rows.bad_rows).items()):
        print(f"{reason}: {amount(count, 'row')}")
    raise typer.Exit(1 if sheet_rows.bad_rows else 0)
