"""Telephone numbers keep their form, and one number in several forms stays one number."""

from __future__ import annotations

import pytest

from anonymization.text.surrogates.assignment import ScopeVocabulary, SurrogateTable
from anonymization.text.surrogates.identifiers import phone


@pytest.fixture
def table() -> SurrogateTable:
    return SurrogateTable(b"p" * 32, ScopeVocabulary())


def _digits(value: str) -> str:
    return "".join(char for char in value if char.isdigit())


@pytest.mark.parametrize("mark", [" x", " ext. ", " #", " 内线"])
def test_the_mark_and_length_of_an_extension_stay(table: SurrogateTable, mark: str) -> None:
    new = phone(table, f"614-392-7716{mark}4081", "")
    assert new[12:-4] == mark
    assert new[-4:].isdigit()
    assert phone(table, "614-392-7716", "") == new[:12]


@pytest.mark.parametrize(
    ("value", "at"),
    [("087-392-7716", 0), ("1-087-392-7716", 2), ("187.392.7716", 0), ("614-092-7716", 4)],
)
def test_what_no_area_or_exchange_has_stays_impossible(
    table: SurrogateTable, value: str, at: int
) -> None:
    new = phone(table, value, "")
    assert new != value
    assert new[at] == value[at]


@pytest.mark.parametrize(
    ("national", "international"),
    [
        ("080-6614-2093", "+81-80-6614-2093"),
        ("03-6614-2093", "+81 3 6614 2093"),
        ("0161 496 0733", "+44 161 496 0733"),
        ("01 42 68 53 10", "+33 1 42 68 53 10"),
        ("086 214 7730", "+353 86 214 7730"),
        ("13922071845", "+86 139 2207 1845"),
    ],
)
def test_one_number_with_and_without_its_country_code(
    table: SurrogateTable, national: str, international: str
) -> None:
    abroad = phone(table, international, "")
    at_home = phone(table, national, "")
    assert _digits(abroad).endswith(_digits(at_home).lstrip("0"))


def test_a_mobile_of_japan_stays_one(table: SurrogateTable) -> None:
    assert phone(table, "070-3321-9046", "").startswith("070-")


@pytest.mark.parametrize(
    ("value", "area"),
    [
        ("13922071845", "139"), ("+86 139-2207-1845", "+86 139-"), ("010-6614 2093", "010-"),
        ("(0755) 8661 4209", "(0755) "), ("03-6614-2093", "03-"), ("0120-661-420", "0120-"),
        ("02-184-9794", "02-"), ("+66-38-348-642", "+66-38-"),
    ],
)  # fmt: skip
def test_the_area_or_operator_stays_one_that_exists(
    table: SurrogateTable, value: str, area: str
) -> None:
    new = phone(table, value, "")
    assert new.startswith(area) and new != value and len(new) == len(value)
