"""Cues are words, not substrings."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.signals.tokens import match_at, parse_cue, plain_form, tokens_of


def matches_of(cue: str, text: str) -> list[str]:
    plain = plain_form(text)
    tokens = tokens_of(plain)
    phrase = parse_cue(cue)
    parts = (match_at(phrase, plain, tokens, at) for at in range(len(tokens)))
    return [" | ".join(text[start:end] for start, end in part) for part in parts if part]


@pytest.mark.parametrize(
    ("cue", "text", "expected"),
    [
        ("art", "The art of war", ["art"]),
        ("art", "Start a party", []),
        ("git", "Digital GIT-based", ["GIT"]),
        ("summar*", "Summarizes a summary", ["Summarizes", "summary"]),
        ("to do", "A to-do list, to_do, todo", ["to-do", "to_do"]),
        ("edit .. pdf*", "Edit your many PDFs", ["Edit | PDFs"]),
        ("edit .. pdf*", "Edit text. Read PDFs", []),  # not across a full stop
        ("edit .. pdf*", "edit one two three four five pdf", []),  # not across five words
        ("Go", "Go and go", ["Go"]),  # a capital minds the case
        ("c++", "C++ and C", ["C++"]),
        ("node.js", "Node.js tools", ["Node.js"]),
        ("搜索", "联网搜索最新资讯", ["搜索"]),
        ("数据", "数，据", []),
        ("pdf", "处理PDF文件", ["PDF"]),  # no word boundary stands between Han and Latin letters
        ("word 文档", "编辑Word文档", ["Word文档"]),
        ("数据分析", "數據分析助手", ["數據分析"]),  # traditional script, as it stands in the text
        ("pdf", "ＰＤＦ reader", ["ＰＤＦ"]),  # full-width letters
    ],
)
def test_what_a_cue_finds(cue: str, text: str, expected: list[str]) -> None:
    assert matches_of(cue, text) == expected


@given(st.text(max_size=60))
def test_offsets_survive_folding(text: str) -> None:
    plain = plain_form(text)
    assert len(plain) == len(text)
    for token in tokens_of(plain):
        assert plain[token.start : token.end] == token.text


def test_a_long_hostile_text_takes_linear_time() -> None:
    text = "edit " * 40_000
    start = time.process_time()
    assert matches_of("edit .. pdf*", text) == []
    assert time.process_time() - start < 5
