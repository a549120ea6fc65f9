"""The language of short requests: what is told apart, what is left open, and how long it takes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.text.language import language_of
from data.text.scripts import leading_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Summarise the three contracts.", "en"),
        ("Merge jan.csv, feb.csv and mar.csv into q1.csv", "en"),
        ("Review José García's résumé and list gaps", "en"),
        ("Draft a cover letter for the position at Müller GmbH in Köln", "en"),
        ("Update README", "en"),
        ("Fasse die drei Verträge bitte kurz zusammen.", "de"),
        ("Lies data.csv und berechne den Mittelwert pro Abteilung.", "de"),
        ("Wie viele Mitarbeiter haben wir in Bonn?", "de"),
        ("Résume les trois contrats en une page.", "fr"),
        ("Liste les fournisseurs par ordre alphabetique.", "fr"),
        ("Traduce el informe al inglés.", "es"),
        ("Traduci la relazione in inglese.", "it"),
        ("Traduza o relatório para o inglês.", "pt"),
        ("Привет, переведи это письмо", "ru"),
        ("Проверь столбец B в файле sales.xlsx и найди ошибки.", "ru"),
        ("안녕하세요 보고서를 작성해 주세요", "ko"),
        ("sales.xlsx 파일의 B열을 확인해 주세요.", "ko"),
        ("この表を月ごとに集計してください", "ja"),
        ("売上一覧作成", "ja"),
        ("帮我写一份季度总结", "zh"),
        ("請幫我整理會議記錄並寄給大家", "zh"),
        ("𠮷林省的报告", "zh"),
        ("我review了一下王浩的简历，希望下周能出offer。", "zh"),
        ("看 `git log --oneline --graph main` 和 /root/inputs/合同.docx 再说", "zh"),
        ("请打开 https://example.com/a/very/long/english/path/to/a/page 看看", "zh"),
        ("Please translate: 请在周五之前把合同的最终版本发给我们", "zh"),
        ("The court names all the circumstances. 员工确实收到了警告邮件", "mul"),
    ],
)
def test_language_of(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        "123 !!! 😀",
        "ok",
        "OK 👍",
        "Proofread",
        "[WeChat Arlo Drakeford Mon Aug 18] ？",  # CLD2 calls it Seychellois Creole
        "sales.xlsx",
        "x = foo(bar)",
        "a.b.c d_e_f",
        "https://example.com",
        "```\nimport this\nprint(this)\n```",
    ],
)
def test_too_little_prose_has_no_language(text: str) -> None:
    assert language_of(text) is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The court names all the circumstances. 员工确实收到了警告邮件", "zh"),
        ("Fix the bug in 登录 page and write tests for the login form", "en"),
        ("Привет", "en"),
        ("表を作って", "ja"),
    ],
)
def test_a_mixed_text_is_answered_in_the_language_that_leads(text: str, language: str) -> None:
    assert leading_language(text) == language


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert language_of(text) == language_of(text)
    assert leading_language(text) in {"en", "zh", "ja"}


@pytest.mark.parametrize(
    "unit", ["a/", "`", "```", "https://", "中a", "~", "\\", "a", "a b ", "é "]
)
def test_time_is_linear_in_hostile_text(unit: str) -> None:
    text = unit * (600_000 // len(unit))
    began = time.process_time()
    language_of(text)
    assert time.process_time() - began < 2
