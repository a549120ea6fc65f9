"""Seed ideas: more for heavier patterns, each with what a grader needs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.signals.assign import Assignment, PatternShare
from construction.signals.codebook import default_codebook
from construction.signals.config import SignalsConfig
from construction.signals.crosswalk import default_crosswalk
from construction.signals.seeds import SeedIdea, gradings, seed_ideas
from construction.signals.weights import Mixture, mixture
from data.errors import ConfigError

BOOK, CROSSWALK = default_codebook(), default_crosswalk()


def mixed(masses: dict[str, float]) -> Mixture:
    shares = [
        Assignment(name, (PatternShare(name, 1.0, 0.9, 0.9, 0.5, False, ()),), None, name, 0.5)
        for name in sorted(masses)
    ]
    return mixture(shares, masses, BOOK, SignalsConfig())


def ideas(masses: dict[str, float], **settings: Any) -> tuple[SeedIdea, ...]:
    return seed_ideas(mixed(masses), BOOK, CROSSWALK, SignalsConfig(**settings))


def test_every_benchmarkable_pattern_can_be_graded() -> None:
    assert gradings().keys() == BOOK.benchmarkable
    for pattern, grading in gradings().items():
        assert any(grading.evidence.model_dump().values()), pattern
        assert grading.expected and grading.graded and grading.ungraded, pattern


def test_heavier_patterns_get_more_and_meta_none() -> None:
    seeds = ideas({"email": 70, "pdf_work": 20, "slides": 10, "agent_memory": 500}, ideas=10)
    assert [(seed.pattern, seed.ideas) for seed in seeds] == [
        ("email", 7),
        ("pdf_work", 2),
        ("slides", 1),
    ]
    email = seeds[0]
    assert (email.weight, email.family, email.task_family) == (
        0.7,
        "communication",
        "correspondence",
    )
    assert (email.display_group, email.execution_surface) == ("coordinate", "api")
    assert email.signals == ("email",)
    assert email.user_goal == BOOK.patterns["email"].goal


def test_bounds_per_pattern() -> None:
    seeds = ideas({"email": 99, "slides": 1}, ideas=10, max_ideas=6)
    assert {seed.pattern: seed.ideas for seed in seeds} == {"email": 6, "slides": 4}
    seeds = ideas({"email": 99, "slides": 1}, ideas=100, max_ideas=6)
    assert sum(seed.ideas for seed in seeds) == 12  # no more than the patterns can take
    assert ideas({}, ideas=10) == ()


names = st.sampled_from(sorted(BOOK.benchmarkable))


@settings(max_examples=50)
@given(
    st.dictionaries(names, st.integers(1, 10_000), min_size=1),
    st.integers(0, 200),
    st.integers(1, 9),
)
def test_ideas_are_apportioned(masses: dict[str, int], total: int, most: int) -> None:
    seeds = ideas({name: float(mass) for name, mass in masses.items()}, ideas=total, max_ideas=most)
    assert sum(seed.ideas for seed in seeds) == min(total, most * len(masses))
    numbers = [seed.ideas for seed in seeds]
    assert all(number <= most for number in numbers)
    if total >= len(masses):
        assert min(numbers) >= 1
    assert all(a >= b - 1 for a, b in pairwise(numbers))


def test_the_reason_for_an_unknown_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("construction.signals.seeds.gradings", dict)
    with pytest.raises(ConfigError, match="no grading for email"):
        ideas({"email": 1.0})
