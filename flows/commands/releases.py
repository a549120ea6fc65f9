"""`benchmint releases`: which snapshots there are, and which verify."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from data.canonical import pretty_json
from data.errors import InputError
from data.releases import ReleaseInfo, State, releases
from data.snapshot.pages import amount

_WIDE = 10_000


def command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Do not verify: read no file but manifests and sums.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[Path, typer.Option(help="The directory that was built into.")] = Path(
        "workspace"
    ),
) -> None:
    """List releases, newest first, each verified; exit 1 if one does not verify."""
    if not out.is_dir():
        found_there = "a file" if out.exists() else "nothing"
        todo = "Check --out, or run `benchmint build` first."
        raise InputError(str(out), found_there, "a directory that was built into", todo)
    found = releases(out / "snapshots", check=not quick)
    if as_json:
        print(pretty_json([asdict(one) for one in found]).decode(), end="")
    else:
        _show(found)
    bad = any(one.state in (State.FAILED, State.UNREADABLE) for one in found)
    raise typer.Exit(1 if bad else 0)


def _show(found: list[ReleaseInfo]) -> None:
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _WIDE  # piped: one line a row, nothing cut
    if not found:
        console.print("No release is here. Make one: benchmint build")
        return
    heads = ("", "snapshot", "date", "version", "tasks", "privacy", "halves", "state", "digest")
    table = Table(*heads, box=None)
    for one in found:
        failed = one.state is State.FAILED
        state = amount(one.findings, "finding") if failed else str(one.state)
        table.add_row(
            "latest" if one.latest else "",
            one.snapshot,
            one.released or "",
            one.version or "",
            "" if one.tasks is None else str(one.tasks),
            one.privacy or "",
            "both" if one.private else "public",
            state,
            (one.digest or "")[:16],
        )
    console.print(table)
