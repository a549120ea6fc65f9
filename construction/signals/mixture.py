"""Analyses popularity snapshots and writes the mixture of families with its tables and chart.

`pictures_of` draws a release: the mixture, what the pool lacks, and the subset for manual audit.
"""

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

from construction.signals.analyse import analyse_days
from construction.signals.chart import STYLE, ChartRow, Panel, draw, gap_panel, mixture_panel
from construction.signals.codebook import default_codebook
from construction.signals.collect import Collected, collect_file, history, keep, superseded
from construction.signals.config import SignalsRecipe
from construction.signals.crosswalk import default_crosswalk, spread
from construction.signals.drift import Day, drift, drift_page, past
from construction.signals.gap import Action, CoverageGap, GapRow
from construction.signals.needs import needs_by_pattern
from construction.signals.report import SnapshotReport, report_data, table_rows
from construction.signals.seeds import seed_ideas
from data.atomic import write_bytes
from data.canonical import file_digest, pretty_json
from data.errors import InputError
from data.figures import amount, percent
from data.progress import track
from data.schemas import PATTERNS, SIGNAL_PATTERNS, SIGNALS, WEIGHTS
from data.snapshot.release import Picture
from data.tables import LEDGER, TALLIES, ledger_record, tally_records, write_table

Dated = Sequence[tuple[dt.date, Path]]
REPORT, DRIFT = "signals.json", "drift.html"
CHART, INLINE = "mixture.svg", "mixture-inline.svg"
_DATE = re.compile(r"(\d{4}-\d{2})(-\d{2})?")


def _date_of(path: Path, otherwise: dt.date | None) -> dt.date:
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


def write_mixture(recipe: SignalsRecipe, dated: Dated, out: Path, *, quiet: bool) -> None:
    """Analyse all snapshots on one scale; write the newest's tables, the history and the drift."""
    collected = [
        collect_file(path, recipe.source, date, recipe.collect)
        for date, path in track(dated, "signals", len(dated), "day", quiet=quiet)
    ]
    config, newest = recipe.analysis, collected[-1].snapshot
    analyses = analyse_days([one.snapshot.signals for one in collected], config)
    days = [Day(one.snapshot, own) for one, own in zip(collected, analyses, strict=True)]
    moved, skills = drift(days[-2], days[-1], config) if len(days) > 1 else (None, None)
    analysis, crosswalk = analyses[-1], default_crosswalk()
    seeds = seed_ideas(analysis.mixture, default_codebook(), crosswalk, config)
    least = config.scoring.least_main_share
    report = SnapshotReport(newest, analysis, crosswalk, seeds, None, moved, least)
    _write_tables(out, collected[-1], report)
    figures = report_data(report) | {
        "task_weights": spread(analysis.mixture.weights, crosswalk.signal_to_task).weights,
        "needs": needs_by_pattern(newest.signals, analysis.assignments, days[-1].masses),
        "history": past(days, [path.name for _, path in dated]),
        "drift": skills,
    }
    write_bytes(out / REPORT, pretty_json(figures))
    names = {name: family.name for name, family in default_codebook().families.items()}
    write_bytes(out / DRIFT, drift_page(figures, names).encode())
    panels = [mixture_panel(analysis.mixture, names, moved)]
    title = f"Mixture of {newest.source}, {newest.date}"
    write_bytes(out / INLINE, draw(panels, title).encode())
    write_bytes(out / CHART, draw(panels, title, standalone=True).encode())


def _write_tables(out: Path, collected: Collected, report: SnapshotReport) -> None:
    rows = table_rows(report)
    for table in (SIGNALS, SIGNAL_PATTERNS, PATTERNS, WEIGHTS):
        write_table(out / f"{table.name}.parquet", rows[table.name], table.schema)
    write_table(out / "ledger.parquet", map(ledger_record, collected.ledger), LEDGER)
    tallies = [record for tally in collected.tallies for record in tally_records(tally)]
    write_table(out / "tallies.parquet", tallies, TALLIES)


def dated_files(paths: Sequence[Path], otherwise: dt.date | None = None) -> Dated:
    """Snapshot files by the date in their names, oldest first; the same content counts once.

    Raises InputError for two snapshots of one date: which of them counts is not known.
    """
    dated: dict[dt.date, Path] = {}
    for date, path in sorted((_date_of(path, otherwise), path) for path in paths):
        known = dated.setdefault(date, path)
        if known != path and file_digest(known) != file_digest(path):
            actual, expected = f"a second snapshot of {date}", f"one: {known.name} has this date"
            raise InputError(str(path), actual, expected, "Leave one out, or change its date.")
    return sorted(dated.items())


def keep_files(
    files: Sequence[Path], captures: Path, source: str, otherwise: dt.date | None
) -> None:
    """Keep snapshot files in the folder of captures, under the dates in their names.

    Raises InputError for a name without a date, and for two files of one date.
    """
    for date, path in dated_files(files, otherwise):
        keep(captures, path.read_bytes(), source, date, path.suffix.lower())


def captured_files(captures: Path, source: str) -> Dated:
    """The last capture of each day; says which captures are not counted."""
    for kept in superseded(captures, source):
        print(f"{kept.path.name}: not counted; a later one from {kept.date} is used")
    return [(kept.date, kept.path) for kept in history(captures, source)]


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
    if change:
        moved = report["drift"]
        new, gone = (amount(len(moved[key]), "skill") for key in ("new", "gone"))
        days = amount(len(report["history"]), "day")
        console.print(f"{days} of history; since {change['before']}, {new} new and {gone} gone")
    seeds, wanted = report["seeds"], sum(seed["ideas"] for seed in report["seeds"])
    console.print(f"{len(seeds)} seed ideas for {wanted} tasks")


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


def pictures_of(signals: Sequence[Path], selection: Mapping[str, Any]) -> dict[str, Picture]:
    """By name: `audit/<name>.svg` and a section of the report, each where there are figures."""
    pictures = {"mixture": mixture_picture(signals[0])} if signals else {}
    if gap := selection.get("coverage_gap"):
        pictures["coverage-gap"] = _picture("Coverage gap", [gap_panel(_gap(gap), {})])
    if lite := selection.get("lite"):
        heading = f"Lite subset for manual audit: {lite['size']} of {lite['pool_size']} tasks"
        pictures["lite-subset"] = _picture(heading, [_margin(row) for row in lite["margins"]])
    return pictures


def _picture(title: str, panels: list[Panel]) -> Picture:
    return Picture(title, draw(panels, title), draw(panels, title, standalone=True), STYLE)


def _gap(report: Mapping[str, Any]) -> CoverageGap:
    rows = tuple(GapRow(**row | {"action": Action(row["action"])}) for row in report["rows"])
    return CoverageGap(**{**report, "rows": rows})


def _margin(margin: Mapping[str, Any]) -> Panel:
    """One way of counting: share of the release (bar), of the subset (mark), and the counts."""
    pool, subset = margin["pool"], margin["subset"]
    rows = tuple(
        ChartRow(
            name,
            n / sum(pool.values()),
            f"{subset.get(name, 0)} of {n}",
            subset.get(name, 0) / sum(subset.values()),
        )
        for name, n in sorted(pool.items(), key=lambda item: (-item[1], item[0]))
    )
    name = margin["name"].replace("_", " ")
    return Panel(f"By {name}: total variation distance {margin['distance']:.3f}", rows)
