"""The plain form of a sentence, in which phrases are looked for."""

from __future__ import annotations

import re

_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$|[^\x00-\x7f])|[。！？…；;~～\n]+")
_CLAUSE_END = re.compile(r"[,，、:：—–“”\"()（）【】\[\]*#>]+|\s-+\s")
_APOSTROPHES = str.maketrans("", "", "'’‘`")


def plain(text: str) -> str:
    """Lower case, no apostrophes, ` | ` where a sentence ends, ` , ` where a clause ends.

    The result starts and ends with ` | `, so that `| new ` means "at the start of a sentence".
    """
    marked = _SENTENCE_END.sub(" | ", text.lower().translate(_APOSTROPHES))
    return f" | {' '.join(_CLAUSE_END.sub(' , ', marked).split())} | "
