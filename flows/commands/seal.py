"""`benchmint seal`: destroy the key and the mapping of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anonymization.tables.seal import seal, to_destroy
from data.builds import building


def command(
    directory: Annotated[
        Path, typer.Argument(help="A folder written by `benchmint build` or `perturb`.")
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Destroy release key and mapping: nobody can link or rebuild from the originals again."""
    to_destroy(directory)  # asks about nothing where there is nothing
    if not yes:
        typer.confirm(f"Destroy key and mapping in {directory / 'private'} for good?", abort=True)
    with building(directory):
        sealed = seal(directory)
    print(f"destroyed: {', '.join(sealed.destroyed)}")
    print("A key kept elsewhere (--key) and copies in backups must be destroyed by hand.")
