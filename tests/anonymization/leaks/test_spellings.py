"""The leak scan finds values in other spellings, in whatever form the text around them is."""

from __future__ import annotations

import base64
import gzip
import html
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest

from anonymization.leaks.contracts import LeakConfig, PrivateValue
from anonymization.leaks.leak_patterns import LeakPatterns
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


def test_two_cells_are_no_name() -> None:
    rows = b"<row><c>Oriane</c><c>Vasquez</c></row>"
    for data in (rows, b"Oriane\nVasquez\n", b"Oriane\tVasquez", b'"Oriane","Vasquez"'):
        assert scan_bytes("file", data, PATTERNS, CONFIG) == []


def test_a_value_as_it_stands_is_told_once() -> None:
    patterns = LeakPatterns([PrivateValue("+44 20 7946 0555", "PHONE")], b"k" * 32, CONFIG)
    (leak,) = scan_bytes("file", b"call +44 20 7946 0555.", patterns, CONFIG)
    assert (leak.encoding, leak.offset, leak.count) == ("raw", 5, 1)
    (leak,) = scan_bytes("file", b"call 020 7946 0555.", patterns, CONFIG)
    assert (leak.encoding, leak.offset, leak.count) == ("other_spelling", 6, 1)
