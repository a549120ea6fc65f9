"""`benchmint signals`: what people install, as weights by family, with seed ideas."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from data.errors import InputError
from flows.captures import capture_registry
from flows.mixture import MixtureRef, dated_files, read_mixture, write_mixture
from flows.recipe import SignalsRecipe, load_section


def command(
    snapshots: Annotated[
        list[Path] | None,
        typer.Argument(help="Snapshot files (CSV or JSON), the date in each name."),
    ] = None,
    registry: Annotated[
        str | None, typer.Option(help="Base URL of a registry to collect from first.")
    ] = None,
    date: Annotated[
        dt.datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="Date of files whose names tell none."),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Configuration with [signals].")] = None,
    out: Annotated[Path, typer.Option(help="Where to write.")] = Path("signals"),
) -> None:
    """Write weights, patterns, seed ideas, tables and the chart of the newest snapshot."""
    recipe = load_section(SignalsRecipe, "signals", config)
    files = list(snapshots or ())
    if registry is not None:
        today = dt.datetime.now(dt.UTC).date()
        files.append(capture_registry(registry, recipe, out, today))
    if not files:
        raise InputError("signals", "no snapshot", "files or --registry", "Name at least one.")
    dated = dated_files(files, date.date() if date else None)
    write_mixture(recipe, out / "snapshots", dated, out, quiet=False)
    _show(read_mixture(out, dated), out)


def _show(mixture: MixtureRef, out: Path) -> None:
    report = mixture.report
    title = f"{report['source']}, {report['date']}: {report['measure']}, {report['counting']}"
    table = Table("family", "weight", title=title, box=None)
    for row in sorted(report["families"], key=lambda row: -row["weight"]):
        table.add_row(Text(row["family"]), f"{row['weight']:.1%}")
    console = Console(highlight=False)
    console.print(table)
    share, meta = report["uncategorized_share"], report["meta_share"]
    console.print(f"uncategorized {share:.1%}, agents working on themselves {meta:.1%} of the mass")
    console.print(f"{sum(seed['ideas'] for seed in report['seeds'])} seed ideas; written to {out}")
