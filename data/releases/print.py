"""Printing releases, their differences, and what retention removes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from data.errors import program
from data.figures import amount, percent
from data.releases.diff import Changed, Diff, value
from data.releases.listing import ReleaseInfo, State
from data.releases.retention import Kind, Plan

if TYPE_CHECKING:
    from data.releases.diff import Changes

_NAMED = 50  # ids named of a kind; --json names all
_WIDE = 10_000
_UNITS = ("B", "KB", "MB", "GB", "TB")


def changes_lines(changes: Changes) -> Iterator[str]:
    """As `_diff_lines`, and why tasks left and came."""
    yield from _diff_lines(changes.diff)
    for title, fates in (("why retired", changes.retired), ("why new", changes.new)):
        yield from _ids(title, [f"{fate.task} ({fate.family}): {fate.why}" for fate in fates])


def _diff_lines(changes: Diff) -> Iterator[str]:
    """What changed from one release to another, in lines for a person."""
    before, after = changes.counts
    yield f"{changes.old} → {changes.new}: {before} → {after} tasks"
    churn = changes.churn
    yield (
        f"churn: {percent(churn.new)} of the new release is new, {percent(churn.gone)} of the old "
        f"is gone, turnover {percent(churn.turnover)}"
    )
    yield from _ids("added", changes.added)
    yield from _ids("removed", changes.removed)
    yield from _ids("same content under a different ID", [f"{a} → {b}" for a, b in changes.renamed])
    yield from _ids("changed", [f"{id_}: {', '.join(f)}" for id_, f in changes.changed.items()])
    yield from _ids("reused IDs with a different prompt or different files", changes.reused)
    if not changes.graded:
        yield "graders' parts: not compared, a private half is missing"
    yield from _rows("tasks by family", changes.families)
    if changes.distance is not None:
        yield from _rows(f"mixture (total variation {changes.distance:.3f})", changes.weights)
    yield from _rows("funnel (passed of in)", changes.funnel)
    yield from _rows("rejections", changes.rejections)
    yield from _rows("privacy and licence", changes.privacy)
    yield from _rows("recipe", changes.recipe)
    yield from _rows("made with", changes.made_with)
    kept = changes.inputs
    yield f"inputs: {kept['added']} added, {kept['removed']} removed, {kept['kept']} kept"


def _ids(title: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"\n{title} ({len(names)}):"
        yield from (f"  {name}" for name in names[:_NAMED])
        if len(names) > _NAMED:
            yield f"  and {len(names) - _NAMED} more: see --json"


def _rows(title: str, rows: Sequence[Changed]) -> Iterator[str]:
    if rows:
        yield f"\n{title}:"
        yield from (f"  {row.name}: {value(row.before)} → {value(row.after)}" for row in rows)


def print_releases(infos: Sequence[ReleaseInfo]) -> None:
    """Print a row per release, or how to make the first info."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _WIDE  # piped: one line a row, nothing cut
    if not infos:
        console.print(f"There are no releases here. Make one: {program()} build")
        return
    heads = ("", "snapshot", "date", "version", "tasks", "privacy", "halves", "state", "digest")
    table = Table(*heads, box=None)
    for info in infos:
        failed = info.state is State.FAILED
        state = amount(info.findings, "finding") if failed else str(info.state)
        table.add_row(
            "latest" if info.latest else "",
            info.snapshot,
            info.released or "",
            info.version or "",
            "" if info.tasks is None else str(info.tasks),
            info.privacy or "",
            "both" if info.private else "public",
            state,
            (info.digest or "")[:16],
        )
    console.print(table)


def purge_lines(plan: Plan, *, dry_run: bool) -> Iterator[str]:
    """What is removed, what stays and why, in lines for a person."""
    for removal in plan.removals:
        unit = "replies" if removal.kind is Kind.REPLIES else "files"
        amounts = f"{removal.files} {unit}, {_size(removal.size)}"
        yield f"{removal.kind}: {removal.where}: {removal.since}, {amounts}"
    for where, why in plan.kept:
        yield f"stays: {where}: {why}"
    whole = _size(sum(removal.size for removal in plan.removals))
    did = "would be removed" if dry_run else "removed, logged in private/access.log"
    yield f"{len(plan.removals)} entries, {whole}: {did}" if plan.removals else "nothing to remove"
    if any(removal.kind is Kind.RUN for removal in plan.removals) and not dry_run:
        yield "staging.duckdb was rebuilt without the runs"


def _size(n_bytes: int) -> str:
    size = float(n_bytes)
    for unit in _UNITS:
        if size < 1000 or unit == _UNITS[-1]:
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
