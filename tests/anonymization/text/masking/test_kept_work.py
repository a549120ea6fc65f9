"""Masking changes values and leaves what stands beside them: keys, verbs, short forms, forms."""

from __future__ import annotations

import re

import pytest

from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import UNDECIDED, DetectionConfig, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.masker import Masker

KEY = b"w" * 32


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(at_level(DetectionConfig(public_places=True), MaskingLevel.STRICT))


def masked(detector: TextDetector, *texts: str) -> list[str]:
    return Masker(detector, KEY, scope="kept", mode=Mode.SURROGATE).mask_texts(list(texts))


@pytest.mark.parametrize(
    ("line", "name", "keys"),
    [
        ("开票 客户=柏雨青 电话=13620174453 状态=已开", "柏雨青", ["电话=", "状态="]),
        ("改签 乘客=樊致远 车次=G1024 code=SEAT_GONE", "樊致远", ["车次=", "code="]),
        ('寄件人=祁若兰 寄件地址="成都市武侯区科华路 21 号"', "祁若兰", ["寄件地址="]),
        ("customer=Ines Calder phone=614-392-7716 state=open", "Ines Calder", ["phone=", "state="]),
    ],
)
def test_a_key_is_no_part_of_the_name_before_it(
    detector: TextDetector, line: str, name: str, keys: list[str]
) -> None:
    (result,) = masked(detector, line)
    assert name not in result
    assert all(key in result for key in keys)


def test_one_customer_has_one_name_whatever_key_follows(detector: TextDetector) -> None:
    lines = ["客户=柏雨青 电话=13620174453", "客户=柏雨青 订单=DX2207", "客户=柏雨青(13620174453)"]
    results = masked(detector, *lines)
    names = {re.match(r"客户=([^ (]+)", result)[1] for result in results}  # type: ignore[index]
    assert len(names) == 1


def test_a_declared_full_name_is_whole_everywhere_in_code(detector: TextDetector) -> None:
    setting, code = masked(
        detector,
        "    display_name: Marla Voss\n",
        'GUEST = {"Guest Name": "Marla Voss"}\nassert find("a") == ("Marla Voss", "9C")\n'
        "# as Marla Voss said\n",
    )
    name = setting.strip().removeprefix("display_name: ")
    assert "Marla" not in code and "Voss" not in code
    assert code.count(name) == 3


def _decided(detector: TextDetector, text: str) -> list[str]:
    (findings,) = detector.find([text])
    return [text[f.start : f.end] for f in findings if f.recognizer not in UNDECIDED]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("- Migrate Brennick Bank VPN tunnels", ["Migrate", "VPN"]),
        ("Review Orlstead Hospital SLA by Monday", ["Review", "SLA"]),
        ("tenant SSN 512-44-9081", ["SSN"]),
        ("Feb Sales", ["Feb", "Sales"]),
        ("費用: 2,400万円", ["万円"]),
        ("First Pass (Trial): Copy a small folder to the staging/test area", ["Copy", "folder"]),
    ],
)
def test_common_words_beside_names_are_no_names(
    detector: TextDetector, text: str, kept: list[str]
) -> None:
    decided = " ".join(_decided(detector, text))
    assert not [word for word in kept if word in decided]


@pytest.mark.parametrize(
    ("before", "form"),
    [
        ("FY2027", r"FY20\d\d"),
        ("2024 年第二季度", r"20\d\d 年第[一二三四]季度"),
        ("令和5年3月", r"(?:令和|平成)\d{1,2}年\d{1,2}月"),
        ("平成7年", r"(?:平成|昭和)\d{1,2}年"),
    ],
)
def test_periods_move_in_their_own_form(detector: TextDetector, before: str, form: str) -> None:
    (after,) = masked(detector, before)
    assert after != before
    assert re.fullmatch(form, after)


@pytest.mark.parametrize(
    "text",
    [
        "sender: Shipment Notice",
        "reviewer: Pier contact",
        "display_name: Python 3 (ipykernel)",
        "# A. FerryDESK 处理\n# B. ZED 日次処理",
        "fingerprint 0A1B FDBD A476 9450 02CD 0EFC BCE3 C388",
        "需求：少年组分为8-9，10-11，12-13岁组",
        "Python 3.11.10",
        "dkim=pass header.i=@pier.example.org header.s=mx",
        '"count": f"{n} 行"',
        "国立気象研究所",
        "https://s.weibo.com/weibo/abc",
    ],
)
def test_labels_products_ages_and_digits_stay(detector: TextDetector, text: str) -> None:
    assert masked(detector, text) == [text]


def test_a_firm_keeps_its_legal_form_and_loses_its_name(detector: TextDetector) -> None:
    (result,) = masked(detector, "株式会社MERIDA WORKS\n総務部")
    assert result.startswith("株式会社") and "MERIDA" not in result and "WORKS" not in result


def test_a_unit_before_a_name_stays(detector: TextDetector) -> None:
    (result,) = masked(detector, "# 担当: 品質管理課 水野 健吾 (k.mizuno@aoba-seiki.co.jp)")
    assert result.startswith("# 担当: 品質管理課 ") and "水野" not in result


def test_a_name_in_katakana_is_none_inside_a_longer_word(detector: TextDetector) -> None:
    (result,) = masked(detector, "担当者: マリン\nマリンさんへ。サブマリンを点検。")
    assert "サブマリン" in result and "マリンさん" not in result


def test_machines_share_the_domain_of_their_mail(detector: TextDetector) -> None:
    first, second, third = masked(
        detector,
        "ask ines.calder@harrow-ferries.co.uk",
        "BASE=https://portal-stg.harrow-ferries.co.uk",
        "log in at mail.harrow-ferries.local",
    )
    domain = first.partition("@")[2]
    assert domain.endswith(".example") and second == f"BASE=https://portal-stg.{domain}"
    assert third == f"log in at mail.{domain.removesuffix('.example')}.local"


def test_dates_keep_their_padding(detector: TextDetector) -> None:
    lines = [f"2031/{month}/{day}" for month in (1, 5, 9, 11) for day in (3, 12, 25)]
    results = masked(detector, *lines)
    assert all(re.fullmatch(r"\d{4}/[1-9]\d?/[1-9]\d?", date) for date in results)
    padded = masked(detector, "2031-01-03", "2031-11-25")
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for date in padded)


def test_a_month_alone_moves_with_the_dates(detector: TextDetector) -> None:
    (result,) = masked(detector, "移転日は2031年4月6日です。請求書は4月分から新住所へ。")
    match = re.search(r"年(\d+)月\d+日.*?(\d+)月分", result)
    assert match is not None and (int(match[2]) - int(match[1])) % 12 in (0, 1)
    assert "4月分" not in result
