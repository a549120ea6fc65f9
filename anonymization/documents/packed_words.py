"""Words inside base64, hexadecimal digits and percent escapes: what a run decodes to, if a text.

Masking opens long base64 and escapes by itself. What it does not open is shown decoded, so that
the owner sees it; a word decided to be private that still stands there keeps its file out.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from data.text.scripts import HAN_KANA

_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?((?:[0-9a-fA-F]{2}){4,2000})(?![0-9A-Za-z])")
_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/=_-])(?=[A-Za-z0-9+/_=-]{8})(?:[A-Za-z0-9+/_-]{6,10}={1,2}|[A-Za-z0-9+/_-]{11,4000}={0,2})"
    r"(?![A-Za-z0-9+/=_-])"
)
_BREAKS = re.compile(r"[\r\n\t]+")
_EASTERN = re.compile(f"(?=.*[{HAN_KANA}]{{2}})[{HAN_KANA}\\w ,.:;!?，。、：]{{3,}}")
_WORDS = re.compile(r"[^\W_]{3}")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2}|[+_.-](?=%)){4,2000}")
_LEFT_OVER = 4  # characters of a group of base64
_FEWEST = 6  # characters of a decoded text; shorter ones are texts by chance


def packed_texts(text: str) -> Iterator[str]:
    """The texts that runs of digits, of base64 and of percent escapes in a text decode to."""
    for match in _PERCENT.finditer(text):
        yield from _as_text(unquote_to_bytes(match.group()))
    for match in _HEX.finditer(text):
        yield from _as_text(bytes.fromhex(match[1]))
    for match in _BASE64.finditer(text):
        run = match.group().rstrip("=")
        decode = urlsafe_b64decode if {"-", "_"} & set(run) else b64decode
        try:
            yield from _as_text(decode(run + "=" * (-len(run) % _LEFT_OVER)))
        except binascii.Error:
            continue


def _as_text(data: bytes) -> Iterator[str]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return
    plain = _BREAKS.sub(" ", text).strip()
    if text.isascii():
        is_text = len(plain) >= _FEWEST and _WORDS.search(plain) is not None
    else:
        is_text = _EASTERN.fullmatch(plain) is not None
    if is_text and plain.isprintable():
        yield plain
