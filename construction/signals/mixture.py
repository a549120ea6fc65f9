"""Analyses popularity snapshots and writes the mixture of families with its tables and chart.

`_table_rows` and `_report_data` turn an analysis into rows and into the figures of the report page.
`pictures_of` draws a release: the mixture, what the pool lacks, and the subset for manual audit.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from construction.signals.analyse import Day, SignalAnalysis, analyse_days, drift, drift_page, past
from construction.signals.assign import Assignment, needs_by_pattern
from construction.signals.codebook import (
    UNCATEGORIZED,
    Crosswalk,
    default_codebook,
    default_crosswalk,
    spread,
)
from construction.signals.collect import Collected, collect_file, history, keep, superseded
from construction.signals.config import ScoringConfig, SignalsRecipe
from construction.signals.weights import (
    Action,
    CoverageGap,
    GapRow,
    Mixture,
    MixtureChange,
    SeedIdea,
    seed_ideas,
)
from data.atomic import write_bytes
from data.canonical import canonical_json, file_digest, pretty_json
from data.contracts import SignalSnapshot
from data.errors import InputError
from data.figures import amount, percent
from data.progress import track
from data.schemas import PATTERNS, SIGNAL_PATTERNS, SIGNALS, WEIGHTS
from data.snapshot.release import Picture
from data.tables import LEDGER, TALLIES, ledger_record, tally_records, write_table

# Draws the mixture as SVG: weights, change and gap. Equal figures give equal bytes.

_WIDTH = 760
# Where bars start, and the length of the longest: both shares behind it end before the notes.
_BAR_AT, _BAR = 290, 198
_NOTE_AT = 650  # where the notes start
_LONGEST = 38  # characters of a label
_ROW, _HEAD = 24, 46

_STYLE = """
.mixture text{font:13px system-ui,sans-serif;fill:#1d2430}
.mixture .big{font-size:15px;font-weight:650}
.mixture .soft{fill:#5b6675}
.mixture .weight{fill:#2f6f8f}
.mixture .held{stroke:#b8452d;stroke-width:3}
.mixture .more{fill:#a3341f}
@media (prefers-color-scheme:dark){
.mixture text{fill:#e6eaf0}
.mixture .soft{fill:#9aa7b6}
.mixture .weight{fill:#5fa8cb}
.mixture .held{stroke:#ef7d63}
.mixture .more{fill:#ff9a82}
}
"""


@dataclass(frozen=True, slots=True)
class _ChartRow:
    """A bar for `weight` (0 to 1); `share` (0 to 1), that of the pool, is drawn as a mark."""

    label: str
    weight: float
    note: str
    share: float | None = None
    marked: bool = False


@dataclass(frozen=True, slots=True)
class _Panel:
    heading: str
    rows: tuple[_ChartRow, ...]


def _mixture_panel(
    mixture: Mixture, names: Mapping[str, str], change: MixtureChange | None = None
) -> _Panel:
    """Weights by signal family, heaviest first, with the change since the previous snapshot.

    A family that the previous snapshot had and this one lacks stays, without a bar.
    """
    moved = {row.name: row.points for row in change.families} if change else {}
    known = dict.fromkeys(moved, 0.0) | mixture.weights
    weights = sorted(known.items(), key=lambda item: (-item[1], item[0]))
    rows = tuple(
        _ChartRow(
            names.get(family, family), weight, _points(moved.get(family, 0)) if change else ""
        )
        for family, weight in weights
    )
    since = f"; points since {change.before.isoformat()}" if change else ""
    return _Panel(f"Market weight by {mixture.measure}, {mixture.counting} counting{since}", rows)


def _gap_panel(gap: CoverageGap, names: Mapping[str, str]) -> _Panel:
    """Weights by task family against the shares of the pool, largest gap first."""
    rows = tuple(
        _ChartRow(
            names.get(row.family, row.family),
            row.weight,
            f"{_points(row.gap)} {row.action}",
            row.share,
            row.action in (Action.PRIORITY, Action.REDUCE),
        )
        for row in gap.rows
    )
    return _Panel(
        f"Market share (bar) and pool share (mark), by task family; {gap.tasks} tasks in the pool",
        rows,
    )


def _draw(panels: Sequence[_Panel], title: str, *, standalone: bool = False) -> str:
    """The panels below each other as an `<svg>`; a standalone file contains its style."""
    parts: list[str] = []
    y = 0
    for panel in panels:
        parts.append(_text(0, y + 26, panel.heading, "big"))
        y += _HEAD
        top = max([*(row.weight for row in panel.rows), *(row.share or 0 for row in panel.rows), 0])
        for row in panel.rows:
            parts.append(_bar(row, y, top))
            y += _ROW
        y += _ROW
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="mixture" role="img" '
        f'viewBox="0 0 {_WIDTH} {max(y, _ROW)}" aria-label={quoteattr(_plain(title))}>'
    )
    style = f"<style>{_STYLE}</style>" if standalone else ""
    return head + style + "".join(parts) + "</svg>"


def _bar(row: _ChartRow, y: int, top: float) -> str:
    scale = _BAR / top if top else 0.0
    parts = [
        _text(_BAR_AT - 8, y + 14, _short(row.label.replace("_", " ")), "name", "end"),
        f'<rect class="weight" x="{_BAR_AT}" y="{y + 3}" '
        f'width="{row.weight * scale:.1f}" height="14" rx="2"/>',
    ]
    end, figure = row.weight, percent(row.weight)
    if row.share is not None:
        at = _BAR_AT + row.share * scale
        parts.append(f'<path class="held" d="M{at:.1f} {y}V{y + 20}"/>')
        end, figure = max(end, row.share), f"{figure}, pool {percent(row.share)}"
    parts.append(_text(_BAR_AT + end * scale + 6, y + 15, figure, "soft"))
    parts.append(_text(_NOTE_AT, y + 15, row.note, "more" if row.marked else "soft"))
    return "".join(parts)


def _points(points: float) -> str:
    """The points with sign, one decimal and a real minus; zero after rounding has no sign."""
    digits = f"{abs(points):.1f}"
    if float(digits) == 0:
        return digits
    return f"+{digits}" if points > 0 else f"−{digits}"


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"


def _plain(text: str) -> str:
    """The text as one line of printable characters: names come from files that anyone may edit."""
    return "".join(char if char.isprintable() else " " for char in text)


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y}" class="{kind}" text-anchor="{anchor}">'
        f"{escape(_plain(text))}</text>"
    )


_Dated = Sequence[tuple[dt.date, Path]]
REPORT, DRIFT = "signals.json", "drift.html"
CHART, _INLINE = "mixture.svg", "mixture-inline.svg"
_DATE = re.compile(r"(\d{4}-\d{2})(-\d{2})?")


_Row = dict[str, Any]
_UNMAPPED = "(unmapped)"


@dataclass(frozen=True, slots=True)
class _SnapshotReport:
    """The results for one snapshot; `gap` if there is a pool, `change` if an earlier snapshot."""

    snapshot: SignalSnapshot
    analysis: SignalAnalysis
    crosswalk: Crosswalk
    seeds: tuple[SeedIdea, ...]
    gap: CoverageGap | None = None
    change: MixtureChange | None = None
    least_share: float = ScoringConfig().least_main_share

    @property
    def _key(self) -> _Row:
        return {"source": self.snapshot.source, "date": self.snapshot.date}

    @property
    def _counted(self) -> _Row:
        mixture = self.analysis.mixture
        return {"measure": mixture.measure, "counting": mixture.counting}


def _table_rows(report: _SnapshotReport) -> dict[str, list[_Row]]:
    """Rows by table name, for the tables of `data.schemas`; sorted."""
    return {
        "signals": list(_signal_rows(report)),
        "signal_patterns": list(_share_rows(report)),
        "patterns": list(_pattern_rows(report)),
        "weights": list(_weight_rows(report)),
    }


def _signal_rows(report: _SnapshotReport) -> Iterator[_Row]:
    book = report.analysis.codebook
    for signal, assignment in zip(
        report.snapshot.signals, report.analysis.assignments, strict=True
    ):
        families = assignment.families(book)
        known = {family: share for family, share in families.items() if family != UNCATEGORIZED}
        yield report._key | {
            "slug": assignment.slug,
            "mass": float(signal.popularity[report.snapshot.measure]),
            "measure": report.snapshot.measure.value,
            "pattern": assignment.pattern,
            "family": assignment.family(book),
            "sure_family": assignment.sure_family(book, report.least_share),
            "task_family": report.crosswalk.task_family(known),
            "benchmarkable": assignment.pattern in book.benchmarkable,
            "n_patterns": len(assignment.shares) if known else 0,
            "score": assignment.shares[0].score,
            "cluster": assignment.cluster,
            "nearest_pattern": assignment.nearest,
            "nearest_similarity": assignment.nearest_similarity,
            "summary_chars": len(signal.summary),
        }


def _share_rows(report: _SnapshotReport) -> Iterator[_Row]:
    for assignment in report.analysis.assignments:
        for share in assignment.shares:
            yield report._key | {
                "slug": assignment.slug,
                "pattern": share.pattern,
                "family": report.analysis.codebook.family_of(share.pattern),
                "share": share.share,
                "score": share.score,
                "cues": share.cues,
                "similarity": share.similarity,
                "in_cluster": share.in_cluster,
                "hits": canonical_json(_evidence_of(assignment, share.pattern)).decode(),
            }


def _evidence_of(assignment: Assignment, pattern: str) -> list[_Row]:
    """The cues found for a pattern: cue, field, offsets and weight."""
    return [
        {"cue": h.cue, "field": h.field, "start": h.start, "end": h.end, "weight": h.weight}
        for share in assignment.shares
        if share.pattern == pattern
        for h in share.hits
    ]


def _pattern_rows(report: _SnapshotReport) -> Iterator[_Row]:
    mixture, book = report.analysis.mixture, report.analysis.codebook
    weights = mixture.pattern_weights
    ideas = {seed.pattern: seed.ideas for seed in report.seeds}
    for pattern in mixture.patterns:
        yield (
            report._key
            | report._counted
            | {
                "pattern": pattern.pattern,
                "family": pattern.family,
                "benchmarkable": pattern.benchmarkable,
                "surface": book.patterns[pattern.pattern].surface,
                "signals": pattern.signals,
                "mass": pattern.mass,
                "weight": weights.get(pattern.pattern, 0.0),
                "ideas": ideas.get(pattern.pattern, 0),
            }
        )


def _weight_rows(report: _SnapshotReport) -> Iterator[_Row]:
    signal = report.analysis.mixture.weights
    tasks = spread(signal, report.crosswalk.signal_to_task)
    groups = spread(tasks.masses, report.crosswalk.task_to_display)
    layers: Sequence[tuple[str, Mapping[str, float]]] = (
        ("signal", signal),
        ("task", {**tasks.masses, _UNMAPPED: tasks.unmapped}),
        ("display", {**groups.masses, _UNMAPPED: tasks.unmapped}),
    )
    gaps = {row.family: row for row in report.gap.rows} if report.gap else {}
    for layer, weights in layers:
        for family, weight in sorted(weights.items()):
            gap = gaps.get(family) if layer == "task" else None
            yield (
                report._key
                | report._counted
                | {
                    "layer": layer,
                    "family": family,
                    "weight": weight,
                    "tasks": gap.tasks if gap else None,
                    "gap": gap.gap if gap else None,
                    "suggested": gap.suggested if gap else None,
                    "action": str(gap.action) if gap else None,
                }
            )


def _report_data(report: _SnapshotReport) -> _Row:
    """The figures of the report page in JSON types; signals are named only by slug."""
    mixture, book = report.analysis.mixture, report.analysis.codebook
    tasks = spread(mixture.weights, report.crosswalk.signal_to_task)
    return {
        "source": report.snapshot.source,
        "date": report.snapshot.date.isoformat(),
        "snapshot_digest": report.snapshot.digest,
        "codebook_digest": book.digest,
        "crosswalk_digest": report.crosswalk.digest,
        "signals": len(report.analysis.assignments),
        "clusters": [asdict(one) for one in report.analysis.clusters],
        "measure": mixture.measure,
        "counting": mixture.counting,
        "total_mass": mixture.total,
        "uncategorized_share": mixture.uncategorized_share,
        "meta_share": mixture.meta_share,
        "sure_families": _sure_families(report),
        "uncategorized": list(mixture.uncategorized),
        "families": [asdict(one) for one in mixture.families],
        "patterns": [asdict(one) for one in mixture.patterns],
        "task_weights": tasks.weights,
        "unmapped": tasks.unmapped,
        "gap": asdict(report.gap) if report.gap else None,
        "change": _dated(asdict(report.change)) if report.change else None,
        "seeds": [asdict(seed) | {"grading": _grading(seed)} for seed in report.seeds],
    }


def _sure_families(report: _SnapshotReport) -> _Row:
    """How many signals have a sure main family, and their share of the mass."""
    book, measure = report.analysis.codebook, report.snapshot.measure
    masses = {one.slug: float(one.popularity[measure]) for one in report.snapshot.signals}
    sure = [
        assignment.slug
        for assignment in report.analysis.assignments
        if assignment.sure_family(book, report.least_share) is not None
    ]
    total = sum(masses.values())
    share = sum(masses[slug] for slug in sure) / total if total else 0.0
    return {"least_share": report.least_share, "signals": len(sure), "mass_share": round(share, 9)}


def _grading(seed: SeedIdea) -> _Row:
    grading = seed.grading
    return {
        "evidence": grading.evidence.model_dump(),
        "expected": grading.expected,
        "graded": grading.graded,
        "ungraded": grading.ungraded,
    }


def _dated(record: _Row) -> _Row:
    return {
        name: value.isoformat() if isinstance(value, dt.date) else value
        for name, value in record.items()
    }


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


def write_mixture(recipe: SignalsRecipe, dated: _Dated, out: Path, *, quiet: bool) -> None:
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
    report = _SnapshotReport(newest, analysis, crosswalk, seeds, None, moved, least)
    _write_tables(out, collected[-1], report)
    figures = _report_data(report) | {
        "task_weights": spread(analysis.mixture.weights, crosswalk.signal_to_task).weights,
        "needs": needs_by_pattern(newest.signals, analysis.assignments, days[-1].masses),
        "history": past(days, [path.name for _, path in dated]),
        "drift": skills,
    }
    write_bytes(out / REPORT, pretty_json(figures))
    names = {name: family.name for name, family in default_codebook().families.items()}
    write_bytes(out / DRIFT, drift_page(figures, names).encode())
    panels = [_mixture_panel(analysis.mixture, names, moved)]
    title = f"Mixture of {newest.source}, {newest.date}"
    write_bytes(out / _INLINE, _draw(panels, title).encode())
    write_bytes(out / CHART, _draw(panels, title, standalone=True).encode())


def _write_tables(out: Path, collected: Collected, report: _SnapshotReport) -> None:
    rows = _table_rows(report)
    for table in (SIGNALS, SIGNAL_PATTERNS, PATTERNS, WEIGHTS):
        write_table(out / f"{table.name}.parquet", rows[table.name], table.schema)
    write_table(out / "ledger.parquet", map(ledger_record, collected.ledger), LEDGER)
    tallies = [record for tally in collected.tallies for record in tally_records(tally)]
    write_table(out / "tallies.parquet", tallies, TALLIES)


def dated_files(paths: Sequence[Path], otherwise: dt.date | None = None) -> _Dated:
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


def captured_files(captures: Path, source: str) -> _Dated:
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


def _mixture_picture(signals: Path) -> Picture:
    """The chart of the mixture."""
    inline, standalone = ((signals / name).read_text("utf-8") for name in (_INLINE, CHART))
    return Picture("Mixture", inline, standalone, _STYLE)


def _without(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != name}


def pictures_of(signals: Sequence[Path], selection: Mapping[str, Any]) -> dict[str, Picture]:
    """By name: `audit/<name>.svg` and a section of the report, each where there are figures."""
    pictures = {"mixture": _mixture_picture(signals[0])} if signals else {}
    if gap := selection.get("coverage_gap"):
        pictures["coverage-gap"] = _picture("Coverage gap", [_gap_panel(_gap(gap), {})])
    if lite := selection.get("lite"):
        heading = f"Lite subset for manual audit: {lite['size']} of {lite['pool_size']} tasks"
        pictures["lite-subset"] = _picture(heading, [_margin(row) for row in lite["margins"]])
    return pictures


def _picture(title: str, panels: list[_Panel]) -> Picture:
    return Picture(title, _draw(panels, title), _draw(panels, title, standalone=True), _STYLE)


def _gap(report: Mapping[str, Any]) -> CoverageGap:
    rows = tuple(GapRow(**row | {"action": Action(row["action"])}) for row in report["rows"])
    return CoverageGap(**{**report, "rows": rows})


def _margin(margin: Mapping[str, Any]) -> _Panel:
    """One way of counting: share of the release (bar), of the subset (mark), and the counts."""
    pool, subset = margin["pool"], margin["subset"]
    rows = tuple(
        _ChartRow(
            name,
            n / sum(pool.values()),
            f"{subset.get(name, 0)} of {n}",
            subset.get(name, 0) / sum(subset.values()),
        )
        for name, n in sorted(pool.items(), key=lambda item: (-item[1], item[0]))
    )
    name = margin["name"].replace("_", " ")
    return _Panel(f"By {name}: total variation distance {margin['distance']:.3f}", rows)
