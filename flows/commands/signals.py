"""`benchmint signals`: what people install, as weights by family, with seed ideas."""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from data.atomic import replacing_dir
from data.errors import InputError
from flows.captures import capture_registry
from flows.ideas import Suggested, have_ideas, known_prompts, seeds_of, summary, write_ideas
from flows.mixture import MixtureRef, dated_files, read_mixture, write_mixture
from flows.recipe import load_settings


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
        raise InputError("signals", "no snapshot", "files or --registry", "Name at least one.")
    dated = dated_files(files, date.date() if date else None)
    write_mixture(recipe, out / "snapshots", dated, out, quiet=False)
    mixture = read_mixture(out, dated)
    _show(mixture)
    known = known_prompts(settings.recipe, settings.runtime)
    had = have_ideas(seeds_of(mixture.report), known, settings.recipe, settings.runtime)
    _hand_over(had, out / "ideas")
    print(f"{summary(had)}; written to {out}")


def _hand_over(had: Suggested, folder: Path) -> None:
    """Put the ideas and their books in the place of those of an earlier run."""
    shutil.rmtree(folder, ignore_errors=True)
    with replacing_dir(folder) as part:
        write_ideas(had, part)


def _show(mixture: MixtureRef) -> None:
    report = mixture.report
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
