"""Encodings of text files: recognised by their letters, or no text at all."""

from __future__ import annotations

import pytest

from anonymization.text.encodings import encoding_of, is_likely, is_unsure, writable

TRADITIONAL = (
    "客戶聯絡紀錄:王雅婷小姐於星期三來電,詢問合約何時可以寄出。她的地址是臺北市信義路五段七號,"
    "請業務部的陳先生在月底以前回覆,並把報價單再寄一次。"
)
SIMPLIFIED = (
    "客户联系记录:王雅婷女士星期三来电,询问合同什么时候可以寄出。她的地址是上海市延安路五号,"
    "请业务部的陈先生在月底以前回复,并把报价单再寄一次。"
)
JAPANESE = "顧客の連絡記録です。山田花子さんから水曜日に電話があり、契約書の送付を確認しました。"
KOREAN = "고객 연락 기록입니다. 김민수 씨가 수요일에 전화하여 계약서를 언제 보내는지 물었습니다."
RUSSIAN = "Запись разговора: Ирина Волкова звонила в среду и спросила, когда отправят договор."
FRENCH = "Compte rendu : Hélène Dupré a appelé mercredi, elle demande le contrat déjà signé."


@pytest.mark.parametrize(
    ("text", "codec", "expected"),
    [
        (TRADITIONAL, "big5", "big5hkscs"),
        (SIMPLIFIED, "gbk", "gb18030"),
        (JAPANESE, "shift_jis", "cp932"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (KOREAN, "euc_kr", "euc_kr"),
        (RUSSIAN, "cp1251", "cp1251"),
        (FRENCH, "cp1252", "latin-1"),
        (FRENCH, "utf-8", "utf-8"),
        ("﻿" + JAPANESE, "utf-16-le", "utf-16-le"),
    ],
)
def test_a_text_is_read_in_the_letters_of_its_author(text: str, codec: str, expected: str) -> None:
    data = text.encode(codec)
    assert encoding_of(data) == expected
    assert data.decode(expected) == text


def test_kana_alone_are_no_western_letters() -> None:
    data = "フリガナ\nタナカケンタロウ\nヤマダハナコ\nスズキイチロウ\n".encode("shift_jis")
    assert encoding_of(data) == "cp932"


@pytest.mark.parametrize("line", ["客戶 張志豪".encode("big5"), "Jürgen Groß".encode("latin-1")])
def test_a_line_in_other_letters_makes_a_file_no_text(line: bytes) -> None:
    lines = [b"An ordinary line about the next delivery."] * 40
    assert encoding_of(b"\n".join([*lines, line])) is None


def test_a_character_that_was_cut_leaves_a_text() -> None:
    assert encoding_of(b"log line\n" * 40 + "é".encode()[:1] + b"\n" + b"more\n" * 9) == "utf-8"


def test_bytes_in_no_known_letters_are_no_text() -> None:
    noise = bytes(0x80 + (7 * at * at + 3 * at) % 0x80 for at in range(1, 400))
    assert encoding_of(noise) is None
    assert encoding_of(b"a\0b") is None


def test_a_surrogate_is_written_in_the_letters_that_the_encoding_has() -> None:
    assert writable("王雅婷 €", "cp1251") == "??? €"
    assert writable("王雅婷", "gb18030") == "王雅婷"


@pytest.mark.parametrize(
    "data",
    [
        "欧阳建国".encode("gb18030"),
        "長谷川葵".encode("cp932"),
        "Call Anneliese about it".encode("utf-16-le"),
        "長谷川さんに連絡".encode("iso2022_jp"),
        "Łódź, Paweł Wójcik".encode("cp1250"),
    ],
)
def test_a_text_that_several_encodings_explain_is_read_in_none(data: bytes) -> None:
    assert encoding_of(data) is None
    assert is_unsure(data)


def test_binary_data_is_no_unsure_text() -> None:
    assert not is_unsure(b"\0\1\2\7" * 40)


@pytest.mark.parametrize(
    ("text", "codec", "declared", "expected"),
    [
        (SIMPLIFIED, "gb18030", "gb2312", True),
        ("欧阳建国", "gb18030", "gb2312", True),
        (JAPANESE, "cp932", "iso-8859-1", False),
        ("長谷川さん", "iso2022_jp", "us-ascii", False),
        (FRENCH, "cp1252", "windows-1252", True),
    ],
)
def test_a_declared_encoding_is_believed_unless_the_letters_belie_it(
    text: str, codec: str, declared: str, expected: bool
) -> None:
    assert is_likely(text.encode(codec), declared) is expected
