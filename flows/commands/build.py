"""`benchmint build`: session logs in, a verified snapshot out.

Most is imported when it is needed: together it takes seconds.
"""

from __future__ import annotations

import datetime as dt
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from data.contracts import SourceFormat
from flows.server import own_server

if TYPE_CHECKING:
    from flows.recipe import Settings


def command(
    sessions: Annotated[
        list[Path] | None,
        typer.Argument(help="Session logs or folders of them; none: the demo workspace."),
    ] = None,
    files: Annotated[
        list[Path] | None,
        typer.Option(help="Folder that the sessions' files lie in; may be given several times."),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Configuration (TOML).")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to build.")] = None,
    sec: Annotated[
        list[Path] | None, typer.Option(help="SEC statement data sets: a zip or folder.")
    ] = None,
    edinet: Annotated[
        list[Path] | None, typer.Option(help="EDINET summaries, with the code list beside them.")
    ] = None,
    tables: Annotated[
        list[Path] | None,
        typer.Option(help="Tables to anonymize as declared in [tables]: files or folders."),
    ] = None,
    scores: Annotated[
        Path | None, typer.Option(help="Pilot scores by task id: item,family,model,score.")
    ] = None,
    last: Annotated[
        Path | None, typer.Option(help="The last release, which max_changed compares with.")
    ] = None,
    format: Annotated[
        SourceFormat | None, typer.Option(help="Read every file in this format.")
    ] = None,
    key: Annotated[Path | None, typer.Option(help="Release key; created on first use.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes for the sharded stages.")] = None,
    approvals: Annotated[
        Path | None,
        typer.Option(help="Approved pictures and PDFs: per line a SHA-256, then who approved."),
    ] = None,
    tripwires: Annotated[
        Path | None, typer.Option(help="Planted values that must never surface, one per line.")
    ] = None,
    revision: Annotated[
        bool,
        typer.Option(
            help="Write -r2, -r3, … if the name is taken by a release with another digest."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would run and why; write nothing.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress bars and no summary.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show each stage as it is logged.")
    ] = False,
) -> None:
    """Build and verify a release, and say where it lies and what was rejected."""
    started = time.perf_counter()
    given: dict[str, Any] = {
        "sessions": tuple(sessions or ()),
        "files": tuple(files or ()),
        "sec": tuple(sec or ()),
        "edinet": tuple(edinet or ()),
        "tables": tuple(tables or ()),
        "scores": scores,
        "last_release": last,
        "out": out,
        "key_file": key,
        "workers": workers,
        "approvals": approvals,
        "tripwires": tripwires,
        "revision": revision or None,
        "quiet": quiet or None,
    }
    runtime = {name: value for name, value in given.items() if value not in (None, ())}
    overrides: dict[str, Any] = {"runtime": runtime}
    if format is not None:
        overrides["source"] = {"format": format}
    if dry_run:
        settings = _checked(config, overrides)
        from flows.commands.build_plan import plan_and_report

        plan_and_report(settings)
        return
    with own_server():  # first: it is imported on one core while the other imports what follows
        settings = _checked(config, overrides)
        if verbose:
            from data.logs import tell_all

            tell_all()
        from flows.commands.build_flow import build_and_report

        build_and_report(settings, started)


def _checked(config: Path | None, overrides: dict[str, Any]) -> Settings:
    """The configuration, whose input is there, apart from the output, and complete."""
    from flows.configuration import load_settings
    from flows.source import require_input

    settings = load_settings(config, overrides).dated(dt.datetime.now(dt.UTC).date())
    require_input(settings.runtime)
    return settings
