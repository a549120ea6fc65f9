"""Which cues count, where they stand and how much they say; cues are words, not substrings."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.signals import matching
from construction.signals.codebook import Codebook
from construction.signals.config import MatchingConfig
from construction.signals.matching import (
    CueHit,
    _match_at,
    _parse_cue,
    _plain_form,
    _tokens_of,
    _unit,
    cosine,
    encode_multilingual,
    evidence,
    find_cues,
    hits_by_pattern,
)
from tests.construction.signals.made import small_codebook

# The seam to the sentence encoder.


def test_languages_meet_and_order_makes_no_difference() -> None:
    texts = ["Send an e-mail to a customer.", "给客户发送电子邮件。", "Deploy a website."]
    straight = encode_multilingual(texts)
    assert straight[0] @ straight[1] > 0.5 > straight[0] @ straight[2]
    turned = encode_multilingual(texts[::-1])
    assert (straight == turned[::-1]).all()
    assert encode_multilingual([]).shape == (0, 512)


def test_the_model_sees_each_text_once_and_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []

    class Model:
        def encode(self, texts: Sequence[str]) -> object:
            seen.append(list(texts))
            return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)

    monkeypatch.setattr(matching, "_model", Model)
    vectors = encode_multilingual(["test-bb", "test-a", "test-bb"])
    assert seen == [["test-a", "test-bb"]]
    assert (vectors[0] == vectors[2]).all()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0, 1.0, 1.0])


def test_cosine_is_rounded_and_zero_rows_stay_zero() -> None:
    rows = _unit(np.array([[3.0, 4.0], [0.0, 0.0]]))
    assert rows.tolist() == [[0.6, 0.8], [0.0, 0.0]]
    assert cosine(rows, _unit(np.array([[1.0, 1.0]]))).tolist() == [[0.989949494], [0.0]]


def matches_of(cue: str, text: str) -> list[str]:
    plain = _plain_form(text)
    tokens = _tokens_of(plain)
    phrase = _parse_cue(cue)
    parts = (_match_at(phrase, plain, tokens, at) for at in range(len(tokens)))
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
    plain = _plain_form(text)
    assert len(plain) == len(text)
    for token in _tokens_of(plain):
        assert plain[token.start : token.end] == token.text


def test_a_long_hostile_text_takes_linear_time() -> None:
    text = "edit " * 40_000
    start = time.process_time()
    assert matches_of("edit .. pdf*", text) == []
    assert time.process_time() - start < 5


PLAIN = MatchingConfig()


@pytest.fixture
def book(tmp_path: Path) -> Codebook:
    return small_codebook(tmp_path)


def hits(book: Codebook, summary: str, name: str = "x") -> list[CueHit]:
    return find_cues({"name": name, "summary": summary}, book, PLAIN)


def test_offsets_point_at_the_words(book: Codebook) -> None:
    summary = "Reads your mailboxes daily"
    (hit,) = hits(book, summary)
    assert (hit.pattern, hit.cue, hit.field) == ("mail", "mailbox*", "summary")
    assert summary[hit.start : hit.end] == "mailboxes"


def test_the_longest_reading_counts_alone(book: Codebook) -> None:
    # "letters" is a weak cue of mail; inside "send … letters" it says nothing of its own.
    assert [hit.cue for hit in hits(book, "Send many letters")] == ["send .. letters"]


def test_a_decoy_counts_for_no_pattern(book: Codebook) -> None:
    assert hits(book, "Leaves a paper trail and love letters") == []
    assert [hit.pattern for hit in hits(book, "Leaves paper")] == ["paper"]


def test_what_stands_first_says_most(book: Codebook) -> None:
    first, late = hits(book, "origami " + "and more " * 40 + "source code")
    assert (first.pattern, late.pattern) == ("code", "paper")
    assert first.weight == pytest.approx(PLAIN.strong * PLAIN.rest)
    assert late.weight == pytest.approx(PLAIN.strong * PLAIN.opening)


@pytest.mark.parametrize(
    ("summary", "share"),
    [
        ("Origami shapes", 1.0),
        ("Use this skill when the user wants origami", 1.0),  # a lead-in is not read
        ("Shapes (origami)", 0.5),  # an aside
        ("Shapes via origami", 0.5),  # the means
        ("Shapes, not for origami", 0.0),  # excluded
    ],
)
def test_places(book: Codebook, summary: str, share: float) -> None:
    weights = [hit.weight for hit in hits(book, summary)]
    assert weights == ([pytest.approx(PLAIN.strong * share)] if share else [])


def test_title_and_summary_count_once_each(book: Codebook) -> None:
    cues = hits(book, "Origami, origami and origami", name="Origami")
    assert [(hit.field, hit.weight) for hit in cues] == [("summary", 0.6), ("name", 0.3)]
    titles = find_cues({"slug": "origami", "name": "Origami", "summary": ""}, book, PLAIN)
    assert [hit.field for hit in titles] == ["slug"]  # two spellings of one title


def test_a_stretch_counts_once_for_a_pattern(book: Codebook) -> None:
    """`mailbox*` stands in the gap of `send .. letters`: one statement, not two."""
    assert [hit.cue for hit in hits(book, "Send mailbox letters")] == ["send .. letters"]


def test_means_are_sought_after_the_lead_in(book: Codebook) -> None:
    (hit,) = hits(book, "Use this skill when using origami")
    assert hit.weight == pytest.approx(PLAIN.strong * PLAIN.opening)


def test_evidence_is_what_doubt_is_left(book: Codebook) -> None:
    cues = hits(book, "Origami", name="Origami")
    assert evidence(cues) == {"paper": pytest.approx(1 - 0.4 * 0.7)}
    assert list(hits_by_pattern(cues)) == ["paper"]


def test_a_cue_may_belong_to_two_patterns(book: Codebook) -> None:
    """Same words, same span: neither is inside the other, both count."""
    summary = "code in memory"
    assert {hit.pattern for hit in hits(book, summary)} == {"code", "memory"}


def test_hostile_texts_are_read_without_harm(book: Codebook) -> None:
    for summary in ("(" * 5000, "via " * 5000, "\x00\ud800 origami", "no " * 5000, ""):
        assert all(hit.weight > 0 for hit in hits(book, summary))
