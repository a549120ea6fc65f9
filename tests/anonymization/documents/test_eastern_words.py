"""Which short Chinese names are listed: one character in a cell, and names behind 小, 老 or 阿."""

from __future__ import annotations

import pytest

from anonymization.documents.remaining_words import _short_names
from data.text.lexicon import load_table

LISTS = load_table("anonymization.documents", "everyday.toml")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (" 岚 ", ["岚"]),
        ("男", []),
        ("了", []),
        ("x", []),
        ("岚川", []),
        ("请小岚和老魏联系阿哲", ["小岚", "老魏", "阿哲"]),
        ("小明到了", ["小明"]),
        ("老师说小时和阿姨", []),
        ("小さい、老いる", []),
    ],
)
def test_short_names(text: str, names: list[str]) -> None:
    assert [text[start:end] for start, end in _short_names(text)] == names


def test_the_lists_hold_each_word_once() -> None:
    everyday, characters, prefixed = (
        LISTS[key].split() for key in ("eastern", "eastern_characters", "eastern_prefixed")
    )
    assert {len(word) for word in characters} == {1}
    assert {len(word) for word in prefixed} == {2}
    for words in (characters, prefixed):
        assert len(set(words)) == len(words)
        assert set(everyday).isdisjoint(words)
