"""Retractions, yes that means no, scale words, currencies, dates and figures in texts."""

from __future__ import annotations

import pytest

from benchmarks.answer_cases import Case, siblings

CASES = list(siblings())


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{case.kind}" for n, case in enumerate(CASES)])
def test_siblings_are_read_right(case: Case) -> None:
    assert case.agrees, f"{case.text!r} is {'right' if case.is_right else 'wrong'}"


def test_they_are_many_and_of_both_kinds() -> None:
    assert len(CASES) >= 300
    assert min(sum(case.is_right for case in CASES), sum(not c.is_right for c in CASES)) >= 150
