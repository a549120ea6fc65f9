"""Rewriting by a model: worked cases, with inventions and losses by name."""

from __future__ import annotations

import re
from typing import Any

import pytest

from construction.judging.contracts import Case
from construction.judging.model.contracts import JudgeReason
from construction.judging.model.rewriting import check_rewrite
from tests.construction.judging.model.fakes import CONFIG, case

_WORD = re.compile(r"[\w.]+")
QUOTE = case(
    "Hi! Write a quotation for Nettleham Dairy from prices.xlsx: four items, 5 pieces each, "
    "1,200.50 in all, valid until 3 May 2025. Title it “Spring offer”.\n\nMake it 6 pieces.",
    "prices.xlsx",
    outputs=[("docx", "quote.docx")],
)
GOOD = (
    "Please write a quotation for Nettleham Dairy from prices.xlsx: four items, 6 pieces each, "
    "1200.50 in all, valid until 3 May 2025, titled “Spring offer”, as quote.docx in Word."
)
POST = case("帮我写一篇公众号推文，三百字，提到岚山公司每月省22小时，标题不超过20字。")
GOOD_POST = "写一篇300字的公众号推文，说明岚山公司每月节省22小时，标题20字以内。"


@pytest.mark.parametrize(
    ("one", "answer", "reason", "names"),
    [
        (QUOTE, GOOD, None, ""),
        (QUOTE, f"{GOOD} Deliver by 9 June 2025.", JudgeReason.INVENTION, "9 June 2025"),
        (QUOTE, GOOD.replace("Dairy", "Dairy and Orchard Vale"), JudgeReason.INVENTION,
         "Orchard, Vale"),
        (QUOTE, GOOD.replace("prices.xlsx", "list.xlsx"), JudgeReason.INVENTION, "list.xlsx"),
        (QUOTE, GOOD.replace("from prices.xlsx", "by the list"), JudgeReason.LOSS, "prices.xlsx"),
        (QUOTE, GOOD.replace("6 pieces", "some pieces"), JudgeReason.LOSS, "5, 6"),
        (QUOTE, GOOD.replace(" for Nettleham Dairy", ""), JudgeReason.LOSS, "Dairy, Nettleham"),
        (POST, GOOD_POST, None, ""),
        (POST, GOOD_POST.replace("岚山公司", "海岳公司"), JudgeReason.INVENTION, "海岳公司"),
        (POST, GOOD_POST.replace("，标题20字以内", ""), JudgeReason.LOSS, "20"),
        (POST, "Write a post of 300 words.", JudgeReason.OTHER_LANGUAGE, "en"),
        (POST, "", JudgeReason.EMPTY, ""),
    ],
)  # fmt: skip
def test_worked_cases(one: Case, answer: str, reason: Any, names: str) -> None:
    fault = check_rewrite(answer, one, CONFIG)
    assert (fault.reason if fault else None) == reason
    assert set(_WORD.findall(fault.detail if fault else "")) == set(_WORD.findall(names))


def test_a_later_number_takes_back_an_earlier_one_but_not_the_other_way() -> None:
    one = case("Make 5 copies of the notice.\n\nNo, 7 copies of the notice.")
    for copies, reason in ((7, None), (5, JudgeReason.LOSS)):
        fault = check_rewrite(f"Make {copies} copies of the notice.", one, CONFIG)
        assert (fault.reason if fault else None) == reason
