"""The pictures of a release: drawn where there are figures, and only there."""

from __future__ import annotations

from dataclasses import asdict

from construction.signals.config import GapConfig
from construction.signals.gap import coverage_gap
from construction.signals.pictures import pictures_of
from selection.lite import LiteItem, choose_lite


def test_gap_and_lite_subset_are_drawn() -> None:
    weights = {"family-0": 0.7, "family-1": 0.2, "family-2": 0.1}
    held = {"family-0": 4, "family-1": 5, "family-2": 5}
    items = [LiteItem(f"s-{n:02d}", f"family-{n % 3}", None, None) for n in range(13)]
    report = {
        "coverage_gap": asdict(coverage_gap(weights, held, 13, GapConfig())),
        "lite": asdict(choose_lite(items, 6, 1)),
    }
    pictures = pictures_of((), report)
    assert sorted(pictures) == ["coverage-gap", "lite-subset"]
    assert "PRIORITY" in pictures["coverage-gap"].inline
    assert "6 of 13 tasks" in pictures["lite-subset"].title


def test_without_figures_there_is_no_picture() -> None:
    assert pictures_of((), {"rule": "all of the pool"}) == {}
