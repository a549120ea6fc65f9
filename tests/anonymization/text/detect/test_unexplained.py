"""What the level `strict` masks because nothing explains it, and what explains itself."""

from __future__ import annotations

import re

import pytest

from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, EntityType, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.masker import Masker

_STRICT = at_level(DetectionConfig.for_tasks(), MaskingLevel.STRICT)


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(_STRICT)


def unexplained(detector: TextDetector, text: str) -> list[str]:
    (findings,) = detector.find([text])
    return [text[f.start : f.end] for f in findings if f.type is EntityType.UNEXPLAINED]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the sheet of zorblatt is ready", ["zorblatt"]),
        ("def load_zorblatt_rows(path):", ["zorblatt"]),
        ("there was QT-0093-17 in it", ["QT-0093-17"]),
        ("then came VX/0310/KRA again", ["VX/0310/KRA"]),
        ("trace 7b1c9e04a2f85d3360aa1cf2 was slow", ["7b1c9e04a2f85d3360aa1cf2"]),
        ("see 9f2b6c1e-77aa-4b02-9c3d-51e0f7a8b6c4", ["9f2b6c1e-77aa-4b02-9c3d-51e0f7a8b6c4"]),
        ("login teapot_lizard_87", []),
        ("teapot_lizard_87", ["teapot_lizard_87"]),
        ("he spelled it Q-U-O-R-N slowly", ["Q-U-O-R-N"]),
        ("customer 29323476 records a loss", ["29323476"]),
        ("工单29323476人事部", ["29323476"]),
        ("宙さんへ連絡", ["宙"]),
        ("公羊", ["公羊"]),
    ],
)  # fmt: skip
def test_what_nothing_explains(detector: TextDetector, text: str, expected: list[str]) -> None:
    assert unexplained(detector, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Please summarise the quarterly revenue by region and save it as a spreadsheet.",
        "Run pytest -x tests/test_parser.py and fix the failing regex in the tokenizer.",
        "SELECT customer_id, SUM(amount) FROM orders WHERE created_at >= '2025-03-01' GROUP BY 1",
        "In Q3 2024 sales rose by 12.5% to $1,284,300 (ISO-27001, v2.14.0, UTF-8, cell B12).",
        "The meeting is on 2026-02-17 at 14:30, see step-3 and chapters 10-12.",
        "请把上周的销售数据整理成表格，并写一份两页的总结。",
        "九月二十四日の会議資料を要約してください。",
        "Net profit was $29323476, or 29323476 euros, over 62209310 rows and 12345678 bytes.",
        "净利润29323476元，共62209310条，人口12345678人，约4500000万元。",
        "Rechnung, Kunde, Betrag, Datum, Notiz",
    ],
)
def test_what_explains_itself(detector: TextDetector, text: str) -> None:
    assert unexplained(detector, text) == []


def test_dates_long_past_are_masked_like_dates_of_birth(detector: TextDetector) -> None:
    text = "row: 1984-06-21 and 2025-06-21"
    (findings,) = detector.find([text])
    assert [(text[f.start : f.end], f.type) for f in findings] == [("1984-06-21", EntityType.DATE)]


def test_a_code_inside_a_name_is_no_part_of_it(detector: TextDetector) -> None:
    text = "K58213  THORNQUIST, MELISSA     EARLY"
    assert "K58213" in unexplained(detector, text)


def test_surrogates_keep_the_shape_and_are_the_same_everywhere(detector: TextDetector) -> None:
    masker = Masker(detector, bytes(32), Mode.SURROGATE, "s", masks_undecided=True)
    first, second = masker.mask_texts(["ask zorblatt about QT-0093-17", "QT-0093-17 is Zorblatt's"])
    code = re.search(r"[A-Z]{2}-\d{4}-\d{2}", first)
    assert code is not None and code.group() != "QT-0093-17" and code.group() in second
    word = first.split()[1]
    assert word != "zorblatt" and word.islower() and word in second.lower()


def test_the_level_adds_a_kind_and_full_takes_it_away() -> None:
    full = at_level(_STRICT, MaskingLevel.FULL)
    assert set(_STRICT.entities) - set(full.entities) == {EntityType.UNEXPLAINED}
    assert at_level(_STRICT, MaskingLevel.STRICT) == _STRICT
