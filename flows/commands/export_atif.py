"""`benchmint export-atif`: session logs of any supported format as ATIF trajectories."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from construction.sessions.packaging.export_atif import to_atif
from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile
from construction.sessions.scan import scan
from data.atomic import write_bytes
from data.canonical import pretty_json
from data.contracts import ReadIssue, SourceFormat
from data.neutralise import one_line


def command(
    sessions: Annotated[list[Path], typer.Argument(help="Session logs or folders of them.")],
    out: Annotated[Path, typer.Option(help="Folder for one JSON file per session.")],
    format: Annotated[
        SourceFormat | None, typer.Option(help="Read every file in this format.")
    ] = None,
) -> None:
    """Write ATIF; lines and files that could not be read are named on stderr, with exit 1."""
    written = problems = 0
    for file in scan(sessions, format):
        if file.format is None:
            problems += 1
            _tell(f"{file.relative}: not read, {file.reason} ({file.label})")
            continue
        for item in read_source(SourceFile(file.path, file.relative), file.format):
            if isinstance(item, ReadIssue):
                problems += 1
                line = f"{item.source_path}:{item.line}"
                _tell(f"{line}: found {item.actual}; expected {item.expected}")
            else:
                write_bytes(out / f"{item.uid}.json", pretty_json(to_atif(item)))
                written += 1
    print(f"{written} trajectories in {out}")
    raise typer.Exit(1 if problems else 0)


def _tell(problem: str) -> None:
    print(one_line(problem), file=sys.stderr)
