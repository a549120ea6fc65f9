"""Published verdicts compared with the reader's, on invented questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmarks.finretrieval_verdicts import (
    UNEXPLAINED,
    Case,
    explained,
    measure,
    page,
    plain,
    read,
)

# question, value, unit, currency, the answer in words
QUESTIONS = [
    ("What was Ostra's revenue for fiscal 2022, in USD millions?", "97.0", "Million", "USD"),
    ("What was Ostra's cash outflow for leases in fiscal 2022, in USD thousands?", "-52.378",
     "Thousand", "USD"),
    ("How many stock awards of Ostra (in thousands) were left out?", "131", "Thousand", None),
]  # fmt: skip
# question, value, unit, currency, right in its eyes, its reason, class of the difference
ROWS: list[tuple[int, str | None, str | None, str | None, bool, str | None, str | None]] = [
    (0, "97", "Million", "USD", True, None, None),
    (0, "97.0", "Million", None, True, None, None),
    (0, "97", "Million", "EUR", True, None, "twin"),
    (0, "97", "Million", "EUR", False, "Response in EUR", None),
    (0, "97", None, "USD", True, None, "no scale"),
    (0, "99", "Million", "USD", False, "another value", None),
    (0, None, None, None, False, "no value", None),
    (0, "90-97", "Million", "USD", False, "a range", None),
    (0, "98", "Million", "USD", True, None, UNEXPLAINED),
    (1, "-52.38", "Thousand", "USD", True, None, "rounding"),
    (1, "-52.4", "Thousand", "USD", True, "rounded", "own reason"),
    (1, "52.378", "Thousand", "USD", True, None, "sign"),
    (1, "-52.378", "Thousand", "USD", True, None, None),
    (2, "131000", None, None, True, None, "bare number"),
    (2, "131", "Thousand", None, True, None, None),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    questions = [
        {"index": at, "question": text, "value": value, "unit": unit,
         "answer": f"It was {value} {unit.lower()}{' ' + currency if currency else ''}."}
        for at, (text, value, unit, currency) in enumerate(QUESTIONS)
    ]  # fmt: skip
    pl.DataFrame(questions).write_parquet(tmp_path / "questions.parquet")
    rows = [_row(*row[:6]) for row in ROWS]
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(tmp_path / "scores.parquet")
    return tmp_path


def _row(
    index: int,
    value: str | None,
    unit: str | None,
    currency: str | None,
    right: bool,
    why: str | None,
) -> dict[str, Any]:
    _, gold, gold_unit, gold_currency = QUESTIONS[index]
    return {
        "index": index, "is_correct": right, "expected_value": gold, "expected_unit": gold_unit,
        "expected_currency": gold_currency, "extracted_value": value, "extracted_unit": unit,
        "extracted_currency": currency, "could_extract": value is not None, "error_reason": why,
    }  # fmt: skip


def test_differences_have_the_class_whose_rule_fits(folder: Path) -> None:
    questions, rows = read(folder)
    for row, (*_, expected) in zip(rows, ROWS, strict=True):
        others = [other for other in rows if other.index == row.index and other is not row]
        if expected is not None:
            assert explained(Case(row, questions[row.index], others)) == expected, plain(row)


def test_every_difference_is_counted_once(folder: Path) -> None:
    figures = measure(folder)
    halves = figures.values()
    differing = sum(expected is not None for *_, expected in ROWS)
    assert sum(half["verdicts"] for half in halves) == len(ROWS)
    assert sum(half["verdicts"] - half["agree"] for half in halves) == differing
    assert sum(sum(half["classes"].values()) for half in halves) == differing
    assert sum(half["references"]["accepted"] for half in halves) == len(QUESTIONS)
    assert f"| {UNEXPLAINED} |" in page(figures)


def test_the_gold_takes_unit_scale_and_places_of_the_data_set(folder: Path) -> None:
    questions, _ = read(folder)
    golds = [questions[at].gold for at in range(3)]
    assert [(g.value, g.unit, g.scale, g.decimals) for g in golds] == [
        ("97", "USD", 10**6, 0),
        ("-52.378", "USD", 1000, 3),
        ("131", "count", 1000, 0),
    ]
