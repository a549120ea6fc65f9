"""`benchmint demo`: a generated workspace with planted defects and the truth about them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from data.demo import generate


def command(
    directory: Annotated[Path, typer.Argument(help="Where to write; must be empty or absent.")],
    size: Annotated[int, typer.Option(min=1, help="Number of sessions.")] = 60,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Same seed, same workspace.")] = 7,
    bytes_target: Annotated[
        int | None, typer.Option("--bytes", min=1, help="Lengthen sessions to this total.")
    ] = None,
) -> None:
    """Write sessions in several formats, their files, a configuration and truth.json."""
    summary = generate(directory, size, seed, bytes_target=bytes_target)
    print(summary)
