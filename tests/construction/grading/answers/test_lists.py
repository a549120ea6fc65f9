"""Lists in the layouts in which they are written, and what is no such list."""

from __future__ import annotations

import pytest

from construction.grading.answers.lexicon import AnswerReason
from construction.grading.answers.lists import _numbered_items
from construction.grading.answers.parts import grade_answers
from construction.grading.spec import AnswerSpec, TaskSpec

COUNTRIES = (
    "Which three countries did Halvorsen Seafood list as its largest markets in 2021?",
    AnswerSpec("list", "list", '["Japan", "France", "South Korea"]'),
)
SIGNERS = (
    "Which auditors signed the 2022 report of Lumen Freight?",
    AnswerSpec("list", "list", '["Anna Okafor", "Pierre Dumas"]', ordered=False),
)
REGIONS = (
    "売上の大きい地域を順に挙げよ。",
    AnswerSpec("list", "list", '["関東", "近畿", "東海"]'),
)
LINES = (
    "按收入从高到低列出三大业务板块。",
    AnswerSpec("list", "list", '["光学膜", "锂电隔膜", "涂层材料"]'),
)

Task = tuple[str, AnswerSpec]


def reason(task: Task, answer: str) -> str | None:
    question, part = task
    (graded,) = grade_answers(TaskSpec("t-1", question, answers=(part,)), answer)
    return graded.reason


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        (COUNTRIES, "1. Japan 2. France 3. South Korea"),
        (COUNTRIES, "(1) Japan, (2) France, (3) South Korea"),
        (COUNTRIES, "a) Japan\nb) France\nc) South Korea"),
        (COUNTRIES, "3. South Korea\n2. France\n1. Japan"),
        (COUNTRIES, "Japan > France > South Korea"),
        (COUNTRIES, "Japan → France → South Korea"),
        (COUNTRIES, "Japan / France / South Korea"),
        (COUNTRIES, "Japan (1st), France (2nd), South Korea (3rd)"),
        (COUNTRIES, "1. Japan – 41%\n2. France – 30%\n3. South Korea – 9%"),
        (COUNTRIES, "First Japan, then France, and finally South Korea."),
        (COUNTRIES, "Halvorsen Seafood listed Japan, France and South Korea."),
        (
            COUNTRIES,
            "| Rank | Country |\n|---|---|\n| 1 | Japan |\n| 2 | France |\n| 3 | South Korea |",
        ),
        (
            COUNTRIES,
            "| Country | Share |\n|---|---|\n| Japan | 41% |\n| France | 30% |\n"
            "| South Korea | 9% |",
        ),
        (COUNTRIES, '{"countries": ["Japan", "France", "South Korea"]}'),
        (SIGNERS, "Both Pierre Dumas and Anna Okafor signed the report."),
        (SIGNERS, "Anna Okafor & Pierre Dumas"),
        (REGIONS, "①関東 ②近畿 ③東海"),
        (REGIONS, "1位：関東\n2位：近畿\n3位：東海"),
        (REGIONS, "大きい順に、関東、近畿、東海です。"),
        (REGIONS, "関東・近畿・東海"),
        (REGIONS, "関東、近畿及び東海"),
        (LINES, "一、光学膜\n二、锂电隔膜\n三、涂层材料"),
        (LINES, "三大业务板块依次为光学膜、锂电隔膜和涂层材料。"),
        (LINES, "第一：光学膜\n第二：锂电隔膜\n第三：涂层材料"),
    ],
)
def test_layouts_of_a_list_are_accepted(task: Task, answer: str) -> None:
    assert reason(task, answer) is None


@pytest.mark.parametrize(
    ("task", "answer", "expected"),
    [
        (COUNTRIES, "France > Japan > South Korea", AnswerReason.WRONG_ORDER),
        (COUNTRIES, "1. France 2. Japan 3. South Korea", AnswerReason.WRONG_ORDER),
        (
            COUNTRIES,
            "| Rank | Country |\n|---|---|\n| 1 | France |\n| 2 | Japan |\n| 3 | South Korea |",
            AnswerReason.WRONG_ORDER,
        ),
        (REGIONS, "①近畿 ②関東 ③東海", AnswerReason.WRONG_ORDER),
        (LINES, "光学膜＞锂电隔膜", AnswerReason.MISSING_ITEMS),
        (LINES, "光学膜、锂电隔膜、涂层材料、树脂", AnswerReason.EXTRA_ITEMS),
        (COUNTRIES, "Japan, France, South Korea, plus Spain", AnswerReason.EXTRA_ITEMS),
        (COUNTRIES, "All except: Japan, France, South Korea", AnswerReason.WRONG_VALUE),
        (COUNTRIES, "Japan, France, or South Korea", AnswerReason.WRONG_VALUE),
        (SIGNERS, "Anna Okafor or Pierre Dumas", AnswerReason.WRONG_VALUE),
        (SIGNERS, "Lumen Freight, Anna Okafor, Pierre Dumas", AnswerReason.EXTRA_ITEMS),
        (
            SIGNERS,
            "The report was signed by neither Anna Okafor nor Pierre Dumas.",
            AnswerReason.WRONG_VALUE,
        ),
    ],
)
def test_what_is_another_list_is_rejected(task: Task, answer: str, expected: AnswerReason) -> None:
    assert reason(task, answer) == expected


def test_numbers_have_to_run_from_one_without_a_gap() -> None:
    assert _numbered_items("1. a 2. b") == ["a ", "b"]
    assert _numbered_items("2. b 1. a") == ["a", "b "]
    assert _numbered_items("1. a 3. b") == _numbered_items("see 1. a 2. b") == []
