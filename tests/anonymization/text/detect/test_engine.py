"""The detector as a whole: what it promises whatever the texts, their order and their batches."""

from __future__ import annotations

import random
import socket

import pytest

from anonymization.text.contracts import DetectionConfig, EntityType, Finding
from anonymization.text.detect.engine import TextDetector

_TEXTS = (
    "Mr Oğuz Atakan Köseoğlu lodged application no. 41956/98 on 26 January 1998.",
    "Please call Margaret Ellsworth in Trondheim about the invoice.",
    "客户欧阳文静身份证号码11010519491231002X，住址浙江省杭州市西湖区文三路90号。",
    "请联系周海涛，手机号13812345678，邮箱zhouht@corp-mail.cn。",
    "客户Margaret Ellsworth已确认，Trondheim办公室的周海涛负责跟进。",
    "cd /home/linhui/work && cat report.csv",
    "My IBAN is GB29NWBK60161331926819, my card 4556737586899855.",
    "",
    "\n\n",
)


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector()


def _values(detector: TextDetector, text: str) -> dict[str, str]:
    return {text[f.start : f.end]: f.type.value for f in detector.find([text])[0]}


def test_english_sentence(detector: TextDetector) -> None:
    assert _values(detector, _TEXTS[0]) == {
        "Mr": "TITLE",
        "Oğuz Atakan Köseoğlu": "PERSON",
        "41956/98": "CASE_NUMBER",
        "26 January 1998": "DATE",
    }


def test_chinese_sentence(detector: TextDetector) -> None:
    assert _values(detector, _TEXTS[2]) == {
        "欧阳文静": "PERSON",
        "11010519491231002X": "NATIONAL_ID",
        "浙江省杭州市西湖区文三路90号": "ADDRESS",
    }


def test_a_mixed_sentence_is_read_by_both_models(detector: TextDetector) -> None:
    actual = _values(detector, _TEXTS[4])
    assert actual["Margaret Ellsworth"] == "PERSON"
    assert actual["周海涛"] == "PERSON"


def test_only_the_user_name_of_a_path(detector: TextDetector) -> None:
    assert _values(detector, _TEXTS[5]) == {"linhui": "USER_PATH"}
    assert _values(detector, "open /home/runner/work/x.py") == {}


def test_full_width_values_keep_their_offsets(detector: TextDetector) -> None:
    text = "手机：１３８１２３４５６７８。"
    assert _values(detector, text) == {"１３８１２３４５６７８": "PHONE"}


def test_batches_and_order_do_not_matter(detector: TextDetector) -> None:
    expected = dict(zip(_TEXTS, detector.find(_TEXTS), strict=True))
    for seed in range(3):
        shuffled = list(_TEXTS * 2)
        random.Random(seed).shuffle(shuffled)
        fresh = TextDetector(DetectionConfig(batch=seed + 1, memo_chars=seed * 100))
        assert fresh.find(shuffled) == [expected[text] for text in shuffled]
        assert [fresh.find([text])[0] for text in shuffled] == [expected[t] for t in shuffled]


def test_findings_are_sorted_and_do_not_overlap(detector: TextDetector) -> None:
    for text, actual in zip(_TEXTS, detector.find(_TEXTS), strict=True):
        ends = [0, *(f.end for f in actual)]
        for finding, end in zip(actual, ends, strict=False):
            assert end <= finding.start < finding.end <= len(text)


def test_returned_lists_are_the_callers_own(detector: TextDetector) -> None:
    text = _TEXTS[3]
    detector.find([text])[0].clear()
    assert len(detector.find([text])[0]) == 3


def test_nothing_asks_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    text = "Mail lin.hui@corp-mail.co.uk or see https://intra.acme-holding.io/wiki, 请联系周海涛。"
    assert len(TextDetector().find([text])[0]) == 3


def test_only_listed_entities_are_found() -> None:
    config = DetectionConfig(entities=(EntityType.EMAIL,))
    actual = TextDetector(config).find(["Margaret Ellsworth, m.ellsworth@corp-mail.cn"])[0]
    assert [f.type for f in actual] == [EntityType.EMAIL]


def test_models_may_be_switched_off() -> None:
    config = DetectionConfig(english_model="", chinese_model="")
    actual = TextDetector(config).find(["Walsh phoned 13812345678, 王建国会跟进"])[0]
    assert [f.type for f in actual] == [EntityType.PHONE]


def test_quantities_are_left_alone_unless_listed() -> None:
    text = "The fee was EUR 4,684.40 or 12.4% of it."
    assert TextDetector().find([text])[0] == []
    wide = TextDetector(DetectionConfig(entities=tuple(EntityType)))
    assert [text[f.start : f.end] for f in wide.find([text])[0]] == ["EUR 4,684.40", "12.4%"]


def test_own_person_numbers() -> None:
    config = DetectionConfig(person_number_patterns=(r"(?<!\w)HX\d{5}(?!\d)",))
    text = "HX20417已离职"
    assert TextDetector(config).find([text])[0] == [
        Finding(0, 7, EntityType.PERSON_NUMBER, "person_number_0", 0.9)
    ]


@pytest.mark.parametrize("pattern", ["(a+)+", "HX(", "(?:ab){2,}"])
def test_a_pattern_that_may_run_away_or_is_none_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="person_number_patterns"):
        DetectionConfig(person_number_patterns=(pattern,))
