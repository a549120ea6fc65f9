"""Typed answers: what is accepted, what is rejected, and with which reason."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.grading.answers.lexicon import AnswerReason
from construction.grading.answers.parts import grade_answers, question_of
from construction.grading.spec import AnswerSpec, TaskSpec

QUESTION = (
    "What were the total assets of Ardent Mills Inc. as of March 31, 2010, in millions of US "
    "dollars?"
)
PROMPT = (
    f"{QUESTION}\n\nAnswer with a single number in millions of US dollars, as a whole number; a "
    "leading minus sign marks a negative number. No further text is needed."
)
ASSETS = AnswerSpec("value", "number", "3633", "USD", 1_000_000, 0, 0.0)
REVENUE = AnswerSpec("revenue", "number", "120", "USD", 1_000_000, 0)
MARGIN = AnswerSpec("margin", "number", "35.5", "percent", 1, 1)
COMPANY = AnswerSpec("company", "text", "Ardent Mills Inc.", aliases=("Ardent", "アーデント製粉"))
DAY = AnswerSpec("day", "date", "2010-03-31")
GREW = AnswerSpec("grew", "boolean", "true")
REGIONS = AnswerSpec("regions", "list", '["Kanto", "Kansai", "Chubu"]')


def reasons(answer: str | None, *parts: AnswerSpec) -> list[str | None]:
    """The reason of each part; None for a right one."""
    graded = grade_answers(TaskSpec("t-1", PROMPT, answers=parts), answer)
    assert [part.name for part in graded] == [f"answer.{part.part}" for part in parts]
    assert all((part.value == 1) == (part.reason is None) for part in graded)
    return [part.reason for part in graded]


@pytest.mark.parametrize(
    "answer",
    [
        *("3633", "3,633", "3 633", "3633.0", "+3,633", "$3,633 million", "USD 3,633,000,000"),
        *("3.633 billion dollars", "Answer: 3,633", "**3,633**", "3,633百万ドル", "36億3300万ドル"),
        *('{"answer": 3633}', '{"value": "3633", "unit": "USD millions"}', "\\boxed{3633}"),
        "The total assets were $3,633 million.",
        "Total assets rose to 3,633 million from 3,400 million in 2009.",
    ],
)
def test_equivalent_forms_of_a_number_are_accepted(answer: str) -> None:
    assert reasons(answer, ASSETS) == [None]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, AnswerReason.MISSING),
        ("  \n", AnswerReason.MISSING),
        ("see above", AnswerReason.NO_VALUE),
        ("n/a", AnswerReason.REFUSED),
        ("I cannot determine the value; it might be 3,633.", AnswerReason.REFUSED),
        ("I could not find the figure. 3,633 would be a guess.", AnswerReason.REFUSED),
        ("Unable to verify total assets of $3,633 million.", AnswerReason.REFUSED),
        ("Answer: I cannot say, perhaps 3633", AnswerReason.REFUSED),
        ('{"answer": "Cannot determine; maybe 3633"}', AnswerReason.REFUSED),
        ("無法確定，可能是3633", AnswerReason.REFUSED),
        ("It could be 3,600, 3,633 or 3,700.", AnswerReason.AMBIGUOUS),
        ("either 3,633 or 3,600", AnswerReason.AMBIGUOUS),
        ("100, 140 and 3,633 million dollars", AnswerReason.AMBIGUOUS),
        ("3600/3633", AnswerReason.AMBIGUOUS),
        ("2008: 3400\n2009: 3500\n2010: 3633", AnswerReason.AMBIGUOUS),
        ('{"value": 3633, "value": 3600}', AnswerReason.AMBIGUOUS),
        ("3633.27", AnswerReason.WRONG_ROUNDING),
        ("3,630", AnswerReason.WRONG_ROUNDING),
        ("-3633", AnswerReason.WRONG_SIGN),
        ("(3,633)", AnswerReason.WRONG_SIGN),
        ("3633000", AnswerReason.WRONG_SCALE),
        ("3.633", AnswerReason.WRONG_SCALE),
        ("$3,633", AnswerReason.WRONG_SCALE),
        ("3,633 million yen", AnswerReason.WRONG_CURRENCY),
        ("3,633 shares", AnswerReason.WRONG_UNIT),
        ("36.33%", AnswerReason.WRONG_UNIT),
        ("3,634", AnswerReason.WRONG_VALUE),
        ("1,250", AnswerReason.WRONG_VALUE),
    ],
)
def test_wrong_numbers_have_their_reason(answer: str | None, reason: AnswerReason) -> None:
    assert reasons(answer, ASSETS) == [reason]


def test_a_tolerance_is_absolute_and_in_the_scale_of_the_value() -> None:
    spec = AnswerSpec("value", "number", "3633", "USD", 1_000_000, 0, 5.0)
    assert reasons("3637.5", spec) == [None]
    assert reasons("3639", spec) == [AnswerReason.WRONG_VALUE]
    assert reasons("-3630", spec) == [AnswerReason.WRONG_SIGN]


def test_percent_and_ratio_are_told_apart() -> None:
    assert reasons("0.355 (ratio)", MARGIN) == [None]
    assert reasons('{"margin": {"value": 0.355, "unit": "ratio"}}', MARGIN) == [None]
    assert reasons("35.5 percent", MARGIN) == [None]
    assert reasons("0.355", MARGIN) == [AnswerReason.WRONG_SCALE]


@pytest.mark.parametrize(
    "answer",
    [
        '{"revenue": 120, "margin": 35.5}',
        '{"answer": {"revenue": "$120 million", "margin": "35.5%"}}',
        'Here it is:\n```json\n{"Revenue": 120, "Margin": 35.5}\n```',
        "revenue: 120\nmargin: 35.5%",
        "- **Revenue**: $120 million\n- **Margin**: 35.5",
        "Margin = 35.5%; Revenue = 120 million USD",
        "| revenue | 120 |\n| margin | 35.5% |",
        "Revenue (USD millions): 120\nMargin (%): 35.5",
    ],
)
def test_parts_are_read_from_json_and_from_lines(answer: str) -> None:
    assert reasons(answer, REVENUE, MARGIN) == [None, None]


def test_swapped_missing_and_repeated_parts_say_so() -> None:
    swapped = AnswerReason.SWAPPED_PARTS
    assert reasons("margin: 120\nrevenue: 35.5", REVENUE, MARGIN) == [swapped, swapped]
    assert reasons("revenue: 120", REVENUE, MARGIN) == [None, AnswerReason.MISSING]
    twice = '{"revenue": 120, "revenue": 130, "margin": 35.5}'
    assert reasons(twice, REVENUE, MARGIN) == [AnswerReason.AMBIGUOUS, None]
    assert reasons("revenue: 120\nrevenue: 99\nmargin: 35.5", REVENUE, MARGIN) == [
        AnswerReason.AMBIGUOUS,
        None,
    ]


@pytest.mark.parametrize(
    ("closing", "expected"),
    [
        ("revenue: 120\nmargin: 35.5", [None, None]),
        ("- **Margin (%):** 35.5\n\n`revenue`: 120", [None, None]),
        ("revenue: 99\nmargin: 35.5", [AnswerReason.WRONG_VALUE, None]),
        ("revenue: 99\nrevenue: 120", [AnswerReason.AMBIGUOUS, None]),
        ("revenue: 120\nmargin: 35.5\nOr is it the other one?", [AnswerReason.AMBIGUOUS] * 2),
    ],
)
def test_the_last_lines_are_the_answer_where_each_part_has_one(
    closing: str, expected: list[AnswerReason | None]
) -> None:
    report = "**Revenue:** 130 in 2008, less since.\n**Margin:** 36 %, down to 35.5 %.\n\n"
    assert reasons(report + closing, REVENUE, MARGIN) == expected


def test_weights_are_the_shares_among_the_parts() -> None:
    spec = TaskSpec("t-1", answers=(REVENUE, AnswerSpec("b", "text", "x", weight=3.0)))
    assert [part.weight for part in grade_answers(spec, "")] == [0.25, 0.75]
    assert grade_answers(TaskSpec("t-1"), "anything") == ()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("ardent mills inc", None),
        ("The answer is Ardent.", None),
        ("Answer: **Ardent**", None),
        ("アーデント製粉です。", None),
        ("The company with the highest revenue was Ardent Mills Inc.", None),
        ('{"company": "ARDENT MILLS, INC."}', None),
        ("Ardent or Halden", AnswerReason.AMBIGUOUS),
        ("Halden, Ardent, Mills & Co", AnswerReason.AMBIGUOUS),
        ("Not Ardent but Halden", AnswerReason.AMBIGUOUS),
        ("I cannot determine whether it was Ardent.", AnswerReason.REFUSED),
        ("Halden", AnswerReason.WRONG_VALUE),
        ("Ardently", AnswerReason.WRONG_VALUE),
    ],
)
def test_texts(answer: str, reason: AnswerReason | None) -> None:
    assert reasons(answer, COMPANY) == [reason]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        *((form, None) for form in ("2010-03-31", "March 31, 2010", "31 March 2010", "20100331")),
        *(
            (form, None)
            for form in ("31-Mar-2010", "2010年3月31日", "平成22年3月31日", "03/31/2010")
        ),
        ("It ended on March 31, 2010.", None),
        ("March 2010", AnswerReason.INCOMPLETE),
        ("2010-03-30", AnswerReason.WRONG_VALUE),
        ("either 2010-03-31 or 2010-06-30", AnswerReason.AMBIGUOUS),
        ("I do not know, perhaps 2010-03-31", AnswerReason.REFUSED),
        ("soon", AnswerReason.NO_VALUE),
    ],
)
def test_dates(answer: str, reason: AnswerReason | None) -> None:
    assert reasons(answer, DAY) == [reason]


def test_a_date_that_can_be_read_in_two_ways_is_ambiguous() -> None:
    assert reasons("03/04/2010", AnswerSpec("day", "date", "2010-03-04")) == [
        AnswerReason.AMBIGUOUS
    ]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        *((form, None) for form in ("yes", "Yes, it did.", "True", "はい", "是的", "**Yes**")),
        *((form, None) for form in ('{"grew": true}', "Answer: yes", "That is correct.", "对")),
        *((form, AnswerReason.WRONG_VALUE) for form in ("no", "不是", "いいえ", "It is not true")),
        ("Yes and no", AnswerReason.AMBIGUOUS),
        ("No information is available", AnswerReason.REFUSED),
        ("It grew", AnswerReason.NO_VALUE),
    ],
)
def test_booleans(answer: str, reason: AnswerReason | None) -> None:
    assert reasons(answer, GREW) == [reason]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ('["Kanto", "Kansai", "Chubu"]', None),
        ("Kanto, Kansai and Chubu", None),
        ("1. Kanto\n2. Kansai\n3. Chubu", None),
        ("The regions are Kanto, Kansai, and Chubu.", None),
        ("Kanto、Kansai、Chubu", None),
        ("Answer: Kanto; Kansai; Chubu", None),
        ("Kansai, Kanto, Chubu", AnswerReason.WRONG_ORDER),
        ("Kanto, Kansai", AnswerReason.MISSING_ITEMS),
        ("Kanto, Kansai, Chubu, Tohoku", AnswerReason.EXTRA_ITEMS),
        ("Kanto, Tohoku", AnswerReason.WRONG_VALUE),
        ("I cannot list them", AnswerReason.REFUSED),
    ],
)
def test_lists(answer: str, reason: AnswerReason | None) -> None:
    assert reasons(answer, REGIONS) == [reason]


def test_an_unordered_list_of_numbers_compares_them_as_numbers() -> None:
    spec = AnswerSpec("list", "list", '["1234", "5.5"]', ordered=False)
    for answer in ("1,234, 5.50", "5.5; 1234", "[1234, 5.5]"):
        assert reasons(answer, spec) == [None]


def test_the_question_is_the_paragraph_that_asks() -> None:
    assert question_of(PROMPT) == QUESTION
    assert question_of("List them.") == "List them."


def test_a_gold_value_that_is_no_number_is_an_error_of_the_task() -> None:
    with pytest.raises(ValueError, match="not a number"):
        reasons("1", AnswerSpec("value", "number", "many"))
    with pytest.raises(ValueError, match="unknown answer type"):
        reasons("1", AnswerSpec("value", "picture", "many"))


HOSTILE = {
    "digits": "9" * 300_000,
    "commas": "1," * 150_000,
    "nested brackets": "[" * 150_000 + "]" * 150_000,
    "nested objects": '{"answer":' * 100_000 + "1" + "}" * 100_000,
    "deep and closed": '{"answer":' * 900 + "1" + "}" * 900,
    "deep list": '{"answer":' + "[" * 900 + "1" + "]" * 900 + "}",
    "open braces": "{" * 300_000,
    "control characters": "\x00\x1b[31m\u202e3633\ud800" * 20_000,
    "exponents": "1e999999999 " * 20_000,
    "one exponent": "1e999999999",
    "markers": "answer: " * 30_000,
    "names": "revenue: " * 30_000,
    "spaces": " " * 300_000 + "x",
    "words": "is " * 100_000,
    "han": "億" * 150_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answers_are_wrong_and_fast(name: str) -> None:
    for parts in ((ASSETS,), (REVENUE, MARGIN), (COMPANY,), (DAY,), (GREW,), (REGIONS,)):
        began = time.process_time()
        assert all(reasons(HOSTILE[name], *parts))
        assert time.process_time() - began < 4


ANY_PART = st.sampled_from([ASSETS, MARGIN, COMPANY, DAY, GREW, REGIONS])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["answer", "value", "unit", "revenue", "margin"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(st.text() | JSON.map(json.dumps), ANY_PART)
def test_no_text_raises(answer: str, part: AnswerSpec) -> None:
    reasons(answer, part)
    reasons(answer, REVENUE, part)


@given(st.integers(-(10**12), 10**12), st.sampled_from([1, 1000, 1_000_000]))
def test_a_number_is_right_as_written_and_wrong_when_it_is_moved(value: int, scale: int) -> None:
    spec = AnswerSpec("value", "number", str(value), "USD", scale, 0, 0.0)
    assert reasons(str(value), spec) == reasons(f"{value:,}", spec) == [None]
    assert reasons(f"{value + 1000 + abs(value)}", spec) != [None]
    if value:
        assert reasons(str(-value), spec) == [AnswerReason.WRONG_SIGN]
        assert reasons(str(value * 1000), spec) == [AnswerReason.WRONG_SCALE]


OWN = "Please end with:\nlate: <how many parcels, returned ones too>\nspent: <hours, one decimal>"


@pytest.mark.parametrize(
    ("late", "spent", "expected"),
    [
        ("7 parcels", "12.5 hours", [None, None]),
        ("7 (parcels)", "12.5 hrs", [None, None]),
        ("**7** parcel", "12.5 h", [None, None]),
        ("7 late", "12.5 spent", [None, None]),
        ("8 parcels", "12.6 hours", [AnswerReason.WRONG_VALUE, AnswerReason.WRONG_VALUE]),
        ("7 pallets", "12.5 days", [AnswerReason.WRONG_UNIT, AnswerReason.WRONG_UNIT]),
        ("7 returned ones too", "12.5 one decimal", [AnswerReason.WRONG_UNIT] * 2),
    ],
)
def test_the_unit_of_the_tasks_own_form_is_accepted(
    late: str, spent: str, expected: list[str | None]
) -> None:
    parts = (AnswerSpec("late", "number", "7"), AnswerSpec("spent", "number", "12.5", decimals=1))
    spec = TaskSpec("t-1", "How did it go?", OWN, answers=parts)
    graded = grade_answers(spec, f"late: {late}\nspent: {spent}")
    assert [part.reason for part in graded] == expected
