"""Short forms of dates move with the whole ones beside them; what may be a share stays."""

from __future__ import annotations

import re
from datetime import date

import pytest

from anonymization.text.contracts import DetectionConfig, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.masker import Masker

_RULES = DetectionConfig(english_model="", chinese_model="", japanese_model="")


def masked(text: str) -> str:
    return Masker(TextDetector(_RULES), b"k" * 32, Mode.SURROGATE, "s").mask_texts([text])[0]


def test_days_of_a_german_text_move_together() -> None:
    new = masked("Stand 12.05.2025, Angebot vom 14. Mai 2025, gültig bis 28.05. (im Mai)\n")
    parts = re.search(
        r"Stand (\d\d)\.(\d\d)\.(\d{4}), .* vom (\d+)\. (\w+) (\d{4}), .* bis (\d\d)\.(\d\d)\.", new
    )
    assert parts is not None
    first = date(int(parts[3]), int(parts[2]), int(parts[1]))
    last = date(first.year, int(parts[8]), int(parts[7]))
    assert first != date(2025, 5, 12) and (last - first).days == 16
    assert parts[5] in [
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
    ]
    assert "im Mai" not in new


@pytest.mark.parametrize(
    ("text", "gone", "stays"),
    [
        (
            "2025/06/02 会議\n6/17 朝から停止、提出は6/24まで。1/2の量\n",
            ("6/17", "6/24"),
            "1/2の量",
        ),
        ("更新于 2025-06-03。6 月应为 9,871，六月销售额少。\n", ("6 月", "六月"), "9,871"),
        ("Filed 2025-06-03. Due 6/20, half of 1/2 cup; audit in May.\n", ("6/20", "May"), "1/2"),
    ],
)
def test_days_that_words_show_move(text: str, gone: tuple[str, ...], stays: str) -> None:
    new = masked(text)
    assert stays in new
    assert not any(each in new for each in gone), new


@pytest.mark.parametrize("text", ["bis 28.05. offen\n", "Kapitel 3.1. und 1/2 Tasse\n"])
def test_short_forms_without_a_date_beside_them_stay(text: str) -> None:
    assert masked(text) == text
