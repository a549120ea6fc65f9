"""Languages by script: what counts, what does not, and how long it takes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.judging.language import language_of, leading_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Summarise the three contracts.", "en"),
        ("帮我写一份季度总结", "zh"),
        ("我review了一下王浩的简历，希望下周能出offer。", "zh"),
        ("この表を月ごとに集計してください", "ja"),
        ("看 `git log --oneline --graph main` 和 /root/inputs/合同.docx 再说", "zh"),
        ("请打开 https://example.com/a/very/long/english/path/to/a/page 看看", "zh"),
        ("Please translate: 请在周五之前把合同的最终版本发给我们", "zh"),
        (
            "The court names all the circumstances. 员工确实收到了警告邮件",
            "mul",
        ),
        ("Привет, переведи это письмо", "mul"),
        ("안녕하세요 보고서를 작성해 주세요", "mul"),
        ("", "en"),
        ("123 !!! 😀", "en"),
    ],
)
def test_language_of(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (
            "The court names all the circumstances. 员工确实收到了警告邮件",
            "zh",
        ),
        ("Fix the bug in 登录 page and write tests for the login form", "en"),
        ("Привет", "en"),
        ("表を作って", "ja"),
    ],
)
def test_a_mixed_text_is_answered_in_the_language_that_leads(text: str, language: str) -> None:
    assert leading_language(text) == language


@given(st.text(max_size=300))
def test_every_text_has_a_language(text: str) -> None:
    assert language_of(text) in {"en", "zh", "ja", "mul"}
    assert leading_language(text) in {"en", "zh", "ja"}


@pytest.mark.parametrize("unit", ["a/", "`", "```", "https://", "中a", "~", "\\"])
def test_time_is_linear_in_hostile_text(unit: str) -> None:
    text = unit * (600_000 // len(unit))
    began = time.process_time()
    language_of(text)
    assert time.process_time() - began < 2
