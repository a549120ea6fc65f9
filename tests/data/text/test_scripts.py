"""The ranges of scripts are those of Unicode, and every script is written in one place only."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
import regex

from data.text import scripts
from data.text.scripts import HAN, HANGUL, KANA, UNIFIED_HAN

CHARS = "".join(chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)


def test_han_is_what_unicode_calls_han() -> None:
    ours, theirs = set(re.findall(f"[{HAN}]", CHARS)), set(regex.findall(r"\p{Han}", CHARS))
    assert theirs <= ours
    beside = {char for char in ours - theirs if char < "\U00020000"}
    assert beside == {"〆", "\ufa6e", "\ufa6f"}  # a mark used as Han, and two free places


def test_no_normal_form_changes_a_unified_ideograph() -> None:
    unified = "".join(re.findall(f"[{UNIFIED_HAN}]", CHARS))
    assert unicodedata.normalize("NFKD", unified) == unified


@pytest.mark.parametrize("char", ["一", "鿿", "㐀", "𠮷", "𫝀", "々", "〇", "豈", "⺼"])
def test_ideographs_of_all_blocks_are_han(char: str) -> None:
    assert scripts.is_han(char)
    assert scripts.has_han(f"a{char}b")
    assert scripts.count_han(f"{char}a{char}") == 2


@pytest.mark.parametrize("char", ["", "a", "あ", "ア", "한", "。", "、", "Ａ", "１", "☰", "䷀"])
def test_nothing_else_is_han(char: str) -> None:
    assert not scripts.is_han(char)
    assert not scripts.has_han(char)


@pytest.mark.parametrize(("body", "properties"), [(KANA, "Hiragana|Katakana"), (HANGUL, "Hangul")])
def test_kana_and_hangul_hold_the_letters_of_the_basic_plane(body: str, properties: str) -> None:
    letters = regex.findall("|".join(rf"\p{{{name}}}" for name in properties.split("|")), CHARS)
    ours = set(re.findall(f"[{body}]", CHARS))
    beside = {char for char in set(letters) - ours if char < "\U00010000"}
    assert all(regex.match(r"\p{So}|\p{M}", char) for char in beside)


def test_predicates_over_kana_and_cjk() -> None:
    assert scripts.has_kana("データ")
    assert scripts.has_kana("ｶﾅ")
    assert not scripts.has_kana("数据")
    assert scripts.count_cjk("a数b데c𠮷かd") == 4


def test_word_edges_hold_beside_han() -> None:
    pattern = re.compile(f"{scripts.BEFORE}PDF{scripts.AFTER}")
    assert pattern.findall("处理PDF文件") == ["PDF"]
    assert pattern.findall("xPDF PDFé PDF_1") == []
