"""What stays of a file agrees with what is masked beside it: regions, ranges, firms, readings."""

from __future__ import annotations

import pytest

from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, EntityType, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece, labelled
from anonymization.text.surrogates.readings import read_surrogate, romanised
from anonymization.text.vault import applied

KEY = b"a" * 32


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(at_level(DetectionConfig.for_tasks(), MaskingLevel.STRICT))


def masked(detector: TextDetector, *pieces: Piece) -> list[str]:
    masker = Masker(detector, KEY, scope="agreeing", mode=Mode.SURROGATE)
    masker.learn(pieces)
    return [applied(piece.value, masker.edits(piece))[0] for piece in pieces]


@pytest.mark.parametrize(
    ("region", "rest"),
    [
        ("愛知県", "岡崎市康生通3丁目"),
        ("北海道", "小樽市色内2-14-8"),
        ("福建省", "莆田市荔城路77号"),
        ("内蒙古自治区", "赤峰市新城街12号"),
    ],
)
def test_a_region_stays_alone_and_in_an_address(
    detector: TextDetector, region: str, rest: str
) -> None:
    alone, whole = masked(detector, labelled("住所", region), labelled("address", region + rest))
    assert alone == region
    assert whole.startswith(region)
    assert rest[:2] not in whole


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("Location: Ferrisvale, OH", ", OH"),
        ("Ship to 12 Alder Road, Fernside, QC", ", QC"),
        ("Ship to 48 Miller Street, Orrville, TX 75080", ", TX"),
    ],
)
def test_the_state_of_an_address_stays(detector: TextDetector, text: str, state: str) -> None:
    (result,) = masked(detector, Piece(text))
    assert result != text
    assert state in result


def test_one_town_has_one_surrogate_in_a_column_of_addresses(detector: TextDetector) -> None:
    first, second = masked(
        detector,
        labelled("address1", "長野県飯田市鼎名古熊2339"),
        labelled("address1", "飯田市大瀬木1106-2"),
    )
    assert first.partition("県")[2].partition("市")[0] == second.partition("市")[0] != "飯田"


@pytest.mark.parametrize(
    "text",
    [
        "2-17-31",
        "Volunteers aged 21–34 years took part.",
        "We asked women aged 50 to 64 and men of any age.",
        "Rates fell in every school.14 Aim 2 is exploratory.",
    ],
)
def test_what_counts_is_no_date_age_or_house(detector: TextDetector, text: str) -> None:
    assert masked(detector, Piece(text)) == [text]


@pytest.mark.parametrize(
    ("label", "firm", "text"),
    [
        ("supplier_name", "青嶺鋼材㈱", "評価表\u3000青嶺鋼材.xlsx"),
        ("supplier_name", "北浜化成㈱", "評価表\u3000北浜化成.xlsx"),
        ("取引先", "株式会社モリオカヤ", "モリオカヤに見積を依頼した。"),
        ("公司", "杭州东启纸业有限公司", "请联系杭州东启纸业，谢谢"),
        ("company", "Hollin Marrow Ltd", "Ask Hollin Marrow for the samples."),
    ],
)
def test_a_firm_is_the_same_without_its_legal_form(
    detector: TextDetector, label: str, firm: str, text: str
) -> None:
    full, shown = masked(detector, labelled(label, firm), Piece(text))
    bare = next(part for part in (firm[:-1], firm[4:], firm[:-4], firm[:-4]) if part in text)
    new = full.replace(firm.replace(bare, ""), "")
    assert bare.strip() not in shown
    assert new.strip() in shown


def test_the_shop_of_a_record_has_one_name(detector: TextDetector) -> None:
    text = 'const a = {shopName: "サロン ド・ミカ", n: 1};\nconst b = {shop: "サロン ド・ミカ"};'
    (result,) = masked(detector, Piece(text))
    first, second = result.split('"')[1], result.split('"')[3]
    assert first == second != "サロン ド・ミカ"
    assert first.startswith("サロン ")


def test_goods_in_a_column_of_makers_are_for_the_owner(detector: TextDetector) -> None:
    cells = ["ベアリング", "パッキン、ワッシャー", "ヤマゲンド㈱"]
    results = masked(detector, *(labelled("manufacturer_name", cell) for cell in cells))
    assert results[:2] == cells[:2]
    assert "ヤマゲンド" not in results[2]


@pytest.mark.parametrize(
    ("name", "reading", "login"),
    [
        ("長谷部陽太郎", "ハセベヨウタロウ", "hasebe_youtarou"),
        ("大西 美咲", "おおにし みさき", "misaki.onishi"),
        ("宮下恵", "ミヤシタ メグミ", "m-miyashita"),
        ("田崎恵子", "タザキケイコ", "k-tasaki"),
    ],
)
def test_readings_are_those_of_the_surrogate(
    detector: TextDetector, name: str, reading: str, login: str
) -> None:
    whole, read, mail = masked(
        detector,
        labelled("氏名", name),
        labelled("フリガナ", reading),
        labelled("メールアドレス", f"{login}@nagi-works.jp"),
    )
    family, given = whole[:2], whole[2:].strip()
    kana = read_surrogate(family, True), read_surrogate(given, False)
    katakana = "".join(chr(ord(c) + 0x60) if "ぁ" <= c <= "ゖ" else c for c in read)
    assert katakana.replace(" ", "") == "".join(kana)
    assert (" " in read) == (" " in reading)
    assert romanised(kana[0]).replace("ou", "o") in mail.replace("ou", "o")


def test_how_a_reading_is_spelled() -> None:
    assert romanised("キョウコ") == "kyouko"
    assert romanised("ハットリシンイチロウ") == "hattorishinichirou"


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("Due 2023-09-14: send the **September report** and the March one.", False),
        ("会议 2023年9月14日：9月工资表和3月报表", False),
        ("2023年9月14日に9月号の原稿、3月の会議", False),
        ("| Region | January | September |", True),
        ("We met April Larkin and June Rowe there.", True),
        ('months = ["March", "September"]', True),
        ("1〜9月の売上、9月間、毎月", True),
    ],
)
def test_months_named_beside_dates_move_with_them(text: str, stays: bool) -> None:
    moving = TextDetector(
        at_level(
            DetectionConfig.for_tasks().model_copy(update={"births_only": False}),
            MaskingLevel.STRICT,
        )
    )
    kept = {text[f.start : f.end] for f in moving.find([text])[0] if f.type is EntityType.DATE}
    named = {
        value for value in kept if value in ("September", "March", "9月", "3月", "April", "June")
    }
    assert (not named) if stays else len(named) == 2


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("CC: Mark Vennick, Tess O'Hara, Nina Vennick", ["Vennick", "Nina Vennick"]),
        ("Present: Paul D'Orsay, Maria Keltrin", ["Maria Keltrin"]),
    ],
)
def test_a_name_with_an_apostrophe_does_not_turn_the_next_one(
    detector: TextDetector, text: str, names: list[str]
) -> None:
    values = [text[f.start : f.end] for f in detector.find([text])[0]]
    assert all(any(name in value for value in values) for name in names)
    assert not any("," in value for value in values)


@pytest.mark.parametrize(
    ("text", "password"),
    [
        ("测试环境 10.2.3.4 operator//Kz#41mnb\n", "Kz#41mnb"),
        ("普通用户wen.qiao，plum$2207\t三部", "plum$2207"),
        ("qa-lead@tarnow.pl//w!nter88\n", "w!nter88"),
    ],
)
def test_a_password_behind_its_login_in_a_note(
    detector: TextDetector, text: str, password: str
) -> None:
    assert password not in masked(detector, Piece(text))[0]


@pytest.mark.parametrize(
    "text", ["total = a//b  # half of 12!", "see https://tarnow.pl//a1!b for it", "用了Rust，共12!"]
)
def test_what_stands_behind_two_strokes_or_a_comma_is_no_password(
    detector: TextDetector, text: str
) -> None:
    assert all(f.type is not EntityType.SECRET for f in detector.find([text])[0])


@pytest.mark.parametrize(
    ("firm", "kind"),
    [
        ("Quiet Harbour Trading", "Trading"),
        ("Nestwick Robotics", "Robotics"),
        ("Tarnow & Sons", "& Sons"),
        ("Lindqvist Shipping AB", "Shipping AB"),
    ],
)
def test_a_customer_that_is_a_firm_becomes_one(
    detector: TextDetector, firm: str, kind: str
) -> None:
    (result,) = masked(detector, labelled("customer", firm))
    assert result.endswith(kind)
    assert result != firm


def test_a_family_name_is_not_masked_inside_a_region(detector: TextDetector) -> None:
    cells = [labelled("氏名", "福島健一郎"), labelled("担当者", "福島"), labelled("住所", "福島県")]
    results = masked(detector, *cells)
    assert results[2] == "福島県"
    assert "福島" not in results[0] + results[1]


def test_a_sender_whose_address_shows_the_name(detector: TextDetector) -> None:
    text = "To: Bill D'Ormand <bdormand@tarnowbuild.net>"
    assert "Ormand" not in masked(detector, Piece(text))[0]
