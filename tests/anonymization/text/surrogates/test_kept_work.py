"""What a surrogate keeps of its value, so that masked files can still be worked with."""

from __future__ import annotations

import pytest

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.masking.one_value import whole_values
from anonymization.text.surrogates.assignment import ScopeVocabulary
from anonymization.text.surrogates.scope_surrogates import Surrogates

Values = tuple[tuple[EntityType, str], ...]


def learned(*values: tuple[EntityType, str]) -> list[str]:
    surrogates = Surrogates(b"k" * 32, "scope", ScopeVocabulary())
    surrogates.learn(values)
    return [surrogates.of(*value) for value in values]


@pytest.mark.parametrize(
    ("kind", "value", "kept"),
    [
        (EntityType.LOCATION, "北山派出所", "派出所"),
        (EntityType.LOCATION, "静海店", "店"),
        (EntityType.ORGANIZATION, "锦河冷链物流（武汉）有限公司", "有限公司"),
        (EntityType.ORGANIZATION, "成都青木会计师事务所（普通合伙）", "（普通合伙）"),
        (EntityType.PERSON, "株式会社白鳥ファスナー 総務課", "ファスナー 総務課"),
        (EntityType.ORGANIZATION, "Wick & Moss Gifts", " Gifts"),
        (EntityType.EMAIL, "servicedesk@bright-energy.co.uk", "servicedesk@"),
        (EntityType.URL, "sync-legacy.tana.jp", "sync-legacy."),
        (EntityType.CASE_NUMBER, "锦教函〔2026〕48号", "锦教函〔"),
        (EntityType.ACCOUNT, "cus_Qk81mRw6Lz", "cus_"),
        (EntityType.ACCOUNT, "PHX-3391-7724", "PHX-"),
    ],
)
def test_words_that_say_a_kind_stay(kind: EntityType, value: str, kept: str) -> None:
    (new,) = learned((kind, value))
    assert kept in new and new != value


def test_short_and_whole_values_agree() -> None:
    _, friend, whole, given, account, end = learned(
        (EntityType.PERSON, "尉迟朗"),
        (EntityType.PERSON, "朗哥"),
        (EntityType.PERSON, "Mei-Ling Crossfield"),
        (EntityType.PERSON, "Mei-Ling"),
        (EntityType.BANK_ACCOUNT, "55417804"),
        (EntityType.BANK_ACCOUNT, "7804"),
    )
    assert friend[-1] == "哥"
    assert friend[:-1] == _[-1]
    assert whole.startswith(f"{given} ")
    assert account.endswith(end)


def test_a_birth_in_an_identity_number_moves_as_dates_do() -> None:
    number, day = learned(
        (EntityType.NATIONAL_ID, "110101198704122459"), (EntityType.DATE, "1987-04-12")
    )
    assert number[6:14] == day.replace("-", "") != "19870412"


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("改为苏州市吴中区1号", EntityType.ADDRESS, ["苏州市吴中区1号"]),
        ("の長女 西条", EntityType.PERSON, ["西条"]),
        ("大石さんの端末だけ動く", EntityType.PERSON, ["大石"]),
        ("3：ワクチンの接種は 12/4 午後。協力医は", EntityType.UNEXPLAINED, []),
        ("文清（母）", EntityType.PERSON, ["文清"]),
        ("互助会 理事長 蒔田 詩織", EntityType.PERSON, ["蒔田 詩織"]),
    ],
)
def test_only_the_name_in_words_is_a_value(text: str, kind: EntityType, values: list[str]) -> None:
    parts = whole_values(text, [Finding(0, len(text), kind, "rule", 1.0)])
    assert [text[part.start : part.end] for part in parts] == values


def test_both_days_of_a_range_move() -> None:
    text = "9月16日〜30日まで"
    (part,) = whole_values(text, [Finding(0, 5, EntityType.DATE, "rule", 1.0)])
    assert text[part.start : part.end] == "9月16日〜30日"
    days, first, last = learned(
        (EntityType.DATE, "9月16日〜30日"),
        (EntityType.DATE, "9月16日"),
        (EntityType.DATE, "9月30日"),
    )
    month = last.partition("月")[0]
    is_one = first.startswith(f"{month}月")
    assert days == f"{first}〜{last.removeprefix(f'{month}月') if is_one else last}"
    assert not days.startswith("9月16日")
