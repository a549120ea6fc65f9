"""The grader on answers that were written without sight of it: no worse than at the first reading.

The first reading (benchmarks/results/graded_answers.md) is the measure; these floors only keep it.
"""

from __future__ import annotations

from tests.challenge.graded_answers import judged_cases


def test_no_worse_than_at_the_first_reading() -> None:
    cases = list(judged_cases())
    wrong = [case for case in cases if not case.is_right]
    right = [case for case in cases if case.is_right]
    assert (len(wrong), len(right)) == (300, 150)
    assert sum(case.agrees for case in wrong) >= 299
    assert sum(case.reason_fits for case in wrong) >= 282
    assert sum(case.agrees for case in right) >= 142
