"""`benchmint releases`: which snapshots there are, and which verify."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from data.canonical import pretty_json
from data.errors import InputError
from data.releases import State, releases
from data.releases.print import print_releases


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
        existing = "a file" if out.exists() else "nothing"
        todo = "Check --out, or run `benchmint build` first."
        raise InputError(str(out), existing, "a directory that was built into", todo)
    infos = releases(out / "snapshots", check=not quick)
    if as_json:
        print(pretty_json([asdict(info) for info in infos]).decode(), end="")
    else:
        print_releases(infos)
    bad = any(info.state in (State.FAILED, State.UNREADABLE) for info in infos)
    raise typer.Exit(1 if bad else 0)
