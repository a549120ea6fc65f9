"""In which encoding a text file is written: one that returns the same bytes, or none.

Text that is read in a wrong encoding is masked blindly, for no name in it is a name. So what is not
UTF-8 has to be recognised by its letters (charset-normalizer); what is not recognised is no text.
"""

from __future__ import annotations

import re

from charset_normalizer import from_bytes

from data.text.scripts import count_han

_BOMS = ((b"\xff\xfe\x00\x00", "utf-32-le"), (b"\x00\x00\xfe\xff", "utf-32-be"),
         (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))  # fmt: skip
_STRAY = 0.01  # share of bytes that are not UTF-8, up to which a text still counts as UTF-8
_FOREIGN = re.compile(rb"[\x80-\xff]+")
# A character that was cut leaves one run of such bytes, a line in another encoding several.
_FOREIGN_LINE = re.compile("[\udc80-\udcff][^\n\udc80-\udcff]+[\udc80-\udcff]")
_HANJA = 0.1  # share of what is not ASCII
_KANA, _KANA_SHARE = (b"\x81", b"\x82", b"\x83", b"\x84"), 0.3
# In which letters take two bytes, or in which no letter is a Latin one.
_WIDE = ["gb18030", "big5hkscs", "cp932", "euc_jp", "euc_kr", "cp1251", "koi8_r"]
_UNICODE = ("utf-", "gb18030")


def encoding_of(data: bytes) -> str | None:
    """The encoding that returns the same bytes; None if the data is not text."""
    for bom, codec in _BOMS:
        if data.startswith(bom):
            return codec if _returns(data, codec) else None
    if b"\0" in data:
        return None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return _legacy(data)
    return "utf-8"


def writable(text: str, encoding: str) -> str:
    """The text with a question mark for each character that the encoding lacks."""
    if encoding.startswith(_UNICODE):
        return text
    return text.encode(encoding, "replace").decode(encoding)


def _legacy(data: bytes) -> str | None:
    text = data.decode("utf-8", "surrogateescape")
    stray = sum("\udc80" <= char <= "\udcff" for char in text)
    wide_chars = sum(char > "\x7f" for char in text) - stray
    if stray <= max(_STRAY * len(data), wide_chars):
        return None if _FOREIGN_LINE.search(text) else "utf-8"
    if _is_western(data):
        return "latin-1"
    best = from_bytes(data, cp_isolation=_WIDE).best()
    if best and best.encoding == "euc_kr" and _mixes(data.decode("euc_kr", "replace")):
        return "gb18030" if _returns(data, "gb18030") else None
    return best.encoding if best and _returns(data, best.encoding) else None


def _mixes(korean: str) -> bool:
    """Are there more Chinese characters than in Korean? Then a short Chinese text was misread."""
    return count_han(korean) > _HANJA * sum(not char.isascii() for char in korean)


def _is_western(data: bytes) -> bool:
    """Do most foreign letters stand alone among ASCII ones, as accents and umlauts do?

    So do kana of Shift JIS, but behind bytes that are hardly a letter in Western Europe.
    """
    runs = _FOREIGN.findall(data)
    alone = [run for run in runs if len(run) == 1]
    kana = sum(run in _KANA for run in alone)
    return 2 * len(alone) >= sum(map(len, runs)) and kana <= _KANA_SHARE * len(alone)


def _returns(data: bytes, codec: str) -> bool:
    try:
        return data.decode(codec).encode(codec) == data
    except UnicodeError:
        return False
