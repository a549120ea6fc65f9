"""The page of the blind readings: what it counts, against the sheets of a small case."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.session_reading import (
    LABELS,
    Rejection,
    Score,
    read_scores,
    rejections_text,
    released_text,
)


def test_a_bar_is_missed_by_few_good_tasks_or_by_a_task_that_cannot_be_done() -> None:
    good, bad = Score(2, "ok"), Score(0, "missing_input")
    text = released_text(
        {"A": dict(enumerate([good] * 5)), "B": dict(enumerate([good] * 4 + [bad]))}
    )
    assert "| A | 5 | 5 of 5: 1.00 (0.57 to 1.00) | held | 0 | held |" in text
    assert "| B | 5 | 4 of 5: 0.80 (0.38 to 0.96) | held | 1 | missed |" in text
    assert "| `missing_input` | 0 | 1 |" in text


def test_a_wrong_reason_counts_only_where_the_rejection_is_right() -> None:
    rows = dict(enumerate([Rejection(True, True), Rejection(True, False), Rejection(False, False)]))
    text = rejections_text({"C": rows, "D": rows})
    assert "| C | 3 | 1 of 3: 0.33 (0.06 to 0.79) | held | 1 of 3: 0.33 (0.06 to 0.79) |" in text


def test_scores_beyond_the_scale_are_refused(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("n,score,reason\n1,4,ok\n", encoding="utf-8")
    with pytest.raises(ValueError, match="task 1"):
        read_scores(sheet)


def test_both_readers_read_the_same_tasks() -> None:
    first, second = (read_scores(LABELS / f"session_reading_{reader}.csv") for reader in "ab")
    assert set(first) == set(second) == set(range(1, 69))
