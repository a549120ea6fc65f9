"""Facts of a request: what a rewrite has to keep, what it may not add, what was replaced."""

from __future__ import annotations

import pytest

from construction.judging.model.write import _inventions, _losses, _named


@pytest.mark.parametrize(
    ("said", "rewrite"),
    [
        ("Top 3, in 1,500.50 EUR, by 12 March 2026.", "By 2026-03-12 the top three, in 1500.5 EUR"),
        ("Mail it to pia@example.org, see https://example.org/a", "pia@example.org https://example.org/a"),
        ("Call it “Miles Total”, order ORD-17", "order ord-17, called Miles Total"),
        ("1. sort it\n2. print it", "Sort it and print it"),
        ("按“部门”汇总，约1.5万元，2026年3月12日前", "在2026-03-12之前按部门汇总，约15000元"),
        ("Give both files, two pages each", "Give the files, a page or so each"),
    ],
)  # fmt: skip
def test_the_same_said_in_another_way_loses_nothing(said: str, rewrite: str) -> None:
    assert not _losses(rewrite, [said])


@pytest.mark.parametrize(
    ("said", "rewrite", "lost"),
    [
        ("Only those above 250.", "Only the large ones.", "number “250”"),
        ("Until 12 March 2026.", "Until March.", "date “12 March 2026”"),
        ("Please ask Imke Thorsen for it", "Ask for it", "name “Imke Thorsen”"),
        ("用“加急”标记", "标记一下", "quoted text “加急”"),
    ],
)
def test_what_is_lost_is_named(said: str, rewrite: str, lost: str) -> None:
    assert _named(_losses(rewrite, [said])) == lost


def test_a_later_message_replaces_a_number_or_a_date() -> None:
    turns = ["保留1位小数", "2位吧"]
    assert not _losses("保留2位小数", turns)
    assert _named(_losses("保留1位小数", turns)) == "number “2”"
    assert not _losses("six copies by 5 May", ["five copies: 5, by 1 May", "make it 6, by 5 May"])


def test_words_that_are_said_to_be_left_out_are_not_lost() -> None:
    turns = ["I waited 20 minutes, hello?", "sum it up"]
    assert _named(_losses("Sum it up", turns)) == "number “20”"
    assert not _losses("Sum it up", turns, ["I waited 20 minutes"])


def test_inventions_are_facts_that_no_source_tells() -> None:
    sources = ["Sum trips.csv by month", "out/miles.md"]
    assert not _inventions("Sum trips.csv by month into miles.md", sources)
    new = _inventions("Sum the top 5 of trips.csv into total.xlsx by 3 May 2026", sources)
    assert _named(new) == "file name “total.xlsx”, date “3 May 2026”, number “5”"
