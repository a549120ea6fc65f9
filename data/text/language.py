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

from data.text.scripts import HANGUL, JAPANESE_KANA, count_scripts, is_han, prose_of

_MIXED = "mul"  # BCP 47: several languages
UNDETERMINED = "und"  # BCP 47: what a record holds where `language_of` gives None

# Names of files and identifiers, calls and assignments: a detector takes them for some language.
_CODE_IN_TOKEN = re.compile(r"\w\.\w|[a-z][A-Z]|[_\d=(){}\[\]<>@#$\\/|]")
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}'’]*")

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
_FEW_LETTERS = 12  # kana, Hangul or Han: some words
_LONG_BLOCK = 100  # letters of a block in another script
_MOST_OF_IT = 80  # per cent of the block
_HANGUL = re.compile(f"[{HANGUL}]")
_OLD_CODES = {"iw": "he", "jw": "jv", "in": "id", "no": "nb", "zh-Hant": "zh", "xx": ""}


def language_of(text: str) -> str | None:
    """ISO 639-1 code of the language of a text, `mul` for a mixture of scripts, None if unknown.

    Code, URLs, paths and file names do not count. A Han or kana character counts as much as a
    word of another script. None where there is too little prose to tell: no words, a single
    word, or words that could be of several languages.
    """
    han, kana, latin, other = count_scripts(text)
    eastern = han + kana
    total = eastern + latin + other
    if not total:
        return None
    if eastern / total >= _SHARE:
        is_japanese = kana / eastern >= JAPANESE_KANA or (not kana and _is_kanji(text))
        return "ja" if is_japanese else "zh"
    if latin / total >= _SHARE or other / total >= _SHARE or not eastern:
        return _detected(text)
    return _MIXED


def sure_language_of(text: str) -> str | None:
    """The language of a block of text, None unless it is beyond doubt.

    Kana make Japanese and Hangul Korean, from a few words on; other scripts need a hundred letters
    of prose, of which CLD2 is sure.
    """
    han, kana, _, _ = count_scripts(text)
    if kana >= _FEW_LETTERS and kana >= JAPANESE_KANA * (han + kana):
        return "ja"
    if len(_HANGUL.findall(text)) >= _FEW_LETTERS:
        return "ko"
    if han >= _FEW_LETTERS:
        return "ja" if _is_kanji(text) else "zh"
    words = _words_of(text)
    if sum(map(len, words)) < _LONG_BLOCK:
        return None
    is_reliable, _, ranked = pycld2.detect(" ".join(words), isPlainText=True)
    code: str = _OLD_CODES.get(ranked[0][1], ranked[0][1])
    is_sure = is_reliable and ranked[0][2] >= _MOST_OF_IT and code not in ("", "un")
    return code if is_sure else None


def is_of_a_language(text: str) -> bool:
    """Is CLD2 sure that a text is written in some language, rather than in exchanged letters?

    Meant for texts of 200 letters and more.
    """
    is_reliable, _, ranked = pycld2.detect(prose_of(text[:_LONGEST]), isPlainText=True)
    return bool(is_reliable) and ranked[0][1] != "un"


def _is_kanji(text: str) -> bool:
    """Is every Han character in use in Japan, and some in Japan only (売, 駅, 営)?"""
    han = frozenset(filter(is_han, frozenset(text[:_LONGEST])))
    return all(_encodes(char, "shift_jis") for char in han) and not all(
        _encodes(char, "gb2312") or _encodes(char, "big5") for char in han
    )


def _encodes(char: str, codec: str) -> bool:
    try:
        char.encode(codec)
    except UnicodeEncodeError:
        return False
    return True


def _words_of(text: str) -> list[str]:
    """The words of prose: nothing of code, paths and identifiers."""
    tokens = prose_of(text).split()
    return _WORD.findall(" ".join(t for t in tokens if not _CODE_IN_TOKEN.search(t)))


def _detected(text: str) -> str | None:
    """What CLD2 says about the words of a text; None where they are too few or it is unsure."""
    words = _words_of(text[:_LONGEST])
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
