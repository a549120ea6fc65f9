"""What single sentences ask for, and what stands against it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.judging.reading import Ask, Reading, read


def only(text: str) -> Reading:
    (sentence,) = read(text)
    return sentence


@pytest.mark.parametrize(
    "text",
    [
        "Draft a follow-up mail to the supplier",
        "Dana, can you put together a summary for the board?",
        "Please translate the leaflet into Spanish",
        "Hey, could you also list every invoice above 500 euros?",
        "I need a spreadsheet with all open orders",
        "New task: Match the payments against the invoices",
        "Total the travel costs by department",
        "OK, now convert it to CSV",
        "I'd like to know which supplier is cheaper",
        "帮我写一份周报",
        "请把这张表按月份汇总",
        "把会议记录整理成待办清单，按人分组",
        "用附表算每个人的剩余年假",
        "麻烦翻译一下这封邮件",
        "写一份产品介绍",
    ],
)
def test_directives(text: str) -> None:
    assert only(text).ask is Ask.DIRECTIVE


@pytest.mark.parametrize(
    "text",
    [
        "What is the difference between a lease and a rental?",
        "Should we publish the notes before the vote?",
        "Why does the sum differ by one cent?",
        "违约金上限一般怎么定？",
        "你觉得应该先报价还是先看样品，哪个更稳妥，为什么？",
    ],
)
def test_questions_that_thinking_can_answer(text: str) -> None:
    assert only(text).ask is Ask.QUESTION


@pytest.mark.parametrize(
    "text",
    [
        "Where are we with the brochure?",
        "Did you reach the printer?",
        "Are you there?",
        "How's the upload going?",
        "Can Petra confirm the date?",
        "Could you hold on?",
        "合同寄出去了吗？",
        "什么时候能付款？",
    ],
)
def test_questions_about_how_things_stand(text: str) -> None:
    assert only(text).ask is Ask.STATUS


@pytest.mark.parametrize(
    "text",
    [
        "Report is on the shared shelf.",
        "Update on the three orders: two have arrived.",
        "The plan worked.",
        "We'll use oak for the shelves.",
        "Let me know if you need anything.",
        "Give me 10 minutes.",
        "Everyone please sign the list.",
        "推荐人说她很可靠。",
        "报告已经写好了。",
        "大家记得交表。",
        "请问一下。",
    ],
)
def test_sentences_that_want_nothing_of_the_reader(text: str) -> None:
    assert only(text).ask is Ask.NONE


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("Thanks a lot!", "chatter"),
        ("好的，收到", "chatter"),
        ("李明: 不好意思，请继续。", "chatter"),
        ("Here are the files.", "announces"),
        ("附件发你了", "announces"),
        ("Fix it as we discussed", "leans"),
        ("按上次的格式做一份", "leans"),
        ("Summarise the dataset", "points"),
        ("Tell me the weather in Graz", "live"),
        ("List the files", "live_unless_files"),
        ("I want to change my upcoming flight", "account"),
        ("我的订单还没到", "account"),
        ("Yes, do that", "reply"),
        ("Can you make that shorter, and fix this?", "dangling"),
        ("I'll call them tomorrow.", "closes"),
        ("The header must be blue.", "requires"),
        ("标题不要超过十个字。", "requires"),
        ("Agent, check the totals", "to_agent"),
        ("Petra -- check the totals", "to_other"),
        ("What do you think?", "opinion"),
    ],
)
def test_flags(text: str, flag: str) -> None:
    assert getattr(only(text), flag) is True


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("写一份报告", "chatter"),
        ("Draft the contract", "chatter"),
        ("Summarise inputs/sales.csv", "leans"),
        ("Compare the two offers", "live"),
        ("Write a refund policy for a shop", "account"),
        ("Your own words should be fine.", "to_other"),
    ],
)
def test_flags_that_are_not_set(text: str, flag: str) -> None:
    assert getattr(only(text), flag) is False


def test_sentences_keep_their_place_and_names_keep_their_dots() -> None:
    text = "Great!  Open data_loader.py, v3.12.\n- Why?\n```\nWhat? Never!\n```\n最后，导出。"
    actual = read(text)
    assert [sentence.text for sentence in actual] == [
        "Great!",
        "Open data_loader.py, v3.12.",
        "- Why?",
        "最后，导出。",
    ]
    assert all(text.startswith(sentence.text, sentence.start) for sentence in actual)


def test_words_are_counted_in_both_scripts() -> None:
    assert only("Draft two short offers").words == 4
    assert only("起草两份报价").words == 3


def test_of_a_pasted_book_both_ends_are_read() -> None:
    book = "Summarise this. " + "It was so. " * 5_000 + "Keep it under a page."
    actual = read(book)
    assert len(actual) == 400
    assert (actual[0].text, actual[-1].text) == ("Summarise this.", "Keep it under a page.")


@given(st.text(max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    for sentence in read(text):
        assert 0 <= sentence.start <= len(text)
        assert sentence.words >= 0


@pytest.mark.parametrize(
    "unit", ["a ", "a,", "?", "请", "can you ", "把", "```", "给a", "Can ", ": ", "把x的", "task "]
)
def test_time_is_linear_in_hostile_text(unit: str) -> None:
    text = unit * (300_000 // len(unit))
    began = time.process_time()
    read(text)
    assert time.process_time() - began < 5
