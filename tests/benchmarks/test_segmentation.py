"""The segmentation benchmark: its metrics, its concatenations, and the bar it watches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import segmentation
from benchmarks.baselines import Tiling, best_fixed_gap, best_texttiling, fixed_gap, texttiling
from benchmarks.recovery import recovery
from benchmarks.segmentation import (
    SEED,
    Document,
    Piece,
    documents,
    halves,
    read_pieces,
    score,
    window_diff,
)
from tests.construction.sessions.recovery.talk import Talk

YES, NO = True, False


def piece(name: str, word: str, pool: str = "en", turns: int = 4) -> Piece:
    talk = Talk(name)
    for number in range(turns):
        text = " ".join(f"{word}{number}{letter}" for letter in "abcdefgh")
        talk.user(f"{text} {word} {word}s").agent(f"{word} {word}s {word}ing")
    return Piece(talk.session(), pool, word)


PIECES = [piece(f"s{n}", word) for n, word in enumerate(("oak", "sea", "tax", "jam", "zoo", "ice"))]


@pytest.mark.parametrize(
    ("truth", "cuts", "expected"),
    [
        ((NO, NO, YES, NO, NO), (NO, NO, YES, NO, NO), 0.0),
        ((NO, NO, YES, NO, NO), (NO, NO, NO, NO, NO), 0.5),  # windows of two: 2 of 4 differ
        ((NO, NO, YES, NO, NO), (NO, YES, NO, NO, NO), 0.5),
        ((YES,), (NO,), 1.0),
        ((), (), 0.0),
    ],
)
def test_window_diff(truth: tuple[bool, ...], cuts: tuple[bool, ...], expected: float) -> None:
    assert window_diff(truth, cuts) == expected


def test_score_counts_over_all_gaps() -> None:
    document = Document(Talk().session(), (YES, NO, NO, YES))
    result = score([document, document], lambda _: (YES, YES, NO, NO))
    assert (result.precision, result.recall, result.f1) == (0.5, 0.5, 0.5)
    assert (result.gaps, result.boundaries) == (8, 4)


def test_concatenations_hold_every_session_once_a_round_and_know_their_joins() -> None:
    actual = documents(PIECES, SEED, 3, timed=True)
    assert len(actual) == 2 * segmentation.ROUNDS
    for document in actual:
        turns = document.session.turns
        assert [turn.index for turn in turns] == list(range(len(turns)))
        assert document.joins == (NO, NO, NO, YES, NO, NO, NO, YES, NO, NO, NO)
        times = [turn.at for turn in turns if turn.at is not None]
        assert times == sorted(times) and len(times) == len(turns)
        assert document.session.cwd is None
    assert actual == documents(PIECES, SEED, 3, timed=True)
    assert actual != documents(PIECES, SEED + 1, 3, timed=True)


def test_neighbours_differ_in_topic_and_share_their_pool() -> None:
    same = [replace(item, topic="t", pool=item.pool) for item in PIECES[:3]]
    assert documents(same, SEED, 3, timed=False) == []
    apart = [replace(item, pool=str(n)) for n, item in enumerate(PIECES)]
    assert documents(apart, SEED, 3, timed=False) == []


def test_without_times_there_is_no_pause() -> None:
    untimed = documents(PIECES, SEED, 3, timed=False)
    assert all(turn.at is None for turn in untimed[0].session.turns)
    assert best_fixed_gap(untimed) is None
    assert score(untimed, fixed_gap(0.0)).f1 == 0.0


def test_halves_are_disjoint_and_complete() -> None:
    tune, report = halves(PIECES, SEED)
    assert (len(tune), len(report)) == (3, 3)
    names = sorted(item.session.session_id for item in (*tune, *report))
    assert names == [f"s{n}" for n in range(6)]


def test_texttiling_finds_plain_changes_of_topic() -> None:
    actual = documents([piece(f"l{n}", w, turns=12) for n, w in enumerate(("oak", "sea"))], SEED, 2,
                      timed=False)  # fmt: skip
    assert score(actual, texttiling(Tiling(sequence=20, block=3, cutoff=-2.0))).f1 == 1.0


@pytest.mark.slow
def test_recovery_beats_both_baselines(material: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmentation, "ROUNDS", 3)
    for name, pieces in read_pieces(material).items():
        tune, report = (pieces, pieces) if len(pieces) < 12 else halves(pieces, SEED)
        for timed in (False, True):
            tuning = documents(tune, SEED, 5, timed=timed)
            shown = documents(report, SEED + 1, 5, timed=timed)
            ours = score(shown, recovery)
            others = [score(shown, texttiling(best_texttiling(tuning)))]
            seconds = best_fixed_gap(tuning)
            others += [score(shown, fixed_gap(seconds))] if seconds is not None else []
            for other in others:
                assert ours.f1 > other.f1, (name, timed)
                assert ours.window_diff < other.window_diff, (name, timed)
