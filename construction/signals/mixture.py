"""Analyses popularity snapshots and writes the mixture of families with its tables and chart."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from construction.signals.analyse import analyse
from construction.signals.chart import STYLE, draw, mixture_panel
from construction.signals.codebook import default_codebook
from construction.signals.collect import Collected, collect_file, save_snapshot
from construction.signals.config import SignalsRecipe
from construction.signals.crosswalk import default_crosswalk, spread
from construction.signals.needs import needs_by_pattern
from construction.signals.report import SnapshotReport, report_data, table_rows
from construction.signals.seeds import seed_ideas
from construction.signals.weights import DatedMixture, MixtureChange, change
from data.atomic import write_bytes
from data.canonical import pretty_json
from data.contracts import SignalSnapshot
from data.errors import InputError
from data.figures import percent
from data.progress import track
from data.schemas import PATTERNS, SIGNAL_PATTERNS, SIGNALS, WEIGHTS
from data.snapshot.release import Picture
from data.tables import LEDGER, TALLIES, ledger_record, tally_records, write_table

Dated = Sequence[tuple[dt.date, Path]]
REPORT, CHART, INLINE = "signals.json", "mixture.svg", "mixture-inline.svg"
_DATE = re.compile(r"(\d{4}-\d{2})(-\d{2})?")


def date_of(path: Path, otherwise: dt.date | None = None) -> dt.date:
    """The date in a snapshot's file name; a month without a day means its first day.

    Raises InputError if the name holds no date and `otherwise` is not given.
    """
    match = _DATE.search(path.name)
    try:
        return dt.date.fromisoformat(f"{match[1]}{match[2] or '-01'}" if match else "")
    except ValueError:
        if otherwise is not None:
            return otherwise
        expected = "a date as YYYY-MM-DD or YYYY-MM in the file name"
        raise InputError(str(path), "no date", expected, "Rename it, or use --date.") from None


def write_mixture(
    recipe: SignalsRecipe, snapshots: Path, dated: Dated, out: Path, *, quiet: bool
) -> None:
    """Collect each snapshot into the store, analyse the newest, and write tables and figures."""
    collected = [
        collect_file(path, recipe.source, date, recipe.collect)
        for date, path in track(dated, "signals", len(dated), "day", quiet=quiet)
    ]
    for collection in collected:
        save_snapshot(snapshots, collection.snapshot, replace=True)
    newest = collected[-1]
    analysis = analyse(newest.snapshot.signals, recipe.analysis)
    moved = _change(collected, recipe) if len(collected) > 1 else None
    crosswalk = default_crosswalk()
    seeds = seed_ideas(analysis.mixture, default_codebook(), crosswalk, recipe.analysis)
    least = recipe.analysis.scoring.least_main_share
    report = SnapshotReport(newest.snapshot, analysis, crosswalk, seeds, None, moved, least)
    _write_tables(out, newest, report)
    signals, measure = newest.snapshot.signals, recipe.analysis.measure
    masses = {signal.slug: float(signal.popularity[measure]) for signal in signals}
    figures = report_data(report) | {
        "task_weights": spread(analysis.mixture.weights, crosswalk.signal_to_task).weights,
        "needs": needs_by_pattern(signals, analysis.assignments, masses),
    }
    write_bytes(out / REPORT, pretty_json(figures))
    names = {name: family.name for name, family in default_codebook().families.items()}
    panels = [mixture_panel(analysis.mixture, names, moved)]
    title = f"Mixture of {newest.snapshot.source}, {newest.snapshot.date}"
    write_bytes(out / INLINE, draw(panels, title).encode())
    write_bytes(out / CHART, draw(panels, title, standalone=True).encode())


def _change(collected: Sequence[Collected], recipe: SignalsRecipe) -> MixtureChange:
    """The change since the previous snapshot, on tops of equal size."""
    before, after = collected[-2].snapshot, collected[-1].snapshot
    depth = min(len(before.signals), len(after.signals))
    return change(*(_mixture(_top(snapshot, depth), recipe) for snapshot in (before, after)))


def _top(snapshot: SignalSnapshot, depth: int) -> SignalSnapshot:
    heaviest = sorted(
        snapshot.signals, key=lambda signal: (-signal.popularity[snapshot.measure], signal.slug)
    )
    kept = tuple(sorted(heaviest[:depth], key=lambda signal: signal.slug))
    return SignalSnapshot(snapshot.date, snapshot.source, snapshot.measure, kept, snapshot.digest)


def _mixture(snapshot: SignalSnapshot, recipe: SignalsRecipe) -> DatedMixture:
    mixture = analyse(snapshot.signals, recipe.analysis).mixture
    return DatedMixture(snapshot.source, snapshot.date, snapshot.digest, mixture)


def _write_tables(out: Path, collected: Collected, report: SnapshotReport) -> None:
    rows = table_rows(report)
    for table in (SIGNALS, SIGNAL_PATTERNS, PATTERNS, WEIGHTS):
        write_table(out / f"{table.name}.parquet", rows[table.name], table.schema)
    write_table(out / "ledger.parquet", map(ledger_record, collected.ledger), LEDGER)
    tallies = [record for tally in collected.tallies for record in tally_records(tally)]
    write_table(out / "tallies.parquet", tallies, TALLIES)


def dated_files(paths: Sequence[Path], otherwise: dt.date | None = None) -> Dated:
    """Snapshot files by the date in their names, oldest first."""
    return sorted((date_of(path, otherwise), path) for path in paths)


def snapshot_files(given: Sequence[Path]) -> list[Path]:
    """Files as they are, folders as the files in them by name; a folder may not be there yet."""
    files: list[Path] = []
    for path in given:
        inside = path.glob("*") if path.is_dir() else ()
        files += [path] if path.is_file() else sorted(file for file in inside if file.is_file())
    return files


_PUBLIC = (
    *("source", "date", "snapshot_digest", "codebook_digest", "crosswalk_digest", "signals"),
    *("measure", "counting", "total_mass", "uncategorized_share", "meta_share"),
    *("families", "task_weights", "unmapped", "change", "sure_families"),
)
_PUBLIC_IDEA = ("idea_id", "seed", "task_family", "title", "artifact", "graded", "minutes", "judge")


def mixture_report(folder: Path) -> dict[str, Any]:
    """The figures of the newest snapshot."""
    report: dict[str, Any] = orjson.loads((folder / REPORT).read_bytes())
    return report


def print_mixture(report: Mapping[str, Any]) -> None:
    """Print the weights of the families, heaviest first, and what stands outside them."""
    title = f"{report['source']}, {report['date']}: {report['measure']}, {report['counting']}"
    change = report["change"]
    points = {row["name"]: row["points"] for row in change["families"]} if change else {}
    weights = dict.fromkeys(points, 0.0) | {r["family"]: r["weight"] for r in report["families"]}
    columns = ("family", "weight", *((f"since {change['before']}",) if change else ()))
    table = Table(*columns, title=title, box=None)
    for family, weight in sorted(weights.items(), key=lambda item: (-item[1], item[0])):
        moved = [f"{points.get(family, 0.0):+.1f} points"] if change else []
        table.add_row(Text(family), percent(weight), *moved)
    console = Console(highlight=False)
    console.print(table)
    sure = report["sure_families"]
    console.print(
        f"{sure['signals']} of {report['signals']} signals have a sure main family "
        f"({percent(sure['mass_share'])} of the mass); the others are shared between families"
    )
    share, meta = report["uncategorized_share"], report["meta_share"]
    console.print(
        f"uncategorized {percent(share)}, agents working on themselves {percent(meta)} of the mass"
    )
    seeds, wanted = report["seeds"], sum(seed["ideas"] for seed in report["seeds"])
    console.print(f"{len(seeds)} seed ideas, to become {wanted} tasks")


def task_weights(signals: Sequence[Path]) -> Mapping[str, float]:
    """Weights by task family (sum 1); none without the signals lane."""
    weights: Mapping[str, float] = mixture_report(signals[0])["task_weights"] if signals else {}
    return weights


def pattern_needs(signals: Sequence[Path]) -> Mapping[str, Mapping[str, float]]:
    """`needs_by_pattern` of the newest snapshot; empty without the signals lane."""
    needs: Mapping[str, Any] = mixture_report(signals[0])["needs"] if signals else {}
    return needs


def public_mixture(signals: Path, ideas: Path) -> dict[str, Any]:
    """What a release says of the mixture: figures by family and pattern, no skill by name.

    `ideas` is the file of candidate ideas, a JSON object per line.
    """
    report = mixture_report(signals)
    lines = ideas.read_bytes().splitlines()
    return {
        **{name: report[name] for name in _PUBLIC},
        "patterns": [_without(row, "heaviest") for row in report["patterns"]],
        "seeds": [_without(row, "signals") for row in report["seeds"]],
        "ideas": [{k: idea[k] for k in _PUBLIC_IDEA} for idea in map(orjson.loads, lines)],
    }


def mixture_picture(signals: Path) -> Picture:
    """The chart of the mixture."""
    inline, standalone = ((signals / name).read_text("utf-8") for name in (INLINE, CHART))
    return Picture("Mixture", inline, standalone, STYLE)


def _without(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != name}
