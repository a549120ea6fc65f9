"""The leak scan finds values in other spellings, in whatever form the text around them is."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import zlib
from collections.abc import Callable
from urllib.parse import quote

import pytest

from anonymization.leaks.contracts import LeakConfig, PrivateValue
from anonymization.leaks.leak_patterns import LeakPatterns, undone
from anonymization.leaks.scan import scan_bytes

CONFIG = LeakConfig()
PATTERNS = LeakPatterns(
    [
        PrivateValue("Oriane Vasquez", "PERSON"),
        PrivateValue("欧阳明远", "PERSON"),
        PrivateValue("13800138000", "PHONE"),
        PrivateValue("88213907", "identifier"),
        PrivateValue("Kelder Wire 77", "tripwire"),
        PrivateValue("020 7946 0958 44", "tripwire"),
    ],
    b"k" * 32,
    CONFIG,
)
AROUND: dict[str, Callable[[str], bytes]] = {
    "raw": lambda text: text.encode(),
    "json": lambda text: json.dumps({"a": text}).encode(),
    "percent": lambda text: f"https://x.example/?q={quote(text, safe='')}".encode(),
    "html": lambda text: "".join(f"&#{ord(char)};" for char in text).encode(),
    "markup": lambda text: f"<p>{html.escape(text[:3])}<b>{html.escape(text[3:])}</b></p>".encode(),
    "utf16": lambda text: text.encode("utf-16"),
    "gzip": lambda text: gzip.compress(text.encode()),
    "base64": lambda text: base64.b64encode((text + " " * 200).encode()),
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("vasquez, oriane", "PERSON"),
        ("Oriane_Vasquez", "PERSON"),
        ("Oriane\u00a0Vasquez", "PERSON"),
        ("欧 阳 明 远", "PERSON"),
        ("欧阳\u200b明远", "PERSON"),
        ("+86 138-0013-8000", "PHONE"),
        ("８８２１３９０７", "identifier"),
        ("kelder\u00adwire 77", None),
        ("Kelder Wire\u2060 77", "tripwire"),
        ("02079460958-44", "tripwire"),
    ],
)
def test_spellings_are_found_in_every_form(text: str, kind: str | None, around: str) -> None:
    leaks = scan_bytes("file", AROUND[around](text), PATTERNS, CONFIG)
    assert {leak.kind for leak in leaks} == ({kind} if kind else set())
    assert all(leak.encoding.endswith("other_spelling") for leak in leaks)


def test_numbers_in_columns_are_no_identifier() -> None:
    for text in (b"882,139,07", b"882 139 07", b"8821.3907", b"882\t13907", b"8821\n3907"):
        assert scan_bytes("file", text, PATTERNS, CONFIG) == []


def test_two_rows_are_no_name() -> None:
    rows = b"<row><c>Oriane</c></row><row><c>Vasquez</c></row>"
    for data in (rows, b"Oriane\nVasquez\n", b"7,Oriane\nVasquez,8"):
        assert scan_bytes("file", data, PATTERNS, CONFIG) == []


def test_a_value_as_it_stands_is_told_once() -> None:
    patterns = LeakPatterns([PrivateValue("+44 20 7946 0555", "PHONE")], b"k" * 32, CONFIG)
    (leak,) = scan_bytes("file", b"call +44 20 7946 0555.", patterns, CONFIG)
    assert (leak.encoding, leak.offset, leak.count) == ("raw", 5, 1)
    (leak,) = scan_bytes("file", b"call 020 7946 0555.", patterns, CONFIG)
    assert (leak.encoding, leak.offset, leak.count) == ("other_spelling", 6, 1)


def _base32(text: str) -> str:
    return base64.b32encode(text.encode()).decode().rstrip("=")


_CYRILLIC = str.maketrans("aeoO", "аеоО")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Oriane Vasquez".translate(_CYRILLIC), "look_alike"),
        ("Ori\u00e1ne V\u00e4squez", "look_alike"),
        ("Oria\u0301ne Vasquez", "look_alike"),
        ("Κelder Wire 77", "look_alike"),
        (_base32("by Oriane Vasquez"), "base32"),
        (_base32("Kelder Wire 77"), "base32"),
        ("id,first,last\n7,Oriane,Vasquez\n", "cells"),
        ('"7","Vasquez","Oriane"', "cells>other_spelling"),
        ("7\tOriane\tVasquez", "cells"),
        ('{"given": "Oriane", "family": "Vasquez"}', "cells"),
        ("ask Bevnar Infdhrm again", "rot13"),
        ("zeuqsaV enairO", "reversed"),
        ("O r i a n e  V a s q u e z signed", "spaced>other_spelling"),
        (base64.b64encode(gzip.compress(b"Oriane Vasquez", mtime=0)).decode(), "raw"),
        (base64.urlsafe_b64encode(zlib.compress(b"Oriane Vasquez", 9)).decode(), "raw"),
        (base64.b64encode(zlib.compress(b"Oriane Vasquez", 1)).decode().rstrip("="), "raw"),
    ],
)
def test_disguises_are_undone(text: str, form: str) -> None:
    leaks = scan_bytes("file", f"said: {text} and more".encode(), PATTERNS, CONFIG)
    assert form in {leak.encoding for leak in leaks}


def test_a_mail_address_said_in_words_is_found() -> None:
    mail = [PrivateValue("oriane.vasquez@kelder.example", "EMAIL")]
    patterns = LeakPatterns(mail, b"k" * 32, CONFIG)
    said = b"write to oriane dot vasquez at kelder dot example please"
    assert [leak.encoding for leak in scan_bytes("file", said, patterns, CONFIG)] == ["spoken"]


@pytest.mark.parametrize(
    "text",
    [
        "Orientation, Vasquez",  # another first name
        "eJwrongbase64butnozlibdata",
        "MFRGGZDFMZTWQ2LK",  # base32 of something else
        "Ориане Васкес",  # the name in Russian is another word
    ],
)
def test_what_only_looks_like_a_disguise_is_none(text: str) -> None:
    assert not scan_bytes("file", text.encode(), PATTERNS, CONFIG)


def test_what_is_cut_off_around_an_escape_ends_with_a_whole_word() -> None:
    comma = re.compile(rb"(?<=\d),(?=\w)")
    row = b"B000112233,E000076286 and more" + b"." * 30
    assert undone(row, comma, lambda _: b" ", 6) == b"\nB000112233 E000076286"
    far = b"." * 30 + row + row
    assert undone(far, comma, lambda _: b" ", 6).split(b"\n")[1:] == [
        b"B000112233 E000076286",
        b"B000112233 E000076286",
    ]


@pytest.mark.parametrize(
    ("text", "is_leak"),
    [
        ("the filer E04512 reports", True),
        ("E04512, Amber Works", True),
        ("E045123347,Amber Works", False),  # a pseudonym that begins as the code does
        ("E045123347\nAmber,Works", False),
    ],
)
def test_a_short_code_is_no_part_of_a_longer_one(text: str, is_leak: bool) -> None:
    patterns = LeakPatterns([PrivateValue("E04512", "identifier")], b"k" * 32, CONFIG)
    assert bool(list(scan_bytes("t.csv", text.encode(), patterns, CONFIG))) is is_leak
