"""The analysis of signals: assignment to patterns, masses, and families of candidate tasks.

Pure except for the sentence encoder.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any

import numpy as np

from construction.signals.assign import (
    NOISE,
    Assignment,
    ClusterName,
    abstaining,
    anchor_similarity,
    assign,
    cluster,
    name_clusters,
)
from construction.signals.codebook import (
    UNCATEGORIZED,
    Codebook,
    default_codebook,
    default_crosswalk,
)
from construction.signals.collect.fields import last_name
from construction.signals.config import SignalsConfig
from construction.signals.matching import (
    Encode,
    Vectors,
    encode_multilingual,
    evidence,
    find_cues,
    hits_by_pattern,
)
from construction.signals.weights import (
    DatedMixture,
    Mixture,
    MixtureChange,
    change,
    mixture,
    parts,
)
from data.contracts import Candidate, Label, Signal, SignalProvenance, SignalSnapshot
from data.errors import ConfigError
from data.figures import number, percent
from data.neutralise import visible
from data.randomness import keyed_generator
from data.snapshot.pages import asset, page

_EMBEDDED_NAME = 100  # characters of a name, and of a summary: trigger lists follow
_EMBEDDED_CHARS = 400


@dataclass(frozen=True, slots=True)
class SignalAnalysis:
    """The assignments of a set of signals, sorted by slug, with clusters, mixture and codebook."""

    assignments: tuple[Assignment, ...]
    clusters: tuple[ClusterName, ...]
    mixture: Mixture
    codebook: Codebook


def analyse(
    signals: Sequence[Signal],
    config: SignalsConfig,
    codebook: Codebook | None = None,
    encode: Encode = encode_multilingual,
) -> SignalAnalysis:
    """Assign each signal to patterns and sum the masses; the order of `signals` does not matter.

    Raises ConfigError if a slug is repeated or a signal lacks the declared popularity measure.
    """
    return analyse_days([signals], config, codebook, encode)[0]


def analyse_days(
    days: Sequence[Sequence[Signal]],
    config: SignalsConfig,
    codebook: Codebook | None = None,
    encode: Encode = encode_multilingual,
) -> list[SignalAnalysis]:
    """The analysis of each day, on one scale: a text is assigned once, among those of all days.

    Weights then differ between days by counts and texts alone. `clusters` are those of all days.
    """
    book = codebook or default_codebook()
    ordered = [sorted(signals, key=_text) for signals in days]
    for signals in ordered:
        _check(signals, config)
    texts = {_text(signal): signal for signals in ordered for signal in signals}
    distinct = [texts[text] for text in sorted(texts)]
    assignments, clusters = _assigned(distinct, config, book, encode)
    known = dict(zip(sorted(texts), assignments, strict=True))
    analyses = []
    for signals in ordered:
        own = tuple(known[_text(signal)] for signal in signals)
        masses = {signal.slug: float(signal.popularity[config.measure]) for signal in signals}
        analyses.append(SignalAnalysis(own, clusters, mixture(own, masses, book, config), book))
    return analyses


def _text(signal: Signal) -> tuple[str, str, str]:
    return signal.slug, signal.name, signal.summary


def _assigned(
    ordered: Sequence[Signal], config: SignalsConfig, book: Codebook, encode: Encode
) -> tuple[list[Assignment], tuple[ClusterName, ...]]:
    """The assignments of signals in their order, and the clusters that they form."""
    vectors = encode([_embedded(signal) for signal in ordered])
    similarity = _similarity(vectors, book, encode)
    patterns = list(book.patterns)
    labels = cluster(vectors, config.clusters)
    names = name_clusters(labels, similarity, patterns)
    assignments = []
    for signal, near, label in zip(ordered, similarity.tolist(), labels.tolist(), strict=True):
        hits = find_cues(_fields(signal), book, config.matching)
        assignment = assign(
            signal.slug,
            hits_by_pattern(hits),
            evidence(hits),
            dict(zip(patterns, near, strict=True)),
            None if label == NOISE else names[label],
            config.scoring,
        )
        assignments.append(assignment if signal.summary else abstaining(assignment))
    return assignments, tuple(names)


def _similarity(vectors: Vectors, book: Codebook, encode: Encode) -> Vectors:
    anchors = [
        (number, sentence)
        for number, pattern in enumerate(book.patterns.values())
        for sentence in pattern.anchors
    ]
    owners = [number for number, _ in anchors]
    return anchor_similarity(vectors, encode([sentence for _, sentence in anchors]), owners)


def _embedded(signal: Signal) -> str:
    text = f"{signal.name[:_EMBEDDED_NAME]}. {signal.summary[:_EMBEDDED_CHARS]}"
    return text.encode("utf-8", "replace").decode()  # the encoder accepts no unpaired surrogates


def _fields(signal: Signal) -> dict[str, str]:
    return {"slug": last_name(signal.slug), "name": signal.name, "summary": signal.summary}


def _check(ordered: Sequence[Signal], config: SignalsConfig) -> None:
    for signal, following in pairwise(ordered):
        if signal.slug == following.slug:
            raise ConfigError(
                f"signals: the slug {signal.slug!r} occurs twice. Analyse one snapshot at a time."
            )
    lacking = sum(config.measure not in signal.popularity for signal in ordered)
    if lacking:
        raise ConfigError(
            f"signals: {lacking} of {len(ordered)} have no {config.measure.value}. Choose a "
            "measure that the source provides for every skill."
        )


_NO_DATE = dt.date(1970, 1, 1)  # a task is not a market signal and belongs to no snapshot


def with_families(candidates: Sequence[Candidate], config: SignalsConfig) -> list[Candidate]:
    """The candidates with task family and display group, where the codebook has one.

    The request of a candidate is analysed like a signal. A family that a lane has already
    assigned stays. The label's confidence is the score of the best pattern; its reason names the
    patterns.
    """
    unknown = [candidate for candidate in candidates if candidate.task_family is None]
    if not unknown:
        return list(candidates)
    analysis = analyse([_as_signal(candidate, config) for candidate in unknown], config)
    crosswalk, labels = default_crosswalk(), {}
    for assignment in analysis.assignments:
        shares = assignment.families(analysis.codebook)
        known = {family: share for family, share in shares.items() if family != UNCATEGORIZED}
        family = crosswalk.task_family(known)
        if family is not None:
            patterns = ", ".join(share.pattern for share in assignment.shares)
            confidence = round(min(1.0, assignment.shares[0].score), 9)
            labels[assignment.slug] = Label(value=family, confidence=confidence, reason=patterns)
    return [_labelled(candidate, labels.get(candidate.task_id)) for candidate in candidates]


def _as_signal(candidate: Candidate, config: SignalsConfig) -> Signal:
    provenance = SignalProvenance(candidate.provenance.source, _NO_DATE)
    popularity = {config.measure: 1}
    return Signal(candidate.task_id, "", candidate.prompt, None, popularity, (), provenance)


def _labelled(candidate: Candidate, label: Label | None) -> Candidate:
    if label is None or candidate.task_family is not None:
        return candidate
    group = default_crosswalk().display_group(label.value)
    return candidate.model_copy(update={"task_family": label, "display_group": group})


# What changed between two dates of a registry: families with intervals, and skills by name.
#
# Each day is a mixture on one scale (`analyse_days`). The interval of a family's change says how
# much it hangs on single skills: the skills of both days are weighted anew at random (Bayesian
# bootstrap; Rubin 1981), each with the same weight on both days. `drift_page` shows it with the
# history.

_DRAWS = 2000
_ENDS = (0.025, 0.975)
_SHOWN = 20  # skills that a list names


class _Direction(StrEnum):
    """Where a family moved; unclear if its interval contains 0."""

    UP = "up"
    DOWN = "down"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Day:
    """A snapshot and its analysis, the heaviest `depth` skills of it if `depth` is given."""

    snapshot: SignalSnapshot
    analysis: SignalAnalysis

    def top(self, depth: int, config: SignalsConfig) -> Day:
        """The heaviest `depth` skills alone, ties by slug."""
        heaviest = sorted(
            self.snapshot.signals, key=lambda signal: (-self._mass(signal), signal.slug)
        )
        kept = {signal.slug for signal in heaviest[:depth]}
        signals = tuple(one for one in self.snapshot.signals if one.slug in kept)
        own = tuple(one for one in self.analysis.assignments if one.slug in kept)
        book = self.analysis.codebook
        mixed = mixture(own, {one.slug: self._mass(one) for one in signals}, book, config)
        snapshot = replace(self.snapshot, signals=signals)
        return Day(snapshot, replace(self.analysis, assignments=own, mixture=mixed))

    @property
    def masses(self) -> dict[str, float]:
        return {signal.slug: self._mass(signal) for signal in self.snapshot.signals}

    @property
    def dated(self) -> DatedMixture:
        snapshot = self.snapshot
        return DatedMixture(snapshot.source, snapshot.date, snapshot.digest, self.analysis.mixture)

    def _mass(self, signal: Signal) -> float:
        return float(signal.popularity[self.snapshot.measure])


def drift(before: Day, after: Day, config: SignalsConfig) -> tuple[MixtureChange, dict[str, Any]]:
    """The change of the mixture with intervals, on tops of equal size, and the skills that moved.

    The second names skills and is for the workspace, not for a release.
    """
    depth = min(len(before.snapshot.signals), len(after.snapshot.signals))
    old, new = before.top(depth, config), after.top(depth, config)
    ends = _intervals(old, new, config)
    plain = change(old.dated, new.dated)
    families = tuple(
        replace(row, low=ends[row.name][0], high=ends[row.name][1]) for row in plain.families
    )
    return replace(plain, families=families), {"depth": depth} | _skills(before, after)


def _direction(low: float, high: float) -> _Direction:
    """Up or down if the whole interval is."""
    if low > 0:
        return _Direction.UP
    return _Direction.DOWN if high < 0 else _Direction.UNCLEAR


def _intervals(before: Day, after: Day, config: SignalsConfig) -> dict[str, tuple[float, float]]:
    """Percentage points by family, from masses drawn anew."""
    families = sorted(before.analysis.mixture.weights.keys() | after.analysis.mixture.weights)
    skills = sorted(before.masses.keys() | after.masses.keys())
    draw = keyed_generator(0, "signals.drift", f"{before.snapshot.date}/{after.snapshot.date}")
    weights = draw.exponential(size=(_DRAWS, len(skills)))
    shares = []
    for day in (before, after):
        masses = weights @ _masses(day, skills, families, config)
        totals = masses.sum(axis=1, keepdims=True)
        shares.append(np.divide(masses, totals, out=np.zeros_like(masses), where=totals > 0))
    low, high = np.round(100 * np.quantile(shares[1] - shares[0], _ENDS, axis=0), 6)
    ends = zip(low.tolist(), high.tolist(), strict=True)
    return dict(zip(families, ends, strict=True))


def _masses(
    day: Day, skills: Sequence[str], families: Sequence[str], config: SignalsConfig
) -> np.ndarray[Any, np.dtype[np.float64]]:
    book = day.analysis.codebook
    rows = {slug: row for row, slug in enumerate(skills)}
    columns = {family: column for column, family in enumerate(families)}
    matrix = np.zeros((len(skills), len(families)))
    for pattern, own in parts(day.analysis.assignments, day.masses, config.counting).items():
        if pattern in book.benchmarkable and book.family_of(pattern) in columns:
            for mass, slug in own:
                matrix[rows[slug], columns[book.family_of(pattern)]] += mass
    return matrix


def _skills(before: Day, after: Day) -> dict[str, Any]:
    """New, gone and reworded skills, heaviest first, and the largest rises and falls."""
    old, new = before.masses, after.masses
    summaries = [{s.slug: s.summary for s in day.snapshot.signals} for day in (before, after)]
    both = sorted(old.keys() & new.keys())
    rows: list[dict[str, Any]] = [
        {"slug": slug, "before": old[slug], "after": new[slug], "gained": new[slug] - old[slug]}
        for slug in both
    ]
    rows.sort(key=lambda row: (-abs(row["gained"]), row["slug"]))
    return {
        "new": _heaviest(new, new.keys() - old.keys()),
        "gone": _heaviest(old, old.keys() - new.keys()),
        "reworded": [slug for slug in both if summaries[0][slug] != summaries[1][slug]],
        "rises": [row for row in rows if row["gained"] > 0][:_SHOWN],
        "falls": [row for row in rows if row["gained"] < 0][:_SHOWN],
    }


def _heaviest(masses: Mapping[str, float], slugs: Any) -> list[dict[str, Any]]:
    ordered = sorted(slugs, key=lambda slug: (-masses[slug], slug))
    return [{"slug": slug, "mass": masses[slug]} for slug in ordered]


def past(days: Sequence[Day], names: Sequence[str]) -> list[dict[str, Any]]:
    """A row per day: its snapshot, size and weights, oldest first; `names` are the files."""
    return [
        {
            "date": day.snapshot.date.isoformat(),
            "file": name,
            "snapshot_digest": day.snapshot.digest,
            "signals": len(day.snapshot.signals),
            "total_mass": day.analysis.mixture.total,
            "weights": day.analysis.mixture.weights,
        }
        for day, name in zip(days, names, strict=True)
    ]


_NAMED = 40  # names in a list; `signals.json` has all
_DATES = 8  # columns of the history, the newest


def drift_page(figures: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """The page, from the figures of `signals.json`; all names are escaped, nothing is loaded."""
    change, moved = figures["change"], figures["drift"]
    return page(
        "drift.html.j2",
        asset("report.css"),
        source=visible(figures["source"]),
        date=figures["date"],
        measure=figures["measure"],
        before=change["before"] if change else None,
        distance=change["distance"] if change else None,
        depth=moved["depth"] if moved else None,
        families=_families(change["families"], names) if change else [],
        lists=_lists(moved) if moved else [],
        counted=_counted(moved) if moved else [],
        history=figures["history"],
        columns=[row["date"] for row in figures["history"][-_DATES:]],
        weights=_weights(figures["history"][-_DATES:], names),
    )


def _families(rows: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "name": names.get(row["name"], row["name"]),
            "before": percent(row["before"]),
            "after": percent(row["after"]),
            "points": _signed(row["points"]),
            "interval": f"{_signed(row['low'])} to {_signed(row['high'])}",
            "direction": _WORDS[_direction(row["low"], row["high"])],
        }
        for row in rows
    ]


_WORDS = {_Direction.UP: "up", _Direction.DOWN: "down", _Direction.UNCLEAR: "unclear"}


def _signed(points: float) -> str:
    return f"{points:+.1f}".replace("-", "−") if round(points, 1) != 0 else "0.0"


def _lists(moved: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Lists of skills by title, with what the lists leave out."""
    titles = (("New skills", "new"), ("Gone skills", "gone"))
    lists = [
        (title, [f"{row['slug']}, {number(row['mass'])}" for row in moved[key]])
        for title, key in titles
    ]
    lists.append(("Reworded summaries", list(moved["reworded"])))
    return [
        {
            "title": title,
            "n": len(lines),
            "lines": [visible(line) for line in lines[:_NAMED]],
            "more": max(0, len(lines) - _NAMED),
        }
        for title, lines in lists
    ]


def _counted(moved: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "title": title,
            "rows": [
                [visible(row["slug"]), number(row["before"]), number(row["after"])]
                for row in moved[key]
            ],
        }
        for title, key in (("Largest rises", "rises"), ("Largest falls", "falls"))
    ]


def _weights(days: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> list[dict[str, Any]]:
    newest = days[-1]["weights"]
    families = sorted(
        {family for day in days for family in day["weights"]},
        key=lambda family: (-newest.get(family, 0.0), family),
    )
    return [
        {
            "name": names.get(family, family),
            "cells": [percent(day["weights"].get(family, 0.0)) for day in days],
        }
        for family in families
    ]
