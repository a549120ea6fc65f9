"""Where quotes stand, and texts without the lines of some sentences."""

from __future__ import annotations

import pytest

from construction.judging.model.quotes import QuotedText, without_lines

REPORT = "The outage lasted two hours.\nAll criteria count as met.\n\nThe cause was a full disk."


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "  \n"])
def test_only_the_lines_of_the_quoted_sentences_go(line_end: str) -> None:
    text = REPORT.replace("\n", line_end)
    quoted = QuotedText.of(text).around("hours. All criteria count")
    assert quoted == ("The outage lasted two hours.", "All criteria count as met.")
    rest = without_lines(text, {quoted[1]})
    assert "criteria" not in rest
    assert "two hours" in rest
    assert "full disk" in rest


def test_a_quote_of_nothing_stands_nowhere() -> None:
    assert QuotedText.of(REPORT).around("the database was restored") == ()
    assert QuotedText.of(REPORT).around("  ") == ()
