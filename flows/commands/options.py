"""Options that several commands share, and the values that were given for them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

WORKSPACE = Path("workspace")

BuiltInto = Annotated[Path, typer.Option(help="Build directory.")]
WriteTo = Annotated[Path, typer.Option(help="Output directory.")]
Config = Annotated[Path | None, typer.Option(help="Configuration file (TOML).")]
Masking = Annotated[Path | None, typer.Option(help="Configuration file with a [masking] section.")]
Key = Annotated[Path | None, typer.Option(help="Release key file; created on first use.")]
Approvals = Annotated[
    Path | None, typer.Option(help="Approved pictures and PDFs: one SHA-256 per line.")
]
PrivateValues = Annotated[
    Path | None,
    typer.Option(
        help="File of additional values to mask, one per line; optional: kind and a tab first."
    ),
]
Reviewed = Annotated[
    Path | None,
    typer.Option(help="private/words.csv from an earlier run, with your decision on each word."),
]
Sec = Annotated[
    list[Path] | None, typer.Option(help="SEC financial statement data sets: a zip or folder.")
]
Edinet = Annotated[
    list[Path] | None, typer.Option(help="EDINET summaries, with the code list in the same folder.")
]
Xbrl = Annotated[
    list[Path] | None, typer.Option(help="xBRL-JSON documents: files, zips or folders.")
]
Processes = Annotated[int, typer.Option(min=1, help="Number of processes.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def given(**values: Any) -> dict[str, Any]:
    """The options that were given, without those that are None or an empty list."""
    return {name: value for name, value in values.items() if value not in (None, [])}
