"""The content words of a text: stems for alphabetic scripts, character bigrams for CJK.

Two requests about the same thing share such terms; two unrelated ones hardly do. No model
and no dictionary is needed, so it costs microseconds a turn.
"""

from __future__ import annotations

import re
from itertools import pairwise

from construction.sessions.recovery.lexicon import STOP_CHARS, STOP_WORDS

_WORDS = re.compile(r"[a-z0-9_\u00e0-\u024f\u0370-\u052f]{2,40}")
_CJK_RUNS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2,60}")
_STEM = 6  # letters: enough to join "summarise", "summary" and "summaries"


def terms(text: str, limit: int) -> frozenset[str]:
    """Content terms of the first `limit` characters of a text.

    Words are lower-cased and cut to six letters (those with a digit are kept whole, numbers are
    left out); Han, kana and Hangul runs give their character bigrams.
    """
    head = text[:limit].lower()
    words = set(_WORDS.findall(head))
    words -= STOP_WORDS
    found = {word[:_STEM] if word.isalpha() else word for word in words if not word.isdigit()}
    if not head.isascii():
        for run in _CJK_RUNS.findall(head):
            found.update(
                a + b for a, b in pairwise(run) if a not in STOP_CHARS and b not in STOP_CHARS
            )
    return frozenset(found)
