"""From signals to patterns with shares, and the mixture they make."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from construction.signals.analyse import SignalAnalysis, analyse
from construction.signals.codebook import UNCATEGORIZED, Codebook
from construction.signals.config import ClusterConfig, Counting, ScoringConfig, SignalsConfig
from data.contracts import Popularity, Signal
from data.errors import ConfigError
from tests.construction.signals.made import bag_of_words, signal, small_codebook

CONFIG = SignalsConfig()


@pytest.fixture
def book(tmp_path: Path) -> Codebook:
    return small_codebook(tmp_path)


def run(book: Codebook, signals: list[Signal], config: SignalsConfig = CONFIG) -> SignalAnalysis:
    return analyse(signals, config, book, bag_of_words)


def test_score_is_the_weighed_sum(book: Codebook) -> None:
    assignment = run(book, [signal("s", "Origami")]).assignments[0]
    share = assignment.shares[0]
    scoring = CONFIG.scoring
    span = scoring.similarity_full - scoring.similarity_none
    near = min(1.0, max(0.0, (share.similarity - scoring.similarity_none) / span))
    expected = scoring.cue_weight * share.cues + scoring.anchor_weight * near
    assert (share.pattern, share.in_cluster) == ("paper", False)
    assert share.cues == pytest.approx(0.6)
    assert share.score == pytest.approx(expected)


def test_cluster_adds_its_weight(book: Codebook) -> None:
    signals = [signal(f"s{n}", "Fold paper into shapes.") for n in range(3)]
    config = CONFIG.model_copy(update={"clusters": ClusterConfig(neighbours=3)})
    analysis = run(book, signals, config)
    assert [(c.pattern, c.size) for c in analysis.clusters] == [("paper", 3)]
    alone = run(book, signals[:1]).assignments[0].shares[0]
    assert analysis.assignments[0].cluster == 0
    assert analysis.assignments[0].shares[0].score == pytest.approx(
        alone.score + CONFIG.scoring.cluster_weight
    )


def test_two_goals_share_the_mass(book: Codebook) -> None:
    assignment = run(book, [signal("s", "Origami mailbox", 100)]).assignments[0]
    assert {share.pattern for share in assignment.shares} == {"mail", "paper"}
    assert sum(share.share for share in assignment.shares) == 1.0
    assert assignment.families(book) == {"office": 1.0}


def test_what_fits_nowhere_is_listed(book: Codebook) -> None:
    analysis = run(book, [signal("odd", "Xyzzy plugh", 30), signal("s", "Origami", 70)])
    odd = analysis.assignments[0]
    assert (odd.slug, odd.pattern, odd.family(book)) == ("odd", UNCATEGORIZED, UNCATEGORIZED)
    assert odd.shares[0].share == 1.0
    assert analysis.mixture.uncategorized == ("odd",)
    assert analysis.mixture.uncategorized_share == pytest.approx(0.3)


def test_weights_follow_the_formula(book: Codebook) -> None:
    analysis = run(
        book,
        [
            signal("a", "Origami", 60),
            signal("b", "Compilers", 20),
            signal("c", "Long term memory", 900),  # the agent itself: kept apart
        ],
    ).mixture
    assert analysis.weights == {"office": 0.75, "craft": 0.25}
    assert analysis.meta_share == pytest.approx(900 / 980, abs=1e-9)
    assert (analysis.measure, analysis.counting, analysis.total) == (
        "downloads",
        "fractional",
        980.0,
    )


def test_full_counting_counts_a_signal_in_each_pattern(book: Codebook) -> None:
    signals = [signal("a", "Origami compiler", 60), signal("b", "Compilers", 40)]
    full = CONFIG.model_copy(update={"counting": Counting.FULL})
    masses = {one.pattern: one.mass for one in run(book, signals, full).mixture.patterns}
    assert masses == {"mail": 0.0, "paper": 60.0, "code": 100.0, "memory": 0.0}
    assert run(book, signals, full).mixture.counting == "full"
    shared = {one.pattern: one.mass for one in run(book, signals).mixture.patterns}
    assert sum(shared.values()) == pytest.approx(100.0)


def test_no_pattern_above_the_limit(book: Codebook) -> None:
    config = CONFIG.model_copy(update={"scoring": ScoringConfig(max_patterns=1)})
    assignment = run(book, [signal("s", "Origami mailbox")], config).assignments[0]
    assert [share.share for share in assignment.shares] == [1.0]


def test_a_slug_twice_or_no_measure_is_an_error(book: Codebook) -> None:
    with pytest.raises(ConfigError, match="'s' occurs twice"):
        run(book, [signal("s", "a"), signal("s", "b")])
    stars = CONFIG.model_copy(update={"measure": Popularity.STARS})
    with pytest.raises(ConfigError, match="1 of 1 have no stars"):
        run(book, [signal("s", "a")], stars)


def test_no_signals_make_an_empty_mixture(book: Codebook) -> None:
    analysis = run(book, [])
    assert (analysis.assignments, analysis.mixture.weights, analysis.mixture.total) == ((), {}, 0.0)


WORDS = ("origami", "mailbox", "compiler", "memory", "letters", "paper", "code", "and", "信箱")
summaries = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), min_size=1, max_size=12
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(summaries, st.integers(0, 9))
def test_order_never_matters_and_shares_sum_to_one(
    book: Codebook, texts: list[str], luck: int
) -> None:
    signals = [signal(f"s{n}", text, n + 1) for n, text in enumerate(texts)]
    straight = run(book, signals)
    random.Random(luck).shuffle(signals)
    turned = run(book, signals)
    assert (turned.assignments, turned.clusters, turned.mixture) == (
        straight.assignments,
        straight.clusters,
        straight.mixture,
    )
    for assignment in straight.assignments:
        assert round(sum(share.share for share in assignment.shares), 9) == 1.0
    masses = sum(assignment.mass for assignment in straight.mixture.patterns)
    lost = straight.mixture.uncategorized_share * straight.mixture.total
    assert masses + lost == pytest.approx(straight.mixture.total)
