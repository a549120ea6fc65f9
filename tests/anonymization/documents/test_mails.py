"""Mails keep their charset, their folds, their parts and the names of their messages."""

from __future__ import annotations

import base64
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message

import pytest

from anonymization.documents.contracts import Refusal
from anonymization.documents.document import mask_bytes
from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.masker import Masker


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    config = DetectionConfig(english_model="", chinese_model="", japanese_model="")
    return TextDetector(at_level(config, MaskingLevel.STRICT))


def masked(detector: TextDetector, data: bytes, name: str) -> bytes:
    masker = Masker(detector, b"m" * 32, Mode.SURROGATE, "mails")
    result = mask_bytes(data, name, masker)
    assert result.report.refusal is None
    return result.data


HEAD = (
    b"Return-Path: <mirela@tolnava.org>\nMessage-ID: <1@tolnava.org>\n"
    b"Received: from gate.tolnava.org (gate.tolnava.org [91.203.107.93])\n"
    b"\tby mx.tolnava.org with SMTP\n        for <mirela@tolnava.org>;\n"
    b"\tMon, 4 Mar 2019 10:00:00 +0100\n"
)


def subject(data: bytes) -> str:
    return str(make_header(decode_header(str(message_from_bytes(data)["Subject"]))))


def test_raw_bytes_of_a_subject_stay_readable(detector: TextDetector) -> None:
    raw = "Subject: 配送エラー通知 mirela@tolnava.org\n".encode()
    new = masked(detector, HEAD + raw + b"\nhello\n", "x.eml")
    line = next(line for line in new.decode().splitlines() if line.startswith("Subject"))
    assert line.startswith("Subject: 配送エラー通知 ") and "tolnava" not in new.decode()


@pytest.mark.parametrize("charset", ["iso-2022-jp", "utf-8"])
def test_encoded_words_keep_their_charset(detector: TextDetector, charset: str) -> None:
    word = base64.b64encode("猫の写真 mirela@tolnava.org".encode(charset)).decode()
    head = HEAD + f"Subject: =?{charset}?B?{word}?=\n\nhello\n".encode()
    new = masked(detector, head, "x.eml")
    assert f"=?{charset}?b?".encode() in new.lower()
    assert subject(new).startswith("猫の写真 ") and "tolnava" not in subject(new)


def test_folds_of_a_header_and_a_missing_end_stay(detector: TextDetector) -> None:
    body = b'Content-Type: multipart/mixed; boundary="zz"\n\n--zz\nContent-Type: text/plain\n\nhi\n'
    new = masked(detector, HEAD + body, "x.eml")
    lines = new.decode().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("Received"))
    assert lines[at + 1].startswith("\tby mx.") and lines[at + 2].startswith("        for <")
    assert "--zz--" not in new.decode() and "tolnava" not in new.decode()


def test_a_mail_without_an_ending_is_one_and_its_base64_stays_whole(
    detector: TextDetector,
) -> None:
    text = "今天的订单请联系 mirela@tolnava.org 谢谢。" * 9
    part = base64.encodebytes(text.encode("gb2312"))
    head = b'Content-Type: text/plain; charset="gb2312"\nContent-Transfer-Encoding: base64\n\n'
    new = message_from_bytes(masked(detector, HEAD + head + part, "spam_7"))
    assert isinstance(new, Message) and new["Content-Transfer-Encoding"] == "base64"
    payload = new.get_payload(decode=True)
    assert isinstance(payload, bytes)
    shown = payload.decode("gb2312")
    assert shown.count("今天的订单请联系 ") == 9 and "tolnava" not in shown


def test_the_line_before_a_mail_of_a_mailbox_moves_with_its_date(detector: TextDetector) -> None:
    box = b"From mirela@tolnava.org Mon Mar 4 10:00 CET 2019\nDate: Mon, 4 Mar 2019 10:00 +0100\n"
    new = masked(detector, box + HEAD + b"\nhello\n", "box_7").decode().splitlines()
    words = new[0].split()
    date = new[1].split()
    assert words[0] == "From" and [words[4], words[3], words[-1]] == date[2:5]
    assert words[-1] != "2019"


def test_a_queue_id_stays_in_the_name_of_its_message(detector: TextDetector) -> None:
    log = "postfix/cleanup[9]: 4F17A2C0: message-id=<20190304100000.4F17A2C0@box3.localdomain>\n"
    (new,) = Masker(detector, b"m" * 32, Mode.SURROGATE, "s").mask_texts([log])
    assert ".4F17A2C0@" in new and "4F17A2C0: " in new and "20190304100000" not in new


def test_a_header_of_endless_parameters_is_refused(detector: TextDetector) -> None:
    parameters = b"".join(b"; p%d=mirela@tolnava.org" % number for number in range(200))
    data = HEAD + b"Content-Type: text/plain" + parameters + b"\n\nhello\n"
    result = mask_bytes(data, "x.eml", Masker(detector, b"m" * 32, Mode.SURROGATE, "mails"))
    assert result.report.refusal is Refusal.TOO_LARGE
