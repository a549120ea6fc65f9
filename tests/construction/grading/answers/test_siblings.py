"""Retractions, yes that means no, scale words, currencies, dates and figures in texts."""

from __future__ import annotations

import pytest

from benchmarks.answer_cases import Case, siblings

CASES = list(siblings())


def described(case: Case) -> str:
    return f"{case.text!r} is {'right' if case.is_right else 'wrong'}"


@pytest.mark.parametrize("kind", sorted({case.kind for case in CASES}))
def test_siblings_are_read_right(kind: str) -> None:
    assert [described(case) for case in CASES if case.kind == kind and not case.agrees] == []


def test_they_are_many_and_of_both_kinds() -> None:
    assert len(CASES) >= 300
    assert min(sum(case.is_right for case in CASES), sum(not c.is_right for c in CASES)) >= 150
