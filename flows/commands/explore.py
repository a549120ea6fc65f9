"""`benchmint explore`: an installed DuckDB shell on the newest run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from data.staging.shells import Shell, open_shell


def command(
    shell: Annotated[
        Shell | None, typer.Option(help="Which shell; default: the first that is installed.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The directory that was built into.")] = Path(
        "workspace"
    ),
) -> None:
    """Open harlequin or the duckdb shell, read-only and without access to files."""
    raise typer.Exit(open_shell(out / "staging.duckdb", shell))
