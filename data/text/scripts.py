"""Writing systems as character classes and as predicates: the one place that names their ranges;
and where sentences end in them.

The constants are bodies of character classes for `re`, to be written inside brackets
(`rf"[{HAN}]+"`, `rf"[^{HAN}{KANA}]"`). They hold code points rather than `\\p{Han}`, because `re`
does not know script properties and is the faster engine on the hot paths; a test compares them
with the properties of the `regex` library.

A line break ends a sentence; so do the wide marks wherever they are, and the Western ones before
white space, a closing quotation mark or bracket, or a wide character: not those inside numbers,
file names and addresses. A full stop behind an initial or a common abbreviation ends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

# Ideographs of all extensions (planes 2 and 3 hold nothing else) but the compatibility ones: no
# normal form changes them.
UNIFIED_HAN = "\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0002f7ff\U00030000-\U0003ffff"
# With compatibility ideographs, radicals, the iteration mark 々, the closing mark 〆, the zero 〇
# and the Suzhou numerals.
HAN = (
    f"{UNIFIED_HAN}\u2e80-\u2e99\u2e9b-\u2ef3\u2f00-\u2fd5\u3005-\u3007\u3021-\u3029\u3038-\u303b"
    "\uf900-\ufad9\U00016fe2\U00016fe3\U00016ff0-\U00016ff6\U0002f800-\U0002ffff"
)
# Hiragana and katakana in both widths, with the marks written inside their words (ー, ・, ゝ).
KANA = "\u3031-\u3035\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc"
BOPOMOFO = "\u3105-\u312f\u31a0-\u31bf"
HAN_KANA = HAN + KANA
CJK = HAN + KANA + HANGUL
FIRST_WIDE = "\u3400"  # nearly all characters from here on are as wide as an ideograph

WORD = re.compile(r"[^\W_]+")  # letters and digits
NAME_RUN = re.compile(r"\w+")  # and the sign that joins words in names
DIGITS = re.compile(r"\d+")
SMALL_LETTERS = re.compile("[a-z]+")
RUNS = re.compile(r"[^\W\d_]+|\d+")  # of letters and of digits
WORD_OUTSIDE_CJK = re.compile(rf"[^\W\d_{CJK}]+")  # in "Dana的邮件" it is Dana
_HAN_CHAR = re.compile(f"[{HAN}]")
_KANA_CHAR = re.compile(f"[{KANA}]")
_CJK_CHAR = re.compile(f"[{CJK}]")

_WESTERN = ((0x41, 0x530), (0x1E00, 0x2000))  # Latin, Greek, Cyrillic, Armenian, extensions


def is_han(text: str) -> bool:
    """Is it Han characters and nothing else? False for an empty text."""
    return 0 < len(text) == len(_HAN_CHAR.findall(text))


def has_han(text: str) -> bool:
    """Is there a Han character in the text?"""
    return not text.isascii() and _HAN_CHAR.search(text) is not None


def count_han(text: str) -> int:
    """How many Han characters are in the text?"""
    return 0 if text.isascii() else len(_HAN_CHAR.findall(text))


def has_kana(text: str) -> bool:
    """Is there a hiragana or katakana character in the text?"""
    return not text.isascii() and _KANA_CHAR.search(text) is not None


def count_cjk(text: str) -> int:
    """How many Han, kana and Hangul characters are in the text?"""
    return 0 if text.isascii() else len(_CJK_CHAR.findall(text))


@cache
def _western(kind: str) -> str:
    chars = (chr(code) for first, last in _WESTERN for code in range(first, last))
    return "".join(char for char in chars if getattr(char, kind)())


# `\w` and `\b` count Han characters as part of a word; patterns over Western words that hold
# beside Han characters are built of these.
CAPITALS = _western("isupper")
LETTERS = _western("isalpha")
LETTER = f"[{LETTERS}]"
BEFORE = f"(?<![{LETTERS}0-9_])"
AFTER = f"(?![{LETTERS}0-9_])"

_CODE_OR_URL = re.compile(r"```[^`]*```|`[^`\n]*`|https?://[^\s<>\"，。；）]+")
_ASCII_TOKEN = re.compile(r"[A-Za-z0-9_./\\~-]+")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_OTHER = re.compile(rf"[\u0370-\u10ff\u1200-\u1fff{HANGUL}]+")
JAPANESE_KANA = 0.1  # kana among kana and Han: Chinese text holds next to none


def leading_language(text: str) -> str:
    """The language to address the writer of `text` in: `zh`, `ja`, otherwise `en`.

    It decides by scripts alone: forms of address exist in these three languages only.
    """
    if text.isascii():
        return "en"
    han, kana, latin, other = count_scripts(text)
    if han + kana <= latin + other:
        return "en"
    return "ja" if kana >= JAPANESE_KANA * (han + kana) else "zh"


def count_scripts(text: str) -> tuple[int, int, int, int]:
    """Han characters, kana, Latin words and other words, without code, URLs and paths."""
    prose = prose_of(text)
    if prose.isascii():
        return 0, 0, len(_LATIN.findall(prose)), 0
    han, kana, latin, other = (
        len(s.findall(prose)) for s in (_HAN_CHAR, _KANA_CHAR, _LATIN, _OTHER)
    )
    return han, kana, latin, other


def prose_of(text: str) -> str:
    """The text without code, URLs and paths."""
    prose = _CODE_OR_URL.sub(" ", text)
    if "/" in prose or "\\" in prose:
        prose = _ASCII_TOKEN.sub(lambda token: " " if _is_path(token[0]) else token[0], prose)
    return prose


def _is_path(token: str) -> bool:
    return "/" in token or "\\" in token


# Only such as hardly ever end a sentence: "Inc." may, and "etc." unless a small letter follows.
_ABBREVIATIONS = ("approx", "ca", "cf", "dr", "e.g", "i.e", "mr", "mrs", "ms", "prof", "vs")
_NOT_ABBREVIATED = "".join(rf"(?<!\b{re.escape(word)}\.)" for word in _ABBREVIATIONS)
_GOES_ON = r"(?!(?<=\betc\.)\s+[a-z])"
_WIDE = "。！？；…～\n"
# The first item is a set of characters, which `re` looks for fast; a run of marks is read once.
_SENTENCE_END = re.compile(
    rf"[.!?~;{_WIDE}](?:(?<=[{_WIDE}])[{_WIDE}]*+"
    rf"|(?<![.!?~;].)(?i:{_NOT_ABBREVIATED}){_GOES_ON}[.!?~;]*+(?:(?=[\"'’”)\]*]*+(?:\s|\Z))|(?=[^\x00-\x7f])))"
)
_CLAUSE_END = re.compile(r"[,，、:：\"()（）【】\[\]*#>]++|[—–]|\s-+\s")
_QUOTE = re.compile(r"[“”「」『』《》]++")
_APOSTROPHES = str.maketrans("", "", "'’‘`")


def edited_sentence_end(marks: str) -> re.Pattern[str]:
    """The ends of sentences in reports on figures, where `marks` (of a character class) may stand.

    Such texts are edited: a full stop ends a sentence only before a capital letter or at the end
    of the text, so that "Rs. 500 crore" and "U.S. dollars" stay whole. Written for NFKC text.
    """
    return re.compile(
        rf"[。!?\n]|(?<!\bvs)(?<!approx)\.(?=[{marks}\"')\]]*\s+[{marks}\"'(]*[A-Z])"
        rf"|\.(?=[{marks}\s\"')]*\Z)"
    )


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence with the marks that end it; together they are the text."""
    start = 0
    for mark in _SENTENCE_END.finditer(text):
        yield start, mark.end()
        start = mark.end()
    if start < len(text):
        yield start, len(text)


def last_sentence(text: str) -> str:
    """What follows the last end of a sentence: the beginning of a sentence that goes on."""
    return text[max((mark.end() for mark in _SENTENCE_END.finditer(text)), default=0) :]


def phrase_form(text: str) -> str:
    """Lower case, no apostrophes, ` | ` where a sentence ends, ` , ` a clause, ` ^ ` a quotation.

    The result starts and ends with ` | `, so that `| new ` means "at the start of a sentence".
    """
    marked = _SENTENCE_END.sub(" | ", text.lower().translate(_APOSTROPHES))
    marked = _CLAUSE_END.sub(" , ", marked)
    if not marked.isascii():
        marked = _QUOTE.sub(" ^ ", marked)
    return f" | {' '.join(marked.split()).removesuffix(' |')} | "
