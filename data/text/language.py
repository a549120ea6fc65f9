"""The language of a text: scripts decide where they can, the CLD2 library decides the rest.

CLD2 (the `pycld2` wheel, 14 MB with its tables) was compared with lingua, py3langid and CLD3 on
short requests: it was right most often on English full of names and file names, is integer
arithmetic (the same answer on every machine), takes 25 µs a text and 16 MB of memory; lingua
took 8 ms and a gigabyte. It sees letters only: no control characters, no markup, no code.
"""

from __future__ import annotations

import re

import pycld2
import regex

from data.text.scripts import HAN, HANGUL, KANA

MIXED = "mul"  # BCP 47: several languages
UNDETERMINED = "und"  # BCP 47: what a record holds where `language_of` gives None

_CODE_OR_URL = re.compile(r"```[^`]*```|`[^`\n]*`|https?://[^\s<>\"，。；）]+")
_ASCII_TOKEN = re.compile(r"[A-Za-z0-9_./\\~-]+")
# Names of files and identifiers, calls and assignments: a detector takes them for some language.
_CODE_IN_TOKEN = re.compile(r"\w\.\w|[a-z][A-Z]|[_\d=(){}\[\]<>@#$\\/|]")
_HAN = re.compile(f"[{HAN}]")
_KANA = re.compile(f"[{KANA}]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_OTHER = re.compile(rf"[\u0370-\u10ff\u1200-\u1fff{HANGUL}]+")
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}'’]*")

_JAPANESE_KANA = 0.1  # kana among kana and Han: Chinese text holds next to none
_SHARE = 0.7  # of all units; below it no script stands for the whole text
_LONGEST = 20_000  # characters; more of a text tell nothing new about its language
_FEWEST_WORDS, _FEWEST_LETTERS = 2, 8  # a single word may be a name, or a word of many languages
_SURE_WORDS = 3  # a language other than English needs so many
# Small languages that a short text in a large one is often taken for: Afrikaans for Dutch,
# Serbian for Russian. They are believed in longer texts only.
_LOOK_ALIKES = frozenset(
    (
        *("af", "be", "bg", "bs", "ca", "co", "eo", "fy", "gd", "gl", "gv", "ht"),
        *("ia", "ie", "kk", "ky", "la", "lb", "mg", "mk", "mn", "nn", "oc", "rm", "rw"),
        *("sn", "so", "sr", "st", "tg", "tt", "uk", "vo", "wo", "xh", "yo", "zu"),
    )
)
_LONG_ENOUGH = 120  # letters
_OLD_CODES = {"iw": "he", "jw": "jv", "in": "id", "no": "nb", "zh-Hant": "zh", "xx": ""}


def language_of(text: str) -> str | None:
    """ISO 639-1 code of the language of a text, `mul` for a mixture of scripts, None if unknown.

    Code, URLs, paths and file names do not count. A Han or kana character counts as much as a
    word of another script. None where there is too little prose to tell: no words, a single
    word, or words that could be of several languages.
    """
    han, kana, latin, other = _counts(text)
    eastern = han + kana
    total = eastern + latin + other
    if not total:
        return None
    if eastern / total >= _SHARE:
        is_japanese = kana / eastern >= _JAPANESE_KANA or (not kana and _is_kanji(text))
        return "ja" if is_japanese else "zh"
    if latin / total >= _SHARE or other / total >= _SHARE or not eastern:
        return _detected(text)
    return MIXED


def leading_language(text: str) -> str:
    """The language to address the writer of `text` in: `zh`, `ja`, otherwise `en`.

    It decides by scripts alone: forms of address exist in these three languages only.
    """
    if text.isascii():
        return "en"
    han, kana, latin, other = _counts(text)
    if han + kana <= latin + other:
        return "en"
    return "ja" if kana >= _JAPANESE_KANA * (han + kana) else "zh"


def _counts(text: str) -> tuple[int, int, int, int]:
    """Han characters, kana, Latin words and other words, without code, URLs and paths."""
    prose = _prose(text)
    if prose.isascii():
        return 0, 0, len(_LATIN.findall(prose)), 0
    han, kana, latin, other = (len(s.findall(prose)) for s in (_HAN, _KANA, _LATIN, _OTHER))
    return han, kana, latin, other


def _prose(text: str) -> str:
    prose = _CODE_OR_URL.sub(" ", text)
    if "/" in prose or "\\" in prose:
        prose = _ASCII_TOKEN.sub(lambda token: " " if _is_path(token[0]) else token[0], prose)
    return prose


def _is_path(token: str) -> bool:
    return "/" in token or "\\" in token


def _is_kanji(text: str) -> bool:
    """Is every Han character in use in Japan, and some in Japan only (売, 駅, 営)?"""
    han = frozenset(_HAN.findall(text[:_LONGEST]))
    return all(_encodes(char, "shift_jis") for char in han) and not all(
        _encodes(char, "gb2312") or _encodes(char, "big5") for char in han
    )


def _encodes(char: str, codec: str) -> bool:
    try:
        char.encode(codec)
    except UnicodeEncodeError:
        return False
    return True


def _detected(text: str) -> str | None:
    """What CLD2 says about the words of a text; None where they are too few or it is unsure."""
    tokens = _prose(text[:_LONGEST]).split()
    words = _WORD.findall(" ".join(t for t in tokens if not _CODE_IN_TOKEN.search(t)))
    letters = sum(map(len, words))
    if len(words) < _FEWEST_WORDS or letters < _FEWEST_LETTERS:
        return None
    _, _, ranked = pycld2.detect(" ".join(words), isPlainText=True, bestEffort=True)
    code: str = _OLD_CODES.get(ranked[0][1], ranked[0][1])
    if code == "en":
        return code
    is_large = len(code) == 2 and code not in _LOOK_ALIKES  # three letters: small languages
    is_sure = len(words) >= _SURE_WORDS and (is_large or letters >= _LONG_ENOUGH)
    return code if is_sure and code not in ("", "un") else None
