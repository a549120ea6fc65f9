"""Does an answer repeat the instructions it was given?

Found: the mark of the prompt and the code of the fence, also spelled apart or in base64, and any
run of words of the instructions. Not found: a free translation; for that the checks of each stage
bound what an answer may hold at all.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from construction.judging.model.block import HIDDEN
from construction.judging.model.prompt import Prompt

_RUN = 8  # words in a row that nobody writes by chance
_LEAST = 2 * _RUN - 1  # characters of the shortest such run; every mark is longer
_WORD = re.compile(r"[a-z0-9]+")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}")
_MOST = 200_000  # characters of one text


def leaked(prompt: Prompt, fence: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts repeats the prompt's mark, its words or the fence."""
    marks = (_packed(prompt.canary), _packed(fence))
    return any(
        _repeats(prompt.secret, marks, form)
        for text in texts
        if len(text) >= _LEAST or not text.isascii()  # others may grow when they are normalised
        for form in (text[:_MOST], *_decoded(text[:_MOST]))
    )


def _repeats(secret: str, marks: Sequence[str], text: str) -> bool:
    words = _words(text)
    packed = "".join(words)
    if any(mark in packed or mark[::-1] in packed for mark in marks):
        return True
    known = _runs_of(secret)
    return any(run in known for run in _runs(words))


@lru_cache(maxsize=16)
def _runs_of(secret: str) -> frozenset[tuple[str, ...]]:
    return frozenset(_runs(_words(secret)))


def _runs(words: Sequence[str]) -> Iterable[tuple[str, ...]]:
    return (tuple(words[start : start + _RUN]) for start in range(len(words) - _RUN + 1))


def _words(text: str) -> list[str]:
    if not text.isascii():
        text = HIDDEN.sub("", unicodedata.normalize("NFKC", text))
    return _WORD.findall(text.lower())


def _packed(mark: str) -> str:
    return "".join(_WORD.findall(mark.lower()))


def _decoded(text: str) -> Iterable[str]:
    """What runs of base64 in a text say."""
    for found in _BASE64.finditer(text):
        run = found[0].replace("-", "+").replace("_", "/")
        try:
            yield base64.b64decode(run + "=" * (-len(run) % 4)).decode("utf-8", "ignore")
        except (binascii.Error, ValueError):
            continue
