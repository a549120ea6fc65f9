"""The table of counts is read from the pages as they are."""

from __future__ import annotations

import pytest

from benchmarks.bars import counted, table_rows

_PAGE = """# Forgeries

| forgery | seen | finding |
|---|---|---|
| a task changed | yes | one \\| two |
| no signature | NO |  |

1 of 2 are seen.
"""


def test_a_table_is_read_by_its_heads() -> None:
    assert table_rows(_PAGE) == [
        {"forgery": "a task changed", "seen": "yes", "finding": "one \\| two"},
        {"forgery": "no signature", "seen": "NO", "finding": ""},
    ]


@pytest.mark.parametrize(
    ("name", "wanted"), [("kills at seams", 100), ("forgeries", 12), ("odd environments", 40)]
)
def test_every_page_has_as_many_rows_as_its_bar_wants(name: str, wanted: int) -> None:
    (bar,) = (bar for bar in counted() if bar.name == name)
    assert bar.wanted == wanted
    assert bar.tried >= wanted
    assert 0 < bar.held <= bar.tried
    assert len(bar.date) == len("2026-01-01")
