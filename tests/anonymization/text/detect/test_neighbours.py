"""Every recognizer finds its value beside Han characters, full-width marks and at either end."""

from __future__ import annotations

import pytest

from anonymization.text.detect.prose import MachineLines
from anonymization.text.detect.rules import load_rules, scan
from data.text.folding import fold_characters
from tests.anonymization.text.detect.samples import SAMPLES, Sample

_RULES = {rule.name: rule for rule in load_rules()}
# Where the value itself begins or ends with Han characters, Han neighbours are part of no frame.
_HAN_ENDED = {
    "honoured_japanese",
    "address_chinese",
    "company_chinese",
    "name_chinese_said",
    "document_chinese",
    "address_japanese",
}
_FRAMES = {
    "alone": ("", ""),
    "start": ("", "，请核对"),
    "end": ("请核对：", ""),
    "han": ("请核对", "后回复"),
    "parentheses": ("已登记（", "）请核对"),
    "colon": ("登记：", "；完成"),
    "quotes": ("登记“", "”完成"),
    "full stop": ("好。", "。好"),
    "comma": ("好，", "，好"),
}


def _actual(sample: Sample, text: str) -> list[tuple[int, int]]:
    rule = _RULES[sample.rule]
    folded = fold_characters(text)
    actual = scan((rule,), folded, MachineLines(folded))
    return [(f.start, f.end) for f in actual if f.type is sample.type]


def test_every_rule_has_a_sample() -> None:
    assert sorted(_RULES) == sorted(sample.rule for sample in SAMPLES)


def _is_found(sample: Sample, frame: str) -> bool:
    before, after = _FRAMES[frame]
    if sample.rule in _HAN_ENDED and frame in {"han", "start", "end"}:
        before, after = before and before + "，", after and "，" + after
    start = len(before) + len(sample.lead)
    text = before + sample.lead + sample.value + sample.tail + after
    return (start, start + len(sample.value)) in _actual(sample, text)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.rule)
def test_found_in_every_neighbourhood(sample: Sample) -> None:
    assert [frame for frame in _FRAMES if not _is_found(sample, frame)] == []


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.rule)
def test_found_in_full_width(sample: Sample) -> None:
    wide = {ord(char): ord(char) + 0xFEE0 for char in "0123456789:()-./@+%"}
    before, value = "请核对：", sample.value.translate(wide)
    start = len(before) + len(sample.lead)
    text = before + sample.lead.translate(wide) + value + sample.tail.translate(wide) + "，好"
    assert (start, start + len(value)) in _actual(sample, text)
