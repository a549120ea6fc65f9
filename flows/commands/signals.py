"""`benchmint signals`: what people install, as weights by family, with seed ideas."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from construction.judging.candidate_ideas import (
    CandidateIdeas,
    candidate_ideas,
    prompts_of_release,
    seeds_of,
    summary,
    write_ideas,
)
from construction.signals.collect import capture_registry
from construction.signals.mixture import dated_files, mixture_report, write_mixture
from data.errors import InputError
from flows.configuration import load_settings


def command(
    snapshots: Annotated[
        list[Path] | None,
        typer.Argument(help="Snapshot files (CSV or JSON), with the date in each name."),
    ] = None,
    registry: Annotated[
        str | None, typer.Option(help="Base URL of a registry to collect from first.")
    ] = None,
    date: Annotated[
        dt.datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="Date for files whose names contain none."),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Configuration (TOML).")] = None,
    out: Annotated[Path, typer.Option(help="Where to write.")] = Path("signals"),
) -> None:
    """Write weights, patterns, ideas, tables and the chart of the newest snapshot."""
    settings = load_settings(config, {"runtime": {"out": out}})
    recipe = settings.signals
    files = list(snapshots or ())
    if registry is not None:
        today = dt.datetime.now(dt.UTC).date()
        files.append(capture_registry(registry, recipe, out, today))
    if not files:
        raise InputError("signals", "no snapshot", "files or --registry", "Give at least one.")
    dated = dated_files(files, date.date() if date else None)
    write_mixture(recipe, out / "snapshots", dated, out, quiet=False)
    report = mixture_report(out)
    _show(report)
    runtime = settings.runtime
    known = prompts_of_release(runtime.release_before(settings.recipe))
    ideas = candidate_ideas(seeds_of(report), known, runtime.judges(settings.recipe))
    _hand_over(ideas, out / "ideas")
    print(f"{summary(ideas)}; written to {out}")


def _hand_over(ideas: CandidateIdeas, folder: Path) -> None:
    """Put the ideas and their books in the place of those of an earlier run, file by file.

    Nothing else in the folder is touched: it may be the user's own.
    """
    with TemporaryDirectory(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent) as part:
        write_ideas(ideas, Path(part))
        folder.mkdir(exist_ok=True)
        for made in sorted(Path(part).iterdir()):
            made.replace(folder / made.name)


def _show(report: Mapping[str, Any]) -> None:
    title = f"{report['source']}, {report['date']}: {report['measure']}, {report['counting']}"
    table = Table("family", "weight", title=title, box=None)
    for row in sorted(report["families"], key=lambda row: -row["weight"]):
        table.add_row(Text(row["family"]), f"{row['weight']:.1%}")
    console = Console(highlight=False)
    console.print(table)
    share, meta = report["uncategorized_share"], report["meta_share"]
    console.print(f"uncategorized {share:.1%}, agents working on themselves {meta:.1%} of the mass")
    seeds, wanted = report["seeds"], sum(seed["ideas"] for seed in report["seeds"])
    console.print(f"{len(seeds)} seed ideas, to become {wanted} tasks")
