"""Sentences that tell a newcomer nothing: greetings, thanks, talk about sending files."""

from __future__ import annotations

import re
from functools import cache

from construction.judging import lexicon
from construction.judging.phrases import plain
from construction.judging.reading import Ask, Reading, read
from construction.judging.rules.words import phrases, starts, table
from construction.phrases import has_any

_WORDS = 20  # a longer sentence says more than that files are coming
_NAMES = re.compile(r"[`\"“「]|\w\.\w|https?:")


def is_noise(sentence: Reading) -> bool:
    """Would nobody miss the sentence? What says in which form an answer is wanted is no noise."""
    form = plain(sentence.text)
    if has_any(form, lexicon.FORM_ONLY):
        return False
    if sentence.ask is not Ask.QUESTION and has_any(form, phrases("rewriting", "talk")):
        return sentence.words <= _WORDS and _NAMES.search(sentence.text) is None
    idle = sentence.chatter or sentence.announces
    is_marker = _marker().fullmatch(sentence.text) is not None
    return sentence.ask is Ask.NONE and (idle or is_marker)


def is_closing(paragraph: str) -> bool:
    """Does a paragraph only take leave: thanks, wishes, "let me know"? It answers nobody."""
    sentences, form = read(paragraph), plain(paragraph)
    if any(one.leans for one in sentences) or has_any(form, phrases("containment", "context")):
        return False
    if all(one.chatter or one.closes for one in sentences):
        return True
    thanks = len(sentences) == 1 and has_any(form, starts("containment", "thanks"))
    return thanks and sentences[0].words <= _WORDS and not _wants(sentences[0])


def _wants(sentence: Reading) -> bool:
    return sentence.demands or sentence.requires


@cache
def _marker() -> re.Pattern[str]:
    words = "|".join(table("rewriting")["markers"])
    return re.compile(
        rf"(?i)(?:{words})\s?[\d一二三四五六七八九十]{{1,2}}\s?(?:个文件)?\s?[:：.。]?"
    )
