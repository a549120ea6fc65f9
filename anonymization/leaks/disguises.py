"""Forms in which people hide or split a value: look-alike letters, `at` and `dot`, base32, single
letters, cells and fields.

They are rarer than the escapes of file formats, so each is only undone where its signs stand.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b32decode
from collections.abc import Iterator

from anonymization.leaks.contracts import Encoding
from anonymization.leaks.views import undone

# Letters of other alphabets with the Latin letters that they look like (Unicode TR 39, the
# confusables of Latin letters among Cyrillic and Greek ones).
_CYRILLIC = "аАВсСеЕНіІјЈкКМоОрРѕЅТхХуУԁԛԝһ"
_AS_CYRILLIC = "aABcCeEHiIjJkKMoOpPsSTxXyYdqwh"
_GREEK = "αΑΒΕΖΗΙΚΜΝοΟρΡΤυΥΧνι"
_AS_GREEK = "aABEZHIKMNoOpPTuYXvi"
_ALIKE = str.maketrans(_CYRILLIC + _GREEK, _AS_CYRILLIC + _AS_GREEK)
# Runs of UTF-8 for U+00C0 to U+052F and U+1E00 to U+1EFF.
_LETTERS = re.compile(rb"(?:[\xc3-\xd4][\x80-\xbf]|\xe1[\xb8-\xbb][\x80-\xbf])+")
_SPOKEN = re.compile(rb"(?i)[ \t]+(at|dot)[ \t]+")
_SIGNS = {b"at": b"@", b"dot": b"."}
_BASE32 = re.compile(rb"(?<![A-Za-z0-9+/=])[A-Z2-7]{12,}(?![A-Za-z0-9+/])")
# Between two letters; it begins with a look at the sign itself, which keeps the search fast.
_CELL_END = re.compile(
    rb"(?=[\"',;\t|])(?<=[A-Za-z\x80-\xff])[\"']?[,;\t|][\"']?(?=[A-Za-z\x80-\xff])"
)
# Between two values of neighbouring fields of a record in JSON.
_FIELD_END = re.compile(
    rb"(?<=[A-Za-z\x80-\xff])\\{0,3}\"\s{0,4},\s{0,40}\\{0,3}\"[\w .-]{1,40}\\{0,3}\"\s{0,4}:"
    rb"\s{0,4}\\{0,3}\"(?=[A-Za-z\x80-\xff])"
)
_SPACED = re.compile(rb"(?<![A-Za-z0-9])(?:[A-Za-z0-9] ){4,60}[A-Za-z0-9](?![A-Za-z0-9])")
_JOINT = b"\0,"  # stands for the end of a cell until it becomes a blank, or a comma and a blank


def disguises(data: bytes, reach: int) -> Iterator[tuple[Encoding, bytes]]:
    """The forms of a layer with disguises of one kind undone, if it has their signs.

    As in `views`, only text within `reach` bytes of a sign is kept.
    """
    if plain := undone(data, _LETTERS, _plain_letters, reach):
        yield Encoding.LOOK_ALIKE, plain
    if b" dot " in data or b" DOT " in data or b" Dot " in data:
        yield Encoding.SPOKEN, undone(data, _SPOKEN, _sign, reach)
    if runs := _BASE32.findall(data):
        yield Encoding.BASE32, b"\n".join(map(_of_base32, runs))
    if b'"' in data and (joined := undone(data, _FIELD_END, lambda _: _JOINT, reach)):
        yield Encoding.CELLS, joined.replace(_JOINT, b" ")
        yield Encoding.CELLS, joined.replace(_JOINT, b", ")
    if plain := undone(data, _SPACED, _closed, reach):
        yield Encoding.SPACED, plain
    if joined := undone(data, _CELL_END, lambda _: _JOINT, reach):
        yield Encoding.CELLS, joined.replace(_JOINT, b" ")
        yield Encoding.CELLS, joined.replace(_JOINT, b", ")


def _closed(run: re.Match[bytes]) -> bytes:
    return run.group().replace(b" ", b"")


def _sign(word: re.Match[bytes]) -> bytes:
    return _SIGNS[word[1].lower()]


def _plain_letters(run: re.Match[bytes]) -> bytes:
    """Look-alikes as Latin letters, and letters without their accents."""
    text = run.group().decode("utf-8", "replace").translate(_ALIKE)
    parts = unicodedata.normalize("NFD", text)
    return "".join(char for char in parts if not unicodedata.combining(char)).encode()


def _of_base32(run: bytes) -> bytes:
    """What whole groups of eight digits and the rest of the run stand for."""
    whole = len(run) // 8 * 8
    rest = run[whole:]
    usable = {2, 4, 5, 7}
    while rest and len(rest) not in usable:
        rest = rest[:-1]
    return b32decode(run[:whole]) + (b32decode(rest + b"=" * (8 - len(rest))) if rest else b"")
