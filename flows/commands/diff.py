"""`benchmint diff`: what changed from one release to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from data.canonical import pretty_json
from data.releases import Diff, diff, facts_of_snapshot
from data.releases.diff import Changed, value
from data.releases.listing import find_snapshot

_NAMED = 50  # ids named of a kind; --json names all


def command(
    old: Annotated[str, typer.Argument(help="A snapshot: its path, or its name in --out.")],
    new: Annotated[str, typer.Argument(help="The snapshot that came after it.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    out: Annotated[Path, typer.Option(help="The directory that was built into.")] = Path(
        "workspace"
    ),
) -> None:
    """Tasks added, removed and changed; churn, weights, funnel, privacy and recipe."""
    found = [find_snapshot(name, out / "snapshots") for name in (old, new)]
    told = diff(*(facts_of_snapshot(path) for path in found))
    if as_json:
        print(pretty_json(asdict(told) | {"fields": told.fields}).decode(), end="")
    else:
        print("\n".join(_lines(told)))


def _lines(told: Diff) -> Iterator[str]:
    before, after = told.counts
    yield f"{told.old} → {told.new}: {before} → {after} tasks"
    churn = told.churn
    yield (
        f"churn: {churn.new:.1%} of the new release is new, {churn.gone:.1%} of the old is gone, "
        f"turnover {churn.turnover:.1%}"
    )
    yield from _ids("added", told.added)
    yield from _ids("removed", told.removed)
    yield from _ids("same content under another id", [f"{a} → {b}" for a, b in told.renamed])
    yield from _ids("changed", [f"{id_}: {', '.join(f)}" for id_, f in told.changed.items()])
    yield from _ids("re-used ids with another prompt or other files", told.reused)
    if not told.graded:
        yield "graders' parts: not compared, a private half is missing"
    yield from _rows("tasks by family", told.families)
    if told.distance is not None:
        yield from _rows(f"mixture (total variation {told.distance:.3f})", told.weights)
    yield from _rows("funnel (passed of in)", told.funnel)
    yield from _rows("rejections", told.rejections)
    yield from _rows("privacy and licence", told.privacy)
    yield from _rows("recipe", told.recipe)
    yield from _rows("made with", told.made_with)
    kept = told.inputs
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
