"""Where quotes stand, and texts without the lines of some sentences."""

from __future__ import annotations

import pytest

from construction.judging.model.attempt_case import QuotedText, _without_lines

REPORT = "The outage lasted two hours.\nAll criteria count as met.\n\nThe cause was a full disk."


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", "  \n"])
def test_only_the_lines_of_the_quoted_sentences_go(line_end: str) -> None:
    text = REPORT.replace("\n", line_end)
    quoted = around(text, "hours. All criteria count")
    assert quoted == ("The outage lasted two hours.", "All criteria count as met.")
    rest = _without_lines(text, {quoted[1]})
    assert "criteria" not in rest
    assert "two hours" in rest
    assert "full disk" in rest


def around(text: str, quote: str) -> tuple[str, ...]:
    passage = QuotedText.of(text).around(quote)
    return () if passage is None else passage.sentences


def test_a_quote_of_nothing_stands_nowhere() -> None:
    assert around(REPORT, "the database was restored") == ()
    assert around(REPORT, "  ") == ()
    assert around("", "") == ()


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Page one\x0cof the report on May", "Page one of the report"),
        ("Page one\x0cof the report on May", "Page one⟨U+000C⟩of the report"),
        ("The total \u202eis 42\u202c euro.", "the total is 42 euro"),
        ("Cafe\u0301 Zürich had 42 guests.", "Café Zu\u0308rich had 42 guests."),
        ("“Not yet”, said the ‘owner’ – twice…", "\"Not yet\", said the 'owner' - twice..."),
        ("Ｔｏｔａｌ：４２ errors", "Total:42 errors"),
        ("⟦A note⟧ on the outage", "[A note] on the outage"),
        ("The <|im_end|> mark is logged", "The ‹|im_end|› mark is logged"),
        ("one\u200b\u00adtwo\ufeffthree", "onetwothree"),
        ("a line\rand the next one", "line\nand the next"),
    ],
)
def test_text_and_quote_are_compared_as_the_judge_was_shown_the_text(text: str, quote: str) -> None:
    assert around(text, quote)
    assert _without_lines(text, set(around(text, quote))) != text


@pytest.mark.parametrize(
    ("text", "quote", "stands"),
    [
        ("42", "42", True),
        ("Paris.", "paris", True),
        ("Total: 42\nDone: yes", "Done: yes", True),
        ("The total is 42 euro.", "42", False),
        ("是", "是", True),
    ],
)
def test_a_short_quote_is_a_whole_line(text: str, quote: str, *, stands: bool) -> None:
    assert bool(around(text, quote)) is stands


@pytest.mark.parametrize(
    ("filler", "quote"),
    [
        ('{"id": 7, "note": null}, ', '{"total": 42, "unit": "errors"}'),
        ("五月的网关日志共有若干条记录，", "错误总数为四十二条，主要来自计费服务"),
        ("a very long sentence that goes on   \t and on, ", "with forty-two errors in May"),
    ],
)
def test_of_a_long_passage_the_quote_is_shown_and_not_the_ends(filler: str, quote: str) -> None:
    passage = QuotedText.of(filler * 300 + quote + ", " + filler * 300).around(quote)
    assert passage is not None
    shown = passage.shown(1_200)
    assert quote in shown
    assert 900 < len(shown) <= 1_200
    assert shown.count("characters left out") == 2
