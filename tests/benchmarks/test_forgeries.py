"""The forgeries that the table counts are seen by the command; here those without a test of
their own."""

from __future__ import annotations

import pytest

from benchmarks.forgeries import FORGERIES, measure


@pytest.mark.slow(seconds=15)
def test_forgeries_end_with_a_finding() -> None:
    names = [name for name in FORGERIES if name.startswith(("a task", "run.json", "errata: the"))]
    assert len(names) > 4
    assert [row for row, seen in measure(names, say=lambda _: None) if not seen] == []
