"""`benchmint purge`: retention of private stores, and pruning of staged runs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from construction.judging.calls.retention import forget_replies, old_replies
from data.errors import InputError
from data.releases import REPLIES, Kind, Plan, Removal, carry_out, plan_purge, replies_needed
from flows.run import building

_UNITS = ("B", "KB", "MB", "GB", "TB")


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
            plan = _with_replies(out, plan, before.date(), needed)
            forget = partial(forget_replies, before=before.date(), releases=needed)
        if not dry_run:
            carry_out(out, plan, forget)
    print("\n".join(_lines(plan, dry_run=dry_run)))


def _with_replies(out: Path, plan: Plan, before: date, needed: frozenset[str]) -> Plan:
    """The plan with the model replies that are old enough, by the times in their store."""
    if any((out / part).is_symlink() for part in ("private/captures", REPLIES)):
        return Plan(plan.removals, (*plan.kept, (REPLIES, "a symbolic link is never followed")))
    found = old_replies(out / REPLIES, before, needed)
    kept, removals = list(plan.kept), list(plan.removals)
    if found.unknown:
        why = "a release needs replies that the store does not know of: --all-replies removes them"
        kept += [(REPLIES, why)] if found.needed else []
    elif found.needed:
        kept.append((REPLIES, f"{found.needed} replies, for the releases that were made of them"))
    if found.since is not None:
        removals.append(Removal(Kind.REPLIES, REPLIES, found.since, found.replies, found.size))
    return Plan(tuple(removals), tuple(kept))


def _lines(plan: Plan, *, dry_run: bool) -> Iterator[str]:
    for one in plan.removals:
        unit = "replies" if one.kind is Kind.REPLIES else "files"
        yield f"{one.kind}: {one.where}: {one.since}, {one.files} {unit}, {_size(one.size)}"
    for where, why in plan.kept:
        yield f"stays: {where}: {why}"
    whole = _size(sum(one.size for one in plan.removals))
    did = "would be removed" if dry_run else "removed, logged in private/access.log"
    yield f"{len(plan.removals)} entries, {whole}: {did}" if plan.removals else "nothing to remove"
    if any(one.kind is Kind.RUN for one in plan.removals) and not dry_run:
        yield "staging.duckdb was built again without the runs"


def _size(n_bytes: int) -> str:
    size = float(n_bytes)
    for unit in _UNITS:
        if size < 1000 or unit == _UNITS[-1]:
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
