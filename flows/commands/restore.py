"""`benchmint restore`: masked files and their vault give the originals back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anonymization.documents.scopes import FILES, VAULTS, restore_folder
from data import hash_chain
from data.errors import InputError
from data.randomness import release_key
from data.snapshot.pages import amount


def command(
    directory: Annotated[Path, typer.Argument(help="The folder that `benchmint mask` wrote.")],
    out: Annotated[Path, typer.Option(help="Where to write the originals.")],
    vault: Annotated[
        Path | None, typer.Option(help="A vault or a folder of them [private/vaults].")
    ] = None,
    key: Annotated[Path | None, typer.Option(help="Release key [private/release.key].")] = None,
) -> None:
    """Write the original files, byte for byte; a tampered vault or file is refused."""
    private = directory / "private"
    key_path = key or private / "release.key"
    if not key_path.is_file():
        raise InputError(
            str(key_path), "no release key", "the key used for masking", "Name it with --key."
        )
    files = directory / FILES if (directory / FILES).is_dir() else directory
    names = restore_folder(files, vault or private / VAULTS, release_key(key_path), out)
    if private.is_dir():
        hash_chain.record_access(private / "access.log", "restore", str(len(names)))
    print(f"{amount(len(names), 'file')} restored in {out}")
