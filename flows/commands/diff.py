"""`benchmint diff`: what changed from one release to another."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from data.canonical import pretty_json
from data.releases import diff, facts_of_snapshot
from data.releases.listing import find_snapshot
from data.releases.print import diff_lines


def command(
    old: Annotated[str, typer.Argument(help="A snapshot: its path, or its name in --out.")],
    new: Annotated[str, typer.Argument(help="The snapshot that came after it.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    out: Annotated[Path, typer.Option(help="The directory that was built into.")] = Path(
        "workspace"
    ),
) -> None:
    """Tasks added, removed and changed; churn, weights, funnel, privacy and recipe."""
    paths = [find_snapshot(name, out / "snapshots") for name in (old, new)]
    changes = diff(*(facts_of_snapshot(path) for path in paths))
    if as_json:
        print(pretty_json(asdict(changes) | {"fields": changes.fields}).decode(), end="")
    else:
        print("\n".join(diff_lines(changes)))
