"""An analysis as table rows and as the figures of the report page."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from construction.signals.analyse import SignalAnalysis
from construction.signals.assign import Assignment
from construction.signals.codebook import UNCATEGORIZED
from construction.signals.crosswalk import Crosswalk, spread
from construction.signals.gap import CoverageGap
from construction.signals.seeds import SeedIdea
from construction.signals.weights import MixtureChange
from data.canonical import canonical_json
from data.contracts import SignalSnapshot

Row = dict[str, Any]
UNMAPPED = "(unmapped)"


@dataclass(frozen=True, slots=True)
class Reported:
    """All that is known about one snapshot; gap and change where there is a pool or a past."""

    snapshot: SignalSnapshot
    analysis: SignalAnalysis
    crosswalk: Crosswalk
    seeds: tuple[SeedIdea, ...]
    gap: CoverageGap | None = None
    change: MixtureChange | None = None

    @property
    def _key(self) -> Row:
        return {"source": self.snapshot.source, "date": self.snapshot.date}

    @property
    def _counted(self) -> Row:
        mixture = self.analysis.mixture
        return {"measure": mixture.measure, "counting": mixture.counting}


def table_rows(told: Reported) -> dict[str, list[Row]]:
    """Rows by table name, for the tables of `data.schemas`; sorted."""
    return {
        "signals": list(_signal_rows(told)),
        "signal_patterns": list(_share_rows(told)),
        "patterns": list(_pattern_rows(told)),
        "weights": list(_weight_rows(told)),
    }


def _signal_rows(told: Reported) -> Iterator[Row]:
    book = told.analysis.codebook
    for signal, one in zip(told.snapshot.signals, told.analysis.assignments, strict=True):
        families = one.families(book)
        known = {family: share for family, share in families.items() if family != UNCATEGORIZED}
        yield told._key | {
            "slug": one.slug,
            "mass": float(signal.popularity[told.snapshot.measure]),
            "measure": told.snapshot.measure.value,
            "pattern": one.pattern,
            "family": one.family(book),
            "task_family": told.crosswalk.task_family(known),
            "benchmarkable": one.pattern in book.benchmarkable,
            "n_patterns": len(one.shares) if known else 0,
            "score": one.shares[0].score,
            "cluster": one.cluster,
            "nearest_pattern": one.nearest,
            "nearest_similarity": one.nearest_similarity,
            "summary_chars": len(signal.summary),
        }


def _share_rows(told: Reported) -> Iterator[Row]:
    for one in told.analysis.assignments:
        for share in one.shares:
            yield told._key | {
                "slug": one.slug,
                "pattern": share.pattern,
                "family": told.analysis.codebook.family_of(share.pattern),
                "share": share.share,
                "score": share.score,
                "cues": share.cues,
                "similarity": share.similarity,
                "in_cluster": share.in_cluster,
                "hits": canonical_json(evidence_of(one, share.pattern)).decode(),
            }


def evidence_of(assignment: Assignment, pattern: str) -> list[Row]:
    """The cues that speak for a pattern: cue, field, offsets and weight."""
    return [
        {"cue": h.cue, "field": h.field, "start": h.start, "end": h.end, "weight": h.weight}
        for share in assignment.shares
        if share.pattern == pattern
        for h in share.hits
    ]


def _pattern_rows(told: Reported) -> Iterator[Row]:
    mixture, book = told.analysis.mixture, told.analysis.codebook
    weights = mixture.pattern_weights
    ideas = {seed.pattern: seed.ideas for seed in told.seeds}
    for one in mixture.patterns:
        yield (
            told._key
            | told._counted
            | {
                "pattern": one.pattern,
                "family": one.family,
                "benchmarkable": one.benchmarkable,
                "surface": book.patterns[one.pattern].surface,
                "signals": one.signals,
                "mass": one.mass,
                "weight": weights.get(one.pattern, 0.0),
                "ideas": ideas.get(one.pattern, 0),
            }
        )


def _weight_rows(told: Reported) -> Iterator[Row]:
    signal = told.analysis.mixture.weights
    tasks = spread(signal, told.crosswalk.signal_to_task)
    groups = spread(tasks.masses, told.crosswalk.task_to_display)
    layers: Sequence[tuple[str, Mapping[str, float]]] = (
        ("signal", signal),
        ("task", {**tasks.masses, UNMAPPED: tasks.unmapped}),
        ("display", {**groups.masses, UNMAPPED: tasks.unmapped}),
    )
    gaps = {row.family: row for row in told.gap.rows} if told.gap else {}
    for layer, weights in layers:
        for family, weight in sorted(weights.items()):
            gap = gaps.get(family) if layer == "task" else None
            yield (
                told._key
                | told._counted
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


def report_data(told: Reported) -> Row:
    """The figures of the report page, as JSON can hold them. Names of signals are slugs only."""
    mixture, book = told.analysis.mixture, told.analysis.codebook
    tasks = spread(mixture.weights, told.crosswalk.signal_to_task)
    return {
        "source": told.snapshot.source,
        "date": told.snapshot.date.isoformat(),
        "snapshot_digest": told.snapshot.digest,
        "codebook_digest": book.digest,
        "crosswalk_digest": told.crosswalk.digest,
        "signals": len(told.analysis.assignments),
        "clusters": [asdict(one) for one in told.analysis.clusters],
        "measure": mixture.measure,
        "counting": mixture.counting,
        "total_mass": mixture.total,
        "uncategorized_share": mixture.uncategorized_share,
        "meta_share": mixture.meta_share,
        "uncategorized": list(mixture.uncategorized),
        "families": [asdict(one) for one in mixture.families],
        "patterns": [asdict(one) for one in mixture.patterns],
        "task_weights": tasks.weights,
        "unmapped": tasks.unmapped,
        "gap": asdict(told.gap) if told.gap else None,
        "change": _dated(asdict(told.change)) if told.change else None,
        "seeds": [asdict(seed) | {"grading": _grading(seed)} for seed in told.seeds],
    }


def _grading(seed: SeedIdea) -> Row:
    grading = seed.grading
    return {
        "evidence": grading.evidence.model_dump(),
        "expected": grading.expected,
        "graded": grading.graded,
        "ungraded": grading.ungraded,
    }


def _dated(record: Row) -> Row:
    return {
        name: value.isoformat() if isinstance(value, dt.date) else value
        for name, value in record.items()
    }
