"""What the level `strict` leaves as explained by its sentence, and what it masks all the same."""

from __future__ import annotations

import pytest

from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, EntityType
from anonymization.text.detect.engine import TextDetector

_TASKS = at_level(DetectionConfig.for_tasks(), MaskingLevel.STRICT)
_MASK = at_level(DetectionConfig(), MaskingLevel.STRICT)
_DIGEST = "9f1c2b7a4e5d6f8090a1b2c3d4e5f60718293a4b5c6d7e8f9012a3b4c5d6e7f8"
_COMMIT = "3f9a2b17c4d5e6f708192a3b4c5d6e7f80912a3b"


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(_TASKS)


@pytest.fixture(scope="module")
def of_mask() -> TextDetector:
    """As `benchmint privacy mask` detects: ages, too."""
    return TextDetector(_MASK)


def masked(detector: TextDetector, text: str) -> list[str]:
    return [text[f.start : f.end] for f in detector.find([text])[0]]


@pytest.mark.parametrize(
    "text",
    [
        f"layer sha256:{_DIGEST} is here",
        f"{_DIGEST}  report.tar\n",
        f'"commit_hash": "{_COMMIT}"',
        "3f9a2b17 fix the parser\nab12cd34 add a test\n",
        "固件版本v20480913已发布，请升级。",
        "build 20480913 is out",
        "样本量为48210937，行业代码K7010452。",
        "日志共48210937行，耗时12345678微秒。",
        "产品型号HT770A已停产。",
        "执行GB/T 22239-2019标准。",
        "依据《数据安全法》第二十一条办理。",
        "ORA-01555 again, and error 0x8007000e",
        "codec=G.711",
        "Compare them with a Mann-Whitney test and a Cox model.",
        "Use Dijkstra's algorithm.",
        "The court held, inter alia, that the appellant had been remanded.",
        "The Convention for the Protection of Wild Rivers and Old Forests was signed.",
        "Under the Quiet Streets and Gardens Act nothing happens.",
        "Prometheus 2.40 runs beside haproxy.",
        "The Stray Horses and Ponies Act 1932 and RFC 7231 say so.",
        "Put VLOOKUP(B2,A:C,3,FALSE) into Google Sheets on a Raspberry Pi 4 Model B.",
        "timezone: Asia/Tokyo # 時刻",
        "EBITDA grew, and the oil is 5W-30.",
    ],
)
def test_what_a_sentence_explains_stays(detector: TextDetector, text: str) -> None:
    assert masked(detector, text) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("订单编号48210937445，共48210937条记录。", "48210937445"),
        ("账号48210937445", "48210937445"),
        ("Please ask 김철수 about the budget for the sales table.", "김철수"),
        (_DIGEST, _DIGEST),
        (f"customer sha256={_DIGEST}", _DIGEST),
        ('{"id": "6ff2b413", "parentId": "58d81744"}', "58d81744"),
        ("version 20.11.1/ABX-77123", "ABX-77123"),
        ("booking BS260411-07 was paid", "BS260411-07"),
        ("ticket TS-20417 is open", "TS-20417"),
        ("wallet 0x52908400098527886E0F7030069857D2E4169EE7", "0x5290840009852788"),
        ("Ms Holt-Winters called.", "Holt-Winters"),
        ("Then John Kaplan-Meier came in.", "Kaplan-Meier"),
        ("Thomas Barnard Act 1999", "Thomas"),
        ("We went with Prometheus in the end.", "Prometheus"),
    ],
)
def test_what_looks_alike_is_masked(detector: TextDetector, text: str, value: str) -> None:
    assert any(value in spelling for spelling in masked(detector, text))


def test_a_value_said_without_its_word_is_masked_in_all_texts(detector: TextDetector) -> None:
    first, second = masked(detector, f"commit {_COMMIT}"), masked(detector, f"look at {_COMMIT}")
    assert (first, second) == ([], [_COMMIT])


@pytest.mark.parametrize(
    ("text", "ages"),
    [
        ("At 42, he began to paint.", ["42"]),
        ("a boy of 11, and his twin", ["11"]),
        ("She lived to be 103.", ["103"]),
        ("He is in his 60s.", ["60s"]),
        ("her thirty-four-year-old cousin is nineteen years old", ["thirty-four", "nineteen"]),
        ("35/M presenting with a cough", ["35"]),
        ("our kids are 3, 5 and 8", ["3", "5", "8"]),
        ("between the ages of 20 and 30", ["20", "30"]),
        ("At 9 we meet, at 10 I leave.", []),
        ("She is 20 minutes late, he was 3 points ahead.", []),
        ("People over 65 pay less.", []),
    ],
)
def test_ages_in_passing(
    detector: TextDetector, of_mask: TextDetector, text: str, ages: list[str]
) -> None:
    (findings,) = of_mask.find([text])
    assert [text[f.start : f.end] for f in findings if f.type is EntityType.AGE] == ages
    assert not any(f.type is EntityType.AGE for f in detector.find([text])[0])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("She moved to 10115 last year.", "10115"),
        ("Is there a branch near 33139?", "33139"),
        ("220 Elm St\nSalem, MA\n01970\n", "01970"),
    ],
)
def test_post_codes_in_passing(of_mask: TextDetector, text: str, code: str) -> None:
    assert code in masked(of_mask, text)


def test_lines_of_japanese_are_no_passwords(of_mask: TextDetector) -> None:
    text = "番号がないと困る。\n検定準2級の結果も持参。\n会は午後2時から始まる。"
    assert not any(f.type is EntityType.SECRET for f in of_mask.find([text])[0])


def test_a_year_and_a_court_are_no_street(of_mask: TextDetector) -> None:
    text = "On 12 March 2002 the Hamburg Court of Appeal dismissed the claim."
    (findings,) = of_mask.find([text])
    assert not any(f.type is EntityType.ADDRESS for f in findings)
    assert "12 March 2002" in masked(of_mask, text)
