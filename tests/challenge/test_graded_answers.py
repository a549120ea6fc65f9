"""The grader on answers that were written without sight of it: no worse than at the first reading.

The first reading (benchmarks/results/graded_answers.md) is the measure; these floors only keep it.
"""

from __future__ import annotations

import pytest

from tests.challenge.graded_answers import SETS, judged_cases

# Per set: wrong answers rejected, rejected with a fitting reason, right answers accepted.
FIRST = {
    "graded_answers": (299, 282, 142),
    "graded_answers_2": (300, 287, 145),
    "graded_answers_3": (298, 293, 145),
}


@pytest.mark.parametrize("name", SETS)
def test_no_worse_than_at_the_first_reading(name: str) -> None:
    cases = list(judged_cases(name))
    wrong = [case for case in cases if not case.is_right]
    right = [case for case in cases if case.is_right]
    assert (len(wrong), len(right)) == (300, 150)
    read = (
        sum(case.agrees for case in wrong),
        sum(case.reason_fits for case in wrong),
        sum(case.agrees for case in right),
    )
    assert all(now >= first for now, first in zip(read, FIRST[name], strict=True)), read
