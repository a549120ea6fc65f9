"""What a rubric quotes of tables as a whole, and of two columns that are compared."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from construction.judging.contracts import InputFile, InputTable
from construction.judging.lexicon import table
from construction.judging.reference import whole_table
from construction.judging.reference_pairs import of_pairs
from construction.judging.reference_profiles import profiles_of

WORDS = table("grading")["en"]


def profile(*columns: str, rows: Sequence[tuple[str, ...]], said: str = "Report on it.") -> str:
    sheet = InputTable(name="", columns=columns, rows=len(rows), cells=tuple(rows))
    known = InputFile(words=9, key=1, tables=(sheet,))
    return "".join(profiles_of(known, "inbox.json", said, WORDS))


def test_a_short_table_is_quoted_by_what_its_entries_are_called_and_how_they_stand() -> None:
    rows = [
        (f"m{n}", f"Boat {n} is wet", "It is wet. " * 40, "['inbox']", "true", f"2031-05-0{n}")
        for n in range(1, 4)
    ]
    text = profile("id", "subject", "body", "labels", "read", "date", rows=rows)
    assert "3 entries of inbox.json" in text
    assert "(id, subject, date) m1, Boat 1 is wet, 2031-05-01; m2" in text
    bare = [(row[0], row[2], row[5]) for row in rows]
    assert not profile("id", "body", "date", rows=bare)


def test_a_long_table_is_described_by_its_columns() -> None:
    rows = [
        (str(n), "Lee" if n % 3 else "Tyne", str(50 + 7 * n % 40), f"note {n}") for n in range(60)
    ]
    text = profile("Rower ID", "Club", "Weight", "Note", rows=rows, said="Sum up the weight.")
    assert "60 rows; Weight: 50 to 89, mean 69.17; Club: Lee 40, Tyne 20." in text
    assert "Rower ID" not in text


TIMES = InputTable(
    name="",
    columns=("Name", "May", "June"),
    rows=3,
    cells=(("Ada", "61", "74"), ("Bo", "58", "50"), ("Cleo", "66", "66")),
)


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("Who was lower in June than in May?", "June is below May in 1 of 3 rows (Bo)"),
        ("Who was faster and had more in June than May?", "June is above May in 1 of 3 rows (Ada)"),
        ("Say more on May and June.", ""),
    ],
)
def test_two_columns_that_are_compared(request_text: str, expected: str) -> None:
    lines = list(of_pairs(TIMES, "times.csv", request_text, WORDS))
    assert [expected in line for line in lines] == ([True] if expected else [])


def test_a_small_table_is_quoted_where_it_is_changed() -> None:
    assert whole_table([TIMES]) == "Name, May, June; Ada, 61, 74; Bo, 58, 50; Cleo, 66, 66"
    assert not whole_table([TIMES, TIMES])
    long = InputTable(name="", columns=("Name", "May"), rows=90, cells=(("Ada Lee", "61"),) * 90)
    assert not whole_table([long])
