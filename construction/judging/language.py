"""The language of a text by the scripts it is written in."""

from __future__ import annotations

import re

_CODE_OR_URL = re.compile(r"```[^`]*```|`[^`\n]*`|https?://[^\s<>\"，。；）]+")
_ASCII_TOKEN = re.compile(r"[A-Za-z0-9_./\\~-]+")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA = re.compile(r"[\u3040-\u30ff\u31f0-\u31ff]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_OTHER = re.compile(r"[\u0370-\u1fff\uac00-\ud7af]+")

_JAPANESE_KANA = 0.1  # kana among kana and Han: Chinese text holds next to none
_SHARE = 0.7  # of all units; below it no script stands for the whole text


def _counts(text: str) -> tuple[int, int, int, int]:
    """Han characters, kana, Latin words and other words, without code, URLs and paths."""
    prose = _CODE_OR_URL.sub(" ", text)
    if "/" in prose or "\\" in prose:
        prose = _ASCII_TOKEN.sub(lambda token: " " if _is_path(token[0]) else token[0], prose)
    scripts = (_HAN, _KANA, _LATIN, _OTHER)
    han, kana, latin, other = (len(script.findall(prose)) for script in scripts)
    return han, kana, latin, other


def _is_path(token: str) -> bool:
    return "/" in token or "\\" in token


def language_of(text: str) -> str:
    """BCP 47 code: `en`, `zh` or `ja`, and `mul` for mixed or other scripts.

    A Han or kana character counts as much as a word in Latin letters; code, paths and URLs do
    not count. The Latin script stands for English: no other language in it is told apart.
    """
    if text.isascii():
        return "en"  # as the counts would say
    han, kana, latin, other = _counts(text)
    eastern = han + kana
    total = eastern + latin + other
    if not total or latin / total >= _SHARE:
        return "en"
    if eastern / total >= _SHARE:
        return "ja" if kana / eastern >= _JAPANESE_KANA else "zh"
    return "mul"


def leading_language(text: str) -> str:
    """The language to address the writer of `text` in: `zh`, `ja`, otherwise `en`."""
    if text.isascii():
        return "en"
    han, kana, latin, other = _counts(text)
    if han + kana <= latin + other:
        return "en"
    return "ja" if kana >= _JAPANESE_KANA * (han + kana) else "zh"
