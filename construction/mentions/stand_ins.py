"""Texts that stand for a picture, a scan or a recording which is not at hand.

`menu_ocr.txt` says what `menu.jpg` shows, and `call.srt` what `call.mp3` says. Who has the text can
do the work.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from construction.mentions.extensions import extension, media_type, tail

_SHOWN = ("image/", "audio/", "video/", "application/pdf")
_TEXTS = frozenset(("txt", "md", "json", "srt", "vtt", "csv", "html"))
_BESIDE = frozenset(("txt", "srt", "vtt"))  # of these the name alone says it: a PDF has none
_OF_TEXT = frozenset(
    [
        "ocr",
        "text",
        "texts",
        "txt",
        "transcript",
        "transcription",
        "transcribed",
        "extracted",
        "output",
        "result",
        "results",
        "captions",
        "subtitles",
        "识别",
        "转写",
        "文字",
    ]
)
_WORDS = re.compile(r"[^\W_]+")


def text_for(path: str, at_hand: Iterable[str]) -> str | None:
    """The one path at hand of a text that stands for `path`; None if there is none, or several."""
    if not media_type(path).startswith(_SHOWN):
        return None
    named, is_pdf = _words(tail(path)), extension(path) == "pdf"
    standing = [other for other in at_hand if _stands_for(other, named, is_pdf=is_pdf)]
    return standing[0] if len(standing) == 1 else None


def _stands_for(path: str, named: frozenset[str], *, is_pdf: bool) -> bool:
    """Are the words of both names the same, but for such as say that it is a text?"""
    if extension(path) not in _TEXTS:
        return False
    *folders, name = path.replace("\\", "/").split("/")
    words = _words(name)
    own = words - _OF_TEXT
    is_marked = words != own or any(not _OF_TEXT.isdisjoint(_words(part)) for part in folders)
    is_beside = words == named and extension(path) in _BESIDE and not is_pdf
    return is_beside or (is_marked and bool(own) and own <= named)


def _words(name: str) -> frozenset[str]:
    stem = name.rpartition(".")[0] or name
    return frozenset(word.casefold() for word in _WORDS.findall(stem))
