"""Answers as sentences: what states a value, and what quotes, guesses, bounds or denies it."""

from __future__ import annotations

import pytest

from construction.grading.answers.lexicon import AnswerReason
from construction.grading.answers.parts import grade_answers
from construction.grading.spec import AnswerSpec, TaskSpec

SALES = (
    "What were Tallis Air's net sales in fiscal 2020, in millions of US dollars?",
    AnswerSpec("value", "number", "512", "USD", 1_000_000, 0),
)
PRESS = (
    "What was Ilva Press's basic earnings per share for 2021, in euros? Give a loss as a negative "
    "number.",
    AnswerSpec("value", "number", "-1.34", "EUR/share", 1, 2),
)
FLEET = (
    "How many aircraft did Cirrus Air lease in 2018?",
    AnswerSpec("n", "number", "57", "count"),
)
LOSS = (
    "多摩精器の2022年3月期の営業損失は何百万円か。損失は負の数で答えること。",
    AnswerSpec("value", "number", "-1534", "JPY", 1_000_000, 0),
)
STORES = ("云岭茶业在全国共有多少家门店？", AnswerSpec("n", "number", "1286", "count"))
RATIO = (
    "What was Kiso Glass's equity ratio at the end of 2022, in percent?",
    AnswerSpec("value", "number", "61.5", "percent", 1, 1),
)
OFFICER = (
    "Who was the chief financial officer of Maren Biotech at the end of 2021?",
    AnswerSpec("name", "text", "Helena Strand"),
)
CITY = ("北斗フーズの本社はどこにあるか。", AnswerSpec("name", "text", "旭川市", aliases=("旭川",)))
SHIP = (
    "Which ship carried the most passengers in 2019, the Aurora or the Boreas?",
    AnswerSpec("name", "text", "Aurora"),
)
DIVIDEND = (
    "Did Corbel Insurance pay an interim dividend for 2020?",
    AnswerSpec("paid", "boolean", "false"),
)
BUYBACK = ("海澜新材2021年是否实施了股份回购？", AnswerSpec("done", "boolean", "true"))
PLANT = ("望月製紙は2022年度に新工場を稼働させたか。", AnswerSpec("done", "boolean", "true"))
SALE = ("When did Ostrava Tools sell its unit?", AnswerSpec("day", "date", "2021-05-17"))

Task = tuple[str, AnswerSpec]


def reason(task: Task, answer: str) -> str | None:
    question, part = task
    (graded,) = grade_answers(TaskSpec("t-1", question, answers=(part,)), answer)
    return graded.reason


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        (SALES, "Tallis Air generated net sales of $512 million."),
        (SALES, "Net sales grew 2.8% to $512 million, after $498 million a year earlier."),
        (SALES, "Domestic 300, international 212, total 512"),
        (SALES, "As reported in the income statement, net sales in fiscal 2020 were $512 million."),
        (PRESS, "Basic EPS was -€1.34."),
        (PRESS, "| Metric | Value |\n|---|---|\n| Basic EPS | -€1.34 |"),
        (FLEET, "Cirrus Air leased 57 aircraft."),
        (FLEET, "Fifty-seven aircraft"),
        (LOSS, "営業損失は△1,534百万円である。"),
        (STORES, "云岭茶业在全国拥有1,286家门店。"),
        (STORES, "直营门店412家，加盟门店874家，合计1286家。"),
        (RATIO, "自己資本比率は61.5％です。"),
        (OFFICER, "Dr. Helena Strand"),
        (OFFICER, "Strand, Helena"),
        (OFFICER, "Helena Strand (CFO)"),
        (OFFICER, "Maren Biotech's CFO was Helena Strand at the end of 2021."),
        (CITY, "本社は旭川市にあります。"),
        (CITY, "旭川市（人口32万人）"),
        (SHIP, "The Aurora carried the most passengers in 2019."),
        (DIVIDEND, "Corbel Insurance did not pay an interim dividend for 2020."),
        (DIVIDEND, "No interim dividend was paid."),
        (BUYBACK, "海澜新材2021年实施了股份回购。"),
        (PLANT, "新工場を稼働させました。"),
        (SALE, "Ostrava Tools sold its unit on May 17, 2021."),
    ],
)
def test_a_sentence_in_the_words_of_the_question_states_the_value(task: Task, answer: str) -> None:
    assert reason(task, answer) is None


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        (SALES, "A Reddit post states net sales of $512 million."),
        (SALES, "If memory serves, net sales were $512 million."),
        (SALES, "Net sales exceeded $512 million."),
        (SALES, "512?"),
        (SALES, "Guidance for net sales: $512 million."),
        (SALES, "Net sales rose by $512 million."),
        (SALES, "Answer: unknown (512)"),
        (FLEET, "It sold 57 aircraft."),
        (FLEET, "Of 57 aircraft, 41 were leased."),
        (STORES, "有人说是1286家"),
        (STORES, "1286家以上"),
        (RATIO, "予想自己資本比率は61.5％です。"),
        (OFFICER, "The deputy of Helena Strand was the CFO."),
        (OFFICER, "Helena Strand was CEO; the CFO was Jonas Weil."),
        (OFFICER, "The CFO at the end of 2021 was appointed by Helena Strand."),
        (OFFICER, "Maren Biotech, Helena Strand"),
        (OFFICER, "Helena Strand?"),
        (CITY, "本社は旭川市ではない"),
        (CITY, "据说是旭川市"),
        (SHIP, "The Boreas carried more passengers than the Aurora."),
        (SHIP, "Boreas, Aurora"),
        (DIVIDEND, "Possibly false"),
        (DIVIDEND, "not false"),
        (DIVIDEND, "No, I cannot tell."),
        (BUYBACK, "海澜新材2021年是否实施了股份回购？"),
        (BUYBACK, "海澜新材2020年实施了股份回购。"),
        (PLANT, "稼働"),
        (PLANT, "新工場を稼働させる予定だった。"),
        (SALE, "before May 17, 2021"),
        (SALE, "not on May 17, 2021"),
    ],
)
def test_what_is_quoted_guessed_bounded_or_denied_is_not_stated(task: Task, answer: str) -> None:
    assert reason(task, answer) is not None


@pytest.mark.parametrize(
    ("task", "answer", "expected"),
    [
        (SALES, "null", AnswerReason.MISSING),
        (SALES, "—", AnswerReason.MISSING),
        (SALES, '{"value": null}', AnswerReason.MISSING),
        (SALES, "The question needs further research.", AnswerReason.REFUSED),
        (SALES, "See page 14 of the annual report.", AnswerReason.NO_VALUE),
        (SALES, "512 or 498; I do not know which one holds.", AnswerReason.AMBIGUOUS),
        (SALES, "| Source | Sales |\n|---|---|\n| A | 512 |\n| B | 498 |", AnswerReason.AMBIGUOUS),
        (PRESS, "Basic EPS was €1.34.", AnswerReason.WRONG_SIGN),
        (PRESS, "| Metric | Value |\n|---|---|\n| Basic EPS | €1.34 |", AnswerReason.WRONG_SIGN),
        (FLEET, "57 percent of the fleet", AnswerReason.WRONG_UNIT),
        (LOSS, "営業利益は1,534百万円です。", AnswerReason.WRONG_SIGN),
        (LOSS, "-1534.5", AnswerReason.WRONG_ROUNDING),
        (STORES, "1286家，或者1268家", AnswerReason.AMBIGUOUS),
        (CITY, "確認中", AnswerReason.REFUSED),
        (DIVIDEND, "It did pay an interim dividend.", AnswerReason.WRONG_VALUE),
        (BUYBACK, "没有，2021年未实施股份回购。", AnswerReason.WRONG_VALUE),
        (PLANT, "稼働させていません。", AnswerReason.WRONG_VALUE),
    ],
)
def test_what_states_nothing_or_the_wrong_thing_says_which(
    task: Task, answer: str, expected: AnswerReason
) -> None:
    assert reason(task, answer) == expected


def test_rows_of_parts_are_read_as_parts() -> None:
    parts = (AnswerSpec("a", "number", "1"), AnswerSpec("b", "number", "2"))
    task = TaskSpec("t-1", "What are a and b?", answers=parts)
    rows = '[{"part": "a", "value": 1}, {"part": "b", "value": 2}]'
    assert [part.reason for part in grade_answers(task, rows)] == [None, None]
    nothing = grade_answers(task, '{"a": null, "b": null}')
    assert [part.reason for part in nothing] == [AnswerReason.MISSING] * 2
