"""Names that a person spells otherwise are written as the files are called."""

from __future__ import annotations

import pytest

from construction.sessions.prompts.spellings import with_names_as_given
from tests.construction.sessions.instances import said


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("Sum boats.xls now.", ["in/boats.xlsx"], "Sum boats.xlsx now."),
        ("Read in/price-list.csv.", ["in/Price_List.csv"], "Read in/Price_List.csv."),
        ("把 boats.xls 排序", ["boats.xlsx"], "把 boats.xlsx 排序"),
        ("Sum BOATS.xlsx now.", ["boats.xlsx"], "Sum BOATS.xlsx now."),
        ("Save boats.xlsx as boats.xls.", ["boats.xlsx"], "Save boats.xlsx as boats.xls."),
        ("Sum boats.xls.", ["boats.xlsx", "old/Boats.xlsx"], "Sum boats.xls."),
        ("Sum crew.xls.", ["boats.xlsx"], "Sum crew.xls."),
    ],
)
def test_names_as_given(text: str, given: list[str], expected: str) -> None:
    instance = with_names_as_given(said(text), given)
    assert [turn.said for turn in instance.user_turns] == [expected]
