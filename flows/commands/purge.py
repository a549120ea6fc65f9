"""`benchmint purge`: retention of private stores, and pruning of staged runs."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from construction.judging.calls.retention import forget_replies, with_replies
from data.builds import building
from data.errors import InputError
from data.releases import carry_out, plan_purge, replies_needed
from data.releases.print import purge_lines


def command(
    before: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"],
            help="Remove private halves of releases made before this date, and files written to "
            "the private stores before it.",
        ),
    ] = None,
    keep_runs: Annotated[
        int | None, typer.Option(min=1, help="Keep only the newest N staged runs.")
    ] = None,
    all_replies: Annotated[
        bool,
        typer.Option(
            "--all-replies",
            help="With --before: also remove old model replies that rebuilding a release needs.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would be removed; remove nothing.")
    ] = False,
    out: Annotated[Path, typer.Option(help="The directory that was built into.")] = Path(
        "workspace"
    ),
) -> None:
    """Remove what retention no longer allows; the newest verified release always stays."""
    if before is None and keep_runs is None:
        raise InputError("purge", "no limit", "--before or --keep-runs", "Name a limit.")
    if not out.is_dir():
        raise InputError(str(out), "nothing", "a directory that was built into", "Check --out.")
    if before is not None and before.date() > datetime.now(UTC).date():
        raise InputError("--before", "a date in the future", "today or earlier", "Check the date.")
    with building(out):
        plan = plan_purge(out, before.date() if before else None, keep_runs)
        forget = None
        if before is not None:
            needed = frozenset() if all_replies else replies_needed(out, plan)
            plan = with_replies(out, plan, before.date(), needed)
            forget = partial(forget_replies, before=before.date(), releases=needed)
        if not dry_run:
            carry_out(out, plan, forget)
    print("\n".join(purge_lines(plan, dry_run=dry_run)))
