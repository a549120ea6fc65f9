"""Loading of tables and finding of phrases."""

from __future__ import annotations

import pickle
import re

import pytest

from data.text.lexicon import any_of, load_table, pattern_of


def test_a_table_of_a_package_is_read_once() -> None:
    table = load_table("construction.statements.questions", "words.toml")
    assert table
    assert load_table("construction.statements.questions", "words.toml") is table
    with pytest.raises(FileNotFoundError):
        load_table("construction.statements.questions", "none.toml")


def test_phrases() -> None:
    phrases = any_of([" | new task", "a.b"])
    assert phrases.search("x | new tasks")
    assert not phrases.search("axb")


def test_a_long_pattern_is_compiled_when_it_is_first_used() -> None:
    broken = pattern_of("(")
    assert broken.pattern == "("
    with pytest.raises(re.error):
        broken.search("x")
    pattern = pattern_of("a+", re.IGNORECASE)
    assert [pattern.sub("-", "bAab"), pattern.flags] == ["b-b", re.compile("a+", re.I).flags]
    assert pickle.loads(pickle.dumps(pattern)).fullmatch("AA") is not None
