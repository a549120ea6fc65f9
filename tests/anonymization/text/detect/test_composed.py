"""Decomposed letters: findings cover whole letters of the original text."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.engine import composed


def test_a_finding_covers_the_marks_of_its_letters() -> None:
    text = unicodedata.normalize("NFD", "with Zoë Müßig, Café")
    read = composed(text)
    assert read.text == "with Zoë Müßig, Café"
    start, end = read.text.index("Zoë"), read.text.index(",")
    finding = read.original(Finding(start, end, EntityType.PERSON, "test", 1.0))
    assert text[finding.start : finding.end] == unicodedata.normalize("NFD", "Zoë Müßig")


def test_a_syllable_in_its_parts_is_read_as_one() -> None:
    text = unicodedata.normalize("NFD", "김민수")
    read = composed(text)
    assert read.text == "김민수"
    assert read.original(Finding(0, 1, EntityType.PERSON, "test", 1.0)).end == len(
        unicodedata.normalize("NFD", "김")
    )


@given(st.text(alphabet="aé \u0301\u0308\u3099かn\u1100\u1161"))
def test_the_parts_of_the_original_are_those_of_the_composed_text(text: str) -> None:
    read = composed(text)
    if not read.starts:
        assert read.text == text
        return
    assert len(read.starts) == len(read.ends) == len(read.text)
    assert "".join(text[s:e] for s, e in zip(read.starts, read.ends, strict=True)) == text
