"""No solution with a spoiled text passes where a grader looks for a figure or a day in a text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from construction.workflows.runs import graded, spec_of_draft
from construction.workflows.trials import _spoiled_texts, mutants_of
from tests.construction.workflows.smoke import draft_of, run_of

THRESHOLD = 0.8


def test_no_spoiled_text_passes() -> None:
    """The note has to state a sum; here its check is one for a single figure."""
    draft, run = draft_of("regional_sales"), run_of("regional_sales")
    made = next(check for check in draft.checks if check.kind == "record_created")
    (figure,) = made.params["where"]["body"]["contains_all"]
    where = {**made.params["where"], "body": {"contains": figure}}
    single = made.model_copy(update={"params": {**made.params, "where": where}})
    checks = tuple(single if check is made else check for check in draft.checks)
    looking = replace(draft, checks=checks)
    spec = spec_of_draft(looking)
    assert graded(spec, run.submission(), THRESHOLD).overall == 1.0
    mutants = list(mutants_of(looking, run))
    assert any("taken back" in mutant.title for mutant in mutants)
    for mutant in mutants:
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
    assert titles <= {title for title, _ in _spoiled_texts(wanted)}
