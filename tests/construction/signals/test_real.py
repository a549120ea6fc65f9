"""The real snapshots: the bars of the issue that need no labels."""

from __future__ import annotations

import datetime as dt
import random
import time
from pathlib import Path

import pytest

from construction.signals.analyse import SignalAnalysis, analyse
from construction.signals.codebook import default_crosswalk, spread
from construction.signals.collect import collect_file
from construction.signals.config import CollectConfig, SignalsConfig
from construction.signals.weights import coverage_gap, seed_ideas
from data.canonical import digest
from data.contracts import SignalSnapshot

CONFIG = SignalsConfig()


@pytest.fixture(scope="module")
def march(material: Path) -> SignalSnapshot:
    path = material / "signals" / "clawhub_top_500.csv"
    return collect_file(path, "clawhub", dt.date(2026, 3, 1), CollectConfig()).snapshot


@pytest.fixture(scope="module")
def analysis(march: SignalSnapshot) -> SignalAnalysis:
    return analyse(march.signals, CONFIG)


@pytest.mark.full
def test_little_is_uncategorized_and_weights_are_whole(analysis: SignalAnalysis) -> None:
    assert len(analysis.assignments) == 500
    assert analysis.mixture.uncategorized_share <= 0.10
    assert sum(analysis.mixture.weights.values()) == pytest.approx(1.0)
    assert 0.0 < analysis.mixture.meta_share < 0.3


@pytest.mark.full
def test_shuffled_rows_give_the_same_bytes(march: SignalSnapshot, analysis: SignalAnalysis) -> None:
    signals = list(march.signals)
    random.Random(3).shuffle(signals)
    turned = analyse(signals, CONFIG)
    assert digest([turned.assignments, turned.clusters, turned.mixture]) == digest(
        [analysis.assignments, analysis.clusters, analysis.mixture]
    )


@pytest.mark.full
def test_weights_gap_and_seeds_within_twenty_seconds(march: SignalSnapshot) -> None:
    start = time.process_time()
    analysis = analyse(march.signals, CONFIG)
    crosswalk = default_crosswalk()
    weights = spread(analysis.mixture.weights, crosswalk.signal_to_task)
    gap = coverage_gap(weights.weights, {}, 72, CONFIG.gap)
    seeds = seed_ideas(analysis.mixture, analysis.codebook, crosswalk, CONFIG)
    assert time.process_time() - start < 2 * 20  # two cores
    assert sum(row.suggested for row in gap.rows) == 72
    assert sum(seed.ideas for seed in seeds) == CONFIG.ideas
