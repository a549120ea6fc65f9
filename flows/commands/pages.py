"""Captured pages for the tools `search` and `fetch`: `pages import` and `pages statements`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from data.errors import InputError
from flows.commands.options import WriteTo

Folder = Annotated[Path, typer.Argument(help="Folder of saved pages: HTML, PDF, text.")]


def pages_import_command(
    folder: Folder,
    table: Annotated[
        Path,
        typer.Option(help="CSV with the columns file and url; captured and title are optional."),
    ],
    out: WriteTo = Path("pages"),
) -> None:
    """Turn saved pages into a folder for `benchmint evaluate --pages`.

    Exits with 1 if none can be used.
    """
    from construction.webpages.importing import import_pages

    done = import_pages(folder, table, out)
    print(f"pages: {done.folder.n_pages:,} in {out}, SHA-256 {done.folder.digest}")
    for reason, n in sorted(done.refused.items()):
        print(f"not read: {n:,} {reason}")
    if not done.folder.n_pages:
        raise typer.Exit(1)


def pages_statements_command(
    snapshot: Annotated[Path, typer.Argument(help="A release with questions.")],
    out: WriteTo = Path("pages"),
) -> None:
    """Write the statements behind a release's questions as web pages, rounded as sites print them.

    The pages are made by rule from the public tables; answers are not read.
    """
    from construction.webpages.pages import write_pages
    from construction.webpages.statement_pages import statement_pages
    from data.atomic import replacing_dir
    from data.releases.tasks import read_tasks

    if out.exists():
        raise InputError(str(out), "an existing path", "a new folder", "Choose another one.")
    pages = statement_pages(read_tasks(snapshot).tables)
    with replacing_dir(out) as part:
        written = write_pages(part, pages)
    print(f"pages: {written.n_pages:,} in {out}, SHA-256 {written.digest}")
