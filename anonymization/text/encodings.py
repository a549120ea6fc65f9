"""In which encoding a text file is written: one that returns the same bytes, or none.

Text that is read in a wrong encoding is masked blindly, for no name in it is a name. So what is not
UTF-8 has to be recognised by its letters: exactly one encoding must yield letters that are common
in its language. What no encoding or several explain is read in none of them, and refused.
"""

from __future__ import annotations

import codecs
import re

from data.text.lexicon import load_table
from data.text.scripts import KANA

_BOMS = ((b"\xff\xfe\x00\x00", "utf-32-le"), (b"\x00\x00\xfe\xff", "utf-32-be"),
         (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))  # fmt: skip
_STRAY = 0.01  # share of bytes that are not UTF-8, up to which a text still counts as UTF-8
_FOREIGN = re.compile(rb"[\x80-\xff]+")
# A character that was cut leaves one run of such bytes, a line in another encoding several.
_FOREIGN_LINE = re.compile("[\udc80-\udcff][^\n\udc80-\udcff]+[\udc80-\udcff]")
_INSIDE = re.compile("[\udc80-\udcff][A-Za-z]")  # no character that was cut: a letter follows
# One or two such bytes that touch no letter: no name is written in them.
_LONE = re.compile(
    "(?s)[^\udc80-\udcff]*(?<![A-Za-z])[\udc80-\udcff]{1,2}(?![A-Za-z])[^\udc80-\udcff]*"
)
_KANA, _KANA_SHARE = (b"\x81", b"\x82", b"\x83", b"\x84"), 0.3
_UNICODE = ("utf-", "gb18030")
_COMMON = load_table(__package__, "letters.toml")  # letters by language
_LETTERS: tuple[tuple[str, frozenset[str], str, float], ...] = (
    ("gb18030", frozenset(_COMMON["simplified"]), "", 0.3),
    ("big5hkscs", frozenset(_COMMON["traditional"]), "", 0.3),
    ("cp932", frozenset(_COMMON["japanese"]), "ぁ-ゖァ-ヺ", 0.45),
    ("euc_jp", frozenset(_COMMON["japanese"]), "ぁ-ゖァ-ヺ", 0.45),
    ("euc_kr", frozenset(_COMMON["korean"]), "", 0.3),
    ("cp1251", frozenset(_COMMON["cyrillic"]), "", 0.7),
    ("koi8_r", frozenset(_COMMON["cyrillic"]), "", 0.7),
)
_FAMILIES = {"gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs", "shift_jis": "cp932",
             "euc_kr": "euc_kr", "cp949": "euc_kr"}  # fmt: skip
_ZEROS = 20  # bytes per zero byte, at most, in UTF-16
_FEWEST, _MARGIN = 4, 1.6  # letters that decide, and how much better one must be than the next
_FEW_KANA, _SMALL = 0.1, 0.7
_OF_KANA = re.compile(f"[{KANA}]")
# Signs that stand among letters in Western texts; others there are letters of another encoding.
_SIGN = re.compile(
    r"(?<=[^\W\d_])[¡¢£¤¥¦¨ª¬¯±²³´µ¶¸¹º¼½¾¿†‡ˆ‰‹›](?=[^\W\d_])"
    r"|[\x80-\x9f]|£[^\W\d_]{2}|[^\W\d_]{3}[³¹¿]"
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
# Han in seven bits: ISO-2022 (JP, KR, CN) and HZ.
_SEVEN_BITS = re.compile(rb"\x1b\$[()]?[@-DG]|~\{[!-~]{2,400}~\}")


def encoding_of(data: bytes) -> str | None:
    """The encoding that returns the same bytes; None if the data is not text, or none is sure."""
    for bom, codec in _BOMS:
        if data.startswith(bom):
            return codec if _returns(data, codec) else None
    if b"\0" in data:
        return None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return _legacy(data)
    return None if _SEVEN_BITS.search(data) else "utf-8"


def is_unsure(data: bytes) -> bool:
    """Is data for which no encoding is sure a text all the same, rather than binary?"""
    head = data[:4096]
    return _CONTROL.search(head) is None or _is_wide(head)


def is_likely(data: bytes, declared: str) -> bool:
    """Can data be in the declared encoding, though its letters alone would not prove it?

    Then no other encoding fits its letters, and letters of Western Europe have no signs among them.
    """
    codec = codecs.lookup(declared).name
    if codec == "ascii":
        return False
    scores = {letters[0]: _score(data, *letters) for letters in _LETTERS}
    family = _FAMILIES.get(codec, codec)
    if any(score for name, score in scores.items() if name != family):
        return False
    if family in scores:
        return _returns(data, codec)
    is_west = codec.startswith(("iso8859", "cp125", "latin", "mac"))
    return not is_west or _western(data) is not None


def _is_wide(head: bytes) -> bool:
    """Do zeros stand at every second byte, as in UTF-16 without a byte order mark?"""
    at_even, at_odd = head[0::2].count(0), head[1::2].count(0)
    few, many = sorted((at_even, at_odd))
    is_text = _CONTROL.search(head.replace(b"\0", b"")) is None
    return is_text and many >= _FEWEST and _ZEROS * many > len(head) and _FEWEST * few < many


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
        if _FOREIGN_LINE.search(text):
            return None
        if _INSIDE.search(text) is None:
            return "utf-8"
    codec = _western(data) or _by_letters(data)
    return "utf-8" if codec is None and _LONE.fullmatch(text) else codec


def _by_letters(data: bytes) -> str | None:
    """The one encoding whose language has such letters; None if none or several have."""
    scores = sorted(((_score(data, *letters), letters[0]) for letters in _LETTERS), reverse=True)
    (best, codec), (second, _) = scores[:2]
    return codec if best > 0 and best >= _MARGIN * second and _returns(data, codec) else None


def _score(data: bytes, codec: str, common: frozenset[str], phonetic: str, fewest: float) -> float:
    """How far above its limit the share of common letters is; 0 below it."""
    try:
        text = data.decode(codec)
    except UnicodeDecodeError:
        return 0
    foreign = [char.lower() for char in text if char > "\x7f" and char.isalpha()]
    sounds = re.compile(f"[{phonetic}]") if phonetic else None
    hits = sum(char in common or bool(sounds and sounds.match(char)) for char in foreign)
    kana = sum(bool(_OF_KANA.match(char)) for char in foreign)
    if _COMMON["cyrillic"][0] in common and sum(map(_is_small, text)) < _SMALL * len(foreign):
        return 0  # a wrong encoding mixes small letters and capitals
    if hits < _FEWEST or hits < fewest * len(foreign) or (not phonetic and kana > _FEW_KANA * hits):
        return 0
    return hits / len(foreign) / fewest


def _is_small(char: str) -> bool:
    return char > "\x7f" and char.islower()


def _western(data: bytes) -> str | None:
    """Latin-1 or Windows-1252, if foreign letters stand among ASCII ones as accents do.

    So do kana of Shift JIS, but behind bytes that are hardly a letter in Western Europe.
    """
    runs = _FOREIGN.findall(data)
    alone = [run for run in runs if len(run) == 1]
    kana = sum(run in _KANA for run in alone)
    if 2 * len(alone) < sum(map(len, runs)) or kana > _KANA_SHARE * len(alone):
        return None
    for codec in ("latin-1", "cp1252"):
        if _returns(data, codec) and _SIGN.search(data.decode(codec)) is None:
            return codec
    return None


def _returns(data: bytes, codec: str) -> bool:
    try:
        return data.decode(codec).encode(codec) == data
    except UnicodeError:
        return False
