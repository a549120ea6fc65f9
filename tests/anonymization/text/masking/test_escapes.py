"""Names in hexadecimal, escapes, packed text, identifiers and reserved places: masked in place."""

from __future__ import annotations

import base64
import gzip
import json

import pytest

from anonymization.documents.document import _mask_text
from anonymization.text.contracts import DetectionConfig, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.masker import Masker

_DETECTOR = TextDetector(DetectionConfig())


def masked(text: str, name: str = "note.txt") -> str:
    masker = Masker(_DETECTOR, bytes(32), Mode.SURROGATE, "scope")
    return _mask_text(text.encode(), name, masker).data.decode()


@pytest.mark.parametrize(
    "written",
    [
        b"Customer Margaret Ellsworth".hex(),
        b"Customer Margaret Ellsworth".hex().upper(),
        "owner=\\u6c6a\\u6668\\u66e6",
        "b'\\xe6\\xb1\\xaa\\xe6\\x99\\xa8\\xe6\\x9b\\xa6'",
        '"\\346\\261\\252\\346\\231\\250\\346\\233\\246.txt"',
    ],
)
def test_escaped_names_are_replaced_by_escapes(written: str) -> None:
    new = masked(f"value {written}\n")
    assert written not in new
    assert len(new.encode().decode("ascii")) > len("value \n")


def test_digests_and_escapes_without_names_stay() -> None:
    text = "sha 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 \\u4f60\\u597d\n"
    assert masked(text) == text


def test_packed_text_in_base64_is_masked_and_still_opens() -> None:
    packed = base64.b64encode(gzip.compress(b"Ask Margaret Ellsworth about the plan.", mtime=0))
    new = json.loads(masked(json.dumps({"body": packed.decode()}), "x.json"))["body"]
    opened = gzip.decompress(base64.b64decode(new)).decode()
    assert opened.startswith("Ask ")
    assert opened.endswith(" about the plan.")
    assert "Ellsworth" not in opened


def test_a_known_name_inside_identifiers_keeps_their_form() -> None:
    text = (
        "Ask Margaret Ellsworth.\n\ndef mail_margaret_ellsworth(): ...\nMargaretEllsworthReport\n"
    )
    new = masked(text, "notes.md")
    assert "argaret" not in new
    assert "llsworth" not in new
    assert new.splitlines()[3].endswith("Report")
    assert " " not in new.splitlines()[3]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[12/05/24, 10:11:09] Mirelle Ostrava: are you in?\n", "Mirelle Ostrava"),
        ("<v Fionn Okoro-Hale>We ship Friday.\n", "Fionn Okoro-Hale"),
        ("  author = {Ragnarsdottir, Elin and Vantreek, Piet},\n", "Vantreek, Piet"),
        ("\\author{Araminta Holtby\\thanks{none}}\n", "Araminta Holtby"),
        ("machine ftp.acme.io login bperrakis password x\n", "bperrakis"),
        ("# TODO(jwyndhamm): fix\n", "jwyndhamm"),
        ("CREATE USER 'lbrennagan'@'%';\n", "lbrennagan"),
        ("CREATE USER 'x'@'%' IDENTIFIED BY 'Moss&Fern22';\n", "Moss&Fern22"),
        ("smtp.pass = Cedar+Pine8\n", "Cedar+Pine8"),
        ("Host b\n  HostName bastion.acmeforge.internal\n", "bastion.acmeforge.internal"),
        ("total 4\n-rw-r--r-- 1 a b 120 May 2 10:11 Offer_Leontine_Marsh.pdf\n", "Leontine_Marsh"),
        ("SHIP TO: 22 HARBOUR ROAD, WHITBY\n", "22 HARBOUR ROAD"),
        ('ROLES = ["经办", "申屠晓敏", "裴若曦"]\n', "裴若曦"),
    ],
)
def test_what_a_notation_reserves_for_a_person_is_masked(text: str, value: str) -> None:
    assert value in text
    assert value not in masked(text)
