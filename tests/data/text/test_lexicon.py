"""Loading of tables and finding of phrases."""

from __future__ import annotations

import re

import pytest

from data.text.lexicon import alternatives, any_of, has_any, load_table


def test_a_table_of_a_package_is_read_once() -> None:
    table = load_table("construction.statements.questions", "words.toml")
    assert table
    assert load_table("construction.statements.questions", "words.toml") is table
    with pytest.raises(FileNotFoundError):
        load_table("construction.statements.questions", "none.toml")


def test_phrases() -> None:
    phrases = any_of([" | new task", "a.b"])
    assert has_any("x | new tasks", phrases)
    assert not has_any("axb", phrases)


def test_alternatives_prefer_the_longest() -> None:
    assert re.findall(alternatives(["a", "ab", "a+"]), "ab a+ a") == ["ab", "a+", "a"]
