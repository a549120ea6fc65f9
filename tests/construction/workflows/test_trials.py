"""No solution with a spoiled text passes where a grader looks for a figure or a day in a text."""

from __future__ import annotations

import pytest

from construction.workflows.contracts import Draft
from construction.workflows.registry import DRAFTS_EACH
from construction.workflows.registry import SMOKE as SCENARIOS
from construction.workflows.runs import graded, perform, spec_of_draft
from construction.workflows.trials import mutants_of, spoiled_texts

THRESHOLD = 0.8


def drafts_that_look_into_texts() -> list[tuple[str, Draft]]:
    built = (
        (name, scenario.build(number, 3))
        for name, scenario in SCENARIOS.items()
        for number in range(1, DRAFTS_EACH + 1)
    )
    return [
        (name, draft)
        for name, draft in built
        if any("contains" in str(check.params) for check in draft.checks)
    ]


DRAFTS = drafts_that_look_into_texts()


@pytest.mark.parametrize(("name", "draft"), DRAFTS, ids=[name for name, _ in DRAFTS])
def test_no_spoiled_text_passes(name: str, draft: Draft) -> None:
    spec, run = spec_of_draft(draft), perform(draft, SCENARIOS[name])
    assert graded(spec, run.submission(), THRESHOLD).overall == 1.0
    spoiled = [mutant for mutant in mutants_of(draft, run) if "taken back" in mutant.title]
    assert spoiled
    for mutant in mutants_of(draft, run):
        score = graded(spec, mutant.submission, THRESHOLD)
        assert score.passed is False or (score.overall or 0) < 1.0, mutant.title


@pytest.mark.parametrize(
    ("wanted", "titles"),
    [
        ("2026-04-30", {"a day late", "every day", "one of two", "before it"}),
        ("4310.25", {"a digit before it", "a digit behind it", "negative", "a unit off"}),
        ("Tolvane", {"in a longer word"}),
    ],
)
def test_texts_are_spoiled_by_what_they_hold(wanted: str, titles: set[str]) -> None:
    assert titles <= {title for title, _ in spoiled_texts(wanted)}
