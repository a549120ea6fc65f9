"""What the layout of a text states: heads of mails, sheets, lists, chats, secrets and plates."""

import pytest

from anonymization.text.contracts import EntityType
from anonymization.text.detect.stated import find_stated

_WORDS = (
    "present the minute taker two people from carrier sales manager agent printer works site open "
    "status line comments on hours what who check rate card stock"
)
_DICTIONARY = frozenset(_WORDS.split())


def stated(text: str) -> list[tuple[str, EntityType]]:
    findings = find_stated(text, _DICTIONARY)
    return [(text[each.start : each.end], each.type) for each in findings]


def people(text: str) -> list[str]:
    return [value for value, kind in stated(text) if kind is EntityType.PERSON]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('From: "Quarshie, Eldrun"\nTo: sales\n', ["Quarshie, Eldrun"]),
        ("From: sales\nTo: printer\n", []),
        ("REPORTER    Eldrun Quarshie       STATUS  Open\n", ["Eldrun Quarshie"]),
        ("STATUS      PRIORITY\n", []),
        ("Present: Eldrun, the minute-taker, two people from the carrier\n", ["Eldrun"]),
        ("09:15  Quarshie-Dunn, Eldrun   dob 04.09.1949\n", ["Quarshie-Dunn, Eldrun"]),
        ("her line manager, Quarshie-Dunn, comments on hours", ["Quarshie-Dunn"]),
        ("| What | Who |\n|---|---|\n| Rate | Quarshie |\n| Stock | sales |\n", ["Quarshie"]),
        ("宛名は簗瀬 鼓。\n", ["簗瀬 鼓"]),
        ("控えには簗瀬 鼓子とある\n", ["簗瀬 鼓子"]),
        ("- **记录**：问渠\n- **缺席**：测试组\n", ["问渠"]),
    ],
)  # fmt: skip
def test_layouts_name_people(text: str, named: list[str]) -> None:
    assert people(text) == named


def test_speakers_of_a_chat_are_masked_and_posts_stay() -> None:
    chat = "10:01\tもなか\tはい\n10:02\t会長\tはい\n10:03\tもなか\tいいえ\n"
    assert {value for value, _ in stated(chat)} == {"もなか"}
    chat = "长夜听雨  10:01\n好\n\n客服甲  10:02\n好\n\n长夜听雨  10:03\n好\n"
    assert {value for value, _ in stated(chat)} == {"长夜听雨"}


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("パスワード先週変えました → kazari&Mon7", ["kazari&Mon7"]),
        ("放门口，密码锁 880412", ["880412"]),
        (f"  hmac: {'4f' * 20}\n", ["4f" * 20]),
        (f"  sha1: {'4f' * 20}\n", []),
        ("login is still svc-otter with qWLzRtNnPaXe", ["qWLzRtNnPaXe"]),
        ("login is still svc-otter with another", []),
    ],
)
def test_secrets_behind_words_about_them(text: str, secret: list[str]) -> None:
    assert [value for value, kind in stated(text) if kind is EntityType.SECRET] == secret


def test_plates_by_their_form_and_behind_a_vehicle() -> None:
    text = "軽トラ。浜松 580 さ 41-07 と the old van (K-207-TZ) in bay (B-2)"
    assert [value for value, _ in stated(text)] == ["浜松 580 さ 41-07", "K-207-TZ"]
