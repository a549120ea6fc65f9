"""Candidate ideas by rules: every pattern has some that pass, and no other fault than likeness."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest

from construction.judging.contracts import ModelStagesConfig
from construction.signals.codebook import default_codebook
from construction.signals.weights import SeedIdea, _gradings
from construction.workflows.candidate_ideas import _moves, _situations, _suggest_ideas
from construction.workflows.prefilters import IdeaReason, Proposed
from data.contracts import Outcome

CONFIG = ModelStagesConfig()


def seed(pattern: str, ideas: int = 8) -> SeedIdea:
    result = default_codebook().patterns.get(pattern)
    surface = result.surface if result else "files"
    grading = _gradings().get(pattern, _gradings()["email"])
    return SeedIdea(pattern, "f", "t", "d", 0.1, ideas, "goal", "artifact", surface, grading, ())


PATTERNS = sorted(default_codebook().benchmarkable)


@pytest.fixture(scope="module")
def proposed() -> Proposed:
    return _suggest_ideas([seed(pattern) for pattern in PATTERNS], CONFIG)


def test_of_eight_ideas_of_every_pattern_those_with_the_same_steps_fail(
    proposed: Proposed,
) -> None:
    reasons = {row.item_id: row.reason for row in proposed.ledger if row.reason}
    assert set(reasons.values()) == {IdeaReason.NEAR_DUPLICATE}
    per_seed = Counter(idea.seed for idea in proposed.ideas)
    assert per_seed.keys() == set(PATTERNS)
    assert min(per_seed.values()) >= 2  # each pattern has two moves
    counts = proposed.tallies[1].counts
    assert counts[Outcome.KEPT] + len(reasons) == 8 * len(PATTERNS)
    assert 0.1 < len(reasons) / (8 * len(PATTERNS)) < 0.5


def test_ideas_of_a_seed_differ_in_title_and_request(proposed: Proposed) -> None:
    assert len({(idea.seed, idea.title) for idea in proposed.ideas}) == len(proposed.ideas)
    assert len({idea.task for idea in proposed.ideas}) == len(proposed.ideas)


def test_no_slot_is_left_and_every_file_named_is_made(proposed: Proposed) -> None:
    for idea in proposed.ideas:
        said = " ".join((idea.title, idea.task, *idea.steps, idea.artifact, idea.graded))
        assert "{" not in said and "}" not in said, idea.idea_id
        made = {item.split(":")[0] for item in idea.environment}
        named = re.findall(r"\(([^\s()]+): ", idea.task)
        assert (named and set(named) <= made) or not named, idea.idea_id


def test_moves_leave_out_only_situations_that_there_are() -> None:
    for moves in _moves().values():
        for move in moves:
            pool = {item.words["slug"] for item in _situations()[move.pool]}
            assert set(move.skip) < pool
            assert len(pool) - len(move.skip) >= 4, move.title


def test_the_number_goes_by_weight_within_limits() -> None:
    for requests, given in ((0, 5), (6, 6), (12, 8)):
        ideas = _suggest_ideas([seed("email", requests)], CONFIG).ideas
        assert [idea.idea_id for idea in ideas] == [f"email-{n}" for n in range(1, given + 1)]


def test_order_of_seeds_does_not_matter() -> None:
    item, other = seed("email"), seed("pdf_work")
    first, second = (_suggest_ideas(seeds, CONFIG) for seeds in ([item, other], [other, item]))
    assert (first.ideas, first.ledger) == (second.ideas, second.ledger)


def test_a_pattern_without_moves_is_errored() -> None:
    done = _suggest_ideas([replace(seed("email"), pattern="falconry")], CONFIG)
    (row,) = done.ledger
    assert (row.outcome, row.reason) == (Outcome.ERRORED, IdeaReason.UNKNOWN_PATTERN)
    assert done.ideas == ()
