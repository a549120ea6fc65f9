"""Signals to weights on two real snapshots: time, agreement with blind labels, change, and a
comparison with the paper authors' own clustering.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.signals [--material DIR]

writes results/signals.md and signals.json. Without the variable (or threadpoolctl) the encoder's
small matrix products run on all cores, which is slower, and much slower on a busy machine; the
digests are the same.

The results hold figures, slugs and pattern names only, no text of a skill.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.report import machine, table, write_result
from benchmarks.signals_authors import FAMILIES, PATTERNS, authors_masses, rank_correlation
from benchmarks.signals_labels import label_figures, label_section
from construction.signals.analyse import SignalAnalysis, analyse
from construction.signals.codebook import default_crosswalk, spread
from construction.signals.collect import CollectConfig, collect_file
from construction.signals.config import Counting, SignalsConfig
from construction.signals.weights import (
    DatedMixture,
    MixtureChange,
    change,
    coverage_gap,
    seed_ideas,
)
from data.canonical import digest
from data.contracts import Popularity, SignalSnapshot

_REPO = Path(__file__).resolve().parent.parent
_CONFIG = SignalsConfig()
_RELEASE = 72  # tasks: the release size of the authors' gap table
_SHOWN = 12
_MARCH, _MAY = dt.date(2026, 3, 1), dt.date(2026, 5, 1)


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("BENCHMINT_MATERIAL", str(_REPO.parent / "shared" / "material"))
    parser.add_argument("--material", type=Path, default=Path(default))
    folder = parser.parse_args().material / "signals"
    march = snapshot(folder / "clawhub_top_500.csv", _MARCH)
    may = snapshot(folder / "clawhub_top_99_2026-05.json", _MAY)
    timed, analysis = timing(march)
    later = analyse(may.signals, _CONFIG)
    labels = {
        "march_60": label_figures(analysis, "march_60"),
        "may_40": label_figures(later, "may_40"),
        "march_dev_100": label_figures(analysis, "march_dev_100"),
    }
    moved = equal_depth_change(march, may)
    authors = beside_authors(march, analysis, folder)
    figures = {
        "machine": machine(),
        "time": timed,
        "mixture": mixture_figures(analysis),
        "labels": labels,
        "change": change_figures(moved),
        "authors": authors,
    }
    text = "\n".join(_page(figures, analysis, moved))
    write_result("signals", __doc__.partition("\n\n    OPEN")[0] if __doc__ else "", text, figures)


def snapshot(path: Path, date: dt.date) -> SignalSnapshot:
    return collect_file(path, "clawhub", date, CollectConfig()).snapshot


def timing(march: SignalSnapshot) -> tuple[dict[str, Any], SignalAnalysis]:
    """Weights, gap and seeds of March, including the loading of the model; then rows shuffled."""
    wall, cpu = time.perf_counter(), time.process_time()
    analysis = analyse(march.signals, _CONFIG)
    crosswalk = default_crosswalk()
    tasks = spread(analysis.mixture.weights, crosswalk.signal_to_task)
    gap = coverage_gap(tasks.weights, {}, _RELEASE, _CONFIG.gap)
    seeds = seed_ideas(analysis.mixture, analysis.codebook, crosswalk, _CONFIG)
    seconds, used = time.perf_counter() - wall, time.process_time() - cpu
    signals = list(march.signals)
    random.Random(11).shuffle(signals)
    shuffled = analyse(signals, _CONFIG)
    same = digest([shuffled.assignments, shuffled.clusters, shuffled.mixture]) == digest(
        [analysis.assignments, analysis.clusters, analysis.mixture]
    )
    figures = {
        "signals": len(march.signals),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(used, 1),
        "blas_threads": os.environ.get("OPENBLAS_NUM_THREADS", "default"),
        "identical_after_shuffling": same,
        "seeds": len(seeds),
        "ideas": sum(seed.ideas for seed in seeds),
        "unmapped": tasks.unmapped,
        "suggested_distance": gap.suggested_distance,
    }
    return figures, analysis


def mixture_figures(analysis: SignalAnalysis) -> dict[str, Any]:
    shares = [len(assignment.shares) for assignment in analysis.assignments]
    return {
        "weights": analysis.mixture.weights,
        "uncategorized_share": analysis.mixture.uncategorized_share,
        "uncategorized": list(analysis.mixture.uncategorized),
        "meta_share": analysis.mixture.meta_share,
        "patterns_per_signal": {n: shares.count(n) for n in sorted(set(shares))},
        "clusters": len(analysis.clusters),
        "clustered_signals": sum(a.cluster is not None for a in analysis.assignments),
    }


def equal_depth_change(march: SignalSnapshot, may: SignalSnapshot) -> MixtureChange:
    """Change between tops of equal size; a top 500 differs from a top 99 merely by its size."""
    depth = min(len(march.signals), len(may.signals))
    return change(*(_dated(top(one, depth)) for one in (march, may)))


def top(given: SignalSnapshot, depth: int) -> SignalSnapshot:
    ranked = sorted(given.signals, key=lambda s: (-s.popularity[given.measure], s.slug))
    return replace(given, signals=tuple(sorted(ranked[:depth], key=lambda s: s.slug)))


def _dated(given: SignalSnapshot) -> DatedMixture:
    return DatedMixture(
        given.source, given.date, given.digest, analyse(given.signals, _CONFIG).mixture
    )


def change_figures(moved: MixtureChange) -> dict[str, Any]:
    rows = {row.name: [row.before, row.after, row.points] for row in moved.families}
    return {"distance": moved.distance, "families": rows}


def beside_authors(
    march: SignalSnapshot, analysis: SignalAnalysis, folder: Path
) -> dict[str, dict[str, Any]]:
    """Rank correlations with the authors' masses under both countings and two measures."""
    families = authors_masses(folder / "family_weights.csv", "family", FAMILIES)
    patterns = authors_masses(folder / "workflow_patterns.csv", "pattern_id", PATTERNS)
    figures: dict[str, dict[str, Any]] = {"theirs": families}
    for measure in (Popularity.DOWNLOADS, Popularity.INSTALLS_ALL_TIME):
        for counting in Counting:
            config = _CONFIG.model_copy(update={"measure": measure, "counting": counting})
            default = measure is _CONFIG.measure and counting is _CONFIG.counting
            mixed = (analysis if default else analyse(march.signals, config)).mixture
            ours = {one.family: one.mass for one in mixed.families}
            figures[f"{measure}, {counting}"] = {
                "families": rank_correlation(ours, families),
                "patterns": rank_correlation(mixed.pattern_weights, patterns),
            }
    return figures


def _page(
    figures: Mapping[str, Any], analysis: SignalAnalysis, moved: MixtureChange
) -> Iterator[str]:
    timed, mixed = figures["time"], figures["mixture"]
    yield "## Time and order\n"
    yield (
        f"{timed['signals']} signals to weights, gap and {timed['ideas']} seed ideas in "
        f"{timed['seconds']} s ({timed['cpu_seconds']} s of CPU; BLAS threads: "
        f"{timed['blas_threads']}), the encoder's loading included. "
        f"Rows shuffled: {'the same digest' if timed['identical_after_shuffling'] else 'DIFFERENT'}"
        f". Crosswalk to task families: {100 * timed['unmapped']:.1f} % unmapped. A release of "
        f"{_RELEASE} tasks apportioned to the weights is {timed['suggested_distance']:.3f} away "
        "from them (total variation).\n"
    )
    yield "## Mixture, March\n"
    yield (
        f"Uncategorized {100 * mixed['uncategorized_share']:.2f} % of the mass "
        f"({', '.join(mixed['uncategorized']) or 'none'}); meta {100 * mixed['meta_share']:.1f} %, "
        f"kept apart. Patterns per signal: {mixed['patterns_per_signal']}. "
        f"{mixed['clusters']} density clusters hold {mixed['clustered_signals']} signals.\n"
    )
    rows = sorted(mixed["weights"].items(), key=lambda item: -item[1])
    yield table(("family", "weight"), [(name, f"{100 * w:.1f} %") for name, w in rows])
    yield from label_section(figures["labels"])
    yield from _change_section(moved)
    yield from _authors_section(figures["authors"], analysis)


def _change_section(moved: MixtureChange) -> Iterator[str]:
    yield f"## Change from {moved.before} to {moved.after}, tops of equal size\n"
    yield f"Total variation distance of the family weights: {moved.distance:.3f}.\n"
    yield table(
        ("family", "before", "after", "points"),
        [
            (r.name, f"{100 * r.before:.1f} %", f"{100 * r.after:.1f} %", f"{r.points:+.1f}")
            for r in moved.families
        ],
    )
    shown = [(r.name, f"{r.points:+.1f}") for r in moved.patterns[:_SHOWN]]
    yield table(("pattern", "points"), shown)


def _authors_section(
    figures: Mapping[str, Mapping[str, Any]], analysis: SignalAnalysis
) -> Iterator[str]:
    yield "## Beside the authors' own clustering\n"
    rows = [
        (name, *(f"{row[layer][k]:g}" for layer in ("families", "patterns") for k in _KEYS))
        for name, row in figures.items()
        if name != "theirs"
    ]
    head = [f"{layer} {key}" for layer in ("families", "patterns") for key in _KEYS]
    yield table(("our measure, counting", *head), rows)
    theirs = figures["theirs"]
    whole = sum(theirs.values())
    ours = analysis.mixture.weights
    by_gap = sorted(theirs, key=lambda name: theirs[name] / whole - ours.get(name, 0.0))
    yield table(
        ("family", "ours", "theirs", "points"),
        [_beside(name, ours.get(name, 0.0), theirs[name] / whole) for name in by_gap],
    )
    yield _AUTHORS_NOTES


def _beside(name: str, ours: float, theirs: float) -> Sequence[str]:
    return (name, f"{100 * ours:.1f} %", f"{100 * theirs:.1f} %", f"{100 * (ours - theirs):+.1f}")


_KEYS = ("n", "spearman", "kendall")
_AUTHORS_NOTES = """
Why they differ: the authors count a skill in full in each pattern that a keyword finds (their
pattern masses sum to far more than the installs; *Summarize* leads their shell pattern), over a
later and larger snapshot by installs; here a skill's mass is shared out by what its user wants
done, over 500 skills by downloads. So tools that happen to be command lines leave *system* and go
where their purpose is (documents, browser, productivity), and "API" or "workflow" in a text does
not make *orchestration*. One skill with 8 % of all downloads (`summarize`) lifts *documents*, and
leaves *media*, where its list of inputs put it. Counting installs instead of downloads brings the
ranks nearer; full counting does little, since most signals here have one pattern.
"""


if __name__ == "__main__":
    main()
