"""Japanese names: what is found, with which edges, and what stays."""

from __future__ import annotations

import pytest

from anonymization.text.contracts import DetectionConfig, EntityType, Mode
from anonymization.text.detect import japanese
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.masker import Masker

P, O, A = EntityType.PERSON, EntityType.ORGANIZATION, EntityType.ADDRESS  # noqa: E741


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(DetectionConfig.for_tasks())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("担当は高橋健一です。", {("高橋健一", P)}),
        ("佐々木さんから連絡がありました。", {("佐々木", P)}),
        ("渡辺　由美子様の請求書です。", {("渡辺　由美子", P)}),
        ("アンナ・シュミットに送ってください。", {("アンナ・シュミット", P)}),
        ("株式会社山善精密の見積もりを直してください。", {("株式会社山善精密", O)}),
        ("サクラ電機工業株式会社と契約した。", {("サクラ電機工業株式会社", O)}),
        ("氏名: 山田太郎", {("山田太郎", P)}),
        ("田中一郎様 〒164-0012 東京都中野区本町4丁目17番3号",
         {("田中一郎", P), ("164-0012", A), ("中野区本町4丁目17番3号", A)}),
        ("連絡は南口重太郎までお願いします。", {("南口重太郎", P)}),
        ("受付は白山米三郎。", {("白山米三郎", P)}),
        ("明日、桐島リコと打ち合わせます。", {("桐島リコ", P)}),
        ("志水家の住所を確認してください。", {("志水", P)}),
        ("大阪支社の2025年3月の売上を部長に報告する。", set()),
        ("地方銀行と私立大学の一覧を作ってください。", set()),
        ("資料を要約し、日本とアメリカの市場を比較してください。", set()),
    ],
)  # fmt: skip
def test_what_is_found(
    detector: TextDetector, text: str, expected: set[tuple[str, EntityType]]
) -> None:
    assert {(text[f.start : f.end], f.type) for f in detector.find([text])[0]} == expected


def test_chinese_is_left_to_its_model(detector: TextDetector) -> None:
    text = "请联系王志强，他在研究院工作。"
    assert {f.recognizer for f in detector.find([text])[0]} <= {"lac", "name_chinese_said"}


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(ValueError, match="sudachidict_core or empty"):
        japanese.load("other")


def test_without_the_model_only_the_rules_find(detector: TextDetector) -> None:
    rules = TextDetector(DetectionConfig(japanese_model="", chinese_model="", english_model=""))
    assert rules.find(["担当は高橋健一です。"]) == [[]]


def test_surrogates_of_one_person_agree(detector: TextDetector) -> None:
    masker = Masker(detector, bytes(32), Mode.SURROGATE, "scope")
    whole, spaced, lone, company = masker.mask_texts(
        [
            "担当は高橋健一です。",
            "高橋 健一様",
            "高橋さんが来ます。",
            "サクラ電機工業株式会社の契約書です。",
        ]
    )
    family = lone.removesuffix("さんが来ます。")
    given = whole.removeprefix(f"担当は{family}").removesuffix("です。")
    assert "高橋" not in family and "健一" not in given
    assert spaced == f"{family} {given}様"
    assert company.endswith("電機工業株式会社の契約書です。") and "サクラ" not in company
