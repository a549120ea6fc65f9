"""Ends of sentences in Western and East Asian punctuation, and the form phrases are sought in."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.text.scripts import last_sentence, phrase_form, sentence_spans


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Open a.csv. Is it 3.5? Yes!", ["Open a.csv.", "Is it 3.5?", "Yes!"]),
        ("先看表。再写报告！好～", ["先看表。", "再写报告！", "好～"]),
        ('Good.然后呢？"行。"', ["Good.", "然后呢？", '"行。', '"']),
        ('He said "stop." Then (see b.) left.', ['He said "stop.', '" Then (see b.', ") left."]),
        ("Ask Dr. Moss, e.g. today; J. too.", ["Ask Dr. Moss, e.g. today;", "J.", "too."]),
        ("one\n\ntwo", ["one\n\n", "two"]),
        ("a;b and http://x.org/?q=1;r", ["a;b and http://x.org/?q=1;r"]),
        ("Wait... what?!", ["Wait...", "what?!"]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert [text[start:end].strip(" ") for start, end in sentence_spans(text)] == sentences


@given(st.text("aB .!?;。！？\n\"'", max_size=60))
def test_spans_are_the_text(text: str) -> None:
    assert "".join(text[start:end] for start, end in sentence_spans(text)) == text


def test_last_sentence() -> None:
    assert last_sentence("Read it. Then save as ") == " Then save as "
    assert last_sentence("先看。保存到") == "保存到"
    assert last_sentence("no end") == "no end"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Don't stop; write “new”. (Now)", " | dont stop | write ^ new ^ | , now , | "),
        ("Mr. Moss: go!", " | mr. moss , go | "),
        ("**Bold** – text", " | , bold , , text | "),
        ("换个话题，写《通知》。", " | 换个话题 , 写 ^ 通知 ^ | "),
    ],
)
def test_phrase_form(text: str, form: str) -> None:
    assert phrase_form(text) == form


@pytest.mark.parametrize("piece", [".", "?)", ';"', "……", "a.", "Dr. "])
def test_time_is_linear(piece: str) -> None:
    def seconds(size: int) -> float:
        begin = time.process_time()
        for _ in sentence_spans(piece * size + "x"):
            pass
        return time.process_time() - begin + 1e-3

    assert seconds(40_000) / seconds(10_000) < 12  # linear 4, quadratic 16
